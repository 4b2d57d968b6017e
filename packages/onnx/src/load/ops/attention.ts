// Attention, with caches and windows.
import { concat, logicalAnd, nn, pad, type Tensor, where } from '@eagre/core';
import { type Dim, dims, floorDivDims, iota, maxDims, mulDims, subDims, toShape } from '@eagre/core/internal';
import { dtypeOf } from '../../tensors.ts';
import type { NodeCall, OpTable } from '../node.ts';
import { sizeTensor } from './arrays.ts';
import { shaped } from './helpers.ts';

/** [n, t, heads · d] as [n, heads, t, d]. */
function headsOf(x: Tensor, count: number): Tensor {
  const [n, t, width] = dims(x) as readonly [Dim, Dim, Dim];
  return shaped(x, [n, t, count, floorDivDims(width, count)]).transpose([0, 2, 1, 3]);
}

/** Each head as often as there are queries for it. */
function repeated(x: Tensor, times: number): Tensor {
  if (times === 1) return x;
  const [n, h, t, d] = dims(x) as readonly [Dim, Dim, Dim, Dim];
  return shaped(x.expandDims(2).tile([1, 1, times, 1, 1]), [n, mulDims(h, times), t, d]);
}

/** Which keys each query may see: [.., queries, keys]; null for all. */
function seenKeys(node: NodeCall, queries: Dim, keys: Dim, past: Dim): Tensor | null {
  const { attrs } = node;
  const filled = node.maybe(6);
  const [left, right] = [attrs.int('left_window_size', -1), attrs.int('right_window_size', -1)];
  const causal = attrs.int('is_causal', 0) === 1;
  const at = iota(keys).cast('int64').reshape([1, -1]);
  const rows = iota(queries).cast('int64').reshape([-1, 1]);
  // Where the first query stands among the keys: [n, 1, 1, 1], or one number.
  const ends = filled === null ? null : filled.cast('int64').reshape([-1, 1, 1, 1]);
  const from = ends === null ? sizeTensor(past, 'int64') : ends.sub(sizeTensor(queries, 'int64'));
  const places = rows.add(from);
  const tests = [
    ...(causal ? [at.lessEqual(places)] : []),
    ...(left >= 0 ? [at.greaterEqual(places.sub(left))] : []),
    ...(right >= 0 ? [at.lessEqual(places.add(right))] : []),
    ...(ends === null ? [] : [at.less(ends)]),
  ];
  return tests.length === 0 ? null : tests.reduce((a, b) => logicalAnd(a, b));
}

/** A mask for fewer keys than there are, extended by what is not seen. */
function fullMask(mask: Tensor, keys: Dim): Tensor {
  const more = maxDims(0, subDims(keys, dims(mask).at(-1) as Dim));
  if (more === 0 || dims(mask).at(-1) === 1) return mask;
  const sides = dims(mask).map((_, i) => toShape([0, i === mask.rank - 1 ? more : 0])) as unknown as [
    number,
    number,
  ][];
  return mask.dtype === 'bool'
    ? pad(mask.cast('int32'), sides).cast('bool')
    : pad(mask, sides, { constantValues: Number.NEGATIVE_INFINITY });
}

function attention(node: NodeCall): readonly (Tensor | null)[] {
  const { attrs } = node;
  let [q, k, v] = [node.x(0), node.x(1), node.x(2)];
  const flat = q.rank === 3;
  if (flat) {
    q = headsOf(q, attrs.int('q_num_heads'));
    k = headsOf(k, attrs.int('kv_num_heads'));
    v = headsOf(v, attrs.int('kv_num_heads'));
  }
  const past = node.maybe(4) === null ? 0 : (dims(node.x(4))[2] as Dim);
  if (node.maybe(4) !== null) {
    k = concat([node.x(4), k], 2);
    v = concat([node.x(5), v], 2);
  }
  const present = [k, v];
  const times = (q.shape[1] as number) / (k.shape[1] as number);
  [k, v] = [repeated(k, times), repeated(v, times)];
  const scale = attrs.has('scale') ? attrs.float('scale') : 1 / Math.sqrt(q.shape[3] as number);
  const products = q.mul(Math.sqrt(scale)).matmul(k.mul(Math.sqrt(scale)), { transposeB: true });
  const cap = attrs.float('softcap', 0);
  const capped = cap === 0 ? products : products.div(cap).tanh().mul(cap);
  const keys = dims(k)[2] as Dim;
  const seen = seenKeys(node, dims(q)[2] as Dim, keys, past);
  let scores = capped;
  const given = node.maybe(3);
  const mask = given === null ? null : fullMask(given, keys);
  if (mask !== null)
    scores = mask.dtype === 'bool' ? where(mask, scores, Number.NEGATIVE_INFINITY) : scores.add(mask);
  if (seen !== null) scores = where(seen, scores, Number.NEGATIVE_INFINITY);
  const wide = attrs.has('softmax_precision') ? scores.cast(dtypeOf(attrs.int('softmax_precision'))) : scores;
  // A query that sees no key gets zeros.
  const none = wide.max(-1, { keepdims: true }).equal(Number.NEGATIVE_INFINITY);
  const weights = where(none, 0, nn.softmax(where(none, 0, wide), -1)).cast(v.dtype);
  const y = weights.matmul(v);
  const [n, , t] = dims(y) as readonly [Dim, Dim, Dim];
  const result = flat ? shaped(y.transpose([0, 2, 1, 3]), [n, t, -1]) : y;
  const details = [products, capped, scores, weights];
  return [
    result,
    ...present,
    details[attrs.int('qk_matmul_output_mode', 0)] ?? node.fail('qk_matmul_output_mode is not 0, 1, 2 or 3'),
  ];
}

export const attentions: OpTable = { Attention: attention };
