// The singular value decomposition and the norm of order 2, against TensorFlow (tools/golden/linalg.py).
import { readFileSync } from 'node:fs';
import { listBackends } from '@eagre/backend';
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import * as tf from '../src/index.ts';

type Nested = number | readonly Nested[];
interface Decomposition {
  readonly x: Nested;
  readonly fullMatrices: boolean;
  readonly shapes: readonly (readonly number[])[];
  readonly s: Nested;
  readonly product: Nested;
  readonly weights: Readonly<Record<'s' | 'u' | 'v' | 'product', Nested>>;
  readonly gradient: Nested;
}
interface Norm {
  readonly x: Nested;
  readonly axis: readonly number[];
  readonly keepdims: boolean;
  readonly norm: Nested;
  readonly weights: Nested;
  readonly gradient: Nested;
}
const golden = JSON.parse(readFileSync(new URL('../golden/linalg.json', import.meta.url), 'utf8')) as {
  readonly decompositions: readonly Decomposition[];
  readonly norms: readonly Norm[];
  readonly values: readonly { readonly x: Nested; readonly s: Nested }[];
};

const f64 = (x: Nested): tf.Tensor => tf.constant(x as number[], 'float64');

const gradientOf = (tape: tf.GradientTape, y: tf.Tensor, x: tf.Tensor): tf.Tensor =>
  tape.gradient(y, x, { unconnectedGradients: 'zero' });

function near(got: tf.Tensor, expected: Nested, error: number): void {
  const want = f64(expected);
  expect(got.shape).toEqual(want.shape);
  expect(got.cast('float64').sub(want).abs().max().item()).toBeLessThanOrEqual(error);
}

/** What does not depend on the signs of vectors: values, u · diag(1, 2, …) · vᵀ, and a loss of these and of squares. */
function invariant(x: tf.Tensor, c: Decomposition): { s: tf.Tensor; product: tf.Tensor; loss: tf.Tensor } {
  const [s, u, v] = tf.linalg.svd(x, { fullMatrices: c.fullMatrices });
  expect([s, u, v].map((t) => t.shape)).toEqual(c.shapes);
  const k = s.shape[s.rank - 1] as number;
  const scale = tf.range(1, k + 1).cast(x.dtype as 'float64');
  const product = tf.matmul(u.at('...', `:${k}`).mul(scale), v.at('...', `:${k}`), { transposeB: true });
  const weighted = (t: tf.Tensor, w: Nested): tf.Tensor => t.mul(f64(w).cast(x.dtype as 'float64')).sum();
  const { weights } = c;
  const loss = weighted(s, weights.s)
    .add(weighted(u.square(), weights.u))
    .add(weighted(v.square(), weights.v))
    .add(weighted(product, weights.product));
  return { s, product, loss };
}

describe.each(listBackends().map(({ name }) => name))('on %s', (backend) => {
  test.each(golden.decompositions.map((c) => [JSON.stringify(c.shapes), c] as const))(
    "TensorFlow's decomposition %s",
    (_, c) => {
      tf.experimental.withBackend(backend, () => {
        for (const [dtype, error] of [
          ['float64', 1e-9],
          ['float32', 2e-3],
        ] as const) {
          const x = f64(c.x).cast(dtype);
          const tape = new tf.GradientTape();
          tape.watch(x);
          const { s, product, loss } = invariant(x, c);
          near(s, c.s, error / 100);
          near(product, c.product, error / 10);
          const largest = f64(c.gradient).abs().max().item();
          near(gradientOf(tape, loss, x), c.gradient, error * Math.max(1, largest));
          const values = tf.linalg.svd(x, { computeUV: false });
          near(values, c.s, error / 100);
        }
      });
    },
  );

  test.each(golden.norms.map((c) => [JSON.stringify(c.axis), c] as const))(
    "TensorFlow's norm over axes %s",
    (_, c) => {
      tf.experimental.withBackend(backend, () => {
        const { axis, keepdims } = c;
        const both = (x: tf.Tensor): [tf.Tensor, tf.Tensor] => {
          const tape = new tf.GradientTape();
          tape.watch(x);
          const y = tf.norm(x, { ord: 2, axis, keepdims });
          return [y, gradientOf(tape, y.mul(f64(c.weights)).sum(), x)];
        };
        const traced = tf.function(both);
        for (const run of [both, traced, traced]) {
          const [y, gradient] = run(f64(c.x));
          near(y, c.norm, 1e-12);
          near(gradient, c.gradient, 1e-11);
        }
      });
    },
  );

  test.each(golden.values.map((c) => [JSON.stringify(c.s), c] as const))('singular values %s', (_, c) => {
    tf.experimental.withBackend(backend, () =>
      near(tf.linalg.svd(f64(c.x), { computeUV: false }), c.s, 1e-14),
    );
  });

  it('gives orthonormal vectors of which the matrix is made, also of no rank', () => {
    tf.experimental.withBackend(backend, () => {
      const noise = tf.random.statelessNormal([3, 30, 20], [1, 2], { dtype: 'float64' });
      const rankThree = tf.matmul(noise.at('...', ':3'), noise.at(':', ':3', ':'));
      for (const x of [noise, rankThree, rankThree.matrixTranspose(), tf.zeros([2, 4], 'float64')]) {
        for (const fullMatrices of [false, true]) {
          const [s, u, v] = tf.linalg.svd(x, { fullMatrices });
          const k = s.shape[s.rank - 1] as number;
          const scaled = u.at('...', `:${k}`).mul(s.expandDims(-2));
          const again = tf.matmul(scaled, v.at('...', `:${k}`), { transposeB: true });
          expect(again.sub(x).abs().max().item()).toBeLessThan(1e-12);
          for (const q of [u, v]) {
            const unit = tf.eye(q.shape[q.rank - 1] as number, { dtype: 'float64' });
            expect(tf.matmul(q, q, { transposeA: true }).sub(unit).abs().max().item()).toBeLessThan(1e-13);
          }
        }
      }
    });
  });

  it('small singular values keep their own bits', () => {
    tf.experimental.withBackend(backend, () => {
      const s = tf.linalg.svd(
        f64([
          [1, 1],
          [0, 1e-20],
        ]),
        { computeUV: false },
      );
      const [first, second] = Array.from(s.data() as Float64Array);
      expect(first).toBeCloseTo(Math.SQRT2, 14);
      expect(second * Math.SQRT2 * 1e20).toBeCloseTo(1, 14);
    });
  });

  it('not a number and infinity make one matrix NaN, no elements give none', () => {
    tf.experimental.withBackend(backend, () => {
      for (const bad of [Number.NaN, Infinity]) {
        const [s, u] = tf.linalg.svd([
          [
            [1, bad],
            [0, 1],
          ],
          [
            [0, 3],
            [2, 0],
          ],
        ]);
        expect(s.array()).toEqual([
          [Number.NaN, Number.NaN],
          [3, 2],
        ]);
        expect(u.isNan().cast('int32').sum().item()).toBe(4);
      }
      expect(tf.linalg.svd(tf.zeros([0, 3, 2]), { computeUV: false }).shape).toEqual([0, 2]);
      expect(tf.linalg.svd(tf.zeros([3, 0]), { fullMatrices: true })[1].array()).toEqual(tf.eye(3).array());
    });
  });
});

// The last is the polar factor, in which no sign is left.
function all(x: tf.Tensor): tf.Tensor[] {
  const tape = new tf.GradientTape({ persistent: true });
  tape.watch(x);
  const norms = tf.norm(x, { ord: 2, axis: [-2, -1] });
  const [s, u, v] = tf.linalg.svd(x);
  const polar = tf.matmul(u, v, { transposeB: true });
  return [
    norms,
    gradientOf(tape, norms.sum(), x),
    s,
    u,
    v,
    polar,
    gradientOf(tape, polar.square().mul(polar).sum(), x),
  ];
}

it('one trace serves matrices of many sizes', () => {
  const spec = new tf.TensorSpec([null, null, 3], 'float64');
  let traces = 0;
  const traced = tf.function({ inputSignature: [spec] })((x: tf.Tensor) => {
    traces++;
    return all(x);
  });
  const counts = [
    [2, 5],
    [4, 7],
    [1, 9],
    [2, 3],
    [3, 2],
    [2, 1],
    [2, 4],
  ].map(([batch, m]) => {
    const x = tf.random.statelessNormal([batch, m, 3], [batch, m], { dtype: 'float64' });
    const expected = all(x);
    traced(x).forEach((y, i) => {
      near(y, expected[i].array() as Nested, 1e-10);
    });
    return traces;
  });
  // Tall ones share a trace, which those with as many rows as columns, or fewer, cannot use.
  expect(counts.slice(0, 3)).toEqual([counts[0], counts[0], counts[0]]);
});

it('says what it returns', () => {
  const x = tf.ones([2, 2]);
  expectTypeOf(tf.linalg.svd(x)).toEqualTypeOf<[s: tf.Tensor, u: tf.Tensor, v: tf.Tensor]>();
  expectTypeOf(tf.linalg.svd(x, { computeUV: true, fullMatrices: true })[0]).toEqualTypeOf<tf.Tensor>();
  expectTypeOf(tf.linalg.svd(x, { computeUV: false })).toEqualTypeOf<tf.Tensor>();
  expectTypeOf(tf.linalg.svd({ tensor: x, computeUV: false })).toEqualTypeOf<tf.Tensor>();
});

it('refuses what has no decomposition, and gradients that there are none of', () => {
  expect(() => tf.linalg.svd([1, 2])).toThrow(/shape \[2\], expected matrices/);
  expect(() => tf.linalg.svd(tf.ones([2, 2], 'int32'))).toThrow(tf.errors.InvalidArgumentError);
  expect(() => tf.linalg.svd([[1]], { computeUV: 'no' as never })).toThrow(/computeUV/);
  const x = f64([
    [1, 2],
    [3, 4],
    [5, 6],
    [7, 9],
  ]);
  const gradient = (of: 0 | 1 | 2): tf.Tensor => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    return gradientOf(tape, tf.linalg.svd(x, { fullMatrices: true })[of].sum(), x);
  };
  expect(() => gradient(1)).toThrow(tf.errors.UnimplementedError);
  expect(() => gradient(1)).toThrow(/fullMatrices/);
  expect(gradient(0).shape).toEqual([4, 2]);
  // Keras gives (u, s, vᵀ), with full matrices unless said.
  expect(tf.keras.ops.svd(x).map((y) => y.shape)).toEqual([[4, 4], [2], [2, 2]]);
});
