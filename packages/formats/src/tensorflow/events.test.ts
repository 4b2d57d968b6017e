import { describe, expect, it } from 'vitest';
import type { NDArray } from '../arrays/ndarray.ts';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import * as tensorflow from '../protobuf/messages.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { decodeTensorProto, encodeStringContent, encodeTensorProto } from './tensor-proto.ts';

const { TensorProto } = tensorflow;
const shape = (...sizes: number[]): tensorflow.TensorShapeProto => ({ dim: sizes.map((size) => ({ size })) });

describe('a TensorProto', () => {
  const arrays: NDArray[] = [
    { dtype: 'float32', shape: [2], data: Float32Array.of(1.5, -2) },
    { dtype: 'float64', shape: [], data: Float64Array.of(Math.PI) },
    { dtype: 'int32', shape: [1, 2], data: Int32Array.of(-1, 2 ** 31 - 1) },
    { dtype: 'int64', shape: [3], data: BigInt64Array.of(-1n, 2n ** 62n, -(2n ** 63n)) },
    { dtype: 'uint8', shape: [2, 1], data: Uint8Array.of(0, 255) },
    { dtype: 'bool', shape: [2], data: Uint8Array.of(1, 0) },
    { dtype: 'float32', shape: [0, 3], data: new Float32Array(0) },
  ];

  it.each([true, false])('holds arrays (typed: %j)', (typed) => {
    for (const array of arrays) {
      const bytes = TensorProto.encode(encodeTensorProto(array, { typed }));
      expect(decodeTensorProto(TensorProto.decode(bytes))).toEqual(array);
    }
  });

  it('holds strings', () => {
    const data = ['a', Uint8Array.of(0, 255), 'ü'];
    const bytes = TensorProto.encode(encodeTensorProto({ dtype: 'string', shape: [3], data }));
    const read = decodeTensorProto(TensorProto.decode(bytes));
    expect(read).toEqual({
      dtype: 'string',
      shape: [3],
      data: [Uint8Array.of(97), Uint8Array.of(0, 255), Uint8Array.of(0xc3, 0xbc)],
    });
  });

  it('holds strings in its content, all lengths first', () => {
    const long = new Uint8Array(300).fill(9);
    const strings = [Uint8Array.of(97), new Uint8Array(0), long];
    const content = encodeStringContent(strings);
    expect(content).toEqual(Uint8Array.of(1, 0, 0xac, 0x02, 97, ...long));
    const of = (tensor_content: Uint8Array, n = 3): tensorflow.TensorProto =>
      TensorProto.decode(TensorProto.encode({ dtype: 7, tensor_shape: shape(n), tensor_content }));
    expect(decodeTensorProto(of(content))).toEqual({ dtype: 'string', shape: [3], data: strings });
    const wrong = [
      of(content, 2),
      of(content, 4),
      of(content, 2 ** 40),
      of(content.subarray(0, -1)),
      of(content, 0),
      of(Uint8Array.of(...content, 0)),
      of(Uint8Array.of(255, 255), 1),
      of(Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 5), 1),
    ];
    for (const proto of wrong)
      expect(() => decodeTensorProto(proto)).toThrow(
        expect.objectContaining({ name: 'FormatError', what: 'tensor_content' }),
      );
  });

  it('fills what is missing with the last value', () => {
    expect(decodeTensorProto({ dtype: 1, tensor_shape: shape(3), float_val: [1, 2] }).data).toEqual(
      Float32Array.of(1, 2, 2),
    );
    expect(decodeTensorProto({ dtype: 9, tensor_shape: shape(2) }).data).toEqual(BigInt64Array.of(0n, 0n));
    const text = Uint8Array.of(1);
    expect(decodeTensorProto({ dtype: 7, tensor_shape: shape(2), string_val: [text] }).data).toEqual([
      text,
      text,
    ]);
    const endless = { dtype: 1, tensor_shape: shape(2 ** 40), float_val: [1] };
    expect(() => decodeTensorProto(endless)).toThrow('filled in up to');
    expect(() => decodeTensorProto({ ...endless, dtype: 7, string_val: [text] })).toThrow('filled in up to');
  });

  it('has the dtype of its type, and is widened where there is none', () => {
    const cases: [number, Partial<tensorflow.TensorProto>, NDArray['data']][] = [
      [19, { half_val: [0x3c00, 0xc000] }, Float32Array.of(1, -2)],
      [14, { half_val: [0x3f80, 0xc000] }, Float32Array.of(1, -2)],
      [14, { tensor_content: Uint8Array.of(0x80, 0x3f, 0, 0xc0) }, Float32Array.of(1, -2)],
      [6, { int_val: [-1, 5] }, Int8Array.of(-1, 5)],
      [5, { int_val: [-300, 5] }, Int16Array.of(-300, 5)],
      [17, { int_val: [65535, 5] }, Uint16Array.of(65535, 5)],
      [22, { uint32_val: [2 ** 32 - 1, 5] }, Uint32Array.of(2 ** 32 - 1, 5)],
      [23, { uint64_val: [2n ** 64n - 1n, 5] }, BigUint64Array.of(2n ** 64n - 1n, 5n)],
    ];
    for (const [dtype, values, expected] of cases) {
      const proto = TensorProto.decode(TensorProto.encode({ dtype, tensor_shape: shape(2), ...values }));
      expect(decodeTensorProto(proto).data).toEqual(expected);
    }
  });

  it('without an array for it, or that makes no sense, is refused', () => {
    const unsupported: tensorflow.TensorProto[] = [
      { dtype: 24, tensor_shape: shape(1), float8_val: Uint8Array.of(1) },
      { dtype: 20, tensor_shape: {} },
    ];
    for (const proto of unsupported) {
      const read = TensorProto.decode(TensorProto.encode(proto));
      expect(read).toEqual(proto);
      expect(() => decodeTensorProto(read)).toThrow(UnsupportedFormatError);
    }
    const wrong: tensorflow.TensorProto[] = [
      {},
      { dtype: 1, tensor_shape: { unknown_rank: true } },
      { dtype: 1, tensor_shape: shape(-1) },
      { dtype: 1, tensor_shape: shape(2 ** 30, 2 ** 30) },
      { dtype: 1, tensor_shape: shape(2), tensor_content: new Uint8Array(7) },
      { dtype: 1, tensor_shape: shape(1), float_val: [1, 2] },
      { dtype: 8, tensor_shape: shape(2), scomplex_val: [1, 2, 3] },
      { dtype: 99, tensor_shape: shape(1) },
    ];
    for (const proto of wrong) expect(() => decodeTensorProto(proto)).toThrow(FormatError);
    expect(() => encodeTensorProto({ dtype: 'string', shape: [2], data: ['a'] })).toThrow(FormatError);
  });
});

describe('an Event', () => {
  it('comes out as it went in', () => {
    const event: tensorflow.Event = {
      wall_time: 1.5,
      step: 2n ** 60n,
      summary: {
        value: [
          { tag: 'old', simple_value: 0.5 },
          {
            tag: 'image',
            image: { height: 1, width: 2, colorspace: 3, encoded_image_string: Uint8Array.of(1) },
          },
          { tag: 'histo', histo: { min: 0, max: 1, num: 2, bucket_limit: [1, 2], bucket: [3, 4] } },
          {
            tag: 'loss',
            tensor: encodeTensorProto({ dtype: 'float32', shape: [], data: Float32Array.of(3) }),
            metadata: { plugin_data: { plugin_name: 'scalars', content: new Uint8Array(0) } },
          },
        ],
      },
    };
    expect(tensorflow.Event.decode(tensorflow.Event.encode(event))).toEqual(event);
    const hparams: tensorflow.HParamsPluginData = {
      version: 0,
      session_start_info: {
        hparams: new Map([
          ['units', { number_value: 16 }],
          ['list', { list_value: { values: [{ bool_value: true }, { string_value: 'x' }] } }],
        ]),
        group_name: 'a',
        start_time_secs: 1,
      },
    };
    const { HParamsPluginData } = tensorflow;
    expect(HParamsPluginData.decode(HParamsPluginData.encode(hparams))).toEqual(hparams);
  });
});

describe('damaged messages', () => {
  const { Event, HParamsPluginData, TrackableObjectGraph } = tensorflow;
  const tensor = encodeTensorProto({ dtype: 'float32', shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) });
  const words = encodeTensorProto({ dtype: 'string', shape: [2], data: ['a', 'bcd'] });
  const content = HParamsPluginData.encode({
    experiment: {
      hparam_infos: [{ name: 'units', type: 3, domain_discrete: { values: [{ number_value: 1 }] } }],
      metric_infos: [{ name: { tag: 'accuracy' } }],
    },
  });
  const graph = TrackableObjectGraph.encode({
    nodes: [
      { children: [{ node_id: 1, local_name: 'w' }] },
      {
        attributes: [{ name: 'VARIABLE_VALUE', checkpoint_key: 'w' }],
        has_checkpoint_values: { value: true },
      },
    ],
  });
  const samples = [
    Event.encode({
      wall_time: 1,
      step: 3,
      summary: {
        value: [
          { tag: 'a', tensor, metadata: { plugin_data: { plugin_name: 'hparams', content } } },
          { tag: 'b', tensor: words },
          { tag: 'c', simple_value: 1 },
          { tag: 'd', histo: { min: 0, max: 1, bucket_limit: [1, 2], bucket: [3, 4] } },
        ],
      },
    }),
    Event.encode({ wall_time: 2, graph_def: graph }),
  ];

  it('(10,000 events) give a FormatError or values', () => {
    const random = randomSource(23);
    const result = { read: 0, refused: 0 };
    for (let run = 0; run < 10_000; run++) {
      const bytes = mutate(samples[run % 4 === 0 ? 1 : 0] as Uint8Array, random);
      try {
        const event = Event.decode(bytes);
        if (event.graph_def !== undefined) TrackableObjectGraph.decode(event.graph_def);
        for (const value of event.summary?.value ?? []) {
          const inner = value.metadata?.plugin_data?.content;
          if (inner !== undefined) HParamsPluginData.decode(inner);
          if (value.tensor === undefined) continue;
          const read = decodeTensorProto(value.tensor, { maxBytes: 1 << 16 });
          expect(read.data.length).toBeLessThanOrEqual((1 << 16) + bytes.length);
        }
        result.read++;
      } catch (error) {
        if (!(error instanceof FormatError)) throw new Error(`run ${run}`, { cause: error });
        result.refused++;
      }
    }
    expect(result.read).toBeGreaterThan(500);
    expect(result.refused).toBeGreaterThan(2000);
  });
});
