// The labels that a sequence of frames reads as, by numbers of the host.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, shown } from '../../arguments/checks.ts';
import { type Attrs, defineOp, execute, type Op, type OutputSpec } from '../../dispatch/op.ts';
import { type Sample, uniform, values } from '../../dispatch/samples.ts';
import type { Dim } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, type Shape, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { SparseTensor } from '../../sparse/sparse-tensor.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { hostValues, type Tensor } from '../../tensor/tensor.ts';
import { fill } from '../array/creation.ts';
import { tensorScatterNdUpdate } from '../array/gather.ts';
import { stack } from '../array/join.ts';
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

/**
 * Decodes [time, batch, classes] on the host, into what TensorFlow's ops give: the coordinates of the labels of each reading int64 [n, 2], the
 * labels int64 [n], the shapes int64 [2], and the scores [batch, paths].
 */
function decoded(
  [logits, counts]: readonly Tensor[],
  paths: number,
  op: string,
  read: (frames: Frames) => Readings,
): Tensor[] {
  const [most, size, classes] = (logits as Tensor).shape as [number, number, number];
  const data = hostValues(logits as Tensor) as ArrayLike<number>;
  const frames = hostValues(counts as Tensor) as ArrayLike<number>;
  const found = Array.from({ length: paths }, () => ({
    at: [] as number[],
    labels: [] as number[],
    longest: 0,
  }));
  const scores = new Float64Array(size * paths);
  for (let b = 0; b < size; b++) {
    const count = Number(frames[b]);
    if (count < 0 || count > most)
      throw new InvalidArgumentError(`sequenceLength[${b}] is ${count}, expected 0 … ${most}`, op);
    const logit = (t: number, c: number): number => data[(t * size + b) * classes + c] as number;
    read({ count, classes, logit }).forEach(({ labels, score }, p) => {
      const path = found[p] as (typeof found)[number];
      labels.forEach((label, i) => {
        path.at.push(b, i);
        path.labels.push(label);
      });
      path.longest = Math.max(path.longest, labels.length);
      scores[b * paths + p] = score;
    });
  }
  const list = (values: readonly number[], shape: Shape): Tensor =>
    toTensor({ data: BigInt64Array.from(values, BigInt), shape });
  return [
    ...found.map(({ at, labels }) => list(at, [labels.length, 2])),
    ...found.map(({ labels }) => list(labels, [labels.length])),
    ...found.map(({ longest }) => list([size, longest], [2])),
    toTensor({ data: scores, shape: [size, paths] }, 'float64').cast((logits as Tensor).dtype),
  ];
}

/** What `decoded` gives of so many readings, where its inputs have no values. */
function decodedSpecs([inputs]: readonly Tensor[], paths: number, size: () => Dim): OutputSpec[] {
  const x = inputs as Tensor;
  const counts = Array.from({ length: paths }, size);
  return [
    ...counts.map((n) => ({ dtype: 'int64' as const, shape: [n, 2] })),
    ...counts.map((n) => ({ dtype: 'int64' as const, shape: [n] })),
    ...counts.map(() => ({ dtype: 'int64' as const, shape: [2] })),
    { dtype: x.dtype, shape: [dims(x)[1] as Dim, paths] },
  ];
}

const samplesWith = (attrs: Attrs): readonly Sample[] => [
  { inputs: [uniform([4, 2, 3]), values([4, 3], [2], 'int32')], attrs },
];

/** The labels of the best class of each frame. */
const greedyOp: Op = /* @__PURE__ */ defineOp({
  name: 'CTCGreedyDecoder',
  run: (inputs, { mergeRepeated, blankIndex }) =>
    decoded(inputs, 1, 'CTCGreedyDecoder', (frames) => {
      const given = blankIndex as number;
      const blank = given < 0 ? frames.classes + given : given;
      if (!Number.isInteger(blank) || blank < 0 || blank >= frames.classes)
        throw new InvalidArgumentError(
          `blankIndex ${shown(given)} is not one of ${frames.classes} classes`,
          'CTCGreedyDecoder',
        );
      return greedy(frames, blank, mergeRepeated as boolean);
    }),
  valueSized: (inputs, _, size) => decodedSpecs(inputs, 1, size),
  notDifferentiable: 'which labels are read jumps',
  samples: () => samplesWith({ mergeRepeated: true, blankIndex: -1 }),
});

/** The most likely labels, whatever frames they are in. */
const beamOp: Op = /* @__PURE__ */ defineOp({
  name: 'CTCBeamSearchDecoder',
  run: (inputs, attrs) => {
    const { beamWidth, topPaths } = attrs as { beamWidth: number; topPaths: number };
    return decoded(inputs, topPaths, 'CTCBeamSearchDecoder', (frames) =>
      beamSearch(frames, frames.classes - 1, beamWidth, topPaths),
    );
  },
  valueSized: (inputs, { topPaths }, size) => decodedSpecs(inputs, topPaths as number, size),
  notDifferentiable: 'which labels are read jumps',
  samples: () => samplesWith({ beamWidth: 5, topPaths: 2 }),
});

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

/** The labels of each reading, [batch, most labels of one], and scores. */
export type CtcDecoded = [decoded: SparseTensor[], scores: Tensor];

/** The readings among the results of an op, and their scores. */
function readingsOf(parts: readonly Tensor[]): CtcDecoded {
  const paths = (parts.length - 1) / 3;
  const at = (p: number, part: number): Tensor => parts[part * paths + p] as Tensor;
  return [
    Array.from({ length: paths }, (_, p) => SparseTensor.unchecked(at(p, 0), at(p, 1), at(p, 2))),
    parts.at(-1) as Tensor,
  ];
}

/**
 * What a decoder gives of inputs [time, batch, classes], with labels [paths, batch, time], −1 behind their ends: for Keras, which has no sparse
 * ones.
 */
export function denseLabels(
  [readings, scores]: CtcDecoded,
  inputs: Tensor,
): [labels: Tensor, scores: Tensor] {
  const [time, batch] = dims(inputs) as [Dim, Dim];
  const none = fill(toShape([batch, time]), -1, 'int64');
  const rows = readings.map(({ indices, values: labels }) => tensorScatterNdUpdate(none, indices, labels));
  return [stack(rows, 0), scores];
}

/** Options of `ctcGreedyDecoder`. */
export interface CtcGreedyOptions {
  /** Whether equal labels of frames that follow each other are one; true by default. */
  readonly mergeRepeated?: boolean;
  /** The class that stands for no label, the last by default; a negative one counts from the end. */
  readonly blankIndex?: IntegerLike | null;
}

/**
 * The labels of the best class of each frame: `const [[labels], negSumLogits] = tf.nn.ctcGreedyDecoder(logits, lengths)`.
 * `tf.sparse.toDense(labels, -1)` has them in rows, −1 behind their ends.
 * @param inputs logits [time, batch, classes]
 * @param sequenceLength integers [batch]: how many frames count
 * @returns labels int64, and −Σ of the best logits [batch, 1]. Neither has a gradient.
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
    return readingsOf(
      execute(greedyOp, decodeArguments(inputs, sequenceLength, op), {
        mergeRepeated: checkFlag(mergeRepeated, 'mergeRepeated', op),
        blankIndex: blankIndex ?? -1,
      }),
    );
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
 * @returns for each reading, the best first, labels int64; and the logarithms of their probabilities [batch, topPaths]. Neither has a
 * gradient.
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
    checkCount(beamWidth, 'beamWidth', op, 1);
    checkCount(topPaths, 'topPaths', op, 1);
    if (topPaths > beamWidth)
      throw new InvalidArgumentError(`topPaths ${topPaths} is more than beamWidth ${beamWidth}`, op);
    return readingsOf(execute(beamOp, decodeArguments(inputs, sequenceLength, op), { beamWidth, topPaths }));
  },
);
