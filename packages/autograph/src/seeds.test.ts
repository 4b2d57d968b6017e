// Functions of control flow that everybody writes: on host numbers, on tensors, and in graphs.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, type DType, withBackend } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { converted, plain, values } from './fixture.ts';

interface Seed {
  readonly text: string;
  readonly calls: readonly (readonly (number | readonly number[])[])[];
  readonly dtype?: DType;
}

const seeds: Record<string, Seed> = {
  squareIfPositive: {
    text: `(x) => {
      if (x > 0) x = x * x;
      else x = 0.0;
      return x;
    }`,
    calls: [[9], [-9], [0]],
  },
  earlyReturn: { text: `(x) => { if (x > 0) return x * x; return -x + 1; }`, calls: [[3], [-3]] },
  sumEven: {
    text: `function sumEven(items) {
      let s = 0;
      for (const c of items) {
        if (c % 2 > 0) continue;
        s += c;
      }
      return s;
    }`,
    calls: [[[10, 12, 15, 20]], [[1, 3]], [[2]]],
    dtype: 'int32',
  },
  fizzbuzz: {
    text: `(most) => {
      let fizz = 0, buzz = 0, both = 0;
      for (let i = 1; i <= most; i++) {
        if (i % 3 === 0 && i % 5 === 0) both++;
        else if (i % 3 === 0) fizz++;
        else if (i % 5 === 0) buzz++;
      }
      return [fizz, buzz, both];
    }`,
    calls: [[15], [31], [0]],
  },
  collatz: {
    text: `(n) => {
      let steps = 0;
      while (n !== 1) {
        n = n % 2 === 0 ? n / 2 : n * 3 + 1;
        steps += 1;
      }
      return steps;
    }`,
    calls: [[12], [27], [1]],
  },
  firstAbove: {
    text: `(items, limit) => {
      for (const x of items) {
        if (x > limit) return x;
      }
      return -1;
    }`,
    calls: [
      [[1, 5, 9], 4],
      [[1, 5, 9], 10],
    ],
  },
  lineSearch: {
    text: `(x, gradient) => {
      let step = 1;
      const start = x * x;
      while (true) {
        const next = x - step * gradient;
        if (next * next <= start - 0.1 * step * gradient * gradient) break;
        step = step * 0.5;
        if (step < 0.001) { step = 0; break; }
      }
      return step;
    }`,
    calls: [
      [3, 6],
      [1, 20],
    ],
  },
  doAtLeastOnce: {
    text: `(x) => { let n = 0; do { x = x - 3; n += 1; } while (x > 0); return [x, n]; }`,
    calls: [[10], [-1]],
  },
  nested: {
    text: `(n) => {
      let s = 0;
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          if (j > i) break;
          if ((i + j) % 2 === 0) continue;
          s += i * j;
          if (s > 20) return -s;
        }
      }
      return s;
    }`,
    calls: [[3], [5], [9]],
  },
};

const tensor = (dtype: DType) => (v: number | readonly number[]) => constant(v, dtype);

describe.each(listBackends().map((b) => b.name))('%s', (backend) => {
  test.each(Object.keys(seeds))('%s', (name) => {
    withBackend(backend, () => {
      const { text, calls, dtype = 'float32' } = seeds[name] as Seed;
      const host = plain(text);
      const eager = converted(text);
      const graph = tfFunction(converted(text) as (...args: never[]) => unknown);
      for (const call of calls) {
        const expected = host(...call);
        expect(values(eager(...call))).toEqual(expected);
        const args = call.map(tensor(dtype));
        expect(values(eager(...args))).toEqual(expected);
        expect(values(graph(...(args as never[])))).toEqual(expected);
      }
      expect(graph.experimentalGetTracingCount()).toBeLessThanOrEqual(
        new Set(calls.map((c) => JSON.stringify(c.map((a) => (Array.isArray(a) ? a.length : 0))))).size,
      );
    });
  });

  test('gradients through loops with breaks and early returns', () => {
    withBackend(backend, () => {
      const text = `(x, n) => {
        let y = x;
        for (const i of tf.range(n)) {
          if (i > 3) break;
          if (y > 50) return y * 2;
          y = y * x;
        }
        return y;
      }`;
      const gradient = (x: number, n: number): unknown => {
        const f = tfFunction(
          converted(text, { tf: core }) as (x: core.Tensor, n: core.Tensor) => core.Tensor,
        );
        const a = constant(x);
        const tape = new GradientTape();
        tape.watch(a);
        const y = f(a, constant(n, 'int32'));
        return [values(y), values(tape.gradient(y, a))];
      };
      expect(gradient(2, 2)).toEqual([8, 12]);
      expect(gradient(2, 9)).toEqual([32, 80]);
      expect(gradient(4, 9)).toEqual([128, 96]);
    });
  });
});
