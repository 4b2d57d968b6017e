// Types in a circle: a model trains with callbacks, which see the model.

import type { CheckpointOptions, LoadStatus } from '@eagre/checkpoint';
import {
  FailedPreconditionError,
  type HostArray,
  InvalidArgumentError,
  type PartialShape,
  type Tensor,
  type TensorLike,
  type TrackableView,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkConfig,
  checkFlag,
  checkOptionNames,
  defineMethods,
  isPlain,
  optionsFrom,
  shown,
  takesOptions,
  tree,
} from '@eagre/core/internal';
import type { CalibratedConfig, QuantizationLayerStructure } from '../calibrated-quantizers.ts';
import type { Logs } from '../callbacks/callback.ts';
import type { History } from '../callbacks/history.ts';
import type { Tensors } from '../layer/batch-tensors.ts';
import { isSymbolic } from '../layer/call.ts';
import type { QuantizationMode } from '../layer/dtype-policy.ts';
import { along, isDeep } from '../layer/forms.ts';
import { withInner } from '../layer/inside.ts';
import {
  type CallOptions,
  inferOutputSpec,
  isGeneralConfig,
  Layer,
  type LayerOptions,
  type LayerOutput,
  ownsTemporaries,
  type QuantizeLayerOptions,
  readable,
  type Specs,
  type Symbolic,
  specsOf,
  type TensorSpec,
} from '../layer/layer.ts';
import { uniqueName } from '../layer/naming.ts';
import { takesCall } from '../layer/own-call.ts';
import { shapesOfSpecs } from '../layer/specs.ts';
import type { Values } from '../layer/stateless.ts';
import { layerChildren, numberedLayers } from '../layer/trackable.ts';
import { configFor } from '../layers/core/adapted.ts';
import { layerOptions } from '../layers/weights.ts';
import { tellIfBeingRead } from '../saving/being-read.ts';
import type { ExportOptions } from '../saving/export.ts';
import type { LoadWeightsOptions, SaveOptions, SaveWeightsOptions } from '../saving/keras-files.ts';
import { kerasJson } from '../saving/keras-json.ts';
import {
  type AllSaveWeightsOptions,
  loadWeights,
  loadWeightsOptionNames,
  save,
  saveOptionNames,
  saveWeights,
  unbuilt,
} from '../saving/saving.ts';
import { type SerializedLayer, serializeLayer, withCustomObjects } from '../saving/serialization.ts';
import { defaultSaveSignature } from '../saving/signature.ts';
import {
  type CompileOptions,
  compile,
  compileConfig,
  compileOptionNames,
  isCompiled,
  type Metric,
  metricResults,
  metricsOf,
  noteStrategy,
  optionsOfCompile,
  type StepLogs,
  type Training,
  trainingOf,
} from '../trainers/compile.ts';
import type { FitData, Inputs } from '../trainers/data-adapter.ts';
import {
  markOwnFunctions,
  type PredictFunction,
  predictFunction,
  type StepFunction,
  stepFunction,
} from '../trainers/functions.ts';
import { loops } from '../trainers/late.ts';
import {
  predictOnBatch,
  type TestOnBatchOptions,
  type TrainOnBatchOptions,
  testOnBatch,
  testOptionNames,
  trainOnBatch,
  trainOptionNames,
} from '../trainers/on-batch.ts';
import {
  computeLoss,
  computeMetrics,
  type LossArguments,
  markOwnSteps,
  type StatelessLoss,
  statelessComputeLoss,
  test,
  train,
} from '../trainers/steps.ts';
import {
  batchOptionNames,
  type EvaluateOptions,
  evaluateOptionNames,
  type FitOptions,
  fitOptionNames,
  type PredictOptions,
  type Targets,
} from '../trainers/training-options.ts';
import { calibrate } from './calibration.ts';
import { FunctionalGraph } from './functional.ts';
import { type FunctionalConfig, functionalConfig, functionalFromConfig } from './functional-config.ts';
import { KerasTensor } from './keras-tensor.ts';
import { getStateTree, type StateTree, setStateTree } from './state-tree.ts';
import { type SummaryOptions, summary, summaryOptionNames } from './summary.ts';

/** What all models take. */
export interface ModelOptions extends LayerOptions {
  /** Of a functional model. */
  readonly inputs?: Symbolic;
  /** What the model gives, made of `inputs` by layers: one, a list, or an object of them. */
  readonly outputs?: Symbolic;
}

export interface JsonOptions {
  /** How many spaces stand before what lies one level deeper; all is one line unless given. */
  readonly indent?: number | string;
}

/** Examples by name, among the options. */
interface ByName {
  /** The inputs: a tensor, several by position or name, or batches such as a `Dataset`. */
  readonly x: FitData;
  /** The targets, in the order of the examples; none where `x` has them. */
  readonly y?: Targets | null;
}
interface BatchByName {
  /** The inputs of the batch. */
  readonly x: Inputs;
  /** The targets of the batch. */
  readonly y?: Targets | null;
}

type ModelArguments =
  | [options?: ModelOptions]
  | [inputs: Symbolic, outputs: Symbolic, options?: LayerOptions];

/** Of `model.quantize`. */
export interface QuantizeOptions extends QuantizeLayerOptions {
  /** Which layers: by name, or by a function that says it; all of them unless given. */
  readonly filters?: string | RegExp | readonly (string | RegExp)[] | ((layer: Layer) => boolean) | null;
}

/** @throws InvalidArgumentError for what is no filter */
function filterOf(filters: unknown, op: string): (layer: Layer) => boolean {
  if (filters === null) return () => true;
  if (typeof filters === 'function') return (layer) => Boolean((filters as (of: Layer) => unknown)(layer));
  const list: readonly unknown[] = Array.isArray(filters) ? filters : [filters];
  if (!list.every((one) => typeof one === 'string' || one instanceof RegExp))
    throw new InvalidArgumentError(
      `filters must be a pattern, a list of patterns or a function of a layer, got ${shown(filters)}`,
      op,
    );
  const patterns = list.map((one) => new RegExp(one as string | RegExp));
  return (layer) => patterns.some((pattern) => pattern.test(layer.name));
}

/**
 * A layer that can be trained, evaluated and saved. Subclass it (layers as attributes, also in arrays and maps; `call`
 * computes), or describe it by `new Model(inputs, outputs)` or `new Model({ inputs, outputs })`, or use `Sequential`.
 */
export class Model extends Layer {
  /** Set it in a callback or a step, and `fit` ends after the current batch. */
  declare stopTraining: boolean;
  /** The loss as `compile` got it; null where there is none. A class may have a field of that name for something else. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a field of a subclass holds has to fit
  declare readonly loss: any;
  /** @internal */
  declare readonly _graph: FunctionalGraph | undefined;

  constructor(...args: ModelArguments) {
    const options = argumentsOf<ModelOptions>(Model, new.target, argumentsOfModel(args));
    const { inputs, outputs } = options;
    const isFunctional = new.target === Model && inputs !== undefined;
    // A class that hands no options on has none from a configuration either.
    const all = isFunctional ? { ...options, name: options.name ?? uniqueName('Functional') } : options;
    super(...(args.length === 0 ? [] : [all]));
    let graph: FunctionalGraph | undefined;
    if ((inputs === undefined) !== (outputs === undefined)) {
      throw new InvalidArgumentError('a functional model needs both inputs and outputs', this.name);
    }
    if (inputs !== undefined && outputs !== undefined) {
      graph = new FunctionalGraph(inputs, outputs);
      this._layer.built = true;
    }
    Object.defineProperty(this, 'stopTraining', { value: false, writable: true });
    Object.defineProperty(this, '_graph', { value: graph });
    noteStrategy(this);
  }

  /** The layers directly inside; of a functional model first those of its inputs. Calls of ops are none, as in Keras: see `operations`. */
  get layers(): Layer[] {
    return this.operations.filter((one) => !one.isOperation);
  }
  /** The layers, and of a functional model the calls of ops between them, as the summary shows them. */
  get operations(): Layer[] {
    const inside = this.directLayers();
    return this._graph === undefined ? inside : [...new Set([...this._graph.allLayers, ...inside])];
  }
  /**
   * Quantizes all layers inside that can be, as `layer.quantize` does; the others stay as they are: `model.quantize('int8')`. Compile the model anew
   * behind it. The modes are `int8`, `int4` and `float8`; with a config also `gptq` and `awq`, which quantize the kernels in blocks of layers by what these
   * see of samples, and leave all other layers as they are. (In Keras 3.15 they see none of the samples: the result is that of rounding.)
   * @param options.filters which layers: by a pattern that their name has in it, by several of which one has to fit, or by a function of the layer
   * @throws FailedPreconditionError for a layer that is not built, or is quantized already
   */
  override quantize(mode?: QuantizationMode | null, options?: QuantizeOptions | null): void;
  override quantize(
    options: {
      /** The kind of quantization: `int8`, `int4`, `float8`, `gptq` or `awq`; that of the `config` unless given. */
      readonly mode?: QuantizationMode | null;
    } & QuantizeOptions,
  ): void;
  override quantize(mode?: unknown, options?: QuantizeOptions | null): void {
    const wanted = filterOf(options?.filters ?? null, this.name);
    const config = configFor(this, mode, options?.config);
    if (config.mode === 'gptq' || config.mode === 'awq') {
      const own = config as CalibratedConfig;
      const structure = own.quantizationLayerStructure ?? this.getQuantizationLayerStructure(config.mode);
      calibrate(own, structure, wanted, this.name);
      return;
    }
    for (const layer of withInner(this)) {
      if (layer === this || layer.sublayers.length > 0 || !wanted(layer)) continue;
      // As in Keras, what cannot be of the mode stays as it is.
      if (config.mode === 'float8' && (layer as { readonly takesFloat8?: boolean }).takesFloat8 === false)
        continue;
      if (layer.toIntegers !== Layer.prototype.toIntegers) layer.toIntegers(mode, options?.config);
    }
  }

  /** Which layers `quantize` calibrates, where the config does not say it. Override it; null here. */
  getQuantizationLayerStructure(_mode: 'gptq' | 'awq'): QuantizationLayerStructure | null {
    return null;
  }

  /** The layer of that name or index. @throws FailedPreconditionError when there is none. */
  getLayer(name: string | number): Layer;
  getLayer(
    options:
      | {
          /** The `name` of the layer. */
          readonly name: string;
        }
      | {
          /** The number of the layer in `layers`, from 0 on. */
          readonly index: number;
        },
  ): Layer;
  getLayer(name?: string | number | object, { index }: { readonly index?: number } = {}): Layer {
    const { layers } = this;
    if ((name === undefined) === (index === undefined))
      throw new InvalidArgumentError('give either a name or an index', 'getLayer');
    const which = name ?? index;
    const found = typeof which === 'number' ? layers.at(which) : layers.find((l) => l.name === which);
    if (found === undefined) {
      throw new FailedPreconditionError(
        `no layer ${shown(which)}; there are ${layers.map((l) => `'${l.name}'`).join(', ')}`,
        this.name,
      );
    }
    return found;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a class of one's own says what it takes
  override call(inputs: any, ...rest: any[]): LayerOutput {
    const [options = {}] = rest as [CallOptions?];
    if (this._graph === undefined) return super.call(inputs);
    return this._graph.run(inputs, options);
  }

  // biome-ignore lint/suspicious/noExplicitAny: a model says how many outputs it has
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): any {
    if (this._graph === undefined) return super.computeOutputShape(inputShape);
    const { inputs } = this._graph.given;
    if (isPlain(inputShape) || isDeep(inputs))
      return shapesOfSpecs(this._graph.specs(specsIn(inputShape, inputs, this._graph.inputNames)));
    return shapesOfSpecs(this.computeOutputSpec(specsOf(inputShape, this.computeDtype)));
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
  buildFor(
    inputShape:
      | PartialShape
      | readonly PartialShape[]
      | {
          /** With the batch dimension, which may be `null`; one shape for each input. */
          readonly inputShape: PartialShape | readonly PartialShape[];
        },
  ): void;
  buildFor(inputShape: PartialShape | readonly PartialShape[]): void {
    this.buildFrom(specsOf(inputShape, this.computeDtype));
  }
  /** @internal */
  override buildFrom(inputs: Specs): void {
    super.buildFrom(inputs);
    if (unbuilt(this) !== undefined) this.buildInside(inputs);
  }
  /** @internal Makes the weights of the layers inside. */
  protected buildInside(inputs: Specs): void {
    inferOutputSpec(this, inputs);
  }

  /** @internal The layers inside get what the model gets. */
  override get passesOn(): boolean {
    return true;
  }

  /** @internal The input shape, batch first, where it is known before a call. */
  get knownInputShape(): PartialShape | undefined {
    if (this._graph !== undefined) return this._graph.inputs[0].shape;
    return this._inputShape === undefined ? undefined : [null, ...this._inputShape];
  }

  override directLayers(): Layer[] {
    const own = super.directLayers();
    return this._graph === undefined ? own : [...new Set([...this._graph.layers, ...own])];
  }

  /** @internal The layers that checkpoints know by their places; null in the place of an input. */
  protected get numbered(): readonly (Layer | null)[] {
    return this._graph?.nodes.map((node) => (node instanceof KerasTensor ? null : node)) ?? [];
  }
  /** What checkpoints save: the layers by their places, attributes by their names, and the optimizer of `compile`. */
  override trackableView(): TrackableView {
    const children = new Map<string, unknown>(numberedLayers(this.numbered));
    for (const [name, child] of layerChildren(this, false)) children.set(name, child);
    if (isCompiled(this) && !children.has('optimizer')) children.set('optimizer', this.optimizer);
    return { children };
  }

  /** Sets what training needs: optimizer, loss, metrics; names (`'adam'`, `'mse'`, `'accuracy'`) or objects. */
  compile(options?: CompileOptions | null): void {
    compile(this, options ?? {});
  }
  /** @internal What `compile` made. @throws FailedPreconditionError before it. */
  get training(): Training {
    return trainingOf(this);
  }
  /** The names of the inputs of a functional model; null where they have none. */
  get inputNames(): string[] | null {
    return this._graph === undefined ? null : [...this._graph.inputNames];
  }
  /**
   * What `compile` and `fit` know outputs by: the names by which a functional model gives them, else those of the layers that they come
   * from. Null where they have none.
   */
  get outputNames(): string[] | null {
    if (this._graph === undefined) return null;
    return [...(this._graph.keys ?? this._graph.outputs.map((t) => t.producer?.layer.name ?? t.name))];
  }
  /** @internal The structure of the outputs of a functional model; that of one for others, which are not described. */
  get outputForm(): unknown {
    return this._graph?.given.outputs ?? null;
  }
  /** @internal The structure of the inputs. */
  get inputForm(): unknown {
    return this._graph?.given.inputs ?? null;
  }
  /** The symbolic inputs of a functional model. @throws FailedPreconditionError for others */
  get inputs(): readonly KerasTensor[] {
    return this.described.inputs;
  }
  /** The symbolic outputs of a functional model. @throws FailedPreconditionError for others */
  get outputs(): readonly KerasTensor[] {
    return this.described.outputs;
  }
  /** The shape of the symbolic input, with null for the batch; of several a list. @throws FailedPreconditionError as `inputs` */
  declare readonly inputShape: PartialShape | readonly PartialShape[];
  /** The same of the output. */
  declare readonly outputShape: PartialShape | readonly PartialShape[];
  /** @internal What `inputs` and `outputs` are of. */
  get described(): FunctionalGraph {
    if (this._graph !== undefined) return this._graph;
    throw new FailedPreconditionError(
      'the model was not built from symbolic tensors (tf.Input), so it has no inputs and outputs',
      this.name,
    );
  }

  /**
   * What makes an equal model, in Keras's form: of a functional one its layers and the calls between them; weights are not part of it.
   * @throws UnimplementedError for a call of an op that Keras has not
   */
  override getConfig(): Record<string, unknown> {
    if (this._graph === undefined) return super.getConfig();
    const { name, trainable } = this;
    return { name, trainable, ...functionalConfig(this._graph) };
  }
  /** A new model of the options that `getConfig` gave, here or in Keras. `customObjects` are classes of your own by name. */
  static override fromConfig(
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): Model {
    checkConfig(config, Model);
    if (!('layers' in config && 'input_layers' in config && 'output_layers' in config))
      // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
      return new this(optionsFrom(config, this));
    const { layers, input_layers, output_layers, ...options } = config as typeof config & FunctionalConfig;
    const graph = withCustomObjects(customObjects, () =>
      functionalFromConfig({ layers, input_layers, output_layers }),
    );
    return new this({ ...optionsFrom(options, Model), ...graph });
  }
  /**
   * The model as text, as Keras's `to_json` writes it: its class, its configuration, what it was compiled with; without weights.
   * `tf.keras.models.modelFromJSON` reads it, and so does Keras. `JSON.stringify(model)` gives the same, but for whole numbers where Keras wants floats.
   */
  toJSON(options?: JsonOptions | null): string;
  toJSON(options: JsonOptions | string | null = {}): string | SerializedLayer {
    const written = serializeLayer(this);
    // As a part of something else, for which JSON.stringify asks with the key.
    if (typeof options === 'string') return written;
    checkOptionNames(options ?? {}, { indent: true }, 'Model.toJSON');
    return kerasJson(written, options?.indent);
  }
  /** @internal */
  override get kerasNames(): Partial<SerializedLayer> {
    if (this.constructor !== Model) return {};
    if (this._graph === undefined) return { module: 'keras' };
    return {
      module: 'keras.src.models.functional',
      class_name: 'Functional',
      registered_name: 'Functional',
    };
  }
  /** What `buildFromConfig` needs to make the weights. A functional model has them from its beginning. */
  override getBuildConfig(): Record<string, unknown> | null {
    return this._graph === undefined ? super.getBuildConfig() : { input_shape: null };
  }
  /** What the model was compiled with, in Keras's form; empty before. */
  getCompileConfig(): Record<string, unknown> {
    return compileConfig(this);
  }
  /**
   * Compiles the model with what `getCompileConfig` gave, here or in Keras. A class with a `compile` of its own defines this as well, since
   * nobody else knows what that takes; otherwise it stays as it is.
   */
  compileFromConfig(config: Readonly<Record<string, unknown>>): void;
  compileFromConfig(options: {
    /** What `getCompileConfig` gave. */
    readonly config: Readonly<Record<string, unknown>>;
  }): void;
  compileFromConfig(config: Readonly<Record<string, unknown>>): void {
    if (this.compile === Model.prototype.compile) this.compile(optionsOfCompile(config));
  }

  /**
   * The mean loss and the metrics of `compile`, also those that were given by name, then metrics among the attributes. All start
   * anew with each epoch.
   */
  override get metrics(): Metric[] {
    return metricsOf(this);
  }
  /** Whether `compile` was called. */
  get compiled(): boolean {
    return isCompiled(this);
  }
  /** As `compile` was told; false before. */
  get runEagerly(): boolean {
    return isCompiled(this) && this.training.runEagerly;
  }
  /** As `compile` was told, without effect; false before. */
  get jitCompile(): boolean {
    return isCompiled(this) && this.training.jitCompile;
  }
  get optimizer(): Training['optimizer'] {
    return this.training.optimizer;
  }

  /**
   * Trains on examples: `x` and `y` as tensors, typed or nested arrays, `{ data, shape }`, or `x` as an iterable of batches
   * `[x, y]` or `[x, y, sampleWeight]`. For several inputs or outputs these are lists of tensors, or objects by the names of inputs
   * and of the layers that the outputs come from; a model whose inputs or outputs are lists and objects in each other takes the same. Shows a progress bar on a terminal, lines elsewhere.
   * @returns the losses and metrics of each epoch.
   * @throws (the promise) CancelledError after an abort of `signal`; the weights are those of the last complete step.
   */
  fit(options: FitOptions & ByName): Promise<History>;
  fit(x: FitData, y?: Targets | FitOptions | null, options?: FitOptions | null): Promise<History>;
  async fit(x: unknown, y?: Targets | FitOptions | null, options?: FitOptions | null): Promise<History> {
    tellIfBeingRead(this, 'fit');
    return loops.fit(this, x as FitData, y, options);
  }
  /** The loss and the metrics on examples. */
  evaluate(options: EvaluateOptions & ByName): Promise<Logs>;
  evaluate(x: FitData, y?: Targets | EvaluateOptions | null, options?: EvaluateOptions | null): Promise<Logs>;
  async evaluate(
    x: unknown,
    y?: Targets | EvaluateOptions | null,
    options?: EvaluateOptions | null,
  ): Promise<Logs> {
    tellIfBeingRead(this, 'evaluate');
    return loops.evaluate(this, x as FitData, y, options);
  }
  /** The outputs for all examples, batch by batch; of a model of several outputs a list: `predict<Tensor[]>(x)`. */
  predict<T extends Tensors = Tensor>(
    options: PredictOptions & {
      /** The inputs: a tensor, several by position or name, or batches such as a `Dataset`. */
      readonly x: FitData;
    },
  ): Promise<NoInfer<T>>;
  predict<T extends Tensors = Tensor>(x: FitData, options?: PredictOptions | null): Promise<NoInfer<T>>;
  async predict<T extends Tensors = Tensor>(
    x: unknown,
    options?: PredictOptions | null,
  ): Promise<NoInfer<T>> {
    tellIfBeingRead(this, 'predict');
    return (await loops.predict(this, x as FitData, options ?? {})) as T;
  }

  /** One step on one batch, at once. @returns its loss and metrics */
  trainOnBatch(options: TrainOnBatchOptions & BatchByName): Logs;
  trainOnBatch(x: Inputs, y?: Targets | null, options?: TrainOnBatchOptions | null): Logs;
  trainOnBatch(x: unknown, y?: Targets | null, options?: TrainOnBatchOptions | null): Logs {
    tellIfBeingRead(this, 'trainOnBatch');
    return trainOnBatch(this, x as Inputs, y ?? undefined, options ?? {});
  }
  /** The loss and the metrics of one batch, at once. */
  testOnBatch(options: TestOnBatchOptions & BatchByName): Logs;
  testOnBatch(x: Inputs, y?: Targets | null, options?: TestOnBatchOptions | null): Logs;
  testOnBatch(x: unknown, y?: Targets | null, options?: TestOnBatchOptions | null): Logs {
    tellIfBeingRead(this, 'testOnBatch');
    return testOnBatch(this, x as Inputs, y ?? undefined, options ?? {});
  }
  /** The outputs for one batch, at once. */
  predictOnBatch<T extends Tensors = Tensor>(options: {
    /** The inputs of the batch. */
    readonly x: Inputs;
  }): NoInfer<T>;
  predictOnBatch<T extends Tensors = Tensor>(x: Inputs): NoInfer<T>;
  predictOnBatch<T extends Tensors = Tensor>(x: unknown): NoInfer<T> {
    tellIfBeingRead(this, 'predictOnBatch');
    return predictOnBatch(this, x as Inputs) as T;
  }
  /**
   * A function that trains on the next batches of an iterator, as many as `stepsPerExecution` says; for loops of one's own. `fit` does not
   * call it: override `trainStep` for another training.
   * @param force what was traced before is traced again.
   */
  makeTrainFunction(
    force?:
      | boolean
      | null
      | {
          /** Whether what was traced before is traced again; false by default. */
          readonly force?: boolean;
        },
  ): StepFunction;
  makeTrainFunction(force?: boolean | null): StepFunction {
    return stepFunction(this, 'train', checkFlag(force, 'force', 'makeTrainFunction'));
  }
  /** A function that evaluates on the next batches of an iterator; as `makeTrainFunction`. */
  makeTestFunction(
    force?:
      | boolean
      | null
      | {
          /** Whether what was traced before is traced again; false by default. */
          readonly force?: boolean;
        },
  ): StepFunction;
  makeTestFunction(force?: boolean | null): StepFunction {
    return stepFunction(this, 'test', checkFlag(force, 'force', 'makeTestFunction'));
  }
  /** A function that gives the outputs for the next batches of an iterator; as `makeTrainFunction`. */
  makePredictFunction(
    force?:
      | boolean
      | null
      | {
          /** Whether what was traced before is traced again; false by default. */
          readonly force?: boolean;
        },
  ): PredictFunction;
  makePredictFunction(force?: boolean | null): PredictFunction {
    return predictFunction(this, checkFlag(force, 'force', 'makePredictFunction'));
  }

  /**
   * The values of all variables by the parts of their paths, states of seed generators among those that are not trained.
   * @param valueFormat As what: tensors (`backendTensor`, the default), or arrays of the host as `tensor.ndarray()` gives them (`numpyArray`).
   * @throws InvalidArgumentError for another format
   */
  getStateTree(valueFormat?: 'backendTensor'): StateTree;
  getStateTree(options: {
    /** As tensors, the default. */
    readonly valueFormat?: 'backendTensor';
  }): StateTree;
  getStateTree(valueFormat: 'numpyArray'): StateTree<HostArray>;
  getStateTree(options: {
    /** As arrays of the host, as `tensor.ndarray()` gives them. */
    readonly valueFormat: 'numpyArray';
  }): StateTree<HostArray>;
  getStateTree(valueFormat?: unknown): StateTree<never> {
    return getStateTree(this, valueFormat) as StateTree<never>;
  }
  /** Sets variables as `getStateTree` gave them; parts may lack. @throws InvalidArgumentError for names that the model does not have */
  setStateTree(stateTree: Partial<StateTree<TensorLike>>): void;
  setStateTree(options: {
    /** Values in the form of `getStateTree`; parts may be left out. */
    readonly stateTree: Partial<StateTree<TensorLike>>;
  }): void;
  setStateTree(stateTree: unknown): void {
    setStateTree(this, stateTree as Partial<StateTree<TensorLike>>);
  }

  /** Starts the loss and the metrics anew. */
  resetMetrics(): void {
    for (const metric of this.metrics) metric.resetState();
  }

  /**
   * One step on one batch, used by `fit`: override it to train differently. It is traced (`tf.function`) unless `compile` was told
   * `runEagerly`, so code of the host runs while tracing only.
   * @returns what is shown: numbers or scalar tensors by name.
   */
  trainStep(x: Tensors, y: Tensors | undefined, sampleWeight: Tensors | undefined): StepLogs {
    return this.computeMetrics(x, y, train(this, x, y, sampleWeight), sampleWeight);
  }
  /** One batch of `evaluate`; as `trainStep`. */
  testStep(x: Tensors, y: Tensors | undefined, sampleWeight: Tensors | undefined): StepLogs {
    return this.computeMetrics(x, y, test(this, x, y, sampleWeight), sampleWeight);
  }
  /** One batch of `predict`: the outputs. As `trainStep`. */
  predictStep(x: Tensors): Tensors {
    return this.invoke(x, { training: false });
  }
  /**
   * The loss of `compile` and what layers added (`addLoss`, penalties of weights), as one number. Override it for a loss that needs more
   * than targets and predictions, or call it in a `trainStep`.
   * @throws FailedPreconditionError where there is neither a loss nor a penalty.
   */
  computeLoss(given: LossArguments): Tensor {
    return computeLoss(this, given);
  }
  /**
   * `computeLoss` with other values of the variables, which stay as they are; gradients flow to the values.
   * @returns the loss, and the values of the variables behind it.
   */
  statelessComputeLoss(
    trainableVariables: Values,
    nonTrainableVariables: Values,
    metricsVariables: Values,
    given: LossArguments,
  ): StatelessLoss;
  statelessComputeLoss(
    given: {
      /** Values in the order of `trainableVariables`. */
      readonly trainableVariables: Values;
      /** Values in the order of `nonTrainableVariables`. */
      readonly nonTrainableVariables: Values;
      /** Values in the order of `metricsVariables`. */
      readonly metricsVariables: Values;
    } & LossArguments,
  ): StatelessLoss;
  statelessComputeLoss(
    trainable: unknown,
    nonTrainable?: unknown,
    ofMetrics?: unknown,
    given?: LossArguments,
  ): StatelessLoss {
    return statelessComputeLoss(
      this,
      trainable as Values,
      nonTrainable as Values,
      ofMetrics as Values,
      given ?? ({} as LossArguments),
    );
  }
  /** Takes a batch into account in the metrics of `compile`. @returns the results of all `metrics` by name. */
  computeMetrics(
    _x: Tensors,
    y: Tensors | undefined,
    yPred: Tensors,
    sampleWeight?: Tensors | undefined,
  ): StepLogs {
    return computeMetrics(this, y, yPred, sampleWeight);
  }
  /** The results of all `metrics` by name. */
  getMetricsResult(): StepLogs {
    return metricResults(this);
  }

  /** Prints the layers, their output shapes and numbers of weights; `?` and `0 (unbuilt)` where they are not known yet. */
  summary(options?: SummaryOptions | null): void {
    summary(this, options ?? {});
  }

  /**
   * Writes the model as a SavedModel, for TensorFlow and its servers: its variables, and a function `serve` that predicts, which is the
   * signature `serving_default`, too.
   *
   *     await model.export('exported');
   *
   * With `{ format: 'onnx' }` it is a file of ONNX, as `tf.onnx.save` writes it.
   *
   * The folder appears whole, in the place of a SavedModel that was there. Optimizer and metrics of `compile` are left out.
   * @throws (the promise) FailedPreconditionError before the model is built, UnimplementedError for a layer whose ops TensorFlow lacks.
   */
  export(...args: Arguments<[filepath: string], ['filepath'], ExportOptions>): Promise<void>;
  async export(filepath: unknown, options?: unknown): Promise<void> {
    const { exportModel } = await import('../saving/export.ts');
    await exportModel(this, filepath as string, (options ?? {}) as ExportOptions);
  }
  /** @internal What serves the model where it is saved as any other object. */
  defaultSaveSignature(made: Parameters<typeof defaultSaveSignature>[1]): unknown {
    return defaultSaveSignature(this, made);
  }
  /** @internal The inputs as the model takes them; null where they are not described. */
  get symbolicInputs(): Symbolic | null {
    return this._graph?.given.inputs ?? null;
  }

  /**
   * Writes the model, whole or not at all, to a file that ends in `.keras`: its configuration, its weights, what it was compiled with and the
   * state of the optimizer, and vocabularies. Keras reads it, and so does `tf.keras.models.loadModel`. A path that ends in `.h5` is of Keras's older format, one in `.json` of TensorFlow.js.
   * @throws InvalidArgumentError for another ending, and for what is not to be overwritten.
   */
  save(filepath: string, options?: SaveOptions | null): Promise<void>;
  save(
    options: {
      /** Where to save: a file that ends in `.keras` or `.h5`, or a folder. */
      readonly filepath: string;
    } & SaveOptions,
  ): Promise<void>;
  async save(filepath: unknown, options?: SaveOptions | null): Promise<void> {
    await save(this, filepath, options ?? {});
  }
  /**
   * Writes the weights, whole or not at all: to a file that ends in `.weights.h5`, as Keras does, with the state of the optimizer of `compile`;
   * to one that ends in `.safetensors` or `.npz`; or, under a path without an ending, as a checkpoint of TensorFlow, with that state too.
   * @param options how the checkpoint is written; or all options by name.
   * @throws FailedPreconditionError before the model is built, InvalidArgumentError for options that do not go with the path.
   */
  saveWeights(filepath: string, options?: CheckpointOptions | null): Promise<void>;
  saveWeights(filepath: string, options: AllSaveWeightsOptions): Promise<void>;
  saveWeights(
    options: {
      /** Where to save: `.weights.h5`, `.safetensors`, or the prefix of a checkpoint. */
      readonly filepath: string;
    } & AllSaveWeightsOptions,
  ): Promise<void>;
  async saveWeights(filepath: unknown, options?: unknown, more?: SaveWeightsOptions | null): Promise<void> {
    await saveWeights(this, filepath as string, {
      ...more,
      options: (options ?? undefined) as CheckpointOptions,
    });
  }
  /**
   * Reads weights written by `saveWeights`, or by Keras (`.weights.h5`, `.weights.json`, `.keras` and older `.h5`), into a model of the same
   * structure. From a checkpoint, weights that do not exist yet get their values when they are made.
   * @returns for a checkpoint its status, which tells what did not match; null for a file, in which everything must match.
   * @throws DataLossError for a damaged file, InvalidArgumentError where names or shapes differ, FailedPreconditionError for a checkpoint in
   * which a model that is built finds nothing; the model stays as it was.
   */
  loadWeights(filepath: string, options?: LoadWeightsOptions | null): Promise<LoadStatus | null>;
  loadWeights(
    options: {
      /** The file, or the prefix of a checkpoint. */
      readonly filepath: string;
    } & LoadWeightsOptions,
  ): Promise<LoadStatus | null>;
  async loadWeights(filepath: unknown, options?: LoadWeightsOptions | null): Promise<LoadStatus | null> {
    return loadWeights(this, filepath as string, options ?? {});
  }
}
const examples = { positional: ['x', 'y'], required: 1, objects: ['x', 'y'] };
defineMethods(Model.prototype, 'Model', {
  quantize: {
    positional: ['mode'],
    required: 0,
    options: { config: true, filters: true },
  },
  getQuantizationLayerStructure: { positional: ['mode'] },
  getLayer: { positional: ['name'], required: 0, options: { index: true } },
  compile: { options: compileOptionNames },
  fit: { ...examples, options: fitOptionNames },
  evaluate: { ...examples, options: evaluateOptionNames },
  predict: { positional: ['x'], objects: ['x'], options: batchOptionNames },
  trainOnBatch: { ...examples, options: trainOptionNames },
  testOnBatch: { ...examples, options: testOptionNames },
  predictOnBatch: { positional: ['x'], objects: ['x'] },
  makeTrainFunction: { positional: ['force'], required: 0 },
  makeTestFunction: { positional: ['force'], required: 0 },
  makePredictFunction: { positional: ['force'], required: 0 },
  getStateTree: { positional: ['valueFormat'], required: 0 },
  setStateTree: { positional: ['stateTree'], objects: ['stateTree'] },
  statelessComputeLoss: {
    positional: ['trainableVariables', 'nonTrainableVariables', 'metricsVariables'],
    options: { x: true, y: true, yPred: true, sampleWeight: true, training: true },
  },
  resetMetrics: {},
  summary: { options: summaryOptionNames },
  export: {
    positional: ['filepath'],
    options: { format: true, inputSignature: true, opsetVersion: true, verbose: true },
  },
  save: { positional: ['filepath'], options: saveOptionNames },
  saveWeights: {
    positional: ['filepath', 'options'],
    required: 1,
    options: { overwrite: true, maxShardSize: true },
  },
  loadWeights: { positional: ['filepath'], options: loadWeightsOptionNames },
  buildFor: { positional: ['inputShape'], objects: ['inputShape'] },
  getMetricsResult: {},
  getCompileConfig: {},
  compileFromConfig: { positional: ['config'], objects: ['config'] },
});
readable(Model.prototype, 'loss', (model) =>
  isCompiled(model) ? (model.training.given.loss ?? null) : null,
);
readable(Model.prototype, 'input', (model) =>
  model._graph === undefined ? only(model.inputs) : model._graph.given.inputs,
);
readable(Model.prototype, 'output', (model) =>
  model._graph === undefined ? only(model.outputs) : model._graph.given.outputs,
);
ownsTemporaries(Model);
isGeneralConfig(Model);
takesCall({ options: { training: true, mask: true } }, Model);
markOwnSteps(
  Model.prototype.trainStep,
  Model.prototype.testStep,
  Model.prototype.predictStep,
  Model.prototype.computeLoss,
  Model.prototype.computeMetrics,
);
markOwnFunctions(
  Model.prototype.makeTrainFunction,
  Model.prototype.makeTestFunction,
  Model.prototype.makePredictFunction,
);

function only<T>(list: readonly T[]): T | readonly T[] {
  return list.length === 1 ? list[0] : list;
}

/** What is given for the shapes of inputs, in their structure. @throws InvalidArgumentError for another structure, and for what is no shape */
function specsIn(given: unknown, inputs: Symbolic, names: readonly string[]): readonly TensorSpec[] {
  const dtype = 'float32';
  const isShape = (value: unknown): boolean =>
    Array.isArray(value) && !value.some((d) => typeof d === 'object' && d !== null);
  // A shape is a list, too: it stands where the structure has a tensor.
  const wrapped = (value: unknown): unknown =>
    isShape(value)
      ? new Shaped(value as PartialShape)
      : tree.isContainer(value)
        ? tree.mapItems(value, wrapped)
        : value;
  const how = { what: 'inputShape', of: 'input', partial: false, names };
  return along(inputs, wrapped(given), how).flatMap(
    (one) => specsOf((one instanceof Shaped ? one.shape : one) as PartialShape, dtype).list,
  );
}
class Shaped {
  readonly shape: PartialShape;
  constructor(shape: PartialShape) {
    this.shape = shape;
  }
}

/** Inputs and outputs by name are plain objects, as options are: what is symbolic is not an options. */
function argumentsOfModel(args: ModelArguments): ModelArguments {
  const [inputs, outputs, ...rest] = args as readonly unknown[];
  const byName = [inputs, outputs].some((given) => isPlain(given) && isSymbolic(given));
  if (!byName || !isSymbolic(inputs) || !isSymbolic(outputs)) return args;
  return [
    { ...(rest[0] as LayerOptions | undefined), inputs: inputs as Symbolic, outputs: outputs as Symbolic },
  ];
}

const shapesOfAll = (tensors: readonly KerasTensor[]): PartialShape | readonly PartialShape[] =>
  tensors.length === 1 ? tensors[0].shape : tensors.map(({ shape }) => shape);
readable(Model.prototype, 'inputShape', (model) => shapesOfAll(model.inputs));
readable(Model.prototype, 'outputShape', (model) => shapesOfAll(model.outputs));
takesOptions<ModelOptions, Model>(
  {
    positional: ['inputs', 'outputs'],
    required: 0,
    options: { inputs: true, outputs: true, ...layerOptions },
  },
  Model,
);
