// Candidate samplers: a few classes of many, and how often each class is expected among them.

import type { Philox } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkCount, checkNumber, shown } from '../arguments/checks.ts';
import { context } from '../dispatch/context.ts';
import { type Attrs, defineOp, execute, type Op } from '../dispatch/op.ts';
import { type Sample, values } from '../dispatch/samples.ts';
import { linesOf } from '../lookup/table-items.ts';
import { textFile } from '../lookup/text-file.ts';
import { toIndices } from '../ops/array/moving.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims, dimsOf } from '../shapes/dims.ts';
import { checkFlag, checkList, type Shape, showShape } from '../shapes/shape.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkListSize } from '../tensor/list-size.ts';
import { hostValues, type Tensor } from '../tensor/tensor.ts';
import { streamOfWords, wordsOfCall } from './call-stream.ts';
import type { SeedSource } from './random.ts';
import { seeds } from './seeds.ts';

/** Classes 0 … range − 1 with probabilities. */
export interface Distribution {
  readonly range: number;
  draw(stream: Philox): number;
  probability(id: number): number;
}

const { fround } = Math;

/** Each class as likely as the others. */
export function uniformClasses(range: number): Distribution {
  const share = fround(1 / range);
  return { range, draw: (stream) => Number(stream.below64(BigInt(range))), probability: () => share };
}
/** Approximately Zipf's law: the likelier, the smaller the class. */
export function logUniformClasses(range: number): Distribution {
  const logRange = Math.log1p(range);
  return {
    range,
    draw: (stream) => (Math.trunc(Math.exp(stream.double() * logRange)) - 1) % range,
    probability: (id) => fround(Math.log((id + 2) / (id + 1)) / logRange),
  };
}
/** As often as classes were seen, each once at the start. */
export class LearnedClasses implements Distribution {
  readonly range: number;
  readonly #counts: Int32Array;
  #total: number;

  constructor(range: number) {
    this.range = range;
    this.#counts = new Int32Array(range).fill(1);
    this.#total = range;
  }
  draw(stream: Philox): number {
    let place = stream.below(this.#total);
    let id = 0;
    while (place >= this.#counts[id]) place -= this.#counts[id++];
    return id;
  }
  probability(id: number): number {
    return fround((this.#counts[id] ?? 0) / fround(this.#total));
  }
  see(ids: readonly number[]): void {
    for (const id of ids) {
      if (id < 0 || id >= this.range || this.#total >= 2 ** 31 - 1) continue;
      this.#counts[id]++;
      this.#total++;
    }
  }
}
/** By given weights, with Walker's aliases. */
export function weightedClasses(weights: readonly number[], total: number): Distribution {
  const n = weights.length;
  const sum = weights.reduce((a, b) => a + b, 0);
  const share = weights.map((w) => (w * n) / sum);
  const alias = new Int32Array(n).fill(-1);
  const [low, high]: [number[], number[]] = [[], []];
  share.forEach((p, i) => (p < 1 ? low : high).push(i));
  while (high.length > 0 && low.length > 0) {
    const l = low.pop() as number;
    const h = high.pop() as number;
    alias[l] = h;
    const left = (share[h] as number) - (1 - (share[l] as number));
    share[h] = left;
    (left < 1 ? low : high).push(h);
  }
  // What is left over is 1 but for rounding.
  for (const i of [...high, ...low]) {
    share[i] = 1;
    alias[i] = i;
  }
  return {
    range: n,
    draw: (stream) => {
      const r = (stream.word() & 0x7fffff) * 2 ** -23;
      const i = stream.below(n);
      return r < fround(share[i] as number) ? i : (alias[i] as number);
    },
    probability: (id) => fround((weights[id] ?? 0) / total),
  };
}

/** How often a class of a probability is expected in a batch that took so many tries. */
const expectedCount = (p: number, batch: number, tries: number): number =>
  tries === batch ? fround(p * batch) : fround(-Math.expm1(tries * Math.log1p(-p)));

/** What a sampler draws: classes, and the expected counts of the true and of the sampled classes. */
export interface Candidates {
  readonly sampled: number[];
  readonly trueCounts: number[];
  readonly sampledCounts: number[];
}
/** @internal Draws classes by a stream. */
export function drawCandidates(
  of: Distribution,
  stream: Philox,
  count: number,
  unique: boolean,
  trueIds: readonly number[],
): Candidates {
  const sampled: number[] = [];
  let tries = 0;
  const used = new Set<number>();
  while (sampled.length < count) {
    tries++;
    const id = of.draw(stream);
    if (unique && used.has(id)) continue;
    used.add(id);
    sampled.push(id);
  }
  const expected = (id: number): number => expectedCount(of.probability(id), count, unique ? tries : count);
  return { sampled, trueCounts: trueIds.map(expected), sampledCounts: sampled.map(expected) };
}

const numbers = (x: Tensor): number[] => Array.from(hostValues(x) as ArrayLike<number | bigint>, Number);

type Make = (attrs: Attrs) => Distribution;

/** Declares the op of a sampler: true classes [batch, numTrue] and two words for the stream. */
/* @__NO_SIDE_EFFECTS__ */
function define(name: string, make: Make, samples: () => readonly Sample[]): Op {
  return defineOp({
    name,
    infer: ([ids], { numSampled }) => [
      { dtype: 'int64', shape: [numSampled as number] },
      { dtype: 'float32', shape: dimsOf(ids.shape) as unknown as Shape },
      { dtype: 'float32', shape: [numSampled as number] },
    ],
    host: ([ids, seed], attrs) => {
      const { numSampled, unique } = attrs as unknown as { numSampled: number; unique: boolean };
      const of = make(attrs);
      const given = numbers(ids);
      const found = drawCandidates(of, streamOfWords(seed as Tensor), numSampled, unique, given);
      if (of instanceof LearnedClasses) of.see(given);
      return [
        toTensor({ data: BigInt64Array.from(found.sampled, BigInt), shape: [numSampled] }),
        toTensor({ data: Float32Array.from(found.trueCounts), shape: ids.shape }),
        toTensor({ data: Float32Array.from(found.sampledCounts), shape: [numSampled] }),
      ];
    },
    notDifferentiable: 'classes are integers',
    samples,
  });
}
const idsSample = values([0, 3, 2, 5], [2, 2], 'int64');
const seedSample = values([17, 18], [2], 'int32');
const sampleOf = (more: Attrs = {}): readonly Sample[] => [
  {
    inputs: [idsSample, seedSample],
    attrs: { numTrue: 2, numSampled: 3, unique: true, rangeMax: 7, ...more },
  },
];

/** Classes by a uniform distribution. */
const uniformOp: Op = /* @__PURE__ */ define(
  'UniformCandidateSampler',
  ({ rangeMax }) => uniformClasses(rangeMax as number),
  sampleOf,
);
/** Classes by Zipf's law. */
const logUniformOp: Op = /* @__PURE__ */ define(
  'LogUniformCandidateSampler',
  ({ rangeMax }) => logUniformClasses(rangeMax as number),
  sampleOf,
);
/** Classes as often as they were seen. */
const learnedOp: Op = /* @__PURE__ */ define(
  'LearnedUnigramCandidateSampler',
  ({ state, rangeMax }) => (state as LearnedClasses | undefined) ?? new LearnedClasses(rangeMax as number),
  sampleOf,
);
/** Classes by given weights: `classes`, or as the other attributes say. */
const fixedOp: Op = /* @__PURE__ */ define(
  'FixedUnigramCandidateSampler',
  ({ classes, unigrams, distortion, numReservedIds, numShards, shard }) => {
    if (classes !== undefined) return classes as Distribution;
    const { weights, total } = weightsOf(
      unigrams as readonly number[],
      distortion as number,
      numReservedIds as number,
      numShards as number,
      shard as number,
    );
    return weightedClasses(weights, total);
  },
  () =>
    sampleOf({ unigrams: [1, 2, 3, 4, 3, 2, 1], distortion: 1, numReservedIds: 0, numShards: 1, shard: 0 }),
);
/** All classes. */
const allOp: Op = /* @__PURE__ */ defineOp({
  name: 'AllCandidateSampler',
  infer: ([ids], { numSampled }) => [
    { dtype: 'int64', shape: [numSampled as number] },
    { dtype: 'float32', shape: dimsOf(ids.shape) as unknown as Shape },
    { dtype: 'float32', shape: [numSampled as number] },
  ],
  host: ([ids], { numSampled }) => {
    const n = numSampled as number;
    return [
      toTensor({ data: BigInt64Array.from({ length: n }, (_, i) => BigInt(i)), shape: [n] }),
      toTensor({ data: new Float32Array(ids.size).fill(1), shape: ids.shape }),
      toTensor({ data: new Float32Array(n).fill(1), shape: [n] }),
    ];
  },
  notDifferentiable: 'classes are integers',
  samples: () => [{ inputs: [idsSample], attrs: { numTrue: 2, numSampled: 7, unique: true } }],
});

/** The weights of one shard's classes, distorted; reserved classes have none. */
function weightsOf(
  unigrams: readonly number[],
  distortion: number,
  reserved: number,
  shards: number,
  shard: number,
): { readonly weights: number[]; readonly total: number } {
  const weights: number[] = [];
  for (let id = 0; id < reserved; id++) if (id % shards === shard) weights.push(0);
  let total = 0;
  let id = weights.length;
  for (const w of unigrams) {
    if (id++ % shards !== shard) continue;
    const own = fround(fround(w) ** fround(distortion));
    total = fround(total + own);
    weights.push(own);
  }
  return { weights, total };
}

// ---- functions

/** Classes int64 [numSampled], and how often the true classes [batch, numTrue] and the sampled ones are expected among them. */
export type CandidateSample = [
  sampledCandidates: Tensor,
  trueExpectedCount: Tensor,
  sampledExpectedCount: Tensor,
];
interface Seeded {
  /** Makes the candidates the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | SeedSource | null;
}
export type Sampler = NamedFunction<
  [trueClasses: TensorLike, numTrue: number, numSampled: number, unique: boolean, rangeMax: number],
  ['trueClasses', 'numTrue', 'numSampled', 'unique', 'rangeMax'],
  Seeded,
  CandidateSample
>;

/** The true classes, int64 [batch, numTrue]. */
export function trueIds(trueClasses: TensorLike, numTrue: number, op: string): Tensor {
  checkCount(numTrue, 'numTrue', op, 1);
  const ids = toIndices(trueClasses, 'trueClasses', op).cast('int64');
  if (ids.rank !== 2 || differs(dims(ids)[1] as Dim, numTrue))
    throw new InvalidArgumentError(
      `trueClasses must be [batch, numTrue], with numTrue ${numTrue}; got ${showShape(ids.shape)}`,
      op,
    );
  return ids;
}

function checkRange(numSampled: number, unique: boolean, rangeMax: number, op: string): void {
  checkCount(numSampled, 'numSampled', op, 1);
  checkListSize(numSampled, 'classes', 'draw fewer', op);
  checkCount(rangeMax, 'rangeMax', op, 1);
  checkFlag(unique, 'unique', op);
  if (unique && numSampled > rangeMax)
    throw new InvalidArgumentError(`there are only ${rangeMax} classes for numSampled ${numSampled}`, op);
}

const samplerKinds = {
  trueClasses: kind.tensor,
  numTrue: kind.asIs,
  numSampled: kind.asIs,
  unique: kind.asIs,
  rangeMax: kind.asIs,
};
const sampler = (name: string, op: Op, more: (rangeMax: number) => Attrs = () => ({})): Sampler =>
  defineFunction(
    `random.${name}`,
    samplerKinds,
    { seed: kind.asIs },
    (trueClasses, numTrue, numSampled, unique, rangeMax, { seed }) => {
      checkRange(numSampled, unique, rangeMax, op.name);
      const ids = trueIds(trueClasses, numTrue, op.name);
      const attrs = { numTrue, numSampled, unique, rangeMax, ...more(rangeMax) };
      return execute(op, [ids, wordsOfCall(seed)], attrs) as unknown as CandidateSample;
    },
  );

/** Draws classes of 0 … rangeMax − 1, each as likely as the others; with `unique` none twice. */
export const uniformCandidateSampler: Sampler = /* @__PURE__ */ sampler('uniformCandidateSampler', uniformOp);
/**
 * Draws classes of 0 … rangeMax − 1 by Zipf's law: P(class) = log((class + 2) / (class + 1)) / log(rangeMax + 1). Right where classes are
 * sorted by how often they occur.
 */
export const logUniformCandidateSampler: Sampler = /* @__PURE__ */ sampler(
  'logUniformCandidateSampler',
  logUniformOp,
);

// What eager calls have seen, by their range, since a seed was set.
const seen = new Map<number, LearnedClasses>();
let seenSince = 0;
/**
 * Draws classes of 0 … rangeMax − 1 as often as they were among the true classes of earlier calls: of the eager calls of one range, and in a
 * traced function of each place where it is called. `tf.random.setSeed` forgets what eager calls have seen.
 */
export const learnedUnigramCandidateSampler: Sampler = /* @__PURE__ */ sampler(
  'learnedUnigramCandidateSampler',
  learnedOp,
  (rangeMax) => {
    checkListSize(rangeMax, 'classes', 'number them anew', 'LearnedUnigramCandidateSampler');
    if (context.tracer !== null) return { state: new LearnedClasses(rangeMax) };
    if (seenSince !== seeds.settings) seen.clear();
    seenSince = seeds.settings;
    let state = seen.get(rangeMax);
    if (state === undefined) seen.set(rangeMax, (state = new LearnedClasses(rangeMax)));
    return { state };
  },
);

/** Options of `fixedUnigramCandidateSampler`. */
export interface FixedUnigramOptions extends Seeded {
  /** A file with a line for each class, whose last field, after commas, is its weight. Either this or `unigrams`. */
  readonly vocabFile?: string | null;
  /** The weights of the classes. */
  readonly unigrams?: readonly number[] | null;
  /** The power to which weights are raised; 1 by default. */
  readonly distortion?: number;
  /** How many classes, the first ones, have no weight in the list and are never drawn; 0 by default. */
  readonly numReservedIds?: number;
  /** Of how many shards this is one; 1 by default. */
  readonly numShards?: number;
  /** Which one; 0 by default. */
  readonly shard?: number;
}
/** Draws classes of 0 … rangeMax − 1 by given weights; with `unique` none twice. */
export const fixedUnigramCandidateSampler: NamedFunction<
  [trueClasses: TensorLike, numTrue: number, numSampled: number, unique: boolean, rangeMax: number],
  ['trueClasses', 'numTrue', 'numSampled', 'unique', 'rangeMax'],
  FixedUnigramOptions,
  CandidateSample
> = /* @__PURE__ */ defineFunction(
  'random.fixedUnigramCandidateSampler',
  samplerKinds,
  {
    seed: kind.asIs,
    vocabFile: kind.asIs,
    unigrams: kind.asIs,
    distortion: kind.asIs,
    numReservedIds: kind.asIs,
    numShards: kind.asIs,
    shard: kind.asIs,
  },
  (trueClasses, numTrue, numSampled, unique, rangeMax, options) => {
    const op = 'FixedUnigramCandidateSampler';
    const { vocabFile, distortion = 1, numReservedIds = 0, numShards = 1, shard = 0 } = options;
    checkRange(numSampled, unique, rangeMax, op);
    checkNumber(distortion, 'distortion', op);
    checkCount(numReservedIds, 'numReservedIds', op);
    checkCount(numShards, 'numShards', op, 1);
    checkCount(shard, 'shard', op);
    const given = options.unigrams ?? [];
    checkList(given, 'unigrams', op);
    if (numReservedIds > rangeMax * numShards)
      throw new InvalidArgumentError(
        `numReservedIds is ${numReservedIds}, but there are ${rangeMax} classes`,
        op,
      );
    if ((vocabFile ?? '') !== '' ? given.length > 0 : given.length === 0)
      throw new InvalidArgumentError('give either vocabFile or unigrams', op);
    if (shard >= numShards) throw new InvalidArgumentError(`shard ${shard} is not one of ${numShards}`, op);
    const unigrams = vocabFile ? weightsIn(vocabFile, op) : [...given];
    if (!unigrams.every((w) => typeof w === 'number' && w >= 0 && Number.isFinite(w)))
      throw new InvalidArgumentError(`unigrams must be numbers of at least 0, got ${shown(unigrams)}`, op);
    const { weights, total } = weightsOf(unigrams, distortion, numReservedIds, numShards, shard);
    if (weights.length !== rangeMax)
      throw new InvalidArgumentError(`rangeMax is ${rangeMax}, but there are ${weights.length} weights`, op);
    if (weights.filter((w) => w > 0).length < (unique ? numSampled : 1))
      throw new InvalidArgumentError('too few classes have a weight above 0', op);
    const attrs = {
      numTrue,
      numSampled,
      unique,
      rangeMax,
      unigrams,
      distortion,
      numReservedIds,
      numShards,
      shard,
      classes: weightedClasses(weights, total),
    };
    return execute(
      fixedOp,
      [trueIds(trueClasses, numTrue, op), wordsOfCall(options.seed)],
      attrs,
    ) as unknown as CandidateSample;
  },
);
/** The last fields of a file's lines. */
function weightsIn(file: string, op: string): number[] {
  return linesOf(textFile(file, op)).map((line) => {
    const field = (line.split(',').at(-1) as string).trim();
    const w = Number(field);
    if (field === '' || Number.isNaN(w))
      throw new InvalidArgumentError(`vocabFile has a line without a weight: ${shown(line)}`, op);
    return w;
  });
}

/** All classes 0 … numSampled − 1, each of which is expected once. For tests of what samplers approximate. */
export const allCandidateSampler: NamedFunction<
  [trueClasses: TensorLike, numTrue: number, numSampled: number, unique: boolean],
  ['trueClasses', 'numTrue', 'numSampled', 'unique'],
  Seeded,
  CandidateSample
> = /* @__PURE__ */ defineFunction(
  'random.allCandidateSampler',
  { trueClasses: kind.tensor, numTrue: kind.asIs, numSampled: kind.asIs, unique: kind.asIs },
  { seed: kind.asIs },
  (trueClasses, numTrue, numSampled, unique) => {
    const op = 'AllCandidateSampler';
    checkCount(numSampled, 'numSampled', op, 1);
    checkListSize(numSampled, 'classes', 'draw fewer', op);
    checkFlag(unique, 'unique', op);
    const ids = trueIds(trueClasses, numTrue, op);
    return execute(allOp, [ids], { numTrue, numSampled, unique }) as unknown as CandidateSample;
  },
);
