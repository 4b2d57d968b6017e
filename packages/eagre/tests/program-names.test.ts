// Programs that no compiler checks, and that run against real tools or by hand: the names of the library that they use are there.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const root = new URL('../../../', import.meta.url);

/** Whether a chain of names is there, as far as namespaces go: `nn.relu`, `data.Dataset.range`. */
function isThere(names: readonly string[]): boolean {
  let at: unknown = tf;
  for (const name of names) {
    if (!(name in Object(at))) return false;
    at = (at as Record<string, unknown>)[name];
    if (typeof at !== 'object') return true;
  }
  return true;
}

test.each(['tools/interop/', 'tools/golden/', 'apps/bench/probes/'])('%s', (folder) => {
  const lacking = readdirSync(new URL(folder, root))
    // What begins with `tfjs-` runs in TensorFlow.js.
    .filter((name) => name.endsWith('.mjs') && !name.startsWith('tfjs-'))
    .flatMap((name) => {
      const code = readFileSync(new URL(`${folder}${name}`, root), 'utf8').replace(
        /^\s*(\/\/|\/?\*).*$/gm,
        '',
      );
      const used = [...code.matchAll(/\btf\.(\w+(?:\.\w+)*)/g)].map(([, names]) => names as string);
      return used.filter((names) => !isThere(names.split('.'))).map((names) => `${name}: tf.${names}`);
    });
  expect(lacking).toEqual([]);
});
