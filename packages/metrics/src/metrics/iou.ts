// How well areas agree: intersection over union (Jaccard, 1901), of a matrix that counts targets by predictions.
import {
  constant,
  InvalidArgumentError,
  linalg,
  scope,
  type Tensor,
  type TensorLike,
  type Variable,
  where,
} from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  integerOption,
  kerasDefaults,
  numberOption,
  type Option,
  orNull,
  sameShape,
  shown,
  showShape,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { alike, predictions } from '../arrange.ts';
import type { ExampleArguments, SampleWeight } from '../losses/loss.ts';
import { defineUpdates, dtypeOption, Metric, type MetricOptions, update } from './metric.ts';

interface ConfusionOptions extends MetricOptions {
  /** A label that counts for nothing, such as -1 or 255 for what belongs to no class. */
  readonly ignoreClass?: number | null;
  /** Whether predictions are labels; otherwise the class with the largest value is predicted. */
  readonly sparseYPred?: boolean;
  /** The axis of the classes, where targets or predictions are no labels; the last unless given. */
  readonly axis?: number;
}
/** Options of `IoU`. */
export interface IoUOptions extends ConfusionOptions {
  /** Whether targets are labels; otherwise the class with the largest value is meant. */
  readonly sparseYTrue?: boolean;
}
/** Options of `OneHotIoU`. */
export interface OneHotIoUOptions extends ConfusionOptions {}

interface ClassesArgument {
  /** How many classes there are; labels are from 0 to one less. */
  readonly numClasses: number;
}
interface TargetsArgument {
  /** The mean over these classes is the result. */
  readonly targetClassIds: readonly number[];
}
/** All arguments of `IoU`, by name. */
export type IoUArguments = IoUOptions & ClassesArgument & TargetsArgument;
/** All arguments of `MeanIoU`, by name. */
export type MeanIoUArguments = IoUOptions & ClassesArgument;
/** All arguments of `OneHotIoU`, by name. */
export type OneHotIoUArguments = OneHotIoUOptions & ClassesArgument & TargetsArgument;
/** All arguments of `OneHotMeanIoU`, by name. */
export type OneHotMeanIoUArguments = OneHotIoUOptions & ClassesArgument;

/** Options of `BinaryIoU`. */
export interface BinaryIoUOptions extends MetricOptions {
  /** 0, 1, or both; both unless given. */
  readonly targetClassIds?: readonly number[] | null;
  /** Predictions from it on are of class 1; 0.5 unless given. */
  readonly threshold?: number;
}

/** What an update takes into account: options, where the class has them. */
interface How {
  readonly sparseYTrue: boolean;
  readonly sparseYPred: boolean;
  readonly ignoreClass: number | null;
  readonly axis: number;
}

/** Sample weights count as they are; Keras drops their fractions unless the metric has a dtype of floats. */
abstract class ConfusionMatrix extends Metric {
  /** [classes, classes], targets by predictions. */
  readonly totalConfusionMatrix: Variable;
  readonly #classes: number;
  readonly #targets: readonly number[];

  constructor(options: MetricOptions, classes: number, targets: readonly number[] | null) {
    super(options);
    const wrong = targets?.find((id) => id >= classes);
    if (wrong !== undefined)
      throw new InvalidArgumentError(`the target class ${wrong} is not among ${classes} classes`, this.name);
    this.#classes = classes;
    this.#targets = targets ?? Array.from({ length: classes }, (_, i) => i);
    this.totalConfusionMatrix = this.addWeight({ name: 'total_confusion_matrix', shape: [classes, classes] });
  }

  override updateState(...args: ExampleArguments): void;
  override updateState(yTrue: TensorLike, yPred: TensorLike, sampleWeight: SampleWeight = null): void {
    update(() => {
      const how = this as Partial<How>;
      const { sparseYTrue = true, sparseYPred = true, ignoreClass = null, axis = -1 } = how;
      const labels = (given: Tensor, sparse: boolean): Tensor =>
        (sparse ? given.cast('int32') : given.argMax(axis).cast('int32')).reshape([-1]);
      const t = labels(toTensor(yTrue), sparseYTrue);
      const p = labels(this.predicted(yPred), sparseYPred);
      if (!sameShape(t.shape, p.shape))
        throw new InvalidArgumentError(
          `there are ${showShape(t.shape)} targets and ${showShape(p.shape)} predictions`,
          this.name,
        );
      let weights: Tensor = constant(1, this.dtype);
      if (sampleWeight !== null) {
        const given = alike(sampleWeight, this.dtype);
        weights = given.rank > 1 ? given.reshape([-1]) : given;
      }
      weights = weights.broadcastTo(t.shape);
      if (ignoreClass !== null) weights = where(t.notEqual(ignoreClass), weights, constant(0, this.dtype));
      // What is no class has no row, or no column.
      const rows = t.oneHot(this.#classes, { dtype: this.dtype }).mul(weights.expandDims(1));
      const columns = p.oneHot(this.#classes, { dtype: this.dtype });
      this.totalConfusionMatrix.assignAdd(rows.matmul(columns, { transposeA: true }));
    });
  }

  /** @internal Predictions, as labels or as values of all classes. */
  protected predicted(yPred: TensorLike): Tensor {
    return toTensor(yPred);
  }

  override result(): Tensor {
    return scope(() => {
      const matrix = this.totalConfusionMatrix.read();
      const both = linalg.diagPart(matrix);
      const either = matrix.sum(0).add(matrix.sum(1)).sub(both);
      const ids = constant([...this.#targets], 'int32');
      const [common, all] = [both.gather(ids), either.gather(ids)];
      // A class that neither targets nor predictions have is left out.
      const there = all.greater(1e-9);
      const each = where(there, common.div(all.add(kerasDefaults.epsilon)), constant(0, this.dtype));
      return each.sum().div(there.cast(this.dtype).sum().add(kerasDefaults.epsilon));
    });
  }
}

/** The intersection over union of some classes; their mean. Targets and predictions are labels unless said otherwise. */
export class IoU extends ConfusionMatrix {
  /** How many classes there are; labels are from 0 to one less. */
  declare readonly numClasses: number;
  /** The mean over these classes is the result. */
  declare readonly targetClassIds: readonly number[];
  constructor(
    ...args:
      | [numClasses: number, targetClassIds: readonly number[], options?: IoUOptions]
      | [options: IoUArguments]
  ) {
    const given = argumentsOf<IoUArguments>(IoU, new.target, args);
    super(given, given.numClasses, given.targetClassIds);
  }
}

/** The mean intersection over union of all classes. */
export class MeanIoU extends ConfusionMatrix {
  /** How many classes there are; labels are from 0 to one less. */
  declare readonly numClasses: number;
  constructor(...args: [numClasses: number | MeanIoUArguments, options?: IoUOptions]) {
    const given = argumentsOf<MeanIoUArguments>(MeanIoU, new.target, args);
    super(given, given.numClasses, null);
  }
}

/** The intersection over union of some classes, of one-hot targets and values of all classes. */
export class OneHotIoU extends ConfusionMatrix {
  /** Whether targets are labels; otherwise the class with the largest value is meant. */
  readonly sparseYTrue: boolean = false;
  /** How many classes there are; labels are from 0 to one less. */
  declare readonly numClasses: number;
  /** The mean over these classes is the result. */
  declare readonly targetClassIds: readonly number[];
  constructor(
    ...args:
      | [numClasses: number, targetClassIds: readonly number[], options?: OneHotIoUOptions]
      | [options: OneHotIoUArguments]
  ) {
    const given = argumentsOf<OneHotIoUArguments>(OneHotIoU, new.target, args);
    super(given, given.numClasses, given.targetClassIds);
  }
}

/** The mean intersection over union of all classes, of one-hot targets and values of all classes. */
export class OneHotMeanIoU extends ConfusionMatrix {
  /** Whether targets are labels; otherwise the class with the largest value is meant. */
  readonly sparseYTrue: boolean = false;
  /** How many classes there are; labels are from 0 to one less. */
  declare readonly numClasses: number;
  constructor(...args: [numClasses: number | OneHotMeanIoUArguments, options?: OneHotIoUOptions]) {
    const given = argumentsOf<OneHotMeanIoUArguments>(OneHotMeanIoU, new.target, args);
    super(given, given.numClasses, null);
  }
}

/** The intersection over union of class 0, class 1 or both, of predictions that a threshold makes labels. */
export class BinaryIoU extends ConfusionMatrix {
  /** 0, 1, or both. */
  declare readonly targetClassIds: readonly number[];
  /** Predictions from it on are of class 1. */
  declare readonly threshold: number;
  constructor(
    ...args: [targetClassIds?: readonly number[] | null | BinaryIoUOptions, options?: BinaryIoUOptions]
  ) {
    const given = argumentsOf<BinaryIoUOptions>(BinaryIoU, new.target, args);
    super(given, 2, given.targetClassIds ?? [0, 1]);
  }
  protected override predicted(yPred: TensorLike): Tensor {
    return predictions(yPred).greaterEqual(this.threshold);
  }
}

const classCount: Option<number> = {
  read: (given, name, of) => {
    if (!Number.isSafeInteger(given) || (given as number) < 1 || (given as number) > 2 ** 15)
      throw new InvalidArgumentError(
        `${name} must be an integer from 1 to ${2 ** 15}, got ${shown(given)}`,
        (of as Metric).name,
      );
    return given as number;
  },
};
const classIds = (otherwise?: readonly number[]): Option<readonly number[]> => ({
  read: (given, name, of) => {
    const list = given ?? otherwise;
    if (!Array.isArray(list) || list.length === 0 || !list.every((id) => Number.isSafeInteger(id) && id >= 0))
      throw new InvalidArgumentError(
        `${name} must be a list of integers of at least 0, got ${shown(given)}`,
        (of as Metric).name,
      );
    return [...list];
  },
});
const ignoreClass = orNull(integerOption(0));
const axis = integerOption(-1);
// Keras counts in integers by default, and says so in its configurations.
const dtype: typeof dtypeOption = {
  read: (given, name, of) =>
    dtypeOption.read(['int', 'int32', 'int64'].includes(given as string) ? undefined : given, name, of),
};
const own = { name: true, dtype } as const;
takesOptions<IoUArguments, IoU>(
  {
    positional: ['numClasses', 'targetClassIds'],
    options: {
      numClasses: classCount,
      targetClassIds: classIds(),
      ...own,
      ignoreClass,
      sparseYTrue: flagOption(true),
      sparseYPred: flagOption(true),
      axis,
    },
  },
  IoU,
);
takesOptions<MeanIoUArguments, MeanIoU>(
  {
    positional: ['numClasses'],
    options: {
      numClasses: classCount,
      ...own,
      ignoreClass,
      sparseYTrue: flagOption(true),
      sparseYPred: flagOption(true),
      axis,
    },
  },
  MeanIoU,
);
takesOptions<OneHotIoUArguments, OneHotIoU>(
  {
    positional: ['numClasses', 'targetClassIds'],
    options: {
      numClasses: classCount,
      targetClassIds: classIds(),
      ...own,
      ignoreClass,
      sparseYPred: flagOption(false),
      axis,
    },
  },
  OneHotIoU,
);
takesOptions<OneHotMeanIoUArguments, OneHotMeanIoU>(
  {
    positional: ['numClasses'],
    options: { numClasses: classCount, ...own, ignoreClass, sparseYPred: flagOption(false), axis },
  },
  OneHotMeanIoU,
);
takesOptions<BinaryIoUOptions, BinaryIoU>(
  {
    positional: ['targetClassIds'],
    required: 0,
    options: { targetClassIds: classIds([0, 1]), threshold: numberOption(0.5), ...own },
  },
  BinaryIoU,
);
defineUpdates(ConfusionMatrix, 'Metric');
for (const c of [IoU, MeanIoU, OneHotIoU, OneHotMeanIoU, BinaryIoU]) defineUpdates(c, c.name);
