import '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import {
  add,
  constant,
  EagreError,
  gather,
  InvalidArgumentError,
  norm,
  range,
  sum,
  Variable,
} from '../index.ts';

describe('dtypes of host values', () => {
  it.each([
    [1, 'float32', []],
    [true, 'bool', []],
    [1n, 'int64', []],
    ['s', 'string', []],
    [[[1, 2]], 'float32', [1, 2]],
    [new Float64Array(2), 'float64', [2]],
    [new Int32Array(2), 'int32', [2]],
    [new Uint8Array(3), 'uint8', [3]],
    [new BigInt64Array(1), 'int64', [1]],
    [{ data: new Float32Array(6), shape: [2, 3] }, 'float32', [2, 3]],
    [{ data: new Uint8Array([0, 1]), shape: [2], dtype: 'bool' as const }, 'bool', [2]],
  ])('%s', (value, dtype, shape) => {
    const t = constant(value);
    expect(t.dtype).toBe(dtype);
    expect(t.shape).toEqual(shape);
  });
});

describe('bare numbers beside a tensor', () => {
  it('take its dtype', () => {
    expect(constant([1, 2], 'int32').add(1).dtype).toBe('int32');
    expect(add(2, constant([1n])).dtype).toBe('int64');
    expect(constant([1], 'float64').mul([[2]]).dtype).toBe('float64');
    expect(constant(new Uint8Array([1])).add(1).dtype).toBe('uint8');
  });
  it('must fit into it', () => {
    expect(() => constant([1], 'int32').add(1.5)).toThrow(/1.5 is not an int32/);
    expect(() => constant(new Uint8Array([1])).add(256)).toThrow(/is out of range for uint8/);
  });
});

describe('promotion', () => {
  it('widens without loss and refuses the rest', () => {
    expect(constant([1], 'float32').add(constant([1], 'float64')).dtype).toBe('float64');
    expect(constant([1], 'int32').add(constant([1n])).dtype).toBe('int64');
    expect(constant([1], 'uint8').add(constant([1])).dtype).toBe('float32');
    expect(() => constant([1], 'int32').add(constant([1]))).toThrow(/no common dtype without loss/);
    expect(() => constant([1n]).add(constant([1]))).toThrow(InvalidArgumentError);
  });
});

describe('constant', () => {
  it('fills a shape', () => {
    expect(constant([1, 2, 3, 4], 'int32', { shape: [2, 2] }).array()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(constant(0, undefined, { shape: [3] }).array()).toEqual([0, 0, 0]);
    expect(() => constant([1, 2], undefined, { shape: [3] })).toThrow(/do not match/);
  });

  it('takes tensors and variables of its dtype only', () => {
    const v = new Variable([1, 2]);
    expect(constant(v).array()).toEqual([1, 2]);
    expect(() => constant(v, 'int32')).toThrow(/cast\('int32'\)/);
  });

  it.each([
    [[[1, 2], [3]]],
    [[1, [2]]],
    [[[1], 2]],
    [[1, 'a']],
    [[1, null]],
    [{}],
    [null],
    [undefined],
    [() => 1],
    [[constant(1), 'a']],
    [new DataView(new ArrayBuffer(4))],
    [{ data: new Float32Array(3), shape: [2] }],
  ])('refuses %s', (value) => {
    expect(() => constant(value as never)).toThrow(InvalidArgumentError);
  });

  it('says that a promise is to be awaited', () => {
    // @ts-expect-error
    expect(() => constant(Promise.resolve(1))).toThrow('got a promise: await it');
  });

  it('refuses values that the dtype cannot hold', () => {
    expect(() => constant(300, 'uint8')).toThrow(/0 … 255/);
    expect(() => constant(2 ** 31, 'int32')).toThrow(/out of range/);
    expect(() => constant(2, 'bool')).toThrow(/not a bool/);
    expect(() => constant('a', 'float32')).toThrow(InvalidArgumentError);
    expect(() => constant(2n ** 63n)).toThrow(/int64/);
  });
});

describe('typed errors', () => {
  const wrong: [string, () => unknown][] = [
    ['a typed array whose buffer went elsewhere', () => constant(detached())],
    ['one beside a number', () => add(1, detached())],
    ['one to be cast', () => constant(detached(), 'int32')],
    ['symbols', () => constant([Symbol('a')] as never)],
    ['objects without a prototype', () => constant([Object.create(null)] as never)],
    ['more numbers than can be counted', () => range(-(2 ** 31), 4, 1e-300)],
    ['a float tensor for a number', () => gather([[1, 2]], [[0]], 1, { batchDims: constant(1) as never })],
    ['a symbol for an axis', () => sum([1], Symbol('a') as never)],
    ['a list for an index', () => constant([1, 2]).at([1] as never)],
    ['a symbol for an index', () => constant([1, 2]).at(Symbol('a') as never)],
    ['a symbol for a dtype', () => constant([1]).cast(Symbol('a') as never)],
    ['a symbol for an order', () => norm([1], Symbol('a') as never)],
  ];
  it.each(wrong)('for %s', (_, call) => {
    expect(call).toThrow(EagreError);
  });

  function detached(): Float32Array {
    const array = Float32Array.of(1, 2);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  }
});
