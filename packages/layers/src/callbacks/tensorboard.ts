import { EagreError, InvalidArgumentError, UnimplementedError, type Variable } from '@eagre/core';
import {
  anyOption,
  argumentsOf,
  checkCount,
  flagOption,
  integerOption,
  type Option,
  setOptions,
  takesOptions,
} from '@eagre/core/internal';
import { MultiOptimizer } from '@eagre/optimizers';
import * as summary from '@eagre/summary';
import { enterWriter } from '@eagre/summary/internal';
import type { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { trainingOf } from '../trainers/compile.ts';
import { trainGraph } from '../trainers/steps.ts';
import { Callback, type FitParams, type Logs } from './callback.ts';
import { path } from './options.ts';
import { Projector } from './projector.ts';
import { weightImage } from './weight-image.ts';
import { weightTags } from './weight-tags.ts';

/** Options of `TensorBoard`. */
export interface TensorBoardOptions {
  /** After how many epochs histograms of the weights are written; 0, never, unless given. */
  readonly histogramFreq?: number;
  /** Write the layers of the model and, where training is traced, the graph of a training step; true unless given. */
  readonly writeGraph?: boolean;
  /** Write the weights as images too, with the histograms. */
  readonly writeImages?: boolean;
  /** Write how many batches are trained in a second, for each epoch and, with `updateFreq`, for batches. */
  readonly writeStepsPerSecond?: boolean;
  /**
   * How often logs are written. `'epoch'`, the default: only the means over epochs. `'batch'`, or a number of batches: also the logs of
   * each, or each so many; and what layers and losses write with `tf.summary` in these.
   */
  readonly updateFreq?: 'epoch' | 'batch' | number;
  /** 0: batches are not profiled. `f.getConcreteFunction(…).profile(…)` measures a traced function. */
  readonly profileBatch?: 0;
  /** After how many epochs the rows of embeddings are written for the projector; 0, never, unless given. */
  readonly embeddingsFreq?: number;
  /** The path of a file with a line for each row of all embeddings, or one for each layer by name; relative to the folder. */
  readonly embeddingsMetadata?: string | Readonly<Record<string, string>>;
}

/** All arguments of `TensorBoard`, by name. */
export interface TensorBoardArguments extends TensorBoardOptions {
  /** The folder, which is made if it is not there; `logs` unless given. */
  readonly logDir?: string;
}

/**
 * Writes what TensorBoard shows of a training: `model.fit(x, y, { callbacks: [new tf.keras.callbacks.TensorBoard('logs')] })`, then
 * `tensorboard --logdir logs`. Training goes into the run `train`, validation into `validation`, under Keras's tags: `epoch_loss`,
 * `epoch_learning_rate`, `evaluation_loss_vs_iterations`, `batch_loss`, `<model>/<layer>/<weight>/histogram`, without the name of a functional model.
 *
 * Other than in Keras, means over epochs are written also where `updateFreq` leaves out the last batch of an epoch.
 */
export class TensorBoard extends Callback {
  /** The folder, which is made if it is not there. */
  declare readonly logDir: string;
  /** After how many epochs histograms of the weights are written. */
  declare readonly histogramFreq: number;
  /** Write the layers of the model and, where training is traced, the graph of a training step. */
  declare readonly writeGraph: boolean;
  /** Write the weights as images too, with the histograms. */
  declare readonly writeImages: boolean;
  /** Write how many batches are trained in a second, for each epoch and, with `updateFreq`, for batches. */
  declare readonly writeStepsPerSecond: boolean;
  /**
   * How often logs are written. `'epoch'`: only the means over epochs. `'batch'`, or a number of batches: also the logs of each, or each so
   * many; and what layers and losses write with `tf.summary` in these.
   */
  declare readonly updateFreq: 'epoch' | 'batch' | number;
  /** 0: batches are not profiled. `f.getConcreteFunction(…).profile(…)` measures a traced function. */
  declare readonly profileBatch: 0;
  /** After how many epochs the rows of embeddings are written for the projector. */
  declare readonly embeddingsFreq: number;
  /** The path of a file with a line for each row of all embeddings, or one for each layer by name; relative to the folder. */
  declare readonly embeddingsMetadata: TensorBoardOptions['embeddingsMetadata'];
  readonly #projector: Projector | null;
  #writers = new Map<'train' | 'validation', summary.SummaryWriter>();
  /** The runs that batches belong to, innermost last; none without `updateFreq`. */
  #runs: ('train' | 'validation')[] = [];
  #training = false;
  #graphWritten = false;
  #trainBatch = 0;
  #testBatch = 0;
  #batchStart = 0;
  #epochStart = 0;
  #epochIterations = 0;

  /**
   * @param logDir the folder, which is made if it is not there.
   * @throws InvalidArgumentError for frequencies that are no counts, and for unknown options; UnimplementedError for `profileBatch`.
   */
  constructor(...args: [logDir?: string | TensorBoardArguments, options?: TensorBoardOptions]) {
    super();
    setOptions(this, argumentsOf<TensorBoardArguments>(TensorBoard, new.target, args));
    const { logDir, embeddingsFreq, embeddingsMetadata } = this;
    this.#projector = embeddingsFreq > 0 ? new Projector(logDir, embeddingsMetadata) : null;
    if (embeddingsMetadata !== undefined && this.#projector === null)
      throw new InvalidArgumentError(
        'embeddingsMetadata has no effect without embeddingsFreq',
        'TensorBoard',
      );
  }

  /** After how many batches something is written; 0 for never. */
  get #batches(): number {
    const { updateFreq } = this;
    if (updateFreq === 'epoch') return 0;
    return updateFreq === 'batch' ? 1 : updateFreq;
  }

  /** @internal */
  override attach(model: Model, params: FitParams): void {
    super.attach(model, params);
    this.#projector?.check(model);
    this.#graphWritten = !this.writeGraph;
  }

  /** @internal */
  override close(): void {
    this.#runs = [];
    for (const writer of this.#writers.values()) writer.close();
    this.#writers.clear();
    this.#training = false;
  }

  override onTrainBegin(): void {
    this.#training = true;
    this.#trainBatch = 0;
    this.#testBatch = 0;
    const outline = this.writeGraph ? jsonOf(this.model) : null;
    if (outline !== null) {
      const metadata = { plugin_data: { plugin_name: 'graph_keras_model', content: Uint8Array.of(0x31) } };
      this.#always('train', () => summary.write('keras', outline, { step: 0, metadata }));
    }
    this.#enter('train');
  }
  override onTrainEnd(): void {
    this.close();
  }

  override onEpochBegin(): void {
    this.#epochStart = performance.now();
    this.#epochIterations = this.#iterations;
  }
  override onTrainBatchBegin(): void {
    this.#trainBatch++;
    this.#batchStart = performance.now();
  }
  /** @internal */
  override readsBatches(kind: 'train' | 'test' | 'predict'): boolean {
    return super.readsBatches(kind, TensorBoard.prototype) || (kind === 'train' && this.#batches > 0);
  }
  override onTrainBatchEnd(_batch: number, logs: Logs): void {
    if (!this.#graphWritten) this.#writeTrainGraph();
    // Without the scope of a batch there may still be a default writer of the user's.
    if (this.#batches === 0) return;
    const step = this.#trainBatch;
    const steps = 1000 / (performance.now() - this.#batchStart);
    if (this.writeStepsPerSecond) summary.scalar('batch_steps_per_second', steps, { step });
    for (const [name, value] of Object.entries(logs)) summary.scalar(`batch_${name}`, value, { step });
  }
  override onEpochEnd(epoch: number, logs: Logs): void {
    const { histogramFreq, embeddingsFreq, writeStepsPerSecond } = this;
    const entries = Object.entries(logs);
    const train = entries.filter(([name]) => !name.startsWith('val_'));
    const { optimizer } = trainingOf(this.model);
    // Whose optimizers have learning rates of their own.
    if (!(optimizer instanceof MultiOptimizer)) train.push(['learning_rate', optimizer.learningRate]);
    if (writeStepsPerSecond) {
      const seconds = (performance.now() - this.#epochStart) / 1000;
      train.push(['steps_per_second', (this.#iterations - this.#epochIterations) / seconds]);
    }
    const validation = entries.filter(([name]) => name.startsWith('val_'));
    this.#epochScalars('train', epoch, train);
    this.#epochScalars(
      'validation',
      epoch,
      validation.map(([name, value]) => [name.slice('val_'.length), value]),
    );
    if (histogramFreq > 0 && epoch % histogramFreq === 0)
      this.#always('train', () => this.#writeWeights(epoch));
    if (embeddingsFreq > 0 && epoch % embeddingsFreq === 0) this.#projector?.write(this.model, epoch);
  }

  override onTestBegin(): void {
    this.#enter('validation');
  }
  override onTestBatchBegin(): void {
    this.#testBatch++;
  }
  override onTestEnd(logs: Logs): void {
    const step = this.#iterations;
    this.#always('validation', () => {
      for (const [name, value] of Object.entries(logs))
        summary.scalar(`evaluation_${name}_vs_iterations`, value, { step });
    });
    this.#runs.pop();
    // `evaluate` by itself: nothing follows that would close them.
    if (!this.#training) this.close();
  }

  get #iterations(): number {
    return Number(trainingOf(this.model).optimizer.iterations.item());
  }

  #writer(run: 'train' | 'validation'): summary.SummaryWriter {
    let writer = this.#writers.get(run);
    if (writer === undefined)
      this.#writers.set(run, (writer = summary.createFileWriter(`${this.logDir}/${run}`)));
    return writer;
  }

  #enter(run: 'train' | 'validation'): void {
    if (this.#batches > 0) this.#runs.push(run);
  }

  /** @internal Makes the writer of the run the default one, for what the model and callbacks write in batches that are recorded. */
  override aroundStep(step: () => void): void {
    const run = this.#runs.at(-1);
    if (run === undefined) {
      step();
      return;
    }
    const batch = run === 'train' ? this.#trainBatch : this.#testBatch;
    const leave = enterWriter(this.#writer(run), batch);
    try {
      summary.recordIf(batch % this.#batches === 0, step);
    } finally {
      leave();
    }
  }

  /** Writes into a run whatever condition holds outside. */
  #always(run: 'train' | 'validation', write: () => void): void {
    this.#writer(run).asDefault(() => summary.recordIf(true, write));
  }

  #epochScalars(
    run: 'train' | 'validation',
    step: number,
    values: readonly (readonly [string, number])[],
  ): void {
    if (values.length === 0) return;
    this.#always(run, () => {
      for (const [name, value] of values) summary.scalar(`epoch_${name}`, value, { step });
    });
  }

  #writeTrainGraph(): void {
    this.#graphWritten = true;
    const graph = trainGraph(this.model);
    if (graph !== null) this.#always('train', () => summary.graph(graph));
  }

  #writeWeights(step: number): void {
    for (const [variable, tag] of weightTags(this.model)) {
      summary.histogram(`${tag}/histogram`, variable, { step });
      if (this.writeImages) this.#writeImage(`${tag}/image`, variable, step);
    }
  }
  #writeImage(tag: string, weight: Variable, step: number): void {
    const image = weightImage(weight);
    if (image !== null) summary.image(tag, image, { step });
  }
}
/** A sequential or functional model as Keras writes it; null for others, and for what no file holds, which still trains. */
function jsonOf(model: Model): string | null {
  if (!(model instanceof Sequential) && model._graph === undefined) return null;
  try {
    return model.toJSON();
  } catch (error) {
    if (error instanceof EagreError) return null;
    throw error;
  }
}
const updateFreq: Option<'epoch' | 'batch' | number> = {
  read: (given = 'epoch', name) => {
    if (given !== 'epoch' && given !== 'batch') checkCount(given, name, 'TensorBoard', 1);
    return given as 'epoch' | 'batch' | number;
  },
};
const profileBatch: Option<0> = {
  read: (given) => {
    if (given === undefined || given === 0) return 0;
    throw new UnimplementedError(
      'profiling batches is not supported: leave out profileBatch; f.getConcreteFunction(…).profile(…) measures a traced function',
      'TensorBoard',
    );
  },
};
takesOptions<TensorBoardArguments, TensorBoard>(
  {
    positional: ['logDir'],
    required: 0,
    options: {
      logDir: path('the folder', 'logs'),
      histogramFreq: integerOption(0, 0),
      writeGraph: flagOption(true),
      writeImages: flagOption(false),
      writeStepsPerSecond: flagOption(false),
      updateFreq,
      profileBatch,
      embeddingsFreq: integerOption(0, 0),
      embeddingsMetadata: anyOption<TensorBoardOptions['embeddingsMetadata']>(undefined),
    },
  },
  TensorBoard,
);
