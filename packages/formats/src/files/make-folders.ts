import { nodeBuiltin } from './node.ts';

/**
 * Makes a folder and those around it, where they are missing. Node only.
 *
 * Node's own recursion never ends where a folder refuses new ones by saying that there is no such path, as /proc does.
 *
 * @throws Node's system error, e.g. with code `EACCES`, `ENOENT` or, where a file has the name, `EEXIST` or `ENOTDIR`.
 */
export function makeFolders(path: string): void {
  const fs = nodeBuiltin('node:fs');
  if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const around = nodeBuiltin('node:path').dirname(path);
  if (around !== path) makeFolders(around);
  try {
    fs.mkdirSync(path);
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as { code?: string }).code !== 'EEXIST' || !fs.statSync(path).isDirectory()) throw error;
  }
}
