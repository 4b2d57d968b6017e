// Weights in several HDF5 files, and a list in JSON of which is where.
import { DataLossError, InvalidArgumentError } from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import {
  encodeHdf5,
  type Hdf5ArraySource,
  type Hdf5Dataset,
  type Hdf5Group,
  Hdf5GroupBuilder,
  isHdf5Dataset,
  makeFolders,
  readHdf5File,
  writeFileAtomic,
} from '@eagre/formats';
import { isLeftover, mostUnpacked, nodeBuiltin, ownMark } from '@eagre/formats/internal';
import type { Model } from '../models/model.ts';
import { type LoadStateOptions, loadState } from './keras-state.ts';
import { writeError } from './read-error.ts';

// Whether files were saved together; Keras's have no such mark.
const MARK = 'eagre_save';
const GIGABYTE = 2 ** 30;
const ELEMENT_BYTES: Readonly<Record<string, number>> = { bool: 1, bfloat16: 2, float16: 2 };

/** The list, as Keras writes it. */
interface ShardList {
  readonly metadata: { readonly total_size: number; readonly [MARK]?: string };
  /** The files of each group of arrays, `/layers/dense/vars`: one, or several in a list. */
  readonly weight_map: Readonly<Record<string, string | readonly string[]>>;
}

function bytesOf({ dtype, shape }: Hdf5ArraySource): number {
  const each = ELEMENT_BYTES[dtype] ?? Number(/\d+$/.exec(dtype)?.[0]) / 8;
  return shape.reduce((n, size) => n * size, each);
}

/** All arrays of a group by the paths of what they are in. */
function* arraysIn(
  group: Hdf5GroupBuilder,
  path = '',
): Iterable<readonly [path: string, group: Hdf5GroupBuilder, key: string, source: Hdf5ArraySource]> {
  for (const [key, child] of group.children) {
    if (child instanceof Hdf5GroupBuilder) yield* arraysIn(child, `${path}/${key}`);
    else yield [path, group, key, child];
  }
}

/**
 * Writes files of at most `maxShardSize` gigabytes, `model_00000.weights.h5` and so on, and the list, which comes last.
 * @throws InvalidArgumentError for an array that is larger than that
 */
export async function saveShards(
  weights: Hdf5GroupBuilder,
  path: string,
  maxShardSize: number,
): Promise<void> {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const most = maxShardSize * GIGABYTE;
  const base = basename(path).replace(/\.weights\.json$/, '');
  const shards: { readonly name: string; readonly root: Hdf5GroupBuilder }[] = [];
  const map: Record<string, string | string[]> = {};
  let size = Number.POSITIVE_INFINITY;
  let total = 0;
  for (const [where, group, key, source] of arraysIn(weights)) {
    const bytes = bytesOf(source);
    if (bytes > most)
      throw new InvalidArgumentError(
        `${where.slice(1)}/${key} has ${bytes} bytes, more than maxShardSize, ${most} bytes; give a larger one`,
        'saveWeights',
      );
    total += bytes;
    size += bytes;
    if (size > most) {
      const number = String(shards.length).padStart(5, '0');
      shards.push({ name: `${base}_${number}.weights.h5`, root: new Hdf5GroupBuilder() });
      size = bytes;
    }
    const { name, root } = shards.at(-1) as (typeof shards)[number];
    const into = root.group(where);
    for (const [attribute, value] of group.attributes) into.attributes.set(attribute, value);
    into.add(key, source);
    const known = map[where];
    if (known === undefined) map[where] = name;
    else if (typeof known === 'string') {
      if (known !== name) map[where] = [known, name];
    } else if (!known.includes(name)) known.push(name);
  }
  const mark = ownMark();
  for (const { root } of shards) root.attributes.set(MARK, mark);
  const list: ShardList = { metadata: { total_size: total, [MARK]: mark }, weight_map: map };
  const partOf = (name: string): string => partPath(path, name, mark);
  const fs = nodeBuiltin('node:fs');
  let isListed = false;
  try {
    makeFolders(dirname(path));
    const before = withoutLeftovers(path);
    for (const { name, root } of shards) await writeFileAtomic(partOf(name), encodeHdf5(root));
    // From here on the new files are those of the list, by their marks, though they still have to get their names, which are Keras's.
    await writeFileAtomic(path, JSON.stringify(list, null, 4));
    isListed = true;
    for (const { name } of shards) fs.renameSync(partOf(name), join(dirname(path), name));
    for (const name of before)
      if (!shards.some((shard) => shard.name === name)) fs.rmSync(join(dirname(path), name), { force: true });
  } catch (cause) {
    if (!isListed) for (const { name } of shards) fs.rmSync(partOf(name), { force: true });
    throw writeError(cause, path, 'saveWeights');
  }
}

/** The name of a file of a save until it has its own. */
function partPath(list: string, name: string, mark: string): string {
  const { dirname, join } = nodeBuiltin('node:path');
  return join(dirname(list), `.${name}.${mark}.part`);
}

/**
 * Ends what killed processes have begun: files of the list get their names, others are deleted.
 * @returns the names of the files of the list
 */
function withoutLeftovers(path: string): ReadonlySet<string> {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const fs = nodeBuiltin('node:fs');
  let list: ShardList | undefined;
  let names: ReadonlySet<string> = new Set();
  try {
    list = listOf(path);
    names = shardNames(list, path);
  } catch {
    // None yet, or one that nothing can be read by.
  }
  const start = `.${basename(path).replace(/\.weights\.json$/, '')}_`;
  for (const file of fs.readdirSync(dirname(path))) {
    const [, name, mark] = /^\.(.+_\d{5,}\.weights\.h5)\.([^.]+)\.part$/.exec(file) ?? [];
    if (name === undefined || mark === undefined || !file.startsWith(start) || !isLeftover(mark)) continue;
    const part = join(dirname(path), file);
    if (mark === list?.metadata?.[MARK] && names.has(name)) fs.renameSync(part, join(dirname(path), name));
    else fs.rmSync(part, { force: true });
  }
  return names;
}

/** Reads what `saveShards`, or Keras, wrote. */
export async function loadShards(model: Model, path: string, options: LoadStateOptions): Promise<void> {
  const list = listOf(path);
  const whole: Group = { children: new Map(), attributes: new Map() };
  for (const name of shardNames(list, path)) {
    const file = shardPath(path, name, list);
    await readHdf5File(file, (root) => {
      if (root.attributes.get(MARK) !== list.metadata?.[MARK])
        throw new DataLossError(`${path}: ${name} was saved at another time than the list`, 'loadWeights');
      const { size } = nodeBuiltin('node:fs').statSync(file);
      merge(root, whole, { file: `${path}: ${name}`, most: mostUnpacked(size), bytes: 0 }, 0);
    });
  }
  loadState(model, whole, options);
}

/** Where a file of the list is: a save that was killed may not have given it its name. */
function shardPath(path: string, name: string, list: ShardList): string {
  const { dirname, join } = nodeBuiltin('node:path');
  const mark = list.metadata?.[MARK];
  const part = typeof mark === 'string' && /^[0-9a-z-]+$/.test(mark) ? partPath(path, name, mark) : undefined;
  return part !== undefined && nodeBuiltin('node:fs').existsSync(part) ? part : join(dirname(path), name);
}

/** The files that a list names. @throws DataLossError for what is none of a file beside it */
function shardNames(list: ShardList, path: string): ReadonlySet<string> {
  const files = Object.values(list.weight_map).flat();
  return new Set(files.map((name) => checkShard(name, path)));
}

/** A group in memory. */
interface Group extends Hdf5Group {
  readonly children: Map<string, Group | Hdf5Dataset>;
}
// Models in models nest a handful.
const MOST_DEPTH = 256;

/** A file as its arrays are read, of which few bytes may stand for very many. */
interface ShardReading {
  readonly file: string;
  readonly most: number;
  /** Of the arrays by now. */
  bytes: number;
}

/** Reads all arrays of a group into one that has those of other files. */
function merge(from: Hdf5Group, into: Group, reading: ShardReading, depth: number): void {
  const { file, most } = reading;
  if (depth > MOST_DEPTH)
    throw new DataLossError(`${file}: groups in groups, more than ${MOST_DEPTH} of them`);
  for (const [name, child] of from.children) {
    const known = into.children.get(name);
    if (isHdf5Dataset(child)) {
      if (known !== undefined) throw new DataLossError(`${file}: ${name} is in two files`);
      const { shape, dtype, type, elementBytes, attributes } = child;
      reading.bytes += shape.reduce((n, size) => n * size, elementBytes);
      if (reading.bytes > most)
        throw new DataLossError(`${file}: the arrays would take more than ${most} bytes`, 'loadWeights');
      const array = dtype === null ? null : child.read();
      const read: Hdf5Dataset['read'] = () => array ?? child.read();
      into.children.set(name, { shape, dtype, type, elementBytes, attributes, read });
      continue;
    }
    let group = known;
    if (group === undefined) {
      group = { children: new Map(), attributes: new Map() } satisfies Group;
      into.children.set(name, group);
    }
    if (isHdf5Dataset(group)) throw new DataLossError(`${file}: ${name} is an array and a group`);
    merge(child, group, reading, depth + 1);
  }
}

/** @throws DataLossError for a name that is none of a file beside the list */
function checkShard(name: unknown, path: string): string {
  if (typeof name === 'string' && /^[^/\\:\0]+\.h5$/.test(name) && !name.startsWith('.')) return name;
  throw new DataLossError(
    `${path}: expected names of files beside it, got ${JSON.stringify(name)?.slice(0, 100)}`,
  );
}

/** @throws DataLossError for what is no such list */
function listOf(path: string): ShardList {
  const refuse = (cause?: unknown): never => {
    throw new DataLossError(`${path} is no list of files with weights`, 'loadWeights', { cause });
  };
  const text = nodeBuiltin('node:fs').readFileSync(path, 'utf8');
  let list: Partial<ShardList> | null;
  try {
    list = JSON.parse(text) as Partial<ShardList> | null;
  } catch (cause) {
    return refuse(cause);
  }
  const map = isPlain(list) ? (list as Partial<ShardList>).weight_map : undefined;
  if (!isPlain(map)) return refuse();
  const isFiles = (files: unknown): boolean => typeof files === 'string' || Array.isArray(files);
  return Object.values(map).every(isFiles) ? (list as ShardList) : refuse();
}
