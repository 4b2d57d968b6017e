import {
  div,
  fill,
  InvalidArgumentError,
  maximum,
  nn,
  oneHot,
  sub,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import {
  checkFlag,
  type Dim,
  dims,
  endsInOne,
  iota,
  isInteger,
  kerasDefaults,
  logitsFor,
  normalizeAxis,
  type OptionNames,
  sameShape,
  shown,
  showShape,
  sizeValue,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import {
  alike,
  as,
  checkFit,
  defineExampleFunction,
  type ExampleFunction,
  predictions,
  sameRank,
} from '../arrange.ts';

/** Options of `binaryCrossentropy` and `categoricalCrossentropy`. */
export interface CrossentropyOptions {
  /** `yPred` holds logits instead of probabilities. */
  readonly fromLogits?: boolean;
  /** Moves the targets that far toward the uniform distribution; from 0 to 1. */
  readonly labelSmoothing?: number;
  /** The axis of the classes; the last unless given. */
  readonly axis?: number;
}
/** Options of `sparseCategoricalCrossentropy`. */
export interface SparseCrossentropyOptions {
  /** Whether `yPred` holds logits instead of probabilities; false by default. */
  readonly fromLogits?: boolean;
  /** A label whose places count for nothing, such as -1 for padding. */
  readonly ignoreClass?: number | null;
  /** The axis of the classes in `yPred`; the last by default. */
  readonly axis?: number;
}

/** A number. @throws InvalidArgumentError */
function numeric(value: number, what: string): number {
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new InvalidArgumentError(`${what} must be a number, got ${shown(value)}`);
  return value;
}

/** A loss of each example. Targets take the dtype of the predictions. */
export type LossFunction<O = object> = ExampleFunction<O>;

function define<O extends object>(
  name: string,
  options: NoInfer<OptionNames<O>>,
  body: (yTrue: Tensor, yPred: Tensor, options: O) => Tensor,
  check: (yTrue: Tensor, yPred: Tensor) => void = checkFit,
): LossFunction<O> {
  return defineExampleFunction(`losses.${name}`, options, (yTrue, yPred, given) => {
    const p = predictions(yPred);
    const [t, q] = sameRank(alike(yTrue, p.dtype), p);
    check(t, q);
    return body(t, q, given);
  });
}

const simple = (name: string, body: (yTrue: Tensor, yPred: Tensor) => Tensor): LossFunction =>
  define(name, {}, body);

/** @param hint what might have been meant */
function sameShapes(name: string, hint = ''): (yTrue: Tensor, yPred: Tensor) => void {
  return (yTrue, yPred) => {
    if (sameShape(yTrue.shape, yPred.shape)) return;
    throw new InvalidArgumentError(
      `yTrue ${showShape(yTrue.shape)} and yPred ${showShape(yPred.shape)} must have the same shape${hint}`,
      name,
    );
  };
}

/** mean((yTrue − yPred)²) over the last axis. */
export const meanSquaredError: LossFunction = simple('meanSquaredError', (t, p) =>
  t.sub(p).square().mean(-1),
);

/** mean(|yTrue − yPred|) over the last axis. */
export const meanAbsoluteError: LossFunction = simple('meanAbsoluteError', (t, p) => t.sub(p).abs().mean(-1));

/** 100 · mean(|(yTrue − yPred) / yTrue|) over the last axis; |yTrue| counts as 1e-7 at least. */
export const meanAbsolutePercentageError: LossFunction = simple('meanAbsolutePercentageError', (t, p) =>
  t.sub(p).div(maximum(t.abs(), kerasDefaults.epsilon)).abs().mean(-1).mul(100),
);

/** mean((log(yTrue + 1) − log(yPred + 1))²) over the last axis; values below 1e-7 count as that. */
export const meanSquaredLogarithmicError: LossFunction = simple('meanSquaredLogarithmicError', (t, p) => {
  const log = (x: Tensor): Tensor => maximum(x, kerasDefaults.epsilon).add(1).log();
  return log(p).sub(log(t)).square().mean(-1);
});

/** Mean over the last axis of e²/2 where |e| ≤ delta and delta · |e| − delta²/2 elsewhere, e = yPred − yTrue. Huber, 1964. */
export const huber: LossFunction<{
  /** Where the loss turns from quadratic to linear; 1 by default. */
  readonly delta?: number;
}> = define('huber', { delta: true }, (t, p, { delta = 1 }) => {
  numeric(delta, 'delta');
  const error = p.sub(t);
  const size = error.abs();
  return where(size.lessEqual(delta), error.square().mul(0.5), size.mul(delta).sub(0.5 * delta * delta)).mean(
    -1,
  );
});

/** mean(log(cosh(yPred − yTrue))) over the last axis. */
export const logCosh: LossFunction = simple('logCosh', (t, p) => {
  const error = p.sub(t);
  return error.add(error.mul(-2).softplus()).sub(Math.LN2).mean(-1);
});

/** Σ yTrue · log(yTrue / yPred) over the last axis, both clipped to [1e-7, 1]. */
export const klDivergence: LossFunction = simple('klDivergence', (t, p) => {
  const target = t.clipByValue(kerasDefaults.epsilon, 1);
  return target.mul(target.div(p.clipByValue(kerasDefaults.epsilon, 1)).log()).sum(-1);
});

/** mean(yPred − yTrue · log(yPred + 1e-7)) over the last axis. */
export const poisson: LossFunction = simple('poisson', (t, p) =>
  p.sub(t.mul(p.add(kerasDefaults.epsilon).log())).mean(-1),
);

/** Targets of 0 and 1, if that is all there is, as −1 and 1. */
function signs(t: Tensor): Tensor {
  const binary = t.equal(0).logicalOr(t.equal(1)).all();
  return where(binary, t.mul(2).sub(1), t);
}

/** mean(max(1 − yTrue · yPred, 0)) over the last axis; targets are −1 and 1 (0 and 1 are converted). */
export const hinge: LossFunction = simple('hinge', (t, p) => maximum(sub(1, signs(t).mul(p)), 0).mean(-1));

/** mean(max(1 − yTrue · yPred, 0)²) over the last axis; targets are −1 and 1 (0 and 1 are converted). */
export const squaredHinge: LossFunction = simple('squaredHinge', (t, p) =>
  maximum(sub(1, signs(t).mul(p)), 0)
    .square()
    .mean(-1),
);

/** max(neg − pos + 1, 0), pos = Σ yTrue · yPred, neg = max((1 − yTrue) · yPred) over the last axis. */
export const categoricalHinge: LossFunction = simple('categoricalHinge', (t, p) => {
  const pos = t.mul(p).sum(-1);
  const neg = sub(1, t).mul(p).max(-1);
  return maximum(neg.sub(pos).add(1), 0);
});

/** −Σ l2norm(yTrue) · l2norm(yPred): −1 for the same direction, 0 for orthogonal ones, 1 for opposite ones. */
export const cosineSimilarity: LossFunction<{
  /** The axis of the vectors whose angle is meant; the last by default. */
  readonly axis?: number;
}> = define('cosineSimilarity', { axis: true }, (t, p, { axis = -1 }) => {
  const unit = (x: Tensor): Tensor =>
    x.mul(
      maximum(
        x.square().sum(axis, { keepdims: true }),
        kerasDefaults.epsilon * kerasDefaults.epsilon,
      ).rsqrt(),
    );
  return unit(t).mul(unit(p)).sum(axis).neg();
});

const crossentropyOptions: OptionNames<CrossentropyOptions> = {
  fromLogits: true,
  labelSmoothing: true,
  axis: true,
};

/** Targets that were moved toward the uniform distribution of so many classes. */
function smoothed(t: Tensor, smoothing: number, classes: Dim): Tensor {
  if (smoothing === 0) return t;
  const n = sizeValue(classes, t.dtype);
  return t.mul(1 - smoothing).add(typeof n === 'number' ? smoothing / n : div(smoothing, n));
}

/** −(y · log(p) + (1 − y) · log(1 − p)), p clipped to [1e-7, 1 − 1e-7], or the same from what p is the sigmoid of. */
function binaryEntropy(labels: Tensor, p: Tensor, logits: Tensor | null): Tensor {
  if (logits !== null) return nn.sigmoidCrossEntropyWithLogits(labels, logits);
  const q = p.clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon);
  return labels
    .mul(q.log())
    .add(sub(1, labels).mul(sub(1, q).log()))
    .neg();
}

/**
 * Cross-entropy of independent yes-or-no targets, the mean over the last axis: −(y · log(p) + (1 − y) · log(1 − p)). Probabilities that
 * a sigmoid gave, as an activation or a layer, carry what went into it, and the loss is computed from that, as in Keras: nothing is lost where
 * they are 0 or 1. Others are clipped to [1e-7, 1 − 1e-7].
 */
export const binaryCrossentropy: LossFunction<CrossentropyOptions> = define(
  'binaryCrossentropy',
  crossentropyOptions,
  (t, p, options) => {
    const { labelSmoothing = 0, axis = -1 } = options;
    const fromLogits = checkFlag(options.fromLogits, 'fromLogits', 'losses.binaryCrossentropy');
    const smoothing = numeric(labelSmoothing, 'labelSmoothing');
    const logits = logitsFor(p, 'Sigmoid', fromLogits, 'losses.binaryCrossentropy');
    return binaryEntropy(smoothed(t, smoothing, 2), p, logits).mean(axis);
  },
  sameShapes('binaryCrossentropy'),
);

/**
 * Cross-entropy of distributions (one-hot targets, say): −Σ y · log(p) over the classes. Probabilities that a softmax gave, as an
 * activation or a layer, carry what went into it, and the loss is computed from that, as in Keras. Others are scaled to a sum of 1 and clipped
 * to [1e-7, 1 − 1e-7].
 */
export const categoricalCrossentropy: LossFunction<CrossentropyOptions> = define(
  'categoricalCrossentropy',
  crossentropyOptions,
  (t, p, options) => {
    const { labelSmoothing = 0, axis = -1 } = options;
    const fromLogits = checkFlag(options.fromLogits, 'fromLogits', 'losses.categoricalCrossentropy');
    const at = normalizeAxis(axis, p.rank, 'categoricalCrossentropy');
    const smoothing = numeric(labelSmoothing, 'labelSmoothing');
    const labels = smoothed(t, smoothing, dims(t)[at]);
    const logits = logitsFor(p, 'Softmax', fromLogits, 'losses.categoricalCrossentropy');
    if (logits !== null) return nn.softmaxCrossEntropyWithLogits({ labels, logits, axis: at });
    const q = p
      .div(p.sum(at, { keepdims: true }))
      .clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon);
    return labels.mul(q.log()).sum(at).neg();
  },
  sameShapes('categoricalCrossentropy', '; sparseCategoricalCrossentropy takes labels'),
);

export interface FocalOptions {
  /** Weight of class 1; the other has 1 − alpha. 0.25 unless given. */
  readonly alpha?: number;
  /** How much less examples count that are predicted well; 2 unless given. */
  readonly gamma?: number;
}
/** Options of `binaryFocalCrossentropy`. */
export interface BinaryFocalOptions extends CrossentropyOptions, FocalOptions {
  /** Whether classes are weighted by alpha; false unless given. */
  readonly applyClassBalancing?: boolean;
}
/** Options of `categoricalFocalCrossentropy`. */
export interface CategoricalFocalOptions extends CrossentropyOptions {
  /** A weight for all classes, or one for each; 0.25 unless given. */
  readonly alpha?: number | readonly number[];
  /** How much less classes count that are predicted well; 2 unless given. */
  readonly gamma?: number;
}

/**
 * Cross-entropy of yes-or-no targets in which examples that are predicted well count less: (1 − p)^gamma · −log(p), p the probability of
 * the target; the mean over the last axis (Lin et al., 2017). The logarithms are those of `binaryCrossentropy`.
 */
export const binaryFocalCrossentropy: LossFunction<BinaryFocalOptions> = define(
  'binaryFocalCrossentropy',
  { applyClassBalancing: true, alpha: true, gamma: true, ...crossentropyOptions },
  (t, p, options) => {
    const { alpha = 0.25, gamma = 2, labelSmoothing = 0, axis = -1 } = options;
    const name = 'losses.binaryFocalCrossentropy';
    const balanced = checkFlag(options.applyClassBalancing, 'applyClassBalancing', name);
    const fromLogits = checkFlag(options.fromLogits, 'fromLogits', name);
    const smoothing = numeric(labelSmoothing, 'labelSmoothing');
    const labels = smoothed(t, smoothing, 2);
    const others = sub(1, labels);
    const q = fromLogits ? p.sigmoid() : p;
    const entropy = binaryEntropy(labels, q, fromLogits ? p : logitsFor(p, 'Sigmoid', false, name));
    const missed = sub(1, labels.mul(q).add(others.mul(sub(1, q))));
    const focal = missed.pow(numeric(gamma, 'gamma')).mul(entropy);
    numeric(alpha, 'alpha');
    return (
      balanced
        ? labels
            .mul(alpha)
            .add(others.mul(1 - alpha))
            .mul(focal)
        : focal
    ).mean(axis);
  },
  sameShapes('binaryFocalCrossentropy'),
);

/**
 * Cross-entropy of one-hot targets in which classes that are predicted well count less: Σ alpha · (1 − p)^gamma · −y · log(p) over the classes
 * (Lin et al., 2017). Probabilities are scaled to a sum of 1 and clipped to [1e-7, 1 − 1e-7].
 */
export const categoricalFocalCrossentropy: LossFunction<CategoricalFocalOptions> = define(
  'categoricalFocalCrossentropy',
  { alpha: true, gamma: true, ...crossentropyOptions },
  (t, p, options) => {
    const { alpha = 0.25, gamma = 2, labelSmoothing = 0, axis = -1 } = options;
    const fromLogits = checkFlag(options.fromLogits, 'fromLogits', 'losses.categoricalFocalCrossentropy');
    const at = normalizeAxis(axis, p.rank, 'categoricalFocalCrossentropy');
    const smoothing = numeric(labelSmoothing, 'labelSmoothing');
    const labels = smoothed(t, smoothing, dims(t)[at]);
    const given = fromLogits ? nn.softmax(p, at) : p;
    const q = given
      .div(given.sum(at, { keepdims: true }))
      .clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon);
    const weight = sub(1, q).pow(numeric(gamma, 'gamma')).mul(weightsOf(alpha, q.dtype));
    return weight.mul(labels.mul(q.log()).neg()).sum(at);
  },
  sameShapes('categoricalFocalCrossentropy'),
);

function weightsOf(alpha: number | readonly number[], dtype: Tensor['dtype']): number | Tensor {
  if (!Array.isArray(alpha)) return numeric(alpha as number, 'alpha');
  for (const one of alpha) numeric(one, 'alpha');
  return toTensor(alpha, dtype);
}

/** One axis, several, or null for all. */
type Axes = number | readonly number[] | null;

/** 1 − 2 · Σ yTrue · yPred / (Σ yTrue + Σ yPred): how little two areas have in common. Over all axes unless given. Dice, 1945. */
export const dice: LossFunction<{
  /** The axes over which targets and predictions are compared; all by default. */
  readonly axis?: Axes;
}> = define('dice', { axis: true }, (t, p, { axis = null }) => {
  const common = t.mul(p).sum(axis).mul(2);
  return sub(1, common.div(t.sum(axis).add(p.sum(axis)).add(kerasDefaults.epsilon)));
});

/** Options of `tversky`. */
export interface TverskyOptions {
  /** Weight of what is missed; 0.5 unless given. */
  readonly alpha?: number;
  /** Weight of what is too much; 0.5 unless given. */
  readonly beta?: number;
  /** Over all axes unless given. */
  readonly axis?: Axes;
}

/**
 * 1 − c / (c + alpha · m + beta · s), c = Σ yTrue · yPred, m = Σ yTrue · (1 − yPred), s = Σ (1 − yTrue) · yPred: `dice` where both weights are
 * 0.5 (Salehi, Erdogmus and Gholipour, 2017).
 */
export const tversky: LossFunction<TverskyOptions> = define(
  'tversky',
  { alpha: true, beta: true, axis: true },
  (t, p, { alpha = 0.5, beta = 0.5, axis = null }) => {
    const common = t.mul(p).sum(axis);
    const missed = sub(1, p).mul(t).sum(axis).mul(numeric(alpha, 'alpha'));
    const surplus = p.mul(sub(1, t)).sum(axis).mul(numeric(beta, 'beta'));
    return sub(1, common.div(common.add(missed).add(surplus).add(kerasDefaults.epsilon)));
  },
);

/** Labels as int32 or int64. Whole numbers of another dtype are converted. */
function labelIndices(yTrue: TensorLike): Tensor {
  const labels = toTensor(yTrue, 'int32');
  return isInteger(labels.dtype) && labels.dtype !== 'uint8' ? labels : labels.cast('int32');
}

/** @internal The labels' shape made to fit, and where they count (null: everywhere). */
export function sparseLabels(
  yTrue: TensorLike,
  yPred: Tensor,
  ignoreClass: number | null,
): { labels: Tensor; valid: Tensor | null } {
  let labels = labelIndices(yTrue);
  if (labels.rank === yPred.rank && endsInOne(labels)) labels = labels.squeeze(-1);
  return { labels, valid: ignoreClass === null ? null : labels.notEqual(ignoreClass) };
}

/**
 * Cross-entropy with whole numbers as targets: −log(p[label]). Probabilities that a softmax gave, as an activation or a layer, carry what went
 * into it, and the loss is computed from that, as in Keras, unless there is a class to ignore. Others are clipped to [1e-7, 1 − 1e-7] and then scaled
 * to a sum of 1. Labels may be of any integer dtype; `[n]` and `[n, 1]` both fit predictions of `[n, classes]`.
 * @throws OutOfRangeError for a label outside of the classes
 */
export const sparseCategoricalCrossentropy: LossFunction<SparseCrossentropyOptions> = defineExampleFunction(
  'losses.sparseCategoricalCrossentropy',
  { fromLogits: true, ignoreClass: true, axis: true },
  (yTrue, yPred, options) => {
    const { ignoreClass = null, axis = -1 } = options;
    const fromLogits = checkFlag(options.fromLogits, 'fromLogits', 'losses.sparseCategoricalCrossentropy');
    if (ignoreClass !== null) numeric(ignoreClass, 'ignoreClass');
    let p = predictions(yPred);
    const carried =
      ignoreClass === null
        ? logitsFor(p, 'Softmax', fromLogits, 'losses.sparseCategoricalCrossentropy')
        : fromLogits
          ? p
          : null;
    p = carried ?? p;
    const at = normalizeAxis(axis, p.rank, 'sparseCategoricalCrossentropy');
    if (at !== p.rank - 1) p = p.moveAxis(at, -1);
    const { labels, valid } = sparseLabels(yTrue, p, ignoreClass);
    if (!sameShape(labels.shape, dims(p).slice(0, -1))) {
      throw new InvalidArgumentError(
        `labels ${showShape(labels.shape)} do not match predictions ${showShape(p.shape)}; expected ${showShape(dims(p).slice(0, -1))} (categoricalCrossentropy takes one-hot targets)`,
        'sparseCategoricalCrossentropy',
      );
    }
    const logits =
      carried !== null ? p : p.clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon).log();
    if (valid === null) return nn.sparseSoftmaxCrossEntropyWithLogits(labels, logits);
    const known = where(valid, labels, toTensor(0, labels.dtype));
    const loss = nn.sparseSoftmaxCrossEntropyWithLogits(known, logits);
    return loss.mul(as(valid, loss.dtype));
  },
);

/**
 * (1 − p[label]^q) / q: between cross-entropy, for q near 0, and the mean absolute error, for q near 1; it minds wrong labels less (Zhang and
 * Sabuncu, 2018). Labels are integers, `[n]` or `[n, 1]`, predictions probabilities `[n, classes]`.
 */
export const categoricalGeneralizedCrossEntropy: LossFunction<{
  /** Between 0, near which it is the cross-entropy, and 1, near which it is the mean absolute error; 0.5 by default. */
  readonly q?: number;
}> = defineExampleFunction(
  'losses.categoricalGeneralizedCrossEntropy',
  { q: true },
  (yTrue, yPred, { q = 0.5 }) => {
    if (typeof q !== 'number' || !(q > 0 && q < 1))
      throw new InvalidArgumentError(
        `q must be between 0 and 1, got ${shown(q)}`,
        'categoricalGeneralizedCrossEntropy',
      );
    const p = predictions(yPred);
    const { labels } = sparseLabels(yTrue, p, null);
    if (!sameShape(labels.shape, dims(p).slice(0, -1)))
      throw new InvalidArgumentError(
        `labels ${showShape(labels.shape)} do not match predictions ${showShape(p.shape)}; expected ${showShape(dims(p).slice(0, -1))}`,
        'categoricalGeneralizedCrossEntropy',
      );
    const own = p.mul(oneHot(labels, sizeValue(dims(p).at(-1) as Dim, 'int32'), { dtype: p.dtype })).sum(-1);
    return sub(1, own.pow(q)).div(q);
  },
);

/**
 * Connectionist temporal classification: `nn.ctcLoss` of labels [batch, labels], which 0 fills up, and logits [batch, time, classes], of which class 0
 * stands for no label (Graves and others, 2006).
 * @throws OutOfRangeError for a label outside of the classes
 */
export const ctc: LossFunction = defineExampleFunction('losses.ctc', {}, (yTrue, yPred) => {
  const logits = predictions(yPred);
  const labels = labelIndices(yTrue);
  if (labels.rank !== 2 || logits.rank !== 3)
    throw new InvalidArgumentError(
      `takes labels [batch, labels] and logits [batch, time, classes], got ${showShape(labels.shape)} and ${showShape(logits.shape)}`,
      'ctc',
    );
  const [batch, time] = dims(logits) as [Dim, Dim];
  const labelLength = labels.notEqual(0).cast('int32').sum(1);
  const logitLength = fill(toShape([batch]), sizeValue(time, 'int32'), 'int32');
  return nn.ctcLoss(labels, logits, labelLength, logitLength, { logitsTimeMajor: false });
});

/** Options of `circle`. */
export interface CircleOptions {
  /** Labels of the reference embeddings; those of the predictions unless given. */
  readonly refLabels?: TensorLike | null;
  /** What embeddings are compared with; the predictions unless given. */
  readonly refEmbeddings?: TensorLike | null;
  /** Whether embeddings are not compared with themselves; true unless given. */
  readonly removeDiagonal?: boolean;
  /** Factor of the similarities; 80 unless given. */
  readonly gamma?: number;
  /** How far classes should be apart; 0.4 unless given. */
  readonly margin?: number;
}

/**
 * Brings embeddings of one class together and those of others apart: softplus(logΣexp(p) + logΣexp(n)), each distance weighted by how far it is
 * from where it should be (Sun et al., 2020). Labels are integers, `[n]` or `[n, 1]`; predictions have a norm of 1, `[n, size]`.
 */
export const circle: LossFunction<CircleOptions> = defineExampleFunction(
  'losses.circle',
  { refLabels: true, refEmbeddings: true, removeDiagonal: true, gamma: true, margin: true },
  (yTrue, yPred, options) => {
    const { refLabels = null, refEmbeddings = null, gamma = 80, margin = 0.4 } = options;
    const apart = checkFlag(options.removeDiagonal ?? true, 'removeDiagonal', 'losses.circle');
    numeric(gamma, 'gamma');
    numeric(margin, 'margin');
    const p = predictions(yPred);
    const flat = (given: TensorLike): Tensor => labelIndices(given).reshape([-1]);
    const labels = flat(yTrue);
    const others = refLabels === null ? labels : flat(refLabels);
    const references = refEmbeddings === null ? p : alike(refEmbeddings, p.dtype);
    if (p.rank !== 2 || references.rank !== 2)
      throw new InvalidArgumentError(
        `predictions are embeddings [n, size], got ${showShape(p.shape)} and ${showShape(references.shape)}`,
        'circle',
      );
    const far = sub(1, p.matmul(references, { transposeB: true })).maximum(0);
    const same = labels.expandDims(1).equal(others);
    const itself = iota(dims(labels)[0])
      .expandDims(1)
      .equal(iota(dims(others)[0]));
    const friends = apart ? same.logicalAnd(itself.logicalNot()) : same;
    const total = (mask: Tensor, x: Tensor): Tensor => mask.where(x, Number.NEGATIVE_INFINITY).logSumExp(1);
    const near = far.add(margin).maximum(0).mul(sub(margin, far)).mul(-gamma);
    const away = sub(1 + margin, far)
      .maximum(0)
      .mul(sub(1 - margin, far))
      .mul(gamma);
    return total(friends, near).add(total(same.logicalNot(), away)).softplus();
  },
);
