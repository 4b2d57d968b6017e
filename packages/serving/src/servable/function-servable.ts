// Serves traced functions and Keras models: their graphs run on other threads.
import { InvalidArgumentError, isComplex, UnimplementedError } from '@eagre/backend';
import { type PartialShape, Tensor } from '@eagre/core';
import { tree } from '@eagre/core/internal';
import { ConcreteFunction, TensorSpec, type TracedFunction, tfFunction } from '@eagre/graph';
import { hostTensor, tensorOf } from './host-tensors.ts';
import type { HostTensors, MethodName, ServableSignature, TensorInfo } from './servable.ts';

type AnyTraced = Pick<TracedFunction<(...args: never[]) => unknown>, 'getConcreteFunction' | 'hostFunction'>;

/** Whether a value is a `tf.function`. */
export function isTraced(value: unknown): value is AnyTraced {
  return typeof value === 'function' && 'getConcreteFunction' in value && 'hostFunction' in value;
}

/** What is needed of a Keras model; this package knows no layers. */
export interface KerasModel {
  readonly inputs: readonly KerasTensorLike[] | null;
  readonly outputs: readonly KerasTensorLike[] | null;
  readonly inputNames: readonly string[] | null;
  readonly name: string;
  predict(...args: never[]): unknown;
}
interface KerasTensorLike {
  readonly name: string;
  readonly shape: PartialShape;
  readonly dtype: Tensor['dtype'];
}

/** Whether a value is a model of Keras. */
export function isKerasModel(value: unknown): value is KerasModel & ((...args: unknown[]) => unknown) {
  return typeof value === 'function' && 'predict' in value && 'inputNames' in value;
}

/**
 * The signature of a model: its inputs by their names, its outputs as `output_0`, `output_1`, …, or by their names where it returns an object.
 *
 * @throws InvalidArgumentError for a model that does not know its inputs.
 */
export function kerasSignature(model: KerasModel): ServableSignature {
  const { name } = model;
  const inputs = inputsOf(model);
  const names = model.inputNames ?? inputs.map((t) => t.name);
  const specs = inputs.map(({ shape, dtype }, i) => new TensorSpec(shape, dtype, names[i]));
  const call = model as unknown as (x: unknown, options: { training: boolean }) => unknown;
  const traced = tfFunction({ inputSignature: specs, name, autograph: false })((...xs: Tensor[]) =>
    call(xs.length === 1 ? xs[0] : xs, { training: false }),
  );
  return functionSignature(traced as unknown as AnyTraced);
}

function inputsOf(model: KerasModel): readonly KerasTensorLike[] {
  try {
    return model.inputs as readonly KerasTensorLike[];
  } catch (cause) {
    throw new InvalidArgumentError(
      `the inputs of the model "${model.name}" are not known: give its first layer an input shape, or serve a tf.function with an input signature that calls it`,
      'serving.createServer',
      { cause },
    );
  }
}

/**
 * The signature of a traced function with an input signature: its inputs by the names of their specs, those in objects by their keys.
 *
 * @throws InvalidArgumentError where there is no such signature, or the function returns what is no structure of tensors; UnimplementedError for strings and complex numbers.
 */
export function functionSignature(
  fn: AnyTraced | ConcreteFunction,
  methodName?: MethodName,
): ServableSignature {
  const concrete = fn instanceof ConcreteFunction ? fn : fn.getConcreteFunction();
  const inputs = namedSpecs(concrete.structuredInputSignature, inputName);
  if (inputs.length === 0)
    throw new InvalidArgumentError(
      'a function that is served needs an input signature: tf.function({ inputSignature: [new tf.TensorSpec(…)] })(fn)',
      'serving.createServer',
    );
  const outputs = namedSpecs(concrete.structuredOutputs, outputName);
  if (outputs.length === 0)
    throw new InvalidArgumentError('a function that is served must return tensors', 'serving.createServer');
  const names = inputs.map(([name]) => name);
  return {
    inputs: Object.fromEntries(inputs),
    outputs: Object.fromEntries(outputs),
    ...(methodName === undefined ? {} : { methodName }),
    run: (values, signal) =>
      runConcrete(
        concrete,
        names.map((name) => values[name]),
        outputs.map(([name]) => name),
        signal,
      ),
  };
}

async function runConcrete(
  concrete: ConcreteFunction,
  values: readonly HostTensors[string][],
  names: readonly string[],
  signal: AbortSignal,
): Promise<HostTensors> {
  const inputs = values.map(tensorOf);
  let results: readonly Tensor[] = [];
  try {
    const result = await concrete.specialize(...inputs).callAsync(inputs, signal);
    results = tree.leavesOf(result, 'serving').filter((leaf): leaf is Tensor => leaf instanceof Tensor);
    const read = await Promise.all(results.map(hostTensor));
    return Object.fromEntries(read.map((tensor, i) => [names[i], tensor]));
  } finally {
    for (const tensor of new Set([...inputs, ...results])) tensor.dispose();
  }
}

type Named = readonly (readonly [name: string, info: TensorInfo])[];

/** The specs in a structure with their names. @throws InvalidArgumentError for two of one name, and for other leaves */
function namedSpecs(
  structure: unknown,
  nameOf: (spec: TensorSpec, path: readonly (string | number)[]) => string,
): Named {
  const named: [string, TensorInfo][] = [];
  const leaves: [TensorSpec, readonly (string | number)[]][] = [];
  tree.forEachLeaf(structure, 'serving.createServer', (leaf, path) => {
    if (leaf === null || leaf === undefined) return;
    if (!(leaf instanceof TensorSpec))
      throw new InvalidArgumentError(
        'a function that is served takes and returns tensors alone',
        'serving.createServer',
      );
    leaves.push([leaf, [...(path as readonly (string | number)[])]]);
  });
  for (const [spec, path] of leaves) {
    if (spec.dtype === 'string' || isComplex(spec.dtype))
      throw new UnimplementedError(
        `a traced function cannot be served with a tensor of ${spec.dtype}: serve an object with signatures and a run method instead`,
        'serving.createServer',
      );
    const name = nameOf(spec, path);
    if (named.some(([other]) => other === name))
      throw new InvalidArgumentError(
        `two tensors of the signature are called "${name}": give the specs names of their own`,
        'serving.createServer',
      );
    named.push([name, { dtype: spec.dtype, shape: spec.shape }]);
  }
  return named;
}

function inputName(spec: TensorSpec, path: readonly (string | number)[]): string {
  const last = path.at(-1);
  return typeof last === 'string' ? last : (spec.name ?? `args_${path.join('_')}`);
}

function outputName(_: TensorSpec, path: readonly (string | number)[]): string {
  if (path.length === 0) return 'output_0';
  const [first] = path;
  return path.length === 1 && typeof first === 'string' ? first : `output_${path.join('_')}`;
}
