// Whether a binary was built from the sources that are there.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../../native', import.meta.url));
/** Lies beside binaries, and is not published. */
const stamp = 'built-from.txt';

/** The sources of all binaries, but for their tests. */
function digest() {
  const files = readdirSync(native, { withFileTypes: true })
    .filter(({ name }) => !/^(?:build.*|platforms|node_modules|tests|\..*)$/.test(name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(join(native, entry.name), { recursive: true }).map((name) => join(entry.name, name))
        : [entry.name],
    )
    .filter((name) => /\.(?:c|cc|h|def|map|txt|cmake)$/.test(name) && !/[\\/]tests[\\/]/.test(name));
  const hash = createHash('sha256');
  for (const name of files.sort())
    hash.update(name.replaceAll('\\', '/')).update(readFileSync(join(native, name)));
  return hash.digest('hex');
}

/** Says so of the binaries in a folder. */
export const stampSources = (folder) => writeFileSync(join(folder, stamp), `${digest()}\n`);

/** Whether the binaries in a folder are of the sources that are there. */
export function isOfSources(folder) {
  const file = join(folder, stamp);
  return existsSync(file) && readFileSync(file, 'utf8').trim() === digest();
}
