import '@eagre/backend-js';
import { constant, type Tensor, Variable } from '@eagre/core';
import { describe, expect, test, vi } from 'vitest';
import { deserialize, LossScaleOptimizer, SGD, serialize } from './index.ts';

const make = (): LossScaleOptimizer =>
  new LossScaleOptimizer(new SGD(0.5, { momentum: 0.5 }), { initialScale: 8, dynamicGrowthSteps: 2 });

describe('LossScaleOptimizer', () => {
  test('scales losses, and gives the optimizer inside the gradients of the loss itself', () => {
    const [a, b] = [new Variable([1, 2]), new Variable([1, 2])];
    const scaled = make();
    const plain = new SGD(0.5, { momentum: 0.5 });
    for (const g of [1, 2, 3]) {
      scaled.applyGradients([scaled.scaleLoss(constant([g, -g]))], [a]);
      plain.applyGradients([constant([g, -g])], [b]);
    }
    expect(a.array()).toEqual(b.array());
    // Doubled after two steps in a row.
    expect([scaled.dynamicScale?.item(), scaled.stepCounter?.item()]).toEqual([16, 1]);
    expect(scaled.iterations.item()).toBe(3);
    expect(scaled.stepCounter?.dtype).toBe('int64');
  });

  test('takes nothing of a step whose gradients are not finite, and halves the scale', () => {
    const v = new Variable([1, 2]);
    const optimizer = make();
    optimizer.applyGradients([constant([8, 8])], [v]);
    const before = [v.array(), ...optimizer.innerOptimizer.variables.map((x) => x.array())];
    optimizer.applyGradients([constant([Number.POSITIVE_INFINITY, 1])], [v]);
    optimizer.applyGradients([constant([Number.NaN, 1])], [v]);
    expect([v.array(), ...optimizer.innerOptimizer.variables.map((x) => x.array())]).toEqual(before);
    expect([optimizer.dynamicScale?.item(), optimizer.stepCounter?.item()]).toEqual([2, 0]);
  });

  test('takes no gradient for no gradient', () => {
    const [a, b] = [new Variable(1), new Variable(1)];
    const optimizer = make();
    vi.spyOn(console, 'warn').mockImplementationOnce(() => {});
    optimizer.applyGradients([constant(8), null], [a, b]);
    expect([a.item(), b.item()]).toEqual([0.5, 1]);
    expect(() => optimizer.applyGradients([null, null], [a, b])).toThrow('No gradients provided');
  });

  test('minimize scales by itself', () => {
    const [a, b] = [new Variable(3), new Variable(3)];
    make().minimize(() => a.square() as Tensor, [a]);
    new SGD(0.5, { momentum: 0.5 }).minimize(() => b.square() as Tensor, [b]);
    expect(a.item()).toBe(b.item());
  });

  test('is written as Keras writes it, and refuses what it does not take', () => {
    const optimizer = make();
    expect(optimizer.getConfig()).toMatchObject({ initial_scale: 8, dynamic_growth_steps: 2 });
    const again = deserialize(
      JSON.parse(JSON.stringify(serialize(optimizer))) as never,
    ) as LossScaleOptimizer;
    expect(again.getConfig()).toEqual(optimizer.getConfig());
    optimizer.learningRate = 0.25;
    expect([optimizer.learningRate, optimizer.innerOptimizer.learningRate]).toEqual([0.25, 0.25]);
    expect(() => new LossScaleOptimizer(3 as never)).toThrow();
    expect(() => new LossScaleOptimizer(new SGD(), { initialScale: 0 })).toThrow('above 0');
    expect(() => new LossScaleOptimizer(new SGD(), { clipnorm: 1 } as never)).toThrow(
      "'clipnorm' is not an option",
    );
  });
});
