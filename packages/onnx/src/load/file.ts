// The bytes of a model and of its tensors.
import { DataLossError, fileError, InvalidArgumentError, PermissionDeniedError } from '@eagre/backend';
import { onnx, readFileBytes } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { reading } from '../tensors.ts';

const OP = 'tf.onnx.load';

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
  const files = new Map<string, Uint8Array>();
  for (const proto of tensorsIn(graph).filter(isExternal)) {
    const info = new Map((proto.external_data ?? []).map(({ key = '', value = '' }) => [key, value]));
    const location = info.get('location') ?? '';
    if (folder === null)
      throw new InvalidArgumentError(
        `the tensor '${proto.name ?? ''}' is in the file '${location}': load the model from its file, or give the option folder`,
        OP,
      );
    let bytes = files.get(location);
    if (bytes === undefined) files.set(location, (bytes = await read(await within(folder, location))));
    found.set(proto, part(proto, bytes, info));
  }
  return found;
}

function part(proto: onnx.TensorProto, bytes: Uint8Array, info: ReadonlyMap<string, string>): Uint8Array {
  const number = (key: string, otherwise: number): number => {
    const text = info.get(key);
    return text === undefined || text === '' ? otherwise : Number(text);
  };
  const offset = number('offset', 0);
  const length = number('length', bytes.length - offset);
  if (
    !(
      Number.isSafeInteger(offset) &&
      Number.isSafeInteger(length) &&
      offset >= 0 &&
      length >= 0 &&
      offset + length <= bytes.length
    )
  )
    throw new DataLossError(
      `the tensor '${proto.name ?? ''}' is at ${info.get('offset')} (${info.get('length')} bytes) of '${info.get('location')}', which has ${bytes.length} bytes`,
      OP,
    );
  return bytes.subarray(offset, offset + length);
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
