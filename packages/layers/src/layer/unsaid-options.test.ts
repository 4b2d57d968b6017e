// What nobody gave a call is not passed on: the defaults of calls hold, as in Keras 3.15.1 (its results are the expected values).
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, ones, random, Tensor } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import * as layers from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { layerClasses, requiredArguments } from '../testing/layer-arguments.ts';
import { type CallOptions, Layer } from './layer.ts';

const seen: Record<string, unknown>[] = [];
class Spy extends Layer {
  override call(x: Tensor, options: CallOptions): Tensor {
    seen.push({ ...options });
    return x;
  }
}
class SpyCell extends Layer {
  readonly stateSize = 2;
  readonly outputSize = 2;
  override call(x: Tensor, states: readonly Tensor[], options: CallOptions): [Tensor, readonly Tensor[]] {
    seen.push({ ...options });
    return [x, states];
  }
}
class SpyRNN extends layers.SimpleRNN {
  override call(x: Tensor, options: CallOptions = {}): Tensor {
    seen.push({ ...options });
    return super.call(x, options) as Tensor;
  }
}
registerKerasSerializable(SpyRNN);
class Inside extends layers.Wrapper {
  override call(x: Tensor): Tensor {
    return this.layer(x);
  }
}
class Subclassed extends Model {
  readonly spy = new Spy();
  override call(x: Tensor): Tensor {
    return this.spy(x);
  }
}
class Normalized extends layers.Dense {
  override call(x: Tensor, options: CallOptions = {}): Tensor {
    seen.push({ ...options });
    return super.call(x, options);
  }
}

const row = ones([1, 2]);
const sequence = ones([1, 3, 2]);
const images = ones([1, 4, 4, 3]);
const functional = (): Layer => {
  const x = Input({ shape: [2] });
  return new Model(x, new Spy()(new Spy()(x)));
};
/** What a layer inside is told where nobody says anything of training: of the signature of Keras's own calls. */
const composites: Readonly<Record<string, readonly [make: () => Layer, x: Tensor, told: object]>> = {
  Sequential: [() => new Sequential([new Spy(), new Spy()]), row, {}],
  Functional: [functional, row, {}],
  Model: [() => new Subclassed(), row, {}],
  Layers: [() => new Sequential([new Sequential([new Inside(new Subclassed())])]), row, {}],
  Wrapper: [() => new Inside(new Spy()), row, {}],
  TimeDistributed: [() => new layers.TimeDistributed(new Spy()), sequence, {}],
  Bidirectional: [() => new layers.Bidirectional(new SpyRNN(2)), sequence, {}],
  Pipeline: [() => new layers.Pipeline([new Spy(), new Spy()]), images, { training: true }],
  SpectralNormalization: [
    () => new layers.SpectralNormalization(new Normalized(2)),
    row,
    { training: false },
  ],
  RNN: [() => new layers.RNN(new SpyCell()), sequence, { training: false }],
  StackedRNNCells: [
    () => new layers.RNN(new layers.StackedRNNCells([new SpyCell(), new SpyCell()])),
    sequence,
    { training: false },
  ],
  RNNCellDeviceWrapper: [
    () => new layers.RNN(new layers.RNNCellDeviceWrapper(new SpyCell() as never, '/cpu:0')),
    sequence,
    { training: false },
  ],
  RNNCellDropoutWrapper: [
    () => new layers.RNN(new layers.RNNCellDropoutWrapper(new SpyCell() as never)),
    sequence,
    { training: false },
  ],
  RNNCellResidualWrapper: [
    () => new layers.RNN(new layers.RNNCellResidualWrapper(new SpyCell() as never)),
    sequence,
    { training: false },
  ],
};

test('the table has every layer around others', () => {
  const around = layerClasses
    .map(([name]) => name)
    .filter((name) =>
      requiredArguments(name)
        .flat()
        .some((given) => given instanceof Layer),
    );
  expect(around.filter((name) => !Object.hasOwn(composites, name))).toEqual([]);
});

for (const [name, [make, x, told]] of Object.entries(composites))
  test(`${name} passes on what it was told, and nothing else`, () => {
    const layer = make();
    const called = (options?: CallOptions): unknown[] => {
      layer(x, options);
      seen.length = 0;
      layer(x, options);
      return [...new Set(seen.map((one) => JSON.stringify(one)))];
    };
    expect(called()).toEqual([JSON.stringify(told)]);
    expect(called({ training: true })).toEqual(['{"training":true}']);
    expect(called({ training: false })).toEqual(['{"training":false}']);
    seen.length = 0;
    tfFunction((v: Tensor) => layer(v))(x);
    expect([...new Set(seen.map((one) => JSON.stringify(one)))]).toEqual([JSON.stringify(told)]);
  });

test("a call's own default for training holds, for the layers inside too, unless somebody says otherwise", async () => {
  class Flow extends Model {
    readonly spy = new Spy();
    override call(x: Tensor, { training = true }: CallOptions = {}): Tensor {
      return this.spy<Tensor>(training ? x.neg() : x);
    }
  }
  const flow = new Flow();
  seen.length = 0;
  expect(flow(row).array()).toEqual([[-1, -1]]);
  expect(seen).toEqual([{ training: true }]);
  expect(flow(row, { training: false }).array()).toEqual([[1, 1]]);
  expect(new Sequential([flow])(row).array()).toEqual([[-1, -1]]);
  const x = Input({ shape: [2] });
  const model = new Model(x, flow(x));
  expect(model(row).array()).toEqual([[-1, -1]]);
  // What the outer call inherited or was told comes first.
  expect(model(row, { training: false }).array()).toEqual([[1, 1]]);
  expect(((await model.predict(row, { verbose: 0 })) as Tensor).array()).toEqual([[1, 1]]);
  class Quiet extends Layer {
    readonly drop = new layers.Dropout(0.99);
    override call(v: Tensor, { training: _ = false }: CallOptions = {}): Tensor {
      return this.drop(v);
    }
  }
  expect(new Quiet()(row).array()).toEqual([[1, 1]]);
});

test('finding out shapes changes no averages and draws nothing', () => {
  class Trains extends Layer {
    readonly norm = new layers.BatchNormalization();
    readonly drop = new layers.Dropout(0.5);
    readonly flip = new layers.RandomFlip();
    override call(x: Tensor, { training = true }: CallOptions = {}): Tensor {
      return this.flip(this.drop(this.norm<Tensor>(x, { training }), { training: true }));
    }
  }
  const layer = new Trains();
  random.setSeed(3);
  const expected = random.uniform([4]).array();
  random.setSeed(3);
  layer(Input({ shape: [4, 4, 3] }));
  expect(random.uniform([4]).array()).toEqual(expected);
  expect(layer.norm.movingVariance.array()).toEqual([1, 1, 1]);
});

test('parts of a layer that draws do not draw the same', () => {
  const x = constant(random.uniform([64, 4, 4, 3], { maxval: 255 }).array());
  const factors = (layer: layers.RandomColorJitter): number[][] => {
    const { parts } = layer.getRandomTransformation(x) as { parts: Record<string, Tensor>[] };
    return parts.map((part) => (Object.values(part)[0] as Tensor).flatten().array() as number[]);
  };
  const jitter = (): layers.RandomColorJitter =>
    new layers.RandomColorJitter({
      contrastFactor: 0.5,
      saturationFactor: 0.5,
      brightnessFactor: 0.5,
      seed: 7,
    });
  const drawn = factors(jitter());
  expect(factors(jitter())).toEqual(drawn);
  const ranks = drawn.map((list) => list.map((v) => list.filter((w) => w < v).length).join());
  expect(new Set(ranks).size).toBe(drawn.length);
  // Of those that apply others by chance, the parts draw from one stream as well.
  for (const layer of [new layers.RandAugment({ seed: 7 }), new layers.AugMix({ seed: 7 })]) {
    const { transforms, chainTransforms } = layer.getRandomTransformation(x) as Record<string, unknown>;
    const [a, b] =
      transforms === undefined
        ? (chainTransforms as Record<string, Tensor>[][]).slice(0, 2).map((chain) => chain[1])
        : [
            (transforms as Record<string, Record<string, Tensor>>)['randomBrightness'],
            (transforms as Record<string, Record<string, Tensor>>)['randomContrast'],
          ];
    const numbers = (of: Record<string, unknown>): Tensor =>
      Object.values(of).findLast((value) => value instanceof Tensor) as Tensor;
    const values = [a, b].map((t) => numbers(t).flatten().array() as number[]);
    const order = values.map((list) => list.map((v) => list.filter((w) => w < v).length).join());
    expect(order[0]).not.toBe(order[1]);
  }
});
