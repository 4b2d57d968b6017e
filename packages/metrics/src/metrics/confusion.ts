// Right and wrong predictions, counted.
import {
  constant,
  InvalidArgumentError,
  scope,
  stack,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import {
  atMost,
  dims,
  endsInOne,
  lessThan,
  normalizeAxis,
  shown,
  showShape,
  sizeOfDims,
  subDims,
  toShape,
} from '@eagre/core/internal';
import { alike, sameRank } from '../arrange.ts';

/** Weighted counts for each threshold, [thresholds]. */
export interface Counts {
  readonly truePositives: Tensor;
  readonly falsePositives: Tensor;
  readonly trueNegatives: Tensor;
  readonly falseNegatives: Tensor;
}

/** The most thresholds: counts for each of them are kept. */
export const MOST_THRESHOLDS: number = 2 ** 20;

/** @throws InvalidArgumentError unless all are in [0, 1]. */
export function checkThresholds(thresholds: readonly unknown[], name: string): void {
  const wrong = thresholds.find((t) => typeof t !== 'number' || !(t >= 0 && t <= 1));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`thresholds must be in [0, 1], got ${shown(wrong)}`, name);
}

// Predictions times thresholds compared at once: bounds the memory that one update takes.
const COMPARISONS = 1 << 22;

/** Counts predictions above and not above each threshold, where targets are true (not 0) and where they are false. */
export function confusion(
  yTrue: TensorLike,
  yPred: Tensor,
  thresholds: Tensor,
  sampleWeight: TensorLike | null,
  options: { readonly topK?: number | null; readonly classId?: number | null },
  name: string,
): Counts {
  const { dtype } = thresholds;
  let [p, t] = sameRank(yPred, alike(yTrue, dtype));
  let weights = constant(1, dtype);
  if (sampleWeight !== null) [, weights] = sameRank(t, alike(sampleWeight, dtype).expandDims(-1), false);
  const { topK = null, classId = null } = options;
  if (topK !== null) {
    const among = p
      .topK(topK)
      .indices.oneHot(p.shape.at(-1) as number, { dtype })
      .sum(-2)
      .greater(0);
    p = where(among, p, constant(-1e10, dtype));
  }
  if (classId !== null) {
    if (p.rank < 2)
      throw new InvalidArgumentError(
        `classId needs predictions [n, classes], got ${showShape(p.shape)}`,
        name,
      );
    const at = normalizeAxis(classId, p.shape.at(-1) as number, name);
    const column = (x: Tensor): Tensor => x.gather(constant([at], 'int32'), x.rank - 1);
    [p, t] = [column(p), column(t)];
    if (weights.rank === p.rank && !endsInOne(weights)) weights = column(weights);
  }
  const n = sizeOfDims(dims(p));
  const rows = thresholds.expandDims(-1);
  const flat = p.reshape(toShape([1, n]));
  const label = t.notEqual(0).reshape(toShape([n]));
  const weight = weights.broadcastTo(p.shape).reshape(toShape([n]));
  const zero = constant(0, dtype);
  const sides = stack([where(label, weight, zero), where(label, zero, weight)], 1);
  const chunk = Math.max(1, Math.floor(COMPARISONS / thresholds.size));
  const above = (x: Tensor, side: Tensor): Tensor => scope(() => x.greater(rows).cast(dtype).matmul(side));
  let positives: Tensor | null = null;
  if (atMost(n, chunk)) positives = above(flat, sides);
  else {
    for (let start = 0; lessThan(start, n); start += chunk) {
      const size = atMost(start + chunk, n) ? chunk : subDims(n, start);
      const part = scope(() =>
        above(flat.slice([0, start], toShape([1, size])), sides.slice([start, 0], toShape([size, 2]))),
      );
      positives = positives === null ? part : positives.add(part);
    }
  }
  const [tp, fp] = (positives as Tensor).unstack(1) as [Tensor, Tensor];
  const [yes, no] = sides.sum(0).unstack(0) as [Tensor, Tensor];
  return { truePositives: tp, falsePositives: fp, trueNegatives: no.sub(fp), falseNegatives: yes.sub(tp) };
}
