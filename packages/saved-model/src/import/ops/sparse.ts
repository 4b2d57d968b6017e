// Sparse tensors: three inputs or outputs for coordinates, values and shape.

import { joinedFingerprints } from '@eagre/backend';
import type { SparseTensor, Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { RaggedTensor } from '@eagre/core';
import { dims, fingerprint64, keyedHash, knownTensor, makeSparse, sparseCrosses } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { intOf, type OpRow, type OpTable, several, type Translate } from '../op-row.ts';
import { vjp } from '../vjp.ts';
import { filledRows, filledRowsGradient, raggedOf } from './ragged.ts';

/** The sparse tensor in three inputs. */
const sparseAt = (c: OpCall, i: number): SparseTensor => makeSparse(c.x(i), c.x(i + 1), c.x(i + 2));
/** Sparse tensors in inputs of which all indices come first, then all values, then all shapes. */
const sparsesAt = (c: OpCall, i: number, count: number): SparseTensor[] =>
  Array.from({ length: count }, (_, k) => makeSparse(c.x(i + k), c.x(i + count + k), c.x(i + 2 * count + k)));
const partsOf = (x: SparseTensor): Tensor[] => [x.indices, x.values, x.denseShape];

/** An op with the outputs of one sparse tensor. */
const toSparse = (fn: (c: OpCall) => SparseTensor, prefix = 'output_'): OpRow =>
  several([`${prefix}indices`, `${prefix}values`, `${prefix}shape`], (c) => partsOf(fn(c)));

/** Values at the same places, with elements of a dense tensor, which is broadcast. */
const withDense =
  (fn: (x: Tensor, y: Tensor) => Tensor): Translate =>
  (c) => {
    const shape = tf.cast(c.x(2), 'int32');
    return fn(c.x(1), tf.gatherNd(tf.broadcastTo(c.x(3), shape), c.x(0)));
  };

const keepsDims = (c: OpCall): { readonly keepdims: boolean } => ({
  keepdims: c.boolAttr('keep_dims', false),
});

type Segments = typeof tf.sparse.segmentSum;
const segments =
  (fn: Segments): Translate =>
  (c) =>
    fn(c.x(0), c.x(1), c.x(2), c.has(3) ? { numSegments: c.x(3) } : {});

const emptyRows = several(
  ['output_indices', 'output_values', 'empty_row_indicator', 'reverse_index_map'],
  (c) => {
    const [{ indices, values }, empty, places] = filledRows(sparseAt(c, 0), c.x(3));
    return [indices, values, empty, places];
  },
);

/** Which set operation a node stands for. */
function setOperation(c: OpCall, a: tf.sets.SetsLike, b: tf.sets.SetsLike): Tensor[] {
  const operation = c.textAttr('set_operation');
  const run = {
    intersection: () => tf.sets.intersection(a, b),
    union: () => tf.sets.union(a, b),
    'a-b': () => tf.sets.difference(a, b),
    'b-a': () => tf.sets.difference(a, b, false),
  }[operation];
  if (run === undefined) throw c.wrong(`'${operation}' is no operation on sets`);
  return partsOf(run());
}
const setRow = (a: (c: OpCall) => tf.sets.SetsLike, b: (c: OpCall) => tf.sets.SetsLike): OpRow =>
  several(['result_indices', 'result_values', 'result_shape'], (c) => setOperation(c, a(c), b(c)));

/** A cross of features: sparse ones, all indices first, then dense ones. */
function crossOf(c: OpCall): SparseTensor {
  const count = c.intAttr('N');
  const features = [...sparsesAt(c, 0, count), ...c.xs(3 * count)];
  if (!c.boolAttr('hashed_output')) return tf.sparse.cross(features);
  const hashKey = c.node.attr?.get('hash_key')?.i ?? 0;
  return tf.sparse.crossHashed(features, c.intAttr('num_buckets'), { hashKey });
}

/** A cross whose values are hashes without a key of combinations; strings are hashed with one where `strong_hash` says so. */
function hashedCross(c: OpCall): SparseTensor {
  const count = c.intAttr('N');
  const end = c.inputs.length - 3;
  const buckets = BigInt(c.int(end));
  const isStrong = c.x(end + 1).item<boolean>();
  const [k0, k1] = c.x(end + 2).array() as [bigint, bigint];
  const hash = (v: string | bigint): bigint => {
    if (typeof v !== 'string') return BigInt.asUintN(64, v);
    return isStrong ? keyedHash(v, [k0, k1]) : fingerprint64(v);
  };
  return sparseCrosses([...sparsesAt(c, 0, count), ...c.xs(3 * count, end)], c.op, (all) =>
    tf.constant({
      data: BigInt64Array.from(
        all,
        (values) => values.map(hash).reduce(joinedFingerprints) % (buckets > 0n ? buckets : 2n ** 63n - 1n),
      ),
      shape: [all.length],
      dtype: 'int64',
    }),
  );
}

const COUNTED = ['output_indices', 'output_values', 'output_dense_shape'];

/** How often each integer is there. Of nothing weights are no weights. */
function counted(c: OpCall, values: Tensor | SparseTensor | RaggedTensor, weights: Tensor): SparseTensor {
  const limit = (name: string): Record<string, number> => {
    const value = c.intAttr(name, -1);
    return value < 0 ? {} : { [name]: value };
  };
  const alike = (): Tensor | SparseTensor | RaggedTensor => {
    if (values instanceof tf.Tensor) return weights;
    if (values instanceof RaggedTensor) return values.withFlatValues(weights);
    return makeSparse(values.indices, weights, values.denseShape);
  };
  const given = weights.size === 0 ? {} : { weights: alike() };
  const result = tf.sparse.bincount(values as never, {
    axis: values.rank === 1 ? 0 : -1,
    binaryOutput: c.boolAttr('binary_output', false),
    ...limit('minlength'),
    ...limit('maxlength'),
    ...(given as object),
  });
  const { dtype } = weights;
  return result.dtype === dtype
    ? result
    : makeSparse(result.indices, tf.cast(result.values, dtype), result.denseShape);
}

/** A cross of ragged, sparse and dense features, which the letters of `input_order` put in order: [values, row splits]. */
const raggedCross: Translate = (c) => {
  const lists = ['ragged_values_types', 'ragged_splits_types', 'sparse_values_types', 'dense_types'];
  const [ragged, , sparses, dense] = lists.map((name) => c.dtypesAttr(name).length) as [
    number,
    number,
    number,
    number,
  ];
  const at = 2 * ragged;
  const kinds: Readonly<Record<string, (RaggedTensor | SparseTensor | Tensor)[]>> = {
    R: Array.from({ length: ragged }, (_, i) => raggedOf([c.x(ragged + i)], c.x(i))),
    S: sparsesAt(c, at, sparses),
    D: c.xs(at + 3 * sparses, at + 3 * sparses + dense),
  };
  const features = [...c.textAttr('input_order')].map((letter) => {
    const next = kinds[letter]?.shift();
    if (next === undefined)
      throw c.wrong(`input_order '${c.textAttr('input_order')}' does not fit the inputs`);
    return next;
  });
  const hashKey = c.node.attr?.get('hash_key')?.i ?? 0;
  const result = c.boolAttr('hashed_output')
    ? tf.ragged.crossHashed(features, c.intAttr('num_buckets'), { hashKey })
    : tf.ragged.cross(features);
  return [result.flatValues, tf.cast(result.rowSplits, c.dtypeAttr('out_row_splits_type'))];
};

/** The gradient of sums of rows, for as many rows as input 3 tells. */
const segmentsGradient =
  (fn: Segments): Translate =>
  (c) => {
    const data = tf.zeros([c.int(3), ...c.x(0).shape.slice(1)], c.x(0).dtype);
    return vjp((x) => fn(x as Tensor, c.x(1), c.x(2)), [data], c.x(0))[0] as Tensor;
  };

/** The same for the rows alone that there are, and which these are. */
const rowsGradient = (fn: Segments): OpRow =>
  several(['output', 'sorted_unique_indices'], (c) => {
    const [dy, indices] = [c.x(0), c.x(1)];
    const count = c.int(3);
    const list = knownTensor(indices)?.data() as ArrayLike<number | bigint> | undefined;
    if (list !== undefined && Array.from(list, Number).some((i) => i < 0 || i >= count))
      throw c.wrong(`an index is outside of ${count} rows`);
    const { values: found, indices: places } = tf.unique(indices);
    const order = tf.argsort(found);
    const ranks = tf.gather(tf.argsort(order), places);
    const data = tf.zeros([dims(found)[0], ...dims(dy).slice(1)] as number[], dy.dtype);
    const dx = vjp((x) => fn(x as Tensor, ranks, c.x(2)), [data], dy)[0] as Tensor;
    return [dx, tf.gather(found, order)];
  });

/** For each place the value at the same one of some that are in order; 0 where there is none. */
function valuesAt(places: Tensor, known: Tensor, values: Tensor): Tensor {
  const none = tf.zeros([1, places.shape[1] as number], 'int64');
  const sizes = tf.max(tf.concat([places, known, none], 0), 0).add(1n);
  const strides = tf.cumprod(sizes, { exclusive: true, reverse: true });
  const keyOf = (x: Tensor): Tensor => tf.sum(x.mul(strides), 1);
  const isPlace = tf.all(places.greaterEqual(0n), 1);
  // Behind them stands one that none is equal to, with the value 0.
  const keys = tf.concat([keyOf(known), tf.constant([2n ** 63n - 1n], 'int64')], 0);
  const wanted = keyOf(places);
  const at = tf.searchsorted(keys, wanted);
  const isFound = tf.logicalAnd(isPlace, tf.equal(tf.gather(keys, at), wanted));
  const padded = tf.concat([values, tf.zeros([1], values.dtype)], 0);
  return tf.gather(padded, tf.where(isFound, at, tf.shapeOf(values).gather(0)));
}

const textOf = (c: OpCall, i: number): string => c.x(i).strings()[0] ?? '';

export const sparse: OpTable = {
  EditDistance: (c) => tf.editDistance(sparseAt(c, 0), sparseAt(c, 3), c.boolAttr('normalize', true)),
  SparseTensorDenseMatMul: (c) =>
    tf.sparse.sparseDenseMatmul(sparseAt(c, 0), c.x(3), {
      adjointA: c.boolAttr('adjoint_a', false),
      adjointB: c.boolAttr('adjoint_b', false),
    }),
  SparseToDense: (c) => {
    const [indices, shape, values, missing] = [c.x(0), c.x(1), c.x(2), c.x(3)];
    const rank = shape.shape[0] as number;
    // One place may be a number, and places of vectors a list of numbers.
    const places = indices.rank === 2 ? indices : tf.reshape(indices, [-1, rank]);
    const updates = tf.broadcastTo(values, tf.slice(tf.shapeOf(places), [0], [1]));
    const sizes = tf.cast(shape, 'int32');
    if (values.dtype !== 'string')
      return tf.tensorScatterNdUpdate(tf.broadcastTo(missing, sizes), places, updates);
    // Strings are not scattered, but gathered: each place gets the number of its text, others that of the last one.
    const count = updates.shape[0] as number;
    const numbers = tf.tensorScatterNdUpdate(
      tf.fill(sizes, count, 'int32'),
      places,
      tf.range(0, count, 1, { dtype: 'int32' }),
    );
    return tf.gather(tf.concat([updates, tf.reshape(missing, [1])], 0), numbers);
  },
  SparseCross: toSparse(crossOf),
  SparseCrossHashed: toSparse(hashedCross),
  SparseCrossV2: toSparse((c) => {
    const count = c.intAttr('N');
    const dense = c.xs(3 * count, c.inputs.length - 1);
    const separator = textOf(c, c.inputs.length - 1);
    return tf.sparse.cross([...sparsesAt(c, 0, count), ...dense], { separator });
  }),
  DenseCountSparseOutput: several(COUNTED, (c) => partsOf(counted(c, c.x(0), c.x(1)))),
  SparseCountSparseOutput: several(COUNTED, (c) => partsOf(counted(c, sparseAt(c, 0), c.x(3)))),
  RaggedCountSparseOutput: several(COUNTED, (c) => partsOf(counted(c, raggedOf([c.x(0)], c.x(1)), c.x(2)))),
  RaggedCross: several(['output_values', 'output_row_splits'], raggedCross),
  SparseSegmentSumGrad: segmentsGradient(tf.sparse.segmentSum),
  SparseSegmentMeanGrad: segmentsGradient(tf.sparse.segmentMean),
  SparseSegmentSqrtNGrad: segmentsGradient(tf.sparse.segmentSqrtN),
  SparseSegmentSumGradV2: rowsGradient(tf.sparse.segmentSum),
  SparseSegmentMeanGradV2: rowsGradient(tf.sparse.segmentMean),
  SparseSegmentSqrtNGradV2: rowsGradient(tf.sparse.segmentSqrtN),
  SparseSliceGrad: (c) => valuesAt(c.x(1).sub(c.x(2)), c.x(3), c.x(0)),
  SparseAddGrad: several(['a_val_grad', 'b_val_grad'], (c) => [
    valuesAt(c.x(1), c.x(3), c.x(0)),
    valuesAt(c.x(2), c.x(3), c.x(0)),
  ]),
  SparseReorder: several(['output_indices', 'output_values'], (c) =>
    partsOf(tf.sparse.reorder(sparseAt(c, 0))).slice(0, 2),
  ),
  SparseReshape: several(['output_indices', 'output_shape'], (c) => {
    const [indices, shape] = [c.x(0), c.x(1)];
    const places = tf.range(tf.slice(tf.shapeOf(indices), [0], [1]).reshape([]), { dtype: 'int32' });
    const reshaped = tf.sparse.reshape(makeSparse(indices, places, shape), c.x(2));
    return [reshaped.indices, reshaped.denseShape];
  }),
  SparseConcat: toSparse((c) => tf.sparse.concat(c.intAttr('concat_dim'), sparsesAt(c, 0, c.intAttr('N')))),
  SparseSlice: toSparse((c) => tf.sparse.slice(sparseAt(c, 0), c.x(3), c.x(4))),
  SparseSplit: {
    outputs: ['output_indices', 'output_values', 'output_shape'],
    counts: (node) => new Array<number>(3).fill(intOf(node, 'num_split', 1)),
    run: (c) => {
      const parts = tf.sparse.split(makeSparse(c.x(1), c.x(2), c.x(3)), c.intAttr('num_split'), c.int(0));
      return [0, 1, 2].flatMap((i) => parts.map((part) => partsOf(part)[i] as Tensor));
    },
  },
  SparseAdd: several(['sum_indices', 'sum_values', 'sum_shape'], (c) =>
    partsOf(
      tf.sparse.add(sparseAt(c, 0), sparseAt(c, 3), { threshold: c.x(6).item() as number }) as SparseTensor,
    ),
  ),
  SparseTensorDenseAdd: (c) => tf.sparse.add(sparseAt(c, 0), c.x(3)) as Tensor,
  SparseDenseCwiseMul: withDense((x, y) => x.mul(y)),
  SparseDenseCwiseDiv: withDense((x, y) => x.div(y)),
  SparseDenseCwiseAdd: withDense((x, y) => x.add(y)),
  SparseSparseMaximum: several(['output_indices', 'output_values'], (c) =>
    partsOf(tf.sparse.maximum(sparseAt(c, 0), sparseAt(c, 3))).slice(0, 2),
  ),
  SparseSparseMinimum: several(['output_indices', 'output_values'], (c) =>
    partsOf(tf.sparse.minimum(sparseAt(c, 0), sparseAt(c, 3))).slice(0, 2),
  ),
  SparseSoftmax: (c) => tf.sparse.softmax(sparseAt(c, 0)).values,
  SparseReduceSum: (c) => tf.sparse.reduceSum(sparseAt(c, 0), c.ints(3), keepsDims(c)),
  SparseReduceMax: (c) => tf.sparse.reduceMax(sparseAt(c, 0), c.ints(3), keepsDims(c)),
  SparseReduceSumSparse: toSparse(
    (c) =>
      tf.sparse.reduceSum(sparseAt(c, 0), c.ints(3), {
        ...keepsDims(c),
        outputIsSparse: true,
      }) as unknown as SparseTensor,
  ),
  SparseReduceMaxSparse: toSparse(
    (c) =>
      tf.sparse.reduceMax(sparseAt(c, 0), c.ints(3), {
        ...keepsDims(c),
        outputIsSparse: true,
      }) as unknown as SparseTensor,
  ),
  SparseFillEmptyRows: emptyRows,
  SparseFillEmptyRowsGrad: several(['d_values', 'd_default_value'], filledRowsGradient),
  SparseSegmentSum: segments(tf.sparse.segmentSum),
  SparseSegmentSumWithNumSegments: segments(tf.sparse.segmentSum),
  SparseSegmentMean: segments(tf.sparse.segmentMean),
  SparseSegmentMeanWithNumSegments: segments(tf.sparse.segmentMean),
  SparseSegmentSqrtN: segments(tf.sparse.segmentSqrtN),
  SparseSegmentSqrtNWithNumSegments: segments(tf.sparse.segmentSqrtN),
  DenseToDenseSetOperation: setRow(
    (c) => c.x(0),
    (c) => c.x(1),
  ),
  DenseToSparseSetOperation: setRow(
    (c) => c.x(0),
    (c) => sparseAt(c, 1),
  ),
  SparseToSparseSetOperation: setRow(
    (c) => sparseAt(c, 0),
    (c) => sparseAt(c, 3),
  ),
  SetSize: (c) => tf.sets.size(sparseAt(c, 0)),
};
