// Checkpoints as files: tensors under keys.
// Types in a circle: both kinds of files give the one interface of what is read.

import { fileError } from '@eagre/backend';
import {
  constant,
  DataLossError,
  type DType,
  FailedPreconditionError,
  NotFoundError,
  type Tensor,
  type TypedArray,
  UnimplementedError,
} from '@eagre/core';
import { bytesIn, textOf, viewOf } from '@eagre/core/internal';
import { BundleReader, BundleWriter, FormatError, tensorflow, UnsupportedFormatError } from '@eagre/formats';
import { arrayFormatOf, openArrayFile, writeArrayFile, writeArrayFileAsync } from './array-file.ts';
import type { Source } from './source.ts';

const { OBJECT_GRAPH_KEY, TrackableObjectGraph } = tensorflow;

/** What is to be written. */
export interface Values {
  /** null: the values are known by their names only. */
  readonly graph: tensorflow.TrackableObjectGraph | null;
  readonly tensors: readonly (readonly [key: string, value: Tensor])[];
}

/** A checkpoint that can be read. */
export interface Bundle extends Source {
  /** null where values are known by their names only. */
  readonly graph: tensorflow.TrackableObjectGraph | null;
  /** In the order of the file. */
  readonly keys: readonly string[];
}

/**
 * Opens the checkpoint at a path: one of TensorFlow, or a `.safetensors` or `.npz` file.
 * @throws NotFoundError when there is none, DataLossError when it is damaged.
 */
export function openBundle(prefix: string): Bundle {
  const format = arrayFormatOf(prefix);
  if (format !== undefined) return translated(prefix, () => openArrayFile(prefix, format));
  const reader = translated(prefix, () => BundleReader.openSync(prefix));
  const entries = reader.entries();
  const graph = entries.has(OBJECT_GRAPH_KEY) ? translated(prefix, () => graphOf(reader)) : null;
  const entryOf = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined) throw new NotFoundError(`Key ${key} not found in checkpoint ${prefix}`);
    return entry;
  };
  return {
    prefix,
    graph,
    keys: [...entries.keys()],
    has: (key) => entries.has(key),
    spec: (key) => entryOf(key),
    read: (key) => {
      entryOf(key);
      const value = translated(prefix, () => reader.read(key));
      if (value.dtype !== 'string')
        return constant({ data: value.data as TypedArray, shape: value.shape, dtype: value.dtype as DType });
      return constant(value.data.map(textOf), 'string', { shape: value.shape });
    },
    verify: (keys) => {
      keys.forEach(entryOf);
      translated(prefix, () => reader.verify(keys));
    },
    readInto: (values) => {
      for (const [key] of values) entryOf(key);
      translated(prefix, () => reader.readAllInto(values));
    },
  };
}

/** Writes a checkpoint whole or not at all. @throws PermissionDeniedError, ResourceExhaustedError, … for what the file system refuses. */
export function writeBundle(prefix: string, values: Values, shards = 1): void {
  let writer: BundleWriter | undefined;
  try {
    const format = arrayFormatOf(prefix, shards);
    if (format !== undefined) {
      writeArrayFile(prefix, format, values);
      return;
    }
    writer = new BundleWriter(prefix, { shards });
    for (const [key, value] of values.tensors) writer.add(key, value.dtype, value.shape, contentOf(value));
    if (values.graph !== null) writer.add(OBJECT_GRAPH_KEY, 'string', [], [encoded(values.graph)]);
    writer.finish();
  } catch (cause) {
    throw notWritten(prefix, cause);
  } finally {
    writer?.abort();
  }
}

/** The same while the program goes on; the tensors must keep their values meanwhile. */
export async function writeBundleAsync(prefix: string, values: Values, shards = 1): Promise<void> {
  let writer: BundleWriter | undefined;
  try {
    const format = arrayFormatOf(prefix, shards);
    if (format !== undefined) {
      await writeArrayFileAsync(prefix, format, values);
      return;
    }
    writer = new BundleWriter(prefix, { shards });
    for (const [key, value] of values.tensors)
      await writer.addAsync(key, value.dtype, value.shape, contentOf(value));
    if (values.graph !== null) await writer.addAsync(OBJECT_GRAPH_KEY, 'string', [], [encoded(values.graph)]);
    await writer.finishAsync();
  } catch (cause) {
    throw notWritten(prefix, cause);
  } finally {
    writer?.abort();
  }
}

function notWritten(prefix: string, cause: unknown): unknown {
  if (cause instanceof FormatError)
    return new FailedPreconditionError(cause.message, 'Checkpoint.write', { cause });
  return fileError(cause, prefix, 'Checkpoint.write');
}

function encoded(graph: tensorflow.TrackableObjectGraph): Uint8Array {
  return TrackableObjectGraph.encode(graph);
}

function contentOf(value: Tensor): Uint8Array | readonly Uint8Array[] {
  if (value.dtype === 'string') return bytesIn(value);
  const { buffer, byteOffset, byteLength } = viewOf(value);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function graphOf(reader: BundleReader): tensorflow.TrackableObjectGraph {
  const { data } = reader.read(OBJECT_GRAPH_KEY);
  const [bytes] = data;
  if (!(bytes instanceof Uint8Array))
    throw new DataLossError(`${reader.prefix}: the object graph is not a string`);
  return TrackableObjectGraph.decode(bytes, { file: reader.prefix });
}

/** Runs `fn`, with errors of this library, and TensorFlow's text for missing files. */
function translated<T>(prefix: string, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    if (cause instanceof UnsupportedFormatError)
      throw new UnimplementedError(cause.message, 'restore', { cause });
    if (cause instanceof FormatError) throw new DataLossError(cause.message, 'restore', { cause });
    const { code, path } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const missing =
        path === undefined || path === prefix || path.endsWith('.index') ? '' : ` (${path} is missing)`;
      throw new NotFoundError(
        `Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ${prefix}${missing}`,
        'restore',
        { cause },
      );
    }
    throw fileError(cause, prefix, 'restore');
  }
}
