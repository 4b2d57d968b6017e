import '@eagre/backend-js';
import { constant, type Tensor, Variable, zeros } from '@eagre/core';
import { context, fusedConvolution } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { Graph, tfFunction } from '../index.ts';

describe('statistics', () => {
  test('count nodes, constants and variables that a result needs', () => {
    const w = new Variable(zeros([3, 4]), { name: 'w' });
    const n = new Variable(zeros([2], 'int64'), { name: 'n' });
    const c = constant([1, 2, 3, 4]);
    const f = tfFunction((x: Tensor) => {
      x.neg();
      n.assignAdd([1n, 1n]);
      return x.matmul(w).add(c).add(c);
    });
    const statistics = f.getConcreteFunction(zeros([2, 3])).graph.statistics();
    expect(statistics).toMatchObject({
      nodes: 9,
      unused: 1,
      nodesByType: { AddV2: 3, Const: 2, ReadVariableOp: 2, MatMul: 1, Placeholder: 1 },
      arguments: 1,
      constants: 2,
      constantBytes: 16 + 16,
      variables: 2,
      variableBytes: 48 + 16,
      assignments: 1,
      floatingPointOperations: 2 * 2 * 3 * 4,
      // Two sums of [2, 4], one of [2], and its copy into the variable.
      elementsWritten: 8 + 8 + 2 + 2,
    });
    expect(Object.keys(statistics.nodesByType)).toEqual([
      'AddV2',
      'Const',
      'ReadVariableOp',
      'MatMul',
      'Placeholder',
    ]);
  });

  test('see products inside of composite ops, and leave the context as it was', () => {
    const f = tfFunction((x: Tensor, w: Tensor) =>
      fusedConvolution(x, w, null, { padding: 'SAME', activation: 1 }),
    );
    const { graph } = f.getConcreteFunction(zeros([1, 4, 4, 2]), zeros([3, 3, 2, 5]));
    const before = { ...context };
    expect(graph.statistics()).toMatchObject({
      floatingPointOperations: 2 * 4 * 4 * 5 * 3 * 3 * 2,
      elementsWritten: 0,
    });
    expect(context).toEqual(before);
  });

  test('of an empty graph', () => {
    expect(new Graph('empty').statistics()).toMatchObject({ nodes: 0, nodesByType: {}, elementsWritten: 0 });
  });
});
