import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import {
  cast,
  concat,
  constant,
  hostFunction,
  lookup,
  Module,
  print,
  type RaggedTensor,
  random,
  strings,
  type Tensor,
  Variable,
} from '@eagre/core';
import { Asset, StreamGenerator } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { cond, TensorSpec, tfFunction, whileLoop } from '@eagre/graph';
import { afterAll, describe, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { save } from './save.ts';
import { savedModelOf } from './saved-model.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-save-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let next = 0;
const fresh = (): string => join(folder, `model-${next++}`);
const spec = (shape: (number | null)[] | null, dtype = 'float32', name?: string): TensorSpec =>
  new TensorSpec({ shape, dtype: dtype as 'float32', ...(name === undefined ? {} : { name }) });

function read(dir: string): tensorflow.MetaGraphDef {
  const { meta_graphs } = tensorflow.SavedModel.decode(readFileSync(join(dir, 'saved_model.pb')));
  return meta_graphs?.[0] as tensorflow.MetaGraphDef;
}
const nodesOf = (meta: tensorflow.MetaGraphDef): readonly tensorflow.SavedObject[] =>
  meta.object_graph_def?.nodes ?? [];
const childrenOf = (node: tensorflow.SavedObject | undefined): Record<string, number> =>
  Object.fromEntries((node?.children ?? []).map((c) => [c.local_name, Number(c.node_id ?? 0)]));

class Counter extends Module {
  count: Variable = new Variable(1, { name: 'count' });
  add: (a: Tensor) => Tensor = tfFunction((a: Tensor) => this.count.assignAdd(a).read(), {
    inputSignature: [spec([])],
  });
}

describe('what is written', () => {
  test('objects, variables and functions', async () => {
    const dir = fresh();
    const counter = new Counter();
    await save(counter, dir);
    const meta = read(dir);
    const nodes = nodesOf(meta);
    const root = childrenOf(nodes[0]);
    expect(nodes[0]?.user_object).toEqual({
      identifier: '_generic_user_object',
      version: { producer: 1, min_consumer: 1 },
    });
    expect(Object.keys(root)).toEqual(['count', 'add', 'signatures']);
    expect(nodes[root['count'] as number]?.variable).toEqual({
      dtype: 1,
      shape: {},
      trainable: true,
      name: 'count',
    });
    const add = nodes[root['add'] as number];
    const name = add?.function?.concrete_functions?.[0] as string;
    expect(name).toMatch(/^__inference_\w+_\d+$/);
    const trace = nodes[childrenOf(add)['trace_0'] as number]?.bare_concrete_function;
    expect(trace).toMatchObject({
      concrete_function_name: name,
      argument_keywords: ['a'],
      allowed_positional_arguments: 1,
    });
    expect(meta.object_graph_def?.concrete_functions?.get(name)?.bound_inputs).toEqual([root['count']]);
    // The only function with a signature.
    const signature = meta.signature_def?.get('serving_default');
    expect(signature).toEqual({
      inputs: new Map([['a', { name: 'serving_default_a:0', dtype: 1, tensor_shape: {} }]]),
      outputs: new Map([['output_0', { name: 'StatefulPartitionedCall:0', dtype: 1, tensor_shape: {} }]]),
      method_name: 'tensorflow/serving/predict',
    });
    expect(meta.meta_info_def?.tags).toEqual(['serve']);
    expect(readdirSync(dir).sort()).toEqual(['assets', 'saved_model.pb', 'variables']);
  });

  test('functions take variables as resources, and the graph restores them', async () => {
    const dir = fresh();
    await save(new Counter(), dir);
    const { graph_def, saver_def } = read(dir);
    const functions = new Map(graph_def?.library?.function?.map((fn) => [fn.signature?.name as string, fn]));
    const fn = [...functions].find(([name]) => !/wrapper|traced/.test(name))?.[1];
    expect(fn?.signature?.input_arg).toEqual([
      { name: 'a', type: 1 },
      { name: 'count_resource', type: 20 },
    ]);
    expect(fn?.node_def?.filter(({ op }) => op === 'VarHandleOp')).toEqual([]);
    const ops = (name: RegExp): (string | undefined)[] =>
      [...functions].flatMap(([key, { node_def = [] }]) =>
        name.test(key) ? node_def.map(({ op }) => op) : [],
      );
    expect(ops(/traced_restore/)).toEqual(['Const', 'Const', 'RestoreV2', 'AssignVariableOp', 'Identity']);
    expect(ops(/traced_save/)).toContain('SaveV2');
    expect(saver_def).toEqual({
      filename_tensor_name: 'saver_filename:0',
      save_tensor_name: 'StatefulPartitionedCall_1:0',
      restore_op_name: 'StatefulPartitionedCall_2',
      version: 2,
    });
  });

  test('lists, maps, plain objects and private functions', async () => {
    const dir = fresh();
    const f = tfFunction((a: Tensor) => a.mul(2), { inputSignature: [spec([2])] });
    const root = {
      list: [new Variable(1), { f }],
      map: new Map<string, unknown>([['v', new Variable(2)]]),
      empty: [],
      _private: f,
      number: 3,
    };
    await save(root, dir);
    const nodes = nodesOf(read(dir));
    const at = childrenOf(nodes[0]);
    expect(Object.keys(at).sort()).toEqual(['empty', 'list', 'map', 'signatures']);
    expect(nodes[at['list'] as number]?.user_object?.identifier).toBe('trackable_list_wrapper');
    expect(nodes[at['map'] as number]?.user_object?.identifier).toBe('trackable_dict_wrapper');
    const inner = nodes[childrenOf(nodes[at['list'] as number])['1'] as number];
    expect(nodes[childrenOf(inner)['f'] as number]?.function?.concrete_functions).toHaveLength(1);
  });

  test('arguments: names, defaults, host values, structures', async () => {
    const dir = fresh();
    const f = tfFunction((a: Tensor, n = 2, mode: string | null = 'sum') => (mode === null ? a : a.mul(n)));
    const g = tfFunction(({ left, right }: { left: Tensor; right: Tensor[] }, ...more: Tensor[]) => ({
      all: [left, ...right, ...more],
    }));
    const x = constant([1, 2]);
    f(x);
    f(x, 3);
    f(x, 0.5, null);
    g({ left: x, right: [x] }, x);
    await save({ f, g }, dir);
    const meta = read(dir);
    const nodes = nodesOf(meta);
    const at = childrenOf(nodes[0]);
    const of = (name: string): tensorflow.SavedFunction => nodes[at[name] as number]?.function as never;
    const argspec = (name: string): Record<string, unknown> =>
      Object.fromEntries(
        (of(name).function_spec?.fullargspec?.named_tuple_value?.values ?? []).map((p) => [p.key, p.value]),
      );
    expect(argspec('f')).toMatchObject({
      args: { list_value: { values: ['a', 'n', 'mode'].map((string_value) => ({ string_value })) } },
      varargs: { none_value: {} },
      defaults: { tuple_value: { values: [{ int64_value: 2 }, { string_value: 'sum' }] } },
    });
    const calls = of('f').concrete_functions?.map((name) => {
      const signature = meta.object_graph_def?.concrete_functions?.get(name)?.canonicalized_input_signature;
      return signature?.tuple_value?.values?.[0]?.tuple_value?.values?.slice(1);
    });
    expect(calls).toEqual([
      [{ int64_value: 2 }, { string_value: 'sum' }],
      [{ int64_value: 3 }, { string_value: 'sum' }],
      [{ float64_value: 0.5 }, { none_value: {} }],
    ]);
    expect(argspec('g')).toMatchObject({
      args: { list_value: { values: [{ string_value: 'args_0' }] } },
      varargs: { string_value: 'more' },
    });
    const [trace] = of('g').concrete_functions as readonly [string];
    const fn = meta.graph_def?.library?.function?.find((d) => d.signature?.name === trace);
    expect(fn?.signature?.input_arg?.map(({ name }) => name)).toEqual([
      'args_0_left',
      'args_0_right_0',
      'more_0',
    ]);
  });

  test('signatures by name, unknown sizes, names of specs and of outputs', async () => {
    const dir = fresh();
    const f = tfFunction((a: Tensor) => [a, a.sum()], {
      inputSignature: [spec([null, 3], 'float32', 'rows')],
    });
    const g = tfFunction((a: Tensor, b: Tensor) => ({ total: a.add(b), a }));
    const root = { f, g };
    await save(root, dir, { signatures: { first: f, second: g.getConcreteFunction(spec([2]), spec([2])) } });
    const { signature_def = new Map() } = read(dir);
    expect([...signature_def.keys()]).toEqual(['first', 'second', '__saved_model_init_op']);
    expect(signature_def.get('first')?.inputs?.get('rows')?.tensor_shape).toEqual({
      dim: [{ size: -1 }, { size: 3 }],
    });
    expect([...(signature_def.get('first')?.outputs?.keys() ?? [])]).toEqual(['output_0', 'output_1']);
    expect([...(signature_def.get('second')?.outputs?.keys() ?? [])]).toEqual(['a', 'total']);
    const loaded = await load(dir);
    const sums = loaded.signatures['second']?.({ a: constant([1, 2]), b: constant([3, 4]) });
    expect(sums?.['total']?.array()).toEqual([4, 6]);
  });

  test('results have any names, of which those of a function are made', async () => {
    const dir = fresh();
    const f = tfFunction((a: Tensor) => ({ 'Identity:0': a.mul(2), Identity_0: a, 'of a/b': a.neg() }), {
      inputSignature: [spec([null])],
    });
    await save({ f }, dir, { signatures: f });
    const { signature_def, graph_def } = read(dir);
    expect([...(signature_def?.get('serving_default')?.outputs?.keys() ?? [])].sort()).toEqual([
      'Identity:0',
      'Identity_0',
      'of a/b',
    ]);
    for (const { signature } of graph_def?.library?.function ?? [])
      for (const { name } of signature?.output_arg ?? []) expect(name).toMatch(/^\w+$/);
    const loaded = await load(dir);
    const results = loaded.signatures['serving_default']?.({ a: constant([1, 2]) });
    expect(results?.['Identity:0']?.array()).toEqual([2, 4]);
    expect(results?.['of a/b']?.array()).toEqual([-1, -2]);
  });

  test('large constants are there once, for all functions', async () => {
    const large = random.normal([40, 40]);
    const f = tfFunction((a: Tensor) => a.matmul(large), { inputSignature: [spec([null, 40])] });
    const g = tfFunction((a: Tensor) => a.mul(large), { inputSignature: [spec([40, 40])] });
    const dir = fresh();
    await save({ f, g }, dir);
    expect(readFileSync(join(dir, 'saved_model.pb')).length).toBeLessThan(2 * 6400);
    const loaded = await load(dir);
    expect(loaded['f'](constant([new Array(40).fill(1)])).shape).toEqual([1, 40]);
  });

  test('assets, each once', async () => {
    mkdirSync(join(folder, 'b'));
    for (const path of ['a.txt', 'b/a.txt']) writeFileSync(join(folder, path), path);
    const first = new Asset(join(folder, 'a.txt'));
    const again = new Asset(join(folder, 'b', '..', 'a.txt'));
    const other = new Asset(join(folder, 'b', 'a.txt'));
    const dir = fresh();
    await save({ first, again, other }, dir);
    expect(read(dir).asset_file_def?.map(({ filename }) => filename)).toEqual(['a.txt', 'a.txt', 'a_1.txt']);
    expect(readFileSync(join(dir, 'assets', 'a_1.txt'), 'utf8')).toBe('b/a.txt');
    await expect(save({ none: new Asset(join(folder, 'none')) }, fresh())).rejects.toThrow('is not a file');
  });
});

describe('saved and loaded', () => {
  test('the state is that of the save', async () => {
    const dir = fresh();
    const counter = new Counter();
    counter.add(constant(4));
    const saving = save(counter, dir);
    // After the call, before it has written anything.
    counter.add(constant(100));
    await saving;
    const loaded = await load(dir);
    expect(loaded['count'].item()).toBe(5);
    expect(loaded['add'](constant(2)).item()).toBe(7);
    expect(loaded['add'](constant(1)).item()).toBe(8);
    const again = fresh();
    await save(loaded, again);
    expect((await load(again))['count'].item()).toBe(8);
  });

  test('branches and loops', async () => {
    const v = new Variable([1, 1]);
    const f = tfFunction(
      (a: Tensor, n: Tensor) => {
        const y = cond(
          a.sum().greater(0),
          () => {
            v.assignAdd([1, 2]);
            return a.mul(2);
          },
          () => a.neg(),
        ) as Tensor;
        const [, z] = whileLoop(
          (i: Tensor) => i.less(n),
          (i: Tensor, at: Tensor): [Tensor, Tensor] => [i.add(1), at.mul(0.5).add(v)],
          [constant(0, 'int32'), y],
        ) as readonly Tensor[];
        return { z: z as Tensor, v: v.read() };
      },
      { inputSignature: [spec([2]), spec([], 'int32')] },
    );
    const object = { v, f };
    const dir = fresh();
    await save(object, dir);
    const loaded = await load(dir);
    for (const args of [
      [constant([1, 2]), constant(3, 'int32')],
      [constant([-1, -2]), constant(0, 'int32')],
    ] as const) {
      const [got, wanted] = [loaded['f'](...args), object.f(...args)];
      expect(got.z.array()).toEqual(wanted.z.array());
      expect(got.v.array()).toEqual(wanted.v.array());
    }
  });

  test('branches of other sizes, and their gradient', async () => {
    const f = tfFunction(
      (a: Tensor) => {
        const tape = new GradientTape();
        tape.watch(a);
        const y = cond(
          a.sum().greater(0),
          () => a.mul(a),
          () => concat([a, a.slice([0], [1])], 0),
        );
        return [y, tape.gradient(y, a)];
      },
      { inputSignature: [spec([null])] },
    );
    let object: Record<string, unknown> = { f };
    for (let generation = 0; generation < 2; generation++) {
      const dir = fresh();
      await save(object, dir);
      object = await load(dir);
      const calls = [
        [1, 2, 3],
        [-1, -2],
      ].map((a) => (object['f'] as (a: Tensor) => Tensor[])(constant(a)).map((t) => t.array()));
      expect(calls).toEqual([
        [
          [1, 4, 9],
          [2, 4, 6],
        ],
        [
          [-1, -2, -1],
          [2, 1],
        ],
      ]);
    }
  });

  test('random draws go on where they were, each stream by itself', async () => {
    const generator = new StreamGenerator(5);
    const object = {
      f: tfFunction(
        (a: Tensor) =>
          cond(
            a.greater(0),
            () => [random.uniform([3]), generator.normal([3])],
            () => [generator.normal([3]), random.normal([3])],
          ),
        { inputSignature: [spec([])] },
      ),
    };
    object.f(constant(1));
    const dir = fresh();
    await save(object, dir);
    const loaded = await load(dir);
    expect(childrenOf(nodesOf(read(dir))[0])).toHaveProperty('_random_states');
    for (const a of [1, -1, -1, 1]) {
      const wanted = object.f(constant(a)) as unknown as Tensor[];
      const got = loaded['f'](constant(a)) as Tensor[];
      got.forEach((y, i) =>
        expect(
          y
            .sub(wanted[i] as Tensor)
            .abs()
            .max()
            .item(),
        ).toBeLessThan(1e-6),
      );
    }
  });

  test('in the place of another model', async () => {
    const dir = fresh();
    const counter = new Counter();
    await save(counter, dir);
    counter.add(constant(10));
    await save(counter, dir);
    expect((await load(dir))['count'].item()).toBe(11);
    expect(readdirSync(folder).filter((name) => /\.(tmp|old)$/.test(name))).toEqual([]);
  });

  test('a function by itself', async () => {
    const dir = fresh();
    const f = tfFunction((a: Tensor) => a.add(1), { inputSignature: [spec([null])], name: 'plusOne' });
    await save(f, dir);
    const { signatures, plusOne } = await load(dir);
    expect(plusOne(constant([1])).array()).toEqual([2]);
    const results = signatures['serving_default']?.({ a: constant([1, 2]) });
    expect(results?.['output_0']?.array()).toEqual([2, 3]);
  });
});

describe('mistakes leave nothing behind', () => {
  const counter = new Counter();
  const never = tfFunction((a: Tensor) => a);
  const outside = new Variable(1, { name: 'elsewhere' });
  const one = { inputSignature: [spec([2])] };
  const cases: Record<string, readonly [() => Promise<void>, RegExp]> = {
    'a path that is no text': [() => save(counter, 3 as never), /exportDir must be a path/],
    'an empty path': [() => save(counter, ''), /a path/],
    'nothing to save': [() => save({ a: 1 }, fresh()), /neither variables nor functions/],
    'a number': [() => save(3 as never, fresh()), /neither variables nor functions/],
    'a signature that is no function': [
      () => save(counter, fresh(), { signatures: { a: 3 } }),
      /the signature 'a' is 3, expected a function of tf\.function/,
    ],
    'a signature that was never traced': [
      () => save(counter, fresh(), { signatures: never }),
      /with 0 traces, expected one/,
    ],
    'a reserved name': [
      () => save(counter, fresh(), { signatures: { __saved_model_init_op: counter.add } }),
      /cannot have the name/,
    ],
    'a signature with nested results': [
      () => {
        const f = tfFunction((a: Tensor) => ({ a: [a] }), one);
        return save({ f }, fresh(), { signatures: f });
      },
      /the signature 'serving_default' returns a structure inside its results, a list at 'a', expected one tensor, a list of tensors, or an object/,
    ],
    'a signature with an object in a list': [
      () => {
        const f = tfFunction((a: Tensor) => [a, { b: a }], one);
        return save({ f }, fresh(), { signatures: f });
      },
      /returns a structure inside its results, an object at 1, expected/,
    ],
    'variables of others': [
      () => save({ f: tfFunction((a: Tensor) => a.mul(outside), one) }, fresh()),
      /the function 'f' uses the variable 'elsewhere', which is not part of what is saved/,
    ],
    'code of the host': [
      () =>
        save(
          {
            f: tfFunction(
              (a: Tensor) => hostFunction((x: Tensor) => x, [a], { dtype: 'float32', shape: [2] }),
              one,
            ),
          },
          fresh(),
        ),
      /cannot be written for TensorFlow: it is code of this process/,
    ],
    printing: [
      () =>
        save(
          {
            f: tfFunction((a: Tensor) => {
              print(a);
              return a;
            }, one),
          },
          fresh(),
        ),
      /cannot be written for TensorFlow/,
    ],
    'an object as an argument': [
      () => {
        const f = tfFunction((a: Tensor, of: Counter) => a.add(of.count));
        f(constant([1, 2]), counter);
        return save({ f, counter }, fresh());
      },
      /the function 'f' is for a Counter as an argument/,
    ],
    'a map with keys that have no names': [
      () => save({ m: new Map([[{}, new Variable(1)]]) }, fresh()),
      /a key that is neither a string nor a number/,
    ],
  };
  test.each(Object.keys(cases))('%s', async (name) => {
    const [attempt, message] = cases[name] as (typeof cases)[string];
    await expect(attempt()).rejects.toThrow(message);
    expect(
      existsSync(join(folder, `model-${next - 1}`)) &&
        readdirSync(join(folder, `model-${next - 1}`)).length === 0,
    ).toBe(false);
  });

  test('a file, and a folder with other files', async () => {
    const file = fresh();
    writeFileSync(file, 'text');
    await expect(save(counter, file)).rejects.toThrow('is a file, expected a folder or none');
    const own = fresh();
    mkdirSync(own);
    writeFileSync(join(own, 'notes.txt'), 'mine');
    await expect(save(counter, own)).rejects.toThrow('holds other files (notes.txt)');
    expect(readFileSync(join(own, 'notes.txt'), 'utf8')).toBe('mine');
  });

  test('a save that fails leaves the old model', async () => {
    const dir = fresh();
    await save(counter, dir);
    const before = readFileSync(join(dir, 'saved_model.pb'));
    await expect(save({ f: tfFunction((a: Tensor) => a.mul(outside), one) }, dir)).rejects.toThrow();
    const asset = { file: new Asset(join(folder, 'gone.txt')) };
    await expect(save(asset, dir)).rejects.toThrow('is not a file');
    expect(readFileSync(join(dir, 'saved_model.pb')).equals(before)).toBe(true);
    expect((await load(dir))['count'].item()).toBe(1);
  });

  test('a tensor that was disposed after the trace', async () => {
    const large = random.normal([40, 40]);
    const f = tfFunction((a: Tensor) => a.matmul(large), { inputSignature: [spec([null, 40])] });
    f.getConcreteFunction();
    const x = constant([new Array(40).fill(1)]);
    const before = f(x).array();
    large.dispose();
    const dir = fresh();
    // The trace has it still.
    await save({ f }, dir);
    expect((await load(dir))['f'](x).array()).toEqual(before);
  });
});

test('nothing is written where an op cannot be', () => {
  const f = tfFunction((a: Tensor) => cast(a, 'int32'), { inputSignature: [spec([2])] });
  expect(savedModelOf({ f }, new Map()).entries).toEqual([]);
});

describe('tables and strings', () => {
  class Words extends Module {
    readonly ids: lookup.StaticHashTable;
    readonly files: lookup.StaticVocabularyTable;
    readonly counts: lookup.experimental.MutableHashTable;
    readonly seen: lookup.experimental.DenseHashTable;
    constructor(file: string) {
      super();
      this.ids = new lookup.StaticHashTable(
        new lookup.KeyValueTensorInitializer(['a', 'b'], [1n, 2n], 'string', 'int64'),
        -1,
      );
      const { WHOLE_LINE, LINE_NUMBER } = lookup.TextFileIndex;
      const lines = new lookup.TextFileInitializer(file, 'string', WHOLE_LINE, 'int64', LINE_NUMBER, {
        valueIndexOffset: 10,
      });
      this.files = new lookup.StaticVocabularyTable(lines, 3);
      this.counts = new lookup.experimental.MutableHashTable('string', 'int64', -1);
      this.seen = new lookup.experimental.DenseHashTable('int64', 'int64', -1, -100, -200);
    }
    look = tfFunction({ inputSignature: [spec([null], 'string', 'x')] })((x: Tensor) => [
      this.ids.lookup(x),
      this.files.lookup(x),
      this.counts.lookup(x),
    ]);
    see = tfFunction({ inputSignature: [spec([null], 'int64', 'x')] })((x: Tensor) => {
      this.seen.insert(x, x.mul(x));
      return [this.seen.lookup(x), this.seen.size()];
    });
  }
  const made = (): Words => {
    const file = join(folder, 'words.txt');
    writeFileSync(file, 'x\ny\n');
    const words = new Words(file);
    words.counts.insert(['q'], [5n]);
    words.seen.insert([7n, 8n], [70n, 80n]);
    return words;
  };
  const x = constant(['a', 'x', 'q', 'zz']);
  const values = (outputs: unknown): string[] => (outputs as Tensor[]).map(String);

  test('are resources with functions of their own, and give the same when they are loaded', async () => {
    const words = made();
    const dir = fresh();
    await save(words, dir, { signatures: words.look });
    const meta = read(dir);
    const nodes = nodesOf(meta);
    const { ids, files, counts, seen } = childrenOf(nodes[0]) as Record<string, number>;
    for (const id of [ids, files, counts, seen]) {
      expect(nodes[id as number]?.resource).toEqual({});
      expect(Object.keys(childrenOf(nodes[id as number]))).toEqual(
        expect.arrayContaining(['_create_resource', '_initialize', '_destroy_resource']),
      );
    }
    expect([...(nodes[counts as number]?.saveable_objects?.keys() ?? [])]).toEqual(['table']);
    expect(nodes[ids as number]?.saveable_objects).toBe(undefined);
    const ops = new Set(meta.graph_def?.node?.map(({ op }) => op));
    for (const op of ['HashTableV2', 'MutableHashTableV2', 'MutableDenseHashTableV2'])
      expect(ops).toContain(op);
    expect(readFileSync(join(dir, 'assets/words.txt'), 'utf8')).toBe('x\ny\n');

    const loaded = await load(dir);
    expect(values(loaded['look'](x))).toEqual(values(words.look(x)));
    expect(values(loaded['look'](x))).toEqual(['[ 1 -1 -1 -1]', '[ 2 10  4  3]', '[-1 -1  5 -1]']);
    expect(values(loaded['see'](constant([3n], 'int64')))).toEqual(['[9]', '3']);
    expect(Object.keys(loaded.signatures['serving_default']?.({ x }) ?? {})).toHaveLength(3);
  });

  test('that no object has are kept beside the root', async () => {
    const { ids } = made();
    const fn = tfFunction({ inputSignature: [spec([null], 'string')] })((t: Tensor) => ids.lookup(t));
    const dir = fresh();
    await save({ fn }, dir);
    expect(childrenOf(nodesOf(read(dir))[0])['_tables']).toBeGreaterThan(0);
    expect(String((await load(dir))['fn'](x))).toBe('[ 1 -1 -1 -1]');
  });

  test('functions that were called with strings are saved for strings of these shapes', async () => {
    const fn = tfFunction((t: Tensor) => strings.length(strings.lower(t)));
    fn(constant(['a']));
    fn(constant(['b']));
    const dir = fresh();
    await save({ fn }, dir);
    const loaded = await load(dir);
    expect(loaded['fn'].traces).toHaveLength(1);
    expect(String(loaded['fn'](constant(['four'])))).toBe('[4]');
  });

  test('what has no form for strings that differ is an error that names the op', () => {
    const fn = tfFunction({ inputSignature: [spec([null], 'string')] })((t: Tensor) =>
      strings.unicodeScript((strings.unicodeDecode(t, 'UTF-8') as RaggedTensor).flatValues),
    );
    expect(() => savedModelOf({ fn }, new Map())).toThrow('a traced function cannot compute with strings');
    const { ids } = made();
    const branch = tfFunction({ inputSignature: [spec([null], 'int64')] })((t: Tensor) =>
      cond(
        t.sum().greater(0n),
        () => ids.size(),
        () => t.sum(),
      ),
    );
    expect(() => savedModelOf({ branch }, new Map())).toThrow('look up outside of it');
  });
});
