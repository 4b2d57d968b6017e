import '@eagre/backend-js';
import '@eagre/backend-native';
import {
  constant,
  exp,
  FailedPreconditionError,
  InvalidArgumentError,
  scope,
  sub,
  type Tensor,
  Variable,
} from '@eagre/core';
import { context } from '@eagre/core/internal';
import { afterEach, describe, expect, it } from 'vitest';
import { GradientTape } from './index.ts';

afterEach(() => expect(context.tapes).toHaveLength(0));

describe('gradient', () => {
  it('of w·w at 1 is 2, of w² + 2w + 5 is 4', () => {
    const w = new Variable([[1]]);
    const tape = new GradientTape();
    expect(tape.gradient(w.mul(w), w)?.array()).toEqual([[2]]);
    const other = new GradientTape();
    expect(other.gradient(w.mul(w).add(w.mul(2)).add(5), w)?.array()).toEqual([[4]]);
  });

  it('needs watch for tensors', () => {
    const x = constant(3);
    const tape = new GradientTape();
    expect(tape.gradient(x.square(), x)).toBeNull();
    using watched = new GradientTape();
    watched.watch(x);
    expect(watched.gradient(x.square(), x)?.item()).toBe(6);
  });

  it('a second time throws, unless the tape is persistent', () => {
    const w = new Variable(2);
    const tape = new GradientTape();
    const y = w.mul(w);
    tape.gradient(y, w);
    expect(() => tape.gradient(y, w)).toThrow(FailedPreconditionError);
    using persistent = new GradientTape({ persistent: true });
    const z = w.mul(w);
    expect(persistent.gradient(z, w)?.item()).toBe(4);
    expect(persistent.gradient(z.mul(z), w)?.item()).toBe(32);
  });

  it('keeps the structure of the sources', () => {
    const a = new Variable(1);
    const b = new Variable(2);
    const tape = new GradientTape();
    const grads = tape.gradient(a.mul(b), { a, list: [b, a] });
    expect(grads.a?.item()).toBe(2);
    expect(grads.list.map((g) => g?.item())).toEqual([1, 2]);
  });

  it('of several targets is that of their sum', () => {
    const w = new Variable(3);
    const tape = new GradientTape();
    expect(tape.gradient([w.mul(2), w.square()], w)?.item()).toBe(8);
  });

  it('starts from output gradients', () => {
    const w = new Variable([1, 2]);
    const tape = new GradientTape();
    const y = w.mul(3);
    expect(tape.gradient(y, w, { outputGradients: constant([1, 10]) })?.array()).toEqual([3, 30]);
    using persistent = new GradientTape({ persistent: true });
    const z = w.mul(3);
    expect(() => persistent.gradient(z, w, { outputGradients: constant([1]) })).toThrow(InvalidArgumentError);
  });

  it('is null or zeros where nothing leads', () => {
    const w = new Variable([1, 2]);
    using tape = new GradientTape({ persistent: true });
    const y = constant(1).mul(2);
    expect(tape.gradient(y, w)).toBeNull();
    expect(tape.gradient(y, w, { unconnectedGradients: 'zero' }).array()).toEqual([0, 0]);
  });

  it('passes through an intermediate that is a source itself', () => {
    const w = new Variable(2);
    const tape = new GradientTape();
    const y = w.square();
    const z = y.square();
    const [dy, dw] = tape.gradient(z, [y, w]);
    expect(dy?.item()).toBe(8);
    expect(dw?.item()).toBe(32);
  });

  it('sees assignments: each use counts with the value it had', () => {
    const w = new Variable(2);
    const tape = new GradientTape();
    const a = w.square();
    w.assign(5);
    const b = w.square();
    expect(tape.gradient(a.add(b), w)?.item()).toBe(4 + 10);
  });

  it('uses the values of the forward pass after an update', () => {
    const w = new Variable([3]);
    using tape = new GradientTape({ persistent: true });
    const y = w.mul(w);
    const value = w.writable();
    expect(value.array()).toEqual([3]);
    w.assignAdd(1);
    expect(tape.gradient(y, w)?.array()).toEqual([6]);
  });

  it('gives each source a tensor of its own', () => {
    const a = new Variable([1]);
    const b = new Variable([2]);
    const tape = new GradientTape();
    const [da, db] = tape.gradient(a.add(b), [a, b]);
    da?.dispose();
    expect(db?.array()).toEqual([1]);
  });

  it('leaves frozen variables out, and watches when told', () => {
    const frozen = new Variable(2, { trainable: false });
    const tape = new GradientTape();
    expect(tape.gradient(frozen.square(), frozen)).toBeNull();
    using other = new GradientTape({ watchAccessedVariables: false });
    const w = new Variable(2);
    other.watch(frozen);
    const y = frozen.square().add(w.square());
    expect(other.watchedVariables()).toEqual([frozen]);
    const [df, dw] = other.gradient(y, [frozen, w]);
    expect(df?.item()).toBe(4);
    expect(dw).toBeNull();
  });

  it('refuses what has no gradient', () => {
    using tape = new GradientTape();
    expect(() => tape.watch(constant([1], 'int32'))).toThrow(InvalidArgumentError);
    expect(() => tape.gradient(constant([1], 'int32'), constant(1))).toThrow(/int32/);
  });
});

describe('recording', () => {
  it('stops inside stopRecording and after record', () => {
    const w = new Variable(3);
    using tape = new GradientTape({ persistent: true });
    const y = w.square();
    const z = tape.stopRecording(() => w.square());
    expect(tape.gradient(y, w)?.item()).toBe(6);
    expect(tape.gradient(z, w)).toBeNull();
    const callback = new GradientTape();
    const inside = callback.record(() => w.square());
    const outside = inside.square();
    expect(context.tapes).toHaveLength(1);
    expect(callback.gradient(inside, w)?.item()).toBe(6);
    expect(outside.item()).toBe(81);
  });

  it('survives memory scopes', () => {
    const w = new Variable([2]);
    const tape = new GradientTape();
    const y = scope(() => w.square().exp().log());
    expect(tape.gradient(y, w)?.array()[0 as never]).toBeCloseTo(4, 4);
  });

  it('is forgotten by reset', () => {
    const w = new Variable(2);
    using tape = new GradientTape({ persistent: true });
    const y = w.square();
    tape.reset();
    expect(tape.gradient(y, w)).toBeNull();
  });
});

describe('higher orders', () => {
  it('come from nested tapes', () => {
    const x = new Variable(3);
    const outer = new GradientTape();
    const inner = new GradientTape();
    const dy = inner.gradient(x.mul(x).mul(x), x) as Tensor;
    expect(dy.item()).toBe(27);
    expect(outer.gradient(dy, x)?.item()).toBe(18);
  });

  it('reach the third', () => {
    const x = constant(0.5);
    using a = new GradientTape();
    a.watch(x);
    using b = new GradientTape();
    b.watch(x);
    using c = new GradientTape();
    c.watch(x);
    const y = x.tanh();
    const d1 = c.gradient(y, x) as Tensor;
    const d2 = b.gradient(d1, x) as Tensor;
    const d3 = a.gradient(d2, x)?.item() as number;
    const t = Math.tanh(0.5);
    const s = 1 - t * t;
    expect(d3).toBeCloseTo(-2 * s * (s - 2 * t * t), 5);
  });
});

describe('jacobian', () => {
  it('is the matrix of partial derivatives', () => {
    const x = constant([1, 2, 3]);
    using tape = new GradientTape();
    tape.watch(x);
    const y = x.square();
    expect(tape.jacobian(y, x)?.array()).toEqual([
      [2, 0, 0],
      [0, 4, 0],
      [0, 0, 6],
    ]);
  });

  it('by batch has one matrix for each example', () => {
    const x = constant([
      [1, 2],
      [3, 4],
    ]);
    using tape = new GradientTape();
    tape.watch(x);
    const j = tape.batchJacobian(x.mul(x), x);
    expect(j.array()).toEqual([
      [
        [2, 0],
        [0, 4],
      ],
      [
        [6, 0],
        [0, 8],
      ],
    ]);
    expect(() => new GradientTape().batchJacobian(constant(1), x)).toThrow(InvalidArgumentError);
    context.tapes = [];
  });
});

it('a line search differentiates through control flow', () => {
  const x = constant(3);
  using tape = new GradientTape();
  tape.watch(x);
  let value = x.square();
  let rate = 1;
  while (value.item() > 1) {
    value = value.mul(sub(1, constant(0.5).mul(rate)));
    rate /= 2;
    if (rate < 1e-3) break;
  }
  expect(tape.gradient(value.add(exp(constant(0))), x)?.item()).toBeCloseTo((2 * (value.item() - 0)) / 3, 4);
});

it('what is no source is refused, by types too', () => {
  const tape = new GradientTape();
  const x = constant(2);
  tape.watch(x);
  const y = x.square();
  // @ts-expect-error
  expect(() => tape.gradient(y, 3)).toThrow(InvalidArgumentError);
  tape.dispose();
});

it('tells a tape that was asked from one that has ended', () => {
  const x = new Variable(2);
  const asked = new GradientTape();
  const y = x.square();
  asked.gradient(y, x);
  expect(() => asked.gradient(y, x)).toThrow('can be asked for one gradient only');
  const left = (): GradientTape => {
    using tape = new GradientTape();
    return tape;
  };
  const disposed = new GradientTape({ persistent: true });
  disposed.dispose();
  for (const tape of [left(), disposed]) {
    const ask = (): unknown => tape.gradient(y, x);
    expect(ask).toThrow(FailedPreconditionError);
    expect(ask).toThrow('this tape has ended, by dispose or at the end of its `using` block: ask it before');
  }
});
