import '@eagre/backend-js';
import '@eagre/backend-native';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import { expect, test } from 'vitest';
import { Sequential } from '../../models/sequential.ts';
import { Conv1D, Conv2D, Conv3D } from '../index.ts';

const counted = (shape: readonly number[], by: number): Tensor => {
  const n = shape.reduce((a, b) => a * b, 1);
  return constant(
    Array.from({ length: n }, (_, i) => ((i % 7) - 3) * by),
    'float32',
    { shape: [...shape] },
  );
};
const numbers = (x: TensorLike): number[] => Array.from((x as Tensor).data() as Float32Array);

const make = {
  Conv1D: () => new Conv1D(4, 2, { groups: 2, biasInitializer: 'ones', activation: 'relu' }),
  Conv2D: () => new Conv2D(4, 2, { groups: 2, biasInitializer: 'ones', activation: 'relu' }),
  Conv3D: () => new Conv3D(3, 2, { biasInitializer: 'ones', activation: 'relu' }),
};

// The results of Keras 3.15.1.
test.each([
  ['Conv1D', 1, [0, 0.375, 4.78125, 0, 2.390625, 1.78125], 12.46875, [-0.09375, -0.3125, -0.53125]],
  ['Conv2D', 2, [1.3125, 0, 4.8125, 0, 2, 2.8125], 25.25, [-0.09375, -0.3125, -0.53125]],
  ['Conv3D', 3, [0, 0, 4.5, 0.171875, 0, 0.640625], 41.265625, [0.09375, -0.125, -0.34375]],
] as const)('LoRA of %s', (name, rank, first, sum, merged) => {
  const layer = make[name]();
  const x = counted([1, ...Array.from({ length: rank }, () => 3), 4], 0.5);
  expect(() => layer.enableLora(2)).toThrow(FailedPreconditionError);
  layer.build(x.shape);
  layer.kernel.assign(counted(layer.kernel.shape, 0.25));
  layer.enableLora(2, { loraAlpha: 3 });
  expect(() => layer.enableLora(2)).toThrow(FailedPreconditionError);
  layer.loraKernelA?.assign(counted(layer.loraKernelA.shape, 0.125));
  layer.loraKernelB?.assign(counted(layer.loraKernelB.shape, 0.5));
  const y = layer(x) as Tensor;
  expect(numbers(y).slice(0, 6)).toEqual(first);
  expect(y.sum().item()).toBe(sum);
  const last = (path: string): string => path.split('/').at(-1) as string;
  expect(layer.trainableWeights.map((w) => last(w.path))).toEqual(['bias', 'lora_kernel_a', 'lora_kernel_b']);
  expect(layer.getConfig()).toMatchObject({ lora_rank: 2, lora_alpha: 3 });
  const store: Record<string, TensorLike> = {};
  layer.saveOwnVariables(store);
  expect(Object.keys(store)).toEqual(['0', '1']);
  expect(numbers(store['0'] as TensorLike).slice(0, 3)).toEqual(merged);
  // What is loaded has what LoRA had added.
  layer.loadOwnVariables(store);
  expect(numbers(layer(x) as Tensor).slice(0, 6)).toEqual(first);
  expect(layer.loraKernelB?.read().abs().max().item()).toBe(0);
});

test('a convolution with LoRA from the beginning trains and is saved', async () => {
  const layer = new Conv2D(3, 2, { loraRank: 1, inputShape: [3, 3, 2] });
  const model = new Sequential([layer]);
  const x = counted([2, 3, 3, 2], 0.25);
  model.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
  const kernel = numbers(layer.kernel);
  await model.fit(x, counted([2, 2, 2, 3], 1), { epochs: 2, verbose: 0 });
  expect(layer.loraEnabled).toBe(true);
  expect(numbers(layer.kernel)).not.toEqual(kernel);
  expect(model.countParams()).toBe(2 * 2 * 2 * 3 + 3 + 2 * 2 * 2 + 3);
  expect('loraRank' in new Conv2D(3, 2).getConfig()).toBe(false);
  const constrained = new Conv1D(2, 2, { kernelConstraint: 'nonNeg' });
  constrained.build([null, 4, 2]);
  expect(() => constrained.enableLora(1)).toThrow(InvalidArgumentError);
});

test.each(['channelsLast', 'channelsFirst'] as const)(
  'another convolution of one’s own, %s',
  (dataFormat) => {
    class Standardized extends Conv2D {
      override convolutionOp(inputs: Tensor, kernel: Tensor): Tensor {
        return super.convolutionOp(inputs, kernel.sub(1));
      }
    }
    const options = { dataFormat, activation: 'relu', biasInitializer: 'ones' } as const;
    const own = new Standardized(3, 2, options);
    const plain = new Conv2D(3, 2, options);
    const x = counted([1, 3, 3, 3], 0.5);
    for (const layer of [own, plain]) layer.build(x.shape);
    own.kernel.assign(counted(own.kernel.shape, 0.25));
    plain.kernel.assign(counted(own.kernel.shape, 0.25).sub(1));
    expect(numbers(own(x) as Tensor)).toEqual(numbers(plain(x) as Tensor));
  },
);
