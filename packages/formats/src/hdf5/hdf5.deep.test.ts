import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NDArray } from '../arrays/ndarray.ts';
import { FormatError } from '../errors.ts';
import { writeFileAtomic } from '../files/atomic.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { type Hdf5Dataset, type Hdf5Group, hdf5At, isHdf5Dataset } from './hdf5.ts';
import { readHdf5, readHdf5File } from './hdf5-reader.ts';
import { encodeHdf5, Hdf5GroupBuilder } from './hdf5-writer.ts';

const source = (array: NDArray) => ({ ...array, read: () => array });
test('what is written is read', async () => {
  const root = new Hdf5GroupBuilder();
  root.attributes.set('name', 'ü');
  root.attributes.set('list', ['a', 'bc', '']);
  root.attributes.set('none', []);
  root.attributes.set('long', 'x'.repeat(200000));
  const arrays: Record<string, NDArray> = {
    f2: { dtype: 'float16', shape: [2], data: Float32Array.of(1.5, -2) },
    bf: { dtype: 'bfloat16', shape: [2], data: Float32Array.of(1.5, -2) },
    f4: { dtype: 'float32', shape: [2, 2], data: Float32Array.of(1.5, -2, 3, 4) },
    f8: { dtype: 'float64', shape: [], data: Float64Array.of(1.5) },
    b: { dtype: 'bool', shape: [2], data: Uint8Array.of(0, 1) },
    i1: { dtype: 'int8', shape: [2], data: Int8Array.of(-1, 1) },
    u1: { dtype: 'uint8', shape: [2], data: Uint8Array.of(255, 1) },
    i2: { dtype: 'int16', shape: [2], data: Int16Array.of(-1, 1) },
    u2: { dtype: 'uint16', shape: [2], data: Uint16Array.of(65535, 1) },
    i4: { dtype: 'int32', shape: [2], data: Int32Array.of(-1, 1) },
    u4: { dtype: 'uint32', shape: [2], data: Uint32Array.of(4294967295, 1) },
    i8: { dtype: 'int64', shape: [2], data: BigInt64Array.of(-1n, 1n) },
    u8: { dtype: 'uint64', shape: [2], data: BigUint64Array.of(18446744073709551615n, 1n) },
    empty: { dtype: 'float32', shape: [0, 3], data: new Float32Array(0) },
  };
  for (const [name, array] of Object.entries(arrays)) root.add(`a/b/${name}`, source(array));
  for (let i = 0; i < 3000; i++) root.add(`many/${i}`, source(arrays['f4'] as NDArray));
  const parts = encodeHdf5(root);
  const bytes = new Uint8Array(Buffer.concat([...parts]));
  expect(bytes.length).toBe(parts.length);
  await readHdf5(bytes, (file) => {
    expect(file.attributes.get('name')).toBe('ü');
    expect(file.attributes.get('list')).toEqual(['a', 'bc', '']);
    expect((file.attributes.get('long') as string).length).toBe(200000);
    for (const [name, array] of Object.entries(arrays)) {
      const set = hdf5At(file, `a/b/${name}`);
      expect(set !== undefined && isHdf5Dataset(set) && set.read(), name).toEqual(array);
    }
    expect((hdf5At(file, 'many') as Hdf5Group).children.size).toBe(3000);
  });
});

test('a heap of texts without an end is refused', async () => {
  const root = new Hdf5GroupBuilder();
  root.attributes.set('name', 'x');
  const whole = new Uint8Array(Buffer.concat([...encodeHdf5(root)]));
  const heap = Buffer.from(whole.buffer).indexOf('GCOL');
  const free = heap + 16 + 24;
  const view = new DataView(whole.buffer);
  expect([view.getUint16(heap + 16, true), view.getUint16(free, true)]).toEqual([1, 0]);
  for (const [at, size] of [
    [free, 0n],
    [free, 2n ** 64n - 8n],
    [heap + 16, 2n ** 64n - 16n],
    [heap + 16, 2n ** 63n],
  ] as const) {
    const bytes = whole.slice();
    new DataView(bytes.buffer).setBigUint64(at + 8, size, true);
    await expect(readHdf5(bytes, (file) => file.attributes.get('name'))).rejects.toThrow(FormatError);
  }
  // The library is none the worse.
  await readHdf5(whole, (file) => expect(file.attributes.get('name')).toBe('x'));
});

/** Reads all that a group holds, as far as it is not too deep. */
function readAll(group: Hdf5Group, depth = 0): number {
  if (depth > 20) return 0;
  let count = group.attributes.size;
  for (const child of group.children.values()) {
    if (!isHdf5Dataset(child)) count += readAll(child, depth + 1);
    else if (child.dtype !== null && child.shape.every((size) => size < 1000))
      count += child.read().data.length;
  }
  return count;
}
const golden = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../../cli/golden/${name}`, import.meta.url)));

test('mutated files give values or typed errors', async () => {
  const random = randomSource(Number(process.env['EAGRE_FUZZ_SEED'] ?? 1));
  const samples = ['model.weights.h5', 'kinds.h5'].map(golden);
  const outcomes = { read: 0, refused: 0 };
  for (let run = 0; run < 2000; run++) {
    try {
      await readHdf5(mutate(samples[run % 2] as Uint8Array, random), (root) => readAll(root));
      outcomes.read++;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      outcomes.refused++;
    }
  }
  expect(outcomes.read).toBeGreaterThan(200);
  expect(outcomes.refused).toBeGreaterThan(200);
});

test('truncated at every kilobyte', async () => {
  const bytes = golden('model.weights.h5');
  for (let end = 0; end < bytes.length - 8; end += 1000)
    await expect(readHdf5(bytes.slice(0, end), readAll)).rejects.toThrow(FormatError);
});

test('what is none, links, and names that are taken', async () => {
  await expect(readHdf5(new Uint8Array(0), readAll)).rejects.toThrow(/not an HDF5 file/);
  await expect(readHdf5(new Uint8Array(3000).fill(7), readAll, { file: 'x.h5' })).rejects.toThrow(/x\.h5/);
  const { h5wasm } = await import('h5wasm');
  const { FS } = await h5wasm.ready;
  const linked = (link: (file: InstanceType<typeof h5wasm.File>) => void): Uint8Array => {
    const file = new h5wasm.File('/made.h5', 'w');
    file.create_group('a');
    link(file);
    file.close();
    return FS.readFile('/made.h5') as Uint8Array;
  };
  for (const bytes of [
    linked((file) => file.create_soft_link('/', 'a/again')),
    linked((file) => file.create_external_link('other.h5', '/', 'a/other')),
  ])
    await expect(readHdf5(bytes, readAll)).rejects.toThrow(/a link to another place/);
  // A group inside itself: whoever goes on without end would not come back.
  const cycle = linked((file) => file.create_hard_link('/a', 'a/again'));
  expect(await readHdf5(cycle, (root) => readAll(root))).toBe(0);
  expect(await readHdf5(cycle, (root) => hdf5At(root, 'a/again/again') !== undefined)).toBe(true);
  const root = new Hdf5GroupBuilder();
  root.add('a/b', source({ dtype: 'int32', shape: [1], data: Int32Array.of(1) }));
  expect(() => root.add('a/b/c', source({ dtype: 'int32', shape: [1], data: Int32Array.of(1) }))).toThrow(
    FormatError,
  );
  expect(() => root.add('a', source({ dtype: 'int32', shape: [1], data: Int32Array.of(1) }))).toThrow(
    FormatError,
  );
});

test('a file on the disk is read in parts, large arrays in pieces', async () => {
  const root = new Hdf5GroupBuilder();
  const data = Float32Array.from({ length: 3 * 6_000_000 }, (_, i) => i % 1000);
  root.add('large', source({ dtype: 'float32', shape: [3, 6_000_000], data }));
  const folder = mkdtempSync(join(tmpdir(), 'eagre-hdf5-'));
  try {
    const path = join(folder, 'large.h5');
    await writeFileAtomic(path, encodeHdf5(root));
    const read = await readHdf5File(path, (file) => (hdf5At(file, 'large') as Hdf5Dataset).read());
    expect(read.shape).toEqual([3, 6_000_000]);
    expect(Buffer.compare(Buffer.from(read.data.buffer), Buffer.from(data.buffer))).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
