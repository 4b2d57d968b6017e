import '@eagre/backend-js';
import { constant, InvalidArgumentError, ones, type Tensor } from '@eagre/core';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { Sequential } from '../models/sequential.ts';
import {
  disableInteractiveLogging,
  enableInteractiveLogging,
  isInteractiveLoggingEnabled,
} from './messages.ts';
import { normalize } from './normalize.ts';
import { Progbar, type ProgbarOptions } from './progbar.ts';
import { packXYSampleWeight, unpackXYSampleWeight } from './sample-weight.ts';
import { getSourceInputs, isKerasTensor } from './symbolic.ts';

let log: MockInstance<typeof console.log>;
beforeEach(() => {
  log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
const lines = (): unknown[] => log.mock.calls.map(([line]) => line);

describe('Progbar', () => {
  test('a line at the end, with means and numbers as they are', () => {
    const bar = new Progbar(4, { statefulMetrics: ['lr'], verbose: 2, unitName: 'batch' });
    bar.update(1, [
      ['loss', 4],
      ['lr', 1],
    ]);
    bar.add(2, { loss: 1, lr: 0.5 });
    expect(lines()).toEqual([]);
    bar.add({ n: 1 });
    expect(lines()).toEqual([expect.stringMatching(/^4\/4 0s \S+\/batch - loss: 2\.0000 - lr: 0\.5000$/)]);
  });
  test('the last values are final', () => {
    const bar = new Progbar(2, { statelessMetrics: ['loss'] });
    bar.update(1, { loss: 4 });
    bar.update({ current: 2, values: { loss: 1 } });
    expect(lines()).toEqual([expect.stringMatching(/ - loss: 1\.0000$/)]);
  });
  test('of an unknown number of steps the caller says when it ends', () => {
    const bar = new Progbar({ target: null });
    bar.update(3, { loss: 4 });
    bar.update(5, null, true);
    expect(lines()).toEqual([expect.stringMatching(/^5\/Unknown 0s .* - loss: 4\.0000$/)]);
    new Progbar(1, { verbose: 0 }).update(1);
    expect(lines()).toHaveLength(1);
  });
  test('a bar on a terminal', () => {
    const written: string[] = [];
    const stdout = { isTTY: true, write: (text: string) => written.push(text) };
    vi.stubGlobal('process', { ...process, stdout });
    const bar = new Progbar(2, { width: 4, interval: 0 });
    bar.update(1, { loss: 0.5 });
    bar.update(2);
    new Progbar(9, { interval: 100 }).update(1);
    expect(written).toEqual([
      expect.stringMatching(/^\r1\/2 ━━── 0s \S+\/step - loss: 0\.5000$/),
      expect.stringMatching(/^\r2\/2 ━━━━ 0s \S+\/step - loss: 0\.5000 *\n$/),
      expect.stringMatching(/^\r1\/9 /),
    ]);
  });
  test('refuses other arguments', () => {
    const options: ProgbarOptions = { statefulMetrics: ['a'], statelessMetrics: ['b'] };
    for (const fn of [
      () => new Progbar(4, options),
      () => new Progbar('4' as never),
      () => new Progbar(4, { width: 0 }),
      () => new Progbar(4, { statefulMetrics: 'a' as never }),
      () => new Progbar(4).update(-1),
      () => new Progbar(4).update(1, [['a', 'b']] as never),
      () => new Progbar(4).add(1, 3 as never),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
  });
});

test('without interactive logging training says nothing', async () => {
  const model = new Sequential([new Dense(1, { inputShape: [1] })]);
  model.compile({ loss: 'mse' });
  expect(isInteractiveLoggingEnabled()).toBe(true);
  disableInteractiveLogging();
  try {
    await model.fit(ones([2, 1]), ones([2, 1]));
    new Progbar(1).update(1);
    expect([isInteractiveLoggingEnabled(), lines()]).toEqual([false, []]);
  } finally {
    enableInteractiveLogging();
  }
  await model.fit(ones([2, 1]), ones([2, 1]));
  expect(lines()).toHaveLength(1);
});

test('normalize', () => {
  const x = [
    [3, 4],
    [0, 0],
  ];
  const rounded = (t: Tensor): unknown => t.mul(100).round().array();
  expect(rounded(normalize(x))).toEqual([
    [60, 80],
    [0, 0],
  ]);
  expect(rounded(normalize(x, 0))).toEqual([
    [100, 100],
    [0, 0],
  ]);
  expect(rounded(normalize({ x: constant(x, 'int32'), axis: 1, order: 1 }))).toEqual([
    [43, 57],
    [0, 0],
  ]);
  expect(normalize(constant(x, 'float64')).dtype).toBe('float64');
  expect(() => normalize(x, 0, 0)).toThrow(InvalidArgumentError);
});

test('packXYSampleWeight and unpackXYSampleWeight', () => {
  const [x, y, weight] = [ones([2]), ones([2, 1]), ones([1])];
  expect(packXYSampleWeight(x)).toBe(x);
  const list = [x, y];
  expect((packXYSampleWeight(list) as unknown[])[0]).toBe(list);
  const byName = { a: x };
  expect(packXYSampleWeight(byName)).toBe(byName);
  // The very same tensors.
  const same = (got: unknown, ...expected: readonly unknown[]): void => {
    expect(got).toHaveLength(expected.length);
    expected.forEach((value, i) => {
      expect((got as unknown[])[i]).toBe(value);
    });
  };
  same(packXYSampleWeight(x, y), x, y);
  same(packXYSampleWeight({ x, y, sampleWeight: weight }), x, y, weight);
  same(unpackXYSampleWeight(x), x, null, null);
  same(unpackXYSampleWeight([x]), x, null, null);
  same(unpackXYSampleWeight([x, y]), x, y, null);
  same(unpackXYSampleWeight([x, y, weight]), x, y, weight);
  expect(() => unpackXYSampleWeight([x, y, x, y])).toThrow(InvalidArgumentError);
});

test('isKerasTensor and getSourceInputs', () => {
  const [a, b] = [Input([2]), Input([2])];
  const sum = new Dense(2)(a) as KerasTensor;
  const out = sum.add(b).mul(sum);
  expect(getSourceInputs(out)).toEqual([a, b]);
  expect(getSourceInputs({ tensor: a })).toEqual([a]);
  expect([isKerasTensor(out), isKerasTensor(ones([1])), isKerasTensor(3)]).toEqual([true, false, false]);
  expect(() => getSourceInputs(ones([1]) as never)).toThrow(InvalidArgumentError);
});
