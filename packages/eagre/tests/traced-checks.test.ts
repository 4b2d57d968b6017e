// What is refused eagerly because of its values is refused by a run of a traced function too, with the same error.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as tf from '../src/index.ts';

type Fn = (...xs: tf.Tensor[]) => unknown;
type List = number | readonly List[];
interface Subject {
  readonly fn: Fn;
  readonly good: readonly List[];
  /** What is refused, for each reason. */
  readonly bad: readonly (readonly List[])[];
  readonly dtype?: 'int32' | 'float32';
}
const { RaggedTensor, SparseTensor } = tf;
const values = (): tf.Tensor => tf.constant([1, 2, 3, 4], 'float32');
const rows = (splits: tf.Tensor): tf.RaggedTensor =>
  RaggedTensor.fromRowSplits(values(), splits, { validate: false });
const sparse = (indices: tf.Tensor): tf.SparseTensor => new SparseTensor(indices, tf.ones([3]), [2, 3]);
const places = [
  [0, 0],
  [0, 2],
  [1, 1],
];

const subjects: Readonly<Record<string, Subject>> = {
  fromRowSplits: {
    fn: (s) => RaggedTensor.fromRowSplits(values(), s).sum(1),
    good: [[0, 3, 3, 4]],
    bad: [[[0, 3, 2, 4]], [[1, 2, 3, 4]], [[0, 1, 2, 3]], [[0, 1, 2, 5]]],
  },
  fromRowLengths: {
    fn: (s) => RaggedTensor.fromRowLengths(values(), s).sum(1),
    good: [[3, 0, 1]],
    bad: [[[1, 1, 1]], [[3, -1, 2]], [[3, 3, 3]]],
  },
  fromRowStarts: {
    fn: (s) => RaggedTensor.fromRowStarts(values(), s).sum(1),
    good: [[0, 3]],
    bad: [[[1, 3]], [[0, 5]]],
  },
  fromRowLimits: {
    fn: (s) => RaggedTensor.fromRowLimits(values(), s).sum(1),
    good: [[3, 4]],
    bad: [[[3, 3]], [[5, 4]]],
  },
  fromValueRowids: {
    fn: (s) => RaggedTensor.fromValueRowids(values(), s, 3).sum(1),
    good: [[0, 0, 2, 2]],
    bad: [[[0, 2, 0, 2]], [[-1, 0, 0, 0]], [[0, 0, 0, 3]]],
  },
  'fromValueRowids without nrows': {
    fn: (s) => RaggedTensor.fromValueRowids(values(), s).sum(1),
    good: [[0, 0, 2, 2]],
    bad: [[[0, 2, 0, 2]], [[-1, 0, 0, 0]]],
  },
  'rows that are added': {
    fn: (a, b) => rows(a).add(rows(b)).sum(1),
    good: [
      [0, 3, 4],
      [0, 3, 4],
    ],
    bad: [
      [
        [0, 3, 4],
        [0, 2, 4],
      ],
    ],
  },
  'rows that are joined': {
    fn: (a, b) => tf.stack([rows(a), rows(b)] as never, 2),
    good: [
      [0, 3, 4],
      [0, 3, 4],
    ],
    bad: [
      [
        [0, 3, 4],
        [0, 2, 4],
      ],
    ],
  },
  'gather of rows': {
    fn: (i) => tf.gather(rows(tf.constant([0, 3, 4], 'int32')) as never, i),
    good: [[1, 0]],
    bad: [[[2, 0]], [[-1, 0]]],
  },
  'ragged.mapFlatValues': {
    fn: (a, b) => tf.ragged.mapFlatValues(tf.add as never, rows(a), rows(b)).sum(1),
    good: [
      [0, 3, 4],
      [0, 3, 4],
    ],
    bad: [
      [
        [0, 3, 4],
        [0, 2, 4],
      ],
    ],
  },
  'ragged.booleanMask': {
    fn: (a, b) => tf.ragged.booleanMask(rows(a), rows(b).greater(1) as never).sum(1),
    good: [
      [0, 3, 4],
      [0, 3, 4],
    ],
    bad: [
      [
        [0, 3, 4],
        [0, 2, 4],
      ],
    ],
  },
  'ragged.range': {
    fn: (d) => tf.ragged.range([0, 0], [4, 6], d).sum(1),
    good: [[1, 2]],
    bad: [[[1, 0]]],
  },
  'ragged.rowSplitsToSegmentIds': {
    fn: (s) => tf.ragged.rowSplitsToSegmentIds(s),
    good: [[0, 2, 2, 3]],
    bad: [[[0, 2, 1, 3]], [[1, 2, 2, 3]]],
  },
  'ragged.segmentIdsToRowSplits': {
    fn: (s) => tf.ragged.segmentIdsToRowSplits(s),
    good: [[0, 0, 2]],
    bad: [[[0, -1, 2]]],
  },
  'ragged.stackDynamicPartitions': {
    fn: (p) => tf.ragged.stackDynamicPartitions(values(), p, 3).sum(1),
    good: [[2, 0, 0, 2]],
    bad: [[[2, 0, 0, 3]], [[2, 0, -1, 0]]],
  },
  'squeeze of rows': {
    fn: (s) => tf.squeeze(rows(s) as never, 1),
    good: [[0, 1, 2, 3, 4]],
    bad: [[[0, 2, 2, 3, 4]]],
  },
  SparseTensor: {
    fn: (i) => sparse(i).values,
    good: [places],
    bad: [
      [
        [
          [0, 0],
          [0, 3],
          [1, 1],
        ],
      ],
      [
        [
          [0, 0],
          [-1, 2],
          [1, 1],
        ],
      ],
    ],
  },
  'sparse.toDense': {
    fn: (i) => tf.sparse.toDense(sparse(i)),
    good: [places],
    bad: [
      [
        [
          [0, 2],
          [0, 0],
          [1, 1],
        ],
      ],
      [
        [
          [0, 0],
          [0, 0],
          [1, 1],
        ],
      ],
    ],
  },
  'sparse.mapValues': {
    fn: (a, b) => tf.sparse.mapValues(tf.add as never, sparse(a), sparse(b)).values,
    good: [places, places],
    bad: [
      [
        places,
        [
          [0, 0],
          [0, 1],
          [1, 1],
        ],
      ],
    ],
  },
  'sparse.segmentSum': {
    fn: (ids) => tf.sparse.segmentSum(values(), [0, 1, 2], ids),
    good: [[0, 0, 1]],
    bad: [[[0, 1, 0]], [[-1, 0, 0]]],
  },
  'math.segmentSum': {
    fn: (ids) => tf.math.segmentSum(values(), ids),
    good: [[0, 0, 1, 2]],
    bad: [[[0, 1, 0, 2]], [[-1, 0, 0, 0]]],
  },
  bincount: { fn: (x) => tf.math.bincount(x), good: [[0, 2, 2]], bad: [[[0, -2, 2]]] },
  histogramFixedWidth: {
    fn: (range) => tf.histogramFixedWidth(values(), range),
    good: [[0, 5]],
    bad: [[[5, 0]]],
    dtype: 'float32',
  },
  dynamicPartition: {
    fn: (p) => tf.dynamicPartition(values(), p, 2),
    good: [[0, 1, 1, 0]],
    bad: [[[0, 1, 2, 0]], [[0, -1, 1, 0]]],
  },
  gather: { fn: (i) => tf.gather(values(), i), good: [[0, 3]], bad: [[[0, 4]], [[-1, 0]]] },
  gatherNd: { fn: (i) => tf.gatherNd(values(), i), good: [[[0], [3]]], bad: [[[[0], [4]]]] },
  scatterNd: {
    fn: (i) => tf.scatterNd(i, [1, 2], [4]),
    good: [[[0], [3]]],
    bad: [[[[0], [4]]], [[[0], [-1]]]],
  },
  tensorScatterNdUpdate: {
    fn: (i) => tf.tensorScatterNdUpdate(values(), i, [1, 2]),
    good: [[[0], [3]]],
    bad: [[[[0], [4]]]],
  },
  'nn.embeddingLookup': {
    fn: (i) => tf.nn.embeddingLookup(tf.ones([3, 2]), i),
    good: [[0, 2]],
    bad: [[[0, 3]], [[-1, 0]]],
  },
  'math.invertPermutation': {
    fn: (p) => tf.math.invertPermutation(p),
    good: [[1, 0, 2]],
    bad: [[[1, 1, 2]], [[1, 0, 3]]],
  },
  'quantization.quantizeAndDequantize': {
    fn: (r) => tf.quantization.quantizeAndDequantizeV2(values(), r.at(0), r.at(1), { rangeGiven: true }),
    good: [[-1, 5]],
    bad: [[[5, -1]]],
    dtype: 'float32',
  },
};

const flat = (x: unknown): unknown => {
  if (x instanceof tf.Tensor) return x.array();
  if (x instanceof RaggedTensor) return x.toList();
  if (x instanceof SparseTensor) return [x.indices.array(), x.values.array()];
  return (x as unknown[]).map(flat);
};
function errorOf(run: () => unknown): Error | null {
  try {
    run();
    return null;
  } catch (error) {
    return error as Error;
  }
}

for (const [name, { fn, good, bad, dtype = 'int32' }] of Object.entries(subjects)) {
  const given = (lists: readonly List[]): tf.Tensor[] => lists.map((x) => tf.constant(x as never, dtype));
  for (const open of [false, true])
    test(`${name}, for ${open ? 'any size' : 'known sizes'}`, () => {
      const signature = given(good).map(
        ({ shape }) => new tf.TensorSpec(open ? [null, ...shape.slice(1)] : shape, dtype),
      );
      const traced = tf.function(fn as never, { inputSignature: signature }) as unknown as Fn;
      expect(flat(traced(...given(good)))).toEqual(flat(fn(...given(good))));
      for (const lists of bad) {
        const eager = errorOf(() => fn(...given(lists)));
        expect(eager, `${JSON.stringify(lists)} eagerly`).toBeInstanceOf(tf.errors.OpError);
        const found = errorOf(() => traced(...given(lists)));
        expect(found?.constructor.name, `${JSON.stringify(lists)} traced: ${found?.message}`).toBe(
          eager?.constructor.name,
        );
      }
      // A run that is refused leaves nothing behind.
      expect(flat(traced(...given(good)))).toEqual(flat(fn(...given(good))));
    });
}

const sums = (splits: tf.Tensor): tf.Tensor =>
  RaggedTensor.fromRowSplits(values(), splits).sum(1) as tf.Tensor;
const fit = tf.constant([0, 3, 4], 'int32');
const misfit = tf.constant([0, 5, 4], 'int32');

test('nobody needs the result, a branch and a loop, a gradient, another thread', async () => {
  const forgotten = tf.function((s: tf.Tensor) => {
    sums(s);
    return s.add(1);
  });
  const branch = tf.function((s: tf.Tensor) =>
    tf.cond(
      s.at(0).equal(0),
      () => sums(s),
      () => tf.zeros([2]),
    ),
  );
  const loop = tf.function((s: tf.Tensor) =>
    tf.whileLoop(
      (i: tf.Tensor) => i.less(2),
      (i: tf.Tensor, x: tf.Tensor) => [i.add(1), x.add(sums(s))],
      [tf.constant(0, 'int32'), tf.zeros([2])],
    ),
  );
  const w = new tf.Variable([1, 2, 3, 4]);
  const step = tf.function((s: tf.Tensor) => {
    using tape = new tf.GradientTape();
    const loss = (RaggedTensor.fromRowSplits(w.mul(w), s).sum(1) as tf.Tensor).square().sum();
    return tape.gradient(loss, w) as tf.Tensor;
  });
  for (const fn of [forgotten, branch, loop, step] as unknown as ((s: tf.Tensor) => unknown)[]) {
    fn(fit);
    expect(() => fn(misfit)).toThrow(tf.errors.InvalidArgumentError);
    fn(fit);
  }
  const later = forgotten as unknown as { runAsync(s: tf.Tensor): Promise<tf.Tensor> };
  expect((await later.runAsync(fit)).array()).toEqual([1, 4, 5]);
  await expect(later.runAsync(misfit)).rejects.toThrow(tf.errors.InvalidArgumentError);
});

test('a SavedModel asserts it, an ONNX file leaves it out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-checks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const fn = tf.function((ids: tf.Tensor) => tf.math.segmentSum(values(), ids), {
    inputSignature: [new tf.TensorSpec([4], 'int32')],
  });
  const module = Object.assign(new tf.Module(), { fn });
  await tf.savedModel.save(module, join(folder, 'saved'));
  const loaded = (await tf.savedModel.load(join(folder, 'saved'))) as unknown as {
    fn(x: tf.Tensor): tf.Tensor;
  };
  expect(loaded.fn(tf.constant([0, 0, 1, 2], 'int32')).array()).toEqual([3, 3, 4]);
  expect(() => loaded.fn(tf.constant([0, 1, 0, 2], 'int32'))).toThrow(tf.errors.InvalidArgumentError);
  await tf.onnx.save(fn as never, join(folder, 'model.onnx'));
});
