import '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { context } from '../dispatch/context.ts';
import {
  constant,
  device,
  FailedPreconditionError,
  keep,
  nameScope,
  scope,
  type Tensor,
  Variable,
  withBackend,
} from '../index.ts';

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

describe('scopes that overlap', () => {
  const before = { ...context };
  const expectNoneOpen = (): void => expect({ ...context }).toEqual(before);

  it('take back what is theirs, in whatever order they end, and the first one says so', () => {
    const a = nameScope('a');
    const b = nameScope('b');
    expect(() => a[Symbol.dispose]()).toThrow(/tf.nameScope ended before a scope that was opened later/);
    expect(context.nameScope).toBe('a/b/');
    b[Symbol.dispose]();
    b[Symbol.dispose]();
    expectNoneOpen();
  });

  it('of different kinds do not concern each other', () => {
    const [a, b] = [nameScope('a'), withBackend('js')];
    const c = device('/cpu:0');
    a[Symbol.dispose]();
    expect(() => b[Symbol.dispose]()).toThrow(FailedPreconditionError);
    c[Symbol.dispose]();
    expectNoneOpen();
  });

  it('of functions that run at the same time end', async () => {
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const task = async (name: string, ms: number): Promise<string> => {
      using _ = nameScope(name);
      await pause(ms);
      return new Variable([1], { name: 'v' }).name;
    };
    const done = await Promise.allSettled([task('a', 5), task('b', 10), task('c', 1)]);
    expect(done.map((result) => result.status)).toContain('rejected');
    expectNoneOpen();
    expect(await task('alone', 1)).toBe('alone/v');
    expectNoneOpen();
  });

  it('may be left open by a function in a scope', () => {
    let inner!: Disposable;
    nameScope('a', () => {
      inner = nameScope('b');
    });
    inner[Symbol.dispose]();
    expectNoneOpen();
  });
});
