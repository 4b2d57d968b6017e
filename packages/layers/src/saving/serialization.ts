// Layers as configurations that a file can hold, and back.
import { InvalidArgumentError } from '@eagre/core';
import {
  customObject,
  declaredClasses,
  defineFunction,
  enterCustomObjects,
  isPlain,
  kind,
  lazily,
  type NamedFunction,
  type SerializedObject,
  serializedObject,
  shown,
  unknownName,
} from '@eagre/core/internal';
import { Layer } from '../layer/layer.ts';
import { show } from '../layer/show.ts';
import { sharedIdOf, sharedLayer } from './serialization-scope.ts';

type Config = Readonly<Record<string, unknown>>;
type LayerClass = { fromConfig(config: Config, customObjects?: Config): Layer };

// Within a process a configuration finds its class, also one that has no name in files. Nobody sees it in the configuration.
const madeOf: unique symbol = Symbol('class');

/** A layer as Keras writes it in a file, and as `getConfig` of another one holds it. */
export interface SerializedLayer extends SerializedObject {
  /** What it was built for. */
  readonly build_config?: Config;
  /** Of a model: what it was compiled with; empty where it was not. */
  readonly compile_config?: Config;
  /** In files: the same for each occurrence of one layer that occurs several times. */
  readonly shared_object_id?: number;
}

/** What models have beside layers. */
interface Compilable {
  getCompileConfig(): Config;
  compileFromConfig(config: Config): void;
}
const compilable = (layer: Layer): layer is Layer & Compilable => 'compileFromConfig' in layer;

let exportedClasses: (() => Readonly<Record<string, unknown>>) | undefined;
const exportedByName = lazily(
  () => new Map(Object.entries(exportedClasses?.() ?? {}) as [string, LayerClass][]),
);
/**
 * @internal Makes classes known by the names under which they are exported; those that are in the program are known by their own.
 * @param exported is asked once one is looked for
 */
export function registerLayerClasses(exported: () => Readonly<Record<string, unknown>>): void {
  exportedClasses = exported;
}
const classes = (): ReadonlyMap<string, LayerClass> =>
  exportedClasses === undefined ? classesHere() : exportedByName();
/** Those that a bundle has without the others. */
function classesHere(): ReadonlyMap<string, LayerClass> {
  const here = declaredClasses().filter((c) => c.prototype instanceof Layer);
  const byName = new Map(here.map((c) => [c.name, c as unknown as LayerClass]));
  const model = byName.get('Model');
  return model === undefined ? byName : byName.set('Functional', model);
}

/** @internal */
export function serializeLayer(layer: Layer): SerializedLayer {
  const build = layer.getBuildConfig();
  const written = {
    ...serializedObject(layer, 'keras.layers'),
    ...layer.kerasNames,
    ...(build === null ? {} : { build_config: build }),
    ...(compilable(layer) ? { compile_config: layer.getCompileConfig() } : {}),
    ...sharedIdOf(layer),
  };
  return Object.defineProperty(written, madeOf, { value: layer.constructor });
}

/**
 * @internal A new layer of a configuration, also one that was written as JSON.
 * @param changes other values of some options.
 * @throws InvalidArgumentError for a class that is neither ours nor registered.
 */
export function deserializeLayer(serialized: unknown, changes: Config = {}): Layer {
  const { shared_object_id: id } = (serialized ?? {}) as { readonly shared_object_id?: unknown };
  return sharedLayer(id, () => makeLayer(serialized, changes));
}

function makeLayer(serialized: unknown, changes: Config): Layer {
  const {
    class_name: name,
    config,
    registered_name: registered,
    [madeOf]: own,
  } = (serialized ?? {}) as Partial<SerializedLayer> & { readonly [madeOf]?: LayerClass };
  if (typeof name !== 'string' || !isPlain(config))
    throw new InvalidArgumentError(
      `expected a layer's configuration, { class_name, config }, got ${show(serialized)}`,
    );
  const custom = customObject(registered ?? name) ?? customObject(name);
  const Class = own ?? (custom as LayerClass | undefined) ?? classes().get(name);
  if (typeof Class?.fromConfig !== 'function')
    throw new InvalidArgumentError(
      `${unknownName(name, [...classes().keys()], 'layer')}; ${
        exportedClasses === undefined
          ? 'fromConfig knows the classes that a bundle has: use this one in your program, or call layers.deserialize or models.modelFromJSON, which know all'
          : 'register your own classes with registerKerasSerializable'
      }`,
    );
  const layer = Class.fromConfig({ ...config, ...changes });
  const { build_config: build, compile_config: compiled } = serialized as SerializedLayer;
  if (isPlain(build) && !layer.built && Object.keys(changes).length === 0) layer.buildFromConfig(build);
  if (compilable(layer) && isPlain(compiled) && Object.keys(compiled).length > 0)
    layer.compileFromConfig(compiled);
  return layer;
}

/** @internal What `make` gives while classes of the user's are known by name, also to what lies inside. */
export function withCustomObjects<T>(customObjects: Config | null | undefined, make: () => T): T {
  if (customObjects === undefined || customObjects === null) return make();
  const leave = enterCustomObjects(customObjects);
  try {
    return make();
  } finally {
    leave();
  }
}

/** @internal A new layer of the same options but for some, without weights. */
export function copyLayer(layer: Layer, changes: Config): Layer {
  return (layer.constructor as unknown as LayerClass).fromConfig({ ...layer.getConfig(), ...changes });
}

/** A layer as plain JSON, in Keras's form; without its weights. */
export const serialize: NamedFunction<[layer: Layer], ['layer'], unknown, SerializedLayer> = defineFunction(
  'layers.serialize',
  { layer: kind.asIs },
  {},
  (layer: unknown) => {
    if (isPlain(layer) || typeof (layer as Partial<Layer> | null)?.getConfig !== 'function')
      throw new InvalidArgumentError(
        `expected an object of class Layer, got ${shown(layer)}`,
        'layers.serialize',
      );
    return serializeLayer(layer as Layer);
  },
);
