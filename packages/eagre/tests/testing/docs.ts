// What examples in the guides take for granted: files in the current folder, and names that are not Eagre's.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NDArrayOf } from '@eagre/formats';

/** Types of the names, for the compiler. */
export const declarations: Readonly<Record<string, string>> = {
  'docs/api/data': `
declare const z: { object<T>(shape: T): tf.data.StandardSchema<{ [K in keyof T]: number }>; number(): unknown };`,
  'docs/data-files': `
declare const trainStep: (...batch: (tf.Tensor | tf.Tensor[])[]) => void;
type Schema$<T> = tf.data.StandardSchema<T>;
declare const z: {
  object<S extends Record<string, Schema$<unknown>>>(shape: S): Schema$<{ [K in keyof S]: S[K] extends Schema$<infer T> ? T : never }>;
  string(): Schema$<string>;
  number(): Schema$<number>;
};
declare const sharp: (bytes: Uint8Array) => { removeAlpha(): { raw(): { toBuffer(options: { resolveWithObject: true }): Promise<{
  data: Uint8Array; info: { width: number; height: number; channels: 1 | 2 | 3 | 4 } }> } } };`,
};

const schemaOf = (validate: (value: never) => unknown): unknown => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

const anything = (): unknown => schemaOf((value: unknown) => ({ value }));

/** The names themselves, for each page. */
export const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'docs/api/data': { z: { object: anything, number: anything } },
  'docs/datasets': { writeFile },
  'docs/data-files': {
    trainStep: () => undefined,
    z: { object: anything, string: anything, number: anything },
    // One pixel, whatever the file.
    sharp: () => {
      const info = { width: 1, height: 1, channels: 3 };
      const raw = { toBuffer: async () => ({ data: new Uint8Array([10, 20, 30]), info }) };
      return { removeAlpha: () => ({ raw: () => raw }) };
    },
  },
};

/** Writes the files that examples read into a folder. */
export function prepare(folder: string): void {
  writeFileSync(
    join(folder, 'titanic.csv'),
    'survived,sex,age,fare\n0,male,22.0,7.25\n1,female,38.0,71.2833\n1,female,26.0,7.925\n',
  );
  writeFileSync(join(folder, 'points.csv'), 'x,name\n1.5,a\n2.5,\n');
  writeFileSync(join(folder, 'reviews.jsonl'), '{"text":"good","stars":5}\n{"text":"bad","stars":1}\n');
  const picture = new URL('../../../data/golden/pictures/cats/a.png', import.meta.url);
  for (const kind of ['cats', 'dogs']) {
    mkdirSync(join(folder, 'photos', kind), { recursive: true });
    for (let i = 0; i < 5; i++) copyFileSync(picture, join(folder, 'photos', kind, `${i}.png`));
  }
}

/** As many pictures as CIFAR-10 could have, in the place of a download. */
export function pictures(count: number): readonly [NDArrayOf<'uint8'>, NDArrayOf<'uint8'>] {
  return [
    { data: new Uint8Array(count * 3072).fill(7), shape: [count, 32, 32, 3], dtype: 'uint8' },
    { data: new Uint8Array(count).map((_, i) => i % 10), shape: [count, 1], dtype: 'uint8' },
  ];
}
