// The cases of TensorFlow Serving's own tests of its JSON (json_tensor_test.cc), and more.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { parseJson } from '../json/json-reader.ts';
import type { HostTensors, TensorInfo } from '../servable/servable.ts';
import { classificationsOf, exampleInputs, examplesOf, regressionsOf } from './examples.ts';
import { asDocument, predictInputs } from './predict-request.ts';
import { classifyResponse, errorBody, predictResponse, regressResponse } from './predict-response.ts';

const document = (text: string): JsonObject =>
  asDocument(parseJson(Buffer.from(text), { maxDepth: 64, maxValues: 1e6 }));
const info = (dtype: TensorInfo['dtype'], shape: TensorInfo['shape'] = null): TensorInfo => ({
  dtype,
  shape,
});
const read = (text: string, infos: Record<string, TensorInfo>) => predictInputs(document(text), infos);
const one = (text: string, dtype: TensorInfo['dtype']) => {
  const { x } = read(text, { x: info(dtype) }).inputs;
  return { shape: x.shape, values: [...(x.values as ArrayLike<unknown> as unknown[])] };
};

describe('inputs', () => {
  test('of one tensor, in rows, in columns and with a name', () => {
    const expected = { shape: [3, 2], values: [1, 2, 3, 4, 5, 6] };
    expect(one('{"instances": [[1,2],[3,4],[5,6]]}', 'int32')).toEqual(expected);
    expect(one('{"inputs": [[1,2],[3,4],[5,6]]}', 'int32')).toEqual(expected);
    expect(one('{"inputs": {"x": [[1,2],[3,4],[5,6]]}}', 'int32')).toEqual(expected);
    expect(one('{"instances": [{"x": [1,2]}, {"x": [3,4]}, {"x": [5,6]}]}', 'int32')).toEqual(expected);
    expect(one('{"inputs": 7}', 'int32')).toEqual({ shape: [], values: [7] });
    expect(one('{"inputs": []}', 'float32')).toEqual({ shape: [0], values: [] });
    expect(read('{"instances": [1]}', { x: info('int32') }).format).toBe('row');
    expect(read('{"inputs": [1]}', { x: info('int32') }).format).toBe('columnar');
  });

  test('of every dtype', () => {
    expect(
      one('{"instances": [1, 2.0, 5.003, 1435774380, 1.7976931348623157e308, NaN, -Infinity]}', 'float32')
        .values,
    ).toEqual([1, 2, Math.fround(5.003), 1435774336, Infinity, Number.NaN, -Infinity]);
    expect(one('{"instances": [0.662, 9007199254740993]}', 'float64').values).toEqual([0.662, 2 ** 53]);
    expect(one('{"instances": [-128, 127]}', 'int8').values).toEqual([-128, 127]);
    expect(one('{"instances": [65535]}', 'uint16').values).toEqual([65535]);
    expect(one('{"instances": [4294967295]}', 'uint32').values).toEqual([4294967295]);
    expect(one('{"instances": [9223372036854775807, -5]}', 'int64').values).toEqual([2n ** 63n - 1n, -5n]);
    expect(one('{"instances": [18446744073709551615]}', 'uint64').values).toEqual([2n ** 64n - 1n]);
    expect(one('{"instances": [true, false]}', 'bool').values).toEqual([1, 0]);
    expect(one('{"instances": [0.5, 3]}', 'float16').values).toEqual([0.5, 3]);
    expect(one('{"instances": ["a", "é"]}', 'string').values).toEqual(['a', 'é']);
  });

  test('of bytes', () => {
    const text = '{"instances": [{"b64": "aGVsbG8="}, {"b64": "/w"}]}';
    expect(one(text, 'string').values).toEqual([Buffer.from('hello'), Buffer.from([255])]);
    expect(one('{"instances": [[{"b64": "aGVsbG8="}], [{"b64": "d29ybGQ="}]]}', 'string').shape).toEqual([
      2, 1,
    ]);
    expect(one('{"inputs": {"b64": "aGVsbG8="}}', 'string').values).toEqual([Buffer.from('hello')]);
  });

  const two = { a: info('int32'), b: info('string') };
  const cases: [text: string, infos: Record<string, TensorInfo>, message: string | RegExp][] = [
    ['[1]', two, 'JSON Value: [1] Is not object'],
    ['{}', two, "Missing 'inputs' or 'instances' key"],
    ['{"instances": [1], "inputs": [1]}', two, /Not formatted correctly expecting only one of/],
    ['{"instances": 5}', two, /Expecting 'instances' to be an list\/array/],
    ['{"instances": []}', two, /No values in 'instances' array/],
    [
      '{"instances": [[1,2],[3,4],[5,6,7]]}',
      { x: info('int32') },
      "Failed to process element: 2 of 'instances' list. Error: INVALID_ARGUMENT: Expecting tensor size: 2 but got: 3",
    ],
    ['{"instances": [[1,2],[3,4],[[5,6]]]}', { x: info('int32') }, /Expecting shape \[2\] but got: \[1,2\]/],
    ['{"instances": [1, [1]]}', { x: info('int32') }, /Expecting shape \[\] but got: \[1\]/],
    [
      '{"instances": [[1,2],["a","b"]]}',
      { x: info('int32') },
      /JSON Value: "a" Type: String is not of expected type: int32/,
    ],
    [
      '{"instances": [[[1,2],[3]]]}',
      { x: info('int32') },
      /Encountered list at unexpected size: 1 at level: 1 expected size: 2/,
    ],
    [
      '{"instances": [[[1,2],3]]}',
      { x: info('int32') },
      /JSON Value: 3 found at incorrect level: 2 in the JSON DOM. Expected at level: 2/,
    ],
    [
      '{"instances": [[1,[2]]]}',
      { x: info('int32') },
      /Encountered list at unexpected level: 1 expected < 1/,
    ],
    [
      '{"inputs": [1.0]}',
      { x: info('int32') },
      'JSON Value: 1.0 Type: Number is not of expected type: int32',
    ],
    [
      '{"inputs": [300]}',
      { x: info('uint8') },
      'JSON Value: 300 Type: Number is not of expected type: uint8',
    ],
    [
      '{"inputs": [-1]}',
      { x: info('uint64') },
      'JSON Value: -1 Type: Number is not of expected type: uint64',
    ],
    [
      '{"inputs": [null]}',
      { x: info('float32') },
      'JSON Value: null Type: Null is not of expected type: float',
    ],
    ['{"inputs": [1]}', { x: info('bool') }, 'JSON Value: 1 Type: Number is not of expected type: bool'],
    [
      '{"inputs": [true]}',
      { x: info('float64') },
      'JSON Value: true Type: True is not of expected type: double',
    ],
    ['{"inputs": [1]}', { x: info('complex64') }, 'Conversion of JSON Value: 1 to type: complex64'],
    ['{"inputs": [{"b64": "a"}]}', { x: info('string') }, 'Unable to base64 decode'],
    ['{"inputs": [{"b64": "%%%%"}]}', { x: info('string') }, 'Unable to base64 decode'],
    ['{"inputs": [{"a": "b"}]}', { x: info('string') }, /not formatted correctly for base64 data/],
    ['{"inputs": [{"b64": "aGVsbG8="}]}', { x: info('float32') }, /is not of expected type: float/],
    ['{"inputs": [1]}', two, /inputs is a plain value\/list, but expecting an object/],
    ['{"inputs": {"a": 1}}', two, "Missing named input: b in 'inputs' object."],
    ['{"instances": [1]}', two, /instances is a plain list, but expecting list of objects/],
    [
      '{"instances": [{"a": 1, "b": "x"}, [1]]}',
      two,
      'Expecting object but got list at item 1 of input list',
    ],
    [
      '{"instances": [["x"], {"b": ["x"]}]}',
      { b: info('string') },
      'Expecting value/list but got object at item 1 of input list',
    ],
    ['{"instances": [{"a": 1}]}', two, /keys must be equal to: a,b/],
    ['{"instances": [{"a": 1, "b": "x", "__proto__": 1}]}', two, /does not have named input: __proto__/],
    [
      '{"instances": [[1,2]]}',
      { x: info('float32', [null, 3]) },
      'input "x" has the shape [1,2], but the signature takes [?,3]',
    ],
  ];
  test.each(cases)('refuses %s', (text, infos, message) => {
    expect(() => read(text, infos)).toThrow(message);
  });
});

describe('responses', () => {
  const ints: HostTensors = {
    i: { dtype: 'int32', shape: [2, 3, 2], values: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2) },
  };
  test('of one tensor', () => {
    expect(predictResponse(ints, 'row')).toBe(
      '{\n    "predictions": [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 0], [1, 2]]\n    ]\n}',
    );
    expect(JSON.parse(predictResponse(ints, 'columnar'))).toEqual({
      outputs: [
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        [
          [7, 8],
          [9, 0],
          [1, 2],
        ],
      ],
    });
    expect(
      predictResponse({ y: { dtype: 'float32', shape: [], values: Float32Array.of(2) } }, 'columnar'),
    ).toBe('{\n    "outputs": 2.0\n}');
  });

  test('of several, of bytes, and of what is no number', () => {
    const several: HostTensors = {
      ...ints,
      s_bytes: { dtype: 'string', shape: [2], values: ['hello', Buffer.from('world')] },
      f: { dtype: 'float32', shape: [2], values: Float32Array.of(Number.NaN, -Infinity) },
      b: { dtype: 'bool', shape: [2], values: Uint8Array.of(1, 0) },
      l: { dtype: 'int64', shape: [2], values: BigInt64Array.of(2n ** 60n, -1n) },
    };
    const text = predictResponse(several, 'row');
    expect(text).toBe(`{
    "predictions": [
        {
            "i": [[1, 2], [3, 4], [5, 6]],
            "s_bytes": {
                "b64": "aGVsbG8="
            },
            "f": NaN,
            "b": true,
            "l": 1152921504606846976
        },
        {
            "i": [[7, 8], [9, 0], [1, 2]],
            "s_bytes": {
                "b64": "d29ybGQ="
            },
            "f": -Infinity,
            "b": false,
            "l": -1
        }
    ]
}`);
  });

  test('of nothing, and of what the format cannot hold', () => {
    const none: HostTensors = { y: { dtype: 'float32', shape: [0, 3], values: new Float32Array(0) } };
    expect(JSON.parse(predictResponse(none, 'row'))).toEqual({ predictions: [] });
    const scalar: HostTensors = { y: { dtype: 'float32', shape: [], values: Float32Array.of(1) } };
    expect(() => predictResponse(scalar, 'row')).toThrow('Tensor name: y has no shape information ');
    expect(() => predictResponse({ ...ints, ...none }, 'row')).toThrow(
      'Tensor name: y has inconsistent batch size: 0 expecting: 2',
    );
    expect(() => predictResponse({}, 'row')).toThrow('Cannot convert empty tensor map to JSON');
    const complex: HostTensors = { c: { dtype: 'complex64', shape: [1], values: Float32Array.of(1, 2) } };
    expect(() => predictResponse(complex, 'row')).toThrow(
      'Failed to write JSON value for tensor type: complex64',
    );
    const bytes: HostTensors = { s: { dtype: 'string', shape: [1], values: [Buffer.from([255])] } };
    expect(() => predictResponse(bytes, 'row')).toThrow('no UTF-8');
  });

  test('of errors', () => {
    expect(errorBody('Bad key: "key"')).toBe('{\n    "error": "Bad key: \\"key\\""\n}');
  });
});

describe('examples', () => {
  const text = `{
    "context": {"query": "pizza", "location": ["sfo"]},
    "examples": [
      {"names": ["foo", "bar"], "ratings": [8.0, NaN, Infinity], "age": 20},
      {"names": ["baz", {"b64": "aGVsbG8="}], "ratings": 6.0, "mix": [1, true, false]},
      {"names": "bar", "ratings": -Infinity}
    ]}`;

  test('have features of one kind, and those of the context', () => {
    const examples = examplesOf(document(text));
    expect(examples.map((e) => e.get('query'))).toEqual(Array(3).fill({ kind: 'bytes', values: ['pizza'] }));
    expect(examples[0].get('ratings')).toEqual({ kind: 'float', values: [8, Number.NaN, Infinity] });
    expect(examples[0].get('age')).toEqual({ kind: 'int64', values: [20n] });
    expect(examples[1].get('names')?.values).toEqual(['baz', Buffer.from('hello')]);
    expect(examples[1].get('mix')).toEqual({ kind: 'int64', values: [1n, 1n, 0n] });
  });

  test.each([
    ['{"context": [1], "examples": [{}]}', 'Example must be JSON object but got JSON Array'],
    ['{"x": 1}', "key 'examples' is expected and was not found"],
    ['{"examples": {"names": []}}', "Expecting 'examples' value to be an list/array"],
    ['{"examples": []}', "'examples' value is an empty array"],
    ['{"examples": [[{}]]}', 'Example must be JSON object but got JSON Array'],
    ['{"examples": [{"names": [10, null]}]}', 'names has element with unexpected JSON type: Null'],
    [
      '{"examples": [{"names": [10, 10.0]}]}',
      'Unexpected element type in feature: names expecting type: int64',
    ],
    ['{"examples": [{"names": [10, {"test": 10}]}]}', 'names has element with unexpected JSON type: Object'],
    ['{"examples": [{"names": [[10], 20]}]}', 'names has element with unexpected JSON type: Array'],
    ['{"examples": [{"names": [20, 18446744073709551603]}]}', 'Only int64_t is supported'],
    ['{"context": {"a": 1}, "examples": [{"a": 2}]}', 'Feature: a is in the context, and in an example'],
  ])('%s are refused', (body, message) => {
    expect(() => examplesOf(document(body))).toThrow(message);
  });

  test('are serialized, or inputs by name', () => {
    const serialized = exampleInputs(examplesOf(document(text)), { inputs: info('string', [null]) });
    expect(serialized['inputs'].shape).toEqual([3]);
    expect(Buffer.from(serialized['inputs'].values[0] as Uint8Array).includes('pizza')).toBe(true);
    const examples = examplesOf(document('{"examples": [{"a": [1, 2], "b": 3}, {"a": [4, 5], "b": 6.5}]}'));
    expect(exampleInputs(examples, { a: info('int32', [null, 2]), b: info('float32', [null]) })).toEqual({
      a: { dtype: 'int32', shape: [2, 2], values: Int32Array.of(1, 2, 4, 5) },
      b: { dtype: 'float32', shape: [2], values: Float32Array.of(3, 6.5) },
    });
    expect(() => exampleInputs(examples, { c: info('float32') })).toThrow(
      'Feature: c (data type: float) is required',
    );
    expect(() => exampleInputs(examples, { a: info('int32', [null, 3]) })).toThrow('Feature: a has 2 values');
    expect(() => exampleInputs(examples, { b: info('int32') })).toThrow('has a value that is no int32');
  });

  test('have results', () => {
    const scores = {
      dtype: 'float32',
      shape: [2, 3],
      values: Float32Array.of(0.2, 0.7, 0.1, 0.7, 0.1, 0.2),
    } as const;
    const classes = {
      dtype: 'string',
      shape: [2, 3],
      values: ['car', 'bike', 'bus', 'car', 'bike', 'bus'],
    } as const;
    expect(JSON.parse(classifyResponse(classificationsOf({ classes, scores }, 2)))).toEqual({
      results: [
        [
          ['car', 0.2],
          ['bike', 0.7],
          ['bus', 0.1],
        ],
        [
          ['car', 0.7],
          ['bike', 0.1],
          ['bus', 0.2],
        ],
      ],
    });
    expect(classificationsOf({ scores }, 2)[0][0][0]).toBe('');
    expect(() => classificationsOf({ scores }, 3)).toThrow('Expected scores output batch size of 3. Got: 2');
    const outputs = {
      dtype: 'float32',
      shape: [3, 1],
      values: Float32Array.of(0.2, Infinity, Number.NaN),
    } as const;
    expect(regressResponse(regressionsOf({ outputs }, 3))).toBe('{\n    "results": [0.2, Infinity, NaN]\n}');
    expect(() => regressionsOf({ outputs: { ...outputs, shape: [1, 3] } }, 1)).toThrow(
      '[batch_size, 1] but got [1,3]',
    );
  });
});
