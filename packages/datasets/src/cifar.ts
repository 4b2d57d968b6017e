import { gunzip, type NDArrayOf, readFileBytes } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { corrupt, decoding } from './corrupt.ts';
import { loadFile, type RemoteFile, type RemoteFiles } from './load-file.ts';
import type { LoadOptions } from './options.ts';
import { readTar } from './tar.ts';

const SIDE = 32;
const PIXELS = SIDE * SIDE;

/** Colour images, uint8 [count, 32, 32, 3] from 0 to 255, and their labels, uint8 [count, 1]. */
export type CifarSplit = readonly [images: NDArrayOf<'uint8'>, labels: NDArrayOf<'uint8'>];

/** What a data set in the binary layout of CIFAR consists of. */
export interface CifarSpec {
  /** The name of its folders. */
  name: string;
  mirrors: readonly string[];
  archive: RemoteFile;
  /** The folder in the archive. */
  root: string;
  /** The splits' files, and how many images each file holds. */
  train: { files: readonly string[]; count: number };
  test: { files: readonly string[]; count: number };
  /** How many bytes of labels precede each image, and how many classes each has. */
  classes: readonly number[];
}

/** The files of a data set, for the catalogue. */
export function cifarFiles({ name, mirrors, archive }: CifarSpec): RemoteFiles {
  return { name, mirrors, files: [archive] };
}

/**
 * Loads splits with the label at `column`. The files are the binary ones: the others are Python pickles of the same
 * pictures in the same order. `folder` may hold the archive, its unpacked folder, or that folder's files.
 *
 * @throws DatasetError that names the file when it is missing, corrupt, or not to be had.
 */
export async function loadCifar(
  spec: CifarSpec,
  column: number,
  splits: readonly ('train' | 'test')[],
  options: LoadOptions,
): Promise<CifarSplit[]> {
  const wanted = splits.flatMap((split) => spec[split].files);
  const files = await loadMembers(spec, wanted, options);
  return splits.map((split) => {
    const { files: names, count } = spec[split];
    return decodeSplit(spec, column, names, count, files);
  });
}

interface Member {
  /** Where it was found. */
  where: string;
  bytes: Uint8Array;
}

async function loadMembers(
  spec: CifarSpec,
  names: readonly string[],
  options: LoadOptions,
): Promise<Map<string, Member>> {
  const unpacked = options.folder === undefined ? undefined : await readUnpacked(spec, options.folder, names);
  if (unpacked) return unpacked;
  const { path, bytes } = await loadFile(spec, spec.archive, options);
  return await decoding(spec.name, path, async () => {
    const tar = await gunzip(bytes, { file: path, maxBytes: tarBytes(spec) });
    const wanted = new Map(names.map((name) => [`${spec.root}/${name}`, name]));
    const found = new Map<string, Member>();
    for (const member of await readTar(tar, { file: path, filter: (name) => wanted.has(name) }))
      found.set(wanted.get(member.path)!, { where: `${path}/${member.path}`, bytes: member.bytes });
    for (const [member, name] of wanted) {
      if (!found.has(name)) throw corrupt(spec.name, path, 'members', member, 'no such member');
    }
    return found;
  });
}

/** The unpacked files, if all of them are there. */
async function readUnpacked(
  spec: CifarSpec,
  folder: string,
  names: readonly string[],
): Promise<Map<string, Member> | undefined> {
  const { join } = nodeBuiltin('node:path');
  const { existsSync } = nodeBuiltin('node:fs');
  for (const root of [join(folder, spec.root), folder]) {
    if (!names.every((name) => existsSync(join(root, name)))) continue;
    const found = new Map<string, Member>();
    for (const name of names) {
      const where = join(root, name);
      found.set(name, { where, bytes: await readBounded(spec, where) });
    }
    return found;
  }
  return undefined;
}

async function readBounded(spec: CifarSpec, path: string): Promise<Uint8Array> {
  const { size } = await nodeBuiltin('node:fs').promises.stat(path);
  if (size <= tarBytes(spec)) return await readFileBytes(path);
  throw corrupt(spec.name, path, 'too large', `at most ${tarBytes(spec)} bytes`, `${size}`);
}

/** The archive unpacked: images, and a little for names, headers and the end. */
function tarBytes({ train, test, classes }: CifarSpec): number {
  return (train.count + test.count) * (classes.length + 3 * PIXELS) + 2 ** 20;
}

function decodeSplit(
  spec: CifarSpec,
  column: number,
  names: readonly string[],
  count: number,
  files: ReadonlyMap<string, Member>,
): CifarSplit {
  const record = spec.classes.length + 3 * PIXELS;
  const perFile = count / names.length;
  const images = new Uint8Array(count * 3 * PIXELS);
  const labels = new Uint8Array(count);
  names.forEach((name, part) => {
    const { where, bytes } = files.get(name)!;
    if (bytes.length !== perFile * record)
      throw corrupt(spec.name, where, 'size', `${perFile * record} bytes`, `${bytes.length}`);
    for (let i = 0; i < perFile; i++) {
      const at = i * record;
      spec.classes.forEach((classes, c) => {
        if (bytes[at + c] >= classes)
          throw corrupt(spec.name, where, `label of image ${i}`, `below ${classes}`, `${bytes[at + c]}`);
      });
      labels[part * perFile + i] = bytes[at + column];
      interleave(bytes, at + spec.classes.length, images, (part * perFile + i) * 3 * PIXELS);
    }
  });
  return [
    { dtype: 'uint8', shape: [count, SIDE, SIDE, 3], data: images },
    { dtype: 'uint8', shape: [count, 1], data: labels },
  ];
}

/** Files hold a plane per colour, tensors the colours of each pixel. */
function interleave(from: Uint8Array, at: number, to: Uint8Array, begin: number): void {
  for (let pixel = 0, out = begin; pixel < PIXELS; pixel++) {
    to[out++] = from[at + pixel];
    to[out++] = from[at + PIXELS + pixel];
    to[out++] = from[at + 2 * PIXELS + pixel];
  }
}
