// Every public function takes its arguments in one way: by position, or by name in the object of options, which comes last.
import type { Declared } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { type AnyFunction, functions, images, sequences, square, valuesFor } from './testing/arguments.ts';
import { plainOf } from './testing/plain.ts';

test('every function declares its arguments', () => {
  expect(functions.filter(({ takes }) => takes === undefined).map(({ name }) => name)).toEqual([]);
  expect(functions.length).toBeGreaterThan(200);
});

/** What functions that make functions of others are asked for. */
const given: Readonly<Record<string, readonly unknown[]>> = {
  'autodiff.implicitGradients': [],
  'autodiff.implicitValueAndGradients': [],
};

/** What a call gives, so that two can be compared; of a function that comes back, what it gives. */
function outcome(call: () => unknown, args: readonly unknown[] = [square]): unknown {
  const plain = (value: unknown): unknown =>
    plainOf(value, (other) => (typeof other === 'function' ? plain((other as AnyFunction)(...args)) : other));
  // Calls with seeds of their own begin anew.
  tf.random.setSeed(5);
  return plain(call());
}

describe.each(functions.map(({ name, fn, takes }) => [name, fn, takes as Declared] as const))(
  '%s',
  (name, fn, takes) => {
    const values = valuesFor(name, takes);
    const { positional, options, rest } = takes;
    const result = (call: () => unknown): unknown => outcome(call, given[name]);

    test('all by name is all by position', () => {
      const byName = Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined));
      const behind = rest === undefined ? [] : (values[rest] as unknown[]);
      const before = positional.map((n) => values[n]);
      const given = Object.fromEntries(
        Object.keys(options).flatMap((n) => (n in values ? [[n, values[n]]] : [])),
      );
      const expected = result(() => fn(...before, ...behind, given));
      const full = positional.length + Object.keys(options).length === 0 ? [] : [byName];
      expect(result(() => fn(...full))).toEqual(expected);
      // Each number of arguments by position, the others by name.
      for (let i = 1; i < positional.length; i++) {
        const last = Object.fromEntries(
          Object.entries(byName).filter(([n]) => !positional.slice(0, i).includes(n)),
        );
        expect(result(() => fn(...before.slice(0, i), last))).toEqual(expected);
      }
      // TensorFlow's own names, and those of other libraries.
      for (const names of takes.signatures.slice(1)) {
        const own = names.map((n, i) => [n, byName[positional[i] as string]] as const);
        const others = Object.entries(byName).filter(([n]) => !positional.includes(n));
        expect(
          result(() => fn(Object.fromEntries([...others, ...own.filter(([, v]) => v !== undefined)]))),
          names.join(),
        ).toEqual(expected);
      }
    });

    test('no options is null and undefined too', () => {
      const before = [
        ...positional.map((n) => values[n]),
        ...(rest === undefined ? [] : (values[rest] as unknown[])),
      ];
      // Its weights are one of two options.
      if (rest !== undefined || name === 'nn.fixedUnigramCandidateSampler') return;
      const expected = result(() => fn(...before));
      expect(result(() => fn(...before, null))).toEqual(expected);
      expect(result(() => fn(...before, undefined))).toEqual(expected);
    });

    test('what is too much by position, given twice or unknown is refused', () => {
      const before = positional.map((n) => values[n]);
      const refused = (message: string | RegExp, ...args: unknown[]): void => {
        expect(() => fn(...args), `${name}(${args.map(String).join(', ')})`).toThrow(message);
        expect(() => fn(...args)).toThrow(tf.errors.InvalidArgumentError);
      };
      const names = [...positional, ...Object.keys(options)];
      const [option] = Object.keys(options);
      if (rest === undefined)
        refused(option === undefined ? /takes at most/ : `write { ${option}: 17 }`, ...before, 17);
      refused("'bogus' is not an option", ...before, { bogus: 1 });
      for (const n of names.filter((k) => k.length > 3)) {
        const typo = `${n.slice(0, 3).toUpperCase()}${n.slice(3)}`;
        refused(`did you mean '${n}'?`, ...before, { [typo]: 1 });
      }
      const [first] = positional;
      if (first !== undefined) refused('by position and by name', ...before, { [first]: 1 });
    });
  },
);

test('messages say what to write', () => {
  const call =
    (fn: unknown, ...args: unknown[]) =>
    (): unknown =>
      (fn as AnyFunction)(...args);
  expect(call(tf.reduceSum, square, 0, true)).toThrow(
    'sum: only x and axis can be given by position; write { keepdims: true }',
  );
  expect(call(tf.reduceSum, square, { keepDims: true })).toThrow(
    "'keepDims' is not an option; the options are x, axis, keepdims; did you mean 'keepdims'?",
  );
  expect(call(tf.nn.leakyRelu, square, 0.1)).toThrow('only x can be given by position; write { alpha: 0.1 }');
  expect(call(tf.nn.elu, square, 0.5)).toThrow('write { alpha: 0.5 }');
  expect(call(tf.nn.conv2d, images, tf.ones([2, 2, 2, 3]), { stride: 2 })).toThrow("did you mean 'strides'?");
  expect(call(tf.nn.conv1d, sequences, tf.ones([2, 2, 3]), { pads: 2 })).toThrow("'pads' is not an option");
  expect(call(tf.matmul, square, square, true)).toThrow('write { transposeA: true }');
  expect(call(tf.add, square)).toThrow('b must be given: write add(a, b) or add({ a, b })');
  expect(call(tf.reduceSum, { axis: 1 })).toThrow(
    'x must be given: write sum(x, { axis }) or sum({ x, axis })',
  );
  expect(call(tf.reduceSum, square, 1, { axis: 1 })).toThrow('axis is given twice, by position and by name');
  expect(call(tf.reduceSum, { axis: 1 }, square)).toThrow('the options object must come once, at the end');
  expect(call(tf.zeros, [2], 'int32', 3)).toThrow('takes at most 2 arguments, got 3');
  expect(call(tf.matmul, square, square, new Map())).toThrow(
    'expected options, such as { transposeA, transposeB }',
  );
  expect(call(tf.einsum, { equation: 'ij->i', operands: 3 })).toThrow('operands must be an array, got 3');
  expect(() => [1, 2].map(tf.exp as never)).toThrow('write map((x) => exp(x))');
  expect(() => [1, 2].map(tf.reduceSum as never)).toThrow('write map((x) => sum(x))');
});

test('methods of tensors and variables', () => {
  for (const x of [tf.constant(square), new tf.Variable(square)]) {
    expect(x.sum({ axis: 1, keepdims: true }).shape).toEqual([2, 1]);
    expect(x.sum(1, { keepdims: true }).shape).toEqual([2, 1]);
    expect(x.sum(1, null).shape).toEqual([2]);
    expect(x.sum(null).shape).toEqual([]);
    expect(x.add({ b: 1 }).array()).toEqual(x.add(1).array());
    expect(x.at({ specs: [0] }).array()).toEqual(x.at(0).array());
    const loose = x as unknown as Record<string, AnyFunction>;
    const loosely =
      (name: string, ...args: unknown[]) =>
      (): unknown =>
        loose[name]?.call(x, ...args);
    expect((loosely('exp', null)() as tf.Tensor).array()).toEqual(x.exp().array());
    expect(loosely('sum', 1, true)).toThrow('write { keepdims: true }');
    expect(loosely('exp', 3)).toThrow('takes at most 1 arguments');
    expect(loosely('add', 1, 2)).toThrow('takes at most 2 arguments');
    expect(loosely('sum', { x: 1 })).toThrow('x is given twice');
    expect(loosely('sum', { keepDims: true })).toThrow("did you mean 'keepdims'?");
  }
});
