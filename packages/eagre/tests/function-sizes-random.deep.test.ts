import { expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

/** Numbers in 0 … n − 1, the same for a seed. */
function generator(seed: number): (n: number) => number {
  let state = seed * 2654435761 + 12345;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
}

type Step = (x: tf.Tensor, w: tf.Tensor) => tf.Tensor;

// Each takes a matrix of any size and gives one. What they do to sizes differs; many are not for all sizes.
const steps: readonly ((pick: (n: number) => number) => Step)[] = [
  () => (x) => x.sub(x.mean(0, { keepdims: true })),
  () => (x) => x.div(x.abs().sum().add(1)),
  () => (x) => x.softmax(0),
  () => (x) => x.transpose(),
  () => (x) => x.matmul(x, { transposeB: true }),
  () => (x) => x.matmul(x, { transposeA: true }),
  () => (x) => tf.concat([x, x], 0),
  (pick) => {
    const axis = pick(2);
    return (x) => tf.concat([x, x.neg(), x], axis);
  },
  (pick) => {
    const [a, b] = [pick(3), pick(3)];
    return (x) =>
      tf.pad(x, [
        [a, b],
        [b, 0],
      ]);
  },
  (pick) => {
    const n = pick(4);
    return (x) => x.at(`${n}:`, ':');
  },
  (pick) => {
    const n = 1 + pick(4);
    return (x) => x.at(`:-${n}`, ':');
  },
  (pick) => {
    const n = 1 + pick(4);
    return (x) => x.at(`-${n}:`, ':');
  },
  (pick) => {
    const n = 1 + pick(5);
    return (x) => x.at(`:${n}`, ':');
  },
  (pick) => {
    const n = 2 + pick(2);
    return (x) => x.at(`::${n}`, ':');
  },
  () => (x) => x.at('::-1', ':'),
  () => (x) => x.reshape([-1, 1]).mul(2),
  () => (x) => x.reshape([1, -1]),
  () => (x) => x.reshape([-1, 2]),
  () => (x) => x.expandDims(1).squeeze(1),
  () => (x) => x.squeeze().reshape([-1, 1]),
  () => (x) => x.tile([2, 1]),
  () => (x) => x.sum(1, { keepdims: true }).mul(x),
  () => (x) => x.max(0, { keepdims: true }).add(x),
  () => (x) => x.add(tf.shape(x).prod().cast('float32').rsqrt()),
  () => (x) => x.add(tf.zerosLike(x)).mul(tf.ones(x.shape)),
  () => (x) => x.cumsum(0).mul(0.1),
  () => (x) => x.sort(0),
  (pick) => {
    const k = 1 + pick(3);
    return (x) => tf.math.topK(x, k).values;
  },
  () => (x) => tf.gather(x, x.sum(1).argMax(0, { dtype: 'int32' }).reshape([1])),
  () => (x) => tf.nn.avgPool2d(x.reshape([1, -1, 1, 1]), [2, 1], { strides: [2, 1] }).reshape([-1, 1]),
  () => (x) => tf.nn.maxPool2d(x.expandDims([0, -1]), 2, { strides: 1, padding: 'SAME' }).squeeze([0, -1]),
  () => (x) => tf.nn.conv2d(x.expandDims([0, -1]), tf.ones([2, 2, 1, 1]), { strides: 2 }).squeeze([0, -1]),
  () => (x) => tf.stack(tf.split(x, 2, 1), 0).reshape([2, -1]),
  () => (x, w) => x.mul(w),
  () => (x, w) => x.add(w.mean(0)),
  () => (x, w) => tf.concat([x, w], 0),
  () => (x, w) => tf.losses.meanSquaredError(x, w).reshape([-1, 1]),
  () => (x) => x.variance(0, { keepdims: true }).add(x.std()),
  () => (x) => (x.rank === 2 && x.shape.length === 2 ? x.square() : x),
];

// A sum over one element makes 0 of -0, which a single size leaves out.
const values = (list: readonly tf.Tensor[]): unknown[] =>
  list.flatMap((t) => [`[${t.shape}]`, ...Array.from(t.data() as Float32Array, (v) => v + 0)]);

// And these give as many rows as values say, down to none.
const valueSteps: typeof steps = [
  () => (x) => tf.booleanMask(x, x.mean(1).greater(0)),
  () => (x) => tf.booleanMask(x, x.max(0).greater(0.2), 1),
  () => (x) => tf.gather(x, x.sum(1).less(0.5).nonzero().reshape([-1])),
  () => (x) => tf.gather(x, tf.unique(x.sum(1).sign().add(1).cast('int32')).indices),
  () => (x) => tf.repeat(x, x.square().sum().minimum(3).cast('int32'), 0),
  () => (x) => tf.slice(x, [0, 0], [tf.size(x.mean(1).greater(0).nonzero()), -1]),
  () => (x) => x.reshape(tf.stack([tf.size(x.mean(1).greater(0).nonzero()), tf.constant(-1, 'int32')])),
  () => (x) => tf.slice(x, tf.stack([x.mean().sign().cast('int32').maximum(0), tf.constant(0, 'int32')])),
  () => (x) => tf.sequenceMask(x.sum(1).abs().minimum(5).cast('int32')).cast('float32').mul(2).sub(1),
  () => (x) =>
    tf.cond(
      x.sum().greater(0),
      () => tf.booleanMask(x, x.sum(1).greater(0)),
      () => x.mul(2),
    ),
  () => (x) =>
    tf.whileLoop(
      (i) => i.less(2),
      (i, y) => [i.add(1), tf.concat([y, tf.booleanMask(y, y.mean(1).greater(i.cast('float32')))], 0)],
      [tf.constant(0, 'int32'), x],
      { shapeInvariants: [null, [null, null]] },
    )[1],
];

const SIZES = [
  [3, 4],
  [2, 2],
  [1, 3],
  [5, 1],
  [1, 1],
  [6, 7],
  [8, 2],
  [4, 4],
];

type Fn = (x: tf.Tensor, w: tf.Tensor) => tf.Tensor[];

/** A program of several steps, with its gradients. */
function programOf(seed: number, from: typeof steps): Fn {
  const pick = generator(seed);
  const program = Array.from({ length: 1 + pick(4) }, () =>
    (from[pick(from.length)] as (typeof steps)[number])(pick),
  );
  return (x, w) => {
    const tape = new tf.GradientTape();
    tape.watch([x, w]);
    const y = program.reduce((t, step) => step(t, w), x);
    const [dx, dw] = tape.gradient(y.square().mean(), [x, w]);
    return [y, dx ?? tf.zeros([]), dw ?? tf.zeros([])];
  };
}

/** What functions give for several sizes has to be the same, errors too. */
function compare(seed: number, expected: Fn, ...others: readonly Fn[]): void {
  for (const [a, b] of SIZES) {
    tf.random.setSeed(seed);
    const x = tf.random.uniform([a as number, b as number], { minval: -1, maxval: 1 });
    const w = tf.random.uniform([a as number, b as number], { minval: 0, maxval: 1 });
    const attempt = (f: Fn): unknown => {
      try {
        return values(f(x, w));
      } catch (error) {
        return (error as Error).constructor.name;
      }
    };
    const wanted = attempt(expected);
    for (const other of others) expect([seed, a, b, attempt(other)]).toEqual([seed, a, b, wanted]);
  }
}

const any = new tf.TensorSpec([null, null]);
const PROGRAMS = 120;

test(`${PROGRAMS} random functions and their gradients: one trace for all sizes gives what each size gives`, () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  let once = 0;
  for (let seed = 0; seed < PROGRAMS; seed++) {
    const fn = programOf(seed, steps);
    const sized = tf.function({ inputSignature: [any, any] })(fn);
    compare(seed, tf.function(fn), sized);
    if (sized.experimentalGetTracingCount() <= 2) once++;
  }
  // So that it does not pass because nothing is traced once.
  expect(once).toBeGreaterThan(PROGRAMS / 4);
});

test(`${PROGRAMS} random functions in which sizes depend on values, and their gradients: as eagerly`, () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  for (let seed = 0; seed < PROGRAMS; seed++) {
    const fn = programOf(1000 + seed, [...valueSteps, ...valueSteps, ...valueSteps, ...steps]);
    compare(
      seed,
      rounded(fn),
      rounded(tf.function(fn)),
      rounded(tf.function({ inputSignature: [any, any] })(fn)),
    );
  }
});

/** Kernels that are fused round otherwise. */
function rounded(fn: Fn): Fn {
  return (x, w) => fn(x, w).map((t) => t.mul(1e4).round().div(1e4).add(0));
}
