// What variables do with rows and slices of themselves, as tf.Variable does it (values of TensorFlow 2.21).
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { mirrored } from './testing/strategies.ts';

/** Slices whose indices have several axes. */
const batches = (
  values: tf.Tensor,
  at: number[][],
): { sparseDelta: { values: tf.Tensor; indices: tf.Tensor } } => ({
  sparseDelta: { values, indices: tf.constant(at, 'int32') },
});

const slices = (values: tf.Tensor, at: unknown): tf.IndexedSlices =>
  new tf.IndexedSlices(values, tf.constant(at as number[], 'int32'));

/** By method: what becomes of [7, 8, 9] where the last element is changed by 2 and by 3. */
const twice = {
  scatterAdd: [7, 8, 14],
  scatterSub: [7, 8, 4],
  scatterMul: [7, 8, 54],
  scatterDiv: [7, 8, 1.5],
  scatterMax: [7, 8, 9],
  scatterMin: [7, 8, 2],
  scatterUpdate: [7, 8, 3],
  scatterNdAdd: [7, 8, 14],
  scatterNdSub: [7, 8, 4],
  scatterNdUpdate: [7, 8, 3],
} as const;
type Method = keyof typeof twice;
const isNd = (method: Method): boolean => method.includes('Nd');
const call = (v: tf.Variable, method: Method, values: tf.Tensor, at: unknown): tf.Variable =>
  isNd(method)
    ? v[method as 'scatterNdAdd'](
        tf.constant((at as number[]).map((i) => [i]) as number[][], 'int32'),
        values,
      )
    : v[method as 'scatterAdd'](slices(values, at) as never);
/** Eager, and in a function of the same tensors. */
const ways: Readonly<Record<string, (run: () => unknown) => void>> = {
  eager: (run) => void run(),
  'in tf.function': (run) => {
    const f = tf.function(() => {
      run();
      return tf.constant(0);
    });
    f();
  },
};
const kinds = Object.keys(twice) as Method[];
const cases = Object.keys(ways).flatMap((way) => kinds.map((method) => [way, method] as const));

test.each(cases)('%s, %s changes what stands twice twice', (way, method) => {
  for (const dtype of ['float32', 'float64', 'int32', 'int64', 'uint8'] as const) {
    const v = new tf.Variable(tf.constant([7, 8, 9], dtype));
    let returned: unknown;
    ways[way]?.(() => {
      returned = call(v, method, tf.constant([2, 3], dtype), [2, 2]);
    });
    const expected = dtype.startsWith('float') ? twice[method] : twice[method].map(Math.trunc);
    expect(Array.from(v.data() as Float32Array, Number), dtype).toEqual(expected);
    if (way === 'eager') expect(returned).toBe(v);
  }
  for (const dtype of ['bool', 'string'] as const) {
    const [first, values] =
      dtype === 'bool'
        ? [
            [true, false, true],
            [true, true],
          ]
        : [
            ['a', 'b', 'c'],
            ['x', 'y'],
          ];
    const v = new tf.Variable(tf.constant(first as string[], dtype));
    const run = (): void =>
      ways[way]?.(() => call(v, method, tf.constant(values as string[], dtype), [1, 1]));
    // Rows of text are not put into others here.
    if (dtype === 'string' || !method.endsWith('Update'))
      expect(run, dtype).toThrow(tf.errors.InvalidArgumentError);
    else run();
    expect(v.array()).toEqual(dtype === 'bool' && method.endsWith('Update') ? [true, true, true] : first);
  }
});

const rows = (): tf.Variable =>
  new tf.Variable([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);

test.each(cases)('%s, %s outside changes nothing', (way, method) => {
  const v = rows();
  for (const at of [
    [0, 3],
    [0, -1],
  ])
    expect(() => ways[way]?.(() => call(v, method, tf.fill([2, 2], 2), at))).toThrow(tf.errors.OpError);
  for (const bad of [tf.fill([2, 3], 2), tf.fill([2, 2], 2).cast('float64')])
    expect(() => ways[way]?.(() => call(v, method, bad, [0, 1]))).toThrow(tf.errors.InvalidArgumentError);
  expect(v.array()).toEqual(rows().array());
});

test.each(Object.keys(ways))('%s, rows and slices', (way) => {
  const after = (change: (v: tf.Variable) => unknown, v: tf.Variable = rows()): unknown => {
    ways[way]?.(() => change(v));
    return v.array();
  };
  expect(
    after((v) =>
      v.scatterMul(
        slices(
          tf.constant([
            [2, 2],
            [3, 3],
          ]),
          [1, 1],
        ) as never,
      ),
    ),
  ).toEqual([
    [1, 2],
    [18, 24],
    [5, 6],
  ]);
  expect(
    after(
      (v) => v.scatterDiv(slices(tf.constant([2], 'int32'), [0]) as never),
      new tf.Variable(tf.constant([-7, 7], 'int32')),
    ),
  ).toEqual([-3, 7]);
  expect(
    after((v) =>
      v.scatterNdAdd(
        [
          [0, 1],
          [0, 1],
          [2, 0],
        ],
        [1, 1, 9],
      ),
    ),
  ).toEqual([
    [1, 4],
    [3, 4],
    [14, 6],
  ]);
  expect(
    after((v) =>
      v.scatterNdUpdate({
        indices: [[2], [0]],
        updates: [
          [1, 2],
          [3, 4],
        ],
      }),
    ),
  ).toEqual([
    [3, 4],
    [3, 4],
    [1, 2],
  ]);
  expect(after((v) => v.batchScatterUpdate(batches(tf.constant([[9], [8], [7]]), [[0], [1], [1]])))).toEqual([
    [9, 2],
    [3, 8],
    [5, 7],
  ]);
  expect(after((v) => v.batchScatterUpdate(slices(tf.constant([[9, 8]]), [2]) as never))).toEqual([
    [1, 2],
    [3, 4],
    [9, 8],
  ]);
  expect(() => after((v) => v.batchScatterUpdate(batches(tf.constant([[9], [8]]), [[0], [1]])))).toThrow(
    tf.errors.InvalidArgumentError,
  );
  expect(() => after((v) => v.scatterNdAdd([[0, 0]], 2))).toThrow(tf.errors.InvalidArgumentError);
  expect(() => after((v) => v.scatterMul(tf.constant(2) as never))).toThrow('tf.IndexedSlices');
});

test.each(Object.keys(ways))('%s, reading some rows has gradients for these', (way) => {
  const v = rows();
  expect(
    v
      .sparseRead([
        [2, 0],
        [0, 0],
      ])
      .array(),
  ).toEqual([
    [
      [5, 6],
      [1, 2],
    ],
    [
      [1, 2],
      [1, 2],
    ],
  ]);
  expect(
    v
      .gatherNd([
        [2, 1],
        [0, 0],
      ])
      .array(),
  ).toEqual([6, 1]);
  expect(() => v.sparseRead([3])).toThrow(tf.errors.OutOfRangeError);
  ways[way]?.(() => {
    const tape = new tf.GradientTape({ persistent: true });
    const [y, z] = tape.record(
      () =>
        [
          v.sparseRead([2, 0, 2]).mul(2).sum(),
          v
            .gatherNd([
              [2, 0],
              [0, 1],
              [2, 0],
            ])
            .mul(2)
            .sum(),
        ] as const,
    );
    const dy = tape.gradient(y, v) as unknown as tf.IndexedSlices;
    const dz = tape.gradient(z, v) as tf.Tensor;
    if (way !== 'eager') return;
    expect([dy.indices.array(), dy.values.array()]).toEqual([
      [2, 0, 2],
      [
        [2, 2],
        [2, 2],
        [2, 2],
      ],
    ]);
    expect(dz.array()).toEqual([
      [0, 2],
      [0, 0],
      [4, 0],
    ]);
  });
});

test('a number that is divided by 0', () => {
  const v = new tf.Variable(tf.constant([-7, 7], 'int32'));
  expect(() => v.scatterDiv(slices(tf.constant([0], 'int32'), [0]) as never)).toThrow(
    tf.errors.InvalidArgumentError,
  );
  expect(v.array()).toEqual([-7, 7]);
});

test('variables of a strategy change all copies, and replicas as their aggregation allows', () => {
  const strategy = mirrored(2);
  for (const method of kinds) {
    for (const aggregation of ['NONE', 'SUM', 'ONLY_FIRST_REPLICA'] as const) {
      const v = strategy.scope(() => new tf.Variable([7, 8, 9], { aggregation }));
      call(v, method, tf.constant([2, 3]), [2, 2]);
      expect(v.array(), `${method} ${aggregation}`).toEqual(twice[method]);
      const run = (): unknown => strategy.run(() => void call(v, method, tf.constant([2, 3]), [0, 0]));
      if (aggregation === 'ONLY_FIRST_REPLICA') run();
      else expect(run, `${method} ${aggregation}`).toThrow(tf.errors.OpError);
    }
  }
});
