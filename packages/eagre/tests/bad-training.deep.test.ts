import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fuzzCalls, type Subject } from '@eagre/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as tf from '../src/index.ts';

// What compile, fit, evaluate, predict and callbacks take, wrong in a place or two.

const ROUNDS = 60;

// Checkpoints may be written beside a folder, with its name.
const folder = join(temporaryFolder('bad-training'), 'given');
mkdirSync(folder);
/** Wherever a wrong path leads, it is below the folder of this test. */
const inside = (path: unknown): string =>
  typeof path === 'string' ? join(folder, `_${path}`) : path === undefined ? folder : (path as string);

const before = process.cwd();
beforeAll(() => {
  // Where no path is given, logs are written where the program runs.
  process.chdir(folder);
  for (const method of ['log', 'warn'] as const)
    vi.spyOn(console, method).mockImplementation(() => undefined);
});
afterAll(() => {
  process.chdir(before);
  vi.restoreAllMocks();
});

type Compile = Parameters<tf.Model['compile']>[0];
const modes: readonly boolean[] = [false, true];

const one = (compile: Compile = {}): tf.Sequential => {
  const model = new tf.Sequential([
    new tf.layers.Dense(3, { inputShape: [2], activation: 'softmax', name: 'd' }),
  ]);
  model.compile({
    optimizer: 'sgd',
    loss: 'sparseCategoricalCrossentropy',
    metrics: ['accuracy'],
    ...compile,
  });
  return model;
};
const two = (compile: Compile = {}): tf.Model => {
  const a = tf.Input({ shape: [2], name: 'a' });
  const b = tf.Input({ shape: [2], name: 'b' });
  const sum = new tf.layers.Add()([a, b]);
  const outputs = [new tf.layers.Dense(1, { name: 'u' })(sum), new tf.layers.Dense(2, { name: 'v' })(sum)];
  const model = new tf.Model([a, b], outputs);
  model.compile({ optimizer: 'sgd', loss: 'mse', ...compile });
  return model;
};
const x = (): tf.Tensor => tf.ones([6, 2]);
const labels = (): tf.Tensor => tf.constant([0, 1, 2, 0, 1, 2], 'int32');
const batches = (): unknown[] => [
  [tf.ones([2, 2]), tf.constant([0, 1], 'int32')],
  [tf.ones([2, 2]), tf.constant([0, 1], 'int32'), tf.ones([2])],
];
/** Lists of batches come as iterables that can be gone through again, unless they are something else now. */
const source = (list: unknown): unknown => (Array.isArray(list) ? new Set(list) : list);
/** Epochs take their time: that of a few is enough. */
const few = (options: unknown): object => {
  const o = options as Record<string, unknown>;
  return o !== null && typeof o === 'object' && typeof o.epochs === 'number' && o.epochs > 5
    ? { ...o, epochs: 5 }
    : o;
};

const fitting: readonly Subject[] = modes.flatMap((runEagerly) => [
  {
    name: `fit${runEagerly ? ', eagerly' : ''}`,
    args: () => [
      x(),
      labels(),
      {
        epochs: 2,
        initialEpoch: 0,
        batchSize: 4,
        stepsPerEpoch: 2,
        shuffle: true,
        sampleWeight: tf.ones([6]),
        classWeight: { 0: 1, 1: 2 },
        validationData: [x(), labels(), tf.ones([6])],
        validationBatchSize: 3,
        validationSteps: 1,
        validationFreq: 1,
        callbacks: [new tf.keras.callbacks.TerminateOnNaN()],
      },
    ],
    call: (...[a, b, options]: Parameters<tf.Model['fit']>) =>
      one({ runEagerly }).fit(a, b, { ...few(options), verbose: 0 }),
  },
]);

const training: readonly Subject[] = [
  ...fitting,
  {
    name: 'fit with a part held back',
    args: () => [x(), labels(), { epochs: 1, verbose: 0, validationSplit: 0.5 }],
    call: (...[a, b, options]: Parameters<tf.Model['fit']>) =>
      one({ runEagerly: true }).fit(a, b, { ...few(options), verbose: 0 }),
  },
  {
    name: 'fit without limits on options',
    args: () => [x(), labels(), { verbose: 0, epochs: 1 }],
    call: (...[a, b, options]: Parameters<tf.Model['fit']>) =>
      one({ runEagerly: true }).fit(
        a,
        b,
        (options as { verbose?: unknown })?.verbose === 0 ? few(options) : options,
      ),
  },
  {
    name: 'fit on batches',
    args: () => [
      batches(),
      { epochs: 2, stepsPerEpoch: 1, validationData: batches(), classWeight: { 0: 2 } },
    ],
    call: (list: unknown, options: { validationData?: unknown }) =>
      one({ runEagerly: true }).fit(source(list) as never, {
        ...few(options),
        ...(options?.validationData !== undefined && {
          validationData: source(options.validationData) as never,
        }),
        verbose: 0,
      }),
  },
  ...(['fit', 'evaluate', 'predict'] as const).map(
    (method): Subject => ({
      name: `${method} on a data set`,
      args: () => [method === 'predict' ? x() : [x(), labels(), tf.ones([6])], 2, { verbose: 0 }],
      call: (slices: never, size: number, options: never) => {
        const model = one({ runEagerly: true });
        const run = model[method] as (...args: unknown[]) => unknown;
        return run.call(model, tf.data.Dataset.fromTensorSlices(slices).batch(size), options);
      },
    }),
  ),
  {
    name: 'fit on what is generated',
    args: () => [batches(), { stepsPerEpoch: 1, verbose: 0 }],
    call: (list: never[], options: never) =>
      one({ runEagerly: true }).fit(
        (async function* () {
          yield* list;
        })(),
        options,
      ),
  },
  {
    name: 'fit of several outputs on a data set',
    args: () => [
      [
        { a: x(), b: x() },
        { u: tf.ones([6, 1]), v: tf.ones([6, 2]) },
      ],
      { verbose: 0 },
    ],
    call: (slices: never, options: never) =>
      two({ runEagerly: true }).fit(tf.data.Dataset.fromTensorSlices(slices).batch(3), options),
  },
  {
    name: 'fit of several outputs',
    args: () => [
      { a: x(), b: x() },
      { u: tf.ones([6, 1]), v: tf.ones([6, 2]) },
      {
        sampleWeight: { u: tf.ones([6]), v: tf.ones([6]) },
        validationData: [
          [x(), x()],
          [tf.ones([6, 1]), tf.ones([6, 2])],
        ],
      },
    ],
    call: (...[a, b, options]: Parameters<tf.Model['fit']>) =>
      two({ runEagerly: true }).fit(a, b, { ...options, epochs: 1, verbose: 0 }),
  },
  {
    name: 'evaluate',
    args: () => [
      x(),
      labels(),
      { batchSize: 4, steps: 1, sampleWeight: tf.ones([6]), callbacks: [], verbose: 0 },
    ],
    call: (...[a, b, options]: Parameters<tf.Model['evaluate']>) =>
      one({ runEagerly: true }).evaluate(a, b, options),
  },
  {
    name: 'evaluate on batches',
    args: () => [batches(), { steps: 1, verbose: 0 }],
    call: (list: unknown, options: never) =>
      one({ runEagerly: true }).evaluate(source(list) as never, options),
  },
  {
    name: 'predict',
    args: () => [x(), { batchSize: 4, steps: 1, callbacks: [], verbose: 0 }],
    call: (...args: Parameters<tf.Model['predict']>) => one().predict(...args),
  },
  {
    name: 'predict on batches',
    args: () => [[tf.ones([2, 2]), [tf.ones([2, 2])]], { steps: 1, verbose: 0 }],
    call: (list: unknown, options: never) => one().predict(source(list) as never, options),
  },
  {
    name: 'trainOnBatch',
    args: () => [x(), labels(), { sampleWeight: tf.ones([6]), classWeight: { 0: 1, 2: 3 } }],
    call: (...args: Parameters<tf.Model['trainOnBatch']>) => one({ runEagerly: true }).trainOnBatch(...args),
  },
  {
    name: 'testOnBatch',
    args: () => [x(), labels(), { sampleWeight: tf.ones([6]) }],
    call: (...args: Parameters<tf.Model['testOnBatch']>) => one({ runEagerly: true }).testOnBatch(...args),
  },
  { name: 'predictOnBatch', args: () => [x()], call: (a: tf.Tensor) => one().predictOnBatch(a) },
  {
    name: 'predictOnBatch of several outputs',
    args: () => [{ a: x(), b: x() }],
    call: (a: never) => two().predictOnBatch<tf.Tensor[]>(a),
  },
  {
    name: 'compile',
    args: () => [
      {
        optimizer: new tf.optimizers.SGD(0.1),
        loss: 'sparseCategoricalCrossentropy',
        lossWeights: 2,
        metrics: ['accuracy', new tf.metrics.SparseCategoricalAccuracy('m')],
        weightedMetrics: ['accuracy'],
        runEagerly: true,
      },
    ],
    call: (options: Compile) => one(options).trainOnBatch(x(), labels()),
  },
  {
    name: 'compile with functions',
    args: () => [
      {
        loss: (a: tf.Tensor, b: tf.Tensor) => a.sub(b).square(),
        metrics: [(a: tf.Tensor, b: tf.Tensor) => a.sub(b).abs()],
      },
    ],
    call: (options: Compile) => one({ ...options, runEagerly: true }).trainOnBatch(x(), tf.ones([6, 3])),
  },
  {
    name: 'compile of several outputs',
    args: () => [
      {
        loss: { u: 'mse', v: 'mae' },
        lossWeights: { u: 1, v: 0.5 },
        metrics: { u: ['mae'], v: [] },
        weightedMetrics: [[], ['mse']],
        runEagerly: true,
      },
    ],
    call: (options: Compile) => two(options).trainOnBatch([x(), x()], [tf.ones([6, 1]), tf.ones([6, 2])]),
  },
  {
    name: 'build',
    args: () => [[null, 2]],
    call: (shape: never) => new tf.Sequential([new tf.layers.Dense(1)]).buildFor(shape),
  },
  {
    name: 'summary',
    args: () => [{ lineLength: 60, positions: [0.5, 0.8, 1] }],
    call: (options: never) => one().summary(options),
  },
  {
    name: 'saveWeights',
    args: () => ['w.npz'],
    call: async (path: string) => {
      const model = one();
      await model.saveWeights(inside(path));
      return model.loadWeights(inside(path));
    },
  },
  {
    name: 'setWeights',
    args: () => [[tf.ones([2, 3]), tf.ones([3])]],
    call: (values: never) => one().setWeights(values),
  },
];

type Made = new (...args: never[]) => tf.keras.callbacks.Callback;
/** Two epochs with a callback, which may be made with a path. */
const using = (name: string, make: Made, args: () => readonly unknown[], path = false): Subject => ({
  name,
  args,
  call: (...given: never[]) => {
    const callback = new make(...((path ? [inside(given[0]), ...given.slice(1)] : given) as never[]));
    return one({ runEagerly: true }).fit(x(), labels(), {
      epochs: 3,
      verbose: 0,
      callbacks: [callback],
      validationData: [x(), labels()],
    });
  },
});
const c = tf.keras.callbacks;
const monitored = { monitor: 'loss', mode: 'min', minDelta: 0.1 };
const callbacks: readonly Subject[] = [
  using('EarlyStopping', c.EarlyStopping, () => [
    { ...monitored, patience: 1, baseline: 2, restoreBestWeights: true, startFromEpoch: 0, verbose: 0 },
  ]),
  using('ReduceLROnPlateau', c.ReduceLROnPlateau, () => [
    { ...monitored, factor: 0.5, patience: 1, cooldown: 1, minLr: 0.001, verbose: 0 },
  ]),
  using('LearningRateScheduler', c.LearningRateScheduler, () => [
    (_: number, rate: number) => rate * 0.5,
    { verbose: 0 },
  ]),
  using('LambdaCallback', c.LambdaCallback, () => [
    { onEpochEnd: () => undefined, onTrainBatchEnd: () => undefined, onTrainBegin: () => undefined },
  ]),
  using('CSVLogger', c.CSVLogger, () => ['log.csv', { separator: ';', append: false }], true),
  using(
    'ModelCheckpoint',
    c.ModelCheckpoint,
    () => [
      'w-{epoch:02d}.npz',
      { ...monitored, saveBestOnly: true, saveFreq: 'epoch', initialValueThreshold: 3, verbose: 0 },
    ],
    true,
  ),
  using(
    'BackupAndRestore',
    c.BackupAndRestore,
    () => ['backup', { saveFreq: 1, doubleCheckpoint: true, deleteCheckpoint: true }],
    true,
  ),
  using(
    'TensorBoard',
    c.TensorBoard as Made,
    () => [
      'board',
      {
        histogramFreq: 1,
        writeGraph: true,
        writeImages: true,
        writeStepsPerSecond: true,
        updateFreq: 1,
        profileBatch: 0,
        embeddingsFreq: 0,
      },
    ],
    true,
  ),
  using('HParams', c.HParams, () => ['hparams', { units: 3, name: 'a', flag: true }, { trialId: 't' }], true),
  using('SwapEMAWeights', c.SwapEMAWeights, () => [{ swapOnEpoch: true }]),
  using('RemoteMonitor', c.RemoteMonitor, () => [
    'http://localhost:1',
    { path: '/', field: 'data', headers: { a: 'b' }, sendAsJson: true },
  ]),
  using('CallbackList', c.CallbackList, () => [
    [],
    { addHistory: true, addProgbar: false, epochs: 1, steps: 3, verbose: 0 },
  ]),
  using('ProgressBar', c.ProgressBar as Made, () => ['Epoch', { write: () => true }]),
];

it('training gives a value or one of our errors', async () => {
  const findings = await fuzzCalls(training, ROUNDS);
  expect(findings.list('training').slice(0, 30)).toEqual([]);
  expect(findings.values).toBeGreaterThan(findings.calls / 20);
});

it('callbacks give a value or one of our errors', async () => {
  const findings = await fuzzCalls(callbacks, ROUNDS);
  expect(findings.list('callbacks').slice(0, 30)).toEqual([]);
  expect(findings.values).toBeGreaterThan(findings.calls / 20);
});
