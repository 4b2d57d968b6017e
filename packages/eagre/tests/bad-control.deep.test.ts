import { fuzzCalls, type Subject } from '@eagre/testing';
import { expect, it } from 'vitest';
import * as tf from '../src/index.ts';

// Control flow, traced functions and tapes, with arguments that are wrong in a place or two: at once, and while a function is traced.

const ROUNDS = 200;

type Body = (...vars: tf.Tensor[]) => unknown;
const x = (): tf.Tensor => tf.constant([1, 2, 3]);
const up: Body = (i, ...rest) => [(i as tf.Tensor).add(1), ...rest.map((v) => v.mul(2))];

/** Loops that would never end with other arguments end here: that is the user's business. */
const few = <F extends (...args: never[]) => unknown>(fn: F): F => {
  let turns = 0;
  return ((...args: never[]) => {
    if (++turns > 50) throw new tf.errors.OutOfRangeError('this test goes round no more than 50 times');
    return (fn as unknown as (...args: never[]) => unknown)(...args);
  }) as F;
};
const callable = (fn: unknown): fn is (...args: never[]) => unknown => typeof fn === 'function';

const flow: readonly Subject[] = [
  {
    name: 'cond',
    args: () => [tf.constant(true), () => x(), () => x().mul(2)],
    call: tf.cond,
  },
  {
    name: 'switchCase',
    args: () => [tf.constant(1, 'int32'), [() => x(), () => x().mul(2)], { default: () => x() }],
    call: tf.switchCase,
  },
  {
    name: 'case',
    args: () => [
      [
        [tf.constant(false), () => x()],
        [tf.constant(true), () => x().mul(2)],
      ],
      { default: () => x(), exclusive: true },
    ],
    call: tf.case,
  },
  {
    name: 'whileLoop',
    args: () => [(i: tf.Tensor) => i.less(3), up, [tf.constant(0, 'int32'), x()], { maximumIterations: 5 }],
    call: (cond: unknown, body: Body, vars: readonly unknown[], options: object) =>
      tf.whileLoop((callable(cond) ? few(cond) : cond) as never, body as never, vars, options),
  },
  {
    name: 'whileLoop of an object',
    args: () => [
      (v: { i: tf.Tensor }) => v.i.less(3),
      (v: { i: tf.Tensor }) => ({ ...v, i: v.i.add(1) }),
      { i: 0, list: [x()] },
    ],
    call: (cond: unknown, body: Body, vars: unknown, options: object) =>
      tf.whileLoop((callable(cond) ? few(cond) : cond) as never, body as never, vars as never, options),
  },
  {
    name: 'mapFn',
    args: () => [
      ([a, b]: tf.Tensor[]) => [(a as tf.Tensor).add(b as tf.Tensor)],
      [x(), x()],
      { fnOutputSignature: [new tf.TensorSpec([], 'float32')] },
    ],
    call: tf.mapFn,
  },
  {
    name: 'mapFn to objects',
    args: () => [
      (a: tf.Tensor) => ({ a, b: [a] }),
      x(),
      { fnOutputSignature: { a: 'float32', b: ['float32'] } },
    ],
    call: tf.mapFn,
  },
  { name: 'vectorizedMap', args: () => [(a: tf.Tensor) => a.mul(2), x()], call: tf.vectorizedMap },
  ...[tf.foldl, tf.foldr].map((fold) => ({
    name: fold.name,
    args: () => [(s: tf.Tensor, e: tf.Tensor) => s.add(e), x(), { initializer: tf.constant(0) }],
    call: fold,
  })),
  {
    name: 'scan',
    args: () => [
      ([s]: tf.Tensor[], e: tf.Tensor) => [(s as tf.Tensor).add(e)],
      x(),
      { initializer: [tf.constant(0)], reverse: true },
    ],
    call: tf.scan,
  },
];

const arrays: readonly Subject[] = [
  {
    name: 'new TensorArray',
    args: () => ['float32', { size: 3, dynamicSize: false, elementShape: [2], inferShape: true }],
    call: (dtype: tf.DType, options: object) => {
      const array = new tf.TensorArray(dtype, options);
      String(array);
      return array.size().item() < 1000
        ? [array.stack(), array.read(0), array.gather([0]), array.concat()]
        : null;
    },
  },
  ...(
    [
      ['write', () => [1, [1, 2]]],
      ['read', () => [1]],
      ['gather', () => [[0, 2]]],
      ['unstack', () => [tf.ones([3, 2])]],
      ['scatter', () => [[0, 2], tf.ones([2, 2])]],
      ['split', () => [tf.ones([6, 2]), [1, 2, 3]]],
    ] as const
  ).flatMap(([method, args]) =>
    [false, true].map((dynamicSize) => ({
      name: `TensorArray.${method}${dynamicSize ? ', dynamic' : ''}`,
      args,
      call: (...given: never[]) => {
        const array = new tf.TensorArray('float32', { size: 3, dynamicSize, inferShape: method !== 'split' });
        const filled = method === 'split' ? array : array.unstack(tf.ones([3, 2]));
        const result = (filled[method] as unknown as (...args: never[]) => tf.Tensor | tf.TensorArray)(
          ...given,
        );
        return result instanceof tf.TensorArray ? result.size() : result;
      },
    })),
  ),
];

const tapes: readonly Subject[] = (
  [
    ['gradient', () => [{ outputGradients: tf.ones([3]), unconnectedGradients: 'zero' }]],
    ['jacobian', () => [{ unconnectedGradients: 'zero' }]],
    ['batchJacobian', () => []],
  ] as const
).map(([method, rest]) => ({
  name: `GradientTape.${method}`,
  args: () => [{ persistent: false, watchAccessedVariables: true }, 'x', 'y', 'x', ...rest()],
  call: (options: object, watched: unknown, target: unknown, source: unknown, ...more: unknown[]) => {
    const tape = new tf.GradientTape(options);
    try {
      const a = x();
      const of = (v: unknown): unknown => (v === 'x' ? a : v === 'y' ? b : v);
      tape.watch(of(watched) as tf.Tensor);
      const b = a.mul(2);
      return (tape[method] as (...args: unknown[]) => unknown).call(tape, of(target), of(source), ...more);
    } finally {
      tape.dispose();
    }
  },
}));

const tracedFunctions: readonly Subject[] = [
  {
    name: 'new TensorSpec',
    args: () => [[null, 3], 'float32', 'x'],
    call: (...args: ConstructorParameters<typeof tf.TensorSpec>) => {
      const spec = new tf.TensorSpec(...args);
      String(spec);
      return tf.function((t: tf.Tensor) => t.mul(2)).getConcreteFunction(spec);
    },
  },
  { name: 'TensorSpec.fromTensor', args: () => [x(), 'x'], call: tf.TensorSpec.fromTensor },
  {
    name: 'function',
    args: () => [
      (t: tf.Tensor) => t.mul(2),
      { inputSignature: [new tf.TensorSpec([null])], reduceRetracing: true, name: 'f', autograph: false },
      [1, 2],
    ],
    call: (fn: (t: tf.Tensor) => tf.Tensor, options: object, arg: never) => tf.function(fn, options)(arg),
  },
  {
    name: 'function with a structure',
    args: () => [
      { a: new tf.TensorSpec([2]), b: [new tf.TensorSpec(null, 'int32')] },
      { a: tf.ones([2]), b: [1] },
    ],
    call: (spec: tf.TensorSpec, arg: never) =>
      tf.function((t: { a: tf.Tensor }) => t.a.mul(2), { inputSignature: [spec] })(arg),
  },
  {
    name: 'a traced function of anything',
    args: () => [x(), [1, 'a'], { a: new Map([['k', x()]]), v: new tf.Variable(1) }],
    call: (...args: unknown[]) =>
      tf.function((...given: unknown[]) => {
        const t = given[0];
        return t instanceof tf.Tensor && t.dtype !== 'string' ? [t.add(t), given[1]] : given;
      })(...args),
  },
  {
    name: 'what a traced function returns',
    args: () => [{ a: x(), b: [1, true, null], c: new Map([['k', x()]]) }],
    call: (result: unknown) => tf.function(() => result)(),
  },
  {
    name: 'getConcreteFunction',
    args: () => [new tf.TensorSpec([3]), 2, x()],
    call: (...args: unknown[]) => {
      const f = tf.function((t: tf.Tensor, n: number) => t.mul(n)) as unknown as tf.Tensor & {
        getConcreteFunction(...args: unknown[]): (...args: unknown[]) => unknown;
      };
      return f.getConcreteFunction(...args.slice(0, 2))(args[2]);
    },
  },
  {
    name: 'profile',
    args: () => [{ runs: 3 }, x()],
    call: (options: { runs: number }, ...args: tf.Tensor[]) => {
      // As many runs as that take their time.
      const few =
        typeof options?.runs === 'number' && options.runs > 100 ? { ...options, runs: 100 } : options;
      const concrete = tf.function((t: tf.Tensor) => t.mul(2)).getConcreteFunction(x());
      return String(concrete.profile(few, ...args));
    },
  },
  {
    name: 'runAsync',
    args: () => [x(), new AbortController().signal],
    call: (...args: [tf.Tensor, AbortSignal]) => tf.function((t: tf.Tensor) => t.mul(2)).runAsync(...args),
  },
  {
    name: 'customGradient',
    args: () => [(t: tf.Tensor) => [t.mul(2), (dy: tf.Tensor) => dy.mul(2)], x()],
    call: (fn: never, arg: tf.Tensor) =>
      tf.autodiff.grad((t: tf.Tensor) => (tf.customGradient(fn) as (t: tf.Tensor) => tf.Tensor)(t).sum())(
        arg,
      ),
  },
  {
    name: 'grad',
    args: () => [(t: tf.Tensor) => t.square().sum(), x()],
    call: (fn: never, arg: never) => (tf.autodiff.grad(fn) as (t: never) => unknown)(arg),
  },
  {
    name: 'valueAndGrad',
    args: () => [(t: tf.Tensor) => t.square().sum(), x()],
    call: (fn: never, arg: never) => (tf.autodiff.valueAndGrad(fn) as (t: never) => unknown)(arg),
  },
  {
    name: 'graphCallable',
    args: () => [[new tf.TensorSpec([3])], (t: tf.Tensor) => t.mul(2), x()],
    call: (specs: never, fn: never, arg: never) =>
      (tf.experimental.graphCallable(specs)(fn) as (t: never) => unknown)(arg),
  },
];

const traced = (subjects: readonly Subject[]): readonly Subject[] =>
  subjects.map(({ name, args, call }) => ({
    name: `${name}, traced`,
    args,
    call: (...given: never[]) => {
      // Tensors among the arguments become those of the trace.
      const slots = given.map((g: unknown) =>
        g instanceof tf.Tensor && !g.isDisposed && g.dtype !== 'string' ? g : null,
      );
      const tensors = slots.filter((t) => t !== null);
      return tf.function((...inside: tf.Tensor[]) => {
        let next = 0;
        call(...(given.map((g, i) => (slots[i] === null ? g : inside[next++])) as never[]));
        return tf.constant(1);
      })(...tensors);
    },
  }));

const now = [...flow, ...arrays, ...tapes];

it.each(['native', 'js'])(
  'control flow and traced functions give a value or one of our errors on %s',
  async (backend) => {
    const all = [...now, ...traced(now), ...tracedFunctions].map((s) => ({
      ...s,
      call: (...args: never[]) => tf.experimental.withBackend(backend, () => s.call(...args)),
    }));
    const findings = await fuzzCalls(all, ROUNDS);
    expect(findings.list(`control flow on ${backend}`).slice(0, 30)).toEqual([]);
    expect(findings.values).toBeGreaterThan(findings.calls / 20);
  },
);
