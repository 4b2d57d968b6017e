// Code of the host among ops: runs at once, or at every run of a function that is being traced.
import { type DType, dtypeTraits, InvalidArgumentError } from '@eagre/backend';
import { asIs, defineFunction, type NamedFunction, structure } from '../arguments/arguments.ts';
import { checkFunction, checkNoPromise } from '../arguments/checks.ts';
import { checkList, checkShape, type Shape, sameShape, showShape } from '../shapes/shape.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { standingAlone } from './ambient.ts';
import { context } from './context.ts';

/** The dtype and shape of what a host function returns. */
export interface HostOutput {
  readonly dtype: DType;
  readonly shape: Shape;
}

/** What runs: tensors with values in, tensors of the promised dtypes and shapes out. */
export type HostFunction = (...inputs: Tensor[]) => TensorLike | readonly TensorLike[] | void;

/**
 * Calls plain code: at once or, inside of `tf.function`, at each run with the values of that run. It has no gradient.
 *
 *     const sorted = tf.experimental.hostFunction((x) => Float32Array.from(x.data()).sort(), [x], { dtype: 'float32', shape: x.shape });
 *
 * @param outputs what it returns: one, a list, or nothing.
 * @throws InvalidArgumentError when it returns something else.
 */
export const hostFunction: {
  (fn: HostFunction, inputs: readonly TensorLike[], outputs: HostOutput): Tensor;
  (options: {
    /** The plain function: it gets tensors with values, and returns what `outputs` promises. */
    readonly fn: HostFunction;
    /** The arguments of the function. */
    readonly inputs: readonly TensorLike[];
    /** The dtype and the shape of what the function returns. */
    readonly outputs: HostOutput;
  }): Tensor;
  (fn: HostFunction, inputs: readonly TensorLike[], outputs?: readonly HostOutput[]): readonly Tensor[];
  (options: {
    /** The plain function: it gets tensors with values, and returns what `outputs` promises. */
    readonly fn: HostFunction;
    /** The arguments of the function. */
    readonly inputs: readonly TensorLike[];
    /** The dtypes and shapes of what the function returns; nothing by default. */
    readonly outputs?: readonly HostOutput[];
  }): readonly Tensor[];
} = defineFunction<
  NamedFunction<
    [fn: HostFunction, inputs: readonly TensorLike[], outputs?: HostOutput | readonly HostOutput[]],
    ['fn', 'inputs', 'outputs'],
    unknown,
    Tensor | readonly Tensor[]
  >
>('hostFunction', { fn: asIs, inputs: asIs, outputs: structure }, {}, (fn, inputs, outputs = []) => {
  checkFunction(fn, 'fn', 'hostFunction');
  checkList(inputs, 'inputs', 'hostFunction');
  const specs = Array.isArray(outputs) ? (outputs as readonly HostOutput[]) : [outputs as HostOutput];
  for (const spec of specs) checkOutput(spec);
  const results = atRunTime(
    'HostFunction',
    fn,
    inputs.map((x) => toTensor(x)),
    specs,
  );
  return Array.isArray(outputs) ? results : (results[0] as Tensor);
}) as never;

function checkOutput(spec: HostOutput): void {
  const known = typeof spec === 'object' && spec !== null && typeof spec.dtype === 'string';
  if (!known || !Object.hasOwn(dtypeTraits, spec.dtype))
    throw new InvalidArgumentError('outputs must be { dtype, shape }, or a list of these', 'hostFunction');
  checkShape(checkList(spec.shape, 'shape', 'hostFunction'), 'hostFunction');
}

/** The same in ops that TensorFlow has, for a trace that is written. */
export interface PortableForm {
  (...inputs: readonly Tensor[]): readonly Tensor[];
  /** Whether the code only looks at values: it may run again, and files without assertions leave it out. */
  readonly isCheck?: true;
}

/**
 * @internal `hostFunction` under a name of its own.
 * @param early whether a graph calls it as soon as its inputs are there, but behind earlier calls of this name
 * @param portable what is written into files in its place; without, a function that calls it cannot be saved
 */
export function atRunTime(
  name: string,
  fn: HostFunction,
  inputs: readonly Tensor[],
  outputs: readonly HostOutput[],
  early: boolean = false,
  portable?: PortableForm,
): readonly Tensor[] {
  const { tracer } = context;
  if (tracer?.forFile === true && portable !== undefined) return portable(...inputs);
  if (tracer !== null) return tracer.host(name, fn, inputs, outputs, early, portable);
  return callHost(name, fn, inputs, outputs);
}

/** @internal Calls a host function with tensors that have values. @throws InvalidArgumentError for other results than promised. */
export function callHost(
  name: string,
  fn: HostFunction,
  inputs: readonly Tensor[],
  outputs: readonly HostOutput[],
): readonly Tensor[] {
  const { tracker } = context;
  const given = standingAlone(() => {
    context.tracker = tracker;
    return fn(...inputs);
  });
  checkNoPromise(given, 'the function', name);
  const list = outputs.length === 1 && !isTensorList(given) ? [given] : (given ?? []);
  if (!Array.isArray(list) || list.length !== outputs.length) {
    throw new InvalidArgumentError(
      `the function returned ${Array.isArray(list) ? list.length : 'no list of'} tensors, expected ${outputs.length}`,
      name,
    );
  }
  return outputs.map(({ dtype, shape }, i) => {
    const tensor = toTensor(list[i] as TensorLike, dtype);
    if (tensor.dtype !== dtype || !sameShape(tensor.shape, shape)) {
      throw new InvalidArgumentError(
        `result ${i} is ${tensor.dtype} ${showShape(tensor.shape)}, expected ${dtype} ${showShape(shape)}`,
        name,
      );
    }
    return tensor;
  });
}

function isTensorList(value: unknown): value is readonly TensorLike[] {
  return Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === 'object' && v !== null);
}
