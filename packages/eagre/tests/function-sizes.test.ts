import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const numbers = (x: unknown): number[] => Array.from((x as tf.Tensor).data() as Float32Array, Number);
const spec = (...shape: (number | null)[]): tf.TensorSpec => new tf.TensorSpec(shape);
afterEach(() => vi.restoreAllMocks());

const warnings = (): (() => string[]) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  return () => warn.mock.calls.map((call) => String(call[0]));
};

describe('a size that may be any', () => {
  test('has one trace, and the code runs once', () => {
    const warned = warnings();
    let runs = 0;
    const f = tf.function({ inputSignature: [spec(null, 3)] })((x: tf.Tensor) => {
      runs++;
      return x.mul(2).sum(1);
    });
    for (const n of [1, 2, 3, 7, 32, 2])
      expect(f(tf.ones([n, 3])).data()).toEqual(new Float32Array(n).fill(6));
    expect(f(tf.ones([0, 3])).shape).toEqual([0]);
    expect(runs).toBe(1);
    expect(f.experimentalGetTracingCount()).toBe(1);
    expect(warned()).toEqual([]);
  });

  test('tf.shape is that of the run', () => {
    const f = tf.function({ inputSignature: [spec(null, 3)] })((x: tf.Tensor) => [tf.shape(x), x.mean()]);
    for (const n of [1, 5, 4]) {
      const [shape, mean] = f(tf.ones([n, 3]));
      expect(numbers(shape)).toEqual([n, 3]);
      expect((mean as tf.Tensor).item()).toBe(1);
    }
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('Collatz of TensorFlow’s guide', () => {
    const next = tf.function({ inputSignature: [new tf.TensorSpec([null], 'int32')] })((x: tf.Tensor) =>
      tf.where(x.mod(2).equal(0), x.floorDiv(2), x.mul(3).add(1)),
    );
    expect(numbers(next(tf.constant([1, 2], 'int32')))).toEqual([4, 1]);
    expect(numbers(next(tf.constant([1, 2, 3, 4, 5], 'int32')))).toEqual([4, 1, 10, 2, 16]);
    expect(next.experimentalGetTracingCount()).toBe(1);
    expect(() => next(tf.constant([[1, 2]], 'int32'))).toThrow(
      /expected \[null\][\s\S]*signature[\s\S]*arguments/,
    );
  });

  test('is no number for the code: asked for, the function is traced for each size, and that is told once', () => {
    const warned = warnings();
    const seen: unknown[] = [];
    const f = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) => {
      seen.push(x.shape[0]);
      return x.add(x.shape[0] as number);
    });
    expect(numbers(f(tf.zeros([2])))).toEqual([2, 2]);
    expect(numbers(f(tf.zeros([3])))).toEqual([3, 3, 3]);
    expect(numbers(f(tf.zeros([2])))).toEqual([2, 2]);
    expect(seen).toEqual([2, 3]);
    expect(warned()).toHaveLength(1);
    expect(warned()[0]).toMatch(/each size.*tf\.shape\(x\).*function-sizes\.test\.ts/s);
  });

  test('is shown as a question mark', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const f = tf.function({ inputSignature: [spec(null, 3)], name: 'f' })((x: tf.Tensor) => {
      console.log(x);
      return x.reshape([-1]);
    });
    f(tf.ones([2, 3]));
    const text = f.getConcreteFunction().graph.toString();
    expect(text).toContain('f(%args_0: float32[?,3]) {');
    expect(text).toMatch(/%Reshape: float32\[\?\] = Reshape\(%args_0\) \{shape: \[\?\]\}/);
    expect(log).toHaveBeenCalledTimes(1);
  });

  test('of several tensors may be equal in the first call and differ in the next', () => {
    const f = tf.function({ inputSignature: [spec(null, 2), spec(null)] })((x: tf.Tensor, y: tf.Tensor) =>
      x.sum(1).mean().add(y.mean()),
    );
    for (const n of [4, 5, 1]) expect(f(tf.ones([n, 2]), tf.ones([n])).item()).toBe(3);
    expect(f.experimentalGetTracingCount()).toBe(1);
    for (const n of [4, 5, 1]) expect(f(tf.ones([n, 2]), tf.ones([n + 1])).item()).toBe(3);
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('any rank: a trace for each', () => {
    const f = tf.function({ inputSignature: [new tf.TensorSpec(null)] })((x: tf.Tensor) => x.sum());
    for (const shape of [[2], [3], [2, 3], [4, 1], []]) f(tf.ones(shape));
    expect(f.experimentalGetTracingCount()).toBe(3);
  });

  test('variables are made in the first call', () => {
    class Dense extends tf.Module {
      w: tf.Variable | undefined;
      readonly call = tf.function({ inputSignature: [spec(null, 3)] })((x: tf.Tensor) => {
        this.w ??= new tf.Variable(tf.ones([x.shape[1] as number, 2]));
        return x.matmul(this.w);
      });
    }
    const dense = new Dense();
    for (const n of [1, 4]) expect(dense.call(tf.ones([n, 3])).shape).toEqual([n, 2]);
    expect(dense.call.experimentalGetTracingCount()).toBe(2);
  });

  test('in a function that another one calls, and under a tape outside', () => {
    const inner = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) => x.square().mean());
    const plain = tf.function((x: tf.Tensor) => x.at('-2:').mul(3));
    const outer = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) =>
      inner(plain(x)).add(x.sum()),
    );
    for (const n of [2, 5, 3]) expect(outer(tf.ones([n])).item()).toBe(9 + n);
    expect(outer.experimentalGetTracingCount()).toBe(1);
    // The last two of one are one.
    expect(outer(tf.ones([1])).item()).toBe(10);
    const x = tf.ones([4]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    expect(numbers(tape.gradient(inner(x), x))).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  test('twenty sizes, of which the plans of sixteen are kept', () => {
    const f = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) => x.mul(2).add(1));
    for (let round = 0; round < 2; round++)
      for (let n = 1; n <= 20; n++) expect(numbers(f(tf.ones([n])))).toEqual(new Array(n).fill(3));
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('an error while running names the line', () => {
    const f = tf.function({ inputSignature: [spec(null), new tf.TensorSpec([], 'int32')] })(
      (x: tf.Tensor, i: tf.Tensor) => tf.gather(x, i),
    );
    expect(f(tf.ones([3]), tf.constant(2, 'int32')).item()).toBe(1);
    expect(() => f(tf.ones([2]), tf.constant(2, 'int32'))).toThrow(/function-sizes\.test\.ts/);
  });
});

describe('getConcreteFunction', () => {
  const power = tf.function((a: tf.Tensor, b: tf.Tensor | number) => a.pow(b));

  test('takes specs, and is called with what fits', () => {
    const square = power.getConcreteFunction(spec(null), 2);
    expect(numbers(square(tf.constant([3, 4]), 2))).toEqual([9, 16]);
    expect(numbers(square(tf.constant([3])))).toEqual([9]);
    expect(square.structuredInputSignature.map(String)).toEqual([
      'TensorSpec(shape=[null], dtype=float32)',
      '2',
    ]);
    expect(() => square(tf.constant([1], 'int32'))).toThrow(/int32[\s\S]*signature: \[TensorSpec/);
    expect(() => square(tf.constant([[1]]))).toThrow('expected TensorSpec(shape=[null], dtype=float32)');
    expect(() => square(tf.constant([1]), 3)).toThrow('do not match the concrete function');
    expect(() => square()).toThrow('do not match');
  });

  test('of known shapes has a plan, of others one for each size', () => {
    const concrete = power.getConcreteFunction(tf.constant([1, 2]), tf.constant(2));
    expect(concrete.planText()).toContain('float32');
    expect(concrete.profile(tf.constant([1, 2]), tf.constant(2)).toString()).toContain('Pow');
    const any = power.getConcreteFunction(spec(null), spec());
    expect(() => any.planText()).toThrow('plan per size');
    expect(any.planText(tf.ones([3]), tf.constant(1))).toContain('[3]');
    expect(() => any.graph.statistics()).toThrow('specialize(x)');
    expect(any.specialize(tf.ones([3]), tf.constant(1)).graph.statistics().elementsWritten).toBe(3);
  });

  test('serves calls of the function that it fits', () => {
    let runs = 0;
    const f = tf.function((x: tf.Tensor) => {
      runs++;
      return x.add(1);
    });
    f.getConcreteFunction(spec(null));
    f(tf.ones([2]));
    f(tf.ones([3]));
    expect(runs).toBe(1);
  });

  const matrix = [null, null];
  const vector = [null];
  test.each<[string, (a: tf.Tensor, b: tf.Tensor) => tf.Tensor, (number | null)[], (number | null)[]]>([
    ['matmul', (a, b) => a.matmul(b), matrix, matrix],
    ['matmul, transposed', (a, b) => tf.matmul(a, b, { transposeB: true }), matrix, matrix],
    ['matvec', (a, b) => tf.linalg.matvec(a, b), matrix, vector],
    ['add', (a, b) => a.add(b), matrix, vector],
    ['where', (a, b) => tf.where(a.greater(0), a, b), matrix, vector],
    ['concat', (a, b) => tf.concat([a, tf.transpose(b)], 0), matrix, matrix],
    ['stack', (a, b) => tf.stack([a, tf.transpose(b)]), matrix, matrix],
    ['einsum', (a, b) => tf.einsum('ij,jk->ik', a, b), matrix, matrix],
    ['dot', (a, b) => a.reshape([-1]).dot(b), matrix, vector],
    ['biasAdd', (a, b) => tf.nn.biasAdd(a, b), matrix, vector],
    ['broadcastTo', (a, b) => tf.broadcastTo(b, tf.shape(a)), matrix, vector],
    ['scatter', (a, b) => tf.tensorScatterNdUpdate(a, [[0]], b.expandDims(0)), matrix, vector],
    ['solve', (a, b) => tf.linalg.solve(a, b), matrix, matrix],
    [
      'conv2d',
      (a, b) => tf.nn.conv2d(a, b, { padding: 'SAME' }),
      [null, ...vector, ...matrix],
      [null, ...vector, ...matrix],
    ],
  ])('takes sizes that may fit as sizes that do: %s', (_, fn, a, b) => {
    const f = tf.function(fn, { inputSignature: [spec(...a), spec(...b)] });
    const { shape } = f.getConcreteFunction().structuredOutputs as tf.TensorSpec;
    expect((shape as (number | null)[]).filter((d) => d !== null && d !== 2)).toEqual([]);
  });

  test('which a call looks at', () => {
    const f = tf.function((a: tf.Tensor, b: tf.Tensor) => a.matmul(b).add(b.sum(0)), {
      inputSignature: [spec(null, null), spec(null, null)],
    });
    f.getConcreteFunction();
    expect(numbers(f(tf.ones([1, 2]), tf.ones([2, 3])))).toEqual([4, 4, 4]);
    expect(numbers(f(tf.ones([1, 3]), tf.ones([3, 1])))).toEqual([6]);
    expect(() => f(tf.ones([2, 3]), tf.ones([4, 4]))).toThrow('the inner dimensions 3 and 4 differ');
    const g = tf.function((a: tf.Tensor, b: tf.Tensor) => a.add(b), {
      inputSignature: [spec(null, null), spec(null)],
    });
    g.getConcreteFunction();
    expect(
      [
        g(tf.ones([2, 5]), tf.ones([5])),
        g(tf.ones([2, 5]), tf.ones([1])),
        g(tf.ones([2, 1]), tf.ones([5])),
      ].map((t) => t.shape),
    ).toEqual([
      [2, 5],
      [2, 5],
      [2, 5],
    ]);
    expect(() => g(tf.ones([2, 3]), tf.ones([4]))).toThrow('do not broadcast');
  });

  test('throws where no size is known and one is asked for', () => {
    const f = tf.function((x: tf.Tensor) => x.mul(x.shape[0] as number));
    expect(() => f.getConcreteFunction(spec(null))).toThrow('tf.shape(x)');
  });
});

describe('reduceRetracing', () => {
  test('after a second size one trace serves all', () => {
    const f = tf.function((x: tf.Tensor) => x.mul(2), { reduceRetracing: true });
    for (const n of [2, 3, 4, 5]) expect(numbers(f(tf.ones([n])))).toEqual(new Array(n).fill(2));
    expect(f.experimentalGetTracingCount()).toBe(2);
    f(tf.ones([2, 2]));
    f(tf.ones([2, 3]));
    f(tf.ones([2, 9]));
    expect(f.experimentalGetTracingCount()).toBe(4);
    f(tf.ones([3, 9]));
    f(tf.ones([7, 8]));
    expect(f.experimentalGetTracingCount()).toBe(5);
  });
});

describe('many traces', () => {
  test('are warned of with the reason', () => {
    const warned = warnings();
    const f = tf.function((x: tf.Tensor, n: number) => x.mul(n), { name: 'scale' });
    for (let i = 0; i < 6; i++) f(tf.constant(1), i);
    const g = tf.function((x: { a: tf.Tensor }) => x.a.mul(2));
    for (let i = 0; i < 6; i++) g({ a: tf.ones([i]) });
    const [numbers, shapes] = warned() as [string, string];
    expect(numbers).toContain("of 'scale'");
    expect(numbers).toContain('argument 1 is 4, was 3');
    expect(shapes).toContain('argument 0.a is float32 [4], was float32 [3]');
  });
});

describe('numbers of the program that are like those that stand for sizes', () => {
  const int = (n: number | number[]): tf.Tensor => tf.constant(n, 'int32');
  const vector = { inputSignature: [new tf.TensorSpec([null], 'int32')] };
  const own = [18000387, 9000193, 9000190, 14000066, 28000132, 9450013, 123456789, 300_000, -9000193];

  test.each(own)('the constant %i', (number) => {
    const warned = warnings();
    const inside = tf.function(vector)((x: tf.Tensor) => x.mul(0).add(int(number)));
    const bare = tf.function(vector)((x: tf.Tensor) => x.mul(0).add(number));
    const outside = int(number);
    const captured = tf.function(vector)((x: tf.Tensor) => x.mul(0).add(outside));
    const list = tf.function(vector)((x: tf.Tensor) =>
      x
        .sum()
        .mul(0)
        .add(int([number, 1, 2])),
    );
    const real = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) => x.mul(0).add(1 / number));
    for (const n of [4, 1, 7]) {
      const x = tf.ones([n], 'int32');
      for (const f of [inside, bare, captured]) expect(numbers(f(x))).toEqual(new Array(n).fill(number));
      expect(numbers(list(x))).toEqual([number, 1, 2]);
      expect(numbers(real(tf.ones([n])))).toEqual(new Array(n).fill(Math.fround(1 / number)));
    }
    for (const f of [inside, bare, captured, list, real]) expect(f.experimentalGetTracingCount()).toBe(1);
    expect(warned()).toEqual([]);
  });

  test.each(own.slice(0, -1))('the size %i', (number) => {
    warnings();
    const zeros = tf.function(vector)((x: tf.Tensor) => [tf.zeros([number], 'uint8'), x.sum()]);
    const slice = tf.function(vector)((x: tf.Tensor) => x.at(`:${number}`).sum());
    const rest = tf.function(vector)((x: tf.Tensor) => x.at(`${number}:`));
    const last = tf.function(vector)((x: tf.Tensor) => x.at(`-${number}:`).sum());
    const padded = tf.function(vector)((x: tf.Tensor) => tf.pad(x.cast('uint8'), [[0, number]]));
    const reshaped = tf.function(vector)((x: tf.Tensor) => x.reshape([number]));
    for (const n of [4, 7]) {
      const x = tf.ones([n], 'int32');
      expect([zeros(x)[0]?.shape, zeros(x)[1]?.item()]).toEqual([[number], n]);
      expect([slice(x).item(), last(x).item()]).toEqual([n, n]);
      expect(rest(x).shape).toEqual([0]);
      expect(padded(x).shape).toEqual([n + number]);
      expect(() => reshaped(x)).toThrow('do not fit');
    }
  });

  test('large known sizes beside an unknown one take one trace', () => {
    const f = tf.function({ inputSignature: [new tf.TensorSpec([null, 300_000])] })((x: tf.Tensor) =>
      x
        .reshape([-1, 2, 150_000])
        .sum([1, 2])
        .add(tf.ones([300_000]).mean()),
    );
    for (const n of [1, 3, 2]) expect(numbers(f(tf.ones([n, 300_000])))).toEqual(new Array(n).fill(300_001));
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('numbers inside of branches and loops, and in functions that are called', () => {
    warnings();
    const inner = tf.function(vector)((x: tf.Tensor) => x.sum().mul(0).add(9000193).add(tf.shape(x).at(0)));
    const f = tf.function(vector)((x: tf.Tensor) => {
      const [, y] = tf.whileLoop(
        (i) => i.less(2),
        (i, y) => [
          i.add(1),
          tf.cond(
            x.sum().greater(0),
            () => y.add(18000387),
            () => y.add(tf.shape(x).at(0)),
          ),
        ],
        [int(0), int(0)],
      ) as [tf.Tensor, tf.Tensor];
      return y.add(inner(x));
    });
    for (const n of [4, 2]) {
      expect(f(tf.ones([n], 'int32')).item()).toBe(2 * 18000387 + 9000193 + n);
      expect(f(tf.ones([n], 'int32').neg()).item()).toBe(2 * n + 9000193 + n);
    }
  });
});

describe('slices of an unknown size', () => {
  const bounds = [
    '-2:2',
    '-1:5',
    '5:-4:-2',
    '2:-2',
    '-3:-1',
    '1:3',
    ':-5',
    '-5:',
    '4:',
    ':4:2',
    '3::-1',
    ':-3:-1',
    '-9:9',
    '0:0',
    '2:1',
    '-1:0',
  ];

  test.each(bounds)('%s', (bound) => {
    warnings();
    const f = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) => x.at(bound).mul(2));
    const [begin, end, step] = bound.split(':').map((s) => (s === '' ? null : Number(s)));
    const strided = tf.function({ inputSignature: [spec(null)] })((x: tf.Tensor) =>
      tf.stridedSlice(x, [begin ?? 0], [end ?? 0], [step ?? 1], {
        beginMask: Number(begin === null),
        endMask: Number(end === null),
      }),
    );
    for (const n of [8, 3, 1, 5, 2, 4, 6, 12, 7]) {
      const x = tf.range(n);
      const expected = numbers(x.at(bound));
      expect([n, numbers(f(x))]).toEqual([n, expected.map((v) => 2 * v)]);
      expect([n, numbers(strided(x))]).toEqual([n, expected]);
    }
  });
});
