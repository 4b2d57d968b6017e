// Every class of layers with every precision: the dtypes of its outputs and weights.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, type DType, fill, type Shape, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { layers } from '../index.ts';
import { readGolden } from '../testing/golden.ts';

interface Dtypes {
  readonly outputs: readonly DType[];
  readonly weights: readonly DType[];
}
/** By policy; null where Keras throws. */
type Row = Readonly<Record<string, Dtypes | null>>;
interface Case {
  readonly layer: string;
  readonly options: Record<string, unknown>;
  readonly shape: Shape | readonly Shape[];
  readonly dtype: DType;
  readonly policies: Row;
  /** Where a call in training gives something else. */
  readonly training: Row;
}
const golden = readGolden<{ readonly cases: readonly Case[] }>('dtype-policies');

type Called = (...args: readonly unknown[]) => Tensor | readonly Tensor[];
type Class = new (options: Record<string, unknown>) => layers.Layer;

/** The dtypes here; the message where it throws. */
function called(
  { layer: name, options, shape, dtype }: Case,
  policy: string,
  training: boolean,
): Dtypes | string {
  try {
    const layer = new (layers as unknown as Record<string, Class>)[name]({ ...options, dtype: policy });
    const one = constant(dtype === 'string' ? 'a' : 1, dtype);
    const many = Array.isArray(shape[0]);
    const inputs = ((many ? shape : [shape]) as Shape[]).map((s) => fill(s, one));
    const separate = name === 'MultiHeadAttention' || name === 'GroupQueryAttention';
    const args = separate ? inputs : [many ? inputs : inputs[0]];
    const call = layer as unknown as Called;
    const found = training ? call(...args, { training }) : call(...args);
    const outputs = (Array.isArray(found) ? found : [found]).map((y: Tensor) => y.dtype);
    return { outputs, weights: layer.weights.map((w) => w.dtype) };
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const floats = ['float16', 'bfloat16', 'float64', 'mixed_float16', 'mixed_bfloat16'];
const integers = ['int32', 'uint8', 'int64'];

/** Where Keras throws on a CPU, and layers here compute; a pattern of the class and the policy. */
const more: readonly (readonly [what: RegExp, why: string])[] = [
  [/Pooling3D (mixed_)?(float16|float64)$/, 'its kernel is for other floats'],
  [/^(GRU|LSTM|SimpleRNN|ConvLSTM\dD) bfloat16$/, 'orthogonal initializers have no kernel for bfloat16'],
  [/^STFTSpectrogram (mixed_)?bfloat16$/, 'its transforms take no bfloat16'],
  [/^MelSpectrogram float64$/, 'it mixes float32 and float64'],
  [/^CategoryEncoding b?float16$/, 'its counts have no kernel for 16 bits'],
];

/** Holds what a case gives here with a policy against what Keras gives. */
function compare(c: Case, policy: string): void {
  const told = c.policies[policy] as Dtypes | null;
  for (const training of [false, true]) {
    const theirs = training && policy in c.training ? (c.training[policy] as Dtypes | null) : told;
    const ours = called(c, policy, training);
    const what = `${c.layer} ${policy}${training ? ' in training' : ''}`;
    if (theirs !== null) expect(ours, what).toEqual(theirs);
    else if (!more.some(([known]) => known.test(`${c.layer} ${policy}`)))
      expect(ours, what).toContain('InvalidArgumentError');
    else expect(typeof ours, what).toBe('object');
  }
}

test.each(golden.cases.map((c) => [c.layer, c] as const))('%s in every precision', (_, c) => {
  for (const policy of floats) compare(c, policy);
});

test('every reason is needed', () => {
  const thrown = golden.cases.flatMap((c) =>
    floats.filter((policy) => c.policies[policy] === null).map((policy) => `${c.layer} ${policy}`),
  );
  expect(more.filter(([known]) => !thrown.some((name) => known.test(name)))).toEqual([]);
});

/** Classes whose `dtype` is that of the integers that they give. */
const giveIntegers = /^(Hashing (int32|uint8|int64)|HashedCrossing (int32|int64))$/;

test('precisions are those of floats: integers are refused, but where a layer gives them', () => {
  for (const c of golden.cases)
    for (const policy of integers) {
      if (giveIntegers.test(`${c.layer} ${policy}`)) compare(c, policy);
      // In Keras, layers that move values cast floats to such a policy, and those that multiply by weights throw.
      else
        expect(called(c, policy, false), `${c.layer} ${policy}`).toMatch(
          /^InvalidArgumentError.*dtype must be/,
        );
    }
});
