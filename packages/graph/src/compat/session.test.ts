import '@eagre/backend-native';
import { inspect } from 'node:util';
import { constant, executingEagerly, nameScope, print, random, type Tensor, Variable } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from '../function/function.ts';
import * as v1 from './v1.ts';

afterEach(() => {
  v1.enableEagerExecution();
  v1.resetDefaultGraph();
});

/** A graph with what `fn` makes in it. */
function built<T>(fn: () => T): T & { readonly graph: v1.Graph } {
  const graph = new v1.Graph();
  return { ...graph.asDefault(fn), graph };
}

describe('what is fetched', () => {
  const { graph, x, y, v, add, init } = built(() => {
    const x = v1.placeholder('float32', [], { name: 'x' });
    const v = new Variable(1, { name: 'v' });
    return { x, v, y: x.mul(3), add: v.assignAdd(x), init: v1.globalVariablesInitializer() };
  });

  test('comes back in its structure', () => {
    using session = new v1.Session({ graph });
    expect(session.run(init)).toBeNull();
    const feedDict = new Map([[x, 2]]);
    const { a, b, c } = session.run({ a: y, b: [init, y], c: new Map([['k', v]]) }, { feedDict });
    expect([a.item(), b[0], b[1].item(), c.get('k')?.item()]).toEqual([6, null, 6, 1]);
    expect(session.run('Mul:0', { feedDict: new Map([['x:0', 4]]) })?.item()).toBe(12);
    expect(session.run('init')).toBeNull();
    expect(session.run(constant(5)).item()).toBe(5);
    expect(session.run(add, { feedDict }).item()).toBe(3);
    expect(session.run(v).item()).toBe(3);
  });

  test('needs what it needs, and nothing else runs', () => {
    using session = new v1.Session({ graph });
    session.run(init);
    session.run(y, { feedDict: new Map([[x, 2]]) });
    expect(session.run(v).item()).toBe(1);
    // No placeholder is missing here.
    expect(session.run([v, init])[0].item()).toBe(1);
  });

  test('by a function that runs always the same', () => {
    using session = new v1.Session({ graph });
    session.run(init);
    const step = session.makeCallable([add, { y }, init], { feedList: [x] });
    const [sum, { y: three }, nothing] = step(2);
    expect([sum.item(), three.item(), nothing]).toEqual([3, 6, null]);
    expect(session.makeCallable(v)().item()).toBe(1);
    expect(() => step()).toThrow('Expected 1 feed values but got 0');
    expect(() => step([1, 2])).toThrow("Cannot feed value of shape [2] for Tensor 'x:0', which has shape []");
    expect(() => session.makeCallable(y)()).toThrow('You must feed a value');
    session.close();
    expect(() => step(1)).toThrow('closed Session');
  });

  test('with values for variables, assignments and what lies between', () => {
    using session = new v1.Session({ graph });
    const feedDict = new Map<v1.FeedKey, number>([
      [x, 2],
      [v, 10],
    ]);
    // No initializer has run, and the variable keeps nothing of what it is fed.
    expect(session.run([v, y], { feedDict }).map((t) => t.item())).toEqual([10, 6]);
    expect(session.isInitialized(v)).toBe(false);
    // What is assigned stays, as always.
    expect(session.run(add, { feedDict }).item()).toBe(12);
    expect(session.run(v).item()).toBe(12);
    expect(session.run(y, { feedDict: new Map([['Mul:0', 7]]) }).item()).toBe(7);
    expect(session.run(add, { feedDict: new Map([[add, 4]]) }).item()).toBe(4);
    expect(session.run(v).item()).toBe(12);
    expect(() => session.run(v, { feedDict: new Map([[v, [1, 2]]]) })).toThrow(
      "Cannot feed value of shape [2] for Tensor 'v', which has shape []",
    );
    expect(() => session.run(v, { feedDict: new Map([[3 as never, 1]]) })).toThrow('names of tensors, got 3');
    expect(() => session.run(y, { feedDict: new Map([[x, y]]) })).toThrow('is a tensor of a graph');
    expect(() => session.run(y, { feedDict: new Map([[constant(1), 1]]) })).toThrow(
      'a constant cannot be fed',
    );
  });

  test('is refused where it does not belong', () => {
    const other = built(() => ({ z: v1.placeholder('float32', []), w: new Variable(1), op: v1.noOp() }));
    const session = new v1.Session({ graph });
    expect(() => session.run(other.z)).toThrow('not an element of this graph');
    expect(() => session.run(other.op)).toThrow('not an element of this graph');
    expect(() => session.run(y, { feedDict: new Map([[other.z, 1]]) })).toThrow(
      'not an element of this graph',
    );
    expect(() => session.run('nope:0')).toThrow("no operation 'nope'");
    expect(() => session.run('x:1')).toThrow("'x' has no output 1");
    expect(() => session.run(3 as never)).toThrow('got 3');
    expect(() => session.run(y, { feedDict: new Map([[x, constant([1])]]) })).toThrow(
      'Cannot feed value of shape [1]',
    );
    expect(() => session.run(y, { feedDict: new Map([[x, constant(1, 'int32')]]) })).toThrow(
      "Cannot feed value of dtype int32 for Tensor 'x:0', which is float32",
    );
    expect(() => session.run(y)).toThrow(
      "You must feed a value for placeholder tensor 'x' with dtype float and shape []",
    );
    expect(() => session.run(add, { feedDict: new Map([[x, 1]]) })).toThrow(
      'Attempting to use uninitialized value v',
    );
    session.close();
    expect(() => session.run(init)).toThrow('Attempted to use a closed Session.');
  });
});

describe('graphs', () => {
  test('placeholders are for graphs', () => {
    expect(executingEagerly()).toBe(true);
    expect(() => v1.placeholder('float32', [])).toThrow(
      'tf.placeholder() is not compatible with eager execution.',
    );
    v1.disableEagerExecution();
    expect(executingEagerly()).toBe(false);
    const x = v1.placeholder('float32', [2]);
    expect(new v1.Session().run(x.sum(), { feedDict: new Map([[x, [1, 2]]]) }).item()).toBe(3);
    const before = v1.getDefaultGraph();
    v1.resetDefaultGraph();
    expect(v1.getDefaultGraph()).not.toBe(before);
    expect(v1.getDefaultGraph().getOperations()).toEqual([]);
    v1.enableEagerExecution();
    expect(constant(1).add(1).item()).toBe(2);
  });

  test('names lie in scopes, variables are found by name', () => {
    const { graph, a, b } = built(() =>
      nameScope('net', () => {
        const x = v1.placeholder('float32', [], { name: 'x' });
        const [a, b] = [new Variable(1, { name: 'w' }), new Variable(2, { name: 'w' })];
        x.add(a).mul(b);
        return { a, b };
      }),
    );
    const names = graph.getOperations().map((op) => op.name);
    expect(names).toEqual(['net/x', 'net/w/Read', 'net/AddV2', 'net/w/Read_1', 'net/Mul']);
    expect([...graph.variablesByName()]).toEqual([
      ['net/w', a],
      ['net/w_1', b],
    ]);
    using session = new v1.Session({ graph });
    session.load(new Map([[b, 7]]));
    expect(session.run(b).item()).toBe(7);
    expect([session.isInitialized(a), session.isInitialized(b), b.item()]).toEqual([false, true, 2]);
  });

  test('an interactive session is the default one', () => {
    using _ = new v1.InteractiveSession({ graph: new v1.Graph() });
    const x = v1.placeholder('float32', []);
    expect(v1.evaluate(x.add(1), { feedDict: new Map([[x, 1]]) }).item()).toBe(2);
  });
  test('and no longer', () => {
    expect(v1.getDefaultSession()).toBeNull();
    expect(executingEagerly()).toBe(true);
    expect(() => v1.evaluate(constant(1))).toThrow('No default session is registered.');
  });

  test('random numbers are drawn at each run, once for the gradient too', () => {
    const { graph, x, y, dx } = built(() => {
      const x = v1.placeholder('float32', [4]);
      const y = x.mul(random.uniform([4]));
      return { x, y, dx: v1.gradients(y, x)[0] as Tensor };
    });
    using session = new v1.Session({ graph });
    const feedDict = new Map([[x, [1, 1, 1, 1]]]);
    const [first, slope] = session.run([y, dx], { feedDict });
    expect(slope.array()).toEqual(first.array());
    expect(session.run(y, { feedDict }).array()).not.toEqual(first.array());
  });

  test('what was made in eager mode is shared', () => {
    const w = new Variable([1, 2]);
    const scaled = tfFunction((t: Tensor) => t.mul(w));
    const { graph, x, y, set } = built(() => {
      const x = v1.placeholder('float32', [null, 2]);
      return { x, y: scaled(x), set: w.assign([3, 3]) };
    });
    using session = new v1.Session({ graph });
    const feedDict = new Map([[x, [[1, 1]]]]);
    expect(session.run(y, { feedDict }).array()).toEqual([[1, 2]]);
    session.run(set);
    expect(w.array()).toEqual([3, 3]);
    expect(session.run(y, { feedDict }).array()).toEqual([[3, 3]]);
  });

  test('sizes with names differ, others along one axis are one', () => {
    const make = (shape: v1.PlaceholderShape) =>
      built(() => {
        const a = v1.placeholder('float32', [null]);
        const b = v1.placeholder('float32', shape);
        return { a, b, y: a.sum().add(b.sum()) };
      });
    for (const [name, fails] of [
      ['other', false],
      [null, true],
    ] as const) {
      const { graph, a, b, y } = make([name]);
      using session = new v1.Session({ graph });
      const run = (): Tensor =>
        session.run(y, {
          feedDict: new Map([
            [a, [1]],
            [b, [1, 2]],
          ]),
        });
      if (fails) expect(run).toThrow(/Unknown sizes along one axis/);
      else expect(run().item()).toBe(4);
    }
  });

  test('what an assignment gives is the variable as it is then', () => {
    const { graph, init, v, next, twice } = built(() => {
      const v = new Variable([1, 2], { name: 'v' });
      const next = v.assign([5, 6]);
      return { v, next, twice: next.mul(2), init: v1.globalVariablesInitializer() };
    });
    using session = new v1.Session({ graph });
    session.run(init);
    expect(() => next.array()).toThrow('in sessions only');
    expect([next.shape, next.name, next.size]).toEqual([[2], 'v', 2]);
    expect(session.run(twice).array()).toEqual([10, 12]);
    expect(session.run(v).array()).toEqual([5, 6]);
    expect(String(next)).toContain("'v' after AssignVariableOp");
    expect(() => Number(next)).toThrow('in sessions only');
  });

  test('a call of a traced function has all of its effects, whichever result is fetched', () => {
    const v = new Variable(0);
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const add = tfFunction((x: Tensor) => {
      v.assignAdd(x);
      print('added');
      return { same: x, sum: v.read(), five: constant(5), twice: x.mul(2) };
    });
    const { graph, x, added, dx } = built(() => {
      const x = v1.placeholder('float32', []);
      const added = add(x);
      return { x, added, dx: v1.gradients(added.twice, x)[0] as Tensor };
    });
    using session = new v1.Session({ graph });
    const run = (fetch: Tensor): number[] => [
      session.run(fetch, { feedDict: new Map([[x, 3]]) }).item(),
      v.item(),
      log.mock.calls.length,
    ];
    expect(run(added.sum)).toEqual([3, 3, 1]);
    expect(run(added.same)).toEqual([3, 6, 2]);
    expect(run(added.five)).toEqual([5, 9, 3]);
    expect(run(added.twice)).toEqual([6, 12, 4]);
    log.mockRestore();
    expect(dx.dtype).toBe('float32');
  });

  test('effects inside of loops and branches are effects', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const { graph, n, all } = built(() => {
      const n = v1.placeholder('int32', []);
      const all = v1.effectsOf(() =>
        whileLoop(
          (i) => i.less(n),
          (i) => {
            print(i);
            return i.add(1);
          },
          constant(0, 'int32'),
        ),
      );
      return { n, all };
    });
    using session = new v1.Session({ graph });
    expect(session.run(all, { feedDict: new Map([[n, 3]]) })).toBeNull();
    expect(log.mock.calls.map((c) => c[0])).toEqual(['0', '1', '2']);
    log.mockRestore();
  });

  test('are shown in the console', () => {
    const { graph, any, op } = built(() => ({ any: v1.placeholder('float32'), op: v1.noOp() }));
    expect([graph, any, op].map((value) => inspect(value))).toEqual([
      '<tf.Graph with 2 operations>',
      'tf.Tensor(<traced>, shape=<unknown>, dtype=float32)',
      "<tf.Operation 'NoOp' type=NoOp>",
    ]);
  });

  test('a run that fails leaves variables as they were', () => {
    const { graph, init, v, x, add } = built(() => {
      const v = new Variable([1, 2]);
      const x = v1.placeholder('float32');
      return { v, x, add: x.add([1, 2]), init: v1.globalVariablesInitializer() };
    });
    using session = new v1.Session({ graph });
    session.run(init);
    expect(() => session.run([v, add], { feedDict: new Map([[x, [1, 2, 3]]]) })).toThrow();
    expect(session.run(v).array()).toEqual([1, 2]);
    expect(v.array()).toEqual([1, 2]);
  });
});

test('a graph’s definition is TensorFlow’s', () => {
  const { graph } = built(() => {
    const x = v1.placeholder('float32', [null, 2], { name: 'x' });
    const any = v1.placeholder('float32', null, { name: 'any' });
    const w = new Variable([1, 2], { name: 'w' });
    const set = w.assign([3, 4]);
    v1.controlDependencies([set], () => x.mul(w));
    set.add(any);
    v1.globalVariablesInitializer();
    return {};
  });
  const { node } = tensorflow.GraphDef.decode(graph.asGraphDef());
  expect(node?.map(({ name, op, input }) => `${name} = ${op}(${input?.join(', ') ?? ''})`)).toEqual([
    'x = Placeholder()',
    'any = Placeholder()',
    'Const = Const()',
    'w = VarHandleOp()',
    'AssignVariableOp = AssignVariableOp(w, Const)',
    'w/Read = ReadVariableOp(w, ^AssignVariableOp)',
    'Mul = Mul(x, w/Read, ^AssignVariableOp)',
    'AssignVariableOp/Read = ReadVariableOp(w, ^AssignVariableOp)',
    'AddV2 = AddV2(AssignVariableOp/Read, any)',
    'Const_1 = Const()',
    'w/Assign = AssignVariableOp(w, Const_1)',
    'init = NoOp(^w/Assign)',
  ]);
  const shape = (name: string) => node?.find((n) => n.name === name)?.attr?.get('shape')?.shape;
  expect(shape('x')).toEqual({ dim: [{ size: -1 }, { size: 2 }] });
  expect(shape('any')).toEqual({ unknown_rank: true });
});

test('its prints depend on nothing but what is said', () => {
  const { graph } = built(() => {
    const shown = v1.effectsOf(() => print('one'));
    v1.controlDependencies([shown], () => print('two'));
    print('three');
    return {};
  });
  const { node } = tensorflow.GraphDef.decode(graph.asGraphDef());
  expect(node?.map(({ name, input }) => [name, ...(input ?? [])].join(' '))).toEqual([
    'PrintV2',
    'effects ^PrintV2',
    'PrintV2_1 ^effects',
    'PrintV2_2',
  ]);
});

test('graphs and sessions that are default at the same time end in any order', () => {
  const [a, b] = [new v1.Graph(), new v1.Graph()];
  const leave = [a.asDefault(), b.asDefault()];
  expect(() => leave[0]?.[Symbol.dispose]()).toThrow(/Graph.asDefault ended before/);
  expect(v1.getDefaultGraph()).toBe(b);
  leave[1]?.[Symbol.dispose]();
  expect(constant(1).add(1).item()).toBe(2);
  const sessions = [new v1.InteractiveSession({ graph: a }), new v1.InteractiveSession({ graph: b })];
  for (const session of sessions) session.close();
  expect(v1.getDefaultSession()).toBe(null);
  expect(constant(1).add(1).item()).toBe(2);
});
