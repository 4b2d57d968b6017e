import { FailedPreconditionError, InvalidArgumentError, type PartialShape, Tensor } from '@eagre/core';
import {
  argumentsOf,
  checkConfig,
  defineMethods,
  isKept,
  isPlain,
  optionsFrom,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { isByNames } from '../layer/call.ts';
import {
  buildingInside,
  type CallOptions,
  isBuiltin,
  Layer,
  type LayerInput,
  ownsTemporaries,
  readable,
  type Specs,
  type Symbolic,
  specsOf,
  type TensorSpec,
} from '../layer/layer.ts';
import type { LayerOptions } from '../layer/layer-types.ts';
import { invokeMasked, type Mask, masksOfInputs, tellMasks } from '../layer/masks.ts';
import { checkUniqueNames } from '../layer/naming.ts';
import { takesCall, trainingOption } from '../layer/own-call.ts';
import { isShapes, shapesOfSpecs } from '../layer/specs.ts';
import { InputLayer } from '../layers/core/core.ts';
import { layerOptions } from '../layers/weights.ts';
import {
  deserializeLayer,
  type SerializedLayer,
  serializeLayer,
  withCustomObjects,
} from '../saving/serialization.ts';
import { adjusted, FunctionalGraph, Input, inputLayer } from './functional.ts';
import { inputFromConfig } from './functional-config.ts';
import { KerasTensor } from './keras-tensor.ts';
import { Model } from './model.ts';

/** All arguments of `Sequential`, by name. */
export interface SequentialOptions extends LayerOptions {
  /** From the input to the output; none by default, and `add` puts more behind. */
  readonly layers?: readonly (Layer | KerasTensor)[] | null;
}
interface SequentialConfig extends LayerOptions {
  readonly layers?: readonly SerializedLayer[];
  readonly build_input_shape?: PartialShape | null;
}
const descriptions = new WeakMap<
  Sequential,
  { readonly layers: readonly Layer[]; readonly graph: FunctionalGraph }
>();

/**
 * Layers one after another: `new Sequential([new Dense(64), new Dense(10)])`, or `add` them. With an `inputShape` on the
 * first layer (or a `tf.Input` before it) the weights exist at once, otherwise from the first call on.
 */
export class Sequential extends Model {
  /** @internal */
  declare readonly _sequence: {
    readonly layers: Layer[];
    /** Inputs of the layers, as far as they are known: the first is the model's. */
    readonly inputs: Specs[];
    /** What stands for the first of them; a layer of the sequence where that says the shape. */
    input: InputLayer | undefined;
  };

  constructor(
    ...args: [layers?: readonly (Layer | KerasTensor)[] | null | SequentialOptions, options?: LayerOptions]
  ) {
    const { layers: given, ...options } = argumentsOf<SequentialOptions>(Sequential, new.target, args);
    super(...(args.length === 0 ? [] : [options]));
    const layers = given ?? [];
    Object.defineProperty(this, '_sequence', { value: { layers: [], inputs: [], input: undefined } });
    if (options.inputShape !== undefined && options.inputShape !== null)
      this.#expect({ shape: [null, ...options.inputShape], dtype: this.computeDtype });
    if (!Array.isArray(layers)) {
      throw new InvalidArgumentError(
        'a Sequential model takes a list of layers: new Sequential([…])',
        'Sequential',
      );
    }
    for (const layer of layers as readonly (Layer | KerasTensor)[]) this.add(layer);
  }

  /** Appends a layer. @throws InvalidArgumentError for something else, FailedPreconditionError for the same layer again. */
  add(
    layer:
      | Layer
      | KerasTensor
      | {
          /** What is put behind the last layer; the first may be an `Input`. */
          readonly layer: Layer | KerasTensor;
        },
  ): void;
  add(layer: Layer | KerasTensor): void {
    const { layers } = this._sequence;
    if (layer instanceof KerasTensor) {
      if (layers.length > 0) throw new InvalidArgumentError('an Input comes first', 'Sequential');
      const { shape, dtype, kind } = layer;
      this.#expect({ shape, dtype, kind }, () => inputLayer(layer));
      return;
    }
    if (!(layer instanceof Layer)) {
      throw new InvalidArgumentError(
        `a Sequential model must contain layers, got ${whatIs(layer)}`,
        'Sequential',
      );
    }
    if (layers.includes(layer)) {
      throw new FailedPreconditionError(
        `the layer '${layer.name}' is in the model already; use a functional model to share it`,
        'Sequential',
      );
    }
    checkUniqueNames([...layers, layer], 'Sequential');
    if (layers.length === 0) {
      const known = layer instanceof Model ? layer.knownInputShape : undefined;
      const own = layer instanceof InputLayer ? layer._input : undefined;
      const shape = own?.shape ?? (layer._inputShape === undefined ? known : [null, ...layer._inputShape]);
      if (shape !== undefined)
        this.#expect(
          { shape, dtype: layer.computeDtype, kind: own?.kind },
          layer instanceof InputLayer ? () => layer : undefined,
        );
    }
    layers.push(layer);
    try {
      // Before it is built, it may come to lie in another model, whose name its path begins with.
      if (this._sequence.inputs.length > 0) buildingInside(this, () => this.#buildKnown());
    } catch (error) {
      this.pop();
      throw error;
    }
  }

  /** Removes the last layer and returns it. */
  pop(): Layer {
    const { layers, inputs } = this._sequence;
    const last = layers.pop();
    if (last === undefined) throw new FailedPreconditionError('there is no layer to remove', 'Sequential');
    inputs.length = Math.min(inputs.length, layers.length);
    if (layers.length === 0) this._layer.built = false;
    return last;
  }

  /** Each layer makes its weights when the one before gives it its first input. */
  override build(inputShape: PartialShape): void {
    if (!isShapes(inputShape))
      this.#expect({ shape: [null, ...inputShape.slice(1)], dtype: this.computeDtype });
  }
  /** @internal Layer by layer, since each one's input is the output of the one before. */
  override buildFrom(inputs: Specs): void {
    this.#checkSome();
    super.buildFrom(inputs);
  }
  /** @internal */
  protected override buildInside(inputs: Specs): void {
    const { layers } = this._sequence;
    buildingInside(this, () =>
      layers.reduce((specs, layer, i) => {
        layer.buildFrom(specs);
        return i + 1 < layers.length ? layer.computeOutputSpec(specs) : specs;
      }, inputs),
    );
  }

  override call(inputs: LayerInput, { training, mask }: CallOptions = {}): Tensor {
    this.#checkSome();
    const named = isByNames(inputs) ? inputs[this._sequence.input?.name ?? ''] : undefined;
    if (named !== undefined) return this.call(named as Tensor, { training, mask });
    const many = Array.isArray(inputs);
    const options = trainingOption(training);
    const wanted = this.knownInputShape;
    let x = inputs as Tensor;
    // As in a functional model.
    if (inputs instanceof Tensor && wanted !== undefined && wanted.length !== inputs.rank)
      x = adjusted(inputs, wanted) ?? inputs;
    const names = many ? inputs.map((_, i) => `${i}`) : [this.name];
    let masks = mask === undefined || mask === null ? [] : masksOfInputs(mask, null, names, this.name);
    for (const layer of this._sequence.layers) {
      const now: Mask = Array.isArray(x) ? masks : (masks[0] ?? null);
      const after = invokeMasked(layer, [x], [now], options, isBuiltin(layer));
      const y = after.y as Tensor;
      masks = after.masks;
      // What lies between two layers of ours nobody else has seen (a user's layer keeps what it gets and gives), and a tape that
      // needs it holds it.
      if (x !== inputs && x !== y && x instanceof Tensor && !isKept(x) && !masks.includes(x)) x.dispose();
      x = y;
    }
    tellMasks(Array.isArray(x) ? x : [x], masks);
    return x;
  }

  /** The shape of what it gives, batch first. @throws FailedPreconditionError while the shape of the input is not known */
  declare readonly outputShape: PartialShape;

  // biome-ignore lint/suspicious/noExplicitAny: its last layer may give several tensors
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): any {
    return shapesOfSpecs(this.computeOutputSpec(specsOf(inputShape, this.computeDtype)));
  }
  /** @internal */
  override computeOutputSpec(inputs: Specs): Specs {
    return this._sequence.layers.reduce((specs, layer) => layer.computeOutputSpec(specs), inputs);
  }

  override get outputNames(): string[] | null {
    const last = this._sequence.layers.at(-1);
    return last === undefined ? null : [last.name];
  }

  /** @internal The layers called one after another on a symbolic input, once somebody asks. */
  override get described(): FunctionalGraph {
    const { layers, inputs } = this._sequence;
    const [first] = inputs;
    if (first === undefined || layers.length === 0) return super.described;
    const known = descriptions.get(this);
    if (known !== undefined && known.layers.length === layers.length) return known.graph;
    const [{ shape, dtype, kind }] = first.list as readonly [TensorSpec];
    const input =
      known?.graph.inputs[0] ??
      new KerasTensor(shape, dtype, (this._sequence.input as InputLayer).name, null, kind);
    // Layers that were called before, of which the sequence has become longer, are not called again.
    let x: unknown = known?.graph.given.outputs ?? input;
    const done = known?.layers ?? [];
    if (!done.every((layer, i) => layer === layers[i])) {
      descriptions.delete(this);
      return this.described;
    }
    for (const layer of layers.slice(done.length)) x = layer.symbolic(x, [], {});
    const graph = new FunctionalGraph(input, x as Symbolic);
    descriptions.set(this, { layers: [...layers], graph });
    return graph;
  }

  /** @internal */
  override get symbolicInputs(): Symbolic | null {
    const { layers, inputs } = this._sequence;
    return inputs[0] === undefined || layers.length === 0 ? null : this.described.given.inputs;
  }

  /** @internal */
  override get knownInputShape(): PartialShape | undefined {
    return this._sequence.inputs[0]?.list[0]?.shape;
  }

  /** What makes an equal model, in Keras's form: its layers and, if it is known, the shape of the input. */
  override getConfig(): Record<string, unknown> {
    const { layers, input } = this._sequence;
    const all = input === undefined || layers[0] === input ? layers : [input, ...layers];
    const config = { ...super.getConfig(), layers: all.map(serializeLayer) };
    return this.built && input !== undefined ? { ...config, build_input_shape: input._input.shape } : config;
  }
  /** A new model of the options that `getConfig` gave, here or in Keras. `customObjects` are classes of your own by name. */
  static override fromConfig(
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): Sequential {
    checkConfig(config, Sequential);
    const { layers = [], build_input_shape: shape, ...options } = config as SequentialConfig;
    if (!Array.isArray(layers))
      throw new InvalidArgumentError(`layers must be a list, got ${shown(layers)}`, 'Sequential');
    const made = withCustomObjects(customObjects, () => layers.map(layerOrInput));
    const model = new this({ ...optionsFrom(options as typeof config, Sequential), layers: made });
    if (!model.built && shape !== undefined && shape !== null && made.length > 0) model.buildFor(shape);
    return model;
  }
  /** @internal */
  override get kerasNames(): Partial<SerializedLayer> {
    return this.constructor === Sequential ? { module: 'keras' } : {};
  }
  /** What `buildFromConfig` needs to make the weights: the shape of the input. Null where it is not known. */
  override getBuildConfig(): Record<string, unknown> | null {
    const { input } = this._sequence;
    return this.built && input !== undefined ? { input_shape: input._input.shape } : null;
  }

  /** @internal */
  protected override get numbered(): readonly Layer[] {
    return this.layers;
  }

  /** The layers in order; one that only says what the input is, is none of them, as in Keras. */
  override get operations(): Layer[] {
    const { layers, input } = this._sequence;
    const all = this.directLayers();
    return layers[0] === input ? all.filter((layer) => layer !== input) : all;
  }

  override directLayers(): Layer[] {
    return [...new Set([...this._sequence.layers, ...super.directLayers()])];
  }

  #checkSome(): void {
    if (this._sequence.layers.length > 0) return;
    throw new FailedPreconditionError('a Sequential model has no layers: add() some', this.name);
  }

  /** The shape of the input, unless it is known. */
  #expect(spec: TensorSpec, layer?: () => InputLayer): void {
    const { inputs } = this._sequence;
    if (inputs.length > 0) return;
    const { shape, dtype } = spec;
    inputs.push({ list: [spec], many: false });
    this._sequence.input =
      layer?.() ?? inputLayer(Input({ shape: shape.slice(1), batchSize: shape[0], dtype }));
  }

  /** Builds what was added, where the input is known. */
  #buildKnown(): void {
    const { layers, inputs } = this._sequence;
    if (inputs.length === 0) return;
    layers.forEach((layer, i) => {
      if (i === inputs.length) inputs.push(layers[i - 1].computeOutputSpec(inputs[i - 1]));
      layer.buildFrom(inputs[i]);
    });
    this._layer.built = true;
  }
}
ownsTemporaries(Sequential);
takesCall({ options: { training: true, mask: true } }, Sequential);
defineMethods(Sequential.prototype, 'Sequential', { add: { positional: ['layer'] }, pop: {} });

/** Of a configuration; what stands for an input there is one. */
function layerOrInput(written: SerializedLayer): Layer | KerasTensor {
  const isInput = written?.class_name === 'InputLayer' && isPlain(written.config);
  return isInput ? inputFromConfig(written.config) : deserializeLayer(written);
}

function whatIs(value: unknown): string {
  if (typeof value === 'function') return `the class ${value.name}: write new ${value.name}(…)`;
  return value instanceof Tensor ? 'a tensor' : shown(value);
}

takesOptions<SequentialOptions, Sequential>(
  { positional: ['layers'], required: 0, options: { layers: true, ...layerOptions } },
  Sequential,
);
readable(Sequential.prototype, 'outputShape', (model) => {
  const { knownInputShape: shape } = model;
  if (shape === undefined || model._sequence.layers.length === 0)
    throw new FailedPreconditionError(
      'the shape of its input is not known yet, so it has no outputShape; call it, or add an Input first',
      model.name,
    );
  return model.computeOutputShape(shape);
});
