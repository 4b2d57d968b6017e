import {
  type Backend,
  buildNumberProgram,
  copyStorage,
  type DType,
  dtypeTraits,
  EagreError,
  errorFromCode,
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  isComplex,
  isHalf,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  type NumberBuilder,
  type NumberValue,
  type NumericDType,
  placedKernel,
  placement,
  UnimplementedError,
  widens,
} from '@eagre/backend';
import {
  defineHot,
  isTensor,
  mayBeNamed,
  type NamedFunction,
  worksByElement,
} from '../arguments/arguments.ts';
import type { Dim, Dims } from '../shapes/dim.ts';
import { hasUnknown, sizeOfDims } from '../shapes/dims.ts';
import { broadcastShapes, type Shape } from '../shapes/shape.ts';
import { isComplexNumber } from '../tensor/complex-numbers.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType, common, type DTypeGroup } from '../tensor/dtypes.ts';
import { noValue } from '../tensor/no-value.ts';
import { aliasTensor, emptyTensor, Tensor } from '../tensor/tensor.ts';
import { VariableBase } from '../tensor/variable-base.ts';
import { complexKernel, onParts } from './complex.ts';
import { context, currentBackend, deviceName, eagerBackend, withoutTapes } from './context.ts';
import { profiling } from './profiling.ts';
import { RecentMap } from './recent-map.ts';
import type { Sample, SampleInput } from './samples.ts';
import { symbolic, symbolicTensor } from './symbolic.ts';
import { widenedKernel } from './widened.ts';

/** The attributes of one call of an op: everything that is no tensor. */
export type Attrs = Readonly<Record<string, unknown>>;

/** What an op's result will be. */
export interface OutputSpec {
  readonly dtype: DType;
  readonly shape: Dims;
}

/** What a gradient may use of the forward call. `x`, `y`: the first input and output. */
export class GradContext {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
  readonly attrs: Attrs;
  readonly #needed: (index: number) => boolean;

  constructor(
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
    attrs: Attrs,
    needed: (index: number) => boolean,
  ) {
    this.inputs = inputs;
    this.outputs = outputs;
    this.attrs = attrs;
    this.#needed = needed;
  }
  get x(): Tensor {
    return this.inputs[0] as Tensor;
  }
  get y(): Tensor {
    return this.outputs[0] as Tensor;
  }
  /** The first and second input of a binary op. */
  get a(): Tensor {
    return this.inputs[0] as Tensor;
  }
  get b(): Tensor {
    return this.inputs[1] as Tensor;
  }
  /** False when nobody asked for the gradient of that input, so that costly ones can be left out. */
  needs(index: number): boolean {
    return this.#needed(index);
  }
}

/**
 * Gradients for the inputs, in their order; null where there is none. `dy` belongs to the first output (zeros if only others
 * got one), `more` to the others, null where no gradient arrived. Written with public ops, so it works to any order.
 */
export type GradFn = (
  g: GradContext,
  dy: Tensor,
  ...more: (Tensor | null)[]
) => Tensor | null | readonly (Tensor | null)[];

interface OpSpecBase {
  /** TensorFlow's OpDef name, or Eagre's own where TensorFlow has none. */
  readonly name: string;
  /** The gradient, or why there is none (`notDifferentiable`), or neither for a composite op (that of its parts). */
  readonly grad?: GradFn;
  readonly notDifferentiable?: string;
  /** Calls on which the op is compared between backends and its gradient checked. */
  readonly samples: () => readonly Sample[];
  /** Permitted distance to the float64 reference in units in the last place of float32; 4 by default. */
  readonly ulp?: number;
  /** The results of an op whose sizes depend on values, for traces: `size` makes one that is not known before each run. */
  readonly valueSized?: ValueSized;
}

type ValueSized = (inputs: readonly Tensor[], attrs: Attrs, size: () => Dim) => readonly OutputSpec[];

type Evaluate = (inputs: readonly Tensor[], attrs: Attrs) => Tensor | readonly Tensor[];

/** How an op computes: by a kernel, by code of the host, in terms of other ops, or (for results whose shape depends on values) by its own code. */
export type OpSpec = OpSpecBase &
  (
    | {
        readonly infer: (inputs: readonly Tensor[], attrs: Attrs) => OutputSpec | readonly OutputSpec[];
        readonly kernel: KernelName;
        /** The kernel's attributes, if they are not the op's own. */
        readonly kernelAttrs?: (attrs: Attrs, inputs: readonly Tensor[]) => KernelAttrs;
      }
    | {
        readonly infer: (inputs: readonly Tensor[], attrs: Attrs) => OutputSpec | readonly OutputSpec[];
        /** Computes the outputs on the host, from inputs with values. */
        readonly host: (inputs: readonly Tensor[], attrs: Attrs) => readonly Tensor[];
      }
    | { readonly compose: Evaluate }
    | { readonly run: Evaluate }
  );

/** A declared op. */
export class Op {
  /** TensorFlow's OpDef name, or Eagre's own where TensorFlow has none. */
  readonly name: string;
  /** The gradient, or why there is none (`notDifferentiable`), or neither for a composite op (that of its parts). */
  readonly grad: GradFn | undefined;
  readonly notDifferentiable: string | undefined;
  /** Calls on which the op is compared between backends and its gradient checked. */
  readonly samples: () => readonly Sample[];
  /** Permitted distance to the float64 reference in units in the last place of float32. */
  readonly ulp: number;
  /** The results of an op whose sizes depend on values, for traces: `size` makes one that is not known before each run. */
  readonly valueSized: ValueSized | undefined;
  /** Whether tapes see the parts instead of the op. */
  readonly isComposite: boolean;
  /** Whether `evaluate` runs other ops, and no kernel. */
  readonly isMadeOfOps: boolean;
  /** Computes the outputs; tapes are told by `execute`. */
  readonly evaluate: (inputs: readonly Tensor[], attrs: Attrs) => readonly Tensor[];

  constructor(spec: OpSpecBase, evaluate: Op['evaluate'], transparent = false) {
    this.isMadeOfOps = 'compose' in spec;
    this.name = spec.name;
    this.grad = spec.grad;
    this.notDifferentiable = spec.notDifferentiable;
    this.samples = spec.samples;
    this.ulp = spec.ulp ?? 4;
    this.valueSized = spec.valueSized;
    this.evaluate = evaluate;
    this.isComposite = transparent;
  }
}

const catalogue = new Map<string, Op>();

/** Every declared op by name. */
export function listOps(): ReadonlyMap<string, Op> {
  return catalogue;
}

/** Adds an op to the catalogue. Its gradient is a formula for real numbers, unlike that of a function or a loop, which ops make. */
function declare(spec: OpSpecBase, evaluate: Op['evaluate'], transparent = false): Op {
  const { grad } = spec;
  const op = new Op(grad === undefined ? spec : { ...spec, grad: holomorphic(grad) }, evaluate, transparent);
  if (catalogue.has(op.name)) throw new InternalError(`the op ${op.name} is declared twice`);
  catalogue.set(op.name, op);
  return op;
}

const elementwiseOps = new WeakSet<Op>();
function elementwise(op: Op): Op {
  elementwiseOps.add(op);
  return op;
}
/** Whether each element of an op's result depends only on the elements in the same place of its inputs, which broadcast. */
export function isElementwise(op: Op): boolean {
  return elementwiseOps.has(op);
}

const noAttrs: KernelAttrs = {};

/** Runs an op: computes it now and tells the tapes. @returns its outputs. */
export function execute(op: Op, inputs: readonly Tensor[], attrs: Attrs = noAttrs): readonly Tensor[] {
  const { tracer } = context;
  if (tracer !== null) return tracer.execute(op, inputs, attrs);
  const local = toBackend(inputs, op);
  if (placement.logs) logPlacement(op);
  const { record } = profiling;
  const begin = record === null ? 0 : performance.now();
  let outputs: readonly Tensor[];
  try {
    outputs = op.evaluate(local, attrs);
  } catch (error) {
    throw withOpName(error, op);
  }
  if (record !== null) record(op.name, begin);
  if (!op.isComposite) recordOnTapes(op, inputs, attrs, outputs);
  return outputs;
}

/** `execute` for an op of one output. */
export function execute1(op: Op, inputs: readonly Tensor[], attrs: Attrs = noAttrs): Tensor {
  return execute(op, inputs, attrs)[0] as Tensor;
}

/** @internal Tells the tapes of an op that was computed elsewhere (custom gradients, fused layers). */
export function recordOnTapes(
  op: Op,
  inputs: readonly Tensor[],
  attrs: Attrs,
  outputs: readonly Tensor[],
): void {
  const tapes = context.tapes;
  for (let i = 0; i < tapes.length; i++)
    (tapes[i] as (typeof tapes)[number]).record(op, inputs, attrs, outputs);
}

/** @internal An error with the op in which it happened. */
export function withOpName(error: unknown, op: Op): unknown {
  return error instanceof EagreError && error.op === undefined
    ? errorFromCode(error.code, error.message, op.name)
    : error;
}

/** @internal Checks that inputs are alive, and brings those of another backend over. */
export function toBackend(inputs: readonly Tensor[], op: Op): readonly Tensor[] {
  const backend = currentBackend();
  let local = inputs;
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i] as Tensor;
    if (input.storage.refs <= 0) disposed(input, op);
    if (input.backend !== backend && input.dtype !== 'string') {
      if (placement.policy !== 'silent' && backend !== symbolic) checkPlaces(op, input, i, backend);
      if (local === inputs) local = [...inputs];
      (local as Tensor[])[i] = copyTo(input, backend);
    }
  }
  return local;
}

/** What `tf.config.experimental.setDevicePolicy` wants of an input that is on another device. */
/** Those of other ops are made of such. */
function logPlacement({ name, isComposite }: Op): void {
  const backend = currentBackend();
  if (!isComposite && backend !== symbolic)
    console.info(`Executing op ${name} in device ${deviceName(backend)}`);
}

function checkPlaces(op: Op, input: Tensor, i: number, backend: Backend): void {
  const [from, to] = [input.device, deviceName(backend)];
  // A copy in the open is what this asks for.
  if (from === to || input.backend === symbolic || op.name === 'Identity') return;
  const message = `input ${i} is on ${from}, and the op runs on ${to}`;
  if (placement.policy === 'explicit')
    throw new InvalidArgumentError(
      `${message}: copy it with tf.device('${to}', () => tf.identity(x)), or set another device policy`,
      op.name,
    );
  console.warn(`${op.name}: ${message}: it is copied`);
}

function disposed(input: Tensor, op: Op): never {
  throw new FailedPreconditionError(
    `an input (${input.dtype} [${input.shape}]) was disposed, so its values are gone`,
    op.name,
  );
}

/** @internal A tensor for another backend: over the same bytes where both use one memory, else a copy. */
export function copyTo(x: Tensor, backend: Backend): Tensor {
  if (backend === symbolic) return symbolic.recorder?.capture(x) ?? symbolicTensor(x.dtype, x.shape);
  if (x.backend === symbolic) throw noValue(x);
  if (x.storage.allocator === backend.allocator) return aliasTensor(x, x.shape, x.size, backend);
  const out = emptyTensor(x.dtype, x.shape, x.size, backend);
  copyStorage(x.storage, out.storage, Math.min(x.storage.capacity, out.storage.capacity));
  return out;
}

/**
 * Declares an op that a kernel computes, or that is composed of others. Call it with `execute`/`execute1` from the function
 * that users see, which brings arguments into order. The declaration is also what documents and tests the op.
 */
/* @__NO_SIDE_EFFECTS__ */
export function defineOp(spec: OpSpec): Op {
  if ('kernel' in spec) {
    const { kernel: name, infer, kernelAttrs } = spec;
    const make = (s: OutputSpec, backend: Backend): Tensor =>
      emptyTensor(s.dtype, s.shape, sizeOfDims(s.shape), backend);
    const evaluate = (inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] => {
      const backend = currentBackend();
      const specs = infer(inputs, attrs) as OutputSpec | OutputSpec[];
      const outputs = Array.isArray(specs) ? specs.map((s) => make(s, backend)) : [make(specs, backend)];
      const asked =
        inputs.length > 0 && (inputs[0] as Tensor).dtype === (outputs[0] as Tensor).dtype
          ? inputs
          : tellingOf(inputs, outputs);
      // Attributes of the kernel are computed where it runs.
      if (backend === symbolic && [...inputs, ...outputs].some((t) => hasUnknown(t.shape))) {
        symbolic.recorder?.call(name, inputs, outputs, attrs as KernelAttrs);
        return outputs;
      }
      kernelFor(backend, name, asked)(
        inputs,
        outputs,
        kernelAttrs === undefined ? (attrs as KernelAttrs) : kernelAttrs(attrs, inputs),
      );
      return outputs;
    };
    return declare(spec, evaluate);
  }
  if ('host' in spec) return declare(spec, (inputs, attrs) => onHost(spec, inputs, attrs));
  const parts = 'compose' in spec ? spec.compose : spec.run;
  const list = (result: Tensor | readonly Tensor[]): readonly Tensor[] =>
    Array.isArray(result) ? (result as readonly Tensor[]) : [result as Tensor];
  // With a gradient of its own (or none at all) the op is one entry on a tape; without, its parts are.
  const whole = spec.grad !== undefined || spec.notDifferentiable !== undefined || 'run' in spec;
  return whole
    ? declare(spec, (inputs, attrs) => list(withoutTapes(() => parts(inputs, attrs))))
    : declare(spec, (inputs, attrs) => list(parts(inputs, attrs)), true);
}

/** Runs an op that the host computes: now, or in each run of the graph that is being made. */
function onHost(
  { name, infer, host }: Extract<OpSpec, { host: unknown }>,
  inputs: readonly Tensor[],
  attrs: Attrs,
): readonly Tensor[] {
  if (currentBackend() !== symbolic) return withoutTapes(() => host(inputs, attrs));
  const specs = infer(inputs, attrs) as OutputSpec | OutputSpec[];
  const outputs = (Array.isArray(specs) ? specs : [specs]).map((s) => symbolicTensor(s.dtype, s.shape));
  symbolic.recorder?.host?.(name, (...now) => host(now, attrs), inputs, outputs);
  return outputs;
}

/** The tensors that tell which kernel it is: outputs where no input says whether it widens, or makes two parts. */
function tellingOf(inputs: readonly Tensor[], outputs: readonly Tensor[]): readonly Tensor[] {
  const { dtype } = outputs[0] as Tensor;
  if (inputs.length === 0) return isHalf(dtype) || isComplex(dtype) ? outputs : inputs;
  return isComplex(dtype) && !inputs.some((x) => isComplex(x.dtype)) ? outputs : inputs;
}

/** What to do where a kernel lacks a dtype, at the end of a message. */
function otherDType(dtype: DType | undefined): string {
  if (dtype === undefined || dtype === 'string') return '';
  if (isComplex(dtype)) return '; take x.real(), x.imag() or x.abs() before';
  const wide = dtypeTraits[dtype].computesIn;
  const wider = wide === dtype ? 'float32' : wide;
  return wider === dtype ? '' : `; convert to another dtype before, for example x.cast('${wider}')`;
}

/** @internal The kernel of the backend for inputs of their dtypes. @throws UnimplementedError when it has none; none takes strings, whose memory holds no values. */
export function kernelFor(backend: Backend, name: KernelName, inputs: readonly Tensor[]): Kernel {
  const last = lastKernels.get(name);
  if (last !== undefined && last.backend === backend && haveDTypes(inputs, last.dtypes)) return last.kernel;
  const dtypes = inputs.map((x) => x.dtype);
  const kernel = dtypes.includes('string') ? undefined : findKernel(backend, name, dtypes);
  if (kernel === undefined) {
    throw new UnimplementedError(
      `the backend '${backend.name}' has no kernel ${name} for (${dtypes.join(', ')})${otherDType(dtypes[0])}`,
    );
  }
  // Those of a trace depend on the backend that it is for, where they take floats of 16 bits.
  if (backend !== symbolic || !dtypes.some((dtype) => dtype !== 'string' && isHalf(dtype)))
    lastKernels.set(name, { backend, dtypes, kernel });
  return kernel;
}

function findKernel(backend: Backend, name: KernelName, of: readonly DType[]): Kernel | undefined {
  if (of.some(isComplex)) return complexKernel(backend, name, of);
  const dtypes = of as readonly NumericDType[];
  if (!widens(name, dtypes)) return placedKernel(backend, name, dtypes);
  const runs = backend === symbolic ? eagerBackend() : backend;
  return runs.kernel(name, dtypes) === undefined
    ? widenedKernel(backend, name, dtypes)
    : backend.kernel(name, dtypes);
}

/** What was found last: most programs ask for a kernel for the same dtypes again and again. */
const lastKernels = new Map<KernelName, LastKernel>();
interface LastKernel {
  readonly backend: Backend;
  readonly dtypes: readonly DType[];
  readonly kernel: Kernel;
}

function haveDTypes(inputs: readonly Tensor[], dtypes: readonly DType[]): boolean {
  if (inputs.length !== dtypes.length) return false;
  for (let i = 0; i < inputs.length; i++) if ((inputs[i] as Tensor).dtype !== dtypes[i]) return false;
  return true;
}

// ---- elementwise ops

type ScalarBody = (s: NumberBuilder, ...values: NumberValue[]) => NumberValue;

interface ElementwiseSpec {
  readonly name: string;
  /** Accepted dtypes; `floating` by default. */
  readonly dtypes?: DTypeGroup;
  readonly notDifferentiable?: string;
  readonly ulp?: number;
  /** Values on which the op is tested: a range (of float inputs), away from singular points. */
  readonly domain?: readonly [low: number, high: number];
  /** Calls on which the op is tested, where one range for all inputs does not do. */
  readonly samples?: () => readonly Sample[];
}

export interface UnarySpec extends ElementwiseSpec {
  readonly scalar: (s: NumberBuilder, x: NumberValue) => NumberValue;
  /** The gradient for `x`: `({ x, y }, dy) => dy.mul(y)`. */
  readonly grad?: (g: GradContext, dy: Tensor) => Tensor;
}
export interface BinarySpec extends ElementwiseSpec {
  readonly scalar: (s: NumberBuilder, a: NumberValue, b: NumberValue) => NumberValue;
  /** What it is of strings, which have no kernels. */
  readonly strings?: (a: Tensor, b: Tensor) => Tensor;
  /** Gradients for `a` and `b` before broadcasting is undone. */
  readonly grad?: (g: GradContext, dy: Tensor) => readonly [Tensor | null, Tensor | null];
}

/** @template N how its argument is called, also with TensorFlow's name behind ours: `x|features` */
export type UnaryFunction<N extends string = 'x', R = Tensor> = NamedFunction<
  [x: TensorLike],
  [N],
  unknown,
  R
>;
/** @template N the same of both, TensorFlow's and Keras's names among them. */
export type BinaryFunction<N extends readonly [string, string] = BinaryNames, R = Tensor> = NamedFunction<
  [a: TensorLike, b: TensorLike],
  N,
  unknown,
  R
>;
export type BinaryNames = ['a|x|x1', 'b|y|x2'];

/** A scalar function for inputs of certain dtypes. */
interface Compiled {
  readonly kernel: Kernel;
  /** Of the result. */
  readonly dtype: DType;
  /** What the backend made: the kernel, or what it calls on the parts of complex numbers. */
  readonly made: Kernel;
}

/** Compiled scalar programs of one op, by backend and dtypes; the last one is found without a look-up. */
class Programs {
  readonly #body: ScalarBody;
  readonly #known = new Map<Backend, Map<number | string, Compiled>>();
  #backend: Backend | undefined;
  #dtype: DType | undefined;
  #last: Compiled | undefined;

  constructor(body: ScalarBody) {
    this.#body = body;
  }

  /** Lets go of what backends keep for them; they must not be used again. */
  forget(): void {
    for (const [backend, kernels] of this.#known)
      for (const { made } of kernels.values()) backend.forget?.(made);
    this.#known.clear();
  }

  /** For inputs that all have `dtype`. */
  same(backend: Backend, dtype: DType, count: number): Compiled {
    if (this.#last !== undefined && dtype === this.#dtype && backend === this.#backend) return this.#last;
    const found = this.get(backend, new Array<{ dtype: DType }>(count).fill({ dtype }));
    this.#backend = backend;
    this.#dtype = dtype;
    this.#last = found;
    return found;
  }

  get(backend: Backend, inputs: readonly { readonly dtype: DType }[]): Compiled {
    let byDTypes = this.#known.get(backend);
    if (byDTypes === undefined) this.#known.set(backend, (byDTypes = new Map()));
    const key = signature(inputs);
    let found = byDTypes.get(key);
    if (found === undefined) {
      const dtypes = inputs.map((x) => x.dtype as NumberValue['dtype']);
      const { program, dtype } = buildNumberProgram(dtypes, this.#body);
      const made = backend.elementwise(program);
      const kernel = dtypes.some(isComplex) || isComplex(dtype) ? onParts(backend, made) : made;
      found = { kernel, dtype, made };
      byDTypes.set(key, found);
    }
    return found;
  }
}

/** Tells lists of dtypes apart: one hexadecimal digit each behind a leading 1, which is exact up to 13 inputs. */
function signature(inputs: readonly { readonly dtype: DType }[]): number | string {
  if (inputs.length > 13) return inputs.map((x) => x.dtype).join(' ');
  let key = 1;
  for (let i = 0; i < inputs.length; i++)
    key = key * 16 + dtypeTraits[(inputs[i] as { dtype: DType }).dtype].code;
  return key;
}

/** A tensor without values of the shape of another. */
function emptyLike(x: Tensor, dtype: DType, backend: Backend): Tensor {
  // Sizes that are not known must not be asked for.
  const size = backend === symbolic ? sizeOfDims(x.shape) : x.size;
  return emptyTensor(dtype, x.shape, size, backend);
}

const defaultDomain = [-3, 3] as const;

function elementwiseSamples(spec: ElementwiseSpec, count: number): () => readonly Sample[] {
  if (spec.samples !== undefined) return spec.samples;
  const group = spec.dtypes ?? 'floating';
  const [low, high] = spec.domain ?? defaultDomain;
  const input = (shape: Shape): SampleInput => {
    if (group === 'bool') return { kind: 'bool', shape };
    if (group === 'integer')
      return { kind: 'integer', shape, low: Math.max(1, low), high: Math.max(9, high), dtype: 'int32' };
    return { kind: 'uniform', shape, low, high };
  };
  return () =>
    count === 1
      ? [{ inputs: [input([3, 5])] }, { inputs: [input([])] }]
      : [
          { inputs: [input([3, 5]), input([3, 5])] },
          { inputs: [input([2, 1, 4]), input([3, 1])] },
          { inputs: [input([2, 3]), input([])] },
        ];
}

/** Declares an elementwise op of one argument from its scalar program. @returns the function that users call. */
/* @__NO_SIDE_EFFECTS__ */
export function defineUnary<N extends string = 'x'>(spec: UnarySpec, argument = 'x' as N): UnaryFunction<N> {
  const programs = new Programs(spec.scalar as ScalarBody);
  const group = spec.dtypes ?? 'floating';
  let accepted: DType | undefined;
  const op = declare({ ...spec, samples: elementwiseSamples(spec, 1) }, (inputs) => {
    const x = inputs[0] as Tensor;
    const { backend } = x;
    if (x.dtype !== accepted) {
      // Whether the function is one of complex numbers is found when it is built.
      if (!isComplex(x.dtype)) checkDType(x.dtype, group, 'x', spec.name);
      accepted = x.dtype;
    }
    const { kernel, dtype } = programs.same(backend, x.dtype, 1);
    const outputs = [emptyLike(x, dtype, backend)];
    kernel(inputs, outputs, noAttrs);
    return outputs;
  });
  elementwise(op);
  const fn = defineHot(
    [argument],
    (x: TensorLike) => execute1(op, [toTensor(x)]),
    (otherwise): UnaryFunction<N> =>
      function (x: unknown) {
        // biome-ignore lint/complexity/noArguments: their number is compared, which costs nothing.
        if (arguments.length !== 1 || mayBeNamed(x)) return otherwise(arguments) as Tensor;
        return execute1(op, [toTensor(x as TensorLike)]);
      } as UnaryFunction<N>,
  );
  return worksByElement(fn);
}

/** Declares an elementwise op of two arguments, which are promoted to one dtype and broadcast. */
/* @__NO_SIDE_EFFECTS__ */
export function defineBinary<N extends readonly [string, string] = BinaryNames>(
  spec: BinarySpec,
  names = ['a|x|x1', 'b|y|x2'] as unknown as N,
): BinaryFunction<N> {
  const programs = new Programs(spec.scalar as ScalarBody);
  const group = spec.dtypes ?? 'floating';
  let accepted: DType | undefined;
  const { grad } = spec;
  const op = declare(
    {
      ...spec,
      samples: elementwiseSamples(spec, 2),
      ...(grad === undefined
        ? {}
        : {
            grad: (g: GradContext, dy: Tensor) => {
              const [da, db] = grad(g, dy);
              return [da === null ? null : sumTo(da, g.a.shape), db === null ? null : sumTo(db, g.b.shape)];
            },
          }),
    } as OpSpecBase,
    (inputs) => {
      const a = inputs[0] as Tensor;
      const b = inputs[1] as Tensor;
      const { backend } = a;
      if (a.dtype !== accepted) {
        if (!isComplex(a.dtype)) checkDType(a.dtype, group, 'a', spec.name);
        accepted = a.dtype;
      }
      if (a.dtype !== b.dtype) {
        throw new InvalidArgumentError(
          `a is ${a.dtype} and b is ${b.dtype}; they must have the same dtype`,
          spec.name,
        );
      }
      const { kernel, dtype } = programs.same(backend, a.dtype, 2);
      const shape = a.shape === b.shape ? a.shape : broadcastShapes(a.shape, b.shape, spec.name);
      const outputs = [
        shape === a.shape
          ? emptyLike(a, dtype, backend)
          : emptyTensor(dtype, shape, sizeOfDims(shape), backend),
      ];
      kernel(inputs, outputs, noAttrs);
      return outputs;
    },
  );
  elementwise(op);
  const { strings } = spec;
  const run = (a: TensorLike, b: TensorLike): Tensor => {
    const both = pair(a, b, spec.name);
    return strings !== undefined && both[0].dtype === 'string' ? strings(...both) : execute1(op, both);
  };
  const fn = defineHot(
    names,
    run,
    (otherwise): BinaryFunction<N> =>
      function (a: unknown, b?: unknown) {
        // biome-ignore lint/complexity/noArguments: their number is compared, which costs nothing.
        if (arguments.length !== 2) return otherwise(arguments) as Tensor;
        if (isTensor(a)) {
          if (isTensor(b) && a.dtype === b.dtype && a.dtype !== 'string') return execute1(op, [a, b]);
          if (typeof b === 'number') return run(a, b);
        }
        // biome-ignore lint/complexity/noArguments: as above.
        if (b === undefined || mayBeNamed(a) || mayBeNamed(b)) return otherwise(arguments) as Tensor;
        return run(a as TensorLike, b as TensorLike);
      } as BinaryFunction<N>,
  );
  return worksByElement(fn);
}

/** @internal Two arguments as tensors of one dtype: bare numbers follow the tensor beside them, tensors are widened. */
export function pair(first: TensorLike, second: TensorLike, op: string): [Tensor, Tensor] {
  const a = first instanceof Tensor ? first : inPrecision(first);
  const b = second instanceof Tensor ? second : inPrecision(second);
  const hintA = a instanceof Tensor ? a.dtype : dtypeOf(a);
  const hintB = b instanceof Tensor ? b.dtype : dtypeOf(b);
  let x = toTensor(a, hintA === undefined ? hintB : undefined);
  let y = toTensor(b, hintB === undefined ? (hintA ?? x.dtype) : undefined);
  if (x.dtype !== y.dtype) {
    const dtype = opHooks.meeting(x, y) ?? common(x.dtype, y.dtype, op);
    if (x.dtype !== dtype) x = opHooks.cast(x, dtype);
    if (y.dtype !== dtype) y = opHooks.cast(y, dtype);
  }
  return [x, y];
}

/** A weight of a layer whose computation has another precision is a tensor of that one. */
const inPrecision = (value: TensorLike): TensorLike =>
  value instanceof VariableBase && value.autocast ? toTensor(value) : value;

/** @internal The dtype of something that has one; undefined for bare values, which follow what stands beside them. */
export function dtypeOf(value: TensorLike): DType | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isComplexNumber(value))
    return undefined;
  return 'dtype' in value && value.dtype !== undefined ? value.dtype : toTensor(value).dtype;
}

const PROGRAMS = 128;

/** Declares an elementwise op of several arguments with dtypes of their own (select, cast, clip). */
/* @__NO_SIDE_EFFECTS__ */
export function defineElementwise(
  spec: OpSpecBase & {
    readonly scalar: (attrs: Attrs) => ScalarBody;
    /** Distinguishes programs that differ by attributes. */
    readonly key?: (attrs: Attrs) => string;
    readonly check?: (inputs: readonly Tensor[], attrs: Attrs) => void;
  },
): Op {
  // Attributes may be numbers that are others at each call, such as a slope.
  const known = new RecentMap<string, Programs>(PROGRAMS, (programs) => programs.forget());
  const op = declare(spec, (inputs, attrs) => {
    spec.check?.(inputs, attrs);
    const key = spec.key?.(attrs) ?? '';
    let programs = known.get(key);
    if (programs === undefined) known.set(key, (programs = new Programs(spec.scalar(attrs))));
    const backend = currentBackend();
    const { kernel, dtype } = programs.get(backend, inputs);
    const shape = inputs.map((x) => x.shape).reduce((a, b) => broadcastShapes(a, b, spec.name));
    const out = emptyTensor(dtype, shape, sizeOfDims(shape), backend);
    kernel(inputs, [out], noAttrs);
    return [out];
  });
  return elementwise(op);
}

const notLoaded = (): never => {
  throw new InternalError('the op catalogue is not loaded');
};
// What the machinery itself needs: the catalogue puts the ops in, tapes the gradient of a function.
export const opHooks: {
  cast(x: Tensor, dtype: DType): Tensor;
  sumTo(x: Tensor, shape: Shape): Tensor;
  conj(x: Tensor): Tensor;
  /** The gradients for the inputs of a function whose outputs have the gradients `dys`; null where there is none. */
  vjp(
    fn: (inputs: readonly Tensor[]) => readonly Tensor[],
    inputs: readonly Tensor[],
    dys: readonly (Tensor | null | undefined)[],
  ): readonly (Tensor | null)[];
  /** The dtype in which two of different ones meet, where one stands for a bare number of the code; null where none does. */
  meeting(x: Tensor, y: Tensor): DType | null;
} = { cast: notLoaded, sumTo: notLoaded, conj: notLoaded, vjp: notLoaded, meeting: () => null };

const conjugate = <T extends Tensor | null>(x: T): T | Tensor =>
  x !== null && isComplex(x.dtype) ? opHooks.conj(x) : x;

/**
 * A gradient that is right for complex numbers too. That of a real L for z = x + iy is ∂L/∂x + i ∂L/∂y, as in TensorFlow; so a
 * holomorphic f passes dy · conj(f′(z)) on, which is the conjugate of what the formula for real numbers makes of conj(dy).
 */
function holomorphic(grad: GradFn): GradFn {
  return (g, dy, ...more) => {
    if (!isComplex(dy.dtype)) return more.length === 0 ? grad(g, dy) : grad(g, dy, ...more);
    const result = grad(g, conjugate(dy), ...more.map(conjugate));
    return Array.isArray(result) ? result.map(conjugate) : conjugate(result as Tensor | null);
  };
}

/** Undoes broadcasting: sums `x` over the axes along which `shape` was stretched. */
export function sumTo(x: Tensor, shape: Shape): Tensor {
  return x.shape === shape ? x : opHooks.sumTo(x, shape);
}
