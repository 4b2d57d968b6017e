// Every class of layers with every precision: the dtypes of its outputs and weights.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, type DType, fill, type Shape, type Tensor } from '@eagre/core';
import { isFloating } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import { layers } from '../index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { assertCloseTensor, readGolden, type Values } from '../testing/golden.ts';

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
  /** With policies of integers, the outputs for a pattern. */
  readonly values: Readonly<Record<string, readonly Values[]>>;
}
const golden = readGolden<{ readonly cases: readonly Case[] }>('dtype-policies');

type Called = (...args: readonly unknown[]) => Tensor | readonly Tensor[];
type Class = new (options: Record<string, unknown>) => layers.Layer;

/** The outputs of a layer, and the layer. */
function run(c: Case, policy: string, make: (shape: Shape, i: number) => Tensor, training: boolean) {
  const { layer: name, options, shape } = c;
  const layer = new (layers as unknown as Record<string, Class>)[name]({ ...options, dtype: policy });
  const many = Array.isArray(shape[0]);
  const inputs = ((many ? shape : [shape]) as Shape[]).map(make);
  const separate = name === 'MultiHeadAttention' || name === 'GroupQueryAttention';
  const args = separate ? inputs : [many ? inputs : inputs[0]];
  const call = layer as unknown as Called;
  const found = training ? call(...args, { training }) : call(...args);
  return { layer, outputs: (Array.isArray(found) ? found : [found]) as Tensor[] };
}

/** The dtypes here; the message where it throws. */
function called(c: Case, policy: string, training: boolean): Dtypes | string {
  try {
    const one = constant(c.dtype === 'string' ? 'a' : 1, c.dtype);
    const { layer, outputs } = run(c, policy, (shape) => fill(shape, one), training);
    return { outputs: outputs.map((y) => y.dtype), weights: layer.weights.map((w) => w.dtype) };
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const floats = ['float16', 'bfloat16', 'float64', 'mixed_float16', 'mixed_bfloat16'];
const integers = ['int32', 'uint8', 'int64', 'bool'];

/** Where Keras throws on a CPU, and layers here compute; a pattern of the class and the policy. */
const more: readonly (readonly [what: RegExp, why: string])[] = [
  [/Pooling3D (mixed_)?(float16|float64)$/, 'its kernel is for other floats'],
  [/^(GRU|LSTM|SimpleRNN|ConvLSTM\dD) bfloat16$/, 'orthogonal initializers have no kernel for bfloat16'],
  [/^STFTSpectrogram (mixed_)?bfloat16$/, 'its transforms take no bfloat16'],
  [/^MelSpectrogram float64$/, 'it mixes float32 and float64'],
  [/^CategoryEncoding b?float16$/, 'its counts have no kernel for 16 bits'],
  [/^CategoryEncoding uint8$/, 'its counts have no kernel for 8 bits'],
  [/^(AdaptiveMaxPooling3D u?int|MaxPooling3D (int32|uint8)$)/, 'its kernel is for floats'],
  [/^MaxPooling\dD bool$/, 'its kernel is for numbers'],
  [/^LeakyReLU bool$/, 'it takes no truths, where other activations make floats of them'],
  [/^PReLU uint8$/, 'its kernel has no negative'],
  [/^(AugMix|RandAugment) uint8$/, 'a part of it takes floats alone'],
  [
    /^(AutoContrast|Equalization|Random(?!Brightness bool)\w+|Solarization) (u?int\d+|bool)$/,
    'a part of it takes floats alone',
  ],
];

/** Where Keras computes, and layers here throw. */
const fewer: readonly (readonly [what: RegExp, why: string])[] = [
  [/^ActivityRegularization int/, 'as integers its factors would be 0'],
  [/^MaxPooling[12]D int64$/, 'its kernel is for floats, which do not hold all of them'],
];

/** Where Keras's values are a matter of overflow, or of floats that it forgot to convert. */
const other = /^((Group|Layer)Normalization (uint8|bool)|Discretization bool)$/;

/** Holds what a case gives here with a policy against what Keras gives. */
function compare(c: Case, policy: string): void {
  const told = c.policies[policy] as Dtypes | null;
  for (const training of [false, true]) {
    const theirs = training && policy in c.training ? (c.training[policy] as Dtypes | null) : told;
    const ours = called(c, policy, training);
    const what = `${c.layer} ${policy}${training ? ' in training' : ''}`;
    if (fewer.some(([known]) => known.test(`${c.layer} ${policy}`)))
      expect(ours, what).toContain('InvalidArgumentError');
    else if (theirs !== null) expect(ours, what).toEqual(theirs);
    else if (!more.some(([known]) => known.test(`${c.layer} ${policy}`)))
      expect(ours, what).toContain('InvalidArgumentError');
    else expect(typeof ours, what).toBe('object');
  }
}

test.each(golden.cases.map((c) => [c.layer, c] as const))('%s in every precision', (_, c) => {
  for (const policy of [...floats, ...integers]) compare(c, policy);
});

/** Floats with halves, or whole numbers, as the tool that made the values counts. */
function pattern(shape: Shape, first: number, dtype: DType): Tensor {
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, (_, i) => ((7 * i + first) % 23) / 2);
  return constant(values, 'float64', { shape }).cast(dtype);
}

test.each(
  golden.cases.flatMap((c) =>
    Object.entries(c.values)
      .filter(
        ([policy]) => ![...fewer.map(([known]) => known), other].some((p) => p.test(`${c.layer} ${policy}`)),
      )
      .map(([policy, wanted]) => [c.layer, policy, c, wanted] as const),
  ),
)('%s of %s', (_, policy, c, wanted) => {
  const { outputs } = run(c, policy, (shape, i) => pattern(shape, i, c.dtype), false);
  const each = (y: Tensor): Tensor => (isFloating(y.dtype) ? y : y.cast('float64'));
  expect(outputs).toHaveLength(wanted.length);
  outputs.forEach((y, i) => assertCloseTensor(each(y), wanted[i] as Values, c.layer, 2e-5));
});

test('a model that is described first knows the dtypes', () => {
  const x = Input({ shape: [2, 2] });
  const flat = new layers.Flatten({ dtype: 'int32' })(x);
  expect(flat.dtype).toBe('int32');
  const y = new layers.Rescaling(3, { dtype: 'int32' })(flat);
  const model = new Model(x, new layers.Average({ dtype: 'int32' })([y, flat]));
  expect(model.output.dtype).toBe('float64');
  const again = Model.fromConfig(JSON.parse(JSON.stringify(model.getConfig()))) as Model;
  for (const each of [model, again])
    expect(
      each<Tensor>(
        constant([
          [
            [1.7, 2.9],
            [3.2, 4.1],
          ],
        ]),
      ).array(),
    ).toEqual([[2, 4, 6, 8]]);
});

test('whole numbers are multiplied, and weights drawn at random are refused', () => {
  // Keras 3.15.1: [[4, 4]].
  const dense = new layers.Dense(2, { dtype: 'int32', kernelInitializer: 'ones' });
  const y = dense(constant([[1.9, 3.2]]));
  expect([y.dtype, y.array(), dense.kernel.dtype]).toEqual(['int32', [[4, 4]], 'int32']);
  const table = new layers.Embedding(3, 2, { dtype: 'int32', embeddingsInitializer: 'ones' });
  expect(table(constant([[1, 2]], 'int32')).dtype).toBe('int32');
  for (const drawn of [
    new layers.Dense(2, { dtype: 'int32' }),
    new layers.EinsumDense('ab,bc->ac', 2, { dtype: 'int32' }),
  ])
    expect(() => drawn(constant([[1, 2]]))).toThrow(/kernel.*int32/s);
  expect(() => new layers.Softmax({ dtype: 'int32' })(constant([[1, 2]]))).toThrow(
    'computes with floats and cannot be of the dtype int32',
  );
});

test('every reason is needed', () => {
  const policies = [...floats, ...integers];
  const thrown = golden.cases.flatMap((c) =>
    policies.filter((policy) => c.policies[policy] === null).map((policy) => `${c.layer} ${policy}`),
  );
  expect(more.filter(([known]) => !thrown.some((name) => known.test(name)))).toEqual([]);
  const computed = golden.cases.flatMap((c) =>
    policies.filter((policy) => c.policies[policy] !== null).map((policy) => `${c.layer} ${policy}`),
  );
  expect(fewer.filter(([known]) => !computed.some((name) => known.test(name)))).toEqual([]);
});
