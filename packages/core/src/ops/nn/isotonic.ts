// Isotonic regression.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { type Dim, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, normalizeAxis } from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isFloating, isInteger } from '../../tensor/dtypes.ts';
import { hostValues, type Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { unsortedSegmentMean } from '../array/segments.ts';
import { reshape, transpose } from '../array/shaping.ts';

const OP = 'IsotonicRegression';

/** Which numbers of rows become one value, so that none rises: pool adjacent violators (Barlow and others, 1972). */
function segmentsOf(row: ArrayLike<number>, from: number, n: number, out: Int32Array): void {
  const sums: number[] = [];
  const counts: number[] = [];
  for (let i = 0; i < n; i++) {
    let sum = row[from + i] as number;
    let count = 1;
    while (sums.length > 0 && (sums.at(-1) as number) / (counts.at(-1) as number) <= sum / count) {
      sum += sums.pop() as number;
      count += counts.pop() as number;
    }
    sums.push(sum);
    counts.push(count);
  }
  let at = from;
  counts.forEach((count, id) => {
    out.fill(id, at, at + count);
    at += count;
  });
}

/** For each number of the rows of a matrix the segment of equal values that it becomes part of. */
const segmentsOp: Op = /* @__PURE__ */ defineOp({
  name: 'IsotonicSegments',
  infer: ([x]) => ({ dtype: 'int32', shape: x.shape }),
  host: ([x]) => {
    const [rows, n] = x.shape as [number, number];
    const all = hostValues(x) as ArrayLike<number>;
    const out = new Int32Array(rows * n);
    for (let r = 0; r < rows; r++) segmentsOf(all, r * n, n, out);
    return [toTensor({ data: out, shape: [rows, n] })];
  },
  notDifferentiable: 'segments are numbers of places',
  samples: () => [{ inputs: [values([3, 1, 2, 0.5, 1, 2, 3, 4], [2, 4])] }],
});

/**
 * The numbers along an axis that are closest to given ones, by squares, and never rise, or never fall where `decreasing` is false: [output, segments int32].
 * Equal numbers of a solution are one segment, counted from 0. Small integers become float32, others float64.
 */
export const isotonicRegression: NamedFunction<
  [inputs: TensorLike, decreasing?: boolean, axis?: IntegerLike],
  ['inputs', 'decreasing', 'axis'],
  unknown,
  [output: Tensor, segments: Tensor]
> = /* @__PURE__ */ defineFunction(
  'nn.isotonicRegression',
  { inputs: kind.tensor, decreasing: kind.asIs, axis: kind.axis },
  {},
  (inputs, decreasing = true, axis: IntegerLike = -1) => {
    const given = toTensor(inputs);
    if (!isInteger(given.dtype)) checkDType(given.dtype, 'floating', 'inputs', OP);
    if (given.rank === 0) throw new InvalidArgumentError('inputs is a scalar', OP);
    const small = given.dtype === 'int8' || given.dtype === 'int16';
    const x = isFloating(given.dtype) ? given : given.cast(small ? 'float32' : 'float64');
    const falls = checkFlag(decreasing, 'decreasing', OP);
    const at = normalizeAxis(axis as number, x.rank, OP);
    const order = Array.from({ length: x.rank }, (_, i) => i).filter((i) => i !== at);
    order.push(at);
    const back = order.map((_, i) => order.indexOf(i));
    const moved = transpose(falls ? x : x.neg(), order);
    const n = dims(moved).at(-1) as Dim;
    const rows = dims(moved).slice(0, -1).reduce(mulDims, 1);
    const matrix = reshape(moved, toShape([rows, n]));
    const segments = execute1(segmentsOp, [matrix.stopGradient()]);
    // Segments of all rows, each with numbers of its own.
    const first = iota(rows).mul(sizeValue(n, 'int32'));
    const ids = reshape(segments.add(first.expandDims(1)), toShape([mulDims(rows, n)]));
    const means = unsortedSegmentMean(
      reshape(matrix, toShape([mulDims(rows, n)])),
      ids,
      mulDims(rows, n) as number,
    );
    const shaped = (t: Tensor): Tensor => transpose(reshape(t, toShape(dims(moved))), back);
    const output = shaped(gather(means, ids, 0));
    return [falls ? output : output.neg(), shaped(segments)];
  },
);
