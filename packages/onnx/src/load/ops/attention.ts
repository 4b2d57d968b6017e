// Attention, with caches and windows; and what some models have in its place: linear attention, and the convolution in front of it.
import { concat, constant, exp, logicalAnd, nn, pad, slice, type Tensor, where, zeros } from '@eagre/core';
import {
  type Dim,
  dims,
  floorDivDims,
  iota,
  maxDims,
  mulDims,
  sizeValue,
  subDims,
  toShape,
} from '@eagre/core/internal';
import { TensorArray, whileLoop } from '@eagre/graph';
import { dtypeOf } from '../../tensors.ts';
import type { NodeCall, OpTable } from '../node.ts';
import { sizeTensor } from './arrays.ts';
import { shaped } from './helpers.ts';

/** [n, t, heads · d] as [n, heads, t, d]. */
export function headsOf(x: Tensor, count: number): Tensor {
  const [n, t, width] = dims(x) as readonly [Dim, Dim, Dim];
  return shaped(x, [n, t, count, floorDivDims(width, count)]).transpose([0, 2, 1, 3]);
}

/** Each head as often as there are queries for it. */
export function repeated(x: Tensor, times: number): Tensor {
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

/** What each rule of {@link linearAttention} does beside adding: forget, and write only what is not known yet. */
const RULES: Readonly<Record<string, { readonly gated: boolean; readonly delta: boolean }>> = {
  linear: { gated: false, delta: false },
  gated: { gated: true, delta: false },
  delta: { gated: false, delta: true },
  gated_delta: { gated: true, delta: true },
};

/** One step after the other: each adds its key and value to a matrix, which its query reads. In float32, as in ONNX's reference. */
function linearAttention(node: NodeCall): readonly Tensor[] {
  const { attrs } = node;
  const name = attrs.text('update_rule', 'gated_delta');
  const rule =
    RULES[name] ?? node.fail(`update_rule is '${name}', expected ${Object.keys(RULES).join(', ')}`);
  const [queries, heads] = [attrs.int('q_num_heads'), attrs.int('kv_num_heads')];
  const [decay, beta] = [node.maybe(4), node.maybe(5)];
  if ((decay !== null) !== rule.gated)
    node.fail(`the rule ${name} ${rule.gated ? 'needs' : 'takes no'} decay`);
  if ((beta !== null) !== rule.delta) node.fail(`the rule ${name} ${rule.delta ? 'needs' : 'takes no'} beta`);
  const dtype = node.x(0).dtype;
  // Steps first: [t, n, heads, d].
  const stepsOf = (x: Tensor, count: number): Tensor =>
    headsOf(x, count).cast('float32').transpose([2, 0, 1, 3]);
  const [q, k, v] = [stepsOf(node.x(0), queries), stepsOf(node.x(1), heads), stepsOf(node.x(2), heads)];
  const g = decay === null ? null : exp(stepsOf(decay, heads));
  const rate = beta === null ? null : stepsOf(beta, beta.shape.at(-1) === 1 ? 1 : heads);
  const [t, n, , keys] = dims(k) as readonly [Dim, Dim, Dim, Dim];
  const values = dims(v)[3] as Dim;
  const given = attrs.float('scale', 0);
  const scale = given === 0 ? 1 / Math.sqrt(q.shape[3] as number) : given;
  const past = node.maybe(3);
  const start = past?.cast('float32') ?? zeros(toShape([n, heads, keys, values]) as number[]);
  const step = (i: Tensor, before: Tensor, results: TensorArray): [Tensor, Tensor, TensorArray] => {
    const key = k.gather(i).expandDims(-1);
    let state = g === null ? before : before.mul(g.gather(i).expandDims(-1));
    let value = v.gather(i).expandDims(2);
    if (rate !== null)
      value = value.sub(key.matmul(state, { transposeA: true })).mul(rate.gather(i).expandDims(2));
    state = state.add(key.mul(value));
    // Heads of queries share those of keys.
    const query = shaped(q.gather(i), [n, heads, queries / heads, keys]);
    const read = shaped(query.matmul(state).mul(scale), [n, queries, values]);
    return [i.add(1), state, results.write(i, read)];
  };
  const count = sizeValue(t, 'int32');
  const [, state, results] = whileLoop(
    ((i: Tensor) => i.less(count)) as never,
    step as never,
    [constant(0, 'int32'), start, new TensorArray('float32', { size: count })] as never,
  ) as unknown as [Tensor, Tensor, TensorArray];
  const y = results.stack().transpose([1, 0, 2, 3]);
  return [shaped(y, [n, t, mulDims(queries, values)]).cast(dtype), state.cast(past?.dtype ?? dtype)];
}

/** A convolution of each channel along [n, c, t], which sees what came before, also before the first step. */
function causalConv(node: NodeCall): readonly Tensor[] {
  const activation = node.attrs.text('activation', 'none');
  if (!['none', 'silu', 'swish'].includes(activation))
    node.fail(`activation is '${activation}', expected none, silu, swish`);
  const [x, weight] = [node.x(0), node.x(1)];
  const [n, channels, t] = dims(x) as readonly [Dim, Dim, Dim];
  const before = (weight.shape[2] as number) - 1;
  const past = node.maybe(3) ?? zeros(toShape([n, channels, before]) as number[], x.dtype);
  const all = concat([past, x], 2);
  // [n, 1, t, c], and a filter [1, k, c, 1].
  const y = nn
    .depthwiseConv2d(all.transpose([0, 2, 1]).expandDims(1), weight.transpose([2, 0, 1]).expandDims(0), {
      strides: [1, 1],
      padding: 'VALID',
    })
    .squeeze(1)
    .transpose([0, 2, 1]);
  const bias = node.maybe(2);
  const result = bias === null ? y : y.add(bias.reshape([-1, 1]));
  const present = slice(all, toShape([0, 0, t]), toShape([n, channels, before]));
  return [activation === 'none' ? result : nn.silu(result), present];
}

export const attentions: OpTable = {
  Attention: attention,
  LinearAttention: linearAttention,
  CausalConvWithState: causalConv,
};
