import { describe, expect, it, vi } from 'vitest';
import * as tf from '../src/index.ts';

const v1 = tf.compat.v1;

describe('Session.run', () => {
  it('computes what is fetched from what is fed', () => {
    const graph = new v1.Graph();
    const { x, y, z } = graph.asDefault(() => {
      const x = v1.placeholder('float32');
      const y = tf.square(x);
      return { x, y, z: tf.add(x, y) };
    });
    using session = new v1.Session({ graph });
    expect(session.run([z], { feedDict: new Map([[x, 2]]) })[0].item()).toBe(6);
    const feedDict = new Map([
      [x, 2],
      [y, 2],
    ]);
    expect(session.run([z], { feedDict })[0].item()).toBe(4);
  });

  it('tells numbers of the program from sizes, whatever they are', () => {
    using _ = new v1.Graph().asDefault();
    const x = v1.placeholder('float32', [null, 2]);
    // Multiples of 840 are what sizes are in a graph that no call is there for.
    const sizes = [840, 1680, 2520];
    const y = x.add(840).sum(0).mul(1680);
    const filled = tf.fill([840], 2520).sum().add(x.sum());
    const mean = x.mean();
    const cut = x.reshape([-1]).slice([0], [2]);
    using session = new v1.Session();
    for (const n of [1, 3, 840, ...sizes]) {
      const values = { data: new Float32Array(2 * n).fill(1), shape: [n, 2] };
      const [a, b, c, d] = session.run([y, filled, mean, cut], { feedDict: new Map([[x, values]]) });
      expect([n, a.array(), b.item(), c.item(), d.array()]).toEqual([
        n,
        [841 * n * 1680, 841 * n * 1680].map(Math.fround),
        840 * 2520 + 2 * n,
        1,
        [1, 1],
      ]);
    }
  });

  it('takes any rank where ops are element-wise', () => {
    using _ = new v1.Graph().asDefault();
    const x = v1.placeholder('float32');
    const rows = v1.placeholder('float32', [null, 2]);
    const y = x.mul(2).add([1, 2]).add(rows);
    using session = new v1.Session();
    const run = (a: tf.TensorLike, b: tf.TensorLike): unknown =>
      session
        .run(y, {
          feedDict: new Map([
            [x, a],
            [rows, b],
          ]),
        })
        .array();
    expect(run(1, [[0, 0]])).toEqual([[3, 4]]);
    expect(run([[1], [2]], [[0, 1]])).toEqual([
      [3, 5],
      [5, 7],
    ]);
    expect(() => run([1, 2, 3], [[0, 0]])).toThrow(/broadcast|shapes/);
    for (const op of [
      () => x.sum(),
      () => x.mean(),
      () => x.mul(2).reshape([-1]),
      () => x.matmul(x),
      () => x.transpose(),
      () => tf.stack([x, x]),
      () => x.shape,
      () => v1.gradients(x.mul(x), x),
      () => tf.nn.softmax(x),
      () => tf.zerosLike(x),
      () => tf.concat([x, x], 0),
      () => tf.where(x.greater(0), x, 0).max(),
      () => x.squeeze(),
      () => x.expandDims(0),
      () => tf.shape(x),
      () => x.cumsum(),
      () => x.gather(0),
    ])
      expect(op, String(op)).toThrow(/the rank of this value is not known/);
    expect(tf.where(x.greater(0), x, 0)).toBeDefined();
  });

  it('takes any size that is null, and refuses what is missing or does not fit', () => {
    using _ = new v1.Graph().asDefault();
    expect(tf.executingEagerly()).toBe(false);
    const x = v1.placeholder('float32', [null, 3], { name: 'x' });
    const w = tf.constant([[1], [2], [3]]);
    const y = x.matmul(w).mean();
    using session = new v1.Session();
    expect(() => session.run(y)).toThrow(
      "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,3]",
    );
    expect(session.run(y, { feedDict: new Map([[x, [[1, 1, 1]]]]) }).item()).toBe(6);
    const two = Float64Array.of(1, 1, 1, 2, 2, 2);
    expect(session.run(y, { feedDict: new Map([[x, { data: two, shape: [2, 3] }]]) }).item()).toBe(9);
    expect(() => session.run(y, { feedDict: new Map([[x, [1, 2]]]) })).toThrow(
      "Cannot feed value of shape [2] for Tensor 'x:0', which has shape [null, 3]",
    );
  });

  it('keeps values of variables for each session', () => {
    const graph = new v1.Graph();
    const { w, double, init } = graph.asDefault(() => {
      const w = new tf.Variable([1, 2], { name: 'w' });
      return { w, double: w.assign(w.mul(2)), init: v1.globalVariablesInitializer() };
    });
    using a = new v1.Session({ graph });
    using b = new v1.Session({ graph });
    expect(() => a.run(w)).toThrow('Attempting to use uninitialized value w');
    a.run(init);
    b.run(init);
    expect(a.run(double).array()).toEqual([2, 4]);
    expect(a.run([w, double]).map((t) => t.array())).toEqual([
      [2, 4],
      [4, 8],
    ]);
    expect(b.run(w).array()).toEqual([1, 2]);
    a.run(init);
    expect(a.run(w).array()).toEqual([1, 2]);
  });

  it('trains', () => {
    const graph = new v1.Graph();
    using _ = graph.asDefault();
    const x = v1.placeholder('float32', [null, 1], { name: 'x' });
    const y = v1.placeholder('float32', [null, 1], { name: 'y' });
    const w = new tf.Variable([[0]], { name: 'w' });
    const b = new tf.Variable([0], { name: 'b' });
    const loss = x.matmul(w).add(b).sub(y).square().mean();
    const step = new v1.train.GradientDescentOptimizer(0.1).minimize(loss);
    const adam = new v1.train.AdamOptimizer(0.1).minimize(loss);
    using session = new v1.Session();
    session.run(v1.globalVariablesInitializer());
    const feedDict = new Map([
      [x, [[0], [1], [2]]],
      [y, [[1], [3], [5]]],
    ]);
    const first = session.run([step, loss], { feedDict });
    expect(first[0]).toBeNull();
    expect(first[1].item()).toBeCloseTo(35 / 3, 5);
    for (let i = 0; i < 200; i++) session.run(step, { feedDict });
    expect(session.run(w).item()).toBeCloseTo(2, 3);
    session.run(adam, { feedDict });
    expect(graph.asGraphDef().length).toBeGreaterThan(100);
  });
});

it('layers are trained in sessions', () => {
  using _ = new v1.Graph().asDefault();
  const x = v1.placeholder('float32', [null, 2]);
  const y = v1.placeholder('float32', [null, 1]);
  const hidden = new tf.layers.Dense(8, { activation: 'tanh' });
  const out = new tf.layers.Dense(1);
  const loss = out(hidden(x)).sub(y).square().mean();
  const train = new v1.train.AdamOptimizer(0.05).minimize(loss);
  expect(v1.trainableVariables()).toEqual([...hidden.trainableVariables, ...out.trainableVariables]);
  using session = new v1.Session();
  session.run(v1.globalVariablesInitializer());
  const xor = [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ];
  const feedDict = new Map([
    [x, xor],
    [y, [[0], [1], [1], [0]]],
  ]);
  for (let i = 0; i < 300; i++) session.run(train, { feedDict });
  expect(session.run(loss, { feedDict }).item()).toBeLessThan(0.01);
});

describe('effectsOf', () => {
  const batches = [
    [[1, 2]],
    [
      [0, 1],
      [3, -1],
    ],
    [[1, 1]],
  ] as number[][][];

  /** Three steps of Adam with a falling rate, run by `each`. */
  function trained(run: (step: (x: tf.Tensor) => void, w: tf.Variable) => number[][]): number[][] {
    const w = new tf.Variable([[0.5], [-0.25]]);
    const optimizer = new tf.optimizers.Adam((step: number) => 0.1 / (1 + step));
    const step = (x: tf.Tensor): void => {
      optimizer.minimize(() => x.matmul(w).sub(1).square().mean(), [w]);
    };
    return run(step, w);
  }

  it('makes an operation of updates by optimizers', () => {
    const expected = trained((step, w) => {
      for (const batch of batches) step(tf.constant(batch));
      return w.array() as number[][];
    });
    using _ = new v1.Graph().asDefault();
    const [first, second] = trained((step, w) => {
      const x = v1.placeholder('float32', [null, 2]);
      const train = v1.effectsOf(() => step(x));
      using session = new v1.Session();
      const results = [0, 1].map(() => {
        session.run(v1.globalVariablesInitializer());
        for (const batch of batches) session.run(train, { feedDict: new Map([[x, batch]]) });
        return session.run(w).array() as unknown as number[];
      });
      return results;
    });
    expect(first).toEqual(expected.map((row) => row.map((v) => expect.closeTo(v, 5))));
    expect(second).toEqual(first);
  });

  it('and of prints', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    using _ = new v1.Graph().asDefault();
    const x = v1.placeholder('float32', []);
    const shown = v1.effectsOf(() => tf.print('x is', x));
    const y = v1.controlDependencies([shown], () => x.mul(2));
    const z = x.mul(3);
    using session = new v1.Session();
    const feedDict = new Map([[x, 2]]);
    expect(session.run(z, { feedDict }).item()).toBe(6);
    expect(log).not.toHaveBeenCalled();
    expect(session.run(y, { feedDict }).item()).toBe(4);
    expect(log.mock.calls.map((c) => c.join(' '))).toEqual(['x is 2']);
    log.mockRestore();
  });
});

describe('in a graph', () => {
  it('loops change variables whenever they run, assignments follow each other', () => {
    using _ = new v1.Graph().asDefault();
    const v = new tf.Variable(0);
    const [turns] = tf.whileLoop(
      (i) => i.less(3),
      (i) => {
        v.assignAdd(2);
        return [i.add(1)];
      },
      [tf.constant(0, 'int32')],
    );
    const [set, add] = [v.assign(10), v.assignAdd(1)];
    using session = new v1.Session();
    session.run(v1.globalVariablesInitializer());
    expect(session.run(turns).item()).toBe(3);
    expect(session.run(v).item()).toBe(6);
    expect(session.run(add).item()).toBe(7);
    expect(session.run([add, set]).map((t) => t.item())).toEqual([11, 10]);
  });

  it('tapes record, and a dropout and its gradient have one mask', () => {
    using _ = new v1.Graph().asDefault();
    const x = v1.placeholder('float32', [null, 8]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const dx = tape.gradient(x.square(), x) as tf.Tensor;
    const dropped = new tf.layers.Dropout(0.5)(x, { training: true }) as tf.Tensor;
    const mask = v1.gradients(dropped, x)[0] as tf.Tensor;
    using session = new v1.Session();
    const feedDict = new Map([[x, [[1, 1, 1, 1, 1, 1, 1, 1]]]]);
    const results = session.run({ dx, dropped, mask }, { feedDict });
    expect(results.dx.array()).toEqual([[2, 2, 2, 2, 2, 2, 2, 2]]);
    expect(results.mask.array()).toEqual(results.dropped.array());
  });

  it('a tensor of another graph is refused', () => {
    const x = new v1.Graph().asDefault(() => v1.placeholder('float32', []));
    using _ = new v1.Graph().asDefault();
    expect(() => x.mul(2)).toThrow(tf.errors.FailedPreconditionError);
  });
});

it('batches may be empty', () => {
  using _ = new v1.Graph().asDefault();
  const x = v1.placeholder('float32', [null, 2]);
  const y = x.matmul([[1], [2]]);
  using session = new v1.Session();
  const feedDict = new Map([[x, { data: new Float32Array(0), shape: [0, 2] }]]);
  const [rows, sum, mean] = session.run([y, y.sum(), y.mean()], { feedDict });
  expect([rows.shape, sum.item(), mean.item()]).toEqual([[0, 1], 0, Number.NaN]);
});

describe('graphCallable', () => {
  it('runs a graph as a function, with variables and gradients', () => {
    let runs = 0;
    const model = tf.experimental.graphCallable([new tf.TensorSpec([null, 2])])((x: tf.Tensor) => {
      runs++;
      const w = new tf.Variable([[1], [2]], { name: 'w' });
      const calls = new tf.Variable(0, { name: 'calls', trainable: false });
      calls.assignAdd(1);
      return { y: x.matmul(w) };
    });
    expect(model(tf.constant([[1, 1]])).y.array()).toEqual([[3]]);
    const x = tf.constant([
      [1, 0],
      [0, 1],
    ]);
    const tape = new tf.GradientTape();
    const { y } = model(x);
    expect(y.array()).toEqual([[1], [2]]);
    const [w, calls] = model.variables as [tf.Variable, tf.Variable];
    expect(tape.gradient(y, w)?.array()).toEqual([[1], [1]]);
    expect(calls.item()).toBe(2);
    w.assign([[0], [0]]);
    expect(
      tf
        .function((a: tf.Tensor) => model(a).y.add(1))(x)
        .array(),
    ).toEqual([[1], [1]]);
    expect(calls.item()).toBe(3);
    expect(model.trainableVariables).toEqual([w]);
    expect(() => model(tf.constant([1, 2]))).toThrow(/do not match/);
    expect(runs).toBe(1);
  });
});
