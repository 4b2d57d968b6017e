// What sessions and graphs take, by position and by name; what they do not take is refused.
import '@eagre/backend-native';
import { InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import { expect, expectTypeOf, test } from 'vitest';
import * as v1 from './v1.ts';

type AnyFunction = (...args: unknown[]) => unknown;

function refused(call: () => unknown, message: string): void {
  expect(call).toThrow(message);
  expect(call).toThrow(InvalidArgumentError);
}

test('graphs are written by name', () => {
  const graph = new v1.Graph();
  graph.asDefault({
    fn: () => {
      const x = v1.placeholder({ dtype: 'float32', shape: [null], name: 'x' });
      const w = v1.getVariable({ name: 'w', shape: [1], initializer: () => [3], trainable: false });
      const y = x.mul(w);
      const [slope] = v1.gradients({ ys: y, xs: [x], name: 'slopes' });
      expect(slope).toBeInstanceOf(Tensor);
      const add = v1.assignAdd({ ref: w, value: [1] });
      const order: string[] = [];
      v1.controlDependencies({ controlInputs: [add], fn: () => order.push('in') });
      v1.controlDependencies([add], { fn: () => order.push('again') });
      expect(order).toEqual(['in', 'again']);
      v1.addToCollection({ name: 'mine', value: y });
      expect(v1.getCollection({ key: 'mine' })[0]).toBe(y);
      expect(v1.globalVariables({ scope: 'w' })).toEqual([w]);
      expect(graph.trainableVariables({ scope: 'w' })).toEqual([]);
      const init = v1.variablesInitializer({ varList: [w], name: 'start' });
      const all = v1.group({ inputs: [add, init], name: 'all' });
      expect([init.name, all.name, v1.noOp({ name: 'nothing' }).name]).toEqual(['start', 'all', 'nothing']);
      expect(v1.group(add, init).controlInputs.map((op) => op.name)).toEqual(
        all.controlInputs.map((op) => op.name),
      );
      expect(v1.group(add, init, { name: 'both' }).name).toBe('both');
      expect(v1.group([add, init], { name: 'again' }).name).toBe('again');
      const session = new v1.Session({ graph });
      session.run({ fetches: init });
      const feedDict = new Map([[x, [2]]]);
      const value = session.run({ fetches: y, feedDict });
      expectTypeOf(value).toEqualTypeOf<Tensor>();
      expect(value.array()).toEqual([6]);
      expect(session.run({ fetches: { a: y, b: [init] }, feedDict }).a.array()).toEqual([6]);
      expect(session.run({ y, fetches: y }, { feedDict }).fetches.array()).toEqual([6]);
      expect(
        session
          .makeCallable({ fetches: y, feedList: [x] })([3])
          .array(),
      ).toEqual([9]);
      expect(v1.evaluate({ fetches: y, feedDict, session }).array()).toEqual([6]);
      expect(session.asDefault({ fn: () => v1.evaluate(y, { feedDict }).array() })).toEqual([6]);
      session.load({ values: new Map([[w, [5]]]) });
      expect(session.isInitialized({ variable: w })).toBe(true);
      expect(session.run(y, { feedDict }).array()).toEqual([10]);
      expect(graph.getTensorByName({ name: 'x:0' }).dtype).toBe('float32');
    },
  });
});

test('scopes are opened by name', () => {
  using _ = new v1.Graph().asDefault();
  const make = (): string => v1.getVariable('v', [1]).name;
  expect(v1.variableScope('a', make)).toBe('a/v');
  expect(v1.variableScope('a', { reuse: true }, make)).toBe('a/v');
  expect(v1.variableScope('a', make, { reuse: true })).toBe('a/v');
  expect(v1.variableScope('a', { reuse: true, fn: make })).toBe('a/v');
  expect(v1.variableScope({ nameOrScope: null, defaultName: 'b', fn: make })).toBe('b/v');
  using __ = v1.variableScope({ nameOrScope: 'c' });
  expect(make()).toBe('c/v');
  const scope = v1.variableScope as unknown as AnyFunction;
  refused(() => scope('a', { reuze: true }, make), "did you mean 'reuse'?");
  refused(() => scope(), 'nameOrScope must be given');
});

test('optimizers and savers take their arguments by name', () => {
  const graph = new v1.Graph();
  using _ = graph.asDefault();
  const w = new Variable([2], { name: 'w' });
  const { train } = v1;
  const loss = w.square().sum();
  const all = [
    new train.GradientDescentOptimizer({ learningRate: 0.1, name: 'sgd' }),
    new train.MomentumOptimizer(0.1, { momentum: 0.5, useNesterov: true }),
    new train.AdagradOptimizer({ learningRate: 0.1, initialAccumulatorValue: 0.2 }),
    new train.RMSPropOptimizer(0.1, { decay: 0.5 }),
    new train.AdamOptimizer({ beta1: 0.5 }),
  ];
  expect(all.map(({ name }) => name)).toEqual(['sgd', 'Momentum', 'Adagrad', 'RMSProp', 'Adam']);
  const globalStep = train.getOrCreateGlobalStep();
  for (const optimizer of all) {
    const gradsAndVars = optimizer.computeGradients({ loss, varList: [w] });
    optimizer.applyGradients({ gradsAndVars, globalStep, name: 'step' });
    optimizer.minimize({ loss, varList: [w], globalStep, name: 'min' });
  }
  expect(all[1]?.getSlot({ var: w, name: 'momentum' })).toBeInstanceOf(Variable);
  const { GradientDescentOptimizer, Saver } = train as unknown as Record<
    string,
    new (
      ...args: unknown[]
    ) => object
  >;
  refused(() => new GradientDescentOptimizer!(0.1, true), 'write { name: true }');
  refused(
    () => new GradientDescentOptimizer!({ learningRate: 1, useLocking: true }),
    "'useLocking' is not an option",
  );
  refused(() => new GradientDescentOptimizer!(), 'learningRate must be given');
  expect(new train.Saver({ varList: [w], maxToKeep: 0 }).lastCheckpoints).toEqual([]);
  expect(new train.Saver({ other: w }).lastCheckpoints).toEqual([]);
  expect(new train.Saver([w], { maxToKeep: 3 }).lastCheckpoints).toEqual([]);
  refused(() => new Saver!({ maxToKep: 3 }), "did you mean 'maxToKeep'?");
  refused(() => new Saver!({ w, maxToKeep: 3 }), 'varList must contain variables, got 3');
  refused(() => new Saver!([w, 3]), 'varList must contain variables, got 3');
});

test('what is not taken is refused', () => {
  const graph = new v1.Graph();
  using _ = graph.asDefault();
  const x = v1.placeholder('float32', []);
  const session = new v1.Session() as unknown as Record<string, AnyFunction>;
  const loose = v1 as unknown as Record<string, AnyFunction>;
  refused(
    () => session.run?.(x, { feed: new Map([[x, 1]]) }),
    "'feed' is not an option; the options are fetches, feedDict",
  );
  refused(
    () => session.run?.(x, { feedDict: { x: 1 } }),
    'write { feedDict: new Map([[placeholder, value]]) }',
  );
  refused(() => session.run?.(), 'fetches must be given: write Session.run(fetches, { feedDict })');
  refused(() => session.load?.([1]), 'values must be a map');
  refused(() => loose.placeholder?.('float32', [], 'x'), "write { name: 'x' }");
  refused(() => loose.placeholder?.({ dtype: 'float32', shap: [] }), "did you mean 'shape'?");
  refused(() => loose.getVariable?.('v', [1], 'float32'), "write { dtype: 'float32' }");
  refused(() => loose.group?.({ inputs: x }), 'inputs must be an array');
  refused(() => loose.group?.([3]), 'expected a tensor, a variable or an operation of the graph, got 3');
  refused(() => loose.assign?.(x, 1), 'ref must be a tf.Variable');
  refused(() => loose.gradients?.([3], x), 'expected tensors and variables, got 3');
  refused(() => loose.variablesInitializer?.([3]), 'expected a variable, got 3');
  refused(() => graph.addToCollection('a', 3 as never), 'expected a tensor');
  refused(
    () => new (v1.Graph as new (x: unknown) => object)({ a: 1 }),
    "'a' is not an option; there are none",
  );
  refused(() => new (v1.Session as new (x: unknown) => object)(graph), 'expected options, such as { graph }');
  refused(() => new v1.Session({ graph: 3 as never }), 'graph must be a Graph, got 3');
});
