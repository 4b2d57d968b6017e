// Layers of categories, numbers and texts against Keras's.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, type DType, InvalidArgumentError, NotFoundError, ones, type Tensor } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { Input, layers, Model } from '../../index.ts';
import { readGolden } from '../../testing/golden.ts';

interface Values {
  readonly dtype: DType;
  readonly shape: number[];
  readonly values: (number | string)[];
}
interface Case {
  readonly layer: string;
  readonly config: Record<string, unknown>;
  readonly inputs: readonly Values[];
  readonly adapt?: Values;
  readonly boundaries?: number[];
  readonly vocabulary?: (string | number)[];
  readonly call?: Record<string, number[][]>;
  readonly output: Values;
}
const { cases } = readGolden<{ readonly cases: readonly Case[] }>('preprocessing');
type Any = layers.Layer & {
  adapt(data: Tensor): void;
  getVocabulary(): (string | bigint)[];
  readonly binBoundaries: readonly number[];
};
const classes = layers as unknown as Record<string, { fromConfig(config: object): Any }>;
const tensor = ({ dtype, shape, values }: Values): Tensor => constant(values as number[], dtype, { shape });

function check(y: Tensor, { dtype, shape, values }: Values): void {
  expect([y.dtype, [...y.shape]]).toEqual([dtype, shape]);
  if (dtype === 'string') {
    expect(y.strings()).toEqual(values);
    return;
  }
  const got = Array.from(y.data() as Float32Array, Number);
  got.forEach((v, i) => expect(v).toBeCloseTo(values[i] as number, 5));
}

describe('as Keras computes', () => {
  test.each(cases.map((c, i) => [`${i} ${c.layer} ${JSON.stringify(c.config)}`, c] as const))(
    '%s',
    (_, c) => {
      const layer = classes[c.layer].fromConfig(c.config);
      if (c.adapt !== undefined) layer.adapt(tensor(c.adapt));
      if (c.boundaries !== undefined)
        c.boundaries.forEach((b, i) => expect(layer.binBoundaries[i]).toBeCloseTo(b, 5));
      if (c.vocabulary !== undefined)
        expect(layer.getVocabulary().map((t) => (typeof t === 'bigint' ? Number(t) : t))).toEqual(
          c.vocabulary,
        );
      const inputs = c.inputs.map(tensor);
      const call = (...xs: Tensor[]): Tensor => layer((xs.length > 1 ? xs : xs[0]) as Tensor, { ...c.call });
      check(call(...inputs), c.output);
      // What the layer says of its output holds.
      const [first, ...others] = inputs.map((x) => ({ shape: x.shape, dtype: x.dtype }));
      const { list } = layer.computeOutputSpec({ list: [first, ...others], many: others.length > 0 });
      expect(list[0].dtype).toBe(c.output.dtype);
      list[0].shape.forEach((n, i) => expect(n ?? c.output.shape[i]).toBe(c.output.shape[i]));
      if (inputs.some((x) => x.dtype === 'string')) {
        // Strings are part of a trace.
        check(tfFunction(call)(...inputs), c.output);
        return;
      }
      const unknown = inputs.map((x) => new TensorSpec([null, ...x.shape.slice(1)], x.dtype));
      if (c.call === undefined) check(tfFunction({ inputSignature: unknown })(call)(...inputs), c.output);
    },
  );
});

const texts = constant([['the cat sat'], ['the dog'], ['a cat'], ['a dog ran']]);

test('texts go through a model, in fit, evaluate and predict', async () => {
  const vectorize = new layers.TextVectorization({ outputSequenceLength: 4 });
  vectorize.adapt(texts);
  const input = Input({ shape: [1], dtype: 'string' });
  const inner = new layers.Dense(1, { activation: 'sigmoid' });
  let y = vectorize(input) as unknown as never;
  y = new layers.Embedding(vectorize.vocabularySize(), 4)(y) as never;
  y = inner(new layers.GlobalAveragePooling1D()(y) as never) as never;
  const whole = new Model(input, y);
  whole.compile({ optimizer: 'adam', loss: 'binaryCrossentropy' });
  const labels = constant([[1], [0], [1], [0]]);
  const { history } = await whole.fit(texts, labels, { epochs: 5, verbose: 0, batchSize: 2 });
  expect((history['loss'] as number[]).at(-1)).toBeLessThan((history['loss'] as number[])[0]);
  const predicted = (await whole.predict(texts)) as Tensor;
  expect([...predicted.shape]).toEqual([4, 1]);
});

test('a lookup and its inverse', () => {
  const there = new layers.StringLookup({ vocabulary: ['a', 'b'], maskToken: '' });
  const back = new layers.StringLookup({
    vocabulary: there.getVocabulary() as string[],
    maskToken: '',
    invert: true,
  });
  const words = constant([
    ['a', 'b'],
    ['', 'c'],
  ]);
  expect(there(words).array()).toEqual([
    [2n, 3n],
    [0n, 1n],
  ]);
  expect(back(there(words)).array()).toEqual([
    ['a', 'b'],
    ['', '[UNK]'],
  ]);
});

test('mistakes say what to do', () => {
  const none = new layers.StringLookup({ vocabulary: ['a'], numOovIndices: 0 });
  expect(() => none(constant(['b']))).toThrow('"b" is not in the vocabulary; numOovIndices: 1');
  expect(() => new layers.StringLookup({ vocabulary: ['a', 'a'] })).toThrow('tokens twice: "a"');
  expect(() => new layers.StringLookup({ maxTokens: 2, vocabulary: ['a', 'b', 'c'] })).toThrow(
    'takes 2 tokens at most',
  );
  expect(() => new layers.StringLookup({ outputMode: 'multiHot' })(constant(['a']))).toThrow(
    'call adapt(data)',
  );
  expect(() => new layers.StringLookup({ outputMode: 'words' as never })).toThrow('needs outputMode to be');
  expect(() => new layers.StringLookup()(constant([1]))).toThrow('expects strings, got float32');
  expect(() => new layers.IntegerLookup({ vocabulary: ['a'] as never })).toThrow(
    'needs integers in its vocabulary',
  );
  expect(() => new layers.Discretization()).toThrow('binBoundaries, or numBins');
  expect(() => new layers.Discretization([2, 1])).toThrow('ascending numbers');
  expect(() => new layers.Discretization({ numBins: 3 })([1])).toThrow('needs adapt(data) before');
  expect(() => new layers.TextVectorization()(constant([1]))).toThrow('expects strings');
  expect(() => new layers.TextVectorization({ split: 'words' as never })).toThrow(
    '"whitespace", "character"',
  );
  expect(() => new layers.TextVectorization({ outputMode: 'count', outputSequenceLength: 3 })).toThrow(
    "'int' only",
  );
  expect(() => new layers.HashedCrossing(3)(constant(['a']))).toThrow('a list of at least two tensors');
  expect(() => new layers.Hashing(0)).toThrow('at least 1');
  expect(() => new layers.StringLookup().setVocabulary('/nowhere/words.txt')).toThrow(NotFoundError);
  expect(() => new layers.HashedCrossing(2).computeOutputShape(null as never)).toThrow(InvalidArgumentError);
  expect(() => new layers.MixUp().transformImages(ones([2, 2, 2, 3]), {})).toThrow(InvalidArgumentError);
  expect(() => new layers.Resizing(2, 2).transformImages(null as never, {})).toThrow(InvalidArgumentError);
  expect(() => new layers.CategoryEncoding(3)(constant(['a']))).toThrow('expects integers');
});

test('functions of the user make texts alike and split them', () => {
  const layer = new layers.TextVectorization({
    standardize: (text) => text.toUpperCase(),
    split: (text) => text.split('-'),
    vocabulary: ['A', 'B'],
  });
  expect(layer(constant(['a-b', 'b-c'])).array()).toEqual([
    [2n, 3n],
    [3n, 1n],
  ]);
});

test('adapt takes batches, and the first part of pairs', () => {
  const layer = new layers.TextVectorization();
  layer.adapt([
    [constant(['a b']), constant([1])],
    [constant(['b c']), constant([0])],
  ] as never);
  expect(layer.getVocabulary()).toEqual(['', '[UNK]', 'b', 'c', 'a']);
  expect(() => layer.adapt(3 as never)).toThrow();
});

describe('dtypes of outputs under policies, as in Keras 3.15.1', () => {
  const { AugMix, CategoryEncoding, HashedCrossing, Hashing, IntegerLookup, MixUp } = layers;
  const integers = constant([1n, 2n], 'int64');
  const pair = [integers, integers];
  const idf = { vocabulary: [1, 2, 3], idfWeights: [0.1, 0.2, 0.3], outputMode: 'tfIdf' } as const;
  const images = ones([2, 8, 8, 3]);
  const range = { valueRange: [0, 1] } as const;
  type Policy = NonNullable<layers.HashingOptions['dtype']>;
  // The dtype with no policy, then with each of these.
  const policies = ['float32', 'mixed_float16', 'mixed_bfloat16', 'float64'] as const;
  test.each<[string, (dtype?: Policy) => layers.Layer, unknown, (DType | 'refused')[]]>([
    [
      'HashedCrossing',
      (dtype) => new HashedCrossing(5, { dtype }),
      pair,
      ['int64', 'float32', 'float16', 'bfloat16', 'float64'],
    ],
    [
      'HashedCrossing, rows',
      (dtype) => new HashedCrossing(5, { outputMode: 'oneHot', dtype }),
      pair,
      ['float32', 'float32', 'float16', 'bfloat16', 'float64'],
    ],
    [
      'Hashing',
      (dtype) => new Hashing(5, { dtype }),
      integers,
      ['int64', 'refused', 'refused', 'refused', 'refused'],
    ],
    [
      'Hashing, rows',
      (dtype) => new Hashing(5, { outputMode: 'count', dtype }),
      integers,
      ['float32', 'float32', 'float32', 'float32', 'float64'],
    ],
    [
      'CategoryEncoding',
      (dtype) => new CategoryEncoding(3, { dtype: dtype as 'float32' }),
      integers,
      ['float32', 'float32', 'float32', 'float32', 'float64'],
    ],
    [
      'IntegerLookup, tfIdf',
      (dtype) => new IntegerLookup({ ...idf, dtype: dtype as 'float32' }),
      integers,
      ['float32', 'float32', 'float32', 'float32', 'float32'],
    ],
    [
      'AugMix',
      (dtype) => new AugMix({ ...range, dtype: dtype as 'float32' }),
      images,
      ['float32', 'float32', 'float16', 'bfloat16', 'float64'],
    ],
    [
      'MixUp',
      (dtype) => new MixUp({ dtype: dtype as 'float32' }),
      images,
      ['float32', 'float32', 'float16', 'bfloat16', 'float64'],
    ],
    [
      'RandomElasticTransform',
      (dtype) => new layers.RandomElasticTransform({ dtype: dtype as 'float32' }),
      images,
      ['float32', 'float32', 'float16', 'bfloat16', 'float64'],
    ],
  ])('%s', (_, make, x, expected) => {
    [undefined, ...policies].forEach((policy, i) => {
      const wanted = expected[i];
      if (wanted === 'refused') {
        expect(() => make(policy)).toThrow(/dtype must be int32 or int64/);
        return;
      }
      const layer = make(policy);
      expect(layer(x as Tensor).dtype).toBe(wanted);
      const spec = (t: Tensor): unknown => Input({ batchShape: t.shape, dtype: t.dtype });
      const symbolic = layer((Array.isArray(x) ? x.map(spec) : spec(x as Tensor)) as never);
      expect((symbolic as Tensor).dtype).toBe(wanted);
    });
  });
  test.each(['int32', 'int64'] as const)('bins as %s', (dtype) => {
    for (const layer of [new HashedCrossing(5, { dtype }), new Hashing(5, { dtype })]) {
      const given = layer instanceof Hashing ? integers : pair;
      expect(layer(given).dtype).toBe(dtype);
      const Class = layer.constructor as typeof Hashing;
      expect(Class.fromConfig(layer.getConfig())(given as Tensor).dtype).toBe(dtype);
    }
    expect(new Hashing(5, { dtype, outputMode: 'multiHot' })(integers).dtype).toBe(dtype);
  });
});
