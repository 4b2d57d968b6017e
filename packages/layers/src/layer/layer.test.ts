import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  Module,
  ones,
  type PartialShape,
  scope,
  Tensor,
  Variable,
  zeros,
} from '@eagre/core';
import { metrics } from '@eagre/metrics';
import { Adam, SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { BatchNormalization, Dense, Dropout } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { l2 } from '../regularizers.ts';
import { type CallOptions, Layer, type LayerOptions, type WeightOptions } from './layer.ts';
import { clearSession } from './naming.ts';

class Linear extends Layer {
  w!: Variable;
  builds = 0;
  readonly units: number;
  readonly #options: WeightOptions;
  constructor(units: number, options: LayerOptions = {}, weight: WeightOptions = {}) {
    super(options);
    this.units = units;
    this.#options = weight;
  }
  override build(inputShape: PartialShape): void {
    this.builds++;
    this.w = this.addWeight({ name: 'w', shape: [inputShape.at(-1), this.units], ...this.#options });
  }
  override call(x: Tensor): Tensor {
    return x.matmul(this.w);
  }
}

describe('building', () => {
  test("gives a build of one's own what it takes beside the shape", () => {
    class Filled extends Layer {
      declare w: Variable;
      override build(inputShape: PartialShape, initializer: 'zeros' | 'ones' = 'zeros'): void {
        this.w = this.addWeight({ shape: [inputShape.at(-1) as number], initializer, name: 'w' });
      }
      override call(x: Tensor): Tensor {
        return x.mul(this.w);
      }
    }
    const filled = new Filled();
    filled.build([null, 2], 'ones');
    expect(filled(ones([1, 2]).mul(3)).array()).toEqual([[3, 3]]);
    const build = (layer: Layer): void => (layer.build as (...args: unknown[]) => void)([null, 2], 'ones');
    expect(() => build(new Dense(2))).toThrow(
      "build takes the shape of the inputs alone, got 'ones' as well",
    );
  });
  test('happens once, on the first call or by hand', () => {
    const called = new Linear(2);
    called(ones([1, 3]));
    called(ones([4, 3]));
    expect([called.builds, called.built, called.weights.length]).toEqual([1, true, 1]);

    const byHand = new Linear(2);
    byHand.build([null, 3]);
    expect([byHand.built, byHand.w.shape]).toEqual([true, [3, 2]]);
    byHand.build([null, 3]);
    byHand(ones([1, 3]));
    expect([byHand.builds, byHand.weights.length]).toEqual([1, 1]);
  });

  test('a build that fails leaves nothing behind, and can be tried again', () => {
    class Fails extends Layer {
      fail = true;
      override build(): void {
        this.addWeight({ name: 'a', shape: [1] });
        if (this.fail) throw new Error('no');
      }
      override call(x: Tensor): Tensor {
        return x;
      }
    }
    const layer = new Fails();
    expect(() => layer(ones([1]))).toThrow('no');
    expect([layer.built, layer.weights.length]).toEqual([false, 0]);
    layer.fail = false;
    layer(ones([1]));
    expect(layer.weights.length).toBe(1);
  });

  test('a build may call that of its base, say that it is built, or be a field', () => {
    class Child extends Linear {
      extra!: Variable;
      override build(inputShape: PartialShape): void {
        super.build(inputShape);
        this.extra = this.addWeight({ name: 'extra', shape: [] });
        this.built = true;
      }
    }
    const child = new Child(2);
    child.build([null, 3]);
    child(ones([1, 3]));
    expect([child.builds, child.weights.length]).toEqual([1, 2]);

    class Field extends Layer {
      count = 0;
      override build = (): void => {
        this.count++;
      };
      override call(x: Tensor): Tensor {
        return x;
      }
    }
    const field = new Field();
    field(ones([1]));
    field(ones([1]));
    expect(field.count).toBe(1);
  });

  test('shapes that are not known, initializers that give something else', () => {
    expect(() => new Linear(2).build([null, null])).toThrow('[null, 2] is not known yet');
    const wrong = new Linear(2, {}, { initializer: () => zeros([1]) });
    expect(() => wrong(ones([1, 3]))).toThrow(
      "the initializer of 'w' returned float32 [1], expected float32 [3, 2]",
    );
  });

  test('there is no call', () => {
    class Empty extends Layer {}
    expect(() => new Empty()(ones([1]))).toThrow(FailedPreconditionError);
  });
});

describe('calls', () => {
  class Spy extends Layer {
    seen: unknown[] = [];
    inner: Layer | undefined;
    override call(x: Tensor, options: CallOptions): Tensor {
      this.seen.push({ ...options });
      return this.inner === undefined ? x : this.inner(x);
    }
  }

  test('training is inherited, other options are not', () => {
    const outer = new Spy();
    const inner = new Spy();
    outer.inner = inner;
    const x = ones([1]);
    outer(x);
    outer(x, { training: true, extra: 1 });
    outer(x, { training: false });
    expect(outer.seen).toEqual([{}, { training: true, extra: 1 }, { training: false }]);
    expect(inner.seen).toEqual([{}, { training: true }, { training: false }]);

    inner.seen = [];
    const sequential = new Sequential([inner]);
    sequential(x, { training: true });
    expect(inner.seen).toEqual([{ training: true }]);
  });

  test('an error does not leave training switched on', () => {
    class Fails extends Layer {
      override call(): Tensor {
        throw new Error('no');
      }
    }
    const outer = new Spy();
    outer.inner = new Fails();
    expect(() => outer(ones([1]), { training: true })).toThrow('no');
    const after = new Spy();
    after(ones([1]));
    expect(after.seen).toEqual([{}]);
    expect(
      new Dropout(0.999)(ones([2, 100]))
        .sum()
        .item(),
    ).toBe(200);
  });

  test('a user layer gets floats in its own precision, and integers as they are', () => {
    const dtypes: string[] = [];
    class Note extends Layer {
      override call(x: Tensor): Tensor {
        dtypes.push(x.dtype);
        return x;
      }
    }
    new Note()(Float64Array.of(1));
    new Note({ dtype: 'float64' })(Float32Array.of(1));
    new Note()(Int32Array.of(1));
    new Note()([1, 2]);
    expect(dtypes).toEqual(['float32', 'float64', 'int32', 'float32']);
  });

  test('variables as inputs and outputs: what was seen does not change with them', () => {
    const kept: Tensor[] = [];
    class Keeps extends Layer {
      v = new Variable([5]);
      override call(x: Tensor): Tensor {
        kept.push(x);
        return this.v as unknown as Tensor;
      }
    }
    const layer = new Keeps();
    const image = new Variable([1, 2]);
    const y = layer(image);
    image.assign([3, 4]);
    layer.v.assign([6]);
    expect([kept[0]?.array(), y.array(), y instanceof Tensor]).toEqual([[1, 2], [5], true]);
    const tape = new GradientTape();
    const out = new Dense(1, { kernelInitializer: 'ones' })(new Variable([[1, 2]]));
    expect(out.item()).toBe(3);
    tape.dispose();
  });

  test('a gradient for a variable that is an input', () => {
    const image = new Variable([[1, 2]]);
    const dense = new Dense(1, { kernelInitializer: 'ones' });
    const tape = new GradientTape();
    const loss = dense(image).sum();
    expect(tape.gradient(loss, image)?.array()).toEqual([[1, 1]]);
  });

  test('symbolic tensors do not mix with others', () => {
    const layer = new Dense(1);
    expect(() => layer([Input({ shape: [1] }), ones([1, 1])] as never)).toThrow(InvalidArgumentError);
  });
});

describe('what a user holds stays valid', () => {
  test('inputs, what is made inside, results, losses', () => {
    const held: Tensor[] = [];
    class Holds extends Layer {
      override call(x: Tensor): Tensor {
        const y = x.mul(2);
        const z = y.add(1);
        this.addLoss(z.sum());
        held.push(x, y, z);
        return z;
      }
    }
    const model = new Sequential([new Dense(3), new Holds(), new Dense(2), new Holds()]);
    const y = scope(() => {
      model(ones([2, 2]), { training: true });
      return model(ones([2, 2]));
    });
    held.push(y, ...model.losses);
    for (const t of held) expect(() => t.data()).not.toThrow();
    expect(held.length).toBe(4 * 3 + 1 + 2);
  });

  test('what an initializer, a regularizer, a constraint, an activation kept', () => {
    const held: Tensor[] = [];
    const hold = <T extends Tensor>(t: T): T => {
      held.push(t);
      return t;
    };
    const dense = new Dense(2, {
      kernelInitializer: (shape) => hold(ones(shape)),
      kernelRegularizer: (w) => hold(hold(w.mul(2)).sum()),
      kernelConstraint: (w) => hold(hold(w).mul(0.5)),
      activation: (x) => hold(hold(x).mul(3)),
    });
    scope(() => {
      const tape = new GradientTape();
      const loss = dense(ones([1, 2]))
        .sum()
        .add(dense.losses[0] as Tensor);
      new SGD(0.1).applyGradients(tape.gradient(loss, dense.trainableVariables), dense.trainableVariables);
    });
    const before = held.map((t) => [...t.data()]);
    dense.kernel.assign(zeros([2, 2]));
    expect(held.map((t) => [...t.data()])).toEqual(before);
    expect(held.length).toBe(7);
  });
});

describe('weights', () => {
  test('are listed layer by layer, in an order that freezing does not change', () => {
    const model = new Sequential([new Dense(2), new BatchNormalization(), new Dense(1)]);
    model(ones([1, 2]));
    const names = model.weights.map((w) => w.name);
    expect(names).toEqual([
      'kernel',
      'bias',
      'gamma',
      'beta',
      'moving_mean',
      'moving_variance',
      'kernel',
      'bias',
    ]);
    const before = model.getWeights();
    (model.layers[0] as Layer).trainable = false;
    model.setWeights(before);
    expect(model.weights.map((w) => w.name)).toEqual(names);
    expect(model.trainableVariables.length).toBe(4);
    expect(model.nonTrainableVariables.length).toBe(4);
  });

  test('setWeights checks number and shapes', () => {
    const dense = new Dense(2);
    dense.build([null, 3]);
    expect(() => dense.setWeights([zeros([3, 2])])).toThrow('1 values for 2 weights');
    expect(() => dense.setWeights([zeros([2, 2]), zeros([2])])).toThrow(InvalidArgumentError);
  });

  test('variables of metrics and optimizers among the attributes are none', () => {
    class Gan extends Model {
      optimizer2 = new Adam();
      tracker = new metrics.Mean('d_loss');
      dense = new Dense(1);
      override call(x: Tensor): Tensor {
        return this.dense(x);
      }
    }
    const model = new Gan();
    model(ones([1, 2]));
    model.optimizer2.build(model.trainableVariables);
    expect(model.namedWeights.map((w) => w.path)).toEqual(['dense/kernel', 'dense/bias']);
    expect(model.metrics).toEqual([model.tracker]);
  });

  test('in fields, arrays, maps, objects, modules, nested layers', () => {
    class Part extends Module {
      scale = new Variable(1);
      dense = new Dense(1);
    }
    class Everything extends Layer {
      own = new Variable([1, 2]);
      fixed = new Variable(3, { trainable: false });
      list = [new Dense(1), new Dense(1)];
      map = new Map([['a', new Dense(1)]]);
      object = { deep: { b: new Dense(1) } };
      part = new Part();
      again = this.list[0];
      override call(x: Tensor): Tensor {
        const all = [...this.list, ...this.map.values(), this.object.deep.b, this.part.dense];
        return all.reduce((y, layer) => y.add(layer(x)), x.mul(this.part.scale));
      }
    }
    const layer = new Everything();
    layer(ones([1, 1]));
    expect(layer.sublayers.length).toBe(5);
    expect(layer.namedWeights.map((w) => w.path)).toEqual([
      'own',
      'scale',
      'fixed',
      ...['', '_1', '_2', '_3', '_4'].flatMap((n) => [`dense${n}/kernel`, `dense${n}/bias`]),
    ]);
    expect(layer.nonTrainableWeights).toEqual([layer.fixed]);
  });

  test('names do not depend on what was made before', () => {
    const make = (): string[] => {
      const model = new Sequential([
        new Dense(1, { name: 'head' }),
        new Dense(1),
        new Sequential([new Dense(1), new Dense(1, { name: 'head' })]),
        new Dense(1, { name: 'a_1' }),
        new Dense(1, { name: 'a' }),
      ]);
      model(ones([1, 1]));
      return model.namedWeights.map((w) => w.path).filter((p) => p.endsWith('kernel'));
    };
    const first = make();
    expect(first).toEqual([
      'head/kernel',
      'dense/kernel',
      'sequential/dense/kernel',
      'sequential/head/kernel',
      'a_1/kernel',
      'a/kernel',
    ]);
    expect(make()).toEqual(first);
    clearSession();
    expect(make()).toEqual(first);
    expect(new Dense(1).name).toBe('dense_2');
  });

  test('freezing reaches the layers inside', () => {
    const block = new Sequential([new Dense(1), new Dense(1)]);
    const model = new Sequential([block, new Dense(1)]);
    model(ones([1, 1]));
    block.trainable = false;
    expect(block.layers.map((l) => l.trainable)).toEqual([false, false]);
    expect(model.trainableVariables.length).toBe(2);
    block.trainable = true;
    expect(model.trainableVariables.length).toBe(6);
    const frozen = new Sequential([new Dense(1)], { trainable: false });
    frozen(ones([1, 1]));
    expect(frozen.trainableVariables.length).toBe(0);
  });
});

describe('losses', () => {
  class Penalty extends Layer {
    override call(x: Tensor): Tensor {
      this.addLoss(x.sum());
      return x;
    }
  }

  test('of the last call only', () => {
    const layer = new Penalty();
    layer(ones([2]));
    layer(ones([3]));
    expect(layer.losses.map((l) => l.item())).toEqual([3]);
    expect(() => layer.addLoss(1 as unknown as Tensor)).toThrow(InvalidArgumentError);
  });

  test('a layer that is called twice inside adds both', () => {
    const shared = new Penalty();
    class Twice extends Layer {
      a = shared;
      b = { again: shared };
      override call(x: Tensor): Tensor {
        return this.b.again(this.a(x).mul(2));
      }
    }
    const layer = new Twice();
    layer(ones([2]));
    expect(layer.losses.map((l) => l.item())).toEqual([2, 4]);
    layer(ones([2]));
    expect(layer.losses.map((l) => l.item())).toEqual([2, 4]);
  });

  test('a try for the shape adds none', () => {
    class Outer extends Layer {
      inner = new Sequential([new Penalty(), new Dense(1, { kernelInitializer: 'ones' })]);
      override call(x: Tensor): Tensor {
        return this.inner(x);
      }
    }
    const layer = new Outer();
    layer(ones([1, 2]));
    expect(layer.losses.map((l) => l.item())).toEqual([2]);
    const described = new Penalty();
    described.computeOutputShape([null, 2]);
    described(Input({ shape: [2] }));
    expect(described.losses).toEqual([]);
  });

  test('penalties of weights, each once, none for frozen ones', () => {
    const dense = new Dense(1, { kernelInitializer: 'ones', kernelRegularizer: l2(0.5) });
    const model = new Sequential([new Sequential([dense]), new Dense(1)]);
    model(ones([1, 2]));
    expect(model.losses.map((l) => l.item())).toEqual([1]);
    dense.trainable = false;
    expect(model.losses).toEqual([]);
  });
});

describe('shapes without values', () => {
  class Ends extends Layer {
    override call(x: Tensor): Tensor {
      return x.at('...', ':-1').argMax(-1);
    }
  }
  test('unknown sizes stay unknown, results may be integers', () => {
    class Half extends Layer {
      override call(x: Tensor): Tensor {
        return x.slice([0, 0], [x.shape[0] as number, Math.floor((x.shape[1] as number) / 2)]);
      }
    }
    expect(new Half().computeOutputShape([null, null])).toEqual([null, null]);
    expect(new Half().computeOutputShape([null, 9])).toEqual([null, 4]);
    expect(new Half().computeOutputShape([5, 9])).toEqual([5, 4]);
    const y = new Ends()(Input({ shape: [4] }));
    expect(y.shape).toEqual([null]);
    expect(y.dtype).not.toBe('float32');
  });
  test('a result without a batch', () => {
    class Sum extends Layer {
      override call(x: Tensor): Tensor {
        return x.sum();
      }
    }
    expect(new Sum().computeOutputShape([null, 3])).toEqual([]);
  });
  test('several results', () => {
    class Two extends Layer {
      override call(x: Tensor): Tensor[] {
        return [x, x.sum(-1)];
      }
    }
    const [a, b] = new Two()(Input({ shape: [3] })) as unknown as { shape: PartialShape }[];
    expect([a?.shape, b?.shape]).toEqual([[null, 3], [null]]);
    expect(new Two().computeOutputShape([null, 3])).toEqual([[null, 3], [null]]);
    const [, sum] = new Two()(ones([1, 3])) as unknown as Tensor[];
    expect(sum?.array()).toEqual([3]);
  });
});

test('the class, its name and its configuration', () => {
  const dense = new Dense(1, { name: 'x', dtype: 'float64', trainable: false });
  expect(dense.getConfig()).toMatchObject({
    name: 'x',
    trainable: false,
    dtype: { class_name: 'DTypePolicy', config: { name: 'float64' } },
  });
  expect(dense(constant([[1]], 'float64')).dtype).toBe('float64');
  expect(() => new Dense(2).countParams()).toThrow(FailedPreconditionError);
});
