// Layers and models on sparse and ragged tensors, held against Keras on TensorFlow.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

interface Written {
  readonly kind: 'dense' | 'sparse' | 'ragged';
  readonly dtype: string;
  readonly values: (number | string)[];
  readonly indices?: number[][];
  readonly shape?: number[];
  readonly splits?: number[][];
  readonly inner?: number[];
}
interface ModelCase {
  readonly name: string;
  readonly config: Record<string, unknown>;
  readonly x: string | number[][];
  readonly before: number[];
  readonly history: number[];
  readonly loss: number;
  readonly after: number[];
  readonly kinds?: readonly (readonly [sparse: boolean, ragged: boolean, shape: (number | null)[]])[];
}
const golden = JSON.parse(readFileSync(new URL('../golden/sparse-layers.json', import.meta.url), 'utf8')) as {
  readonly table: number[][];
  readonly inputs: Record<string, Written>;
  readonly layers: readonly {
    readonly layer: string;
    readonly inputs: readonly string[];
    readonly options: Record<string, unknown>;
    readonly config: Record<string, unknown>;
    readonly y: Written;
  }[];
  readonly weighted: Written;
  readonly models: readonly ModelCase[];
};

type Any = tf.Tensor | tf.SparseTensor | tf.RaggedTensor;

/** A tensor as the file has it. */
function read({ kind, dtype, values, indices, shape, splits, inner }: Written): Any {
  const list = dtype === 'int64' ? values.map(BigInt) : values;
  const at = (sizes: readonly number[]): tf.Tensor =>
    tf.constant(list as never, dtype as tf.DType, { shape: [...sizes] });
  if (kind === 'sparse') return new tf.SparseTensor(indices!, at([values.length]), shape!);
  if (kind === 'dense') return at(shape!);
  return tf.RaggedTensor.fromNestedRowSplits(
    at([splits!.at(-1)!.at(-1)!, ...inner!]),
    splits!.map((s) => tf.constant(s.map(BigInt), 'int64')),
  );
}

function same(y: unknown, { kind, dtype, values, indices, shape, splits }: Written): void {
  const got = y as Any;
  expect(got.dtype).toBe(dtype);
  const flat =
    got instanceof tf.SparseTensor ? got.values : got instanceof tf.RaggedTensor ? got.flatValues : got;
  if (kind === 'sparse') {
    expect(got).toBeInstanceOf(tf.SparseTensor);
    const st = got as tf.SparseTensor;
    expect(Array.from(st.denseShape.data() as BigInt64Array, Number)).toEqual(shape);
    expect(Array.from(st.indices.data() as BigInt64Array, Number)).toEqual(indices!.flat());
  } else if (kind === 'ragged') {
    expect(got).toBeInstanceOf(tf.RaggedTensor);
    const rt = got as tf.RaggedTensor;
    expect(rt.nestedRowSplits.map((s) => Array.from(s.data() as BigInt64Array, Number))).toEqual(splits);
  } else {
    expect(got).toBeInstanceOf(tf.Tensor);
    expect(got.shape).toEqual(shape);
  }
  const numbers = Array.from(flat.data() as Float32Array, Number);
  expect(numbers.length).toBe(values.length);
  for (const [i, v] of values.entries()) expect(numbers[i]).toBeCloseTo(v as number, 5);
}

/** A layer of Keras's options. */
function made(name: string, options: Record<string, unknown>): tf.layers.Layer {
  const Class = (tf.layers as unknown as Record<string, { fromConfig(config: object): tf.layers.Layer }>)[
    name
  ]!;
  const layer = Class.fromConfig(options);
  if (name === 'Embedding') {
    layer.build([null, null]);
    layer.setWeights([tf.constant(golden.table)]);
  }
  return layer;
}

const inputs = Object.fromEntries(Object.entries(golden.inputs).map(([name, w]) => [name, read(w)]));
const given = (names: readonly string[]): unknown => {
  const list = names.map((name) => inputs[name]!);
  return list.length === 1 ? list[0] : list;
};

describe('layers', () => {
  test.each(golden.layers.map((c) => [c.layer, JSON.stringify(c.options), c.inputs.join(), c] as const))(
    '%s %s of %s',
    (name, _, __, { options, inputs: names, y }) => {
      same(made(name, options)(given(names) as never), y);
    },
  );
  test.each(
    golden.layers
      .filter((c) => c.inputs[0]!.match(/^(sparse|ragged)/))
      .map((c) => [c.layer, c.inputs.join(), c] as const),
  )('the output of %s of %s is known before it is called', (name, _, { options, inputs: names, y }) => {
    const symbols = names.map((key) => {
      const x = inputs[key]!;
      const shape = x.shape.slice(1);
      const kind = { sparse: x instanceof tf.SparseTensor, ragged: x instanceof tf.RaggedTensor };
      return tf.Input({ shape, dtype: x.dtype, ...kind });
    });
    const out = made(
      name,
      options,
    )((symbols.length === 1 ? symbols[0] : symbols) as never) as unknown as tf.keras.KerasTensor;
    expect([out.sparse, out.ragged]).toEqual([y.kind === 'sparse', y.kind === 'ragged']);
    expect(out.dtype).toBe(y.dtype);
  });
  test.each(['Dense', 'Embedding', 'Add', 'Concatenate', 'CategoryEncoding', 'Discretization'])(
    '%s in a traced function',
    (name) => {
      for (const { options, inputs: names, y } of golden.layers.filter((c) => c.layer === name)) {
        const layer = made(name, options);
        // Makes the weights: a trace does not know the sizes of sparse tensors.
        layer(given(names) as never);
        const call = tf.function((x: tf.Tensor) => layer(x)) as (x: unknown) => unknown;
        same(call(given(names)), y);
        same(call(given(names)), y);
      }
    },
  );
  test('weights of counts', () => {
    const layer = new tf.layers.CategoryEncoding(4, { outputMode: 'count', sparse: true });
    same(layer(inputs['ids'] as tf.Tensor, { countWeights: inputs['weights'] }), golden.weighted);
  });
  test('configurations are those of Keras', () => {
    for (const { layer: name, options, config } of golden.layers) {
      if (name === 'Embedding' || name === 'Dense') continue;
      const own = made(name, options).getConfig();
      for (const key of ['sparse', 'ragged', 'output_mode'])
        if (key in config) expect([name, key, own[key]]).toEqual([name, key, config[key]]);
    }
  });
  test('what is not known of a tensor is refused', () => {
    const sparse = inputs['sparse'] as tf.SparseTensor;
    const call = (layer: tf.layers.Layer, x: unknown) => () => layer(x as never);
    expect(call(new tf.layers.LSTM(2), inputs['ragged'])).toThrow(tf.errors.InvalidArgumentError);
    expect(call(new tf.layers.LayerNormalization(), sparse)).toThrow('takes no sparse tensors');
    expect(call(new tf.layers.Flatten(), inputs['ragged'])).toThrow('takes no ragged tensors');
    expect(() => new tf.layers.Hashing(4, { sparse: true })).toThrow('sparse');
    expect(() => new tf.layers.StringLookup({ sparse: true })).toThrow('sparse');
    expect(() => new tf.layers.TextVectorization({ ragged: true, outputMode: 'count' })).toThrow('ragged');
    expect(() => tf.Input({ shape: [1], sparse: true, ragged: true })).toThrow('not both');
    expect(
      call(new tf.layers.CategoryEncoding(4, { outputMode: 'oneHot', sparse: true }), inputs['raggedIds']),
    ).toThrow(tf.errors.InvalidArgumentError);
  });
  describe('adapt of lookups', () => {
    const texts = tf.ragged.constant([['a', 'b'], ['a'], [], ['a', 'c', 'c']], 'string');
    const sparse = new tf.SparseTensor(
      [
        [0, 0],
        [0, 2],
        [1, 1],
        [3, 0],
        [3, 1],
        [3, 2],
      ],
      tf.constant(['a', 'b', 'a', 'a', 'c', 'c']),
      [4, 3],
    );
    // Of TensorFlow's StringLookup: 4 rows, of which 3, 1 and 1 have 'a', 'c' and 'b'; unknown tokens weigh as much as the mean.
    const idf = [(Math.log(2) + 2 * Math.log(3)) / 3, Math.log(2), Math.log(3), Math.log(3)];
    const weights = (layer: tf.layers.StringLookup): number[] => {
      expect(layer.getVocabulary()).toEqual(['[UNK]', 'a', 'c', 'b']);
      const rows = layer(tf.constant([['d'], ['a'], ['c'], ['b']])) as tf.Tensor;
      return rows.max(0).array() as number[];
    };
    const labels = tf.constant([1, 2, 3, 4]);
    test.each<[string, unknown]>([
      ['a ragged tensor', texts],
      ['a sparse tensor', sparse],
      ['ragged batches', new Set([texts])],
      ['ragged batches with labels', new Set([[texts, labels]])],
      ['a list of sparse batches with labels', [[sparse, labels]]],
    ])('counts each row of %s as one example', (_, data) => {
      const layer = new tf.layers.StringLookup({ outputMode: 'tfIdf' });
      layer.adapt(data as never);
      weights(layer).forEach((weight, i) => {
        expect(weight).toBeCloseTo(idf[i], 4);
      });
    });
    test('takes tokens of several ragged axes', () => {
      const strings = new tf.layers.StringLookup();
      strings.adapt(tf.ragged.constant([[['a', 'b'], ['a']], [], [['c'], ['c', 'a']]], 'string'));
      expect(strings.getVocabulary()).toEqual(['[UNK]', 'a', 'c', 'b']);
      const integers = new tf.layers.IntegerLookup();
      integers.adapt(tf.ragged.constant([[[3, 4], [3]], [[3, 5, 5]]], 'int32'));
      expect(integers.getVocabulary()).toEqual([-1n, 3n, 5n, 4n]);
    });
  });
  test('Dense of ragged rows works on each row', () => {
    const y = new tf.layers.Dense(1, { kernelInitializer: 'ones' })(
      inputs['ragged'] as never,
    ) as unknown as tf.RaggedTensor;
    expect(y.toTensor().squeeze(-1).array()).toEqual([
      [1, 5, 0],
      [9, 0, 0],
      [13, 17, 21],
    ]);
  });
  test('a layer of the user gets them as they are', () => {
    class Longest extends tf.layers.Layer {
      override call(x: tf.RaggedTensor): tf.Tensor {
        return tf.reduceMax(x as never, 1) as tf.Tensor;
      }
    }
    expect(new Longest()(inputs['ragged'] as never).array()).toEqual([
      [2, 3],
      [4, 5],
      [10, 11],
    ]);
  });
  test('convertToTensor makes them dense', () => {
    const { convertToTensor } = tf.keras.ops;
    const [sparse, ragged] = [inputs['sparse'] as tf.SparseTensor, inputs['raggedIds'] as tf.RaggedTensor];
    expect(convertToTensor(sparse)).toBe(sparse);
    expect(convertToTensor(sparse, { sparse: false }).array()).toEqual(sparse.array());
    expect(convertToTensor(ragged, 'float32', { ragged: false }).array()).toEqual([
      [1, 2, 0],
      [0, 0, 0],
      [3, 0, 3],
    ]);
    expect(convertToTensor([1], { sparse: true })).toBeInstanceOf(tf.Tensor);
    expect(() => convertToTensor(sparse, { sparse: 1 as never })).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('models', () => {
  const y = tf.constant([[1], [2], [3]]);
  const close = (got: ArrayLike<number>, expected: readonly number[]): void => {
    expect(got.length).toBe(expected.length);
    for (const [i, v] of expected.entries())
      expect(Math.abs(got[i]! - v)).toBeLessThan(1e-4 * Math.max(1, Math.abs(v)));
  };
  describe.each(golden.models)('$name', (c) => {
    const data = (): never => (typeof c.x === 'string' ? inputs[c.x]! : tf.constant(c.x, 'int32')) as never;
    test.each([false, true])('trains as in Keras, runEagerly %s', async (runEagerly) => {
      const model = tf.Model.fromConfig(c.config) as tf.Model;
      model.compile({ optimizer: 'sgd', loss: 'mse', runEagerly });
      const values = async () =>
        ((await model.predict(data(), { batchSize: 2 })) as tf.Tensor).data() as Float32Array;
      close(await values(), c.before);
      const { history } = await model.fit(data(), y, { batchSize: 2, shuffle: false, epochs: 3 });
      close(history['loss']!, c.history);
      close([(await model.evaluate(data(), y)).loss], [c.loss]);
      close(await values(), c.after);
    });
    test('has the configuration of Keras', () => {
      const model = tf.Model.fromConfig(c.config) as tf.Model;
      const layers = (config: unknown) =>
        (config as { layers: { class_name: string; config: Record<string, unknown> }[] }).layers.map(
          ({ class_name: name, config }) => [name, config['sparse'], config['ragged'], config['batch_shape']],
        );
      expect(layers(model.getConfig()).filter(([name]) => name === 'InputLayer')).toEqual(
        layers(c.config).filter(([name]) => name === 'InputLayer'),
      );
    });
  });
  test('shuffled rows, datasets of batches, and validation', async () => {
    const a = tf.Input([4], { sparse: true });
    const model = new tf.Model(a, new tf.layers.Dense(1)(a));
    model.compile({ optimizer: 'adam', loss: 'mse' });
    const x = inputs['sparse'] as tf.SparseTensor;
    const { history } = await model.fit(x as never, y, {
      epochs: 4,
      batchSize: 2,
      validationData: [x as never, y],
    });
    expect(history['val_loss']!.every(Number.isFinite)).toBe(true);
    const batches = new Set([[tf.sparse.slice(x, [0, 0], [2, 4]), tf.constant([[1], [2]])]]);
    await model.fit(batches as never, { epochs: 2 });
    const b = tf.Input([null], { dtype: 'int32', ragged: true });
    const rows = new tf.Model(b, new tf.layers.Embedding(5, 2)(b));
    const out = (await rows.predict(inputs['raggedIds'] as never, {
      batchSize: 2,
    })) as unknown as tf.RaggedTensor;
    expect(out).toBeInstanceOf(tf.RaggedTensor);
    expect(out.shape).toEqual([3, null, 2]);
  });
  test('ops on symbolic ragged tensors, and dense inputs of a sparse model', async () => {
    const b = tf.Input([null], { dtype: 'int32', ragged: true });
    const e = new tf.layers.Embedding(5, 2, { embeddingsInitializer: 'ones' })(b);
    expect([e.ragged, e.shape]).toEqual([true, [null, null, 2]]);
    const s = e.sum(1);
    expect([s.ragged, s.shape]).toEqual([false, [null, 2]]);
    const model = new tf.Model(b, s);
    expect(model(inputs['raggedIds'] as never).array()).toEqual([
      [2, 2],
      [0, 0],
      [3, 3],
    ]);
    expect(model(tf.constant([[1, 2]], 'int32')).array()).toEqual([[2, 2]]);
    const sequential = new tf.Sequential([
      new tf.layers.InputLayer({ shape: [4], sparse: true }),
      new tf.layers.Dense(1, { kernelInitializer: 'ones' }),
    ]);
    expect(sequential.built).toBe(true);
    expect(sequential(inputs['sparse'] as never).array()).toEqual([[3], [0], [7]]);
    expect(sequential(tf.ones([1, 4])).array()).toEqual([[4]]);
    expect(tf.Sequential.fromConfig(sequential.getConfig())(inputs['sparse'] as never).shape).toEqual([3, 1]);
  });
  test('a sparse tensor for a dense input becomes dense', () => {
    const a = tf.Input([4]);
    const model = new tf.Model(a, new tf.layers.LayerNormalization()(a));
    expect(model(inputs['sparse'] as never).shape).toEqual([3, 4]);
  });
});

describe('Input', () => {
  test('of a tensor that there is', () => {
    const a = tf.Input([3], { name: 'a' });
    expect(tf.Input({ tensor: a })).toBe(a);
    const h = new tf.layers.Dense(2)(a);
    const inner = tf.Input({ tensor: h, shape: [2] });
    expect(new tf.Model(inner, new tf.layers.Dense(1)(inner))(tf.ones([1, 2])).shape).toEqual([1, 1]);
    expect(() => tf.Input({ tensor: a, shape: [4] })).toThrow('shape is not that of the tensor');
    expect(() => tf.Input({ tensor: a, dtype: 'int32' })).toThrow('dtype');
    expect(() => tf.Input({ tensor: a, sparse: true })).toThrow('sparse');
    expect(() => tf.Input({ tensor: 1 as never })).toThrow('symbolic');
    expect(new tf.layers.InputLayer({ inputTensor: a }).shape).toEqual([3]);
  });
  test('that is optional', () => {
    class Sum extends tf.layers.Layer {
      override call(x: tf.Tensor, y: tf.Tensor | null): tf.Tensor {
        return y === null ? x : x.add(y);
      }
    }
    const [a, b] = [tf.Input([2]), tf.Input([2], { optional: true })];
    const model = new tf.Model([a, b], new Sum()(a, b));
    const x = tf.constant([[1, 2]]);
    expect(model([x, x]).array()).toEqual([[2, 4]]);
    expect((model as unknown as (x: unknown) => tf.Tensor)([x, null]).array()).toEqual([[1, 2]]);
    expect(() => (model as unknown as (x: unknown) => tf.Tensor)([null, x])).toThrow('not optional');
    expect(tf.Model.fromConfig).toBeDefined();
  });
});
