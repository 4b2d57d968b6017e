import { ResourceExhaustedError, type Tensor } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { compat } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { expectSame, golden, toValue } from '../testing/golden.ts';
import { loadGraphDef } from './graph-def-file.ts';

const { Graph, Session, importGraphDef, placeholder } = compat.v1;
const bytes = Buffer.from(golden.frozen.graph, 'base64');

describe('importGraphDef', () => {
  test('writes a graph into another one, where sessions run it', async () => {
    const graphDef = await loadGraphDef(bytes);
    const graph = new Graph();
    graph.asDefault(() => importGraphDef(graphDef, { name: 'old', returnElements: ['chosen', 'x:0'] }));
    const session = new Session({ graph });
    const [stored] = golden.frozen.cases as readonly [Record<string, never>];
    const feeds = new Map<Tensor, never>([
      [graph.getTensorByName('old/x:0'), toValue(stored['x'] as never) as never],
      [graph.getTensorByName('old/n:0'), stored['n'] as never],
    ]);
    const chosen = session.run(graph.getTensorByName('old/chosen:0'), { feedDict: feeds as never });
    expectSame(chosen, stored['chosen'] as never, 'chosen');
    expect(graph.getOperationByName('old/chosen').outputs).toHaveLength(1);
    expect(() => graph.getTensorByName('old/total:0')).toThrow(/no operation 'old\/total'/);
  });

  test('takes tensors in the place of its own, and gives what it is asked for', async () => {
    const graphDef = await loadGraphDef(bytes);
    const graph = new Graph();
    const [x, y] = graph.asDefault(() => {
      const x = placeholder('float32', [null, 2]);
      const [y] = importGraphDef(graphDef, {
        inputMap: { 'x:0': x.mul(2), n: placeholder('int32', [], { name: 'm' }) },
        returnElements: ['chosen:0'],
      });
      return [x, y as Tensor];
    });
    const feedDict = new Map<unknown, unknown>([
      [x, [[1, 2]]],
      [graph.getTensorByName('m:0'), 1],
    ]);
    const result = new Session({ graph }).run(y as Tensor, {
      feedDict: feedDict as never,
    }) as unknown as Tensor;
    expect(result.array()).toEqual([[4, 8]]);
  });

  test('refuses what is no graph, and unknown names', async () => {
    const graphDef = await loadGraphDef(bytes);
    const write =
      (args: object, def: unknown = graphDef) =>
      () =>
        new Graph().asDefault(() => importGraphDef(def as never, args));
    expect(write({}, bytes)).toThrow(/await tf.savedModel.loadGraphDef/);
    expect(write({ returnElements: ['nothing:0'] })).toThrow(/'nothing', which is not in the graph/);
    expect(write({ inputMap: { 'x:0': 3 } })).toThrow(/expected a tensor/);
    expect(write({ inputMap: 3 })).toThrow(/expected tensors by name/);
    expect(() => importGraphDef(graphDef)).toThrow(/not compatible with eager/);
    await expect(loadGraphDef(bytes.subarray(0, 100))).rejects.toThrow(/GraphDef/);
    await expect(loadGraphDef('nowhere.pb')).rejects.toThrow(/nowhere.pb/);
  });
});

test('sizes that floats tell are those of each run', async () => {
  const float = { type: 1 };
  const constant = (name: string, value: number): object => ({
    name,
    op: 'Const',
    attr: new Map<string, object>([
      ['dtype', float],
      ['value', { tensor: { dtype: 1, tensor_shape: {}, float_val: [value] } }],
    ]),
  });
  const attr = new Map<string, object>([
    ['dtype', float],
    ['shape', { shape: {} }],
  ]);
  const node = [
    { name: 'limit', op: 'Placeholder', attr },
    constant('start', 0),
    constant('delta', 0.5),
    { name: 'range', op: 'Range', input: ['start', 'limit', 'delta'], attr: new Map([['Tidx', float]]) },
  ];
  const graph = await loadGraphDef(tensorflow.GraphDef.encode({ node } as never));
  const run = graph.prune('limit:0', 'range:0');
  expect((run(2)[0] as Tensor).array()).toEqual([0, 0.5, 1, 1.5]);
  expect((run(1)[0] as Tensor).array()).toEqual([0, 0.5]);
});

describe('functions that each call the next one twice', () => {
  const float = { type: 1 };
  const type = new Map([['T', float]]);
  const input_arg = [{ name: 'x', type: 1 }];
  const output_arg = [{ name: 'y', type: 1 }];
  /** The last one adds x to itself. */
  const graphOf = (levels: number, op: (name: string) => object) =>
    loadGraphDef(
      tensorflow.GraphDef.encode({
        node: [
          { name: 'x', op: 'Placeholder', attr: new Map([['dtype', float]]) },
          { name: 'y', input: ['x'], ...op('f0') },
        ],
        library: {
          function: Array.from({ length: levels }, (_, i) => ({
            signature: { name: `f${i}`, input_arg, output_arg },
            node_def:
              i === levels - 1
                ? [{ name: 'sum', op: 'AddV2', input: ['x', 'x'], attr: type }]
                : [
                    { name: 'one', input: ['x'], ...op(`f${i + 1}`) },
                    { name: 'sum', input: ['one:output:0'], ...op(`f${i + 1}`) },
                  ],
            ret: new Map([['y', i === levels - 1 ? 'sum:z:0' : 'sum:output:0']]),
          })),
        },
      } as never),
    );
  const called = (name: string): object => ({
    op: 'PartitionedCall',
    attr: new Map<string, object>([
      ['f', { func: { name } }],
      ['Tin', { list: { type: [1] } }],
      ['Tout', { list: { type: [1] } }],
    ]),
  });

  test('are called where they are few', async () => {
    const graph = await graphOf(4, called);
    expect((graph.prune('x:0', 'y:0')(1)[0] as Tensor).item()).toBe(2 ** 8);
  });

  test('are refused where they would double too often, before any of them runs', async () => {
    for (const levels of [30, 90]) {
      const graph = await graphOf(levels, called);
      expect(() => graph.prune('x:0', 'y:0')(1)).toThrow(ResourceExhaustedError);
    }
  });
});
