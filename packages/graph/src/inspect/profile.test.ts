import '@eagre/backend-js';
import type { Plan, PlanTensor } from '@eagre/backend';
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { constant, ones, random, type Tensor, Variable, zeros } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Graph, Profile, tfFunction } from '../index.ts';
import { profileGraph } from './profile.ts';

describe('profiles of functions', () => {
  const x = ones([8, 16]);
  const w = new Variable(ones([16, 4]), { name: 'w' });
  const f = tfFunction((a: Tensor) => {
    w.assignSub(ones([16, 4]).mul(0.5));
    return a.matmul(w).tanh();
  });
  const concrete = f.getConcreteFunction(x);

  test('tell of each kernel, sorted by time', () => {
    const profile = concrete.profile(x);
    expect(profile).toBeInstanceOf(Profile);
    expect(profile.runs).toBe(10);
    const matmul = profile.rows.find(({ kernel }) => kernel === 'MatMul');
    expect(matmul).toMatchObject({ name: 'MatMul', calls: 1 });
    expect(matmul?.bytes).toBeGreaterThanOrEqual(4 * (8 * 16 + 16 * 4 + 8 * 4));
    const seconds = profile.rows.map((row) => row.seconds);
    expect(seconds).toEqual([...seconds].sort((a, b) => b - a));
    expect(profile.seconds).toBeGreaterThan(0);
    expect(profile.seconds).toBeCloseTo(seconds.reduce((a, b) => a + b));
    expect(profile.arenaBytes).toBeGreaterThanOrEqual(0);
    expect(concrete.profile({ runs: 3 }, x).runs).toBe(3);
  });

  test('leave variables, and tensors read from them, as they are', () => {
    const read = w.read();
    const before = [...read.data()];
    concrete.profile({ runs: 2 }, x);
    expect([...w.data()]).toEqual(before);
    expect([...read.data()]).toEqual(before);
    f(x);
    expect(w.data()[0]).toBe(Number(before[0]) - 0.5);
  });

  test('of random draws and of a function without kernels', () => {
    expect(
      tfFunction(() => random.normal([4]))
        .getConcreteFunction()
        .profile().rows,
    ).toHaveLength(1);
    const none = tfFunction(() => {})
      .getConcreteFunction()
      .profile();
    expect(none.rows).toEqual([]);
    expect(none.toString()).toContain('0.00 µs in 0 calls');
  });

  test('refuse what does not fit', () => {
    expect(() => concrete.profile()).toThrow('0 tensors, expected 1');
    expect(() => concrete.profile(x, x)).toThrow(InvalidArgumentError);
    expect(() => concrete.profile(zeros([8, 15]))).toThrow(
      'args_0 is float32 [8, 15], expected float32 [8, 16]',
    );
    expect(() => concrete.profile(zeros([8, 16], 'int32'))).toThrow('is int32');
    expect(() => concrete.profile({ runs: 0 }, x)).toThrow('runs is 0');
    expect(() => concrete.profile({ runs: 1.5 }, x)).toThrow(InvalidArgumentError);
    const nested = tfFunction((a: Tensor) => {
      concrete.profile(a);
    });
    expect(() => nested(x)).toThrow(FailedPreconditionError);
  });

  test('planText shows the kernel calls that run', () => {
    const text = concrete.planText();
    expect(text).toContain('MatMul(');
    expect(text).toMatch(/^inputs %/);
    expect(text).toMatch(/\d+ calls, \d+ bytes of temporaries$/);
  });

  test('planText of a function is that of the trace for the arguments', () => {
    const traced = tfFunction((a: Tensor, n: number) => a.matmul(zeros([16, 4])).add(n));
    expect(traced.planText(x, 2)).toBe(traced.getConcreteFunction(x, 2).planText());
    expect(traced.experimentalGetTracingCount()).toBe(1);
    expect(traced.planText(zeros([3, 16]), 2)).toContain('[3,16]');
  });

  test('planText of a function in parts shows the plans of the last run', () => {
    const positive = tfFunction((a: Tensor) => a.add(1).booleanMask(a.greater(0)).square());
    expect(positive.planText(x)).toMatch(
      /part 1: a plan for each size, made when it runs\n\npart 2: Where '.*', op by op/,
    );
    positive(x);
    expect(positive.planText(x)).toMatch(/part 1: a plan\ninputs %/);
    expect(() => positive.profile(x)).toThrow('runs in parts');
  });
});

test('calls of one name and kernel are one row; the first run does not count', () => {
  const tensor = (value: number, size: number): PlanTensor => ({
    value,
    dtype: 'float32',
    shape: [size],
    size,
  });
  const call = (name: string, kernel: Plan['calls'][number]['kernel']): Plan['calls'][number] => ({
    kernel,
    inputs: [tensor(0, 1000)],
    outputs: [tensor(1, 1000)],
    attrs: {},
    name,
  });
  const negate = {
    inputs: ['float32' as const],
    instrs: [1, 2].map((_, i) => ({ op: 'neg' as const, dtype: 'float32' as const, args: [i], value: 0 })),
    outputs: [2],
  };
  const calls = [call('a', 'Copy'), call('a+b', negate), call('a', 'Copy')];
  const plan: Plan = { bytes: [4000, 4000], inputs: [0], states: [], calls, outputs: [1] };
  let run = 0;
  const profile = profileGraph(
    new Graph('g'),
    [{ runs: 2 }],
    () => ({ plan, executable: { arenaBytes: 64 } }),
    (_, times) => {
      times.set(run++ === 0 ? [9, 9, 9] : run === 2 ? [1e-6, 4e-6, 1e-6] : [3e-6, 8e-6, 1e-6]);
      return [constant(1)];
    },
  );
  expect(profile.rows.map(({ seconds, ...row }) => ({ ...row, us: Math.round(seconds * 1e7) / 10 }))).toEqual(
    [
      { name: 'a+b', kernel: 'Elementwise (2 steps)', calls: 1, bytes: 8000, us: 6 },
      { name: 'a', kernel: 'Copy', calls: 2, bytes: 16000, us: 3 },
    ],
  );
  expect(profile.toString()).toMatchInlineSnapshot(`
    "  µs     %  calls  GB/s  kernel                 name
    6.00  66.7      1  1.33  Elementwise (2 steps)  a+b
    3.00  33.3      2  5.33  Copy                   a
    9.00 µs in 3 calls, mean of 2 runs; arena of 64 bytes"
  `);
});
