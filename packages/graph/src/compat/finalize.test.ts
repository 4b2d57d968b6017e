import '@eagre/backend-native';
import { Variable } from '@eagre/core';
import { expect, test } from 'vitest';
import * as v1 from './v1.ts';

test('a finalized graph runs, but nothing is added to it', () => {
  const graph = new v1.Graph();
  const { x, v, y, add } = graph.asDefault(() => {
    const x = v1.placeholder('float32', [], { name: 'x' });
    const v = new Variable(1, { name: 'v' });
    return { x, v, y: x.mul(v), add: v.assignAdd(x) };
  });
  expect(graph.finalized).toBe(false);
  graph.finalize();
  expect(graph.finalized).toBe(true);
  const count = graph.getOperations().length;
  for (const adding of [
    () => x.mul(2),
    () => v.assign(3),
    () => v1.placeholder('float32', []),
    () => new Variable(2),
    () => v1.getVariable('w', [1]),
    () => v1.noOp(),
    () => v1.globalVariablesInitializer(),
  ])
    expect(() => graph.asDefault<unknown>(adding)).toThrow('Graph is finalized and cannot be modified.');
  expect(graph.getOperations()).toHaveLength(count);
  expect(graph.globalVariables()).toEqual([v]);
  using session = new v1.Session({ graph });
  session.load(new Map([[v, 2]]));
  const feedDict = new Map([[x, 3]]);
  expect(session.run(y, { feedDict }).item()).toBe(6);
  expect(session.run(add, { feedDict }).item()).toBe(5);
  expect(session.run('v/Assign')).toBeNull();
  expect(session.run(v).item()).toBe(1);
});

test('variables without a value are reported', () => {
  const graph = new v1.Graph();
  const { a, all, some, initA, report } = graph.asDefault(() => {
    const a = new Variable([1, 2], { name: 'a' });
    const b = new Variable(1, { name: 'b' });
    return {
      a,
      all: v1.globalVariablesInitializer(),
      some: v1.reportUninitializedVariables([b]),
      initA: v1.variablesInitializer([a]),
      report: v1.reportUninitializedVariables(),
    };
  });
  using session = new v1.Session({ graph });
  const names = (): string[] => session.run(report).strings();
  expect(names()).toEqual(['a', 'b']);
  expect(session.run(report)).toMatchObject({ dtype: 'string', shape: [2] });
  session.run(initA);
  expect(session.run({ left: some, a }).left.strings()).toEqual(['b']);
  expect(names()).toEqual(['b']);
  session.run(all);
  expect(session.run(report)).toMatchObject({ dtype: 'string', shape: [0] });
  expect(names()).toEqual([]);
  expect(() => v1.reportUninitializedVariables()).toThrow('not compatible with eager execution');
  const other = new v1.Graph();
  expect(() => new v1.Session({ graph: other }).run(report)).toThrow('not an element of this graph');
  expect(() => other.asDefault(() => v1.reportUninitializedVariables([a]))).toThrow(
    "'a' was not created in this graph",
  );
});
