// Stateless random numbers and generators give the numbers of TensorFlow.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('random-bits.json');

interface Values {
  readonly dtype: tf.DType;
  readonly shape: number[];
  readonly values: (number | string)[];
}
interface Step {
  readonly method: string;
  readonly args: unknown[];
  readonly options: object;
  readonly result: readonly Values[];
  readonly state: readonly string[];
}
const golden = JSON.parse(
  readFileSync(new URL('../golden/random-generators.json', import.meta.url), 'utf8'),
) as {
  readonly generators: readonly { readonly seed: string | string[]; readonly steps: readonly Step[] }[];
  readonly carry: readonly string[];
  readonly over: readonly string[];
};
// biome-ignore lint/suspicious/noExplicitAny: methods by name.
type Any = any;

const stateOf = (g: tf.random.Generator): string[] =>
  Array.from(g.state.read().data() as BigInt64Array, String);
const seedOf = (seed: string | string[]): bigint | bigint[] =>
  typeof seed === 'string' ? BigInt(seed) : seed.map(BigInt);

function run(g: Any, { method, args, options }: Step): tf.Tensor[] {
  const y = Object.keys(options).length > 0 ? g[method](...args, options) : g[method](...args);
  if (method === 'split') return (y as Any[]).map((child) => child.normal([2]));
  return [y];
}
function same(got: tf.Tensor[], step: Step): void {
  step.result.forEach((wanted, i) => {
    const own = got[i];
    expect([own.dtype, own.shape], step.method).toEqual([wanted.dtype, wanted.shape]);
    const list = Array.from(own.data() as ArrayLike<number | bigint>);
    wanted.values.forEach((v, k) => {
      if (typeof list[k] === 'bigint') expect(String(list[k]), step.method).toBe(String(BigInt(v)));
      else expect(Math.abs((list[k] as number) - Number(v)), step.method).toBeLessThan(1e-6);
    });
  });
}

describe.each(golden.generators)('a generator of the seed $seed', ({ seed, steps }) => {
  it('gives what TensorFlow gives', () => {
    const g = tf.random.Generator.fromSeed(seedOf(seed) as bigint);
    for (const step of steps) {
      same(run(g, step), step);
      expect(stateOf(g), step.method).toEqual(step.state);
    }
  });
  it('gives it in a traced function too', () => {
    const g = tf.random.Generator.fromSeed(seedOf(seed) as bigint);
    for (const step of steps.filter(({ method }) => method !== 'split')) {
      const traced = tf.function(() => run(g, step)) as Any;
      const before = g.state.read();
      same(traced(), step);
      expect(stateOf(g), step.method).toEqual(step.state);
      g.reset(before);
      same(traced(), step);
    }
  });
});

it('counters carry, and wrap around', () => {
  const g = tf.random.Generator.fromKeyCounter(9, [2n ** 63n - 1n, -1n] as never, 'philox');
  g.skip(1);
  expect(stateOf(g)).toEqual(golden.carry);
  const last = tf.random.Generator.fromState([-1n, -1n, 5n] as never, 'philox');
  last.normal([3]);
  expect(stateOf(last)).toEqual(golden.over);
});

it('generators begin like others, with variables, and in checkpoints', () => {
  const g = tf.random.Generator.fromSeed(3);
  const copy = new tf.random.Generator({ copyFrom: g });
  expect(copy.normal([3]).array()).toEqual(g.normal([3]).array());
  const state = new tf.Variable(tf.constant([1n, 2n, 3n], 'int64'));
  const own = new tf.random.Generator({ state, alg: 'philox' });
  own.uniform([4]);
  expect(stateOf(own)).toEqual(Array.from(state.read().data() as BigInt64Array, String));
  expect(Number(own.key.item())).toBe(3);
  expect(own.algorithm).toBe(1);
  expect([...(own.trackableView().children ?? [])].map(([name]) => name)).toEqual(['_state_var']);
});

describe('randomIndexShuffle', () => {
  // As TensorFlow 2.21 has it, for blocks of every width.
  it.each([
    [3n, [0n, 1n, 3n], [0n, 1n, 2n]],
    [65535n, [0n, 21845n, 65535n], [24185n, 3445n, 48684n]],
    [65536n, [0n, 32768n, 65536n], [24185n, 54976n, 24185n]],
    [2147483647n, [0n, 715827882n, 2147483647n], [1917183124n, 885545260n, 506729280n]],
    [1099511627781n, [0n, 366503875927n, 1099511627781n], [123614594902n, 308933049564n, 395954442408n]],
    [2n ** 62n, [0n, 1537228672809129301n], [2482987737065977569n, 3355478975359282347n]],
    [2n ** 63n + 3n, [0n, 3074457345618258603n], [4965975338950055655n, 6079888641682281054n]],
  ])('of indices up to %s', (most, indices, places) => {
    const index = tf.constant(indices, 'uint64');
    const found = tf.randomIndexShuffle({
      index,
      seed: [7, 498247692, 5],
      maxIndex: tf.constant(most, 'uint64'),
      rounds: 4,
    });
    expect(found.array()).toEqual(places);
  });
});

it('refuse what they cannot use', () => {
  const { random } = tf;
  const bad: (() => unknown)[] = [
    () => new random.Generator({ state: tf.constant([1n, 2n], 'int64'), alg: 'philox' }),
    () => new random.Generator({} as never),
    () => new random.Generator({ copyFrom: 3 as never }),
    () => random.Generator.fromSeed(1.5),
    () => random.Generator.fromSeed([1, 2, 3, 4]),
    () => random.Generator.fromSeed(1).skip(1.5),
    () => random.Generator.fromSeed(1).uniform([2], { dtype: 'int32' }),
    () => random.Generator.fromSeed(1).reset(tf.constant([1, 2], 'int64')),
    () => random.statelessUniform([2], [1, 2], { dtype: 'int32' }),
    () => random.statelessUniform([2], [1, 2], { dtype: 'uint32', minval: 1, maxval: 3 }),
    () => random.statelessUniform([2], [1, 2], { dtype: 'int32', minval: 3, maxval: 3 }),
    () => random.statelessUniform([2], [1, 2], { dtype: 'int32', minval: 0, maxval: 2 ** 40 }),
    () => random.statelessUniform([2], [1, 2], { alg: 'mersenne' as never }),
    () => random.experimental.statelessShuffle([1, 2], [1] as never),
    () => random.experimental.indexShuffle(tf.constant([1], 'int8' as never), [1, 2], 3),
    () => random.experimental.indexShuffle([[1]], [1, 2], 3),
  ];
  for (const call of bad) expect(call, String(call)).toThrow(tf.errors.InvalidArgumentError);
  expect(() => random.statelessUniform([2], [1, 2], { alg: 'threefry' })).toThrow(
    tf.errors.UnimplementedError,
  );
});

it('gives NaN for gamma distributions that are none', () => {
  const { random } = tf;
  const y = random.statelessGamma([4, 3], [1, 2], [Number.NaN, -1, 2]);
  for (const row of y.array() as number[][]) expect(row.map(Number.isNaN)).toEqual([true, true, false]);
});

it('draws more numbers than a list of JavaScript holds, but no more than there is memory for', () => {
  const { random } = tf;
  const many = 2 ** 25 + 8;
  const y = random.statelessUniform([many], [1, 2], { dtype: 'int32', minval: null, maxval: null });
  expect(y.shape).toEqual([many]);
  const whole = random.statelessUniform([8], [1, 2], { dtype: 'int32', minval: null, maxval: null });
  expect(y.slice([0], [8]).array()).toEqual(whole.array());
  expect((y.slice([many - 8], [8]).array() as number[]).some((v) => v !== 0)).toBe(true);
  y.dispose();
  for (const call of [
    () => random.statelessUniform([2 ** 32 + 3], [1, 2]),
    () => random.statelessUniform([2 ** 30, 2 ** 20], [1, 2]),
    () => random.statelessNormal([2 ** 30, 2 ** 20], [1, 2], { dtype: 'float16' }),
    () => random.statelessGamma([2 ** 30, 2 ** 20], [1, 2], 2),
    () => random.statelessPoisson([2 ** 30], [1, 2], 2),
    () => random.statelessBinomial([2 ** 30], [1, 2], 2, 0.5),
    () => random.statelessCategorical([[1, 2]], 2 ** 30, [1, 2]),
  ])
    expect(call, String(call)).toThrow(tf.errors.ResourceExhaustedError);
});
