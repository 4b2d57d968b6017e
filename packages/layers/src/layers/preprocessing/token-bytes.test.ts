// Texts are tokens by their bytes; functions of a program make them of strings. Both ways give the same.
import '@eagre/backend-js';
import { constant, type RaggedTensor, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Hashing } from './hashing.ts';
import { IntegerLookup, StringLookup } from './lookup.ts';
import { TextVectorization, type TextVectorizationOptions } from './text-vectorization.ts';

const texts = [
  'The cat, the DOG & the "bird"!',
  '',
  '  ',
  '\tdog\n\rcat\v\fcat  ',
  "don't --- stop",
  'Ärger Über ÄRGER straße',
  '日本 語。 日本 😀😀',
  'a\u0000b \u0001 \u007f \u00a0 x',
  `${'long '.repeat(200)}${'é'.repeat(300)}`,
  'the',
];
/** Steps of a program that do the same. */
const own: Partial<TextVectorizationOptions> = {
  standardize: (text) =>
    text
      .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
      .replace(/[!"#$%&()*+,\-./:;<=>?@[\\\]^_`{|}~']/g, ''),
};
const shown = (y: Tensor): unknown =>
  (y as unknown as Partial<RaggedTensor>).toList?.() ?? { shape: y.shape, values: String(y.data()) };

describe('texts by bytes and by strings', () => {
  const modes: readonly Partial<TextVectorizationOptions>[] = [
    {},
    { outputSequenceLength: 4 },
    { ragged: true },
    { ragged: true, outputSequenceLength: 3 },
    { ngrams: 2 },
    { ngrams: [1, 3] },
    { split: 'character' },
    { split: 'character', ngrams: 2 },
    { split: null, ngrams: 2 },
    { outputMode: 'count' },
    { outputMode: 'multiHot', maxTokens: 50, padToMaxTokens: true },
    { outputMode: 'tfIdf' },
  ];
  test.each(modes)('%j', (options) => {
    const [fast, slow] = [new TextVectorization(options), new TextVectorization({ ...options, ...own })];
    for (const layer of [fast, slow]) {
      layer.updateState(constant(texts.slice(0, 6)));
      layer.updateState(constant(texts.slice(6)));
      layer.finalizeState();
    }
    expect(fast.getVocabulary()).toEqual(slow.getVocabulary());
    for (const x of [
      constant(texts),
      constant(texts.slice(0, 2)),
      constant(texts).reshape([-1, 1]),
      constant('the bird'),
    ])
      expect(shown(fast.call(x))).toEqual(shown(slow.call(x)));
    const some = [...fast.getVocabulary().slice(2, 12), 'zebra'];
    const [given, other] = [fast, slow].map((layer) => {
      layer.setVocabulary(some, options.outputMode === 'tfIdf' ? some.map((_, i) => i + 1) : null);
      return shown(layer.call(constant(texts)));
    });
    expect(given).toEqual(other);
  });
  test('bytes that are not UTF-8 are strings', () => {
    const [fast, slow] = [new TextVectorization(), new TextVectorization(own)];
    const x = constant(['a \udcff b', 'A \ud800']);
    for (const layer of [fast, slow]) layer.adapt(x);
    expect(fast.getVocabulary()).toEqual(slow.getVocabulary());
    expect(shown(fast.call(x))).toEqual(shown(slow.call(x)));
  });
  test('mistakes', () => {
    const layer = new TextVectorization({ vocabulary: ['a'] });
    expect(() => layer.call(constant([['a', 'b']]))).toThrow('[batch, 1]');
    expect(() => new TextVectorization().call(constant(['a']))).toThrow('vocabulary');
  });
});

describe('lookups of many tokens', () => {
  const words = Array.from({ length: 500 }, (_, i) => `w${i % 40}`);
  test('unknown tokens, masks and several indices', () => {
    const layer = new StringLookup({ vocabulary: ['w1', 'w2'], maskToken: 'w3', numOovIndices: 3 });
    const y = (layer.call(constant(words)).data() as unknown as BigInt64Array).slice(0, 40);
    const bins = new Hashing({ numBins: 3 }).call(constant(words)).data() as unknown as BigInt64Array;
    y.forEach((index, i) =>
      expect(Number(index)).toBe(i === 1 ? 4 : i === 2 ? 5 : i === 3 ? 0 : Number(bins[i]) + 1),
    );
    const none = new StringLookup({ vocabulary: ['w1'], numOovIndices: 0, maskToken: '' });
    expect(none.call(constant(['w1', ''])).array()).toEqual([1n, 0n]);
    expect(() => none.call(constant(['w1', '', 'w5']))).toThrow('"w5"');
  });
  test('integers of any size', () => {
    const far = [2n ** 62n, -(2n ** 62n), -1n, 0n, 2n ** 32n, 2n ** 32n + 5n];
    const layer = new IntegerLookup({ vocabulary: constant(far.slice(0, 5), 'int64'), numOovIndices: 2 });
    const x = constant([...far, 7n, -7n], 'int64');
    expect(layer.call(x).array()).toEqual([2n, 3n, 4n, 5n, 6n, 1n, 1n, 1n]);
    const back = new IntegerLookup({ vocabulary: constant(far, 'int64'), oovToken: -9, invert: true });
    expect(back.call(constant([1n, 6n, 7n, -1n, 2n ** 32n + 1n], 'int64')).array()).toEqual([
      far[0],
      far[5],
      -9n,
      -9n,
      -9n,
    ]);
  });
  test('bins with and without a mask are those of digits and texts', () => {
    const [plain, masked] = [new Hashing({ numBins: 10 }), new Hashing({ numBins: 11, maskValue: 5 })];
    const numbers = constant([5, -3, 2 ** 31 - 1, 123456], 'int32');
    const digits = constant(['5', '-3', '2147483647', '123456']);
    expect(plain.call(numbers).array()).toEqual(plain.call(digits).array());
    const wanted = (plain.call(digits).array() as bigint[]).map((bin, i) => (i === 0 ? 0n : bin + 1n));
    expect(masked.call(numbers).array()).toEqual(wanted);
    expect(masked.call(digits).array()).toEqual(wanted);
  });
});
