// Random draws of traced functions: eager code's numbers, whatever is around the draws, and as many of them after errors.
import { StreamGenerator } from '@eagre/core/internal';
import { beforeEach, describe, expect, test } from 'vitest';
import '@eagre/testing';
import * as tf from '../src/index.ts';

type Code = (x: tf.Tensor) => tf.Tensor;

const on = <T>(backend: string, fn: () => T): T =>
  backend.startsWith('/') ? tf.device(backend, fn) : tf.experimental.withBackend(backend, fn);
/** The same of promises, which such a scope refuses. */
const onAll = <T>(backend: string, fn: () => readonly Promise<T>[]): Promise<T[]> =>
  Promise.all(on(backend, () => [...fn()]));
const n = (value: number): tf.Tensor => tf.constant(value, 'int32');

const draws = (): tf.Tensor =>
  tf.random
    .uniform([4])
    .add(tf.random.normal([4]))
    .add(tf.random.truncatedNormal([4], { seed: 7 }))
    .add(tf.random.uniform([4], { minval: -3, maxval: 1000, dtype: 'int32', seed: 7 }).cast('float32'))
    .add(tf.random.normal([4], { dtype: 'float64' }).cast('float32'));

const generator = new StreamGenerator(4);
const state = new Map(generator.trackableView().attributes).get('STATE') as tf.TrackableAttribute;
const begin = state.save();
const dropout = new tf.layers.Dropout(0.5);
const noise = new tf.layers.GaussianNoise(1);
const inner = tf.function((x: tf.Tensor) => x.add(tf.random.uniform([4])).add(generator.normal([4])));
const zero = (): tf.Variable => new tf.Variable([0, 0, 0, 0]);
let variable = zero();

/** Each is called with [1, 2, 3, 4]. */
const programs: Readonly<Record<string, Code>> = {
  'one after the other': (x) => x.add(draws()).mul(draws()),
  'a generator': (x) =>
    x
      .add(generator.uniform([4]))
      .sub(generator.normal([4]))
      .add(draws()),
  'draws that nobody reads': (x) => {
    draws();
    return x.add(tf.random.uniform([4]));
  },
  'functions in functions': (x) => inner(inner(x).add(draws())),
  'layers that drop': (x) =>
    (noise(dropout(x.reshape([2, 2]), { training: true }), { training: true }) as tf.Tensor)
      .reshape([4])
      .add(draws()),
  'a branch': (x) =>
    tf
      .cond(
        tf.random.uniform([]).less(0.5),
        () => x.add(draws()),
        () => x.mul(tf.random.normal([4], { seed: 7 })),
      )
      .add(draws()) as tf.Tensor,
  'a branch without draws': (x) =>
    tf
      .cond(
        x.sum().greater(1e6),
        () => x,
        () => x.neg(),
      )
      .add(draws()) as tf.Tensor,
  'a branch that is known': (x) =>
    (
      tf.cond(
        tf.constant(true),
        () => x.add(draws()),
        () => x,
      ) as tf.Tensor
    ).add(draws()),
  'one of several': (x) =>
    tf.switchCase(tf.random.uniform([], { maxval: 3, dtype: 'int32' }), [
      () => x.add(draws()),
      () => x,
      () => x.add(generator.normal([4])),
    ]) as tf.Tensor,
  'a loop of unknown length': (x) =>
    tf.whileLoop(
      (s: tf.Tensor) => s.sum().less(tf.random.uniform([], { minval: 20, maxval: 40 })),
      (s: tf.Tensor) => [s.add(tf.random.uniform([4]))],
      [x.add(tf.random.uniform([4]))],
    )[0],
  'branches in loops in loops': (x) =>
    tf.whileLoop(
      (i: tf.Tensor) => i.less(3),
      (i: tf.Tensor, s: tf.Tensor) => [
        i.add(1),
        tf.whileLoop(
          (j: tf.Tensor) => j.lessEqual(i),
          (j: tf.Tensor, t: tf.Tensor) => [
            j.add(1),
            tf.cond(
              tf.random.uniform([], { seed: 1 }).less(0.5),
              () => t.add(draws()),
              () => inner(t),
            ),
          ],
          [n(0), s],
        )[1],
      ],
      [n(0), x],
    )[1] as tf.Tensor,
  'mapFn and scan': (x) =>
    tf
      .mapFn((row: tf.Tensor) => row.add(tf.random.normal([])), x)
      .add(tf.scan((a: tf.Tensor, b: tf.Tensor) => a.add(b).mul(generator.uniform([])), x) as tf.Tensor)
      .add(draws()),
  'shuffled rows and classes': (x) =>
    tf.random
      .shuffle(x)
      .add(
        tf.random
          .categorical(x.reshape([2, 2]), 2)
          .reshape([4])
          .cast('float32'),
      )
      .add(
        tf.random
          .uniform([4], { minval: 0n, maxval: 2n ** 60n, dtype: 'int64' })
          .mod(1000n)
          .cast('float32'),
      ),
  'variables that change': (x) => {
    variable.assignAdd(tf.random.uniform([4]));
    return tf.cond(
      variable.sum().greater(1),
      () => variable.assign(draws()).add(x),
      () => x,
    ) as tf.Tensor;
  },
  gradients: (x) => {
    const tape = new tf.GradientTape();
    const y = tape.record(() => {
      tape.watch(x);
      return tf.whileLoop(
        (i: tf.Tensor) => i.less(3),
        (i: tf.Tensor, s: tf.Tensor) => [
          i.add(1),
          s.mul(dropout(x, { training: true }) as tf.Tensor).add(draws()),
        ],
        [n(0), x],
      )[1] as tf.Tensor;
    });
    return (tape.gradient(y, x) as tf.Tensor).add(draws());
  },
};

beforeEach(() => {
  tf.random.setSeed(11);
  state.restore(begin);
  variable.assign([0, 0, 0, 0]);
});

const x = (): tf.Tensor => tf.constant([1, 2, 3, 4]);
function restart(): void {
  tf.random.setSeed(11);
  state.restore(begin);
  variable.assign(tf.zeros([4]));
}
/** What some calls give, and the next numbers of each stream. */
function numbers(calls: number, fn: Code): number[][] {
  restart();
  const results = Array.from({ length: calls }, () => fn(x()).array() as number[]);
  return [...results, draws().array() as number[], generator.uniform([2]).array() as number[]];
}

// The last is a device whose bytes are none of the host's, and whose kernels run later.
describe.each(['native', 'js', '/device:REMOTE:0'])('draws of traced functions on %s', (backend) => {
  test.each(Object.entries(programs))('%s', (name, code) => {
    on(backend, () => {
      // A variable stays where it was made.
      variable = zero();
      const eager = numbers(3, code);
      const traced = tf.function(code);
      const close = (a: readonly number[][]): void =>
        a.forEach((row, i) => row.forEach((v, k) => expect(v, name).toBeCloseTo(eager[i]?.[k] as number, 3)));
      const first = numbers(3, traced);
      close(first);
      expect(numbers(3, traced)).toEqual(first);
      // Others in between count for both.
      restart();
      const mixed = [code(x()), traced(x()), code(x())].map((t) => t.array() as number[]);
      close(mixed);
    });
  });

  test('a retrace goes on where the last trace was', () => {
    on(backend, () => {
      const f = tf.function((t: tf.Tensor) =>
        tf.random.uniform(t.shape as number[]).add(tf.random.uniform([1])),
      );
      const run = (fn: Code): unknown[] => {
        tf.random.setSeed(3);
        return [[2], [3], [2], [4]].map((shape) => fn(tf.zeros(shape)).array());
      };
      expect(run(f)).toEqual(run((t) => tf.random.uniform(t.shape as number[]).add(tf.random.uniform([1]))));
    });
  });

  test('a failed call has made its draws: all of them, or in a loop those it came to', () => {
    on(backend, () => {
      const plain = tf.function((i: tf.Tensor) => {
        const [a, b] = [tf.random.uniform([2]), tf.random.uniform([2])];
        return a.add(b).gather(i).add(tf.random.uniform([]));
      });
      // A device that works on by itself tells of the error when its results are read.
      const count = (fn: () => tf.Tensor): number => {
        tf.random.setSeed(5);
        try {
          fn().data();
        } catch (error) {
          expect(error).toBeInstanceOf(tf.errors.OutOfRangeError);
        }
        const next = tf.random.uniform([3]).array();
        tf.random.setSeed(5);
        for (let i = 0; i < 20; i++) {
          if (String(tf.random.uniform([3]).array()) === String(next)) return i;
        }
        throw new Error('no such draw');
      };
      expect(count(() => plain(n(5)))).toBe(3);
      expect(count(() => plain(n(0)))).toBe(3);
      const looping = tf.function((limit: tf.Tensor) => {
        const first = tf.random.uniform([]);
        const [, sum] = tf.whileLoop(
          (i: tf.Tensor) => i.less(6),
          (i: tf.Tensor, s: tf.Tensor) => [
            i.add(1),
            s.add(tf.random.uniform([])).add(tf.zeros([4]).gather(i.add(limit))),
          ],
          [n(0), first],
        );
        return (sum as tf.Tensor).add(tf.random.uniform([]));
      });
      // The one in front, then four turns; the fifth draws and fails. A device that works on by itself makes all that was asked for.
      const ahead = backend.startsWith('/');
      expect(count(() => looping(n(0)))).toBe(ahead ? 8 : 6);
      expect(count(() => looping(n(-6)))).toBe(ahead ? 8 : 2);
      // What is tried again goes on behind what has failed.
      tf.random.setSeed(5);
      expect(() => plain(n(5)).data()).toThrow(tf.errors.OutOfRangeError);
      const again = plain(n(1)).item() as number;
      tf.random.setSeed(5);
      for (let i = 0; i < 3; i++) tf.random.uniform([]);
      const [a, b] = [tf.random.uniform([2]), tf.random.uniform([2])];
      expect(again).toBeCloseTo(
        ((a.add(b).array() as number[])[1] as number) + (tf.random.uniform([]).item() as number),
        5,
      );
    });
  });

  test('calls at once that do not wait draw as one after the other', async () => {
    for (const code of ['one after the other', 'branches in loops in loops', 'a loop of unknown length']) {
      const f = on(backend, () => tf.function(programs[code] as Code));
      const [plain, seeded] = on(backend, () => [
        tf.function((t: tf.Tensor) => t.add(tf.random.uniform([4]))),
        tf.function((t: tf.Tensor) => t.add(tf.random.uniform([4], { seed: 99 }))),
      ]);
      const order = [f, plain, f, seeded, f, plain] as const;
      const expected = on(backend, () => {
        restart();
        return order.map((g) => g(x()).array());
      });
      restart();
      const results = await onAll(backend, () => order.map((g) => g.runAsync(x())));
      expect(results.map((t) => t.array())).toEqual(expected);
    }
  });

  test('what was aborted before it began draws nothing', async () => {
    const f = on(backend, () => tf.function(() => tf.random.uniform([2])));
    tf.random.setSeed(1);
    await expect(onAll(backend, () => [f.runAsync(AbortSignal.abort())])).rejects.toThrow(
      tf.errors.CancelledError,
    );
    const next = on(backend, () => f().array());
    tf.random.setSeed(1);
    expect(tf.random.uniform([2]).array()).toEqual(next);
  });
});

test('one stream serves functions on both backends, and checkpoints', async () => {
  const f = tf.function(
    (t: tf.Tensor) =>
      tf.whileLoop(
        (i: tf.Tensor) => i.less(3),
        (i: tf.Tensor, s: tf.Tensor) => [i.add(1), s.add(tf.random.uniform([4]))],
        [n(0), t],
      )[1] as tf.Tensor,
  );
  const sums = (backends: readonly string[]): unknown[] => {
    tf.random.setSeed(2);
    return [...backends.map((b) => on(b, () => f(x()).array())), tf.random.uniform([2]).array()];
  };
  expect(sums(['js', 'native', 'js', 'native'])).toEqual(sums(['native', 'native', 'js', 'js']));
  const [[, state] = []] = [...(tf.random.globalStream.trackableView().attributes ?? [])];
  const kept = state?.save() as tf.Tensor;
  const next = f(x()).array();
  f(x());
  state?.restore(kept);
  expect(f(x()).array()).toEqual(next);
});
