// What detectors and losses need.
import { constant, gather, nn, onesLike, type Tensor, where } from '@eagre/core';
import { dims } from '@eagre/core/internal';
import { elements, type NodeCall, type OnnxOp, type OpTable, type Run } from '../node.ts';
import { range, shaped } from './helpers.ts';

/** [x1, y1, x2, y2] of boxes that are given by corners or by centers. */
function cornersOf(box: readonly number[], byCenter: boolean): readonly [number, number, number, number] {
  const [a, b, c, d] = box as [number, number, number, number];
  if (byCenter) return [a - c / 2, b - d / 2, a + c / 2, b + d / 2];
  // [y1, x1, y2, x2], in either order.
  return [Math.min(b, d), Math.min(a, c), Math.max(b, d), Math.max(a, c)];
}

function overlap(p: readonly number[], q: readonly number[]): number {
  const [ax, ay, bx, by] = p as [number, number, number, number];
  const [cx, cy, dx, dy] = q as [number, number, number, number];
  const common =
    Math.max(0, Math.min(bx, dx) - Math.max(ax, cx)) * Math.max(0, Math.min(by, dy) - Math.max(ay, cy));
  const all = (bx - ax) * (by - ay) + (dx - cx) * (dy - cy) - common;
  return all <= 0 ? 0 : common / all;
}

const suppressed: OnnxOp = {
  eager: true,
  run: (node) => {
    const [boxes, scores] = [node.x(0), node.x(1)];
    const number = (i: number, otherwise: number): number =>
      node.maybe(i) === null ? otherwise : Number(elements(node.x(i))[0]);
    const [most, limit, least] = [number(2, 0), number(3, 0), number(4, Number.NEGATIVE_INFINITY)];
    const byCenter = node.attrs.int('center_point_box', 0) === 1;
    const [batches, classes, count] = scores.shape as readonly [number, number, number];
    const [b, s] = [elements(boxes), elements(scores)];
    const kept: bigint[] = [];
    for (let batch = 0; batch < batches; batch++)
      for (let c = 0; c < classes; c++) {
        const score = (i: number): number => Number(s[(batch * classes + c) * count + i]);
        const corners = range(0, count).map((i) =>
          cornersOf(
            range(0, 4).map((k) => Number(b[(batch * count + i) * 4 + k])),
            byCenter,
          ),
        );
        const order = range(0, count)
          .filter((i) => score(i) > least)
          .sort((i, j) => score(j) - score(i));
        const chosen: number[] = [];
        for (const i of order) {
          if (chosen.length >= most) break;
          if (
            chosen.every(
              (j) => overlap(corners[i] as readonly number[], corners[j] as readonly number[]) <= limit,
            )
          )
            chosen.push(i);
        }
        for (const i of chosen) kept.push(BigInt(batch), BigInt(c), BigInt(i));
      }
    return constant({ data: BigInt64Array.from(kept), shape: [kept.length / 3, 3] });
  },
};

/** Scores of the right class, weighted: loss and, of the cross entropy, the log-probabilities. */
function likelihood(node: NodeCall, logs: Tensor): Tensor {
  const labels = node.x(1).cast('int64');
  const weight = node.maybe(2);
  const ignored = node.attrs.has('ignore_index') ? node.attrs.int('ignore_index') : null;
  // [n, c, …] as [n · …, c]
  const rank = logs.rank;
  const rows = logs.transpose([0, ...range(2, rank), 1]);
  const flat = shaped(rows, [-1, dims(rows).at(-1) as number]);
  const targets = labels.reshape([-1]);
  const counts = ignored === null ? null : targets.notEqual(ignored);
  const safe = counts === null ? targets : where(counts, targets, 0);
  const picked = gather(flat, safe.expandDims(-1), 1, { batchDims: 1 }).squeeze(-1).neg();
  let weights = weight === null ? onesLike(picked) : gather(weight, safe);
  if (counts !== null) weights = where(counts, weights, 0);
  const losses = picked.mul(weights);
  switch (node.attrs.text('reduction', 'mean')) {
    case 'none':
      return shaped(losses, dims(labels));
    case 'sum':
      return losses.sum();
    case 'mean':
      return losses.sum().div(weights.sum());
    default:
      return node.fail(`the reduction '${node.attrs.text('reduction')}' is unknown`);
  }
}

const crossEntropy: Run = (node) => {
  const logs = nn.logSoftmax(node.x(), 1);
  return [likelihood(node, logs), logs];
};

export const vision: OpTable = {
  NegativeLogLikelihoodLoss: (node) => likelihood(node, node.x()),
  NonMaxSuppression: suppressed,
  SoftmaxCrossEntropyLoss: crossEntropy,
};
