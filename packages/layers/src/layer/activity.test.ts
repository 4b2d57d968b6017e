// The penalty on the outputs of any layer; the numbers are Keras 3.15.1's.
import '@eagre/backend-js';
import { ones, type Tensor, Variable } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Input, layers, Model, regularizers } from '../index.ts';

class Twice extends layers.Layer {
  override call(x: Tensor): Tensor[] {
    return [x, x.mul(2)];
  }
}
class Own extends layers.Layer {
  constructor() {
    super({ activityRegularizer: new regularizers.L2(0.5) });
  }
  override call(x: Tensor): Tensor {
    return x;
  }
}
const losses = (layer: layers.Layer): number[] => layer.losses.map((loss) => loss.item() as number);

describe('activityRegularizer', () => {
  test('is divided by the batch', () => {
    const own = new Own();
    own(ones([2, 2]));
    expect(losses(own)).toEqual([1]);
    expect(own.activityRegularizer).toBeInstanceOf(regularizers.L2);
  });

  test('of a layer of ours, once for each call', () => {
    const normal = new layers.BatchNormalization({ activityRegularizer: 'l2' });
    for (let i = 0; i < 2; i++) normal(ones([2, 3]));
    expect(losses(normal)[0]).toBeCloseTo(0.02997002936899662, 7);
    expect(losses(normal)).toHaveLength(1);
    const dense = new layers.Dense(2, { activityRegularizer: 'l2', kernelInitializer: 'ones' });
    dense(ones([2, 3]));
    expect(losses(dense)).toHaveLength(1);
    expect(losses(dense)[0]).toBeCloseTo(0.18, 6);
  });

  test('of each output', () => {
    const twice = new Twice({ activityRegularizer: new regularizers.L1(1) });
    twice<Tensor[]>(ones([2, 3]));
    expect(losses(twice)).toEqual([3, 6]);
  });

  test('stands in configurations, and is part of the loss of a model', () => {
    const relu = new layers.ReLU({ activityRegularizer: new regularizers.L2(0.5), name: 'r' });
    expect(relu.getConfig()['activity_regularizer']).toMatchObject({ class_name: 'L2' });
    expect(new layers.ReLU().getConfig()).not.toHaveProperty('activity_regularizer');
    const again = layers.ReLU.fromConfig(relu.getConfig());
    const x = Input([2]);
    const model = new Model(x, again(x));
    model(new Variable(ones([4, 2])).read());
    expect(losses(model)).toEqual([1]);
  });

  test('refuses what is no regularizer', () => {
    expect(() => new layers.ReLU({ activityRegularizer: 'l3' as never })).toThrow(/l3/);
  });
});
