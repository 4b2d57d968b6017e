// `tf.keras.ops`: what computes nothing, loops, branches, and elements at places.
import { customGradient as ownGradient } from '@eagre/autodiff';
import {
  concat,
  cast as coreCast,
  convertToTensor as coreConvert,
  isTensor as coreIsTensor,
  saturateCast as coreSaturateCast,
  type DType,
  gatherNd,
  type HostArray,
  type IntegerLike,
  type NamedFunction,
  type RaggedTensor,
  type Shape,
  type ShapeLike,
  type SparseTensor,
  scatterNd,
  stack,
  type Tensor,
  type TensorLike,
  Variable,
  zerosLike,
} from '@eagre/core';
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkText,
  context,
  type Dim,
  declareAs,
  defineFunction,
  defineVariadic,
  dims,
  floorDivDims,
  iota,
  kind,
  knownDim,
  mulDims,
  normalizeAxis,
  shown,
  sizeValue,
  toShape,
  toTensor,
  tree,
} from '@eagre/core/internal';
import {
  cond,
  whileLoop as graphLoop,
  scan as graphScan,
  mapFn,
  switchCase,
  vectorizedMap,
} from '@eagre/graph';
import { densified, isStored, kindOf } from '../layer/kinds.ts';
import { KerasTensor } from '../models/keras-tensor.ts';
import { list as listKind, named, refuse, text as textKind } from './define.ts';

export { stopGradient } from '@eagre/core';
export { cond, mapFn as map, vectorizedMap };

// biome-ignore lint/suspicious/noExplicitAny: structures of tensors, which types do not know.
type Any = any;

// ---- tensors and what is known of them

/** x as another dtype. */
export const cast: NamedFunction<[x: TensorLike, dtype: DType], ['x', 'dtype']> = defineFunction(
  named('cast'),
  { x: kind.tensor, dtype: kind.asIs },
  {},
  (x, dtype) => coreCast(x, dtype),
);
/** x as another dtype; what that cannot represent becomes its nearest number. */
export const saturateCast: NamedFunction<[x: TensorLike, dtype: DType], ['x', 'dtype']> = defineFunction(
  named('saturateCast'),
  { x: kind.tensor, dtype: kind.asIs },
  {},
  (x, dtype) => coreSaturateCast(x, dtype),
);
/**
 * A tensor of a value: numbers, lists, arrays, variables or tensors; of another dtype if one is given. Sparse and ragged tensors stay what they
 * are, or become dense with `sparse: false` and `ragged: false`.
 */
export const convertToTensor: NamedFunction<
  [x: TensorLike | SparseTensor | RaggedTensor, dtype?: DType | null],
  ['x', 'dtype'],
  { sparse?: boolean | null; ragged?: boolean | null }
> = defineFunction(
  named('convertToTensor'),
  { x: kind.asIs, dtype: kind.asIs },
  { sparse: kind.asIs, ragged: kind.asIs },
  (x, dtype: DType | null = null, { sparse = null, ragged = null }) => {
    const op = named('convertToTensor');
    checkFlag(sparse, 'sparse', op);
    checkFlag(ragged, 'ragged', op);
    const isLeft = kindOf(x) === 'sparse' ? sparse !== false : ragged !== false;
    const t = isStored(x) ? (isLeft ? (x as unknown as Tensor) : densified(x)) : coreConvert(x);
    return dtype === null || t.dtype === dtype ? t : coreCast(t, dtype);
  },
);
/** The values as an array of the host, with their shape. */
export const convertToNumpy: NamedFunction<[x: TensorLike], ['x'], unknown, HostArray> = defineFunction(
  named('convertToNumpy'),
  { x: kind.tensor },
  {},
  (x) => toTensor(x).ndarray(),
);
/** Whether a value is a tensor or a symbolic tensor. */
export const isTensor: NamedFunction<[x: unknown], ['x'], unknown, boolean> = defineFunction(
  named('isTensor'),
  { x: kind.structure },
  {},
  (x) => coreIsTensor(x) || x instanceof KerasTensor,
);

type Any0 = TensorLike | KerasTensor;
const known = (x: Any0): { readonly shape: readonly (number | null)[]; readonly dtype: DType } =>
  x instanceof KerasTensor || x instanceof Variable ? x : toTensor(x);

type ShapeOf<X, D> = NamedFunction<[x: X], ['x'], unknown, D[]>;
/** The sizes of all axes: numbers, null in symbolic tensors, and scalars where only the run of a traced function knows them. */
export const shape: ShapeOf<TensorLike, number | Tensor> &
  ShapeOf<KerasTensor, number | null> &
  ShapeOf<Any0, number | null | Tensor> = defineFunction(
  named('shape'),
  { x: kind.asIs },
  {},
  (x: Any0): never[] => {
    const own = known(x).shape;
    if (x instanceof KerasTensor) return [...own] as never[];
    return dims({ shape: own as Shape }).map((d) => sizeValue(d, 'int32')) as never[];
  },
);
/** The number of axes. */
export const ndim: NamedFunction<[x: Any0], ['x|a'], unknown, number> = defineFunction(
  named('ndim'),
  { 'x|a': kind.asIs },
  {},
  (x) => known(x).shape.length,
);
/** The name of the dtype. */
export const dtype: NamedFunction<[x: Any0], ['x'], unknown, DType> = defineFunction(
  named('dtype'),
  { x: kind.asIs },
  {},
  (x) => known(x).dtype,
);
/** The number of elements: an int32 scalar. */
export const size: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  named('size'),
  { x: kind.tensor },
  {},
  (x) => {
    const t = toTensor(x);
    return toTensor(sizeValue(dims(t).reduce(mulDims, 1), 'int32'), 'int32');
  },
);

/** The tensors along an axis, without it. @param num how many there are, where the shape does not tell */
export const unstack: NamedFunction<
  [x: TensorLike, num?: number | null, axis?: IntegerLike],
  ['x', 'num', 'axis'],
  unknown,
  Tensor[]
> = defineFunction(
  named('unstack'),
  { x: kind.tensor, num: kind.asIs, axis: kind.axis },
  {},
  (x, num: number | null = null, axis: number = 0) => {
    const list = toTensor(x).unstack(axis);
    if (num !== null && num !== list.length) refuse(`num is ${num}, there are ${list.length}`, 'unstack');
    return list;
  },
);

// ---- elements at places

/** Zeros of a shape, to which values are added at index tuples (the last axis of `indices`). */
export const scatter: NamedFunction<
  [indices: TensorLike, values: TensorLike, shape: ShapeLike],
  ['indices', 'values', 'shape']
> = defineFunction(
  named('scatter'),
  { indices: kind.tensor, values: kind.tensor, shape: kind.shape },
  {},
  (indices, values, shape) => scatterNd(toTensor(indices, 'int32'), values, shape),
);

type Reduction = 'add' | 'max' | 'min' | 'mul';
const SCATTERS = {
  add: 'tensorScatterNdAdd',
  max: 'tensorScatterNdMax',
  min: 'tensorScatterNdMin',
} as const;

/** A copy of the inputs with other values at index tuples: in their place, or added, multiplied, or the larger or smaller one. */
export const scatterUpdate: NamedFunction<
  [inputs: TensorLike, indices: TensorLike, updates: TensorLike, reduction?: Reduction | null],
  ['inputs', 'indices', 'updates', 'reduction']
> = defineFunction(
  named('scatterUpdate'),
  { inputs: kind.tensor, indices: kind.tensor, updates: kind.tensor, reduction: kind.asIs },
  {},
  (inputs, indices, updates, reduction: Reduction | null = null) => {
    const x = toTensor(inputs);
    const i = toTensor(indices, 'int32');
    const u = toTensor(updates, x.dtype).cast(x.dtype);
    if (reduction === null) return x.tensorScatterNdUpdate(i, u);
    if (reduction === 'mul') {
      const count = knownDim(dims(i)[0]);
      let y = x;
      // One by one, since the same place may stand there twice.
      for (let n = 0; n < count; n++) {
        const at = i.at(`${n}:${n + 1}`);
        y = y.tensorScatterNdUpdate(at, gatherNd(y, at).mul(u.at(n)));
      }
      return y;
    }
    if (!(reduction in SCATTERS))
      refuse(`reduction is '${String(reduction)}', expected add, max, min or mul`, 'scatterUpdate');
    return x[SCATTERS[reduction]](i, u);
  },
);

type Starts = readonly (number | Tensor)[] | Tensor;
const slice: NamedFunction<
  [inputs: TensorLike, startIndices: Starts, shape: ShapeLike],
  ['inputs', 'startIndices', 'shape']
> = defineFunction(
  named('slice'),
  { inputs: kind.tensor, startIndices: kind.asIs, shape: kind.asIs },
  {},
  (inputs, startIndices, shape) => toTensor(inputs).slice(startIndices as number[], shape as number[]),
);

export {
  /** A block of a tensor: where it begins and its shape, in which −1 reaches to the end. */
  slice,
};

/** A copy of the inputs with a block of other values, which begins at `startIndices`. */
export const sliceUpdate: NamedFunction<
  [inputs: TensorLike, startIndices: Starts, updates: TensorLike],
  ['inputs', 'startIndices', 'updates']
> = defineFunction(
  named('sliceUpdate'),
  { inputs: kind.tensor, startIndices: kind.asIs, updates: kind.tensor },
  {},
  (inputs, startIndices, updates) => {
    const x = toTensor(inputs);
    const u = toTensor(updates, x.dtype).cast(x.dtype);
    const starts = Array.isArray(startIndices)
      ? (startIndices as readonly TensorLike[])
      : toTensor(startIndices as TensorLike).unstack();
    const grids = dims(u).map((d, axis) => {
      const places = iota(d).add(toTensor(starts[axis], 'int32').cast('int32'));
      return places.reshape(dims(u).map((_, i) => (i === axis ? -1 : 1))).broadcastTo(u.shape);
    });
    return x.tensorScatterNdUpdate(stack(grids, -1), u);
  },
);

// ---- branches and loops

type Branches = readonly ((...operands: Any[]) => Any)[];
/** What the branch of number `index` gives for the operands; numbers outside are the first or the last branch. */
const switchOf: (index: TensorLike, branches: Branches, ...operands: Any[]) => Any = defineVariadic(
  named('switch'),
  { index: kind.tensor, branches: listKind },
  { operands: kind.structure },
  {},
  (index: TensorLike, branches: Branches, operands: readonly Any[]) => {
    for (const branch of branches) checkFunction(branch, 'a branch', named('switch'));
    const i = toTensor(index, 'int32')
      .cast('int32')
      .maximum(0)
      .minimum(branches.length - 1);
    return switchCase(
      i,
      branches.map((branch) => () => branch(...operands)),
    );
  },
);

export { switchOf as switch };

/** The variables after `body` has been applied as long as `cond` holds, at most `maximumIterations` times. One alone may stand without a list. */
export const whileLoop: NamedFunction<
  [
    cond: (...vars: Any[]) => Any,
    body: (...vars: Any[]) => Any,
    loopVars: Any,
    maximumIterations?: number | null,
  ],
  ['cond', 'body', 'loopVars', 'maximumIterations'],
  unknown,
  Any
> = defineFunction(
  named('whileLoop'),
  { cond: kind.asIs, body: kind.asIs, loopVars: kind.structure, maximumIterations: kind.asIs },
  {},
  (cond, body, loopVars, maximumIterations: number | null = null) => {
    const many = Array.isArray(loopVars);
    const limit = maximumIterations === null ? {} : { maximumIterations };
    const result = graphLoop(
      cond as never,
      ((...vars: Any[]) => {
        const next: unknown = body(...vars);
        return many && Array.isArray(next) ? next : [next];
      }) as never,
      (many ? loopVars : [loopVars]) as never,
      limit,
    ) as unknown[];
    return many ? result : result[0];
  },
);

/** The value after `bodyFun(i, value)` for each number from `lower` to below `upper`. */
export const foriLoop: NamedFunction<
  [lower: TensorLike, upper: TensorLike, bodyFun: (i: Tensor, value: Any) => Any, initVal: Any],
  ['lower', 'upper', 'bodyFun', 'initVal'],
  unknown,
  Any
> = defineFunction(
  named('foriLoop'),
  { lower: kind.tensor, upper: kind.tensor, bodyFun: kind.asIs, initVal: kind.structure },
  {},
  (lower, upper, bodyFun, initVal) => {
    checkFunction(bodyFun, 'bodyFun', named('foriLoop'));
    const [first, end] = [lower, upper].map((v) => toTensor(v, 'int32'));
    const result = graphLoop(
      ((i: Tensor) => i.less(end)) as never,
      ((i: Tensor, value: unknown) => [i.add(1), bodyFun(i, value)]) as never,
      [first, initVal] as never,
    ) as unknown[];
    return result[1];
  },
);

const OP = 'keras.ops';
const leaves = (structure: unknown): Tensor[] => tree.leavesOf(structure, OP) as Tensor[];

/**
 * `f(carry, x)` for each x of `xs` along the first axis: it gives the next carry and a result. The last carry, and the results stacked.
 * @param options.length how often, where `xs` is null
 */
export const scan: NamedFunction<
  [f: (carry: Any, x: Any) => readonly [carry: Any, y: Any], init: Any, xs?: Any],
  ['f', 'init', 'xs'],
  { readonly length?: number | null; readonly reverse?: boolean; readonly unroll?: number | boolean },
  [carry: Any, ys: Any]
> = defineFunction(
  named('scan'),
  { f: kind.asIs, init: kind.structure, xs: kind.structure },
  { length: kind.asIs, reverse: kind.asIs, unroll: kind.asIs },
  (fn, init, xs: Any = null, { length, reverse = false }) => {
    checkFunction(fn, 'f', named('scan'));
    if (length !== undefined && length !== null) checkCount(length, 'length', named('scan'));
    const f: typeof fn = (carry, x) => {
      const result: unknown = fn(carry, x);
      if (!Array.isArray(result) || result.length !== 2)
        refuse(`f must return a list of the next carry and a result, got ${shown(result)}`, 'scan');
      return result as [Any, Any];
    };
    const given = xs === null ? null : tree.mapLeaves(xs, OP, (x) => toTensor(x as TensorLike));
    const count: Dim = given === null ? (length ?? 0) : firstSize(leaves(given), 'xs', 'scan');
    const at = (i: number): unknown =>
      given === null ? null : tree.mapLeaves(given, OP, (x) => (x as Tensor).at(i));
    if (context.tracer === null || typeof count === 'number') {
      let carry: unknown = init;
      const results: unknown[] = [];
      const n = knownDim(count);
      for (let i = 0; i < n; i++) {
        const place = reverse ? n - 1 - i : i;
        const [next, y] = f(carry, at(place));
        carry = next;
        results[place] = y;
      }
      return [carry, stackAll(results)];
    }
    const [, sample] = f(init, at(0));
    const zeros = tree.mapLeaves(sample, OP, (y) => zerosLike(y as Tensor));
    const states = graphScan(
      ((state: readonly unknown[], x: unknown) => f(state[0], x)) as never,
      given as never,
      { initializer: [init, zeros] as never, reverse },
    ) as readonly unknown[];
    const last = reverse ? 0 : -1;
    return [tree.mapLeaves(states[0], OP, (s) => (s as Tensor).at(last)), states[1]];
  },
);

/** The size of the first axis of tensors. @throws InvalidArgumentError where there are none, and for a scalar */
function firstSize(list: readonly Tensor[], what: string, name: string): Dim {
  if (list.length === 0) refuse(`${what} has no tensors`, name);
  const [size] = dims(list[0]);
  return size ?? refuse(`${what} is a scalar, expected tensors with a first axis`, name);
}

function stackAll(results: readonly unknown[]): unknown {
  if (results.length === 0) return null;
  const lists = results.map(leaves);
  let i = 0;
  return tree.mapLeaves(results[0], OP, () => {
    const at = i++;
    return stack(lists.map((list) => list[at]));
  });
}

/** The results of an associative function up to each element along an axis, in a number of steps that grows as the logarithm. */
export const associativeScan: NamedFunction<
  [f: (a: Any, b: Any) => Any, elems: Any],
  ['f', 'elems'],
  { readonly reverse?: boolean; readonly axis?: IntegerLike },
  Any
> = defineFunction(
  named('associativeScan'),
  { f: kind.asIs, elems: kind.structure },
  { reverse: kind.asIs, axis: kind.axis },
  (f, elems, { reverse = false, axis = 0 }) => {
    checkFunction(f, 'f', named('associativeScan'));
    const list = leaves(elems).map((x) => {
      const t = toTensor(x).moveAxis(normalizeAxis(axis as number, toTensor(x).rank), 0);
      return reverse ? t.reverse(0) : t;
    });
    firstSize(list, 'elems', 'associativeScan');
    const packed = (flat: readonly Tensor[]): unknown => {
      let i = 0;
      return tree.mapLeaves(elems, OP, () => flat[i++]);
    };
    const combine = (a: readonly Tensor[], b: readonly Tensor[]): Tensor[] => leaves(f(packed(a), packed(b)));
    const scanned = prefixes(list, combine).map((t) =>
      (reverse ? t.reverse(0) : t).moveAxis(0, axis as number),
    );
    return packed(scanned);
  },
);

/** By distances that double: what is computed of each element and the one so far before it. */
function prefixes(
  list: readonly Tensor[],
  combine: (a: readonly Tensor[], b: readonly Tensor[]) => Tensor[],
): readonly Tensor[] {
  const n = knownDim(dims(list[0])[0]);
  let all = list;
  for (let distance = 1; distance < n; distance *= 2) {
    const later = all.map((x) => x.at(`${distance}:`));
    const earlier = all.map((x) => x.at(`:${n - distance}`));
    const joined = combine(earlier, later);
    all = all.map((x, i) => concat([x.at(`:${distance}`), joined[i]]));
  }
  return all;
}

const customGradient: typeof ownGradient = declareAs(
  ((...args: readonly never[]) => (ownGradient as Any)(...args)) as typeof ownGradient,
  ownGradient,
);

export {
  /** A function whose gradient is given: `f` gives the value and a function of the gradient of it, see `tf.customGradient`. */
  customGradient,
};

// ---- functions of elements as functions of tensors

interface VectorizeOptions {
  /** Places of arguments that are handed on as they are. */
  readonly excluded?: readonly number[] | null;
  /** The axes of one call, such as `(n),(n)->()`; none by default. */
  readonly signature?: string | null;
}
type Vectorized = (...args: TensorLike[]) => Any;

/** A function of tensors that calls another one for each element, or for each block of the signature, of arguments that broadcast. */
export const vectorize: NamedFunction<
  [pyfunc: (...args: Any[]) => Any],
  ['pyfunc'],
  VectorizeOptions,
  Vectorized
> = defineFunction(
  named('vectorize'),
  { pyfunc: kind.asIs },
  { excluded: kind.asIs, signature: kind.asIs },
  (pyfunc, { excluded, signature }) => {
    if (signature !== undefined && signature !== null) checkText(signature, 'signature', OP);
    const ranks = signature === undefined || signature === null ? null : ranksOf(signature);
    return (...args) => {
      const varied = args.flatMap((_, i) => (excluded?.includes(i) === true ? [] : [i]));
      const tensors = varied.map((i) => toTensor(args[i]));
      const own = tensors.map((_, k) => ranks?.[k] ?? 0);
      const batch = Math.max(0, ...tensors.map((t, k) => t.rank - own[k]));
      // Leading axes of size 1 are those that broadcast.
      const full = tensors.map((t, k) =>
        t.reshape(toShape([...new Array<number>(batch - (t.rank - own[k])).fill(1), ...dims(t)])),
      );
      const lead = Array.from(
        { length: batch },
        (_, axis): Dim => full.map((t) => dims(t)[axis]).reduce((a, b) => (a === 1 ? b : a)),
      );
      const call = (elems: readonly Tensor[]): unknown => {
        const given: unknown[] = [...args];
        varied.forEach((i, k) => {
          given[i] = elems[k];
        });
        return pyfunc(...given);
      };
      if (batch === 0) return call(tensors);
      const rows = full.map((t) => {
        const core = dims(t).slice(batch);
        return t.broadcastTo(toShape([...lead, ...core])).reshape(toShape([-1, ...core]));
      });
      const results = mapFn(call as never, rows as never) as unknown;
      return tree.mapLeaves(results, OP, (r) => {
        const t = r as Tensor;
        return t.reshape(toShape([...lead, ...dims(t).slice(1)]));
      });
    };
  },
);
const ranksOf = (signature: string): number[] =>
  [...signature.split('->')[0].matchAll(/\(([^)]*)\)/g)].map(([, names]) =>
    names.trim() === '' ? 0 : names.split(',').length,
  );

// ---- axes by name

/**
 * The axes of a tensor in another order, joined or split, as a pattern says: `rearrange(x, 'b (h w) c -> b h w c', { h: 4 })`.
 * @param axesLengths the sizes of axes that are split off, but one of each
 */
export const rearrange: NamedFunction<
  [tensor: TensorLike, pattern: string, axesLengths?: Readonly<Record<string, number>>],
  ['tensor', 'pattern', 'axesLengths']
> = defineFunction(
  named('rearrange'),
  { tensor: kind.tensor, pattern: textKind, axesLengths: kind.structure },
  {},
  (tensor, pattern, axesLengths: Readonly<Record<string, number>> = {}) => {
    const x = toTensor(tensor);
    const [left, right, more] = pattern.split('->').map(groupsOf);
    if (right === undefined || more !== undefined) refuse(`'${pattern}' needs one '->'`, 'rearrange');
    if (left.length !== x.rank)
      refuse(`'${pattern}' has ${left.length} axes, the tensor ${x.rank}`, 'rearrange');
    const sizes = new Map<string, Dim>();
    left.forEach((group, axis) => {
      const open = group.filter((name) => axesLengths[name] === undefined);
      if (open.length > 1) refuse(`the sizes of ${open.slice(1).join(', ')} must be given`, 'rearrange');
      const rest = group.reduce<number>((n, name) => n * (axesLengths[name] ?? 1), 1);
      for (const name of group) sizes.set(name, axesLengths[name] ?? floorDivDims(dims(x)[axis], rest));
    });
    const [from, to] = [left.flat(), right.flat()];
    if (from.length !== to.length || to.some((name) => !sizes.has(name)))
      refuse(`both sides of '${pattern}' must have the same names`, 'rearrange');
    const sizeOf = (name: string): Dim => sizes.get(name) ?? 1;
    return x
      .reshape(toShape(from.map(sizeOf)))
      .transpose(to.map((name) => from.indexOf(name)))
      .reshape(toShape(right.map((group) => group.map(sizeOf).reduce(mulDims, 1))));
  },
);
const groupsOf = (side: string): string[][] =>
  [...side.matchAll(/\(([^)]*)\)|(\S+)/g)].map(([, group, name]) =>
    group === undefined ? [name] : group.trim().split(/\s+/).filter(Boolean),
  );
