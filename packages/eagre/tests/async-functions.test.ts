import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// Functions that nothing waits for must not be async. Where one is, an error says so at once, and the promise, which may be
// rejected later, does not end the process.

const { layers } = tf;
const { Dataset } = tf.data;

// biome-ignore lint/suspicious/noExplicitAny: a function of no type that is expected
const late: any = async () => {
  await null;
  throw new Error('rejected later');
};

const folder = mkdtempSync(join(tmpdir(), 'eagre-async-functions-'));
afterAll(() => rmSync(folder, { recursive: true }));
const recorded = (): unknown => {
  using writer = tf.summary.createFileWriter(folder);
  return writer.asDefault(() => tf.summary.recordIf(late, () => tf.summary.scalar('a', 1, { step: 0 })));
};

const x = tf.ones([4, 2]);
const y = tf.ones([4, 1]);
const fit = async (options: object, compiled: object = {}): Promise<unknown> => {
  const model = new tf.Sequential([new layers.Dense(1, { inputShape: [2], ...options })]);
  model.compile({ loss: 'mse', ...compiled });
  return await model.fit(x, y, { epochs: 1, verbose: 0 });
};
const taped = (): unknown => {
  const v = new tf.Variable([1]);
  using tape = new tf.GradientTape();
  const z = tf.customGradient((a: tf.Tensor) => [a.mul(2), late])(v.read());
  return tape.gradient(z, v);
};
class LateUpdate extends tf.metrics.Metric {
  override updateState = late;
  override result = (): tf.Tensor => tf.constant(1);
}
class LateResult extends tf.metrics.Metric {
  override updateState = (): void => {};
  override result = late;
}
class LateBuild extends tf.optimizers.Optimizer {
  override build = late;
}
class LateStep extends tf.optimizers.Optimizer {
  override updateStep = late;
}
const ofOne = (): tf.data.Dataset<tf.Tensor> => Dataset.range(3);

const places: Record<string, () => unknown> = {
  scope: () => tf.experimental.scope(late),
  'tape.record': () => new tf.GradientTape().record(late),
  'tape.stopRecording': () => new tf.GradientTape().stopRecording(late),
  withBackend: () => tf.experimental.withBackend('js', late),
  nameScope: () => tf.nameScope('a', late),
  customGradient: () => tf.customGradient(late)(1),
  'the gradient of customGradient': taped,
  gradientsFunction: () => tf.autodiff.gradientsFunction(late)(1),
  implicitGradients: () => tf.autodiff.implicitGradients(late)(),
  function: () => tf.function(late)(1),
  cond: () => tf.cond(tf.constant(true), late, late),
  'cond that is traced': () => tf.function((p: tf.Tensor) => tf.cond(p, late, late))(tf.constant(true)),
  switchCase: () => tf.switchCase(tf.constant(0, 'int32'), [late]),
  case: () => tf.case([[tf.constant(true), late]]),
  'the condition of whileLoop': () => tf.whileLoop(late, (i: tf.Tensor) => i, [tf.constant(0)]),
  'the body of whileLoop': () => tf.whileLoop(() => tf.constant(true), late, [tf.constant(0)]),
  mapFn: () => tf.mapFn(late, x),
  foldl: () => tf.foldl(late, x),
  scan: () => tf.scan(late, x),
  vectorizedMap: () => tf.vectorizedMap(late, x),
  hostFunction: () => tf.experimental.hostFunction(late, [x], { dtype: 'float32', shape: [1] }),
  constant: () => tf.constant(late()),
  'Dataset.fromTensorSlices': () => Dataset.fromTensorSlices(late()),
  'Dataset.reduce': () => ofOne().reduce(tf.constant(0), late),
  'Dataset.map, at once': () => [...ofOne().map(late)],
  'Dataset.filter, at once': () => [...ofOne().filter(late)],
  'Dataset.map, traced': () => [...ofOne().map((e) => late(e))],
  'Dataset.flatMap': () => [...ofOne().flatMap(late)],
  'summary.recordIf': recorded,
  'recordIf around': () => tf.summary.recordIf(true, late),
  activation: () => new layers.Dense(1, { activation: late })(x),
  'activation in fit': () => fit({ activation: late }),
  Activation: () => new layers.Activation(late)(x),
  Lambda: () => new layers.Lambda(late)(x),
  initializer: () => new layers.Dense(1, { kernelInitializer: late })(x),
  'initializer of addWeight': () => new tf.keras.Layer().addWeight({ shape: [1], initializer: late }),
  regularizer: () => fit({ kernelRegularizer: late }),
  constraint: () => fit({ kernelConstraint: late }),
  'activity regularizer': () => fit({ activityRegularizer: late }),
  addLoss: () => new tf.keras.Layer().addLoss(late()),
  loss: () => fit({}, { loss: late }),
  metric: () => fit({}, { metrics: [late] }),
  MeanMetricWrapper: () => new tf.metrics.MeanMetricWrapper(late).updateState(y, y),
  'updateState of a metric in fit': () => fit({}, { metrics: [new LateUpdate()] }),
  'updateState of a metric': () => new LateUpdate()(1, 2),
  'result of a metric in fit': () => fit({}, { metrics: [new LateResult()] }),
  'result of a metric, at once': () => fit({}, { metrics: [new LateResult()], runEagerly: true }),
  'result of a metric': () => new LateResult()(1, 2),
  'initializer of a metric': () => new tf.metrics.Mean().addWeight({ initializer: late }),
  'build of an optimizer': () => fit({}, { optimizer: new LateBuild(0.1) }),
  'updateStep of an optimizer': () => fit({}, { optimizer: new LateStep(0.1) }),
  'the variables of optimizer.minimize': () => new tf.optimizers.SGD().minimize(() => tf.constant(1), late),
  'optimizer.minimize': () => new tf.optimizers.SGD().minimize(late, [new tf.Variable(1)]),
  'learning rate': () => new tf.optimizers.SGD({ learningRate: late }).learningRate,
};

const unhandled: unknown[] = [];
const note = (error: unknown): unknown => unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => process.off('unhandledRejection', note));

test.each(Object.entries(places))('%s', async (_, call) => {
  const error = await (async () => call())().then(
    () => undefined,
    (e: unknown) => e,
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(unhandled).toEqual([]);
  expect(error).toBeInstanceOf(tf.errors.EagreError);
  expect(String(error)).toMatch(/promise|async/);
});
