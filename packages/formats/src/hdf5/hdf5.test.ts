import { expect, test } from 'vitest';
import type { NDArray } from '../arrays/ndarray.ts';
import { type Hdf5Group, hdf5At, isHdf5Dataset } from './hdf5.ts';
import { readHdf5 } from './hdf5-reader.ts';
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
