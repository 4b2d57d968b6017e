// Ops on the arrangement of elements. Every function here takes a tensor first and is a method too.
import { InvalidArgumentError, isComplex, MAX_RANK } from '@eagre/backend';
import type { IntegerLike, IntegersLike, PairsLike, ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, kernelFor, type Op, opHooks, sumTo } from '../../dispatch/op.ts';
import { distinct, integers, uniform } from '../../dispatch/samples.ts';
import { symbolicTensor } from '../../dispatch/symbolic.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  maxDims,
  modDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, dimsOf, hasUnknown, sizeOfDims, toShape } from '../../shapes/dims.ts';
import {
  checkFlag,
  checkList,
  checkShape,
  listOf,
  normalizeAxes,
  normalizeAxis,
  type Shape,
  show,
  showShape,
  stretchesTo,
} from '../../shapes/shape.ts';
import { isSize, lessThan, mayBeAtMost, mayBeEqual } from '../../shapes/shape-env.ts';
import { differs, hostDims, openDims, shapesAgree, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { aliasTensor, emptyTensor, setValues, Tensor } from '../../tensor/tensor.ts';
import { checkDims, checkIntegers, checkRankOf, disposeAll, move, ownShape } from './moving.ts';

// ---- shape only: the result shares the memory of its input

const shapeAttr = (attrs: Readonly<Record<string, unknown>>): Shape => attrs.shape as Shape;

/** The same values. */
const identityOp: Op = defineOp({
  name: 'Identity',
  run: ([x]) => aliasTensor(x, x.shape),
  grad: (_, dy) => dy,
  samples: () => [{ inputs: [uniform([2, 3])] }],
});
/** The same values, through which no gradient flows. */
const stopGradientOp: Op = defineOp({
  name: 'StopGradient',
  run: ([x]) => aliasTensor(x, x.shape),
  notDifferentiable: 'it exists to stop gradients',
  samples: () => [{ inputs: [uniform([2, 3])] }],
});
/** The same values in another shape. */
const reshapeOp: Op = defineOp({
  name: 'Reshape',
  run: ([x], attrs) => aliasTensor(x, shapeAttr(attrs)),
  grad: ({ x }, dy) => reshape(dy, x.shape),
  samples: () => [
    { inputs: [uniform([2, 3, 4])], attrs: { shape: [6, 4] } },
    { inputs: [uniform([1])], attrs: { shape: [] } },
    { inputs: [uniform([0, 3])], attrs: { shape: [3, 0, 2] } },
  ],
});
/** Adds an axis of size 1. */
const expandDimsOp: Op = defineOp({
  name: 'ExpandDims',
  run: ([x], attrs) => aliasTensor(x, shapeAttr(attrs)),
  grad: ({ x }, dy) => reshape(dy, x.shape),
  samples: () => [{ inputs: [uniform([2, 3])], attrs: { shape: [2, 1, 3] } }],
});
/** Removes axes of size 1. */
const squeezeOp: Op = defineOp({
  name: 'Squeeze',
  run: ([x], attrs) => aliasTensor(x, shapeAttr(attrs)),
  grad: ({ x }, dy) => reshape(dy, x.shape),
  samples: () => [{ inputs: [uniform([2, 1, 3, 1])], attrs: { shape: [2, 3] } }],
});
/** The dimensions as an int32 tensor. */
const shapeOp: Op = defineOp({
  name: 'Shape',
  run: ([x]) => {
    // Its values are those of the run.
    if (hasUnknown(x.shape)) return symbolicTensor('int32', [x.rank]);
    const out = emptyTensor('int32', [x.rank], x.rank);
    return setValues(out, x.shape);
  },
  notDifferentiable: 'the result does not depend on the values',
  samples: () => [{ inputs: [uniform([2, 3, 4])] }, { inputs: [uniform([])] }],
});

/** A tensor of the same values, over the same memory. */
export const identity: NamedFunction<[x: TensorLike], ['x|input|a']> = defineFunction(
  'identity',
  { 'x|input|a': kind.tensor },
  {},
  (x) => execute1(identityOp, [toTensor(x)]),
);

/** The same values as a constant: no gradient flows back through it. */
export const stopGradient: NamedFunction<[x: TensorLike], ['x|input']> = defineFunction(
  'stopGradient',
  { 'x|input': kind.tensor },
  {},
  (x) => execute1(stopGradientOp, [toTensor(x)]),
);

/** The dimensions as a tensor of rank 1, int32 or `outType`: int64; `x.shape` gives them as numbers. */
export const shapeOf: <I extends 'int32' | 'int64' = 'int32'>(
  ...args: Arguments<
    [x: TensorLike],
    ['x|input'],
    {
      /** The dtype of the result; int32 by default. */
      outType?: I;
    }
  >
) => Tensor<I> = defineFunction<NamedFunction<[x: TensorLike], ['x|input'], { outType?: 'int32' | 'int64' }>>(
  'shapeOf',
  { 'x|input': kind.tensor },
  { outType: kind.asIs },
  (x, { outType = 'int32' }) => {
    checkDType(outType, 'index', 'outType', 'Shape');
    const shape = execute1(shapeOp, [toTensor(x)]);
    return outType === 'int32' ? shape : opHooks.cast(shape, outType);
  },
);

/**
 * The same values, in row-major order, in another shape; no copy is made. One dimension may be -1 and is computed from the rest.
 * `x.reshape([-1, 28 * 28])`
 * @throws InvalidArgumentError when the sizes differ.
 */
export const reshape: NamedFunction<[x: TensorLike, shape: ShapeLike], ['x|tensor', 'shape']> =
  defineFunction(
    'reshape',
    { 'x|tensor': kind.tensor, shape: kind.openShape },
    {},
    (x, shape: Shape | Tensor) => {
      const t = toTensor(x);
      const sizes = shape instanceof Tensor ? openShape(t, shape) : shape;
      return execute1(reshapeOp, [t], { shape: resolveShape(t, sizes) });
    },
  );

/** A copy of a list of sizes, where it fits a tensor whose sizes are known; undefined where there is more to look at. */
function fitting(x: Tensor, given: Shape): Shape | undefined {
  if (!Array.isArray(given) || given.length > MAX_RANK) return undefined;
  if (dimsOf(x.shape) !== x.shape || dimsOf(given) !== given) return undefined;
  let size = 1;
  for (let i = 0; i < given.length; i++) {
    const n: unknown = given[i];
    if (typeof n !== 'number' || !Number.isSafeInteger(n) || n < 0) return undefined;
    size *= n;
  }
  return size === x.size ? given.slice() : undefined;
}

function resolveShape(x: Tensor, given: Shape): Shape {
  const known = fitting(x, given);
  if (known !== undefined) return known;
  checkList(given, 'shape', 'Reshape');
  const shape = dimsOf(given);
  const size = sizeOfDims(dims(x));
  const place = shape.indexOf(-1);
  if (place < 0) {
    checkShape(shape, 'Reshape');
    if (!mayBeEqual(sizeOfDims(shape), size)) throw doesNotFit(x, shape);
    return checkRankOf(toShape([...shape]), 'Reshape');
  }
  const out = [...shape];
  out[place] = 1;
  checkShape(out, 'Reshape');
  const rest = sizeOfDims(out);
  if (!differs(rest, 0) || !mayBeEqual(modDims(size, rest), 0)) throw doesNotFit(x, shape);
  out[place] = floorDivDims(size, rest);
  return checkRankOf(toShape(out), 'Reshape');
}

/** A shape that only a run knows, with what remains in the place of a -1. */
function openShape(x: Tensor, shape: Tensor): Shape {
  const sizes = hostDims(shape, 'shape', 'Reshape');
  // A -1 among those that are known is the only one.
  if (sizes.includes(-1)) return toShape(sizes);
  // The product of all is minus that of the others then.
  const others = shape.prod().neg().maximum(1);
  const size = toTensor(sizeValue(sizeOfDims(dims(x)), shape.dtype));
  return toShape(openDims(shape, size.cast(shape.dtype).floorDiv(others), 'shape', 'Reshape'));
}

function doesNotFit(x: Tensor, shape: Dims): InvalidArgumentError {
  return new InvalidArgumentError(
    `${sizeOfDims(dims(x))} elements (shape ${showShape(x.shape)}) do not fit into ${showShape(shape)}`,
    'Reshape',
  );
}

/** All elements in one axis: shape [size]. */
export const flatten: NamedFunction<[x: TensorLike], ['x|a']> = defineFunction(
  'flatten',
  { 'x|a': kind.tensor },
  {},
  (x) => {
    const t = toTensor(x);
    return execute1(reshapeOp, [t], { shape: toShape([sizeOfDims(dims(t))]) });
  },
);

/**
 * Adds an axis of size 1 that becomes number `axis` of the result; a negative one counts from the result's end. With a list,
 * adds several: `x.expandDims([0, -1])`.
 */
export const expandDims: NamedFunction<
  [x: TensorLike, axis: IntegerLike | IntegersLike],
  ['x|input|a', 'axis']
> = defineFunction(
  'expandDims',
  { 'x|input|a': kind.tensor, axis: kind.axes },
  {},
  (x, axis: number | readonly number[]) => {
    const t = toTensor(x);
    const shape = [...dims(t)];
    if (typeof axis === 'number') shape.splice(normalizeAxis(axis, t.rank + 1, 'ExpandDims'), 0, 1);
    else {
      const count = listOf(axis, 'axis', 'ExpandDims').length;
      for (const a of normalizeAxes(axis, t.rank + count, 'ExpandDims')) shape.splice(a, 0, 1);
    }
    return execute1(expandDimsOp, [t], { shape: checkRankOf(toShape(shape), 'ExpandDims') });
  },
);

/** Removes the axes of size 1: the listed ones, or all of them if none is listed. @throws InvalidArgumentError when a listed axis is longer. */
export const squeeze: NamedFunction<
  [x: TensorLike, axis?: IntegerLike | IntegersLike | null],
  ['x|input|a', 'axis']
> = defineFunction(
  'squeeze',
  { 'x|input|a': kind.tensor, axis: kind.optional(kind.axes) },
  {},
  (x, axis: number | readonly number[] | null | undefined = undefined) => {
    const t = toTensor(x);
    const own = dims(t);
    let shape: Dims;
    const axes = axis === undefined || axis === null ? [] : normalizeAxes(axis, t.rank, 'Squeeze');
    if (axes.length === 0) shape = own.filter((d) => differs(d, 1));
    else {
      for (const a of axes) {
        if (differs(own[a], 1)) {
          throw new InvalidArgumentError(
            `axis ${a} of ${showShape(t.shape)} has size ${own[a]}; only axes of size 1 can be removed`,
            'Squeeze',
          );
        }
      }
      shape = own.filter((_, i) => !axes.includes(i));
    }
    return execute1(squeezeOp, [t], { shape: toShape(shape) });
  },
);

// ---- order of axes and elements

/** Permutes the axes. */
const transposeOp: Op = defineOp({
  name: 'Transpose',
  kernel: 'Transpose',
  infer: ([x], { perm }) => ({ dtype: x.dtype, shape: (perm as number[]).map((p) => dims(x)[p]) }),
  grad: ({ attrs }, dy) => {
    const perm = attrs.perm as number[];
    return transpose(
      dy,
      perm.map((_, i) => perm.indexOf(i)),
    );
  },
  samples: () => [
    { inputs: [uniform([3, 5])], attrs: { perm: [1, 0] } },
    { inputs: [uniform([2, 3, 4, 2])], attrs: { perm: [2, 0, 3, 1] } },
    { inputs: [integers([4, 3, 2], 0, 200, 'uint8')], attrs: { perm: [0, 2, 1] } },
    { inputs: [uniform([])], attrs: { perm: [] } },
  ],
});
/** Turns the order of elements around along axes. */
const reverseOp: Op = defineOp({
  name: 'ReverseV2',
  kernel: 'Reverse',
  infer: ([x]) => ({ dtype: x.dtype, shape: x.shape }),
  grad: ({ attrs }, dy) => reverse(dy, attrs.axes as number[]),
  samples: () => [
    { inputs: [uniform([5])], attrs: { axes: [0] } },
    { inputs: [uniform([2, 3, 4])], attrs: { axes: [0, 2] } },
  ],
});

/**
 * Permutes the axes: the result's axis i is axis perm[i] of x. Without `perm` their order is reversed.
 * @param options.conjugate whether to take the conjugates of complex numbers, too.
 * @throws InvalidArgumentError unless `perm` names every axis once.
 */
export const transpose: NamedFunction<
  [x: TensorLike, perm?: IntegersLike | null],
  ['x|a', 'perm'],
  {
    /** Whether complex elements are conjugated too; false by default. */
    conjugate?: boolean;
  }
> = defineFunction(
  'transpose',
  { 'x|a': kind.tensor, perm: kind.optional(kind.integers) },
  { conjugate: kind.asIs },
  (x, perm: readonly number[] | null | undefined = undefined, options) => {
    const t = toTensor(x);
    const conjugate = checkFlag(options.conjugate, 'conjugate', 'Transpose');
    const axes =
      perm === undefined || perm === null
        ? dims(t).map((_, i) => t.rank - 1 - i)
        : checkIntegers(perm, t.rank, 'perm', 'Transpose').map((a) => normalizeAxis(a, t.rank, 'Transpose'));
    if (new Set(axes).size !== axes.length) {
      throw new InvalidArgumentError(`perm [${perm}] must name each of the ${t.rank} axes once`, 'Transpose');
    }
    const moved = move(transposeOp, [t], { perm: axes });
    return conjugate && isComplex(t.dtype) ? opHooks.conj(moved) : moved;
  },
);

/** Exchanges two axes. */
export const swapAxes: NamedFunction<
  [x: TensorLike, axis1: IntegerLike, axis2: IntegerLike],
  ['x|a', 'axis1', 'axis2']
> = defineFunction(
  'swapAxes',
  { 'x|a': kind.tensor, axis1: kind.axis, axis2: kind.axis },
  {},
  (x, axis1: number, axis2: number) => {
    const t = toTensor(x);
    const a = normalizeAxis(axis1, t.rank, 'Transpose');
    const b = normalizeAxis(axis2, t.rank, 'Transpose');
    return transpose(
      t,
      dims(t).map((_, i) => (i === a ? b : i === b ? a : i)),
    );
  },
);

/** Moves an axis to another place; the others keep their order. */
export const moveAxis: NamedFunction<
  [x: TensorLike, source: IntegerLike, destination: IntegerLike],
  ['x', 'source', 'destination']
> = defineFunction(
  'moveAxis',
  { x: kind.tensor, source: kind.integer, destination: kind.integer },
  {},
  (x, source: number, destination: number) => {
    const t = toTensor(x);
    const from = normalizeAxis(source, t.rank, 'Transpose');
    const perm = normalizeAxes(null, t.rank).filter((i) => i !== from);
    perm.splice(normalizeAxis(destination, t.rank, 'Transpose'), 0, from);
    return transpose(t, perm);
  },
);

/** Turns the order of elements around along one axis or several. `x.reverse(-1)` */
export const reverse: NamedFunction<[x: TensorLike, axis: IntegerLike | IntegersLike], ['x|tensor', 'axis']> =
  defineFunction(
    'reverse',
    { 'x|tensor': kind.tensor, axis: kind.axes },
    {},
    (x, axis: number | readonly number[]) => {
      const t = toTensor(x);
      return move(reverseOp, [t], { axes: normalizeAxes(axis, t.rank, 'ReverseV2') });
    },
  );

// ---- repetition

/** Repeats a tensor along its axes. */
const tileOp: Op = defineOp({
  name: 'Tile',
  kernel: 'Tile',
  infer: ([x], { multiples }) => ({
    dtype: x.dtype,
    shape: dims(x).map((d, i) => mulDims(d, dimsOf(multiples as Dims)[i])),
  }),
  grad: ({ x, attrs }, dy) => {
    const multiples = dimsOf(attrs.multiples as Dims);
    let d = dy;
    for (let i = 0; i < multiples.length; i++) {
      if (multiples[i] === 1) continue;
      const own = dims(d);
      const before = sizeOfDims(own.slice(0, i));
      const after = sizeOfDims(own.slice(i + 1));
      const shape = own.map((n, j) => (j === i ? dims(x)[i] : n));
      d = reshape(reshape(d, toShape([before, multiples[i], dims(x)[i], after])).sum(1), toShape(shape));
    }
    return d;
  },
  samples: () => [
    { inputs: [uniform([3])], attrs: { multiples: [4] } },
    { inputs: [uniform([2, 1, 3])], attrs: { multiples: [2, 3, 1] } },
    { inputs: [uniform([2, 2])], attrs: { multiples: [1, 0] } },
  ],
});
/** Stretches axes of size 1 to a shape. */
const broadcastToOp: Op = defineOp({
  name: 'BroadcastTo',
  run: ([x], attrs) => {
    const shape = shapeAttr(attrs);
    const padded = [...new Array<number>(shape.length - x.rank).fill(1), ...dims(x)];
    const out = emptyTensor(x.dtype, shape, sizeOfDims(shape), x.backend);
    const view = aliasTensor(x, padded);
    kernelFor(out.backend, 'Tile', [x])([view], [out], {});
    return disposeAll(out, view);
  },
  grad: ({ x }, dy) => sumTo(dy, x.shape),
  samples: () => [
    { inputs: [uniform([3])], attrs: { shape: [2, 3] } },
    { inputs: [uniform([2, 1, 2])], attrs: { shape: [2, 3, 2] } },
    { inputs: [uniform([])], attrs: { shape: [2, 2] } },
  ],
});

/** The whole tensor, `multiples[i]` times along axis i. */
export const tile: NamedFunction<[x: TensorLike, multiples: IntegersLike], ['x|input', 'multiples']> =
  defineFunction(
    'tile',
    { 'x|input': kind.tensor, multiples: kind.shape },
    {},
    (x, multiples: readonly number[]) => {
      const t = toTensor(x);
      const list = checkDims(multiples, t.rank, 'multiples', 'Tile');
      if (list.some((m) => lessThan(m, 0)))
        throw new InvalidArgumentError(`multiples [${list}] must not be negative`, 'Tile');
      return move(tileOp, [t], { multiples: toShape(list) });
    },
  );

/** Stretches axes of size 1, and adds leading axes, so that the result has the shape. @throws InvalidArgumentError when it does not fit. */
export const broadcastTo: NamedFunction<[x: TensorLike, shape: ShapeLike], ['x|input|array', 'shape']> =
  defineFunction(
    'broadcastTo',
    { 'x|input|array': kind.tensor, shape: kind.shape },
    {},
    (x, shape: Shape) => {
      const t = toTensor(x);
      const to = dimsOf(ownShape(shape, 'BroadcastTo'));
      if (shapesAgree(t.shape, to)) return identity(t);
      const skip = to.length - t.rank;
      if (skip < 0 || !dims(t).every((d, i) => stretchesTo(d, to[skip + i]))) {
        throw new InvalidArgumentError(
          `shape ${showShape(t.shape)} does not broadcast to ${showShape(to)}`,
          'BroadcastTo',
        );
      }
      return move(broadcastToOp, [t], { shape: toShape(to) });
    },
  );

// ---- padding

/** How `pad` fills: with a value; mirrored without the edge; mirrored with the edge repeated. */
export type PadMode = 'CONSTANT' | 'REFLECT' | 'SYMMETRIC';

const padded = (shape: Shape, attrs: Readonly<Record<string, unknown>>, sign = 1): Dim[] =>
  dimsOf(shape).map((d, i) =>
    addDims(d, mulDims(sign, addDims(dimsOf(attrs.before as Dims)[i], dimsOf(attrs.after as Dims)[i]))),
  );

/** Surrounds a tensor with a value. */
const padOp: Op = defineOp({
  name: 'PadV2',
  kernel: 'Pad',
  kernelAttrs: ({ before, after, value }) => ({
    before: before as number[],
    after: after as number[],
    mode: 0,
    value: value as number,
  }),
  infer: ([x], attrs) => ({ dtype: x.dtype, shape: padded(x.shape, attrs) }),
  grad: ({ x, attrs }, dy) => dy.slice(attrs.before as number[], x.shape),
  samples: () => [
    { inputs: [uniform([3])], attrs: { before: [2], after: [1], value: 0 } },
    { inputs: [uniform([2, 3, 2])], attrs: { before: [0, 1, 0], after: [2, 1, 0], value: -1.5 } },
  ],
});
/** Surrounds a tensor with its own mirrored values. */
const mirrorPadOp: Op = defineOp({
  name: 'MirrorPad',
  kernel: 'Pad',
  kernelAttrs: ({ before, after, mode }) => ({
    before: before as number[],
    after: after as number[],
    mode: mode as number,
    value: 0,
  }),
  infer: ([x], attrs) => ({ dtype: x.dtype, shape: padded(x.shape, attrs) }),
  grad: ({ attrs }, dy) => execute1(mirrorPadGradOp, [dy], attrs),
  samples: () => [
    { inputs: [uniform([4])], attrs: { before: [2], after: [3], mode: 1 } },
    { inputs: [uniform([2, 3])], attrs: { before: [2, 1], after: [1, 3], mode: 2 } },
  ],
});
/** The gradient of MirrorPad: sums what was copied from one place. */
const mirrorPadGradOp: Op = defineOp({
  name: 'MirrorPadGrad',
  kernel: 'MirrorPadGrad',
  infer: ([dy], attrs) => ({ dtype: dy.dtype, shape: padded(dy.shape, attrs, -1) }),
  grad: ({ attrs }, ddx) => execute1(mirrorPadOp, [ddx], attrs),
  samples: () => [
    { inputs: [uniform([9])], attrs: { before: [2], after: [3], mode: 1 } },
    { inputs: [uniform([5, 7])], attrs: { before: [2, 1], after: [1, 3], mode: 2 } },
  ],
});

/**
 * Adds `paddings[i] = [before, after]` elements around axis i.
 * @param options.mode `CONSTANT` (the default), `REFLECT` (mirrored, edge not repeated) or `SYMMETRIC` (edge repeated).
 * @param options.constantValues the value put in; 0 by default.
 */
export const pad: NamedFunction<
  [x: TensorLike, paddings: PairsLike],
  ['x|tensor', 'paddings'],
  {
    /** What stands around it: one value (`CONSTANT`, the default), or the tensor mirrored, without its border (`REFLECT`) or with it (`SYMMETRIC`). */
    mode?: PadMode;
    /** What stands around the tensor, of the mode `CONSTANT`; 0 by default. */
    constantValues?: number;
  }
> = defineFunction(
  'pad',
  { 'x|tensor': kind.tensor, paddings: kind.pairs },
  { mode: kind.asIs, constantValues: kind.asIs },
  (x, paddings: readonly (readonly [before: number, after: number])[], options) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'any', 'x', 'Pad');
    const wrong = checkList(paddings, 'paddings', 'Pad').findIndex(
      (p) => !Array.isArray(p) || p.length !== 2 || !dimsOf(p).every((n) => isSize(n)),
    );
    if (paddings.length !== t.rank || wrong >= 0) {
      throw new InvalidArgumentError(
        `paddings must be ${t.rank} pairs [before, after] of integers of at least 0, got ${show(paddings)}`,
        'Pad',
      );
    }
    const sides = paddings.map((p) => dimsOf(p));
    const before = toShape(sides.map((p) => p[0]));
    const after = toShape(sides.map((p) => p[1]));
    const given: unknown = options.mode ?? 'CONSTANT';
    const mode = typeof given === 'string' ? given.toUpperCase() : given;
    if (mode === 'CONSTANT') {
      const value: unknown = options.constantValues ?? 0;
      if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean')
        throw new InvalidArgumentError(`constantValues is ${show(value)}, expected a number`, 'Pad');
      return execute1(padOp, [t], { before, after, value: Number(value) });
    }
    if (mode !== 'REFLECT' && mode !== 'SYMMETRIC') {
      throw new InvalidArgumentError(`mode ${show(given)} is not one of CONSTANT, REFLECT, SYMMETRIC`, 'Pad');
    }
    const edge = mode === 'REFLECT' ? 1 : 0;
    for (let i = 0; i < t.rank; i++) {
      const most = maxDims(0, subDims(dims(t)[i], edge));
      if (!mayBeAtMost(sides[i][0], most) || !mayBeAtMost(sides[i][1], most)) {
        throw new InvalidArgumentError(
          `axis ${i} of size ${dims(t)[i]} can be padded by at most ${most} in mode ${mode}, got [${paddings[i]}]`,
          'Pad',
        );
      }
    }
    return execute1(mirrorPadOp, [t], { before, after, mode: mode === 'REFLECT' ? 1 : 2 });
  },
);

// ---- blocks of images

/** Moves blocks of pixels into channels: [n, h, w, c] → [n, h/b, w/b, b·b·c]. */
const spaceToDepthOp: Op = defineOp({
  name: 'SpaceToDepth',
  compose: ([x], attrs) => {
    const b = attrs.blockSize as number;
    const [n, h, w, c] = dims(x);
    const [rows, columns] = [floorDivDims(h, b), floorDivDims(w, b)];
    const blocks = transpose(reshape(x, toShape([n, rows, b, columns, b, c])), [0, 1, 3, 2, 4, 5]);
    return reshape(blocks, toShape([n, rows, columns, mulDims(c, b * b)]));
  },
  samples: () => [{ inputs: [distinct([1, 4, 2, 3])], attrs: { blockSize: 2 } }],
});
/** Moves channels into blocks of pixels: [n, h, w, b·b·c] → [n, h·b, w·b, c]. */
const depthToSpaceOp: Op = defineOp({
  name: 'DepthToSpace',
  compose: ([x], attrs) => {
    const b = attrs.blockSize as number;
    const [n, h, w, d] = dims(x);
    const c = floorDivDims(d, b * b);
    const blocks = transpose(reshape(x, toShape([n, h, w, b, b, c])), [0, 1, 3, 2, 4, 5]);
    return reshape(blocks, toShape([n, mulDims(h, b), mulDims(w, b), c]));
  },
  samples: () => [{ inputs: [distinct([1, 2, 1, 8])], attrs: { blockSize: 2 } }],
});

const isMultiple = (d: Dim, of: number): boolean => !differs(modDims(d, of), 0);

function blocks(x: TensorLike, blockSize: number, op: string, fits: (shape: Dims) => boolean): Tensor {
  const t = toTensor(x);
  if (t.rank !== 4 || !Number.isInteger(blockSize) || blockSize < 2 || !fits(dims(t))) {
    throw new InvalidArgumentError(
      `x of shape ${showShape(t.shape)} cannot be cut into blocks of ${blockSize}: expected [n, h, w, c] with h and w divisible by the block size`,
      op,
    );
  }
  return t;
}

/** Moves blocks of `blockSize` × `blockSize` pixels into channels: [n, h, w, c] → [n, h/b, w/b, b·b·c]. */
export const spaceToDepth: NamedFunction<[x: TensorLike, blockSize: IntegerLike], ['x|input', 'blockSize']> =
  defineFunction(
    'spaceToDepth',
    { 'x|input': kind.tensor, blockSize: kind.integer },
    {},
    (x, blockSize: number) => {
      const t = blocks(
        x,
        blockSize,
        'SpaceToDepth',
        (s) => isMultiple(s[1], blockSize) && isMultiple(s[2], blockSize),
      );
      return execute1(spaceToDepthOp, [t], { blockSize });
    },
  );

/** Moves channels into blocks of pixels, the inverse of `spaceToDepth`: [n, h, w, b·b·c] → [n, h·b, w·b, c]. */
export const depthToSpace: NamedFunction<[x: TensorLike, blockSize: IntegerLike], ['x|input', 'blockSize']> =
  defineFunction(
    'depthToSpace',
    { 'x|input': kind.tensor, blockSize: kind.integer },
    {},
    (x, blockSize: number) => {
      const t = blocks(x, blockSize, 'DepthToSpace', (s) => isMultiple(s[3], blockSize * blockSize));
      return execute1(depthToSpaceOp, [t], { blockSize });
    },
  );
