// What things are called elsewhere. The guides for newcomers have a table each, under "## Names": a name there, the name here. Search and the pages of the API take them from there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where names come from, and the guide that lists them. */
const origins = {
  PyTorch: 'docs/from-pytorch.md',
  'NumPy and JAX': 'docs/from-numpy.md',
  'TensorFlow.js': 'docs/from-tensorflow-js.md',
};

const namesIn = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

/**
 * The rows of the tables, as pairs of names. A row has as many names on both sides, or one on either side that belongs to all of the other.
 * @param root the folder of the project
 * @throws Error for a row whose names make no pairs
 */
export function namesElsewhere(root) {
  return Object.entries(origins).flatMap(([origin, file]) => {
    const [, table] = readFileSync(join(root, file), 'utf8').split('\n## Names\n');
    return table
      .split('\n')
      .filter((row) => row.startsWith('| `'))
      .flatMap((row) => {
        const [, left, right] = row.split('|');
        const [theirs, ours] = [namesIn(left), namesIn(right)];
        if (ours.length === 1) return theirs.map((name) => ({ origin, name, here: ours[0] }));
        if (theirs.length === 1) return ours.map((here) => ({ origin, name: theirs[0], here }));
        if (theirs.length !== ours.length)
          throw new Error(`${file}: the names of a row make no pairs: ${row}`);
        return theirs.map((name, i) => ({ origin, name, here: ours[i] }));
      });
  });
}
