// What people do wrong, and that each time they are told what to do.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { add, constant, EagreError, ones, type Tensor, Variable } from '@eagre/core';
import { losses, metrics } from '@eagre/metrics';
import { Adam, SGD } from '@eagre/optimizers';
import { afterAll, describe, expect, test } from 'vitest';
import { callbacks, Input, Model, type ModelOptions, Sequential } from './index.ts';
import * as layers from './layers/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-mistakes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string): string => join(folder, name);

const { Dense } = layers;
const dense = (units = 1, options: layers.DenseOptions = {}): layers.Dense =>
  new Dense(units, { inputShape: [2], ...options });
const model = (...list: layers.Layer[]): Sequential => new Sequential(list.length === 0 ? [dense()] : list);
const compiled = (loss: losses.LossLike = 'mse', units = 1): Sequential => {
  const made = model(dense(units));
  made.compile({ loss });
  return made;
};
const [x, y] = [ones([4, 2]), ones([4, 1])];
const quiet = { verbose: 0 } as const;
const bad = (value: unknown): never => value as never;
class Odd extends Model {
  readonly result: () => unknown;
  constructor(result: () => unknown) {
    super();
    this.result = result;
  }
  override call(): Tensor {
    return this.result() as Tensor;
  }
}

const mistakes: Readonly<
  Record<string, Readonly<Record<string, readonly [() => unknown, string | RegExp]>>>
> = {
  'making layers': {
    'units are missing': [
      () => new Dense(bad(undefined)),
      'Dense: units must be given: write new Dense(units, { activation }) or new Dense({ units, activation })',
    ],
    'units as text': [() => new Dense(bad('10')), 'needs units to be an integer of at least 1, got "10"'],
    'an unknown activation': [
      () => dense(1, { activation: bad('rellu') }),
      "unknown activation 'rellu'; known: linear, relu",
    ],
    'an unknown initializer': [
      () => dense(1, { kernelInitializer: bad('henormal2') }),
      /unknown initializer 'henormal2'; known: .*; did you mean 'heNormal'\?/,
    ],
    'an unknown regularizer': [
      () => dense(1, { biasRegularizer: bad('l3') }),
      "unknown regularizer 'l3'; known: l1, l2",
    ],
    'an unknown constraint': [
      () => dense(1, { kernelConstraint: bad('max') }),
      "unknown constraint 'max'; known: maxNorm",
    ],
    'an unknown dtype': [
      () => dense(1, { dtype: bad('int33') }),
      `Dense: dtype must be a policy (float32, float64, float16, bfloat16, mixed_float16, mixed_bfloat16, int16, int32, int64, uint8, uint16, uint32, uint64, bool), got "int33"`,
    ],
    'an integer dtype': [
      () => dense(1, { dtype: 'int32', name: 'whole' }).build([null, 2]),
      "whole: the initializer of 'kernel' gives no int32; zeros, ones and constants do (",
    ],
    'a name with a slash': [
      () => dense(1, { name: 'a/b' }),
      `Dense: name must be a string without '/', got "a/b"`,
    ],
    'trainable as text': [
      () => dense(1, { trainable: bad('no') }),
      'Dense: trainable must be true or false, got "no"',
    ],
    'an input shape that is a number': [
      () => dense(1, { inputShape: bad(2) }),
      'inputShape must be a list of sizes without the batch',
    ],
    'a negative size': [() => dense(1, { inputShape: [-1] }), 'such as [28, 28, 1]; got [-1]'],
    'a rate in percent': [() => new layers.Dropout(30), 'needs a rate between 0 and 1, got 30'],
    'a window larger than the image': [
      () => new layers.Conv2D(2, 5)(ones([1, 3, 3, 1])),
      'has a window of 5 pixels that does not fit into the 3 of its input',
    ],
    'a shape of a weight that is a number': [
      () => new layers.Layer().addWeight({ shape: bad(2) }),
      'addWeight: the shape must be a list of sizes, got 2',
    ],
    'a shape of a weight that is not known': [
      () => new layers.Layer().addWeight({ shape: [null, 2] }),
      'addWeight: the shape [null, 2] is not known yet',
    ],
  },
  'calling layers': {
    'with nothing': [
      () => dense(1, { name: 'd' })(bad(undefined)),
      'd: was called without an input (undefined)',
    ],
    'with a map': [
      () => dense(1, { name: 'd' })(bad(new Map())),
      'd: expected a tensor, a number, nested arrays, a typed array or { data, shape }, got an object of class Map',
    ],
    'with a bare text': [
      () => dense(1, { name: 'd' })(bad('x')),
      "Dense 'd' expects input of rank 2 or more [batch, ..., n], got []",
    ],
    'with a hole in the list': [
      () => new layers.Add({ name: 'sum' })([x, bad(undefined)]),
      'sum: takes a list of tensors, but item 1 of 2 is undefined',
    ],
    'with the batch missing': [
      () => dense()(ones([2])),
      'expects input of rank 2 or more [batch, ..., n], got [2]',
    ],
    'with other features': [
      () => model()(ones([4, 3])),
      'was built for a last axis of 2, got 3 (input [4, 3])',
    ],
    'with text': [() => model()(constant([['a', 'b']])), 'expects numbers, got a string tensor'],
    'without a channel axis': [
      () => new layers.Conv2D(2, 3)(ones([5, 28, 28])),
      'expects input of rank 4 [batch, height, width, channels], got [5, 28, 28]',
    ],
    'with an index that no row has': [
      () => new layers.Embedding(10, 2)([[10]]),
      'has rows 0 … 9, got another index',
    ],
    'whose class has no call()': [
      () => new layers.Layer({ name: 'mine' })(x),
      'mine: its class has no call(inputs) method',
    ],
    'whose call() returns nothing': [
      () => new Odd(() => undefined)(x),
      'call() must return a tensor, a list of tensors or tensors by name, got undefined',
    ],
    'whose call() is async': [
      () => new Odd(() => Promise.resolve(x))(x),
      'got a promise; it must not be async',
    ],
  },
  'describing models': {
    'no list of layers': [() => new Sequential(bad(dense())), 'takes a list of layers: new Sequential([…])'],
    'a class': [() => model(bad(Dense)), 'must contain layers, got the class Dense: write new Dense(…)'],
    'a tensor': [() => model(bad(x)), 'must contain layers, got a tensor'],
    'no layers': [() => new Sequential()(x), 'a Sequential model has no layers: add() some'],
    'the same layer twice': [
      () => {
        const one = dense();
        return model(one, one);
      },
      'is in the model already; use a functional model to share it',
    ],
    'a name twice': [
      () => model(dense(1, { name: 'a' }), new Dense(1, { name: 'a' })),
      "two layers have the name 'a'",
    ],
    'a name twice in a functional model': [
      () => {
        const inputs = Input({ shape: [2] });
        return new Model(inputs, new Dense(1, { name: 'a' })(new Dense(1, { name: 'a' })(inputs)));
      },
      "Model: two layers have the name 'a'; give one of them another name, { name: … }",
    ],
    'layers that do not follow each other': [
      () => model(new layers.Flatten({ inputShape: [4, 4, 1] }), new layers.Conv2D(2, 3)),
      'expects input of rank 4 [batch, height, width, channels], got [null, 16]',
    ],
    'an Input without options': [
      () => Input(bad(undefined)),
      'Input: shape must be given: write Input(shape, { batchSize }) or Input({ shape, batchSize })',
    ],
    'an Input of several numbers': [
      () => Input([2], bad(3)),
      'Input: only shape can be given by position; write { batchSize: 3 }',
    ],
    'an Input of a number': [
      () => Input({ shape: bad(2) }),
      'Input: shape must be a list of sizes without the batch',
    ],
    'outputs of other inputs': [
      () => new Model(Input({ shape: [2] }), dense()(Input({ shape: [2], name: 'other' }))),
      "the outputs depend on the input 'other', which is not among the model's inputs",
    ],
    'tensors instead of symbolic ones': [
      () =>
        new Model(
          bad({ inputs: x, outputs: x } satisfies Record<
            keyof Pick<ModelOptions, 'inputs' | 'outputs'>,
            unknown
          >),
        ),
      'inputs and outputs must be symbolic tensors: results of tf.Input',
    ],
    'a number among outputs in lists within a list': [
      () => new Model(Input([2]), [[bad(1)], Input([2])]),
      'inputs and outputs must be symbolic tensors: results of tf.Input',
    ],
    'an op on a symbolic tensor': [
      () => add(bad(Input({ shape: [2] })), 1),
      'got an object of class KerasTensor: it has no values; layers take it, so do its methods',
    ],
    'no such layer': [
      () => model(dense(1, { name: 'd' })).getLayer('hidden'),
      "no layer 'hidden'; there are 'd'",
    ],
    'a shape that is a number': [
      () => new Sequential([new Dense(3)]).buildFor(bad(3)),
      'a shape must be a list of sizes, batch first, got 3',
    ],
    'a shape with a hole': [
      () => new Sequential([new Dense(3)]).build(bad([null, undefined])),
      'dimensions must be integers of at least 0',
    ],
    'a summary on endless lines': [
      () => model().summary({ lineLength: 2 ** 40 }),
      'lines have at most 10000',
    ],
  },
  compiling: {
    'too late': [() => model().fit(x, y, quiet), 'call model.compile({ optimizer, loss }) first'],
    'an unknown loss': [
      // @ts-expect-error
      () => model().compile({ loss: 'mean_square' }),
      /there is no loss 'mean_square'; expected one of .*\bMeanSquaredError\b/,
    ],
    'the class of a loss': [
      () => model().compile({ loss: bad(losses.MeanSquaredError) }),
      'got the class MeanSquaredError: write new MeanSquaredError(…)',
    ],
    'the class of a metric': [
      () => model().compile({ loss: 'mse', metrics: [bad(metrics.AUC)] }),
      'got the class AUC: write new AUC(…)',
    ],
    'the class of an optimizer': [
      () => model().compile({ optimizer: bad(Adam), loss: 'mse' }),
      'got the class Adam: write new Adam(…)',
    ],
    'an unknown optimizer': [
      // @ts-expect-error
      () => model().compile({ optimizer: 'adan' }),
      "there is no optimizer 'adan'; expected one of SGD, RMSprop, Adam",
    ],
    'an unknown metric': [
      // @ts-expect-error
      () => model().compile({ loss: 'mse', metrics: ['acuracy'] }),
      "there is no metric 'acuracy'",
    ],
    'eagerly as text': [
      () => model().compile({ loss: 'mse', runEagerly: bad('no') }),
      "runEagerly is 'no', expected true or false",
    ],
    'metrics that are no list': [
      () => model().compile({ loss: 'mse', metrics: bad('accuracy') }),
      "metrics must be a list such as ['accuracy']",
    ],
  },
  training: {
    'without a loss': [
      () => {
        const made = model();
        made.compile({});
        return made.fit(x, y, quiet);
      },
      'the model has neither a loss nor regularization losses; give compile a loss',
    ],
    'without targets': [() => compiled().fit(x, quiet), 'the loss needs targets: pass y'],
    'without x': [
      () => compiled().fit(bad(undefined), y, quiet),
      'Model.fit: x must be given: write Model.fit(x, { y }) or Model.fit({ x, y })',
    ],
    'with fewer targets': [
      () => compiled().fit(x, ones([3, 1]), quiet),
      'y has 3 examples (shape [3, 1]), x has 4',
    ],
    'with other features': [
      () => compiled().fit(ones([4, 3]), y, quiet),
      'was built for a last axis of 2, got 3',
    ],
    'with labels for a loss of one-hot targets': [
      () => compiled('categoricalCrossentropy', 3).fit(x, constant([0, 1, 2, 1]), quiet),
      'yTrue [4] and yPred [4, 3] must have the same shape; sparseCategoricalCrossentropy takes labels',
    ],
    'with one-hot targets for a loss of labels': [
      () => compiled('sparseCategoricalCrossentropy', 3).fit(x, ones([4, 3]), quiet),
      'labels [4, 3] do not match predictions [4, 3]; expected [4] (categoricalCrossentropy takes one-hot targets)',
    ],
    'with a label that is no class': [
      () => compiled('sparseCategoricalCrossentropy', 3).fit(x, constant([0, 1, 2, 3]), quiet),
      /label 3 \(of row \d\) is outside of the 3 classes/,
    ],
    'with weights that fit nothing': [
      () => compiled().fit(x, y, { ...quiet, sampleWeight: ones([4, 3]) }),
      'sampleWeight [4, 3] does not match the losses [4]',
    ],
    'with fewer weights': [
      () => compiled().fit(x, y, { ...quiet, sampleWeight: [1, 2] }),
      'sampleWeight has 2 examples',
    ],
    'for epochs as text': [
      () => compiled().fit(x, y, { ...quiet, epochs: bad('3') }),
      'epochs must be an integer of at least 0',
    ],
    'in batches of 0': [
      () => compiled().fit(x, y, { ...quiet, batchSize: 0 }),
      'batchSize must be an integer of at least 1, got 0',
    ],
    'with a split in percent': [
      () => compiled().fit(x, y, { ...quiet, validationSplit: 20 }),
      'validationSplit must be in (0, 1), got 20',
    ],
    'with validation data in an object': [
      () => compiled().fit(x, y, { ...quiet, validationData: bad({ x, y }) }),
      'validationData must be [x, y]',
    ],
    'with validation data of four parts': [
      () => compiled().fit(x, y, { ...quiet, validationData: bad([x, y, y, y]) }),
      'validationData must be [x, y] or [x, y, sampleWeight]',
    ],
    'with half a step of validation': [
      () => compiled().fit(x, y, { ...quiet, validationData: [x, y], validationSteps: 0.5 }),
      'validationSteps must be an integer of at least 1, got 0.5',
    ],
    'with shuffle as text': [
      () => compiled().fit(x, y, { ...quiet, shuffle: bad('batch') }),
      "shuffle is 'batch', expected true or false",
    ],
    'with weights of classes in a list': [
      () => compiled().fit(x, y, { ...quiet, classWeight: bad([1, 2]) }),
      'classWeight must have a number for each label, { 0: 1, 1: 5 }; got [1, 2]',
    ],
    'with weights of classes by name': [
      () => compiled().trainOnBatch(x, y, { classWeight: bad({ cat: 1 }) }),
      "'cat' is no label",
    ],
    'with a weight of a class that is none': [
      () => compiled().fit(x, y, { ...quiet, classWeight: { 1: Number.NaN } }),
      'that of 1 is NaN',
    ],
    'with a loss that returns nothing': [
      () => compiled(bad(() => undefined)).fit(x, y, quiet),
      'a loss must return a tensor with one number per example, got undefined',
    ],
    'verbose: true': [
      () => compiled().fit(x, y, { verbose: bad(true) }),
      "verbose must be 0, 1, 2 or 'auto', got true",
    ],
    'with a callback that is in no list': [
      () => compiled().fit(x, y, { ...quiet, callbacks: bad(new callbacks.EarlyStopping()) }),
      'callbacks must be a list',
    ],
    'with the class of a callback': [
      () => compiled().fit(x, y, { ...quiet, callbacks: [bad(callbacks.EarlyStopping)] }),
      'callbacks contains the class EarlyStopping: write new EarlyStopping(…)',
    ],
    'with a function as a callback': [
      () => compiled().fit(x, y, { ...quiet, callbacks: [bad({ onEpochEnd: () => undefined })] }),
      'wrap functions in new LambdaCallback({ onEpochEnd: … })',
    ],
    'predicting with targets': [
      () => compiled().predict(x, bad(y)),
      'predict: only x can be given by position; write { batchSize: … }',
    ],
    'predicting other features': [
      () => compiled().predict(ones([4, 3])),
      'was built for a last axis of 2, got 3',
    ],
  },
  callbacks: {
    'a wrong thing to watch': [
      () => new callbacks.EarlyStopping({ monitor: bad(3) }),
      'monitor must be a string, got 3',
    ],
    'a mode that is none': [
      () => new callbacks.ModelCheckpoint('w', { mode: bad('least') }),
      "mode must be one of 'auto', 'min', 'max', got 'least'",
    ],
    'patience as a list': [
      () => new callbacks.EarlyStopping({ patience: bad([3]) }),
      'patience must be a number of at least 0, got [3]',
    ],
    'patience that is no number': [
      () => new callbacks.ReduceLROnPlateau({ patience: Number.NaN }),
      'patience must be a number of at least 0, got NaN',
    ],
    'a factor as a tensor': [
      () => new callbacks.ReduceLROnPlateau({ factor: bad(ones([])) }),
      'factor must be at least 0 and less than 1, got a tensor of float32 []',
    ],
    'a threshold as text': [
      () => new callbacks.ModelCheckpoint('w', { initialValueThreshold: bad('1') }),
      "initialValueThreshold must be a number, got '1'",
    ],
    'no path': [
      () => new callbacks.ModelCheckpoint(bad(undefined)),
      'ModelCheckpoint: filepath must be given: write new ModelCheckpoint(filepath',
    ],
    'an empty path': [() => new callbacks.TensorBoard(''), "the folder must be a path, got ''"],
    'a path with a zero byte': [() => new callbacks.CSVLogger('a\0b'), 'CSVLogger: the path must be a path'],
    'a folder that is none': [
      () => new callbacks.BackupAndRestore(bad(3)),
      'the folder must be a path, got 3',
    ],
    'a separator that is none': [
      () => new callbacks.CSVLogger(file('log'), { separator: '' }),
      "separator must be text, got ''",
    ],
    'a switch as text': [
      () => new callbacks.TensorBoard(file('logs'), { writeGraph: bad('no') }),
      "writeGraph is 'no', expected true or false",
    ],
    'functions in a list': [
      () => new callbacks.LambdaCallback(bad([])),
      'LambdaCallback: nothing is given by position; write { onTrainBegin: [] }',
    ],
    'a progress bar on a tensor': [
      () => new callbacks.ProgressBar('Epoch', bad(x)),
      'expected a stream to write to, got a tensor of float32 [4, 2]',
    ],
    'hyperparameters in a list': [
      () => new callbacks.HParams(file('hparams'), bad([1, 2])),
      'expected hyperparameters by name, got [1, 2]',
    ],
  },
  'losses and optimizers': {
    'a loss of one argument': [
      () => new losses.MeanSquaredError()(y, bad(undefined)),
      'yPred must be given: write',
    ],
    'a metric of one argument': [
      () => new metrics.Accuracy().updateState(y, bad(undefined)),
      'yPred must be given: write',
    ],
    'shapes that do not fit': [
      () => new losses.MeanSquaredError()(ones([4, 2]), ones([3, 2])),
      'the targets [4, 2] do not match the predictions [3, 2]',
    ],
    'a learning rate as text': [
      () => new Adam(bad('0.1')),
      "the learning rate must be a finite number of at least 0 or a schedule, got '0.1'",
    ],
    'a gradient that is in no list': [
      () => new SGD().applyGradients(ones([2]), bad(new Variable([1, 2]))),
      'a list of gradients and one of variables',
    ],
    'gradients and variables the other way round': [
      () => new SGD().applyGradients([bad(new Variable([1, 2]))], [bad(ones([2]))]),
      'expected variables after the gradients: applyGradients(gradients, variables)',
    ],
    'a negative clipnorm': [
      () => new SGD({ clipnorm: -1 }),
      'clipnorm must be a number of at least 0, got -1',
    ],
  },
  weights: {
    'of another number': [
      () => model(dense(1, { name: 'd' })).setWeights([ones([2, 1])]),
      /setWeights: 1 values for 2 weights \(sequential\w*\/d\/kernel \[2, 1\], sequential\w*\/d\/bias \[1\]\)/,
    ],
    'of another shape': [
      () => model().setWeights([ones([3, 1]), ones([1])]),
      /cannot assign float32 \[3, 1\] to the variable '.*kernel' of float32 \[2, 1\]/,
    ],
    'that are no list': [() => model().setWeights(bad(7)), 'setWeights: no list of values for 2 weights'],
    'of no path': [() => model().loadWeights(''), "the path of the weights must be a path, got ''"],
    'of a file that is not there': [() => model().loadWeights(file('none.npz')), 'there is no file'],
    'of a file that is something else': [
      () => {
        writeFileSync(file('text.npz'), 'hello');
        return model().loadWeights(file('text.npz'));
      },
      'expected a ZIP file',
    ],
    'of another model': [
      async () => {
        await model(dense(5)).saveWeights(file('wide.npz'));
        await model().loadWeights(file('wide.npz'));
      },
      'dense/kernel is float32 [2, 5], the model has float32 [2, 1]',
    ],
    'of a model with fewer layers': [
      async () => {
        await model().saveWeights(file('short.npz'));
        await model(dense(), new Dense(3)).loadWeights(file('short.npz'));
      },
      'the file lacks dense_1/kernel, dense_1/bias',
    ],
    'before there are any': [
      () => new Sequential([new Dense(3)]).saveWeights(file('new.npz')),
      'has no weights yet; call the model on an example',
    ],
    'from an initializer that is not one': [
      () => model(dense(1, { kernelInitializer: bad(() => [1, 2]) })),
      "the initializer of 'kernel' did not return a tensor",
    ],
  },
};

for (const [where, cases] of Object.entries(mistakes)) {
  describe(where, () => {
    test.each(Object.entries(cases))('%s', async (_, [make, expected]) => {
      const error: unknown = await Promise.resolve()
        .then(make)
        .then(
          () => undefined,
          (e: unknown) => e,
        );
      expect(error).toBeInstanceOf(EagreError);
      expect((error as Error).message).toMatch(expected);
    });
  });
}
