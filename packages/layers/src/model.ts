import type { LoadStatus } from '@eagre/checkpoint';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  type PartialShape,
  type Tensor,
  type TrackableView,
} from '@eagre/core';
import { argumentsOf, takesArguments } from '@eagre/core/internal';
import type { Logs } from './callbacks/callback.ts';
import type { History } from './callbacks/history.ts';
import {
  type CompileOptions,
  compile,
  isCompiled,
  type Metric,
  metricsOf,
  type Training,
  trainingOf,
} from './compile.ts';
import type { FitData, Inputs } from './data-adapter.ts';
import { evaluate, predict } from './evaluation.ts';
import { FunctionalGraph } from './functional.ts';
import type { KerasTensor } from './keras-tensor.ts';
import {
  builtin,
  type CallOptions,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  type Specs,
  specsOf,
  type TensorSpec,
  tryOut,
} from './layer.ts';
import { layerOptions } from './layers/weights.ts';
import {
  predictOnBatch,
  type TestOnBatchOptions,
  type TrainOnBatchOptions,
  testOnBatch,
  trainOnBatch,
} from './on-batch.ts';
import { markOwnSteps, resetMetrics } from './passes.ts';
import { loadWeights, saveWeights, unbuilt } from './saving.ts';
import { type Tensors, testStep, trainStep } from './steps.ts';
import { type SummaryOptions, summary } from './summary.ts';
import { layerChildren, numberedLayers } from './trackable.ts';
import { fit } from './training.ts';
import type { EvaluateOptions, FitOptions, PredictOptions, Targets } from './training-options.ts';

type Symbolic = KerasTensor | readonly KerasTensor[];

export interface ModelOptions extends LayerOptions {
  /** Of a functional model. */
  readonly inputs?: Symbolic;
  readonly outputs?: Symbolic;
}

/**
 * A layer that can be trained, evaluated and saved. Subclass it (layers as attributes, also in arrays and maps; `call`
 * computes), or describe it by `new Model(inputs, outputs)` or `new Model({ inputs, outputs })`, or use `Sequential`.
 */
export class Model extends Layer {
  /** Set it in a callback or a step, and `fit` ends after the current batch. */
  declare stopTraining: boolean;
  /** @internal */
  declare readonly _graph: FunctionalGraph | undefined;

  constructor(
    ...args: [options?: ModelOptions] | [inputs: Symbolic, outputs: Symbolic, options?: LayerOptions]
  ) {
    const options = argumentsOf<ModelOptions>(Model, new.target, args);
    super(options);
    const { inputs, outputs } = options;
    let graph: FunctionalGraph | undefined;
    if ((inputs === undefined) !== (outputs === undefined)) {
      throw new InvalidArgumentError('a functional model needs both inputs and outputs', this.name);
    }
    if (inputs !== undefined && outputs !== undefined) {
      graph = new FunctionalGraph(listOf(inputs), listOf(outputs), Array.isArray(outputs));
      this._layer.built = true;
    }
    Object.defineProperty(this, 'stopTraining', { value: false, writable: true });
    Object.defineProperty(this, '_graph', { value: graph });
  }

  /** The layers directly inside. */
  get layers(): Layer[] {
    return this.directLayers();
  }
  /** The layer of that name or index. @throws FailedPreconditionError when there is none. */
  getLayer(which: string | number): Layer {
    const { layers } = this;
    const found = typeof which === 'number' ? layers.at(which) : layers.find((l) => l.name === which);
    if (found === undefined) {
      throw new FailedPreconditionError(
        `no layer ${JSON.stringify(which)}; there are ${layers.map((l) => `'${l.name}'`).join(', ')}`,
        this.name,
      );
    }
    return found;
  }

  override call(inputs: LayerInput, options: CallOptions): LayerOutput {
    if (this._graph === undefined) return super.call(inputs, options);
    const values = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const results = this._graph.run(values, options);
    return this._graph.many ? results : (results[0] as Tensor);
  }

  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    if (this._graph === undefined) return super.computeOutputShape(inputShape);
    const { list, many } = this.computeOutputSpec(specsOf(inputShape, this.dtype));
    if (many) {
      throw new InvalidArgumentError(
        `the model has ${list.length} outputs, which have no single shape`,
        this.name,
      );
    }
    return (list[0] as TensorSpec).shape;
  }
  /** @internal */
  override computeOutputSpec(inputs: Specs): Specs {
    return this._graph === undefined ? super.computeOutputSpec(inputs) : this._graph.specs(inputs.list);
  }

  /**
   * Makes all weights for an input shape, batch first (`null`: any), those of layers inside included; for a subclassed model
   * by a call on zeros. A class may make layers and weights of its own here, as in `Layer`.
   */
  override build(_inputShape: PartialShape): void {}
  /** The same as `build`. */
  buildFor(inputShape: PartialShape | readonly PartialShape[]): void {
    this.buildFrom(specsOf(inputShape, this.dtype));
  }
  /** @internal */
  override buildFrom(inputs: Specs): void {
    super.buildFrom(inputs);
    if (unbuilt(this) !== undefined) this.buildInside(inputs);
  }
  /** @internal Makes the weights of the layers inside. */
  protected buildInside(inputs: Specs): void {
    tryOut(this, inputs);
  }

  /** @internal The layers inside get what the model gets. */
  override get passesOn(): boolean {
    return true;
  }

  /** @internal The input shape, batch first, where it is known before a call. */
  get knownInputShape(): PartialShape | undefined {
    if (this._graph !== undefined) return (this._graph.inputs[0] as KerasTensor).shape;
    return this._inputShape === undefined ? undefined : [null, ...this._inputShape];
  }

  override directLayers(): Layer[] {
    const own = super.directLayers();
    return this._graph === undefined ? own : [...new Set([...this._graph.layers, ...own])];
  }

  /** @internal The layers that checkpoints know by their places, and the place of the first one. */
  protected get numbered(): { readonly layers: readonly Layer[]; readonly first: number } {
    const graph = this._graph;
    return graph === undefined
      ? { layers: [], first: 0 }
      : { layers: graph.layers, first: graph.inputs.length };
  }
  /** What checkpoints save: the layers by their places, attributes by their names, and the optimizer of `compile`. */
  override trackableView(): TrackableView {
    const { layers, first } = this.numbered;
    const children = new Map<string, unknown>(numberedLayers(layers, first));
    for (const [name, child] of layerChildren(this, false)) children.set(name, child);
    if (isCompiled(this) && !children.has('optimizer')) children.set('optimizer', this.optimizer);
    return { children };
  }

  /** Sets what training needs: optimizer, loss, metrics; names (`'adam'`, `'mse'`, `'accuracy'`) or objects. */
  compile(options: CompileOptions = {}): void {
    compile(this, options);
  }
  /** @internal What `compile` made. @throws FailedPreconditionError before it. */
  get training(): Training {
    return trainingOf(this);
  }
  /** The names of the inputs of a functional model; null where they have none. */
  get inputNames(): string[] | null {
    return this._graph === undefined ? null : this._graph.inputs.map((t) => t.name);
  }
  /** The names of the layers that the outputs come from: what `compile` and `fit` know outputs by. Null where they have none. */
  get outputNames(): string[] | null {
    return this._graph === undefined
      ? null
      : this._graph.outputs.map((t) => t.producer?.layer.name ?? t.name);
  }

  /**
   * The mean loss and the metrics of `compile` (those whose kind depends on the targets from the first batch on), then metrics
   * among the attributes. All start anew with each epoch.
   */
  get metrics(): Metric[] {
    return metricsOf(this);
  }
  get optimizer(): Training['optimizer'] {
    return this.training.optimizer;
  }

  /**
   * Trains on examples: `x` and `y` as tensors, typed or nested arrays, `{ data, shape }`, or `x` as an iterable of batches
   * `[x, y]` or `[x, y, sampleWeight]`. For several inputs or outputs these are lists of tensors, or objects by the names of inputs
   * and of the layers that the outputs come from. Shows a progress bar on a terminal, lines elsewhere.
   * @returns the losses and metrics of each epoch.
   */
  async fit(x: FitData, y?: Targets | FitOptions, options?: FitOptions): Promise<History> {
    return fit(this, x, y, options);
  }
  /** The loss and the metrics on examples. */
  async evaluate(x: FitData, y?: Targets | EvaluateOptions, options?: EvaluateOptions): Promise<Logs> {
    return evaluate(this, x, y, options);
  }
  /** The outputs for all examples, batch by batch; of a model of several outputs a list: `predict<Tensor[]>(x)`. */
  async predict<T extends Tensors = Tensor>(x: FitData, options?: PredictOptions): Promise<NoInfer<T>> {
    return (await predict(this, x, options)) as T;
  }

  /** One step on one batch, at once. @returns its loss and metrics */
  trainOnBatch(x: Inputs, y?: Targets, options: TrainOnBatchOptions = {}): Logs {
    return trainOnBatch(this, x, y, options);
  }
  /** The loss and the metrics of one batch, at once. */
  testOnBatch(x: Inputs, y?: Targets, options: TestOnBatchOptions = {}): Logs {
    return testOnBatch(this, x, y, options);
  }
  /** The outputs for one batch, at once. */
  predictOnBatch<T extends Tensors = Tensor>(x: Inputs): NoInfer<T> {
    return predictOnBatch(this, x) as T;
  }
  /** Starts the loss and the metrics anew. */
  resetMetrics(): void {
    resetMetrics(this);
  }

  /** One step on one batch, used by `fit`: override it to train differently. @returns what is shown, by name. */
  trainStep(x: Tensors, y: Tensors | undefined, sampleWeight: Tensors | undefined): Logs {
    return trainStep(this, x, y, sampleWeight);
  }
  /** One batch of `evaluate`. */
  testStep(x: Tensors, y: Tensors | undefined, sampleWeight: Tensors | undefined): Logs {
    return testStep(this, x, y, sampleWeight);
  }

  /** Prints the layers, their output shapes and numbers of weights; `?` and `0 (unbuilt)` where they are not known yet. */
  summary(options: SummaryOptions = {}): void {
    summary(this, options);
  }

  /**
   * Writes the weights, whole or not at all: to a file that ends in `.safetensors` or `.npz`, or, under a path without an ending, as a
   * checkpoint of TensorFlow, with the state of the optimizer of `compile`.
   * @throws FailedPreconditionError before the model is built.
   */
  async saveWeights(path: string): Promise<void> {
    await saveWeights(this, path);
  }
  /**
   * Reads weights written by `saveWeights` into a model of the same structure. From a checkpoint, weights that do not exist yet get their
   * values when they are made.
   * @returns for a checkpoint its status, which tells what did not match; null for a file, in which everything must match.
   * @throws DataLossError for a damaged file, InvalidArgumentError where names or shapes differ; the model stays as it was.
   */
  async loadWeights(path: string): Promise<LoadStatus | null> {
    return loadWeights(this, path);
  }
}
builtin(Model);
markOwnSteps(Model.prototype.trainStep, Model.prototype.testStep);

function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

takesArguments<ModelOptions>(
  {
    positional: ['inputs', 'outputs'],
    required: 0,
    names: { inputs: true, outputs: true, ...layerOptions },
  },
  Model,
);
