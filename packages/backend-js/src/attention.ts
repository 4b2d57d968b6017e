import type { Kernel, KernelAttrs, KernelName, TensorRef } from '@eagre/backend';
import { type NumberArray, numbers } from './view.ts';

/** Where the rows of a tensor [batch, heads, time, width], or [batch, time, heads, width], begin. */
class Rows {
  readonly data: NumberArray;
  readonly heads: number;
  readonly time: number;
  readonly width: number;
  readonly #timeFirst: boolean;

  constructor(t: TensorRef, timeFirst: boolean) {
    this.data = numbers(t);
    this.time = t.shape[timeFirst ? 1 : 2];
    this.heads = t.shape[timeFirst ? 2 : 1];
    this.width = t.shape[3];
    this.#timeFirst = timeFirst;
  }
  at(b: number, h: number, t: number): number {
    const row = this.#timeFirst ? (b * this.time + t) * this.heads + h : (b * this.heads + h) * this.time + t;
    return row * this.width;
  }
}

function dot(x: NumberArray, at: number, y: NumberArray, other: number, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x[at + i] * y[other + i];
  return sum;
}

/** Calls `visit` with the scores of every query. */
function forEachQuery(
  query: TensorRef,
  key: TensorRef,
  mask: TensorRef | undefined,
  attrs: KernelAttrs,
  visit: (b: number, h: number, i: number, scores: Float64Array, row: number) => void,
): void {
  const timeFirst = attrs.timeFirst as boolean;
  const q = new Rows(query, timeFirst);
  const k = new Rows(key, timeFirst);
  const scale = attrs.scale as number;
  const weights = mask === undefined ? undefined : numbers(mask);
  const maskAt = (...place: readonly number[]): number => {
    let at = 0;
    mask?.shape.forEach((d, axis) => {
      at = at * d + (d === 1 ? 0 : place[axis]);
    });
    return at;
  };
  const scores = new Float64Array(k.time);
  for (let b = 0; b < query.shape[0]; b++) {
    for (let h = 0; h < q.heads; h++) {
      for (let i = 0; i < q.time; i++) {
        for (let j = 0; j < k.time; j++) {
          scores[j] = scale * dot(q.data, q.at(b, h, i), k.data, k.at(b, h, j), q.width);
          if (weights !== undefined) {
            const value = weights[maskAt(b, h, i, j)];
            if (mask?.dtype !== 'bool') scores[j] += value;
            else if (value === 0) scores[j] = -Infinity;
          }
          if (attrs.causal && j > i) scores[j] = -Infinity;
        }
        visit(b, h, i, scores, (b * q.heads + h) * q.time + i);
      }
    }
  }
}

function forward(
  [query, key, value, mask]: readonly TensorRef[],
  [y, lse]: readonly TensorRef[],
  attrs: KernelAttrs,
): void {
  const timeFirst = attrs.timeFirst as boolean;
  const v = new Rows(value, timeFirst);
  const out = new Rows(y, timeFirst);
  const logs = numbers(lse);
  const sums = new Float64Array(v.width);
  forEachQuery(query, key, mask, attrs, (b, h, i, scores, row) => {
    const largest = scores.reduce((x, s) => Math.max(x, s), -Infinity);
    sums.fill(0);
    let total = 0;
    if (largest !== -Infinity) {
      scores.forEach((score, j) => {
        const weight = Math.exp(score - largest);
        total += weight;
        const at = v.at(b, h, j);
        for (let c = 0; c < v.width; c++) sums[c] += weight * v.data[at + c];
      });
    }
    logs[row] = largest + Math.log(total);
    const at = out.at(b, h, i);
    for (let c = 0; c < v.width; c++) out.data[at + c] = total === 0 ? 0 : sums[c] / total;
  });
}

function backward(
  [dy, query, key, value, y, lse, mask]: readonly TensorRef[],
  outputs: readonly TensorRef[],
  attrs: KernelAttrs,
): void {
  const timeFirst = attrs.timeFirst as boolean;
  const [g, q, k, v, out] = [dy, query, key, value, y].map((t) => new Rows(t, timeFirst));
  const logs = numbers(lse);
  const scale = attrs.scale as number;
  const sums = outputs.map((t) => new Float64Array(t.size));
  const [dquery, dkey, dvalue] = sums;
  forEachQuery(query, key, mask, attrs, (b, h, i, scores, row) => {
    const upstream = g.at(b, h, i);
    const delta = dot(g.data, upstream, out.data, upstream, v.width);
    const from = q.at(b, h, i);
    for (let j = 0; j < k.time; j++) {
      if (scores[j] === -Infinity) continue;
      const weight = Math.exp(scores[j] - logs[row]);
      const keyAt = k.at(b, h, j);
      const valueAt = v.at(b, h, j);
      const slope = scale * weight * (dot(g.data, upstream, v.data, valueAt, v.width) - delta);
      for (let c = 0; c < q.width; c++) {
        dquery[from + c] += slope * k.data[keyAt + c];
        dkey[keyAt + c] += slope * q.data[from + c];
      }
      for (let c = 0; c < v.width; c++) dvalue[valueAt + c] += weight * g.data[upstream + c];
    }
  });
  outputs.forEach((t, i) => {
    numbers(t).set(sums[i]);
  });
}

/** The kernels of attention and its gradient. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  ScaledDotProductAttention: forward,
  ScaledDotProductAttentionGrad: backward,
};
