// What says something of a tensor, or of the code that is running.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkFunction, checkNumber, shown } from '../../arguments/checks.ts';
import { assertion } from '../../dispatch/checked-values.ts';
import { context, inInitScope } from '../../dispatch/context.ts';
import { atRunTime, callHost, type HostFunction } from '../../dispatch/host.ts';
import { knownTensor, symbolic } from '../../dispatch/symbolic.ts';
import { dims } from '../../shapes/dims.ts';
import {
  checkList,
  checkPartialShape,
  isCompatible,
  type PartialShape,
  type Shape,
  showShape,
} from '../../shapes/shape.ts';
import { TensorShape, type TensorShapeLike } from '../../shapes/tensor-shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDTypeName } from '../../tensor/dtypes.ts';
import { aliasTensor, Tensor } from '../../tensor/tensor.ts';
import { identity } from './shaping.ts';

/**
 * x, whose shape is looked at: now, or in each run of a traced function.
 * @param shape sizes, null for any
 * @throws InvalidArgumentError for another shape
 */
export const ensureShape: NamedFunction<[x: TensorLike, shape: TensorShapeLike], ['x', 'shape']> =
  /* @__PURE__ */ defineFunction('ensureShape', { x: kind.tensor, shape: kind.asIs }, {}, (x, shape) => {
    const op = 'EnsureShape';
    const t = toTensor(x);
    const wanted: PartialShape | null = new TensorShape(shape).dims;
    if (wanted === null) return identity(t);
    checkPartialShape(wanted, op);
    const check = (own: Shape): void => {
      if (!isCompatible(own, wanted))
        throw new InvalidArgumentError(`shape ${showShape(own)} is not ${showShape(wanted)}`, op);
    };
    if (dims(t).length !== wanted.length) check(t.shape);
    atRunTime(op, (now) => check(now.shape), [t], []);
    return identity(t);
  });

/** Throws where a condition, a bool scalar, is false: now, or in each run of a traced function. @param data what the error shows */
export const Assert: NamedFunction<
  [condition: TensorLike, data: readonly TensorLike[]],
  ['condition', 'data'],
  {
    /** How many elements of each tensor the error shows; 3 by default. */
    readonly summarize?: number;
  },
  void
> = /* @__PURE__ */ defineFunction(
  'Assert',
  { condition: kind.tensor, data: kind.asIs },
  { summarize: kind.asIs },
  (condition, data, options) => {
    const holds = toTensor(condition);
    if (holds.dtype !== 'bool' || holds.rank !== 0)
      throw new InvalidArgumentError(
        `condition is ${holds.dtype} ${showShape(holds.shape)}, expected a bool scalar`,
        'Assert',
      );
    const most = options.summarize ?? 3;
    checkNumber(most, 'summarize', 'Assert', -1);
    const shownData = checkList(data as readonly TensorLike[], 'data', 'Assert').map((x) => toTensor(x));
    const check = (now: Tensor, ...values: Tensor[]): void => {
      if ((now.item() as unknown) === true) return;
      const texts = values.map((x) => {
        const all = x.dtype === 'string' ? x.strings() : Array.from(x.data() as ArrayLike<number>);
        return most < 0 || all.length <= most ? all.join(' ') : `${all.slice(0, most).join(' ')} …`;
      });
      throw new InvalidArgumentError(`assertion failed: ${texts.map((t) => `[${t}]`).join(' ')}`, 'Assert');
    };
    // Texts that every run has are no inputs.
    const late = shownData.filter((x) => knownTensor(x) === null);
    const all = (values: readonly Tensor[]): Tensor[] => {
      const rest = [...values];
      return shownData.map((x) => (late.includes(x) ? (rest.shift() as Tensor) : x));
    };
    const run: HostFunction = (now, ...values) => check(now as Tensor, ...all(values));
    const written = assertion(
      'Assert',
      (now) => now as Tensor,
      (_, ...values) => all(values),
    );
    atRunTime('Assert', run, [holds, ...late], [], false, written);
  },
);

/** Runs a function as if none were being traced: what makes variables computes at once, and tapes do not see it. */
export const initScope: <T>(fn: () => T) => T = /* @__PURE__ */ defineFunction<
  NamedFunction<[fn: () => unknown], ['fn'], unknown, unknown>
>('initScope', { fn: kind.asIs }, {}, (fn) => {
  checkFunction(fn, 'fn', 'initScope');
  return inInitScope(fn);
}) as never;

/** Whether a function is being traced. */
export const insideFunction: NamedFunction<[], [], unknown, boolean> = /* @__PURE__ */ defineFunction(
  'insideFunction',
  {},
  {},
  () => context.tracer !== null,
);

/** Whether a tensor stands for the one that a traced function will have in its runs. */
export const isSymbolicTensor: NamedFunction<[tensor: unknown], ['tensor'], unknown, boolean> =
  /* @__PURE__ */ defineFunction(
    'isSymbolicTensor',
    { tensor: kind.structure },
    {},
    (tensor) => tensor instanceof Tensor && tensor.backend === symbolic,
  );

/** The value that a tensor has in every run, as a tensor with values; null where it depends on what a traced function gets. */
export const getStaticValue: NamedFunction<[tensor: TensorLike], ['tensor'], unknown, Tensor | null> =
  /* @__PURE__ */ defineFunction('getStaticValue', { tensor: kind.tensor }, {}, (tensor) => {
    const value = knownTensor(toTensor(tensor));
    return value === null ? null : aliasTensor(value, value.shape);
  });

/** The seconds since 1970: a float64 scalar, of each run. */
export const timestamp: NamedFunction<[], []> = /* @__PURE__ */ defineFunction('timestamp', {}, {}, () => {
  const now = (): Tensor => toTensor({ data: Float64Array.of(Date.now() / 1000), shape: [] });
  return atRunTime('Timestamp', now, [], [{ dtype: 'float64', shape: [] }])[0] as Tensor;
});

// ---- code of the host

/** Options of functions of the host. */
export interface HostFunctionOptions {
  /** What a traced function has to know of the results: one shape, or one for each dtype. */
  readonly shape?: Shape | readonly Shape[];
  /** Whether it has effects; it runs in each run in any case. */
  readonly stateful?: boolean;
}
type DTypes = DType | readonly DType[];
type Wrapped<Args> = NamedFunction<
  [func: (...inputs: Args[]) => unknown, inp: readonly TensorLike[], Tout: DTypes],
  ['func', 'inp', 'Tout'],
  HostFunctionOptions,
  Tensor | readonly Tensor[]
>;

/** Calls code of the host: at once, or in each run of a traced function, where its results have the shapes that are given. */
function called(
  name: string,
  func: HostFunction,
  inp: readonly TensorLike[],
  types: DTypes,
  options: HostFunctionOptions,
): Tensor | readonly Tensor[] {
  checkFunction(func, 'func', name);
  const inputs = checkList(inp, 'inp', name).map((x) => toTensor(x));
  const dtypes = Array.isArray(types) ? (types as readonly DType[]) : [types as DType];
  for (const dtype of dtypes) checkDTypeName(dtype, name);
  const one = !Array.isArray(types);
  if (context.tracer === null && options.shape === undefined) {
    const given = func(...inputs);
    const list = one ? [given] : given;
    if (!Array.isArray(list) || list.length !== dtypes.length)
      throw new InvalidArgumentError(`func returned ${shown(given)}, expected ${dtypes.length} values`, name);
    const found = dtypes.map((dtype, i) => checkedResult(list[i] as TensorLike, dtype, i, name));
    return one ? (found[0] as Tensor) : found;
  }
  if (options.shape === undefined)
    throw new UnimplementedError(
      'in a traced function the shapes of the results must be known: give { shape }',
      name,
    );
  const shapes = (one ? [options.shape] : options.shape) as readonly Shape[];
  checkList(shapes, 'shape', name);
  for (const shape of shapes) checkList(shape, 'shape', name);
  const specs = dtypes.map((dtype, i) => ({ dtype, shape: shapes[i] as Shape }));
  if (shapes.length !== dtypes.length)
    throw new InvalidArgumentError(`shape has ${shapes.length} entries, expected ${dtypes.length}`, name);
  const found =
    context.tracer === null ? callHost(name, func, inputs, specs) : atRunTime(name, func, inputs, specs);
  return one ? (found[0] as Tensor) : found;
}

function checkedResult(value: TensorLike, dtype: DType, place: number, name: string): Tensor {
  const t = toTensor(value, dtype);
  if (t.dtype !== dtype)
    throw new InvalidArgumentError(`result ${place} is ${t.dtype}, expected ${dtype}`, name);
  return t;
}

const hostKinds = { func: kind.asIs, inp: kind.asIs, Tout: kind.asIs };
/**
 * Calls code of the host with tensors that have values. While no function is traced its ops are seen by tapes, so that it has a gradient;
 * in a traced function, where the shapes of the results must be given, it has none.
 */
export const pyFunction: Wrapped<Tensor> = /* @__PURE__ */ defineFunction(
  'pyFunction',
  hostKinds,
  { shape: kind.asIs, stateful: kind.asIs },
  (func, inp, Tout, options) => called('pyFunction', func as HostFunction, inp, Tout, options),
);
/**
 * Calls code of the host with arrays, `{ data, shape, dtype }`, of the values of tensors; it returns arrays, numbers or lists. It has no
 * gradient. In a traced function the shapes of the results must be given.
 */
export const numpyFunction: Wrapped<ReturnType<Tensor['ndarray']>> = /* @__PURE__ */ defineFunction(
  'numpyFunction',
  hostKinds,
  { shape: kind.asIs, stateful: kind.asIs },
  (func, inp, Tout, options) => {
    checkFunction(func, 'func', 'numpyFunction');
    return called(
      'numpyFunction',
      (...inputs) => func(...inputs.map((x) => x.ndarray())) as TensorLike,
      inp,
      Tout,
      options,
    );
  },
);
