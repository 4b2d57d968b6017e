// Complex numbers: values and gradients against TensorFlow, eagerly and traced, on both backends; what they refuse; files and datasets.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { remotes } from '@eagre/testing';
import { afterAll, describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

type Numbers = readonly (number | boolean | readonly [number, number])[];
interface Given {
  readonly dtype: tf.DType;
  readonly shape: number[];
  readonly values: Numbers;
}
interface Case {
  readonly op: string;
  readonly inputs: readonly Given[];
  readonly value: Given;
  readonly seed?: Given;
  readonly grads?: readonly Given[];
}
const golden = JSON.parse(
  readFileSync(new URL('../../core/golden/complex.json', import.meta.url), 'utf8').replaceAll(
    /(-?)(NaN|Infinity)/g,
    '"$1$2"',
  ),
) as { cases: Case[] };

const flat = ({ values }: Given): number[] => (values as readonly unknown[]).flat().map(Number);

function tensor(given: Given): tf.Tensor {
  const { dtype, shape } = given;
  const Array = dtype === 'complex64' ? Float32Array : Float64Array;
  const narrow = dtype === 'complex64' || dtype === 'complex128';
  return narrow
    ? tf.constant({ data: new Array(flat(given)), shape, dtype })
    : tf.constant(flat(given), dtype, { shape });
}

type Fn = (...xs: tf.Tensor[]) => tf.Tensor;
const others: Readonly<Record<string, Fn>> = {
  reverse: (x) => x.reverse([0]),
  identity: (x) => tf.identity(x),
};
function opOf(name: string): Fn {
  const [op, to] = name.split(' ') as [string, tf.DType?];
  if (to !== undefined) return (x) => x.cast(to);
  const spaces = [others, tf, tf.math, tf.linalg] as unknown as readonly Record<string, Fn>[];
  return spaces.find((space) => op in space)?.[op] as Fn;
}

/** The largest distance, in units of the size of what is wanted. */
function distance(got: tf.Tensor, wanted: Given): number {
  expect(got.dtype).toBe(wanted.dtype);
  expect(got.shape).toEqual(wanted.shape);
  const expected = flat(wanted);
  const data = Array.from(got.data() as ArrayLike<number>, Number);
  expect(data.length).toBe(expected.length);
  const complex = wanted.dtype.startsWith('complex');
  return expected.reduce((worst, want, i) => {
    const have = data[i] as number;
    if (Object.is(want, have) || want === have || (Number.isNaN(want) && Number.isNaN(have))) return worst;
    const size = complex ? Math.hypot(expected[i & ~1] as number, expected[i | 1] as number) : Math.abs(want);
    return Math.max(worst, Math.abs(have - want) / Math.max(size, 1e-2));
  }, 0);
}

const limits = { complex64: 4e-6, complex128: 1e-14 };

describe.each(['native', 'js', ...remotes.slice(0, 1).map((b) => b.name)])('as TensorFlow: %s', (backend) => {
  it.each(golden.cases.map((c, i) => [`${c.op} of ${c.inputs.map((x) => x.dtype)} (${i})`, c] as const))(
    '%s',
    (_, { op, inputs, value, seed, grads }) => {
      tf.experimental.withBackend(backend, () => {
        const fn = opOf(op);
        const limit = limits[inputs[0]?.dtype as keyof typeof limits] * (op === 'pow' ? 8 : 1);
        const xs = inputs.map(tensor);
        const step = (...given: tf.Tensor[]): { y: tf.Tensor; dxs: (tf.Tensor | null)[] } => {
          if (seed === undefined) return { y: fn(...given), dxs: [] };
          const tape = new tf.GradientTape();
          tape.watch(given);
          const y = fn(...given);
          const dxs = tape.gradient(y, given, {
            outputGradients: tensor(seed),
            unconnectedGradients: 'zero',
          });
          return { y, dxs: dxs as tf.Tensor[] };
        };
        const unknown = tf.function(step as never, {
          inputSignature: inputs.map(
            ({ dtype, shape }) =>
              new tf.TensorSpec(
                shape.map(() => null),
                dtype,
              ),
          ),
        }) as typeof step;
        for (const run of [step, tf.function(step as never) as typeof step, unknown]) {
          const { y, dxs } = run(...xs);
          expect(distance(y, value)).toBeLessThan(limit);
          grads?.forEach((g, i) => {
            expect(distance(dxs[i] as tf.Tensor, g)).toBeLessThan(4 * limit);
          });
        }
      });
    },
  );
});

const numbers = (shape: readonly number[], dtype: 'complex64' | 'complex128', seed: number): tf.Tensor => {
  const part = (n: number): tf.Tensor =>
    tf.random.normal([...shape], { dtype: dtype === 'complex64' ? 'float32' : 'float64', seed: n });
  return tf.complex(part(seed), part(seed + 100));
};

/** The gradient of the real part of the weighted sum of f's result, by differences. */
function byDifferences(f: Fn, xs: readonly tf.Tensor[], weights: tf.Tensor): tf.Tensor[] {
  const loss = (given: readonly tf.Tensor[]): number => {
    const y = f(...given);
    return (y.dtype.startsWith('complex') ? y.mul(tf.math.conj(weights)).real() : y.mul(weights))
      .sum()
      .item();
  };
  const step = 1e-6;
  return xs.map((x, which) => {
    const data = x.data() as Float64Array;
    const slopes = data.map((_, i) => {
      const [up, down] = [step, -step].map((d) => {
        const moved = data.map((v, j) => (j === i ? v + d : v));
        return loss(
          xs.map((other, k) =>
            k === which ? tf.constant({ data: moved, shape: x.shape, dtype: x.dtype }) : other,
          ),
        );
      }) as [number, number];
      return (up - down) / (2 * step);
    });
    return tf.constant({ data: slopes, shape: x.shape, dtype: x.dtype });
  });
}

const far = (a: tf.Tensor, b: tf.Tensor): number => a.sub(b).abs().max().item();

it('are multiplied along axes, forward, from the end, without themselves, and where there are none', () => {
  const z = tf.complex([1, 2, 0, 3], [1, 0, 1, -1]);
  const pairs = (t: tf.Tensor): unknown => t.array();
  expect(pairs(tf.math.cumprod(z))).toEqual([
    { re: 1, im: 1 },
    { re: 2, im: 2 },
    { re: -2, im: 2 },
    { re: -4, im: 8 },
  ]);
  expect(pairs(tf.math.cumprod(z, { exclusive: true, reverse: true }))).toEqual([
    { re: 2, im: 6 },
    { re: 1, im: 3 },
    { re: 3, im: -1 },
    { re: 1, im: 0 },
  ]);
  const square = z.reshape([2, 2]);
  expect(pairs(square.prod([0, 1]))).toEqual({ re: -4, im: 8 });
  expect(pairs(square.prod(0, { keepdims: true }))).toEqual([
    [
      { re: -1, im: 1 },
      { re: 6, im: -2 },
    ],
  ]);
  const none = tf.zeros([2, 0], 'complex64');
  expect(pairs(none.prod(1))).toEqual([
    { re: 1, im: 0 },
    { re: 1, im: 0 },
  ]);
  expect(tf.math.cumprod(none, 1).shape).toEqual([2, 0]);
  expect(pairs(none.prod())).toEqual({ re: 1, im: 0 });
  expect(tf.norm(z, Number.POSITIVE_INFINITY).dtype).toBe('float32');
  expect(tf.norm(z).dtype).toBe('complex64');
});

describe('gradients', () => {
  const z = numbers([2, 3], 'complex128', 1);
  const w = numbers([2, 3], 'complex128', 2);
  const computations: Record<string, Fn> = {
    mulNoNan: (a, b) => tf.math.multiplyNoNan(a, b),
    xlogy: (a, b) => tf.math.xlogy(a, b),
    xdivy: (a, b) => tf.math.xdivy(a, b),
    squaredDifference: (a, b) => tf.math.squaredDifference(a, b),
    'running products': (a, b) =>
      tf.math
        .cumprod(a, 1, { exclusive: true, reverse: true })
        .mul(tf.math.cumprod(b, 0))
        .add(tf.math.cumprod(a, { axis: 1, reverse: true })),
    'products over axes': (a, b) => a.prod(1, { keepdims: true }).mul(b.prod([0, 1])),
    norms: (a, b) => tf.norm(a, 1, 1).mul(tf.norm(b, 'euclidean').real()),
    moments: (a, b) => {
      const [mean, variance] = tf.nn.moments(a, 1);
      return mean.mul(variance).mul(tf.math.reduceStd(b, 0).sum());
    },
    pow: (a, b) => a.pow(b.mul(0.3)),
    abs: (a, b) => a.mul(b).abs(),
    angle: (a, b) => a.add(b).angle(),
    parts: (a, b) => tf.complex(a.imag(), b.real()).mul(a),
    products: (a, b) => a.matmul(b.transpose()).sum(0),
    turned: (a, b) => a.matmul(b, { transposeB: true }).exp(),
    moves: (a, b) =>
      tf
        .concat([a, b.reverse([1])], 0)
        .transpose()
        .slice([1, 0], [2, 3])
        .cumsum(1),
    picks: (a, b) =>
      tf
        .where(a.real().greater(0), a, b)
        .gather([1, 0, 1])
        .mul(a.gather([0, 0, 1])),
    pads: (a, b) =>
      a
        .pad([
          [1, 0],
          [0, 2],
        ])
        .tile([1, 2])
        .mean(1)
        .mul(b.sum()),
    broadcast: (a, b) => a.mul(b.slice([0, 0], [1, 3])).div(b.slice([0, 1], [2, 1])),
    casts: (a, b) => a.real().cast('complex128').mul(b.imag().cast('complex128')),
    tanh: (a, b) =>
      tf
        .tanh(a)
        .mul(tf.sigmoid(b))
        .sub(tf.math.log(a).mul(tf.sqrt(b))),
    sign: (a, b) => tf.sign(a).mul(tf.math.conj(b)),
    loop: (a, b) =>
      tf.whileLoop(
        (_, i) => i.less(3),
        (x, i) => [x.mul(b).add(a), i.add(1)],
        [a, tf.constant(0)],
      )[0],
    branch: (a, b) =>
      tf.cond(
        a.real().sum().less(100),
        () => a.mul(b),
        () => a,
      ),
    'gradient of its own': tf.customGradient((a: tf.Tensor, b: tf.Tensor) => [
      a.mul(b),
      (dy: tf.Tensor) => [dy.mul(b.conj()), dy.mul(a.conj())],
    ]) as Fn,
  };
  it.each(Object.entries(computations))('%s: of first and second order', (_, f) => {
    const y = f(z, w);
    const weights = y.dtype.startsWith('complex')
      ? numbers(y.shape, 'complex128', 5)
      : tf.ones(y.shape, y.dtype);
    const first = (a: tf.Tensor, b: tf.Tensor, of = f): tf.Tensor[] => {
      const tape = new tf.GradientTape();
      tape.watch([a, b]);
      return tape.gradient(of(a, b), [a, b], {
        outputGradients: weights,
        unconnectedGradients: 'zero',
      }) as tf.Tensor[];
    };
    const wanted = byDifferences(f, [z, w], weights);
    const inside = tf.function((a: tf.Tensor, b: tf.Tensor) => first(a, b));
    // To a tape around it, a function is one op.
    const ways = [first(z, w), inside(z, w) as tf.Tensor[], first(z, w, tf.function(f) as Fn)];
    for (const way of ways)
      way.forEach((g, i) => {
        expect(far(g, wanted[i] as tf.Tensor)).toBeLessThan(1e-6);
      });
    const slope: Fn = (a, b) => {
      const [da, db] = first(a, b) as [tf.Tensor, tf.Tensor];
      return da.mul(da).add(tf.math.conj(db)).add(db.abs().cast('complex128'));
    };
    const second = (a: tf.Tensor, b: tf.Tensor): tf.Tensor[] => {
      const tape = new tf.GradientTape();
      tape.watch([a, b]);
      return tape.gradient(slope(a, b), [a, b], { unconnectedGradients: 'zero' }) as tf.Tensor[];
    };
    const eager = second(z, w);
    const ones = tf.ones(slope(z, w).shape, 'complex128');
    const differences = byDifferences(slope, [z, w], ones);
    const traced = tf.function(second)(z, w) as tf.Tensor[];
    eager.forEach((g, i) => {
      expect(far(g, differences[i] as tf.Tensor)).toBeLessThan(1e-5);
      expect(far(g, traced[i] as tf.Tensor)).toBeLessThan(1e-10);
    });
  });
});

const folder = mkdtempSync(join(tmpdir(), 'eagre-complex-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('values', () => {
  it('come from { re, im }, from parts and from typed arrays', () => {
    const z = tf.constant([{ re: 1, im: -2 }, 3]);
    expect(z.dtype).toBe('complex128');
    expect(z.array()).toEqual([
      { re: 1, im: -2 },
      { re: 3, im: 0 },
    ]);
    expect(tf.constant({ re: 1, im: 2 }, 'complex64').item<tf.Complex>()).toEqual({ re: 1, im: 2 });
    expect([...z.data()]).toEqual([1, -2, 3, 0]);
    expect(JSON.stringify(z)).toBe('[{"re":1,"im":-2},{"re":3,"im":0}]');
    expect(tf.complex([1, 3], [-2, 0]).dtype).toBe('complex64');
    expect(
      tf.constant({ data: Float32Array.of(1, -2, 3, 0), shape: [2], dtype: 'complex64' }).array(),
    ).toEqual(z.array());
    expect(tf.constant(z.ndarray()).array()).toEqual(z.array());
    expect(tf.zeros([2], 'complex64').array()).toEqual([
      { re: 0, im: 0 },
      { re: 0, im: 0 },
    ]);
    expect(tf.ones([1], 'complex128').array()).toEqual([{ re: 1, im: 0 }]);
    expect(tf.fill([1], { re: 1, im: 2 }).array()).toEqual([{ re: 1, im: 2 }]);
    expect(tf.complex(1, 2).dtype).toBe('complex64');
    expect(tf.eye(2, { dtype: 'complex64' }).at(1).array()).toEqual([
      { re: 0, im: 0 },
      { re: 1, im: 0 },
    ]);
    expect(tf.bitcast(tf.complex([1], [2]), 'float32').array()).toEqual([[1, 2]]);
    expect(tf.bitcast(tf.constant([[1, 2]]), 'complex64').array()).toEqual([{ re: 1, im: 2 }]);
    expect(
      tf
        .constant([{ re: 0, im: 2 }, 0])
        .nonzero()
        .array(),
    ).toEqual([[0n]]);
  });

  it('bare ones follow the tensor beside them', () => {
    const i = { re: 0, im: 1 };
    expect(tf.constant([1]).mul(i).dtype).toBe('complex64');
    expect(tf.constant([1], 'float64').mul(i).dtype).toBe('complex128');
    expect(tf.constant([i], 'complex64').add(1).dtype).toBe('complex64');
    expect(tf.constant([i], 'complex64').mul([i]).array()).toEqual([{ re: -1, im: 0 }]);
    expect(tf.experimental.promote('complex64', 'float32')).toBe('complex64');
    expect(tf.experimental.promote('complex64', 'complex128')).toBe('complex128');
    expect(tf.experimental.promote('int32', 'complex128')).toBe('complex128');
    expect(() => tf.experimental.promote('complex64', 'float64')).toThrow(tf.errors.InvalidArgumentError);
  });

  it('are printed as NumPy and TensorFlow print them', () => {
    const z = tf.constant(
      [
        { re: 1, im: 0 },
        { re: 2, im: -1 },
        { re: -0.5, im: 1e-3 },
      ],
      'complex64',
    );
    expect(String(z)).toBe('[ 1. +0.j     2. -1.j    -0.5+0.001j]');
    expect(String(tf.constant([[{ re: 1, im: 2 }], [{ re: NaN, im: Infinity }]]))).toBe(
      '[[ 1. +2.j]\n [nan+infj]]',
    );
    expect(
      String(
        tf.constant([
          { re: 1e10, im: 1 },
          { re: 1, im: 3e-7 },
        ]),
      ),
    ).toBe('[1.e+10+1.e+00j 1.e+00+3.e-07j]');
    let text = '';
    tf.print(z, { outputStream: { write: (t: string) => (text += t) } });
    expect(text).toBe('[1+0j 2-1j -0.5+0.001j]\n');
    expect(
      tf
        .function(() => z)
        .getConcreteFunction()
        .graph.toString(),
    ).toContain('1+0j');
    const below = tf.function(() => tf.constant([{ re: 1, im: -0 }]));
    expect(below.getConcreteFunction().graph.toString()).toContain('[1-0j]');
  });

  it('have no order, no rounding and no place among real numbers', () => {
    const z = tf.complex([1, 2], [3, 4]);
    for (const fn of [
      tf.nn.relu,
      tf.floor,
      tf.math.erf,
      tf.math.isNan,
      tf.math.softplus,
      (x: tf.Tensor) => x.less(x),
      (x: tf.Tensor) => x.maximum(x),
    ])
      expect(() => fn(z)).toThrow(tf.errors.UnimplementedError);
    for (const fn of [
      (x: tf.Tensor) => x.max(),
      (x: tf.Tensor) => x.argMax(0),
      (x: tf.Tensor) => tf.math.topK(x, 1),
    ])
      expect(() => fn(z)).toThrow(/complex64.*take x\.real\(\), x\.imag\(\) or x\.abs\(\) before/);
    expect(() => z.relu()).toThrow('Relu: there is no max of complex numbers');
    expect(() => z.softmax()).toThrow(tf.errors.InvalidArgumentError);
    expect(() => z.unique()).toThrow(tf.errors.UnimplementedError);
    expect(() => tf.constant([{ re: 1, im: 1 }], 'float32')).toThrow(/is no float32/);
    expect(() => tf.constant([{ re: 1, im: 1 }, true] as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.complex(tf.constant([1], 'int32'), tf.constant([1], 'int32'))).toThrow(
      /expected float32 or float64/,
    );
    expect(() => tf.constant({ data: Float32Array.of(1, 2, 3), shape: [2], dtype: 'complex64' })).toThrow(
      /has two/,
    );
    expect(() => Number(tf.complex(1, 2))).toThrow(/not a number of JavaScript/);
    expect(() => tf.complex(1, 2).item('bigint')).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.random.normal([2], { dtype: 'complex64' as never })).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => tf.debugging.assertLess(z, z)).toThrow(/no order/);
    tf.debugging.assertEqual(z, z);
    expect(() => tf.debugging.assertNear(z, z.add({ re: 0, im: 1e-3 }))).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => tf.debugging.checkNumerics(z.div(0), 'z')).toThrow(tf.errors.InvalidArgumentError);
    expect(() => new tf.layers.Dense(2)(z.expandDims(0))).toThrow(/expects real numbers, got complex64/);
    const v = new tf.Variable(z);
    const sgd = new tf.optimizers.SGD({ learningRate: 0.1 });
    expect(() => sgd.applyGradients([z], [v])).toThrow(tf.errors.EagreError);
  });
});

describe('movements', () => {
  const z = numbers([3, 4], 'complex64', 8);
  const moves: Record<string, Fn> = {
    transpose: (x) => x.transpose(),
    reshape: (x) => x.reshape([2, 6]),
    concat: (x) => tf.concat([x, x.mul(2)], 1),
    stack: (x) => tf.stack([x, x], 2),
    split: (x) => tf.split(x, 2, 1)[1] as tf.Tensor,
    unstack: (x) => tf.unstack(x)[2] as tf.Tensor,
    slice: (x) => x.slice([1, 1], [2, 2]),
    at: (x) => x.at(-1),
    strides: (x) => x.at('::2', '3:0:-1'),
    gather: (x) => x.gather([2, 0, 2], 0),
    gatherNd: (x) =>
      tf.gatherNd(x, [
        [0, 1],
        [2, 3],
      ]),
    scatterNd: (x) => tf.scatterNd([[1], [0], [1]], x, [2, 4]),
    pad: (x) =>
      x.pad([
        [1, 1],
        [0, 2],
      ]),
    reflect: (x) =>
      x.pad(
        [
          [1, 1],
          [0, 2],
        ],
        { mode: 'REFLECT' },
      ),
    tile: (x) => x.tile([2, 1]),
    reverse: (x) => x.reverse([0, 1]),
    roll: (x) => tf.roll(x, 1, 1),
    broadcast: (x) => tf.broadcastTo(x.slice([0, 0], [1, 4]), [2, 4]),
    cumsum: (x) => x.cumsum(1, { reverse: true }),
    sum: (x) => x.sum(0, { keepdims: true }),
    mean: (x) => x.mean(1),
    where: (x) => tf.where([[true], [false], [true]], x, 0),
    mask: (x) => x.booleanMask([true, false, true]),
    zeros: (x) => tf.zerosLike(x),
  };
  it.each(Object.entries(moves))('%s is what it is of the parts', (_, f) => {
    for (const run of [f, tf.function(f) as Fn]) {
      const y = run(z);
      expect(y.dtype).toBe('complex64');
      expect(far(y.real(), f(z.real()))).toBe(0);
      expect(far(y.imag(), f(z.imag()))).toBe(0);
    }
  });
});

describe('in programs', () => {
  it('loops, branches, variables and functions of unknown sizes', () => {
    // Which points stay in the Mandelbrot set: TensorFlow's old tutorial.
    const grid = (n: number): tf.Tensor => {
      const line = (a: number, b: number): tf.Tensor => tf.linspace(a, b, n);
      return tf.complex(line(-2, 1).reshape([1, n]), line(-1.3, 1.3).reshape([n, 1]));
    };
    const steps = (c: tf.Tensor): tf.Tensor => {
      const [, count] = tf.whileLoop(
        (_z, _n, i) => i.less(20),
        (z, n, i) => {
          const next = z.mul(z).add(c);
          const inside = next.abs().less(4);
          return [tf.where(inside, next, z), n.add(inside.cast('int32')), i.add(1)];
        },
        [tf.zerosLike(c), tf.zerosLike(c, 'int32'), tf.constant(0, 'int32')],
      );
      return count as tf.Tensor;
    };
    const traced = tf.function(steps, { inputSignature: [new tf.TensorSpec([null, null], 'complex64')] });
    for (const n of [8, 12]) {
      const c = grid(n);
      const eager = steps(c).array<number[][]>();
      expect(traced(c).array()).toEqual(eager);
      expect(new Set(eager.flat()).size).toBeGreaterThan(3);
    }
    expect(traced.experimentalGetTracingCount()).toBe(1);

    const v = new tf.Variable(tf.complex([1, 2], [0, 1]));
    const turn = tf.function((flip: tf.Tensor) => {
      v.assign(v.mul({ re: 0, im: 1 }));
      v.assignAdd(tf.complex([1, 1], [0, 0]));
      return tf.cond(
        flip,
        () => v.conj(),
        () => v.read(),
      );
    });
    expect(turn(tf.constant(true)).array()).toEqual([
      { re: 1, im: -1 },
      { re: 0, im: -2 },
    ]);
    expect(turn(tf.constant(false)).array()).toEqual([
      { re: 0, im: 1 },
      { re: -1, im: 0 },
    ]);
    expect(v.array()).toEqual([
      { re: 0, im: 1 },
      { re: -1, im: 0 },
    ]);
  });

  it('checkpoints, arrays in files, datasets', async () => {
    for (const dtype of ['complex64', 'complex128'] as const) {
      const z = numbers([4, 3], dtype, 20);
      const v = new tf.Variable(z);
      const path = await new tf.train.Checkpoint({ v }).save(join(folder, dtype));
      v.assign(tf.zerosLike(v));
      (await new tf.train.Checkpoint({ v }).restore(path)).assertConsumed();
      expect(far(v.read(), z)).toBe(0);

      await tf.io.writeNpyFile(join(folder, 'z.npy'), z.ndarray());
      expect(far(tf.constant(await tf.io.readNpyFile(join(folder, 'z.npy'))), z)).toBe(0);
      expect(far(tf.stack([...z]), z)).toBe(0);

      const batches = [
        ...tf.data.Dataset.fromTensorSlices(z)
          .map((x) => x.conj())
          .batch(3),
      ] as tf.Tensor[];
      expect(batches.map((b) => b.shape)).toEqual([
        [3, 3],
        [1, 3],
      ]);
      expect(far(tf.concat(batches, 0), z.conj())).toBe(0);
      const [padded] = tf.data.Dataset.fromGenerator(
        function* () {
          yield z.at(0).slice([0], [1]);
          yield z.at(1);
        },
        { outputSignature: new tf.TensorSpec([null], dtype) },
      ).paddedBatch(2, { paddedShapes: [4], paddingValues: tf.constant({ re: 1, im: -1 }, dtype) });
      const rows = (padded as tf.Tensor).array<tf.Complex[][]>();
      expect(rows[0]?.slice(1)).toEqual([1, 2, 3].map(() => ({ re: 1, im: -1 })));
      expect(rows[1]?.slice(0, 3)).toEqual(z.at(1).array());
    }
  });
});
