// Sizes that depend on values, in traced functions: as eagerly, in one trace where the code does not ask for them.
import { describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

type Fn = (...xs: tf.Tensor[]) => unknown;

/** Calls a function traced and eagerly on each of several inputs. @returns how often it was traced. */
function agrees(
  fn: Fn,
  calls: readonly (readonly tf.Tensor[])[],
  options: { signature?: boolean } = {},
): number {
  const inputSignature = calls[0]?.map(
    (x) =>
      new tf.TensorSpec(
        x.shape.map(() => null),
        x.dtype,
      ),
  );
  const traced =
    options.signature === true && inputSignature !== undefined
      ? tf.function(fn, { inputSignature })
      : tf.function(fn);
  for (const call of calls) {
    const expected = fn(...call);
    for (let again = 0; again < 2; again++) same(traced(...call), expected);
  }
  return (traced as unknown as { experimentalGetTracingCount(): number }).experimentalGetTracingCount();
}

function same(got: unknown, expected: unknown): void {
  if (expected instanceof tf.Tensor) {
    const tensor = got as tf.Tensor;
    expect(tensor.dtype).toBe(expected.dtype);
    expect(tensor.shape).toEqual(expected.shape);
    const [a, b] = [tensor, expected].map((t) => Array.from(t.data() as Float32Array, Number));
    (a as number[]).forEach((v, i) => {
      expect(v).toBeCloseTo((b as number[])[i] as number, 4);
    });
  } else if (Array.isArray(expected)) {
    expect((got as unknown[]).length).toBe(expected.length);
    expected.forEach((e, i) => {
      same((got as unknown[])[i], e);
    });
  } else if (typeof expected === 'object' && expected !== null) {
    for (const [k, v] of Object.entries(expected)) same((got as Record<string, unknown>)[k], v);
  } else expect(got).toBe(expected);
}

const vectors = [
  [1, -2, 3, 0, -5, 6],
  [-1, -2, -3, -4, -5, -6],
  [1, 2, 3, 4, 5, 6],
  [0, 7, 0, 0, 0, 0],
].map((v) => tf.constant(v, 'float32'));
const one = vectors.map((v) => [v]);

describe('ops whose results have sizes that depend on values', () => {
  test.each<[string, Fn]>([
    ['nonzero', (x) => x.nonzero()],
    ['where of a condition', (x) => tf.where(x.greater(0))],
    ['booleanMask', (x) => tf.booleanMask(x, x.greater(0))],
    ['at a mask', (x) => x.at(x.greater(0))],
    ['unique', (x) => tf.unique(x)],
    ['sequenceMask', (x) => tf.sequenceMask(x.abs().cast('int32'))],
    ['its size as a tensor', (x) => tf.shape(tf.booleanMask(x, x.greater(0)))],
  ])('%s', (_, fn) => {
    expect(agrees(fn, one)).toBe(1);
    expect(agrees(fn, [...one, [tf.constant([1, -1, 2])]], { signature: true })).toBe(1);
  });

  test.each<[string, Fn]>([
    ['elementwise ops', (x) => x.mul(2).add(1).exp().sub(x)],
    ['reductions', (x) => [x.sum(), x.cumsum(), tf.reduceMax(tf.concat([x, [0]], 0))]],
    ['rows and columns', (x) => x.expandDims(1).matmul(x.expandDims(0))],
    ['a row for each', (x) => x.expandDims(1).add(tf.constant([1, 2, 3]))],
    ['joined', (x) => [tf.concat([x, x, [1, 2]], 0), tf.stack([x, x.neg()])]],
    ['reshaped', (x) => tf.concat([x, x], 0).reshape([2, -1])],
    ['sorted', (x) => tf.sort(x)],
    ['reversed and padded', (x) => tf.pad(tf.reverse(x, [0]), [[1, 2]])],
    ['gathered', (x) => tf.gather(tf.range(100, { dtype: 'float32' }), x.abs().cast('int32'))],
    ['counted', (x) => tf.range(tf.shape(x).gather(0))],
    ['like it', (x) => [tf.zerosLike(x), tf.onesLike(x).mul(3)]],
    ['masked again', (x) => tf.booleanMask(x, x.greater(2))],
    ['one-hot', (x) => tf.oneHot(x.cast('int32'), 8)],
  ])('and behind them: %s', (_, fn) => {
    expect(agrees((x) => fn(tf.booleanMask(x as tf.Tensor, (x as tf.Tensor).greater(0))), one)).toBe(1);
  });

  test('gradients, inside and outside', () => {
    const loss = (x: tf.Tensor): tf.Tensor => tf.booleanMask(x, x.greater(0)).square().sum();
    const inside = (x: tf.Tensor): tf.Tensor => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      return tape.gradient(loss(x), x) as tf.Tensor;
    };
    expect(agrees(inside as Fn, one)).toBe(1);
    const traced = tf.function(loss);
    for (const x of vectors) {
      const tape = new tf.GradientTape();
      tape.watch(x);
      same(tape.gradient(traced(x), x), x.maximum(0).mul(2));
    }
  });

  test('sizes that decide: a broadcast, an equal shape, an empty list', () => {
    const x = tf.constant([1, 2, 3, 4]);
    const masks = [
      [1, 1, 1, 1],
      [0, 1, 0, 0],
      [1, 1, 1, 1],
      [0, 0, 1, 0],
    ].map((m) => tf.constant(m, 'bool'));
    const fn: Fn = (mask) => tf.booleanMask(x, mask as tf.Tensor).add(x);
    expect(
      agrees(
        fn,
        masks.map((m) => [m]),
      ),
    ).toBe(2);
    expect(() => tf.function(fn)(tf.constant([1, 1, 0, 0], 'bool'))).toThrow(/broadcast|shape/);
  });

  test('asked for by the code, the function is traced for each', () => {
    const fn: Fn = (x) => {
      const positive = tf.booleanMask(x as tf.Tensor, (x as tf.Tensor).greater(0));
      return (positive.shape[0] as number) > 2 ? positive.sum() : positive;
    };
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    expect(agrees(fn, one)).toBe(4);
    expect(agrees(fn, one)).toBe(4);
    expect(warn.mock.calls.map(String)).toEqual([
      expect.stringMatching(/each value of a size.*tf\.shape\(x\).*value-sizes\.test\.ts/s),
    ]);
    warn.mockRestore();
  });
});

describe('tensors as sizes', () => {
  const x = tf.range(12, { dtype: 'float32' });
  test.each<[string, (n: tf.Tensor) => unknown]>([
    ['zeros', (n) => tf.zeros([n, 2])],
    ['fill', (n) => tf.fill([2, n], 7)],
    ['range', (n) => tf.range(n)],
    ['eye', (n) => tf.eye(n)],
    ['reshape', (n) => x.reshape([n, -1])],
    ['tile', (n) => tf.tile(x, [n])],
    ['repeat', (n) => tf.repeat(x, n)],
    ['oneHot', (n) => tf.oneHot([0, 1, 2], n)],
    ['topK', (n) => tf.math.topK(x, n)],
    ['slice', (n) => tf.slice(x, [1], [n])],
    ['broadcastTo', (n) => tf.broadcastTo(tf.constant([[1, 2]]), [n, 2])],
    ['sequenceMask', (n) => tf.sequenceMask([1, 2, 3], n)],
    ['a shape of tensors', (n) => tf.ones(tf.stack([n, n.add(1)]))],
    ['pad', (n) => tf.pad(x, [[n, 1]])],
    ['roll', (n) => tf.roll(x, n.neg(), 0)],
    ['roll along several axes', (n) => tf.roll(x.reshape([3, 4]), [n, -2], [0, 1])],
    ['roll by a list', (n) => tf.roll(x.reshape([3, 4]), tf.stack([n, n.add(7)]), [1, 0])],
    ['linspace', (n) => tf.linspace(-1, 2.1, n)],
    ['repeat, each its own number', (n) => tf.repeat(x, tf.range(12, { dtype: 'int32' }).mod(n), 0)],
    ['repeat by a list', (n) => tf.repeat(x.reshape([3, 4]), [n, 0, n.sub(1)], 0)],
    ['repeat by a list of one', (n) => tf.repeat(x, n.reshape([1]))],
  ])('%s', (_, fn) => {
    const calls = [2, 3, 4, 2, 1].map((n) => [tf.constant(n, 'int32')]);
    expect(agrees(fn as Fn, calls)).toBe(1);
  });

  // -1 is put in at each run, so that what follows has the size of the result.
  const int = (v: number | number[]): tf.Tensor => tf.constant(v, 'int32');
  test.each<[string, Fn, (number | number[])[]]>([
    [
      'reshape, a list',
      (v) => x.reshape(v as tf.Tensor).sum(0),
      [
        [3, -1],
        [-1, 2],
        [2, 6],
        [1, -1],
        [-1, 12],
      ],
    ],
    ['reshape, a list of tensors', (n) => x.reshape(tf.stack([n as tf.Tensor, int(-1)])), [2, 3, 4, 1, 12]],
    ['slice from there on', (n) => tf.slice(x, tf.stack([n as tf.Tensor])), [0, 3, 12]],
    ['slice all from there on', (n) => tf.slice(x, [n as tf.Tensor], [-1]).mul(2), [0, 3, 12]],
    [
      'slice, sizes',
      (v) => tf.slice(x.reshape([3, 4]), [1, 1], v as tf.Tensor),
      [
        [2, -1],
        [-1, 2],
        [-1, -1],
        [0, 3],
      ],
    ],
    [
      'slice, both',
      (v) => tf.slice(x.reshape([3, 4]), v as tf.Tensor, (v as tf.Tensor).sub(2)),
      [
        [1, 1],
        [1, 2],
        [1, 3],
      ],
    ],
    [
      'split',
      (v) => tf.split(x, v as tf.Tensor),
      [
        [3, -1, 2],
        [-1, 12, 0],
        [4, 4, 4],
      ],
    ],
  ])('that may be -1: %s', (_, fn, given) => {
    const calls = given.map((v) => [int(v)]);
    expect(agrees(fn, calls)).toBe(1);
    // How many sizes there are decides which rank the result has.
    if (typeof given[0] === 'number') expect(agrees(fn, calls, { signature: true })).toBe(1);
  });

  test('that may be -1: those that do not fit are refused', () => {
    const f = tf.function((v: tf.Tensor) => x.reshape(v));
    const g = tf.function((v: tf.Tensor) => tf.split(x, v));
    for (const wrong of [
      [5, -1],
      [-1, -1],
      [-2, 6],
      [0, -1],
      [3, 5],
    ])
      expect(() => f(int(wrong))).toThrow(tf.errors.InvalidArgumentError);
    for (const wrong of [
      [13, -1],
      [-1, -1],
      [-2, 14],
      [3, 5],
    ])
      expect(() => g(int(wrong))).toThrow(tf.errors.InvalidArgumentError);
    expect(f(int([6, -1])).shape).toEqual([6, 2]);
  });

  test('that may be -1: of concrete functions', () => {
    const of = (fn: Fn): ((...xs: tf.Tensor[]) => unknown) =>
      tf
        .function(fn, { inputSignature: [new tf.TensorSpec([null]), new tf.TensorSpec([2], 'int32')] })
        .getConcreteFunction() as never;
    const reshaped = of((a, v) => tf.reshape(a as tf.Tensor, v as tf.Tensor));
    const cut = of((a, v) =>
      tf.slice(a as tf.Tensor, (v as tf.Tensor).slice([0], [1]), (v as tf.Tensor).slice([1], [1])),
    );
    const pieces = of((a, v) => tf.split(a as tf.Tensor, v as tf.Tensor));
    expect((reshaped(x, int([3, -1])) as tf.Tensor).shape).toEqual([3, 4]);
    expect((cut(x, int([3, -1])) as tf.Tensor).array()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect((cut(x, int([3, 2])) as tf.Tensor).array()).toEqual([3, 4]);
    expect((pieces(x, int([-1, 2])) as tf.Tensor[]).map((t) => t.shape)).toEqual([[10], [2]]);
    const refused = (fn: (...xs: tf.Tensor[]) => unknown, ...lists: number[][]): void => {
      for (const v of lists)
        expect(() => fn(x, int(v))).toThrow(/do not fit|leaves|not a shape|not in \[0|add up/);
    };
    refused(reshaped, [2, 2], [5, 5], [5, -1], [-1, -1], [-2, -6], [100, 100]);
    refused(cut, [3, 10], [13, -1], [3, -2]);
    refused(pieces, [1, 1], [13, -1], [-1, -1], [7, 7]);
    expect((reshaped(x, int([-1, 2])) as tf.Tensor).shape).toEqual([6, 2]);
  });

  test('gradients where -1 may stand', () => {
    const fn: Fn = (y, v) => {
      const tape = new tf.GradientTape();
      tape.watch(y as tf.Tensor);
      const rows = tf.reshape(y as tf.Tensor, v as tf.Tensor).cumsum(0);
      const block = tf.slice(
        rows,
        (v as tf.Tensor).mul(0),
        tf.stack([int(-1), (v as tf.Tensor).gather(0).sign()]),
      );
      return tape.gradient(tf.reduceSum(block.square()), y as tf.Tensor);
    };
    const calls = [
      [3, -1],
      [4, 3],
      [2, -1],
    ].map((v) => [x, int(v)]);
    expect(agrees(fn, calls)).toBe(1);
  });

  test('gradients', () => {
    const calls = [2, 1, 3].map((n) => [
      tf.range(12, { dtype: 'float32' }).reshape([3, 4]),
      tf.constant(n, 'int32'),
    ]);
    const fn: Fn = (x, n) => {
      const tape = new tf.GradientTape();
      tape.watch(x as tf.Tensor);
      const [a, b] = [
        tf.roll(x as tf.Tensor, n as tf.Tensor, 1),
        tf.repeat(x as tf.Tensor, [n as tf.Tensor, 1, 0], 0),
      ];
      return tape.gradient(tf.reduceSum(a.mul(x as tf.Tensor)).add(b.square().sum()), x as tf.Tensor);
    };
    expect(agrees(fn, calls)).toBe(1);
  });

  test('results have no known size, as in TensorFlow', () => {
    const shapes = (fn: Fn): unknown =>
      (
        tf.function(fn, { inputSignature: [new tf.TensorSpec([], 'int32')] }).getConcreteFunction()
          .structuredOutputs as tf.TensorSpec
      ).shape;
    expect(shapes((n) => tf.zeros([n as tf.Tensor, 2]))).toEqual([null, 2]);
    expect(shapes((n) => tf.repeat(x.reshape([3, 4]), [n as tf.Tensor, 1, 2], 0))).toEqual([null, 4]);
    expect(shapes((n) => tf.linspace(0, 1, n as tf.Tensor))).toEqual([null]);
    expect(shapes((n) => tf.roll(x, n as tf.Tensor, 0))).toEqual([12]);
    expect(shapes((n) => tf.pad(x, [[n as tf.Tensor, 0]]))).toEqual([null]);
  });

  test('of the wrong number or dtype are refused', () => {
    const list = tf.constant([1, 2], 'int32');
    const refused = (fn: Fn, given = list): void =>
      expect(() => tf.function(fn)(given)).toThrow(tf.errors.InvalidArgumentError);
    refused((n) => tf.repeat(x, n as tf.Tensor, 0));
    refused((n) => tf.roll(x, n as tf.Tensor, 0));
    refused((n) => tf.roll(x, n as tf.Tensor, 0), tf.constant([1.5]));
    refused((n) => tf.roll(x, n as tf.Tensor, 0), tf.constant([[1]], 'int32'));
    refused((n) => tf.repeat(x, (n as tf.Tensor).gather(0).cast('float32')));
    refused((n) => tf.linspace(0, 1, (n as tf.Tensor).gather(0).sub(1)));
  });

  test('that are no sizes: as eagerly', () => {
    const f = tf.function((n: tf.Tensor) => tf.zeros([n]));
    expect(f(tf.constant(2, 'int32')).shape).toEqual([2]);
    expect(() => f(tf.constant(-1, 'int32'))).toThrow(tf.errors.InvalidArgumentError);
    expect(f(tf.constant(3, 'int32')).shape).toEqual([3]);
  });
});

describe('beside what has effects', () => {
  test('variables, the host and random numbers', () => {
    const v = new tf.Variable([0, 0]);
    const seen: number[] = [];
    const step = tf.function((x: tf.Tensor) => {
      const positive = tf.booleanMask(x, x.greater(0));
      v.assignAdd(tf.stack([positive.sum(), tf.size(positive).cast('float32')]));
      tf.experimental.hostFunction((t) => void seen.push((t as tf.Tensor).item<number>()), [positive.sum()]);
      return positive.mul(2);
    });
    for (const x of vectors) step(x);
    expect(Array.from(v.read().data() as Float32Array)).toEqual([10 + 21 + 7, 3 + 6 + 1]);
    expect(seen).toEqual([10, 0, 21, 7]);
  });

  test('training with a masked loss, step by step as eagerly', () => {
    const run = (traced: boolean): number[] => {
      tf.random.setSeed(3);
      const model = new tf.Sequential([
        new tf.layers.Dense(4, { activation: 'tanh' }),
        new tf.layers.Dense(1),
      ]);
      const optimizer = new tf.optimizers.Adam(0.01);
      const body = (x: tf.Tensor, y: tf.Tensor): tf.Tensor => {
        const tape = new tf.GradientTape();
        const difference = (model(x) as tf.Tensor).squeeze([1]).sub(y);
        const error = tf.booleanMask(difference, y.greater(0)).square().mean();
        optimizer.applyGradients(tape.gradient(error, model.trainableVariables), model.trainableVariables);
        return error;
      };
      const step = traced ? tf.function(body) : body;
      const x = tf.random.normal([8, 3], { seed: 1 });
      return [
        [1, 1, 1, 1, -1, 1, 1, 1],
        [1, -1, -1, 1, -1, 1, 1, 1],
        [-1, 1, 1, -1, -1, -1, 1, -1],
      ].map((y) => step(x, tf.constant(y, 'float32')).item<number>());
    };
    const eager = run(false);
    run(true).forEach((loss, i) => {
      expect(loss).toBeCloseTo(eager[i] as number, 5);
    });
  });
});

describe('in branches and loops', () => {
  test('a mask in each turn', () => {
    const fn: Fn = (x) => {
      const [, total] = tf.whileLoop(
        (i) => i.less(4),
        (i, total) => [
          i.add(1),
          total.add(tf.booleanMask(x as tf.Tensor, (x as tf.Tensor).greater(i.cast('float32'))).sum()),
        ],
        [tf.constant(0, 'int32'), tf.constant(0)],
      );
      return total;
    };
    expect(agrees(fn, one)).toBe(1);
  });

  test('and its gradient', () => {
    const fn: Fn = (given) => {
      const x = given as tf.Tensor;
      const tape = new tf.GradientTape();
      tape.watch(x);
      const [, total] = tf.whileLoop(
        (i) => i.less(3),
        (i, total) => [
          i.add(1),
          total.add(
            tf
              .booleanMask(x, x.greater(i.cast('float32')))
              .square()
              .sum(),
          ),
        ],
        [tf.constant(0, 'int32'), tf.constant(0)],
      );
      return tape.gradient(total, x);
    };
    expect(agrees(fn, one)).toBe(1);
  });

  test('in one branch, and in both', () => {
    const fn: Fn = (given) => {
      const x = given as tf.Tensor;
      return [
        tf.cond(
          x.sum().greater(0),
          () => tf.booleanMask(x, x.greater(0)).sum(),
          () => tf.constant(0),
        ),
        tf.cond(
          x.sum().greater(0),
          () => tf.booleanMask(x, x.greater(0)),
          () => tf.booleanMask(x, x.less(0)),
        ),
      ];
    };
    expect(agrees(fn, one)).toBe(1);
  });
});

describe('loop variables whose shape changes', () => {
  const grow = (x: tf.Tensor): tf.Tensor[] =>
    tf.whileLoop(
      (_, list) => tf.size(list).less(20),
      (i, list) => [i.add(1), tf.concat([list, tf.booleanMask(x, x.greater(i.cast('float32'))), [1]], 0)],
      [tf.constant(0, 'int32'), x.slice([0], [2])],
      { shapeInvariants: [null, [null]] },
    );
  test('by their invariants', () => {
    expect(agrees((x) => grow(x as tf.Tensor), one)).toBe(1);
  });

  test('and their gradients', () => {
    const fn: Fn = (given) => {
      const x = given as tf.Tensor;
      const tape = new tf.GradientTape();
      tape.watch(x);
      return tape.gradient((grow(x)[1] as tf.Tensor).square().sum(), x);
    };
    expect(agrees(fn, one)).toBe(1);
  });

  test('wrong ones are refused', () => {
    const loop = (shapeInvariants: unknown): unknown =>
      tf.whileLoop(
        (x) => x.sum().less(3),
        (x) => [tf.concat([x, [1]], 0)],
        [tf.constant([1])],
        { shapeInvariants },
      );
    expect((loop([[null]]) as tf.Tensor[])[0]?.shape).toEqual([3]);
    for (const wrong of [[[2]], [[null, 1]], [null, null], 'x', [{}], { a: 1 }])
      for (const run of [() => loop(wrong), () => tf.function(() => loop(wrong))()])
        expect(run).toThrow(tf.errors.InvalidArgumentError);
    expect(() => loop([null])).toThrow('shapes');
  });
});

test('the gradient of a branch with a mask', () => {
  const fn: Fn = (given) => {
    const x = given as tf.Tensor;
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = tf.cond(
      x.sum().greater(0),
      () => tf.booleanMask(x, x.greater(0)).square(),
      () => x.mul(3),
    );
    return tape.gradient(y.sum(), x);
  };
  expect(agrees(fn, one)).toBe(1);
});

test('functions inside of functions, and in the background', async () => {
  const positive = tf.function((x: tf.Tensor) => tf.booleanMask(x, x.greater(0)));
  expect(agrees((x) => positive(x as tf.Tensor).sum(), one)).toBe(1);
  const f = positive as unknown as { runAsync(x: tf.Tensor): Promise<tf.Tensor> };
  const results = await Promise.all(vectors.map((x) => f.runAsync(x)));
  results.forEach((got, i) => {
    same(got, positive(vectors[i] as tf.Tensor));
  });
});

describe('where a size decides in the middle of a run', () => {
  test('and others in each turn, an error says so', () => {
    const f = tf.function((x: tf.Tensor) =>
      tf.whileLoop(
        (i) => i.less(3),
        (i, s) => {
          const some = tf.booleanMask(x, x.greater(i.cast('float32')));
          return [i.add(1), (some.shape[0] as number) > 1 ? s.add(some.sum()) : s];
        },
        [tf.constant(0, 'int32'), tf.constant(0)],
      ),
    );
    expect(() => f(tf.constant([1, 2, 3]))).toThrow(tf.errors.FailedPreconditionError);
    expect(() => f(tf.constant([1, 2, 3]))).toThrow(/changes within the run/);
    expect((f(tf.constant([5, 6, 7]))[1] as tf.Tensor).item()).toBe(54);
  });

  test('behind what the host gives, what the trace took for it', () => {
    const f = tf.function((x: tf.Tensor) => {
      const n = tf.experimental.hostFunction((t) => [(t as tf.Tensor).size], [x], {
        dtype: 'int32',
        shape: [1],
      }) as tf.Tensor;
      return tf.zeros(n).add(x);
    });
    expect(() => f(tf.ones([3]))).toThrow(/only a run tells; the trace took 840/);
    const open = tf.function((x: tf.Tensor) => {
      const n = tf.experimental.hostFunction((t) => [(t as tf.Tensor).size], [x], {
        dtype: 'int32',
        shape: [1],
      }) as tf.Tensor;
      return tf.ones(n).sum();
    });
    expect([1, 3, 2].map((n) => open(tf.ones([n])).item())).toEqual([1, 3, 2]);
  });

  test('sizes cast to narrow integers wrap', () => {
    const f = tf.function({ inputSignature: [new tf.TensorSpec([null])] })((x: tf.Tensor) =>
      tf.zeros([tf.shape(x).at(0).cast('uint8').cast('int32')]),
    );
    expect([300, 3, 256].map((n) => f(tf.ones([n])).size)).toEqual([44, 3, 0]);
  });
});

test('a trace lets go of the tensors of the call that it was made for', async () => {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--expose-gc');
  const gc = (await import('node:vm')).runInNewContext('gc') as () => void;
  const f = tf.function((x: tf.Tensor) => tf.booleanMask(x, x.greater(0)).add(x.slice([0], [1])));
  const call = (): WeakRef<tf.Tensor> => {
    const x = tf.constant([1, 2, -3]);
    f(x);
    return new WeakRef(x);
  };
  const input = call();
  for (let i = 0; i < 10 && input.deref() !== undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    gc();
  }
  expect(input.deref()).toBeUndefined();
});

describe('a TensorArray of dynamic size', () => {
  const array = (options: tf.TensorArrayOptions = {}): tf.TensorArray =>
    new tf.TensorArray('float32', { size: 0, dynamicSize: true, ...options });
  const filled = (n: tf.Tensor, row: (i: tf.Tensor) => tf.Tensor): tf.TensorArray =>
    tf.whileLoop(
      (i) => i.less(n),
      (i, rows) => [i.add(1), rows.write(i.mul(2), row(i))],
      [tf.constant(0, 'int32'), array()],
    )[1] as tf.TensorArray;
  const x = tf.constant([1, 2, 3]);
  const gradient = (fn: (x: tf.Tensor) => tf.Tensor): tf.Tensor => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    return tape.gradient(fn(x).square().sum(), x) as tf.Tensor;
  };
  const cases: Readonly<Record<string, (n: tf.Tensor) => tf.Tensor>> = {
    'written at an index of the run': (n) => array().write(n, x).stack(),
    'written again': (n) =>
      array({ size: 2 }).write(0, x).write(n, x.neg()).write(n.add(1), x.mul(2)).stack(),
    'its size': (n) => array().write(n, x).size(),
    'read and gathered': (n) =>
      array({ size: 2 }).write(n, x).gather([0, 1]).add(array().write(n, x).read(n)),
    joined: (n) => array().write(n, x).concat(),
    'in a loop': (n) => filled(n, (i) => i.cast('float32')).stack(),
    'in a loop, its size': (n) => filled(n, (i) => x.mul(i.cast('float32'))).size(),
    'in branches': (n) => {
      const before = array({ elementShape: [] });
      return tf
        .cond(
          n.greater(1),
          () => before.write(n, 3),
          () => before.write(0, 4),
        )
        .stack();
    },
    gradient: (n) => gradient((x) => array().write(n, x.mul(x)).write(n.add(1), x).stack()),
    'gradient through a loop': (n) => gradient((x) => filled(n, (i) => x.mul(i.cast('float32'))).stack()),
  };
  test.each(Object.entries(cases))('%s', (_, fn) => {
    const calls = [2, 1, 3, 2].map((n) => [tf.constant(n, 'int32')]);
    expect(agrees(fn as Fn, calls)).toBe(1);
  });

  test('refuses an index below 0', () => {
    const f = tf.function((n: tf.Tensor) => array().write(n, x).stack());
    expect(f(tf.constant(1, 'int32')).shape).toEqual([2, 3]);
    expect(() => f(tf.constant(-1, 'int32'))).toThrow(tf.errors.OutOfRangeError);
    expect(() => array().write(-1, x)).toThrow(tf.errors.OutOfRangeError);
  });

  test('has no known size, as in TensorFlow', () => {
    const { structuredOutputs } = tf
      .function((n: tf.Tensor) => [array().write(n, x).stack(), filled(n, () => x).stack()], {
        inputSignature: [new tf.TensorSpec([], 'int32')],
      })
      .getConcreteFunction() as { structuredOutputs: readonly tf.TensorSpec[] };
    expect(structuredOutputs.map(({ shape }) => shape)).toEqual([
      [null, 3],
      [null, 3],
    ]);
  });
});

test('a concrete function whose pieces and paddings only a run tells', () => {
  const inputSignature = [new tf.TensorSpec([null], 'float32'), new tf.TensorSpec([], 'int32')];
  const x = tf.range(6);
  const pieces = tf.function((a: tf.Tensor, n: tf.Tensor) => tf.split(a, [n, tf.shape(a).at(0).sub(n)]), {
    inputSignature,
  });
  const split = pieces.getConcreteFunction();
  expect(String(split.structuredOutputs)).toMatch(/null/);
  expect(split(x, tf.constant(2, 'int32')).map((t: tf.Tensor) => t.array())).toEqual([
    [0, 1],
    [2, 3, 4, 5],
  ]);
  const padded = tf.function((a: tf.Tensor, n: tf.Tensor) => tf.pad(a, [[n, n]], { mode: 'REFLECT' }), {
    inputSignature,
  });
  const pad = padded.getConcreteFunction();
  expect(String(pad.structuredOutputs)).toMatch(/null/);
  expect(pad(x, tf.constant(1, 'int32')).array()).toEqual([1, 0, 1, 2, 3, 4, 5, 4]);
  expect(() => pad(x, tf.constant(6, 'int32'))).toThrow(/axis 0 of size 6/);
  expect(() => pieces(x, tf.constant(7, 'int32'))).toThrow(tf.errors.InvalidArgumentError);
});
