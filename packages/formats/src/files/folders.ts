import { isLeftover, ownMark } from './atomic.ts';
import { nodeBuiltin } from './node.ts';

/** The name of a folder beside `target`, to be filled and then given to {@link replaceFolder}: hidden, and like no other. Node only. */
export function folderBeside(target: string): string {
  return beside(target, 'tmp');
}

function beside(target: string, kind: 'tmp' | 'old'): string {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  return join(dirname(target), `.${basename(target)}.${ownMark()}.${kind}`);
}

/**
 * Puts a folder in the place of another one, which is there until the new one is. Where the process is killed between the two,
 * {@link restoreFolder} ends that. Node only.
 *
 * @throws Node's system error; the target is then as it was.
 */
export function replaceFolder(target: string, filled: string): void {
  const fs = nodeBuiltin('node:fs');
  const old = beside(target, 'old');
  const had = fs.existsSync(target);
  if (had) fs.renameSync(target, old);
  try {
    fs.renameSync(filled, target);
  } catch (error) {
    if (had) fs.renameSync(old, target);
    throw error;
  }
  if (had) fs.rmSync(old, { recursive: true, force: true });
}

/** Puts a folder back that a process had moved away which was killed before it put a new one there. Node only. */
export function restoreFolder(target: string): void {
  const fs = nodeBuiltin('node:fs');
  if (fs.existsSync(target)) return;
  const [old] = leftovers(target, 'old');
  if (old !== undefined) fs.renameSync(old, target);
}

/** Deletes what processes have left that were killed while they filled or replaced a folder, after {@link restoreFolder}. Node only. */
export function deleteLeftoverFolders(target: string): void {
  restoreFolder(target);
  for (const path of [...leftovers(target, 'old'), ...leftovers(target, 'tmp')])
    nodeBuiltin('node:fs').rmSync(path, { recursive: true, force: true });
}

function leftovers(target: string, kind: 'tmp' | 'old'): string[] {
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const [start, end] = [`.${basename(target)}.`, `.${kind}`];
  let names: string[] = [];
  try {
    names = nodeBuiltin('node:fs').readdirSync(dirname(target));
  } catch {
    // Whoever reads or writes there is told.
  }
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .filter((name) => isLeftover(name.slice(start.length, -end.length)))
    .map((name) => join(dirname(target), name));
}
