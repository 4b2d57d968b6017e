import { listBackends } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

// Values, gradients and second gradients as of TensorFlow 2.21, in corners of the ops' domains: eagerly and in traced functions.

type Values = readonly unknown[] | number;
interface Case {
  readonly of: string;
  readonly fn: (...x: tf.Tensor[]) => tf.Tensor;
  readonly x: readonly Values[];
  readonly y: Values;
  /** For each input; null where TensorFlow gives None. */
  readonly dx?: readonly (Values | null)[];
  /** The gradients of the first input's gradient. */
  readonly ddx?: readonly (Values | null)[];
}
const inf = Number.POSITIVE_INFINITY;
const nan = Number.NaN;
const matrix = [
  [1, 2, 3],
  [-4, 5, 6],
];
const sqrtHalf = 0.57735026;

const cases: Case[] = [
  {
    of: 'clipByValue with changed limits',
    fn: (x, low, high) => tf.clipByValue(x, low, high),
    x: [[-3, -1, 0, 2, 3, nan], 2, -1],
    y: [2, 2, 2, 2, 2, nan],
    dx: [[0, 0, 0, 0, 0, 0], 6, 0],
  },
  {
    of: 'clipByValue',
    fn: (x, low, high) => tf.clipByValue(x, low, high),
    x: [[-3, -1, 0, 2, 3], -1, 2],
    y: [-1, -1, 0, 2, 2],
    dx: [[0, 1, 1, 1, 0], 1, 1],
  },
  ...(
    [
      [[1, inf], inf, [0, nan], [nan, nan]],
      [[-inf, -inf], -inf, [nan, nan], [nan, nan]],
      [[1, -inf], 1, [1, 0], [0, 0]],
      [[inf, inf], inf, [nan, nan], [nan, nan]],
      [[1e10, 1e10], 1e10, [0.5, 0.5], [0, 0]],
      [[nan, 1], nan, [nan, nan], [nan, nan]],
      [[1, 2], 2.3132617, [0.26894143, 0.7310586], [0, 0]],
    ] as const
  ).map(([x, y, dx, ddx]) => ({
    of: `logSumExp of ${x}`,
    fn: (x: tf.Tensor) => tf.reduceLogsumexp(x),
    x: [x],
    y,
    dx: [dx],
    ddx: [ddx],
  })),
  {
    of: 'searchsorted of NaN',
    fn: (rows, x) => tf.searchsorted(rows, x, { side: 'right' }),
    x: [
      [1, 2, 3],
      [nan, 0, 2, inf],
    ],
    y: [3, 0, 2, 3],
  },
  {
    of: 'searchsorted in rows with NaN',
    fn: (rows, x) => tf.concat([tf.searchsorted(rows, x), tf.searchsorted(rows, x, { side: 'right' })], 0),
    x: [
      [1, 2, nan],
      [nan, 0, 2, 5],
    ],
    y: [0, 0, 1, 2, 3, 0, 3, 3],
  },
  {
    of: 'angle of real numbers',
    fn: (x) => tf.math.angle(x),
    x: [[-0, 0, nan, -1, 1, inf, -inf]],
    y: [0, 0, 0, Math.fround(Math.PI), 0, 0, Math.fround(Math.PI)],
    dx: [[0, 0, 0, 0, 0, 0, 0]],
  },
  {
    of: 'fakeQuantWithMinMaxArgs',
    fn: (x) => tf.quantization.fakeQuantWithMinMaxArgs(x),
    x: [[-6.5, -6, -2, -1, 0, 0.5, 2, 2.5, 6.5, nan]],
    y: [-6.0235295, -5.9764705, -1.9764706, -0.9882353, 0, 0.5176471, 2.0235295, 2.4941177, 5.9764705, nan],
  },
  {
    of: 'fakeQuantWithMinMaxVars of few bits',
    fn: (x, min, max) => tf.quantization.fakeQuantWithMinMaxVars(x, min, max, { numBits: 3 }),
    x: [[-6.5, -3, -2.5, -1.5, 0, 0.5, 1.5, 2.5, 6.5], -3, 3],
    y: [-3.4285715, -2.5714285, -2.5714285, -1.7142857, 0, 0.8571429, 1.7142857, 2.5714285, 2.5714285],
  },
  {
    of: 'nextafter',
    fn: (a, b) => tf.math.nextafter(a, b),
    x: [
      [1, 2, -1, 0, nan, 2],
      [2, 1, -2, -1, 0, 2],
    ],
    y: [1.0000001, 1.9999999, -1.0000001, -(2 ** -149), nan, 2],
    dx: [
      [1, 1, 1, 1, 1, 1],
      [0, 0, 0, 0, 0, 0],
    ],
  },
  {
    of: 'nextafter of a scalar',
    fn: (a, b) => tf.math.nextafter(a, b),
    x: [1, [2, 0]],
    y: [1.0000001, 0.99999994],
    dx: [2, [0, 0]],
  },
  {
    of: 'acosh',
    fn: (x) => tf.acosh(x),
    x: [[0.5, 1, 2, -2]],
    y: [nan, 0, 1.316958, nan],
    dx: [[nan, inf, sqrtHalf, nan]],
    ddx: [[nan, -inf, -0.38490012, nan]],
  },
  {
    of: 'asin',
    fn: (x) => tf.asin(x),
    x: [[0.5, 1, 2, -1, 0]],
    y: [0.52359873, 1.5707964, nan, -1.5707964, 0],
    dx: [[1.1547005, inf, nan, inf, 1]],
    ddx: [[0.7698003, inf, nan, -inf, 0]],
  },
  {
    of: 'atanh',
    fn: (x) => tf.atanh(x),
    x: [[0.5, 2, -2, 0]],
    y: [0.54930615, nan, nan, 0],
    dx: [[1.3333334, -0.33333334, -0.33333334, 1]],
    ddx: [[1.7777779, 0.44444448, -0.44444448, 0]],
  },
  {
    of: 'log1p',
    fn: (x) => tf.math.log1p(x),
    x: [[0.5, -2, -1, 0]],
    y: [0.4054651, nan, -inf, 0],
    dx: [[0.6666667, -1, inf, 1]],
    ddx: [[-0.44444448, -1, -inf, -1]],
  },
  {
    // At 0 TensorFlow's 0 · ∞ is NaN: the slope of x^0, and how that of x^1 changes. Here they are 0, as the guide says.
    of: 'pow',
    fn: (a, b) => a.pow(b),
    x: [
      [2, -2, 0, 0, -2, 3],
      [0, 0, 1, 2, 2, 3],
    ],
    y: [1, 1, 0, 0, 4, 27],
    dx: [
      [0, 0, 1, 0, -4, 27],
      [Math.LN2, 0, 0, 0, 0, 29.662531],
    ],
    ddx: [
      [0, 0, 0, 2, 2, 18],
      [0.5, -0.5, 1, 0, -2, 38.662533],
    ],
  },
  ...(
    [
      ['relu', tf.nn.relu, [0, 0, 2, 7], [0, 0, 1, 1]],
      ['relu6', tf.nn.relu6, [0, 0, 2, 6], [0, 0, 1, 0]],
      ['leakyRelu', (x: tf.Tensor) => tf.nn.leakyRelu(x), [-0.2, 0, 2, 7], [0.2, 0.2, 1, 1]],
      ['abs', tf.abs, [1, 0, 2, 7], [-1, 0, 1, 1]],
    ] as const
  ).map(([of, fn, y, dx]) => ({
    of,
    fn: (x: tf.Tensor) => fn(x),
    x: [[-1, 0, 2, 7]],
    y,
    dx: [dx],
    ddx: [[0, 0, 0, 0]],
  })),
  {
    of: 'maxPool2d',
    fn: (x) => tf.nn.maxPool2d(x.reshape([1, 2, 2, 1]), 2).sum(),
    x: [[0, 3, 2, 1]],
    y: 3,
    dx: [[0, 1, 0, 0]],
    ddx: [[0, 0, 0, 0]],
  },
  {
    of: 'norm 1',
    fn: (x) => tf.norm(x, 1, [0, 1]),
    x: [matrix],
    y: 9,
    dx: [
      [
        [0, 0, 1],
        [0, 0, 1],
      ],
    ],
  },
  {
    of: 'norm inf',
    fn: (x) => tf.norm(x, inf, [0, 1]),
    x: [matrix],
    y: 15,
    dx: [
      [
        [0, 0, 0],
        [-1, 1, 1],
      ],
    ],
  },
  { of: 'norm 1 of columns', fn: (x) => tf.norm(x, 1, [1, 0]), x: [matrix], y: 15 },
  { of: 'norm inf of columns', fn: (x) => tf.norm(x, inf, [-1, -2]), x: [matrix], y: 9 },
  {
    of: 'norm fro',
    fn: (x) => tf.norm(x, 'fro', [-2, -1], { keepdims: true }),
    x: [matrix],
    y: [[9.539392]],
  },
  { of: 'norm 1, kept', fn: (x) => tf.norm(x, 1, [-2, -1], { keepdims: true }), x: [matrix], y: [[9]] },
  {
    of: 'squeeze of no axes',
    fn: (x) => tf.squeeze(x, []),
    x: [[[[1], [2]]]],
    y: [1, 2],
    dx: [[[[1], [1]]]],
  },
  {
    of: 'unsortedSegmentSum of negative ids',
    fn: (x) => tf.math.unsortedSegmentSum(x, tf.constant([0, -1, 1, -7], 'int32'), 2),
    x: [[1, 2, 3, 4]],
    y: [1, 3],
    dx: [[1, 0, 1, 0]],
    ddx: [null],
  },
  {
    of: 'unsortedSegmentSum of rows and ids that differ from run to run',
    fn: (x, ids) => tf.math.unsortedSegmentSum(x, ids.cast('int64'), 2),
    x: [
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      [1, -1, 1],
    ],
    y: [
      [0, 0],
      [6, 8],
    ],
    dx: [
      [
        [1, 1],
        [0, 0],
        [1, 1],
      ],
      null,
    ],
  },
  {
    of: 'conv1d with two batch axes',
    fn: (x, f) => tf.nn.conv1d(x, f),
    x: [
      [[[[1], [2], [3]]], [[[4], [5], [6]]]],
      [[[1]], [[10]]],
    ],
    y: [[[[21], [32]]], [[[54], [65]]]],
    dx: [
      [[[[1], [11], [10]]], [[[1], [11], [10]]]],
      [[[12]], [[16]]],
    ],
  },
  {
    of: 'conv2dTranspose of no image',
    fn: (x, f) =>
      tf.nn.conv2dTranspose(x.reshape([0, 2, 2, 1]), f, null, { strides: 2, padding: 'SAME' }).sum(),
    x: [[], [[[[1], [2]]]]],
    y: 0,
    dx: [[], [[[[0], [0]]]]],
  },
  {
    of: 'meshgrid of a matrix',
    fn: (x, y) => tf.meshgrid([x, y])[0],
    x: [
      [
        [1, 2],
        [3, 4],
      ],
      [5, 6],
    ],
    y: [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
  },
];

const close = (got: unknown, expected: unknown): void => {
  if (expected === null) return void expect(got).toBeNull();
  const list = (v: unknown): number[] => (Array.isArray(v) ? v.flat(9) : [v as number]);
  const [a, b] = [list(got), list(expected)];
  expect(a).toHaveLength(b.length);
  a.forEach((v, i) => {
    const e = b[i];
    if (Number.isFinite(e)) expect(v).toBeCloseTo(e, Math.abs(e) > 1e6 ? -4 : 4);
    else expect(v).toBe(e);
  });
};

describe('in traced functions', () => {
  it('bools, integers and known strings are taken as eagerly', () => {
    const f = tf.function((b: tf.Tensor, n: tf.Tensor) => ({
      argMax: b.argMax(),
      round: n.round(),
      scattered: tf.scatterNd(n.expandDims(1), b, [4]),
      count: tf.math.countNonzero(n),
      equal: tf.equal(tf.constant(['a', 'b']), 'a'),
      dropped: tf.nn.dropout(tf.ones([2, 3, 4]), 0.5, { noiseShape: [4], seed: 1 }).shape,
      far: tf.random.uniform([2], { minval: 2n ** 60n, maxval: 2n ** 60n + 1n, dtype: 'int64' }),
    }));
    const r = f(tf.constant([false, true, true]), tf.constant([3, 0, 3], 'int32'));
    expect(r.argMax.array()).toBe(1n);
    expect(r.round.array()).toEqual([3, 0, 3]);
    expect(r.scattered.array()).toEqual([true, false, false, true]);
    expect(r.count.array()).toBe(2n);
    expect(r.equal.array()).toEqual([true, false]);
    expect(r.far.array()).toEqual([2n ** 60n, 2n ** 60n]);
  });
});

describe.each(listBackends().map((b) => b.name))('on %s', (backend) => {
  it.each(cases.map((c) => [c.of, c] as const))('%s', (_, { fn, x, y, dx, ddx }) => {
    tf.experimental.withBackend(backend, () => {
      const all = (...inputs: tf.Tensor[]): unknown[] => {
        const outer = new tf.GradientTape({ persistent: true });
        for (const t of inputs) outer.watch(t);
        const tape = new tf.GradientTape();
        for (const t of inputs) tape.watch(t);
        const value = fn(...inputs);
        const slopes = dx === undefined ? [] : tape.gradient(value, inputs);
        const first = slopes[0];
        const bends =
          ddx === undefined ? [] : first === null ? [null] : outer.gradient(first as tf.Tensor, inputs);
        outer.dispose();
        tape.dispose();
        return [value, slopes, bends];
      };
      const inputs = x.map((v) => tf.constant(v as number[]));
      for (const run of [all, tf.function(all as never) as unknown as typeof all]) {
        const [value, slopes, bends] = run(...inputs) as [
          tf.Tensor,
          (tf.Tensor | null)[],
          (tf.Tensor | null)[],
        ];
        close(value.array(), y);
        dx?.forEach((e, i) => {
          close(slopes[i]?.array() ?? null, e);
          if (slopes[i]) expect(slopes[i]?.shape).toEqual(inputs[i]?.shape);
        });
        ddx?.forEach((e, i) => {
          close(bends[i]?.array() ?? null, e);
        });
      }
    });
  });
});
