// Options of functions that TensorFlow has too, with values of TensorFlow 2.21.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { each, gradients } from './testing/each.ts';

const P = tf.range(0, 12, 1, { dtype: 'float32' }).reshape([2, 3, 2]);
const indices = (values: unknown, dtype: 'int32' | 'int64' = 'int32'): tf.Tensor =>
  tf.constant(values as number[], dtype);
const refused = (fn: () => unknown, text: string): void => {
  expect(fn).toThrow(tf.errors.InvalidArgumentError);
  expect(fn).toThrow(text);
};
/** Numbers that are near those that are expected. */
const near = (value: unknown, digits = 5): unknown => {
  if (typeof value === 'number') return expect.closeTo(value, digits);
  if (Array.isArray(value)) return value.map((v) => near(v, digits));
  return Object.fromEntries(Object.entries(value as object).map(([k, v]) => [k, near(v, digits)]));
};

describe('gatherNd', () => {
  const nd = (batchDims: number) => (p: tf.Tensor, i: tf.Tensor) => tf.gatherNd(p, i, { batchDims });

  test('of a batch', () => {
    expect(each(nd(1), P, indices([[1], [2]]))).toEqual([
      [2, 3],
      [10, 11],
    ]);
    const pairs = [
      [
        [0, 1],
        [2, 0],
      ],
      [
        [1, 1],
        [0, 0],
      ],
    ];
    for (const dtype of ['int32', 'int64'] as const)
      expect(each(nd(1), P, indices(pairs, dtype))).toEqual([
        [1, 4],
        [9, 6],
      ]);
    expect(
      each(
        nd(2),
        P,
        indices([
          [[0], [1], [1]],
          [[0], [0], [1]],
        ]),
      ),
    ).toEqual([
      [0, 3, 5],
      [6, 8, 11],
    ]);
    expect(gradients((p) => nd(1)(p, indices([[1], [1]])), P)[0]).toEqual([
      [
        [0, 0],
        [1, 2],
        [0, 0],
      ],
      [
        [0, 0],
        [3, 4],
        [0, 0],
      ],
    ]);
  });

  test('refusals', () => {
    const i = indices([[1], [2]]);
    refused(() => tf.gatherNd(P, i, { batchDims: 2 }), 'batchDims 2 must be in 0 … 1');
    refused(() => tf.gatherNd(P, i, { batchDims: -1 }), 'batchDims -1 must be in 0 … 1');
    refused(() => tf.gatherNd(P, indices([[1], [2], [0]]), { batchDims: 1 }), 'must share 1 leading axes');
    expect(() => tf.gatherNd(P, indices([[3], [2]]), { batchDims: 1 })).toThrow(tf.errors.OutOfRangeError);
  });
});

describe('linspace', () => {
  const line =
    (num: number, axis?: number) =>
    (a: tf.Tensor, b: tf.Tensor): tf.Tensor =>
      tf.linspace(a, b, num, axis === undefined ? {} : { axis });

  test('between tensors', () => {
    const [a, b] = [tf.constant([0, 10]), tf.constant([1, 20])];
    expect(each(line(3), a, b)).toEqual([
      [0, 10],
      [0.5, 15],
      [1, 20],
    ]);
    for (const axis of [1, -1])
      expect(each(line(3, axis), a, b)).toEqual([
        [0, 0.5, 1],
        [10, 15, 20],
      ]);
    const column = tf.constant([[0], [10]]);
    expect(each(line(1, 1), column, b)).toEqual([[[0, 0]], [[10, 10]]]);
    expect(each(line(2), column, b)).toEqual([
      [
        [0, 0],
        [10, 10],
      ],
      [
        [1, 20],
        [1, 20],
      ],
    ]);
    expect(tf.linspace(tf.constant(0), 5, 3).array()).toEqual([0, 2.5, 5]);
    refused(() => line(3, 2)(a, b), 'axis');
    refused(() => line(3, -3)(a, b), 'axis');
    refused(() => tf.linspace(0, 1, 3, { axis: 1 }), 'axis');
    refused(() => tf.linspace(tf.constant('a'), 'b', 3), 'start is string');
  });

  test('between integers', () => {
    const y = tf.linspace(indices([0, 10]), indices([5, 20]), 3);
    expect(y.dtype).toBe('float64');
    expect(y.array()).toEqual([
      [0, 10],
      [2.5, 15],
      [5, 20],
    ]);
    expect(tf.linspace(1n, 4n, 3).array()).toEqual([1, 2.5, 4]);
    expect(tf.linspace(indices(0), indices(5), 4).array()).toEqual([
      0, 1.6666666666666667, 3.3333333333333335, 5,
    ]);
    expect(tf.linspace(indices(0), 5, 2, { dtype: 'float32' }).dtype).toBe('float32');
    refused(() => tf.linspace(tf.constant(0), 1, 2, { dtype: 'float64' }), 'not float64');
  });

  test('gradients, and a number of points that a run knows', () => {
    const [a, b] = [tf.constant([0, 10]), tf.constant([[1], [3]])];
    expect(gradients(line(3, 1), a, b)).toEqual([
      [14, 17],
      [[14.5], [32.5]],
    ]);
    const fn = tf.function((n: tf.Tensor) => tf.linspace(a, b.squeeze(1), n, { axis: 1 }), {
      inputSignature: [new tf.TensorSpec([], 'int32')],
    });
    expect(fn(indices(3)).array()).toEqual([
      [0, 0.5, 1],
      [10, 6.5, 3],
    ]);
    expect(fn(indices(1)).array()).toEqual([[0], [10]]);
  });
});

describe('oneHot', () => {
  const i = indices([0, 2]);
  test('tensors as values and depth', () => {
    const hot = (x: tf.Tensor, on: tf.Tensor, off: tf.Tensor): tf.Tensor =>
      tf.oneHot(x, 3, { onValue: on, offValue: off });
    expect(each(hot, i, tf.constant(2.5), tf.constant(-1))).toEqual([
      [2.5, -1, -1],
      [-1, -1, 2.5],
    ]);
    const deep = tf.function((x: tf.Tensor, depth: tf.Tensor) => tf.oneHot(x, depth, { axis: 0 }), {
      inputSignature: [new tf.TensorSpec([null], 'int32'), new tf.TensorSpec([], 'int32')],
    });
    for (const y of [deep(i, indices(2)), tf.oneHot(i, indices(2), { axis: 0 })])
      expect(y.array()).toEqual([
        [1, 0],
        [0, 0],
      ]);
  });

  test('other dtypes', () => {
    const words = tf.oneHot(i, 3, { onValue: 'a', offValue: 'b' });
    expect([words.dtype, words.array()]).toEqual([
      'string',
      [
        ['a', 'b', 'b'],
        ['b', 'b', 'a'],
      ],
    ]);
    const truth = tf.oneHot(i, 3, { onValue: true, offValue: false });
    expect([truth.dtype, truth.array()]).toEqual([
      'bool',
      [
        [true, false, false],
        [false, false, true],
      ],
    ]);
    expect(tf.oneHot(i, 3, { onValue: 5n }).array()).toEqual([
      [5n, 0n, 0n],
      [0n, 0n, 5n],
    ]);
    const z = tf.oneHot(i, 3, { onValue: tf.complex(0, 5) });
    expect([z.dtype, z.at(0, 0).item()]).toEqual(['complex64', { re: 0, im: 5 }]);
    expect(tf.oneHot(i, 3, { onValue: 5, dtype: 'int32' }).dtype).toBe('int32');
  });

  test('the values have no gradient, as in TensorFlow', () => {
    const on = tf.constant(2);
    const tape = new tf.GradientTape();
    tape.watch(on);
    expect(tape.gradient(tf.oneHot(i, 3, { onValue: on }), on)).toBeNull();
  });

  test('refusals', () => {
    const five = indices(5);
    refused(
      () => tf.oneHot(i, 3, { onValue: five, dtype: 'float32' }),
      'onValue is int32 [], expected a scalar of float32',
    );
    refused(() => tf.oneHot(i, 3, { onValue: five, offValue: tf.constant(1) }), 'offValue is float32');
    refused(
      () => tf.oneHot(i, 3, { onValue: tf.constant([5]) }),
      'onValue is float32 [1], expected a scalar',
    );
    refused(() => tf.oneHot(i, indices([3])), 'depth');
  });
});

describe('products of complex matrices', () => {
  const complex = (re: number[][], im: number[][]): tf.Tensor => tf.complex(tf.constant(re), tf.constant(im));
  const A = complex(
    [
      [1, 2],
      [3, 4],
    ],
    [
      [1, -2],
      [0.5, 3],
    ],
  );
  const B = complex(
    [
      [2, 0],
      [1, -1],
    ],
    [
      [0, 1],
      [-1, 2],
    ],
  );
  const pairs = (list: readonly (readonly (readonly [number, number])[])[]): unknown =>
    list.map((row) => row.map(([re, im]) => ({ re, im })));
  const product =
    (options: tf.MatMulOptions) =>
    (a: tf.Tensor, b: tf.Tensor): tf.Tensor =>
      tf.matmul(a, b, options);

  test('adjoints', () => {
    expect(each(product({ adjointA: true }), A, B)).toEqual(
      pairs([
        [
          [4.5, -5.5],
          [-1, 7.5],
        ],
        [
          [5, -3],
          [0, 13],
        ],
      ]),
    );
    expect(each(product({ adjointB: true }), A, B)).toEqual(
      pairs([
        [
          [0, 0],
          [-6, 0],
        ],
        [
          [9, -3],
          [4.5, -7.5],
        ],
      ]),
    );
    expect(each(product({ adjointA: true, transposeB: true }), A, B)).toEqual(
      pairs([
        [
          [2.5, 1],
          [-2, 4.5],
        ],
        [
          [7, 8],
          [6, 11],
        ],
      ]),
    );
    expect(each(product({ adjointA: true }), A.real(), B.real())).toEqual([
      [5, -3],
      [8, -4],
    ]);
    const x = complex([[1, 2]], [[1, -1]]).at(0);
    expect(each((a, v) => tf.linalg.matvec(a, v, { adjointA: true }), A, x)).toEqual([
      { re: 7.5, im: -4 },
      { re: 5, im: -6 },
    ]);
    refused(
      () => tf.matmul(A, B, { adjointA: true, transposeA: true }),
      'transposeA and adjointA are both true',
    );
    refused(
      () => tf.matmul(A, B, { adjointB: true, transposeB: true }),
      'transposeB and adjointB are both true',
    );
    refused(() => tf.linalg.matvec(A, x, { adjointA: true, transposeA: true }), 'are both true');
  });

  const weights = complex(
    [
      [1, 2],
      [3, 0],
    ],
    [
      [0, 0],
      [0, 4],
    ],
  );
  test('gradients of them', () => {
    const tape = new tf.GradientTape();
    tape.watch([A, B]);
    const y = tf.matmul(A, B, { adjointA: true }).mul(weights).sum().real();
    const [da, db] = tape.gradient(y, [A, B]);
    expect(da?.array()).toEqual(
      pairs([
        [
          [2, 2],
          [2, 0],
        ],
        [
          [-1, 3],
          [-5, -7],
        ],
      ]),
    );
    expect(db?.array()).toEqual(
      pairs([
        [
          [7, -5],
          [-6, -6],
        ],
        [
          [15, 9.5],
          [18, -15],
        ],
      ]),
    );
  });

  test('of sparse and ragged matrices', () => {
    const S = tf.sparse.fromDense(A);
    for (const options of [
      {},
      { adjointA: true },
      { transposeA: true, adjointB: true },
      { transposeB: true },
    ]) {
      const expected = near(tf.matmul(A, B, options).array());
      expect(tf.matmul(S as never, B, options).array()).toEqual(expected);
      expect(tf.matmul(A, tf.sparse.fromDense(B) as never, options).array()).toEqual(expected);
      expect(tf.matmul(S as never, tf.sparse.fromDense(B) as never, options).array()).toEqual(expected);
    }
    expect(() => tf.matmul(S as never, B, { outputType: 'complex128' })).toThrow(
      tf.errors.UnimplementedError,
    );
    const ragged = tf.ragged.constant([
      [[1, 2]],
      [
        [3, 4],
        [5, 6],
      ],
    ] as never);
    const y = tf.matmul(ragged as never, ragged as never, { adjointA: true }) as unknown as tf.RaggedTensor;
    expect(tf.matmul(ragged as never, ragged as never, { transposeA: true }).array()).toEqual(y.array());
  });

  test('transposes', () => {
    const conjugates = pairs([
      [
        [1, -1],
        [3, -0.5],
      ],
      [
        [2, 2],
        [4, -3],
      ],
    ]);
    expect(each((x) => tf.transpose(x, { conjugate: true }), A)).toEqual(conjugates);
    expect(each((x) => tf.linalg.matrixTranspose(x, { conjugate: true }), A)).toEqual(conjugates);
    expect(tf.transpose(A, [0, 1], { conjugate: true }).array()).toEqual(A.conj().array());
    expect(tf.transpose([[1, 2]], { conjugate: true }).array()).toEqual([[1], [2]]);
    const tape = new tf.GradientTape();
    tape.watch(A);
    const y = tf.transpose(A, { conjugate: true }).mul(weights).sum().real();
    expect(tape.gradient(y, A)?.array()).toEqual(
      pairs([
        [
          [1, 0],
          [3, 0],
        ],
        [
          [2, 0],
          [0, 4],
        ],
      ]),
    );
    refused(() => tf.transpose(A, { conjugate: 1 as never }), 'conjugate is 1');
  });

  test('outputType', () => {
    const y = tf.matmul(tf.constant([[1, 2]], 'int8'), tf.constant([[100], [100]], 'int8'), {
      outputType: 'int32',
    });
    expect([y.dtype, y.array()]).toEqual(['int32', [[300]]]);
    refused(() => tf.matmul([[1]], [[1]], { outputType: 'int32' }), 'does not hold every float32');
    refused(() => tf.matmul([[1]], [[1]], { outputType: 'float' as never }), 'outputType is float');
  });
});

describe('nn', () => {
  const X = tf.range(1, 13).reshape([1, 3, 2, 2]);
  test('biasAdd before other axes', () => {
    const add =
      (dataFormat: string) =>
      (x: tf.Tensor, b: tf.Tensor): tf.Tensor =>
        tf.nn.biasAdd(x, b, { dataFormat });
    for (const format of ['NCHW', 'NC', 'NCDHW', 'NC...'])
      expect(each(add(format), X, tf.constant([1, 2, 3]))).toEqual([
        [
          [
            [2, 3],
            [4, 5],
          ],
          [
            [7, 8],
            [9, 10],
          ],
          [
            [12, 13],
            [14, 15],
          ],
        ],
      ]);
    for (const format of ['NHWC', 'N...C'])
      expect(each(add(format), X, tf.constant([1, 2]))).toEqual([
        [
          [
            [2, 4],
            [4, 6],
          ],
          [
            [6, 8],
            [8, 10],
          ],
          [
            [10, 12],
            [12, 14],
          ],
        ],
      ]);
    expect(tf.nn.biasAdd(tf.ones([2, 3]), [1, 2, 3], { dataFormat: 'NCHW' }).array()).toEqual([
      [2, 3, 4],
      [2, 3, 4],
    ]);
    expect(gradients(add('NCHW'), X, tf.constant([1, 2, 3]))[1]).toEqual([10, 26, 42]);
    refused(() => add('foo')(X, tf.constant([1, 2])), "dataFormat is 'foo'");
    refused(() => add('NCHW')(X, tf.constant([1, 2])), 'expected [n, c, ...]');
  });

  test('embeddingLookup with maxNorm', () => {
    const table = tf.constant([
      [3, 4],
      [0.3, 0.4],
      [6, 8],
    ]);
    const look =
      (maxNorm: number | null) =>
      (t: tf.Tensor, ids: tf.Tensor): tf.Tensor =>
        tf.nn.embeddingLookup(t, ids, { maxNorm });
    expect(each(look(1), table, indices([0, 1, 1, 2]))).toEqual(
      near([
        [0.6, 0.8],
        [0.3, 0.4],
        [0.3, 0.4],
        [0.6, 0.8],
      ]),
    );
    expect(each(look(2), table, indices(2))).toEqual(near([1.2, 1.6]));
    expect(each(look(2), table, indices([[0], [1]]))).toEqual(near([[[1.2, 1.6]], [[0.3, 0.4]]]));
    expect(each(look(2), table.reshape([3, 2, 1]), indices([0, 1]))).toEqual(
      near([
        [[1.2], [1.6]],
        [[0.3], [0.4]],
      ]),
    );
    expect(each(look(2), tf.constant([1, 5, -7]), indices([0, 1, 2]))).toEqual([1, 2, -2]);
    expect(each(look(null), table, indices([2]))).toEqual([[6, 8]]);
    expect(gradients((t) => look(1)(t, indices([0, 1, 0])), table)).toEqual(
      near([
        [
          [0, 0],
          [3, 4],
          [0, 0],
        ],
      ]),
    );
    refused(() => look(0)(table, indices([0])), 'clipNorm is 0');
  });
});

describe('convertToTensor', () => {
  test('dtypeHint', () => {
    const made = (value: tf.TensorLike, dtypeHint: tf.DType): unknown[] => {
      const t = tf.convertToTensor(value, { dtypeHint });
      return [t.dtype, t.array()];
    };
    expect(made(1, 'float64')).toEqual(['float64', 1]);
    expect(made(1.5, 'int32')).toEqual(['float32', 1.5]);
    expect(made('a', 'int32')).toEqual(['string', 'a']);
    expect(made([1, 2], 'int64')).toEqual(['int64', [1n, 2n]]);
    expect(made(indices(1), 'float32')).toEqual(['int32', 1]);
    expect(tf.convertToTensor(1, 'int64', { dtypeHint: 'float32' }).dtype).toBe('int64');
    refused(() => made(1, 'float' as never), "'float' is not a dtype");
  });
});

describe('diag', () => {
  test('of a length that is 0 at run', () => {
    const fn = tf.function((x: tf.Tensor) => tf.linalg.diag(x), {
      inputSignature: [new tf.TensorSpec([null])],
    });
    expect(fn(tf.zeros([0])).shape).toEqual([0, 0]);
    expect(fn(tf.constant([1, 2])).array()).toEqual([
      [1, 0],
      [0, 2],
    ]);
    expect(tf.linalg.diag(tf.zeros([2, 0])).shape).toEqual([2, 0, 0]);
    const many = tf.function((x: tf.Tensor) => tf.linalg.diag(x), {
      inputSignature: [new tf.TensorSpec([null, null])],
    });
    expect(many(tf.zeros([2, 0])).shape).toEqual([2, 0, 0]);
    expect(many(tf.zeros([0, 2])).shape).toEqual([0, 2, 2]);
    for (const [options, shape] of [
      [{ k: 1 }, [1, 1]],
      [{ k: -1, paddingValue: 5 }, [1, 1]],
      [{ numRows: 2 }, [2, 0]],
    ] as [tf.linalg.DiagOptions, number[]][]) {
      const matrix = (x: tf.Tensor): tf.Tensor => tf.linalg.diag(x, options);
      const traced = tf.function(
        (x: tf.Tensor) => {
          const tape = new tf.GradientTape();
          tape.watch(x);
          const y = matrix(x);
          return [y, tape.gradient(y.sum(), x) as tf.Tensor];
        },
        { inputSignature: [new tf.TensorSpec([null])] },
      );
      const [y, gradient] = traced(tf.zeros([0])) as [tf.Tensor, tf.Tensor];
      expect(y.array()).toEqual(matrix(tf.zeros([0])).array());
      expect([y.shape, gradient.shape]).toEqual([shape, [0]]);
    }
  });
});

describe('decoders of label sequences', () => {
  const frames = tf.range(0, 60, 1, { dtype: 'float32' }).mul(1.7).sin().reshape([5, 3, 4]);
  type Decoded = [decoded: tf.SparseTensor[], scores: tf.Tensor];
  /** Indices, values and shape of each reading, and the scores; at once and in a function that knows no size. */
  const parts = (fn: (x: tf.Tensor, n: tf.Tensor) => Decoded, lengths: number[]): unknown => {
    const traced = tf.function(
      (x: tf.Tensor, n: tf.Tensor) => {
        const [readings, scores] = fn(x, n);
        return [readings, scores];
      },
      { inputSignature: [new tf.TensorSpec([null, null, null]), new tf.TensorSpec([null], 'int32')] },
    ) as typeof fn;
    const [first, second] = [fn, traced].map((run) => {
      const [readings, scores] = run(frames, indices(lengths));
      const numbers = (t: tf.Tensor): unknown => t.cast('int32').array();
      return [
        readings.map((r) => [numbers(r.indices), numbers(r.values), numbers(r.denseShape)]),
        scores.array(),
      ];
    });
    expect(second).toEqual(first);
    return first;
  };

  test('give sparse tensors', () => {
    expect(parts((x, n) => tf.nn.ctcGreedyDecoder(x, n), [5, 3, 0])).toEqual([
      [
        [
          [
            [0, 0],
            [0, 1],
            [0, 2],
            [0, 3],
            [1, 0],
            [1, 1],
            [1, 2],
          ],
          [1, 0, 2, 1, 1, 0, 2],
          [3, 4],
        ],
      ],
      near([[-4.911334037780762], [-2.3479888439178467], [0]]),
    ]);
    const other = { mergeRepeated: false, blankIndex: 0 };
    expect(parts((x, n) => tf.nn.ctcGreedyDecoder(x, n, other), [5, 3, 0])).toEqual([
      [
        [
          [
            [0, 0],
            [0, 1],
            [0, 2],
            [0, 3],
            [1, 0],
            [1, 1],
          ],
          [1, 3, 2, 1, 1, 2],
          [3, 4],
        ],
      ],
      near([[-4.911334037780762], [-2.3479888439178467], [0]]),
    ]);
    expect(
      parts((x, n) => tf.nn.ctcBeamSearchDecoder(x, n, { beamWidth: 5, topPaths: 2 }), [5, 3, 1]),
    ).toEqual([
      [
        [
          [
            [0, 0],
            [0, 1],
            [0, 2],
            [0, 3],
            [1, 0],
            [2, 0],
          ],
          [1, 0, 2, 1, 0, 0],
          [3, 4],
        ],
        [
          [
            [0, 0],
            [0, 1],
            [0, 2],
            [1, 0],
            [1, 1],
            [2, 0],
          ],
          [1, 0, 1, 1, 0, 1],
          [3, 3],
        ],
      ],
      near([
        [-2.2975821495056152, -2.7397983074188232],
        [-1.9077444076538086, -2.0408215522766113],
        [-0.7685242295265198, -1.2309458255767822],
      ]),
    ]);
  });

  test('of no frames', () => {
    const [[labels]] = tf.nn.ctcGreedyDecoder(frames, [0, 0, 0]);
    expect(labels?.indices.shape).toEqual([0, 2]);
    expect(labels?.denseShape.array()).toEqual([3n, 0n]);
  });
});

describe('image.nonMaxSuppressionPadded', () => {
  const boxes = tf.constant([
    [
      [0, 0, 1, 1],
      [0, 0.1, 1, 1.1],
      [0, -0.1, 1, 0.9],
      [0, 10, 1, 11],
      [0, 10.1, 1, 11.1],
      [0, 100, 1, 101],
    ],
    [
      [0, 0, 2, 2],
      [0, 0, 2, 2.1],
      [3, 3, 4, 4],
      [3, 3, 4, 4.01],
      [5, 5, 6, 6],
      [7, 7, 8, 8],
    ],
  ]);
  const scores = tf.constant([
    [0.9, 0.75, 0.6, 0.95, 0.5, 0.3],
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.05],
  ]);
  type Options = Parameters<typeof tf.image.nonMaxSuppressionPadded>[3] & object;
  /** Places and counts, at once and in functions that know all sizes, and none. */
  const kept = (b: tf.Tensor, s: tf.Tensor, most: number, options: Options): unknown => {
    const run = (x: tf.Tensor, y: tf.Tensor): tf.Tensor[] =>
      tf.image.nonMaxSuppressionPadded(x, y, most, options as object);
    const open = [b, s].map((x) => new tf.TensorSpec(x.shape.map((n) => (n === 4 ? 4 : null))));
    const all = [run, tf.function(run), tf.function(run, { inputSignature: open as never })].map((fn) =>
      fn(b, s).map((t) => t.array()),
    );
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
    return all[0];
  };
  const padToMaxOutputSize = true;

  test('batches', () => {
    const both = [
      [
        [3, 0, 5, 0],
        [4, 3, 1, 5],
      ],
      [3, 4],
    ];
    expect(kept(boxes, scores, 4, { padToMaxOutputSize })).toEqual(both);
    const same = { padToMaxOutputSize, canonicalizedCoordinates: true, tileSize: 2 };
    expect(kept(boxes, scores, 4, same)).toEqual(both);
    const turned = boxes.gather(indices([2, 1, 0, 3]), 2);
    expect(kept(turned, scores, 4, { padToMaxOutputSize })).toEqual(both);
    expect(kept(boxes, scores, 4, { padToMaxOutputSize, scoreThreshold: 0.15 })).toEqual([
      [
        [3, 0, 5, 0],
        [4, 3, 1, 0],
      ],
      [3, 3],
    ]);
    expect(kept(boxes, scores, 8, { padToMaxOutputSize })).toEqual([
      [
        [3, 0, 5, 0, 0, 0, 0, 0],
        [4, 3, 1, 5, 0, 0, 0, 0],
      ],
      [3, 4],
    ]);
    const outer = [boxes.expandDims(0), scores.expandDims(0)] as const;
    expect(kept(...outer, 4, { padToMaxOutputSize, iouThreshold: 0.99 })).toEqual([
      [
        [
          [3, 0, 1, 2],
          [4, 3, 1, 0],
        ],
      ],
      [[4, 4]],
    ]);
    expect(kept(tf.zeros([0, 3, 4]), tf.zeros([0, 3]), 2, { padToMaxOutputSize })).toEqual([[], []]);
  });

  test('boxes in the order of their scores', () => {
    expect(kept(boxes, scores, 4, { padToMaxOutputSize, sortedInput: true })).toEqual([
      [
        [0, 3, 5, 0],
        [0, 2, 4, 5],
      ],
      [3, 4],
    ]);
    const order = tf.argsort(scores, { axis: 1, direction: 'DESCENDING' });
    const [b, s] = [boxes, scores].map((x) => x.gather(order, 1, { batchDims: 1 })) as [tf.Tensor, tf.Tensor];
    expect(kept(b, s, 4, { padToMaxOutputSize, sortedInput: true })).toEqual([
      [
        [0, 1, 5, 0],
        [0, 1, 3, 5],
      ],
      [3, 4],
    ]);
  });

  test('one image, and shares that are just the limit', () => {
    const [b, s] = [boxes.at(0), scores.at(0)];
    expect(kept(b, s, 4, {})).toEqual([[3, 0, 5], 3]);
    expect(kept(b, s, 4, { padToMaxOutputSize })).toEqual([[3, 0, 5, 0], 3]);
    const halves = tf.constant([
      [0, 0, 1, 1],
      [0, 0, 1, 0.5],
      [0, 0, 1, 0.25],
    ]);
    const falling = tf.constant([0.9, 0.8, 0.7]);
    for (const [iouThreshold, expected] of [
      [0.5, [[0, 2, 0], 2]],
      [0.4999, [[0, 2, 0], 2]],
      [0.25, [[0, 0, 0], 1]],
      [1, [[0, 1, 2], 3]],
    ] as const)
      expect(kept(halves, falling, 3, { padToMaxOutputSize, iouThreshold })).toEqual(expected);
  });

  test('refusals', () => {
    const nms = (options: object, s = scores): unknown =>
      tf.image.nonMaxSuppressionPadded(boxes, s, 4, options);
    refused(() => nms({}), 'padToMaxOutputSize must be true for batches');
    refused(() => nms({ padToMaxOutputSize }, scores.at(0)), 'must be [..., n, 4] and [..., n]');
    refused(() => nms({ padToMaxOutputSize, tileSize: 0 }), 'tileSize');
    refused(() => nms({ padToMaxOutputSize, sortedInput: 1 }), 'sortedInput is 1');
    refused(() => nms({ padToMaxOutputSize, canonicalizedCoordinates: 1 }), 'canonicalizedCoordinates is 1');
  });
});

describe('in saved models', () => {
  const frames = tf.range(0, 60, 1, { dtype: 'float32' }).mul(1.7).sin().reshape([5, 3, 4]);
  const lengths = indices([5, 3, 1]);
  const cases: Record<string, [fn: (...xs: tf.Tensor[]) => tf.Tensor[], inputs: tf.Tensor[]]> = {
    gatherNd: [
      (p, i) => [tf.gatherNd(p as tf.Tensor, i as tf.Tensor, { batchDims: 1 })],
      [P, indices([[1], [2]])],
    ],
    linspace: [
      (a, b) => [tf.linspace(a as tf.Tensor, b as tf.Tensor, 3)],
      [tf.constant([0, 1]), tf.constant([2, 5])],
    ],
    oneHot: [
      (i, on) => [tf.oneHot(i as tf.Tensor, 3, { onValue: on as tf.Tensor })],
      [indices([0, 2]), indices(5)],
    ],
    ctcBeamSearchDecoder: [
      (x, n) => {
        const [readings, scores] = tf.nn.ctcBeamSearchDecoder(x as tf.Tensor, n as tf.Tensor, {
          beamWidth: 5,
          topPaths: 2,
        });
        return [...readings.flatMap((r) => [r.indices, r.values, r.denseShape]), scores];
      },
      [frames, lengths],
    ],
    ctcGreedyDecoder: [
      (x, n) => {
        const [[labels], scores] = tf.nn.ctcGreedyDecoder(x as tf.Tensor, n as tf.Tensor);
        return [tf.sparse.toDense(labels as tf.SparseTensor, -1n), scores];
      },
      [frames, lengths],
    ],
  };
  test.each(Object.entries(cases))('%s', async (_, [fn, inputs]) => {
    const folder = await mkdtemp(join(tmpdir(), 'eagre-options-'));
    try {
      const module = Object.assign(new tf.Module(), {
        run: tf.function(fn, {
          inputSignature: inputs.map((x) => new tf.TensorSpec([...x.shape], x.dtype)) as never,
        }),
      });
      await tf.savedModel.save(module, folder);
      const { run } = (await tf.savedModel.load(folder)) as unknown as { run: typeof fn };
      expect(run(...inputs).map((t) => t.array())).toEqual(fn(...inputs).map((t) => t.array()));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('channels before the directions', () => {
  /** sin(1.3 · n) for n = 1, 2, 3, … */
  const waves = (...shape: number[]): tf.Tensor =>
    tf
      .range(1, 1 + shape.reduce((a, b) => a * b, 1), 1, { dtype: 'float32' })
      .mul(1.3)
      .sin()
      .reshape(shape);
  const x = waves(1, 2, 3, 4);
  const f = waves(2, 2, 2, 2);
  const dataFormat = 'NCHW';
  const { nn } = tf;
  type Fn = (...xs: tf.Tensor[]) => tf.Tensor;
  const cases: Record<string, [fn: Fn, inputs: tf.Tensor[], expected: [number[], number[]]]> = {
    conv2d: [
      (a, b) =>
        nn.conv2d(a as tf.Tensor, b as tf.Tensor, {
          strides: [1, 1, 2, 1] as never,
          padding: 'SAME',
          dataFormat,
        }),
      [x, f],
      [
        [1, 2, 2, 4],
        [
          -0.31115, -1.32718, -0.39889, -0.10679, -1.31493, 0.51855, 1.59236, 0.25118, 0.89109, -0.65725,
          -1.24272, -1.54163, -0.4393, 2.31116, 1.67577, 0.24483,
        ],
      ],
    ],
    explicit: [
      (a, b) =>
        nn.conv2d(a as tf.Tensor, b as tf.Tensor, {
          padding: [
            [0, 0],
            [0, 0],
            [1, 0],
            [0, 1],
          ],
          dataFormat,
        }),
      [x, f],
      [
        [1, 2, 3, 4],
        [
          -2.49626, 0.01606, 2.50486, 1.58969, -0.31115, -1.32718, -0.39889, -0.10679, 0.99476, -0.58158,
          -1.3059, -1.61565, -0.56882, 1.12983, 1.17328, -0.27112, 0.89109, -0.65725, -1.24272, -1.54163,
          1.23865, 0.67027, -0.88006, -1.07824,
        ],
      ],
    ],
    dilated: [
      (a, b) => nn.convolution(a as tf.Tensor, b as tf.Tensor, { dilations: [1, 2], dataFormat }),
      [x, f],
      [
        [1, 2, 2, 2],
        [0.7912, 0.51521, 0.09236, 0.84045, -0.37431, 0.6712, -0.88258, -0.19335],
      ],
    ],
    depthwise: [
      (a, b) => nn.depthwiseConv2d(a as tf.Tensor, b as tf.Tensor, { dataFormat }),
      [x, waves(2, 2, 2, 1)],
      [
        [1, 2, 2, 3],
        [
          0.93881, 1.28637, -0.25061, -0.50933, 1.14795, 1.12348, 0.7639, -1.48508, -1.55841, 1.90687,
          0.36884, -1.70954,
        ],
      ],
    ],
    separable: [
      (a, b, c) => nn.separableConv2d(a as tf.Tensor, b as tf.Tensor, c as tf.Tensor, { dataFormat }),
      [x, waves(2, 2, 2, 1), waves(1, 1, 2, 1)],
      [
        [1, 1, 2, 3],
        [1.29839, 0.47393, -1.04484, 0.49223, 1.29626, 0.20127],
      ],
    ],
    transposed: [
      (a, b) =>
        nn.conv2dTranspose(a as tf.Tensor, b as tf.Tensor, [1, 1, 2, 4], {
          strides: 2,
          padding: 'SAME',
          dataFormat,
        }),
      [waves(1, 2, 1, 2), waves(2, 2, 1, 2)],
      [
        [1, 1, 2, 4],
        [0.5739, -0.05509, 0.04129, 0.42595, -0.47948, 0.87682, -0.77127, 0.89584],
      ],
    ],
    conv1d: [
      (a, b) => nn.conv1d(a as tf.Tensor, b as tf.Tensor, { stride: 2, dataFormat: 'NCW' }),
      [waves(1, 2, 5), waves(2, 2, 2)],
      [
        [1, 2, 2],
        [0.4544, -0.52655, -0.13486, 0.12542],
      ],
    ],
    conv1dTransposed: [
      (a, b) =>
        nn.conv1dTranspose(a as tf.Tensor, b as tf.Tensor, [1, 1, 6], { strides: 2, dataFormat: 'NCW' }),
      [waves(1, 2, 3), waves(2, 1, 2)],
      [
        [1, 1, 6],
        [0.47302, 0.11779, 0.60761, -0.54459, -0.14795, -0.40915],
      ],
    ],
    conv3d: [
      (a, b) => nn.conv3d(a as tf.Tensor, b as tf.Tensor, { dataFormat: 'NCDHW' }),
      [waves(1, 2, 2, 2, 2), waves(2, 1, 2, 2, 1)],
      [
        [1, 1, 1, 2, 1],
        [-0.25226, -0.00134],
      ],
    ],
    maxPool2d: [
      (a) =>
        nn.maxPool2d(a as tf.Tensor, [1, 1, 2, 2] as never, {
          strides: [1, 1, 2, 1] as never,
          padding: 'SAME',
          dataFormat,
        }),
      [x],
      [
        [1, 2, 2, 4],
        [
          0.99854, 0.99854, 0.3191, -0.82783, 0.42017, 0.98677, 0.98677, 0.10775, -0.10864, 0.60554, 0.9288,
          0.9288, 0.82733, -0.31994, -0.21425, -0.21425,
        ],
      ],
    ],
    avgPool2d: [
      (a) => nn.avgPool2d(a as tf.Tensor, [3, 2], { strides: [2, 1], padding: 'SAME', dataFormat }),
      [x],
      [
        [1, 2, 2, 4],
        [
          0.67318, 0.28634, -0.51999, -0.85564, 0.21796, 0.68115, 0.14645, -0.36004, -0.65738, -0.35139,
          0.46938, 0.84568, -0.14704, -0.68118, -0.21739, 0.27415,
        ],
      ],
    ],
    maxPool1d: [
      (a) => nn.maxPool1d(a as tf.Tensor, 2, { strides: 2, dataFormat: 'NCW' }),
      [waves(1, 2, 5)],
      [
        [1, 2, 2],
        [0.96356, -0.68777, 0.99854, -0.76198],
      ],
    ],
    maxPool3d: [
      (a) => nn.maxPool3d(a as tf.Tensor, [2, 1, 2], { strides: 1, dataFormat: 'NCDHW' }),
      [waves(1, 2, 2, 2, 2)],
      [
        [1, 2, 1, 2, 1],
        [0.99854, 0.3191, 0.42017, 0.98677],
      ],
    ],
    pool: [
      (a) => nn.pool(a as tf.Tensor, [2, 2], 'MAX', { dilations: [1, 2], dataFormat }),
      [x],
      [
        [1, 2, 2, 2],
        [0.96356, 0.99854, 0.98677, 0.99854, 0.60554, 0.9288, 0.82733, 0.76256],
      ],
    ],
    poolLast: [
      (a) => nn.pool(a as tf.Tensor, [2, 2], 'AVG', { dilations: [2, 1] }),
      [waves(1, 5, 3, 1)],
      [
        [1, 3, 2, 1],
        [0.24258, -0.44052, 0.18465, 0.57705, -0.51067, -0.39728],
      ],
    ],
  };
  test.each(Object.entries(cases))('%s', (_, [fn, inputs, [shape, values]]) => {
    // What the number of channels must be is known of both.
    const [a, ...weights] = inputs as [tf.Tensor, ...tf.Tensor[]];
    const y = tf.constant(each((t) => fn(t, ...weights), a) as number[]);
    expect(y.shape).toEqual(shape);
    expect(y.reshape([-1]).array()).toEqual(near(values));
  });

  test('gradients', () => {
    const conv = (a: tf.Tensor, b: tf.Tensor): tf.Tensor => nn.conv2d(a, b, { dataFormat });
    const [dx, df] = gradients(conv, x, f) as number[][];
    expect((dx as unknown[]).flat(4)).toEqual(
      near(
        [
          4.57207, 13.25605, 15.94877, 9.63225, 11.18843, 18.00863, 18.82558, 5.04237, 1.15374, -8.95291,
          -10.82869, -12.83275, -6.87195, -13.91885, -15.9988, -6.49314, -9.84456, -10.21601, -9.6671,
          2.15646, 5.02463, 17.82927, 20.45813, 14.77879,
        ],
        3,
      ),
    );
    expect((df as unknown[]).flat(4)).toEqual(
      near(
        [
          7.69905, 21.64339, -8.20746, -22.86744, -2.88768, -6.2831, 1.92351, 3.63821, 8.14304, 21.20934,
          -7.6219, -19.65801, 6.41432, 18.44137, -7.09572, -20.15415,
        ],
        3,
      ),
    );
  });

  test('refusals', () => {
    refused(() => nn.conv2d(x, f, { dataFormat: 'NHCW' as never }), 'dataFormat');
    refused(() => nn.conv2d(x, f, { dataFormat: 'NCW' }), 'dataFormat');
    refused(() => nn.conv2d(waves(2, 3, 4), f, { dataFormat }), 'expected [n, c, h, w]');
    refused(() => nn.pool(x, 2, 'MAX', { dilations: 2, padding: 'SAME' }), "padding 'VALID'");
    refused(() => nn.pool(x, 2, 'MAX', { dilations: 2, strides: 2 }), 'strides of 1');
  });
});

describe('other options', () => {
  test('maxPoolWithArgmax counts in all images', () => {
    const images = tf.range(0, 32, 1, { dtype: 'float32' }).reshape([2, 4, 4, 1]);
    const places = (x: tf.Tensor): tf.Tensor =>
      tf.nn.maxPoolWithArgmax(x, 2, { includeBatchInIndex: true, outputType: 'int32' }).argmax.reshape([-1]);
    expect(each(places, images)).toEqual([5, 7, 13, 15, 21, 23, 29, 31]);
  });

  test('outType of shape and size', () => {
    expect([tf.shape(P, { outType: 'int64' }).array(), tf.size(P, { outType: 'int64' }).array()]).toEqual([
      [2n, 3n, 2n],
      12n,
    ]);
    expect([tf.size(P, { outType: 'float32' }).dtype, tf.size(P, { outType: 'int16' }).item()]).toEqual([
      'float32',
      12,
    ]);
    expect(each((t) => tf.zeros(tf.shape(t, { outType: 'int64' })), P)).toEqual(tf.zeros([2, 3, 2]).array());
    const sparse = tf.sparse.fromDense([
      [0, 1],
      [2, 0],
    ]);
    const of = tf.shape as (x: unknown, options?: object) => tf.Tensor;
    expect([of(sparse).dtype, of(sparse, { outType: 'int64' }).array()]).toEqual(['int32', [2n, 2n]]);
    const size = tf.size as typeof of;
    expect([size(sparse).dtype, size(sparse, { outType: 'int64' }).array()]).toEqual(['int32', 4n]);
    refused(() => tf.shape(P, { outType: 'float32' as never }), 'outType is float32');
    refused(() => tf.size(P, { outType: 'text' as never }), 'outType is text');
  });
});

describe('badIndicesPolicy', () => {
  const rows = tf.range(0, 6, 1, { dtype: 'float32' }).reshape([3, 2]);
  const ignore = { badIndicesPolicy: 'IGNORE' } as const;

  test('gatherNd gives zeros for indices outside', () => {
    const at = (p: tf.Tensor, i: tf.Tensor) => tf.gatherNd(p, i, ignore);
    for (const dtype of ['int32', 'int64'] as const) {
      expect(each(at, rows, indices([[0], [7], [-1]], dtype))).toEqual([
        [0, 1],
        [0, 0],
        [0, 0],
      ]);
      expect(
        each(
          at,
          rows,
          indices(
            [
              [2, 1],
              [0, 2],
              [-1, 0],
            ],
            dtype,
          ),
        ),
      ).toEqual([5, 0, 0]);
    }
    expect(
      each(
        (p, i) => tf.gatherNd(p, i, { ...ignore, batchDims: 1 }),
        rows.expandDims(0),
        indices([[[0], [7]]]),
      ),
    ).toEqual([
      [
        [0, 1],
        [0, 0],
      ],
    ]);
    expect(gradients((p) => at(p, indices([[1], [9], [1]])).square(), rows)[0]).toEqual([
      [0, 0],
      [24, 48],
      [0, 0],
    ]);
    expect(tf.gatherNd(tf.zeros([0, 2]), indices([[0]]), ignore).array()).toEqual([[0, 0]]);
    expect(tf.gatherNd(['a', 'b'], indices([[1], [2]]), ignore).array()).toEqual(['b', '']);
    const nan = tf.constant([Number.NaN, 1]);
    expect(gradients((p) => at(p, indices([[5], [1]])), nan)[0]).toEqual([0, 2]);
  });

  test('scatters leave out what is outside', () => {
    const at = indices([[0], [7], [-1]]);
    const ones = tf.ones([3, 2]);
    expect(each((i, u) => tf.scatterNd(i, u, [3, 2], ignore), at, ones)).toEqual([
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
    const kept = [
      [2, 3],
      [4, 5],
    ];
    expect(each((b, i, u) => tf.tensorScatterNdAdd(b, i, u, ignore), rows, at, ones)).toEqual([
      [1, 2],
      ...kept,
    ]);
    expect(each((b, i, u) => tf.tensorScatterNdSub(b, i, u, ignore), rows, at, ones)).toEqual([
      [-1, 0],
      ...kept,
    ]);
    expect(each((b, i, u) => tf.tensorScatterNdMax(b, i, u, ignore), rows, at, ones)).toEqual([
      [1, 1],
      ...kept,
    ]);
    expect(each((b, i, u) => tf.tensorScatterNdMin(b, i, u, ignore), rows, at, ones)).toEqual([
      [0, 1],
      ...kept,
    ]);
    expect(gradients((u) => tf.scatterNd(at, u, [3, 2], ignore).mul(3), ones)[0]).toEqual([
      [3, 6],
      [0, 0],
      [0, 0],
    ]);
    expect(tf.scatterNd(indices([[1], [5]]), tf.constant([true, true]), [2], ignore).array()).toEqual([
      false,
      true,
    ]);
  });

  test('any other policy is an error', () => {
    for (const badIndicesPolicy of ['', 'DEFAULT', 'ERROR'] as const) {
      expect(() => tf.gatherNd(rows, [[7]], { badIndicesPolicy })).toThrow(tf.errors.OutOfRangeError);
      expect(() => tf.scatterNd([[7]], [1], [3], { badIndicesPolicy })).toThrow(tf.errors.OutOfRangeError);
    }
    refused(() => tf.gatherNd(rows, [[0]], { badIndicesPolicy: 'foo' as 'ERROR' }), "got 'foo'");
    refused(
      () => (tf.tensorScatterNdUpdate as (...given: unknown[]) => unknown)(rows, [[0]], [[1, 1]], ignore),
      "'badIndicesPolicy' is not an option",
    );
  });
});

test('silu has a beta', () => {
  const x = tf.constant([-2, 0, 1.5]);
  expect(each((v) => tf.nn.silu(v, 2), x)).toEqual(near([-0.03597242, 0, 1.42886114]));
  expect(each((v, b) => tf.nn.swish(v, { beta: b }), x, tf.constant([1, 2, 3]))).toEqual(
    near([-0.23840584, 0, 1.48351955]),
  );
  expect(gradients((v, b) => tf.nn.silu(v, b), x, tf.constant(0.5))).toEqual(
    near([[0.07232948, 1, 2.5277998], 2.25723886]),
  );
  expect(tf.nn.silu(tf.constant([1, 2], 'float16'), 2).array()).toEqual([0.880859375, 1.9638671875]);
  refused(() => tf.nn.silu(tf.constant([1], 'int32'), 2), 'int32');
});

test('case takes strict, and gradients unconnectedGradients', () => {
  const one = tf.case([[tf.constant(true), () => [tf.constant(1)]]], { strict: true });
  expect(one.map((x: tf.Tensor) => x.item())).toEqual([1]);
  refused(() => tf.case([[true, () => 1]], { strict: 1 as never }), 'strict');
  const { v1 } = tf.compat;
  new v1.Graph().asDefault(() => {
    const x = v1.placeholder('float32', [2]);
    const y = v1.placeholder('float32', [1, 1]);
    expect((v1.gradients([x.mul(2)], [x, y]) as unknown[])[1]).toBe(null);
    const both = v1.gradients([x.mul(2)], [x, y], { unconnectedGradients: 'zero' }) as tf.Tensor[];
    const feeds = new Map([
      [x, [1, 2]],
      [y, [[3]]],
    ] as [tf.Tensor, unknown][]);
    const results = new v1.Session().run(both, { feedDict: feeds } as never) as unknown as tf.Tensor[];
    expect(results.map((g) => g.array())).toEqual([[2, 2], [[0]]]);
    refused(
      () => v1.gradients(x, x, { unconnectedGradients: 'None' as 'none' }),
      "unconnectedGradients must be one of 'none', 'zero'",
    );
  });
});

test('transforms of no numbers have none', () => {
  const { signal, zeros } = tf;
  expect(each((x) => signal.rfft(x), zeros([0]))).toEqual([]);
  expect(signal.rfft(zeros([3, 0])).shape).toEqual([3, 0]);
  expect(signal.rfft(zeros([0, 4])).shape).toEqual([0, 3]);
  expect(signal.rfft2d(zeros([3, 0])).shape).toEqual([3, 0]);
  expect(signal.rfft2d(zeros([0, 3])).shape).toEqual([0, 2]);
  expect(signal.rfft3d(zeros([2, 0, 3], 'float64')).shape).toEqual([2, 0, 2]);
  expect(signal.rfft3d(zeros([2, 3, 0], 'float64')).dtype).toBe('complex128');
  expect(signal.rfft(zeros([0]), [4]).shape).toEqual([3]);
  expect(gradients((x) => tf.math.real(signal.rfft(x)), zeros([2, 0]))[0]).toEqual([[], []]);
});

test('tf.experimental.numpy and keras.ops take numbers for truths', () => {
  for (const { logicalAnd, logicalOr, logicalXor, logicalNot } of [tf.experimental.numpy, tf.keras.ops]) {
    expect(logicalAnd(1, 0).array()).toBe(false);
    expect(logicalAnd([1.5, 0, 2], tf.constant([1, 0, 0], 'int64')).array()).toEqual([true, false, false]);
    expect(logicalXor(3, 5).array()).toBe(false);
    expect(logicalOr([0, 2], [0, 0]).array()).toEqual([false, true]);
    expect(logicalNot([1.5, 0, Number.NaN]).array()).toEqual([false, true, false]);
    expect(logicalNot(tf.constant([true, false])).dtype).toBe('bool');
  }
});
