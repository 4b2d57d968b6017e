// Types in a circle: a layer called on a KerasTensor gives one, which knows the layer that made it.
import {
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  keep,
  Module,
  OutOfRangeError,
  type PartialShape,
  type RaggedTensor,
  type SparseTensor,
  Tensor,
  type TensorLike,
  type Trackable,
  type TrackableView,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import {
  type Arguments,
  ambient,
  argumentsOf,
  autocast,
  callable,
  checkNoPromise,
  checkText,
  configOf,
  context,
  defineMethods,
  dims,
  inInitScope,
  inScope,
  isFloating,
  isPlain,
  loadVariables,
  masksInUse,
  maxDims,
  optionsFrom,
  outsideScopes,
  partialShape,
  type SerializedObject,
  sameShape,
  saveVariables,
  setOptions,
  showFields,
  shown,
  showShape,
  sizeValue,
  snakeCase,
  takesArguments,
  tree,
  variableIn,
  withoutTapes,
} from '@eagre/core/internal';
import { withConversionAllowed } from '@eagre/graph';
import { metrics } from '@eagre/metrics';
import { type ConstraintLike, get as getConstraint } from '../constraints.ts';
import { get as getInitializer } from '../initializers/initializers.ts';
import { layerOptions, weightOptions } from '../layers/weights.ts';
import { KerasTensor, type Producer } from '../models/keras-tensor.ts';
import { isOurs } from '../ours.ts';
import type { QuantizationConfig } from '../quantizers.ts';
import { get as getRegularizer, type RegularizerFunction } from '../regularizers.ts';
import { functionConfig } from '../saving/keras-object.ts';
import type { Tensors } from './batch-tensors.ts';
import {
  areSymbolic,
  isByNames,
  isSymbolic,
  keepAll,
  mapSymbolic,
  outputsOf,
  prepare,
  prepareMore,
  splitCall,
  symbolicIn,
} from './call.ts';
import {
  type DTypePolicy,
  DTypePolicyMap,
  isHalfPrecision,
  type LayerDType,
  policyAt,
  policyOf,
  type QuantizationMode,
} from './dtype-policy.ts';
import { checkInputSpec, type InputSpecs } from './input-spec.ts';
import { namedWeights, ownVariables, seedStates, walkAttributes, withInner } from './inside.ts';
import { isAnyTensor, isByValues, onValues } from './kinds.ts';
import type {
  CallOptions,
  LayerInput,
  LayerOptions,
  LayerOutput,
  NamedWeight,
  WeightOptions,
} from './layer-types.ts';
import { callMasked, type Mask } from './masks.ts';
import { uniqueName } from './naming.ts';
import { inputNames, ownCall, plainOptions, trainingDefault } from './own-call.ts';
import { show } from './show.ts';
import {
  checkPartialShape,
  inferOutputSpec,
  isShapes,
  isTryingOut,
  type Specs,
  shapesOfSpecs,
  specsOf,
  type TensorSpec,
  tryCall,
} from './specs.ts';
import { type StatelessCallOptions, type StatelessResult, statelessCall, type Values } from './stateless.ts';
import { layerChildren } from './trackable.ts';

export type {
  CallOptions,
  FromConfig,
  LayerInput,
  LayerOptions,
  LayerOutput,
  NamedWeight,
  WeightOptions,
} from './layer-types.ts';
export { inferOutputSpec, type Specs, specsOf, type TensorSpec } from './specs.ts';

/** Of `layer.quantize`. */
export interface QuantizeLayerOptions {
  /** Which quantizers are used; that of the mode with its defaults unless given. */
  readonly config?: QuantizationConfig | null;
}

/** What a layer keeps beside its attributes, out of sight of the search for variables. */
type Shapes = PartialShape | readonly PartialShape[] | Readonly<Record<string, PartialShape>>;

interface LayerState {
  built: boolean;
  /** The names of the layers around it, and its own; null before it is built. */
  path: string | null;
  /** What it was built for; undefined before, and where it said itself that it is built. */
  shape: Shapes | undefined;
  /** Whether the class handed options on to `Layer`, which then could have them from a configuration. */
  readonly takesOptions: boolean;
  trainable: boolean;
  /** Whether floating inputs get the precision of the computation. */
  autocast: boolean;
  readonly weights: { readonly name: string; readonly variable: Variable }[];
  losses: Tensor[];
  /** On each output; null for none. */
  readonly penalty: RegularizerFunction | null;
  /** Calls on symbolic tensors. */
  readonly calls: Producer[];
  /** The `build` that users call, which runs the class's own once. */
  build: ((inputShape: PartialShape, ...more: readonly unknown[]) => void) | undefined;
}

const NOTHING: readonly unknown[] = [];
const regularizers = new WeakMap<Variable, RegularizerFunction>();

// The `call` methods of this package: they keep nothing, so that what they make can be given back at once.
const builtins = new WeakSet<object>();

/** @internal Marks classes whose `call` keeps no tensor. */
export function ownsTemporaries(
  ...classes: readonly { readonly prototype: { readonly call: object } }[]
): void {
  for (const c of classes) builtins.add(c.prototype.call);
}

/** @internal Marks classes behind which the mask of the input holds for the output. */
export function passesMask(...classes: readonly { readonly prototype: Layer }[]): void {
  for (const { prototype } of classes) readable(prototype, 'supportsMasking', () => true);
}

/** @internal Marks classes that Keras builds when they are made: no configuration says of what shape their inputs are. */
export function builtAtOnce(...classes: readonly { readonly prototype: Layer }[]): void {
  for (const { prototype } of classes) Object.defineProperty(prototype, 'isBuiltAtOnce', { value: true });
}

/** @internal Whether all that a layer does is this package's. */
export function isBuiltin(layer: Layer): boolean {
  return builtins.has(layer.call);
}

// Classes that compute in 32 bits where their policy says 16 or integers, as sums and quotients of many numbers need it.
const wide = new WeakSet<object>();

/** @internal Marks such classes: their weights are read as they are, and their results become 16 bits at the end. */
export function widened(...classes: readonly { readonly prototype: Layer }[]): void {
  for (const c of classes) wide.add(c.prototype.call);
}
/** @internal Whether a float of another precision comes into the computation of a layer as it is. */
export function takesAsIs(layer: Layer, dtype: DType): boolean {
  return !layer.autocast && isFloating(dtype);
}
/** @internal Whether a layer computes in 32 bits for 16, or for integers. */
export function computesWide(layer: Layer): boolean {
  const { computeDtype } = layer;
  return (isHalfPrecision(computeDtype) || !isFloating(computeDtype)) && wide.has(layer.call);
}

/** What a regularizer returned. @throws InvalidArgumentError for anything but a tensor */
export function checkPenalty(penalty: unknown, what: string, name: string): Tensor {
  checkNoPromise(penalty, what, name);
  if (penalty instanceof Tensor) return penalty;
  throw new InvalidArgumentError(`${what} must return a scalar tensor, got ${show(penalty)}`, name);
}

/** @throws FailedPreconditionError before the layer is built */
export function checkBuilt(layer: Layer): void {
  if (!layer.built)
    throw new FailedPreconditionError('the layer has no weights yet; call it or build it first', layer.name);
}

// Whether the outermost call trains; inner layers inherit it.
const current = ambient<{ training: boolean | undefined; depth: number; layer: Layer | null }>(
  { training: undefined, depth: 0, layer: null },
  [],
  true,
);
// Whether any layer ever called `addLoss`; if not, calls need not look for losses to clear.
let anyLosses = false;

/** The path of a layer that is built now. */
function setPath(layer: Layer): void {
  const around = current.layer?._layer.path;
  layer._layer.path ??= around === undefined || around === null ? layer.name : `${around}/${layer.name}`;
}
/** @internal Builds what lies in a layer, whose paths begin with its own. */
export function buildingInside<T>(layer: Layer, build: () => T): T {
  setPath(layer);
  const outer = current.layer;
  current.layer = layer;
  try {
    return build();
  } finally {
    current.layer = outer;
  }
}

/**
 * A function with weights. Subclasses make weights in `build` (called once, with the shape of the first input) or in the
 * constructor, and compute in `call`. Objects are called like functions: `layer(x)`, `layer(x, { training: true })`.
 *
 *     class Linear extends tf.layers.Layer {
 *       w!: tf.Variable;
 *       constructor(readonly units: number) { super(); }
 *       override build(inputShape) { this.w = this.addWeight({ shape: [inputShape.at(-1), this.units], name: 'w' }); }
 *       override call(x: tf.Tensor) { return x.matmul(this.w); }
 *     }
 */
export class Layer extends Module implements Trackable {
  /** The precision of its weights and of what it computes. */
  declare readonly dtypePolicy: DTypePolicy;
  /** Of what it computes: float32 by default. */
  readonly computeDtype: LayerDType;
  /** Of its weights: float32 by default. */
  readonly variableDtype: LayerDType;
  /** That of the weights. */
  get dtype(): LayerDType {
    return this.variableDtype;
  }
  /** @internal */
  declare readonly _layer: LayerState;
  /** @internal Given to the constructor, without the batch. */
  declare readonly _inputShape: PartialShape | undefined;
  /**
   * What the layer was called with when a functional model was described: a symbolic tensor, several in a list, or by name. A class may have
   * a field of that name for something else.
   * @throws FailedPreconditionError unless there was one such call.
   */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a field of a subclass holds has to fit
  declare readonly input: any;
  /**
   * What the layer gave when a functional model was described: `new Model(model.inputs, layer.output)`. As `input`.
   * @throws FailedPreconditionError unless there was one such call.
   */
  // biome-ignore lint/suspicious/noExplicitAny: whatever a field of a subclass holds has to fit
  declare readonly output: any;

  /** Of a class of one's own: what its inputs must be, one `InputSpec` for each. */
  declare inputSpec?: InputSpecs;

  /** The dtype that floating inputs are converted to: that of what it computes. */
  declare readonly inputDtype: LayerDType;
  /** The names of the layers that it was built in, and its own, `'encoder/dense'`; null before it is built. */
  declare readonly path: string | null;

  /** The penalty on each output; null for none. A class may have a field of that name, and then sees to it itself. */
  declare readonly activityRegularizer: RegularizerFunction | null;

  /** Whether a mask of the inputs goes on to the outputs, as `computeMask` says; true for classes that define that. */
  declare supportsMasking: boolean;

  constructor(...args: [options?: LayerOptions | null]) {
    const options = argumentsOf<LayerOptions>(Layer, new.target, args);
    checkLayerOptions(options, new.target.name);
    super({ name: options.name ?? uniqueName(new.target.name) });
    const policy = policyOf(options.dtype, new.target.name);
    Object.defineProperty(this, 'dtypePolicy', { value: policy, configurable: true });
    this.computeDtype = policy.computeDtype;
    this.variableDtype = policy.variableDtype;
    if (policy instanceof DTypePolicyMap) followMap(this, policy);
    const state: LayerState = {
      built: false,
      path: null,
      shape: undefined,
      takesOptions: args.length > 0,
      trainable: options.trainable ?? true,
      autocast: options.autocast ?? true,
      weights: [],
      losses: [],
      penalty: penaltyFrom(options.activityRegularizer, new.target.name),
      calls: [],
      build: undefined,
    };
    Object.defineProperty(this, '_layer', { value: state });
    Object.defineProperty(this, '_inputShape', { value: options.inputShape ?? undefined });
    const self = callable(this, (layer, args) =>
      layer.present(layer.invoke(...(args as readonly unknown[] as [unknown, ...unknown[]])), args),
    );
    state.build = (inputShape, ...more) => {
      const specs = specsOf(inputShape, self.computeDtype);
      if (more.length === 0) self.buildFrom(specs);
      else buildWith(self, specs, more);
    };
    Object.defineProperty(self, 'build', { value: state.build, writable: true, configurable: true });
    setOptions(self, options);
    // biome-ignore lint/correctness/noConstructorReturn: this is what makes layers callable
    return self;
  }

  /**
   * Makes the weights; `inputShape` has the batch dimension first, and `null` for what is not known when a model is described
   * before it is called. Runs once: before the first `call`, or when somebody calls it.
   */
  build(_inputShape: PartialShape | readonly PartialShape[]): void {}

  /**
   * Computes the outputs. Override it; call the layer itself instead. A class of one's own may take several inputs,
   * `call(x, context, options)`; the options come last.
   */
  // biome-ignore lint/suspicious/noExplicitAny: further inputs and options are what the class says
  call(_inputs: any, ..._rest: any[]): LayerOutput {
    throw new FailedPreconditionError('its class has no call(inputs) method', this.name);
  }

  /**
   * The shape of the output for a shape of the input, batch first; `null` is unknown. Of several outputs a list of their shapes, of named ones an
   * object. The default tries the layer on zeros.
   */
  // biome-ignore lint/suspicious/noExplicitAny: how many outputs there are, a class says
  computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): any {
    return shapesOfSpecs(inferOutputSpec(this, specsOf(inputShape, this.computeDtype)));
  }

  /** @internal The shapes and dtypes of the outputs for those of the inputs. */
  computeOutputSpec(inputs: Specs): Specs {
    if (this.computeOutputShape === Layer.prototype.computeOutputShape) return inferOutputSpec(this, inputs);
    // What comes of others than dense tensors, a try tells.
    if (inputs.list.some((s) => s.kind !== undefined)) return inferOutputSpec(this, inputs);
    const shapes = inputs.list.map((s) => s.shape);
    const dtype = this.computeDtype;
    // Layers that only move values keep integers.
    if (!isFloating(dtype) || inputs.list.some((s) => s.dtype !== dtype)) {
      try {
        return inferOutputSpec(this, inputs);
      } catch {
        // The stand-ins for unknown sizes need not fit; then what the layer says itself has to do.
      }
    }
    const shape: PartialShape | readonly PartialShape[] = this.computeOutputShape(
      inputs.many ? shapes : shapes[0],
    );
    return specsOf(shape, dtype);
  }

  /**
   * Which places of the outputs count, for the layers behind it in a model: the mask of the inputs unless overridden. Asked where
   * `supportsMasking` holds.
   * @param previousMask of the inputs; null where there is none
   */
  computeMask(_inputs: LayerInput, previousMask: Mask): Mask {
    return previousMask;
  }

  /**
   * Options that make an equal layer, in Keras's form; for files and for `fromConfig`.
   * @throws FailedPreconditionError for a class of one's own whose constructor takes what this does not know of
   */
  getConfig(): Record<string, unknown> {
    if (!this._layer.takesOptions && this.constructor.length > 0 && !hasOwnConfig(this))
      throw new FailedPreconditionError(
        `the constructor of ${this.constructor.name} takes arguments that its configuration does not contain; add to the class: getConfig() { return { ...super.getConfig(), units: this.units }; }, with what the constructor takes in the place of units, and let the constructor take it by name and hand name, trainable and dtype on: constructor({ units, ...options }) { super(options); … }`,
        this.name,
      );
    const dtype = this.dtypePolicy.toJSON();
    const penalty = penaltyOf(this);
    const config = { name: this.name, trainable: this.trainable, dtype, ...configOf(this) };
    return penalty === null ? config : { ...config, activity_regularizer: functionConfig(penalty) };
  }
  /** A new layer of the options that `getConfig` gave, here or in Keras. */
  static fromConfig(config: Readonly<Record<string, unknown>>): Layer {
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this(optionsFrom(config, this));
  }

  /** What `buildFromConfig` needs to make the weights: the shape of the inputs. Null for a layer that is not built. */
  getBuildConfig(): Record<string, unknown> | null {
    const { shape } = this._layer;
    if (shape === undefined || this.isBuiltAtOnce) return null;
    const names = inputNames(this);
    if (names.length === 1 || !Array.isArray(shape)) return { input_shape: shape };
    // Of one that is queried for itself, Keras says both.
    const all = isShapes(shape) ? shape : [shape, shape];
    const shapes = all.map((one, i) => [`${snakeCase(names[i])}_shape`, one] as const);
    return { shapes_dict: Object.fromEntries(shapes) };
  }
  /** Makes the weights for what `getBuildConfig` gave. */
  buildFromConfig(config: Readonly<Record<string, unknown>>): void;
  buildFromConfig(options: {
    /** What `getBuildConfig` gave. */
    readonly config: Readonly<Record<string, unknown>>;
  }): void;
  buildFromConfig(config: Readonly<Record<string, unknown>>): void {
    const { input_shape: one, shapes_dict: several } = config;
    const byName = isPlain(several) ? several : {};
    const own = inputNames(this).map((name) => byName[`${snakeCase(name)}_shape`]);
    // Of our own, others say the shapes of states.
    const others = isBuiltin(this) ? Object.values(byName).slice(0, 1) : Object.values(byName);
    const shapes = own.some((shape) => Array.isArray(shape)) ? own : others;
    const given = shapes.filter((shape) => Array.isArray(shape)) as PartialShape[];
    if ((one === undefined || one === null) && given.length === 0) return;
    const shape = one ?? (given.length === 1 ? given[0] : given);
    if (isPlain(shape) && (!isBuiltin(this) || this.passesOn)) {
      for (const named of Object.values(shape)) specsOf(named as PartialShape, this.computeDtype);
      this.ensureBuilt(shape as never);
    } else this.buildFrom(specsOf(shape as PartialShape, this.computeDtype));
  }
  /** @internal What Keras calls the class, where it is not one of `keras.layers`. */
  get kerasNames(): Partial<SerializedObject> {
    return {};
  }
  /** @internal What Keras's files call its class in lists: the name in Keras's code. */
  get classInFiles(): string {
    return this.kerasNames.class_name ?? this.constructor.name;
  }
  /** @internal The layer's own variables in the order of files. */
  get fileVariables(): Variable[] {
    return ownVariables(this);
  }
  /** @internal Called when they have got values from a file. */
  finishLoading(): void {}
  /** @internal What Keras's files call attributes with layers, where that is not their name in snake_case. */
  get savedNames(): Readonly<Record<string, string>> {
    return {};
  }
  /** @internal Layers with state that are no attributes, by their names in Keras's files. */
  get innerSaveables(): Readonly<Record<string, Layer>> {
    return {};
  }
  /** @internal Whether `build` takes the shapes of several inputs one after another, too. */
  get buildsOfSeveral(): boolean {
    return false;
  }
  /** @internal Whether a file may hold it alone, without a model around. */
  get isSavedAlone(): boolean {
    return false;
  }
  /** @internal Whether Keras builds it when it is made. */
  get isBuiltAtOnce(): boolean {
    return false;
  }

  /** A new weight of the layer. Its penalty is part of `losses`. */
  addWeight(options?: WeightOptions | null): Variable;
  addWeight(options: WeightOptions = {}): Variable {
    const { name, initializer = 'glorotUniform', trainable = true, dtype = this.variableDtype } = options;
    const given = options.shape ?? [];
    if (!Array.isArray(given)) {
      throw new InvalidArgumentError(
        `addWeight: the shape must be a list of sizes, got ${show(given)}`,
        this.name,
      );
    }
    const shape = given.map((d) => {
      if (typeof d === 'number' && Number.isInteger(d) && d >= 0) return d;
      throw new InvalidArgumentError(
        `addWeight: the shape ${showShape(given.map((v) => v ?? null))} is not known yet`,
        this.name,
      );
    });
    const state = this._layer;
    if (name !== undefined) checkText(name, 'name', 'addWeight');
    const local = name ?? `variable${state.weights.length === 0 ? '' : `_${state.weights.length}`}`;
    // Keras numbers those without a name through all layers, files through those of one.
    const own = name ?? uniqueName('Variable');
    const make = getInitializer(initializer);
    const create = (): Variable =>
      inScope(() => {
        // A function of the user may keep what it makes.
        const first = isOurs(make)
          ? firstValues(this, local, dtype, () => make(shape, dtype))
          : outsideScopes(() => make(shape, dtype));
        checkNoPromise(first, `the initializer of '${local}'`, this.name);
        if (!(first instanceof Tensor)) {
          throw new InvalidArgumentError(
            `the initializer of '${local}' did not return a tensor; it must be a function of (shape, dtype), such as the result of heNormal()`,
            this.name,
          );
        }
        if (!sameShape(first.shape, shape) || first.dtype !== dtype) {
          throw new InvalidArgumentError(
            `the initializer of '${local}' returned ${first.dtype} ${showShape(first.shape)}, expected ${dtype} ${showShape(shape)}`,
            this.name,
          );
        }
        const { synchronization = 'AUTO', aggregation = 'NONE' } = options;
        return variableIn(
          state.path ?? this.name,
          own,
          () => new Variable(first, { name: own, trainable, synchronization, aggregation }),
        );
      });
    const variable = inInitScope(() => withoutTapes(create));
    if (options.constraint !== undefined && options.constraint !== null) {
      // Where optimizers look for it.
      Object.defineProperty(variable, 'constraint', { value: constrain(options.constraint) });
    }
    if (options.regularizer !== undefined && options.regularizer !== null) {
      regularizers.set(variable, getRegularizer(options.regularizer));
    }
    if ((options.autocast ?? true) && this.computeDtype !== this.variableDtype && !computesWide(this))
      variable.autocast = true;
    state.weights.push({ name: local, variable });
    return variable;
  }

  /** The integers that its weights are kept as, or `float8`, the floats that it multiplies; null for neither. */
  get quantizationMode(): QuantizationMode | null {
    const { dtypePolicy: policy } = this;
    return policyAt(policy, this._layer.path).quantizationMode;
  }
  /**
   * Keeps the large weight as int8 and scales from now on, and multiplies integers in calls: `layer.quantize('int8')`. With `'int4'` two integers are in a
   * byte, groups of them have a scale and a zero point, and calls multiply by floats. Of `Dense`, `EinsumDense` and `Embedding`, and of what attention
   * layers consist of; other layers cannot. Gradients reach the inputs, not the weight. With `'float8'`, of all but `Embedding`, the weight stays and is
   * trained, and products are those of floats of 8 bits, whose scales an optimizer keeps up to date. `'gptq'` and `'awq'` are of whole models.
   * @throws UnimplementedError for another class or mode, FailedPreconditionError before the layer is built and a second time.
   */
  quantize(mode?: QuantizationMode | null, options?: QuantizeLayerOptions | null): void;
  quantize(
    options: {
      /** The kind of quantization: `int8`, `int4`, `float8`, `gptq` or `awq`; that of the `config` unless given. */
      readonly mode?: QuantizationMode | null;
    } & QuantizeLayerOptions,
  ): void;
  quantize(mode?: unknown, options?: QuantizeLayerOptions | null): void {
    this.toIntegers(mode, options?.config);
  }
  /** @internal What `quantize` does. */
  toIntegers(_mode: unknown, _config: unknown): void {
    throw new UnimplementedError(
      `${this.constructor.name} cannot be quantized; Dense, EinsumDense and Embedding can`,
      this.name,
    );
  }

  /** As `addWeight`, with the shape and the initializer as arguments. */
  addVariable(
    ...args: Arguments<
      [shape: WeightOptions['shape'], initializer: WeightOptions['initializer']],
      ['shape', 'initializer'],
      Omit<WeightOptions, 'shape' | 'initializer'>
    >
  ): Variable;
  addVariable(shape: unknown, initializer?: unknown, options: unknown = {}): Variable {
    return this.addWeight({ ...(options as object), shape, initializer } as WeightOptions);
  }

  /** Adds a term to the loss of the current call; `fit` adds up its elements. */
  addLoss(
    loss:
      | Tensor
      | {
          /** A tensor of the current call; its elements are added up. */
          readonly loss: Tensor;
        },
  ): void {
    checkNoPromise(loss, 'the function of a loss', this.name);
    if (!(loss instanceof Tensor)) throw new InvalidArgumentError('addLoss takes a tensor', this.name);
    if (isTryingOut()) return;
    anyLosses = true;
    this._layer.losses.push(keep(loss));
  }

  /** Whether the weights exist. */
  get built(): boolean {
    return this._layer.built;
  }
  /** A `build` of one's own may say so itself, as in Keras; it is not needed. */
  set built(value: boolean) {
    this._layer.built = value;
  }
  get trainable(): boolean {
    return this._layer.trainable;
  }
  /** Layers inside follow, as in Keras. */
  set trainable(value: boolean) {
    this._layer.trainable = value;
    changes++;
    for (const layer of this.directLayers()) layer.trainable = value;
  }

  /** Whether floating inputs are converted to the precision of the computation. A class may set it, as an option of the constructor does. */
  get autocast(): boolean {
    return this._layer.autocast;
  }
  set autocast(value: boolean) {
    checkBoolean(value, 'autocast', this.name);
    this._layer.autocast = value;
  }

  /** Layers directly inside, in the order of attributes. */
  get sublayers(): Layer[] {
    return this.directLayers();
  }
  /** Every layer and module inside, at any depth. */
  override get submodules(): Module[] {
    const inner = this.directLayers().flatMap((layer): Module[] => [layer, ...layer.submodules]);
    return [...new Set([...inner, ...super.submodules])];
  }
  /** Every weight with its name in files and whether training changes it. */
  get namedWeights(): NamedWeight[] {
    return namedWeights(this);
  }
  /** @internal Its weights and those inside in Keras's order, where that is not the layers' own. */
  arranged(weights: NamedWeight[]): NamedWeight[] {
    return weights;
  }
  /** Every weight, layer by layer: first those that can be trained, then the others. Freezing does not change the order. */
  get weights(): Variable[] {
    return this.namedWeights.map((w) => w.variable);
  }
  /** The weights, then the states of seed generators. */
  override get variables(): Variable[] {
    return [...this.weights, ...seedStates(this)];
  }
  /** The weights that are trained: none while `trainable` is false. */
  override get trainableVariables(): Variable[] {
    return this.namedWeights.filter((w) => w.trainable).map((w) => w.variable);
  }
  /** The weights that are not trained, such as moving averages, then the states of seed generators. */
  override get nonTrainableVariables(): Variable[] {
    return [...this.nonTrainableWeights, ...seedStates(this)];
  }
  /** The same as `trainableVariables`. */
  get trainableWeights(): Variable[] {
    return this.trainableVariables;
  }
  /** The weights that are not trained. */
  get nonTrainableWeights(): Variable[] {
    return this.namedWeights.filter((w) => !w.trainable).map((w) => w.variable);
  }

  /** Metrics among the attributes, here and inside. */
  get metrics(): metrics.Metric[] {
    return this.attributeMetrics();
  }
  /** The variables of all `metrics`. */
  get metricsVariables(): Variable[] {
    return this.metrics.flatMap((metric) => metric.variables);
  }

  /** What `addLoss` added in the last call, here and in the layers inside, then the penalties of weights that are not frozen. */
  get losses(): Tensor[] {
    const added = [...withInner(this)].flatMap((layer) => layer._layer.losses);
    const penalties: Tensor[] = [];
    for (const variable of this.trainableVariables) {
      const regularizer = regularizers.get(variable);
      if (regularizer === undefined) continue;
      const penalty: unknown = isOurs(regularizer)
        ? regularizer(variable)
        : outsideScopes(() => regularizer(variable));
      penalties.push(checkPenalty(penalty, `the regularizer of '${variable.path}'`, this.name));
    }
    return [...added, ...penalties];
  }

  /** What checkpoints save: weights by their names, layers and whatever else is among the attributes. */
  trackableView(): TrackableView {
    return { children: layerChildren(this, builtins.has(this.call)) };
  }

  /** Number of elements of all weights. @throws FailedPreconditionError before the layer is built. */
  countParams(): number {
    checkBuilt(this);
    return this.weights.reduce((n, w) => n + w.size, 0);
  }

  /**
   * A call with other values of the variables, which stay as they are; gradients flow to the values. What is drawn at random comes from the
   * usual streams.
   * @returns the outputs, then the values that the call gave to `nonTrainableVariables`, and with `returnLosses` its losses.
   * @throws FailedPreconditionError before the layer is built, InvalidArgumentError for values that do not fit.
   */
  statelessCall<T = Tensor>(
    trainableVariables: Values,
    nonTrainableVariables: Values,
    inputs: unknown,
    options?: StatelessCallOptions | null,
  ): StatelessResult<T>;
  statelessCall<T = Tensor>(
    options: {
      /** Values in the order of `trainableVariables`. */
      readonly trainableVariables: Values;
      /** Values in the order of `nonTrainableVariables`. */
      readonly nonTrainableVariables: Values;
      /** What the layer is called with. */
      readonly inputs: unknown;
    } & StatelessCallOptions,
  ): StatelessResult<T>;
  statelessCall(
    trainable: unknown,
    nonTrainable?: Values,
    inputs?: unknown,
    options?: StatelessCallOptions | null,
  ): StatelessResult<never> {
    checkBuilt(this);
    return statelessCall(
      this,
      trainable as Values,
      nonTrainable as Values,
      inputs,
      options ?? {},
    ) as StatelessResult<never>;
  }

  /** Copies of the weights' values, in the order of `weights`. */
  getWeights(): Tensor[] {
    return this.weights.map((w) => w.read());
  }
  /** Sets the weights, in the order of `weights`. @throws InvalidArgumentError for a wrong number or shape. */
  setWeights(
    weights:
      | readonly TensorLike[]
      | {
          /** The values, in the order of `weights`. */
          readonly weights: readonly TensorLike[];
        },
  ): void;
  setWeights(values: readonly TensorLike[]): void {
    const { weights } = this;
    if (!Array.isArray(values) || values.length !== weights.length) {
      const given = Array.isArray(values) ? `${values.length} values` : 'no list of values';
      throw new InvalidArgumentError(
        `setWeights: ${given} for ${weights.length} weights (${weights.map((w) => `${w.path} ${showShape(w.shape)}`).join(', ')})`,
        this.name,
      );
    }
    weights.forEach((w, i) => {
      w.assign(values[i] as TensorLike);
    });
  }

  /** Puts copies of the layer's own variables, not of those of layers inside, into an object: `'0'`, `'1'`, trainable ones first. */
  saveOwnVariables(
    store:
      | Record<string, TensorLike>
      | {
          /** Where the copies are put: an object, mostly an empty one. */
          readonly store: Record<string, TensorLike>;
        },
  ): void;
  saveOwnVariables(store: unknown): void {
    saveVariables(this.fileVariables, store, this.name);
  }
  /**
   * Gives the layer's own variables the values that `saveOwnVariables` has put into an object.
   * @throws InvalidArgumentError for another number of values, or values that do not fit
   */
  loadOwnVariables(
    store:
      | Readonly<Record<string, TensorLike>>
      | {
          /** What `saveOwnVariables` has filled. */
          readonly store: Readonly<Record<string, TensorLike>>;
        },
  ): void;
  loadOwnVariables(given: unknown): void {
    const variables = this.fileVariables;
    loadVariables(variables, given, this.name, (count) => {
      const names = variables.map((v) => v.path).join(', ');
      const advice = this.built ? '' : '; the layer is not built, so build it first';
      throw new InvalidArgumentError(
        `loadOwnVariables: expected ${variables.length} variables (${names}), got ${count}${advice}`,
        this.name,
      );
    });
    this.finishLoading();
  }

  /**
   * Puts what a `.keras` file keeps beside the variables, such as a vocabulary, into an object by the names of files. Nothing, unless a class
   * overrides it.
   */
  saveAssets(_store: Record<string, Uint8Array | string>): void {}
  /** Takes what `saveAssets` has put into an object. */
  loadAssets(_store: Readonly<Record<string, Uint8Array>>): void {}

  /** @internal Where sublayers are looked for; containers that keep them elsewhere override it. */
  directLayers(): Layer[] {
    const found: Layer[] = [];
    walkAttributes(this, (_, value) => {
      if (value instanceof Layer) found.push(value);
    });
    return found;
  }

  /** @internal Metrics among the attributes, here and inside: `fit` resets them. */
  attributeMetrics(): metrics.Metric[] {
    const found = new Set<metrics.Metric>();
    for (const layer of withInner(this)) {
      walkAttributes(layer, (_, value) => {
        if (value instanceof metrics.Metric) found.add(value);
      });
    }
    return [...found];
  }

  /** @internal Builds the layer for an input shape, unless it is built. `more`: what a `build` of one's own takes besides. */
  ensureBuilt(shape: PartialShape | readonly PartialShape[], more: readonly unknown[] = []): void {
    const state = this._layer;
    if (state.built) return;
    const own = this.build as Layer['build'];
    const build = own === state.build ? (Object.getPrototypeOf(this) as Layer).build : own;
    const before = state.weights.length;
    try {
      const made: unknown = buildingInside(this, () =>
        outsideScopes(() => withoutTapes(() => build.call(this, shape as PartialShape, ...(more as [])))),
      );
      checkNoPromise(made, 'build()', this.name);
    } catch (error) {
      // Another attempt starts anew.
      state.weights.length = before;
      throw error;
    }
    state.built = true;
    state.shape = builtFor(shape);
  }

  /** @internal Builds the layer, with everything inside where that can be known. */
  buildFrom({ list, many }: Specs): void {
    const shapes = list.map((s) => s.shape);
    this.ensureBuilt(many ? shapes : shapes[0]);
  }

  /** @internal Whether a call might still make weights of this layer itself. */
  get awaitsBuild(): boolean {
    if (this._layer.built) return false;
    const own = this.build as Layer['build'];
    return (
      own !== this._layer.build || (Object.getPrototypeOf(this) as Layer).build !== Layer.prototype.build
    );
  }

  /** @internal A call: symbolic, or conversion, building, and `call`. */
  invoke(given: unknown, ...rest: unknown[]): Tensor {
    return this.invokeInside(given, rest, masksInUse());
  }

  /** @internal @param masked whether the masks of the inputs count; a model looks after them itself. */
  invokeInside(given: unknown, rest: readonly unknown[], masked: boolean): Tensor {
    const ours = builtins.has(this.call);
    const plain = ours && !masked && given instanceof Tensor ? plainOptions(this, rest) : undefined;
    if (plain !== undefined) return compute(this, given as Tensor, NOTHING, plain, true);
    const split = splitCall(rest);
    const own = ours ? ownCall(this, given, split.more, split.options) : undefined;
    const { inputs, options } = own ?? { inputs: given, options: split.options };
    const more = ours ? [] : split.more;
    if (isSymbolic(inputs) || more.some(isSymbolic) || areSymbolic(options)) {
      if (!ours) checkInputSpec(this, inputs);
      return this.symbolic(inputs, more, options) as unknown as Tensor;
    }
    const tensors = prepare(this, inputs, ours);
    if (!ours) checkInputSpec(this, tensors);
    if (!masked) return compute(this, tensors, more, options, ours);
    return callMasked(this, [inputs, ...more], tensors, options, ours, (all) =>
      compute(this, tensors, more, all, ours),
    );
  }

  /** @internal The result of a call as users get it. @param args what they gave */
  present(result: Tensor, _args: readonly unknown[]): unknown {
    return result;
  }

  /** @internal Whether a call that says nothing of training, anywhere around it, is one in training. */
  get trainsAlone(): boolean {
    return false;
  }

  /** @internal Whether options of a call decide how many outputs there are, or their shapes. */
  optionsShape(_options: CallOptions): boolean {
    return false;
  }

  /** @internal Whether Keras notes of its own accord that a call without options does not train, or one without options that has a mask. */
  get isNotedWithoutTraining(): boolean | 'masked' {
    return false;
  }

  /** @internal Whether it stands for the call of an op. */
  get isOperation(): boolean {
    return false;
  }

  /** @internal Whether inputs reach the layers inside as they are. */
  get passesOn(): boolean {
    return false;
  }

  /** @internal Describes the call instead of computing it. */
  symbolic(inputs: unknown, more: readonly unknown[], options: CallOptions): Symbolic {
    const args = [inputs, ...more, options];
    const specs = this.specsOfCall(args, (t) => t);
    const outputs: KerasTensor[] = [];
    const producer: Producer = { layer: this, args, inputs: symbolicIn(args), outputs };
    for (const { shape, dtype, kind } of specs.list)
      outputs.push(new KerasTensor(shape, dtype, this.name, producer, kind));
    this._layer.calls.push(producer);
    if (specs.form !== undefined) return tree.pack(specs.form, outputs, this.name) as Symbolic;
    return specs.many ? outputs : outputs[0];
  }

  /** @internal The outputs of a call with symbolic tensors among its arguments; builds the layer. @param now what those are */
  specsOfCall(args: readonly unknown[], now: (t: KerasTensor) => TensorSpec): Specs {
    const [inputs] = args;
    const many = Array.isArray(inputs);
    const list = (many ? inputs : [inputs]) as readonly unknown[];
    if (list.length === 0) throw new InvalidArgumentError('was called without an input ([])', this.name);
    const known = list.map((t) => (t instanceof KerasTensor ? now(t) : t));
    const described = known.every((t) => isSpec(t));
    const tells =
      this.computeOutputSpec !== Layer.prototype.computeOutputSpec ||
      this.computeOutputShape !== Layer.prototype.computeOutputShape;
    // What the layer says of its outputs depends on the first argument alone.
    const isEnough = args.length === 2 && !this.optionsShape(args[1] as CallOptions);
    if (described && (tells || !args.slice(1).some(isSymbolic)) && isEnough) {
      const specs = { list: known as readonly TensorSpec[], many };
      this.buildFrom(specs);
      return this.computeOutputSpec(specs);
    }
    if (isByNames(inputs) && builtins.has(this.call) && !this.passesOn) prepare(this, inputs, true);
    this.ensureBuilt(shapesOf(mapSymbolic(inputs, now) as LayerInput));
    const call = (zero: (spec: TensorSpec) => Tensor): readonly unknown[] =>
      mapSymbolic(args, (t) => zero(now(t))) as readonly unknown[];
    return tryCall(this, call, symbolicIn(args).map(now));
  }

  /** @internal The only call on symbolic tensors. @throws FailedPreconditionError for none and for several */
  get onlyCall(): Producer {
    const { calls } = this._layer;
    if (calls.length === 1) return calls[0];
    throw new FailedPreconditionError(
      calls.length === 0
        ? 'the layer was not called on symbolic tensors (tf.Input), so it has no input and output'
        : `the layer was called ${calls.length} times on symbolic tensors, so input and output are ambiguous; use the tensors that the calls returned`,
      this.name,
    );
  }
}

/** What a layer gives that computes in 32 bits, in the 16 of its policy. */
function narrowed(layer: Layer, y: LayerOutput): LayerOutput {
  return computesWide(layer) && isAnyTensor(y) ? onValues(y, (x) => x.cast(layer.computeDtype)) : y;
}

/** Builds a layer whose own `build` takes more than shapes. */
function buildWith(layer: Layer, { list, many }: Specs, more: readonly unknown[]): void {
  const own = (Object.getPrototypeOf(layer) as Layer).build;
  const takesOne =
    isBuiltin(layer) || own === Layer.prototype.build || layer.buildFrom !== Layer.prototype.buildFrom;
  if (takesOne && !layer.buildsOfSeveral)
    throw new InvalidArgumentError(
      `build takes the shape of the inputs alone, got ${shown(more[0])} as well`,
      layer.name,
    );
  const shapes = list.map((s) => s.shape);
  layer.ensureBuilt(many ? shapes : (shapes[0] as PartialShape), more);
}

/** A call with values: building, and `call`. @param ours whether the layer is of this package */
function compute(
  layer: Layer,
  tensors: LayerInput,
  more: readonly unknown[],
  options: CallOptions,
  ours: boolean,
): Tensor {
  if (!layer._layer.built) inInitScope(() => layer.ensureBuilt(shapesOf(tensors)));
  const before = current.training;
  let told = options.training ?? before;
  // A try at finding out shapes changes no averages and draws nothing; a user's layer inherits what its own call takes by default.
  if (!ours) told ??= trainingDefault(layer.call);
  else if (isTryingOut()) told = false;
  if (current.depth === 0 && anyLosses) for (const inner of withInner(layer)) inner._layer.losses = [];
  const outer = current.layer;
  current.training = told;
  current.layer = layer;
  current.depth++;
  const leave = context.tracer?.enterScope(layer.name);
  const precision = autocast.dtype;
  const { computeDtype } = layer;
  // As in Keras, a layer that does not convert reads its weights as they are only inside one that computes in another precision than its own.
  const asStored = computeDtype === layer.variableDtype || (!layer.autocast && precision !== null);
  autocast.dtype = asStored ? null : computeDtype;
  try {
    // What nobody said is not passed on, so that a call's own default holds. To our own layers, no word of training says that it is none.
    const unsaid =
      told === undefined || (ours && told === false && options.training === undefined && !layer.trainsAlone);
    const all = unsaid || told === options.training ? options : { ...options, training: told };
    // The scope gives back what a layer of ours made on the way; a user's layer may keep what it sees and makes.
    if (ours) {
      const own = (x: LayerInput): LayerOutput => layer.call(x, all);
      const byValues = isByValues(layer, tensors);
      return inScope(() =>
        penalized(
          layer,
          narrowed(layer, byValues ? onValues(tensors, own as (x: Tensor) => Tensor) : own(tensors)),
        ),
      ) as Tensor;
    }
    const others = prepareMore(layer, more);
    keepAll(tensors);
    keepAll(others);
    const call = (): LayerOutput => outsideScopes(() => layer.call(tensors, ...others, all));
    // What is traced decides by itself; eagerly, tensors are conditions and operands as they are in a trace.
    return keepAll(
      penalized(layer, outputsOf(layer, context.tracer === null ? withConversionAllowed(call) : call())),
    ) as Tensor;
  } catch (error) {
    if (!ours) tellCall(layer, tensors, error);
    throw error;
  } finally {
    autocast.dtype = precision;
    leave?.();
    current.depth--;
    current.layer = outer;
    current.training = before;
  }
}

/** @throws InvalidArgumentError that names the option, for what is no regularizer */
function penaltyFrom(
  given: LayerOptions['activityRegularizer'],
  className: string,
): RegularizerFunction | null {
  if (given === undefined || given === null) return null;
  try {
    return getRegularizer(given);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new InvalidArgumentError(`activityRegularizer: ${cause.message}`, className, { cause });
  }
}

/** The penalty on outputs that the layer does not see to itself. */
function penaltyOf(layer: Layer): RegularizerFunction | null {
  const { penalty } = layer._layer;
  return penalty === null || Object.hasOwn(layer, 'activityRegularizer') ? null : penalty;
}

/** Adds the penalty on each output to the layer's losses. */
function penalized<T extends LayerOutput>(layer: Layer, outputs: T): T {
  const penalty = penaltyOf(layer);
  if (penalty !== null)
    for (const y of tree.leavesOf(outputs, layer.name, tree.wholeComposites))
      if (y instanceof Tensor) layer.addLoss(penaltyOn(layer, penalty, y));
  return outputs;
}

/** @internal The penalty on an output, divided by the number of examples. */
export function penaltyOn(layer: Layer, penalty: RegularizerFunction, y: Tensor): Tensor {
  const given = outsideScopes(() => penalty(keep(y)));
  const loss = checkPenalty(given, 'the activity regularizer', layer.name);
  return y.rank === 0 ? loss : loss.div(sizeValue(maxDims(1, dims(y)[0]), loss.dtype));
}

/** Says in the message of an error which layer of the user's it came from, and what that was called with. */
function tellCall(layer: Layer, tensors: LayerInput, error: unknown): void {
  if (!(error instanceof InvalidArgumentError || error instanceof OutOfRangeError)) return;
  if (isTryingOut() || tree.leavesOf(tensors, layer.name).some((t) => !(t instanceof Tensor))) return;
  const given = tree.showStructure(
    tensors,
    (t) => `${(t as Tensor).dtype} ${showShape((t as Tensor).shape)}`,
  );
  error.message += `\n  in the call of ${layer.constructor.name} '${layer.name}' with ${given}`;
}

const { shape: _, initializer: __, ...variableOptions } = weightOptions;
defineMethods(Layer.prototype, 'Layer', {
  addWeight: { options: weightOptions },
  addVariable: {
    positional: ['shape', 'initializer'],
    objects: ['initializer'],
    options: variableOptions,
  },
  saveOwnVariables: { positional: ['store'], objects: ['store'] },
  loadOwnVariables: { positional: ['store'], objects: ['store'] },
  finishLoading: {},
  saveAssets: { positional: ['store'], objects: ['store'] },
  loadAssets: { positional: ['store'], objects: ['store'] },
  addLoss: { positional: ['loss'] },
  quantize: { positional: ['mode'], required: 0, options: { config: true } },
  getWeights: {},
  setWeights: { positional: ['weights'] },
  countParams: {},
  statelessCall: {
    positional: ['trainableVariables', 'nonTrainableVariables', 'inputs'],
    objects: ['inputs'],
    options: { returnLosses: true, training: true, mask: true },
  },
  getBuildConfig: {},
  buildFromConfig: { positional: ['config'], objects: ['config'] },
});

/** What a layer is built for, without what only a trace knows. */
function builtFor(shape: Shapes): Shapes {
  // Of an input that was left out.
  if (shape === null) return shape;
  if (!Array.isArray(shape))
    return Object.fromEntries(Object.entries(shape).map(([name, one]) => [name, builtFor(one)])) as Shapes;
  return isShapes(shape) ? (shape.map((one) => builtFor(one)) as Shapes) : partialShape(shape);
}

const generalConfigs = new WeakSet<object>([Layer.prototype.getConfig]);
/** @internal Marks a `getConfig` that knows nothing of what the constructors of classes that extend its class take. */
export function isGeneralConfig(Class: { readonly prototype: Layer }): void {
  generalConfigs.add(Class.prototype.getConfig);
}
/** Whether a class says itself what its configuration is. */
const hasOwnConfig = (layer: Layer): boolean => !generalConfigs.has(layer.getConfig);

/** @internal A property that is computed unless an object has one of its own: classes of users may use the name for something else. */
export function readable<T extends object>(prototype: T, name: string, get: (object: T) => unknown): void {
  Object.defineProperty(prototype, name, {
    configurable: true,
    get(this: T): unknown {
      return get(this);
    },
    set(this: T, value: unknown) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
  });
}
takesArguments<LayerOptions>({ names: layerOptions }, Layer);

/** Symbolic tensors: one, several in a list or by name, or such in each other. */
export type Symbolic = KerasTensor | readonly Symbolic[] | { readonly [name: string]: Symbolic };

const isSpec = (t: unknown): t is TensorSpec =>
  typeof t === 'object' &&
  t !== null &&
  'shape' in t &&
  'dtype' in t &&
  !('data' in t && !(t instanceof Tensor));

/** The shape of a tensor, or those of several, in a list or by name. */
function shapesOf(tensors: LayerInput): PartialShape | readonly PartialShape[] {
  if (isSpec(tensors)) return tensors.shape;
  const shapeOf = (t: unknown): unknown => {
    if (isSpec(t)) return t.shape;
    if (t === null) return null;
    if (Array.isArray(t)) return t.map(shapeOf);
    if (isByNames(t)) return Object.fromEntries(Object.entries(t).map(([name, one]) => [name, shapeOf(one)]));
    throw new InvalidArgumentError(`a layer takes tensors, got ${show(t)}`);
  };
  return shapeOf(tensors) as PartialShape;
}

type One =
  | TensorLike
  | Variable
  | RaggedTensor
  | SparseTensor
  | readonly (Tensor | Variable | RaggedTensor | SparseTensor)[]
  | Readonly<Record<string, TensorLike>>;
type OneSymbolic = KerasTensor | readonly (KerasTensor | Tensor)[] | Readonly<Record<string, KerasTensor>>;
/** Lists and objects in each other: as the first argument alone, since options are objects too. */
type Deep = One | readonly Deep[] | { readonly [name: string]: Deep };
type DeepSymbolic =
  | OneSymbolic
  | readonly (DeepSymbolic | Tensor)[]
  | { readonly [name: string]: DeepSymbolic };
// Of what is not known, such as `any`, the first form is taken: a call with values. Of a layer that gives several tensors a list can be
// taken apart, `const [y, h] = layer(x)`; other results are named, `layer<{ a: Tensor }>(x)`.
export interface Layer {
  <T extends Tensors = Tensor>(inputs: Deep, options?: CallOptions): NoInfer<T>;
  <T extends Symbolic = KerasTensor>(inputs: DeepSymbolic, options?: CallOptions): NoInfer<T>;
  <T extends Tensors = Tensor>(inputs: Deep, ...rest: [...One[], CallOptions]): NoInfer<T>;
  <T extends Tensors = Tensor>(inputs: Deep, ...rest: One[]): NoInfer<T>;
  <T extends Symbolic = KerasTensor>(
    inputs: DeepSymbolic | Deep,
    ...rest: [...(OneSymbolic | One)[], CallOptions]
  ): NoInfer<T>;
  <T extends Symbolic = KerasTensor>(inputs: DeepSymbolic | Deep, ...rest: (OneSymbolic | One)[]): NoInfer<T>;
}
readable(Layer.prototype, 'supportsMasking', (layer) => layer.computeMask !== Layer.prototype.computeMask);
readable(Layer.prototype, 'inputDtype', (layer) => layer.computeDtype);
readable(Layer.prototype, 'inputSpec', () => null);
readable(Layer.prototype, 'activityRegularizer', (layer) => layer._layer.penalty);
readable(Layer.prototype, 'path', (layer) => layer._layer.path);
readable(Layer.prototype, 'input', (layer) => layer.onlyCall.args[0]);
readable(Layer.prototype, 'output', (layer) => {
  const { outputs } = layer.onlyCall;
  return outputs.length === 1 ? outputs[0] : outputs;
});
showFields(Layer.prototype, (layer) => ({
  name: layer.name,
  built: layer.built,
  trainable: layer.trainable,
}));

// What was traced before a change trains the variables of then.
let changes = 0;
/** @internal Says that other variables are trained from now on. */
export function noteChange(): void {
  changes++;
}
/** @internal How often `trainable` was set, of any layer. */
export function trainableChanges(): number {
  return changes;
}

function checkBoolean(value: unknown, name: string, op: string): void {
  if (typeof value !== 'boolean')
    throw new InvalidArgumentError(`${name} must be true or false, got ${show(value)}`, op);
}

function checkLayerOptions(options: LayerOptions, className: string): void {
  const { name, trainable, autocast: converts, inputShape } = options;
  const refuse = (what: string, value: unknown): never => {
    throw new InvalidArgumentError(`${what}, got ${show(value)}`, className);
  };
  if (name !== undefined && name !== null && (typeof name !== 'string' || name.includes('/')))
    refuse("name must be a string without '/'", name);
  if (trainable !== undefined && trainable !== null) checkBoolean(trainable, 'trainable', className);
  if (converts !== undefined && converts !== null) checkBoolean(converts, 'autocast', className);
  if (inputShape !== undefined && inputShape !== null) checkPartialShape(inputShape, 'inputShape', className);
}

/** What an initializer of ours gives. @throws InvalidArgumentError that names the weight, where it has no such values */
function firstValues(layer: Layer, name: string, dtype: DType, make: () => Tensor): Tensor {
  try {
    return make();
  } catch (cause) {
    if (isFloating(dtype) || !(cause instanceof InvalidArgumentError || cause instanceof UnimplementedError))
      throw cause;
    throw new InvalidArgumentError(
      `the initializer of '${name}' gives no ${dtype}; zeros, ones and constants do (${cause.message})`,
      layer.name,
      { cause },
    );
  }
}

function constrain(like: ConstraintLike): (variable: Variable) => Tensor {
  const constraint = getConstraint(like);
  // A function of the user may keep what it gets, so that must not be the memory which updates write into.
  return isOurs(constraint)
    ? (variable) => constraint(variable.taken())
    : (variable) => constraint(variable.read());
}

/** Reads the precision of a layer from a map each time, as its path is known from its first call on. */
function followMap(layer: Layer, policies: DTypePolicyMap): void {
  for (const name of ['computeDtype', 'variableDtype'] as const)
    Object.defineProperty(layer, name, {
      get: () => policyAt(policies, layer._layer?.path ?? null)[name],
      enumerable: true,
      configurable: true,
    });
}
