// What TensorFlow says of the programs in tools/golden/variable_scopes.py.
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import {
  add,
  constant,
  device,
  constant as fill,
  nameScope,
  ones,
  type Tensor,
  Variable,
  zeros,
} from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { describe, expect, test } from 'vitest';
import * as v1 from './v1.ts';

type Nested = number | readonly Nested[];

const golden = JSON.parse(
  readFileSync(new URL('../../golden/variable-scopes.json', import.meta.url), 'utf8'),
) as {
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly values: Readonly<Record<string, readonly Nested[]>>;
  readonly errors: Readonly<Record<string, string>>;
};

const { AUTO_REUSE, getVariable: get, variableScope } = v1;
const inGraph = <T>(fn: () => T): T => new v1.Graph().asDefault(fn);

/** The name of the operation that `add` makes here. */
function op(): string {
  add(v1.placeholder('float32', []), 1);
  const made = v1.getDefaultGraph().getOperations().at(-1) as v1.Operation;
  return made.name.replace('AddV2', 'op');
}
const free = (): string => new Variable(1, { name: 'free' }).name;

const names: Readonly<Record<string, () => Iterable<string>>> = {
  *placed() {
    const out: string[] = [];
    const a = variableScope('a', (a) => {
      out.push(get('v', [1]).name, op(), free());
      variableScope('b', () => out.push(get('v', [1]).name, op()));
      nameScope('n', () => out.push(get('u', [1]).name, op(), free()));
      return a;
    });
    variableScope('a', { reuse: true }, () => out.push(get('v').name, op(), free()));
    variableScope(a, { reuse: AUTO_REUSE }, (again) =>
      out.push(get('v').name, get('z', [1]).name, op(), again.originalNameScope),
    );
    variableScope('x', { auxiliaryNameScope: false }, () => out.push(op(), get('v', [1]).name));
    variableScope('k', () => variableScope(a, () => out.push(get('y', [1]).name, op())));
    yield* out;
    yield* v1.globalVariables().map((v) => v.name);
  },
  *defaults() {
    for (let i = 0; i < 3; i++) {
      using _ = variableScope(null, { defaultName: 'd' });
      yield v1.getVariableScope().name;
      yield get('v', [1]).name;
    }
    {
      using _ = variableScope('d');
      const { name, originalNameScope } = v1.getVariableScope();
      yield* [name, originalNameScope, get('w', [1]).name];
    }
    for (let i = 0; i < 2; i++) {
      using _ = variableScope('outer', { reuse: AUTO_REUSE });
      using __ = variableScope(null, { defaultName: 'd' });
      yield get('v', [1]).name;
    }
  },
};

const values: Readonly<Record<string, () => readonly (Tensor | Variable)[]>> = {
  initial: () =>
    variableScope('a', { initializer: (shape) => fill(3, 'float32', { shape }) }, () =>
      variableScope('b', () => [
        get('v', [2]),
        get('w', [2], { initializer: (shape) => ones(shape) }),
        get('u', null, { initializer: [7, 8] }),
        get('i', [2], { dtype: 'int32', initializer: (shape, dtype) => zeros(shape, { dtype }) }),
      ]),
    ),
  regularized: () => {
    const initializer = (): Tensor => ones([3]);
    variableScope('a', { regularizer: (w) => w.sum().mul(2), reuse: AUTO_REUSE }, () => {
      for (let i = 0; i < 2; i++) get('v', [3], { initializer });
      get('w', [3], { initializer, regularizer: (w) => w.mul(w).sum() });
    });
    return v1.getCollection(v1.GraphKeys.REGULARIZATION_LOSSES) as readonly Tensor[];
  },
};

const errors: Readonly<Record<string, () => unknown>> = {
  exists: () => [get('v', [1]), get('v', [1])],
  missing: () => variableScope('a', { reuse: true }, () => get('v', [1])),
  missing_inside: () =>
    variableScope('a', { reuse: true }, () => variableScope('b', { reuse: false }, () => get('v', [1]))),
  shape: () => [get('v', [1]), variableScope('', { reuse: true }, () => get('v', [2]))],
  dtype: () => [get('v', [1]), v1.getVariableScope().reuseVariables(), get('v', [1], { dtype: 'int32' })],
  no_shape: () => get('v'),
  constant_shape: () => get('v', [2], { initializer: [1, 2] }),
  no_name: () => variableScope(null, () => 1),
  default_reuse: () => variableScope(null, { defaultName: 'd', reuse: true }, () => 1),
  no_scope: () => variableScope(5 as never, () => 1),
};

/** TensorFlow's words in TypeScript. */
function translated(message: string): string {
  return message
    .replace(/\((\d+),\)/g, '[$1]')
    .replace(/reuse=tf\.AUTO_REUSE in VarScope/, 'reuse: AUTO_REUSE in variableScope')
    .replace(
      'reuse=True or reuse=tf.AUTO_REUSE in VarScope',
      'reuse: true or reuse: AUTO_REUSE in variableScope',
    )
    .replace('reuse=True or reuse: AUTO_REUSE', 'reuse: true or reuse: AUTO_REUSE')
    .replace('reuse=True', 'reuse=true')
    .replace('tf.get_variable()', 'getVariable()')
    .replace(/name_or_scope/g, 'nameOrScope')
    .replace('default_name is None', 'defaultName is undefined');
}

describe('as TensorFlow has it', () => {
  test.each(Object.keys(golden.names))('names: %s', (name) => {
    expect(inGraph(() => [...(names[name] as () => Iterable<string>)()])).toEqual(golden.names[name]);
  });

  test.each(Object.keys(golden.values))('values: %s', (name) => {
    inGraph(() => {
      const fetches = (values[name] as () => readonly Tensor[])();
      using session = new v1.Session();
      session.run(v1.globalVariablesInitializer());
      expect(session.run(fetches).map((t) => t.array())).toEqual(golden.values[name]);
    });
  });

  test.each(Object.keys(golden.errors))('errors: %s', (name) => {
    expect(() => inGraph(errors[name] as () => unknown)).toThrow(translated(golden.errors[name] as string));
  });
});

test('variables by name belong to graphs', () => {
  expect(() => get('v', [1])).toThrow('tf.getVariable() is not compatible with eager execution.');
  expect(() => variableScope('a')).toThrow('tf.variableScope() is not compatible with eager execution.');
  expect(inGraph(() => get('v', [1])).name).toBe('v');
  expect(inGraph(() => get('v', [1])).name).toBe('v');
});

test('a first value of its own is within Glorot’s limits, or zero', () => {
  inGraph(() => {
    const w = get('w', [30, 50]);
    const i = get('i', [2], { dtype: 'int32', trainable: false });
    using session = new v1.Session();
    session.run(v1.globalVariablesInitializer());
    const data = Array.from(session.run(w).data(), Number);
    const limit = Math.sqrt(6 / 80);
    expect(Math.max(...data.map(Math.abs))).toBeLessThanOrEqual(limit);
    expect(data.reduce((s, x) => s + x * x, 0) / data.length).toBeCloseTo((limit * limit) / 3, 2);
    expect(session.run(i).array()).toEqual([0, 0]);
    expect(v1.trainableVariables()).toEqual([w]);
    expect(v1.getCollection(v1.GraphKeys.TRAINABLE_VARIABLES)).toEqual([w]);
    expect(() => v1.addToCollection(v1.GraphKeys.GLOBAL_VARIABLES, w)).toThrow('the graph itself');
    expect(v1.getCollection('none')).toEqual([]);
  });
});

test('collections by scope', () => {
  inGraph(() => {
    const regularizer = (w: Tensor): Tensor => w.sum();
    const [g, d] = ['generator', 'critic'].map((name) =>
      variableScope(name, { regularizer }, () => [get('w', [1]), get('n', [1], { trainable: false })]),
    ) as [Variable[], Variable[]];
    expect(v1.globalVariables('generator/')).toEqual(g);
    expect(v1.trainableVariables('critic')).toEqual([d[0]]);
    const { TRAINABLE_VARIABLES, REGULARIZATION_LOSSES } = v1.GraphKeys;
    expect(v1.getCollection(TRAINABLE_VARIABLES, 'generator')).toEqual([g[0]]);
    expect(v1.getCollection(REGULARIZATION_LOSSES, 'critic')).toHaveLength(2);
    expect(v1.getCollection(REGULARIZATION_LOSSES)).toHaveLength(4);
  });
});

test('an initializer needs a shape', () => {
  expect(() => inGraph(() => get('v', null, { initializer: () => ones([1]) }))).toThrow(
    'Shape of a new variable (v) must be fully defined',
  );
  expect(() => inGraph(() => get('s', [1], { dtype: 'string' }))).toThrow('An initializer for variable s');
  expect(() => inGraph(() => get(''))).toThrow('needs a name');
});

test('what a scope throws leaves the scope', () => {
  inGraph(() => {
    expect(() =>
      variableScope('a', () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    expect([v1.getVariableScope().name, get('v', [1]).name]).toEqual(['', 'v']);
  });
});

test('the device of a node is kept', () => {
  const graph = new v1.Graph();
  graph.asDefault(() => {
    const x = v1.placeholder('float32', [], { name: 'x' });
    const y = device('/cpu:0', () => x.mul(2));
    y.add(1);
    device('cpu:0', () => new v1.Graph().asDefault(() => expect(constant(1).device).toBe('/device:CPU:0')));
  });
  expect(graph.getOperations().map((o) => [o.name, o.device])).toContainEqual(['Mul', '/device:CPU:0']);
  expect(graph.getOperationByName('x').device).toBe('');
  expect(graph.getOperationByName('AddV2').device).toBe('');
  const { node } = tensorflow.GraphDef.decode(graph.asGraphDef());
  expect(node?.find((n) => n.name === 'Mul')?.device).toBe('/device:CPU:0');
  expect(node?.find((n) => n.name === 'AddV2')?.device).toBeUndefined();
});
