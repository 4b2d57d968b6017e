import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inspectNpy, inspectNpz, inspectSafetensors } from './inspect/arrays.ts';
import { inspectCheckpoint, newestIn } from './inspect/checkpoint.ts';
import type { Contents, Item } from './inspect/contents.ts';
import { inspectEvents } from './inspect/events.ts';
import { inspectHdf5, inspectKeras } from './inspect/keras.ts';
import { inspectOnnx } from './inspect/onnx.ts';
import { inspectSavedModel } from './inspect/saved-model.ts';
import { inspectTfjs, tfjsFileAt } from './inspect/tfjs.ts';
import { bytesText, plain, table } from './table.ts';

/**
 * What is in a file, or a checkpoint by its prefix, or a folder with a SavedModel, checkpoints or event files.
 *
 * @throws Error where there is no such file, or it is of no known format; FormatError for one that is damaged.
 */
export async function inspect(path: string): Promise<Contents> {
  if (path === '') throw new Error('expected a path, got none');
  if (existsSync(`${path}.index`)) return await inspectCheckpoint(path);
  if (!existsSync(path)) throw new Error(`there is no ${path}`);
  if (statSync(path).isDirectory()) return await inspectFolder(path);
  if (path.endsWith('.index')) return await inspectCheckpoint(path.slice(0, -'.index'.length));
  if (/\.data-\d{5}-of-\d{5}$/.test(path)) return await inspectCheckpoint(path.replace(/\.data-[^.]*$/, ''));
  // What names the newest in its folder.
  if (/(^|[/\\])checkpoint$/.test(path)) return await inspectFolder(dirname(path));
  if (/\.safetensors(\.index\.json)?$/.test(path)) return await inspectSafetensors(path);
  if (path.endsWith('.json') && !path.endsWith('.weights.json')) return await inspectTfjs(path);
  if (path.endsWith('.npz')) return await inspectNpz(path);
  if (path.endsWith('.npy')) return await inspectNpy(path);
  if (path.endsWith('.keras')) return await inspectKeras(path);
  if (path.endsWith('.onnx')) return await inspectOnnx(path);
  if (/\.(h5|hdf5)$/.test(path)) return await inspectHdf5(path);
  if (basename(path).includes('tfevents')) return await inspectEvents(path);
  throw new Error(
    `${path} is not one of: a checkpoint (.index), an event file (…tfevents…), .safetensors, .safetensors.index.json, .npz, .npy, .keras, .h5, .onnx, a model.json of TensorFlow.js`,
  );
}

async function inspectFolder(path: string): Promise<Contents> {
  const newest = newestIn(path);
  if (newest !== undefined) return await inspectCheckpoint(newest);
  if (existsSync(join(path, 'saved_model.pb'))) return await inspectSavedModel(path);
  const tfjs = tfjsFileAt(path);
  if (tfjs !== undefined) return await inspectTfjs(tfjs);
  // The variables of a SavedModel, without the rest.
  const saved = join(path, 'variables', 'variables');
  if (existsSync(`${saved}.index`)) return await inspectCheckpoint(saved);
  const kind = kindBelow(path);
  if (kind === 'events') return await inspectEvents(path);
  if (kind === 'safetensors') return await inspectSafetensors(path);
  throw new Error(
    `there are neither a SavedModel nor a model of TensorFlow.js, checkpoints, event files or safetensors in ${path}`,
  );
}

/** So many names are looked at: `/` has no end. */
const MOST_NAMES = 100_000;

/** What files in a folder and below tell of it. Folders below that may not be read are left out. */
function kindBelow(path: string): 'events' | 'safetensors' | undefined {
  let found: 'safetensors' | undefined;
  let count = 0;
  const waiting = [path];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    for (const entry of entriesOf(folder, folder === path)) {
      if (++count > MOST_NAMES) return found;
      if (entry.name.includes('tfevents')) return 'events';
      if (entry.name.endsWith('.safetensors')) found = 'safetensors';
      if (entry.isDirectory()) waiting.push(join(folder, entry.name));
    }
  }
  return found;
}
function entriesOf(folder: string, isFirst: boolean): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isFirst) throw error;
    return [];
  }
}

/** For people to read. */
export function contentsText({ path, format, items, tags, about = {} }: Contents): string {
  const lines = [`${plain(path)}: ${format}`];
  for (const [key, value] of Object.entries(about))
    if (value !== undefined)
      lines.push(plain(`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`));
  if (items !== undefined) {
    const rows = items.map(({ name, dtype, shape, bytes }) => [name, dtype, `[${shape.join(', ')}]`, bytes]);
    lines.push('', table(['name', 'dtype', 'shape', 'bytes'], rows), '', total(items));
  }
  if (tags !== undefined) {
    const rows = tags.map((t) => [t.run, t.tag, t.kind, t.count, t.firstStep, t.lastStep]);
    lines.push('', table(['run', 'tag', 'kind', 'count', 'first step', 'last step'], rows));
  }
  return lines.join('\n');
}

function total(items: readonly Item[]): string {
  const values = items.reduce((sum, { shape }) => sum + shape.reduce((all, size) => all * size, 1), 0);
  const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
  const count = (n: number, what: string): string => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
  return `${count(items.length, 'tensor')}, ${count(values, 'value')}, ${bytesText(bytes)}`;
}
