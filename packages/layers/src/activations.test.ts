import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { type CustomName, constant, InvalidArgumentError, range, type Tensor } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import * as activations from './activations.ts';
import { Dense, InputLayer, Lambda, ReLU } from './layers/index.ts';
import { assertClose, readGolden } from './testing/golden.ts';

interface Golden {
  readonly names: string[];
  readonly x: number[][];
  readonly cases: {
    readonly name: string;
    readonly options: object;
    readonly y: number[][];
    readonly dx: number[][];
  }[];
}
const golden = readGolden<Golden>('activations');

type Any = activations.ActivationFunction<Record<string, unknown>>;
const all = activations as unknown as Readonly<Record<string, Any>>;

describe('as Keras computes', () => {
  test.each(golden.cases)('$name $options', ({ name, options, y, dx }) => {
    const x = constant(golden.x, 'float64');
    const fn = all[name] as Any;
    const tape = new GradientTape();
    tape.watch(x);
    const result = Object.keys(options).length === 0 ? fn(x) : fn(x, options as Record<string, unknown>);
    const weights = range(1, result.size + 1, 1, { dtype: 'int32' })
      .cast('float64')
      .reshape(result.shape);
    const loss = result.mul(weights).sum();
    assertClose(result.data() as Float64Array, y.flat(), 'values', 1e-6);
    assertClose((tape.gradient(loss, x) as Tensor).data() as Float64Array, dx.flat(), 'gradients', 1e-6);
  });

  test('under every name that Keras has', () => {
    for (const name of golden.names) {
      expect(all[name], name).toBeTypeOf('function');
      expect(activations.get(name), name).toBe(all[name]);
    }
    expect(activations.get('hard_swish')).toBe(activations.hardSilu);
    expect(new Dense(2, { activation: activations.gelu }).getConfig()['activation']).toBe('gelu');
  });

  test('but for sparsemax, whose values add up to 1', () => {
    const y = activations.sparsemax([
      [1, 0.5, -3],
      [2, 2, 2],
      [9, 1, 0],
    ]);
    assertClose(y.data() as Float32Array, [0.75, 0.25, 0, 1 / 3, 1 / 3, 1 / 3, 1, 0, 0], 'sparsemax', 1e-6);
    assertClose(
      activations.sparsemax([[1], [0.5]], { axis: 0 }).data() as Float32Array,
      [0.75, 0.25],
      'columns',
      1e-6,
    );
  });
});

test('what they take', () => {
  expect(activations.relu([-1, 2]).array()).toEqual([0, 2]);
  expect(() => activations.relu([-1, 2], { alpha: 1 } as never)).toThrow("relu: 'alpha' is not an option");
  expect(() => activations.gelu([1], true as never)).toThrow(
    'gelu: only x can be given by position; write { approximate: true }',
  );
  // @ts-expect-error
  expect(() => activations.threshold([1])).toThrow('threshold and defaultValue must be given');
  // @ts-expect-error
  expect(() => activations.relu()).toThrow(InvalidArgumentError);
  expect(activations.threshold([1, 3], 2, { defaultValue: -1 }).array()).toEqual([-1, 3]);
  expect(activations.relu({ x: [-1, 2], maxValue: 1 }).array()).toEqual([0, 1]);
  expect(activations.relu([-1, 2], null).array()).toEqual([0, 2]);
  expect(activations.get({ identifier: 'relu' })).toBe(activations.relu);
  expect(() => activations.glu([[1, 2, 3]])).toThrow('glu: needs an even size');
  expect(() => activations.get('rellu')).toThrow(
    /^unknown activation 'rellu'; known: .*did you mean 'relu'\?$/,
  );
});

declare module '@eagre/core' {
  interface CustomNames {
    squash: 'activation';
  }
}

test('those of users by name', () => {
  const squash = registerKerasSerializable((x: Tensor) => x.div(x.abs().add(1)), { name: 'squash' });
  expect(activations.get('squash')).toBe(squash);
  expect(activations.get('Custom>squash')).toBe(squash);
  expect(new Dense(1, { activation: 'squash' }).activation).toBe(squash);
  const name: CustomName<'activation'> = 'squash';
  expect(name).toBe('squash');
  // @ts-expect-error
  expect(() => new Dense(1, { activation: 'rellu' })).toThrow('unknown activation');
  // @ts-expect-error
  expect(() => new Dense(1, { kernelInitializer: 'squashh' })).toThrow('unknown initializer');
  expect(() => registerKerasSerializable({} as never)).toThrow(InvalidArgumentError);
  expect(() => registerKerasSerializable(() => 1)).toThrow('a function without a name needs { name }');
});

test('activations as configurations say them', () => {
  expect([
    activations.serialize(activations.leakyRelu),
    activations.serialize(activations.relu),
    activations.serialize(activations.linear),
  ]).toEqual(['leaky_relu', 'relu', 'linear']);
  expect(activations.deserialize('leaky_relu')).toBe(activations.leakyRelu);
  const own = (x: Tensor): Tensor => x;
  expect(activations.deserialize('mine', { mine: own })).toBe(own);
  expect(() => activations.serialize('relu' as never)).toThrow('expected an activation');
  expect(() => activations.deserialize('nothing')).toThrow();
  expect(() => activations.get(ReLU as never)).toThrow(
    'the activation must be a function, got the class ReLU',
  );
});

test('what functions of the user return, and classes in their place', () => {
  const x = constant([[1, 2]]);
  expect(() => new Dense(2, { activation: (() => 1) as never })(x)).toThrow(
    'the activation must return a tensor, got 1',
  );
  expect(() => new Dense(2, { activityRegularizer: (() => 1) as never })(x)).toThrow(
    'the activity regularizer must return a scalar tensor, got 1',
  );
  class Own {}
  for (const option of ['kernelInitializer', 'kernelRegularizer', 'kernelConstraint'])
    expect(() => new Dense(2, { [option]: Own })(x)).toThrow('must be a function, got the class Own');
  expect(() => new Lambda(Own as never)).toThrow('function must be a function, got the class Own');
  expect(() => new InputLayer({ batchShape: 3 as never })).toThrow(InvalidArgumentError);
});
