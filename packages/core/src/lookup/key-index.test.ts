// Keys of tables, beside maps.
import '@eagre/backend-js';
import { describe, expect, test } from 'vitest';
import { constant, lookup, type Tensor } from '../index.ts';

const { MutableHashTable } = lookup.experimental;
const integers = (values: readonly (number | bigint)[]): Tensor => constant(values.map(BigInt), 'int64');

describe.each(['int64', 'int32', 'string'] as const)('a table of keys of %s', (dtype) => {
  const keysOf = (list: readonly number[]): Tensor =>
    dtype === 'string'
      ? constant(list.map(String))
      : constant(
          list.map((v) => (dtype === 'int64' ? BigInt(v) : v)),
          dtype,
        );
  test('is as a map that is added to and removed from', () => {
    const table = new MutableHashTable(dtype, 'int64', -1n);
    const map = new Map<number, number>();
    let seed = 1;
    const next = (n: number): number => {
      seed = (Math.imul(seed, 48271) >>> 0) % 0x7fffffff;
      return seed % n;
    };
    for (let round = 0; round < 60; round++) {
      const added = Array.from({ length: 20 }, () => next(300) * (round % 2 === 0 ? 1 : -65536));
      added.forEach((key, i) => map.set(key, round * 100 + i));
      table.insert(keysOf(added), integers(added.map((_, i) => round * 100 + i)));
      const removed = Array.from({ length: 18 }, () => next(300) * (round % 2 === 0 ? 1 : -65536));
      for (const key of removed) map.delete(key);
      table.remove(keysOf(removed));
      const asked = [...added, ...removed, 1 << 20];
      expect(table.lookup(keysOf(asked)).array()).toEqual(asked.map((key) => BigInt(map.get(key) ?? -1)));
      expect(table.size().item()).toBe(map.size);
    }
    const [keys, values] = table.export();
    expect(keys.dtype).toBe(dtype);
    expect((keys.array() as unknown[]).map(Number)).toEqual([...map.keys()]);
    expect((values.array() as bigint[]).map(Number)).toEqual([...map.values()]);
  });
});

describe('values', () => {
  test('of every dtype, and of vectors', () => {
    for (const dtype of ['float32', 'float64', 'int32', 'bool', 'bfloat16', 'string'] as const) {
      const [value, other]: readonly [Tensor, Tensor] =
        dtype === 'string'
          ? [constant(['x']), constant('y')]
          : [constant([1]).cast(dtype), constant(0).cast(dtype)];
      const table = new MutableHashTable('string', dtype, other);
      table.insert(constant(['a']), value);
      const found = table.lookup(constant([['a', 'b']]));
      expect([found.dtype, found.shape]).toEqual([dtype, [1, 2]]);
      expect(String(found.array())).toBe(`${value.array()},${other.array()}`);
    }
    const table = new MutableHashTable('int64', 'int64', integers([7, 8]));
    table.insert(integers([1, 2]), integers([1, 2, 3, 2n ** 40n]).reshape([2, 2]));
    expect(table.lookup(integers([2, 9])).array()).toEqual([
      [3n, 2n ** 40n],
      [7n, 8n],
    ]);
    expect(table.lookup(integers([9, 1]), integers([5, 6, 7, 8]).reshape([2, 2])).array()).toEqual([
      [5n, 6n],
      [1n, 2n],
    ]);
  });
  test('a static table with two values of a key says so', () => {
    const make = (values: number[]): unknown =>
      new lookup.StaticHashTable(
        new lookup.KeyValueTensorInitializer(constant(['a', 'b', 'a']), integers(values)),
        -1n,
      );
    expect(() => make([1, 2, 3])).toThrow('the key a has two values');
    expect(make([1, 2, 1])).toBeDefined();
  });
});
