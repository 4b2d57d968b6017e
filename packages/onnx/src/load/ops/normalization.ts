// Normalizations, dropout, and what else networks do to activations.
import { nn, onesLike, random, type Tensor } from '@eagre/core';
import { type Dim, dims, floorDivDims, toShape } from '@eagre/core/internal';
import type { OpTable, Run } from '../node.ts';
import { alongChannels, product, range, shaped } from './helpers.ts';

/** (x − mean) / √(variance + epsilon), over axes. */
function standardized(x: Tensor, axes: readonly number[], epsilon: number): Tensor {
  const [mean, variance] = nn.moments(x, [...axes], { keepdims: true });
  return x.sub(mean).mul(variance.add(epsilon).rsqrt());
}

const batchNorm: Run = (node) => {
  const x = node.x();
  const [scale, shift, mean, variance] = [1, 2, 3, 4].map((i) => node.x(i)) as [
    Tensor,
    Tensor,
    Tensor,
    Tensor,
  ];
  const epsilon = node.attrs.float('epsilon', 1e-5);
  if (node.attrs.int('spatial', 1) === 0) node.unsupported('spatial = 0 is not translated');
  const along = (t: Tensor): Tensor => alongChannels(t, x.rank).cast(x.dtype);
  const normalized = (m: Tensor, v: Tensor): Tensor => {
    const factor = v.add(epsilon).rsqrt().mul(scale.cast(v.dtype));
    return x.mul(along(factor)).add(along(shift.cast(v.dtype).sub(m.mul(factor))));
  };
  if (node.attrs.int('training_mode', 0) === 0) return normalized(mean, variance);
  const axes = range(0, x.rank).filter((i) => i !== 1);
  const [batchMean, batchVariance] = nn.moments(x, axes);
  const momentum = node.attrs.float('momentum', 0.9);
  const moved = (old: Tensor, now: Tensor): Tensor =>
    old.mul(momentum).add(now.cast(old.dtype).mul(1 - momentum));
  const y = normalized(batchMean.cast(mean.dtype), batchVariance.cast(variance.dtype));
  return [y, moved(mean, batchMean), moved(variance, batchVariance)];
};

const layerNorm: Run = (node) => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', -1), x.rank);
  const epsilon = node.attrs.float('epsilon', 1e-5);
  const axes = range(axis, x.rank);
  const wide = x.dtype === 'float16' || x.dtype === 'bfloat16' ? x.cast('float32') : x;
  const [mean, variance] = nn.moments(wide, axes, { keepdims: true });
  const inverse = variance.add(epsilon).rsqrt();
  let y = wide.sub(mean).mul(inverse).cast(x.dtype).mul(node.x(1));
  const bias = node.maybe(2);
  if (bias !== null) y = y.add(bias);
  return [y, mean, inverse];
};

const rmsNorm: Run = (node) => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', -1), x.rank);
  const epsilon = node.attrs.float('epsilon', 1e-5);
  const wide = x.dtype === 'float16' || x.dtype === 'bfloat16' ? x.cast('float32') : x;
  const square = wide.square().mean(range(axis, x.rank), { keepdims: true });
  return wide.mul(square.add(epsilon).rsqrt()).cast(x.dtype).mul(node.x(1));
};

const instanceNorm: Run = (node) => {
  const x = node.x();
  const y = standardized(x, range(2, x.rank), node.attrs.float('epsilon', 1e-5));
  return y.mul(alongChannels(node.x(1), x.rank)).add(alongChannels(node.x(2), x.rank));
};

const groupNorm: Run = (node) => {
  const x = node.x();
  const groups = node.attrs.int('num_groups');
  const epsilon = node.attrs.float('epsilon', 1e-5);
  const [n, c, ...rest] = dims(x) as readonly [Dim, Dim, ...Dim[]];
  const rows = shaped(x, [n, groups, product([floorDivDims(c, groups), ...rest])]);
  const y = standardized(rows, [2], epsilon);
  const [scale, bias] = [node.x(1), node.x(2)];
  if (node.opset >= 21)
    return shaped(y, dims(x)).mul(alongChannels(scale, x.rank)).add(alongChannels(bias, x.rank));
  // One number for each group.
  return shaped(y.mul(shaped(scale, [1, groups, 1])).add(shaped(bias, [1, groups, 1])), dims(x));
};

const localResponse: Run = (node) => {
  const x = node.x();
  const { attrs } = node;
  const size = attrs.int('size');
  const before = Math.floor((size - 1) / 2);
  const sides = range(0, x.rank).map((i): [number, number] =>
    i === 1 ? [before, size - 1 - before] : [0, 0],
  );
  const squares = x.square().pad(sides);
  const begin = (at: number): number[] => range(0, x.rank).map((i) => (i === 1 ? at : 0));
  const sum = range(0, size)
    .map((at) => squares.slice(begin(at), toShape(dims(x))))
    .reduce((a, b) => a.add(b));
  const base = sum.mul(attrs.float('alpha', 1e-4) / size).add(attrs.float('bias', 1));
  return x.mul(base.pow(-attrs.float('beta', 0.75)));
};

const lpNorm: Run = (node) => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', -1), x.rank);
  const norm =
    node.attrs.int('p', 2) === 1
      ? x.abs().sum(axis, { keepdims: true })
      : x.square().sum(axis, { keepdims: true }).sqrt();
  return x.divNoNan(norm);
};

const meanVariance: Run = (node) => standardized(node.x(), node.attrs.ints('axes', [0, 2, 3]), 1e-9);

const dropped: Run = (node) => {
  const x = node.x();
  const training = node.opset >= 12 && node.maybe(2) !== null && node.number(2) === 1;
  const rate = node.opset >= 12 ? (node.maybe(1) === null ? 0.5 : node.number(1)) : 0;
  if (!training || rate === 0) return [x.identity(), onesLike(x, 'bool')];
  const mask = random.uniform(toShape(dims(x))).greaterEqual(rate);
  return [x.mul(mask.cast(x.dtype)).mul(1 / (1 - rate)), mask];
};

export const normalization: OpTable = {
  BatchNormalization: batchNorm,
  Dropout: { hosts: [1, 2], run: dropped },
  GroupNormalization: groupNorm,
  InstanceNormalization: instanceNorm,
  LRN: localResponse,
  LayerNormalization: layerNorm,
  LpNormalization: lpNorm,
  MeanVarianceNormalization: meanVariance,
  RMSNormalization: rmsNorm,
  // As ONNX Runtime calls it, in ONNX's own domain.
  SimplifiedLayerNormalization: rmsNorm,
};
