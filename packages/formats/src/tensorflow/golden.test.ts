// Against files and messages of real TensorFlow, made by tools/golden/tensorflow_files.py.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { unpackSnappy } from '../archives/snappy.ts';
import * as tensorflow from '../protobuf/messages.ts';
import { BundleReader } from './bundle-reader.ts';
import { BundleWriter } from './bundle-writer.ts';
import { formatCheckpointState, parseCheckpointState } from './checkpoint-state.ts';
import type { TensorValue } from './data-types.ts';
import { decodeExample, decodeSequenceExample } from './example.ts';
import { decodeTensorProto } from './tensor-proto.ts';
import { encodeRecord, readRecords } from './tfrecord.ts';
import { RecordFileReader } from './tfrecord-files.ts';

interface GoldenTensor {
  dtype: string;
  shape: number[];
  values: (string | number | boolean)[] | string;
}
interface Golden {
  records: string[];
  sequence: string;
  tensors: Record<string, GoldenTensor>;
  protos: (GoldenTensor & { name: string; proto: string })[];
  state: { model: string; all: string[]; times: number[]; preserved: number };
  snappy: { packed: string; holds: string };
}

const folder = fileURLToPath(new URL('../../golden/tensorflow/', import.meta.url));
const golden = JSON.parse(readFileSync(`${folder}golden.json`, 'utf8')) as Golden;
const scratch = mkdtempSync(join(tmpdir(), 'eagre-golden-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Values as golden.json spells them. */
function spelled(value: TensorValue, dtype: string): GoldenTensor {
  const { shape } = value;
  if (value.dtype === 'string') return { dtype, shape: [...shape], values: value.data.map(base64) };
  if (value.dtype === 'complex64' || value.dtype === 'complex128') {
    const { buffer, byteOffset, byteLength } = value.data;
    return { dtype, shape: [...shape], values: base64(new Uint8Array(buffer, byteOffset, byteLength)) };
  }
  const values = Array.from(value.data as Iterable<number | bigint>, (item) => {
    if (value.dtype === 'bool') return item === 1;
    return /int/.test(dtype) ? String(item) : Number(item);
  });
  return { dtype, shape: [...shape], values };
}

describe("TensorFlow's TFRecord files", () => {
  it.each([
    ['plain', ''],
    ['gzip', 'GZIP'],
    ['zlib', 'ZLIB'],
  ] as const)('%s.tfrecord are read', async (name, compression) => {
    const reader = new RecordFileReader(`${folder}${name}.tfrecord`, { compression });
    expect(Array.from(reader, base64)).toEqual(golden.records);
    const later: string[] = [];
    for await (const record of reader) later.push(base64(record));
    expect(later).toEqual(golden.records);
  });

  it('have the bytes of ours', () => {
    const file = readFileSync(`${folder}plain.tfrecord`);
    expect(Buffer.concat(golden.records.map((record) => encodeRecord(bytesOf(record))))).toEqual(file);
    expect([...readRecords(file)]).toHaveLength(golden.records.length);
  });
});

describe("TensorFlow's examples", () => {
  it('are read, and come out in the same bytes', () => {
    const [full, sparse, nothing] = golden.records.map(bytesOf);
    const values = decodeExample(full as Uint8Array);
    expect(values.get('ints')).toEqual(BigInt64Array.of(1n, -1n, 300n, 2n ** 62n, -(2n ** 63n)));
    expect(values.get('floats')).toEqual(Float32Array.of(1.5, -2.25, 3e38));
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(values.get('strings')).toEqual([new Uint8Array(0), new TextEncoder().encode('abc'), all]);
    expect(decodeExample(sparse as Uint8Array)).toEqual(
      new Map([
        ['empty', new BigInt64Array(0)],
        ['missing', null],
      ] as const),
    );
    expect(decodeExample(nothing as Uint8Array).size).toBe(0);
    const { Example, SequenceExample } = tensorflow;
    for (const bytes of [full, sparse, nothing] as Uint8Array[])
      expect(base64(Example.encode(Example.decode(bytes)))).toBe(base64(bytes));
    const sequence = bytesOf(golden.sequence);
    expect(decodeSequenceExample(sequence).featureLists.get('steps')).toEqual([
      BigInt64Array.of(1n, 2n),
      new BigInt64Array(0),
    ]);
    expect(base64(SequenceExample.encode(SequenceExample.decode(sequence)))).toBe(golden.sequence);
  });
});

describe("TensorFlow's checkpoints", () => {
  it.each(['all', 'sharded'])('%s is read', (name) => {
    const reader = BundleReader.openSync(`${folder}${name}`);
    expect([...reader.entries().keys()].sort()).toEqual(Object.keys(golden.tensors).sort());
    for (const [key, tensor] of Object.entries(golden.tensors)) {
      const entry = reader.entries().get(key);
      expect(entry).toMatchObject({ dtype: tensor.dtype, shape: tensor.shape });
      expect(spelled(reader.read(key), tensor.dtype)).toEqual(tensor);
    }
  });

  it('have the bytes of ours', () => {
    const reader = BundleReader.openSync(`${folder}all`);
    using writer = new BundleWriter(join(scratch, 'all'));
    const entries = [...reader.entries()].sort(([, a], [, b]) => a.offset - b.offset || a.bytes - b.bytes);
    for (const [key, { dtype, shape }] of entries) {
      const data = dtype === 'string' ? (reader.read(key).data as Uint8Array[]) : reader.readBytes(key);
      writer.add(key, dtype, shape, data);
    }
    writer.finish();
    for (const end of ['data-00000-of-00001', 'index'])
      expect(readFileSync(join(scratch, `all.${end}`))).toEqual(readFileSync(`${folder}all.${end}`));
  });

  it('have a state, which comes out in the same bytes', () => {
    const bytes = readFileSync(`${folder}checkpoint`);
    const state = parseCheckpointState(bytes);
    expect(state).toEqual({
      model_checkpoint_path: golden.state.model,
      all_model_checkpoint_paths: golden.state.all,
      all_model_checkpoint_timestamps: golden.state.times,
      last_preserved_timestamp: golden.state.preserved,
    });
    expect(formatCheckpointState(state)).toBe(bytes.toString());
  });
});

describe("TensorFlow's TensorProtos", () => {
  it.each(golden.protos)('of $name are read', ({ proto, name, ...tensor }) => {
    const message = tensorflow.TensorProto.decode(bytesOf(proto));
    expect(base64(tensorflow.TensorProto.encode(message))).toBe(proto);
    expect(spelled(decodeTensorProto(message), tensor.dtype)).toEqual(tensor);
  });
});

it("TensorFlow's snappy is unpacked", () => {
  const unpacked = unpackSnappy(bytesOf(golden.snappy.packed)) as Uint8Array;
  expect(Buffer.from(unpacked).includes(Buffer.from(golden.snappy.holds, 'base64'))).toBe(true);
});
