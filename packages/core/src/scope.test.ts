import '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { constant, FailedPreconditionError, keep, scope, type Tensor, Variable } from './index.ts';

describe('scope', () => {
  it('gives back all but what is returned', () => {
    let inner!: Tensor;
    const out = scope(() => {
      inner = constant([1, 2]).add(1);
      return { y: inner.mul(2) };
    });
    expect(inner.isDisposed).toBe(true);
    expect(out.y.array()).toEqual([4, 6]);
  });

  it('keeps what keep was called on, and variables', () => {
    let kept!: Tensor;
    let v!: Variable;
    scope(() => {
      kept = keep(constant([1]).add(1));
      v = new Variable([1]);
    });
    expect(kept.array()).toEqual([2]);
    expect(v.assignAdd(1).array()).toEqual([2]);
  });

  it('nests: what an inner scope returns belongs to the outer', () => {
    let inner!: Tensor;
    scope(() => {
      inner = scope(() => constant([1]).add(1));
      expect(inner.array()).toEqual([2]);
    });
    expect(inner.isDisposed).toBe(true);
  });

  it('holds with using', () => {
    let t!: Tensor;
    {
      using _ = scope();
      t = constant([1]).add(1);
    }
    expect(t.isDisposed).toBe(true);
  });

  it('refuses a function that returns a promise, and ends all the same', () => {
    let t!: Tensor;
    expect(() =>
      scope(async () => {
        t = constant([1]).add(1);
      }),
    ).toThrow(FailedPreconditionError);
    expect(t.isDisposed).toBe(true);
  });

  it('ends when the function throws', () => {
    let t!: Tensor;
    expect(() =>
      scope(() => {
        t = constant([1]).add(1);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(t.isDisposed).toBe(true);
    expect(constant([1]).add(1).isDisposed).toBe(false);
  });
});
