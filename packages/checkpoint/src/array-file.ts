// Checkpoints in files that hold named arrays: `.safetensors` and `.npz`. Values of variables are under their paths (`model/kernel`), all else
// under its key; from these names alone the graph of objects is made again.
import {
  constant,
  type DType,
  InvalidArgumentError,
  NotFoundError,
  type TypedArray,
  UnimplementedError,
} from '@eagre/core';
import {
  decodeNpz,
  decodeSafetensors,
  encodeNpz,
  encodeSafetensors,
  makeFolders,
  type NDArray,
  type tensorflow,
  writeFileAtomic,
  writeFileAtomicSync,
} from '@eagre/formats';
import { mostUnpacked, nodeBuiltin, readRegularSync } from '@eagre/formats/internal';
import type { Bundle, Values } from './bundle.ts';
import { attributeKey, DEEP, splitKey, splitSlotPath, unescapeName } from './names.ts';

/** The formats, by the endings of paths. */
export type ArrayFormat = 'safetensors' | 'npz';

const VARIABLE_VALUE = attributeKey('', 'VARIABLE_VALUE');

/**
 * The format that a path's ending stands for; undefined for checkpoints of TensorFlow.
 * @throws InvalidArgumentError when such a file is to be written in several.
 */
export function arrayFormatOf(path: string, shards = 1): ArrayFormat | undefined {
  const ending = /\.(safetensors|npz)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending !== undefined && shards !== 1)
    throw new InvalidArgumentError(`${path}: only TensorFlow checkpoints can be written to several files`);
  return ending as ArrayFormat | undefined;
}

/**
 * Writes the file whole or not at all.
 * @throws InvalidArgumentError for strings, which these formats cannot hold.
 */
export function writeArrayFile(path: string, format: ArrayFormat, values: Values): void {
  const bytes = encode(path, format, values);
  makeFolders(nodeBuiltin('node:path').dirname(path));
  writeFileAtomicSync(path, bytes);
}

/** The same while the program goes on. */
export async function writeArrayFileAsync(path: string, format: ArrayFormat, values: Values): Promise<void> {
  const bytes = encode(path, format, values);
  makeFolders(nodeBuiltin('node:path').dirname(path));
  await writeFileAtomic(path, bytes);
}

function encode(path: string, format: ArrayFormat, values: Values): Uint8Array {
  const arrays = new Map<string, NDArray>();
  for (const [key, value] of values.tensors) {
    if (value.dtype === 'string') {
      throw new InvalidArgumentError(
        `${path}: ${key} holds strings, which ${format} does not support; write a TensorFlow checkpoint: give a path without an extension`,
        'Checkpoint.write',
      );
    }
    if (key.startsWith(DEEP)) {
      throw new UnimplementedError(
        `${path}: an object is nested too deep for a name of its path; write a TensorFlow checkpoint: give a path without an extension`,
        'Checkpoint.write',
      );
    }
    const isValue = key.endsWith(VARIABLE_VALUE) && key !== VARIABLE_VALUE;
    arrays.set(isValue ? key.slice(0, -VARIABLE_VALUE.length) : key, value.ndarray() as NDArray);
  }
  return format === 'npz' ? encodeNpz(arrays) : encodeSafetensors(arrays, { format: 'eagre' });
}

/** What such a file holds, whoever wrote it. */
export function openArrayFile(path: string, format: ArrayFormat): Bundle {
  const bytes = readRegularSync(path, format);
  const arrays =
    format === 'npz'
      ? decodeNpz(bytes, { file: path, maxBytes: mostUnpacked(bytes.length) })
      : decodeSafetensors(bytes, { file: path }).tensors;
  const keys = new Map([...arrays].map(([name, array]) => [keyOf(name), array]));
  const arrayAt = (key: string): NDArray => {
    const array = keys.get(key);
    if (array === undefined) throw new NotFoundError(`Key ${key} not found in checkpoint ${path}`);
    return array;
  };
  return {
    prefix: path,
    graph: graphOf([...keys.keys()]),
    keys: [...keys.keys()].sort(),
    has: (key) => keys.has(key),
    spec: arrayAt,
    read: (key) => {
      const { data, shape, dtype } = arrayAt(key);
      return constant({ data: data as TypedArray, shape, dtype: dtype as DType });
    },
    verify: (keys) => keys.forEach(arrayAt),
    readInto: (values) => {
      for (const [key, target] of values) {
        const { buffer, byteOffset, byteLength } = arrayAt(key).data;
        target.set(new Uint8Array(buffer, byteOffset, byteLength));
      }
    },
  };
}

function keyOf(name: string): string {
  return splitKey(name) === undefined ? name + VARIABLE_VALUE : name;
}

/** The objects that these keys tell of. */
function graphOf(keys: readonly string[]): tensorflow.TrackableObjectGraph {
  interface Node {
    readonly byName: Map<string, number>;
    readonly children: tensorflow.ObjectReference[];
    readonly attributes: tensorflow.SerializedTensor[];
    readonly slot_variables: tensorflow.SlotVariableReference[];
  }
  const nodes: Node[] = [];
  const add = (): number =>
    nodes.push({ byName: new Map(), children: [], attributes: [], slot_variables: [] }) - 1;
  const childOf = (parent: number, name: string): number => {
    const { byName, children } = nodes[parent];
    let id = byName.get(name);
    if (id === undefined) {
      id = add();
      byName.set(name, id);
      children.push({ node_id: id, local_name: name });
    }
    return id;
  };
  const root = add();
  const nodeOf = (path: string): number =>
    path === '' ? root : path.split('/').reduce((id, part) => childOf(id, unescapeName(part)), root);
  const slots = new Map<string, number>();
  for (const key of keys) {
    const { path, attribute } = splitKey(key) as NonNullable<ReturnType<typeof splitKey>>;
    const slot = splitSlotPath(path);
    let id = slot === undefined ? nodeOf(path) : slots.get(path);
    if (slot !== undefined && id === undefined) {
      id = add();
      slots.set(path, id);
      nodes[nodeOf(slot.optimizer)].slot_variables.push({
        original_variable_node_id: nodeOf(slot.variable),
        slot_name: slot.slot,
        slot_variable_node_id: id,
      });
    }
    nodes[id as number].attributes.push({ name: attribute, full_name: path, checkpoint_key: key });
  }
  return {
    nodes: nodes.map(({ children, attributes, slot_variables }) => ({
      children,
      attributes,
      slot_variables,
    })),
  };
}
