import { InvalidArgumentError, nn, type Shape, type Tensor, type TensorLike } from '@eagre/core';
import {
  checkCount,
  checkFlag,
  checkList,
  checkNumber,
  type Dim,
  defineFunction,
  differs,
  dims,
  dimsOf,
  endsInOne,
  flagOption,
  integerOption,
  isInteger,
  kerasDefaults,
  kind,
  type NamedFunction,
  numberOption,
  sameShape,
  showShape,
  sizeOfDims,
  takesOptions,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import {
  alike,
  as,
  defineExampleFunction,
  type ExampleFunction,
  given,
  predictions,
  sameRank,
} from '../arrange.ts';
import { type MetricOptions, metricOptions } from './metric.ts';
import { BuiltInMean } from './reduction.ts';

function matches(a: Tensor, b: Tensor, name: string): Tensor {
  if (!sameShape(a.shape, b.shape)) {
    throw new InvalidArgumentError(
      `targets ${showShape(a.shape)} do not match predictions ${showShape(b.shape)}`,
      name,
    );
  }
  return a.equal(b).cast('float32');
}

const simple = (name: string, compute: (yTrue: TensorLike, yPred: TensorLike) => Tensor): ExampleFunction =>
  defineExampleFunction(`metrics.${name}`, {}, compute);

/** 1 where targets and predictions are equal, else 0. */
export const accuracy: ExampleFunction = simple('accuracy', (yTrue, yPred) => {
  const p = given(yPred);
  return matches(...sameRank(alike(yTrue, p.dtype), p), 'accuracy');
});

/** 1 where `yPred > threshold` is what `yTrue` says, else 0. */
export const binaryAccuracy: ExampleFunction<{
  /** Predictions above it are positive; 0.5 by default. */
  readonly threshold?: number;
}> = defineExampleFunction(
  'metrics.binaryAccuracy',
  { threshold: true },
  (yTrue, yPred, { threshold = 0.5 }) => {
    checkNumber(threshold, 'threshold', 'binaryAccuracy');
    const p = predictions(yPred);
    const [t, q] = sameRank(alike(yTrue, p.dtype), p);
    return matches(t, q.greater(threshold).cast(t.dtype), 'binaryAccuracy');
  },
);

/** 1 where target and prediction are largest at the same place of the last axis, else 0. */
export const categoricalAccuracy: ExampleFunction = simple('categoricalAccuracy', (yTrue, yPred) =>
  matches(predictions(yTrue).argMax(-1), predictions(yPred).argMax(-1), 'categoricalAccuracy'),
);

/** Labels as integers, without a last axis of 1 that the predictions do not have. Those of 32 bits stay so, with which GPUs compute. */
function labels(yTrue: TensorLike, yPred: Tensor, wanted: 'int32' | 'int64' = 'int64'): Tensor {
  const t = toTensor(yTrue, 'int64');
  const dtype = t.dtype === 'int32' ? wanted : 'int64';
  const x = isInteger(t.dtype) ? as(t, dtype) : t.cast(dtype);
  return x.rank === yPred.rank && endsInOne(x) ? x.squeeze(-1) : x;
}

/** 1 where the prediction is largest at the label, else 0. */
export const sparseCategoricalAccuracy: ExampleFunction = simple(
  'sparseCategoricalAccuracy',
  (yTrue, yPred) => {
    const p = predictions(yPred);
    const t = labels(yTrue, p, 'int32');
    const dtype = t.dtype === 'int32' ? 'int32' : 'int64';
    return matches(t, p.argMax(-1, { dtype }), 'sparseCategoricalAccuracy');
  },
);

function inTopK(label: Tensor, p: Tensor, k: number, name: string): Tensor {
  if (!sameShape(label.shape, dims(p).slice(0, -1))) {
    throw new InvalidArgumentError(
      `labels ${showShape(label.shape)} do not match predictions ${showShape(p.shape)}`,
      name,
    );
  }
  checkCount(k, 'k', name);
  const rows = p.reshape(toShape([sizeOfDims(dims(label)), dims(p).at(-1) as Dim]));
  return nn
    .inTopK(label.reshape([-1]), rows, k)
    .cast('float32')
    .reshape(label.shape);
}

/** 1 where the class of a one-hot target is among the k largest predictions, else 0. Ties count as hits. */
export const topKCategoricalAccuracy: ExampleFunction<{
  /** How many of the largest predictions count as hits; 5 by default. */
  readonly k?: number;
}> = defineExampleFunction('metrics.topKCategoricalAccuracy', { k: true }, (yTrue, yPred, { k = 5 }) =>
  inTopK(predictions(yTrue).argMax(-1), predictions(yPred), k, 'topKCategoricalAccuracy'),
);

interface SparseTopK {
  /** How many of the largest predictions count as hits; 5 by default. */
  readonly k?: number;
  /** Whether predictions are the ids of the best classes, the best first, instead of the scores of all; false unless given. */
  readonly fromSortedIds?: boolean;
}
/** 1 where the label is among the k largest predictions, else 0. Ties count as hits. */
export const sparseTopKCategoricalAccuracy: ExampleFunction<SparseTopK> = defineExampleFunction(
  'metrics.sparseTopKCategoricalAccuracy',
  { k: true, fromSortedIds: true },
  (yTrue, yPred, { k = 5, fromSortedIds = false }) => {
    const p = predictions(yPred);
    if (checkFlag(fromSortedIds, 'fromSortedIds', 'sparseTopKCategoricalAccuracy')) {
      const first = p.slice(new Array<number>(p.rank).fill(0), toShape([...dims(p).slice(0, -1), k]));
      const label = labels(yTrue, p);
      return first.equal(label.cast(p.dtype).expandDims(-1)).any(-1).cast(kerasDefaults.floatx);
    }
    return inTopK(labels(yTrue, p), p, k, 'sparseTopKCategoricalAccuracy');
  },
);

export interface BinaryAccuracyOptions extends MetricOptions {
  /** Predictions above it are positive; 0.5 unless given. */
  readonly threshold?: number;
}

/** How often predictions are equal to targets. */
export class Accuracy extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(accuracy, 'accuracy', Accuracy, args);
  }
}

/** How often predictions above `threshold` (0.5) and below go with targets of 1 and 0. */
export class BinaryAccuracy extends BuiltInMean<{ readonly threshold?: number }> {
  /** Predictions above it are positive. */
  declare readonly threshold: number;
  constructor(...args: [name?: string | null | BinaryAccuracyOptions, options?: BinaryAccuracyOptions]) {
    super(binaryAccuracy, 'binary_accuracy', BinaryAccuracy, args);
  }
}

/** How often the largest prediction is at the place of the largest target (of one-hot targets). */
export class CategoricalAccuracy extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(categoricalAccuracy, 'categorical_accuracy', CategoricalAccuracy, args);
  }
}

/** How often the largest prediction is at the label. */
export class SparseCategoricalAccuracy extends BuiltInMean {
  constructor(...args: [name?: string | null | MetricOptions, options?: MetricOptions]) {
    super(sparseCategoricalAccuracy, 'sparse_categorical_accuracy', SparseCategoricalAccuracy, args);
  }
}

/** Options of `TopKCategoricalAccuracy` and `SparseTopKCategoricalAccuracy`. */
export interface TopKOptions extends MetricOptions {
  /** How many of the largest predictions count as hits; 5 unless given. */
  readonly k?: number;
}

export interface SparseTopKOptions extends TopKOptions, SparseTopK {}

/** How often the class of a one-hot target is among the k largest predictions. */
export class TopKCategoricalAccuracy extends BuiltInMean<{ readonly k?: number }> {
  /** How many of the largest predictions count as hits. */
  declare readonly k: number;
  constructor(...args: [k?: number | null | TopKOptions, options?: TopKOptions]) {
    super(topKCategoricalAccuracy, 'top_k_categorical_accuracy', TopKCategoricalAccuracy, args);
  }
}

/** How often the label is among the k largest predictions. */
export class SparseTopKCategoricalAccuracy extends BuiltInMean<SparseTopK> {
  /** How many of the largest predictions count as hits. */
  declare readonly k: number;
  /** Whether predictions are the ids of the best classes, the best first, instead of the scores of all. */
  declare readonly fromSortedIds: boolean;
  constructor(...args: [k?: number | null | SparseTopKOptions, options?: SparseTopKOptions]) {
    super(
      sparseTopKCategoricalAccuracy,
      'sparse_top_k_categorical_accuracy',
      SparseTopKCategoricalAccuracy,
      args,
    );
  }
  override getConfig(): Record<string, unknown> {
    const { from_sorted_ids: sorted, ...config } = super.getConfig();
    // Configurations of Keras leave it out.
    return sorted === true ? { ...config, from_sorted_ids: true } : config;
  }
}

/** Whether targets and predictions of these shapes are of two classes, labels of many, or one-hot, as Keras decides. */
export function targetKind(yTrueShape: Shape, yPredShape: Shape): 'binary' | 'sparse' | 'categorical' {
  const classes = dimsOf(yPredShape).at(-1);
  if (classes === undefined || !differs(classes, 1)) return 'binary';
  return yTrueShape.length < yPredShape.length || !differs(dimsOf(yTrueShape).at(-1) ?? 0, 1)
    ? 'sparse'
    : 'categorical';
}

const kinds = {
  binary: BinaryAccuracy,
  sparse: SparseCategoricalAccuracy,
  categorical: CategoricalAccuracy,
};

/** The accuracy that `'accuracy'` means for targets and predictions of these shapes. */
export const resolveAccuracy: NamedFunction<
  [yTrueShape: Shape, yPredShape: Shape],
  ['yTrueShape', 'yPredShape'],
  unknown,
  typeof BinaryAccuracy | typeof SparseCategoricalAccuracy | typeof CategoricalAccuracy
> = defineFunction(
  'metrics.resolveAccuracy',
  { yTrueShape: kind.shape, yPredShape: kind.shape },
  {},
  (yTrueShape: Shape, yPredShape: Shape) => {
    checkList(yTrueShape, 'yTrueShape', 'metrics.resolveAccuracy');
    checkList(yPredShape, 'yPredShape', 'metrics.resolveAccuracy');
    return kinds[targetKind(yTrueShape, yPredShape)];
  },
);

takesOptions<MetricOptions, BuiltInMean>(
  { positional: ['name'], required: 0, options: metricOptions },
  Accuracy,
  CategoricalAccuracy,
  SparseCategoricalAccuracy,
);
takesOptions<BinaryAccuracyOptions, BinaryAccuracy>(
  { positional: ['name'], required: 0, options: { ...metricOptions, threshold: numberOption(0.5) } },
  BinaryAccuracy,
);
takesOptions<TopKOptions, TopKCategoricalAccuracy>(
  { positional: ['k'], required: 0, options: { k: integerOption(5, 0), ...metricOptions } },
  TopKCategoricalAccuracy,
);
takesOptions<SparseTopKOptions, SparseTopKCategoricalAccuracy>(
  {
    positional: ['k'],
    required: 0,
    options: {
      k: integerOption(5, 0),
      ...metricOptions,
      fromSortedIds: flagOption(false),
    },
  },
  SparseTopKCategoricalAccuracy,
);
