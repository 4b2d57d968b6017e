// Functions of `tf` and `tf.math` that are made of others.
import { dtypeTraits, InvalidArgumentError, isComplex } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import {
  type BinaryFunction,
  defineBinary,
  defineOp,
  execute1,
  type Op,
  pair,
  sumTo,
} from '../../dispatch/op.ts';
import { type Sample, uniform } from '../../dispatch/samples.ts';
import { dims } from '../../shapes/dims.ts';
import { checkFlag, checkList, normalizeAxis } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isInteger } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { onesLike, zerosLike } from '../array/creation.ts';
import { topK } from '../array/order.ts';
import { flatten, identity, moveAxis } from '../array/shaping.ts';
import { shifted } from '../reduce/doubling.ts';
import { sum } from '../reduce/reduce.ts';
import { bitcast } from './cast.ts';
import { where } from './select.ts';

type Unary = NamedFunction<[x: TensorLike], ['x']>;

/** 1/x, and 0 where x is 0, element-wise. */
export const reciprocalNoNan: Unary = /* @__PURE__ */ defineFunction(
  'math.reciprocalNoNan',
  { x: kind.tensor },
  {},
  (x) => {
    const t = toTensor(x);
    if (!isComplex(t.dtype)) checkDType(t.dtype, 'floating', 'x', 'reciprocalNoNan');
    if (!isComplex(t.dtype)) return onesLike(t).divNoNan(t);
    const none = t.equal(0);
    return where(none, t.mul(0), where(none, onesLike(t), t).reciprocal());
  },
);

/** The logarithm of the beta function of each vector along the last axis: Σ log Γ(x) − log Γ(Σ x). */
export const lbeta: Unary = /* @__PURE__ */ defineFunction('math.lbeta', { x: kind.tensor }, {}, (x) => {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'x', 'lbeta');
  if (t.rank === 0) throw new InvalidArgumentError('x is a scalar, expected vectors', 'lbeta');
  return sum(t.lgamma(), -1).sub(sum(t, -1).lgamma());
});

/** The value at x of the polynomial with such coefficients, those of the highest power first. */
export const polyval: NamedFunction<[coeffs: readonly TensorLike[], x: TensorLike], ['coeffs', 'x']> =
  /* @__PURE__ */ defineFunction('math.polyval', { coeffs: kind.asIs, x: kind.tensor }, {}, (coeffs, x) => {
    const t = toTensor(x);
    const list = checkList(coeffs as readonly TensorLike[], 'coeffs', 'polyval').map((c) =>
      toTensor(c, t.dtype),
    );
    if (list.length === 0) return t.mul(0);
    return list.slice(1).reduce((p, c) => p.mul(t).add(c), list[0].add(t.mul(0).identity()));
  });

const steps = (x: TensorLike, op: string): readonly [before: Tensor, after: Tensor] => {
  const t = flatten(toTensor(x));
  checkDType(t.dtype, 'numeric', 'x', op);
  return [t.at(':-1'), t.at('1:')];
};
/** Whether no element is smaller than the one before, in row-major order: a bool scalar. */
export const isNonDecreasing: Unary = /* @__PURE__ */ defineFunction(
  'math.isNonDecreasing',
  { x: kind.tensor },
  {},
  (x) => {
    const [before, after] = steps(x, 'isNonDecreasing');
    return before.lessEqual(after).all();
  },
);
/** Whether each element is larger than the one before, in row-major order: a bool scalar. */
export const isStrictlyIncreasing: Unary = /* @__PURE__ */ defineFunction(
  'math.isStrictlyIncreasing',
  { x: kind.tensor },
  {},
  (x) => {
    const [before, after] = steps(x, 'isStrictlyIncreasing');
    return before.less(after).all();
  },
);

type Pair = NamedFunction<[x: TensorLike, y: TensorLike], ['x', 'y']>;

/** x / y rounded toward 0, element-wise, for integers and floats. An integer division by zero is an error. */
export const truncatediv: Pair = /* @__PURE__ */ defineFunction(
  'truncatediv',
  { x: kind.tensor, y: kind.tensor },
  {},
  (x, y) => truncated(x, y, 'TruncateDiv')[0],
);
/** What is left of x behind `truncatediv`, element-wise: it has the sign of x. */
export const truncatemod: Pair = /* @__PURE__ */ defineFunction(
  'truncatemod',
  { x: kind.tensor, y: kind.tensor },
  {},
  (x, y) => {
    const [q, a, b] = truncated(x, y, 'TruncateMod');
    return a.sub(q.mul(b));
  },
);
function truncated(x: TensorLike, y: TensorLike, op: string): [Tensor, Tensor, Tensor] {
  const [a, b] = pair(x, y, op);
  checkDType(a.dtype, 'numeric', 'x', op);
  if (!isInteger(a.dtype)) {
    const q = a.div(b);
    return [q.sign().mul(q.abs().floor()), a, b];
  }
  // Up again where rounding down went below, and something was left.
  const down = a.floorDiv(b);
  const left = a.sub(down.mul(b)).notEqual(0);
  return [where(down.less(0).logicalAnd(left), down.add(1), down), a, b];
}

/** The next float after x1 in the direction of x2. It moves as x1 does. */
const nextafterOp: Op = defineOp({
  name: 'NextAfter',
  compose: ([x, b]) => {
    const asBits = bitcast(x, `int${8 * dtypeTraits[x.dtype].bytes}` as 'int32');
    // Away from 0 the bits count up.
    const up = x.less(b).equal(x.greater(0));
    const moved = bitcast(where(up, asBits.add(1), asBits.sub(1)), x.dtype);
    const least = bitcast(onesLike(asBits), x.dtype);
    const next = where(x.equal(0), where(b.greater(0), least, least.neg()), moved);
    return where(x.equal(b), b, where(x.isNan().logicalOr(b.isNan()), Number.NaN, next));
  },
  grad: ({ inputs: [x, b] }, dy) => [sumTo(dy, x.shape), zerosLike(b)],
  samples: () => [{ inputs: [uniform([2, 1, 3], 1, 2), uniform([2, 1], 3, 4)] }],
});
/** The next float after x1 in the direction of x2, element-wise. float32 or float64. */
export const nextafter: NamedFunction<[x1: TensorLike, x2: TensorLike], ['x1', 'x2']> =
  /* @__PURE__ */ defineFunction('math.nextafter', { x1: kind.tensor, x2: kind.tensor }, {}, (x1, x2) => {
    const both = pair(x1, x2, 'NextAfter');
    const [{ dtype }] = both;
    if (dtype !== 'float32' && dtype !== 'float64')
      throw new InvalidArgumentError(`x1 is ${dtype}, expected float32 or float64`, 'NextAfter');
    return execute1(nextafterOp, both);
  });

// ---- running log-sum-exp

interface ScanOptions {
  /** Whether a sum ends before its element; false by default. */
  readonly exclusive?: boolean;
  /** From the end; false by default. */
  readonly reverse?: boolean;
}

/** log(exp(a) + exp(b)), and −∞ where both are: one program, as it is computed again and again. */
const logAddExp: BinaryFunction = /* @__PURE__ */ defineBinary({
  name: 'LogAddExp',
  ulp: 16,
  samples: () => [{ inputs: [uniform([3, 5], 0.2, 5), uniform([3, 5], 0.2, 5)] }],
  notDifferentiable: 'CumulativeLogsumexp has the gradient',
  scalar: (s, a, b) => {
    const top = s.max(a, b);
    const sum = s.add(top, s.log1p(s.exp(s.sub(s.min(a, b), top))));
    return s.select(s.eq(s.abs(top), Number.POSITIVE_INFINITY), top, sum);
  },
});

/** The running log-sum-exp along an axis, by doubling. */
const cumulativeLogsumexpOp: Op = /* @__PURE__ */ defineOp({
  name: 'CumulativeLogsumexp',
  ulp: 64,
  compose: ([x], attrs) => {
    const { axis, exclusive, reverse } = attrs as { axis: number; exclusive: boolean; reverse: boolean };
    // `shifted` moves toward the start.
    const turned = (t: Tensor): Tensor => (reverse ? t : t.reverse(axis));
    const n = dims(x)[axis];
    const none = Number.NEGATIVE_INFINITY;
    let y = turned(x);
    if (exclusive && lessThan(0, n)) y = shifted(y, axis, 1, none);
    for (let by = 1; lessThan(by, n); by *= 2) y = logAddExp(y, shifted(y, axis, by, none));
    // A result is another tensor than the input.
    return y === x ? identity(x) : turned(y);
  },
  // In logarithms, of the gradients above and below 0 apart, so that nothing overflows: as TensorFlow has it.
  grad: ({ x, y, attrs }, dy) => {
    const back = { ...attrs, reverse: attrs['reverse'] !== true };
    const part = (of: Tensor): Tensor => {
      const above = of.greater(0);
      const log = where(above, where(above, of, 1).log(), Number.NEGATIVE_INFINITY);
      const finite = y.equal(Number.NEGATIVE_INFINITY);
      const sub = where(finite, Number.NEGATIVE_INFINITY, log.sub(where(finite, 0, y)));
      return execute1(cumulativeLogsumexpOp, [sub], back).add(x).exp();
    };
    return part(dy).sub(part(dy.neg()));
  },
  samples: (): readonly Sample[] => [
    { inputs: [uniform([3, 5])], attrs: { axis: 1, exclusive: false, reverse: false } },
    { inputs: [uniform([4, 2])], attrs: { axis: 0, exclusive: false, reverse: true } },
  ],
});

/** log(Σ exp(x)) of the elements along an axis up to each: `exclusive` leaves out the element itself, `reverse` begins at the end. */
export const cumulativeLogsumexp: NamedFunction<
  [x: TensorLike, axis?: IntegerLike],
  ['x', 'axis'],
  ScanOptions
> = /* @__PURE__ */ defineFunction(
  'math.cumulativeLogsumexp',
  { x: kind.tensor, axis: kind.axis },
  { exclusive: kind.asIs, reverse: kind.asIs },
  (x, axis: number = 0, options) => {
    const op = 'CumulativeLogsumexp';
    const t = toTensor(x);
    checkDType(t.dtype, 'floating', 'x', op);
    return execute1(cumulativeLogsumexpOp, [t], {
      axis: normalizeAxis(axis, t.rank, op),
      exclusive: checkFlag(options.exclusive, 'exclusive', op),
      reverse: checkFlag(options.reverse, 'reverse', op),
    });
  },
);

// ---- the largest and smallest values

interface ApproxOptions {
  /** The axis in which to look; −1 by default. */
  readonly reductionDimension?: IntegerLike;
  /** How many of the k are found at least. All are found here. */
  readonly recallTarget?: number;
  /** For reductions of parts; −1 and true, the defaults, are possible. */
  readonly reductionInputSizeOverride?: -1;
  /** Whether the results are the k best of all: true, and nothing else here. */
  readonly aggregateToTopk?: true;
}
type Approx = NamedFunction<
  [operand: TensorLike, k: IntegerLike],
  ['operand', 'k'],
  ApproxOptions,
  [values: Tensor, indices: Tensor]
>;
const approximately = (name: string, op: string, sign: 1 | -1): Approx =>
  defineFunction(
    `math.${name}`,
    { operand: kind.tensor, k: kind.size },
    {
      reductionDimension: kind.axis,
      recallTarget: kind.asIs,
      reductionInputSizeOverride: kind.asIs,
      aggregateToTopk: kind.asIs,
    },
    (operand, k, options) => {
      const t = toTensor(operand);
      checkDType(t.dtype, 'floating', 'operand', op);
      const recall = options.recallTarget ?? 0.95;
      if (!(recall > 0 && recall <= 1))
        throw new InvalidArgumentError(`recallTarget is ${recall}, expected a number in (0, 1]`, op);
      if ((options.reductionInputSizeOverride ?? -1) !== -1 || (options.aggregateToTopk ?? true) !== true)
        throw new InvalidArgumentError(
          'only whole reductions are computed: aggregateToTopk must be true',
          op,
        );
      const axis = normalizeAxis((options.reductionDimension ?? -1) as number, t.rank, op);
      const last = t.rank - 1;
      const rows = axis === last ? t : moveAxis(t, axis, last);
      const { values, indices } = topK(sign === 1 ? rows : rows.neg(), k as number);
      const signed = sign === 1 ? values : values.neg();
      return axis === last
        ? [signed, indices]
        : [moveAxis(signed, last, axis), moveAxis(indices, last, axis)];
    },
  );
/** The k largest values along an axis, and their places (int32). Exact: on this hardware an approximation would gain nothing. */
export const approxMaxK: Approx = /* @__PURE__ */ approximately('approxMaxK', 'ApproxTopK', 1);
/** The k smallest values along an axis, and their places (int32); see `approxMaxK`. */
export const approxMinK: Approx = /* @__PURE__ */ approximately('approxMinK', 'ApproxTopK', -1);
