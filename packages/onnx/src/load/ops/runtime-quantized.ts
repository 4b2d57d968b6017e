// Ops on quantized tensors that ONNX Runtime's quantizer writes.
import { concat, maximum, minimum, nn, type Tensor } from '@eagre/core';
import { type Dim, dims } from '@eagre/core/internal';
import { NodeCall, type OpTable, type Run } from '../node.ts';
import { channelsFirst, channelsLast, product, shaped } from './helpers.ts';
import { pooling } from './pooling.ts';
import { centred } from './products.ts';
import { quantizedTo } from './quantized.ts';
import { quantizedLstm } from './recurrent.ts';

/** Inputs i to i + 2 as floats: integers, their scale and their zero point, which may be left out. */
const real = (node: NodeCall, i: number): Tensor =>
  centred(node.x(i), node.maybe(i + 2))
    .cast('float32')
    .mul(node.x(i + 1));

/** A result with the scale and the zero point of inputs i and i + 1. */
function integers(node: NodeCall, y: Tensor, i: number, like: Tensor): Tensor {
  const zero = node.maybe(i + 1);
  return quantizedTo(y, node.x(i), zero, zero?.dtype ?? like.dtype);
}

const unary =
  (fn: (x: Tensor, node: NodeCall) => Tensor): Run =>
  (node) =>
    integers(node, fn(real(node, 0), node), 3, node.x(0));
const binary =
  (fn: (a: Tensor, b: Tensor) => Tensor): Run =>
  (node) =>
    integers(node, fn(real(node, 0), real(node, 3)), 6, node.x(0));

/** A pooling of floats, whose channels may be last. */
const pooled = (op: string): Run =>
  unary((x, node) => {
    const last = node.attrs.int('channels_last', 0) === 1;
    const inner = new NodeCall(
      node.where,
      node.opset,
      node.attrs,
      [last ? channelsFirst(x) : x],
      node.outputs,
      new Map(),
    );
    const row = pooling[op];
    const y = (row as Run)(inner) as Tensor;
    return last ? channelsLast(y) : y;
  });

const joined: Run = (node) => {
  const count = (node.inputs.length - 2) / 3;
  const parts = Array.from({ length: count }, (_, i) => real(node, 2 + 3 * i));
  const axis = node.axis(node.attrs.int('axis'), (parts[0] as Tensor).rank);
  return integers(node, concat(parts, axis), 0, node.x(2));
};

const softmax: Run = unary((x, node) => {
  const axis = node.axis(node.attrs.int('axis', -1), x.rank);
  if (node.attrs.int('opset', 13) >= 13) return nn.softmax(x, axis);
  // Before opset 13 all axes from one on count as one.
  const shape = dims(x);
  const flat = shaped(x, [product(shape.slice(0, axis)), product(shape.slice(axis))]);
  return shaped(nn.softmax(flat, -1), shape);
});

/** Floats as bytes and back, with the scale that their range asks for. */
function throughBytes(x: Tensor): Tensor {
  const high = maximum(x.max(), 0);
  const low = minimum(x.min(), 0);
  const scale = high.sub(low).div(255);
  const zero = low.neg().divNoNan(scale).round().clip(0, 255);
  return x.divNoNan(scale).round().add(zero).clip(0, 255).sub(zero).mul(scale);
}

/** Weights [directions, inputs, gates] of bytes as floats [directions, gates, inputs]. */
function weightsOf(node: NodeCall, i: number, scaleAt: number): Tensor {
  const along = (t: Tensor): Tensor =>
    shaped(t, [dims(t)[0] as Dim, 1, t.rank === 1 ? 1 : (dims(t)[1] as Dim)]);
  const zero = node.maybe(scaleAt + 1);
  return centred(node.x(i), zero === null ? null : along(zero))
    .cast('float32')
    .mul(along(node.x(scaleAt)))
    .transpose([0, 2, 1]);
}

/** Weights are bytes, and so are inputs and states in each product. */
const dynamicLstm: Run = (node) => {
  const inner = new NodeCall(
    node.where,
    node.opset,
    node.attrs,
    [
      throughBytes(node.x(0)),
      weightsOf(node, 1, 8),
      weightsOf(node, 2, 10),
      ...[3, 4, 5, 6, 7].map((i) => node.maybe(i)),
    ],
    node.outputs,
    new Map(),
  );
  return quantizedLstm(inner, throughBytes);
};

export const runtimeQuantized: OpTable = {
  DynamicQuantizeLSTM: dynamicLstm,
  QLinearAdd: binary((a, b) => a.add(b)),
  QLinearAveragePool: pooled('AveragePool'),
  QLinearConcat: joined,
  QLinearGlobalAveragePool: pooled('GlobalAveragePool'),
  QLinearLeakyRelu: unary((x, node) => nn.leakyRelu(x, { alpha: node.attrs.float('alpha', 0.01) })),
  QLinearMul: binary((a, b) => a.mul(b)),
  QLinearSigmoid: unary((x) => x.sigmoid()),
  QLinearSoftmax: softmax,
};
