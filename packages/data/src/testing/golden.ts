/** For tests: the files that tools/golden/data_files.py made, and what TensorFlow reads in them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the golden files. */
export const goldenFolder: string = fileURLToPath(new URL('../../golden', import.meta.url));

/** The path of a golden file. */
export const goldenPath = (name: string): string => `${goldenFolder}/${name}`;

type Value = number | string | boolean | readonly Value[] | { readonly [key: string]: Value };

/** What TensorFlow reads. */
export const golden: {
  readonly single: readonly Readonly<Record<string, Value>>[];
  readonly batch: Readonly<Record<string, Value>>;
  readonly turns: Readonly<Record<string, readonly string[]>>;
  readonly lines: Readonly<Record<string, readonly string[]>>;
  readonly fixed: readonly (readonly number[])[];
  readonly csv: Readonly<Record<string, readonly (readonly (number | string)[])[]>>;
  readonly csvSelected: readonly (readonly (number | string)[])[];
  readonly makeCsv: readonly (readonly [Readonly<Record<string, Value>>, readonly number[]])[];
  readonly pictures: Readonly<Record<string, readonly (readonly [Value, Value])[]>>;
  readonly pictureFiles: readonly string[];
  readonly split: Readonly<Record<string, readonly string[]>>;
} = JSON.parse(readFileSync(`${goldenFolder}/files.json`, 'utf8'));
