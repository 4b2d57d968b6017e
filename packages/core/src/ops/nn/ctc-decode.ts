// The labels that a sequence of frames reads as, by numbers of the host.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, shown } from '../../arguments/checks.ts';
import { atRunTime } from '../../dispatch/host.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { hostValues, type Tensor } from '../../tensor/tensor.ts';
import { toIndices } from '../array/moving.ts';

/** The frames of one sequence: the logits of each. */
interface Frames {
  readonly count: number;
  readonly classes: number;
  logit(time: number, label: number): number;
}
/** What one sequence reads as, and how likely: several readings, the best first. */
type Readings = readonly { readonly labels: readonly number[]; readonly score: number }[];

/** The best class of each frame; its score is −Σ of the best logits. */
function greedy(frames: Frames, blank: number, mergeRepeated: boolean): Readings {
  const labels: number[] = [];
  let score = 0;
  let previous = -1;
  for (let t = 0; t < frames.count; t++) {
    let best = 0;
    for (let c = 1; c < frames.classes; c++) if (frames.logit(t, c) > frames.logit(t, best)) best = c;
    score -= frames.logit(t, best);
    if (best !== blank && !(mergeRepeated && best === previous)) labels.push(best);
    previous = best;
  }
  return [{ labels, score }];
}

/** Logarithms of the probabilities that a prefix was read, ending in a blank, or in its last label. */
interface Likelihood {
  total: number;
  blank: number;
  label: number;
}
const NEVER = Number.NEGATIVE_INFINITY;
const never = (): Likelihood => ({ total: NEVER, blank: NEVER, label: NEVER });
function logSum(a: number, b: number): number {
  const most = Math.max(a, b);
  return most === NEVER ? NEVER : most + Math.log1p(Math.exp(Math.min(a, b) - most));
}

/** A prefix in the tree of all that were tried. */
interface Prefix {
  readonly label: number;
  readonly parent: Prefix | null;
  readonly children: Map<number, Prefix>;
  before: Likelihood;
  now: Likelihood;
}
const isAlive = (p: Prefix): boolean => p.now.total !== NEVER;

/** The most likely prefixes, at most so many, the best first. */
class Beam {
  readonly #width: number;
  prefixes: Prefix[] = [];

  constructor(width: number) {
    this.#width = width;
  }
  admits({ total }: Likelihood): boolean {
    const worst = this.prefixes.at(-1);
    return total > NEVER && (this.prefixes.length < this.#width || total > (worst?.now.total ?? NEVER));
  }
  add(p: Prefix): void {
    if (this.prefixes.length === this.#width) {
      const worst = this.prefixes.pop() as Prefix;
      worst.now = never();
    }
    let [low, high] = [0, this.prefixes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.prefixes[middle] as Prefix).now.total >= p.now.total) low = middle + 1;
      else high = middle;
    }
    this.prefixes.splice(low, 0, p);
  }
}

/** Prefix beam search (Graves, "Sequence transduction with recurrent neural networks", 2012, and Hannun and others, 2014). */
function beamSearch(frames: Frames, blank: number, width: number, paths: number): Readings {
  const root: Prefix = {
    label: -1,
    parent: null,
    children: new Map(),
    before: never(),
    now: { total: 0, blank: 0, label: NEVER },
  };
  let beam = new Beam(width);
  beam.add(root);
  for (let t = 0; t < frames.count; t++) {
    let norm = NEVER;
    for (let c = 0; c < frames.classes; c++) norm = logSum(norm, frames.logit(t, c));
    const logP = (label: number): number => frames.logit(t, label) - norm;
    const branches = beam.prefixes;
    beam = new Beam(width);
    for (const p of branches) p.before = { ...p.now };
    for (const p of branches) {
      let { label } = p.now;
      if (p.parent !== null) {
        if (isAlive(p.parent))
          label = logSum(label, p.label === p.parent.label ? p.parent.before.blank : p.parent.before.total);
        label += logP(p.label);
      }
      const ofBlank = p.before.total + logP(blank);
      p.now = { label, blank: ofBlank, total: logSum(ofBlank, label) };
    }
    for (const p of branches) beam.add(p);
    for (const p of branches) {
      if (!beam.admits(p.before)) continue;
      for (let c = 0; c < frames.classes; c++) {
        if (c === blank) continue;
        let child = p.children.get(c);
        if (child !== undefined && isAlive(child)) continue;
        const label = logP(c) + (c === p.label ? p.before.blank : p.before.total);
        const now = { label, blank: NEVER, total: label };
        if (!beam.admits(now)) {
          if (child !== undefined) child.before = never();
          continue;
        }
        if (child === undefined) {
          child = { label: c, parent: p, children: new Map(), before: never(), now };
          p.children.set(c, child);
        } else child.now = now;
        beam.add(child);
      }
    }
  }
  if (beam.prefixes.length < paths)
    throw new InvalidArgumentError(
      `topPaths is ${paths}, but a sequence has ${beam.prefixes.length} readings only`,
      'CTCBeamSearchDecoder',
    );
  return beam.prefixes.slice(0, paths).map((p) => {
    const labels: number[] = [];
    for (let at = p; at.parent !== null; at = at.parent) labels.push(at.label);
    return { labels: labels.reverse(), score: p.now.total };
  });
}

/** Decodes [time, batch, classes]: labels [paths, batch, time], −1 behind their ends, and scores [batch, paths]. */
function decoded(
  inputs: Tensor,
  lengths: Tensor,
  paths: number,
  op: string,
  read: (frames: Frames) => Readings,
): readonly [labels: Tensor, scores: Tensor] {
  const [time, batch] = dims(inputs);
  const run = (logits: Tensor, counts: Tensor): Tensor[] => {
    const [most, size, classes] = logits.shape as [number, number, number];
    const data = hostValues(logits) as ArrayLike<number>;
    const frames = hostValues(counts) as ArrayLike<number>;
    const labels = new BigInt64Array(paths * size * most).fill(-1n);
    const scores = new Float64Array(size * paths);
    for (let b = 0; b < size; b++) {
      const count = Number(frames[b]);
      if (count < 0 || count > most)
        throw new InvalidArgumentError(`sequenceLength[${b}] is ${count}, expected 0 … ${most}`, op);
      const logit = (t: number, c: number): number => data[(t * size + b) * classes + c] as number;
      read({ count, classes, logit }).forEach((reading, p) => {
        reading.labels.forEach((label, i) => {
          labels[(p * size + b) * most + i] = BigInt(label);
        });
        scores[b * paths + p] = reading.score;
      });
    }
    return [
      toTensor({ data: labels, shape: [paths, size, most] }),
      toTensor({ data: scores, shape: [size, paths] }, 'float64').cast(logits.dtype),
    ];
  };
  const [labels, scores] = atRunTime(
    op,
    run as never,
    [inputs, lengths],
    [
      { dtype: 'int64', shape: toShape([paths, batch, time]) },
      { dtype: inputs.dtype, shape: toShape([batch, paths]) },
    ],
  );
  return [labels as Tensor, scores as Tensor];
}

function decodeArguments(inputs: TensorLike, sequenceLength: TensorLike, op: string): [Tensor, Tensor] {
  const given = toTensor(inputs);
  checkDType(given.dtype, 'floating', 'inputs', op);
  if (given.rank !== 3)
    throw new InvalidArgumentError(
      `inputs must be [time, batch, classes], got ${showShape(given.shape)}`,
      op,
    );
  const lengths = toIndices(sequenceLength, 'sequenceLength', op).cast('int32');
  if (lengths.rank !== 1 || differs(dims(lengths)[0], dims(given)[1]))
    throw new InvalidArgumentError(
      `sequenceLength must be ${showShape(given.shape.slice(1, 2))}, got ${showShape(lengths.shape)}`,
      op,
    );
  const half = given.dtype === 'float16' || given.dtype === 'bfloat16';
  return [half ? given.cast('float32') : given, lengths];
}

/** Labels [batch, time] of each reading, −1 behind their ends, and scores. */
export type CtcDecoded = [decoded: Tensor[], scores: Tensor];

/** Options of `ctcGreedyDecoder`. */
export interface CtcGreedyOptions {
  /** Whether equal labels of frames that follow each other are one; true by default. */
  readonly mergeRepeated?: boolean;
  /** The class that stands for no label, the last by default; a negative one counts from the end. */
  readonly blankIndex?: IntegerLike | null;
}

/**
 * The labels of the best class of each frame: `const [[labels], negSumLogits] = tf.nn.ctcGreedyDecoder(logits, lengths)`. There are no sparse
 * tensors here: labels are int64 [batch, time], −1 behind the end of each sequence, as `tf.sparse.to_dense(decoded, default_value=-1)` gives
 * them, padded to all frames.
 * @param inputs logits [time, batch, classes]
 * @param sequenceLength integers [batch]: how many frames count
 * @returns labels, and −Σ of the best logits [batch, 1]. Neither has a gradient.
 */
export const ctcGreedyDecoder: NamedFunction<
  [inputs: TensorLike, sequenceLength: TensorLike],
  ['inputs', 'sequenceLength'],
  CtcGreedyOptions,
  CtcDecoded
> = /* @__PURE__ */ defineFunction(
  'nn.ctcGreedyDecoder',
  { inputs: kind.tensor, sequenceLength: kind.tensor },
  { mergeRepeated: kind.asIs, blankIndex: kind.axis },
  (inputs, sequenceLength, { mergeRepeated = true, blankIndex }) => {
    const op = 'CTCGreedyDecoder';
    const [x, lengths] = decodeArguments(inputs, sequenceLength, op);
    const merge = checkFlag(mergeRepeated, 'mergeRepeated', op);
    const given = (blankIndex ?? -1) as number;
    const [labels, scores] = decoded(x, lengths, 1, op, (frames) => {
      const blank = given < 0 ? frames.classes + given : given;
      if (!Number.isInteger(blank) || blank < 0 || blank >= frames.classes)
        throw new InvalidArgumentError(
          `blankIndex ${shown(given)} is not one of ${frames.classes} classes`,
          op,
        );
      return greedy(frames, blank, merge);
    });
    return [[labels.squeeze([0])], scores];
  },
);

/** Options of `ctcBeamSearchDecoder`. */
export interface CtcBeamOptions {
  /** How many prefixes are followed; 100 by default. */
  readonly beamWidth?: number;
  /** How many readings are given, at most `beamWidth`; 1 by default. */
  readonly topPaths?: number;
}

/**
 * The most likely labels of sequences, whatever frames these are in. The blank is the last class.
 * @param inputs logits [time, batch, classes]
 * @param sequenceLength integers [batch]: how many frames count
 * @returns for each reading, the best first, labels int64 [batch, time] with −1 behind their ends; and the logarithms of their probabilities
 * [batch, topPaths]. Neither has a gradient.
 */
export const ctcBeamSearchDecoder: NamedFunction<
  [inputs: TensorLike, sequenceLength: TensorLike],
  ['inputs', 'sequenceLength'],
  CtcBeamOptions,
  CtcDecoded
> = /* @__PURE__ */ defineFunction(
  'nn.ctcBeamSearchDecoder',
  { inputs: kind.tensor, sequenceLength: kind.tensor },
  { beamWidth: kind.asIs, topPaths: kind.asIs },
  (inputs, sequenceLength, { beamWidth = 100, topPaths = 1 }) => {
    const op = 'CTCBeamSearchDecoder';
    const [x, lengths] = decodeArguments(inputs, sequenceLength, op);
    checkCount(beamWidth, 'beamWidth', op, 1);
    checkCount(topPaths, 'topPaths', op, 1);
    if (topPaths > beamWidth)
      throw new InvalidArgumentError(`topPaths ${topPaths} is more than beamWidth ${beamWidth}`, op);
    const [labels, scores] = decoded(x, lengths, topPaths, op, (frames) =>
      beamSearch(frames, frames.classes - 1, beamWidth, topPaths),
    );
    return [Array.from({ length: topPaths }, (_, p) => labels.at(p)), scores];
  },
);
