// Models of models, with several inputs and outputs, and of 8 bits: two processes compute what one does.
import { describe, expect, it } from 'vitest';
import { heads, runWorkers, withoutGloo } from '../testing/processes.ts';

const umbrella = await heads.tf();
const program = (strategy: string): string => `${umbrella}
const strategy = ${strategy};
await strategy.connect?.({ timeoutSeconds: 240 });
const { layers } = tf;
const kernel = (seed) => ({ kernelInitializer: new tf.keras.initializers.GlorotUniform({ seed }) });
const dense = (units, seed, options = {}) => new layers.Dense(units, { ...kernel(seed), ...options });

class Block extends tf.Model {
  constructor(seed) {
    super();
    this.first = dense(6, seed, { activation: 'tanh' });
    this.norm = new layers.BatchNormalization({ synchronized: true });
    this.inner = [dense(4, seed + 1), dense(4, seed + 2)];
  }
  call(x, options) {
    const y = this.norm(this.first(x), options);
    return this.inner[0](y).add(this.inner[1](y).square());
  }
}
class Outer extends tf.Model {
  constructor() {
    super();
    this.blocks = { a: new Block(10), b: new Block(20) };
    this.top = new tf.Sequential([dense(3, 30, { activation: 'relu' }), dense(1, 31)]);
  }
  call(x, options) {
    return this.top(this.blocks.b(this.blocks.a(x, options), options));
  }
}
const x = tf.random.statelessNormal([20, 4], [1, 2]);
const y = x.sum(1, { keepdims: true }).mul(0.5);
const models = {
  functionalInFunctional() {
    const inner = () => {
      const i = tf.Input({ shape: [4] });
      return new tf.Model({ inputs: i, outputs: dense(5, 1, { activation: 'tanh' })(i) });
    };
    const i = tf.Input({ shape: [4] });
    const [a, b] = [inner(), new tf.Sequential([dense(5, 2), dense(4, 3)])];
    return new tf.Model({ inputs: i, outputs: dense(1, 4)(b(layers.add([a(i), dense(5, 5)(i)]))) });
  },
  sharedLayer() {
    const [i, j] = [tf.Input({ shape: [4] }), tf.Input({ shape: [4] })];
    const shared = dense(3, 6, { activation: 'relu' });
    const both = layers.concatenate([shared(i), shared(layers.multiply([i, j]))]);
    return new tf.Model({ inputs: [i, j], outputs: dense(1, 7)(both) });
  },
  severalOutputs() {
    const [i, j] = [tf.Input({ shape: [4], name: 'i' }), tf.Input({ shape: [4], name: 'j' })];
    const trunk = new tf.Sequential([dense(4, 8, { activation: 'tanh' })]);
    const [a, b] = [dense(1, 9, { name: 'a' })(trunk(i)), dense(4, 11, { name: 'b' })(layers.add([trunk(j), i]))];
    return new tf.Model({ inputs: { i, j }, outputs: { a, b } });
  },
  subclassed: () => new Outer(),
  float8() {
    const made = new tf.Sequential([tf.Input({ shape: [4] }), dense(8, 12, { activation: 'relu' }), dense(1, 13)]);
    made.quantize('float8');
    return made;
  },
  lora() {
    const first = dense(8, 14);
    const made = new tf.Sequential([tf.Input({ shape: [4] }), first, dense(1, 15)]);
    made.build([null, 4]);
    first.enableLora(2, { aInitializer: 'ones' });
    made.quantize('int8');
    return made;
  },
};
const data = {
  sharedLayer: [[x, x.mul(2)], y],
  severalOutputs: [{ i: x, j: x.square() }, { a: y, b: x }],
};
for (const [name, make] of Object.entries(models)) {
  const model = strategy.scope(() => {
    tf.keras.utils.setRandomSeed(7);
    const made = make();
    const isMany = name === 'severalOutputs';
    made.compile({
      optimizer: new tf.optimizers.Adam(0.01),
      loss: isMany ? { a: 'mse', b: 'mae' } : 'mse',
      lossWeights: isMany ? { a: 1, b: 0.5 } : undefined,
      metrics: isMany ? { a: ['mae'], b: ['mse'] } : ['mae'],
    });
    return made;
  });
  const [input, target] = data[name] ?? [x, y];
  const { history } = await model.fit(input, target, { batchSize: 8, epochs: 2, shuffle: false, verbose: 0, validationData: [input, target] });
  const evaluated = await model.evaluate(input, target, { batchSize: 20, verbose: 0 });
  const predicted = await model.predict(input, { verbose: 0 });
  const outputs = predicted instanceof tf.Tensor ? [predicted] : Object.values(predicted);
  console.log(JSON.stringify([name, history, evaluated, outputs.map((t) => t.array()), model.variables.map((v) => tf.cast(v.read(), 'float64').sum().item())]));
}
await strategy.close?.();
`;
const numbersOf = (value: unknown): readonly number[] =>
  typeof value === 'number'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(numbersOf)
      : [];
const parsed = (out: string): (readonly [string, ...unknown[]])[] =>
  out
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line));

describe.skipIf(withoutGloo !== undefined)('in two processes', () => {
  it('models of all forms train, are evaluated and predict as in one', async () => {
    const [alone] = await runWorkers(1, program('new tf.distribute.OneDeviceStrategy("/cpu:0")'));
    const [one, two] = await runWorkers(2, program('new tf.distribute.MultiWorkerMirroredStrategy()'));
    const expected = parsed(alone);
    expect(expected.map(([name]) => name)).toEqual([
      'functionalInFunctional',
      'sharedLayer',
      'severalOutputs',
      'subclassed',
      'float8',
      'lora',
    ]);
    expect(parsed(two)).toEqual(parsed(one));
    for (const [i, [name, ...own]] of parsed(one).entries()) {
      const [, ...all] = expected[i];
      const numbers = numbersOf(all);
      expect(numbersOf(own).length, name).toBe(numbers.length);
      // Processes round gradients of biases beside floats of 8 bits to 16 bits each.
      const digits = name === 'float8' ? 2 : 4;
      numbersOf(own).forEach((v, k) => expect(v, `${name} ${k}`).toBeCloseTo(numbers[k], digits));
    }
  });
});
