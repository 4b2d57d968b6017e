import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-checkpoint-models-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const at = (): string => join(folder, `${files++}/ckpt`);

/** The names of what a checkpoint holds, without what all of them end in. */
const namesIn = (path: string): string[] =>
  tf.train
    .listVariables(path)
    .map(([name]) => name.replace('/.ATTRIBUTES/VARIABLE_VALUE', ''))
    .filter((name) => name !== '_CHECKPOINTABLE_OBJECT_GRAPH');

describe('models of Keras 2 that TensorFlow saved', () => {
  const golden = fileURLToPath(new URL('../../checkpoint/golden/', import.meta.url));
  const { trained } = JSON.parse(readFileSync(`${golden}checkpoints.json`, 'utf8')) as {
    trained: Record<
      string,
      { path: string; x: number[]; y: number[]; outputs: number[]; next_loss: number; next_outputs: number[] }
    >;
  };
  test.each(Object.entries(trained))('%s', (name, run) => {
    for (const early of [true, false]) {
      const model = new tf.Sequential([
        new tf.layers.Dense(4, { activation: 'tanh', ...(early && { inputShape: [3] }) }),
        new tf.layers.Flatten(),
        new tf.layers.Dense(2, { trainable: false }),
        new tf.layers.Dense(1),
      ]);
      const optimizer =
        name === 'adam'
          ? new tf.optimizers.Adam({ learningRate: 1, amsgrad: true })
          : new tf.optimizers.RMSprop({ learningRate: 1, momentum: 0.5, centered: true });
      const x = tf.constant(run.x).reshape([4, 3]);
      const y = tf.constant(run.y).reshape([4, 1]);
      const status = new tf.train.Checkpoint({ model, optimizer }).restore(golden + run.path);
      const close = (values: number[]): unknown => values.map((v) => expect.closeTo(v, 5));
      expect(model(x).reshape([-1]).array()).toEqual(close(run.outputs));
      expect(optimizer.learningRate).toBeCloseTo(name === 'adam' ? 0.05 : 0.01, 6);
      const loss = optimizer.minimize(
        () => tf.reduceMean(tf.square(tf.subtract(model(x, { training: true }), y))),
        model.trainableVariables,
      );
      expect(loss.item()).toBeCloseTo(run.next_loss, 5);
      expect(optimizer.iterations.array()).toBe(4n);
      expect(model(x).reshape([-1]).array()).toEqual(close(run.next_outputs));
      status.assertConsumed();
    }
  });
});

describe('the names of', () => {
  test('layers, and slots', () => {
    const inputs = tf.Input({ shape: [4] });
    const hidden = new tf.layers.BatchNormalization()(
      new tf.layers.Flatten()(new tf.layers.Dense(3, { name: 'a' })(inputs)),
    );
    const model = new tf.Model({ inputs, outputs: new tf.layers.Dense(1)(hidden) });
    const optimizer = new tf.optimizers.SGD({ learningRate: 0.1, momentum: 0.9 });
    optimizer.build(model.trainableVariables);
    const path = new tf.train.Checkpoint({ model, optimizer }).write(at());
    expect(namesIn(path)).toEqual(
      [
        'model/layer_with_weights-0/bias',
        'model/layer_with_weights-0/bias/.OPTIMIZER_SLOT/optimizer/momentum',
        'model/layer_with_weights-0/kernel',
        'model/layer_with_weights-0/kernel/.OPTIMIZER_SLOT/optimizer/momentum',
        'model/layer_with_weights-1/beta',
        'model/layer_with_weights-1/beta/.OPTIMIZER_SLOT/optimizer/momentum',
        'model/layer_with_weights-1/gamma',
        'model/layer_with_weights-1/gamma/.OPTIMIZER_SLOT/optimizer/momentum',
        'model/layer_with_weights-1/moving_mean',
        'model/layer_with_weights-1/moving_variance',
        'model/layer_with_weights-2/bias',
        'model/layer_with_weights-2/bias/.OPTIMIZER_SLOT/optimizer/momentum',
        'model/layer_with_weights-2/kernel',
        'model/layer_with_weights-2/kernel/.OPTIMIZER_SLOT/optimizer/momentum',
        'optimizer/decay',
        'optimizer/iter',
        'optimizer/learning_rate',
        'optimizer/momentum',
      ].sort(),
    );
  });

  test('subclassed models, layers of one’s own, metrics, recurrent layers', () => {
    class Linear extends tf.layers.Layer {
      w!: tf.Variable;
      override build(): void {
        this.w = this.addWeight({ shape: [2] });
        this.addWeight({ shape: [1], name: 'hidden/one' });
      }
      override call(x: tf.Tensor): tf.Tensor {
        return x.add(this.w);
      }
    }
    class Net extends tf.Model {
      readonly blocks = [new Linear(), new Linear()];
      readonly lstm = new tf.layers.LSTM(1);
      override readonly loss = new tf.metrics.Mean('loss');
      override call(x: tf.Tensor): tf.Tensor {
        return this.lstm(this.blocks.reduce((y, block) => block(y), x).reshape([1, -1, 2]));
      }
    }
    const net = new Net();
    net(tf.ones([3, 2]));
    expect(namesIn(new tf.train.Checkpoint(net).write(at()))).toEqual([
      'blocks/0/hidden.Sone',
      'blocks/0/w',
      'blocks/1/hidden.Sone',
      'blocks/1/w',
      'loss/count',
      'loss/total',
      'lstm/cell/bias',
      'lstm/cell/kernel',
      'lstm/cell/recurrent_kernel',
    ]);
  });
});

test('attributes that have the names of weights, and those of optimizers of one’s own', () => {
  class Odd extends tf.layers.Layer {
    weight = this.addWeight({ shape: [1], name: 'w' });
    w = new tf.Variable(5);
  }
  class Decaying extends tf.optimizers.Optimizer {
    readonly decay = new tf.Variable(0.5, { trainable: false });
    readonly speed = this.addVariable({ shape: [], name: 'speed' });
    readonly #sums: tf.Variable[] = [];
    constructor() {
      super({ learningRate: 0.1 });
    }
    override build(variables: readonly tf.Variable[]): void {
      if (this.built) return;
      super.build(variables);
      for (const v of variables) this.#sums.push(this.addVariableFromReference(v, 'sum'));
    }
  }
  const layer = new Odd();
  const optimizer = new Decaying();
  optimizer.build([layer.w]);
  expect(namesIn(new tf.train.Checkpoint({ layer, optimizer }).write(at()))).toEqual([
    'layer/w',
    'layer/w_1',
    'layer/w_1/.OPTIMIZER_SLOT/optimizer/sum',
    'optimizer/decay',
    'optimizer/iter',
    'optimizer/learning_rate',
    'optimizer/speed',
  ]);
});

describe('deferred restoration', () => {
  const make = () => {
    const model = new tf.Sequential([
      new tf.layers.Dense(3, { activation: 'relu' }),
      new tf.layers.BatchNormalization(),
      new tf.layers.Dense(1),
    ]);
    return { model, optimizer: new tf.optimizers.Adam(0.01) };
  };
  const x = tf.random.normal([8, 4], { seed: 1 });
  const y = tf.random.normal([8, 1], { seed: 2 });
  const stepOf =
    ({ model, optimizer }: ReturnType<typeof make>) =>
    (): tf.Tensor =>
      optimizer.minimize(
        () => tf.reduceMean(tf.square(tf.subtract(model(x, { training: true }), y))),
        () => model.trainableVariables,
      );

  test.each([
    ['eagerly', (step: () => tf.Tensor) => step],
    ['in a traced function', (step: () => tf.Tensor) => tf.function(step)],
  ])('weights and slots that do not exist yet, %s', (_, how) => {
    const one = make();
    const step = how(stepOf(one));
    for (let i = 0; i < 3; i++) step();
    const path = new tf.train.Checkpoint(one).save(at());
    const wanted = [step(), step()].map((t) => t.item());

    const two = make();
    const status = new tf.train.Checkpoint(two).restore(path);
    expect(two.model.built).toBe(false);
    status.assertExistingObjectsMatched();
    const again = how(stepOf(two));
    expect([again(), again()].map((t) => t.item())).toEqual(wanted);
    status.assertConsumed();
    expect(two.optimizer.iterations.array()).toBe(5n);
    expect(two.model.getWeights().map((w) => w.array())).toEqual(
      one.model.getWeights().map((w) => w.array()),
    );
  });

  test('a variable that a method makes, first used in a traced function', () => {
    class Scale extends tf.Module {
      w?: tf.Variable;
      apply(v: tf.Tensor): tf.Tensor {
        this.w ??= new tf.Variable(tf.ones([2]));
        this.w.assignAdd([1, 1]);
        return v.mul(this.w);
      }
    }
    const one = new Scale();
    one.apply(tf.ones([2]));
    one.w?.assign([5, 6]);
    const path = new tf.train.Checkpoint({ one }).write(at());
    const two = new Scale();
    const status = new tf.train.Checkpoint({ one: two }).read(path);
    const apply = tf.function((v: tf.Tensor) => two.apply(v));
    expect(apply(tf.ones([2])).array()).toEqual([6, 7]);
    expect(apply(tf.ones([2])).array()).toEqual([7, 8]);
    status.assertConsumed();
  });

  test('a restoration between two runs of a traced function', () => {
    const one = make();
    const step = tf.function(stepOf(one));
    step();
    const path = new tf.train.Checkpoint(one).save(at());
    const losses = [step(), step()].map((t) => t.item());
    new tf.train.Checkpoint(one).read(path);
    expect([step(), step()].map((t) => t.item())).toEqual(losses);
  });
});

test('training goes on bit by bit as if it had not been interrupted', async () => {
  const data = tf.random.normal([40, 4]);
  const make = () => {
    const model = new tf.Sequential([
      new tf.layers.Dense(8, { activation: 'relu', inputShape: [4] }),
      new tf.layers.Dropout(0.3),
      new tf.layers.BatchNormalization(),
      new tf.layers.Dense(1),
    ]);
    const optimizer = new tf.optimizers.Adam(0.02);
    const generator = tf.random.Generator.fromSeed(3);
    const loss = new tf.metrics.Mean('loss');
    const iterator = tf.data.Dataset.fromTensorSlices(data).shuffle(10).repeat().batch(16).iterator();
    const checkpoint = new tf.train.Checkpoint({
      model,
      optimizer,
      generator,
      iterator,
      loss,
      random: tf.random.globalStream,
    });
    const train = tf.function((examples: tf.Tensor) => {
      const x = examples.add(generator.normal([16, 4]).mul(0.1));
      const noise = tf.random.normal([16, 1]);
      const value = optimizer.minimize(
        () =>
          tf.reduceMean(
            tf.square(tf.subtract(model(x, { training: true }), x.sum(1, { keepdims: true }).add(noise))),
          ),
        model.trainableVariables,
      );
      loss.updateState(value);
      return value;
    });
    const step = (): tf.Tensor => train(iterator.next().value as tf.Tensor);
    return { checkpoint, step, model, loss };
  };
  tf.random.setSeed(9);
  const one = make();
  for (let i = 0; i < 4; i++) one.step();
  const path = await one.checkpoint.saveAsync(at());
  const wanted = Array.from({ length: 5 }, () => one.step().item());
  const result = [one.loss.result().item(), one.model.getWeights().map((w) => w.array())];

  tf.random.setSeed(1234);
  const two = make();
  two.step();
  two.checkpoint.restore(path).assertConsumed();
  expect(Array.from({ length: 5 }, () => two.step().item())).toEqual(wanted);
  expect([two.loss.result().item(), two.model.getWeights().map((w) => w.array())]).toEqual(result);
});

test('options that a checkpoint knows otherwise stay what they are, with a warning', () => {
  const make = (beta1: number) =>
    new tf.train.Checkpoint({ optimizer: new tf.optimizers.Adam({ beta1, learningRate: 0.5 }) });
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const path = make(0.8).write(at());
  make(0.8).read(path).assertConsumed();
  expect(warn).not.toHaveBeenCalled();
  const two = make(0.9);
  two.read(path).assertConsumed();
  expect(warn.mock.calls).toEqual([
    ['adam: the checkpoint was made with beta_1 0.8, here it is 0.9 and stays so'],
  ]);
  expect([two.optimizer.beta1, two.optimizer.learningRate]).toEqual([0.9, 0.5]);
  warn.mockRestore();
});

test('a compiled model brings its optimizer along', async () => {
  const make = (): tf.Sequential => {
    const model = new tf.Sequential([new tf.layers.Dense(1)]);
    model.compile({ optimizer: 'adam', loss: 'mse' });
    return model;
  };
  const x = tf.ones([4, 2]);
  const one = make();
  await one.fit(x, tf.ones([4, 1]), { epochs: 2, verbose: 0 });
  const path = new tf.train.Checkpoint(one).save(at());
  expect(namesIn(path)).toContain('layer_with_weights-0/kernel/.OPTIMIZER_SLOT/optimizer/v');
  await one.fit(x, tf.ones([4, 1]), { epochs: 2, verbose: 0 });
  const two = make();
  const status = new tf.train.Checkpoint(two).restore(path);
  await two.fit(x, tf.ones([4, 1]), { epochs: 2, verbose: 0 });
  status.assertConsumed();
  expect(two.getWeights().map((w) => w.array())).toEqual(one.getWeights().map((w) => w.array()));
});
