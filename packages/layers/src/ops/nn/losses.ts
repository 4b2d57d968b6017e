// Cross entropies of probabilities or logits, label sequences, and how near two images are.
import { type IntegerLike, type NamedFunction, nn, oneHot, type Tensor, type TensorLike } from '@eagre/core';
import {
  type Dim,
  defineFunction,
  denseLabels,
  dims,
  endsInOne,
  kerasDefaults,
  kind,
  knownDim,
  logitsFor,
  normalizeAxis,
  shown,
  toTensor,
} from '@eagre/core/internal';
import { floating, named, refuse } from '../define.ts';

type Loss<O> = NamedFunction<[target: TensorLike, output: TensorLike], ['target', 'output'], O>;
interface Logits {
  /** Whether the outputs are not probabilities yet; false by default. */
  readonly fromLogits?: boolean;
}
interface Classes extends Logits {
  /** The axis of the classes; the last by default. */
  readonly axis?: IntegerLike;
}
const both = { target: kind.tensor, output: kind.tensor };

/** −log of the probability of each target of zeros and ones, element by element. */
export const binaryCrossentropy: Loss<Logits> = defineFunction(
  named('binaryCrossentropy'),
  both,
  { fromLogits: kind.asIs },
  (target, output, { fromLogits }) => {
    const y = floating(output);
    const t = toTensor(target).cast(y.dtype);
    const logits = logitsFor(y, 'Sigmoid', fromLogits === true, 'ops.binaryCrossentropy');
    if (logits !== null) return nn.sigmoidCrossEntropyWithLogits(t, logits);
    const p = y.clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon);
    return t
      .mul(p.log())
      .add(t.mul(-1).add(1).mul(p.mul(-1).add(1).log()))
      .neg();
  },
);

/** The sum of −target · log(probability) over the classes. */
function entropy(target: Tensor, output: Tensor, axis: number, logits: Tensor | null): Tensor {
  const p = logits
    ? nn.logSoftmax(logits, axis)
    : output
        .div(output.sum(axis, { keepdims: true }))
        .clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon)
        .log();
  return target.mul(p).sum(axis).neg();
}

/** The cross entropy of rows of targets, one number per class. */
export const categoricalCrossentropy: Loss<Classes> = defineFunction(
  named('categoricalCrossentropy'),
  both,
  { fromLogits: kind.asIs, axis: kind.axis },
  (target, output, { fromLogits = false, axis = -1 }) => {
    const y = floating(output);
    return entropy(
      toTensor(target).cast(y.dtype),
      y,
      axis as number,
      logitsFor(y, 'Softmax', fromLogits, 'ops.categoricalCrossentropy'),
    );
  },
);

/** The cross entropy of numbers of classes. */
export const sparseCategoricalCrossentropy: Loss<Classes> = defineFunction(
  named('sparseCategoricalCrossentropy'),
  both,
  { fromLogits: kind.asIs, axis: kind.axis },
  (target, output, { fromLogits = false, axis = -1 }) => {
    const y = floating(output);
    const given = toTensor(target, 'int32');
    const at = normalizeAxis(axis as number, y.rank);
    const t = (given.rank === y.rank && endsInOne(given) ? given.squeeze(-1) : given).cast('int32');
    const logits = logitsFor(y, 'Softmax', fromLogits, 'ops.sparseCategoricalCrossentropy');
    // As Keras: probabilities are clipped, and scaled to a sum of 1 after that.
    const p = nn.logSoftmax(
      logits ?? y.clipByValue(kerasDefaults.epsilon, 1 - kerasDefaults.epsilon).log(),
      at,
    );
    return oneHot(t, dims(y)[at] as number, { axis: at, dtype: y.dtype })
      .mul(p)
      .sum(at)
      .neg();
  },
);

/** The ratio of the largest possible value to the noise between two images, in decibels: one number. */
export const psnr: NamedFunction<[x1: TensorLike, x2: TensorLike, maxVal: number], ['x1', 'x2', 'maxVal']> =
  defineFunction(
    named('psnr'),
    { x1: kind.tensor, x2: kind.tensor, maxVal: kind.asIs },
    {},
    (x1, x2, maxVal) => {
      const [a, b] = [floating(x1), floating(x2)];
      const noise = a.sub(b).square().mean();
      return noise
        .log()
        .mul(-10 / Math.LN10)
        .add(20 * Math.log10(maxVal));
    },
  );

/**
 * The loss of label sequences whose places are not known (Graves and others, 2006), [batch].
 * @param target integers [batch, labels]
 * @param output logits [batch, time, classes], also of the blank, whose class is `maskIndex`: 0 unless given.
 */
export const ctcLoss: NamedFunction<
  [
    target: TensorLike,
    output: TensorLike,
    targetLength: TensorLike,
    outputLength: TensorLike,
    maskIndex?: IntegerLike,
  ],
  ['target', 'output', 'targetLength', 'outputLength', 'maskIndex']
> = defineFunction(
  named('ctcLoss'),
  {
    target: kind.tensor,
    output: kind.tensor,
    targetLength: kind.tensor,
    outputLength: kind.tensor,
    maskIndex: kind.axis,
  },
  {},
  (target, output, targetLength, outputLength, maskIndex: IntegerLike = 0) =>
    nn.ctcLoss(target, floating(output), targetLength, outputLength, {
      logitsTimeMajor: false,
      blankIndex: maskIndex as number,
    }),
);

interface DecodeOptions {
  /** `greedy` takes the best class of each frame, as by default; `beamSearch`, or as Keras has it `beam_search`, looks for the most likely labels. */
  readonly strategy?: 'greedy' | 'beamSearch' | 'beam_search';
  /** How many prefixes a beam search follows; 100 by default. */
  readonly beamWidth?: number;
  /** How many readings a beam search gives; 1 by default. */
  readonly topPaths?: number;
  /** Of `greedy`: whether equal labels of frames that follow each other are one; true by default. */
  readonly mergeRepeated?: boolean;
  /** The class that stands for no label; 0 by default, the last one for null. */
  readonly maskIndex?: IntegerLike | null;
}

/**
 * The labels that sequences of frames read as.
 * @param inputs logits [batch, time, classes]
 * @param sequenceLengths integers [batch]: how many frames count
 * @returns labels int32 [paths, batch, time], −1 behind their ends; and scores: of `greedy` −Σ of the best logits [batch, 1], of `beamSearch` the
 * logarithms of the probabilities [batch, paths].
 * @throws InvalidArgumentError for another strategy, and for options that belong to the other one
 */
export const ctcDecode: NamedFunction<
  [inputs: TensorLike, sequenceLengths: TensorLike],
  ['inputs', 'sequenceLengths'],
  DecodeOptions,
  [decoded: Tensor, scores: Tensor]
> = defineFunction(
  named('ctcDecode'),
  { inputs: kind.tensor, sequenceLengths: kind.tensor },
  {
    strategy: kind.asIs,
    beamWidth: kind.asIs,
    topPaths: kind.asIs,
    mergeRepeated: kind.asIs,
    maskIndex: kind.axis,
  },
  (inputs, sequenceLengths, options) => {
    const { strategy = 'greedy', beamWidth = 100, topPaths = 1, mergeRepeated = true } = options;
    const maskIndex = (options.maskIndex === undefined ? 0 : options.maskIndex) as number | null;
    const given = floating(inputs);
    if (given.rank !== 3) refuse(`inputs must be [batch, time, classes], got [${given.shape}]`, 'ctcDecode');
    const frames = given.transpose([1, 0, 2]);
    if (strategy === 'greedy') {
      if (topPaths !== 1) refuse("topPaths is for the strategy 'beamSearch'", 'ctcDecode');
      const blank = maskIndex === null ? {} : { blankIndex: maskIndex };
      const decoded = nn.ctcGreedyDecoder(frames, sequenceLengths, { mergeRepeated, ...blank });
      const [labels, scores] = denseLabels(decoded, frames);
      return [labels.cast('int32'), scores];
    }
    if (strategy !== 'beamSearch' && strategy !== 'beam_search')
      refuse(`strategy is ${shown(strategy)}, expected 'greedy' or 'beamSearch'`, 'ctcDecode');
    const classes = knownDim(dims(frames)[2] as Dim);
    const mask = maskIndex === null ? classes - 1 : maskIndex < 0 ? classes + maskIndex : maskIndex;
    if (!(mask >= 0 && mask < classes))
      refuse(`maskIndex ${shown(maskIndex)} is not one of ${classes} classes`, 'ctcDecode');
    // The decoder takes the last class for the blank.
    const order = Array.from({ length: classes }, (_, c) => c).filter((c) => c !== mask);
    const moved = frames.gather([...order, mask], 2);
    const decoded = nn.ctcBeamSearchDecoder(moved, sequenceLengths, { beamWidth, topPaths });
    const [readings, scores] = denseLabels(decoded, frames);
    const labels = readings.cast('int32');
    return [labels.greaterEqual(mask).where(labels.add(1), labels), scores];
  },
);
