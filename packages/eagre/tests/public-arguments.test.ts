// Every public function, class and method says what it takes, so that all refuse in one way what they do not take.
import { type Declared, declared, methodNames, parametersOf, shown } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

type AnyFunction = (...args: unknown[]) => unknown;

const isClass = (fn: object): boolean => Object.getOwnPropertyDescriptor(fn, 'prototype')?.writable === false;
/** A module, or what a bundle has in its place: an object of getters. */
const isNamespace = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === '[object Module]' ||
  (typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length > 0 &&
    Object.values(Object.getOwnPropertyDescriptors(value)).every(({ get }) => get !== undefined));

const exceptions: ReadonlySet<string> = new Set([
  // It prints whatever it is given, objects too.
  'print',
  // They may be given to what calls with more than they look at, such as `filter`, and the test runner.
  'isTensor',
  'debugging.equalityTester',
  // With options alone it gives a decorator.
  'function',
]);

/** Methods that the library calls and classes of users define, and those of the language. */
const hooks: ReadonlySet<string> = new Set([
  'toString',
  'toJSON',
  'next',
  'return',
  'trackableView',
  'defaultSaveSignature',
  'build',
  'buildFrom',
  'buildInside',
  'call',
  'computeLoss',
  'computeMask',
  'computeMetrics',
  'computeOutputShape',
  'computeOutputSpec',
  'directLayers',
  'fromConfig',
  'getBuildConfig',
  'getConfig',
  'predictStep',
  'testStep',
  'trainStep',
  // A decorator.
  'withNameScope',
  // Called for every tensor that the library makes.
  'Tensor.dispose',
  // Of variables.
  'awaitUse',
  'describe',
  'exchange',
  'moveTo',
  'popped',
  'taken',
  'writable',
  'checkSlices',
  'checkUpdates',
  'rewrite',
  // Of arrays of tensors.
  'dense',
  'differs',
  'emptied',
  'hasGrown',
  'hasShape',
  'rowsOfAnyNumber',
  'takeShape',
  'withRows',
  // Of graphs and sessions.
  'assignmentOf',
  'createSlots',
  'finish',
  'group',
  'initializerOf',
  'makeSlots',
  'nodeOf',
  'part',
  'valueOf',
  'updateStep',
  // Of layers, for the library itself.
  'arranged',
  'attributeMetrics',
  'ensureBuilt',
  'toIntegers',
  'invokeInside',
  'optionsShape',
  'present',
  'specsOfCall',
  'symbolic',
  'LSTM.fused',
  'LSTMCell.firstBias',
  'LSTMCell.step',
  'RNN.checkSequence',
  'RNN.run',
  'RNN.sequenceConfig',
  'RNN.steps',
  'StackedRNNCells.masks',
  // It hands on what `updateState` takes.
  'Metric.statelessUpdateState',
  // Of callbacks.
  'Callback.aroundStep',
  'Callback.readsBatches',
  'Callback.attach',
  'Callback.close',
  'Callback.setModel',
  'Callback.setParams',
  ...Object.getOwnPropertyNames(tf.keras.callbacks.Callback.prototype).filter((name) =>
    /^on[A-Z]/.test(name),
  ),
]);

/** Methods that are protected in TypeScript: only a class that extends theirs can call them. */
const protectedOnes: ReadonlySet<string> = new Set([
  'addAllSlots',
  'countStep',
  'addSlot',
  'addSlots',
  'applyPairs',
  'applyWeightDecay',
  'checkpointList',
  'checkpointName',
  'count',
  'decayOf',
  'evaluate',
  'finalizeAll',
  'fullDecayOf',
  'indexOf',
  'invoke',
  'mask',

  'momentaryScalars',
  'momentaryStep',
  'reduced',
  'runKernel',
  'scaled',
  'slot',
  'targets',
  'updateAll',
  'updateRows',
]);

interface Found {
  readonly name: string;
  readonly fn: AnyFunction;
  readonly takes: Declared | undefined;
  readonly isClass: boolean;
}

/** Everything that can be called, once, under the first of its names. */
function walk(space: object, before = '', seen = new Set<object>()): Found[] {
  const members = Object.entries(space);
  // Namespaces first, whatever order their members have.
  const inner = members.filter(([, value]) => isNamespace(value));
  return [...inner, ...members].flatMap(([key, value]): Found[] => {
    const name = `${before}${key}`;
    if (isNamespace(value)) {
      if (seen.has(value)) return [];
      seen.add(value);
      return walk(value, `${name}.`, seen);
    }
    if (typeof value !== 'function' || seen.has(value as object)) return [];
    seen.add(value as object);
    const fn = value as AnyFunction;
    return [{ name, fn, takes: declared(fn), isClass: isClass(fn) }];
  });
}

const all = walk(tf).filter(({ name }) => !exceptions.has(name));

/** Whose methods hold the rule as well. */
const classes: Readonly<Record<string, { readonly prototype: object }>> = {
  Dataset: tf.data.Dataset,
  DatasetIterator: tf.data.DatasetIterator,
  TFRecordWriter: tf.data.TFRecordWriter,
  CheckpointManager: tf.train.CheckpointManager,
  CheckpointReader: tf.train.CheckpointReader,
  Generator: tf.random.Generator,
  GradientTape: tf.GradientTape,
  Loss: tf.losses.Loss,
  MeanSquaredError: tf.losses.MeanSquaredError,
  Metric: tf.metrics.Metric,
  Mean: tf.metrics.Mean,
  MeanMetricWrapper: tf.metrics.MeanMetricWrapper,
  AUC: tf.metrics.AUC,
  FBetaScore: tf.metrics.FBetaScore,
  Precision: tf.metrics.Precision,
  Layer: tf.layers.Layer,
  RNN: tf.layers.RNN,
  LSTM: tf.layers.LSTM,
  LSTMCell: tf.layers.LSTMCell,
  StackedRNNCells: tf.layers.StackedRNNCells,
  Callback: tf.keras.callbacks.Callback,
  Model: tf.Model,
  Optimizer: tf.optimizers.Optimizer,
  Adam: tf.optimizers.Adam,
  MultiOptimizer: tf.optimizers.MultiOptimizer,
  LossScaleOptimizer: tf.optimizers.LossScaleOptimizer,
  DTypePolicy: tf.keras.DTypePolicy,
  OptimizerMap: tf.optimizers.OptimizerMap,
  Config: tf.keras.utils.Config,
  Progbar: tf.keras.utils.Progbar,
  PyDataset: tf.keras.utils.PyDataset,
  LearningRateSchedule: tf.optimizers.schedules.LearningRateSchedule,
  CosineDecay: tf.optimizers.schedules.CosineDecay,
  Sequential: tf.Sequential,
  Graph: tf.compat.v1.Graph,
  Session: tf.compat.v1.Session,
  InteractiveSession: tf.compat.v1.InteractiveSession,
  VariableScope: tf.compat.v1.VariableScope,
  Saver: tf.compat.v1.train.Saver,
  'v1.Optimizer': tf.compat.v1.train.Optimizer,
  SummaryWriter: tf.summary.SummaryWriter,
  Module: tf.Module,
  ExportArchive: tf.keras.export.ExportArchive,
  Tensor: tf.Tensor,
  TensorArray: tf.TensorArray,
  TensorSpec: tf.TensorSpec,
  Variable: tf.Variable,
};
const methods = Object.entries(classes).flatMap(([name, c]) =>
  [c, c.prototype].flatMap((of) =>
    Object.entries(Object.getOwnPropertyDescriptors(of))
      .filter(
        ([key, { value }]) =>
          typeof value === 'function' && key !== 'constructor' && !methodNames.includes(key),
      )
      .map(([key, { value }]) => {
        const fn = value as AnyFunction;
        return { name: `${name}.${key}`, key, fn, takes: declared(fn), isClass: false };
      })
      // Some classes declare even these.
      .filter(
        ({ name, key, takes }) =>
          takes !== undefined || !(hooks.has(key) || hooks.has(name) || protectedOnes.has(key)),
      ),
  ),
);

// What does not declare what it takes, each for a reason. What is new does not get here.
const reasons: Readonly<Record<string, readonly string[]>> = {
  'errors, made to be thrown': [
    'autograph.AutographError',
    'errors.AbortedError',
    'errors.AlreadyExistsError',
    'errors.CancelledError',
    'errors.DataLossError',
    'errors.DeadlineExceededError',
    'errors.EagreError',
    'errors.FailedPreconditionError',
    'errors.InternalError',
    'errors.InvalidArgumentError',
    'errors.NotFoundError',
    'errors.OperatorNotAllowedInGraphError',
    'errors.OutOfRangeError',
    'errors.PermissionDeniedError',
    'errors.ResourceExhaustedError',
    'errors.UnauthenticatedError',
    'errors.UnavailableError',
    'errors.UnimplementedError',
    'errors.UnknownError',
    'keras.datasets.DatasetError',
  ],
  'made by the library alone: by tf.config, tf.function, sessions, pipelines, strategies, loadCheckpoint, createFileWriter, fromSeed, constant, Input, ragged.constant':
    [
      'types.experimental.ConcreteFunction',
      'keras.KerasTensor',
      'RaggedTensor',
      'TypeSpec',
      // This is tf.Tensor.
      'experimental.numpy.ndarray',
      'compat.v1.Operation',
      'compat.v1.UninitializedVariables',
      'compat.v1.VariableScope',
      'config.LogicalDevice',
      'config.PhysicalDevice',
      'data.Dataset',
      'data.DatasetIterator',
      'data.FolderDataset',
      'data.experimental.Optional',
      'distribute.DistributedDataset',
      'distribute.DistributedIterator',
      'distribute.coordinator.PerWorkerDataset',
      'distribute.coordinator.PerWorkerIterator',
      'distribute.coordinator.PerWorkerResource',
      'distribute.coordinator.RemoteValue',
      'experimental.ExtensionTypeSpec',
      'experimental.RowPartition',
      'random.experimental.Generator',
      'summary.SummaryWriter',
      'train.CheckpointReader',
      'types.experimental.AtomicFunction',
      'types.experimental.Callable',
      'types.experimental.GenericFunction',
    ],
  'the names that it takes are those of what is saved': ['train.Checkpoint'],
  'bases of classes, without objects of their own': [
    'distribute.CrossDeviceOps',
    'distribute.Strategy',
    'distribute.experimental.partitioners.Partitioner',
    'distribute.clusterResolver.ClusterResolver',
    'experimental.BatchableExtensionType',
    'experimental.ExtensionType',
    'experimental.ExtensionTypeBatchEncoder',
    'keras.distribution.Distribution',
    'queue.QueueBase',
    'train.experimental.PythonState',
  ],
};

test('every public function, class and method declares its arguments', () => {
  const without = [...all, ...methods]
    .filter(({ fn, takes }) => takes === undefined && parametersOf(fn) === undefined)
    .map(({ name }) => name);
  expect(without.sort()).toEqual(Object.values(reasons).flat().sort());
});

/** What a call throws, at once or by its promise. */
async function refusal(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

const declaredOnes = [...all, ...methods].flatMap(({ name, fn, takes }) =>
  takes === undefined ? [] : [{ name, fn, takes }],
);

describe.each(declaredOnes)('$name', ({ fn, takes }) => {
  const { positional, required, options, rest, objects } = takes;
  const before = positional.map(() => 1);
  const refused = async (message: string | RegExp, ...args: unknown[]): Promise<void> => {
    const error = await refusal(() => fn.apply(undefined, args));
    expect(error).toBeInstanceOf(tf.errors.InvalidArgumentError);
    expect((error as Error).message).toMatch(message);
  };

  test('refuses unknown options, those given twice, and what is too much', async () => {
    // Where a list of plain objects may follow, these would be two of them.
    if (objects.includes(rest ?? '')) return;
    await refused("'bogus' is not an option", ...before, { bogus: 1 });
    if (positional[0] !== undefined)
      await refused('by position and by name', ...before, { [positional[0]]: 1 });
    if (rest !== undefined) return;
    const [option] = Object.keys(options);
    await refused(option === undefined ? 'takes at most' : `write { ${option}: 17 }`, ...before, 17);
  });

  test('says what is missing', async () => {
    if (required === 0) return;
    await refused(`${positional.slice(0, required).join(' and ')} must be given: write`);
    if (!objects.includes(positional[0] as string)) await refused('must be given: write', {});
  });
});

test('methods and functions of functions take their arguments by name', () => {
  const { Dataset } = tf.data;
  const numbers = (d: tf.data.Dataset<tf.Tensor>): unknown[] => [...d].map((x) => x.array());
  expect(numbers(Dataset.range({ start: 1, stop: 4 }).map({ mapFunc: (x) => x.mul(2) }))).toEqual([
    2n,
    4n,
    6n,
  ]);
  expect(numbers(Dataset.range({ stop: 3 }).batch({ batchSize: 2, dropRemainder: true }))).toEqual([
    [0n, 1n],
  ]);
  expect(numbers(Dataset.fromTensorSlices({ tensors: [1, 2] }).batch(2, null))).toEqual([[1, 2]]);
  expect([...Dataset.zip({ datasets: [Dataset.range(1), Dataset.range(1)] } as never)]).toHaveLength(1);
  const g = tf.random.Generator.fromSeed({ seed: 1 });
  expect(g.uniform({ shape: [2], minval: 3, maxval: 4 }).shape).toEqual([2]);
  expect(g.normal([2], null).shape).toEqual([2]);
  expect(
    tf.autodiff
      .grad({ fn: (x) => x.mul(x) })(3)
      .item(),
  ).toBe(6);
  expect(() => (tf.autodiff.grad((x) => x) as AnyFunction)(1, 2)).toThrow(
    'write tf.autodiff.gradientsFunction(fn)',
  );
  expect(tf.nameScope({ name: 'a', fn: () => 3 })).toBe(3);
  expect(() => tf.device('/cpu:0', 3 as never)).toThrow(tf.errors.InvalidArgumentError);
  expect(tf.experimental.promote({ a: 'int32', b: 'int64' })).toBe('int64');
  expect(() => tf.experimental.promote('int32', 'nonsense' as never)).toThrow('is not a dtype');
});

describe('values that do not turn into text are refused by typed errors', () => {
  const unprintable = {
    toString(): string {
      throw new RangeError('no text');
    },
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const x = tf.ones([2, 2]);
  const calls: Readonly<Record<string, (bad: never) => unknown>> = {
    oneHot: (bad) => tf.oneHot([0, 1], 2, { onValue: bad }),
    stridedSlice: (bad) => tf.stridedSlice(x, [0], [1], [1], { beginMask: bad }),
    bandPart: (bad) => tf.linalg.bandPart(x, bad, 0),
    topK: (bad) => tf.math.topK(x, bad),
    clipByGlobalNorm: (bad) => tf.clipByGlobalNorm([x], bad),
    zeros: (bad) => tf.zeros([2], bad),
    einsum: (bad) => tf.einsum(bad, x),
    seed: (bad) => tf.random.Generator.fromSeed(bad),
    concatenate: (bad) => tf.data.Dataset.range(2).concatenate(bad),
  };
  test.each(Object.entries(calls))('%s', (_, call) => {
    for (const bad of [Symbol('s'), [Symbol('s')], unprintable])
      expect(() => call(bad as never)).toThrow(tf.errors.InvalidArgumentError);
  });

  test('messages show them', () => {
    expect(() => tf.linalg.bandPart(x, Symbol('s') as never, 0)).toThrow('must be an integer, got Symbol(s)');
    expect(shown(proxy)).toBe('a value of type object that cannot be looked at');
    expect(shown(Object.create(null))).toBe('an object');
    expect(() =>
      tf.data.Dataset.range(1).concatenate(new tf.layers.Dense(2, { name: 'mine' }) as never),
    ).toThrow("got an object of class Dense named 'mine'");
  });
});
