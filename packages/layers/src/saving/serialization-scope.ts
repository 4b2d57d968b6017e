// What holds while a whole model is written to a file, or made of one.
import { ambient } from '@eagre/core/internal';
import type { Layer } from '../layer/layer.ts';

interface SerializationScope {
  /** How often each layer was met; those that are met again get an id. Null where nobody counts. */
  met: Map<Layer, number> | null;
  /** The ids of layers that occur several times in the configuration that is written. */
  ids: ReadonlyMap<Layer, number> | null;
  /** The layers of ids in the configuration that is read. */
  made: Map<unknown, Layer> | null;
  /** Whether functions of Python, of which files hold the code, are refused in any case. */
  safe: boolean;
}

const scope = ambient<SerializationScope>({ met: null, ids: null, made: null, safe: true });

function within<T>(fields: Partial<SerializationScope>, run: () => T): T {
  const before = { ...scope };
  Object.assign(scope, fields);
  try {
    return run();
  } finally {
    Object.assign(scope, before);
  }
}

/** What `write` gives, in which layers that occur several times have an id: in Keras, and here, they are one layer again. */
export function sharingObjects<T>(write: () => T): T {
  const met = new Map<Layer, number>();
  const first = within({ met, ids: null }, write);
  const several = [...met].filter(([, count]) => count > 1).map(([layer]) => layer);
  if (several.length === 0) return first;
  const ids = new Map(several.map((layer, i) => [layer, i + 1] as const));
  return within({ met: null, ids }, write);
}

/** The id of a layer that is written. */
export function sharedIdOf(layer: Layer): { readonly shared_object_id?: number } {
  scope.met?.set(layer, (scope.met.get(layer) ?? 0) + 1);
  const id = scope.ids?.get(layer);
  return id === undefined ? {} : { shared_object_id: id };
}

/** Reads a configuration, in which equal ids are one layer. @param safe as in Keras */
export function readingObjects<T>(safe: boolean, read: () => T): T {
  return within({ made: new Map(), safe }, read);
}

/** The layer of a configuration that was read already, or what `make` gives. */
export function sharedLayer(id: unknown, make: () => Layer): Layer {
  const { made } = scope;
  const known = id === undefined || id === null ? undefined : made?.get(id);
  if (known !== undefined) return known;
  const layer = make();
  if (id !== undefined && id !== null) made?.set(id, layer);
  return layer;
}

/** Whether functions of Python are refused. */
export function isSafe(): boolean {
  return scope.safe;
}
