import { errorsFor, quote } from '../errors.ts';
import { syncFolder, writeFileAtomicSync } from '../files/atomic.ts';
import { nodeBuiltin } from '../files/node.ts';
import { type BundleEntry, decodeIndex, encodeIndex, indexPath, shardPath } from './bundle-index.ts';
import { readIndex } from './bundle-open.ts';

/**
 * Makes one checkpoint of several, which then are no more: their data files get new names, of the same file system, and their indexes become one.
 * That is how parts come together that several processes have written. Node only.
 *
 * @throws FormatError when a tensor is in two of them, and Node's system errors.
 */
export function mergeBundles(prefixes: readonly string[], target: string): void {
  const fs = nodeBuiltin('node:fs');
  const error = errorsFor('checkpoint', target);
  const entries = new Map<string, BundleEntry>();
  const files: string[] = [];
  for (const prefix of prefixes) {
    const part = decodeIndex(readIndex(prefix), indexPath(prefix));
    for (const [key, entry] of part.entries) {
      if (entries.has(key)) throw error(`tensor ${quote(key)}`, 'each key once', `another one in ${prefix}`);
      if (entry.parts.length > 0)
        throw error.unsupported(`tensor ${quote(key)}`, 'a whole one', 'one in parts');
      entries.set(key, { ...entry, shard: entry.shard + files.length });
    }
    for (let i = 0; i < part.shards; i++) files.push(shardPath(prefix, i, part.shards));
  }
  if (files.length === 0) throw error('parts', 'at least one', 'none');
  fs.rmSync(indexPath(target), { force: true });
  files.forEach((file, i) => fs.renameSync(file, shardPath(target, i, files.length)));
  syncFolder(indexPath(target));
  writeFileAtomicSync(indexPath(target), encodeIndex(files.length, entries));
  for (const prefix of prefixes) if (prefix !== target) fs.rmSync(indexPath(prefix), { force: true });
}
