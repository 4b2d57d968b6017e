import '@eagre/backend-js';
import '@eagre/backend-native';
import { FailedPreconditionError, ones, type PartialShape, random, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Add, BatchNormalization, Conv2D, Dense, Dropout, Flatten } from '../layers/index.ts';
import { Input } from './functional.ts';
import { Model } from './model.ts';
import { Sequential } from './sequential.ts';
import type { SummaryOptions } from './summary.ts';

class Block extends Model {
  conv = new Conv2D(2, 3, { padding: 'same', useBias: false });
  bn = new BatchNormalization();
  override call(x: Tensor): Tensor {
    return this.bn(this.conv(x)).relu();
  }
}
class Net extends Model {
  blocks = [new Block(), new Block()];
  heads = new Map([
    ['a', new Dense(1)],
    ['b', new Dense(2)],
  ]);
  flatten = new Flatten();
  override call(x: Tensor): Tensor {
    const y = this.flatten(this.blocks.reduce((h, block) => block(h), x));
    return this.heads.get('a')!(y).add(this.heads.get('b')!(y));
  }
}

describe('subclassed', () => {
  const paths = [
    ...['block', 'block_1'].flatMap((b) => [
      `${b}/conv2d/kernel`,
      ...['gamma', 'beta', 'moving_mean', 'moving_variance'].map((w) => `${b}/batch_normalization/${w}`),
    ]),
    ...['dense', 'dense_1'].flatMap((d) => [`${d}/kernel`, `${d}/bias`]),
  ];
  test('weights are found, and named the same in every object', () => {
    for (let i = 0; i < 2; i++) {
      const net = new Net();
      expect([net.built, net.weights.length]).toEqual([false, 0]);
      expect(net(ones([2, 4, 4, 1])).shape).toEqual([2, 2]);
      expect(net.namedWeights.map((w) => w.path)).toEqual(paths);
      expect(net.layers.length).toBe(5);
      expect(net.submodules.length).toBe(9);
      expect(net.trainableVariables.length).toBe(10);
      expect(net.getLayer(0)).toBe(net.blocks[0]);
      expect(() => net.getLayer('nothing')).toThrow(FailedPreconditionError);
    }
  });
  test('build makes everything, also inside', () => {
    for (const how of ['build', 'buildFor'] as const) {
      const net = new Net();
      net[how]([null, 4, 4, 1]);
      expect(net.namedWeights.map((w) => w.path)).toEqual(paths);
      net[how]([null, 4, 4, 1]);
      expect(net.weights.length).toBe(14);
    }
  });
  test('a build of its own', () => {
    class Own extends Model {
      dense!: Dense;
      builds = 0;
      override build(shape: PartialShape): void {
        this.builds++;
        this.dense = new Dense(shape.at(-1) as number);
      }
      override call(x: Tensor): Tensor {
        return this.dense(x);
      }
    }
    const own = new Own();
    own.build([null, 3]);
    expect([own.builds, own.countParams()]).toEqual([1, 12]);
    own(ones([1, 3]));
    expect(own.builds).toBe(1);
  });
  test('frozen, part by part', () => {
    const net = new Net();
    net(ones([1, 4, 4, 1]));
    (net.blocks[0] as Block).trainable = false;
    expect(net.trainableVariables.length).toBe(7);
    expect(net.weights.length).toBe(14);
    net.trainable = false;
    expect(net.trainableVariables.length).toBe(0);
    net.trainable = true;
    expect(net.trainableVariables.length).toBe(10);
  });
  test('frozen weights stay, the others learn', async () => {
    random.setSeed(1);
    const model = new Sequential([new Dense(2, { inputShape: [2] }), new BatchNormalization(), new Dense(1)]);
    const [first, bn] = model.layers as [Dense, BatchNormalization];
    first.trainable = false;
    bn.trainable = false;
    model.compile({ optimizer: 'adam', loss: 'mse' });
    const before = model.getWeights().map((w) => w.array());
    await model.fit(random.normal([8, 2]), ones([8, 1]), { verbose: 0 });
    const after = model.getWeights().map((w) => w.array());
    after.forEach((w, i) => {
      if (i < 6) expect(w).toEqual(before[i]);
      else expect(w).not.toEqual(before[i]);
    });
  });
});

describe('summary', () => {
  const lines = (model: Model, options: SummaryOptions = {}): string[] => {
    const out: string[] = [];
    model.summary({ printFn: (line) => out.push(line), ...options });
    return out;
  };
  /** The cells of the layers. */
  const cells = (model: Model, options?: SummaryOptions): string[][] =>
    lines(model, options)
      .filter((line) => line.startsWith('│'))
      .map((line) =>
        line
          .slice(1, -1)
          .split('│')
          .map((cell) => cell.trim()),
      );
  test('of a sequence', () => {
    const model = new Sequential(
      [
        new Dense(4, { inputShape: [10], name: 'a' }),
        new Sequential([new Dense(2, { name: 'two' }), new Dropout(0.5, { name: 'half' })], {
          name: 'inner',
        }),
        new Dense(1, { name: 'last' }),
      ],
      { name: 'small' },
    );
    (model.layers[0] as Dense).trainable = false;
    expect(cells(model)).toEqual([
      ['a (Dense)', '[null, 4]', '44'],
      ['inner (Sequential)', '[null, 2]', '10'],
      ['last (Dense)', '[null, 1]', '3'],
    ]);
    expect(cells(model, { expandNested: true, layerRange: ['in', 'in'] })).toEqual([
      ['inner (Sequential)', '[null, 2]', '10'],
      ['└ two (Dense)', '[null, 2]', '10'],
      ['└ half (Dropout)', '[null, 2]', '0'],
    ]);
    expect(lines(model).slice(-3)).toEqual([
      ' Total params: 57 (228.00 B)',
      ' Trainable params: 13 (52.00 B)',
      ' Non-trainable params: 44 (176.00 B)',
    ]);
    expect(lines(model, { lineLength: 40 })[1].length).toBe(40);
  });
  test('of a graph and a class', () => {
    const x = Input({ shape: [3] });
    const h = new Dense(1000, { name: 'wide' })(x);
    const sum = new Add({ name: 'sum' })([h, h]);
    const graph = new Model({ inputs: x, outputs: sum.mul(2), name: 'graph' });
    expect(cells(graph, { lineLength: 120 })).toEqual([
      [`${x.name} (InputLayer)`, '[null, 3]', '0', '-'],
      ['wide (Dense)', '[null, 1000]', '4,000', `${x.name}[0][0]`],
      ['sum (Add)', '[null, 1000]', '0', 'wide[0][0], wide[0][0]'],
      [expect.stringContaining(' (Multiply)'), '[null, 1000]', '0', 'sum[0][0]'],
    ]);
    const net = new Net();
    expect(cells(net).every(([, shape]) => shape === '?')).toBe(true);
    expect(lines(net).at(-3)).toBe(' Total params: 0 (0.00 B)');
    const early = new Sequential([new Dense(3, { name: 'first' }), new Dropout(0.5, { name: 'half' })]);
    expect(cells(early)).toEqual([
      ['first (Dense)', '?', '0 (unbuilt)'],
      ['half (Dropout)', '?', '0'],
    ]);
    net(ones([1, 4, 4, 1]));
    expect(cells(net)[0]).toEqual([
      expect.stringMatching(/^block(_\d+)? \(Block\)$/),
      expect.anything(),
      '26',
    ]);
    expect(lines(net).at(-3)).toContain(` Total params: ${net.countParams()} (`);
    class Lazy extends Model {
      a = new Dense(1, { name: 'a' });
      later = new Dense(1, { name: 'later' });
      override call(t: Tensor): Tensor {
        return this.a(t);
      }
    }
    const lazy = new Lazy();
    lazy(ones([1, 1]));
    expect(cells(lazy)).toEqual([
      ['a (Dense)', '[1, 1]', '2'],
      ['later (Dense)', '?', '0 (unbuilt)'],
    ]);
  });
  test('of what cannot be shown', () => {
    const model = new Sequential([new Dense(1, { inputShape: [1], name: 'one' })]);
    expect(() => lines(model, { lineLength: 8 })).toThrow('too narrow for 3 columns');
    expect(() => lines(model, { positions: [0.5, 1] })).toThrow('positions must be the ends of 3 columns');
    expect(() => lines(model, { layerRange: ['one', 'two'] })).toThrow("no layer has the name 'two'");
    expect(() => lines(model, { layerRange: ['one'] as never })).toThrow('two names of layers');
  });
});

test('a functional subclass', () => {
  class Fixed extends Model {
    readonly extra = new Dense(1);
    constructor() {
      const inputs = Input({ shape: [2] });
      super({ inputs, outputs: new Dense(3)(inputs) });
    }
    override call(x: Tensor): Tensor {
      return this.extra(super.call(x, {}) as Tensor);
    }
  }
  const model = new Fixed();
  expect(model(ones([4, 2])).shape).toEqual([4, 1]);
  expect(model.weights.length).toBe(4);
});
