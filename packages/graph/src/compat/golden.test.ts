// What TensorFlow's sessions give for the programs in tools/golden/sessions.py.
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { constant, logSoftmax, oneHot, square, type Tensor, type TensorLike, Variable } from '@eagre/core';
import { expect, test } from 'vitest';
import { cond } from '../control/cond.ts';
import { whileLoop } from '../control/while-loop.ts';
import * as v1 from './v1.ts';

type Nested = number | readonly Nested[];
type Rate = v1.train.Rate;

const golden = JSON.parse(readFileSync(new URL('../../golden/sessions.json', import.meta.url), 'utf8')) as {
  readonly results: Readonly<Record<string, readonly Nested[]>>;
};

const XS = [
  [0.5, -1],
  [1.5, 2],
  [-0.25, 0.75],
  [2, -0.5],
];
const YS = [[1], [4], [0.5], [2.5]];

function feed(...pairs: (readonly [Tensor, TensorLike])[]): { feedDict: v1.Feed } {
  return { feedDict: new Map(pairs) };
}

function linearModel(): Record<'x' | 'y' | 'loss', Tensor> & Record<'w' | 'b', Variable> {
  const x = v1.placeholder('float32', [null, 2]);
  const y = v1.placeholder('float32', [null, 1]);
  const w = new Variable([[0.1], [-0.2]]);
  const b = new Variable([0]);
  return { x, y, w, b, loss: square(x.matmul(w).add(b).sub(y)).mean() };
}

function optimizer(make: (rate: Rate) => v1.train.Optimizer): () => Iterable<Tensor> {
  return function* () {
    const { x, y, w, b, loss } = linearModel();
    const rate = v1.placeholder('float32', []);
    const opt = make(rate);
    const train = opt.minimize(loss);
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (let i = 0; i < 12; i++) {
      const n = 1 + (i % 4);
      s.run(train, feed([x, XS.slice(0, n)], [y, YS.slice(0, n)], [rate, 0.1 / (1 + i)]));
      if (i % 4 === 3) yield* s.run([w, b]);
    }
    yield* s.run(opt.getSlotNames().map((name) => opt.getSlot(w, name) as Variable));
  };
}

const programs: Readonly<Record<string, () => Iterable<Tensor>>> = {
  *arithmetic() {
    const x = v1.placeholder('float32', [null, 3]);
    const y = x.square();
    const z = x.add(y).mean(0);
    using s = new v1.Session();
    yield s.run(z, feed([x, [[1, 2, 3]]]));
    const two = [
      [1, -2, 3],
      [0.5, 0, 4],
    ];
    yield* s.run([y, z], feed([x, two]));
    yield s.run(z, feed([x, [[1, 1, 1]]], [y, [[5, 6, 7]]]));
  },
  *variables() {
    const v = new Variable([1, 2]);
    const double = v1.assign(v, v.mul(2));
    const add = v1.assignAdd(v, [1, 1]);
    const sub = v.assignSub([0.5, 0.25]);
    const after = sub.mul(10);
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (const fetch of [v, double, add, double, sub, after, v]) yield s.run(fetch);
    s.run(v1.variablesInitializer([v]));
    yield s.run(v);
  },
  *control() {
    const x = v1.placeholder('float32', [null]);
    const count = new Variable(0);
    const total = new Variable(0);
    const counted = count.assignAdd(1);
    const mean = v1.controlDependencies([counted, total.assignAdd(x.sum())], () => total.div(count));
    const both = v1.group([counted, total.assign(0)]);
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (const batch of [[1, 2], [3], [4, 5, 6]]) yield s.run(mean, feed([x, batch]));
    s.run(both);
    yield* s.run([count, total]);
  },
  *gradients() {
    const x = v1.placeholder('float32', [null, 2]);
    const w = new Variable([0.5, -1.5]);
    const h = x.mul(w).sin();
    const y = h.mul(h).sum().add(w.prod());
    const first = v1.gradients(y, [x, w, h]) as Tensor[];
    const second = v1.gradients((first[1] as Tensor).mul([1, 2]).sum(), [w, x]) as Tensor[];
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (const batch of [XS.slice(0, 1), XS]) yield* s.run([...first, ...second], feed([x, batch]));
  },
  *regression() {
    const { x, y, w, b, loss } = linearModel();
    const step = v1.train.getOrCreateGlobalStep();
    const train = new v1.train.GradientDescentOptimizer(0.05).minimize(loss, { globalStep: step });
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (let i = 0; i < 60; i++) {
      s.run(train, feed([x, XS], [y, YS]));
      if (i % 20 === 19) yield* s.run([loss, w, b, step], feed([x, XS], [y, YS]));
    }
  },
  momentum: optimizer((rate) => new v1.train.MomentumOptimizer(rate, 0.9)),
  nesterov: optimizer((rate) => new v1.train.MomentumOptimizer(rate, 0.8, { useNesterov: true })),
  adagrad: optimizer((rate) => new v1.train.AdagradOptimizer(rate)),
  rmsprop: optimizer((rate) => new v1.train.RMSPropOptimizer(rate, { momentum: 0.5, epsilon: 1e-3 })),
  adam: optimizer((rate) => new v1.train.AdamOptimizer(rate)),
  *network() {
    const x = v1.placeholder('float32', [null, 2]);
    const labels = v1.placeholder('int32', [null]);
    const line = (from: number, to: number, n: number): Float32Array =>
      Float32Array.from({ length: n }, (_, i) => from + ((to - from) * i) / (n - 1));
    const w1 = new Variable({ data: line(-1, 1, 8), shape: [2, 4] });
    const w2 = new Variable({ data: line(1, -1, 12), shape: [4, 3] });
    const logits = x.matmul(w1).relu().matmul(w2);
    const loss = oneHot(labels, 3).mul(logSoftmax(logits)).sum(1).mean().neg();
    const train = new v1.train.AdamOptimizer(0.05).minimize(loss);
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (let i = 0; i < 20; i++) s.run(train, feed([x, XS], [labels, [0, 1, 2, 1]]));
    yield s.run(loss, feed([x, XS.slice(0, 3)], [labels, [0, 1, 2]]));
    yield* s.run([w1, w2]);
  },
  *branches() {
    const x = v1.placeholder('float32', []);
    const v = new Variable(1);
    const y = cond(
      x.greater(0),
      () => v.assignAdd(x).read(),
      () => v.assign(x.mul(x)).read(),
    );
    using s = new v1.Session();
    s.run(v1.globalVariablesInitializer());
    for (const value of [2, -3, 0.5]) {
      yield s.run(y, feed([x, value]));
      yield s.run(v);
    }
  },
  *loop() {
    const x = v1.placeholder('float32', []);
    const n = v1.placeholder('int32', []);
    const [, y] = whileLoop(
      (i) => i.less(n),
      (i, y) => [i.add(1), y.sin().mul(x)],
      [constant(0, 'int32'), x],
    );
    const [dx] = v1.gradients(y, x) as [Tensor];
    using s = new v1.Session();
    for (const [value, turns] of [
      [0.5, 3],
      [1.25, 5],
    ] as const)
      yield* s.run([y, dx], feed([x, value], [n, turns]));
  },
};

function close(value: Nested): unknown {
  return typeof value === 'number' ? expect.closeTo(value, 4) : value.map(close);
}

test('all programs are there', () => {
  expect(Object.keys(programs)).toEqual(Object.keys(golden.results));
});

test.each(Object.keys(programs))('%s', (name) => {
  const results = new v1.Graph().asDefault(() => [...(programs[name] as () => Iterable<Tensor>)()]);
  expect(results.map((t) => t.cast('float32').array())).toEqual(
    (golden.results[name] as Nested[]).map(close),
  );
});
