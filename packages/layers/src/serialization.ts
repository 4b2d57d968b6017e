// Layers as configurations that a file can hold, and back.
import { InvalidArgumentError } from '@eagre/core';
import { customObject, isPlain, unknownName } from '@eagre/core/internal';
import type { Layer } from './layer.ts';
import { show } from './show.ts';

type Config = Readonly<Record<string, unknown>>;
type LayerClass = { fromConfig(config: Config): Layer };

// Within a process a configuration finds its class, also one that has no name in files.
const madeOf: unique symbol = Symbol('class');

/** A layer as `getConfig` of another one holds it. */
export interface SerializedLayer {
  readonly class_name: string;
  readonly config: Config;
  readonly [madeOf]?: LayerClass;
}

const classes = new Map<string, LayerClass>();
/** @internal Makes classes known by the names under which they are exported. */
export function registerLayerClasses(exported: Readonly<Record<string, unknown>>): void {
  for (const [name, Class] of Object.entries(exported)) classes.set(name, Class as LayerClass);
}

/** @internal */
export function serializeLayer(layer: Layer): SerializedLayer {
  const Class = layer.constructor as unknown as LayerClass;
  return { class_name: layer.constructor.name, config: layer.getConfig(), [madeOf]: Class };
}

/**
 * @internal A new layer of a configuration, also one that was written as JSON.
 * @param changes other values of some options.
 * @throws InvalidArgumentError for a class that is neither ours nor registered.
 */
export function deserializeLayer(serialized: unknown, changes: Config = {}): Layer {
  const { class_name: name, config, [madeOf]: own } = (serialized ?? {}) as Partial<SerializedLayer>;
  if (typeof name !== 'string' || !isPlain(config))
    throw new InvalidArgumentError(
      `expected a layer as getConfig gives it, { class_name, config }, got ${show(serialized)}`,
    );
  const Class = own ?? (customObject(name) as LayerClass | undefined) ?? classes.get(name);
  if (typeof Class?.fromConfig !== 'function')
    throw new InvalidArgumentError(
      `${unknownName(name, [...classes.keys()], 'layer')}; classes of your own are found by registerKerasSerializable`,
    );
  return Class.fromConfig({ ...config, ...changes });
}

/** @internal A new layer of the same options but for some. */
export function copyLayer(layer: Layer, changes: Config): Layer {
  return deserializeLayer(serializeLayer(layer), changes);
}
