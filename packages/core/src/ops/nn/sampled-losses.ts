// Losses of classifiers with many classes, of which a few are sampled.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount } from '../../arguments/checks.ts';
import { defineOp, execute, type Op } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { logUniformCandidateSampler, trueIds } from '../../random/candidates.ts';
import type { SeedSource } from '../../random/random.ts';
import { type Dim, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, checkList, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { hostValues, type Tensor } from '../../tensor/tensor.ts';
import { onesLike, zeros, zerosLike } from '../array/creation.ts';
import { gather, tensorScatterNdUpdate } from '../array/gather.ts';
import { concat, stack } from '../array/join.ts';
import { toIndices } from '../array/moving.ts';
import { reshape } from '../array/shaping.ts';
import { matmul } from '../linalg/linalg.ts';
import { sigmoidCrossEntropyWithLogits, softmaxCrossEntropyWithLogits } from './loss.ts';

const LOWEST = -Math.fround(3.4028234663852886e38);

/** Where sampled classes are among the true ones of a row. */
const accidentalHitsOp: Op = /* @__PURE__ */ defineOp({
  name: 'ComputeAccidentalHits',
  run: ([trueClasses, sampled]) => {
    const places = new Map<bigint, number>();
    Array.from(hostValues(sampled) as BigInt64Array).forEach((id, i) => places.set(id, i));
    const [, numTrue] = trueClasses.shape as [number, number];
    const rows: number[] = [];
    const ids: bigint[] = [];
    Array.from(hostValues(trueClasses) as BigInt64Array).forEach((id, i) => {
      const place = places.get(id);
      if (place === undefined) return;
      rows.push(Math.floor(i / numTrue));
      ids.push(BigInt(place));
    });
    return [
      toTensor({ data: Int32Array.from(rows), shape: [rows.length] }),
      toTensor({ data: BigInt64Array.from(ids), shape: [ids.length] }),
      toTensor({ data: new Float32Array(ids.length).fill(LOWEST), shape: [ids.length] }),
    ];
  },
  valueSized: (_, __, size) => {
    const n = size();
    return [
      { dtype: 'int32', shape: [n] },
      { dtype: 'int64', shape: [n] },
      { dtype: 'float32', shape: [n] },
    ];
  },
  notDifferentiable: 'the results are places',
  samples: () => [
    {
      inputs: [values([1, 4, 2, 4, 4, 4], [3, 2], 'int64'), values([4, 2, 7], [3], 'int64')],
      attrs: { numTrue: 2 },
    },
  ],
});

/**
 * Where sampled classes are true ones: rows int32 [n], the places among the sampled classes int64 [n], and for each a weight, the lowest float32, which
 * added to a logit leaves the class out.
 * @param trueClasses [batch, numTrue]
 * @param sampledCandidates [numSampled]
 */
export const computeAccidentalHits: NamedFunction<
  [trueClasses: TensorLike, sampledCandidates: TensorLike, numTrue: number],
  ['trueClasses', 'sampledCandidates', 'numTrue'],
  {
    /** TensorFlow's seed, which has no effect: nothing is drawn. */
    readonly seed?: number | null;
  },
  [indices: Tensor, ids: Tensor, weights: Tensor]
> = /* @__PURE__ */ defineFunction(
  'nn.computeAccidentalHits',
  { trueClasses: kind.tensor, sampledCandidates: kind.tensor, numTrue: kind.asIs },
  { seed: kind.asIs },
  (trueClasses, sampledCandidates, numTrue) => {
    const op = 'ComputeAccidentalHits';
    const ids = trueIds(trueClasses, numTrue, op);
    const sampled = toIndices(sampledCandidates, 'sampledCandidates', op).cast('int64');
    if (sampled.rank !== 1)
      throw new InvalidArgumentError(`sampledCandidates must be a list, got ${showShape(sampled.shape)}`, op);
    return execute(accidentalHitsOp, [ids, sampled], { numTrue }) as unknown as [Tensor, Tensor, Tensor];
  },
);

/** Options of losses with sampled classes. */
export interface SampledLossOptions {
  /** How many true classes each example has; 1 by default. */
  readonly numTrue?: number;
  /** What a candidate sampler gave; drawn by `logUniformCandidateSampler` unless given. */
  readonly sampledValues?: readonly [TensorLike, TensorLike, TensorLike] | null;
  /** Whether sampled classes that are true ones of an example are left out of its loss. */
  readonly removeAccidentalHits?: boolean;
  /** The seed of the sampler. */
  readonly seed?: number | SeedSource | null;
}
type SampledLoss<O> = NamedFunction<
  [
    weights: TensorLike | readonly TensorLike[],
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    numSampled: number,
    numClasses: number,
  ],
  ['weights', 'biases', 'labels', 'inputs', 'numSampled', 'numClasses'],
  O
>;

/** Weights of classes; shards in a list are one after the other. */
function joined(weights: TensorLike | readonly TensorLike[], op: string): Tensor {
  const shards =
    Array.isArray(weights) && weights.every((w) => typeof w === 'object' && w !== null && !Array.isArray(w));
  const all = shards ? (weights as TensorLike[]).map((w) => toTensor(w)) : [toTensor(weights as TensorLike)];
  if (all.length === 0) throw new InvalidArgumentError('weights is an empty list', op);
  return all.length === 1 ? (all[0] as Tensor) : concat(all, 0);
}

function checkShapes(
  { weights, biases, inputs, ids }: Readonly<Record<'weights' | 'biases' | 'inputs' | 'ids', Tensor>>,
  op: string,
): void {
  const rightRanks = weights.rank === 2 && biases.rank === 1 && inputs.rank === 2;
  if (
    rightRanks &&
    !differs(dims(weights)[1] as Dim, dims(inputs)[1] as Dim) &&
    !differs(dims(ids)[0] as Dim, dims(inputs)[0] as Dim)
  )
    return;
  throw new InvalidArgumentError(
    `weights ${showShape(weights.shape)}, biases ${showShape(biases.shape)}, labels ${showShape(ids.shape)} and inputs ${showShape(inputs.shape)} must be [classes, dim], [classes], [batch, numTrue] and [batch, dim]`,
    op,
  );
}

/** Logits of the true and of the sampled classes [batch, numTrue + numSampled], and labels for them. */
function sampledLogits(
  weights: TensorLike | readonly TensorLike[],
  biases: TensorLike,
  labels: TensorLike,
  inputs: TensorLike,
  numSampled: number,
  numClasses: number,
  { numTrue = 1, sampledValues = null, removeAccidentalHits, seed = null }: SampledLossOptions,
  op: string,
): { readonly logits: Tensor; readonly targets: Tensor } {
  checkCount(numSampled, 'numSampled', op, 1);
  checkCount(numClasses, 'numClasses', op, 1);
  const x = toTensor(inputs);
  checkDType(x.dtype, 'floating', 'inputs', op);
  const w = joined(weights, op);
  const b = toTensor(biases);
  const ids = trueIds(labels, numTrue, op);
  checkShapes({ weights: w, biases: b, inputs: x, ids }, op);
  if (sampledValues !== null) checkList(sampledValues, 'sampledValues', op);
  const [sampled, trueCounts, sampledCounts] = (
    sampledValues ??
    logUniformCandidateSampler(ids, numTrue, numSampled, true, numClasses, seed === null ? {} : { seed })
  ).map((v, i) => (i === 0 ? toTensor(v, 'int64') : toTensor(v)).stopGradient()) as [Tensor, Tensor, Tensor];
  const chosen = toIndices(sampled, 'sampledValues', op).cast('int64');
  if (chosen.rank !== 1 || differs(dims(chosen)[0] as Dim, numSampled))
    throw new InvalidArgumentError(
      `sampledValues has classes ${showShape(chosen.shape)}, expected [${numSampled}]`,
      op,
    );
  const [batch, dim] = dims(x) as [Dim, Dim];
  const flat = reshape(ids, toShape([mulDims(batch, numTrue)]));
  const of = (t: Tensor, at: Tensor): Tensor => gather(t, at, 0).cast(x.dtype);
  const trueW = reshape(of(w, flat), toShape([batch, numTrue, dim]));
  const trueLogits = reshape(x, toShape([batch, 1, dim]))
    .mul(trueW)
    .sum(-1)
    .add(reshape(of(b, flat), toShape([batch, numTrue])));
  let others = matmul(x, of(w, chosen), { transposeB: true }).add(of(b, chosen));
  if (checkFlag(removeAccidentalHits, 'removeAccidentalHits', op)) {
    const [rows, places, lowest] = computeAccidentalHits(ids, chosen, numTrue);
    const none = zeros(toShape([batch, numSampled]), x.dtype);
    others = others.add(
      tensorScatterNdUpdate(none, stack([rows.cast('int64'), places], 1), lowest.cast(x.dtype)),
    );
  }
  const own = trueLogits.sub(trueCounts.cast(x.dtype).log());
  const rest = others.sub(sampledCounts.cast(x.dtype).log());
  return {
    logits: concat([own, rest], 1),
    targets: concat([onesLike(own).div(numTrue), zerosLike(rest)], 1).stopGradient(),
  };
}

const lossKinds = {
  weights: kind.asIs,
  biases: kind.tensor,
  labels: kind.tensor,
  inputs: kind.tensor,
  numSampled: kind.asIs,
  numClasses: kind.asIs,
};

/** What one of the losses runs: from all targets and logits to the loss of each example. */
function sampledLoss(
  op: string,
  hits: boolean,
  lossOf: (targets: Tensor, logits: Tensor) => Tensor,
): (
  weights: TensorLike | readonly TensorLike[],
  biases: Tensor,
  labels: Tensor,
  inputs: Tensor,
  numSampled: number,
  numClasses: number,
  options: SampledLossOptions,
) => Tensor {
  return (weights, biases, labels, inputs, numSampled, numClasses, options) => {
    const all = { removeAccidentalHits: hits, ...options };
    const { logits, targets } = sampledLogits(
      weights,
      biases,
      labels,
      inputs,
      numSampled,
      numClasses,
      all,
      op,
    );
    return lossOf(targets, logits);
  };
}

/**
 * The softmax loss over the true and some sampled classes, for training with very many classes: [batch] (Jean and others, "On using very large target
 * vocabulary for neural machine translation", 2014).
 * @param weights [numClasses, dim], also as a list of shards
 * @param biases [numClasses]
 * @param labels [batch, numTrue]
 * @param inputs [batch, dim]
 */
export const sampledSoftmaxLoss: SampledLoss<SampledLossOptions> = /* @__PURE__ */ defineFunction(
  'nn.sampledSoftmaxLoss',
  lossKinds,
  { numTrue: kind.asIs, sampledValues: kind.asIs, removeAccidentalHits: kind.asIs, seed: kind.asIs },
  sampledLoss('nn.sampledSoftmaxLoss', true, (targets, logits) =>
    softmaxCrossEntropyWithLogits(targets, logits),
  ),
);

/**
 * The loss of noise-contrastive estimation: whether each of the true and of some sampled classes is a true one [batch] (Gutmann and Hyvärinen, 2010).
 * The arguments are those of `sampledSoftmaxLoss`.
 */
export const nceLoss: SampledLoss<Omit<SampledLossOptions, 'seed'>> = /* @__PURE__ */ defineFunction(
  'nn.nceLoss',
  lossKinds,
  { numTrue: kind.asIs, sampledValues: kind.asIs, removeAccidentalHits: kind.asIs },
  sampledLoss('nn.nceLoss', false, (targets, logits) =>
    sigmoidCrossEntropyWithLogits(targets, logits).sum(1),
  ),
);
