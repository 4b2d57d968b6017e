import { expect, test } from 'vitest';
import { FormatError } from '../errors.ts';
import {
  FunctionDef,
  GraphDef,
  type GraphDef as GraphDefType,
  TensorProto,
} from '../tensorflow/framework.ts';
import { fromProtoJson, toProtoJson } from './json-format.ts';

const where = { file: 'x.json', at: 'graph' };

const graph: GraphDefType = {
  node: [
    {
      name: 'a',
      op: 'Const',
      input: ['b:1', '^c'],
      attr: new Map([
        ['dtype', { type: 1 }],
        ['text', { s: Uint8Array.of(0, 255, 65) }],
        ['big', { i: 2n ** 62n }],
        ['small', { i: -1 }],
        ['nan', { f: Number.NaN }],
        ['no', { b: false }],
        ['shape', { shape: { dim: [{ size: -1 }, { size: 3 }] } }],
        ['any', { shape: { unknown_rank: true } }],
        ['types', { list: { type: [1, 20, 101] } }],
        ['none', { list: {} }],
        ['f', { func: { name: 'g', attr: new Map([['T', { type: 9 }]]) } }],
        ['value', { tensor: { dtype: 19, half_val: [15360] } }],
      ]),
    },
  ],
  library: {
    function: [
      {
        signature: { name: 'g', input_arg: [{ name: 'x', type: 1, is_ref: true }] },
        ret: new Map([['y', 'x']]),
        arg_attr: [{ key: 2, value: { attr: new Map([['_user', { s: Uint8Array.of(1) }]]) } }],
      },
    ],
  },
  versions: { producer: 1, min_consumer: 12 },
};

test('messages and their JSON', () => {
  const json = JSON.parse(JSON.stringify(toProtoJson(GraphDef, graph))) as Record<string, never>;
  expect(fromProtoJson(GraphDef, json, where)).toEqual(graph);
  expect(json).toMatchObject({
    node: [
      {
        attr: {
          dtype: { type: 'DT_FLOAT' },
          text: { s: 'AP9B' },
          big: { i: '4611686018427387904' },
          nan: { f: 'NaN' },
          shape: { shape: { dim: [{ size: '-1' }, { size: '3' }] } },
          any: { shape: { unknownRank: true } },
          types: { list: { type: ['DT_FLOAT', 'DT_RESOURCE', 'DT_FLOAT_REF'] } },
        },
      },
    ],
    library: { function: [{ argAttr: { 2: { attr: { _user: { s: 'AQ==' } } } } }] },
    versions: { minConsumer: 12 },
  });
});

test('other spellings are read', () => {
  const read = (value: unknown) => fromProtoJson(TensorProto, value, where);
  expect(read({ tensor_shape: { unknown_rank: true }, dtype: 3 })).toEqual({
    tensor_shape: { unknown_rank: true },
    dtype: 3,
  });
  expect(read({ tensorContent: [1, 255], nothing: 3, intVal: null })).toEqual({
    tensor_content: Uint8Array.of(1, 255),
  });
  expect(read({ tensorContent: '_-8' })).toEqual({ tensor_content: Uint8Array.of(255, 239) });
  expect(read({ floatVal: ['-Infinity', '1e3', 2], int64Val: ['7', 8] })).toEqual({
    float_val: [Number.NEGATIVE_INFINITY, 1000, 2],
    int64_val: [7, 8],
  });
});

test.each([
  [null, 'graph: expected an object, got null'],
  [[], 'graph: expected an object, got []'],
  [{ node: {} }, 'graph.node: expected an array, got an object'],
  [{ node: [{ name: 3 }] }, 'graph.node[0].name: expected text, got 3'],
  [{ node: [{ attr: [] }] }, 'graph.node[0].attr: expected an object'],
  [{ node: [{ attr: { a: { i: 'x' } } }] }, 'graph.node[0].attr["a"].i: expected an integer, got "x"'],
  [{ node: [{ attr: { a: { i: 1.5 } } }] }, 'attr["a"].i: expected an integer, got 1.5'],
  [{ node: [{ attr: { a: { b: 1 } } }] }, 'attr["a"].b: expected true or false'],
  [{ node: [{ attr: { a: { f: 'x' } } }] }, 'attr["a"].f: expected a number'],
  [{ node: [{ attr: { a: { s: 'é' } } }] }, 'attr["a"].s: expected bytes in base64'],
  [{ node: [{ attr: { a: { s: [256] } } }] }, 'attr["a"].s: expected bytes in base64'],
  [{ node: [{ attr: { a: { s: 'A' } } }] }, 'attr["a"].s: expected bytes in base64'],
  [{ node: [{ attr: { a: { type: 'FLOAT' } } }] }, 'expected the name of a data type, such as DT_FLOAT'],
  [{ versions: { producer: 2 ** 40 } }, 'graph.versions.producer: expected an integer of 32 bits'],
])('%j is refused', (value, message) => {
  expect(() => fromProtoJson(GraphDef, value, where)).toThrow(FormatError);
  expect(() => fromProtoJson(GraphDef, value, where)).toThrow(
    `x.json: ${message.startsWith('graph') ? message : ''}`,
  );
  expect(() => fromProtoJson(GraphDef, value, where)).toThrow(message);
});

test('names of objects in JavaScript are names', () => {
  const value = JSON.parse('{"__proto__":{"name":"x"},"ret":{"__proto__":"y","constructor":"z"}}');
  const read = fromProtoJson(FunctionDef, value, where);
  expect([...(read.ret ?? [])]).toEqual([
    ['__proto__', 'y'],
    ['constructor', 'z'],
  ]);
  expect(Object.keys(read)).toEqual(['ret']);
});

test('what is nested without end is refused', () => {
  let func: object = {};
  for (let i = 0; i < 5000; i++) func = { attr: { a: { func } } };
  expect(() => fromProtoJson(GraphDef, { node: [func] }, where)).toThrow(/at most 100 levels/);
});
