// Functions that everybody writes: on host numbers, on tensors, in tf.function and in sessions, against tools/golden/autograph.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, type DType, Tensor, Variable, withBackend } from '@eagre/core';
import { compat, tfFunction } from '@eagre/graph';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { converted, type Plain, plain, values } from './testing/functions.ts';

type Nested = number | readonly Nested[];
interface Call {
  readonly args: readonly (number | readonly number[])[];
  readonly value: Nested;
  /** Of the sum of all that is float in the value, by each float argument. */
  readonly gradients: readonly Nested[];
  readonly printed: readonly string[];
}
interface Golden {
  readonly off: string;
  readonly scalarModel: readonly number[];
  readonly results: Readonly<
    Record<string, { readonly dtypes: readonly DType[]; readonly calls: readonly Call[] }>
  >;
}
const golden = JSON.parse(readFileSync(new URL('../golden/seeds.json', import.meta.url), 'utf8')) as Golden;

const scope = { tf: { ...core, GradientTape } };

/** Those without `tf` run on host numbers too, converted or not. */
const seeds: Readonly<Record<string, string>> = {
  squareIfPositive: `(x) => {
    if (x > 0) x = x * x;
    else x = 0.0;
    return x;
  }`,
  earlyReturn: `(x) => { if (x > 0) return x * x; return -x + 1; }`,
  sumEven: `function sumEven(items) {
    let s = 0;
    for (const c of items) {
      if (c % 2 > 0) continue;
      s += c;
    }
    return s;
  }`,
  fizzbuzz: `(most) => {
    let counter = tf.constant(0, 'int32');
    for (const num of tf.range(1, most + 1)) {
      if (num % 3 === 0 && num % 5 === 0) tf.print('FizzBuzz');
      else if (num % 3 === 0) tf.print('Fizz');
      else if (num % 5 === 0) tf.print('Buzz');
      else tf.print(num);
      counter += 1;
    }
    return counter;
  }`,
  printElement: `(items) => { for (const c of items) tf.print(c); return items; }`,
  collatz: `(n) => {
    let steps = tf.constant(0, 'int32');
    while (n !== 1) {
      if (n % 2 === 0) n = tf.math.floordiv(n, 2);
      else n = n * 3 + 1;
      steps += 1;
    }
    return steps;
  }`,
  firstAbove: `(items, limit) => {
    for (const x of items) {
      if (x > limit) return x;
    }
    return -1;
  }`,
  lineSearch: `(initX, rate) => {
    const tape = new tf.GradientTape();
    tape.watch(initX);
    let value = (initX * initX * initX * initX).sum();
    const grad = tape.gradient(value, initX);
    const gradNorm = (grad * grad).sum();
    const initValue = value;
    let x = initX;
    while (value > initValue - rate * gradNorm) {
      x = initX - rate * grad;
      value = (x * x * x * x).sum();
      rate /= 2;
    }
    return [x, value];
  }`,
  power: `(x, n) => {
    let y = x;
    for (const i of tf.range(n)) {
      if (i > 3) break;
      if (y > 50) return y * 2;
      y = y * x;
    }
    return y;
  }`,
  nested: `(n) => {
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
};

const close = (x: Nested): unknown =>
  typeof x === 'number' ? expect.closeTo(x, Math.abs(x) > 5 ? 3 : 5) : x.map(close);

const tensorsIn = (x: unknown): Tensor[] =>
  x instanceof Tensor ? [x] : Array.isArray(x) ? x.flatMap(tensorsIn) : [];
const floats = (x: unknown): Tensor[] => tensorsIn(x).filter((t) => t.dtype === 'float32');

let log: MockInstance<typeof console.log>;
beforeEach(() => {
  log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

/** What a function gives for tensors, with gradients and what it prints. */
function ran(f: Plain, args: readonly Tensor[]): Omit<Call, 'args'> {
  log.mockClear();
  const tape = new GradientTape();
  tape.watch(floats(args));
  const value = f(...args);
  const printed = log.mock.calls.map((c) => c.join(' '));
  const outputs = floats(value);
  const found =
    outputs.length === 0
      ? floats(args).map((x) => core.zeros(x.shape))
      : tape.gradient(outputs, floats(args), { unconnectedGradients: 'zero' });
  tape.dispose();
  return { value: values(value) as Nested, gradients: values(found) as Nested[], printed };
}

/** The same by a session, with what runs the function's prints as one operation. */
function ranInSession(f: Plain, args: readonly Call['args'][number][], dtypes: readonly DType[]): typeof ran {
  const v1 = compat.v1;
  const graph = new v1.Graph();
  const { inputs, out, effects, found } = graph.asDefault(() => {
    const inputs = dtypes.map((dtype, i) =>
      v1.placeholder(dtype, Array.isArray(args[i]) ? [args[i].length] : []),
    );
    let out: unknown;
    const effects = v1.effectsOf(() => {
      out = f(...inputs);
    });
    const sources = floats(inputs);
    const slopes = sources.length === 0 ? [] : v1.gradients(floats(out), sources);
    const found = slopes.map((g, i) => g ?? core.zeros((sources[i] as Tensor).shape));
    return { inputs, out, effects, found };
  });
  return (_, given) => {
    log.mockClear();
    using session = new v1.Session({ graph });
    const feedDict = new Map(inputs.map((x, i) => [x, given[i] as Tensor]));
    const tensors = tensorsIn(out);
    const [results, gradients] = session.run([tensors, found, effects], { feedDict });
    const value = Array.isArray(out) ? results : results[0];
    return {
      value: values(value) as Nested,
      gradients: values(gradients) as Nested[],
      printed: log.mock.calls.map((c) => c.join(' ')),
    };
  };
}

test('all seeds are there', () => {
  expect(Object.keys(seeds)).toEqual(Object.keys(golden.results));
});

describe.each(listBackends().map((b) => b.name))('%s', (backend) => {
  describe.each(Object.keys(seeds))('%s', (name) => {
    const text = seeds[name] as string;
    const { dtypes, calls } = golden.results[name] as Golden['results'][string];
    const expected = ({ value, gradients, printed }: Call): unknown => ({
      value: close(value),
      gradients: gradients.map(close),
      printed,
    });
    const tensors = ({ args }: Call): Tensor[] => args.map((a, i) => constant(a, dtypes[i] as DType));

    test.skipIf(text.includes('tf.'))('on host numbers, and unconverted', () => {
      for (const call of calls) {
        expect(plain(text)(...call.args)).toEqual(call.value);
        expect(converted(text)(...call.args)).toEqual(call.value);
        // Operators take the values out of tensors.
        withBackend(backend, () => expect(values(plain(text)(...tensors(call)))).toEqual(call.value));
      }
    });

    test('on tensors', () => {
      withBackend(backend, () => {
        for (const call of calls) expect(ran(converted(text, scope), tensors(call))).toEqual(expected(call));
      });
    });

    test('in tf.function', () => {
      withBackend(backend, () => {
        const graph = tfFunction(converted(text, scope));
        for (const call of calls) expect(ran(graph, tensors(call))).toEqual(expected(call));
        const shapes = new Set(calls.map((c) => c.args.map((a) => (Array.isArray(a) ? a.length : 0)).join()));
        expect(graph.experimentalGetTracingCount()).toBe(shapes.size);
      });
    });

    test('in a session', () => {
      withBackend(backend, () => {
        for (const call of calls) {
          const f = converted(text, scope);
          expect(ranInSession(f, call.args, dtypes)(f, tensors(call))).toEqual(expected(call));
        }
      });
    });
  });

  test('each object has variables of its own', () => {
    withBackend(backend, () => {
      const add = converted('function (amount) { this.v.assignAdd(amount); return this.v.read(); }') as (
        this: ScalarModel,
        amount: Tensor,
      ) => Tensor;
      class ScalarModel {
        readonly v: Variable = new Variable(0, { dtype: 'int32' });
        readonly increment = tfFunction((amount: Tensor) => add.call(this, amount));
      }
      const [a, b] = [new ScalarModel(), new ScalarModel()];
      const step = (model: ScalarModel, by: number): number => model.increment(constant(by, 'int32')).item();
      expect([step(a, 3), step(a, 4), step(b, 5)]).toEqual(golden.scalarModel);
      expect([a.v.item(), b.v.item()]).toEqual([7, 5]);

      // In graphs each session has values of its own.
      const { v1 } = compat;
      const graph = new v1.Graph();
      const { amount, sum, init } = graph.asDefault(() => {
        const amount = v1.placeholder('int32', []);
        const sum = new ScalarModel().increment(amount);
        return { amount, sum, init: v1.globalVariablesInitializer() };
      });
      const sums = [[3, 4], [5]].flatMap((amounts) => {
        using session = new v1.Session({ graph });
        session.run(init);
        return amounts.map((n) => session.run(sum, { feedDict: new Map([[amount, n]]) }).item());
      });
      expect(sums).toEqual(golden.scalarModel);
    });
  });

  test('a body runs at least once', () => {
    withBackend(backend, () => {
      const text = '(x) => { let n = 0; do { x = x - 3; n += 1; } while (x > 0); return [x, n]; }';
      const graph = tfFunction(converted(text) as (x: Tensor) => unknown);
      for (const x of [10, -1]) {
        const expected = plain(text)(x);
        expect(converted(text)(x)).toEqual(expected);
        expect(values(converted(text)(constant(x)))).toEqual(expected);
        expect(values(graph(constant(x)))).toEqual(expected);
      }
    });
  });
});

test('without conversion, tracing says what to do', () => {
  expect(golden.off).toContain('Iterating over a symbolic `tf.Tensor` is not allowed.');
  const off = tfFunction(plain(seeds['sumEven'] as string));
  const items = constant([10, 12, 15, 20], 'int32');
  expect(() => off(items)).toThrow('iterating over a tensor of a graph is not allowed');
  expect(() => tfFunction(plain(seeds['squareIfPositive'] as string))(constant(1))).toThrow(
    'a tensor has no value while tf.function traces',
  );
});
