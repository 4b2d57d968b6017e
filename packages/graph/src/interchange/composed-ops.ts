// Ops that TensorFlow has none for, in terms of those that it has: traced into small graphs, which stand for a node.
import {
  dtypeTraits,
  isComplex,
  isHalf,
  type NumericDType,
  type ScalarOp,
  type ScalarProgram,
} from '@eagre/backend';
import {
  bitwise,
  broadcastTo,
  cast,
  concat,
  constant,
  diagPart,
  expandDims,
  gather,
  logSoftmax,
  matmul,
  onesLike,
  pad,
  range,
  relu,
  reshape,
  setDiag,
  type Tensor,
  tensorScatterNdAdd,
  tensorScatterNdUpdate,
  transpose,
  where,
} from '@eagre/core';
import {
  type Attrs,
  causalMask,
  type Dim,
  type Dims,
  dims,
  dimsOf,
  execute,
  execute1,
  isElementwise,
  isExpression,
  listOps,
  mulDims,
  type Op,
  productOf,
  rnnGradients,
  ShapeEnv,
  shapesAgree,
  sizeValue,
  sumOfSpans,
  symbolically,
  symbolicTensor,
  toShape,
} from '@eagre/core/internal';
import { scan } from '../control/elements.ts';
import type { Graph, GraphNode } from '../ir/graph.ts';
import { FunctionTracer } from '../tracing/tracer.ts';

/** What computes the outputs of a node; null for those that nobody uses. */
type Compose = (
  inputs: readonly Tensor[],
  attrs: Attrs,
  outputs: readonly Output[],
) => readonly (Tensor | null)[];

interface Output {
  readonly shape: Dims;
  readonly isUsed: boolean;
}

/** A graph of TensorFlow's ops whose arguments are a node's inputs. */
export interface Composition {
  readonly graph: Graph;
  /** The place of each of the node's outputs among those of the graph; null for what nobody uses. */
  readonly places: readonly (number | null)[];
}

/**
 * A node in terms of other ops.
 * @param isUsed whether anybody needs an output.
 * @returns null where there is no such form.
 */
export function compositionOf(node: GraphNode, isUsed: (output: number) => boolean): Composition | null {
  const { what, inputs, attrs } = node;
  const compose = what.kind === 'op' ? composeOf(what.op, node) : portableForm(node);
  if (compose === null) return null;
  const sizes = inputs.flatMap((v) => dims(v)).find(isExpression)?.env ?? new ShapeEnv();
  const call = { sizes, late: [], guess: {} };
  const tracer = new FunctionTracer(node.type, false, null, null, null, call, true);
  const outputs = node.outputs.map((v, i): Output => ({ shape: dims(v), isUsed: isUsed(i) }));
  let made: readonly (Tensor | null)[] = [];
  tracer.run(() => {
    const given = inputs.map((v, i) => tracer.argument(v.dtype, dims(v), `input_${i}`));
    made = compose(given, attrs, outputs);
    tracer.finish(made.filter((t) => t !== null));
  });
  let place = 0;
  return { graph: tracer.graph, places: made.map((t) => (t === null ? null : place++)) };
}

/** What a call of the host says of itself. */
function portableForm({ what }: GraphNode): Compose | null {
  const portable = what.kind === 'host' ? what.portable : undefined;
  return portable === undefined ? null : (given) => portable(...given);
}

function composeOf(op: Op, node: GraphNode): Compose | null {
  const own = Object.hasOwn(compositions, node.type) ? compositions[node.type] : undefined;
  if (own !== undefined) return own;
  if (isElementwise(op)) {
    const program = programOf(op, node);
    if (program === null) return null;
    // A result that is a number is one of the op's shape.
    return (inputs, _, [output]) =>
      programOutputs(program, inputs).map((t) =>
        shapesAgree(dims(t), output.shape) ? t : broadcastTo(t, toShape(output.shape)),
      );
  }
  // An op that is made of others, as its parts.
  return op.isMadeOfOps ? (inputs, attrs) => op.evaluate(inputs, attrs) : null;
}

// ---- scalar programs

/** The scalar program of an op; null where it has several, as it has for complex numbers. */
function programOf(op: Op, { inputs, outputs, attrs }: GraphNode): ScalarProgram | null {
  if ([...inputs, ...outputs].some((v) => isComplex(v.dtype))) return null;
  const programs: ScalarProgram[] = [];
  const scalars = inputs.map((v) => symbolicTensor(v.dtype, []));
  const recorder = {
    call: (kernel: unknown): void => {
      if (typeof kernel === 'object') programs.push(kernel as ScalarProgram);
    },
    capture: (x: Tensor): Tensor => symbolicTensor(x.dtype, x.shape),
  };
  symbolically(recorder, () => op.evaluate(scalars, attrs));
  return programs.length === 1 ? (programs[0] as ScalarProgram) : null;
}

/** TensorFlow's ops for instructions that have one of the same operands. */
const INSTRUCTIONS: Readonly<Partial<Record<ScalarOp, string>>> = {
  neg: 'Neg',
  abs: 'Abs',
  sign: 'Sign',
  floor: 'Floor',
  ceil: 'Ceil',
  round: 'Round',
  sqrt: 'Sqrt',
  rsqrt: 'Rsqrt',
  exp: 'Exp',
  expm1: 'Expm1',
  log: 'Log',
  log1p: 'Log1p',
  sin: 'Sin',
  cos: 'Cos',
  tan: 'Tan',
  asin: 'Asin',
  acos: 'Acos',
  atan: 'Atan',
  sinh: 'Sinh',
  cosh: 'Cosh',
  tanh: 'Tanh',
  asinh: 'Asinh',
  acosh: 'Acosh',
  atanh: 'Atanh',
  sigmoid: 'Sigmoid',
  softplus: 'Softplus',
  erf: 'Erf',
  erfc: 'Erfc',
  erfinv: 'Erfinv',
  lgamma: 'Lgamma',
  digamma: 'Digamma',
  isNaN: 'IsNan',
  isInf: 'IsInf',
  isFinite: 'IsFinite',
  not: 'LogicalNot',
  add: 'AddV2',
  sub: 'Sub',
  mul: 'Mul',
  div: 'RealDiv',
  floorDiv: 'FloorDiv',
  mod: 'FloorMod',
  pow: 'Pow',
  min: 'Minimum',
  max: 'Maximum',
  atan2: 'Atan2',
  eq: 'Equal',
  ne: 'NotEqual',
  lt: 'Less',
  le: 'LessEqual',
  gt: 'Greater',
  ge: 'GreaterEqual',
  and: 'LogicalAnd',
  or: 'LogicalOr',
  xor: 'NotEqual',
  bitAnd: 'BitwiseAnd',
  bitOr: 'BitwiseOr',
  bitXor: 'BitwiseXor',
  bitNot: 'Invert',
  shiftLeft: 'LeftShift',
  shiftRight: 'RightShift',
  select: 'SelectV2',
};

/** Conversions to small integers end at the largest; those of TensorFlow wrap. */
function saturated(x: Tensor, dtype: NumericDType): Tensor {
  const { integer, bytes, low, high } = dtypeTraits[dtype];
  const exceeds = dtypeTraits[x.dtype].floating && integer && bytes <= 2;
  return cast(exceeds ? x.maximum(low).minimum(high) : x, dtype);
}

function programOutputs({ instrs, outputs }: ScalarProgram, inputs: readonly Tensor[]): Tensor[] {
  const values = [...inputs];
  for (const { op, dtype, args, value } of instrs) {
    const operands = args.map((i) => values[i] as Tensor);
    if (op === 'const') values.push(dtype === 'bool' ? constant(value !== 0) : constant(value, dtype));
    else if (op === 'cast') values.push(saturated(operands[0] as Tensor, dtype));
    else values.push(execute1(listOps().get(INSTRUCTIONS[op] as string) as Op, operands));
  }
  return outputs.map((i) => values[i] as Tensor);
}

// ---- kernels

const flag = (attrs: Attrs, name: string): boolean => attrs[name] === true;
const number = (attrs: Attrs, name: string): number => attrs[name] as number;
const rowMean = (t: Tensor): Tensor => t.mean(-1, { keepdims: true });
const allButLast = (t: Tensor): number[] => Array.from({ length: t.rank - 1 }, (_, i) => i);
const shaped = (t: Tensor, shape: Dims): Tensor => reshape(t, toShape(shape));
const named = (name: string, inputs: readonly Tensor[], attrs: Attrs): Tensor =>
  execute1(listOps().get(name) as Op, inputs, attrs);
const segmentSum = (rows: Tensor, ids: Tensor, count: Dim): Tensor =>
  named('UnsortedSegmentSum', [rows, ids], { count });
/** 0, 1, … below a size. */
const count = (n: Dim): Tensor => range(sizeValue(n, 'int32'), { dtype: 'int32' });

/** The biases and the activation of a fused op. */
function biased(y: Tensor, bias: Tensor | undefined, attrs: Attrs): Tensor {
  const shifted = bias === undefined ? y : y.add(bias);
  return attrs['activation'] === 1 ? relu(shifted) : shifted;
}

/** Heads before time, and back. */
const exchanged = (t: Tensor, attrs: Attrs): Tensor =>
  flag(attrs, 'timeFirst') ? transpose(t, [0, 2, 1, 3]) : t;

function attentionScores(query: Tensor, key: Tensor, mask: Tensor | undefined, attrs: Attrs): Tensor {
  let scores = matmul(query, key, { transposeB: true }).mul(number(attrs, 'scale'));
  if (mask !== undefined)
    scores = mask.dtype === 'bool' ? where(mask, scores, -Infinity) : scores.add(castTo(mask, scores.dtype));
  if (flag(attrs, 'causal'))
    scores = where(causalMask(dims(query)[2] as Dim, dims(key)[2] as Dim), scores, -Infinity);
  return scores;
}
/** The log-sum-exp of a row that may see nothing is -∞; then there is nothing to take off. */
const finite = (t: Tensor): Tensor => where(t.equal(-Infinity), 0, t);

const castTo = (t: Tensor, dtype: Tensor['dtype']): Tensor => (t.dtype === dtype ? t : cast(t, dtype));

const attention: Compose = ([q, k, v, mask], attrs) => {
  // Weights are computed in the dtype of the log-sum-exp, which has 32 bits where the others have 16.
  const dtype = isHalf((q as Tensor).dtype) ? 'float32' : (q as Tensor).dtype;
  const [query, key, value] = [q, k, v].map((t) => exchanged(t as Tensor, attrs)) as [Tensor, Tensor, Tensor];
  const scores = attentionScores(castTo(query, dtype), castTo(key, dtype), mask, attrs);
  const top = finite(scores.max(-1, { keepdims: true }));
  const terms = scores.sub(top).exp();
  const sum = terms.sum(-1, { keepdims: true });
  const y = matmul(castTo(terms.divNoNan(sum), value.dtype), value);
  return [exchanged(y, attrs), top.add(sum.log()).squeeze(-1)];
};

const attentionGradient: Compose = ([givenDy, q, k, v, givenY, lse, mask], attrs) => {
  const { dtype } = lse as Tensor;
  const [dy, query, key, value, y] = [givenDy, q, k, v, givenY].map((t) =>
    castTo(exchanged(t as Tensor, attrs), dtype),
  ) as [Tensor, Tensor, Tensor, Tensor, Tensor];
  const shift = expandDims(finite(lse as Tensor), -1);
  const weights = attentionScores(query, key, mask, attrs).sub(shift).exp();
  const delta = dy.mul(y).sum(-1, { keepdims: true });
  const slopes = weights.mul(matmul(dy, value, { transposeB: true }).sub(delta)).mul(number(attrs, 'scale'));
  return [
    matmul(slopes, key),
    matmul(slopes, query, { transposeA: true }),
    matmul(weights, dy, { transposeA: true }),
  ].map((t) => castTo(exchanged(t, attrs), (q as Tensor).dtype));
};

/** x̂ and 1/√(variance + ε) of each row; without a mean, of the root mean square. */
function normalized(x: Tensor, epsilon: number, mean: Tensor | null): [Tensor, Tensor] {
  const centred = mean === null ? x : x.sub(mean);
  const rstd = rowMean(centred.square()).add(epsilon).rsqrt();
  return [centred.mul(rstd), rstd];
}

const layerNorm: Compose = ([x, ...more], attrs) => {
  const mean = rowMean(x as Tensor);
  const [normal, rstd] = normalized(x as Tensor, number(attrs, 'epsilon'), mean);
  const rest = [...more];
  let y = normal;
  if (flag(attrs, 'scaled')) y = y.mul(rest.shift() as Tensor);
  if (flag(attrs, 'shifted')) y = y.add(rest.shift() as Tensor);
  return [y, mean.squeeze(-1), rstd.squeeze(-1)];
};

const rmsNorm: Compose = ([x, gamma], attrs) => {
  const [normal, rstd] = normalized(x as Tensor, number(attrs, 'epsilon'), null);
  return [gamma === undefined ? normal : normal.mul(gamma), rstd.squeeze(-1)];
};

/** Gradients of both, for x, gamma and (with a mean) beta. */
function rowNormGradient(dy: Tensor, x: Tensor, mean: Tensor | null, rstd: Tensor, gamma?: Tensor): Tensor[] {
  const r = expandDims(rstd, -1);
  const normal = (mean === null ? x : x.sub(expandDims(mean, -1))).mul(r);
  const h = gamma === undefined ? dy : dy.mul(gamma);
  const flat = mean === null ? h : h.sub(rowMean(h));
  const dx = flat.sub(normal.mul(rowMean(h.mul(normal)))).mul(r);
  const dGamma = dy.mul(normal).sum(allButLast(dy));
  return mean === null ? [dx, dGamma] : [dx, dGamma, dy.sum(allButLast(dy))];
}

const inDType = (t: Tensor, { dtype }: Tensor): Tensor => (t.dtype === dtype ? t : cast(t, dtype));

const batchNorm: Compose = ([x, scale, offset], attrs) => {
  // Statistics may have more bits than x.
  const t = inDType(x as Tensor, scale as Tensor);
  const axes = allButLast(t);
  const mean = t.mean(axes);
  const centred = t.sub(mean);
  const variance = centred.square().mean(axes);
  const factor = variance
    .add(number(attrs, 'epsilon'))
    .rsqrt()
    .mul(scale as Tensor);
  return [inDType(centred.mul(factor).add(offset as Tensor), x as Tensor), mean, variance];
};

const batchNormGradient: Compose = ([dy, x, scale, mean, variance], attrs) => {
  const [d, t] = [inDType(dy as Tensor, scale as Tensor), inDType(x as Tensor, scale as Tensor)];
  const axes = allButLast(d);
  const r = (variance as Tensor).add(number(attrs, 'epsilon')).rsqrt();
  const normal = t.sub(mean as Tensor).mul(r);
  const along = d.mul(normal);
  const flat = d.sub(d.mean(axes)).sub(normal.mul(along.mean(axes)));
  return [inDType(flat.mul((scale as Tensor).mul(r)), x as Tensor), along.sum(axes), d.sum(axes)];
};

/** Rows of a sequence, one after the other. */
const byTime = (t: Tensor): Tensor => transpose(t, [1, 0, 2]);

const lstm: Compose = (inputs, _attrs, [, , , reserve]) => {
  const [x, h0, c0, kernel, recurrent, bias] = inputs as [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor];
  const projected = byTime(matmul(x, kernel).add(bias));
  const none = h0.mul(0);
  const kept = reserve?.isUsed === true;
  const states = scan(
    ([h, c]: readonly Tensor[], at: Tensor) => {
      const [i, f, g, o] = at.add(matmul(h as Tensor, recurrent)).split(4, 1) as [
        Tensor,
        Tensor,
        Tensor,
        Tensor,
      ];
      const [input, forget, candidate, output] = [i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()];
      const cell = forget.mul(c as Tensor).add(input.mul(candidate));
      const squashed = cell.tanh();
      const next = [output.mul(squashed), cell];
      return kept ? [...next, input, forget, candidate, output, squashed] : next;
    },
    projected,
    { initializer: kept ? [h0, c0, none, none, none, none, none] : [h0, c0] },
  ) as readonly Tensor[];
  const [h, c, i, f, g, o, squashed] = states as readonly [Tensor, Tensor, ...Tensor[]];
  const all = kept ? byTime(concat([i, f, g, o, c, squashed] as Tensor[], 2)) : null;
  return [byTime(h), h.at(-1), c.at(-1), all];
};

const gru: Compose = (inputs, _attrs, [, , reserve]) => {
  const [x, h0, kernel, recurrent, bias] = inputs as [Tensor, Tensor, Tensor, Tensor, Tensor];
  const [ofX, ofH] = bias.unstack() as [Tensor, Tensor];
  const projected = byTime(matmul(x, kernel).add(ofX));
  const none = h0.mul(0);
  const kept = reserve?.isUsed === true;
  const states = scan(
    ([h]: readonly Tensor[], at: Tensor) => {
      const state = h as Tensor;
      const inner = matmul(state, recurrent).add(ofH);
      const [az, ar, ag] = at.split(3, 1) as [Tensor, Tensor, Tensor];
      const [sz, sr, q] = inner.split(3, 1) as [Tensor, Tensor, Tensor];
      const [update, reset] = [az.add(sz).sigmoid(), ar.add(sr).sigmoid()];
      const candidate = ag.add(reset.mul(q)).tanh();
      const next = candidate.add(update.mul(state.sub(candidate)));
      return kept ? [next, update, reset, candidate, q] : [next];
    },
    projected,
    { initializer: kept ? [h0, none, none, none, none] : [h0] },
  ) as readonly Tensor[];
  const [h, ...gates] = states as readonly [Tensor, ...Tensor[]];
  return [byTime(h), h.at(-1), kept ? byTime(concat(gates, 2)) : null];
};

const sorted: Compose = ([x], attrs) => {
  const t = x as Tensor;
  const k = dims(t)[t.rank - 1];
  const largest = (y: Tensor): readonly Tensor[] => execute(listOps().get('TopKV2') as Op, [y], { k });
  if (flag(attrs, 'descending')) {
    return largest(t);
  }
  // What turns the order around, and is its own inverse.
  const turned = (y: Tensor): Tensor =>
    y.dtype.startsWith('float') || y.dtype === 'bfloat16' ? y.neg() : bitwise.invert(y);
  const [values, indices] = largest(turned(t));
  return [turned(values), indices];
};

/** Slices of a gradient, added up where they were taken. */
const gatherGradient: Compose = ([dy, indices], attrs, [{ shape }]) => {
  const { axis, batchDims } = attrs as unknown as { axis: number; batchDims: number };
  const batch = productOf(shape.slice(0, batchDims));
  const ahead = productOf(shape.slice(batchDims, axis));
  const behind = productOf(shape.slice(axis + 1));
  const n = shape[axis] as Dim;
  const taken = productOf(dims(indices as Tensor).slice(batchDims));
  const rows = shaped(transpose(shaped(dy as Tensor, [batch, ahead, taken, behind]), [0, 2, 1, 3]), [
    mulDims(batch, taken),
    ahead,
    behind,
  ]);
  const local = shaped(cast(indices as Tensor, 'int32'), [batch, taken]);
  const first = expandDims(count(batch), 1).mul(sizeValue(n, 'int32'));
  const ids = shaped(batchDims === 0 ? local : local.add(first), [mulDims(batch, taken)]);
  const total = segmentSum(rows, ids, mulDims(batch, n));
  return [shaped(transpose(shaped(total, [batch, n, ahead, behind]), [0, 2, 1, 3]), shape)];
};

/** Where maxima were, as places in a whole batch of images; -1 stays below 0. */
function placesInBatch(argmax: Tensor, perImage: Dim): Tensor {
  const [n] = dims(argmax) as [Dim];
  const first = shaped(count(n), [n, 1, 1, 1]).mul(sizeValue(perImage, 'int32'));
  return where(argmax.less(0), -1, argmax.add(first));
}

const maxPoolScatter: Compose = ([dy, argmax], _attrs, [{ shape }]) => {
  const places = placesInBatch(argmax as Tensor, productOf(shape.slice(1)));
  const flat = segmentSum(
    shaped(dy as Tensor, [productOf(dims(dy as Tensor))]),
    shaped(places, [productOf(dims(places))]),
    productOf(shape),
  );
  return [shaped(flat, shape)];
};

const maxPoolGather: Compose = ([x, argmax]) => {
  const images = dims(x as Tensor);
  const places = placesInBatch(argmax as Tensor, productOf(images.slice(1)));
  const found = gather(shaped(x as Tensor, [productOf(images)]), places.maximum(0));
  return [where(places.less(0), 0, found)];
};

/** A mean of windows with any padding: zeros count for nothing, so what they take off is put back. */
const avgPool: Compose = ([x], attrs) => {
  const { window, strides, padding } = attrs as unknown as Record<'window' | 'strides' | 'padding', number[]>;
  const [top, bottom, left, right] = dimsOf(padding);
  const pads = [toShape([0, 0]), toShape([top, bottom]), toShape([left, right]), toShape([0, 0])];
  const mean = (t: Tensor): Tensor =>
    named('AvgPool', [pad(t, pads as [number, number][])], { window, strides, padding: [0, 0, 0, 0] });
  return [mean(x as Tensor).div(mean(onesLike(x as Tensor)))];
};

/** Fourier transforms along other axes than the last ones. */
const transforms =
  (name: string): Compose =>
  ([x], { axes }) => [
    (axes as readonly number[]).reduce<Tensor>((y, axis) => {
      if (axis === -1) return named(name, [y], {});
      const [place, last] = [y.rank + axis, y.rank - 1];
      const order = Array.from({ length: y.rank }, (_, i) => (i === place ? last : i === last ? place : i));
      return transpose(named(name, [transpose(y, order)], {}), order);
    }, x as Tensor),
  ];

const atIndex = (index: Tensor): Tensor => index.reshape([1, 1]);

const compositions: Readonly<Record<string, Compose>> = {
  FFT: transforms('FFT'),
  IFFT: transforms('IFFT'),
  // With ones on the diagonal, which TensorFlow's op reads.
  MatrixTriangularSolve: ([a, b], attrs) => {
    const ones = setDiag(a as Tensor, onesLike(diagPart(a as Tensor)));
    return [named('MatrixTriangularSolve', [ones, b as Tensor], { ...attrs, unit: false })];
  },
  _FusedMatMul: ([a, b, bias], attrs) => {
    const { transposeA, transposeB } = attrs as { transposeA: boolean; transposeB: boolean };
    return [biased(matmul(a as Tensor, b as Tensor, { transposeA, transposeB }), bias, attrs)];
  },
  _FusedConv2D: ([x, filter, bias], attrs) => {
    const { activation: _, ...geometry } = attrs;
    return [biased(named('Conv2D', [x, filter] as Tensor[], geometry), bias, attrs)];
  },
  SoftmaxCrossEntropyWithLogits: ([logits, labels]) => {
    const [x, y] = [logits as Tensor, labels as Tensor];
    const logs = logSoftmax(x);
    return [
      y.mul(logs).sum(-1).neg(),
      logs
        .exp()
        .mul(y.sum(-1, { keepdims: true }))
        .sub(y),
    ];
  },
  ScaledDotProductAttention: attention,
  ScaledDotProductAttentionGrad: attentionGradient,
  LayerNorm: layerNorm,
  LayerNormGrad: ([dy, x, mean, rstd, gamma]) =>
    rowNormGradient(dy as Tensor, x as Tensor, mean as Tensor, rstd as Tensor, gamma),
  RMSNorm: rmsNorm,
  RMSNormGrad: ([dy, x, rstd, gamma]) =>
    rowNormGradient(dy as Tensor, x as Tensor, null, rstd as Tensor, gamma),
  FusedBatchNormV3: batchNorm,
  FusedBatchNormGradV3: batchNormGradient,
  LSTM: lstm,
  LSTMGrad: (inputs, _attrs, outputs) => rnnGradients.lstm(inputs).slice(0, outputs.length),
  GRU: gru,
  GRUGrad: (inputs, _attrs, outputs) => rnnGradients.gru(inputs).slice(0, outputs.length),
  Sort: sorted,
  GatherGrad: gatherGradient,
  ResizeAxis: ([x, ends, weights], { size, transposed }) => [
    sumOfSpans(x as Tensor, ends as Tensor, weights as Tensor, size as Dim, transposed === true),
  ],
  AvgPool: avgPool,
  MaxPoolScatter: maxPoolScatter,
  MaxPoolGradGradWithArgmax: maxPoolGather,
  TensorListGetItem: ([list, index]) => [gather(list as Tensor, index as Tensor)],
  TensorListSetItem: ([list, index, row]) => [
    tensorScatterNdUpdate(list as Tensor, atIndex(index as Tensor), expandDims(row as Tensor, 0)),
  ],
  TensorListAddItem: ([list, index, row]) => [
    tensorScatterNdAdd(list as Tensor, atIndex(index as Tensor), expandDims(row as Tensor, 0)),
  ],
};
