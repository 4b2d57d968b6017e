import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DataLossError,
  EagreError,
  InvalidArgumentError,
  NotFoundError,
  PermissionDeniedError,
  UnimplementedError,
} from '@eagre/backend';
import { zeros } from '@eagre/core';
import { onnx } from '@eagre/formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { goldenArchive } from '../testing/archive.ts';
import { load } from './load.ts';

type Graph = onnx.GraphProto;
const FLOAT = 1;
const value = (name: string, shape: readonly (number | string)[] = [2]): onnx.ValueInfoProto => ({
  name,
  type: {
    tensor_type: {
      elem_type: FLOAT,
      shape: { dim: shape.map((d) => (typeof d === 'number' ? { dim_value: d } : { dim_param: d })) },
    },
  },
});
const node = (
  op_type: string,
  input: readonly string[],
  output: readonly string[],
  more: Partial<onnx.NodeProto> = {},
): onnx.NodeProto => ({
  op_type,
  input,
  output,
  name: `${op_type}_node`,
  ...more,
});
const tensor = (
  name: string,
  data: readonly number[],
  dims: readonly number[] = [data.length],
): onnx.TensorProto => ({
  name,
  dims,
  data_type: FLOAT,
  float_data: data,
});
const model = (graph: Graph, more: Partial<onnx.ModelProto> = {}): Uint8Array =>
  onnx.ModelProto.encode({
    ir_version: 8,
    opset_import: [{ version: 17 }],
    graph: { name: 'g', ...graph },
    ...more,
  });
const add: Graph = {
  node: [node('Add', ['x', 'w'], ['y'])],
  input: [value('x')],
  output: [value('y')],
  initializer: [tensor('w', [1, 2])],
};

describe('graphs that make no sense', () => {
  const cases: readonly (readonly [string, Graph, RegExp])[] = [
    [
      'an input that nothing gives',
      { ...add, node: [node('Add', ['x', 'v'], ['y'])] },
      /uses 'v', which no input/,
    ],
    [
      'a circle',
      {
        ...add,
        node: [
          node('Add', ['x', 'b'], ['a']),
          node('Add', ['a', 'w'], ['b']),
          node('Add', ['a', 'b'], ['y']),
        ],
      },
      /uses 'b', which no input/,
    ],
    [
      'nodes in the wrong order',
      { ...add, node: [node('Relu', ['a'], ['y']), node('Relu', ['x'], ['a'])] },
      /uses 'a'/,
    ],
    [
      'a name that is given twice',
      { ...add, node: [node('Relu', ['x'], ['y']), node('Relu', ['x'], ['y'])] },
      /'y' of the graph 'g' is there twice/,
    ],
    [
      'an initializer that is there twice',
      { ...add, initializer: [tensor('w', [1, 2]), tensor('w', [1, 2])] },
      /'w' is there twice/,
    ],
    ['an input that is there twice', { ...add, input: [value('x'), value('x')] }, /the input 'x'/],
    ['an output that nothing gives', { ...add, output: [value('z')] }, /nothing gives the output 'z'/],
    [
      'a name of an op as a value',
      { ...add, node: [node('Add', ['x', 'w'], ['w'])], output: [value('w')] },
      /'w' of the graph 'g' is there twice/,
    ],
    [
      'a domain without a version',
      { ...add, node: [node('Add', ['x', 'w'], ['y'], { domain: 'mine' })] },
      /opset_import does not name/,
    ],
    [
      'an input without a type',
      { ...add, input: [{ name: 'x', type: { tensor_type: {} } }] },
      /'x' has no data type/,
    ],
  ];
  test.each(cases)('%s', async (_, graph, message) => {
    await expect(load(model(graph))).rejects.toThrow(InvalidArgumentError);
    await expect(load(model(graph))).rejects.toThrow(message);
  });

  test('a function that calls itself', async () => {
    const call = node('F', ['x'], ['y'], { domain: 'mine' });
    const functions = [
      {
        name: 'F',
        domain: 'mine',
        input: ['x'],
        output: ['y'],
        node: [call],
        opset_import: [{ domain: 'mine', version: 1 }, { version: 17 }],
      },
    ];
    const bytes = model(
      { ...add, node: [call] },
      { functions, opset_import: [{ version: 17 }, { domain: 'mine', version: 1 }] },
    );
    await expect(load(bytes)).rejects.toThrow(/the function F calls itself/);
  });

  test('functions that call each other very often end', async () => {
    // Each of 40 functions calls the next one twice: 2^40 nodes.
    const count = 40;
    const functions = Array.from({ length: count }, (_, i) => ({
      name: `F${i}`,
      domain: 'mine',
      input: ['x'],
      output: ['y'],
      opset_import: [{ domain: 'mine', version: 1 }, { version: 17 }],
      node:
        i === count - 1
          ? [node('Relu', ['x'], ['y'])]
          : [
              node(`F${i + 1}`, ['x'], ['a'], { domain: 'mine' }),
              node(`F${i + 1}`, ['a'], ['y'], { domain: 'mine' }),
            ],
    }));
    const bytes = model(
      { ...add, node: [node('F0', ['x'], ['y'], { domain: 'mine' })] },
      { functions, opset_import: [{ version: 17 }, { domain: 'mine', version: 1 }] },
    );
    await expect(load(bytes)).rejects.toThrow(/more than .* nodes/);
  });
});

describe('what Eagre does not have', () => {
  test.each<readonly [string, Graph, RegExp]>([
    [
      'an op',
      { ...add, node: [node('FancyDecoder', ['x'], ['y'])] },
      /FancyDecoder 'FancyDecoder_node' \(opset 17\) is not translated/,
    ],
    [
      'a type',
      { ...add, initializer: [{ name: 'w', dims: [1], data_type: 17, raw_data: new Uint8Array(1) }] },
      /float8e4m3fn/,
    ],
    ['sparse initializers', { ...add, sparse_initializer: [{}] }, /sparse/],
  ])('%s', async (_, graph, message) => {
    await expect(load(model(graph))).rejects.toThrow(UnimplementedError);
    await expect(load(model(graph))).rejects.toThrow(message);
  });
  test.each([1, 6, 99])('opset %i', async (version) => {
    await expect(load(model(add, { opset_import: [{ version }] }))).rejects.toThrow(UnimplementedError);
  });
});

describe('bytes that are no model', () => {
  test.each<readonly [string, Uint8Array, RegExp]>([
    ['none', new Uint8Array(0), /no ONNX model/],
    ['text', new TextEncoder().encode('hello, world'), /./],
    ['without a graph', onnx.ModelProto.encode({ opset_import: [{ version: 17 }] }), /there is no graph/],
    [
      'too few values',
      model({ ...add, initializer: [tensor('w', [1], [2])] }),
      /float_data: expected 2 values, got 1/,
    ],
    [
      'a size that no memory has',
      model({ ...add, initializer: [{ name: 'w', dims: [2 ** 40, 2 ** 40], data_type: FLOAT }] }),
      /dims/,
    ],
    ['a negative size', model({ ...add, initializer: [tensor('w', [], [-1])] }), /dims/],
    ['an unknown type', model({ ...add, initializer: [{ name: 'w', dims: [1], data_type: 77 }] }), /77/],
  ])('%s', async (_, bytes, message) => {
    await expect(load(bytes)).rejects.toThrow(DataLossError);
    await expect(load(bytes)).rejects.toThrow(message);
  });

  test('every truncation', async () => {
    const bytes = model(add);
    for (let end = 0; end < bytes.length; end++) {
      const result = load(bytes.subarray(0, end)).then(
        () => 'loaded',
        (error: unknown) => error,
      );
      const found = await result;
      if (found !== 'loaded') expect(found).toBeInstanceOf(EagreError);
    }
  });

  test('thousands of damaged models end with a typed error or run', async () => {
    const files = [...goldenArchive('models.zip')].filter(
      ([name, bytes]) => name.endsWith('.onnx') && bytes.length < 20_000 && !name.includes('loop'),
    );
    const random = randomSource(20);
    const runs = Number(process.env.EAGRE_FUZZ_RUNS ?? 2000);
    let loaded = 0;
    for (let i = 0; i < runs; i++) {
      const [, bytes] = files[Math.floor(random() * files.length)] as (typeof files)[number];
      try {
        const found = await load(mutate(bytes, random));
        loaded++;
        if (i % 8 !== 0) continue;
        const inputs = found.inputs.map(({ shape, dtype }) => {
          const sizes = (shape ?? []).map((d) => d ?? 2);
          return zeros(sizes.reduce((a, b) => a * b, 1) > 1e5 ? [1] : sizes, dtype ?? 'float32');
        });
        found(...inputs);
      } catch (error) {
        if (!(error instanceof EagreError)) throw new Error(`turn ${i}: ${String(error)}`, { cause: error });
      }
    }
    expect(loaded).toBeGreaterThan(runs / 20);
  });
});

describe('ranks that an op does not take', () => {
  test.each([
    ['Trilu', [3]],
    ['DepthToSpace', [2, 2]],
    ['MaxPool', [2, 2]],
  ])('%s of %j', async (op, shape) => {
    const m = await load(model({ ...add, node: [node(op, ['x'], ['y'])], input: [value('x', shape)] }));
    expect(() => m(zeros(shape))).toThrow(InvalidArgumentError);
    expect(() => m(zeros(shape))).toThrow(
      new RegExp(`${op} '${op}_node': input 0 has rank ${shape.length}, expected`),
    );
  });
  test('lists of other lengths, and empty ones', async () => {
    const ints = (name: string, list: number[]): onnx.TensorProto => ({
      name,
      dims: [list.length],
      data_type: 7,
      int64_data: list,
    });
    const sliced = (...lists: number[][]): Promise<(...inputs: unknown[]) => unknown> =>
      load(
        model({
          node: [node('Slice', ['x', ...lists.map((_, i) => `l${i}`)], ['y'])],
          input: [value('x', [3, 3])],
          output: [value('y')],
          initializer: lists.map((list, i) => ints(`l${i}`, list)),
        }),
      ) as never;
    for (const lists of [
      [[0, 0], [1]],
      [[0], [1], [0, 1]],
      [[0], [1], [0], []],
    ]) {
      const m = await sliced(...lists);
      expect(() => m(zeros([3, 3]))).toThrow(/Slice 'Slice_node': \d starts do not fit/);
    }
    const m = await load(
      model({
        ...add,
        node: [node('Trilu', ['x', 'k'], ['y'])],
        input: [value('x', [2, 2])],
        initializer: [ints('k', [])],
      }),
    );
    expect(() => m(zeros([2, 2]))).toThrow(/Trilu 'Trilu_node': input 1 is empty/);
  });
  test.each([[[]], [[2]], [[2, 2, 2]]])('EyeLike of %j', async (shape) => {
    const graph = { ...add, node: [node('EyeLike', ['x'], ['y'])], input: [value('x', shape)] };
    const m = await load(model(graph));
    expect(() => m(zeros(shape))).toThrow(InvalidArgumentError);
    expect(() => m(zeros(shape))).toThrow(/EyeLike 'EyeLike_node': (expected a matrix|input 0 has rank)/);
  });
});

describe('sizes that no memory has', () => {
  const scales = (list: number[]) => ({
    ...add,
    initializer: [tensor('s', list, [list.length])],
    node: [node('Resize', ['x', '', 's'], ['y'])],
  });
  test('of images', async () => {
    const m = await load(
      model({ ...scales([1e30]), input: [value('x', ['N'])], output: [value('y', ['N'])] }),
    );
    expect(() => m([1, 2])).toThrow(/Resize 'Resize_node': axis 0 cannot be resized from 2 to/);
  });
  test('of tables of trees', async () => {
    const ints = (name: string, list: number[]) => ({ name, type: 7, ints: list });
    const attribute = [
      ...[
        'nodes_treeids',
        'nodes_nodeids',
        'nodes_featureids',
        'nodes_truenodeids',
        'nodes_falsenodeids',
      ].map((name) => ints(name, [0])),
      { name: 'nodes_modes', type: 8, strings: [new TextEncoder().encode('LEAF')] },
      ...['target_treeids', 'target_nodeids', 'target_ids'].map((name) => ints(name, [0])),
      { name: 'target_weights', type: 6, floats: [1] },
      { name: 'n_targets', type: 2, i: 2 ** 40 },
    ];
    const trees = { ...node('TreeEnsembleRegressor', ['x'], ['y']), domain: 'ai.onnx.ml', attribute };
    const bytes = onnx.ModelProto.encode({
      ir_version: 8,
      opset_import: [{ version: 17 }, { domain: 'ai.onnx.ml', version: 3 }],
      graph: { name: 'g', input: [value('x', ['N', 1])], output: [value('y', ['N', 1])], node: [trees] },
    });
    const m = await load(bytes);
    expect(() => m([[1]])).toThrow(/would need a table of 1099511627776 elements/);
  });
});

describe('calls', () => {
  test('with other inputs', async () => {
    const m = await load(model({ ...add, input: [value('x', ['N'])] }));
    expect(() => m()).toThrow(/takes 1 inputs \(x\), got 0/);
    expect(() => m({ z: [1, 2] })).toThrow(/no input 'z'/);
    expect(() => m({})).toThrow(/'x' is missing/);
    expect(() => m(zeros([2, 2]))).toThrow(/expected float32 \[null\]|expected float32/);
    expect(() => m(zeros([2], 'int32'))).toThrow(InvalidArgumentError);
    expect(() => m(zeros([3]))).toThrow(/Add 'Add_node'/);
    expect(m({ x: [1, 1] }).y.array()).toEqual([2, 3]);
    expect(m([1, 1]).array()).toEqual([2, 3]);
  });
  test('of load', async () => {
    await expect(load(3 as never)).rejects.toThrow(InvalidArgumentError);
    await expect(load(model(add), { trainable: 1 as never })).rejects.toThrow(InvalidArgumentError);
    await expect(load('/nowhere/model.onnx')).rejects.toThrow(NotFoundError);
    const frozen = await load(model(add), { trainable: false });
    expect(frozen.trainableVariables).toEqual([]);
    expect(frozen.variables.length).toBe(1);
  });
});

describe('weights in other files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'eagre-onnx-'));
    mkdirSync(join(folder, 'inner', 'sub'), { recursive: true });
    writeFileSync(join(folder, 'secret.bin'), new Uint8Array(8));
    writeFileSync(join(folder, 'inner', 'w.bin'), new Uint8Array(new Float32Array([0, 5, 6]).buffer));
    writeFileSync(join(folder, 'inner', 'sub', 'w.bin'), new Uint8Array(new Float32Array([7, 8]).buffer));
    symlinkSync(join(folder, 'secret.bin'), join(folder, 'inner', 'link.bin'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const external = (entries: Readonly<Record<string, string>>): Uint8Array =>
    model({
      ...add,
      initializer: [
        {
          name: 'w',
          dims: [2],
          data_type: FLOAT,
          data_location: 1,
          external_data: Object.entries(entries).map(([key, v]) => ({ key, value: v })),
        },
      ],
    });
  async function loadFrom(entries: Readonly<Record<string, string>>): Promise<unknown> {
    const file = join(folder, 'inner', 'model.onnx');
    writeFileSync(file, external(entries));
    return (await load(file))([0, 0]).array();
  }

  test('in the folder of the model', async () => {
    expect(await loadFrom({ location: 'w.bin', offset: '4', length: '8' })).toEqual([5, 6]);
    expect(await loadFrom({ location: 'sub/w.bin' })).toEqual([7, 8]);
    const bytes = external({ location: 'sub/w.bin' });
    await expect(load(bytes)).rejects.toThrow(/give the option folder/);
    expect((await load(bytes, { folder: join(folder, 'inner') }))([0, 0]).array()).toEqual([7, 8]);
  });
  test.each(['../secret.bin', 'sub/../../secret.bin', '/etc/passwd', 'link.bin', '', '.', '..'])(
    'not outside: %s',
    async (location) => {
      await expect(loadFrom({ location })).rejects.toThrow(PermissionDeniedError);
    },
  );
  test('not by a path that no system has', async () => {
    await expect(loadFrom({ location: 'w\0.bin' })).rejects.toThrow(InvalidArgumentError);
  });
  test('of which only the bytes of tensors are read', async () => {
    const large = openSync(join(folder, 'inner', 'large.bin'), 'w');
    // A file with a hole of more bytes than there is memory.
    ftruncateSync(large, 2 ** 42);
    closeSync(large);
    expect(await loadFrom({ location: 'large.bin', offset: String(2 ** 41), length: '8' })).toEqual([0, 0]);
    expect(await loadFrom({ location: 'large.bin' })).toEqual([0, 0]);
    await expect(loadFrom({ location: 'large.bin', length: String(2 ** 42) })).rejects.toThrow(DataLossError);
  });
  test('not beyond a link to a folder elsewhere, nor of a folder or a device', async () => {
    symlinkSync(folder, join(folder, 'inner', 'up'));
    await expect(loadFrom({ location: 'up/secret.bin' })).rejects.toThrow(PermissionDeniedError);
    await expect(loadFrom({ location: 'sub' })).rejects.toThrow(DataLossError);
    await expect(load('/dev/null')).rejects.toThrow(DataLossError);
  });
  test('too short, or missing', async () => {
    await expect(loadFrom({ location: 'w.bin', offset: '8', length: '8' })).rejects.toThrow(DataLossError);
    await expect(loadFrom({ location: 'w.bin', offset: '-4', length: '8' })).rejects.toThrow(DataLossError);
    await expect(loadFrom({ location: 'w.bin', length: '4' })).rejects.toThrow(DataLossError);
    await expect(loadFrom({ location: 'none.bin' })).rejects.toThrow(NotFoundError);
  });
});
