// `eagre convert`: a model, or the arrays of a file, in another format.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  UnimplementedError,
} from '@eagre/core';
import { makeFolders, shardBytes } from '@eagre/formats';
import { FLOATS, type FloatName, withFloats, withProgress } from './convert/array-source.ts';
import {
  type Arrays,
  type Format,
  formats,
  hasLayersFor,
  type Models,
  type WriteOptions,
  wayBetween,
} from './convert/formats.ts';

/** How to convert. */
export interface ConvertOptions {
  /** The format of the source, where its path does not tell. */
  readonly from?: string | undefined;
  /** The format of the target, where its path does not tell. */
  readonly to?: string | undefined;
  /** Whether texts in a checkpoint are left out, and not refused. */
  readonly skipStrings?: boolean | undefined;
  /** Casts all floats. */
  readonly dtype?: string | undefined;
  /** A number of bytes, or a text such as '5GB': writes several safetensors files into a folder. */
  readonly maxShardSize?: number | string | undefined;
  /** Whether files that are there are replaced. */
  readonly overwrite?: boolean | undefined;
  /** Called before each array, with how many are done. */
  readonly onProgress?: ((done: number, total: number, name: string) => void) | undefined;
}

/** What was converted. */
export interface Converted {
  readonly from: string;
  readonly to: string;
  /** How many; null for models. */
  readonly arrays: number | null;
}

/**
 * Writes what is at `source` to `target`, whole or not at all. Names stay as they are.
 *
 * @throws NotFoundError, InvalidArgumentError for paths of no known format, UnimplementedError for what the target's format cannot hold,
 * FailedPreconditionError for a target that is there already.
 */
export async function convert(
  source: string,
  target: string,
  options: ConvertOptions = {},
): Promise<Converted> {
  const { from, to, dtype, overwrite = false, onProgress, maxShardSize, skipStrings } = options;
  const write: WriteOptions = maxShardSize === undefined ? {} : { maxShardSize: bytesOf(maxShardSize) };
  if (dtype !== undefined && !FLOATS.includes(dtype as FloatName))
    throw new InvalidArgumentError(`--dtype must be one of ${FLOATS.join(', ')}, got ${dtype}`, 'convert');
  const reader = from === undefined ? readerOf(source) : named(from, '--from');
  const writer = to === undefined ? writerOf(target, write, reader) : named(to, '--to');
  if (write.maxShardSize !== undefined && writer.name !== 'safetensors-folder')
    throw new InvalidArgumentError(
      `--max-shard-size needs a folder as the target, not ${writer.title}`,
      'convert',
    );
  if (skipStrings && reader.name !== 'checkpoint')
    throw new InvalidArgumentError(`--skip-strings is for checkpoints, not ${reader.title}`, 'convert');
  const way = wayBetween(reader, writer);
  if (way === null) throw new UnimplementedError(`${reader.title} cannot become ${writer.title}`, 'convert');
  if (way === 'models' && reader === writer)
    throw new InvalidArgumentError(`${source} is ${writer.title} already: copy it`, 'convert');
  if (dtype !== undefined && way === 'models')
    throw new InvalidArgumentError('--dtype casts arrays, and this converts models', 'convert');
  const there = writer.files(target).find((file) => existsSync(file));
  if (there !== undefined && !overwrite)
    throw new FailedPreconditionError(`${there} is there already; pass --overwrite to replace it`, 'convert');
  const result = { from: reader.name, to: writer.name };
  if (way === 'models') {
    const model = await (reader.models as Models).load(source);
    makeFolders(dirname(target));
    await (writer.models as Required<Models>).save(target, model);
    return { ...result, arrays: null };
  }
  const opened = await (reader.arrays as Arrays).open(source, { skipStrings });
  try {
    const { arrays } = opened;
    let done = 0;
    const watched = withProgress(opened, (name) => onProgress?.(done++, arrays.length, name));
    makeFolders(dirname(target));
    const cast = dtype === undefined ? watched : withFloats(watched, dtype as FloatName);
    await (writer.arrays as Arrays).write(target, cast, write);
    return { ...result, arrays: arrays.length };
  } finally {
    await opened.close();
  }
}

function bytesOf(size: number | string): number {
  try {
    return shardBytes(size);
  } catch (cause) {
    throw new InvalidArgumentError(`--max-shard-size: ${(cause as Error).message}`, 'convert', { cause });
  }
}

const titles = (): string => formats.map(({ title }) => title).join('; ');

function readerOf(path: string): Format {
  const found = formats.find((format) => format.reads(path));
  if (found !== undefined && (existsSync(path) || existsSync(`${path}.index`))) return found;
  if (found !== undefined || !existsSync(path)) throw new NotFoundError(`there is no ${path}`, 'convert');
  throw new InvalidArgumentError(
    `${path} is none of: ${titles()}; pass --from if it is one of them`,
    'convert',
  );
}

function writerOf(path: string, options: WriteOptions, reader: Format): Format {
  const found = formats.filter((format) => format.writes(path, options));
  const possible = found.filter((format) => wayBetween(reader, format) !== null);
  const fits = possible.find((format) => hasLayersFor(reader, format)) ?? possible[0] ?? found[0];
  if (fits !== undefined) return fits;
  throw new InvalidArgumentError(`the path ${path} stands for none of: ${titles()}; pass --to`, 'convert');
}

function named(name: string, option: string): Format {
  const found = formats.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = formats.map((format) => format.name).join(', ');
  throw new InvalidArgumentError(`${option} must be one of ${names}, got ${name}`, 'convert');
}
