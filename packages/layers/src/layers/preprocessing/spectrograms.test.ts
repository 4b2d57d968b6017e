import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, ones, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { MelSpectrogram, STFTSpectrogram } from '../index.ts';

const built = (...args: ConstructorParameters<typeof STFTSpectrogram>): STFTSpectrogram => {
  const layer = new STFTSpectrogram(...args);
  layer.build([1, 9, 1]);
  return layer;
};
const near = (x: Tensor | undefined, expected: readonly number[]): void => {
  const values = Array.from(x?.data() as Float32Array);
  expect(values).toHaveLength(expected.length);
  expected.forEach((v, i) => {
    expect(values[i]).toBeCloseTo(v, 5);
  });
};

describe('STFTSpectrogram', () => {
  test.each([
    [[{ frameLength: 4 }], [2, 9, 2], [2, 3, 6]],
    [
      ['psd', { frameLength: 4, padding: 'same', expandDims: true }],
      [1, 8, 2],
      [1, 4, 3, 2],
    ],
    [
      ['stft', { frameLength: 4, dataFormat: 'channelsFirst' }],
      [1, 2, 9],
      [1, 12, 3],
    ],
  ] as const)('%j', (args, inputShape, outputShape) => {
    runLayerTest(STFTSpectrogram, { args: args as never, inputShape, outputShape, trainable: 2 });
  });

  // What Keras 3.15.1 begins with.
  test('begins with the kernels of Fourier', () => {
    const hamming = { frameLength: 5, window: 'hamming', periodic: true, scaling: 'spectrum' } as const;
    near(built(hamming).realKernel?.read().squeeze(1).at(1), [0.147353, 0.104194, 0, -0.104194, -0.147353]);
    near(built(hamming).imagKernel?.read().squeeze(1).at(3), [0, -0.238884, 0.337832, -0.238884, 0]);
    near(built({ frameLength: 3 }).realKernel?.read(), [0, 0, 0, 1, 0, -1, 0, 0, 0]);
    near(built({ frameLength: 2, window: [3, 4] }).realKernel?.read(), [0.6, 0.6, 0.8, -0.8]);
    near(built({ frameLength: 2, window: null }).realKernel?.read(), [1, 1, 1, -1]);
    expect(built('real').imagKernel).toBe(null);
    expect(built({ trainable: false }).trainableWeights).toHaveLength(0);
  });

  test('says what does not fit', () => {
    expect(() => new STFTSpectrogram({ frameLength: 4, frameStep: 5 })).toThrow('frameStep of at most');
    expect(() => new STFTSpectrogram({ frameLength: 4, fftLength: 3 })).toThrow('fftLength of at least');
    expect(() => new STFTSpectrogram('loud' as never)).toThrow('a mode of log, magnitude');
    expect(() => new STFTSpectrogram({ scaling: 'size' as never })).toThrow("needs scaling 'density'");
    expect(() => new STFTSpectrogram({ window: 'round' as never })).toThrow("needs window 'hann'");
    expect(() => built({ frameLength: 3, window: [1, 2] })).toThrow('as long as its frames, 3, got 2');
    expect(() => new STFTSpectrogram()(ones([2, 300]))).toThrow('of rank 3');
  });
});

describe('MelSpectrogram', () => {
  test.each([
    [{ fftLength: 8, sequenceStride: 3, numMelBins: 2 }, [2, 19], [2, 2, 7]],
    [{ fftLength: 8, sequenceStride: 4, sequenceLength: 5, numMelBins: 3, powerToDb: false }, [16], [3, 5]],
  ] as const)('%j', (options, inputShape, outputShape) => {
    const layer = new MelSpectrogram(options);
    const x = constant(Array.from({ length: 38 }, (_, i) => Math.sin(i)))
      .slice([0], [inputShape.reduce((a: number, b) => a * b, 1)])
      .reshape(inputShape);
    expect((layer(x) as Tensor).shape).toEqual(outputShape);
    expect(layer.computeOutputShape(inputShape)).toEqual(outputShape);
    expect(layer.weights).toHaveLength(0);
  });

  test('says what does not fit', () => {
    expect(() => new MelSpectrogram({ fftLength: 4, sequenceLength: 5 })).toThrow(
      'sequenceLength of at most',
    );
    expect(() => new MelSpectrogram({ maxFreq: 10 })).toThrow('above its minFreq');
    expect(() => new MelSpectrogram({ fftLength: 8 })(ones([1, 4]))).toThrow('more than 4 samples');
  });
});
