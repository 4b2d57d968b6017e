// Label sequences, eigenvalues, images, policies and structures against real Keras; tools/golden/keras_rest.py makes the numbers.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

type Json = Record<string, unknown>;
const golden = JSON.parse(readFileSync(new URL('../golden/keras-rest.json', import.meta.url), 'utf8'));

const camel = (options: Json): Json =>
  Object.fromEntries(
    Object.entries(options).map(([key, v]) => [key.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()), v]),
  );
const flat = (values: unknown): number[] => ([values] as unknown[]).flat(9) as number[];
function expectClose(y: tf.Tensor, expected: unknown, tolerance = 1e-5): void {
  const want = flat(expected);
  const scale = Math.max(1, ...want.map(Math.abs));
  const got = Array.from(y.cast('float64').data() as Float64Array);
  expect(got).toHaveLength(want.length);
  got.forEach((value, i) => {
    expect(Math.abs(value - (want[i] as number))).toBeLessThanOrEqual(tolerance * scale);
  });
}
const traced = <A extends unknown[], R>(fn: (...args: A) => R): ((...args: A) => R) =>
  tf.function(fn as never) as never;

describe('label sequences', () => {
  const { frames, lengths, decoded, long, tensorflow } = golden.ctc;

  test.each(decoded as [Json, unknown, unknown][])('ctcDecode with %j', (options, labels, scores) => {
    const run = (x: tf.Tensor, n: tf.Tensor): [tf.Tensor, tf.Tensor] =>
      tf.keras.ops.ctcDecode(x, n, camel(options));
    const args = [tf.constant(frames), tf.constant(lengths, 'int32')] as const;
    for (const fn of [run, traced(run)]) {
      const [y, s] = fn(...args);
      expect(y.dtype).toBe('int32');
      expect(y.array()).toEqual(labels);
      expectClose(s, scores);
    }
  });

  test('long ones, of which most prefixes are given up', () => {
    const [x, n, labels, scores] = long;
    const [y, s] = tf.keras.ops.ctcDecode(x, n, { strategy: 'beam_search', beamWidth: 4, topPaths: 4 });
    expect(y.array()).toEqual(labels);
    expectClose(s, scores);
    const [again] = tf.keras.ops.ctcDecode(x, n, { strategy: 'beamSearch', beamWidth: 4, topPaths: 4 });
    expect(again.array()).toEqual(labels);
  });

  test.each(tensorflow as [string, Json, unknown, unknown][])(
    'tf.nn: %s with %j',
    (name, options, labels, scores) => {
      const fn = name === 'ctc_greedy_decoder' ? tf.nn.ctcGreedyDecoder : tf.nn.ctcBeamSearchDecoder;
      const x = tf.transpose(tf.constant(frames), [1, 0, 2]);
      const [y, s] = fn(x, tf.constant(lengths, 'int32'), camel(options) as never);
      // The file has them in rows as wide as the frames are many.
      const rows = y.map((t) => tf.sparse.toDense(new tf.SparseTensor(t.indices, t.values, [3, 8]), -1n));
      expect(rows.map((t) => (t.array() as bigint[][]).map((row) => row.map(Number)))).toEqual(labels);
      expectClose(s, scores);
    },
  );

  test('frames of unknown number, in a traced function', () => {
    const fn = tf.function({
      inputSignature: [new tf.TensorSpec([null, null, 5]), new tf.TensorSpec([null], 'int32')],
    })((x: tf.Tensor, n: tf.Tensor) => tf.keras.ops.ctcDecode(x, n)[0]);
    for (const time of [3, 8])
      expect(fn(tf.constant(frames).at(':', `:${time}`), tf.constant([3, 2, 1], 'int32')).shape).toEqual([
        1,
        3,
        time,
      ]);
  });

  test('wrong arguments', () => {
    const x = tf.zeros([2, 3, 4]);
    const decode = tf.keras.ops.ctcDecode;
    expect(() => decode(x, [3, 4])).toThrow('sequenceLength[1] is 4, expected 0 … 3');
    expect(() => decode(x, [3])).toThrow('sequenceLength must be [2], got [1]');
    expect(() => decode(x, [3, 3], { strategy: 'best' as 'greedy' })).toThrow(
      /expected 'greedy' or 'beamSearch'/,
    );
    expect(() => decode(x, [3, 3], { maskIndex: 4 })).toThrow('is not one of 4 classes');
    expect(() => decode(x, [3, 3], { strategy: 'beam_search', maskIndex: -5 })).toThrow(
      'is not one of 4 classes',
    );
    expect(() => decode(x, [3, 3], { strategy: 'beam_search', beamWidth: 2, topPaths: 3 })).toThrow(
      'topPaths 3 is more than beamWidth 2',
    );
    expect(() => decode(x, [0, 0], { strategy: 'beam_search', topPaths: 2 })).toThrow('has 1 readings only');
  });
});

type Parts = number[] | number[][] | { re: unknown; im: unknown };
const complexOf = (value: Parts): tf.Tensor =>
  're' in value
    ? tf.complex(tf.constant(value.re as number[], 'float64'), tf.constant(value.im as number[], 'float64'))
    : tf.constant(value as number[], 'float64');

describe('eigenvalues', () => {
  const cases = Object.entries(golden.eigen) as [string, Record<string, Parts>][];

  test.each(cases)('of %s', (_, { x, e }) => {
    const given = complexOf(x as Parts);
    const scale = Math.max(1, given.abs().max().item());
    for (const fn of [tf.linalg.eig, traced((m: tf.Tensor) => tf.linalg.eig(m))]) {
      const [values, vectors] = fn(given);
      expect(values.dtype).toBe('complex128');
      const product = tf.matmul(given.cast('complex128'), vectors);
      expect(
        product
          .sub(vectors.mul(values.expandDims(-2)))
          .abs()
          .max()
          .item<number>() / scale,
      ).toBeLessThan(1e-12);
      expectClose(vectors.abs().square().sum(-2), tf.ones(values.shape).array(), 1e-12);
      // The same values, in whatever order.
      const sorted = (t: tf.Tensor): [number, number][] =>
        Array.from({ length: t.size }, (_, i): [number, number] => [
          (t.real().data()[i] as number) / scale,
          (t.imag().data()[i] as number) / scale,
        ]).sort(([a, b], [c, d]) => Math.round((a - c) * 1e7) || b - d);
      const [got, want] = [sorted(values), sorted(complexOf(e as Parts).cast('complex128'))];
      got.flat().forEach((value, i) => expect(value).toBeCloseTo(want.flat()[i] as number, 7));
    }
    expect(tf.linalg.eigvals(given).sub(tf.keras.ops.eig(given)[0]).abs().max().item()).toBe(0);
  });

  test.each(cases)('gradients for %s', (_, { x, w, of_values, of_vectors }) => {
    const given = complexOf(x as Parts);
    const share = tf.constant(w as number[], 'float64');
    const losses: [(m: tf.Tensor) => tf.Tensor, Parts][] = [
      [
        (m) => {
          const [e] = tf.linalg.eig(m);
          return e.abs().square().sum().add(e.mul(e).mul(e).real().sum());
        },
        of_values as Parts,
      ],
      [
        (m) => {
          const [e, v] = tf.linalg.eig(m);
          return v.abs().square().square().mul(share).sum().add(e.real().sum());
        },
        of_vectors as Parts,
      ],
    ];
    for (const [loss, expected] of losses) {
      const gradient = (m: tf.Tensor): tf.Tensor => {
        const tape = new tf.GradientTape();
        tape.watch(m);
        const value = tape.record(() => loss(m));
        return tape.gradient(value, m) as tf.Tensor;
      };
      const want = complexOf(expected);
      const size = want.abs().max().item<number>();
      for (const fn of [gradient, traced(gradient)])
        expect(fn(given).sub(want).abs().max().item<number>() / Math.max(1, size)).toBeLessThan(1e-7);
    }
  });

  test('what is no square matrix, and what has no finite elements', () => {
    expect(() => tf.linalg.eig(tf.zeros([2, 3]))).toThrow(/expected square matrices/);
    expect(() => tf.linalg.eig([1, 2])).toThrow(/expected square matrices/);
    expect(() => tf.keras.ops.eig(tf.zeros([2, 3]))).toThrow(tf.errors.InvalidArgumentError);
    const [e, v] = tf.linalg.eig([
      [1, Number.NaN],
      [0, 1],
    ]);
    expect([...e.data(), ...v.data()].every(Number.isNaN)).toBe(true);
    expect(tf.linalg.eig(tf.zeros([2, 0, 0])).map(({ shape }) => shape)).toEqual([
      [2, 0],
      [2, 0, 0],
    ]);
  });
});

describe('images', () => {
  test.each(golden.smart_resize as [number[], [number, number], Json, unknown][])(
    'smartResize, %#',
    (x, size, options, expected) => {
      const y = tf.keras.preprocessing.image.smartResize(x, size, camel(options));
      expectClose(y, expected, 1e-5);
    },
  );

  type Boxes = [number[], 'uint8' | 'float32', number[], number[], 'xyxy', Json, unknown];
  test.each(golden.boxes as Boxes[])(
    'drawBoundingBoxes, %#',
    (images, dtype, boxes, labels, format, options, y) => {
      const { drawBoundingBoxes } = tf.keras.visualization;
      const drawn = drawBoundingBoxes(tf.constant(images, dtype), { boxes, labels }, format, camel(options));
      expect(drawn.dtype).toBe('uint8');
      expect(drawn.array()).toEqual(y);
      const first = drawBoundingBoxes(
        tf.transpose(tf.constant(images, dtype), [0, 3, 1, 2]),
        { boxes, labels },
        format,
        {
          ...camel(options),
          dataFormat: 'channels_first',
        },
      );
      expect(tf.transpose(first, [0, 2, 3, 1]).array()).toEqual(y);
    },
  );

  test('texts beside boxes stay in the image', () => {
    const draw = (x1: number, y1: number, more = {}): number =>
      tf.keras.visualization
        .drawBoundingBoxes(
          tf.zeros([1, 40, 60, 3]),
          { boxes: [[[x1, y1, 50, 38]]], labels: [[2]], ...more },
          'xyxy',
          { classMapping: { 2: 'Cat_7?' }, color: [1, 1, 1], fontScale: 0.25 },
        )
        .cast('int32')
        .sum()
        .item();
    const plain = tf.keras.visualization
      .drawBoundingBoxes(tf.zeros([1, 40, 60, 3]), { boxes: [[[5, 30, 50, 38]]], labels: [[2]] }, 'xyxy', {
        color: [1, 1, 1],
      })
      .cast('int32')
      .sum()
      .item<number>();
    expect(draw(5, 30)).toBeGreaterThan(plain);
    expect(draw(5, 30, { confidences: [[0.5]] })).toBeGreaterThan(draw(5, 30));
    expect(draw(-1e6, -1e6)).toBeGreaterThan(0);
  });

  test.each(golden.masks as [number[], number[], Json, unknown][])(
    'drawSegmentationMasks, %#',
    (x, mask, options, expected) => {
      const y = tf.keras.visualization.drawSegmentationMasks(x, tf.constant(mask, 'int32'), camel(options));
      expect(y.dtype).toBe(options['blend'] === false ? 'float32' : 'uint8');
      expectClose(y, expected, 1e-6);
    },
  );

  test('wrong arguments', () => {
    const { drawBoundingBoxes: boxes, drawSegmentationMasks: masks } = tf.keras.visualization;
    const x = tf.zeros([1, 4, 4, 3]);
    const box = { boxes: [[[0, 0, 2, 2]]], labels: [[1]] };
    expect(() => boxes(tf.zeros([4, 4, 3]), box, 'xyxy')).toThrow(
      'images must be a batch of rank 4, got shape [4,4,3]',
    );
    expect(() => boxes(x, { boxes: [[[0, 0, 2, 2]]] } as never, 'xyxy')).toThrow(
      /must be \{ boxes, labels \}/,
    );
    expect(() => boxes(x, { ...box, labels: [[1, 2]] }, 'xyxy')).toThrow('labels must be [1, 1], got [1,2]');
    expect(() => boxes(x, box, 'xyxy', { lineThickness: 0 })).toThrow(
      'lineThickness must be an integer of at least 1',
    );
    expect(() => boxes(x, box, 'xyxy', { color: [1, 2] as never })).toThrow(/three integers/);
    expect(() => masks(x, tf.zeros([1, 4, 4, 1]))).toThrow('segmentationMasks must be integers, got float32');
    expect(() => masks(x, tf.zeros([1, 4, 3, 1], 'int32'))).toThrow(/must be \[1, 4, 4, 1\]/);
    expect(() => masks(x, tf.ones([1, 4, 4, 1], 'int32'), { colorMapping: { 3: [1, 1, 1] } })).toThrow(
      'colorMapping has no color for the class 0',
    );
    expect(() => masks(x, tf.ones([1, 4, 4, 1], 'int32'), { alpha: 2 })).toThrow(
      'alpha must be a number from 0 to 1',
    );
  });
});

describe('DTypePolicyMap', () => {
  const { DTypePolicy, DTypePolicyMap, QuantizedDTypePolicy } = tf.keras.dtypePolicies;
  const { maps, model, computed, attention } = golden.policies;
  const own = () => new DTypePolicyMap(new DTypePolicy('mixed_bfloat16'), { a: new DTypePolicy('bfloat16') });

  test('has the names and configurations of Keras, and is read back', () => {
    const quantized = new QuantizedDTypePolicy('int8', 'float32');
    const open = new DTypePolicyMap().set('dense', new DTypePolicy('bfloat16')).set('encoder/.*', quantized);
    const named = new DTypePolicyMap({ defaultPolicy: 'mixed_bfloat16' }).set('dense', 'bfloat16');
    named.set('encoder/.*', quantized);
    [open, named, own()].forEach((map, i) => {
      expect([map.name, map.toJSON()]).toEqual(maps[i]);
      expect(tf.keras.dtypePolicies.deserialize(map.toJSON()).toJSON()).toEqual(maps[i][1]);
      expect(tf.keras.dtypePolicies.get(maps[i][1]).name).toBe(map.name);
    });
    expect([...named]).toEqual(['dense', 'encoder/.*']);
    expect([named.get('dense').name, named.get('encoder/x').name, named.get('x').name, named.size]).toEqual([
      'bfloat16',
      'int8_from_float32',
      'mixed_bfloat16',
      2,
    ]);
    expect([named.has('encoder/x'), named.delete('dense'), named.has('dense')]).toEqual([false, true, false]);
  });

  test('layers take the policies of their paths, also those inside', () => {
    const x = tf.keras.Input([3], { name: 'x' });
    const map = own();
    const a = new tf.keras.layers.Dense(2, { dtype: map, name: 'a' });
    const m = new tf.keras.Model(x, new tf.keras.layers.Dense(2, { dtype: map, name: 'b' })(a(x)), {
      name: 'm',
    });
    const written = JSON.parse(m.toJSON());
    expect(written.config.layers.map((l: Json) => (l['config'] as Json)['dtype'])).toEqual(
      model.config.layers.map((l: Json) => (l['config'] as Json)['dtype']),
    );
    for (const of of [m, tf.keras.models.modelFromJSON(JSON.stringify(model))])
      expect(of.layers.slice(1).map((l) => [l.name, l.computeDtype, l.variableDtype])).toEqual(computed);
    const mha = new tf.keras.layers.MultiHeadAttention(2, 2, {
      name: 'mha',
      dtype: new DTypePolicyMap('float32', { 'mha/query': new DTypePolicy('bfloat16') }),
    });
    expect(mha(tf.ones([1, 3, 4]), tf.ones([1, 3, 4])).dtype).toBe('float32');
    expect(mha.sublayers.map((l) => [(l as unknown as { path: string }).path, l.computeDtype])).toEqual(
      attention,
    );
  });

  test('a layer that is quantized changes the policy of its path', () => {
    const map = new DTypePolicyMap('float32');
    const layers = ['a', 'b'].map((name) => new tf.layers.Dense(2, { name, dtype: map }));
    const model = new tf.Sequential([tf.Input([3]), ...layers], { name: 'model' });
    model.layers[0]?.quantize('int8');
    expect(model.layers.map((l) => l.quantizationMode)).toEqual(['int8', null]);
    expect([map.get('model/a').name, map.get('model/b').name]).toEqual(['int8_from_float32', 'float32']);
  });

  test('wrong arguments', () => {
    const map = own();
    expect(() => map.set('a', 'float16')).toThrow("the key 'a' is there already");
    expect(() => map.set('(', 'float16')).toThrow('the key "(" is no regular expression');
    expect(() => map.set('b', 'nope' as 'float16')).toThrow(/must be a policy/);
    expect(() => map.set('b', map)).toThrow(/cannot be a DTypePolicyMap/);
    expect(() => new DTypePolicyMap(map)).toThrow(/defaultPolicy cannot be a DTypePolicyMap/);
    const both = new DTypePolicyMap(null, { 'a.*': 'float32', 'ab.*': 'float32' });
    expect(() => both.get('abc')).toThrow("the path 'abc' matches several keys, 'a.*', 'ab.*'");
    expect(map.size).toBe(1);
  });
});

describe('tf.keras.tree', () => {
  const { tree } = tf.keras;
  const nested = [[1, 2], [3], { a: 4 }];

  test('traverse, from above and from below, as in Keras', () => {
    const visited = (topDown: boolean): unknown[] => {
      const seen: unknown[] = [];
      expect(tree.traverse((part) => void seen.push(part), nested, topDown)).toEqual(nested);
      return seen;
    };
    expect(visited(true)).toEqual([nested, [1, 2], 1, 2, [3], 3, { a: 4 }, 4]);
    expect(visited(false)).toEqual([1, 2, [1, 2], 3, [3], 4, { a: 4 }, nested]);
    const cut = (part: unknown): unknown =>
      Array.isArray(part) && part.length === 1 ? tree.MAP_TO_NONE : part === 4 ? 'four' : undefined;
    expect(tree.traverse(cut, nested)).toEqual([[1, 2], null, { a: 'four' }]);
    const self: unknown[] = [];
    self.push(self);
    expect(() => tree.traverse(() => null, self)).toThrow(tf.errors.InvalidArgumentError);
  });

  test('paths, shapes and tuples', () => {
    expect(tree.flattenWithPath([{ foo: 42, bar: [1] }])).toEqual([
      [[0, 'bar', 0], 1],
      [[0, 'foo'], 42],
    ]);
    expect(tree.flattenWithPath(3)).toEqual([[[], 3]]);
    tree.assertSamePaths({ x: [1, 2] }, new Map([['x', [3, 4]]]));
    expect(() => tree.assertSamePaths({ x: [1, 2], z: 0 }, { x: [3], y: 1 })).toThrow(
      'a and b do not have the same paths; only a has .x[1], .z; only b has .y',
    );
    expect(() => tree.assertSamePaths([1], { 0: 1 })).toThrow(/do not have the same paths/);
    expect(tree.mapShapeStructure((shape) => shape.length, { a: [null, 3], b: [[1], [2, 3, 4]] })).toEqual({
      a: 2,
      b: [1, 3],
    });
    const tuples = tree.listsToTuples({ a: [1, [2]] }) as { a: [number, number[]] };
    expect(tuples).toEqual({ a: [1, [2]] });
    expect(() => tuples.a[1].push(3)).toThrow(TypeError);
    expect(tree.mapStructure((x: number) => x + 1, { a: [1] })).toEqual({ a: [2] });
  });
});

describe('SeedGenerator', () => {
  const { random } = tf.keras;

  test('counts as in Keras, and draws other numbers each time', () => {
    const seeds = new random.SeedGenerator(7);
    expect(
      [seeds.next(), seeds.next(), seeds.next(false), seeds.next({ ordered: false })].map((s) => s.array()),
    ).toEqual([
      [7n, 0n],
      [7n, 1n],
      [7n, 2n],
      [43096n, 16161n],
    ]);
    expect(seeds.getConfig()).toEqual({ seed: 7, name: seeds.name });
    expect(random.SeedGenerator.fromConfig(seeds.getConfig()).next().array()).toEqual([7n, 0n]);
    expect(() => new random.SeedGenerator(1.5)).toThrow('the seed must be an integer, got 1.5');
    expect(() => seeds.next(1 as never)).toThrow('ordered must be true or false');
  });

  const draws: Record<string, (seed: tf.keras.random.SeedGenerator | number) => tf.Tensor> = {
    normal: (seed) => random.normal([3], { seed }),
    truncatedNormal: (seed) => random.truncatedNormal([3], { seed }),
    uniform: (seed) => random.uniform([3], { seed, minval: -1 }),
    randint: (seed) => random.randint([9], 0, 1000, { seed }),
    gamma: (seed) => random.gamma([3], 2, { seed }),
    beta: (seed) => random.beta([3], 2, 3, { seed }),
    binomial: (seed) => random.binomial([9], 1000, 0.5, { seed }),
    categorical: (seed) => random.categorical(tf.zeros([1, 1000]), 9, { seed }),
    dropout: (seed) => random.dropout(tf.ones([40]), 0.5, { seed }),
    shuffle: (seed) => random.shuffle(tf.range(0, 40), { seed }),
  };
  test.each(Object.entries(draws))(
    '%s: eager and traced draws are the same; an integer repeats them',
    (_, draw) => {
      const [one, two] = [new random.SeedGenerator(3), new random.SeedGenerator({ seed: 3 })];
      const fn = tf.function(() => draw(two));
      const first = draw(one).array();
      expect(fn().array()).toEqual(first);
      const second = draw(one).array();
      expect(fn().array()).toEqual(second);
      expect(second).not.toEqual(first);
      expect(draw(5).array()).toEqual(draw(5).array());
      expect(draw(5).array()).not.toEqual(draw(6).array());
    },
  );

  test('is state of a layer: among variables, not among weights', async () => {
    class Noise extends tf.keras.layers.Layer {
      readonly seedGenerator = new random.SeedGenerator(1337);
      readonly dense = new tf.keras.layers.Dense(2);
      override call(x: tf.Tensor): tf.Tensor {
        return (this.dense(x) as tf.Tensor).add(random.normal([2], { seed: this.seedGenerator }));
      }
    }
    const noise = new Noise();
    const model = new tf.Sequential([tf.Input([2]), noise]);
    model.compile({ loss: 'mse', optimizer: 'sgd' });
    const before = Number(noise.seedGenerator.state.array<bigint[]>()[1]);
    await model.fit(tf.ones([8, 2]), tf.ones([8, 2]), { epochs: 2, verbose: 0, batchSize: 4 });
    expect(Number(noise.seedGenerator.state.array<bigint[]>()[1]) - before).toBe(4);
    expect([model.weights.length, model.variables.length, model.nonTrainableVariables.length]).toEqual([
      2, 3, 1,
    ]);
    expect(model.nonTrainableWeights).toEqual([]);
    const [y, [state]] = model.statelessCall(
      model.trainableVariables.map((v) => v.read()),
      [tf.constant(new BigInt64Array([9n, 4n]), 'int64')],
      tf.ones([1, 2]),
    ) as unknown as [tf.Tensor, [tf.Tensor]];
    expect(y.shape).toEqual([1, 2]);
    expect(state.array()).toEqual([9n, 5n]);
  });
});
