// Results of traced functions that lie in one memory, as reshaped views do: each has a shape, a gradient and a life of its own.
import { describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const x4 = (): tf.Tensor => tf.constant([1, 2, 3, 4]);
const show = (list: readonly tf.Tensor[]): string[] => list.map((t) => JSON.stringify(t.array()));

describe('two views of one value', () => {
  const views: Record<string, (y: tf.Tensor) => readonly tf.Tensor[]> = {
    reshape: (y) => [y, y.reshape([2, 2])],
    'a view first': (y) => [y.reshape([4, 1]), y, y.reshape([2, 2]), y],
    expandDims: (y) => [y.expandDims(0), y, y.expandDims(1)],
    flatten: (y) => [y, y.flatten(), tf.identity(y)],
    squeeze: (y) => [y.reshape([4, 1]), y.reshape([4, 1]).squeeze(-1)],
    'an added axis': (y) => [y.at(null, ':'), y],
    'unstack of one': (y) => [y, ...tf.unstack(y.reshape([1, 4]))],
    stopGradient: (y) => [y, tf.stopGradient(y), tf.stopGradient(y.reshape([2, 2]))],
    'a value of it': (y) => [y.reshape([2, 2]), y.sin(), y],
  };
  describe.each(Object.entries(views))('%s', (_, view) => {
    const fn = (x: tf.Tensor): readonly tf.Tensor[] => view(x.mul(2));
    const traced = tf.function(fn);

    test('have shapes of their own', async () => {
      expect(show(traced(x4()))).toEqual(show(fn(x4())));
      expect(show(await traced.runAsync(x4()))).toEqual(show(fn(x4())));
    });

    test('one may be given back before the others', () => {
      const expected = show(fn(x4()));
      for (let i = 0; i < expected.length; i++) {
        const results = traced(x4());
        const gone = results[i] as tf.Tensor;
        gone.dispose();
        results.forEach((t, j) => {
          if (t !== gone) expect(JSON.stringify(t.array())).toBe(expected[j]);
        });
      }
    });

    test('have gradients of their own', () => {
      const count = fn(x4()).length;
      for (let i = 0; i < count; i++) {
        const of = (f: typeof fn): unknown => {
          const x = x4();
          using tape = new tf.GradientTape();
          tape.watch(x);
          const results = f(x);
          const dx = tape.gradient((results[i] as tf.Tensor).square(), x);
          return [dx?.array() ?? [0, 0, 0, 0], ...show(results)];
        };
        expect(of(traced)).toEqual(of(fn));
      }
    });
  });

  test('under names, and in a model whose last layer is a reshape', () => {
    const f = tf.function((x: tf.Tensor) => {
      const logits = x.mul(3);
      return { logits, score: logits.squeeze(-1) };
    });
    const x = tf.constant([[1], [2], [3]]);
    using tape = new tf.GradientTape();
    tape.watch(x);
    const { logits, score } = f(x);
    expect([logits.shape, score.shape]).toEqual([[3, 1], [3]]);
    expect(tape.gradient(score.sum(), x)?.array()).toEqual([[3], [3], [3]]);

    const model = new tf.keras.Sequential([
      new tf.layers.Dense(4, { kernelInitializer: 'ones' }),
      new tf.layers.Reshape([2, 2]),
    ]);
    const g = tf.function((x: tf.Tensor) => {
      const y = model(x);
      return [y, y.flatten()];
    });
    expect(g(tf.ones([1, 3])).map((t) => t.shape)).toEqual([[1, 2, 2], [4]]);
  });

  test('the value of a variable beside views of it, before and after it changes', () => {
    const v = new tf.Variable([1, 2, 3, 4]);
    const f = tf.function(() => {
      const before = v.read().reshape([2, 2]);
      v.assignAdd([1, 1, 1, 1]);
      return [before, v.read(), v.read().reshape([4, 1]), before.reshape([4])];
    });
    expect(show(f())).toEqual(['[[1,2],[3,4]]', '[2,3,4,5]', '[[2],[3],[4],[5]]', '[1,2,3,4]']);
    const kept = f();
    f();
    expect(show(kept)).toEqual(['[[2,3],[4,5]]', '[3,4,5,6]', '[[3],[4],[5],[6]]', '[2,3,4,5]']);
  });
});

/** Numbers in 0 … n − 1, the same for a seed. */
function generator(seed: number): (n: number) => number {
  let state = seed * 2654435761 + 12345;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
}

type Pick = (n: number) => number;
/** What is done to a tensor; `other` is another one. */
type Step = (x: tf.Tensor, other: tf.Tensor, v: tf.Variable) => tf.Tensor;

const toShapeOf = (x: tf.Tensor, of: tf.Tensor): tf.Tensor => x.sum().div(10).add(tf.zerosLike(of));

const viewing: readonly ((pick: Pick) => Step)[] = [
  () => (x) => x.reshape([-1]),
  () => (x) => x.reshape([1, -1]),
  () => (x) => x.reshape([1, -1, 1]),
  () => (x) => x.flatten().expandDims(1),
  (pick) => {
    const axis = pick(2);
    return (x) => x.expandDims(axis);
  },
  () => (x) => x.squeeze(),
  () => (x) => tf.identity(x),
  () => (x) => tf.stopGradient(x),
  () => (x) => x.at(null, '...'),
  () => (x) => x.at('...', ':'),
  () => (x) => tf.unstack(x.expandDims(0))[0] as tf.Tensor,
  () => (x) => tf.split(x.expandDims(0), 1)[0] as tf.Tensor,
  () => (x) => tf.concat([x], 0),
  () => (x) => tf.stack([x]),
  () => (x) => x.cast('float32'),
  () => (x) => x.expandDims(0).transpose(),
  () => (x) => tf.broadcastTo(x, x.shape),
  () => (x) => x.tile(x.shape.map(() => 1)),
  () => (x) => x.add(0),
  () => (x) => x.mul(1),
];
const computing: readonly ((pick: Pick) => Step)[] = [
  () => (x) => x.sin(),
  () => (x) => x.mul(2),
  () => (x, other) => x.mul(toShapeOf(other, x)),
  () => (x, other) => x.add(toShapeOf(tf.stopGradient(other), x)),
  () => (x) => x.sum(-1, { keepdims: true }),
  () => (x) => x.at('::-1'),
  () => (x) => x.at(':1'),
  () => (x) => x.square().reshape([-1]),
];
const ofVariables: readonly ((pick: Pick) => Step)[] = [
  () => (_x, _other, v) => v.read(),
  () => (_x, _other, v) => v.read().reshape([-1, 1]),
  () => (x, _other, v) => {
    const before = v.read();
    v.assignAdd(x.mean().add(tf.zerosLike(before)));
    return before;
  },
  () => (x, _other, v) => {
    v.assign(x.sum().add(tf.zerosLike(v.read())));
    return v.read();
  },
  () => (_x, _other, v) => tf.identity(v),
];
const controlled: readonly ((pick: Pick) => Step)[] = [
  (pick) => {
    const [inner, else_] = [step(pick, 0), step(pick, 0)];
    return (x, other, v) =>
      tf.cond(
        x.sum().greater(0),
        () => toShapeOf(inner(x, other, v), x),
        () => toShapeOf(else_(other, x, v), x).mul(x),
      );
  },
  (pick) => {
    const inner = step(pick, 0);
    return (x, other, v) => {
      const [, y, view] = tf.whileLoop(
        (i) => i.less(2),
        (i, y) => {
          const next = toShapeOf(inner(y, other, v), y).add(y);
          return [i.add(1), next, tf.identity(next)];
        },
        [tf.constant(0, 'int32'), x, x],
      ) as [tf.Tensor, tf.Tensor, tf.Tensor];
      return y.add(view);
    };
  },
  (pick) => {
    const inner = step(pick, 0);
    return (x, other) =>
      tf
        .mapFn((row: tf.Tensor) => toShapeOf(inner(row, other, still), row), x.reshape([-1, 1]))
        .reshape([-1]);
  },
];
const still = new tf.Variable(tf.ones([2]));

function step(pick: Pick, level = 1): Step {
  const kind = pick(10);
  const from = kind < 5 ? viewing : kind < 7 ? computing : kind < 9 || level === 0 ? ofVariables : controlled;
  return (from[pick(from.length)] as (typeof viewing)[number])(pick);
}

interface Program {
  /** The code, which returns some of what it has made. */
  readonly fn: (x: tf.Tensor) => tf.Tensor[];
  readonly v: tf.Variable;
}

function program(seed: number): Program {
  const pick = generator(seed);
  const v = new tf.Variable(tf.constant([0.5, -1, 2, 3]));
  const steps = Array.from({ length: 2 + pick(6) }, () => ({
    from: pick(64),
    with: pick(64),
    step: step(pick),
  }));
  const returned = Array.from({ length: 1 + pick(5) }, () => pick(64));
  const fn = (x: tf.Tensor): tf.Tensor[] => {
    const made: tf.Tensor[] = [x.mul(0.5)];
    const at = (i: number): tf.Tensor => made[i % made.length] as tf.Tensor;
    for (const { from, with: other, step } of steps) made.push(step(at(from), at(other), v));
    return returned.map((i) => made[(made.length - 1 - (i % made.length)) % made.length] as tf.Tensor);
  };
  return { fn, v };
}

const rounded = (t: tf.Tensor): unknown => [
  t.dtype,
  `[${t.shape}]`,
  ...Array.from(t.data() as Float32Array, (n) => Number(n.toPrecision(4)) + 0),
];

/** A gradient; as in TensorFlow, a function has zeros where no path of its leads from a result to an argument, and ops have none. */
const gradient = (t: tf.Tensor | null): unknown =>
  t === null || Array.from(t.data() as Float32Array).every((n) => n === 0) ? null : rounded(t);

/** All that can be seen of a run: values, which results are one tensor, the variable, gradients of each result, to second order. */
function seen(v: tf.Variable, call: (x: tf.Tensor) => tf.Tensor[], n: number): unknown {
  const x = tf.linspace(-1, 2, n);
  const fresh = (): void => {
    v.assign([0.5, -1, 2, 3]);
    still.assign([1, 1]);
  };
  const attempt = (run: () => unknown): unknown => {
    fresh();
    try {
      return run();
    } catch (error) {
      return (error as Error).constructor.name;
    }
  };
  const plain = attempt(() => {
    const results = call(x);
    const same = results.map((t) => results.indexOf(t));
    const values = results.map(rounded);
    results[0]?.dispose();
    return [values, same, rounded(v.read()), results.map((t) => (t === results[0] ? 0 : rounded(t)))];
  });
  const persistent = attempt(() => {
    using tape = new tf.GradientTape({ persistent: true });
    tape.watch(x);
    const results = call(x);
    return results.map((t) => [gradient(tape.gradient(t, x)), gradient(tape.gradient(t.square(), v))]);
  });
  const together = attempt(() => {
    using tape = new tf.GradientTape();
    tape.watch(x);
    const results = call(x);
    const found = tape.gradient(results, [x, v]);
    return [...found.map(gradient), ...results.map(rounded)];
  });
  const second = attempt(() => {
    using outer = new tf.GradientTape();
    outer.watch(x);
    using inner = new tf.GradientTape();
    inner.watch(x);
    const y = call(x).reduce((sum, t) => sum.add(t.square().sum()), tf.constant(0));
    const dx = inner.gradient(y, x);
    return dx === null || dx.square().sum().item() === 0 ? null : gradient(outer.gradient(dx.square(), x));
  });
  return { plain, persistent, together, second };
}

const PROGRAMS = 100;

describe('random programs whose results may be views of each other', () => {
  test(`${PROGRAMS} give traced what they give eagerly`, () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    for (let seed = 0; seed < PROGRAMS; seed++) {
      const made = program(seed);
      const traced = tf.function(made.fn);
      const sized = tf.function({ inputSignature: [new tf.TensorSpec([null])] })(made.fn);
      for (const n of [4, 1, 6]) {
        const expected = seen(made.v, made.fn, n);
        expect([seed, n, seen(made.v, traced, n)]).toEqual([seed, n, expected]);
        expect([seed, n, 'sized', seen(made.v, sized, n)]).toEqual([seed, n, 'sized', expected]);
      }
    }
  });

  test('on another thread, and inside of another function', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    for (let seed = 1000; seed < 1040; seed++) {
      const { fn, v } = program(seed);
      const traced = tf.function(fn);
      const outer = tf.function((x: tf.Tensor) => traced(x).map((t) => t));
      const fresh = (): void => {
        v.assign([0.5, -1, 2, 3]);
        still.assign([1, 1]);
      };
      const x = tf.linspace(-1, 2, 4);
      const attempt = async (run: () => unknown): Promise<unknown> => {
        fresh();
        try {
          const results = (await run()) as tf.Tensor[];
          return [...results.map(rounded), rounded(v.read())];
        } catch (error) {
          return (error as Error).constructor.name;
        }
      };
      const expected = await attempt(() => fn(x));
      expect([seed, await attempt(() => traced.runAsync(x))]).toEqual([seed, expected]);
      expect([seed, await attempt(() => outer(x))]).toEqual([seed, expected]);
    }
  });
});
