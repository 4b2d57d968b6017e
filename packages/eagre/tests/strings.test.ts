// Strings, files and tables through the umbrella: in traced functions, pipelines and checkpoints.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import * as tf from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-strings-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('strings in traced functions', () => {
  test('are computed while tracing, once for each argument', () => {
    const f = tf.function((text: tf.Tensor, x: tf.Tensor) => ({
      words: tf.strings.split(tf.strings.lower(text)) as tf.Tensor,
      y: x.add(tf.strings.length(text).cast('float32')),
      bucket: tf.strings.toHashBucketFast(text, 100),
    }));
    const { words, y, bucket } = f(tf.constant('Hello World'), tf.constant(1));
    expect(words.array()).toEqual(['hello', 'world']);
    expect(y.item()).toBe(12);
    expect(bucket.array()).toBe(tf.strings.toHashBucketFast('Hello World', 100).array());
    expect(f(tf.constant('a'), tf.constant(1)).y.item()).toBe(2);
    f(tf.constant('a'), tf.constant(2));
    expect(f.experimentalGetTracingCount()).toBe(2);
    const g = tf.function((x: tf.Tensor) => tf.strings.asString(x));
    expect(() => g(tf.constant([1, 2]))).toThrow('cannot compute with strings');
    const scripts = tf.function({ inputSignature: [new tf.TensorSpec([null], 'int32')] })((x: tf.Tensor) =>
      tf.strings.unicodeScript(x),
    );
    expect(scripts(tf.constant([65, 0x3042], 'int32')).array()).toEqual([25, 20]);
    expect(scripts(tf.constant([0x430], 'int32')).array()).toEqual([8]);
  });
  test('run on the elements of pipelines', () => {
    const lines = tf.data.Dataset.fromTensorSlices(tf.constant(['A b', 'c D e'])).map((line: tf.Tensor) =>
      tf.strings.length(tf.strings.lower(line)),
    );
    expect([...lines].map((n) => (n as tf.Tensor).item())).toEqual([3, 5]);
  });
});

describe('tables', () => {
  const table = new tf.lookup.StaticHashTable(
    new tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], 'int64'), tf.constant([10, 20])),
    -1,
  );
  test('are looked up at each run of a traced function', () => {
    const f = tf.function({ inputSignature: [new tf.TensorSpec([null], 'int64')] })((x: tf.Tensor) =>
      table.lookup(x).mul(2),
    );
    expect(f(tf.constant([2, 7], 'int64')).array()).toEqual([40, -2]);
    expect(f(tf.constant([1], 'int64')).array()).toEqual([20]);
    const words = new tf.lookup.experimental.MutableHashTable('string', 'int64', 0);
    const learn = tf.function((word: tf.Tensor, id: tf.Tensor) => {
      words.insert(word, id);
      return words.lookup(word);
    });
    expect(learn(tf.constant(['x']), tf.constant([5], 'int64')).array()).toEqual([5n]);
    expect(learn(tf.constant(['x']), tf.constant([6], 'int64')).array()).toEqual([6n]);
    expect(words.lookup('x').array()).toBe(6n);
  });
  test('that change are in checkpoints', async () => {
    const make = (): Record<string, tf.lookup.experimental.MutableHashTable> => ({
      words: new tf.lookup.experimental.MutableHashTable('string', 'int64', -1),
      rows: new tf.lookup.experimental.DenseHashTable('int64', 'float32', [0, 0], -1, -2),
    });
    const before = make();
    before['words']?.insert(tf.constant(['a', 'b']), tf.constant([1, 2], 'int64'));
    before['rows']?.insert(tf.constant([5], 'int64'), tf.constant([[1, 2]]));
    const path = await new tf.train.Checkpoint({ model: before }).save(join(folder, 'tables'));
    const after = make();
    after['words']?.insert('z', tf.constant(9, 'int64'));
    await new tf.train.Checkpoint({ model: after }).restore(path);
    expect(after['words']?.lookup(tf.constant(['a', 'b', 'z'])).array()).toEqual([1n, 2n, -1n]);
    expect(after['rows']?.lookup(tf.constant([5, 6], 'int64')).array()).toEqual([
      [1, 2],
      [0, 0],
    ]);
    const other = { words: new tf.lookup.experimental.MutableHashTable('string', 'float32', 0) };
    other.words.insert('kept', 1);
    await expect((async () => new tf.train.Checkpoint({ model: other }).restore(path))()).rejects.toThrow(
      'other keys or values',
    );
    expect(other.words.lookup('kept').item()).toBe(1);
  });
});

test('tf.image and tf.io have one set of codecs', () => {
  expect(tf.image.decodePng).toBe(tf.io.decodePng);
  const contents = tf.io.encodePng(tf.ones([2, 2, 1], 'uint8'));
  expect(tf.image.decodeImage(contents).shape).toEqual([2, 2, 1]);
  const [audio, rate] = tf.audio.decodeWav(tf.audio.encodeWav([[0.5], [-0.5]], 8000));
  expect([audio.array(), rate.item()]).toEqual([[[0.5], [-0.5]], 8000]);
  expect(tf.train.Example.fromString(new tf.train.Example().serializeToString())).toEqual(
    new tf.train.Example(),
  );
});

test('Keras layers of texts are exported, and give the same from raw strings when they are loaded', async () => {
  const { layers } = tf;
  const folder = mkdtempSync(join(tmpdir(), 'eagre-texts-'));
  const tokens = tf.constant([['a'], ['b'], ['zz'], ['m']]);
  const numbers = tf.constant([[10n], [21n], [-3n]], 'int64');
  const texts = tf.constant([['The cat, sat!'], ['a dog'], [''], ['cat cat  dog']]);
  const vocabulary = ['a', 'b', 'c'];
  const words = ['cat', 'dog', 'the'];
  const cases: [tf.Tensor, tf.layers.Layer][] = [
    [tokens, new layers.StringLookup({ vocabulary })],
    [tokens, new layers.StringLookup({ vocabulary, numOovIndices: 3, salt: 5, maskToken: 'm' })],
    [tokens.at(':2'), new layers.StringLookup({ vocabulary, numOovIndices: 0 })],
    [numbers, new layers.StringLookup({ vocabulary, invert: true })],
    [numbers, new layers.IntegerLookup({ vocabulary: [10, 20], numOovIndices: 2 })],
    [numbers, new layers.IntegerLookup({ vocabulary: [10], numOovIndices: 2, oovMethod: 'farmhash' })],
    [numbers, new layers.IntegerLookup({ vocabulary: [10, 20, 30], invert: true })],
    [tokens, new layers.Hashing(7, { maskValue: 'm' })],
    [numbers, new layers.Hashing(7, { salt: 3 })],
    [texts, new layers.TextVectorization({ vocabulary: words })],
    [texts, new layers.TextVectorization({ vocabulary: words, outputSequenceLength: 2 })],
    [texts, new layers.TextVectorization({ vocabulary: words, outputMode: 'count' })],
    [texts, new layers.TextVectorization({ vocabulary: words, idfWeights: [1, 2, 3], outputMode: 'tfIdf' })],
    [
      texts,
      new layers.TextVectorization({ vocabulary: ['cat', 'cat cat'], ngrams: 2, outputMode: 'multiHot' }),
    ],
    [texts, new layers.TextVectorization({ vocabulary: ['a', 't'], split: 'character' })],
    [tokens, new layers.TextVectorization({ vocabulary, split: null, standardize: null })],
  ];
  try {
    for (const [i, [x, layer]] of cases.entries()) {
      const input = tf.Input([1], { dtype: x.dtype });
      const model = new tf.Model({ inputs: input, outputs: layer(input) as tf.keras.KerasTensor });
      const dir = join(folder, String(i));
      await model.export(dir, { verbose: false });
      const loaded = await tf.savedModel.load(dir);
      expect(String(loaded.serve(x)), layer.name).toBe(String(model(x)));
      await tf.savedModel.save(loaded, `${dir}-again`, { signatures: loaded.signatures });
      expect(String((await tf.savedModel.load(`${dir}-again`)).serve(x)), layer.name).toBe(String(model(x)));
    }
    for (const outputMode of ['int', 'oneHot'] as const) {
      const pair = [tf.Input([1], { dtype: 'string' }), tf.Input([1], { dtype: 'int64' })];
      const outputs = new layers.HashedCrossing(9, { outputMode })(
        pair as never,
      ) as unknown as tf.keras.KerasTensor;
      const crossing = new tf.Model({ inputs: pair, outputs });
      const dir = join(folder, `crossing-${outputMode}`);
      await crossing.export(dir, { verbose: false });
      const loaded = await tf.savedModel.load(dir);
      const rows = [tokens.at(':3'), numbers];
      const wanted = crossing(rows as never);
      expect(String(loaded.serve(rows))).toBe(String(wanted));
    }
    const split = (text: string): string[] => text.split('');
    const input = tf.Input([1], { dtype: 'string' });
    const own = new layers.TextVectorization({ vocabulary: words, split })(input);
    const model = new tf.Model({ inputs: input, outputs: own as tf.keras.KerasTensor });
    await expect(model.export(join(folder, 'own'), { verbose: false })).rejects.toThrow(
      'split is a function of this process',
    );
    const standardize = (text: string): string => text.trim();
    const plain = new layers.TextVectorization({ vocabulary: words, standardize })(input);
    const other = new tf.Model({ inputs: input, outputs: plain as tf.keras.KerasTensor });
    await expect(other.export(join(folder, 'own'), { verbose: false })).rejects.toThrow(
      'standardize is a function of this process',
    );
    expect(existsSync(join(folder, 'own'))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// TensorFlow adds U+FFFF where a string ends within base 64, and keeps single halves of surrogate pairs; neither is done here.
describe('UTF-7, with the places of its characters, as in TensorFlow 2.21', () => {
  it.each<[string, number[], number[]]>([
    [
      'Hi Mom -+Jjo--!.',
      [72, 105, 32, 77, 111, 109, 32, 45, 9786, 45, 33, 46],
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 14, 15],
    ],
    ['A+ImIDkQ..', [65, 8802, 913, 46, 46], [0, 1, 5, 8, 9]],
    ['+ZeVnLIqe-.', [26085, 26412, 35486, 46], [0, 4, 7, 9]],
    ['+AKM-1.', [163, 49, 46], [0, 4, 6]],
    ['+2D3eAA ok.', [128512, 32, 111, 107, 46], [0, 7, 8, 9, 10]],
    ['+AOk-.', [233, 46], [0, 4]],
    ['a+-b.', [97, 43, 98, 46], [0, 1, 3, 4]],
    ['+--.', [43, 45, 46], [0, 2, 3]],
    ['x+2D3eANg93gA-y.', [120, 128512, 128512, 121, 46], [0, 1, 8, 13, 15]],
    ['\t\r\n{}.', [9, 13, 10, 123, 125, 46], [0, 1, 2, 3, 4, 5]],
    ['+AOk x', [233, 32, 120], [0, 4, 5]],
    ['+Jjo-x', [9786, 120], [0, 4]],
    ['~a', [65533, 97], [0, 1]],
    ['a\\b', [97, 65533, 98], [0, 1, 2]],
    ['+A b', [32, 98], [0, 3]],
    ['+AOk b', [233, 32, 98], [0, 4, 5]],
    ['+AOl b', [233, 65533, 32, 98], [0, 4, 4, 5]],
    ['+ b', [65533, 32, 98], [0, 1, 2]],
    ['+\u00e9b', [65533, 65533, 98], [0, 1, 2]],
    ['+AOk\u00e9b', [233, 65533, 98], [0, 4, 5]],
    ['+AO~b', [65533, 65533, 98], [0, 3, 4]],
    ['+AOkA b', [233, 32, 98], [0, 4, 6]],
    ['+AOkDpg b', [233, 934, 32, 98], [0, 4, 7, 8]],
    ['\u0001b', [65533, 98], [0, 1]],
    ['+AOk', [233], [0]],
    ['+AO', [65533], [0]],
    ['+2D3eAA.', [128512, 46], [0, 7]],
    ['+AOk+AOk.', [233, 15872, 65533, 46], [0, 4, 7, 8]],
    ['+AOk=b', [233, 61, 98], [0, 4, 5]],
    ['+AGEAYgBj.', [97, 98, 99, 46], [0, 4, 7, 9]],
  ])('%s', (text, points, places) => {
    // As string tensors keep single bytes.
    const bytes = text.replace(/[\u0080-\u00ff]/g, (c) => String.fromCharCode(0xdc00 + c.charCodeAt(0)));
    const [read, at] = tf.strings.unicodeDecodeWithOffsets([bytes], 'UTF-7', {
      replaceControlCharacters: false,
    });
    expect([read, at].map((rows) => (rows as tf.RaggedTensor).toList())).toEqual([
      [points],
      [places.map(BigInt)],
    ]);
  });
});
