import { inspect } from 'node:util';
import '@eagre/backend-js';
import { getBackend } from '@eagre/backend';
import {
  cast,
  constant,
  InvalidArgumentError,
  Module,
  mean,
  mul,
  sum,
  type Tensor,
  type TensorLike,
  type Variable,
  withBackend,
  zeros,
} from '@eagre/core';
import { context, type TapeObserver, toTensor } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import { metrics } from '../index.ts';

const { Mean, Accuracy } = metrics;

test('Mean: 0 and 5 make 2.5, with 8 and 9 5.5', () => {
  const m = new Mean('loss');
  m(0);
  expect(`${m(5)}`).toBe('2.5');
  expect(m.result().item()).toBe(2.5);
  m.updateState([8, 9]);
  expect(m.result().item()).toBe(5.5);
  m.resetStates();
  expect(m.result().item()).toBe(0);
  expect(m.name).toBe('loss');
  expect(m.variables.map((v) => [v.path, v.trainable])).toEqual([
    ['loss/total', false],
    ['loss/count', false],
  ]);
});

test('Accuracy: 0.75, then 0.714, after a reset 0.667', () => {
  const accuracy = new Accuracy();
  expect(accuracy([1, 2, 3, 4], [0, 2, 3, 4]).item()).toBe(0.75);
  accuracy.updateState([0, 2, 3], [1, 2, 3]);
  expect(accuracy.result().item().toFixed(3)).toBe('0.714');
  accuracy.resetState();
  accuracy.updateState([0, 2, 3], [1, 2, 3]);
  expect(accuracy.result().item().toFixed(3)).toBe('0.667');
});

class CategoricalTruePositives extends metrics.Metric {
  readonly truePositives: Variable;
  constructor(name = 'categorical_true_positives') {
    super(name);
    this.truePositives = this.addWeight({ name: 'tp', initializer: 'zeros' });
  }
  override updateState(yTrue: TensorLike, yPred: Tensor, options: { sampleWeight?: TensorLike } = {}): void {
    const predicted = yPred.argMax(-1);
    let values = cast(cast(yTrue, 'int32').equal(cast(predicted, 'int32')), 'float32');
    if (options.sampleWeight !== undefined) values = mul(values, toTensor(options.sampleWeight));
    this.truePositives.assignAdd(sum(values));
  }
  override result(): Tensor {
    return this.truePositives.read();
  }
}

test('a metric of one’s own', () => {
  const m = new CategoricalTruePositives();
  const p = constant([
    [0.1, 0.9],
    [0.8, 0.2],
    [0.3, 0.7],
  ]);
  expect(m(constant([1, 0, 0], 'int32'), p).item()).toBe(2);
  m.updateState(constant([1, 0, 0], 'int32'), p, { sampleWeight: [0.5, 1, 1] });
  expect(m.result().item()).toBe(3.5);
  m.resetState();
  expect(m.result().item()).toBe(0);
  expect(m.truePositives.path).toBe('categorical_true_positives/tp');
  expect(m).toBeInstanceOf(metrics.Metric);
  expect(m).toBeInstanceOf(Module);
  expect(typeof m).toBe('function');
  const model = new (class extends Module {
    metric = m;
  })();
  expect(model.variables).toEqual([m.truePositives]);
});

test('variables of a metric: fields, initializers, metrics inside', () => {
  class Nested extends metrics.Metric {
    readonly inner = new Mean('inner');
    readonly scale = this.addVariable({ name: 'scale', shape: [2], initializer: 'ones', dtype: 'float64' });
    readonly start = this.addWeight({ name: 'start', initializer: 3 });
    readonly own = this.addWeight({
      name: 'own',
      shape: [2],
      initializer: (shape, dtype) => constant([...shape, 5], dtype),
    });
    override updateState(): void {}
    override result(): Tensor {
      return this.start.read();
    }
  }
  const m = new Nested({ name: 'a/b' });
  expect(m.variables.map((v) => v.path)).toEqual([
    'a>b/scale',
    'a>b/start',
    'a>b/own',
    'inner/total',
    'inner/count',
  ]);
  expect([m.scale.array(), m.start.item(), m.own.array()]).toEqual([[1, 1], 3, [2, 5]]);
  expect(() => m.addWeight({ initializer: 'glorot' as never })).toThrow(/unknown initializer 'glorot'/);
  expect(inspect(new Mean())).toContain('Mean {');
});

test('Keras’s first argument by position, all by name', () => {
  expect(new metrics.BinaryAccuracy('b', { threshold: 0.25 }).name).toBe('b');
  expect(new metrics.BinaryAccuracy('b', { threshold: 0.25 })([1, 0], [0.3, 0.1]).item()).toBe(1);
  expect(new metrics.BinaryAccuracy({ name: 'c' }).name).toBe('c');
  expect(new metrics.AUC({ name: 'roc' }).name).toBe('roc');
  expect(new metrics.AUC(50).numThresholds).toBe(50);
  expect(new metrics.AUC().name).toBe('auc');
  expect(new Mean({ dtype: 'float64' })(constant([1, 2], 'float64')).dtype).toBe('float64');
});

test('a function’s mean, with options of its own', () => {
  const power = (t: TensorLike, p: TensorLike, o: { power: number }): Tensor =>
    mean(toTensor(p).sub(toTensor(t)).abs().pow(o.power), -1);
  const m = new metrics.MeanMetricWrapper(power, { name: 'cubed', power: 3 });
  expect(m([[1, 2]], [[2, 4]]).item()).toBeCloseTo(4.5, 5);
  expect(m.getConfig()).toEqual({ name: 'cubed', dtype: 'float32', power: 3 });
});

test('accuracy by shapes', () => {
  const { resolveAccuracy } = metrics;
  expect(resolveAccuracy([8, 1], [8, 1])).toBe(metrics.BinaryAccuracy);
  expect(resolveAccuracy([8], [8, 1])).toBe(metrics.BinaryAccuracy);
  expect(resolveAccuracy([8], [8, 10])).toBe(metrics.SparseCategoricalAccuracy);
  expect(resolveAccuracy([8, 1], [8, 10])).toBe(metrics.SparseCategoricalAccuracy);
  expect(resolveAccuracy([8, 10], [8, 10])).toBe(metrics.CategoricalAccuracy);
});

test('get', () => {
  const shapes = { yTrueShape: [8], yPredShape: [8, 10] };
  const sparse = metrics.get('accuracy', shapes);
  expect(sparse).toBeInstanceOf(metrics.SparseCategoricalAccuracy);
  expect(sparse.name).toBe('accuracy');
  expect(metrics.get('acc', shapes).name).toBe('acc');
  expect(metrics.get('ce', shapes)).toBeInstanceOf(metrics.SparseCategoricalCrossentropy);
  expect(metrics.get('accuracy')).toBeInstanceOf(metrics.Accuracy);
  expect(metrics.get('mse')).toBeInstanceOf(metrics.MeanSquaredError);
  expect(metrics.get('mse').name).toBe('mse');
  expect(metrics.get('BinaryAccuracy').name).toBe('binary_accuracy');
  expect(metrics.get('AUC')).toBeInstanceOf(metrics.AUC);
  expect(metrics.get('auc')).toBeInstanceOf(metrics.AUC);
  const m = new Mean();
  expect(metrics.get(m)).toBe(m);
  const fn = (t: TensorLike, p: TensorLike): Tensor => toTensor(t).sub(toTensor(p));
  expect(metrics.get(fn)([3], [1]).item()).toBe(2);
  expect(metrics.get(fn).name).toBe('fn');
  expect(() => metrics.get('nonsense')).toThrow(/there is no metric 'nonsense'/);
});

test('what does not fit is refused', () => {
  expect(() => new Accuracy()([1, 2], [1, 2, 3])).toThrow(InvalidArgumentError);
  expect(() =>
    new metrics.SparseCategoricalAccuracy()(
      [1, 2, 3],
      [
        [0, 1],
        [1, 0],
      ],
    ),
  ).toThrow(/do not match/);
  expect(() => new metrics.Precision({ thresholds: [0.5, 2] })).toThrow(
    /thresholds must be in \[0, 1\], got 2/,
  );
  expect(() => new metrics.Precision({ classId: 5 })([[1, 0]], [[0.5, 0.5]])).toThrow(InvalidArgumentError);
  expect(() => metrics.deserialize({ class_name: 'AUC', config: { multi_label: 3 } })).toThrow(/multiLabel/);
  expect(() => new metrics.F1Score()([1, 0], [1, 0])).toThrow(/must both be \[batch, classes\]/);
  expect(() => new metrics.F1Score().result()).toThrow(/no update/);
  expect(() => new metrics.FBetaScore({ beta: 0 })).toThrow(/beta/);
  expect(() => new metrics.AUC({ curve: 'XYZ' as never })).toThrow(/curve/);
});

test('a class that is ignored leaves the mean of the cross-entropy', () => {
  const m = new metrics.SparseCategoricalCrossentropy({ fromLogits: true, ignoreClass: -1 });
  m.updateState([0, -1, -1, 1], zeros([4, 2]), { sampleWeight: 1 });
  expect(m.result().item()).toBeCloseTo(Math.LN2, 6);
  m.updateState(
    [0, -1, 1],
    constant([
      [0, 0],
      [9, 0],
      [5, 5],
    ]),
    { sampleWeight: [3, 100, 1] },
  );
  expect(m.result().item()).toBeCloseTo(Math.LN2, 6);
  expect(m.count.item()).toBe(6);
});

test('AUC in parts: many predictions give what few at a time give', () => {
  const n = 30_000;
  const p = Float32Array.from({ length: n }, (_, i) => ((i * 7919) % 10_007) / 10_007);
  const t = Float32Array.from(p, (x, i) => ((i * 31) % 17 < 17 * x ? 1 : 0));
  const whole = new metrics.AUC();
  whole.updateState(t, p);
  const parts = new metrics.AUC();
  for (let i = 0; i < n; i += 5000) parts.updateState(t.slice(i, i + 5000), p.slice(i, i + 5000));
  expect(whole.truePositives.array()).toEqual(parts.truePositives.array());
  expect(whole.result().item()).toBe(parts.result().item());
});

test('updates leave nothing behind and are not recorded', () => {
  using _ = withBackend('js');
  const { allocator } = getBackend('js');
  const seen: string[] = [];
  const observer: TapeObserver = { record: (op) => seen.push(op.name), variableRead: () => undefined };
  const p = constant([
    [0.2, 0.8],
    [0.5, 0.5],
  ]);
  const t = constant([
    [0, 1],
    [1, 0],
  ]);
  const all = [
    new Accuracy(),
    new metrics.BinaryCrossentropy(),
    new metrics.TopKCategoricalAccuracy({ k: 1 }),
    new metrics.AUC(),
    new metrics.Recall(),
  ];
  for (const m of all) {
    const step = (): void => {
      context.tapes = [observer];
      try {
        m.updateState(t, p, { sampleWeight: [1, 2] });
      } finally {
        context.tapes = [];
      }
      m.result().dispose();
      m.resetState();
    };
    step();
    const before = allocator.info().bytesTaken;
    for (let i = 0; i < 5; i++) step();
    expect(allocator.info().bytesTaken, m.name).toBe(before);
  }
  expect(seen).toEqual([]);
});

test('functions of the user get tensors', () => {
  const metric = new metrics.MeanMetricWrapper((yTrue, yPred) => yTrue.sub(yPred).abs(), {
    name: 'distance',
  });
  expect(metric([1, 2], [2, 4]).item()).toBe(1.5);
  expect(metrics.get((yTrue: Tensor, yPred: Tensor) => yTrue.equal(yPred).cast('float32')).name).toBe(
    'mean_metric_wrapper',
  );
});

test('ignored classes count in the mean, unless there are sample weights', () => {
  const yTrue = constant(
    [
      [1, -1],
      [0, 2],
    ],
    'int32',
  );
  const yPred = [
    [
      [0.1, 0.7, 0.2],
      [0.3, 0.3, 0.4],
    ],
    [
      [0.6, 0.2, 0.2],
      [0.2, 0.2, 0.6],
    ],
  ];
  const of = (sampleWeight: TensorLike | null): number =>
    new metrics.SparseCategoricalCrossentropy({ ignoreClass: -1 })(yTrue, yPred, { sampleWeight }).item();
  expect(of(null)).toBeCloseTo(0.34458148, 6);
  expect(of([1, 2])).toBeCloseTo(0.47228789, 6);
  expect(
    of([
      [1, 2],
      [3, 4],
    ]),
  ).toBeCloseTo(0.49155673, 6);
});

test('updates that leave the variables as they are', () => {
  const mean = new Mean();
  mean.updateState([7]);
  const first = mean.statelessUpdateState(mean.statelessResetState(), [1, 2]);
  const second = mean.statelessUpdateState(first, [6], { sampleWeight: [2] });
  expect(second.map((v) => v.item())).toEqual([15, 4]);
  expect(mean.statelessResult(second).item()).toBe(3.75);
  expect(mean.result().item()).toBe(7);
  expect(() => mean.statelessResult([1])).toThrow('got 1 values for 2 variables');
});
