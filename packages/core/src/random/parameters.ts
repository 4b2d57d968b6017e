// Parameters of distributions, which broadcast along the last axes of what is drawn.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { broadcastTo } from '../ops/array/array.ts';
import { bitcast } from '../ops/elementwise/cast.ts';
import { addDims, type Dim, floorDivDims, mulDims, productOf } from '../shapes/dim.ts';
import { dims, dimsOf } from '../shapes/dims.ts';
import { broadcastShapes, checkShape, type Shape, showShape } from '../shapes/shape.ts';
import { differs, sizeValue } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { drawn, keyedBinomialOp } from './stateless-ops.ts';

/** The shape of a draw, to whose last axes parameters broadcast. @throws InvalidArgumentError where they do not */
export function drawShape(shape: Shape, op: string, ...parameters: readonly Tensor[]): Shape {
  const to = checkShape(shape, op);
  for (const p of parameters) {
    const both = broadcastShapes(to, p.shape, op);
    if (both.length !== to.length || dimsOf(both).some((d, i) => differs(d, dimsOf(to)[i] as Dim)))
      throw new InvalidArgumentError(
        `parameters of shape ${showShape(p.shape)} do not broadcast to ${showShape(to)}`,
        op,
      );
  }
  return to;
}

/** Parameters broadcast to a common shape, which has to be the end of the result's. */
export function broadcastAll(to: Shape, op: string, ...parameters: readonly Tensor[]): Tensor[] {
  drawShape(to, op, ...parameters);
  const common = parameters.map((p) => p.shape).reduce((a, b) => broadcastShapes(a, b, op));
  const end = dimsOf(to).slice(to.length - common.length);
  if (dimsOf(common).some((d, i) => differs(d, end[i] as Dim)))
    throw new InvalidArgumentError(
      `parameters of shape ${showShape(common)} are not the end of the shape ${showShape(to)}`,
      op,
    );
  return parameters.map((p) => broadcastTo(p, common));
}

/** Numbers of attempts and their probabilities as tensors of one float dtype, broadcast along the last axes of a shape. */
export function attempts(counts: TensorLike, probs: TensorLike, to: Shape, op: string): Tensor[] {
  const [n, p] = [toTensor(counts, 'float32'), toTensor(probs, 'float32')];
  const dtype = n.dtype === 'float64' || p.dtype === 'float64' ? 'float64' : 'float32';
  return broadcastAll(to, op, n.cast(dtype).stopGradient(), p.cast(dtype).stopGradient());
}
/** Counts of binomial distributions from the state of a generator, which moves on by what TensorFlow reserves for them. */
export function binomialOf(
  generator: { skip(delta: TensorLike): Tensor },
  shape: Shape,
  [counts, probs]: readonly [TensorLike, TensorLike],
  dtype: DType,
  op: string,
): Tensor {
  checkDType(dtype, 'numeric', 'dtype', op);
  const to = checkShape(shape, op);
  const parameters = attempts(counts, probs, to, op);
  const batches = productOf(dims(parameters[0] as Tensor));
  const all = productOf(dimsOf(to));
  const each = batches === 0 ? 0 : floorDivDims(all, batches);
  const reserved = floorDivDims(mulDims(mulDims(batches, 200), addDims(each, 3)), 4);
  const before = generator.skip(toTensor(sizeValue(reserved, 'int64'), 'int64'));
  const from = [bitcast(before.at('2:'), 'uint64'), bitcast(before.at(':2'), 'uint64')] as const;
  return drawn(keyedBinomialOp, to, from, dtype, ...parameters);
}
