// The bytes of a model and of its tensors.
import type { FileHandle } from 'node:fs/promises';
import {
  DataLossError,
  fileError,
  InvalidArgumentError,
  PermissionDeniedError,
  ResourceExhaustedError,
} from '@eagre/backend';
import { FormatError, onnx, readFileBytes } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { reading } from '../tensors.ts';

const OP = 'tf.onnx.load';
// Of a file at once: Node reads no more than 2 GiB in a call.
const CHUNK_BYTES = 2 ** 26;

/** The model in a file or in bytes. */
export async function readModel(source: string | Uint8Array): Promise<onnx.ModelProto> {
  const bytes = typeof source === 'string' ? await read(source) : source;
  const file = typeof source === 'string' ? { file: source } : {};
  const model = reading(() => onnx.ModelProto.decode(bytes, file));
  if (model.graph === undefined || (model.opset_import ?? []).length === 0)
    throw new DataLossError(
      `${typeof source === 'string' ? source : 'the bytes'}: no ONNX model: ${model.graph === undefined ? 'there is no graph' : 'there is no opset_import'}`,
      OP,
    );
  return model;
}

async function read(path: string): Promise<Uint8Array> {
  try {
    return await readFileBytes(path);
  } catch (cause) {
    if (cause instanceof FormatError) throw new DataLossError(cause.message, OP, { cause });
    throw fileError(cause, path, OP);
  }
}

/** Every tensor of a graph and of those inside of it. */
function tensorsIn(graph: onnx.GraphProto): onnx.TensorProto[] {
  return [...(graph.initializer ?? []), ...(graph.node ?? []).flatMap(tensorsOfNode)];
}
function tensorsOfNode(node: onnx.NodeProto): onnx.TensorProto[] {
  return (node.attribute ?? []).flatMap((a) => [
    ...(a.t === undefined ? [] : [a.t]),
    ...(a.g === undefined ? [] : tensorsIn(a.g)),
  ]);
}

const isExternal = (proto: onnx.TensorProto): boolean => proto.data_location === 1;

/**
 * Reads the tensors that are in other files, which have to lie in the model's folder.
 *
 * @param folder null where only bytes are known.
 */
export async function readExternal(
  graph: onnx.GraphProto,
  folder: string | null,
): Promise<ReadonlyMap<onnx.TensorProto, Uint8Array>> {
  const found = new Map<onnx.TensorProto, Uint8Array>();
  const files = new Map<string, FileHandle>();
  try {
    for (const proto of tensorsIn(graph).filter(isExternal)) {
      const info = new Map((proto.external_data ?? []).map(({ key = '', value = '' }) => [key, value]));
      const location = info.get('location') ?? '';
      if (folder === null)
        throw new InvalidArgumentError(
          `the tensor '${proto.name ?? ''}' is in the file '${location}': load the model from its file, or give the option folder`,
          OP,
        );
      let file = files.get(location);
      if (file === undefined) files.set(location, (file = await opened(await within(folder, location))));
      found.set(proto, await part(proto, file, info));
    }
  } finally {
    for (const file of files.values()) await file.close();
  }
  return found;
}

async function opened(path: string): Promise<FileHandle> {
  const { constants, promises } = nodeBuiltin('node:fs');
  try {
    const file = await promises.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (cause) {
    throw fileError(cause, path, OP);
  }
  throw new DataLossError(`${path} is no regular file`, OP);
}

/** The bytes of one tensor. Nothing else of the file is read, which may be larger than any memory. */
async function part(
  proto: onnx.TensorProto,
  file: FileHandle,
  info: ReadonlyMap<string, string>,
): Promise<Uint8Array> {
  const needed = reading(() => onnx.onnxTensorBytes(proto));
  const number = (key: string, otherwise: number): number => {
    const text = info.get(key);
    return text === undefined || text === '' ? otherwise : Number(text);
  };
  const [offset, length] = [number('offset', 0), number('length', needed)];
  const { size } = await file.stat();
  if (!(Number.isSafeInteger(offset) && offset >= 0 && length === needed && offset + length <= size))
    throw new DataLossError(
      `the tensor '${proto.name ?? ''}' of ${needed} bytes is at ${offset} (${length} bytes) of '${info.get('location')}', which has ${size} bytes`,
      OP,
    );
  const bytes = roomFor(needed, proto.name ?? '');
  for (let at = 0; at < needed; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK_BYTES, needed - at), offset + at);
    if (bytesRead === 0) throw new DataLossError(`the file '${info.get('location')}' ended early`, OP);
    at += bytesRead;
  }
  return bytes;
}

function roomFor(bytes: number, name: string): Uint8Array {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw new ResourceExhaustedError(
      `there is no memory for the ${bytes} bytes of the tensor '${name}'`,
      OP,
      {
        cause,
      },
    );
  }
}

/** The path of a file of the folder. @throws PermissionDeniedError for one outside of it. */
async function within(folder: string, location: string): Promise<string> {
  const { promises } = nodeBuiltin('node:fs');
  const path = nodeBuiltin('node:path');
  const outside = new PermissionDeniedError(
    `the model names the file '${location}' for its tensors, but only files in the model's folder are read`,
    OP,
  );
  const full = path.resolve(folder, location);
  if (
    location === '' ||
    path.isAbsolute(location) ||
    !inside(path.relative(path.resolve(folder), full), path)
  )
    throw outside;
  try {
    const [real, root] = await Promise.all([promises.realpath(full), promises.realpath(folder)]);
    if (!inside(path.relative(root, real), path)) throw outside;
    return real;
  } catch (cause) {
    if (cause === outside) throw outside;
    throw fileError(cause, full, OP);
  }
}
const inside = (relative: string, path: typeof import('node:path')): boolean =>
  relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
