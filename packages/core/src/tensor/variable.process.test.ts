import '@eagre/backend-js';
import '@eagre/backend-native';
import { inspect } from 'node:util';
import { hostBytes } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { constant, InvalidArgumentError, nameScope, ones, scope, type Tensor, Variable } from '../index.ts';
import { adopt, UnfilledValues } from './filled-variables.ts';

describe('Variable', () => {
  it('is assigned in place', () => {
    const v = new Variable([1, 2], { name: 'v' });
    expect(v.assign([3, 4]).array()).toEqual([3, 4]);
    expect(v.assignAdd(1).array()).toEqual([4, 5]);
    expect(v.assignSub([1, 1]).array()).toEqual([3, 4]);
  });

  it('works like a tensor in ops', () => {
    const v = new Variable([[2]]);
    expect(v.mul(v).add(1).array()).toEqual([[5]]);
    expect(
      constant([[3]])
        .matmul(v)
        .array(),
    ).toEqual([[6]]);
  });

  it('leaves tensors that were read as they were', () => {
    const v = new Variable([1, 2]);
    const before = v.read();
    const view = v.reshape([2, 1]);
    v.assignAdd(1);
    const target = v.writable();
    expect(before.array()).toEqual([1, 2]);
    expect(view.array()).toEqual([[1], [2]]);
    expect(target.array()).toEqual([2, 3]);
  });

  it('takes a large first value over, and copies it only where somebody else still has it', () => {
    const size = 64 * 1024;
    let made = ones([size]);
    const { address } = made.storage;
    const free = new Variable(() => made);
    expect(free.storage.address).toBe(address);
    made.dispose();
    expect(free.writable().storage.address).toBe(address);

    made = ones([size]);
    const other = new Variable(made);
    const both = new Variable(made);
    other.assignAdd(1);
    expect(both.writable().storage.address).not.toBe(made.storage.address);
    both.assignAdd(4);
    expect([made, other, both].map((x) => [x.min().item(), x.max().item()])).toEqual([
      [1, 1],
      [2, 2],
      [5, 5],
    ]);
    made.dispose();
    expect(both.array()).toHaveLength(size);
  });

  it('copies before a write in place while somebody holds the value', () => {
    const v = new Variable([1, 2]);
    const first = v.writable();
    expect(v.writable()).toBe(first);
    v.read();
    expect(v.writable()).not.toBe(first);
  });

  it('takes a large sum over, without a copy, and lets go of the value before', () => {
    const size = 1 << 16;
    const v = new Variable(ones([size]));
    const delta = ones([size]);
    const kept = scope(() => {
      v.assignAdd(delta);
      const read = v.read();
      v.assignSub(delta.mul(3));
      return read;
    });
    const ends = (x: Tensor | Variable) => [x.at(0).item(), x.at(size - 1).item()];
    expect([ends(kept), ends(v), ends(delta)]).toEqual([
      [2, 2],
      [-1, -1],
      [1, 1],
    ]);
    kept.dispose();
    const { allocator } = v.storage;
    v.assignAdd(delta);
    const before = allocator.info().bytesTaken;
    const places = new Set<number>();
    for (let i = 0; i < 20; i++) places.add(v.assignAdd(delta).storage.address);
    expect(allocator.info().bytesTaken).toBe(before);
    // The sum and the value change places.
    expect(places.size).toBe(2);
    expect(ends(v)).toEqual([20, 20]);
  });

  it('keeps its shape and dtype', () => {
    const v = new Variable([1, 2]);
    expect(() => v.assign([1, 2, 3])).toThrow(InvalidArgumentError);
    expect(() => v.assign(constant([1, 2], 'float64'))).toThrow(/float64/);
    expect(() =>
      v.assignAdd([
        [1, 2],
        [3, 4],
      ]),
    ).toThrow(InvalidArgumentError);
    expect(v.array()).toEqual([1, 2]);
  });

  it('does not share memory with what it was made from', () => {
    const t = constant([1, 2]);
    const v = new Variable(t);
    v.assignAdd(1);
    expect(t.array()).toEqual([1, 2]);
  });

  it('is named by the scopes around it', () => {
    const v = nameScope('a', () => nameScope('b', () => new Variable(1, { name: 'w' })));
    expect(v.name).toBe('a/b/w');
    expect(inspect(v)).toBe("tf.Variable 'a/b/w' (1., shape=[], dtype=float32)");
  });

  it('takes a function for its first value', () => {
    expect(new Variable(() => [1, 2]).shape).toEqual([2]);
  });

  it('refuses options that it does not know', () => {
    const make = (options: unknown) => () => new Variable(1, options as never);
    expect(make({ bogus: 1 })).toThrow(InvalidArgumentError);
    expect(make({ Trainable: false })).toThrow(
      "Variable: 'Trainable' is not an option; the options are initialValue, trainable, name, dtype, synchronization, aggregation, shape; did you mean 'trainable'?",
    );
    expect(make('w')).toThrow("only initialValue can be given by position; write { trainable: 'w' }");
    expect(make({ trainable: 1 })).toThrow('trainable is 1, expected true or false');
    expect(make({ name: 3 })).toThrow('name must be a string, got 3');
    expect(() => new Variable(...([] as unknown as [number]))).toThrow(
      'initialValue must be given: write new',
    );
    expect(make(null)().item()).toBe(1);
  });

  // keras.Variable(numpy.zeros([3, 2])): assign_add, assign_sub.
  it('broadcasts what is added as Keras does, and keeps its shape', () => {
    const zeros = (rows: number): number[][] => Array.from({ length: rows }, () => [0, 0]);
    for (const options of [{}, { shape: [null, 2] }, { shape: null }]) {
      const v = new Variable(zeros(3), options);
      v.assignAdd([[1, 1]]);
      expect(v.assignSub([1, 2]).array()).toEqual([0, 1, 2].map(() => [0, -1]));
      const row = new Variable(zeros(1), options);
      for (const change of [() => row.assignAdd(zeros(3)), () => row.assignSub(zeros(3))])
        expect(change).toThrow(/float32 \[3, 2\] does not match the variable 'Variable' of float32 \[1, 2\]/);
      expect(row.shape).toEqual([1, 2]);
    }
  });

  it('takes arguments by name', () => {
    const v = new Variable({ initialValue: () => [1, 2], name: 'v', trainable: false });
    expect([v.name, v.trainable]).toEqual(['v', false]);
    expect(new Variable({ data: new Float32Array([1, 2]), shape: [2] }).array()).toEqual([1, 2]);
    expect(new Variable({ data: new Float32Array([1, 2]), shape: [2] }, { name: 'w' }).name).toBe('w');
    expect(
      v
        .assign({ value: [3, 4] })
        .assignAdd({ delta: 1 })
        .assignSub({ delta: [1, 1] })
        .array(),
    ).toEqual([3, 4]);
    expect(v.assign({ data: new Float32Array([1, 2]), shape: [2] }).array()).toEqual([1, 2]);
    expect(new Variable(3n).item({ as: 'bigint' })).toBe(3n);
    expect(constant(3, 'int32').item({ as: 'bigint' })).toBe(3n);
    expect(() => (v.assign as (...args: unknown[]) => unknown)([1, 2], false)).toThrow(InvalidArgumentError);
    expect(() => (v.array as (...args: unknown[]) => unknown)(1)).toThrow('takes at most 0 arguments, got 1');
  });

  it('of a file keeps the memory that its value was written into', () => {
    const specs = [
      { name: 'a', dtype: 'float32', shape: [2], trainable: true },
      { name: 'empty', dtype: 'int64', shape: [0, 3], trainable: false },
      { name: 'flag', dtype: 'bool', shape: [], trainable: false },
    ] as const;
    const values = new UnfilledValues(specs);
    const written = values.bytes;
    new Float32Array(written[0].buffer, written[0].byteOffset, 2).set([1, 2]);
    written[2][0] = 1;
    const [a, empty, flag] = values.filled().map((value, i) => adopt(value, specs[i]));
    expect(written.map(({ length }) => length)).toEqual([8, 0, 1]);
    expect([a.name, a.trainable, flag.trainable]).toEqual(['a', true, false]);
    expect([a.array(), empty.array(), flag.array()]).toEqual([[1, 2], [], true]);
    const before = a.read();
    a.assignAdd([1, 1]);
    expect([before.array(), a.array()]).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect(hostBytes(flag.storage, 1).buffer).toBe(written[2].buffer);
    const { allocator } = a.storage;
    const { bytesInUse } = allocator.info();
    const large = new UnfilledValues([{ dtype: 'float32', shape: [2 ** 20] }]);
    expect(allocator.info().bytesInUse).toBe(bytesInUse + 2 ** 22);
    large.dispose();
    expect(allocator.info().bytesInUse).toBe(bytesInUse);
  });
});
