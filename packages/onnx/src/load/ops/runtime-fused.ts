// Ops that ONNX Runtime's optimizers put in the place of several: products and convolutions with what follows, and the parts of transformers.
import {
  broadcastTo,
  concat,
  constant,
  gather,
  matmul,
  nn,
  pad,
  split,
  stack,
  type Tensor,
  tensorScatterNdUpdate,
  unstack,
  where,
  zeros,
} from '@eagre/core';
import { type Dim, dims, iota, maxDims, mulDims, subDims, toShape } from '@eagre/core/internal';
import type { NodeCall, OnnxOp, OpTable, Run } from '../node.ts';
import { sizeTensor } from './arrays.ts';
import { headsOf, repeated } from './attention.ts';
import { shaped } from './helpers.ts';
import { products } from './products.ts';

type Sizes4 = readonly [Dim, Dim, Dim, Dim];

/** What a fused node does at the end; nothing without a name. */
function activated(node: NodeCall, x: Tensor, [first, second]: readonly (number | undefined)[]): Tensor {
  const name = node.attrs.text('activation', '');
  switch (name) {
    case '':
      return x;
    case 'Relu':
      return x.relu();
    case 'Tanh':
      return x.tanh();
    case 'Sigmoid':
      return x.sigmoid();
    case 'LeakyRelu':
      return nn.leakyRelu(x, { alpha: first ?? 0.01 });
    case 'Clip':
      return x.clip(first ?? Number.NEGATIVE_INFINITY, second ?? Number.POSITIVE_INFINITY);
    case 'HardSigmoid':
      return x
        .mul(first ?? 0.2)
        .add(second ?? 0.5)
        .clip(0, 1);
    default:
      return node.unsupported(`the activation '${name}' is not translated`);
  }
}

const fusedConvolution: Run = (node) => {
  const y = (products['Conv'] as Run)(node) as Tensor;
  const more = node.maybe(3);
  return activated(node, more === null ? y : y.add(more), node.attrs.floats('activation_params', []));
};

const fusedGeneral: Run = (node) => {
  const { attrs } = node;
  const numbers = ['alpha', 'beta'].map((name) =>
    attrs.has(`activation_${name}`) ? attrs.float(`activation_${name}`) : undefined,
  );
  return activated(node, (products['Gemm'] as Run)(node) as Tensor, numbers);
};

const fusedProduct: Run = (node) => {
  const { attrs } = node;
  for (const name of ['transBatchA', 'transBatchB'])
    if (attrs.int(name, 0) !== 0) node.unsupported(`${name} is not translated`);
  const [transposeA, transposeB] = [attrs.int('transA', 0) === 1, attrs.int('transB', 0) === 1];
  const y = matmul(node.x(0), node.x(1), { transposeA, transposeB });
  const alpha = attrs.float('alpha', 1);
  return alpha === 1 ? y : y.mul(alpha);
};

const withBias = (node: NodeCall, i = 1): Tensor => {
  const bias = node.maybe(i);
  return bias === null ? node.x(0) : node.x(0).add(bias);
};

// ---- normalization

const EPSILON = 1e-12;

function normalized(node: NodeCall, x: Tensor, gamma: Tensor, beta: Tensor | null): readonly Tensor[] {
  const [mean, variance] = nn.moments(x, [-1], { keepdims: true });
  const inverse = variance.add(node.attrs.float('epsilon', EPSILON)).rsqrt();
  const y = x.sub(mean).mul(inverse).mul(gamma);
  return [beta === null ? y : y.add(beta), mean, inverse];
}

const skipNorm: Run = (node) => {
  const bias = node.maybe(4);
  const sum = node.x(0).add(node.x(1));
  const x = bias === null ? sum : sum.add(bias);
  return [...normalized(node, x, node.x(2), node.maybe(3)), x];
};

const skipRmsNorm: Run = (node) => {
  const bias = node.maybe(3);
  const sum = node.x(0).add(node.x(1));
  const x = bias === null ? sum : sum.add(bias);
  const inverse = x.square().mean(-1, { keepdims: true }).add(node.attrs.float('epsilon', EPSILON)).rsqrt();
  return [x.mul(inverse).mul(node.x(2)), null, inverse, x];
};

const embedded: Run = (node) => {
  const ids = node.x(0);
  const [batch, length] = dims(ids) as readonly [Dim, Dim];
  const words = gather(node.x(2), ids, 0);
  const places = node.maybe(8) ?? iota(length).cast('int32').expandDims(0);
  let sum = words.add(gather(node.x(3), places, 0));
  const segments = node.maybe(1);
  if (segments !== null) sum = sum.add(gather(node.x(4), segments, 0));
  const [y] = normalized(node, sum, node.x(5), node.x(6));
  const mask = node.maybe(7);
  const seen = mask === null ? zeros(toShape([batch]), { dtype: 'int32' }) : mask.cast('int32').sum(-1);
  return [y as Tensor, seen, sum];
};

// ---- attention

/** Scores plus what masks them, weights, and the values that these take: [n, heads, queries, d]. */
function attended(q: Tensor, k: Tensor, v: Tensor, scale: number, masks: readonly Tensor[], cap = 0): Tensor {
  const given = matmul(q, k, { transposeB: true }).mul(scale);
  const scores = cap === 0 ? given : given.div(cap).tanh().mul(cap);
  return nn
    .softmax(
      masks.reduce((s, mask) => s.add(mask), scores),
      -1,
    )
    .matmul(v);
}
const merged = (y: Tensor): Tensor => {
  const [n, h, t, d] = dims(y) as Sizes4;
  return shaped(y.transpose([0, 2, 1, 3]), [n, t, mulDims(h, d)]);
};
/** 0 where a key is seen, and a number far below 0 elsewhere. */
const hidden = (seen: Tensor, value: number): Tensor => where(seen, 0, constant(value));
const LOWEST = -3.4028234663852886e38;

/** No query sees keys behind it. */
function causal(queries: Dim, keys: Dim): Tensor {
  const rows = iota(queries)
    .cast('int64')
    .reshape([-1, 1])
    .add(sizeTensor(subDims(keys, queries), 'int64'));
  return hidden(iota(keys).cast('int64').reshape([1, -1]).lessEqual(rows), LOWEST);
}

/** A mask of keys: how many there are in each example, or 1 and 0 for each. */
function keyMask(node: NodeCall, mask: Tensor, keys: Dim): Tensor {
  const value = node.attrs.float('mask_filter_value', -10_000);
  switch (mask.rank) {
    case 1:
      return hidden(
        iota(keys)
          .cast('int64')
          .reshape([1, 1, 1, -1])
          .less(mask.cast('int64').reshape([-1, 1, 1, 1])),
        value,
      );
    case 2:
      return hidden(mask.cast('int32').notEqual(0).expandDims([1, 2]), value);
    case 3:
      return hidden(mask.cast('int32').notEqual(0).expandDims(1), value);
    default:
      return node.unsupported(`a mask of rank ${mask.rank} is not translated`);
  }
}

const scaleOf = (node: NodeCall, q: Tensor): number => {
  const given = node.attrs.float('scale', 0);
  return given === 0 ? 1 / Math.sqrt(q.shape.at(-1) as number) : given;
};

const selfAttention: Run = (node) => {
  const { attrs } = node;
  if (attrs.int('do_rotary', 0) === 1) node.unsupported('do_rotary is not translated');
  const heads = attrs.int('num_heads');
  const all = matmul(node.x(0), broadcastTo3(node.x(1), node.x(0)));
  const bias = node.maybe(2);
  const width = node.x(1).shape.at(-1) as number;
  const sizes = attrs.ints('qkv_hidden_sizes', [width / 3, width / 3, width / 3]);
  const [q, k, v] = split(bias === null ? all : all.add(bias), sizes, -1).map((x) => headsOf(x, heads)) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const past = node.maybe(4);
  const [oldKeys, oldValues] = past === null ? [] : unstack(past, 0);
  const keys = oldKeys === undefined ? k : concat([oldKeys, k], 2);
  const values = oldValues === undefined ? v : concat([oldValues, v], 2);
  const count = dims(keys)[2] as Dim;
  const masks: Tensor[] = [];
  if (node.maybe(3) !== null) masks.push(keyMask(node, node.x(3), count));
  if (attrs.int('unidirectional', 0) === 1) masks.push(causal(dims(q)[2] as Dim, count));
  if (node.maybe(5) !== null) masks.push(node.x(5));
  const y = merged(attended(q, keys, values, scaleOf(node, q), masks));
  return node.wants(1) ? [y, stack([keys, values], 0)] : [y];
};
/** A matrix beside rows of examples. */
const broadcastTo3 = (w: Tensor, x: Tensor): Tensor => (x.rank === 3 ? w.expandDims(0) : w);

const crossAttention: Run = (node) => {
  const { attrs } = node;
  const heads = attrs.int('num_heads');
  if (node.x(0).rank !== 3 || node.maybe(1) === null || node.maybe(2) === null)
    node.unsupported('packed queries, keys and values are not translated');
  const biases = node.maybe(3) === null ? null : biasParts(node);
  const part = (i: number): Tensor => {
    const x = node.x(i);
    if (x.rank === 4) return x;
    return headsOf(biases === null ? x : x.add(biases[i] as Tensor), heads);
  };
  const q = part(0);
  const [past, pastValues] = [node.maybe(6), node.maybe(7)];
  const keys = past === null ? part(1) : concat([past, part(1)], 2);
  const values = pastValues === null ? part(2) : concat([pastValues, part(2)], 2);
  const count = dims(keys)[2] as Dim;
  const masks: Tensor[] = [];
  if (node.maybe(4) !== null) masks.push(keyMask(node, node.x(4), count));
  if (node.maybe(5) !== null) masks.push(node.x(5));
  if (attrs.int('unidirectional', 0) === 1) masks.push(causal(dims(q)[2] as Dim, count));
  return [merged(attended(q, keys, values, scaleOf(node, q), masks)), keys, values];
};
function biasParts(node: NodeCall): Tensor[] {
  const width = node.x(0).shape[2] as number;
  const all = node.x(3).shape[0] as number;
  return split(node.x(3), [width, width, all - 2 * width], 0);
}

// ---- rotary places

/** Turns pairs of numbers of [n, heads, t, d] by the angles of their places: [n or 1, t]. */
function rotated(x: Tensor, places: Tensor, cos: Tensor, sin: Tensor, interleaved: boolean): Tensor {
  const half = cos.shape[1] as number;
  const width = x.shape[3] as number;
  const [front, rest] =
    2 * half < width ? (split(x, [2 * half, width - 2 * half], 3) as [Tensor, Tensor]) : [x, null];
  const [c, s] = [gather(cos, places, 0).expandDims(1), gather(sin, places, 0).expandDims(1)];
  const [n, h, t] = dims(x) as Sizes4;
  const pairs = interleaved ? shaped(front, [n, h, t, half, 2]) : shaped(front, [n, h, t, 2, half]);
  const [a, b] = unstack(pairs, interleaved ? 4 : 3) as [Tensor, Tensor];
  const turned = stack([a.mul(c).sub(b.mul(s)), a.mul(s).add(b.mul(c))], interleaved ? 4 : 3);
  const y = shaped(turned, [n, h, t, 2 * half]);
  return rest === null ? y : concat([y, rest], 3);
}

const rotary: Run = (node) => {
  const { attrs } = node;
  if (attrs.int('is_packed_batching', 0) === 1) node.unsupported('is_packed_batching is not translated');
  const x = node.x(0);
  const [given, cos, sin] = [node.x(1), node.x(2), node.x(3)];
  const own = attrs.int('num_heads', 0);
  const heads = own === 0 ? (x.shape.at(-1) as number) / (2 * (cos.shape[1] as number)) : own;
  const wide = x.rank === 4 ? x : headsOf(x, heads);
  const length = dims(wide)[2] as Dim;
  // One number is where the first step stands.
  const places =
    given.rank === 2
      ? given
      : iota(length)
          .cast('int64')
          .add(given.cast('int64').reshape([1]))
          .expandDims(0);
  const scale = attrs.float('scale', 1);
  const y = rotated(wide, places, cos, sin, attrs.int('interleaved', 0) === 1).mul(scale);
  return x.rank === 4 ? y : merged(y);
};

/** Attention with a cache, into which each example writes its keys and values behind those that it has. */
const groupAttention: Run = (node) => {
  const { attrs } = node;
  const [heads, groups] = [attrs.int('num_heads'), attrs.int('kv_num_heads')];
  for (const i of [9, 10, 11]) if (node.maybe(i) !== null) node.unsupported(`input ${i} is not translated`);
  const packed = node.maybe(1) === null;
  let parts = [0, 1, 2].map((i) => node.inputs[i] as Tensor);
  if (packed) {
    const width = (node.x(0).shape[2] as number) / (heads + 2 * groups);
    parts = split(node.x(0), [heads * width, groups * width, groups * width], 2);
  }
  let [q, k, v] = parts.map((x, i) => headsOf(x, i === 0 ? heads : groups)) as [Tensor, Tensor, Tensor];
  const [n, , length, width] = dims(q) as Sizes4;
  const last = node.x(5).cast('int64').reshape([-1]);
  // Where the first new key of each example goes.
  const from = last.add(1).sub(sizeTensor(length, 'int64')).maximum(0).expandDims(-1);
  const places = from.add(iota(length).cast('int64').expandDims(0));
  if (attrs.int('do_rotary', 0) === 1) {
    const turn = (x: Tensor): Tensor =>
      rotated(x, places, node.x(7), node.x(8), attrs.int('rotary_interleaved', 0) === 1);
    [q, k] = [turn(q), turn(k)];
  }
  const [total] = node.sizes(6) as [Dim];
  const cached = (past: Tensor | null, x: Tensor): Tensor => {
    const before = past === null ? 0 : (dims(past)[2] as Dim);
    const size = maxDims(before, total);
    const base =
      past === null
        ? zeros(toShape([n, size, groups, dims(x)[3] as Dim]), { dtype: x.dtype as 'float32' })
        : pad(past.transpose([0, 2, 1, 3]), [
            [0, 0],
            toShape([0, subDims(size, before)]) as unknown as [number, number],
            [0, 0],
            [0, 0],
          ]);
    const example = broadcastTo(iota(n).cast('int64').expandDims(-1), toShape([n, length]));
    const index = stack([example, places], -1);
    return tensorScatterNdUpdate(base, index, x.transpose([0, 2, 1, 3])).transpose([0, 2, 1, 3]);
  };
  const [keys, values] = [cached(node.maybe(3), k), cached(node.maybe(4), v)];
  const at = iota(dims(keys)[2] as Dim)
    .cast('int64')
    .reshape([1, 1, 1, -1]);
  const own = places.reshape(toShape([dims(places)[0] as Dim, 1, length, 1]) as number[]);
  const window = attrs.int('local_window_size', -1);
  const masks = [hidden(at.lessEqual(own), LOWEST)];
  if (window > 0) masks.push(hidden(at.greater(own.sub(window)), LOWEST));
  const given = attrs.float('scale', 0);
  const scale = given === 0 ? 1 / Math.sqrt(width as number) : given;
  const times = heads / groups;
  const y = attended(
    q,
    repeated(keys, times),
    repeated(values, times),
    scale,
    masks,
    attrs.float('softcap', 0),
  );
  return [merged(y), keys, values];
};

// ---- weights of a few bits

/** Bytes as integers of fewer bits, the low ones first: [.., bytes] to [.., numbers]. */
function unpacked(x: Tensor, bits: number): Tensor {
  if (bits === 8) return x.cast('int32');
  const wide = x.cast('int32');
  const each = Array.from({ length: 8 / bits }, (_, i) => wide.floorDiv(2 ** (bits * i)).mod(2 ** bits));
  const shape = dims(x);
  return shaped(stack(each, -1), [...shape.slice(0, -1), mulDims(shape.at(-1) as Dim, 8 / bits)]);
}

const fewBits: Run = (node) => {
  const { attrs } = node;
  const [k, n, size] = [attrs.int('K'), attrs.int('N'), attrs.int('block_size')];
  const bits = attrs.int('bits', 4);
  if (![2, 4, 8].includes(bits)) node.unsupported(`weights of ${bits} bits are not translated`);
  if (node.maybe(4) !== null) node.unsupported('g_idx is not translated');
  const blocks = Math.ceil(k / size);
  const weights = unpacked(node.x(1), bits).reshape([n, blocks, size]);
  const scales = node.x(2).reshape([n, blocks, 1]);
  const zero = node.maybe(3);
  const centre =
    zero === null
      ? constant(2 ** (bits - 1)).cast(scales.dtype)
      : zero.dtype === 'uint8'
        ? unpacked(zero.reshape([n, -1]), bits)
            .slice([0, 0], [n, blocks])
            .reshape([n, blocks, 1])
            .cast(scales.dtype)
        : zero.reshape([n, blocks, 1]);
  const w = weights
    .cast(scales.dtype)
    .sub(centre)
    .mul(scales)
    .reshape([n, blocks * size])
    .slice([0, 0], [n, k]);
  const x = node.x(0);
  const rows = shaped(x, [-1, k]);
  const shape = dims(x);
  const y = shaped(rows.matmul(w, { transposeB: true }), [...shape.slice(0, -1), n]);
  const bias = node.maybe(5);
  return bias === null ? y : y.add(bias);
};

const gelu: Run = (node) => nn.gelu(withBias(node), { approximate: false });

export const runtimeFused: OpTable = {
  Attention: selfAttention,
  BiasGelu: gelu,
  EmbedLayerNormalization: embedded,
  FastGelu: (node) => nn.gelu(withBias(node), { approximate: true }),
  FusedConv: fusedConvolution,
  FusedGemm: fusedGeneral,
  FusedMatMul: fusedProduct,
  Gelu: gelu,
  GroupQueryAttention: { hosts: [6], run: groupAttention } satisfies OnnxOp,
  MatMulNBits: fewBits,
  MultiHeadAttention: crossAttention,
  QuickGelu: (node) => node.x().mul(node.x().mul(node.attrs.float('alpha', 1.702)).sigmoid()),
  RotaryEmbedding: rotary,
  SkipLayerNormalization: skipNorm,
  SkipSimplifiedLayerNormalization: skipRmsNorm,
};
