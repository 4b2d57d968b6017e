// Models made anew: of their JSON, and of other models.
import { InvalidArgumentError } from '@eagre/core';
import { defineFunction, isPlain, kind, type NamedFunction, shown, tree } from '@eagre/core/internal';
import { sameForm } from '../layer/forms.ts';
import type { CallOptions, Layer, Symbolic } from '../layer/layer.ts';
import { knowAllLayers } from '../saving/all-layers.ts';
import { deserializeLayer, serializeLayer, withCustomObjects } from '../saving/serialization.ts';
import { Input } from './functional.ts';
import { KerasTensor } from './keras-tensor.ts';
import { Model } from './model.ts';
import { Sequential } from './sequential.ts';

/**
 * The model that `model.toJSON()`, or Keras's `to_json`, wrote; with new weights, compiled if that one was. `customObjects` are classes
 * and functions of your own by name.
 */
export const modelFromJSON: NamedFunction<
  [jsonString: string, customObjects?: Readonly<Record<string, unknown>> | null],
  ['jsonString', 'customObjects'],
  unknown,
  Model
> = defineFunction(
  'keras.models.modelFromJSON',
  { jsonString: kind.asIs, customObjects: { plain: true } },
  {},
  (text: unknown, customObjects: unknown = null) => {
    const fail = (message: string, cause?: unknown): never => {
      throw new InvalidArgumentError(message, 'keras.models.modelFromJSON', { cause });
    };
    if (typeof text !== 'string')
      return fail(`expected text, as model.toJSON() gives it, got ${shown(text)}`);
    if (customObjects !== null && !isPlain(customObjects))
      return fail(`customObjects must be classes and functions by name, got ${shown(customObjects)}`);
    let written: unknown;
    try {
      written = JSON.parse(text);
    } catch (cause) {
      return fail(`the text is no JSON: ${(cause as Error).message}`, cause);
    }
    knowAllLayers();
    const model = withCustomObjects(customObjects, () => deserializeLayer(written));
    return model instanceof Model
      ? model
      : fail(`the text is of no model, but of a ${model.constructor.name}`);
  },
);

/** Makes a layer for the copy of a model. */
export type CloneFunction = (layer: Layer) => Layer;
/** Calls a layer of the copy; `args` are its inputs, and behind them the options of the call where it has any. */
export type CallFunction = (layer: Layer, ...args: readonly never[]) => Symbolic;

/** Options of `cloneModel`. */
export interface CloneOptions {
  /** What the copy is called on: new inputs unless given. As many as the model has, in the same form. */
  readonly inputTensors?: Symbolic | null;
  /** Makes the layers of the copy: `layer => layer.constructor.fromConfig(layer.getConfig())` unless given. Inputs are made anew in any case. */
  readonly cloneFunction?: CloneFunction | null;
  /** Calls them: `(layer, ...args) => layer(...args)` unless given. Of functional models. */
  readonly callFunction?: CallFunction | null;
  /** Whether layers of models inside are made one by one in the same way, rather than each of these models as a whole. False unless given. */
  readonly recursive?: boolean;
}

const CLONE = 'keras.models.cloneModel';
const refuse = (message: string): never => {
  throw new InvalidArgumentError(message, CLONE);
};

/**
 * A model like another one, with layers and weights of its own: `tf.keras.models.cloneModel(model)`. It is compiled if that one is. Of a class of
 * one's own, what `getConfig` gives goes to `fromConfig`.
 */
export const cloneModel: {
  (model: Sequential, options?: CloneOptions | null): Sequential;
  (model: Model, options?: CloneOptions | null): Model;
  (
    options: CloneOptions & {
      /** The model whose layers are made anew. */
      readonly model: Sequential;
    },
  ): Sequential;
  (
    options: CloneOptions & {
      /** The model whose layers are made anew. */
      readonly model: Model;
    },
  ): Model;
} = defineFunction<NamedFunction<[model: Model], ['model'], CloneOptions, Model>>(
  CLONE,
  { model: kind.asIs },
  { inputTensors: { plain: true }, cloneFunction: true, callFunction: true, recursive: true },
  (model, options) => {
    if (isPlain(model) || !(model instanceof Model)) return refuse(`expected a model, got ${shown(model)}`);
    const { cloneFunction, callFunction, recursive } = options;
    for (const [name, fn] of Object.entries({ cloneFunction, callFunction }))
      if (fn !== undefined && fn !== null && typeof fn !== 'function')
        refuse(`${name} must be a function, got ${shown(fn)}`);
    if (recursive !== undefined && recursive !== null && typeof recursive !== 'boolean')
      refuse(`recursive must be true or false, got ${shown(recursive)}`);
    return new Cloning(options).clone(model, options.inputTensors ?? undefined);
  },
) as never;

const copyOf: CloneFunction = (layer) =>
  (layer.constructor as unknown as { fromConfig(config: object): Layer }).fromConfig(layer.getConfig());

/** The copying of one model. */
class Cloning {
  readonly #make: CloneFunction;
  readonly #call: CallFunction | null;
  readonly #recursive: boolean;
  readonly #copies = new Map<Layer, Layer>();
  readonly #isPlain: boolean;

  constructor({ cloneFunction, callFunction, recursive = false }: CloneOptions) {
    this.#isPlain = (cloneFunction ?? null) === null;
    this.#make = cloneFunction ?? copyOf;
    this.#call = callFunction ?? null;
    this.#recursive = recursive;
  }

  clone(model: Model, inputs: Symbolic | undefined): Model {
    const copy = this.#copy(model, inputs);
    const config = model.getCompileConfig();
    if (Object.keys(config).length > 0 && Object.keys(copy.getCompileConfig()).length === 0)
      copy.compileFromConfig(config);
    return copy;
  }

  #copy(model: Model, inputs: Symbolic | undefined): Model {
    if (model instanceof Sequential) {
      if (this.#call !== null && !this.#recursive)
        refuse('callFunction is of functional models; a Sequential model has no calls, only layers');
      return this.#sequential(model, inputs);
    }
    if (model._graph !== undefined) return this.#functional(model, inputs);
    if (!this.#isPlain || this.#call !== null || inputs !== undefined)
      refuse(
        `cloneFunction, callFunction and inputTensors are of functional and Sequential models; '${model.name}' is of the class ${model.constructor.name}`,
      );
    return deserializeLayer(serializeLayer(model)) as Model;
  }

  #layer(layer: Layer): Layer {
    let copy = this.#copies.get(layer);
    if (copy === undefined) {
      const inside = this.#recursive && layer instanceof Model && isDescribed(layer);
      copy = inside ? this.clone(layer, undefined) : this.#make(layer);
      if (typeof copy !== 'function' || !('invoke' in copy))
        refuse(`cloneFunction must return a layer, got ${shown(copy)}`);
      this.#copies.set(layer, copy);
    }
    return copy;
  }

  #sequential(model: Sequential, given: Symbolic | undefined): Model {
    const { layers, input } = model._sequence;
    const own = layers[0] === input ? layers.slice(1) : layers;
    const inputs: KerasTensor[] = [];
    if (given !== undefined) {
      const [only, ...more] = symbolicOf(given);
      if (only === undefined || more.length > 0)
        refuse('a Sequential model has one input: give one of tf.Input');
      inputs.push(only);
    } else if (input !== undefined) {
      const { shape, dtype } = input._input;
      inputs.push(sameInput({ shape, dtype, name: input.name }));
    }
    const { name, trainable } = model;
    const Class = classOf(model, Sequential);
    return new Class({
      name,
      trainable,
      layers: [...inputs, ...own.map((layer) => this.#layer(layer))],
    });
  }

  #functional(model: Model, given: Symbolic | undefined): Model {
    const { inputs, calls, given: form } = model.described;
    const list = given === undefined ? inputs.map(sameInput) : symbolicOf(given);
    if (given !== undefined && !sameForm(form.inputs, given, CLONE))
      refuse(
        `inputTensors must have the form of the model's inputs, ${tree.showStructure(form.inputs, (t) => (t as KerasTensor).name)}`,
      );
    const made = new Map(inputs.map((t, i) => [t, list[i]]));
    const now = (value: unknown): unknown =>
      tree.mapLeaves(value, CLONE, (leaf) => (leaf instanceof KerasTensor ? made.get(leaf) : leaf));
    for (const { layer, args, outputs } of calls) {
      const copy = this.#layer(layer);
      const filled = args.map(now);
      const options = filled.pop() as CallOptions;
      const all = Object.keys(options).length === 0 ? filled : [...filled, options];
      const call = this.#call;
      const results = symbolicOf(
        (call === null
          ? copy.invoke(all[0], ...all.slice(1))
          : call(copy, ...(all as never[]))) as unknown as Symbolic,
      );
      if (results.length !== outputs.length)
        refuse(
          `the call of '${layer.name}' must give ${outputs.length} symbolic tensors, got ${results.length}`,
        );
      outputs.forEach((t, i) => made.set(t, results[i]));
    }
    const Class = classOf(model, Model);
    return new Class({
      inputs: given ?? (tree.pack(form.inputs, list, CLONE) as Symbolic),
      outputs: now(form.outputs) as Symbolic,
      name: model.name,
    });
  }
}

/** The class of a model, or `Base` where its constructor takes arguments of its own, which nobody else knows. */
function classOf<C extends new (options: never) => Model>(model: Model, Base: C): C {
  const Class = model.constructor as C;
  return Class.length === 0 ? Class : Base;
}

const isDescribed = (model: Model): boolean => model instanceof Sequential || model._graph !== undefined;

const sameInput = ({ shape, dtype, name }: Pick<KerasTensor, 'shape' | 'dtype' | 'name'>): KerasTensor =>
  Input({ shape: shape.slice(1), batchSize: shape[0] ?? null, dtype, name });

/** Symbolic tensors in a row. @throws InvalidArgumentError for what is none */
function symbolicOf(given: Symbolic): readonly KerasTensor[] {
  return tree.leavesOf(given, CLONE).map((leaf) => {
    if (leaf instanceof KerasTensor) return leaf;
    return refuse(`expected symbolic tensors, as tf.Input gives them, got ${shown(leaf)}`);
  });
}
