import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { InvalidArgumentError, ones, random, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import {
  AlphaDropout,
  Dropout,
  GaussianDropout,
  GaussianNoise,
  type NoiseOptions,
  SpatialDropout2D,
} from '../index.ts';

const train = { training: true };

describe('Dropout', () => {
  test('as a layer', () => {
    for (const args of [[0.5], [0.25, { seed: 3 }], [0], [0.5, { noiseShape: [null, 1, 4] }]] as const) {
      runLayerTest(Dropout, {
        args: args as unknown as [number],
        inputShape: [2, 3, 4],
        outputShape: [2, 3, 4],
        random: true,
      });
    }
  });

  test('drops the rate and scales the others, in training only', () => {
    const x = ones([100, 100]);
    for (const options of [{}, { seed: 1 }]) {
      const layer = new Dropout(0.25, options);
      expect(layer(x)).toBe(x);
      const y = layer(x, train);
      const values = Array.from(y.data() as Float32Array);
      expect(new Set(values)).toEqual(new Set([0, Math.fround(4 / 3)]));
      expect(values.filter((v) => v === 0).length / values.length).toBeCloseTo(0.25, 1);
      expect(layer(x, train).data()).not.toEqual(y.data());
    }
    expect(new Dropout(0)(x, train)).toBe(x);
    expect(new Dropout(1)(x, train).sum().item()).toBe(0);
  });

  test('a seed of its own, or the global one, repeats the numbers', () => {
    const x = ones([4, 25]);
    const twice = (make: () => Dropout): [Tensor, Tensor] => {
      const layer = make();
      return [layer(x, train), layer(x, train)];
    };
    const [a, b] = twice(() => new Dropout(0.5, { seed: 7 }));
    random.uniform([3]);
    const [c, d] = twice(() => new Dropout(0.5, { seed: 7 }));
    expect(c.data()).toEqual(a.data());
    expect(d.data()).toEqual(b.data());
    expect(b.data()).not.toEqual(a.data());

    random.setSeed(11);
    const [e] = twice(() => new Dropout(0.5));
    random.setSeed(11);
    const [f] = twice(() => new Dropout(0.5));
    expect(f.data()).toEqual(e.data());
  });

  test('the gradient goes where values went', () => {
    const x = ones([5, 5]);
    for (const options of [{}, { seed: 2 }]) {
      const tape = new GradientTape();
      tape.watch(x);
      const y = new Dropout(0.5, options)(x, train);
      expect(tape.gradient(y, x)?.data()).toEqual(y.data());
    }
  });

  test('noiseShape drops rows as a whole', () => {
    const rows = new Dropout(0.5, { noiseShape: [null, 1] })(ones([20, 3]), train).array() as number[][];
    for (const row of rows) expect(new Set(row).size).toBe(1);
    // Of a lower rank it broadcasts, as in Keras: here columns are dropped.
    for (const seed of [undefined, 3]) {
      const columns = new Dropout(0.5, { noiseShape: [20], seed })(
        ones([3, 20]),
        train,
      ).array() as number[][];
      for (const row of columns) expect(row).toEqual(columns[0]);
      expect(new Set(columns[0])).toEqual(new Set([0, 2]));
    }
    const values = new AlphaDropout(0.5, { noiseShape: [20] })(ones([3, 20]), train).array() as number[][];
    expect(values[2]).toEqual(values[0]);
    for (const noiseShape of [[1, 1, 3], [null]])
      expect(() => new Dropout(0.5, { noiseShape })(ones([2, 3]), train)).toThrow('of another rank');
    for (const layer of [
      new Dropout(0.5, { noiseShape: [2] }),
      new Dropout(0.5, { noiseShape: [2], seed: 3 }),
    ])
      expect(() => layer(ones([2, 3]), train)).toThrow(InvalidArgumentError);
    expect(() => new Dropout(0.5, { noiseShape: [0, 1] })).toThrow(InvalidArgumentError);
    expect(() => new Dropout(1.5)).toThrow('a rate between 0 and 1, got 1.5');
  });
});

test('SpatialDropout2D drops whole channels', () => {
  runLayerTest(SpatialDropout2D, {
    args: [0.5, { seed: 1 }],
    inputShape: [2, 3, 3, 4],
    outputShape: [2, 3, 3, 4],
    random: true,
  });
  const y = new SpatialDropout2D(0.5)(ones([4, 3, 3, 8]), train);
  const spread = y.max([1, 2]).sub(y.min([1, 2]));
  expect(spread.sum().item()).toBe(0);
  expect(() => new SpatialDropout2D(0.5)(ones([4, 3]))).toThrow('rank 4');
});

test('GaussianNoise and GaussianDropout', () => {
  for (const Class of [GaussianNoise, GaussianDropout]) {
    runLayerTest<[number, NoiseOptions?]>(Class, {
      args: [0.5],
      inputShape: [3, 4],
      outputShape: [3, 4],
      random: true,
    });
    runLayerTest<[number, NoiseOptions?]>(Class, {
      args: [0.5, { seed: 4 }],
      inputShape: [3, 4],
      outputShape: [3, 4],
      random: true,
    });
    const x = ones([200, 100]);
    const y = new Class(0.2, { seed: 9 })(x, train);
    expect(y.mean().item()).toBeCloseTo(1, 1);
    expect(y.std().item()).toBeCloseTo(Class === GaussianNoise ? 0.2 : 0.5, 1);
  }
  expect(() => new GaussianNoise(-1)).toThrow(InvalidArgumentError);
  expect(() => new GaussianDropout(1)).toThrow(InvalidArgumentError);
});
