// Scaled dot-product attention.
import { type DType, InvalidArgumentError, isHalf } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type Attrs, defineOp, execute, type GradContext, type Op, pair, sumTo } from '../../dispatch/op.ts';
import { uniform, values, wideUniform } from '../../dispatch/samples.ts';
import type { Dim, Dims } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkFlag, type Shape, showShape, stretchesTo } from '../../shapes/shape.ts';
import { equalDims, knownDim } from '../../shapes/shape-env.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { expandDims, reshape, transpose } from '../array/shaping.ts';
import { where } from '../elementwise/select.ts';
import { matmul } from '../linalg/linalg.ts';

/** The [batch, heads, time, width] of a tensor, and back: the same exchange of two axes. */
const exchanged = (t: Tensor, attrs: Attrs): Tensor =>
  attrs.timeFirst === true ? transpose(t, [0, 2, 1, 3]) : t;

const casted = <T extends Tensor | null | undefined>(t: T, dtype: DType): T =>
  t === null || t === undefined || t.dtype === dtype ? t : (t.cast(dtype) as T);

/** Heads before time, all in the dtype of the log-sum-exp. */
interface Weights {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
  /** softmax(scale · query · keyᵀ + mask), [batch, heads, queries, keys]. */
  readonly weights: Tensor;
  readonly scale: number;
}

/** The matrix of weights, which the kernels never make as a whole; for the gradients that need it. */
function weightsOf(inputs: readonly Tensor[], lse: Tensor, mask: Tensor | undefined, attrs: Attrs): Weights {
  const [query, key, value] = inputs.map((t) => casted(exchanged(t, attrs), lse.dtype)) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const scale = attrs.scale as number;
  let scores = matmul(query, key, { transposeB: true }).mul(scale);
  if (mask !== undefined)
    scores = mask.dtype === 'bool' ? where(mask, scores, -Infinity) : scores.add(casted(mask, lse.dtype));
  if (attrs.causal === true) scores = where(causalMask(dims(query)[2], dims(key)[2]), scores, -Infinity);
  const shift = where(lse.equal(-Infinity), 0, lse);
  return { query, key, value, weights: scores.sub(expandDims(shift, -1)).exp(), scale };
}

/** [queries, keys]: which keys a query may see, those no later than itself. */
export function causalMask(queries: Dim, keys: Dim): Tensor {
  return expandDims(iota(queries), -1).greaterEqual(iota(keys));
}

/**
 * softmax(scale · query · keyᵀ + mask) · value, without the matrix of weights in memory; also the log-sum-exp of each row. That has 32 bits where the others
 * have 16: the gradient takes its exponential, in which an error of 2⁻⁸ of it would be large.
 */
const attentionOp: Op = defineOp({
  name: 'ScaledDotProductAttention',
  kernel: 'ScaledDotProductAttention',
  infer: ([query, , value], { timeFirst }) => {
    const [b, first, second] = dims(query) as [Dim, Dim, Dim];
    return [
      { dtype: query.dtype, shape: [b, first, second, dims(value)[3]] },
      {
        dtype: isHalf(query.dtype) ? 'float32' : query.dtype,
        shape: timeFirst === true ? [b, second, first] : [b, first, second],
      },
    ];
  },
  grad: (g, dy, ...more) => {
    const { inputs, attrs } = g;
    const [query, key, value, mask] = inputs as [Tensor, Tensor, Tensor, Tensor | undefined];
    const [y, lse] = g.outputs as [Tensor, Tensor];
    let [dQuery, dKey, dValue] = execute(
      attentionGradOp,
      [dy, query, key, value, y, lse, ...(mask === undefined ? [] : [mask])],
      attrs,
    ) as [Tensor, Tensor, Tensor];
    const dLse = more[0] ?? null;
    const wantsMask = mask !== undefined && mask.dtype !== 'bool' && g.needs(3);
    if (dLse === null && !wantsMask) return [dQuery, dKey, dValue, ...(mask === undefined ? [] : [null])];
    const parts = weightsOf([query, key, value], lse, mask, attrs);
    const { weights, scale } = parts;
    let dMask: Tensor | null = null;
    if (wantsMask) {
      const upstream = casted(exchanged(dy, attrs), lse.dtype);
      const delta = upstream.mul(casted(exchanged(y, attrs), lse.dtype)).sum(-1, { keepdims: true });
      dMask = weights.mul(matmul(upstream, parts.value, { transposeB: true }).sub(delta));
    }
    if (dLse !== null) {
      const slopes = weights.mul(expandDims(dLse, -1));
      const more = (t: Tensor): Tensor => casted(exchanged(t.mul(scale), attrs), query.dtype);
      dQuery = dQuery.add(more(matmul(slopes, parts.key)));
      dKey = dKey.add(more(matmul(slopes, parts.query, { transposeA: true })));
      dMask = dMask?.add(slopes) ?? null;
    }
    return [
      dQuery,
      dKey,
      dValue,
      ...(mask === undefined ? [] : [dMask === null ? null : casted(sumTo(dMask, mask.shape), mask.dtype)]),
    ];
  },
  ulp: 64,
  samples: () => [
    {
      inputs: [uniform([2, 2, 3, 4]), uniform([2, 2, 5, 4]), uniform([2, 2, 5, 3])],
      attrs: { timeFirst: false, scale: 0.5, causal: false },
    },
    {
      inputs: [uniform([1, 4, 2, 3]), uniform([1, 4, 2, 3]), uniform([1, 4, 2, 3]), uniform([1, 1, 4, 4])],
      attrs: { timeFirst: true, scale: 0.6, causal: true },
    },
    {
      inputs: [
        uniform([2, 1, 3, 2]),
        uniform([2, 1, 2, 2]),
        uniform([2, 1, 2, 2]),
        values([1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1], [2, 1, 3, 2], 'bool'),
      ],
      attrs: { timeFirst: false, scale: 1, causal: false },
    },
  ],
});

/** The gradient of ScaledDotProductAttention for query, key and value. */
const attentionGradOp: Op = defineOp({
  name: 'ScaledDotProductAttentionGrad',
  kernel: 'ScaledDotProductAttentionGrad',
  infer: ([, query, key, value]) => [query, key, value].map((t) => ({ dtype: t.dtype, shape: t.shape })),
  grad: (g, ...upstream) => attentionGradGrad(g, upstream),
  ulp: 256,
  samples: () => [
    {
      inputs: [
        uniform([1, 2, 3, 2]),
        uniform([1, 2, 3, 4]),
        uniform([1, 2, 2, 4]),
        uniform([1, 2, 2, 2]),
        uniform([1, 2, 3, 2]),
        wideUniform([1, 2, 3], 2, 4),
      ],
      attrs: { timeFirst: false, scale: 0.5, causal: false },
    },
    {
      inputs: [
        ...[uniform([1, 3, 2, 2]), uniform([1, 3, 2, 2]), uniform([1, 3, 2, 2]), uniform([1, 3, 2, 2])],
        ...[uniform([1, 3, 2, 2]), wideUniform([1, 2, 3], 2, 4), values([0.5, -0.25, 0.75], [1, 1, 1, 3])],
      ],
      attrs: { timeFirst: true, scale: 0.7, causal: true },
    },
  ],
});

/**
 * The gradient's own gradient, dy, query, key, value, y, lse and mask being independent. With weights P, dP = dy · valueᵀ,
 * δ = Σ dy · y and A = P (dP − δ) the op gives scale · A · key, scale · Aᵀ · query and Pᵀ · dy.
 */
function attentionGradGrad(g: GradContext, upstream: readonly (Tensor | null)[]): (Tensor | null)[] {
  const { attrs } = g;
  const [givenDy, givenQuery, givenKey, givenValue, givenY, lse, mask] = g.inputs as [
    Tensor,
    Tensor,
    Tensor,
    Tensor,
    Tensor,
    Tensor,
    Tensor | undefined,
  ];
  const wide = (t: Tensor): Tensor => casted(exchanged(t, attrs), lse.dtype);
  const [dy, y] = [wide(givenDy), wide(givenY)];
  const parts = weightsOf([givenQuery, givenKey, givenValue], lse, mask, attrs);
  const { query, key, value, weights, scale } = parts;
  const [u, v, w] = upstream.map((t) => (t === null ? null : wide(t)));
  const delta = dy.mul(y).sum(-1, { keepdims: true });
  const inner = matmul(dy, value, { transposeB: true }).sub(delta);
  const slopes = weights.mul(inner);
  const sum = (...terms: (Tensor | null)[]): Tensor | null =>
    terms.reduce((a, b) => (a === null ? b : b === null ? a : a.add(b)), null);
  const times = (a: Tensor | null | undefined, b: Tensor | null | undefined, options = {}): Tensor | null =>
    a === null || a === undefined || b === null || b === undefined ? null : matmul(a, b, options);

  const toSlopes =
    sum(times(u, key, { transposeB: true }), times(query, v, { transposeB: true }))?.mul(scale) ?? null;
  const toInner = toSlopes?.mul(weights) ?? null;
  const toWeights = sum(times(dy, w, { transposeB: true }), toSlopes?.mul(inner) ?? null);
  const toScores = toWeights?.mul(weights) ?? null;
  const toDelta = toInner?.sum(-1, { keepdims: true }).neg() ?? null;
  const back = (t: Tensor | null): Tensor | null =>
    t === null ? null : casted(exchanged(t, attrs), givenDy.dtype);
  const results = [
    back(sum(times(weights, w), times(toInner, value), toDelta?.mul(y) ?? null)),
    back(sum(times(slopes, v), times(toScores, key))?.mul(scale) ?? null),
    back(
      sum(times(slopes, u, { transposeA: true }), times(toScores, query, { transposeA: true }))?.mul(scale) ??
        null,
    ),
    back(times(toInner, dy, { transposeA: true })),
    back(toDelta?.mul(dy) ?? null),
    toScores?.sum(-1).neg() ?? null,
  ];
  if (mask === undefined) return results;
  const toMask = mask.dtype === 'bool' || toScores === null ? null : sumTo(toScores, mask.shape);
  return [...results, casted(toMask, mask.dtype)];
}

/** Options of `dotProductAttention`. */
export interface AttentionOptions {
  /** Broadcasts to [batch, heads, queries, keys]. Bool: false takes a key out; floating: added to the scores. */
  readonly mask?: TensorLike | null;
  /** Whether a query sees only the keys that are no later than itself. */
  readonly isCausal?: boolean;
  /** 1/√d by default. */
  readonly scale?: number;
  /** Whether the arguments, and the result, are [batch, time, heads, d], as projections give them; false by default. */
  readonly timeFirst?: boolean;
}

/**
 * Attention of each query over the keys: softmax(scale · query · keyᵀ + mask) · value. Memory grows with the number of queries
 * plus keys, not with their product. A query that may see no key at all gets zeros.
 * @param query [batch, heads, queries, d]
 * @param key [batch, heads, keys, d]
 * @param value [batch, heads, keys, dv]
 * @returns [batch, heads, queries, dv]
 */
export const scaledDotProductAttention: NamedFunction<
  [query: TensorLike, key: TensorLike, value: TensorLike],
  ['query', 'key', 'value'],
  AttentionOptions
> = /* @__PURE__ */ defineFunction(
  'nn.scaledDotProductAttention',
  { query: kind.tensor, key: kind.tensor, value: kind.tensor },
  { mask: kind.asIs, isCausal: kind.asIs, scale: kind.asIs, timeFirst: kind.asIs },
  (query, key, value, options) => {
    const op = 'ScaledDotProductAttention';
    const q = toTensor(query);
    checkDType(q.dtype, 'floating', 'query', op);
    const k = toTensor(key, q.dtype);
    const v = toTensor(value, q.dtype);
    const timeFirst = checkFlag(options.timeFirst, 'timeFirst', 'ScaledDotProductAttention');
    const form = timeFirst ? '[batch, time, heads, d]' : '[batch, heads, time, d]';
    for (const [what, t] of [
      ['query', q],
      ['key', k],
      ['value', v],
    ] as const) {
      if (t.rank !== 4 || t.dtype !== q.dtype) {
        throw new InvalidArgumentError(
          `${what} is ${t.dtype} ${showShape(t.shape)}, expected ${q.dtype} ${form}`,
          op,
        );
      }
    }
    const [time, heads] = timeFirst ? [1, 2] : [2, 1];
    const same = (a: Tensor, b: Tensor, axis: number): boolean => equalDims(dims(a)[axis], dims(b)[axis]);
    const agree = (t: Tensor): boolean => same(t, q, 0) && same(t, q, heads);
    if (!agree(k) || !agree(v) || !same(k, q, 3) || !same(v, k, time)) {
      throw new InvalidArgumentError(
        `query ${showShape(q.shape)}, key ${showShape(k.shape)} and value ${showShape(v.shape)} do not match ${form}`,
        op,
      );
    }
    const scale = options.scale ?? 1 / Math.sqrt(Math.max(1, knownDim(dims(q)[3])));
    if (typeof scale !== 'number' || !Number.isFinite(scale))
      throw new InvalidArgumentError(`scale is ${String(scale)}, expected a finite number`, op);
    const inputs = [q, k, v];
    if (options.mask !== undefined && options.mask !== null) {
      const [b, h, rows] = [0, heads, time].map((axis) => dims(q)[axis]) as [Dim, Dim, Dim];
      const scores = toShape([b, h, rows, dims(k)[time]]);
      inputs.push(prepareMask(options.mask, q, scores, op));
    }
    const causal = checkFlag(options.isCausal, 'isCausal', 'ScaledDotProductAttention');
    return execute(attentionOp, inputs, { timeFirst, scale, causal })[0];
  },
);

/** The mask with rank 4. */
function prepareMask(mask: TensorLike, q: Tensor, scores: Shape, op: string): Tensor {
  let m = toTensor(mask);
  if (m.dtype !== 'bool') {
    checkDType(m.dtype, 'floating', 'mask', op);
    m = pair(q, m, op)[1];
  }
  const shape: Dims = [...new Array<number>(Math.max(0, 4 - m.rank)).fill(1), ...dims(m)];
  if (
    m.rank > 4 ||
    (m.dtype !== 'bool' && m.dtype !== q.dtype) ||
    !shape.every((d, i) => stretchesTo(d, dimsOf(scores)[i]))
  ) {
    throw new InvalidArgumentError(
      `mask is ${m.dtype} ${showShape(m.shape)}, expected bool or ${q.dtype} that broadcasts to ${showShape(scores)}`,
      op,
    );
  }
  return m.rank === 4 ? m : reshape(m, toShape(shape));
}
