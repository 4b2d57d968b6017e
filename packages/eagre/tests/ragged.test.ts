import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { expectGolden, type GoldenComposite } from './testing/golden.ts';

const golden = JSON.parse(readFileSync(new URL('../golden/ragged.json', import.meta.url), 'utf8')) as {
  cases: Record<string, GoldenComposite | GoldenComposite[]>;
};

// Functions of tensors take ragged ones, which their types do not say of all.
// biome-ignore lint/suspicious/noExplicitAny: as above.
const f = tf as any;
const { ragged, RaggedTensor } = tf;
type Ragged = tf.RaggedTensor;

const A = ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []]);
const B = ragged.constant([[0.5, 1, 2, 1.5], [], [4, 2, 1], [3], []]);
const I = ragged.constant([[3, 1], [], [2, 5, 4]], 'int32');
const D = ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], []], [[]]]);
const P = ragged.constant(
  [
    [
      [1, 2],
      [3, 4],
    ],
    [],
    [[5, 6]],
  ],
  { raggedRank: 1 },
);
const E = ragged.constant([[], [], []], 'float32');
const Z = ragged.constant([[], []], 'float32').at(':0') as Ragged;
const R = ragged.constant([[1, 2, 3], [7], [4, -5]]);
const W = ragged.constant([['a', 'bc'], [], ['d', 'ef', 'g']]);
const T = RaggedTensor.fromTensor(tf.range(12).reshape([2, 3, 2]));
const G = ragged.constant(
  [
    [
      [0, 1],
      [2, 2],
    ],
    [],
    [[3, 0]],
  ],
  'int32',
  { raggedRank: 1 },
);
const M = ragged.stack([tf.range(8).reshape([2, 2, 2]), tf.range(24).reshape([4, 3, 2])]);
const int = (values: unknown) => tf.constant(values as number[], 'int32');
const ints = (values: unknown) => ragged.constant(values as number[][], 'int32');

/** What a function gives at once, after it gave the same in a trace for any sizes. */
// biome-ignore lint/suspicious/noExplicitAny: ragged and dense tensors.
function inRuns(fn: (...xs: any[]) => unknown[], ...given: (tf.Tensor | Ragged)[]): unknown[] {
  const inputSignature = given.map((x) =>
    x instanceof RaggedTensor
      ? new tf.RaggedTensorSpec(
          x.shape.map(() => null),
          x.dtype,
          { raggedRank: x.raggedRank },
        )
      : new tf.TensorSpec(
          x.shape.map(() => null),
          x.dtype,
        ),
  );
  const now = fn(...given) as (tf.Tensor | Ragged)[];
  const traced = tf.function({ inputSignature })(fn as never) as unknown as typeof fn;
  (traced(...given) as (tf.Tensor | Ragged)[]).forEach((x, i) => {
    const wanted = now[i] as tf.Tensor;
    // Of a ragged tensor whose rows turn out to be equally long a trace knows no more than that it is ragged.
    expect([
      i,
      x instanceof tf.Tensor || wanted instanceof tf.Tensor ? x.array() : (x as Ragged).toList(),
    ]).toEqual([
      i,
      wanted instanceof tf.Tensor || x instanceof tf.Tensor
        ? wanted.array()
        : (wanted as unknown as Ragged).toList(),
    ]);
  });
  return now;
}

const segmentFunctions = ['Sum', 'Prod', 'Max', 'Min', 'Mean', 'SqrtN'].map((how) => `unsortedSegment${how}`);

type Value = tf.Tensor | Ragged | tf.SparseTensor;
type Fn = (...xs: Ragged[]) => Value;

function gradient(fn: Fn, ...xs: Ragged[]): tf.Tensor[] {
  const tape = new tf.GradientTape();
  tape.watch(xs as never);
  const loss = tape.record(() => {
    const y = fn(...xs);
    const flat = y instanceof RaggedTensor ? y.flatValues : (y as tf.Tensor);
    return flat.mul(tf.range(1, flat.size + 1).reshape(flat.shape)).sum();
  });
  return (tape.gradient(loss, xs as never) as unknown as Ragged[]).map((g) => g.flatValues);
}

const cases: Record<string, () => unknown> = {
  constant: () => [A, I, D, P, E, Z, W, T],
  'constant of a vector': () => ragged.constant([1, 2], 'int32'),
  'constant innerShape': () => ragged.constant([[[1, 2]], []], 'int32', { innerShape: [2] }),
  toTensor: () => [A, I, D, P, E, W, T].map((x) => x.toTensor()),
  'toTensor default': () => [
    A.toTensor({ defaultValue: -1 }),
    D.toTensor({ defaultValue: 7.5 }),
    P.toTensor({ defaultValue: [8, 9] }),
    W.toTensor({ defaultValue: '?' }),
  ],
  'toTensor shape': () => [
    A.toTensor({ shape: [null, 2] }),
    A.toTensor({ shape: [3, 5] }),
    A.toTensor({ defaultValue: -1, shape: [7, null] }),
    D.toTensor({ shape: [null, 1, 2] }),
  ],
  toSparse: () => [A, D, P, W].map((x) => x.toSparse()),
  fromSparse: () =>
    RaggedTensor.fromSparse(
      new tf.SparseTensor(
        [
          [0, 0],
          [2, 0],
          [2, 1],
        ],
        int([1, 2, 3]),
        [4, 3],
      ),
    ),
  'fromTensor lengths': () => [
    RaggedTensor.fromTensor(
      int([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      { lengths: [1, 3] },
    ),
    RaggedTensor.fromTensor(
      int([
        [1, 2, 0],
        [0, 5, 0],
        [0, 0, 0],
      ]),
      { padding: 0 },
    ),
    RaggedTensor.fromTensor(tf.range(24, null, 1, { dtype: 'int32' }).reshape([2, 3, 4]), { raggedRank: 2 }),
    RaggedTensor.fromTensor(tf.range(24, null, 1, { dtype: 'int32' }).reshape([2, 3, 4]), {
      lengths: [
        [2, 3],
        [4, 1, 2, 3, 4],
      ],
    }),
  ],
  uniform: () => RaggedTensor.fromUniformRowLength(I, 3),
  rows: () => [
    A.nrows(),
    A.rowLengths(),
    A.rowStarts(),
    A.rowLimits(),
    A.valueRowids(),
    A.boundingShape(),
    D.boundingShape(),
    P.boundingShape(),
    D.boundingShape(1),
  ],
  rowLengths: () => [D.rowLengths(1), D.rowLengths(2), P.rowLengths(2)],
  add: () => [
    f.add(A, B),
    f.add(A, 1),
    f.add(2, A),
    f.add(I, 1),
    f.add(A, [[10], [20], [30], [40], [50]]),
    f.add(D, 1),
    f.add(E, 1),
    f.add(P, [10, 20]),
  ],
  broadcasting: () => [
    f.add(D, [[[10]], [[20]], [[30]], [[40]]]),
    f.add(T, tf.range(6).reshape([2, 3, 1])),
    f.add(T, tf.range(3).reshape([3, 1])),
    f.add(P, ragged.constant([[[10], [20]], [], [[30]]], { raggedRank: 1 })),
    f.add(f.expandDims(A, 2), [1, 2]),
    f.subtract(1, A),
    f.multiply([[1], [2]], RaggedTensor.fromRowSplits([1, 2, 3], [0, 1, 3])),
  ],
  comparisons: () => [
    f.greater(A, B),
    f.equal(I, 2),
    f.logicalNot(f.greater(A, 1)),
    f.maximum(A, B),
    f.math.mod(I, 2),
    f.pow(A, 2),
  ],
  unary: () => [
    f.square(A),
    f.exp(E),
    f.cast(D, 'int32'),
    f.negative(I),
    f.nn.relu(f.subtract(A, 2)),
    f.clipByValue(A, 2, 4),
    f.zerosLike(D),
    f.onesLike(I),
  ],
  sum: () => [
    ...[A, D, P, E, T].flatMap((x) => [null, 0, 1].map((a) => f.reduceSum(x, a))),
    f.reduceSum(D, 2),
    f.reduceSum(P, 2),
    f.reduceSum(D, [1, 2]),
    f.reduceSum(D, [0, 2]),
    f.reduceSum(A, -1),
  ],
  'sum keepdims': () => [
    f.reduceSum(A, 1, { keepdims: true }),
    f.reduceSum(A, 0, { keepdims: true }),
    f.reduceSum(A, { keepdims: true }),
    f.reduceSum(D, 2, { keepdims: true }),
    f.reduceSum(D, 1, { keepdims: true }),
  ],
  mean: () => [
    f.reduceMean(A, 1),
    f.reduceMean(A, 0),
    f.reduceMean(D, 1),
    f.reduceMean(D, 2),
    f.reduceMean(A),
    f.reduceMean(D, [1, 2]),
  ],
  extremes: () => [
    f.reduceMax(I, 1),
    f.reduceMin(I, 1),
    f.reduceMax(A, 0),
    f.reduceMin(D, 2),
    f.reduceMax(D, 1),
    f.reduceMax(A),
  ],
  prod: () => [f.reduceProd(A, 1), f.reduceProd(A, 0), f.reduceProd(D, 1), f.reduceProd(I)],
  bools: () => [
    f.reduceAll(f.greater(A, 1), 1),
    f.reduceAny(f.greater(A, 4), 1),
    f.reduceAny(f.greater(A, 4), 0),
  ],
  variance: () => [f.math.reduceVariance(A, 0), f.math.reduceStd(B, 0)],
  concat: () => [
    f.concat([A, B], 0),
    f.concat([A, B], 1),
    f.concat([D, D], 2),
    f.concat([D, D], 1),
    f.concat([A, tf.ones([2, 3])], 0),
    f.concat([A, tf.ones([5, 1])], 1),
    f.concat([W, W], 1),
  ],
  stack: () => [
    f.stack([A, B], 0),
    f.stack([A, B], 1),
    f.stack([A, B], 2),
    ragged.stack([int([1, 2]), int([3])]),
    ragged.stack([I, I]),
  ],
  gather: () => [
    f.gather(A, [3, 0, 0]),
    f.gather(A, 2),
    f.gather(A, [
      [0, 1],
      [2, 3],
    ]),
    f.gather(['x', 'y', 'z'], ints([[2, 0], [], [1]])),
    f.gather(A, ints([[2, 0], []])),
    f.gather(W, [2, 1]),
  ],
  'gather batchDims': () => [
    f.gather(A, ragged.constant([[3, 0], [], [1], [0], []], 'int64'), { batchDims: 1 }),
    f.gather(
      int([
        [1, 2],
        [3, 4],
      ]),
      ints([[1], [0, 1]]),
      { batchDims: 1 },
    ),
  ],
  where: () => [
    f.where(f.greater(A, 2), A, B),
    f.where(f.greater(A, 2), A, f.zerosLike(A)),
    f.where(f.greater(A, 2)),
    f.where(f.greater(A, 2), A, -1),
  ],
  tile: () => [
    f.tile(I, [2, 1]),
    f.tile(I, [1, 2]),
    f.tile(I, [2, 3]),
    f.tile(D, [1, 1, 2]),
    f.tile(D, [1, 2, 1]),
  ],
  expandDims: () => [...[0, 1, 2, -1].map((a) => f.expandDims(A, a)), f.expandDims(P, 3)],
  squeeze: () => [
    f.squeeze(ints([[[1], [2]], [[3]]]), 2),
    f.squeeze(ints([[[1, 2], [3]]]), 0),
    f.squeeze(ints([[[1, 2]], [[3]]]), 1),
  ],
  reverse: () => [f.reverse(A, [1]), f.reverse(A, [0]), f.reverse(D, [0, 2])],
  size: () => [f.size(A), f.rank(A), f.rank(P), f.size(P)],
  softmax: () => [f.nn.softmax(A), f.nn.softmax(D), f.nn.softmax(P)],
  matmul: () => [
    f.matmul(P, tf.range(18).reshape([3, 2, 3])),
    f.matmul(P, P, { transposeA: true }),
    f.matmul(P, P, { transposeB: true }),
  ],
  oneHot: () => f.oneHot(I, 6),
  at: () => [
    A.at(0),
    A.at(2),
    A.at(-2),
    A.at('1:3'),
    A.at('::2'),
    A.at('::-1'),
    A.at('3:'),
    A.at(':', '1:3'),
    A.at(':', '-1:'),
    A.at(':', ':-1'),
    A.at(':', '::-1'),
    A.at(':', '::2'),
    A.at(2, 1),
    A.at(2, '1:'),
    A.at('1:3', ':1'),
    A.at('...', ':2'),
    D.at(0),
    D.at(0, 1),
    D.at(':', '0:1'),
    D.at(':', ':', '1:'),
    D.at(0, 1, 0),
    P.at(0),
    P.at(':', ':', 0),
    P.at('...', 1),
    T.at(':', 1),
    W.at(2, 1),
    A.at('5:'),
    A.at(':0'),
  ],
  'at newaxis': () => [A.at(null), A.at(':', null)],
  range: () => [
    ragged.range([3, 5, 2]),
    ragged.range([0, 5, 8], [3, 3, 12]),
    ragged.range([0, 5, 8], [3, 3, 12], 2),
    ragged.range([0, 5], [8, 2], [2, -1]),
    ragged.range(3),
    ragged.range([0], [1], 0.25),
  ],
  booleanMask: () => [
    ragged.booleanMask(
      int([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      [
        [true, false, true],
        [false, false, false],
      ],
    ),
    ragged.booleanMask(A, f.greater(A, 2)),
    ragged.booleanMask(A, [true, false, true, false, true]),
    ragged.booleanMask(D, [true, false, true, true]),
    ragged.booleanMask(D, f.greater(D, 2)),
    ragged.booleanMask(int([1, 2, 3]), [true, false, true]),
  ],
  segments: () => [
    ragged.rowSplitsToSegmentIds([0, 3, 3, 5, 6, 9]),
    ragged.segmentIdsToRowSplits([0, 0, 0, 2, 2, 3, 4, 4, 4]),
    ragged.segmentIdsToRowSplits([0, 2], 5),
  ],
  stackDynamicPartitions: () => [
    ragged.stackDynamicPartitions(['a', 'b', 'c', 'd', 'e'], [3, 0, 2, 2, 3], 5),
    ragged.stackDynamicPartitions(A, [1, 0, 1, 0, 2], 3),
  ],
  mapFlatValues: () => [
    ragged.mapFlatValues(tf.square as never, A),
    ragged.mapFlatValues(tf.add as never, A, B),
  ],
  cumsum: () => [f.cumsum(I, 1), f.cumsum(A, -1, { exclusive: true })],
  'gradient sum': () => gradient((a) => f.reduceSum(f.multiply(a, a), 1), A),
  'gradient mean': () => gradient((a) => f.reduceMean(f.multiply(a, a), 0), A),
  'gradient max': () => gradient((a) => f.reduceMax(a, 1), ragged.constant([[3, 1], [2, 2], [5]])),
  'gradient add': () => gradient((a, b) => f.multiply(a, b), A, B),
  'gradient toTensor': () => gradient((a) => a.toTensor().square(), A),
  'gradient concat': () => gradient((a, b) => f.square(f.concat([a, b], 1)), A, B),
  'gradient slice': () => gradient((a) => f.square(a.at(':', '1:')), A),
  'gradient softmax': () => gradient((a) => f.nn.softmax(a), A),
  mergeDims: () => [
    A.mergeDims(0, 1),
    D.mergeDims(0, 1),
    D.mergeDims(1, 2),
    D.mergeDims(0, -1),
    D.mergeDims(1, 1),
    P.mergeDims(1, 2),
    P.mergeDims(0, 1),
    ragged
      .constant(
        [
          [
            [[1, 2]],
            [
              [3, 4],
              [5, 6],
            ],
          ],
          [],
        ],
        { raggedRank: 2 },
      )
      .mergeDims(1, -1),
  ],
  mapFn: () =>
    inRuns(
      (a, d, x) => [
        f.mapFn((row: tf.Tensor) => row.sum(), a),
        f.mapFn((rows: Ragged) => rows.sum(), d),
        f.mapFn(([row, k]: tf.Tensor[]) => (row as tf.Tensor).sum().mul(k as tf.Tensor), [a, x]),
      ],
      A,
      D,
      tf.range(5),
    ),
  gatherNd: () =>
    inRuns(
      (a, d, p, g) => [
        ...[
          [[2], [0]],
          [
            [0, 0],
            [2, 1],
          ],
          [
            [0, 0, 1],
            [2, 0, 2],
          ],
          [2, 0],
          [2, 0, 1],
          [[[2], [0]]],
          [[[0, 0]], [[2, 1]]],
        ].map((i) => f.gatherNd(d, int(i))),
        f.gatherNd(a, [
          [0, 1],
          [2, 2],
        ]),
        f.gatherNd(a, [
          [
            [0, 1],
            [2, 2],
          ],
        ]),
        f.gatherNd(p, [
          [0, 1],
          [2, 0],
        ]),
        f.gatherNd(p, [
          [0, 1, 1],
          [2, 0, 0],
        ]),
        f.gatherNd(a, g),
        f.gatherNd(tf.range(20).reshape([4, 5]), g),
        f.gatherNd(a, tf.zeros([2, 0], 'int32')).toTensor(),
      ],
      A,
      D,
      P,
      G,
    ),
  'gatherNd gradient': () =>
    gradient(
      (a) =>
        f
          .gatherNd(a, [
            [0, 1],
            [2, 2],
            [0, 1],
          ])
          .square(),
      A,
    ),
  split: () =>
    inRuns(
      (a, p, d) => [
        ...f.split(a, 5),
        ...f.split(a, [2, 3]),
        ...f.split(p, 2, 2),
        ...f.split(p, [1, 0, 1], -1),
        ...f.split(d, [1, 3], 0),
        ...f.split(a, 1),
      ],
      A,
      P,
      D,
    ),
  'split gradient': () => gradient((a) => f.square(f.split(a, [2, 1, 2])[1]), A),
  reshape: () =>
    inRuns(
      (a, p, d) => [f.reshape(a, [-1]), f.reshape(a, [2, 4]), f.reshape(p, [6]), f.reshape(d, [3, 2])],
      A,
      P,
      D,
    ),
  dynamicPartition: () =>
    inRuns(
      (a, i, d) => [
        ...f.dynamicPartition(a, [1, 0, 1, 0, 2], 4),
        ...f.dynamicPartition(i, ints([[1, 0], [], [0, 2, 0]]), 3),
        ...f.dynamicPartition(d, [1, 0, 1, 0], 2),
      ],
      A,
      I,
      D,
    ),
  'dynamicPartition gradient': () =>
    gradient((a) => f.square(f.dynamicPartition(a, [1, 0, 1, 0, 2], 3)[1]), A),
  'unsorted segments': () =>
    inRuns(
      (a, d, p) =>
        segmentFunctions.flatMap((op) =>
          [
            [a, [1, 0, 1, 0, 0]],
            [d, [0, 2, 0, 2]],
            [a, ints([[0, 1, 0, 1], [], [2, 2, 0], [1], []])],
            [p, [0, 0, 1]],
          ].map(([data, ids]) => f.math[op](data, ids, 3)),
        ),
      A,
      D,
      P,
    ),
  'unsorted segments of integers': () => [
    f.math.unsortedSegmentSum(I, [1, 0, 1], 2),
    f.math.unsortedSegmentMax(I, I, 6),
    f.math.unsortedSegmentMean(I, [1, 0, 1], 2),
  ],
  'unsorted segments gradient': () =>
    gradient((a) => f.square(f.math.unsortedSegmentSum(a, [1, 0, 1, 0, 0], 3)), A),
  'cumsum of all axes': () =>
    inRuns(
      (...all) =>
        all.flatMap((x: Ragged) =>
          Array.from({ length: x.rank }, (_, axis) => axis).flatMap((axis) =>
            [false, true].flatMap((exclusive) =>
              [false, true].map((reverse) => f.cumsum(x, axis, { exclusive, reverse })),
            ),
          ),
        ),
      A,
      D,
      P,
    ),
  'cumsum gradient': () =>
    [0, 1].map((axis) => gradient((a) => f.square(f.cumsum(a, axis, { reverse: true })), A)),
  bincount: () =>
    inRuns(
      (x, weights) => [
        f.math.bincount(x),
        f.math.bincount(x, { axis: -1 }),
        f.math.bincount(x, { minlength: 8 }),
        f.math.bincount(x, { maxlength: 4, axis: -1 }),
        f.math.bincount(x, { axis: -1, binaryOutput: true }),
        f.math.bincount(x, { weights }),
        f.math.bincount(x, { weights, axis: -1 }),
        f.math.bincount(x, { dtype: 'float32' }),
      ],
      I,
      ragged.constant([[0.5, 1], [], [2, 3, 4]]),
    ),
  'by pairs': () => [
    f.truncatediv(I, 2),
    f.truncatemod(I, ints([[2, 2], [], [3, 3, 3]])),
    f.math.imag(f.complex(A, B)),
    f.nn.sigmoidCrossEntropyWithLogits({ labels: B, logits: A }),
    f.math.nextafter(A, 0),
    f.math.zeta(A.add(1), 2),
    f.math.xlogy(A, B),
    f.math.multiplyNoNan(A, B),
    f.math.scalarMul(2, A),
  ],
  'by values': () => [
    f.debugging.checkNumerics(A, ''),
    f.nn.silu(A),
    f.nn.selu(A),
    f.image.adjustBrightness(B, 0.25),
    f.image.adjustGamma(B, 2, 0.5),
    f.image.convertImageDtype(B, 'float64'),
    f.io.encodeBase64(W),
    f.io.decodeBase64(f.io.encodeBase64(W)),
    f.io.decodeCompressed(W),
    f.bitcast(I, 'float32'),
    f.image.statelessRandomBrightness(A, 0.5, [1, 2]),
    f.nn.experimental.statelessDropout(A, 0.5, [1, 2]),
  ],
  'oneHot axes': () =>
    inRuns(
      (i, p) => [
        f.oneHot(i, 6, { axis: 2 }),
        f.oneHot(p, 7, { axis: 2 }),
        f.oneHot(p, 7, { axis: -1 }),
        f.oneHot(i, 4, { onValue: 2, offValue: -1 }),
      ],
      I,
      P.cast('int32') as unknown as Ragged,
    ),
  'image resize': () =>
    inRuns((m) => [f.image.resize(m, [2, 3]), f.image.resize(m, [3, 3], { method: 'nearest' })], M as Ragged),
  'image resize gradient': () => gradient((m) => f.image.resize(m, [2, 3]).square(), M as Ragged),
  'mapFn to rows': () =>
    inRuns(
      (a, d, n) => {
        const vectors = (dtype: string) => ({ fnOutputSignature: new f.RaggedTensorSpec([null], dtype, 0) });
        return [
          f.mapFn((i: tf.Tensor) => f.range(i), n, vectors('int32')),
          f.mapFn((r: tf.Tensor) => ragged.stack([r, tf.booleanMask(r, r.greater(2))]), a, {
            fnOutputSignature: new f.RaggedTensorSpec([2, null], 'float32', { rowSplitsDtype: 'int32' }),
          }),
          f.mapFn((r: tf.Tensor) => r.mul(2), a, vectors('float32')),
          f.mapFn(
            (i: tf.Tensor) => f.range(i.mul(2)).mul(0).add(1).cast('float32').reshape([-1, 2]),
            f.subtract(n, [2, 0, 0]),
            {
              fnOutputSignature: new f.RaggedTensorSpec([null, 2], 'float32', 0),
            },
          ),
          ...f.mapFn((i: tf.Tensor) => [i.mul(2), f.range(i)], f.subtract(n, [2, 0, 0]), {
            fnOutputSignature: ['int32', vectors('int32').fnOutputSignature],
          }),
          f.mapFn((i: tf.Tensor) => f.range(i), int([]), vectors('int32')),
          f.mapFn((r: Ragged) => r.at(':', ':1'), d, {
            fnOutputSignature: new f.RaggedTensorSpec([null, null], 'float32'),
          }),
        ];
      },
      A,
      D,
      int([3, 0, 2]),
    ),
  'mapFn to rows like the elements': () =>
    inRuns(
      (a, d, p, i, x) => [
        f.mapFn((r: tf.Tensor) => r.mul(2), a),
        f.mapFn((r: tf.Tensor) => tf.booleanMask(r, r.greater(2)), a),
        f.mapFn((r: Ragged) => r.at(':', ':1'), d),
        f.mapFn((r: tf.Tensor) => r.add(1), p),
        f.mapFn((r: tf.Tensor) => tf.concat([r, r], 0), i),
        ...f.mapFn(([r, k]: tf.Tensor[]) => [r.mul(k), k.add(1)], [a, x]),
        f.mapFn((r: tf.Tensor) => r.add(1), tf.RaggedTensor.fromRowLengths(int([]), tf.zeros([0], 'int64'))),
      ],
      A,
      D,
      P,
      I,
      tf.range(5, { dtype: 'float32' }),
    ),
  'mapFn to rows like the elements gradient': () =>
    gradient((a) => f.square(f.mapFn((r: tf.Tensor) => r.mul(r.at(':1')), f.gather(a, [0, 2, 3]))), A),
  'mapFn to rows gradient': () =>
    gradient(
      (a) =>
        f.mapFn((r: tf.Tensor) => tf.booleanMask(r, r.greater(2)).square(), a, {
          fnOutputSignature: new f.RaggedTensorSpec([null], 'float32', 0),
        }),
      A,
    ),
  'gather in batches': () =>
    inRuns(
      (r, d, x) => [
        f.gather(r, x, { batchDims: 1 }),
        f.gather(r, int([[[0, 0]], [[0, 0]], [[1, 1]]]), { batchDims: 1 }),
        f.gather(r, ragged.constant([[[[0]], [[1, 2], []]], [[]], [[[1]]]], 'int64'), { batchDims: 1 }),
        f.gather(d, ragged.constant([[[1], [0]], [], [[2, 2], []], [[]]], 'int64'), { batchDims: 2 }),
      ],
      R,
      D,
      int([1, 0, 1]),
    ),
  'by one row': () =>
    inRuns(
      (r, d, p, column, pairs) => [
        r.mul(tf.constant([[2]])),
        r.mul(column),
        r.mul(tf.constant([2])),
        f.subtract(tf.constant([[[2]]]), d),
        p.mul(tf.constant([[[2, 3]]])),
        p.mul(pairs),
      ],
      R,
      D,
      P,
      tf.constant([[2], [3], [4]]),
      tf.range(6).reshape([3, 1, 2]),
    ),
  'rows in a run': () =>
    inRuns(
      (splits, x, d, a, i) => [
        ragged.rowSplitsToSegmentIds(splits),
        RaggedTensor.fromUniformRowLength(x, 2),
        f.gather(d, i),
        d.at(i, '1:'),
        a.at(i.sub(2)),
      ],
      tf.constant([0, 2, 2, 5], 'int64'),
      tf.range(0, 6, 1, { dtype: 'int32' }),
      D,
      A,
      int(2),
    ),
  'mean of complex numbers': () => {
    const mean = f.reduceMean(ragged.constant([[{ re: 1, im: 2 }], [2, { re: 0, im: 3 }]], 'complex128'), 1);
    return [mean.real(), mean.imag()];
  },
  'range of a tensor': () => ragged.range(int([3, 1])),
  'gradient mapFn': () => gradient((a) => f.mapFn((row: tf.Tensor) => row.square().sum(), a), A),
  'gradient deep': () => gradient((a) => f.reduceSum(f.square(a), 1), D),
};

describe('ragged tensors do as in TensorFlow', () => {
  expect(Object.keys(cases).sort()).toEqual(Object.keys(golden.cases).sort());
  test.each(Object.keys(cases))('%s', (name) => {
    expectGolden((cases[name] as () => unknown)(), golden.cases[name] as GoldenComposite, name);
  });
});

test('ragged tensors refuse what TensorFlow refuses', () => {
  expect(() => f.gather(R, [[1, 0]], { batchDims: 1 })).toThrow('params have 3 rows, and indices 1');
  expect(() => f.gather(A, [0, 0, 0, 0, 0], { batchDims: 1 })).toThrow('the index 0 is not in a row of 0');
  expect(() => f.matmul(R, tf.ones([3, 2]))).toThrow('may not be ragged in their innermost dimension');
  expect(() => f.matmul(P, P)).toThrow('matrix 1: a has 2 columns, and b 0 rows');
  expect(() => P.toTensor({ shape: [null, null, 3] })).toThrow('does not end as the values do');
  expect(() => ragged.segmentIdsToRowSplits([-1, 0])).toThrow('must not be negative');
  expect(() => ragged.constant([[1], [2, 3]], { innerShape: [0] })).toThrow(tf.errors.InvalidArgumentError);
  expect(() => D.mergeDims(2, 1)).toThrow('outerAxis, 2, must not be behind innerAxis, 1');
  expect(() => tf.math.reduceVariance(ragged.constant([[{ re: 1, im: 1 }]], 'complex64') as never)).toThrow(
    'real numbers',
  );
  expect(() => f.split(A, 2, 1)).toThrow('axis 1 is ragged');
  expect(() => f.split(A, 2)).toThrow('cannot be split into 2 equal pieces');
  expect(() => f.split(A, [2, 2])).toThrow('cannot be split into pieces of');
  expect(() => f.gatherNd(A, [[1, 0]])).toThrow('the index 0 is not in a row of 0');
  expect(() => f.gatherNd(A, [[9, 0]])).toThrow('the index 9 is not one of 5 rows');
  expect(() => f.gatherNd(A, I)).toThrow('the innermost axis of the indices');
  expect(() => f.gatherNd(A, [[0, 0, 0]])).toThrow('for at most the 2 axes');
  expect(() => f.gatherNd(A, [[0, 0]], { batchDims: 1 })).toThrow(tf.errors.UnimplementedError);
  expect(() => f.dynamicPartition(A, [0, 1], 2)).toThrow('2 partitions for 5 rows');
  expect(() => f.dynamicPartition(A, [0, 1, 2, 0, 0], 2)).toThrow('not in 0 … 1');
  expect(() => f.math.unsortedSegmentSum(A, [0, 1], 2)).toThrow('the numbers of 5 rows');
  expect(() => f.math.unsortedSegmentSum(A, I, 9)).toThrow('other lengths');
  expect(() => f.math.bincount(I, { weights: [1, 2] })).toThrow('must be ragged too');
  expect(() => f.oneHot(I, 3, { axis: 1 })).toThrow('axis must be behind the 1 ragged ones');
  expect(() => f.image.resize(A, [2, 2])).toThrow('must have rank 4');
  const rows = { fnOutputSignature: new tf.RaggedTensorSpec([null], 'float32', 0) };
  expect(() => f.mapFn((row: Ragged) => row, D, rows)).toThrow('has 1 ragged dimensions');
  expect(() => f.mapFn(() => tf.constant(1), A, rows)).toThrow('must be rows with 0');
  expect(() => f.mapFn(() => tf.zeros([2], 'int32'), A, rows)).toThrow('is int32, but must be float32');
  expect(() => f.mapFn(() => tf.zeros([2, 2]), A, rows)).toThrow('has shape [2, 2], but must have [null]');
  expect(() => f.debugging.assertLess(A, B)).toThrow(tf.errors.InvalidArgumentError);
  expect(f.debugging.assertGreaterEqual(A, [[0], [0], [2], [6], [7]]) ?? null).toBe(null);
  expect(() => f.mapFn(() => A, tf.range(3))).toThrow('must return tensors of one shape');
  expect(() => f.mapFn((x: unknown) => x, tf.sparse.fromDense([[1]]))).toThrow('make sparse ones dense');
});

test('sums within rows do not see other rows, eagerly and in traces of any rows', () => {
  const lists = [
    [1e9, 3, Number.POSITIVE_INFINITY, 2],
    [1, 2, 3],
    [],
    [Number.NaN],
    [0.5, 0.25, 8, 1, 1, 1, 1, 1, 1],
  ];
  const running = (list: readonly number[], exclusive: boolean): number[] => {
    let sum = 0;
    return list.map((v) => {
      const before = sum;
      sum += v;
      return exclusive ? before : sum;
    });
  };
  for (const exclusive of [false, true]) {
    for (const reverse of [false, true]) {
      const sums = (x: Ragged): Ragged => f.cumsum(x, 1, { exclusive, reverse });
      const traced = tf.function(sums, {
        inputSignature: [new tf.RaggedTensorSpec([null, null], 'float32')],
      });
      for (const rows of [lists, [...lists].reverse(), [[]], [[4]]]) {
        const expected = rows.map((row) =>
          reverse ? running([...row].reverse(), exclusive).reverse() : running(row, exclusive),
        );
        const x = ragged.constant(rows, 'float32');
        for (const fn of [sums, traced]) {
          const found = (fn(x) as Ragged).toList() as number[][];
          for (const [i, row] of found.entries())
            for (const [k, v] of row.entries()) {
              const want = Math.fround(expected[i]![k] as number);
              if (Number.isFinite(want)) expect(v, `${exclusive} ${reverse} ${i} ${k}`).toBeCloseTo(want, 5);
              else expect(v, `${exclusive} ${reverse} ${i} ${k}`).toBe(want);
            }
        }
      }
    }
  }
});
