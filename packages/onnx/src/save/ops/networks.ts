// Products, convolutions, pooling, normalizations, recurrent layers and attention.
import { type DType, UnimplementedError } from '@eagre/backend';
import {
  addDims,
  type Dim,
  dims,
  dimsOf,
  floorDivDims,
  identicalDims,
  maxDims,
  mulDims,
  subDims,
} from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '@eagre/graph';
import { typeNumber } from '../../tensors.ts';
import { attr, type Row, type Rows } from '../row.ts';
import { type AttributeValue, type GraphWriter, real } from '../writer.ts';
import { momentsOf, reduced } from './reductions.ts';

const input = (node: GraphNode, i = 0): GraphValue => node.inputs[i] as GraphValue;
const rankOf = (node: GraphNode, i = 0): number => input(node, i).shape.length;
const refuse = (node: GraphNode, why: string): never => {
  throw new UnimplementedError(
    `ONNX has no form of the node '${node.name}' (${node.type}): ${why}`,
    'tf.onnx.save',
  );
};

const swapLast = (rank: number): number[] => [
  ...Array.from({ length: rank - 2 }, (_, i) => i),
  rank - 1,
  rank - 2,
];

const product: Row = (w, node, [a, b]) => {
  const { transposeA, transposeB } = node.attrs as { transposeA: boolean; transposeB: boolean };
  const left = transposeA ? w.transpose(a as string, swapLast(rankOf(node))) : (a as string);
  const right = transposeB ? w.transpose(b as string, swapLast(rankOf(node, 1))) : (b as string);
  return w.add('MatMul', [left, right]);
};
const fusedProduct: Row = (w, node, [a, b, bias]) => {
  const { transposeA, transposeB } = node.attrs as { transposeA: boolean; transposeB: boolean };
  const flat = rankOf(node) === 2 && rankOf(node, 1) === 2 && bias !== undefined;
  const y = flat
    ? w.add('Gemm', [a as string, b as string, bias], {
        transA: transposeA ? 1 : 0,
        transB: transposeB ? 1 : 0,
      })
    : bias === undefined
      ? (product(w, node, [a as string, b as string]) as string)
      : w.add('Add', [product(w, node, [a as string, b as string]) as string, bias]);
  return attr(node, 'activation') === 1 ? w.add('Relu', [y]) : y;
};

// ---- windows over images [n, h, w, c]

const FIRST = [0, 3, 1, 2];
const LAST = [0, 2, 3, 1];

/** The pads of windows as attributes; null where they have to be nodes. */
function padsOf(
  node: GraphNode,
  size: readonly Dim[],
  window: readonly Dim[],
  dilations: readonly number[],
): Readonly<Record<string, AttributeValue>> | null {
  const pixels = dimsOf(attr<readonly number[]>(node, 'padding'));
  const strides = attr<readonly number[]>(node, 'strides');
  if (pixels.every((d) => typeof d === 'number')) {
    const [top, bottom, left, right] = pixels as [number, number, number, number];
    return pixels.every((d) => d === 0) ? {} : { pads: [top, left, bottom, right] };
  }
  const same = [0, 1].flatMap((i) => {
    const [stride, n] = [strides[i] as number, size[i] as Dim];
    const reach = addDims(mulDims(subDims(window[i] as Dim, 1), dilations[i] as number), 1);
    const steps = floorDivDims(addDims(n, stride - 1), stride);
    const total = maxDims(0, subDims(addDims(mulDims(subDims(steps, 1), stride), reach), n));
    const before = floorDivDims(total, 2);
    return [before, subDims(total, before)];
  });
  return same.every((d, i) => identicalDims(d, pixels[i] as Dim)) ? { auto_pad: 'SAME_UPPER' } : null;
}

/** Images with a border of their own. */
function bordered(w: GraphWriter, node: GraphNode, x: string, value: number): string {
  const [top, bottom, left, right] = dimsOf(attr<readonly number[]>(node, 'padding')) as [Dim, Dim, Dim, Dim];
  return w.add('Pad', [
    x,
    w.shape([0, 0, top, left, 0, 0, bottom, right]),
    w.scalar(value, input(node).dtype),
  ]);
}

const convolution: Row = (w, node, [x, filter, bias]) => {
  const { strides, dilations, groups } = node.attrs as unknown as {
    strides: readonly number[];
    dilations: readonly number[];
    groups: Dim;
  };
  if (typeof groups !== 'number') return refuse(node, 'the number of groups is not known');
  const taps = dims(input(node, 1)).slice(0, 2);
  const given = padsOf(node, dims(input(node)).slice(1, 3), taps, dilations);
  const images = w.transpose(x as string, FIRST);
  const y = w.add(
    'Conv',
    [
      given === null ? bordered(w, node, images, 0) : images,
      w.transpose(filter as string, [3, 2, 0, 1]),
      ...(bias === undefined ? [] : [bias]),
    ],
    { strides, dilations, group: groups, ...given },
  );
  return w.transpose(attr(node, 'activation') === 1 ? w.add('Relu', [y]) : y, LAST);
};

const transposedConvolution: Row = (w, node, [filter, dy]) => {
  const { strides, dilations, groups } = node.attrs as unknown as {
    strides: readonly number[];
    dilations: readonly number[];
    groups: Dim;
  };
  if (typeof groups !== 'number') return refuse(node, 'the number of groups is not known');
  const [taps, from, to] = [dims(input(node)), dims(input(node, 1)), dims(node.outputs[0] as GraphValue)];
  const pixels = dimsOf(attr<readonly number[]>(node, 'padding'));
  const more = [0, 1].map((i) => {
    const reach = addDims(mulDims(subDims(taps[i] as Dim, 1), dilations[i] as number), 1);
    const whole = addDims(mulDims(subDims(from[i + 1] as Dim, 1), strides[i] as number), reach);
    return subDims(to[i + 1] as Dim, subDims(whole, addDims(pixels[2 * i] as Dim, pixels[2 * i + 1] as Dim)));
  });
  if (![...pixels, ...more].every((d) => typeof d === 'number'))
    return refuse(node, 'its padding depends on sizes that are not known');
  const [top, bottom, left, right] = pixels as [number, number, number, number];
  const y = w.add(
    'ConvTranspose',
    [w.transpose(dy as string, FIRST), w.transpose(filter as string, [3, 2, 0, 1])],
    {
      strides,
      dilations,
      group: groups,
      pads: [top, left, bottom, right],
      output_padding: more as number[],
    },
  );
  return w.transpose(y, LAST);
};

/** A border that is not smaller than the window is a node: runtimes refuse it as an attribute. */
function pooled(
  w: GraphWriter,
  node: GraphNode,
  x: string,
  op: string,
  more: Readonly<Record<string, AttributeValue>>,
): string {
  const window = attr<readonly number[]>(node, 'window');
  const strides = attr<readonly number[]>(node, 'strides');
  const given = padsOf(node, dims(input(node)).slice(1, 3), window, [1, 1]);
  const pads = given?.['pads'] as readonly number[] | undefined;
  const fits = given !== null && (pads === undefined || pads.every((p, i) => p < (window[i % 2] as number)));
  const images = w.transpose(x, FIRST);
  if (!fits && op === 'AveragePool') refuse(node, 'its border is not smaller than its window');
  const y = w.add(op, [fits ? images : bordered(w, node, images, Number.NEGATIVE_INFINITY)], {
    kernel_shape: window,
    strides,
    ...(fits ? given : {}),
    ...more,
  });
  return w.transpose(y, LAST);
}

const maxPool: Row = (w, node, [x]) => {
  if (w.isUsed(node.outputs[1] as GraphValue)) refuse(node, 'it counts places in another way');
  return [pooled(w, node, x as string, 'MaxPool', {}), null];
};

// ---- normalization

const onesOf = (w: GraphWriter, node: GraphNode): string => {
  const n = dims(input(node)).at(-1) as Dim;
  if (typeof n !== 'number') return refuse(node, 'the size of its last axis is not known');
  return w.file.constant(new Array<number>(n).fill(1), input(node).dtype, [n]);
};

const layerNorm: Row = (w, node, inputs) => {
  if ([1, 2].some((i) => w.isUsed(node.outputs[i] as GraphValue)))
    refuse(node, 'somebody uses its statistics');
  const { epsilon, scaled, shifted } = node.attrs as { epsilon: number; scaled: boolean; shifted: boolean };
  const [x, ...rest] = inputs as [string, ...string[]];
  const scale = scaled ? (rest.shift() as string) : onesOf(w, node);
  const y = w.add('LayerNormalization', [x, scale, ...(shifted ? [rest[0] as string] : [])], {
    axis: -1,
    epsilon: real(epsilon),
  });
  return [y, null, null];
};

const rmsNorm: Row = (w, node, [x, gamma]) => {
  if (w.isUsed(node.outputs[1] as GraphValue)) refuse(node, 'somebody uses its statistics');
  const epsilon = attr<number>(node, 'epsilon');
  const { dtype } = input(node);
  const square = reduced(w, 'ReduceMean', w.add('Mul', [x as string, x as string]), [rankOf(node) - 1], true);
  const root = w.add('Sqrt', [w.add('Add', [square, w.scalar(epsilon, dtype)])]);
  const y = w.add('Div', [x as string, root]);
  return [gamma === undefined ? y : w.add('Mul', [y, gamma]), null];
};

const batchNorm: Row = (w, node, [given, scale, shift]) => {
  const axes = Array.from({ length: rankOf(node) - 1 }, (_, i) => i);
  // Statistics may have more bits than what they are of.
  const [narrow, dtype] = [input(node).dtype, input(node, 1).dtype];
  const inDType = (x: string, to: DType): string =>
    narrow === dtype ? x : w.add('Cast', [x], { to: typeNumber(to) });
  const x = inDType(given as string, dtype);
  const [mean, variance] = momentsOf(w, x, axes, false);
  const root = w.add('Sqrt', [w.add('Add', [variance, w.scalar(attr(node, 'epsilon'), dtype)])]);
  const centred = w.add('Div', [w.add('Sub', [x, mean]), root]);
  const y = w.add('Add', [w.add('Mul', [centred, scale as string]), shift as string]);
  return [inDType(y, narrow), mean, variance];
};

// ---- recurrent networks: x [batch, time, features]

/** Pieces of equal size along an axis, in another order. */
function reordered(w: GraphWriter, x: string, units: number, order: readonly number[], axis: number): string {
  const parts = w.several('Split', [x, w.ints(order.map(() => units))], { axis }, order.length);
  return w.add(
    'Concat',
    order.map((i) => parts[i] as string),
    { axis },
  );
}

const unitsOf = (node: GraphNode): number => {
  const units = dims(input(node, 1)).at(-1);
  return typeof units === 'number' ? units : refuse(node, 'the number of units is not known');
};
const zerosOf = (w: GraphWriter, count: number, dtype: DType): string =>
  w.file.constant(new Array<number>(count).fill(0), dtype, [count]);

/** [batch, units] for one direction, and sequences back. */
function recurrent(
  w: GraphWriter,
  node: GraphNode,
  op: string,
  weights: readonly string[],
  states: readonly string[],
  attrs: Readonly<Record<string, AttributeValue>>,
  x: string,
): (string | null)[] {
  const outputs = w.several(
    op,
    [
      w.transpose(x, [1, 0, 2]),
      ...weights.map((t) => w.unsqueeze(t, [0])),
      '',
      ...states.map((t) => w.unsqueeze(t, [0])),
    ],
    { hidden_size: unitsOf(node), ...attrs },
    states.length + 1,
  );
  const [all, ...last] = outputs as [string, ...string[]];
  const sequence = w.transpose(w.squeeze(all, [1]), [1, 0, 2]);
  const reserve = node.outputs.at(-1) as GraphValue;
  if (w.isUsed(reserve)) refuse(node, 'a gradient uses it');
  return [sequence, ...last.map((t) => w.squeeze(t, [0])), null];
}

const lstm: Row = (w, node, [x, h, c, kernel, recurrentKernel, bias]) => {
  const units = unitsOf(node);
  // i, f, c, o here; i, o, f, c there.
  const gates = (t: string): string => w.transpose(reordered(w, t, units, [0, 3, 1, 2], 1), [1, 0]);
  const biases = w.add(
    'Concat',
    [reordered(w, bias as string, units, [0, 3, 1, 2], 0), zerosOf(w, 4 * units, input(node).dtype)],
    { axis: 0 },
  );
  return recurrent(
    w,
    node,
    'LSTM',
    [gates(kernel as string), gates(recurrentKernel as string), biases],
    [h as string, c as string],
    {},
    x as string,
  );
};

const gru: Row = (w, node, [x, h, kernel, recurrentKernel, bias]) => {
  const turned = (t: string): string => w.transpose(t, [1, 0]);
  const biases = w.add('Reshape', [bias as string, w.ints([-1])]);
  return recurrent(
    w,
    node,
    'GRU',
    [turned(kernel as string), turned(recurrentKernel as string), biases],
    [h as string],
    { linear_before_reset: 1 },
    x as string,
  );
};

const bilinear: Row = (w, node, [x]) => {
  const [n, height, width, c] = dims(node.outputs[0] as GraphValue) as [Dim, Dim, Dim, Dim];
  const images = w.transpose(x as string, FIRST);
  const attrs = { mode: 'linear', coordinate_transformation_mode: 'half_pixel' };
  return w.transpose(w.add('Resize', [images, '', '', w.shape([n, c, height, width])], attrs), LAST);
};

// ---- attention

const attention: Row = (w, node, [q, k, v, mask]) => {
  const { timeFirst, scale, causal } = node.attrs as { timeFirst: boolean; scale: number; causal: boolean };
  const { dtype } = input(node);
  const heads = (t: string): string => (timeFirst ? w.transpose(t, [0, 2, 1, 3]) : t);
  const [query, key, value] = [heads(q as string), heads(k as string), heads(v as string)];
  let scores = w.add('MatMul', [
    w.add('Mul', [query, w.scalar(scale, dtype)]),
    w.transpose(key, [0, 1, 3, 2]),
  ]);
  const none = w.scalar(Number.NEGATIVE_INFINITY, dtype);
  if (mask !== undefined)
    scores =
      input(node, 3).dtype === 'bool' ? w.add('Where', [mask, scores, none]) : w.add('Add', [scores, mask]);
  if (causal) {
    const time = timeFirst ? 1 : 2;
    const places = (of: GraphValue): string =>
      w.add('Range', [
        w.scalar(0, 'int64'),
        w.squeeze(w.size(dims(of)[time] as Dim), [0]),
        w.scalar(1, 'int64'),
      ]);
    const rows = w.unsqueeze(places(input(node)), [1]);
    scores = w.add('Where', [w.add('GreaterOrEqual', [rows, places(input(node, 1))]), scores, none]);
  }
  let weights = w.add('Softmax', [scores], { axis: -1 });
  // A query that may see no key gets zeros.
  if (mask !== undefined) weights = w.add('Where', [w.add('IsNaN', [weights]), w.scalar(0, dtype), weights]);
  const y = heads(w.add('MatMul', [weights, value]));
  if (!w.isUsed(node.outputs[1] as GraphValue)) return [y, null];
  // It has 32 bits where the others have 16.
  const wide = (node.outputs[1] as GraphValue).dtype;
  return [
    y,
    reduced(w, 'ReduceLogSumExp', wide === dtype ? scores : w.cast(scores, dtype, wide), [3], false),
  ];
};

export const networks: Rows = {
  MatMul: product,
  _FusedMatMul: fusedProduct,
  Conv2D: convolution,
  _FusedConv2D: convolution,
  Conv2DBackpropInput: transposedConvolution,
  MaxPoolWithArgmax: maxPool,
  AvgPool: (w, node, [x]) => pooled(w, node, x as string, 'AveragePool', { count_include_pad: 0 }),
  ResizeBilinear: bilinear,
  LayerNorm: layerNorm,
  RMSNorm: rmsNorm,
  FusedBatchNormV3: batchNorm,
  LSTM: lstm,
  GRU: gru,
  ScaledDotProductAttention: attention,
};
