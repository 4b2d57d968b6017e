import { InvalidArgumentError, Module, type Tensor, UnimplementedError, type Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkPath,
  defineMethods,
  isPlain,
  takesOptions,
} from '@eagre/core/internal';
import { type CallOptions, Layer, type LayerOptions } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail } from '../common.ts';
import { layerOptions } from '../weights.ts';

/** Options of `TFSMLayer`. */
export interface TFSMLayerOptions extends LayerOptions {
  /** The endpoint that is called: a function of the model, or a signature. `serve` by default, which `model.export` writes. */
  readonly callEndpoint?: string;
  /** The endpoint that is called in training; the same by default. */
  readonly callTrainingEndpoint?: string | null;
}
/** All arguments of `TFSMLayer`, by name. */
export interface TFSMLayerArguments extends TFSMLayerOptions {
  /** What `tf.savedModel.load` gave. */
  readonly loaded: LoadedModel;
}
/** What `tf.savedModel.load` gives. */
export interface LoadedModel {
  /** All variables of the model. */
  readonly variables: readonly Variable[];
  /** The functions that a server calls, by name: `serving_default`. */
  readonly signatures: Readonly<Record<string, unknown>>;
}
interface Signature {
  (inputs: Readonly<Record<string, Tensor>>): Readonly<Record<string, Tensor>>;
  readonly structuredInputSignature: readonly [unknown, Readonly<Record<string, unknown>>];
}
type Endpoint = (inputs: unknown) => unknown;

/**
 * A model of a SavedModel as a layer, with its variables: `await TFSMLayer.load('folder')`, or `new TFSMLayer(loaded)` of what
 * `tf.savedModel.load` gave. The folder may be TensorFlow's or Keras's.
 *
 *     await model.export('folder');
 *     const layer = await tf.layers.TFSMLayer.load('folder');
 *     const y = layer(x);
 */
export class TFSMLayer extends Layer {
  /** The endpoint that is called: a function of the model, or a signature. */
  declare readonly callEndpoint: string;
  /** The endpoint that is called in training. */
  declare readonly callTrainingEndpoint: string | null;
  /** The variables of the model. */
  readonly loadedVariables: readonly Variable[];
  readonly #serve: Endpoint;
  readonly #train: Endpoint;
  #filepath: string | null = null;

  /** @throws InvalidArgumentError for what is no loaded model, and for endpoints that it has not. */
  constructor(...args: [loaded: LoadedModel | TFSMLayerArguments, options?: TFSMLayerOptions]) {
    const { loaded, ...options } = argumentsOf<TFSMLayerArguments>(TFSMLayer, new.target, args);
    super(options);
    if (typeof loaded === 'string')
      fail(this, `takes a model that is loaded; a folder is loaded by await TFSMLayer.load(${show(loaded)})`);
    if (!(loaded instanceof Module) || !('signatures' in loaded))
      fail(this, `needs what tf.savedModel.load gives, got ${show(loaded)}`);
    this.#serve = endpointOf(this, loaded, this.callEndpoint);
    this.#train = endpointOf(this, loaded, this.callTrainingEndpoint ?? this.callEndpoint);
    this.loadedVariables = [...loaded.variables];
    this.built = true;
  }

  /** The folder that it was loaded from; null where somebody else did that. */
  get filepath(): string | null {
    return this.#filepath;
  }

  /**
   * Loads a SavedModel, and makes a layer of it.
   * @throws (the promise) NotFoundError where there is none, DataLossError for a damaged one.
   */
  static async load(
    ...args: Arguments<[filepath: string], ['filepath'], TFSMLayerOptions>
  ): Promise<TFSMLayer>;
  static async load(filepath: unknown, options?: unknown): Promise<TFSMLayer> {
    checkPath(filepath, 'filepath', 'TFSMLayer.load');
    const { load } = await import('@eagre/saved-model');
    const loaded = await load(filepath as string);
    const layer = new TFSMLayer(loaded as unknown as LoadedModel, (options ?? {}) as TFSMLayerOptions);
    layer.#filepath = filepath as string;
    return layer;
  }

  override call(inputs: unknown, { training }: CallOptions = {}): Tensor {
    return (training === true ? this.#train : this.#serve)(inputs) as Tensor;
  }

  /** As Keras's. It says where the model was, and does not hold it. */
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), filepath: this.filepath };
  }
  /** @throws UnimplementedError always: a file must not say which folders are loaded. */
  static override fromConfig(config: Readonly<Record<string, unknown>>): TFSMLayer {
    throw new UnimplementedError(
      `a file does not load SavedModels: make the layer by await TFSMLayer.load(${show(config['filepath'])})`,
      'TFSMLayer',
    );
  }
}
takesOptions<TFSMLayerArguments, TFSMLayer>(
  {
    positional: ['loaded'],
    options: {
      loaded: { read: (given) => given as LoadedModel, write: () => undefined },
      callEndpoint: {
        read: (given, name, layer) => endpointName(given ?? 'serve', name, layer as Layer) as string,
      },
      callTrainingEndpoint: {
        read: (given, name, layer) => endpointName(given ?? null, name, layer as Layer),
      },
      ...layerOptions,
    },
  },
  TFSMLayer,
);
defineMethods(TFSMLayer, 'TFSMLayer', {
  load: {
    positional: ['filepath'],
    options: { callEndpoint: true, callTrainingEndpoint: true, ...layerOptions },
  },
});

function endpointName(given: unknown, name: string, layer: Layer): string | null {
  if (given !== null && typeof given !== 'string')
    fail(layer, `needs ${name} to be a name, got ${show(given)}`);
  return given as string | null;
}

/** A function of the model, or one of its signatures. */
function endpointOf(layer: Layer, loaded: object, name: string): Endpoint {
  const own = Object.hasOwn(loaded, name) ? (loaded as Record<string, unknown>)[name] : undefined;
  if (typeof own === 'function') return own as Endpoint;
  const { signatures } = loaded as LoadedModel;
  if (!Object.hasOwn(signatures, name))
    throw new InvalidArgumentError(
      `the model has no endpoint '${name}'; its signatures are ${Object.keys(signatures).join(', ')}`,
      layer.name,
    );
  const signature = signatures[name] as Signature;
  return (inputs) => {
    if (isPlain(inputs)) return signature(inputs as Record<string, Tensor>);
    const names = Object.keys(signature.structuredInputSignature[1]);
    const [first] = names;
    if (first === undefined || names.length > 1)
      throw new InvalidArgumentError(`takes its inputs by name: ${names.join(', ')}`, layer.name);
    return signature({ [first]: inputs as Tensor });
  };
}
