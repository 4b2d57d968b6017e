// Ops that make and move elements.

import { dtypeTraits } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import {
  context,
  dims,
  dimsOf,
  hostDims,
  hostValues,
  isFloating,
  knownDim,
  knownTensor,
  sizeValue,
} from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { constantOf } from '../constants.ts';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate, unary } from '../op-row.ts';
import { VariableHandle, VariantList, VariantTensor } from '../values.ts';
import { vjp } from '../vjp.ts';
import { assignedSlice, slicedBy, stridedSlice, withParts } from './strided-slice.ts';

const { DataType } = tensorflow;

const same: Translate = (c) => {
  const value = c.inputs[0] ?? [];
  // What reads a reference of TensorFlow 1; handles go on.
  return value instanceof VariableHandle && c.node.attr?.get('T')?.type !== DataType.DT_RESOURCE
    ? value.variable.read()
    : value;
};

const gather = (c: OpCall, axis: number, batchDims = 0): Tensor =>
  tf.gather(c.x(0), c.x(1), axis, { batchDims });

/** The integers that an op gives: int32, or int64 where that is wanted. */
const integers = (x: Tensor, dtype: tf.DType): Tensor => (x.dtype === dtype ? x : tf.cast(x, dtype));

const slice: Translate = (c) => {
  const size = hostDims(c.x(2), 'size', 'Slice');
  // -1 is as much as there is.
  return tf.slice(c.x(0), c.x(1), size.length === 0 ? [] : c.x(2));
};

const split = (x: Tensor, sizes: number | readonly number[], axis: number): Tensor[] =>
  tf.split(x, sizes as number[], axis);

/** Sizes of parts, one of which may be -1: what the others leave. */
const splitV: Translate = (c) => {
  const axis = c.int(2);
  const sizes = c.ints(1);
  const at = sizes.indexOf(-1);
  if (at >= 0) {
    const whole = knownDim(dims(c.x(0)).at(axis) as number);
    sizes[at] = whole - sizes.reduce((sum, n) => sum + (n === -1 ? 0 : n), 0);
  }
  return split(c.x(0), sizes, axis);
};

const pad: Translate = (c) => {
  const x = c.x(0);
  const mode = c.op === 'MirrorPad' ? c.textAttr('mode') : 'CONSTANT';
  if (c.op !== 'PadV2') return tf.pad(x, c.x(1), { mode: mode.toUpperCase() as 'CONSTANT' });
  const value = knownTensor(c.x(2));
  if (value !== null) return tf.pad(x, c.x(1), { constantValues: Number(value.item()) });
  // A value that differs from run to run: ones in the middle tell where it goes.
  const inside = tf.pad(tf.onesLike(x, 'bool').cast('int32'), c.x(1)).equal(1);
  return tf.where(inside, tf.pad(x, c.x(1)), c.x(2));
};

const oneHot: Translate = (c) =>
  tf.oneHot(c.x(0), c.x(1), { axis: c.intAttr('axis', -1), onValue: c.x(2), offValue: c.x(3) });

/** Places of elements that differ from nothing: int64. */
const whereNonzero: Translate = (c) => integers(tf.nonzero(c.x()), 'int64');

/** The elements of the lists `data` at the places that `indices` names. */
const dynamicStitch: Translate = (c) => {
  const n = c.inputs.length / 2;
  const indices = c.xs(0, n).map((t) => tf.reshape(t, [-1]));
  const known = indices.map((t) => hostDims(t, 'indices', c.op).map(knownDim));
  const data = c.xs(n);
  const rank = c.x(0).rank;
  const rest = dims(data[0] as Tensor).slice(rank);
  const rows = tf.concat(
    data.map((t) => tf.reshape(t, [-1, ...(rest as number[])])),
    0,
  );
  const places: number[] = [];
  known.flat().forEach((to, from) => {
    places[to] = from;
  });
  if (places.length !== new Set(known.flat()).size || places.includes(undefined as never))
    throw c.lacks('its indices leave places out');
  return tf.gather(rows, tf.constant(places, 'int32'), 0);
};

const unique = (c: OpCall): { values: Tensor; indices: Tensor; counts: Tensor } => {
  const { values, indices, counts } = tf.unique(c.x(0));
  const dtype = c.dtypeAttr('out_idx', 'int32');
  return { values, indices: integers(indices, dtype), counts: integers(counts, dtype) };
};

/** Where axes of one shape have to be summed up so that gradients of a broadcast fit. */
const gradientArgs: Translate = (c) => {
  const [a, b] = [hostDims(c.x(0), 'shape', c.op), hostDims(c.x(1), 'shape', c.op)];
  const rank = Math.max(a.length, b.length);
  const at = (shape: readonly unknown[], i: number): unknown => shape[i - (rank - shape.length)] ?? 1;
  const axes = (own: readonly unknown[], other: readonly unknown[]): Tensor =>
    tf.constant(
      Array.from({ length: rank }, (_, i) => i).filter(
        (i) => i < rank - own.length || (at(own, i) === 1 && at(other, i) !== 1),
      ),
      'int32',
    );
  return [axes(a, b), axes(b, a)];
};

/** Which diagonals: the input at a place, and how rows of several are aligned, to the left before that could be said. */
const diagonals = (c: OpCall, at: number): tf.DiagonalOptions => {
  const align = (c.op.endsWith('V3') ? c.textAttr('align', 'RIGHT_LEFT') : 'LEFT_LEFT') as tf.DiagonalAlign;
  const k = c.ints(at);
  return { k: k.length === 1 ? k[0] : k, align };
};
const matrixDiag: Translate = (c) =>
  tf.diag(c.x(0), { ...diagonals(c, 1), numRows: c.x(2), numCols: c.x(3), paddingValue: c.x(4) });
const diagonal: Translate = (c) => tf.diagPart(c.x(0), { ...diagonals(c, 1), paddingValue: c.x(2) });
const withDiagonal: Translate = (c) => tf.setDiag(c.x(0), c.x(1), diagonals(c, 2));

/** How many of the sorted boundaries are not above each element. */
const bucketize: Translate = (c) => {
  const boundaries = c.floatsAttr('boundaries');
  if (boundaries.length === 0) return tf.zerosLike(c.x(), 'int32');
  const x = tf.expandDims(tf.cast(c.x(), c.x().dtype === 'float64' ? 'float64' : 'float32'), -1);
  return tf.sum(x.greaterEqual(tf.constant([...boundaries], x.dtype)).cast('int32'), -1);
};

/** How many of the sorted values of a row are below each value, or not above it. */
const sortedPlaces =
  (upper: boolean): Translate =>
  (c) => {
    const sorted = tf.expandDims(c.x(0), -2);
    const values = tf.expandDims(c.x(1), -1);
    const counted = upper ? sorted.lessEqual(values) : sorted.less(values);
    return tf.sum(tf.cast(counted, c.dtypeAttr('out_type', 'int32')), -1);
  };

/** The first elements of each row back to front. */
const reverseSequence: Translate = (c) => {
  const [axis, batch] = [c.intAttr('seq_dim'), c.intAttr('batch_dim', 0)];
  const x = c.x(0);
  const order = [batch, axis, ...x.shape.map((_, i) => i).filter((i) => i !== batch && i !== axis)];
  const rows = tf.transpose(x, order);
  const lengths = tf.expandDims(tf.cast(c.x(1), 'int32'), 1);
  const places = tf.expandDims(
    tf.range(0, sizeValue(dims(rows)[1] as number, 'int32'), 1, { dtype: 'int32' }),
    0,
  );
  const turned = tf.where(places.less(lengths), lengths.sub(1).sub(places), places);
  const back = order.map((_, i) => order.indexOf(i));
  return tf.transpose(tf.gather(rows, turned, 1, { batchDims: 1 }), back);
};

/** @throws UnimplementedError for other axes than the only one. */
const checkUniqueAxis = (c: OpCall): void => {
  if (c.x(0).rank !== 1) throw c.lacks('only vectors are supported');
};

/** The axes of one layout and of another, such as NHWC and NCHW. */
const layouts = (c: OpCall): [from: string[], to: string[]] => [
  [...c.textAttr('src_format', 'NHWC')],
  [...c.textAttr('dst_format', 'NCHW')],
];

const elementsOf = (x: Tensor): (number | bigint | string)[] =>
  x.dtype === 'string' ? x.strings() : Array.from<number | bigint>(hostValues(x) as ArrayLike<number>);

/** The elements of `x` that are not in `y`, and their places. */
const listDiff: Translate = (c) => {
  const [x, y] = [c.x(0), c.x(1)];
  const dtype = c.dtypeAttr('out_idx', 'int32');
  if (context.tracer === null) {
    const out = new Set(elementsOf(y));
    // NaN equals nothing.
    const kept = elementsOf(x).flatMap((value, i) => (out.has(value) && !Number.isNaN(value) ? [] : [i]));
    const at = tf.constant(kept, 'int32', { shape: [kept.length] });
    return [tf.gather(x, at), tf.cast(at, dtype)];
  }
  const isThere = tf.any(tf.equal(tf.expandDims(x, 1), tf.expandDims(y, 0)), 1);
  const places = tf.reshape(tf.where(tf.logicalNot(isThere)), [-1]);
  return [tf.gather(x, places), tf.cast(places, dtype)];
};

/** How many bits of each integer are ones. */
const ones: Translate = (c) => {
  const x = c.x();
  const bits = 8 * dtypeTraits[x.dtype].bytes;
  const one = tf.onesLike(x);
  return tf.addN(
    Array.from({ length: bits }, (_, i) =>
      tf.cast(
        tf.bitwise.bitwiseAnd(tf.bitwise.rightShift(x, tf.fill(x.shape as number[], i, x.dtype)), one),
        'uint8',
      ),
    ),
  );
};

/** Rows of a tensor replaced, or changed by others. */
const rowsInPlace =
  (fn: typeof tf.tensorScatterNdUpdate): Translate =>
  (c) =>
    fn(c.x(0), tf.reshape(c.x(1), [-1, 1]), c.x(2));

const ofBlocks = (c: OpCall): [number, number] => [c.intAttr('block_size'), c.intAttr('block_size')];

export const array: OpTable = {
  ListDiff: several(['out', 'idx'], listDiff),
  PopulationCount: ones,
  NthElement: (c) => {
    const direction = c.boolAttr('reverse', false) ? 'DESCENDING' : 'ASCENDING';
    return tf.gather(tf.sort(c.x(0), { direction }), c.x(1), -1);
  },
  ParallelConcat: (c) => tf.concat(c.xs(), 0),
  SpaceToBatch: (c) => spaceToBatch(c.x(0), ofBlocks(c), c.x(1)),
  BatchToSpace: (c) => batchToSpace(c.x(0), ofBlocks(c), c.ints(1)),
  InplaceUpdate: rowsInPlace(tf.tensorScatterNdUpdate),
  InplaceAdd: rowsInPlace(tf.tensorScatterNdAdd),
  InplaceSub: rowsInPlace(tf.tensorScatterNdSub),
  ScatterNdNonAliasingAdd: (c) => tf.tensorScatterNdAdd(c.x(0), c.x(1), c.x(2)),
  UnravelIndex: (c) => tf.unravelIndex(c.x(0), c.x(1)),
  ExtractVolumePatches: (c) =>
    tf.extractVolumePatches(
      c.x(),
      c.intsAttr('ksizes') as never,
      c.intsAttr('strides') as never,
      c.textAttr('padding') as 'SAME',
    ),
  DataFormatDimMap: (c) => {
    const x = c.x();
    const [from, to] = layouts(c);
    const places = from.map((axis) => to.indexOf(axis));
    const axes = tf.where(x.less(0), x.add(places.length), x) as Tensor;
    return tf.gather(tf.constant(places, x.dtype), axes);
  },
  DataFormatVecPermute: (c) => {
    const [from, to] = layouts(c);
    const x = c.x();
    // Of a vector of the two sizes of an image, nothing is moved but those.
    const moved = x.shape[0] === from.length ? from : from.filter((axis) => axis === 'H' || axis === 'W');
    const places = to.flatMap((axis) => (moved.includes(axis) ? [moved.indexOf(axis)] : []));
    return tf.gather(x, tf.constant(places, 'int32'));
  },
  Const: (c) => constantOf(c.node),
  Identity: same,
  RefIdentity: same,
  Snapshot: same,
  DeepCopy: same,
  EnsureShape: same,
  PreventGradient: same,
  GuaranteeConst: same,
  PlaceholderWithDefault: same,
  DebugIdentity: same,
  DebugIdentityV2: same,
  _Retval: same,
  IdentityN: (c) => [...c.inputs],
  StopGradient: unary(tf.stopGradient),
  NoOp: () => [],
  Shape: (c) =>
    c.inputs[0] instanceof VariantTensor
      ? tf.constant([...c.inputs[0].shape], c.dtypeAttr('out_type', 'int32'))
      : integers(tf.shapeOf(c.x()), c.dtypeAttr('out_type', 'int32')),
  ShapeN: (c) => c.xs().map((x) => integers(tf.shapeOf(x), c.dtypeAttr('out_type', 'int32'))),
  Size: (c) => integers(tf.size(c.x()), c.dtypeAttr('out_type', 'int32')),
  Rank: (c) => tf.constant(c.x().rank, 'int32'),
  Reshape: (c) => tf.reshape(c.x(0), c.x(1)),
  Squeeze: (c) => {
    const axes = c.intsAttr('squeeze_dims', c.intsAttr('axis', []));
    return tf.squeeze(c.x(), axes.length === 0 ? null : axes);
  },
  ExpandDims: (c) => tf.expandDims(c.x(0), c.int(1)),
  Transpose: (c) => tf.transpose(c.x(0), c.ints(1)),
  ConjugateTranspose: (c) => tf.transpose(c.x(0), c.ints(1), { conjugate: true }),
  InvertPermutation: unary(tf.invertPermutation),
  Concat: (c) => tf.concat(c.xs(1), c.int(0)),
  ConcatV2: (c) => tf.concat(c.xs(0, c.inputs.length - 1), c.int(c.inputs.length - 1)),
  ConcatOffset: (c) => {
    const axis = c.int(0);
    let offset = 0;
    return c.xs(1).map((shape, i) => {
      const sizes = c.ints(i + 1);
      const place = sizes.map((_, at) => (at === axis ? offset : 0));
      offset += sizes[axis] ?? 0;
      return tf.constant(place, shape.dtype);
    });
  },
  Pack: (c) => withParts(tf.stack(c.xs(), c.intAttr('axis', 0)), c.xs()),
  Unpack: (c) => {
    const axis = c.intAttr('axis', 0);
    return tf.split(c.x(), c.intAttr('num'), axis).map((part) => tf.squeeze(part, axis));
  },
  Split: (c) => split(c.x(1), c.intAttr('num_split'), c.int(0)),
  SplitV: splitV,
  StridedSlice: stridedSlice,
  Slice: slice,
  Gather: (c) => gather(c, 0),
  GatherV2: (c) => gather(c, c.int(2), c.intAttr('batch_dims', 0)),
  GatherNd: (c) => tf.gatherNd(c.x(0), c.x(1)),
  ScatterNd: (c) => tf.scatterNd(c.x(0), c.x(1), c.x(2)),
  TensorScatterUpdate: (c) => tf.tensorScatterNdUpdate(c.x(0), c.x(1), c.x(2)),
  TensorScatterAdd: (c) => tf.tensorScatterNdAdd(c.x(0), c.x(1), c.x(2)),
  TensorScatterSub: (c) => tf.tensorScatterNdSub(c.x(0), c.x(1), c.x(2)),
  TensorScatterMax: (c) => tf.tensorScatterNdMax(c.x(0), c.x(1), c.x(2)),
  TensorScatterMin: (c) => tf.tensorScatterNdMin(c.x(0), c.x(1), c.x(2)),
  Pad: pad,
  PadV2: pad,
  MirrorPad: pad,
  Tile: (c) => tf.tile(c.x(0), c.x(1)),
  BroadcastTo: (c) => tf.broadcastTo(c.x(0), c.x(1)),
  BroadcastArgs: (c) => {
    const [a, b] = [c.shape(0), c.shape(1)];
    return tf.shapeOf(tf.zeros(a).add(tf.zeros(b)));
  },
  BroadcastGradientArgs: several(['r0', 'r1'], gradientArgs),
  Fill: (c) => tf.broadcastTo(c.x(1), c.x(0)),
  ZerosLike: (c) => {
    const value = c.inputs[0];
    if (value instanceof VariantList) return value.emptied();
    return value instanceof tf.Tensor ? tf.zerosLike(value) : c.list(0).emptied();
  },
  // What a branch gives that the other one alone computes; nobody reads it.
  FakeParam: (c) =>
    tf.zeros(
      (c.shapeAttr('shape') ?? []).map((d) => d ?? 0),
      c.dtypeAttr('dtype'),
    ),
  Empty: (c) => tf.zeros(c.x(0), c.dtypeAttr('dtype')),
  Range: (c) => tf.range(bound(c, 0), bound(c, 1), bound(c, 2), { dtype: c.dtypeAttr('Tidx', c.x(0).dtype) }),
  LinSpace: (c) => tf.linspace(c.x(0), c.x(1), c.x(2)),
  Reverse: (c) => {
    const known = knownTensor(c.x(1));
    if (known === null) throw c.lacks('the axes must be constants');
    const axes = Array.from(hostValues(known), Number).flatMap((on, axis) => (on ? [axis] : []));
    return axes.length === 0 ? c.x(0) : tf.reverse(c.x(0), axes);
  },
  ReverseV2: (c) => {
    const axes = c.ints(1);
    return axes.length === 0 ? c.x(0) : tf.reverse(c.x(0), axes);
  },
  Roll: (c) => tf.roll(c.x(0), c.x(1), c.x(2)),
  OneHot: oneHot,
  Bucketize: bucketize,
  Where: whereNonzero,
  Unique: several(['y', 'idx'], (c) => {
    const { values, indices } = unique(c);
    return [values, indices];
  }),
  UniqueWithCounts: several(['y', 'idx', 'count'], (c) => {
    const { values, indices, counts } = unique(c);
    return [values, indices, counts];
  }),
  UniqueV2: several(['y', 'idx'], (c) => {
    checkUniqueAxis(c);
    const { values, indices } = unique(c);
    return [values, indices];
  }),
  UniqueWithCountsV2: several(['y', 'idx', 'count'], (c) => {
    checkUniqueAxis(c);
    const { values, indices, counts } = unique(c);
    return [values, indices, counts];
  }),
  DynamicPartition: (c) =>
    Array.from({ length: c.intAttr('num_partitions') }, (_, i) => tf.booleanMask(c.x(0), c.x(1).equal(i))),
  LowerBound: sortedPlaces(false),
  UpperBound: sortedPlaces(true),
  ReverseSequence: reverseSequence,
  StridedSliceGrad: (c) => {
    const x = tf.zeros(c.shape(0) as number[], c.x(4).dtype);
    return vjp((x) => slicedBy(c, x as Tensor, 1), [x], c.x(4))[0] as Tensor;
  },
  TensorStridedSliceUpdate: (c) => assignedSlice(c, c.x(0), c.x(4)),
  TopK: several(['values', 'indices'], (c) => {
    const { values, indices } = tf.topK(c.x(0), c.intAttr('k'), { sorted: c.boolAttr('sorted', true) });
    return [values, indices];
  }),
  TopKV2: several(['values', 'indices'], (c) => {
    const { values, indices } = tf.topK(c.x(0), c.int(1), { sorted: c.boolAttr('sorted', true) });
    return [values, integers(indices, c.dtypeAttr('index_type', 'int32'))];
  }),
  DynamicStitch: dynamicStitch,
  ParallelDynamicStitch: dynamicStitch,
  SpaceToDepth: (c) => {
    refuseChannelsFirst(c);
    return tf.spaceToDepth(c.x(), c.intAttr('block_size'));
  },
  DepthToSpace: (c) => {
    refuseChannelsFirst(c);
    return tf.depthToSpace(c.x(), c.intAttr('block_size'));
  },
  SpaceToBatchND: (c) => spaceToBatch(c.x(0), c.ints(1), c.x(2)),
  BatchToSpaceND: (c) => batchToSpace(c.x(0), c.ints(1), c.ints(2)),
  Diag: (c) => matrixOf(c),
  DiagPart: (c) => tf.diagPart(c.x()),
  MatrixDiag: (c) => tf.diag(c.x()),
  MatrixDiagV2: matrixDiag,
  MatrixDiagV3: matrixDiag,
  MatrixDiagPart: (c) => tf.diagPart(c.x()),
  MatrixDiagPartV2: diagonal,
  MatrixDiagPartV3: diagonal,
  MatrixSetDiag: (c) => tf.setDiag(c.x(0), c.x(1)),
  MatrixSetDiagV2: withDiagonal,
  MatrixSetDiagV3: withDiagonal,
  MatrixBandPart: (c) => tf.bandPart(c.x(0), c.int(1), c.int(2)),
};

/** One bound of a range, which may differ from run to run. */
function bound(c: OpCall, i: number): Tensor | number {
  const x = c.x(i);
  const known = knownTensor(x);
  return known !== null && isFloating(x.dtype) ? (known.item() as number) : x;
}

function matrixOf(c: OpCall): Tensor {
  if (c.x().rank !== 1) throw c.lacks('only vectors are supported');
  return tf.diag(c.x());
}

/** @throws UnimplementedError for images with channels first. */
export function refuseChannelsFirst(c: OpCall): void {
  const format = c.textAttr('data_format', 'NHWC');
  if (format !== 'NHWC' && format !== 'NDHWC')
    throw c.lacks(`the data format ${format} is not supported: export the model with channels last`);
}

/** Blocks of the first axes behind the batch go to the batch. */
function spaceToBatch(x: Tensor, block: readonly number[], paddings: Tensor): Tensor {
  const m = block.length;
  const none = Array.from({ length: x.rank - 1 - m }, () => [0, 0] as const);
  const pads = hostDims(paddings, 'paddings', 'SpaceToBatchND');
  const padded = tf.pad(x, [
    [0, 0],
    ...block.map((_, i) => [pads[2 * i], pads[2 * i + 1]] as unknown as readonly [number, number]),
    ...none,
  ]);
  const [n, ...rest] = dims(padded) as number[];
  const divided = rest.slice(0, m).map((size, i) => knownDim(size) / (block[i] as number));
  const tail = rest.slice(m);
  const split = tf.reshape(padded, [-1, ...divided.flatMap((d, i) => [d, block[i] as number]), ...tail]);
  const inner = block.map((_, i) => 2 + 2 * i);
  const outer = block.map((_, i) => 1 + 2 * i);
  const last = tail.map((_, i) => 1 + 2 * m + i);
  const moved = tf.transpose(split, [...inner, 0, ...outer, ...last]);
  void n;
  return tf.reshape(moved, [-1, ...divided, ...tail]);
}

/** The reverse of {@link spaceToBatch}, with what the crops say cut off. */
function batchToSpace(x: Tensor, block: readonly number[], crops: readonly number[]): Tensor {
  const m = block.length;
  const [, ...rest] = dimsOf(x.shape) as readonly number[];
  const sizes = rest.slice(0, m).map(knownDim);
  const tail = rest.slice(m);
  const split = tf.reshape(x, [...block, -1, ...sizes, ...tail]);
  const order = [m, ...block.flatMap((_, i) => [m + 1 + i, i]), ...tail.map((_, i) => 2 * m + 1 + i)];
  const whole = tf.reshape(tf.transpose(split, order), [
    -1,
    ...sizes.map((size, i) => size * (block[i] as number)),
    ...tail,
  ]);
  const begin = [0, ...block.map((_, i) => crops[2 * i] as number), ...tail.map(() => 0)];
  const end = [
    0,
    ...block.map((b, i) => (sizes[i] as number) * b - (crops[2 * i + 1] as number)),
    ...tail.map(() => 0),
  ];
  const free = [0, ...tail.map((_, i) => m + 1 + i)].reduce((mask, axis) => mask | (1 << axis), 0);
  return tf.stridedSlice(whole, begin, end, null, { beginMask: free, endMask: free });
}
