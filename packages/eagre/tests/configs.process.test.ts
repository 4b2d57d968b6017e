import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// What Keras writes of an object of each class, with options that are not the default: tools/golden/configs.py.
interface Written {
  readonly module: string;
  readonly class_name: string;
  readonly config: Record<string, unknown>;
  readonly registered_name: null;
}
type Group =
  | 'layers'
  | 'initializers'
  | 'regularizers'
  | 'constraints'
  | 'optimizers'
  | 'schedules'
  | 'losses'
  | 'metrics';
const golden = JSON.parse(readFileSync(new URL('../golden/configs.json', import.meta.url), 'utf8')) as Record<
  Group,
  readonly Written[]
>;

const json = (value: unknown): Written => JSON.parse(JSON.stringify(value)) as Written;

/** An object of what Keras wrote, written again. */
const again: Record<Group, (written: Written) => unknown> = {
  layers: (w) => tf.layers.serialize(tf.layers.deserialize(w)),
  initializers: (w) => tf.initializers.get(w),
  regularizers: (w) => tf.keras.regularizers.get(w),
  constraints: (w) => tf.keras.constraints.get(w),
  optimizers: (w) => tf.optimizers.serialize(tf.optimizers.deserialize(w)),
  schedules: (w) => tf.optimizers.schedules.serialize(tf.optimizers.schedules.deserialize(w)),
  losses: (w) => tf.losses.serialize(tf.losses.deserialize(w)),
  metrics: (w) => tf.metrics.serialize(tf.metrics.deserialize(w)),
};

/** What is written here and not by Keras. */
const more: Readonly<Record<string, readonly string[]>> = {
  // Keras takes these and forgets them, so that an object read from its files is another one.
  SimpleRNN: ['seed'],
  RandomGrayscale: ['seed'],
  MaxNumBoundingBoxes: ['fill_value'],
  HashedCrossing: ['trainable'],
  Identity: ['gain'],
  Huber: ['delta'],
  CosineSimilarity: ['axis'],
  SparseCategoricalCrossentropy: ['axis'],
};
/** What Keras writes as text where other layers have a policy. */
const asText: Readonly<Record<string, readonly string[]>> = {
  SpatialDropout1D: ['dtype'],
  SpatialDropout2D: ['dtype'],
  SpatialDropout3D: ['dtype'],
  HashedCrossing: ['dtype'],
};

/** The written object without the keys that are known to differ. */
function comparable({ config, ...rest }: Written, keras: Written): unknown {
  const own = Object.entries(config).filter(
    ([key]) =>
      !(asText[rest.class_name] ?? []).includes(key) &&
      (key in keras.config || !(more[rest.class_name] ?? []).includes(key)),
  );
  return { ...rest, config: Object.fromEntries(own) };
}

for (const [group, write] of Object.entries(again) as [Group, (written: Written) => unknown][]) {
  describe(`${group} are written as Keras writes them`, () => {
    test.each(golden[group].map((w, i) => [`${i} ${w.class_name}`, w] as const))('%s', (_, keras) => {
      const written = json(write(keras));
      expect(comparable(written, keras)).toEqual(comparable(keras, keras));
      // And read again, it is the same.
      expect(json(write(written))).toEqual(written);
    });
  });
}

test('every class is among them', () => {
  // The map is in the configuration of MultiOptimizer.
  const bases = ['InputSpec', 'Layer', 'Loss', 'Metric', 'Optimizer', 'OptimizerMap', 'LearningRateSchedule'];
  // Their functions are the user's, which no other program has.
  const wraps = ['Lambda', 'LossFunctionWrapper', 'MeanMetricWrapper'];
  // Of KerasHub, around a folder's SavedModel, of TensorFlow Addons, and of TensorFlow.
  const wrappers = ['RNNCellDeviceWrapper', 'RNNCellDropoutWrapper', 'RNNCellResidualWrapper'];
  const others = ['CachedMultiHeadAttention', 'TFSMLayer', 'LazyAdam', ...wrappers];
  const spaces: Record<Group, object> = { ...tf.keras, schedules: tf.optimizers.schedules };
  for (const group of Object.keys(again) as Group[]) {
    const names = Object.values(spaces[group])
      .filter((c) => typeof c === 'function' && /^class\b/.test(String(c)))
      .map((c: { readonly name: string }) => c.name)
      .filter(
        (name) => ![...bases, ...wraps, ...others, 'Initializer', 'Regularizer', 'Constraint'].includes(name),
      );
    const here = new Set(golden[group].map((w) => w.class_name));
    expect(new Set(names.filter((name) => !here.has(name)))).toEqual(new Set());
  }
});

describe('keras.saving', () => {
  const { customObjectScope, deserializeKerasObject, serializeKerasObject } = tf.keras.saving;

  test('writes and reads objects of every kind', () => {
    for (const [group, write] of Object.entries(again) as [Group, (written: Written) => unknown][])
      for (const written of golden[group])
        expect(serializeKerasObject(deserializeKerasObject(written))).toEqual(json(write(written)));
    expect(serializeKerasObject(null)).toBe(null);
    expect(deserializeKerasObject(null)).toBe(null);
    expect(() => serializeKerasObject({ units: 3 })).toThrow(tf.errors.InvalidArgumentError);
    expect(() => deserializeKerasObject({ units: 3 } as never)).toThrow('expected { module, class_name');
  });

  test("finds the user's classes in a scope", () => {
    class Scaled extends tf.layers.Layer {
      override call(x: tf.Tensor): tf.Tensor {
        return x.mul(2);
      }
    }
    const written = serializeKerasObject(new Scaled({ name: 'twice' }));
    expect(written).toMatchObject({ module: null, class_name: 'Scaled', registered_name: 'Scaled' });
    expect(() => deserializeKerasObject(written)).toThrow('registerKerasSerializable');
    expect(deserializeKerasObject(written, { Scaled })).toBeInstanceOf(Scaled);
    const inside = customObjectScope({ Scaled }, () => deserializeKerasObject(written));
    expect(inside).toBeInstanceOf(Scaled);
    {
      using _ = customObjectScope({ Scaled });
      expect(tf.layers.deserialize(written as never)).toBeInstanceOf(Scaled);
    }
    expect(() => tf.layers.deserialize(written as never)).toThrow("unknown layer 'Scaled'");
    expect(() => customObjectScope(3 as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => customObjectScope({ Scaled }, (async () => 1) as never)).toThrow('promise');
    class Third extends tf.keras.regularizers.L2 {}
    const read = customObjectScope({
      objects: { Third },
      fn: () => deserializeKerasObject(serializeKerasObject(new Third(0.5))),
    });
    expect(read).toBeInstanceOf(Third);
  });

  test('tells what is known by name', () => {
    const { getCustomObjects, getRegisteredName, getRegisteredObject } = tf.keras.saving;
    const squash = (x: tf.Tensor): tf.Tensor => x.tanh();
    expect(getRegisteredName(squash)).toBe('squash');
    expect(getRegisteredObject('mine>squash')).toBe(null);
    expect(getRegisteredObject('mine>squash', { 'mine>squash': squash })).toBe(squash);
    tf.keras.saving.registerKerasSerializable(squash, { package: 'mine' });
    expect(getRegisteredName({ obj: squash })).toBe('mine>squash');
    expect(getRegisteredObject('mine>squash')).toBe(squash);
    expect(getCustomObjects()['mine>squash']).toBe(squash);
    class Scaled extends tf.layers.Layer {}
    customObjectScope({ Scaled }, () => {
      expect(getCustomObjects()).toMatchObject({ Scaled });
      expect(getRegisteredObject('Scaled')).toBe(Scaled);
    });
    expect(getRegisteredObject('Scaled')).toBe(null);
    expect(() => {
      (getCustomObjects() as Record<string, unknown>)['Scaled'] = Scaled;
    }).toThrow(TypeError);
    expect(() => getRegisteredName(3 as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => getRegisteredObject(3 as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => getRegisteredObject('x', 3 as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(tf.keras.utils.getRegisteredName).toBe(getRegisteredName);
  });

  test('knows classes of one’s own that are registered, of every kind', () => {
    class Shifted extends tf.losses.Loss {
      override call(y: tf.Tensor, p: tf.Tensor): tf.Tensor {
        return y.sub(p).mean(-1);
      }
    }
    class Counted extends tf.metrics.Mean {}
    class Slow extends tf.optimizers.SGD {}
    class Held extends tf.optimizers.schedules.LearningRateSchedule {
      override call(): number {
        return 0.5;
      }
      override getConfig(): Record<string, unknown> {
        return {};
      }
    }
    for (const object of [new Shifted({ name: 'a' }), new Counted('b'), new Slow(0.5), new Held()]) {
      const Class = object.constructor as new () => object;
      const name = `${Class.name}OfMine`;
      tf.keras.saving.registerKerasSerializable(Class, { package: 'kinds', name });
      const written = serializeKerasObject(object)!;
      expect(written).toMatchObject({ module: null, registered_name: `kinds>${name}` });
      const read = deserializeKerasObject(written);
      expect(read).toBeInstanceOf(Class);
      expect(serializeKerasObject(read)).toEqual(written);
    }
  });
});

test('losses, metrics and optimizers are made of their configurations by their classes', () => {
  const loss = tf.losses.Huber.fromConfig(
    json(new tf.losses.Huber({ delta: 0.5, name: 'h' }).getConfig()) as never,
  );
  expect([loss.delta, loss.name]).toEqual([0.5, 'h']);
  const metric = tf.metrics.TopKCategoricalAccuracy.fromConfig({ k: 3, name: 'top', dtype: 'float32' });
  expect([metric.k, metric.name]).toEqual([3, 'top']);
  expect(() => tf.metrics.AUC.fromConfig({ bogus: 1 })).toThrow("AUC: 'bogus' is not an option");
  class Own extends tf.metrics.Mean {
    static override fromConfig(config: Readonly<Record<string, unknown>>): never {
      return new Own(`${config['name']}!`) as never;
    }
  }
  expect(tf.metrics.deserialize({ class_name: 'Own', config: { name: 'a' } }, { Own }).name).toBe('a!');
  const { Adam, SGD } = tf.optimizers;
  for (const [bad, message] of [
    [{ useEma: 1 }, 'useEma is 1, expected true or false'],
    [{ emaMomentum: 2 }, 'emaMomentum must be between 0 and 1, got 2'],
    [{ emaOverwriteFrequency: 0 }, 'emaOverwriteFrequency must be an integer of at least 1, got 0'],
    [{ weightDecay: 'x' }, "weightDecay must be a number, got 'x'"],
    [{ globalClipnorm: -1 }, 'globalClipnorm must be a number of at least 0, got -1'],
    [{ lossScaleFactor: 0 }, 'lossScaleFactor must be a positive number, got 0'],
    [{ gradientAccumulationSteps: 1 }, 'gradientAccumulationSteps must be an integer of at least 2, got 1'],
  ] as const)
    expect(() => new Adam(bad as never)).toThrow(message);
  const options = {
    weightDecay: 0.5,
    clipvalue: 2,
    useEma: true,
    emaMomentum: 0.5,
    emaOverwriteFrequency: 3,
  };
  expect(SGD.fromConfig(new SGD({ ...options, name: 'mine' }).getConfig()).getConfig()).toMatchObject({
    ...{ name: 'mine', weight_decay: 0.5, clipvalue: 2, use_ema: true, ema_momentum: 0.5 },
    ...{ ema_overwrite_frequency: 3, loss_scale_factor: null, gradient_accumulation_steps: null },
  });
});
