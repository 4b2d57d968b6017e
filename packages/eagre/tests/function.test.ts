import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

afterEach(() => tf.config.runFunctionsEagerly(false));
const numbers = (x: unknown): number[] => Array.from((x as tf.Tensor).data() as Float32Array);

describe('a traced function', () => {
  test('computes what the function computes', () => {
    const f = tf.function((x: tf.Tensor, y: tf.Tensor) => x.matmul(y).add(1).tanh().sum(0));
    const x = tf.constant([[1, 2, 3, 4]]);
    const y = tf.range(12).reshape([4, 3]).mul(0.01);
    const eager = numbers(x.matmul(y).add(1).tanh().sum(0));
    expect(numbers(f(x, y))).toEqual(eager);
    expect(numbers(f(x, y))).toEqual(eager);
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('is traced for each dtype and shape, and runs host code only then', () => {
    const seen: string[] = [];
    const double = tf.function((a: tf.Tensor) => {
      seen.push(`${a.dtype} ${a.shape}`);
      return a.add(a);
    });
    expect(double(tf.constant(1, 'int32')).item()).toBe(2);
    expect(double(tf.constant(1.1)).item()).toBeCloseTo(2.2);
    expect(numbers(double(tf.constant([1, 2], 'int32')))).toEqual([2, 4]);
    expect(double(tf.constant(5, 'int32')).item()).toBe(10);
    expect(seen).toEqual(['int32 ', 'float32 ', 'int32 2']);
    expect(double.experimentalGetTracingCount()).toBe(3);
  });

  test('takes and returns structures, host values too', () => {
    const f = tf.function(
      ({ a, b }: { a: tf.Tensor; b: readonly tf.Tensor[] }, scale: number, name: string) => ({
        sum: a.add(b[0] as tf.Tensor).mul(scale),
        list: [b[1] as tf.Tensor, a],
        name,
        map: new Map([['same', a]]),
      }),
    );
    const [p, q, r] = [tf.constant(1), tf.constant(2), tf.constant(3)];
    const out = f({ a: p, b: [q, r] }, 10, 'n');
    expect(out.sum.item()).toBe(30);
    expect(out.list.map((t) => t.item())).toEqual([3, 1]);
    expect(out.name).toBe('n');
    expect(out.map.get('same')?.item()).toBe(1);
    f({ a: p, b: [q, r] }, 11, 'n');
    f({ a: p, b: [q, r] }, 10, 'm');
    expect(f.experimentalGetTracingCount()).toBe(3);
    f({ a: q, b: [q, r] }, 10, 'm');
    expect(f.experimentalGetTracingCount()).toBe(3);
  });

  test('reads captured tensors and the variables of the moment', () => {
    const c = tf.constant([1, 2]);
    const v = new tf.Variable([10, 20]);
    const f = tf.function((x: tf.Tensor) => x.mul(c).add(v));
    expect(numbers(f(tf.constant([1, 1])))).toEqual([11, 22]);
    v.assign([0, 0]);
    expect(numbers(f(tf.constant([1, 1])))).toEqual([1, 2]);
  });

  test('assigns variables in order', () => {
    const [a, b] = [new tf.Variable([1, 1]), new tf.Variable([2, 2])];
    const f = tf.function(() => {
      const before = a.read();
      a.assign(b);
      b.assign(before);
      a.assignAdd([100, 100]);
      return [before, a.read(), b.mul(1)];
    });
    const [before, after, other] = f();
    expect([before, after, other].map(numbers)).toEqual([
      [1, 1],
      [102, 102],
      [1, 1],
    ]);
    expect([a.data(), b.data()]).toEqual([new Float32Array([102, 102]), new Float32Array([1, 1])]);
    f();
    expect([a.data(), b.data()]).toEqual([new Float32Array([101, 101]), new Float32Array([102, 102])]);
  });

  test('a tensor read from a variable keeps its value', () => {
    const v = new tf.Variable([1, 2]);
    const before = v.read();
    const f = tf.function(() => {
      v.assignAdd([1, 1]);
    });
    f();
    f();
    expect(numbers(before)).toEqual([1, 2]);
    expect(numbers(v.read())).toEqual([3, 4]);
  });

  test('draws other random numbers at each run, those that eager code would', () => {
    const draw = (): tf.Tensor => tf.random.normal([3]).add(tf.random.uniform([3]));
    tf.random.setSeed(7);
    const eager = [draw(), draw()].map(numbers);
    const f = tf.function(draw);
    tf.random.setSeed(7);
    expect([f(), f()].map(numbers)).toEqual(eager);
  });
});

describe('gradients', () => {
  test('a tape inside', () => {
    const f = tf.function((x: tf.Tensor) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      return tape.gradient(x.mul(x).mul(x).sum(), x);
    });
    expect(numbers(f(tf.constant([1, 2, 3])))).toEqual([3, 12, 27]);
  });

  test('a tape outside, also to second order, and tapes over functions in functions', () => {
    const cube = tf.function((x: tf.Tensor) => x.mul(x).mul(x));
    const twice = tf.function((x: tf.Tensor) => cube(x).mul(2));
    const x = tf.constant(3);
    const outer = new tf.GradientTape();
    outer.watch(x);
    const inner = new tf.GradientTape();
    inner.watch(x);
    const dx = inner.gradient(twice(x), x) as tf.Tensor;
    expect(dx.item()).toBe(54);
    expect((outer.gradient(dx, x) as tf.Tensor).item()).toBe(36);
    expect(cube.experimentalGetTracingCount()).toBe(1);
  });

  test.each([
    ['SGD', () => new tf.optimizers.SGD(0.1)],
    ['Adam', () => new tf.optimizers.Adam(0.1)],
    ['Adam with a schedule', () => new tf.optimizers.Adam((step) => 0.1 / (1 + step))],
    [
      'SGD with momentum, decay and clipping',
      () => new tf.optimizers.SGD(0.1, { momentum: 0.9, weightDecay: 0.01, clipnorm: 1 }),
    ],
  ])('a training step equals the eager one: %s', (_, make) => {
    const train = (wrap: (f: () => tf.Tensor) => () => tf.Tensor): number[] => {
      const w = new tf.Variable([[0.5], [-0.3]]);
      const b = new tf.Variable([0.1]);
      const x = tf.constant([
        [1, 2],
        [3, 4],
        [5, 6],
      ]);
      const y = tf.constant([[1], [2], [3]]);
      const optimizer = make();
      const step = wrap(() => {
        const tape = new tf.GradientTape();
        const loss = x.matmul(w).add(b).sub(y).square().mean();
        optimizer.applyGradients(tape.gradient(loss, [w, b]), [w, b]);
        return loss;
      });
      const losses = Array.from({ length: 5 }, () => step().item());
      return [...losses, ...w.data(), ...b.data(), Number(optimizer.iterations.item())] as number[];
    };
    const eager = train((f) => f);
    const traced = train((f) => tf.function(f));
    expect(traced).toHaveLength(eager.length);
    traced.forEach((v, i) => expect(v).toBeCloseTo(eager[i] as number, 5));
  });

  test('a learning rate that changes later counts', () => {
    const w = new tf.Variable(1);
    const optimizer = new tf.optimizers.SGD(0.5);
    const step = tf.function(() => {
      optimizer.applyGradients([tf.constant(1)], [w]);
    });
    step();
    expect(w.item()).toBe(0.5);
    optimizer.learningRate = 0.25;
    step();
    expect(w.item()).toBe(0.25);
  });
});

describe('variables', () => {
  test('are made in the first call', () => {
    let v: tf.Variable | undefined;
    const f = tf.function((x: tf.Tensor) => {
      v ??= new tf.Variable(tf.ones([2]));
      return v.assignAdd(x).read();
    });
    expect(numbers(f(tf.constant([1, 2])))).toEqual([2, 3]);
    expect(numbers(f(tf.constant([1, 2])))).toEqual([3, 5]);
    expect(v?.data()).toEqual(new Float32Array([3, 5]));
  });

  test('are refused in later traces', () => {
    const f = tf.function((x: tf.Tensor) => new tf.Variable(tf.ones([2])).add(x));
    expect(() => f(tf.constant([1, 2]))).toThrow('first call only');
  });
});

describe('signatures', () => {
  test('one trace, numbers become tensors, other arguments are refused', () => {
    const f = tf.function({ inputSignature: [new tf.TensorSpec([null], 'int32')] })((x: tf.Tensor) =>
      x.add(1),
    );
    expect(numbers(f(tf.constant([1, 2], 'int32')))).toEqual([2, 3]);
    expect(() => f(tf.constant([[1], [2]], 'int32'))).toThrow(
      /shape \[2, 1\], expected \[null\][\s\S]*TensorSpec/,
    );
    expect(() => f(tf.constant([1, 2]))).toThrow('is float32, expected int32');
  });
});

describe('mistakes', () => {
  test('reading a value while tracing', () => {
    const f = tf.function((x: tf.Tensor) => (x.item() > 0 ? x : x.neg()));
    expect(() => f(tf.constant(1))).toThrow('no value while tf.function traces');
    tf.config.runFunctionsEagerly(true);
    expect(f(tf.constant(-1)).item()).toBe(1);
  });

  test('a tensor kept from inside', () => {
    let kept: tf.Tensor | undefined;
    const f = tf.function((x: tf.Tensor) => {
      kept = x.add(1);
      return kept;
    });
    f(tf.constant(1));
    expect(() => (kept as tf.Tensor).data()).toThrow('no value');
    expect(() => (kept as tf.Tensor).add(1)).toThrow();
  });

  test('an error while running names the op and the line', () => {
    const f = tf.function((x: tf.Tensor, i: tf.Tensor) => tf.gather(x, i));
    const x = tf.constant([1, 2, 3]);
    expect(f(x, tf.constant(1, 'int32')).item()).toBe(2);
    expect(() => f(x, tf.constant(7, 'int32'))).toThrow(/function\.test\.ts/);
    expect(f(x, tf.constant(2, 'int32')).item()).toBe(3);
  });

  test('an error in a layer, or in the gradient of one, names the line that called it', () => {
    const model = new tf.Sequential([
      new tf.layers.Embedding(4, 2),
      new tf.layers.Dense(3),
      new tf.layers.Dense(3),
    ]);
    const f = tf.function((i: tf.Tensor) => model(i));
    f(tf.zeros([2, 3], { dtype: 'int32' }));
    expect(() => f(tf.fill([2, 3], 9, { dtype: 'int32' }))).toThrow(/function\.test\.ts/);
    const divided = tf.customGradient((x: tf.Tensor) => [
      x.mul(1),
      (dy: tf.Tensor) => dy.mul(tf.cast(tf.constant([4, 5], 'int32').floorDiv(x.cast('int32')), 'float32')),
    ]);
    const g = tf.function((x: tf.Tensor) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      return tape.gradient(divided(x).sum(), x);
    });
    expect(g(tf.constant([1, 2]))?.array()).toEqual([4, 2]);
    expect(() => g(tf.constant([0, 2]))).toThrow(/gradient.*function\.test\.ts/s);
  });

  test('an async function', () => {
    const f = tf.function(async (x: tf.Tensor) => x);
    expect(() => f(tf.constant(1))).toThrow('must not be async');
  });

  test('many traces are warned of once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const f = tf.function((x: tf.Tensor, n: number) => x.mul(n));
    for (let i = 0; i < 10; i++) f(tf.constant(1), i);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});

describe('host code', () => {
  test('tf.print prints at every run, console.log while tracing only', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const f = tf.function((x: tf.Tensor) => {
      console.log('tracing');
      tf.print('x is', x, 'and its sum', x.sum());
      return x.add(1);
    });
    f(tf.constant([1, 2]));
    f(tf.constant([3, 4]));
    expect(log.mock.calls.map((c) => c.join(' '))).toEqual([
      'tracing',
      'x is [1 2] and its sum 3',
      'x is [3 4] and its sum 7',
    ]);
    log.mockRestore();
  });

  test('tf.print prints the same eagerly and traced', () => {
    const print = (x: tf.Tensor, name: tf.Tensor): string => {
      let text = '';
      const outputStream = { write: (more: string) => (text += more) };
      const code = (): void => {
        tf.print(name, { outputStream, end: ';' });
        tf.print('x', x.div(3), [name, { x: x.cast('int32'), k: 'v' }], {
          outputStream,
          summarize: 2,
          sep: '|',
        });
      };
      code();
      const eager = text;
      text = '';
      const traced = tf.function(code);
      traced();
      traced();
      expect(text).toBe(eager + eager);
      return eager;
    };
    expect(print(tf.range(5).cast('float32'), tf.constant('n'))).toBe(
      "n;x|[0 0.333333343 ... 1 1.33333337]|[\"n\", {'k': 'v', 'x': [0 1 ... 3 4]}]\n",
    );
    expect(print(tf.constant([[1, 2]]), tf.constant('ü'))).toBe(
      "ü;x|[[0.333333343 0.666666687]]|[\"ü\", {'k': 'v', 'x': [[1 2]]}]\n",
    );
  });

  test('a host function in the middle, with a result that goes on', () => {
    const f = tf.function((x: tf.Tensor) => {
      const y = x.mul(2);
      const sorted = tf.experimental.hostFunction((v) => (v.data() as Float32Array).sort(), [y], {
        dtype: 'float32',
        shape: [3],
      });
      return sorted.add(y);
    });
    for (let i = 0; i < 2; i++) expect(numbers(f(tf.constant([3, 1, 2])))).toEqual([8, 6, 10]);
  });

  test('its errors come out, and the function runs again', () => {
    const f = tf.function((x: tf.Tensor) => {
      tf.debugging.assertPositive(x, 'my x');
      return x.sqrt();
    });
    expect(f(tf.constant(4)).item()).toBe(2);
    expect(() => f(tf.constant(-4))).toThrow('my x');
    expect(f(tf.constant(9)).item()).toBe(3);
  });

  test('checks for numbers that are not finite run too, and let gradients through', () => {
    const f = tf.function((x: tf.Tensor) => {
      using tape = new tf.GradientTape();
      tape.watch(x);
      const y = tf.debugging.checkNumerics(tf.constant(6).div(x), 'my y');
      return tape.gradient(y, x) as tf.Tensor;
    });
    expect(f(tf.constant(2)).item()).toBe(-1.5);
    expect(() => f(tf.constant(0))).toThrow('my y');
    expect(f(tf.constant(1)).item()).toBe(-6);
  });
});

test('a profile has the kernels of the trace that fits', () => {
  const f = tf.function((x: tf.Tensor) => x.matmul(x).add(1).relu());
  const profile = f.profile(tf.ones([8, 8]));
  expect(profile.rows.map((r) => r.kernel)).toContain('MatMul');
  // Which one takes longest is not said.
  expect(profile.rows.find((r) => r.kernel === 'MatMul')?.bytes).toBeGreaterThan(8 * 8 * 4 * 2);
  expect(f.experimentalGetTracingCount()).toBe(1);
});

test('a draw whose result nobody uses is a draw all the same', () => {
  const code = (x: tf.Tensor): tf.Tensor => {
    tf.random.normal([2]);
    return x.add(tf.random.normal([2]));
  };
  const f = tf.function(code);
  const x = tf.constant([1, 2]);
  tf.random.setSeed(3);
  const eager = [numbers(code(x)), numbers(code(x))];
  tf.random.setSeed(3);
  expect([numbers(f(x)), numbers(f(x))]).toEqual(eager);
});
