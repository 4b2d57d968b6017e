// Safetensors files that are written tensor by tensor, in one file or several, as Hugging Face's libraries lay them out.
import { errorsFor } from '../errors.ts';
import {
  deleteLeftovers,
  refuseSpecial,
  syncFolderLater,
  temporaryFor,
  writeFileAtomic,
} from '../files/atomic.ts';
import { makeFolders } from '../files/make-folders.ts';
import { nodeBuiltin } from '../files/node.ts';
import { encodeElements } from './elements.ts';
import { checkNDArray, type NDArray } from './ndarray.ts';
import { layOutSafetensors, safetensorsBytes, type TensorSpec } from './safetensors.ts';
import { SAFETENSORS_FILE, SAFETENSORS_INDEX } from './safetensors-model.ts';

/** A tensor that is asked for its elements when it is written. */
export interface TensorSource extends TensorSpec {
  /** The tensor, of the dtype and the shape that were said. */
  read(): NDArray | Promise<NDArray>;
}

type Metadata = Readonly<Record<string, string>>;

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, G: 1e9 };

/**
 * The bytes that a number, or a text such as `5GB` or `200MB`, means: powers of 1000, as Hugging Face's libraries count.
 *
 * @throws FormatError for anything else.
 */
export function shardBytes(size: unknown): number {
  const text = typeof size === 'number' ? `${size}B` : String(size);
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?) ?([KMG]?)B?$/i.exec(text) ?? [];
  const bytes = Number(number) * UNITS[unit.toUpperCase()];
  if (bytes > 0) return bytes;
  throw errorsFor('safetensors', undefined)(
    'the size of a file',
    "a number of bytes, or a text such as '5GB'",
    text,
  );
}

/** Options of {@link writeSafetensorsModel}. */
export interface WriteSafetensorsModelOptions {
  /** The most bytes of tensors in a file; a tensor that is larger has a file of its own. One file by default. */
  readonly maxShardSize?: number | undefined;
  /** What each file says of itself. */
  readonly metadata?: Metadata | undefined;
}

/**
 * Writes a safetensors file atomically, with one tensor in memory at a time. Node only.
 *
 * @throws FormatError for what the format cannot hold; Node's system errors; what a source throws. The target is then as it was.
 */
export async function writeSafetensorsTensors(
  path: string,
  tensors: readonly TensorSource[],
  metadata?: Metadata,
): Promise<void> {
  const { rename, rm } = nodeBuiltin('node:fs').promises;
  refuseSpecial(path);
  deleteLeftovers(nodeBuiltin('node:path').dirname(path));
  const layout = layOutSafetensors(tensors, metadata);
  const temporary = temporaryFor(path);
  try {
    await writePieces(temporary, layout);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolderLater(path);
}

/**
 * Writes tensors into a folder as a model of Hugging Face: `model.safetensors`, or, where that would be larger than `maxShardSize`,
 * `model-00001-of-0000n.safetensors` and `model.safetensors.index.json`. The folder is made if need be; what such files were there before are
 * replaced, and until the last is complete there is the old model, or none. Node only.
 *
 * @returns the names of the files.
 */
export async function writeSafetensorsModel(
  folder: string,
  tensors: readonly TensorSource[],
  { maxShardSize = Infinity, metadata }: WriteSafetensorsModelOptions = {},
): Promise<string[]> {
  const { join } = nodeBuiltin('node:path');
  const shards = shardsOf(tensors, maxShardSize);
  const layouts = shards.map((shard) => layOutSafetensors(shard, metadata));
  const names = shards.map((_, i) => shardName(i, shards.length));
  makeFolders(folder);
  deleteLeftovers(folder);
  for (const name of [...names, SAFETENSORS_INDEX]) refuseSpecial(join(folder, name));
  const { rename, rm } = nodeBuiltin('node:fs').promises;
  const temporaries = names.map((name) => temporaryFor(join(folder, name)));
  try {
    for (const [i, layout] of layouts.entries()) await writePieces(temporaries[i], layout);
    // Old and new files are never read together: nothing is found until the new index is there.
    await rm(join(folder, SAFETENSORS_INDEX), { force: true });
    for (const [i, name] of names.entries()) await rename(temporaries[i], join(folder, name));
  } catch (error) {
    for (const temporary of temporaries) await rm(temporary, { force: true });
    throw error;
  }
  await deleteOthers(folder, names);
  if (shards.length > 1) {
    await writeFileAtomic(join(folder, SAFETENSORS_INDEX), indexText(shards, names));
    return [...names, SAFETENSORS_INDEX];
  }
  await syncFolderLater(join(folder, names[0]));
  return names;
}

/** The tensors in order, as many in each file as fit. */
function shardsOf(tensors: readonly TensorSource[], most: number): TensorSource[][] {
  if (!(most > 0))
    throw errorsFor('safetensors', undefined)('maxShardSize', 'a positive number of bytes', String(most));
  const seen = new Set<string>();
  let shard: TensorSource[] = [];
  const shards = [shard];
  let filled = 0;
  for (const tensor of tensors) {
    if (seen.has(tensor.name))
      throw errorsFor('safetensors', undefined)('tensors', 'distinct names', `'${tensor.name}' twice`);
    seen.add(tensor.name);
    const bytes = safetensorsBytes(tensor);
    if (shard.length > 0 && filled + bytes > most) {
      shard = [];
      shards.push(shard);
      filled = 0;
    }
    shard.push(tensor);
    filled += bytes;
  }
  return shards;
}

function shardName(i: number, count: number): string {
  if (count === 1) return SAFETENSORS_FILE;
  const five = (n: number): string => String(n).padStart(5, '0');
  return `model-${five(i + 1)}-of-${five(count)}.safetensors`;
}

function indexText(shards: readonly TensorSource[][], names: readonly string[]): string {
  const all = shards.flat();
  const places = shards.flatMap((shard, i) => shard.map(({ name }) => [name, names[i]] as const));
  const map = places.sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = map.map(([name, file]) => `    ${JSON.stringify(name)}: ${JSON.stringify(file)}`);
  const total = all.reduce((sum, tensor) => sum + safetensorsBytes(tensor), 0);
  // Line by line: an object would move names that look like integers to the front.
  return `{\n  "metadata": {\n    "total_size": ${total}\n  },\n  "weight_map": {\n${lines.join(',\n')}\n  }\n}\n`;
}

/** Deletes the files of a model that was here before. */
async function deleteOthers(folder: string, names: readonly string[]): Promise<void> {
  const fs = nodeBuiltin('node:fs').promises;
  for (const name of await fs.readdir(folder)) {
    const isShard = name === SAFETENSORS_FILE || /^model-\d{5}-of-\d{5}\.safetensors$/.test(name);
    if (isShard && !names.includes(name)) await fs.rm(nodeBuiltin('node:path').join(folder, name));
  }
}

/** Writes a new file, down to the disk. */
async function writePieces(
  path: string,
  { header, ordered }: ReturnType<typeof layOutSafetensors<TensorSource>>,
): Promise<void> {
  const file = await nodeBuiltin('node:fs').promises.open(path, 'wx');
  try {
    await file.appendFile(header);
    for (const tensor of ordered) {
      const array = await tensor.read();
      checkNDArray(array, 'safetensors', tensor.name);
      if (array.dtype !== tensor.dtype || array.shape.join() !== tensor.shape.join())
        throw errorsFor('safetensors', undefined)(
          `tensor '${tensor.name}' changed while it was written`,
          `${tensor.dtype} [${tensor.shape.join(', ')}]`,
          `${array.dtype} [${array.shape.join(', ')}]`,
        );
      await file.appendFile(encodeElements(array));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
