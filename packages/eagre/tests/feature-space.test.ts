// FeatureSpace against Keras; tools/golden/feature_space.py makes the numbers.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { constant, data, layers, Model } = tf;
const { FailedPreconditionError, InvalidArgumentError } = tf.errors;
const { FeatureSpace } = tf.keras.utils;
type FeatureSpace = tf.keras.utils.FeatureSpace;
type Tensor = tf.Tensor;
type TensorLike = tf.TensorLike;

type Values = { readonly dtype: string; readonly values: unknown };
type Columns = Record<string, (number | string)[]>;
const golden = JSON.parse(
  readFileSync(new URL('../../layers/golden/feature-space.json', import.meta.url), 'utf8'),
);
const table = golden.data as Columns;
const given = golden.given as Columns;

const spaces: Record<string, () => FeatureSpace> = {
  names: () =>
    new FeatureSpace(
      {
        age: 'floatDiscretized',
        size: 'float_normalized',
        kind: 'integerCategorical',
        town: 'string_categorical',
        code: 'integerHashed',
      },
      { numDiscretizationBins: 4, hashingDim: 8 },
    ),
  crosses: () =>
    new FeatureSpace(
      { town: 'stringCategorical', kind: 'integerCategorical', age: 'float' },
      {
        crosses: [['town', 'kind'], FeatureSpace.cross(['kind', 'town'], 5)],
        crossingDim: 7,
      },
    ),
  dict: () =>
    new FeatureSpace({
      features: {
        town: FeatureSpace.stringCategorical({ outputMode: 'int', name: 'town' }),
        kind: FeatureSpace.integerCategorical({
          maxTokens: 4,
          numOovIndices: 2,
          outputMode: 'int',
          name: 'kind',
        }),
        size: FeatureSpace.floatRescaled({ scale: 0.5, offset: 1, name: 'size' }),
        age: FeatureSpace.floatDiscretized(3, { outputMode: 'int', name: 'age' }),
      },
      crosses: [FeatureSpace.cross({ featureNames: ['town', 'kind'], crossingDim: 11, outputMode: 'int' })],
      outputMode: 'dict',
    }),
  factories: () =>
    new FeatureSpace(
      {
        age: FeatureSpace.float({ name: 'age' }),
        town: FeatureSpace.stringHashed({ numBins: 6, name: 'town' }),
        code: FeatureSpace.integerHashed(4, { name: 'code' }),
        kind: FeatureSpace.integerCategorical({ maxTokens: 3, name: 'kind' }),
      },
      { name: 'factories' },
    ),
  own: () =>
    new FeatureSpace({
      town: FeatureSpace.feature({
        preprocessor: new layers.Hashing(3, { outputMode: 'oneHot', name: 'bins' }),
        dtype: 'string',
        outputMode: 'float',
      }),
      size: FeatureSpace.feature(
        'float32',
        new layers.Normalization({ axis: -1, mean: 1, variance: 4, name: 'n' }),
        'float',
      ),
    }),
};
const made = (name: string): FeatureSpace => (spaces[name] as () => FeatureSpace)();
const columns = (space: FeatureSpace, of: Columns = table): Columns =>
  Object.fromEntries(Object.keys(space.features).map((name) => [name, of[name] as number[]]));

function expectLike(got: unknown, expected: Values | Record<string, Values>): void {
  if ('values' in expected) {
    const t = got as Tensor;
    // Integers of Discretization are int32 in Keras's graphs.
    expect(t.dtype.replace('int32', 'int64')).toBe((expected.dtype as string).replace('int32', 'int64'));
    const numbers = (value: unknown): unknown =>
      Array.isArray(value) ? value.map(numbers) : Math.round(Number(value) * 1e4) / 1e4;
    expect(numbers(t.array())).toEqual(numbers(expected.values));
    return;
  }
  expect(Object.keys(got as object).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, value] of Object.entries(expected))
    expectLike((got as Record<string, unknown>)[name], value);
}

describe.each(Object.keys(spaces))('%s', (name) => {
  const wanted = golden.cases[name];

  test('rows and single ones are encoded as in Keras', () => {
    const space = made(name);
    space.adapt(columns(space));
    const rows = columns(space, given);
    expectLike(space(rows), wanted.rows);
    const one = Object.fromEntries(Object.entries(rows).map(([key, values]) => [key, values[0] as number]));
    expectLike(space(one), wanted.one);
  });

  test('a dataset of batches, which is adapted to as in Keras, and mapped', () => {
    const space = made(name);
    const dataset = data.Dataset.fromTensorSlices(columns(space) as never).batch(16);
    space.adapt(dataset as never);
    const rows = columns(space, given);
    expectLike(space(rows), wanted.batched);
    const mapped = data.Dataset.fromTensorSlices(rows as never)
      .batch(3)
      .map(((x: never) => space(x)) as never);
    for (const batch of mapped) expectLike(batch, wanted.batched);
  });

  test('symbolic tensors, and a model of them', async () => {
    const space = made(name);
    space.adapt(columns(space));
    const inputs = space.getInputs();
    expect(
      Object.fromEntries(Object.entries(inputs).map(([key, t]) => [key, [[...t.shape], t.dtype]])),
    ).toEqual(wanted.inputs);
    const encoded = space.getEncodedFeatures();
    const shapes =
      'shape' in encoded
        ? [...(encoded as unknown as Tensor).shape]
        : Object.fromEntries(Object.entries(encoded).map(([key, t]) => [key, [...t.shape]]));
    expect(shapes).toEqual(wanted.encoded);
    const model = new Model(inputs as never, encoded as never);
    const rows = Object.fromEntries(
      Object.entries(columns(space, given)).map(([key, values]) => [
        key,
        constant(values as never, space.features[key]?.dtype as 'float32').reshape([-1, 1]),
      ]),
    );
    expectLike(model(rows as never), wanted.rows);
  });

  test('its configuration is that of Keras, and makes an equal one', () => {
    const config = golden.configs[name];
    if (config === undefined) return;
    const space = made(name);
    const written = JSON.parse(JSON.stringify(space.getConfig()));
    // Some layers of Keras write their dtype as a name, and leave out `trainable`.
    const plain = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(plain);
      const { trainable: _, dtype, ...rest } = value as Record<string, unknown>;
      const name = (dtype as { config?: { name?: string } } | undefined)?.config?.name ?? dtype;
      return { ...Object.fromEntries(Object.entries(rest).map(([key, v]) => [key, plain(v)])), dtype: name };
    };
    expect(plain(written)).toEqual(plain(config));
    for (const of of [written, config]) {
      const again = FeatureSpace.fromConfig(of);
      again.adapt(columns(again));
      expectLike(again(columns(again, given)), wanted.rows);
    }
    expect(layers.deserialize(JSON.parse(JSON.stringify(layers.serialize(space))))).toBeInstanceOf(
      FeatureSpace,
    );
  });
});

test('the layers behind features and crosses', () => {
  const space = made('crosses');
  expect(Object.keys(space.preprocessors)).toEqual(['town', 'kind', 'age']);
  expect(Object.keys(space.crossers)).toEqual(['town_X_kind', 'kind_X_town']);
  space.adapt(columns(space));
  expect((space.preprocessors['town'] as tf.layers.StringLookup).getVocabulary()[0]).toBe('[UNK]');
  expect(Object.keys(space.oneHotEncoders).sort()).toEqual(['kind', 'kind_X_town', 'town', 'town_X_kind']);
});

test('layers that know everything need no data', () => {
  const space = new FeatureSpace({
    a: FeatureSpace.floatDiscretized(3, { binBoundaries: [0, 1] }),
    b: FeatureSpace.feature('string', new layers.StringLookup({ vocabulary: ['x', 'y'] }), 'oneHot'),
  });
  expect((space({ a: [0.5, 2], b: ['y', 'z'] }) as Tensor).array()).toEqual([
    [0, 1, 0, 0, 0, 1],
    [0, 0, 1, 1, 0, 0],
  ]);
});

test('rows that can be gone through once', () => {
  const space = made('crosses');
  const rows = function* (): Generator<Record<string, TensorLike>> {
    for (let i = 0; i < 40; i++)
      yield Object.fromEntries(
        Object.entries(columns(space)).map(([key, values]) => [key, values[i] as number]),
      );
  };
  space.adapt(rows());
  expectLike(space(columns(space, given)), golden.cases['crosses'].rows);
});

test('a space is kept in a file, which needs no adapt, as in Keras', async () => {
  const space = new FeatureSpace(
    { age: 'floatNormalized', town: 'stringCategorical', rooms: 'integerCategorical' },
    { crosses: [['town', 'rooms']], crossingDim: 4 },
  );
  space.adapt({ age: [31, 56, 40], town: ['rome', 'oslo', 'rome'], rooms: [2, 3, 2] });
  const row = { age: 40, town: 'oslo', rooms: 3 };
  const before = space(row).array();
  const folder = mkdtempSync(join(tmpdir(), 'eagre-space-'));
  try {
    const path = join(folder, 'space.keras');
    await space.save(path);
    const again = await FeatureSpace.load(path);
    expect(again(row).array()).toEqual(before);
    const loaded: unknown = await tf.keras.saving.loadModel(path);
    expect(loaded).toBeInstanceOf(FeatureSpace);
    expect((await FeatureSpace.load(readFileSync(path)))(row).array()).toEqual(before);
    await expect(space.save(path, { overwrite: false })).rejects.toThrow(InvalidArgumentError);
    await expect(space.save(join(folder, 'space.h5'))).rejects.toThrow(/\.keras files alone/);
    const model = join(folder, 'model.keras');
    await new tf.Sequential([tf.Input([1]), new layers.Dense(1)]).save(model);
    await expect(FeatureSpace.load(model)).rejects.toThrow(InvalidArgumentError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('wrong arguments say what is wrong', () => {
  test('of the constructor', () => {
    expect(() => new FeatureSpace({})).toThrow(/features must be kinds of features by name/);
    expect(() => new FeatureSpace({ a: 'number' })).toThrow(/the feature 'a' is 'number', expected one of/);
    expect(() => new FeatureSpace({ a: 'float' }, { outputMode: 'list' as 'dict' })).toThrow(
      /outputMode must be 'concat' or 'dict', got 'list'/,
    );
    expect(() => new FeatureSpace({ a: 'float' }, { crosses: [['a', 'b']] })).toThrow(
      /crosses names 'b', but the features are 'a'/,
    );
    expect(() => FeatureSpace.cross(['a'], 3)).toThrow(/two or more names/);
    expect(() => FeatureSpace.cross(['a', 'b'], 3, { outputMode: 'float' as 'int' })).toThrow(
      /outputMode must be one of 'int', 'oneHot'/,
    );
    expect(() => FeatureSpace.feature('string', 3 as never, 'int')).toThrow(
      /preprocessor must be a layer, got 3/,
    );
    expect(() => new FeatureSpace({ a: 'float' }, { bogus: 1 } as never)).toThrow(InvalidArgumentError);
    expect(() => new FeatureSpace({ a: {} } as never)).toThrow(/the feature 'a' is an object, expected/);
    expect(() => new FeatureSpace({ a: 'float' }, { crosses: [{}] } as never)).toThrow(InvalidArgumentError);
  });

  test('of adapt and of calls', () => {
    const space = new FeatureSpace({ a: 'floatNormalized', b: 'stringCategorical' });
    expect(() => space({ a: 1, b: 'x' })).toThrow(FailedPreconditionError);
    expect(() => space.getInputs()).toThrow(/call adapt\(dataset\) first: 'a', 'b' must see data/);
    expect(() => space.adapt({ a: [1] })).toThrow(/the data has no feature 'b', but a/);
    expect(() => space.adapt(3 as never)).toThrow(/expected columns by name, or a dataset of them, got 3/);
    expect(() => space.adapt([[1, 2]] as never)).toThrow(/take labels away first/);
    expect(() => space.adapt({ a: ['x'], b: ['x'] })).toThrow(/the feature 'a'/);
    space.adapt({ a: [1, 2], b: ['x', 'y'] });
    expect(() => space([1] as never)).toThrow(/takes features by name/);
    expect(() => space({ a: 1 })).toThrow(/the feature 'b' is missing/);
    expect(() => space({ a: 1, b: 'x', c: 2 })).toThrow(/there is no feature 'c'; the features are 'a', 'b'/);
    const ints = new FeatureSpace({ a: FeatureSpace.integerCategorical({ outputMode: 'int' }) });
    expect(() => ints.adapt({ a: [1, 2] })).toThrow(/cannot be put beside floats; use outputMode: 'dict'/);
    const floats = new FeatureSpace({
      a: FeatureSpace.feature('float32', new layers.Rescaling(2), 'oneHot'),
    });
    expect(() => floats({ a: 1 })).toThrow(/is float32, but outputMode 'oneHot' needs integers/);
  });
});
