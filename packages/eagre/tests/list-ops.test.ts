// Samplers, losses with sampled classes, crosses and others against TensorFlow.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bytesOf,
  type Distribution,
  drawCandidates,
  LearnedClasses,
  logUniformClasses,
  Philox,
  pooledBy,
  uniformClasses,
  weightedClasses,
} from '@eagre/core/internal';
import { describe, expect, it, vi } from 'vitest';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('list-ops.json');

describe('candidate samplers', () => {
  const { samples } = JSON.parse(
    readFileSync(new URL('../golden/candidates.json', import.meta.url), 'utf8'),
  ) as {
    samples: { name: string; unique: boolean; range: number; result: { values: number[] }[] }[];
  };
  const unigrams = [1, 2, 3, 4, 3, 0.5, 1, 0.25, 7];
  const weighted = (power: number): Distribution => {
    const weights = unigrams.map((w) => Math.fround(w ** power));
    return weightedClasses(
      weights,
      weights.reduce((a, b) => Math.fround(a + b), 0),
    );
  };
  const distributions: Readonly<Record<string, (range: number) => Distribution>> = {
    uniform: uniformClasses,
    uniform8: uniformClasses,
    logUniform: logUniformClasses,
    learned: (range) => new LearnedClasses(range),
    fixed: () => weighted(1),
    distorted: () => weighted(0.75),
  };
  it.each(samples)('draw what TensorFlow draws: $name, unique $unique', ({ name, unique, range, result }) => {
    // TensorFlow's generator of the seeds 2^33 + 3 and 2^35 + 5.
    const stream = new Philox([3, 2], [0, 0, 5, 8]);
    const found = drawCandidates(distributions[name](range), stream, 5, unique, [0, 3, 2, 6]);
    expect(found.sampled).toEqual(result[0].values);
    [found.trueCounts, found.sampledCounts].forEach((list, i) =>
      list.forEach((v, k) => expect(Math.abs(v - result[i + 1].values[k])).toBeLessThan(1e-6)),
    );
  });
  const { random } = tf;
  const ids = tf.constant(
    [
      [0, 3],
      [2, 6],
    ],
    'int64' as never,
  );
  it('give classes and counts, eagerly and traced, and repeat by their seeds', () => {
    const draw = (): unknown[] => {
      random.setSeed(3);
      return random.uniformCandidateSampler(ids, 2, 4, true, 9, { seed: 5 }).map((t) => t.array());
    };
    expect(draw()).toEqual(draw());
    const traced = tf.function((x: tf.Tensor) => random.logUniformCandidateSampler(x, 2, 4, true, 9), {
      inputSignature: [new tf.TensorSpec([null, 2], 'int64')],
    }) as unknown as (x: tf.Tensor) => tf.Tensor[];
    const [a, b] = [traced(ids), traced(ids)];
    expect(a.map((t) => [t.dtype, t.shape])).toEqual([
      ['int64', [4]],
      ['float32', [2, 2]],
      ['float32', [4]],
    ]);
    expect([a, b].map(([t]) => new Set(t.array() as bigint[]).size)).toEqual([4, 4]);
    const many = Array.from({ length: 20 }, () => String(traced(ids)[0].array()));
    expect(new Set(many).size).toBeGreaterThan(1);
  });
  it('learn what they have seen', () => {
    const seen = tf.constant([[4, 4, 4, 4]], 'int64' as never);
    const first = random.learnedUnigramCandidateSampler(seen, 4, 1, false, 101)[1].array() as number[][];
    const second = random.learnedUnigramCandidateSampler(seen, 4, 1, false, 101)[1].array() as number[][];
    expect([first[0][0], second[0][0]]).toEqual([Math.fround(1 / 101), Math.fround(5 / 105)]);
  });
  it('refuse what they cannot use', () => {
    const bad: (() => unknown)[] = [
      () => random.uniformCandidateSampler(ids, 1, 4, true, 9),
      () => random.uniformCandidateSampler(ids, 2, 10, true, 9),
      () => random.uniformCandidateSampler(ids, 2, 0, true, 9),
      () => random.uniformCandidateSampler([[0.5, 1]], 2, 1, true, 9),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 9, { unigrams: [1, 2] }),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { unigrams: [0, 1] }),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { unigrams: [-1, 1] }),
      () => random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { unigrams: [1, 1], shard: 1 }),
      () => tf.nn.nceLoss([[1, 2]], [1, 2], [[0]], [[1]], 2, 2),
      () => tf.nn.sampledSoftmaxLoss([[1], [2]], [1, 2], [[0]], [[1]], 3, 2),
      () => tf.nn.computeAccidentalHits([[1]], [[1]], 1),
    ];
    for (const call of bad) expect(call, String(call)).toThrow(tf.errors.InvalidArgumentError);
    expect(() =>
      random.fixedUnigramCandidateSampler(ids, 2, 2, true, 2, { vocabFile: '/none/at/all' }),
    ).toThrow(tf.errors.NotFoundError);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: values of a file.
type Any = any;
const golden = JSON.parse(
  readFileSync(new URL('../golden/list-values.json', import.meta.url), 'utf8'),
) as Any;
interface Values {
  readonly dtype: tf.DType;
  readonly shape: number[];
  readonly values: (number | string)[];
}
const tensorOf = ({ dtype, shape, values }: Values): tf.Tensor =>
  tf.constant(values.map(Number), dtype, { shape });
function near(own: tf.Tensor, wanted: Values, error = 1e-6): void {
  expect([own.dtype, own.shape]).toEqual([wanted.dtype, wanted.shape]);
  const list = Array.from(own.data() as ArrayLike<number>, Number);
  wanted.values.forEach((v, i) => {
    const number = Number(v);
    if (Number.isFinite(number))
      expect(Math.abs(list[i] - number)).toBeLessThan(error * Math.max(1, Math.abs(number)));
    else expect(list[i]).toBe(number);
  });
}
const sparse = (indices: number[][], values: tf.TensorLike, shape: number[]): tf.SparseTensor =>
  new tf.SparseTensor(tf.constant(indices, 'int64' as never), values, tf.constant(shape, 'int64' as never));
const plainValues = (t: tf.Tensor): string[] =>
  t.dtype === 'string' ? t.strings() : Array.from(t.data() as ArrayLike<bigint>, String);
const A = sparse(
  [
    [0, 0],
    [1, 0],
    [1, 1],
  ],
  ['a', 'b', 'c'],
  [3, 2],
);
const B = sparse(
  [
    [0, 0],
    [1, 0],
    [2, 0],
  ],
  ['d', 'ee', 'f'],
  [3, 1],
);
const D = tf.constant([['x'], ['yy'], ['z']]);
const I = sparse(
  [
    [0, 1],
    [1, 0],
    [2, 1],
  ],
  tf.constant([5n, -7n, 9n], 'int64'),
  [3, 2],
);
const J = tf.constant(
  [
    [1, 2],
    [3, 4],
    [5, 6],
  ],
  'int32',
);

describe('crosses', () => {
  it('are those of TensorFlow, sparse', () => {
    const own = [
      tf.sparse.cross([A, B, D]),
      tf.sparse.cross([D, A], { separator: '_Y_' }),
      tf.sparse.cross([I, J]),
      tf.sparse.crossHashed([A, B, D]),
      tf.sparse.crossHashed([A, B, D], { numBuckets: 100 }),
      tf.sparse.crossHashed([I, J, A], 1000, { hashKey: 17 }),
      tf.sparse.crossHashed([D, D]),
    ];
    own.forEach((t, i) =>
      expect({
        indices: (t.indices.array() as bigint[][]).map((r) => r.map(Number)),
        shape: Array.from(t.denseShape.data() as ArrayLike<bigint>, Number),
        values: plainValues(t.values),
      }).toEqual(golden.sparseCross[i]),
    );
  });
  it('are those of TensorFlow, ragged', () => {
    const R = tf.ragged.constant([['a'], ['b', 'c'], []]) as tf.RaggedTensor;
    const N = tf.ragged.constant([[1], [2, -3], [4]], 'int64', {
      rowSplitsDtype: 'int32',
    }) as tf.RaggedTensor;
    const own = [
      tf.ragged.cross([R, D, I]),
      tf.ragged.cross([N, J]),
      tf.ragged.crossHashed([R, B], 100),
      tf.ragged.crossHashed([N, R.withRowSplitsDtype('int32')], { hashKey: 3 }),
    ];
    own.forEach((t, i) => {
      const [splits] = t.nestedRowSplits;
      expect({
        splits: Array.from(splits.data() as ArrayLike<bigint>, Number),
        dtype: splits.dtype,
        values: plainValues(t.flatValues),
      }).toEqual(golden.raggedCross[i]);
    });
  });
  it('refuse what they cannot use', () => {
    const bad: (() => unknown)[] = [
      () => tf.sparse.cross([]),
      () => tf.sparse.cross([A, tf.constant([['x']])]),
      () => tf.sparse.cross([tf.constant(['x'])]),
      () => tf.sparse.cross([tf.constant([[1.5]])]),
      () => tf.sparse.cross([D], { separator: 3 as never }),
      () => tf.sparse.crossHashed([D], -1),
      () => tf.ragged.crossHashed([D], { hashKey: 1.5 }),
      () => tf.ragged.cross([tf.constant([1], 'int32')]),
    ];
    for (const call of bad) expect(call, String(call)).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('editDistance', () => {
  const hyp = sparse(
    [
      [0, 0, 0],
      [1, 0, 0],
      [1, 0, 1],
      [1, 1, 1],
    ],
    ['a', 'b', 'c', 'z'],
    [2, 2, 2],
  );
  const truth = sparse(
    [
      [0, 1, 0],
      [1, 0, 0],
      [1, 0, 1],
      [1, 1, 0],
    ],
    ['a', 'b', 'c', 'a'],
    [2, 2, 2],
  );
  const ints = (list: bigint[]): tf.Tensor => tf.constant(list, 'int64');
  const ih = sparse(
    [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [1, 2],
    ],
    ints([1n, 2n, 3n, 4n, 5n]),
    [3, 3],
  );
  const it2 = sparse(
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [2, 0],
    ],
    ints([1n, 4n, 5n, 6n]),
    [3, 2],
  );
  it('is that of TensorFlow', () => {
    const own = [
      tf.editDistance(hyp, truth),
      tf.editDistance(hyp, truth, false),
      tf.editDistance(ih, it2),
      tf.editDistance({ hypothesis: ih, truth: it2, normalize: false }),
    ];
    own.forEach((t, i) => near(t, golden.editDistance[i]));
  });
  it('is that of TensorFlow for sequences of any length, large integers and NaN', () => {
    const one = (list: tf.TensorLike, n: number): tf.SparseTensor =>
      sparse(
        Array.from({ length: n }, (_, i) => [0, i]),
        list,
        [1, n],
      );
    const distance = (a: bigint[], b: bigint[]): unknown =>
      tf.editDistance(one(ints(a), a.length), one(ints(b), b.length), false).array();
    const q = Array.from({ length: 50 }, (_, i) => BigInt((i * i * 7 + i) % 5));
    const r = Array.from({ length: 45 }, (_, i) => BigInt((i * i * 3 + 2 * i) % 5));
    expect(distance(q, r)).toEqual([21]);
    expect(distance(q.slice(0, 32), r.slice(0, 32))).toEqual([13]);
    expect(distance(q.slice(0, 33), r)).toEqual([21]);
    expect(distance(q.slice(0, 31), r)).toEqual([22]);
    expect(distance([2n ** 53n + 1n, 2n ** 53n], [2n ** 53n, 2n ** 53n + 1n])).toEqual([2]);
    const nan = one(tf.constant([Number.NaN]), 1);
    expect(tf.editDistance(nan, nan).array()).toEqual([1]);
  });
  it('is computed in traced functions', () => {
    const traced = tf.function((a: tf.SparseTensor, b: tf.SparseTensor) => tf.editDistance(a, b));
    near(traced(ih, it2) as tf.Tensor, golden.editDistance[2]);
  });
  it('refuses what it cannot use', () => {
    for (const call of [
      () => tf.editDistance(hyp, ih),
      () => tf.editDistance(D as never, truth),
      () => tf.editDistance(sparse([[0]], ['a'], [1]), sparse([[0]], ['a'], [1])),
    ])
      expect(call, String(call)).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('conjugateGradient', () => {
  const M = tf.constant(
    [
      [4, 1, 0],
      [1, 3, 1],
      [0, 1, 5],
    ],
    'float64',
  );
  const hints = { isSelfAdjoint: true, isPositiveDefinite: true };
  const operator = new tf.linalg.LinearOperatorFullMatrix(M, hints);
  const preconditioner = new tf.linalg.LinearOperatorDiag(
    tf.constant([1 / 4, 1 / 3, 1 / 5], 'float64'),
    hints,
  );
  const b = tf.constant([1, 2, 3], 'float64');
  const solve = tf.linalg.experimental.conjugateGradient;
  it('goes the steps of TensorFlow', () => {
    const runs = [
      solve(operator, b),
      solve(operator, b, { maxIter: 2 }),
      solve(operator, b, { preconditioner, tol: 1e-9 }),
      solve(operator, b, { x: tf.constant([1, 1, 1], 'float64') }),
      solve(
        operator,
        tf.constant(
          [
            [1, 2, 3],
            [6, 4, 2],
          ],
          'float64',
        ),
      ),
    ];
    runs.forEach(({ i, x, r, p, gamma }, k) =>
      [i, x, r, p, gamma].forEach((t, j) => near(t, golden.conjugateGradient[k][j], 1e-9)),
    );
  });
  it('ends where it has converged', () => {
    const products = vi.spyOn(operator, 'matvec');
    const { i } = solve(operator, b, { maxIter: 1000 });
    expect(products).toHaveBeenCalledTimes(Number(i.item()));
    products.mockRestore();
  });
  it('is traced, and has gradients', () => {
    const traced = tf.function((v: tf.Tensor) => solve(operator, v).x);
    near(traced(b), golden.conjugateGradient[0][1], 1e-9);
    const tape = new tf.GradientTape();
    tape.watch(b);
    const total = solve(operator, b).x.sum();
    const wanted = tf.linalg.solve(M, tf.constant([[1], [1], [1]], 'float64')).reshape([3]);
    const own = tape.gradient(total, b) as tf.Tensor;
    expect(own.sub(wanted).abs().max().item()).toBeLessThan(1e-4);
  });
  it('refuses other operators', () => {
    expect(() => solve(new tf.linalg.LinearOperatorFullMatrix(M), b)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => solve(M as never, b)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => solve(operator, b, { tol: -1 })).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('fractional pools', () => {
  it('are those of TensorFlow for the same windows', () => {
    for (const { kind, overlapping, rows, cols, output, gradient } of golden.pools.cases) {
      const x = tensorOf(golden.pools.input);
      const borders = [rows, cols].map((list: number[]) => tf.constant(list.map(BigInt), 'int64'));
      const tape = new tf.GradientTape();
      tape.watch(x);
      const y = pooledBy(x, borders as [tf.Tensor, tf.Tensor], overlapping, kind === 'fractionalAvgPool');
      near(y, output);
      near(tape.gradient(y.sum(), x) as tf.Tensor, gradient);
    }
  });
  it('draw windows, which repeat by their seeds', () => {
    const x = tensorOf(golden.pools.input);
    for (const pseudoRandom of [false, true]) {
      const draw = (): tf.Tensor[] => {
        tf.random.setSeed(1);
        return tf.nn.fractionalMaxPool(x, [1, 1.44, 1.73, 1], { pseudoRandom, seed: 3 });
      };
      const [y, rows, columns] = draw();
      expect([y.shape, rows.shape, columns.shape]).toEqual([[2, 7, 7, 2], [8], [8]]);
      expect(rows.array()).toEqual(draw()[1].array());
      const steps = Array.from(rows.data() as ArrayLike<bigint>, Number).map(
        (v, i, all) => v - (all[i - 1] ?? 0),
      );
      expect(steps.slice(1).every((s) => s === 1 || s === 2)).toBe(true);
    }
    const traced = tf.function((v: tf.Tensor) => tf.nn.fractionalAvgPool(v, 1.5)[0]);
    expect(traced(x).shape).toEqual([2, 7, 8, 2]);
    for (const bad of [0.5, [1, 2, 3], [2, 1.5, 1.5, 1], 'x'])
      expect(() => tf.nn.fractionalMaxPool(x, bad as never)).toThrow(tf.errors.InvalidArgumentError);
  });
});

it('withSpaceToBatch gives convolutions with dilations', () => {
  for (const { padding, input, filter, result } of golden.spaced) {
    const [x, f] = [tensorOf(input), tensorOf(filter)];
    const run = (t: tf.Tensor): tf.Tensor =>
      tf.nn.withSpaceToBatch(t, [2, 3], padding, (v, _n, p) => tf.nn.conv2d(v, f, { padding: p }), {
        filterShape: [2, 3],
      });
    near(run(x), result);
    const traced = tf.function(run, { inputSignature: [new tf.TensorSpec([null, null, null, 2])] });
    near(traced(x), result);
  }
  const one = tf.ones([1, 4, 4, 1]);
  expect(() => tf.nn.withSpaceToBatch(one, [2], 'SAME', (v) => v)).toThrow(tf.errors.InvalidArgumentError);
  expect(() => tf.nn.withSpaceToBatch(one, [0], 'VALID', (v) => v)).toThrow(tf.errors.InvalidArgumentError);
});

it('generalDropout keeps what its sampler says', () => {
  const x = tf.constant([1, 2, 3, 4]);
  const y = tf.nn.experimental.generalDropout(x, 0.5, () => [0.4, 0.5, 0.6, 0.1]);
  expect(y.array()).toEqual([0, 4, 6, 0]);
  expect(() => tf.nn.experimental.generalDropout(x, 1, () => 0)).toThrow(tf.errors.InvalidArgumentError);
  expect(() => tf.nn.experimental.generalDropout(x, 0.5, 3 as never)).toThrow(tf.errors.InvalidArgumentError);
});

it('glimpses have noise beyond the image', () => {
  const x = tf.reshape(tf.range(0, 32, 1, { dtype: 'float32' }), [1, 4, 8, 1]);
  for (const noise of ['uniform', 'gaussian'] as const) {
    const y = tf.image.extractGlimpse(x, [6, 6], [[1, 1]], { noise });
    expect(y.shape).toEqual([1, 6, 6, 1]);
    expect(y.isFinite().all().item()).toBe(true);
  }
  expect(() => tf.image.extractGlimpse(x, [6], [[1, 1]])).toThrow(tf.errors.InvalidArgumentError);
  expect(() => tf.image.extractGlimpse(x, [6, 6], [[1, 1]], { noise: 'pink' as never })).toThrow(
    tf.errors.InvalidArgumentError,
  );
});

describe('io', () => {
  const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
  const numbersOf = (t: tf.SparseTensor): unknown => ({
    indices: (t.indices.array() as bigint[][]).map((r) => r.map(Number)),
    values: Array.from(t.values.data() as ArrayLike<number>),
    shape: Array.from(t.denseShape.data() as ArrayLike<bigint>, Number),
  });
  const hexOf = (t: tf.Tensor): string[] =>
    t.strings().map((text) => Buffer.from(bytesOf(text)).toString('hex'));
  it('reads sparse features', () => {
    const { messages, batch, single } = golden.sparseFeature;
    const s = new tf.io.SparseFeature(['ix0', 'ix1'], 'val', 'float32', [100, 3]);
    const all = messages.map(bytes) as Uint8Array[];
    expect(numbersOf(tf.io.parseExample(all, { s }).s)).toEqual(batch);
    expect(numbersOf(tf.io.parseSingleExample(all[0], { s }).s as never)).toEqual(single);
    const small = new tf.io.SparseFeature(['ix0', 'ix1'], 'val', 'float32', [10, 3]);
    const uneven = new tf.io.SparseFeature('ix0', 'none', 'float32', 100);
    const other = new tf.io.SparseFeature('ix0', 'val', 'int64', 100);
    for (const wrong of [small, uneven, other])
      expect(() => tf.io.parseExample(all, { s: wrong })).toThrow(tf.errors.InvalidArgumentError);
    expect(() => new tf.io.SparseFeature(['a', 'b'], 'v', 'float32', [1])).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => new tf.io.SparseFeature([], 'v', 'float32', [])).toThrow(tf.errors.InvalidArgumentError);
  });
  it('writes and reads sparse tensors', () => {
    const { one, many, back } = golden.serialized;
    const words = sparse(
      [
        [0, 1],
        [2, 0],
      ],
      ['a', 'b'],
      [3, 2],
    );
    expect(hexOf(tf.io.serializeSparse(words))).toEqual(one);
    const rows = sparse(
      [
        [0, 1],
        [2, 0],
        [2, 1],
      ],
      tf.constant([5, 6, 7], 'int32'),
      [3, 2],
    );
    const written = tf.io.serializeManySparse(rows);
    expect(written.shape).toEqual([3, 3]);
    expect(hexOf(written)).toEqual(many.flat());
    expect(numbersOf(tf.io.deserializeManySparse(written, 'int32'))).toEqual(back);
    const bad: (() => unknown)[] = [
      () => tf.io.deserializeManySparse(written, 'float32'),
      () => tf.io.deserializeManySparse(written, 'int32', 5),
      () => tf.io.deserializeManySparse([['a', 'b']], 'int32'),
      () => tf.io.serializeManySparse(sparse([[0]], [1], [1])),
      () => tf.io.serializeSparse([1] as never),
    ];
    for (const call of bad) expect(call, String(call)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.io.deserializeManySparse([['\u0001', 'b', 'c']], 'int32')).toThrow(tf.errors.EagreError);
  });
  it('writes graphs, and keeps the names of files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-write-graph-'));
    try {
      const f = tf.function((x: tf.Tensor) => x.add(1)).getConcreteFunction(tf.constant([1, 2]));
      const path = tf.io.writeGraph(f, join(folder, 'deep'), 'graph.pb', false);
      expect(new Uint8Array(readFileSync(path))).toEqual(f.graph.asGraphDef());
      const text = readFileSync(tf.io.writeGraph(f.graph, folder, 'graph.pbtxt'), 'utf8');
      expect(text).toMatch(/^node \{\n {2}name: "/);
      expect(() => tf.io.writeGraph({} as never, folder, 'x')).toThrow(tf.errors.InvalidArgumentError);
      expect(() => tf.io.writeGraph(Uint8Array.of(255, 255, 255), folder, 'x')).toThrow(
        tf.errors.InvalidArgumentError,
      );
      // A part of the path is a file.
      expect(() => tf.io.writeGraph(f, join(folder, 'graph.pbtxt'), 'x')).toThrow(tf.errors.EagreError);
      const names = tf.io.matchFilenamesOnce(join(folder, '*.pb*'), { name: 'files' });
      expect(names).toBeInstanceOf(tf.Variable);
      expect((names.array() as string[]).map((n) => n.slice(folder.length + 1))).toEqual(['graph.pbtxt']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  it('JPEG qualities are drawn', () => {
    const image = tf.cast(tf.reshape(tf.range(0, 192, 1, { dtype: 'int32' }), [8, 8, 3]), 'uint8');
    const draw = (): unknown => tf.image.statelessRandomJpegQuality(image, 10, 90, [1, 2]).array();
    expect(draw()).toEqual(draw());
    expect(tf.image.randomJpegQuality(image, 10, 90, { seed: 3 }).shape).toEqual([8, 8, 3]);
    for (const [low, high] of [
      [-1, 5],
      [5, 5],
      [0, 101],
    ])
      expect(() => tf.image.randomJpegQuality(image, low, high)).toThrow(tf.errors.InvalidArgumentError);
  });
});
