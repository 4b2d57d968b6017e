/** For tests: the files that tools/golden/datasets.py made, and what Keras loads from them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checksumLike } from '../checksum.ts';
import type { RemoteFile } from '../load-file.ts';

type Loaded = [xTrain: number[][], yTrain: number[], xTest: number[][], yTest: number[]];
type Options = Record<string, number | string | null>;

interface Golden {
  imdb: [Options, Loaded][];
  reuters: [Options, Loaded][];
  housing: [Options, Loaded][];
  pad: [Options, number[][]][];
  shuffled: [number, number, number[]][];
  labels: string[];
}

/** The folder of the golden files. */
export const goldenFolder: string = fileURLToPath(new URL('../../golden', import.meta.url));

/** What Keras loads. */
export const golden: Golden = JSON.parse(readFileSync(`${goldenFolder}/golden.json`, 'utf8'));

/** A golden file, as a data set names its files. */
export function goldenFile(name: string): RemoteFile {
  const bytes = readFileSync(`${goldenFolder}/${name}`);
  return { name, checksum: checksumLike('sha256:', bytes), bytes: bytes.length };
}

/** Python's options in camel case. */
export function camelCased(options: Options): Record<string, number | string | null> {
  const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [camel(name), value]));
}
