import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@eagre/core';
import { type BundleEntry, tensorflow } from '@eagre/formats';
import { afterAll, describe, expect, test } from 'vitest';
import { decodeIndex, encodeIndex } from '../../../formats/src/tensorflow/bundle-index.ts';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { save } from '../save/save.ts';
import {
  type Golden,
  goldenFile,
  modelOf,
  type StoredModel,
  temporaryFolder,
  unpack,
} from '../testing/golden.ts';
import { load } from './load.ts';
import type { LoadedObject } from './loaded-object.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const seed = Number(process.env['EAGRE_FUZZ_SEED'] ?? 1);
let next = 0;
/** A copy of a model that may be damaged. */
const copyOf = (model: string | StoredModel): string => {
  const { name, ...rest } = typeof model === 'string' ? modelOf(model) : model;
  return unpack({ name, ...rest }, folder.path, `${name}-${next++}`);
};
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A model whose message is changed. */
async function changed(
  name: string | StoredModel,
  change: (meta: Writable<tensorflow.MetaGraphDef>, model: Writable<tensorflow.SavedModel>) => void,
): Promise<LoadedObject> {
  const path = copyOf(name);
  const file = join(path, 'saved_model.pb');
  const model = tensorflow.SavedModel.decode(readFileSync(file)) as Writable<tensorflow.SavedModel>;
  change(model.meta_graphs?.[0] as Writable<tensorflow.MetaGraphDef>, model);
  writeFileSync(file, tensorflow.SavedModel.encode(model));
  return load(path);
}

describe('files that are no models', () => {
  test('are named', async () => {
    await expect(load(join(folder.path, 'nowhere'))).rejects.toThrow(tf.NotFoundError);
    await expect(load(folder.path)).rejects.toThrow(/there is no SavedModel in/);
    await expect(load('')).rejects.toThrow(tf.InvalidArgumentError);
    await expect(load(3 as never)).rejects.toThrow(tf.InvalidArgumentError);
    const path = copyOf('dense');
    rmSync(join(path, 'saved_model.pb'));
    mkdirSync(join(path, 'saved_model.pb'));
    await expect(load(path)).rejects.toBeInstanceOf(tf.EagreError);
    await expect(load(copyOf('dense'), { tags: ['train'] })).rejects.toThrow(
      /no graph with the tags \[train\], only \[serve\]/,
    );
    await expect(load(copyOf('dense'), { tags: 3 as never })).rejects.toThrow(/tags must be/);
    await expect(load(copyOf('dense'), { lazy: 1 as never })).rejects.toThrow(/lazy/);
    expect(await load(copyOf('dense'), { tags: 'serve' })).toBeInstanceOf(tf.Module);
  });

  test('with several graphs need tags', async () => {
    await expect(
      changed('dense', (meta, model) => {
        model.meta_graphs = [meta, { ...meta, meta_info_def: { tags: ['serve', 'gpu'] } }];
      }),
    ).rejects.toThrow(/several graphs: give the tags of one, \[serve\], \[serve, gpu\]/);
    await expect(
      changed('dense', (_, model) => {
        model.meta_graphs = [];
      }),
    ).rejects.toThrow(/has no graph/);
  });
});

describe('variables', () => {
  test('that lack are named, unless zeros are permitted', async () => {
    const path = copyOf('dense');
    rmSync(join(path, 'variables'), { recursive: true });
    await expect(load(path)).rejects.toThrow(/no value for the variable 'sequential\/dense\/kernel'/);
    const loaded = await load(path, { allowPartialCheckpoint: true });
    expect(loaded.variables[0]?.array()).toEqual(Array.from({ length: 3 }, () => [0, 0, 0, 0]));
  });

  test('of another shape or dtype are refused', async () => {
    const withVariable = (change: object) =>
      changed('dense', (meta) => {
        const nodes = meta.object_graph_def?.nodes ?? [];
        const node = nodes.find((n) => n.variable !== undefined) as Writable<tensorflow.SavedObject>;
        node.variable = { ...node.variable, ...change };
      });
    await expect(withVariable({ dtype: 2 })).rejects.toThrow(/is float64 .* but its value is float32/);
    await expect(withVariable({ shape: { dim: [{ size: 4 }, { size: 4 }] } })).rejects.toThrow(
      /\[4,4\].* its value is float32 \[3,4\]/,
    );
    await expect(withVariable({ dtype: 21 })).rejects.toThrow(/no tensors of the data type variant/);
    await expect(withVariable({ dtype: 99 })).rejects.toBeInstanceOf(tf.EagreError);
  });

  test('in files that lack, are cut or damaged are refused', async () => {
    const lost = copyOf('dense');
    rmSync(join(lost, 'variables', 'variables.data-00000-of-00001'));
    await expect(load(lost)).rejects.toThrow(tf.NotFoundError);
    const cut = copyOf('dense');
    const data = join(cut, 'variables', 'variables.data-00000-of-00001');
    writeFileSync(data, readFileSync(data).subarray(0, 20));
    await expect(load(cut)).rejects.toThrow(tf.DataLossError);
    const flipped = copyOf('dense');
    const bytes = readFileSync(join(flipped, 'variables', 'variables.data-00000-of-00001'));
    bytes[30] = (bytes[30] as number) ^ 1;
    writeFileSync(join(flipped, 'variables', 'variables.data-00000-of-00001'), bytes);
    await expect(load(flipped)).rejects.toThrow(/checksum/);
  });

  test('that are said to be larger than their file take no memory', async () => {
    const path = copyOf('dense');
    const index = join(path, 'variables', 'variables.index');
    // As large a tensor as an index can tell of.
    const kernel = 'sequential/dense/kernel';
    const file = join(path, 'saved_model.pb');
    const model = tensorflow.SavedModel.decode(readFileSync(file));
    const nodes = model.meta_graphs?.[0]?.object_graph_def?.nodes ?? [];
    for (const node of nodes as Writable<tensorflow.SavedObject>[])
      if (node.variable?.name === kernel)
        node.variable = { ...node.variable, shape: { dim: [{ size: 2 ** 20 }, { size: 2 ** 20 }] } };
    writeFileSync(file, tensorflow.SavedModel.encode(model));
    const { shards, entries } = decodeIndex(readFileSync(index), index);
    const change = (entry: BundleEntry): BundleEntry =>
      entry.shape.join() === '3,4' ? { ...entry, shape: [2 ** 20, 2 ** 20], bytes: 2 ** 42 } : entry;
    const changedEntries = new Map([...entries].map(([key, entry]) => [key, change(entry)]));
    writeFileSync(index, encodeIndex(shards, changedEntries));
    await expect(load(path)).rejects.toThrow(/truncated data: expected \d+ bytes/);
  });
});

describe('graphs', () => {
  test('with an op that Eagre lacks are refused by its name, or loaded lazily', async () => {
    const strange = (meta: Writable<tensorflow.MetaGraphDef>): void => {
      const node = functionsOf(meta)
        .flatMap((f) => f.node_def ?? [])
        .find((n) => n.op === 'Softmax') as Writable<tensorflow.NodeDef>;
      node.op = 'FancySoftmax';
    };
    await expect(changed('dense', strange)).rejects.toThrow(
      /Eagre has no op 'FancySoftmax' \(node 'sequential_1\/dense_1_\d\/Softmax' of '__inference.*lazy: true/,
    );
    const path = copyOf('dense');
    const file = join(path, 'saved_model.pb');
    const model = tensorflow.SavedModel.decode(readFileSync(file));
    strange(model.meta_graphs?.[0] as Writable<tensorflow.MetaGraphDef>);
    writeFileSync(file, tensorflow.SavedModel.encode(model));
    const loaded = await load(path, { lazy: true });
    expect(loaded.variables).toHaveLength(4);
    expect(() => loaded['serve'](tf.zeros([1, 3]))).toThrow(/FancySoftmax/);
  });

  test('of functions that call themselves, or nodes that need each other, end', async () => {
    const circle = await changed('dense', (meta) => {
      for (const { node_def: nodes, signature } of functionsOf(meta))
        for (const { op, attr } of nodes ?? [])
          if (op === 'StatefulPartitionedCall')
            (attr as Map<string, tensorflow.AttrValue>).set('f', {
              func: { name: signature?.name as string },
            });
    });
    expect(() => circle.signatures['serving_default']?.({ keras_tensor: tf.zeros([1, 3]) })).toThrow(
      /nested more than 100 deep/,
    );
    await expect(
      changed('dense', (meta) => {
        const nodes = functionsOf(meta).flatMap((f) => f.node_def ?? []);
        const node = nodes.find((n) => n.op === 'MatMul') as Writable<tensorflow.NodeDef>;
        node.input = [`${node.name}:product:0`, ...(node.input ?? []).slice(1)];
      }),
    ).rejects.toThrow(/need each other/);
    await expect(
      changed('dense', (meta) => {
        const nodes = functionsOf(meta).flatMap((f) => f.node_def ?? []);
        const node = nodes.find((n) => n.op === 'MatMul') as Writable<tensorflow.NodeDef>;
        node.input = ['nobody:product:0', ...(node.input ?? []).slice(1)];
      }),
    ).rejects.toThrow(/needs 'nobody', which is not in the graph/);
  });

  test('with objects that are not there are refused', async () => {
    for (const id of [4000, -1])
      await expect(
        changed('dense', (meta) => {
          const root = rootOf(meta);
          root.children = [...(root.children ?? []), { node_id: id, local_name: 'x' }];
        }),
      ).rejects.toThrow(/names number/);
    // Objects in circles are what they are in Python, too.
    const circle = await changed('flow', (meta) => {
      const root = rootOf(meta);
      root.children = [...(root.children ?? []), { node_id: 0, local_name: 'self' }];
    });
    expect(circle['self']).toBe(circle);
    expect(circle.variables).toHaveLength(6);
  });

  test('with concrete functions that are not there or held wrongly are refused', async () => {
    const model = goldenFile<Golden>('concrete-functions').models[0] as StoredModel;
    const withPlain = (
      change: (
        node: Writable<tensorflow.SavedObject>,
        saved: Writable<tensorflow.SavedConcreteFunction>,
        meta: Writable<tensorflow.MetaGraphDef>,
      ) => void,
    ) =>
      changed(model, (meta) => {
        const { nodes = [], concrete_functions: described } = meta.object_graph_def ?? {};
        const id = rootOf(meta).children?.find((child) => child.local_name === 'plain')?.node_id;
        const node = nodes[id as number] as Writable<tensorflow.SavedObject>;
        const name = node.bare_concrete_function?.concrete_function_name as string;
        change(node, described?.get(name) as tensorflow.SavedConcreteFunction, meta);
      });
    for (const name of ['nobody', ''])
      await expect(
        withPlain((node) => {
          node.bare_concrete_function = { ...node.bare_concrete_function, concrete_function_name: name };
        }),
      ).rejects.toThrow(`the model does not describe the function '${name}'`);
    await expect(
      withPlain((node, saved, meta) => {
        (meta.graph_def as Writable<tensorflow.GraphDef>).library = {};
        expect([node, saved]).toHaveLength(2);
      }),
    ).rejects.toThrow(/the graph has no function/);
    for (const [bound, why] of [
      [[99], /names number 99/],
      [[-1], /names number -1/],
      [[], /takes 2 arguments, but the model gives it 1/],
      [[0], /holds object 0, which has no value/],
      [[2], /holds object 2, which has no value/],
    ] as const)
      await expect(
        withPlain((_, saved) => {
          saved.bound_inputs = bound;
        }),
        String(bound),
      ).rejects.toThrow(why);
    await expect(
      withPlain((node, saved, meta) => {
        saved.bound_inputs = [meta.object_graph_def?.nodes?.indexOf(node) as number];
      }),
    ).rejects.toThrow(/which is a function/);
    const pair = { tuple_value: { values: [{ dict_value: {} }, { tuple_value: {} }] } };
    for (const signature of [undefined, {}, { tuple_value: {} }, { int64_value: 3n }, pair])
      await expect(
        withPlain((_, saved) => {
          saved.canonicalized_input_signature = signature as tensorflow.StructuredValue;
        }),
      ).rejects.toThrow(/is no pair of a tuple and a dict/);
    // What a function is called by may be anything: then it is called by position.
    const odd = await withPlain((node) => {
      const fullargspec = { named_tuple_value: { values: [{ key: 'args', value: { int64_value: 1n } }] } };
      node.bare_concrete_function = {
        ...node.bare_concrete_function,
        argument_keywords: ['__proto__'],
        allowed_positional_arguments: -5,
        function_spec: { fullargspec },
      };
      node.children = [{ node_id: 0, local_name: 'root' }];
    });
    expect(odd['plain'](tf.ones([1, 2])).k.item()).toBe(3);
  });

  test('of TensorFlow 1 with damaged collections are refused', async () => {
    const model = goldenFile<Golden>('version1').models[0] as StoredModel;
    const { AssetFileDef } = tensorflow;
    for (const [value, why] of [
      [new Uint8Array([10, 9]), tf.DataLossError],
      [AssetFileDef.encode({ tensor_info: { name: 'asset_path:0' }, filename: '../a' }), /not in its folder/],
      [
        AssetFileDef.encode({ tensor_info: { name: 'none:0' }, filename: 'words.txt' }),
        /is not in the graph/,
      ],
    ] as const)
      await expect(
        changed(model, ({ collection_def: collections }) => {
          (collections as Map<string, object>).set('saved_model_assets', {
            any_list: { value: [{ value }] },
          });
        }),
      ).rejects.toThrow(why);
    await expect(
      changed(model, ({ collection_def: collections }) => {
        const bytes_list = { value: [new Uint8Array([10, 9])] };
        (collections as Map<string, object>).set('trainable_variables', { bytes_list });
      }),
    ).rejects.toThrow(tf.DataLossError);
    // Without the ops that its file describes, a graph of strings cannot be written.
    const bare = await changed(model, ({ meta_info_def: info }) => {
      (info as Writable<tensorflow.MetaInfoDef>).stripped_op_list = {};
    });
    const target = join(folder.path, 'not-written');
    await expect(save(bare, target, { signatures: bare.signatures })).rejects.toThrow(
      /the file does not describe the op '\w+'/,
    );
    expect(existsSync(target)).toBe(false);
  });

  test('do not reach files outside of their folder', async () => {
    for (const filename of ['../../words.txt', '/etc/passwd', 'a/../../b', 'C:\\x', '', 'x\0y'])
      await expect(
        changed('tables', (meta) => {
          (meta.asset_file_def?.[0] as Writable<tensorflow.AssetFileDef>).filename = filename;
        }),
        filename,
      ).rejects.toThrow(/not in its folder/);
    await expect(
      changed('tables', (meta) => {
        (meta.asset_file_def?.[0] as Writable<tensorflow.AssetFileDef>).filename = 'other.txt';
      }),
    ).rejects.toThrow(tf.NotFoundError);
    // A name in the graph in the place of an asset's.
    await expect(
      changed('tables', (meta) => {
        const nodes = meta.object_graph_def?.nodes ?? [];
        const asset = nodes.findIndex((n) => n.asset !== undefined);
        const other = nodes.findIndex((n) => n.constant?.operation === 'Const_3');
        for (const saved of meta.object_graph_def?.concrete_functions?.values() ?? [])
          (saved as { bound_inputs?: number[] }).bound_inputs =
            saved.bound_inputs?.map((id) => (id === asset ? other : id)) ?? [];
      }),
    ).rejects.toBeInstanceOf(tf.EagreError);
  });
});

const rootOf = (meta: tensorflow.MetaGraphDef): Writable<tensorflow.SavedObject> =>
  (meta.object_graph_def?.nodes ?? [])[0] as Writable<tensorflow.SavedObject>;
const functionsOf = (meta: tensorflow.MetaGraphDef): readonly tensorflow.FunctionDef[] =>
  meta.graph_def?.library?.function ?? [];

describe('damaged models give typed errors, or load', () => {
  const runs = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 400);
  for (const name of ['training', 'v1', 'tables', 'normalization', 'named'])
    test(name, async () => {
      const model = modelOf(name);
      const path = copyOf(name);
      const pristine = join(folder.path, `${name}-pristine`);
      cpSync(path, pristine, { recursive: true });
      const random = randomSource(seed);
      const files = Object.keys(model.files).filter(
        (file) => file === 'saved_model.pb' || file.endsWith('.index'),
      );
      let refused = 0;
      for (let run = 0; run < runs; run++) {
        const file = files[run % 4 === 3 ? run % files.length : files.indexOf('saved_model.pb')] as string;
        const bytes = Buffer.from(model.files[file] as string, 'base64');
        writeFileSync(join(path, file), mutate(bytes, random));
        try {
          const loaded = await load(path, { lazy: run % 2 === 1 });
          for (const fn of Object.values(loaded.signatures)) {
            const inputs = fn.inputs.map((spec) =>
              tf.zeros(
                (spec.shape ?? []).map((d) => d ?? 1),
                spec.dtype,
              ),
            );
            fn(
              Object.fromEntries(
                Object.keys(fn.structuredInputSignature[1]).map((key, i) => [key, inputs[i]]),
              ),
            );
          }
        } catch (error) {
          if (!(error instanceof tf.EagreError))
            throw new Error(`run ${run}, seed ${seed}`, { cause: error });
          refused++;
        } finally {
          writeFileSync(join(path, file), bytes);
        }
      }
      expect(refused).toBeGreaterThan(runs / 10);
      // The files are whole again, and so is the model.
      expect(await load(path)).toBeInstanceOf(tf.Module);
    });
});
