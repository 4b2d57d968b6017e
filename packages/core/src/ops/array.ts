// Ops on the arrangement of elements. Every function here takes a tensor first and is a method too.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, IntegersLike, PairsLike, ShapeLike } from '../argument-kinds.ts';
import * as kind from '../argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments.ts';
import { type TensorLike, toTensor } from '../convert.ts';
import { checkDType } from '../dtypes.ts';
import { defineOp, execute1, kernelFor, type Op, sumTo } from '../op.ts';
import { distinct, integers, uniform } from '../samples.ts';
import {
  checkList,
  checkShape,
  listOf,
  normalizeAxes,
  normalizeAxis,
  type Shape,
  show,
  showShape,
  sizeOf,
} from '../shape.ts';
import { differs, shapesAgree, within } from '../sizes.ts';
import { aliasTensor, emptyTensor, type Tensor, viewOf } from '../tensor.ts';
import { gather } from './gather.ts';
import { checkIntegers, checkRankOf, letGo, move } from './moving.ts';
import { slice } from './slicing.ts';

export * from './gather.ts';
export * from './order.ts';
export * from './slicing.ts';

// ---- shape only: the result shares the memory of its input

const shapeAttr = (attrs: Readonly<Record<string, unknown>>): Shape => attrs.shape as Shape;

const identityOp: Op = defineOp({
  name: 'Identity',
  doc: 'The same values.',
  run: ([x]) => aliasTensor(x, x.shape),
  grad: (_, dy) => dy,
  samples: () => [{ inputs: [uniform([2, 3])] }],
});
const stopGradientOp: Op = defineOp({
  name: 'StopGradient',
  doc: 'The same values, through which no gradient flows.',
  run: ([x]) => aliasTensor(x, x.shape),
  notDifferentiable: 'it exists to stop gradients',
  samples: () => [{ inputs: [uniform([2, 3])] }],
});
const reshapeOp: Op = defineOp({
  name: 'Reshape',
  doc: 'The same values in another shape.',
  run: ([x], attrs) => aliasTensor(x, shapeAttr(attrs)),
  grad: ({ x }, dy) => reshape(dy, x.shape),
  samples: () => [
    { inputs: [uniform([2, 3, 4])], attrs: { shape: [6, 4] } },
    { inputs: [uniform([1])], attrs: { shape: [] } },
    { inputs: [uniform([0, 3])], attrs: { shape: [3, 0, 2] } },
  ],
});
const expandDimsOp: Op = defineOp({
  name: 'ExpandDims',
  doc: 'Adds an axis of size 1.',
  run: ([x], attrs) => aliasTensor(x, shapeAttr(attrs)),
  grad: ({ x }, dy) => reshape(dy, x.shape),
  samples: () => [{ inputs: [uniform([2, 3])], attrs: { shape: [2, 1, 3] } }],
});
const squeezeOp: Op = defineOp({
  name: 'Squeeze',
  doc: 'Removes axes of size 1.',
  run: ([x], attrs) => aliasTensor(x, shapeAttr(attrs)),
  grad: ({ x }, dy) => reshape(dy, x.shape),
  samples: () => [{ inputs: [uniform([2, 1, 3, 1])], attrs: { shape: [2, 3] } }],
});
const shapeOp: Op = defineOp({
  name: 'Shape',
  doc: 'The dimensions as an int32 tensor.',
  run: ([x]) => {
    const out = emptyTensor('int32', [x.rank], x.rank);
    (viewOf(out) as Int32Array).set(x.shape);
    return out;
  },
  notDifferentiable: 'the result does not depend on the values',
  samples: () => [{ inputs: [uniform([2, 3, 4])] }, { inputs: [uniform([])] }],
});

/** A tensor of the same values, over the same memory. */
export const identity: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  'identity',
  { x: kind.tensor },
  {},
  (x) => execute1(identityOp, [toTensor(x)]),
);

/** The same values as a constant: no gradient flows back through it. */
export const stopGradient: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  'stopGradient',
  { x: kind.tensor },
  {},
  (x) => execute1(stopGradientOp, [toTensor(x)]),
);

/** The dimensions as an int32 tensor of rank 1; `x.shape` gives them as numbers. */
export const shapeOf: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  'shapeOf',
  { x: kind.tensor },
  {},
  (x) => execute1(shapeOp, [toTensor(x)]),
);

/**
 * The same values, in row-major order, in another shape; no copy is made. One dimension may be -1 and is computed from the rest.
 * `x.reshape([-1, 28 * 28])`
 * @throws InvalidArgumentError when the sizes differ.
 */
export const reshape: NamedFunction<[x: TensorLike, shape: ShapeLike], ['x', 'shape']> = defineFunction(
  'reshape',
  { x: kind.tensor, shape: kind.shape },
  {},
  (x, shape: Shape) => {
    const t = toTensor(x);
    return execute1(reshapeOp, [t], { shape: resolveShape(t, shape) });
  },
);

function resolveShape(x: Tensor, shape: Shape): Shape {
  checkList(shape, 'shape', 'Reshape');
  const unknown = shape.indexOf(-1);
  if (unknown < 0) {
    checkShape(shape, 'Reshape');
    if (sizeOf(shape) !== x.size) throw doesNotFit(x, shape);
    return checkRankOf([...(shape as Shape)], 'Reshape');
  }
  const out = [...(shape as Shape)];
  out[unknown] = 1;
  checkShape(out, 'Reshape');
  const rest = sizeOf(out);
  if (rest === 0 || x.size % rest !== 0) throw doesNotFit(x, shape);
  out[unknown] = x.size / rest;
  return checkRankOf(out, 'Reshape');
}

function doesNotFit(x: Tensor, shape: Shape): InvalidArgumentError {
  return new InvalidArgumentError(
    `${x.size} elements (shape ${showShape(x.shape)}) do not fit into ${showShape(shape)}`,
    'Reshape',
  );
}

/** All elements in one axis: shape [size]. */
export const flatten: NamedFunction<[x: TensorLike], ['x']> = defineFunction(
  'flatten',
  { x: kind.tensor },
  {},
  (x) => {
    const t = toTensor(x);
    return execute1(reshapeOp, [t], { shape: [t.size] });
  },
);

/**
 * Adds an axis of size 1 that becomes number `axis` of the result; a negative one counts from the result's end. With a list,
 * adds several: `x.expandDims([0, -1])`.
 */
export const expandDims: NamedFunction<[x: TensorLike, axis: IntegerLike | IntegersLike], ['x', 'axis']> =
  defineFunction(
    'expandDims',
    { x: kind.tensor, axis: kind.axes },
    {},
    (x, axis: number | readonly number[]) => {
      const t = toTensor(x);
      const count = listOf(axis, 'axis', 'ExpandDims').length;
      const axes = normalizeAxes(axis, t.rank + count, 'ExpandDims');
      const shape = [...t.shape];
      for (const a of axes) shape.splice(a, 0, 1);
      return execute1(expandDimsOp, [t], { shape: checkRankOf(shape, 'ExpandDims') });
    },
  );

/** Removes the axes of size 1: the listed ones, or all of them if none is listed. @throws InvalidArgumentError when a listed axis is longer. */
export const squeeze: NamedFunction<
  [x: TensorLike, axis?: IntegerLike | IntegersLike | null],
  ['x', 'axis']
> = defineFunction(
  'squeeze',
  { x: kind.tensor, axis: kind.axes },
  {},
  (x, axis: number | readonly number[] | null | undefined = undefined) => {
    const t = toTensor(x);
    let shape: number[];
    const axes = axis === undefined || axis === null ? [] : normalizeAxes(axis, t.rank, 'Squeeze');
    if (axes.length === 0) shape = t.shape.filter((d) => differs(d, 1));
    else {
      for (const a of axes) {
        if (t.shape[a] !== 1) {
          throw new InvalidArgumentError(
            `axis ${a} of ${showShape(t.shape)} has size ${t.shape[a]}, only axes of size 1 can go`,
            'Squeeze',
          );
        }
      }
      shape = t.shape.filter((_, i) => !axes.includes(i));
    }
    return execute1(squeezeOp, [t], { shape });
  },
);

// ---- order of axes and elements

const transposeOp: Op = defineOp({
  name: 'Transpose',
  doc: 'Permutes the axes.',
  kernel: 'Transpose',
  infer: ([x], { perm }) => ({ dtype: x.dtype, shape: (perm as number[]).map((p) => x.shape[p]) }),
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
const reverseOp: Op = defineOp({
  name: 'ReverseV2',
  doc: 'Turns the order of elements around along axes.',
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
 * @throws InvalidArgumentError unless `perm` names every axis once.
 */
export const transpose: NamedFunction<[x: TensorLike, perm?: IntegersLike | null], ['x', 'perm']> =
  defineFunction(
    'transpose',
    { x: kind.tensor, perm: kind.integers },
    {},
    (x, perm: readonly number[] | null | undefined = undefined) => {
      const t = toTensor(x);
      const axes =
        perm === undefined || perm === null
          ? t.shape.map((_, i) => t.rank - 1 - i)
          : checkIntegers(perm, t.rank, 'perm', 'Transpose').map((a) =>
              normalizeAxis(a, t.rank, 'Transpose'),
            );
      if (new Set(axes).size !== axes.length) {
        throw new InvalidArgumentError(
          `perm [${perm}] must name each of the ${t.rank} axes once`,
          'Transpose',
        );
      }
      return move(transposeOp, [t], { perm: axes });
    },
  );

/** Exchanges two axes. */
export const swapAxes: NamedFunction<
  [x: TensorLike, axis1: IntegerLike, axis2: IntegerLike],
  ['x', 'axis1', 'axis2']
> = defineFunction(
  'swapAxes',
  { x: kind.tensor, axis1: kind.axis, axis2: kind.axis },
  {},
  (x, axis1: number, axis2: number) => {
    const t = toTensor(x);
    const a = normalizeAxis(axis1, t.rank, 'Transpose');
    const b = normalizeAxis(axis2, t.rank, 'Transpose');
    return transpose(
      t,
      t.shape.map((_, i) => (i === a ? b : i === b ? a : i)),
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
    const perm = t.shape.map((_, i) => i).filter((i) => i !== from);
    perm.splice(normalizeAxis(destination, t.rank, 'Transpose'), 0, from);
    return transpose(t, perm);
  },
);

/** Turns the order of elements around along one axis or several. `x.reverse(-1)` */
export const reverse: NamedFunction<[x: TensorLike, axis: IntegerLike | IntegersLike], ['x', 'axis']> =
  defineFunction(
    'reverse',
    { x: kind.tensor, axis: kind.axes },
    {},
    (x, axis: number | readonly number[]) => {
      const t = toTensor(x);
      return move(reverseOp, [t], { axes: normalizeAxes(axis, t.rank, 'ReverseV2') });
    },
  );

// ---- repetition

const tileOp: Op = defineOp({
  name: 'Tile',
  doc: 'Repeats a tensor along its axes.',
  kernel: 'Tile',
  infer: ([x], { multiples }) => ({
    dtype: x.dtype,
    shape: x.shape.map((d, i) => d * (multiples as number[])[i]),
  }),
  grad: ({ x, attrs }, dy) => {
    const multiples = attrs.multiples as number[];
    let d = dy;
    for (let i = 0; i < multiples.length; i++) {
      if (multiples[i] === 1) continue;
      const before = sizeOf(d.shape.slice(0, i));
      const after = sizeOf(d.shape.slice(i + 1));
      const shape = d.shape.map((n, j) => (j === i ? x.shape[i] : n));
      d = reshape(reshape(d, [before, multiples[i], x.shape[i], after]).sum(1), shape);
    }
    return d;
  },
  samples: () => [
    { inputs: [uniform([3])], attrs: { multiples: [4] } },
    { inputs: [uniform([2, 1, 3])], attrs: { multiples: [2, 3, 1] } },
    { inputs: [uniform([2, 2])], attrs: { multiples: [1, 0] } },
  ],
});
const broadcastToOp: Op = defineOp({
  name: 'BroadcastTo',
  doc: 'Stretches axes of size 1 to a shape.',
  run: ([x], attrs) => {
    const shape = shapeAttr(attrs);
    const padded = [...new Array<number>(shape.length - x.rank).fill(1), ...x.shape];
    const out = emptyTensor(x.dtype, shape, sizeOf(shape), x.backend);
    const view = aliasTensor(x, padded);
    kernelFor(out.backend, 'Tile', [x])([view], [out], {});
    return letGo(out, view);
  },
  grad: ({ x }, dy) => sumTo(dy, x.shape),
  samples: () => [
    { inputs: [uniform([3])], attrs: { shape: [2, 3] } },
    { inputs: [uniform([2, 1, 2])], attrs: { shape: [2, 3, 2] } },
    { inputs: [uniform([])], attrs: { shape: [2, 2] } },
  ],
});

/** The whole tensor, `multiples[i]` times along axis i. */
export const tile: NamedFunction<[x: TensorLike, multiples: IntegersLike], ['x', 'multiples']> =
  defineFunction(
    'tile',
    { x: kind.tensor, multiples: kind.integers },
    {},
    (x, multiples: readonly number[]) => {
      const t = toTensor(x);
      const list = checkIntegers(multiples, t.rank, 'multiples', 'Tile');
      if (list.some((m) => m < 0))
        throw new InvalidArgumentError(`multiples [${list}] must not be negative`, 'Tile');
      return move(tileOp, [t], { multiples: list });
    },
  );

/** Stretches axes of size 1, and adds leading axes, so that the result has the shape. @throws InvalidArgumentError when it does not fit. */
export const broadcastTo: NamedFunction<[x: TensorLike, shape: ShapeLike], ['x', 'shape']> = defineFunction(
  'broadcastTo',
  { x: kind.tensor, shape: kind.shape },
  {},
  (x, shape: Shape) => {
    const t = toTensor(x);
    const to = checkRankOf([...checkShape(shape, 'BroadcastTo')], 'BroadcastTo');
    if (shapesAgree(t.shape, to)) return identity(t);
    const skip = to.length - t.rank;
    if (skip < 0 || t.shape.some((d, i) => d !== 1 && d !== to[skip + i])) {
      throw new InvalidArgumentError(
        `shape ${showShape(t.shape)} does not broadcast to ${showShape(to)}`,
        'BroadcastTo',
      );
    }
    return move(broadcastToOp, [t], { shape: to });
  },
);

/**
 * Each element `repeats` times in a row along an axis; without an axis the tensor is flattened first. A list gives each
 * element's own number: `tf.repeat(x, [1, 3], 0)`.
 */
export const repeat: NamedFunction<
  [x: TensorLike, repeats: IntegerLike | IntegersLike, axis?: IntegerLike | null],
  ['x', 'repeats', 'axis']
> = defineFunction(
  'repeat',
  { x: kind.tensor, repeats: kind.oneOrMore, axis: kind.axis },
  {},
  (x, repeats: number | readonly number[], axis: number | null | undefined = undefined) => {
    let t = toTensor(x);
    if (axis === undefined || axis === null) t = flatten(t);
    const a = normalizeAxis(axis ?? 0, t.rank, 'repeat');
    const n = t.shape[a];
    const counts = listOf(repeats, 'repeats', 'repeat');
    if (
      !counts.every((c) => Number.isSafeInteger(c) && c >= 0) ||
      (counts.length !== 1 && counts.length !== n)
    ) {
      throw new InvalidArgumentError(
        `repeats must be one integer of at least 0, or ${n} of them, got [${counts}]`,
        'repeat',
      );
    }
    if (counts.length === 1) {
      const multiples = new Array<number>(t.rank + 1).fill(1);
      multiples[a + 1] = counts[0];
      const shape = t.shape.map((d, i) => (i === a ? d * counts[0] : d));
      return reshape(tile(expandDims(t, a + 1), multiples), shape);
    }
    const total = counts.reduce((sum, c) => sum + c, 0);
    const indices = emptyTensor('int32', [total], total);
    const view = viewOf(indices) as Int32Array;
    let at = 0;
    counts.forEach((c, i) => {
      view.fill(i, at, (at += c));
    });
    return letGo(gather(t, indices, a), indices);
  },
);

// ---- padding

/** How `pad` fills: with a value; mirrored without the edge; mirrored with the edge repeated. */
export type PadMode = 'CONSTANT' | 'REFLECT' | 'SYMMETRIC';

const padded = (shape: Shape, attrs: Readonly<Record<string, unknown>>, sign = 1): number[] =>
  shape.map((d, i) => d + sign * ((attrs.before as number[])[i] + (attrs.after as number[])[i]));

const padOp: Op = defineOp({
  name: 'PadV2',
  doc: 'Surrounds a tensor with a value.',
  kernel: 'Pad',
  kernelAttrs: ({ before, after, value }) => ({
    before: before as number[],
    after: after as number[],
    mode: 0,
    value: value as number,
  }),
  infer: ([x], attrs) => ({ dtype: x.dtype, shape: padded(x.shape, attrs) }),
  grad: ({ x, attrs }, dy) => slice(dy, attrs.before as number[], x.shape),
  samples: () => [
    { inputs: [uniform([3])], attrs: { before: [2], after: [1], value: 0 } },
    { inputs: [uniform([2, 3, 2])], attrs: { before: [0, 1, 0], after: [2, 1, 0], value: -1.5 } },
  ],
});
const mirrorPadOp: Op = defineOp({
  name: 'MirrorPad',
  doc: 'Surrounds a tensor with its own mirrored values.',
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
const mirrorPadGradOp: Op = defineOp({
  name: 'MirrorPadGrad',
  doc: 'The gradient of MirrorPad: sums what was copied from one place.',
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
 * @param options.constantValues the value put in; 0 unless said.
 */
export const pad: NamedFunction<
  [x: TensorLike, paddings: PairsLike],
  ['x', 'paddings'],
  { mode?: PadMode; constantValues?: number }
> = defineFunction(
  'pad',
  { x: kind.tensor, paddings: kind.pairs },
  { mode: kind.asIs, constantValues: kind.asIs },
  (x, paddings: readonly (readonly [before: number, after: number])[], options) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'any', 'x', 'Pad');
    const wrong = checkList(paddings, 'paddings', 'Pad').findIndex(
      (p) => !Array.isArray(p) || p.length !== 2 || !p.every((n) => Number.isSafeInteger(n) && n >= 0),
    );
    if (paddings.length !== t.rank || wrong >= 0) {
      throw new InvalidArgumentError(
        `paddings must be ${t.rank} pairs [before, after] of integers of at least 0, got ${show(paddings)}`,
        'Pad',
      );
    }
    const before = paddings.map((p) => p[0]);
    const after = paddings.map((p) => p[1]);
    const given: unknown = options.mode ?? 'CONSTANT';
    const mode = typeof given === 'string' ? given.toUpperCase() : given;
    if (mode === 'CONSTANT') {
      const value: unknown = options.constantValues ?? 0;
      if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean')
        throw new InvalidArgumentError(`constantValues is ${show(value)}, expected a number`, 'Pad');
      return execute1(padOp, [t], { before, after, value: Number(value) });
    }
    if (mode !== 'REFLECT' && mode !== 'SYMMETRIC') {
      throw new InvalidArgumentError(`mode ${show(given)} is none of CONSTANT, REFLECT, SYMMETRIC`, 'Pad');
    }
    const edge = mode === 'REFLECT' ? 1 : 0;
    for (let i = 0; i < t.rank; i++) {
      const most = Math.max(0, t.shape[i] - edge);
      if (before[i] > 0 || after[i] > 0) within([before[i], after[i]], [most, most]);
      if (before[i] > most || after[i] > most) {
        throw new InvalidArgumentError(
          `axis ${i} of size ${t.shape[i]} can be padded by at most ${most} in mode ${mode}, got [${paddings[i]}]`,
          'Pad',
        );
      }
    }
    return execute1(mirrorPadOp, [t], { before, after, mode: mode === 'REFLECT' ? 1 : 2 });
  },
);

// ---- blocks of images

const spaceToDepthOp: Op = defineOp({
  name: 'SpaceToDepth',
  doc: 'Moves blocks of pixels into channels: [n, h, w, c] → [n, h/b, w/b, b·b·c].',
  compose: ([x], attrs) => {
    const b = attrs.blockSize as number;
    const [n, h, w, c] = x.shape;
    const blocks = transpose(reshape(x, [n, h / b, b, w / b, b, c]), [0, 1, 3, 2, 4, 5]);
    return reshape(blocks, [n, h / b, w / b, b * b * c]);
  },
  samples: () => [{ inputs: [distinct([1, 4, 2, 3])], attrs: { blockSize: 2 } }],
});
const depthToSpaceOp: Op = defineOp({
  name: 'DepthToSpace',
  doc: 'Moves channels into blocks of pixels: [n, h, w, b·b·c] → [n, h·b, w·b, c].',
  compose: ([x], attrs) => {
    const b = attrs.blockSize as number;
    const [n, h, w, d] = x.shape;
    const c = d / (b * b);
    return reshape(transpose(reshape(x, [n, h, w, b, b, c]), [0, 1, 3, 2, 4, 5]), [n, h * b, w * b, c]);
  },
  samples: () => [{ inputs: [distinct([1, 2, 1, 8])], attrs: { blockSize: 2 } }],
});

function blocks(x: TensorLike, blockSize: number, op: string, fits: (shape: Shape) => boolean): Tensor {
  const t = toTensor(x);
  if (t.rank !== 4 || !Number.isInteger(blockSize) || blockSize < 2 || !fits(t.shape)) {
    throw new InvalidArgumentError(
      `x of shape ${showShape(t.shape)} has no blocks of ${blockSize}: expected [n, h, w, c] of multiples of the block`,
      op,
    );
  }
  return t;
}

/** Moves blocks of `blockSize` × `blockSize` pixels into channels: [n, h, w, c] → [n, h/b, w/b, b·b·c]. */
export const spaceToDepth: NamedFunction<[x: TensorLike, blockSize: IntegerLike], ['x', 'blockSize']> =
  defineFunction('spaceToDepth', { x: kind.tensor, blockSize: kind.integer }, {}, (x, blockSize: number) => {
    const t = blocks(x, blockSize, 'SpaceToDepth', (s) => s[1] % blockSize === 0 && s[2] % blockSize === 0);
    return execute1(spaceToDepthOp, [t], { blockSize });
  });

/** Moves channels into blocks of pixels, the inverse of `spaceToDepth`: [n, h, w, b·b·c] → [n, h·b, w·b, c]. */
export const depthToSpace: NamedFunction<[x: TensorLike, blockSize: IntegerLike], ['x', 'blockSize']> =
  defineFunction('depthToSpace', { x: kind.tensor, blockSize: kind.integer }, {}, (x, blockSize: number) => {
    const t = blocks(x, blockSize, 'DepthToSpace', (s) => s[3] % (blockSize * blockSize) === 0);
    return execute1(depthToSpaceOp, [t], { blockSize });
  });
