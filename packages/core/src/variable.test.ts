import '@eagre/backend-js';
import '@eagre/backend-native';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { constant, InvalidArgumentError, nameScope, Variable } from './index.ts';

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

  it('copies before a write in place while somebody holds the value', () => {
    const v = new Variable([1, 2]);
    const first = v.writable();
    expect(v.writable()).toBe(first);
    v.read();
    expect(v.writable()).not.toBe(first);
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
      "Variable: 'Trainable' is no option; known are trainable, name, dtype; did you mean 'trainable'?",
    );
    expect(make('w')).toThrow("expected options, such as { trainable, name }, got 'w'");
    expect(make(null)).toThrow(InvalidArgumentError);
  });
});
