// Weights in a file beside the model.
import type { Tensor } from '@eagre/core';
import { onnx, readFileBytes } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';

// Smaller tensors stay in the model.
const LEAST_EXTERNAL = 1024;
const ALIGNMENT = 64;
// Of the digits that tell contents apart.
const DIGITS = 16;
// A program that still writes needs less from the end of the weights to that of the model.
const LEFT_MS = 3_600_000;

/** Large tensors one after another, and messages that say where they are. */
export interface ExternalData {
  readonly initializer: readonly onnx.TensorProto[];
  /** The path of the file. Its name tells its content: what an older model reads is never written over. */
  readonly path: string;
  readonly parts: readonly Uint8Array[];
}

/** Puts large tensors into a file for the model of a path. */
export function externalDataOf(
  tensors: readonly (readonly [string, Tensor])[],
  model: string,
  protoOf: (name: string, t: Tensor) => onnx.TensorProto,
): ExternalData {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const hash = nodeBuiltin('node:crypto').createHash('sha256');
  const parts: Uint8Array[] = [];
  let end = 0;
  const add = (bytes: Uint8Array): number => {
    const at = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    for (const part of [new Uint8Array(at - end), bytes]) {
      hash.update(part);
      parts.push(part);
    }
    end = at + bytes.length;
    return at;
  };
  const protos = tensors.map(([name, t]) => {
    const { raw_data: bytes, ...proto } = protoOf(name, t);
    if (bytes === undefined) return { proto };
    return bytes.length < LEAST_EXTERNAL
      ? { proto: { ...proto, raw_data: bytes } }
      : { proto, offset: add(bytes), length: bytes.length };
  });
  const location = `${basename(model)}.${hash.digest('hex').slice(0, DIGITS)}.data`;
  const initializer = protos.map(({ proto, offset, length }): onnx.TensorProto => {
    if (offset === undefined) return proto;
    const entries = { location, offset: String(offset), length: String(length) };
    return {
      ...proto,
      external_data: Object.entries(entries).map(([key, value]) => ({ key, value })),
      data_location: 1,
    };
  });
  return { initializer, path: join(dirname(model), location), parts };
}

/** The files of weights that are of no use once another model is at a path: those of the model there, and what killed programs left. */
export async function dataToRemove(model: string): Promise<readonly string[]> {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const { readdir, stat } = nodeBuiltin('node:fs').promises;
  const name = basename(model);
  const endings = /^(\.[0-9a-f]{16})?\.data$/;
  try {
    const own = (await readdir(dirname(model))).filter(
      (file) => file.startsWith(`${name}.`) && endings.test(file.slice(name.length)),
    );
    if (own.length === 0) return [];
    const { graph } = onnx.ModelProto.decode(await readFileBytes(model));
    const named = new Set(
      (graph?.initializer ?? []).flatMap(({ external_data: entries = [] }) =>
        entries.flatMap(({ key, value }) => (key === 'location' ? [value] : [])),
      ),
    );
    const isLeft = async (file: string): Promise<boolean> =>
      file !== `${name}.data` && Date.now() - (await stat(join(dirname(model), file))).mtimeMs > LEFT_MS;
    const found: string[] = [];
    for (const file of own)
      if (named.has(file) || (await isLeft(file))) found.push(join(dirname(model), file));
    return found;
  } catch {
    // There is no model, or none that tells anything.
    return [];
  }
}
