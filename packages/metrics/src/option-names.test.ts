import '@eagre/backend-js';
import { InvalidArgumentError, sub, type Tensor, type TensorLike } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { losses, metrics } from './index.ts';

type Class = new (options: object) => { readonly name: string; getConfig(): object };

const made = (space: object, base: abstract new (...args: never) => object): [string, Class][] =>
  Object.entries(space as Record<string, unknown>)
    .filter(
      (entry): entry is [string, Class] =>
        typeof entry[1] === 'function' && entry[1].prototype instanceof base,
    )
    .filter(([name]) => !['LossFunctionWrapper', 'MeanMetricWrapper'].includes(name));

describe('losses take options by the names that they know', () => {
  test.each(made(losses, losses.Loss))('%s', (name, Class) => {
    expect(() => new Class({ from_logits: true })).toThrow(
      `${name}: 'from_logits' is not an option; the options are`,
    );
    expect(new Class({ reduction: 'sum', name: 'mine' }).name).toBe('mine');
    const copy = losses.deserialize(losses.serialize(new Class({ reduction: 'sum' }) as never));
    expect(copy.reduction).toBe('sum');
  });

  test('and values of their kinds', () => {
    for (const fn of [
      () => losses.binaryCrossentropy([1], [0.5], { labelSmoothing: 'x' as never }),
      () => losses.categoricalCrossentropy([[1, 0]], [[0.5, 0.5]], { labelSmoothing: 3n as never }),
      () => losses.huber([1], [2], { delta: [1] as never }),
      () => losses.sparseCategoricalCrossentropy([1], [[0.5, 0.5]], { ignoreClass: 'a' as never }),
      () => new losses.Huber('1' as never),
      () => new losses.BinaryCrossentropy({ fromLogits: 'yes' as never }),
      () => new losses.BinaryCrossentropy({ labelSmoothing: '1' as never }),
      () => new losses.SparseCategoricalCrossentropy(1 as never),
      () => new losses.CosineSimilarity(0.5),
      () => new losses.CategoricalCrossentropy({ axis: '1' as never }),
      () => new losses.SparseCategoricalCrossentropy({ ignoreClass: 'a' as never }),
      () => new losses.SparseCategoricalCrossentropy({ axis: 1.5 }),
      () => new losses.MeanSquaredError({ dtype: 'int32' as never }),
      () => new metrics.AUC({ fromLogits: 1 as never }),
      () => metrics.binaryAccuracy([1], [1], { threshold: '1' as never }),
      () => metrics.topKCategoricalAccuracy([[1, 0]], [[1, 0]], { k: 1.5 }),
      () => new losses.LossFunctionWrapper(5 as never),
      () => losses.serialize({} as never),
      () => losses.deserialize(undefined as never),
      () => losses.get('constructor'),
      () => losses.get('__proto__'),
      () => metrics.get('constructor'),
      () => metrics.deserialize({ class_name: 'Mean' } as never),
      () => metrics.serialize(null as never),
      () => new metrics.MeanMetricWrapper('mse' as never),
      () => new metrics.Mean({ name: 5 as never }),
      () => new metrics.Mean({ dtype: 'int32' as never }),
      () => new metrics.BinaryAccuracy({ threshold: '1' as never }),
      () => new metrics.TopKCategoricalAccuracy(1.5),
      () => new metrics.CosineSimilarity({ axis: 0.5 }),
      () => new metrics.BinaryCrossentropy({ fromLogits: 'yes' as never }),
      () => new metrics.CategoricalCrossentropy({ labelSmoothing: '1' as never }),
      () => new metrics.SparseCategoricalCrossentropy({ ignoreClass: 'a' as never }),
      () => new metrics.Precision({ topK: 0 }),
      () => new metrics.Recall({ classId: 1.5 }),
      () => new metrics.FBetaScore({ average: 'mean' as never }),
      () => new metrics.F1Score({ threshold: '1' as never }),
      () => new metrics.AUC({ curve: 'roc' as never }),
      () => new metrics.AUC({ summationMethod: 'mean' as never }),
      () => new metrics.AUC({ numThresholds: 2 ** 31 }),
      () => new metrics.AUC({ thresholds: 0.5 as never }),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
  });

  test('a function as well', () => {
    const wrap = (options: object) => new losses.LossFunctionWrapper((y) => y, options);
    expect(() => wrap({ delta: 1 })).toThrow("'delta' is not an option");
    expect(wrap({ reduction: 'none' }).reduction).toBe('none');
  });
});

describe('functions take every argument by name, and refuse what they do not take', () => {
  const [y, p] = [
    [0, 1],
    [0.3, 0.8],
  ];

  test('losses', () => {
    const smooth = losses.binaryCrossentropy(y, p, { labelSmoothing: 0.1 }).item();
    expect(losses.binaryCrossentropy({ yTrue: y, yPred: p, labelSmoothing: 0.1 }).item()).toBe(smooth);
    expect(losses.binaryCrossentropy(y, { yPred: p, labelSmoothing: 0.1 }).item()).toBe(smooth);
    expect(losses.mse(y, p, null).item()).toBeCloseTo(0.065);
    expect(() => losses.huber(y, p, 2 as never)).toThrow('only yTrue and yPred can be given by position');
    expect(() => losses.huber(y, p, 2 as never)).toThrow('write { delta: 2 }');
    expect(() => losses.mse(y, p, { reduction: 'sum' } as never)).toThrow("'reduction' is not an option");
    expect(() => losses.mae(y as never)).toThrow('yPred must be given: write losses.meanAbsoluteError(');
    expect(() => losses.binaryCrossentropy(y, p, { fromLogits: 'no' as never })).toThrow(
      "fromLogits is 'no', expected true or false",
    );
  });

  test('metrics', () => {
    expect(metrics.binaryAccuracy({ yTrue: y, yPred: p, threshold: 0.9 }).array()).toEqual([1, 0]);
    expect(() => metrics.topKCategoricalAccuracy([[1, 0]], [[1, 0]], 3 as never)).toThrow('write { k: 3 }');
    expect(metrics.resolveAccuracy({ yTrueShape: [2, 1], yPredShape: [2, 1] })).toBe(metrics.BinaryAccuracy);
    expect(() => metrics.resolveAccuracy([2], 'ab' as never)).toThrow('yPredShape must be an array');
  });

  test('get, serialize and deserialize', () => {
    class Mine extends losses.Huber {}
    const written = losses.serialize({ loss: new Mine({ delta: 2 }) });
    for (const made of [
      losses.deserialize(written, { Mine }),
      losses.deserialize(written, { customObjects: { Mine } }),
      losses.deserialize({ config: written, customObjects: { Mine } }),
    ]) {
      expect(made).toBeInstanceOf(Mine);
      expect((made as Mine).delta).toBe(2);
    }
    expect(losses.get({ identifier: 'mse' })).toBeInstanceOf(losses.MeanSquaredError);
    expect(losses.get(losses.serialize(new losses.Huber()))).toBeInstanceOf(losses.Huber);
    const get = losses.get as (...args: unknown[]) => unknown;
    expect(() => get('mse', { reduction: 'sum' })).toThrow("'reduction' is not an option");
    expect(() => losses.deserialize(written, 3 as never)).toThrow('customObjects must be classes by name');
    const shapes = { yTrueShape: [4, 1], yPredShape: [4, 1] };
    expect(metrics.get({ identifier: 'mse' })).toBeInstanceOf(metrics.MeanSquaredError);
    expect(metrics.get({ identifier: 'accuracy', ...shapes })).toBeInstanceOf(metrics.BinaryAccuracy);
    expect(() => metrics.get('accuracy', { yTrueShape: [4] })).toThrow('give both');
    expect(metrics.deserialize({ config: metrics.serialize({ metric: new metrics.AUC() }) }).name).toBe(
      'auc',
    );
  });

  test('a function of Keras as a metric has its name there', () => {
    expect(metrics.get(losses.meanSquaredError).name).toBe('mean_squared_error');
    expect(losses.get(losses.meanSquaredError).name).toBe('mean_squared_error');
  });
});

describe('metrics take options by the names that they know', () => {
  const needed: Readonly<Record<string, object>> = {
    IoU: { numClasses: 3, targetClassIds: [0] },
    MeanIoU: { numClasses: 3 },
    OneHotIoU: { numClasses: 3, targetClassIds: [0] },
    OneHotMeanIoU: { numClasses: 3 },
    PrecisionAtRecall: { recall: 0.5 },
    RecallAtPrecision: { precision: 0.5 },
    SensitivityAtSpecificity: { specificity: 0.5 },
    SpecificityAtSensitivity: { sensitivity: 0.5 },
  };
  test.each(made(metrics, metrics.Metric))('%s', (name, Class) => {
    const own = needed[name] ?? {};
    expect(() => new Class({ ...own, nmae: 'mine' })).toThrow(
      `${name}: 'nmae' is not an option; the options are`,
    );
    expect(new Class({ ...own, name: 'mine', dtype: 'float64' }).name).toBe('mine');
    const metric = new Class({ ...own, name: 'mine' });
    expect(metrics.deserialize(metrics.serialize(metric as never)).name).toBe('mine');
    if (needed[name] !== undefined) expect(() => new Class({})).toThrow(/must be given: write new/);
  });

  test('those of classes count weights as they are, and read what Keras writes', () => {
    // 'int64' is what Keras writes for IoU metrics.
    for (const dtype of ['int', 'int64']) {
      const iou = metrics.deserialize({ class_name: 'MeanIoU', config: { num_classes: 2, dtype } });
      iou.updateState([0, 0, 1, 1], [0, 1, 0, 1], [0.3, 0.3, 0.3, 0.1]);
      expect(iou.result().item()).toBeCloseTo(0.23809525, 6);
    }
    expect(() => new metrics.IoU(2, [2])).toThrow('the target class 2 is not among 2 classes');
    expect(() => new metrics.IoU(0, [0])).toThrow('numClasses must be an integer from 1 to');
    expect(() => new metrics.IoU(2, [])).toThrow('targetClassIds must be a list of integers');
    expect(() => new metrics.MeanIoU(2).updateState([0, 1], [0])).toThrow('there are [2] targets and [1]');
    expect(() => new metrics.PrecisionAtRecall(2)).toThrow('recall must be in [0, 1], got 2');
    expect(() => new metrics.TruePositives([])).toThrow('thresholds must be in [0, 1]');
    expect(() => new metrics.R2Score('mean' as never)).toThrow('classAggregation must be');
    expect(() => new metrics.R2Score().result()).toThrow('no update yet');
    expect(() => new metrics.R2Score().updateState([1, 2], [1, 3])).toThrow('must both be [batch, outputs]');
    const none = new metrics.MeanIoU(2);
    expect(none.result().item()).toBe(0);
  });

  test('and have them as properties, with their defaults', () => {
    expect({ ...new metrics.BinaryAccuracy() }).toMatchObject({ threshold: 0.5, dtype: 'float32' });
    expect({ ...new metrics.BinaryAccuracy() }.fnOptions).toEqual({ threshold: 0.5 });
    expect(new metrics.SparseTopKCategoricalAccuracy({ k: null as never }).k).toBe(5);
    expect({ ...new metrics.AUC() }).toMatchObject({ curve: 'ROC', fromLogits: false });
    expect({ ...new metrics.F1Score() }).toMatchObject({ average: null, beta: 1, threshold: null });
    expect({ ...new metrics.Precision() }).toMatchObject({ topK: null, classId: null });
    const { fnOptions } = new metrics.SparseCategoricalCrossentropy({ axis: 1 });
    expect(fnOptions).toEqual({ fromLogits: false, ignoreClass: null, axis: 1 });
    expect(new metrics.BinaryCrossentropy().getConfig()).not.toHaveProperty('axis');
  });

  test('what Keras writes, where it is off', () => {
    const config = { name: 'area', num_thresholds: 10, multi_label: false, label_weights: null };
    expect(metrics.deserialize({ class_name: 'AUC', config }).name).toBe('area');
    const several = { class_name: 'AUC', config: { ...config, multi_label: true } };
    expect((metrics.deserialize(several) as metrics.AUC).multiLabel).toBe(true);
  });

  test('weights by position and by name', () => {
    const loss = new losses.MeanSquaredError('none');
    const [y, p] = [
      [[1], [1]],
      [[2], [2]],
    ];
    expect(loss(y, p, [1, 10]).array()).toEqual([1, 10]);
    expect(loss(y, p, { sampleWeight: [1, 10] }).array()).toEqual([1, 10]);
    expect(loss(y, p, null).array()).toEqual([1, 1]);
    expect(() => loss(y, p, { sample_weight: [1, 10] } as never)).toThrow("did you mean 'sampleWeight'?");
    const mean = new metrics.Mean();
    mean.updateState([1, 3], [1, 0]);
    expect(mean.result().item()).toBe(1);
    const accuracy = new metrics.Accuracy();
    accuracy.updateState([1, 2], [1, 3], [3, 1]);
    expect(accuracy.result().item()).toBe(0.75);
    expect(accuracy([1], [1], { sampleWeight: 4 }).item()).toBe(0.875);
    const precision = new metrics.Precision(0.7);
    precision.updateState([1, 0], [0.8, 0.6], [1, 5]);
    expect(precision.result().item()).toBe(1);
    expect(() => mean.updateState([1], { weight: 1 } as never)).toThrow(
      "Mean.updateState: 'weight' is not an option",
    );
  });

  test('F1Score has no beta, and functions of users get all options', () => {
    expect(() => new metrics.F1Score({ beta: 2 } as object)).toThrow("F1Score: 'beta' is not an option");
    const power = new metrics.MeanMetricWrapper((t, p, o: { power: number }) => sub(p, t).pow(o.power), {
      power: 3,
    });
    expect(power([0], [2]).item()).toBe(8);
  });
});

describe('calls and methods take every argument by name, and refuse what they do not take', () => {
  const [y, p] = [
    [[1], [1]],
    [[2], [4]],
  ];

  test('losses', () => {
    const loss = new losses.MeanSquaredError('none');
    expect(loss({ yTrue: y, yPred: p, sampleWeight: [1, 10] }).array()).toEqual([1, 90]);
    expect(loss(y, { yPred: p }).array()).toEqual([1, 9]);
    const call = loss as unknown as (...args: unknown[]) => unknown;
    expect(() => call(y, p, [1, 1], 2)).toThrow('loss: takes at most 3 arguments');
    expect(() => call({ yTrue: y })).toThrow(
      'yPred must be given: write loss(yTrue, yPred, { sampleWeight })',
    );
    expect(() => (loss.call as typeof call)(y, p, [1, 1])).toThrow('MeanSquaredError.call: takes at most 2');
  });

  test('metrics', () => {
    const mean = new metrics.Mean();
    mean.updateState({ values: [1, 3], sampleWeight: [3, 1] });
    expect(mean.result().item()).toBe(1.5);
    expect(mean({ values: 1.5 }).item()).toBe(1.5);
    const precision = new metrics.Precision();
    precision.updateState({ yTrue: [1, 0], yPred: [0.8, 0.6], sampleWeight: [1, 3] });
    expect(precision.result().item()).toBe(0.25);
    const loose = (metric: object): Record<string, (...args: unknown[]) => unknown> => metric as never;
    expect(() => loose(precision).updateState?.(y, p, [1], 2)).toThrow('takes at most 3 arguments');
    for (const name of ['result', 'resetState', 'resetStates'])
      expect(() => loose(mean)[name]?.(1)).toThrow(`.${name}: takes at most 0 arguments`);
    expect(() => loose(mean).addWeight?.('count')).toThrow("write { shape: 'count' }");
    expect(() => mean.addWeight({ nmae: 'count' } as never)).toThrow(
      "'nmae' is not an option; the options are shape",
    );
    expect(() => mean.addVariable({ name: 3 as never })).toThrow('name must be a string, got 3');
  });

  test('hooks of classes of users get what is given', () => {
    const seen: unknown[][] = [];
    class Own extends metrics.Metric {
      override updateState(...args: unknown[]): void {
        seen.push(args);
      }
      override result(): ReturnType<typeof sub> {
        return sub(2, 1);
      }
    }
    new Own()({ a: 1 }, 'b', null);
    expect(seen).toEqual([[{ a: 1 }, 'b', null]]);
    class Twice extends metrics.Mean {
      override updateState(values: TensorLike, sampleWeight?: TensorLike | null): void {
        super.updateState(values, { sampleWeight: sampleWeight ?? 1 });
        super.updateState({ values });
      }
    }
    expect(new Twice()([1, 3]).item()).toBe(2);
    class Cubed extends losses.Loss {
      override call(yTrue: Tensor, yPred: Tensor): Tensor {
        return yPred.sub(yTrue).pow(3);
      }
    }
    expect(new Cubed({ reduction: 'sum' })({ yTrue: y, yPred: p, sampleWeight: [2, 1] }).item()).toBe(29);
  });
});
