// Quantized tensors: integers with a scale and a zero point.
import type { DType } from '@eagre/backend';
import { maximum, minimum, saturateCast, type Tensor } from '@eagre/core';
import { type Dim, dims } from '@eagre/core/internal';
import { dtypeOf, isPacked } from '../../tensors.ts';
import type { NodeCall, OpTable, Run } from '../node.ts';
import { range, shaped } from './helpers.ts';
import { centred, integerConvolution, integerProduct } from './products.ts';

/** A scale or zero point next to x: one for all, for each place of an axis, or for each block of it. */
function beside(node: NodeCall, t: Tensor, x: Tensor): Tensor {
  if (t.rank === 0) return t;
  // One number in a list is one for all.
  if (t.rank === 1 && dims(t)[0] === 1) return shaped(t, []);
  const axis = node.axis(node.attrs.int('axis', 1), x.rank);
  const block = node.attrs.int('block_size', 0);
  if (block === 0) {
    if (t.rank !== 1) node.unsupported('scales of several axes need a block_size');
    return shaped(
      t,
      dims(x).map((_, i) => (i === axis ? (dims(t)[0] as Dim) : 1)),
    );
  }
  const wide = t.repeat(block, axis);
  return wide.slice(
    range(0, x.rank).map(() => 0),
    x.shape,
  );
}

export function quantizedTo(x: Tensor, scale: Tensor, zero: Tensor | null, dtype: DType): Tensor {
  const wide = x.cast('float32').div(scale.cast('float32')).round();
  const moved = zero === null ? wide : wide.add(zero.cast('float32'));
  return saturateCast(moved, dtype);
}

const quantize: Run = (node) => {
  const x = node.x();
  const scale = beside(node, node.x(1), x);
  const zero = node.maybe(2);
  const dtype =
    zero !== null
      ? zero.dtype
      : node.attrs.int('output_dtype', 0) === 0
        ? 'uint8'
        : dtypeOf(node.attrs.int('output_dtype'));
  if (zero !== null && isPacked(zero)) node.unsupported('integers of less than 8 bits are not made');
  return quantizedTo(x, scale, zero === null ? null : beside(node, zero, x), dtype);
};

const dequantize: Run = (node) => {
  const x = node.x();
  const scale = beside(node, node.x(1), x);
  const zero = node.maybe(2);
  const integers = centred(x, zero === null ? null : beside(node, zero, x));
  return integers.cast(scale.dtype).mul(scale);
};

const dynamic: Run = (node) => {
  const x = node.x();
  const high = maximum(x.max(), 0);
  const low = minimum(x.min(), 0);
  const scale = high.sub(low).div(255);
  const zero = saturateCast(low.neg().divNoNan(scale).round(), 'uint8');
  return [quantizedTo(x, scale, zero, 'uint8'), scale, zero];
};

/** int32 results with a new scale. */
function requantized(node: NodeCall, product: Tensor, factor: Tensor, zero: Tensor): Tensor {
  const y = product.cast('float32').mul(factor.cast('float32')).round().add(zero.cast('float32'));
  if (isPacked(zero)) node.unsupported('integers of less than 8 bits are not made');
  return saturateCast(y, zero.dtype);
}

const rows = (t: Tensor): Tensor => (t.rank === 1 ? t.expandDims(-1) : t);

const quantizedProduct: Run = (node) => {
  const [aScale, aZero, bScale, bZero] = [1, 2, 4, 5].map((i) => node.x(i)) as [
    Tensor,
    Tensor,
    Tensor,
    Tensor,
  ];
  const product = integerProduct(centred(node.x(0), rows(aZero)), centred(node.x(3), bZero));
  const factor = rows(aScale).cast('float32').mul(bScale.cast('float32')).div(node.x(6).cast('float32'));
  return requantized(node, product, factor, node.x(7));
};

const quantizedConvolution: Run = (node) => {
  const [x, w] = [node.x(0), node.x(3)];
  const [wScale, wZero] = [node.x(4), node.x(5)];
  const along = (t: Tensor, axis: number): Tensor =>
    t.rank === 0
      ? t
      : shaped(
          t,
          range(0, w.rank).map((i) => (i === axis ? (dims(t)[0] as Dim) : 1)),
        );
  let y = integerConvolution(node, centred(x, node.x(2)), centred(w, along(wZero, 0)));
  const bias = node.maybe(8);
  if (bias !== null) y = y.add(along(bias, 1));
  const factor = node.x(1).mul(along(wScale, 1)).div(node.x(6));
  return requantized(node, y, factor, node.x(7));
};

export const quantized: OpTable = {
  DequantizeLinear: { hosts: [1], run: dequantize },
  DynamicQuantizeLinear: dynamic,
  QLinearConv: { hosts: [1, 4, 6], run: quantizedConvolution },
  QLinearMatMul: { hosts: [1, 4, 6], run: quantizedProduct },
  QuantizeLinear: { hosts: [1], run: quantize },
};
