// Members of layers, optimizers and schedules that programs of Keras's style use.
import { expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

class Outer extends tf.layers.Layer {
  readonly inner: InstanceType<typeof tf.layers.Dense>;
  constructor() {
    super({ name: 'outer' });
    this.inner = new tf.layers.Dense(2, { name: 'inner' });
  }
  override call(x: tf.Tensor): tf.Tensor {
    return this.inner(x);
  }
}

test('a path has the names of the layers around, as in Keras', () => {
  const outer = new Outer();
  expect([outer.path, outer.inner.path]).toEqual([null, null]);
  outer(tf.ones([1, 3]));
  expect([outer.path, outer.inner.path]).toEqual(['outer', 'outer/inner']);
  const model = new tf.Sequential([tf.Input([3]), new tf.layers.Dense(2, { name: 'a' })], { name: 'seq' });
  expect([model.path, model.layers[0].path]).toEqual(['seq', 'seq/a']);
  const late = new tf.Sequential([new tf.layers.Dense(2, { name: 'a' })], { name: 'late' });
  late(tf.ones([1, 3]));
  expect([late.path, late.layers[0].path]).toEqual(['late', 'late/a']);
  class Own extends tf.layers.Layer {
    override path = 'mine';
    override call(x: tf.Tensor): tf.Tensor {
      return x.neg();
    }
  }
  const own = new Own();
  own(tf.ones([1]));
  expect(own.path).toBe('mine');
});

test('a weight has the path of its layer, and its name, as in Keras', () => {
  const outer = new Outer();
  outer(tf.ones([1, 3]));
  const seq = new tf.Sequential([tf.Input([3]), new tf.layers.Dense(2, { name: 'a' })], { name: 'seq' });
  const input = tf.Input([3]);
  const model = new tf.Model(input, new tf.layers.Dense(2, { name: 'd' })(seq(input)));
  const paths = (layer: tf.layers.Layer) => layer.weights.map((w) => w.path);
  expect(paths(outer)).toEqual(['outer/inner/kernel', 'outer/inner/bias']);
  expect(paths(model)).toEqual(['seq/a/kernel', 'seq/a/bias', 'd/kernel', 'd/bias']);
  expect(new tf.Variable(1, { name: 'alone' }).path).toBe('alone');
});

test('paths of weights in layers inside of layers, as in Keras 3.15.1', () => {
  const paths = (layer: tf.layers.Layer) => layer.weights.map((w) => w.path);
  const dense = () => new tf.layers.Dense(2, { name: 'd', useBias: false });
  const late = new tf.Sequential([dense()], { name: 'seq' });
  late(tf.ones([1, 3]));
  expect(paths(late)).toEqual(['seq/d/kernel']);
  class Own extends tf.Model {
    readonly d = dense();
    override call(x: tf.Tensor): tf.Tensor {
      return this.d(x);
    }
  }
  const own = new Own({ name: 'own' });
  own(tf.ones([1, 3]));
  expect(paths(own)).toEqual(['own/d/kernel']);
  const lstm = new tf.layers.LSTM(1, { name: 'l' });
  const both = new tf.layers.Bidirectional(new tf.layers.LSTM(1, { name: 'lq', useBias: false }), {
    name: 'bi',
  });
  for (const layer of [lstm, both]) layer(tf.ones([1, 2, 1]));
  expect(paths(lstm)).toEqual(['kernel', 'recurrent_kernel', 'bias'].map((name) => `l/lstm_cell/${name}`));
  expect(paths(both)).toEqual([
    'bi/forward_lq/lstm_cell/kernel',
    'bi/forward_lq/lstm_cell/recurrent_kernel',
    'bi/backward_lq/lstm_cell/kernel',
    'bi/backward_lq/lstm_cell/recurrent_kernel',
  ]);
});

test('a summary shows no control characters', () => {
  const lines: string[] = [];
  const layers = [tf.Input([3]), new tf.layers.Dense(2, { name: 'a\x1b[31m\n\x85' })];
  new tf.Sequential(layers, { name: 'm\x07' }).summary({ printFn: (line) => lines.push(line) });
  expect(lines[0]).toBe('Model: "m\ufffd"');
  expect(lines.join('')).toContain('a\ufffd[31m\ufffd\ufffd (Dense)');
});

test('inputDtype, inputSpec, outputShape', () => {
  const dense = new tf.layers.Dense(2, { dtype: 'mixed_bfloat16' });
  expect([dense.inputDtype, dense.inputSpec]).toEqual(['bfloat16', null]);
  const model = new tf.Sequential([tf.Input([3]), new tf.layers.Dense(2)]);
  expect(model.outputShape).toEqual([null, 2]);
  const unknown = new tf.Sequential([new tf.layers.Dense(2)], { name: 'unknown' });
  expect(() => unknown.outputShape).toThrow(tf.errors.FailedPreconditionError);
  class Picky extends tf.layers.Layer {
    constructor() {
      super({ name: 'picky' });
      this.inputSpec = new tf.keras.InputSpec({ ndim: 3 });
    }
    override call(x: tf.Tensor): tf.Tensor {
      return x.neg();
    }
  }
  expect(() => new Picky()(tf.ones([2, 2]))).toThrow(/picky.*rank 3 as input 0, got float32 \[2, 2\]/);
});

test('addVariable is addWeight', () => {
  const layer = new Outer();
  const v = layer.addVariable([2, 3], 'ones', { name: 'scale', trainable: false });
  expect([v.shape, v.trainable]).toEqual([[2, 3], false]);
  expect(Array.from(v.read().data() as Float32Array)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(layer.weights).toContain(v);
  expect(layer.addVariable({ shape: [1], initializer: 'zeros' }).shape).toEqual([1]);
});

test("a layer's own variables into an object and back", () => {
  const make = (): InstanceType<typeof tf.layers.BatchNormalization> => {
    const layer = new tf.layers.BatchNormalization();
    layer.build([null, 2]);
    return layer;
  };
  const [from, to] = [make(), make()];
  from.setWeights([1, 2, 3, 4].map((n) => [n, n]));
  const store: Record<string, tf.TensorLike> = {};
  from.saveOwnVariables(store);
  expect(Object.keys(store)).toEqual(['0', '1', '2', '3']);
  to.loadOwnVariables(store);
  expect(to.getWeights().map((w) => w.data()[0])).toEqual([1, 2, 3, 4]);
  delete store['3'];
  expect(() => to.loadOwnVariables(store)).toThrow(/expected 4 variables .*got 3/);
  expect(() => new tf.layers.Dense(1).loadOwnVariables(store)).toThrow(/not built/);
  const outer = new Outer();
  outer(tf.ones([1, 3]));
  const own: Record<string, tf.TensorLike> = {};
  outer.saveOwnVariables(own);
  expect(own).toEqual({});
});

test('an optimizer of Keras style, with its own variables', () => {
  class Momentum extends tf.optimizers.Optimizer {
    momentums!: tf.Variable[];
    override build(variables: readonly tf.Variable[]): void {
      if (this.built) return;
      super.build(variables);
      this.momentums = this.addOptimizerVariables(variables, 'momentum');
    }
    override updateStep(gradient: tf.Tensor, variable: tf.Variable, rate: number): void {
      const m = this.momentums[this.indexOf(variable)];
      this.assign(m, m.mul(0.5).add(gradient));
      this.assignSub(variable, m.mul(rate));
    }
  }
  const optimizer = new Momentum(0.1);
  const v = new tf.Variable([1, 2], { name: 'v' });
  const step = (): void => void optimizer.applyGradients([tf.constant([1, 1])], [v]);
  expect(() => optimizer.setWeights([])).toThrow(tf.errors.FailedPreconditionError);
  step();
  step();
  expect(Array.from(v.read().data() as Float32Array, (x) => +x.toFixed(5))).toEqual([0.75, 1.75]);
  expect(optimizer.momentums[0].path).toContain('v_momentum');
  const store: Record<string, tf.TensorLike> = {};
  optimizer.saveOwnVariables(store);
  expect(Object.keys(store)).toEqual(['0', '1', '2']);
  const other = new Momentum(0.2);
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  other.loadOwnVariables(store);
  expect(warn.mock.calls[0][0]).toMatch(/build it first/);
  warn.mockRestore();
  other.build([v]);
  other.loadOwnVariables(store);
  expect(other.iterations.item()).toBe(2);
  expect(other.learningRate).toBeCloseTo(0.1, 6);
  expect(other.momentums[0].read().data()[0]).toBe(1.5);
  other.setWeights([7, 0.5, [8, 9]]);
  expect([other.iterations.item(), other.learningRate, other.momentums[0].read().data()[1]]).toEqual([
    7, 0.5, 9,
  ]);
  expect(() => other.setWeights([1])).toThrow(/expected 3 values/);
  expect(() => other.setWeights([7, 0.5, [8, 9, 10]])).toThrow(tf.errors.InvalidArgumentError);
  const [a, b] = other.addOptimizerVariables([v], ['a', 'b'], [0, 1]);
  expect([a[0].read().data()[0], b[0].read().data()[0]]).toEqual([0, 1]);
  other.assignAdd(b[0], [1, 2]);
  expect(Array.from(b[0].read().data() as Float32Array)).toEqual([2, 3]);
  expect(() => other.assign(3 as never, 1)).toThrow(tf.errors.InvalidArgumentError);
});

test('a schedule of its configuration', () => {
  const schedule = new tf.optimizers.schedules.CosineDecay(0.1, 10, { alpha: 0.5 });
  const again = tf.optimizers.schedules.CosineDecay.fromConfig(schedule.getConfig());
  expect(again).toBeInstanceOf(tf.optimizers.schedules.CosineDecay);
  expect(again.getConfig()).toEqual(schedule.getConfig());
  expect(again(7)).toBe(schedule(7));
});

test('recurrent layers tell the options of their cell, and forget their states', () => {
  const lstm = new tf.layers.LSTM(3, { dropout: 0.1, recurrentDropout: 0.2, useBias: false });
  expect([lstm.units, lstm.dropout, lstm.recurrentDropout, lstm.useBias, lstm.unitForgetBias]).toEqual([
    3,
    0.1,
    0.2,
    false,
    true,
  ]);
  expect(lstm.activation).toBe(lstm.cell.activation);
  expect(lstm.recurrentActivation).toBe(lstm.cell.recurrentActivation);
  expect(new tf.layers.GRU(2).resetAfter).toBe(true);
  expect(new tf.layers.SimpleRNN(2).activation).toBe(tf.keras.activations.tanh);
  const convolved = new tf.layers.ConvLSTM2D(2, 3, { padding: 'same' });
  expect([convolved.filters, convolved.kernelSize, convolved.padding]).toEqual([2, [3, 3], 'same']);
  // What is set is in the files as before.
  expect(tf.layers.LSTM.fromConfig(lstm.getConfig()).getConfig()).toEqual(lstm.getConfig());

  const x = tf.ones([1, 2, 1]);
  const stateful = new tf.layers.SimpleRNN(1, { stateful: true });
  const both = new tf.layers.Bidirectional(new tf.layers.GRU(1, { stateful: true }));
  for (const layer of [stateful, both]) {
    const first = layer(x) as tf.Tensor;
    expect((layer(x) as tf.Tensor).array()).not.toEqual(first.array());
    layer.resetState();
    expect((layer(x) as tf.Tensor).array()).toEqual(first.array());
    layer.resetStates();
    expect((layer(x) as tf.Tensor).array()).toEqual(first.array());
  }
});

test('inputShape and outputShape of models, as in Keras', () => {
  const [a, b] = [tf.Input([3]), tf.Input([4])];
  const one = new tf.Model(a, new tf.layers.Dense(2)(a));
  expect([one.inputShape, one.outputShape]).toEqual([
    [null, 3],
    [null, 2],
  ]);
  const two = new tf.Model([a, b], new tf.layers.Concatenate()([a, b]));
  expect([two.inputShape, two.outputShape]).toEqual([
    [
      [null, 3],
      [null, 4],
    ],
    [null, 7],
  ]);
  expect(new tf.Sequential([a, new tf.layers.Dense(2)]).inputShape).toEqual([null, 3]);
  class Own extends tf.Model {}
  expect(() => new Own().inputShape).toThrow(tf.errors.FailedPreconditionError);
});

test('names that Keras has at its top, and older places of data sets', () => {
  expect([tf.keras.Variable, tf.keras.device, tf.keras.nameScope]).toEqual([
    tf.Variable,
    tf.device,
    tf.nameScope,
  ]);
  const { preprocessing, utils } = tf.keras;
  expect(preprocessing.imageDatasetFromDirectory).toBe(utils.imageDatasetFromDirectory);
  expect(preprocessing.textDatasetFromDirectory).toBe(utils.textDatasetFromDirectory);
  expect(preprocessing.timeseriesDatasetFromArray).toBe(utils.timeseriesDatasetFromArray);
});

test('the length of a dataset', () => {
  const { Dataset } = tf.data;
  expect(Dataset.range(10).batch(3).length).toBe(4);
  expect(() => Dataset.range(10).repeat().length).toThrow(/infinite/);
  expect(() => Dataset.range(10).filter((n) => n.greater(2)).length).toThrow(
    tf.errors.FailedPreconditionError,
  );
});

test('bounds of the deviation of RandomGaussianBlur may lie above 1, as in Keras', () => {
  const blur = (sigma: number | readonly [number, number]) =>
    new tf.layers.RandomGaussianBlur({ factor: [1, 1], kernelSize: 5, sigma, seed: 1 });
  expect(blur([0.5, 3]).getConfig()['sigma']).toEqual([0.5, 3]);
  expect(() => blur(3)).toThrow(tf.errors.InvalidArgumentError);
  expect(() => blur([2, 3])).toThrow(tf.errors.InvalidArgumentError);
  // Of a point less than a deviation of 1 leaves.
  const point = tf.oneHot(12, 25).reshape([1, 5, 5, 1]).mul(255);
  const left = (sigma: readonly [number, number]): number =>
    tf.reduceMax(blur(sigma)(point, { training: true }) as tf.Tensor).item();
  expect(left([1, 9])).toBeLessThan(left([1, 1]));
});

test('initializers, regularizers, constraints and quantizers of their configuration', () => {
  const { initializers, regularizers, constraints, quantizers } = tf.keras;
  const normal = new initializers.HeNormal({ seed: 3 });
  const values = (make: (shape: number[]) => tf.Tensor): unknown => make([2, 2]).array();
  expect(values(normal.clone())).toEqual(values(normal));
  expect(normal.clone()).toBeInstanceOf(initializers.HeNormal);
  expect(initializers.Constant.fromConfig({ value: 2 })([1]).array()).toEqual([2]);
  expect(regularizers.L2.fromConfig({ l2: 0.5 }).l2).toBe(0.5);
  expect(constraints.MaxNorm.fromConfig({ max_value: 3, axis: 1 }).getConfig()).toEqual({
    max_value: 3,
    axis: 1,
  });
  const quantizer = new quantizers.AbsMaxQuantizer({ axis: 0 });
  expect(quantizers.AbsMaxQuantizer.fromConfig(quantizer.getConfig()).getConfig()).toEqual(
    quantizer.getConfig(),
  );
});

test('preprocessing layers learn batch by batch', () => {
  const { StringLookup, IntegerLookup, TextVectorization, Discretization, Normalization } = tf.layers;
  const words = new StringLookup();
  words.updateState(['b', 'a']);
  words.updateState(['b']);
  words.finalizeState();
  expect(words.getVocabulary()).toEqual(['[UNK]', 'b', 'a']);
  // What was counted goes, and what is in use stays.
  words.resetState();
  words.finalizeState();
  expect(words.vocabularySize()).toBe(3);
  words.updateState(['c']);
  words.finalizeState();
  expect(words.getVocabulary()).toEqual(['[UNK]', 'c']);
  const numbers = new IntegerLookup();
  numbers.updateState(tf.constant([5, 7, 7], 'int64'));
  numbers.finalizeState();
  expect(numbers.getVocabulary()).toEqual([-1n, 7n, 5n]);
  const texts = new TextVectorization();
  texts.updateState(['a b', 'b']);
  texts.finalizeState();
  expect(texts.getVocabulary()).toEqual(['', '[UNK]', 'b', 'a']);
  const [whole, parts] = [new Discretization({ numBins: 3 }), new Discretization({ numBins: 3 })];
  whole.adapt([1, 2, 3, 4, 5, 6]);
  parts.updateState([1, 2, 3, 4, 5, 6]);
  expect(parts.binBoundaries).toBe(null);
  parts.finalizeState();
  expect(parts.binBoundaries).toEqual(whole.binBoundaries);
  const fixed = new Discretization([0, 1]);
  expect(() => fixed.updateState([1])).toThrow(tf.errors.InvalidArgumentError);
  fixed.finalizeState();
  expect(fixed.binBoundaries).toEqual([0, 1]);
  new Normalization().finalizeState();
});

test('single images, labels and masks are changed as those of batches', () => {
  const flip = new tf.layers.RandomFlip('horizontal', { seed: 1 });
  const image = tf.range(12).cast('float32').reshape([2, 3, 2]);
  const drawn = flip.getRandomTransformation(image);
  const batch = flip.transformImages(image.expandDims(0), drawn).squeeze(0);
  expect(flip.transformSingleImage(image, drawn).array()).toEqual(batch.array());
  expect(flip.transformSingleSegmentationMask(image, drawn).shape).toEqual([2, 3, 2]);
  expect(flip.transformSingleLabel(tf.constant([1, 2]), drawn).array()).toEqual([1, 2]);
  const mix = new tf.layers.MixUp({ seed: 2 });
  const how = mix.getRandomTransformation(tf.ones([1, 2, 2, 1]));
  expect(mix.transformSingleLabel(tf.constant([0, 1]), how).shape).toEqual([2]);
});

test('attention is built of three shapes, and tells its projections', () => {
  const layer = new tf.layers.MultiHeadAttention(2, 3);
  layer.build([null, 4, 5], [null, 6, 7], [null, 6, 8]);
  expect([layer.queryDense, layer.keyDense, layer.valueDense].map((d) => d.kernel.shape)).toEqual([
    [5, 2, 3],
    [8, 2, 3],
    [7, 2, 3],
  ]);
  expect(layer.outputDense.kernel.shape).toEqual([2, 3, 5]);
  expect(layer.getBuildConfig()).toEqual({
    shapes_dict: { query_shape: [null, 4, 5], value_shape: [null, 6, 7], key_shape: [null, 6, 8] },
  });
  const one = new tf.layers.GroupQueryAttention(3, 4, 2);
  one.build([null, 4, 5], [null, 6, 7]);
  expect([one.key.kernel.shape[0], one.numRepeats]).toEqual([7, 2]);
  const same = new tf.layers.MultiHeadAttention(2, 3);
  same.build([null, 4, 5]);
  expect(same.valueDense.kernel.shape).toEqual([5, 2, 3]);
});

test('what recurrent layers hold from call to call', () => {
  const plain = new tf.layers.LSTM(2);
  plain(tf.ones([1, 2, 1]));
  expect(plain.states).toBe(null);
  const both = new tf.layers.Bidirectional(new tf.layers.GRU(1, { stateful: true, returnSequences: true }));
  expect([both.stateful, both.returnSequences, both.returnState, both.states]).toEqual([
    true,
    true,
    false,
    null,
  ]);
  both(tf.ones([3, 2, 1]));
  expect(both.states?.map((s) => s.shape)).toEqual([
    [3, 1],
    [3, 1],
  ]);
});

test('callbacks see the outputs of predicted batches', async () => {
  class Seen extends tf.keras.callbacks.Callback {
    readonly outputs: tf.Tensor[] = [];
    override onPredictBatchEnd(_batch: number, { outputs }: tf.keras.callbacks.PredictLogs): void {
      this.outputs.push(outputs as tf.Tensor);
    }
  }
  const model = new tf.Sequential([tf.Input([2]), new tf.layers.Dense(1)]);
  const [seen, told] = [new Seen(), vi.fn()];
  const lambda = new tf.keras.callbacks.LambdaCallback({ onPredictBatchEnd: told } as never);
  const y = (await model.predict(tf.ones([5, 2]), { batchSize: 2, callbacks: [seen, lambda] })) as tf.Tensor;
  expect(seen.outputs.map((t) => t.shape)).toEqual([
    [2, 1],
    [2, 1],
    [1, 1],
  ]);
  expect(tf.concat(seen.outputs, 0).array()).toEqual(y.array());
});

test('what callbacks that watch a number know', async () => {
  const model = new tf.Sequential([tf.Input([1]), new tf.layers.Dense(1)]);
  model.compile({ loss: 'meanSquaredError', optimizer: new tf.optimizers.SGD(1e-9) });
  const stop = new tf.keras.callbacks.EarlyStopping({ monitor: 'loss', patience: 9 });
  const plateau = new tf.keras.callbacks.ReduceLROnPlateau({ monitor: 'loss', patience: 1, cooldown: 5 });
  expect([stop.best, plateau.best, plateau.inCooldown()]).toEqual([null, null, false]);
  const { history } = await model.fit(tf.ones([4, 1]), tf.ones([4, 1]), {
    epochs: 3,
    verbose: 0,
    callbacks: [stop, plateau],
  });
  expect([stop.best, plateau.best]).toEqual([history['loss'][0], history['loss'][0]]);
  expect([stop.wait, plateau.inCooldown(), plateau.cooldownCounter]).toEqual([2, true, 4]);
});
