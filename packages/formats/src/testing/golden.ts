/** For tests: the files that the real tools made, and what is in them (see tools/golden/formats.py). */
import { readFileSync } from 'node:fs';
import type { DTypeName, NDArray } from '../arrays/ndarray.ts';

/** An array as golden.json spells it. */
export interface GoldenArray {
  dtype: DTypeName;
  shape: number[];
  values: (number | string | boolean)[];
}

/** A file as golden.json describes it. */
export interface GoldenFile {
  name: string;
  format: 'npy' | 'npz' | 'safetensors';
  array?: GoldenArray;
  arrays?: Record<string, GoldenArray>;
  metadata?: Record<string, string>;
  unsupported?: boolean | string[];
}

/** The bytes of a golden file. */
export function goldenBytes(name: string): Uint8Array {
  return readFileSync(new URL(`../../golden/${name}`, import.meta.url));
}

/** The golden files of one format. */
export function goldenFiles(format: GoldenFile['format']): GoldenFile[] {
  const text = new TextDecoder().decode(goldenBytes('golden.json'));
  const { files } = JSON.parse(text) as { files: Record<string, Omit<GoldenFile, 'name'>> };
  return Object.entries(files)
    .map(([name, file]) => ({ name, ...file }))
    .filter((file) => file.format === format);
}

/** An array in the form of golden.json, to be compared with it. */
export function toGolden(array: NDArray): GoldenArray {
  const values = Array.from(array.data as Iterable<number | bigint>, (value) => {
    if (array.dtype === 'bool') return value === 1;
    if (typeof value === 'bigint') return String(value);
    return Number.isFinite(value) ? value : String(value).replace('Infinity', 'inf').replace('NaN', 'nan');
  });
  return { dtype: array.dtype, shape: [...array.shape], values };
}
