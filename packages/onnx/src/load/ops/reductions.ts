// Ops that reduce along axes, and those that normalize along them.
import {
  argMax,
  argMin,
  logSumExp,
  max,
  mean,
  min,
  nn,
  oneHot,
  prod,
  reverse,
  sum,
  type Tensor,
} from '@eagre/core';
import { type Dim, dims, mulDims, subDims } from '@eagre/core/internal';

import { floating, type NodeCall, type OnnxOp, type OpTable, type Run } from '../node.ts';
import { sizeTensor } from './arrays.ts';
import { inFloats } from './elementwise.ts';
import { product, range, shaped } from './helpers.ts';

type Reduced = (x: Tensor, axes: number[], options: { keepdims: boolean }) => Tensor;

/** @param since the opset from which the axes are an input. */
const reduction = (fn: Reduced, since = 18): OnnxOp => ({
  hosts: [1],
  run: (node) => {
    const x = node.x();
    const keepdims = node.attrs.int('keepdims', 1) === 1;
    const given = node.axes(1, since);
    if ((given === null || given.length === 0) && node.attrs.int('noop_with_empty_axes', 0) === 1)
      return fn(x, [], { keepdims });
    const axes =
      given === null || given.length === 0 ? range(0, x.rank) : given.map((a) => node.axis(a, x.rank));
    return fn(x, axes, { keepdims });
  },
});

const unlessNone =
  (fn: Reduced): Reduced =>
  (x, axes, options) =>
    axes.length === 0 ? x.identity() : fn(x, axes, options);
const ofBools =
  (fn: Reduced, ofBool: Reduced): Reduced =>
  (x, axes, options) =>
    x.dtype === 'bool' ? ofBool(x, axes, options) : fn(x, axes, options);

const total: Reduced = unlessNone((x, axes, options) => sum(x, axes, options));
const position =
  (fn: typeof argMax): Run =>
  (node) => {
    const x = node.x();
    const axis = node.axis(node.attrs.int('axis', 0), x.rank);
    const last = node.attrs.int('select_last_index', 0) === 1;
    let places = fn(last ? reverse(x, [axis]) : x, axis, { dtype: 'int64' });
    if (last) places = sizeTensor(subDims(dims(x)[axis] as Dim, 1), 'int64').sub(places);
    return node.attrs.int('keepdims', 1) === 1 ? places.expandDims(axis) : places;
  };

/** Before opset 13 the axes from `axis` on are one. */
const softmaxWith =
  (fn: (x: Tensor, axis: number) => Tensor): Run =>
  (node) => {
    const x = node.x();
    if (node.opset >= 13) return fn(x, node.axis(node.attrs.int('axis', -1), x.rank));
    const axis = node.axis(node.attrs.int('axis', 1), x.rank);
    const rows = shaped(x, [product(dims(x).slice(0, axis)), product(dims(x).slice(axis))]);
    return shaped(fn(rows, 1), dims(x));
  };

const hardmax = (node: NodeCall): Tensor => {
  const x = node.x();
  const one = (t: Tensor, axis: number): Tensor => {
    const n = dims(t)[axis] as Dim;
    const first = argMax(t, axis, { dtype: 'int32' });
    return oneHot(first, n as number, { axis, dtype: 'int32' }).cast(t.dtype);
  };
  if (node.opset >= 13) return one(x, node.axis(node.attrs.int('axis', -1), x.rank));
  const axis = node.axis(node.attrs.int('axis', 1), x.rank);
  return shaped(one(shaped(x, [product(dims(x).slice(0, axis)), product(dims(x).slice(axis))]), 1), dims(x));
};

export const reductions: OpTable = {
  ArgMax: position(argMax),
  ArgMin: position(argMin),
  Hardmax: hardmax,
  LogSoftmax: softmaxWith((x, axis) => nn.logSoftmax(x, axis)),
  ReduceL1: reduction((x, axes, options) => total(x.abs(), axes, options)),
  ReduceL2: reduction((x, axes, options) => inFloats(x, (t) => total(t.square(), axes, options).sqrt())),
  ReduceLogSum: reduction((x, axes, options) => inFloats(x, (t) => total(t, axes, options).log())),
  ReduceLogSumExp: reduction((x, axes, options) =>
    inFloats(x, (t) => (axes.length === 0 ? t.identity() : logSumExp(t, axes, options))),
  ),
  ReduceMax: reduction(
    unlessNone(
      ofBools(
        (x, axes, options) => max(x, axes, options),
        (x, axes, options) => x.any(axes, options),
      ),
    ),
  ),
  ReduceMean: reduction(
    unlessNone((x, axes, options) =>
      floating(x.dtype)
        ? mean(x, axes, options)
        : sum(x, axes, options).floorDiv(
            sizeTensor(
              axes.reduce<Dim>((n, a) => mulDims(n, dims(x)[a] as Dim), 1),
              x.dtype,
            ),
          ),
    ),
  ),
  ReduceMin: reduction(
    unlessNone(
      ofBools(
        (x, axes, options) => min(x, axes, options),
        (x, axes, options) => x.all(axes, options),
      ),
    ),
  ),
  ReduceProd: reduction(unlessNone((x, axes, options) => prod(x, axes, options))),
  ReduceSum: reduction(total, 13),
  ReduceSumSquare: reduction((x, axes, options) => total(x.square(), axes, options)),
  Softmax: softmaxWith((x, axis) => nn.softmax(x, axis)),
};
