import {
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  keep,
  Module,
  nameScope,
  type PartialShape,
  type Shape,
  scope,
  Tensor,
  type TensorLike,
  Variable,
  zeros,
} from '@eagre/core';
import {
  callable,
  outsideScopes,
  showFields,
  showShape,
  snakeCase,
  toTensor,
  withoutTapes,
} from '@eagre/core/internal';
import { type Constraint, type ConstraintLike, get as getConstraint } from './constraints.ts';
import { get as getInitializer, type InitializerLike } from './initializers.ts';
import { KerasTensor } from './keras-tensor.ts';
import { LocalNames, uniqueName } from './naming.ts';
import { get as getRegularizer, type Regularizer, type RegularizerLike } from './regularizers.ts';

export interface LayerOptions {
  /** Unique in a model; `dense`, `dense_1`… unless given. */
  readonly name?: string;
  /** False freezes the weights. */
  readonly trainable?: boolean;
  /** Of weights and computation: float32 unless said. */
  readonly dtype?: 'float32' | 'float64';
  /** Without the batch dimension: lets a Sequential model build its weights at once. */
  readonly inputShape?: PartialShape;
}

export interface CallOptions {
  /** Whether layers behave as in training (Dropout, BatchNormalization); inherited from the calling layer unless given. */
  readonly training?: boolean;
  readonly [option: string]: unknown;
}

export interface WeightOptions {
  /** A dimension that is not known (`null`, `undefined`) is an error when the weight is made. */
  readonly shape?: readonly (number | null | undefined)[];
  /** Part of the weight's name in files: `kernel`. */
  readonly name?: string;
  readonly initializer?: InitializerLike;
  readonly regularizer?: RegularizerLike | null;
  readonly constraint?: ConstraintLike | null;
  readonly trainable?: boolean;
  readonly dtype?: DType;
}

export type LayerInput = Tensor | readonly Tensor[];
export type LayerOutput = Tensor | readonly Tensor[];

/** A weight with its name in a weights file, such as `dense/kernel`. */
export interface NamedWeight {
  readonly path: string;
  readonly variable: Variable;
  /** Neither the weight nor a layer around it is frozen. */
  readonly trainable: boolean;
}

/** What a layer keeps beside its attributes, out of sight of the search for variables. */
interface LayerState {
  built: boolean;
  trainable: boolean;
  readonly weights: { readonly name: string; readonly variable: Variable }[];
  readonly regularizers: { readonly variable: Variable; readonly regularizer: Regularizer }[];
  losses: Tensor[];
}

// The `call` methods of this package: they keep nothing, so that what they make can be given back at once.
const builtins = new WeakSet<object>();

/** @internal Marks classes whose `call` keeps no tensor. */
export function builtin(...classes: readonly { readonly prototype: { readonly call: object } }[]): void {
  for (const c of classes) builtins.add(c.prototype.call);
}

// Whether the outermost call trains; inner layers inherit it.
let currentTraining: boolean | undefined;
let depth = 0;
// Whether any layer ever called `addLoss`; if not, calls need not look for losses to clear.
let anyLosses = false;

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
export class Layer extends Module {
  readonly dtype: 'float32' | 'float64';
  /** @internal */
  declare readonly _layer: LayerState;
  /** @internal Given to the constructor, without the batch. */
  declare readonly _inputShape: PartialShape | undefined;

  constructor(options: LayerOptions = {}) {
    super({ name: options.name ?? uniqueName(new.target.name) });
    this.dtype = options.dtype ?? 'float32';
    const state: LayerState = {
      built: false,
      trainable: options.trainable ?? true,
      weights: [],
      regularizers: [],
      losses: [],
    };
    Object.defineProperty(this, '_layer', { value: state });
    Object.defineProperty(this, '_inputShape', { value: options.inputShape });
    // biome-ignore lint/correctness/noConstructorReturn: this is what makes layers callable
    return callable(this, (self, args) => self.invoke(...(args as unknown as [TensorLike, CallOptions?])));
  }

  /**
   * Makes the weights; `inputShape` has the batch dimension first, and `null` for what is not known when a model is described
   * before it is called. Called once, before the first `call`.
   */
  build(_inputShape: PartialShape): void {}

  /** Computes the outputs. Override it; call the layer itself instead. */
  call(_inputs: LayerInput, _options: CallOptions): LayerOutput {
    throw new FailedPreconditionError(`the class has no call() method`, this.constructor.name);
  }

  /**
   * The shape of the output for a shape of the input, batch first; `null` is unknown. The default tries the layer on zeros.
   */
  computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const many = isShapes(inputShape);
    const shapes = many ? inputShape : [inputShape];
    const tried = shapes.map((s) => s.map((d) => d ?? 1));
    const output = withoutTapes(() =>
      scope(() => {
        const inputs = tried.map((s) => zeros(s, { dtype: this.dtype }));
        const y = this.invoke(many ? inputs : (inputs[0] as Tensor), { training: false });
        return y.shape;
      }),
    );
    const batch = (shapes[0] as PartialShape)[0] ?? null;
    return [batch, ...output.slice(1)];
  }

  /** Options that make an equal layer; for files and for `fromConfig`. */
  getConfig(): Record<string, unknown> {
    return { name: this.name, trainable: this.trainable, dtype: this.dtype };
  }
  /** A new layer of the options that `getConfig` gave. */
  static fromConfig(config: Readonly<Record<string, unknown>>): Layer {
    return new this(config);
  }

  /** A new weight of the layer. Its penalty is part of `losses`. */
  addWeight(options: WeightOptions = {}): Variable {
    const { name, initializer = 'glorotUniform', trainable = true, dtype = this.dtype } = options;
    const given = options.shape ?? [];
    const shape = given.map((d) => {
      if (typeof d === 'number' && Number.isInteger(d) && d >= 0) return d;
      throw new InvalidArgumentError(
        `addWeight: the shape ${showShape(given.map((v) => v ?? null))} is not known yet`,
        this.name,
      );
    });
    const state = this._layer;
    const local = name ?? `variable${state.weights.length === 0 ? '' : `_${state.weights.length}`}`;
    const variable = withoutTapes(() =>
      scope(() =>
        nameScope(
          this.name,
          () => new Variable(getInitializer(initializer)(shape, dtype), { name: local, trainable }),
        ),
      ),
    );
    if (options.constraint !== undefined && options.constraint !== null) {
      // Where optimizers look for it.
      Object.defineProperty(variable, 'constraint', { value: constrain(getConstraint(options.constraint)) });
    }
    if (options.regularizer !== undefined && options.regularizer !== null) {
      state.regularizers.push({ variable, regularizer: getRegularizer(options.regularizer) });
    }
    state.weights.push({ name: local, variable });
    return variable;
  }

  /** Adds a term to the loss of the current call. */
  addLoss(loss: Tensor): void {
    anyLosses = true;
    this._layer.losses.push(keep(loss));
  }

  /** Whether the weights exist. */
  get built(): boolean {
    return this._layer.built;
  }
  get trainable(): boolean {
    return this._layer.trainable;
  }
  /** Layers inside follow, as in Keras. */
  set trainable(value: boolean) {
    this._layer.trainable = value;
    for (const layer of this.directLayers()) layer.trainable = value;
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
  /** Every weight: first the trainable, then the others. */
  get weights(): Variable[] {
    return [...this.trainableVariables, ...this.nonTrainableVariables];
  }
  override get variables(): Variable[] {
    return this.weights;
  }
  override get trainableVariables(): Variable[] {
    return this.namedWeights.filter((w) => w.trainable).map((w) => w.variable);
  }
  override get nonTrainableVariables(): Variable[] {
    return this.namedWeights.filter((w) => !w.trainable).map((w) => w.variable);
  }
  get trainableWeights(): Variable[] {
    return this.trainableVariables;
  }
  get nonTrainableWeights(): Variable[] {
    return this.nonTrainableVariables;
  }

  /** The penalties of regularizers and what `addLoss` added in the last call, here and in the layers inside. */
  get losses(): Tensor[] {
    const { regularizers, losses } = this._layer;
    return [
      ...losses,
      ...regularizers.map(({ variable, regularizer }) => regularizer(variable)),
      ...this.directLayers().flatMap((layer) => layer.losses),
    ];
  }

  /** Number of elements of all weights. @throws FailedPreconditionError before the layer is built. */
  countParams(): number {
    if (!this.built)
      throw new FailedPreconditionError('the layer has no weights yet; call it or build it first', this.name);
    return this.weights.reduce((n, w) => n + w.size, 0);
  }

  /** Copies of the weights' values, in the order of `weights`. */
  getWeights(): Tensor[] {
    return this.weights.map((w) => w.read());
  }
  /** Sets the weights, in the order of `weights`. @throws InvalidArgumentError for a wrong number or shape. */
  setWeights(values: readonly TensorLike[]): void {
    const { weights } = this;
    if (values.length !== weights.length) {
      throw new InvalidArgumentError(`${values.length} values for ${weights.length} weights`, this.name);
    }
    weights.forEach((w, i) => {
      w.assign(values[i] as TensorLike);
    });
  }

  /** @internal Where sublayers are looked for; containers that keep them elsewhere override it. */
  directLayers(): Layer[] {
    const found: Layer[] = [];
    walkAttributes(this, (_, value) => {
      if (value instanceof Layer && !found.includes(value)) found.push(value);
    });
    return found;
  }

  /** @internal Builds the layer for an input shape, unless it is built. */
  ensureBuilt(shape: PartialShape): void {
    const state = this._layer;
    if (state.built) return;
    outsideScopes(() => withoutTapes(() => this.build(shape)));
    state.built = true;
  }

  /** @internal A call: symbolic, or conversion, building, and `call`. */
  invoke(inputs: unknown, options: CallOptions = {}): Tensor {
    const list = Array.isArray(inputs) && inputs.length > 0 ? inputs : undefined;
    if (inputs instanceof KerasTensor || (list?.every((x) => x instanceof KerasTensor) ?? false)) {
      return this.symbolic(inputs as KerasTensor | readonly KerasTensor[], options) as unknown as Tensor;
    }
    const many = list?.every((x) => x instanceof Tensor || x instanceof Variable) ?? false;
    const tensors: LayerInput = many
      ? (inputs as readonly TensorLike[]).map((x) => toTensor(x))
      : toTensor(inputs as TensorLike, this.dtype);
    if (!this._layer.built) {
      const first = Array.isArray(tensors)
        ? (tensors as readonly Tensor[]).map((t) => t.shape)
        : (tensors as Tensor).shape;
      this.ensureBuilt(first as Shape);
    }
    const before = currentTraining;
    const training = options.training ?? before ?? false;
    if (depth === 0 && anyLosses) clearLosses(this);
    currentTraining = training;
    depth++;
    try {
      const all = training === options.training ? options : { ...options, training };
      // `scope` gives back what a layer of ours made on the way; a user's layer may keep what it sees and makes.
      if (builtins.has(this.call)) return scope(() => this.call(tensors, all)) as Tensor;
      keepAll(tensors);
      return keepAll(outsideScopes(() => this.call(tensors, all))) as Tensor;
    } finally {
      depth--;
      currentTraining = before;
    }
  }

  /** @internal Describes the call instead of computing it. */
  symbolic(inputs: KerasTensor | readonly KerasTensor[], options: CallOptions): KerasTensor {
    const many = Array.isArray(inputs);
    const list = (many ? inputs : [inputs]) as readonly KerasTensor[];
    const shapes = list.map((x) => x.shape);
    this.ensureBuilt((many ? shapes : shapes[0]) as PartialShape);
    const shape = this.computeOutputShape(many ? shapes : (shapes[0] as PartialShape));
    return new KerasTensor(shape, this.dtype, this.name, { layer: this, inputs: list, many, options });
  }
}
export interface Layer {
  (inputs: KerasTensor | readonly KerasTensor[], options?: CallOptions): KerasTensor;
  (inputs: TensorLike | readonly Tensor[], options?: CallOptions): Tensor;
}
showFields(Layer.prototype, (layer) => ({
  name: layer.name,
  built: layer.built,
  trainable: layer.trainable,
}));

function keepAll<T extends LayerInput>(tensors: T): T {
  if (tensors instanceof Tensor) keep(tensors);
  else if (Array.isArray(tensors)) for (const t of tensors as readonly Tensor[]) keep(t);
  return tensors;
}

function constrain(constraint: Constraint): (variable: Variable) => Tensor {
  return (variable) => constraint(variable.taken());
}

function isShapes(shape: PartialShape | readonly PartialShape[]): shape is readonly PartialShape[] {
  return Array.isArray(shape[0]);
}

function clearLosses(layer: Layer): void {
  layer._layer.losses = [];
  for (const inner of layer.directLayers()) clearLosses(inner);
}

/** Visits variables and layers among the attributes, inside arrays, maps and plain objects, but not inside layers. */
function walkAttributes(layer: Layer, visit: (key: string, value: unknown) => void): void {
  const seen = new Set<unknown>();
  const look = (key: string, value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    if (value instanceof Layer || value instanceof Variable) visit(key, value);
    else if (Array.isArray(value) || value instanceof Set) for (const item of value) look(key, item);
    else if (value instanceof Map) for (const item of value.values()) look(key, item);
    else if (Object.getPrototypeOf(value) === Object.prototype) {
      for (const [k, item] of Object.entries(value)) look(k, item);
    } else if (value instanceof Module) for (const v of value.variables) visit(key, v);
  };
  for (const [key, value] of Object.entries(layer)) look(key, value);
}

function namedWeights(
  layer: Layer,
  prefix = '',
  frozen = false,
  seen: Set<Variable> = new Set(),
): NamedWeight[] {
  const out: NamedWeight[] = [];
  const still = frozen || !layer.trainable;
  const names = new LocalNames();
  const add = (name: string, variable: Variable): void => {
    if (seen.has(variable)) return;
    seen.add(variable);
    out.push({ path: prefix + names.unique(name), variable, trainable: variable.trainable && !still });
  };
  for (const { name, variable } of layer._layer.weights) add(name, variable);
  walkAttributes(layer, (key, value) => {
    if (value instanceof Variable) add(key, value);
  });
  const inner = new LocalNames();
  for (const child of layer.directLayers()) {
    // Numbered within this layer, not by the names that layers happened to get, so that another process finds them again.
    const name = inner.unique(isDefaultName(child) ? snakeCase(child.constructor.name) : child.name);
    out.push(...namedWeights(child, `${prefix}${name}/`, still, seen));
  }
  return out;
}

function isDefaultName(layer: Layer): boolean {
  const base = snakeCase(layer.constructor.name);
  return (
    layer.name === base ||
    (layer.name.startsWith(`${base}_`) && /^\d+$/.test(layer.name.slice(base.length + 1)))
  );
}
