// An object of each public class of Keras that is here, whose members can be asked for.
import { parametersOf } from '@eagre/core/internal';
import { requiredArguments } from '../../../layers/src/testing/layer-arguments.ts';
import * as tf from '../../src/index.ts';

const { keras } = tf;
const { distribution } = keras;

const model = new tf.Sequential([tf.Input([2]), new tf.layers.Dense(1, { name: 'd' })]);
const mesh = new distribution.DeviceMesh([1], ['batch'], { devices: ['cpu:0'] });
const few = { dataset: [[1]], tokenizer: (text: string) => [text.length] };

/** What constructors must be given, by the names of the classes; those of layers are in `layer-arguments.ts`. */
const given: Readonly<Record<string, () => unknown[]>> = {
  DTypePolicy: () => ['float32'],
  FloatDTypePolicy: () => ['float32'],
  Optimizer: () => [0.1],
  Variable: () => [1],
  BackupAndRestore: () => ['folder'],
  CSVLogger: () => ['file'],
  LearningRateScheduler: () => [() => 0.1],
  ModelCheckpoint: () => ['file.keras'],
  Distiller: () => [model, model, new keras.distillation.LogitsDistillation()],
  DataParallel: () => [{ deviceMesh: mesh }],
  DeviceMesh: () => [[1], ['batch'], { devices: ['cpu:0'] }],
  FeatureDistillation: () => [new tf.losses.MeanSquaredError(), 'd', 'd'],
  TensorLayout: () => [['batch'], { deviceMesh: mesh }],
  AWQDTypePolicy: () => ['awq/4/128', 'float32'],
  GPTQDTypePolicy: () => ['gptq/4/128', 'float32'],
  Int4DTypePolicy: () => ['int4/128', 'float32'],
  QuantizedDTypePolicy: () => ['int8', 'float32'],
  QuantizedFloat8DTypePolicy: () => ['float8', 'float32'],
  InputLayer: () => [{ shape: [2] }],
  IoU: () => [2, [0]],
  MeanIoU: () => [2],
  OneHotIoU: () => [2, [0]],
  OneHotMeanIoU: () => [2],
  MeanMetricWrapper: () => [tf.losses.meanSquaredError],
  PrecisionAtRecall: () => [0.5],
  RecallAtPrecision: () => [0.5],
  SensitivityAtSpecificity: () => [0.5],
  SpecificityAtSensitivity: () => [0.5],
  LossScaleOptimizer: () => [new tf.optimizers.SGD(0.1)],
  MultiOptimizer: () => [new keras.optimizers.OptimizerMap(new tf.optimizers.SGD(0.1))],
  OptimizerMap: () => [new tf.optimizers.SGD(0.1)],
  CosineDecay: () => [0.1, 10],
  CosineDecayRestarts: () => [0.1, 10],
  ExponentialDecay: () => [0.1, 10, 0.9],
  InverseTimeDecay: () => [0.1, 10, 0.9],
  PiecewiseConstantDecay: () => [[1], [0.1, 0.2]],
  PolynomialDecay: () => [0.1, 10],
  AWQConfig: () => [few],
  GPTQConfig: () => [few],
  FeatureSpace: () => [{ x: 'float' }],
  Progbar: () => [10],
  KerasTensor: () => [[2]],
  Constant: () => [1],
  Bidirectional: () => [new tf.layers.LSTM(2)],
  Pipeline: () => [[new tf.layers.RandomFlip()]],
  RNN: () => [new tf.layers.GRUCell(2)],
  StackedRNNCells: () => [[new tf.layers.GRUCell(2)]],
  SpectralNormalization: () => [new tf.layers.Dense(1)],
  TimeDistributed: () => [new tf.layers.Dense(1)],
  Wrapper: () => [new tf.layers.Dense(1)],
};

const spec = new tf.TensorSpec([2]);
/** The same of classes that are not Keras's. */
const others: Readonly<Record<string, () => unknown[]>> = {
  DType: () => ['float32'],
  IndexedSlices: () => [[[1, 2]], [0]],
  OptionalSpec: () => [spec],
  SparseTensor: () => [[[0, 1]], [2], [2, 2]],
  TensorArray: () => ['float32'],
  TensorShape: () => [[2]],
  TensorSpec: () => [[2]],
  ForwardAccumulator: () => [tf.ones([2]), tf.ones([2])],
  HParams: () => ['folder', {}],
  AdagradOptimizer: () => [0.1],
  GradientDescentOptimizer: () => [0.1],
  MomentumOptimizer: () => [0.1, 0.9],
  DatasetSpec: () => [spec],
  FixedLenFeature: () => [[2], 'float32'],
  FixedLenSequenceFeature: () => [[2], 'float32'],
  FixedLengthRecordDataset: () => ['file', 4],
  CsvDataset: () => ['file', [0]],
  IteratorSpec: () => [spec],
  JsonLinesDataset: () => ['file'],
  TFRecordDataset: () => ['file'],
  TextLineDataset: () => ['file'],
  VarLenFeature: () => ['float32'],
  DatasetInitializer: () => [tf.data.Dataset.range(2)],
};

/** @throws what the constructor throws. */
export function objectOf(name: string, made: unknown): object {
  const args = (given[name] ?? (() => requiredArguments(name)))();
  // Initializers and what is like them are functions here.
  const isClass = /^class\b/.test(Function.prototype.toString.call(made));
  return isClass
    ? new (made as new (...args: unknown[]) => object)(...args)
    : (made as (...args: unknown[]) => object)(...args);
}

/** What a class must be given, by the names of the arguments. */
export function argumentsByName(name: string, made: object): Readonly<Record<string, unknown>> {
  const args = (given[name] ?? others[name] ?? (() => requiredArguments(name)))();
  const { positional = [] } = parametersOf(made) ?? {};
  const byPosition = args.slice(0, positional.length).map((value, i) => [positional[i]!, value]);
  return { ...Object.fromEntries(byPosition), ...(args[positional.length] as object | undefined) };
}
