import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, InvalidArgumentError, nn, ones, type Tensor } from '@eagre/core';
import { isKept } from '@eagre/core/internal';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { get } from '../../activations.ts';
import { l2 } from '../../regularizers.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Dense, LeakyReLU } from '../index.ts';

describe('Dense', () => {
  test.each([
    [[3], [2, 4], [2, 3], 2],
    [[3, { activation: 'relu' }], [2, 4], [2, 3], 2],
    [[5, { activation: 'tanh', useBias: false }], [2, 3, 4], [2, 3, 5], 1],
    [[2, { activation: 'softmax', kernelInitializer: 'he_normal' }], [2, 1, 3, 4], [2, 1, 3, 2], 2],
    [
      [2, { kernelRegularizer: 'l2', activityRegularizer: 'l1', biasConstraint: 'nonNeg' }],
      [3, 4],
      [3, 2],
      2,
    ],
  ] as const)('%j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(Dense, { args: args as unknown as [number], inputShape, outputShape, trainable });
  });

  test('names its weights as Keras does', () => {
    const layer = new Dense(2, { name: 'out' });
    layer(ones([1, 3]));
    expect(layer.namedWeights.map((w) => w.path)).toEqual(['kernel', 'bias']);
    expect(layer.kernel.shape).toEqual([3, 2]);
    expect(layer.kernel.path).toBe('out/kernel');
  });

  test('takes integers and other floats as floats', () => {
    const layer = new Dense(1, { kernelInitializer: 'ones' });
    expect(layer(constant([[1, 2]], 'int32')).array()).toEqual([[3]]);
    expect(layer(constant([[1, 2]], 'float64')).dtype).toBe('float32');
    const double = new Dense(1, { kernelInitializer: 'ones', dtype: 'float64' });
    expect(double(ones([1, 2])).dtype).toBe('float64');
  });

  test('says what does not fit', () => {
    const layer = new Dense(2, { name: 'out' });
    expect(() => layer(ones([3]))).toThrow(
      "Dense 'out' expects input of rank 2 or more [batch, ..., n], got [3]",
    );
    layer(ones([1, 3]));
    expect(() => layer(ones([1, 4]))).toThrow(
      "Dense 'out' was built for a last axis of 3, got 4 (input [1, 4])",
    );
    expect(() => layer([ones([1, 3]), ones([1, 3])])).toThrow('takes one tensor, got a list of 2');
    expect(() => layer(constant([['a', 'b', 'c']]))).toThrow('got a string tensor');
    expect(() => new Dense(0)).toThrow(InvalidArgumentError);
    expect(() => new Dense(1.5)).toThrow('units to be an integer of at least 1, got 1.5');
    expect(() => new Dense(1, { activation: 'rleu' as never })).toThrow("unknown activation 'rleu'");
    expect(() => new Dense(1).computeOutputShape([null])).toThrow(InvalidArgumentError);
  });

  test('knows tf.nn.relu and gives the activation in its configuration', () => {
    const layer = new Dense(1, { activation: nn.relu as (x: Tensor) => Tensor });
    expect(layer.activation).toBe(get('relu'));
    expect(layer.getConfig()).toMatchObject({
      activation: 'relu',
      units: 1,
      kernel_initializer: { class_name: 'GlorotUniform' },
    });
    const own = (x: Tensor): Tensor => x.square();
    const { activation } = new Dense(1, { activation: own }).getConfig();
    expect(activation).toMatchObject({ class_name: 'function', config: 'own' });
    expect(get(activation as never)).toBe(own);
    expect(new Dense(1, { activation: 'leaky_relu' }).getConfig()['activation']).toBe('leaky_relu');
  });

  test('what a function of the user holds stays valid', () => {
    const held: Tensor[] = [];
    const layer = new Dense(2, {
      activation: (x) => {
        const y = x.mul(2);
        held.push(x, y);
        return y.add(1);
      },
    });
    const y = layer(ones([1, 2]));
    expect(held.map((t) => t.isDisposed)).toEqual([false, false]);
    expect(isKept(held[0] as Tensor)).toBe(true);
    expect(y.data()).toEqual((held[1] as Tensor).add(1).data());
  });

  test('an activation may be a layer', () => {
    const layer = new Dense(1, { activation: new LeakyReLU(0.5), kernelInitializer: 'ones' });
    expect(layer(constant([[-4]])).item()).toBe(-2);
    expect(layer.sublayers).toHaveLength(1);
  });

  test('penalties are part of the losses, those of outputs per example', () => {
    const layer = new Dense(1, {
      kernelInitializer: 'ones',
      kernelRegularizer: l2(0.5),
      activityRegularizer: (y) => y.sum(),
    });
    const x = ones([4, 3]);
    layer(x);
    layer(x);
    expect(layer.losses.map((l) => l.item()).sort()).toEqual([1.5, 3]);
    const tape = new GradientTape();
    layer(x);
    const [g] = tape.gradient(
      layer.losses.reduce((a, b) => a.add(b)),
      [layer.kernel],
    );
    expect((g as Tensor).array()).toEqual([[2], [2], [2]]);
  });

  test('constraints hold after an update', () => {
    const layer = new Dense(1, { kernelInitializer: 'ones', kernelConstraint: 'nonNeg' });
    layer(ones([1, 2]));
    new SGD({ learningRate: 1 }).applyGradients([constant([[2], [-1]])], [layer.kernel]);
    expect(layer.kernel.array()).toEqual([[0], [2]]);
  });
});
