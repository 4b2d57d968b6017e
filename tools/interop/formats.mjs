// TFRecords, examples, tensors, tables and tensor bundles for formats.py, and theirs: `node formats.mjs write|read <folder>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
// For the native checksums.
import '../../packages/eagre/dist/index.js';
import * as formats from '../../packages/formats/dist/index.js';

const { BundleReader, BundleWriter, RecordFileReader, RecordFileWriter, tensorflow } = formats;
const [command, folder] = process.argv.slice(2);
const at = (name) => join(folder, name);
const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const compressions = { plain: '', gzip: 'GZIP', zlib: 'ZLIB' };

/** Bytes that anybody can make again: a Lehmer generator. */
function noise(length, seed) {
  const out = new Uint8Array(length);
  for (let i = 0, x = seed + 1; i < length; i++) {
    x = (x * 48271) % 2147483647;
    out[i] = x & 255;
  }
  return out;
}
const numbered = (count) =>
  Array.from({ length: count }, (_, i) => `layer/${i}/kernel/.ATTRIBUTES/VARIABLE_VALUE`);

async function write() {
  const examples = Array.from({ length: 100 }, (_, i) =>
    formats.encodeExample({
      ints: [BigInt(i), -1n, 2n ** 62n],
      floats: Float32Array.of(i / 2, -1e30),
      text: [`example ${i}`, noise(i * 10, i)],
      empty: [],
    }),
  );
  const sequence = formats.encodeSequenceExample({
    context: { length: 2n },
    featureLists: { steps: [[1n, 2n], [3n]], words: ['a', ['b', 'ü']] },
  });
  for (const [name, compression] of Object.entries(compressions)) {
    const writer = new RecordFileWriter(at(`${name}.tfrecord`), { compression, bufferSize: 1000 });
    for (const [i, example] of examples.entries()) {
      writer.write(example);
      if (i % 10 === 0) writer.flush();
    }
    writer.write(sequence);
    writer.close();
  }

  const arrays = {
    float32: { dtype: 'float32', shape: [2, 2], data: Float32Array.of(1.5, -2, 3e38, -0) },
    float64: { dtype: 'float64', shape: [], data: Float64Array.of(Math.PI) },
    int32: { dtype: 'int32', shape: [3], data: Int32Array.of(-(2 ** 31), 0, 2 ** 31 - 1) },
    int64: { dtype: 'int64', shape: [1, 2], data: BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n) },
    uint8: { dtype: 'uint8', shape: [2], data: Uint8Array.of(0, 255) },
    bool: { dtype: 'bool', shape: [2, 1], data: Uint8Array.of(1, 0) },
    string: { dtype: 'string', shape: [3], data: ['ab', '', Uint8Array.of(0, 255)] },
    nothing: { dtype: 'float32', shape: [0, 3], data: new Float32Array(0) },
  };
  const protos = {};
  for (const [name, array] of Object.entries(arrays))
    protos[name] = [true, false].map((typed) =>
      base64(tensorflow.TensorProto.encode(formats.encodeTensorProto(array, { typed }))),
    );

  const fill = async (prefix, shards, keys) => {
    const writer = new BundleWriter(at(prefix), { shards });
    for (const [name, { dtype, shape, data }] of Object.entries(arrays))
      writer.add(`kinds/${name}`, dtype, shape, dtype === 'string' ? data : new Uint8Array(data.buffer));
    for (const [i, key] of keys.entries())
      await writer.addAsync(key, 'float32', [3, 2], new Uint8Array(new Float32Array(6).fill(i).buffer));
    writer.add('large', 'uint8', [3_000_001], noise(3_000_001, 5));
    writer.add('half', 'float16', [2], Uint8Array.of(0, 0x3c, 0, 0xc0));
    await writer.finishAsync();
  };
  await fill('one', 1, numbered(6000));
  await fill('five', 5, numbered(20));
  const parts = ['part-a', 'part-b'];
  for (const [i, part] of parts.entries()) {
    const writer = new BundleWriter(at(part), { shards: i + 1 });
    for (let k = 0; k < 4; k++)
      writer.add(`${part}/${k}`, 'int32', [1], new Uint8Array(Int32Array.of(k).buffer));
    writer.finish();
  }
  formats.mergeBundles(parts.map(at), at('merged'));

  // tf.train.Checkpoint(v=…, parts=[…]).
  const attribute = (key) => ({
    name: 'VARIABLE_VALUE',
    full_name: key,
    checkpoint_key: `${key}/.ATTRIBUTES/VARIABLE_VALUE`,
  });
  const graph = {
    nodes: [
      {
        children: [
          { node_id: 1, local_name: 'v' },
          { node_id: 2, local_name: 'parts' },
        ],
      },
      { attributes: [attribute('v')] },
      {
        children: [
          { node_id: 3, local_name: '0' },
          { node_id: 4, local_name: '1' },
        ],
      },
      { attributes: [attribute('parts/0')] },
      { attributes: [attribute('parts/1')] },
    ],
  };
  const writer = new BundleWriter(at('objects'));
  for (const [i, key] of ['v', 'parts/0', 'parts/1'].entries())
    writer.add(
      attribute(key).checkpoint_key,
      'float32',
      [2],
      new Uint8Array(Float32Array.of(i, i + 0.5).buffer),
    );
  writer.add(tensorflow.OBJECT_GRAPH_KEY, 'string', [], [tensorflow.TrackableObjectGraph.encode(graph)]);
  writer.finish();
  formats.writeCheckpointState(at('checkpoint'), {
    model_checkpoint_path: 'objects',
    all_model_checkpoint_paths: ['of "before" \\ \' ü\n', 'objects'],
    all_model_checkpoint_timestamps: [1.5, 1795227391],
    last_preserved_timestamp: 0.1,
  });
  console.log(JSON.stringify({ fields: tensorflow.fieldNumbers(), protos }));
}

async function read() {
  const records = {};
  for (const [name, compression] of Object.entries(compressions)) {
    const reader = new RecordFileReader(at(`${name}.tfrecord`), { compression });
    const later = [];
    for await (const record of reader) later.push(base64(record));
    records[name] = Array.from(reader, base64);
    if (later.join() !== records[name].join()) throw new Error('read differently without blocking');
  }
  const features = [...formats.decodeExample(Buffer.from(records.plain[0], 'base64'))].map(([key, value]) => [
    key,
    Array.from(value, (item) => (item instanceof Uint8Array ? base64(item) : String(item))),
  ]);
  const bundles = {};
  for (const prefix of ['many', 'sharded']) {
    const reader = await BundleReader.open(at(prefix));
    const sums = {};
    for (const [key, entry] of reader.entries()) {
      if (entry.dtype === 'string') sums[key] = reader.read(key).data.map(base64);
      else {
        const target = new Uint8Array(entry.bytes);
        await reader.readIntoAsync(key, target);
        sums[key] = target.reduce((a, b) => a + b, 0);
      }
    }
    bundles[prefix] = sums;
  }
  const state = formats.parseCheckpointState(readFileSync(at('checkpoint')));
  writeFileSync(at('read.json'), JSON.stringify({ records, features, bundles, state }));
}

await { write, read }[command]();
