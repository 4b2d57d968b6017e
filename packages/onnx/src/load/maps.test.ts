// Models that take maps of features: tools/golden/onnx_maps.py has made them, and ONNX Runtime what they give.
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { onnx } from '@eagre/formats';
import { describe, expect, test } from 'vitest';
import { load } from './load.ts';
import type { OnnxModel } from './model.ts';

type Entry = string | number;
const { cases } = JSON.parse(readFileSync(new URL('../../golden/maps.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly title: string;
    readonly model: string;
    readonly given: readonly (readonly [Entry, number])[];
    readonly output: {
      readonly dtype: string;
      readonly shape: readonly number[];
      readonly data: readonly Entry[];
    };
  }[];
};
const [FLOAT, INT64, STRING] = [1, 7, 8];

test.each(cases)('$title', async ({ model: bytes, given, output }) => {
  const model = await load(Buffer.from(bytes, 'base64'));
  const [input] = model.inputs;
  expect(input?.map?.value).toBe('float32');
  const values = (y: Tensor): readonly unknown[] =>
    y.dtype === 'string' ? y.strings() : Array.from(y.data() as Float32Array, Number);
  const byPosition = model(new Map(given)) as Tensor;
  const byName = model({ [input?.name as string]: Object.fromEntries(given) });
  for (const y of [byPosition, Object.values(byName)[0] as Tensor]) {
    expect([y.dtype, [...y.shape]]).toEqual([output.dtype, output.shape]);
    if (output.dtype === 'string') expect(values(y)).toEqual(output.data);
    else values(y).forEach((v, i) => expect(v).toBeCloseTo(output.data[i] as number, 5));
  }
});

interface Made {
  readonly op: string;
  readonly key?: number;
  readonly value?: number;
  readonly attribute?: readonly onnx.AttributeProto[];
}
const texts = (name: string, list: readonly string[]): onnx.AttributeProto => ({
  name,
  type: 8,
  strings: list.map((text) => new TextEncoder().encode(text)),
});
const text = (name: string, s: string): onnx.AttributeProto => ({
  name,
  type: 3,
  s: new TextEncoder().encode(s),
});
const int = (name: string, i: number): onnx.AttributeProto => ({ name, type: 2, i });
const made = ({ op, key = INT64, value = FLOAT, attribute = [] }: Made): Promise<OnnxModel> =>
  load(
    onnx.ModelProto.encode({
      ir_version: 8,
      opset_import: [{ version: 17 }, { domain: 'ai.onnx.ml', version: 3 }],
      graph: {
        name: 'g',
        node: [
          { op_type: op, domain: 'ai.onnx.ml', name: 'features', input: ['m'], output: ['y'], attribute },
        ],
        input: [
          {
            name: 'm',
            type: { map_type: { key_type: key, value_type: { tensor_type: { elem_type: value } } } },
          },
        ],
        output: [{ name: 'y', type: { tensor_type: { elem_type: value } } }],
      },
    }),
  );

describe('maps', () => {
  test('of texts and of integers', async () => {
    const words = await made({
      op: 'DictVectorizer',
      key: STRING,
      value: STRING,
      attribute: [texts('string_vocabulary', ['a', 'b'])],
    });
    expect(words(new Map([['b', 'x']])).array()).toEqual([['', 'x']]);
    const wide = await made({ op: 'CastMap', value: STRING, attribute: [text('cast_to', 'TO_INT64')] });
    expect([
      ...(
        wide(
          new Map([
            [2, '-12'],
            [-1, '7.9'],
          ]),
        ) as Tensor
      ).data(),
    ]).toEqual([7n, -12n]);
    const exact = await made({
      op: 'DictVectorizer',
      key: STRING,
      value: INT64,
      attribute: [texts('string_vocabulary', ['a'])],
    });
    expect([...(exact(new Map([['a', 2n ** 60n + 1n]])) as Tensor).data()]).toEqual([2n ** 60n + 1n]);
  });

  test('that do not fit are refused with the name of the input or the node', async () => {
    const model = await made({ op: 'CastMap' });
    for (const given of [3, [1], null, 'x', new Map([['a', 1]]), new Map([[0.5, 1]]), new Map([[1, 'x']])]) {
      expect(() => model(given as never)).toThrow(InvalidArgumentError);
      expect(() => model(given as never)).toThrow(/the input 'm' is a map from int64 to float32/);
    }
    const refused = async (how: Made, given: ReadonlyMap<Entry, Entry>, why: RegExp): Promise<void> => {
      const loaded = await made(how);
      expect(() => loaded(given)).toThrow(InvalidArgumentError);
      expect(() => loaded(given)).toThrow(why);
    };
    const one = new Map([[1, 1]]);
    const sparse = text('map_form', 'SPARSE');
    await refused({ op: 'DictVectorizer' }, one, /DictVectorizer 'features': .* has no int64_vocabulary/);
    await refused({ op: 'CastMap', key: STRING }, new Map([['a', 1]]), /keys of its map are no integers/);
    await refused({ op: 'CastMap', attribute: [sparse, int('max_map', 2 ** 40)] }, one, /max_map must be/);
    await refused({ op: 'CastMap', attribute: [sparse, int('max_map', 0)] }, one, /max_map must be/);
    await refused({ op: 'CastMap', attribute: [sparse] }, new Map([[-1, 1]]), /the key -1 is negative/);
    await refused({ op: 'CastMap', attribute: [text('cast_to', 'TO_HALF')] }, one, /cast_to is 'TO_HALF'/);
    await refused({ op: 'CastMap', attribute: [text('map_form', 'WIDE')] }, one, /map_form is 'WIDE'/);
    await refused({ op: 'CastMap', value: STRING }, new Map([[1, 'twelve']]), /'twelve' is no number/);
    await refused(
      { op: 'CastMap', attribute: [text('cast_to', 'TO_INT64')] },
      new Map([[1, Infinity]]),
      /is no integer/,
    );
    await refused({ op: 'Scaler' }, one, /input 0 is no tensor/);
    await expect(made({ op: 'CastMap', key: FLOAT })).rejects.toThrow(UnimplementedError);
  });
});
