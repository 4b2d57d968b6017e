// Batch normalization with what is done to its result, and its gradient with what is done to the gradient before.
import {
  columnLanes,
  columnPass,
  columnStore,
  columnType,
  columnValue,
  launchColumns,
  piecesOf,
} from '../kernels/columns.ts';
import { fits, type Lowered, type TensorInfo } from '../kernels/kernel.ts';
import { perLane } from '../kernels/norms.ts';
import { rounded } from '../kernels/scalar-program.ts';
import { joinedMoments, joinedSums } from './joined-columns.ts';

/** What a call normalizes: x in columns, whose scale, mean and variance are of float32. */
interface Normalized {
  readonly lanes: 1 | 2;
  readonly stored: string;
  readonly n: number;
  readonly inner: number;
  /** The float of a lane of what row k has of a buffer. */
  readonly value: (name: string, k: number, lane: number) => string;
}

function normalized(x: TensorInfo, scale: TensorInfo): Normalized | undefined {
  if (!fits(x) || scale.size === 0 || x.size === 0 || scale.dtype !== 'float32') return undefined;
  const inner = scale.size;
  const lanes = columnLanes(x.dtype, inner);
  return {
    lanes,
    stored: columnType(x.dtype, lanes),
    n: x.size / inner,
    inner,
    value: (name, k, lane) => columnValue(`${name}${k}`, lane, x.dtype, lanes),
  };
}

/** Statements for the columns of a thread, before `affine`. */
const setUp = (lanes: 1 | 2): string =>
  perLane(
    lanes,
    (lane, at) =>
      `let level${lane} = mean[${at}]; let slope${lane} = scale[${at}] * fRsqrt(variance[${at}] + p.epsilon); let start${lane} = offset[${at}];`,
  );

/** The normalized x, the same bits in all kernels. */
const affine = (x: string, lane: number, dtype: TensorInfo['dtype']): string =>
  rounded(`fma(${x} - level${lane}, slope${lane}, start${lane})`, dtype);

/**
 * x, scale, offset, a summand if there is one → y, mean, variance: FusedBatchNorm, to which the summand is added, and of which relu makes y.
 * @returns undefined where it is too large, or the scale has 16 bits
 */
export function activatedBatchNorm(
  [x, scale, , summand]: readonly TensorInfo[],
  epsilon: number,
  hasRelu: boolean,
): Lowered | undefined {
  const of = normalized(x, scale);
  if (of === undefined) return undefined;
  const { lanes, stored, n, inner, value } = of;
  const scratch: number[] = [];
  const [y, mean, variance] = summand === undefined ? [3, 4, 5] : [4, 5, 6];
  const made = { buffers: { mean: 'mut f32', variance: 'mut f32' }, operands: [mean, variance] };
  const result = (k: number, lane: number): string => {
    let each = affine(value('x', k, lane), lane, x.dtype);
    if (summand !== undefined) each = rounded(`${each} + ${value('more', k, lane)}`, x.dtype);
    return hasRelu ? `fMax(${each}, 0.0)` : each;
  };
  const apply = columnPass({
    buffers: {
      x: stored,
      scale: 'f32',
      offset: 'f32',
      mean: 'f32',
      variance: 'f32',
      ...(summand && { more: stored }),
      y: `mut ${stored}`,
    },
    params: { epsilon: 'f32' },
    setUp: setUp(lanes),
    load: (k) => `let x${k} = x[at${k}]; ${summand ? `let more${k} = more[at${k}];` : ''}`,
    use: (k) =>
      `y[at${k}] = ${columnStore(lanes === 2 ? [result(k, 0), result(k, 1)] : [result(k, 0)], x.dtype)};`,
  });
  const moments = joinedMoments(
    0,
    x.dtype,
    { outer: 1, n, inner },
    made,
    (bytes) => variance + scratch.push(bytes),
  );
  const cut = piecesOf({ outer: 1, n, inner: inner / lanes }, 'apply');
  const operands = [0, 1, 2, mean, variance, ...(summand ? [3] : []), y];
  return { dispatches: [...moments, launchColumns(apply, operands, cut, [epsilon])], scratch };
}

/** Where the gradient dy of a result passes: everywhere; or relu, where the result was above 0, which the offset tells, or y; or dy is the sum of two, of which that is made too. */
type Through = 'all' | 'offset' | 'y' | 'sum';

/**
 * dy, x, scale, mean, variance and `offset` or `y`, if any → dx, dscale, doffset: FusedBatchNormGrad of dy, or of dy where the result was above 0, else of 0. What the result was
 * is computed anew from the offset, or is the sign of y. With `sum`, more inputs behind y: what is added to dy, rounded, and more outputs: the gradient behind relu.
 * @returns undefined where it is too large, or the scale has 16 bits
 */
export function activatedBatchNormGrad(
  [dy, x, scale]: readonly TensorInfo[],
  epsilon: number,
  through: Through,
): Lowered | undefined {
  const of = normalized(x, scale);
  if (of === undefined || !fits(dy)) return undefined;
  const { lanes, stored, n, inner, value } = of;
  const isSum = through === 'sum';
  const scratch: number[] = [];
  const given = { all: 5, offset: 6, y: 6, sum: 7 }[through];
  const [dx, dscale, doffset, behind] = [given, given + 1, given + 2, given + (isSum ? 3 : 2)];
  const from = isSum ? 'y' : through;
  const perLanes = (each: (lane: number) => string): string =>
    columnStore(lanes === 2 ? [each(0), each(1)] : [each(0)], x.dtype);
  const passed = (k: number, lane: number): string => {
    const own = value('dy', k, lane);
    if (from === 'all') return own;
    const sum = isSum ? rounded(`${own} + ${value('more', k, lane)}`, x.dtype) : own;
    const result = from === 'y' ? value('y', k, lane) : affine(value('x', k, lane), lane, x.dtype);
    return `select(0.0, ${sum}, ${result} > 0.0)`;
  };
  const centred = (k: number, lane: number): string => `(${value('x', k, lane)} - level${lane})`;
  const known = { scale: 'f32', mean: 'f32', variance: 'f32' };
  const inputs: Record<string, string> = { dy: stored, x: stored, ...known };
  if (from !== 'all') inputs[from] = from === 'y' ? stored : 'f32';
  if (isSum) Object.assign(inputs, { more: stored, behind: `mut ${stored}` });
  const operands = [...Array.from({ length: given }, (_, i) => i), ...(isSum ? [behind] : [])];
  const start =
    from === 'offset' ? setUp(lanes) : perLane(lanes, (lane, at) => `let level${lane} = mean[${at}];`);
  const loadBoth = (k: number): string => `let dy${k} = dy[at${k}]; let x${k} = x[at${k}];`;
  const load = (k: number): string =>
    `${loadBoth(k)} ${from === 'y' ? `let y${k} = y[at${k}];` : ''} ${
      isSum
        ? `let more${k} = more[at${k}]; let d${k} = ${perLanes((lane) => passed(k, lane))}; behind[at${k}] = d${k};`
        : ''
    }`;
  // What a result of 16 bits was is read from its words.
  const slope = (k: number, lane: number): string => (isSum ? value('d', k, lane) : passed(k, lane));
  const sums = joinedSums(
    {
      n,
      inner,
      lanes,
      inputs,
      operands,
      params: { epsilon },
      setUp: start,
      load,
      sums: [slope, (k, lane) => `${slope(k, lane)} * ${centred(k, lane)}`],
      finish: (s, number, at) => (number === 0 ? s : `${s} * fRsqrt(variance[${at}] + p.epsilon)`),
      outputs: [{ doffset: ['f32', doffset] }, { dscale: ['f32', dscale] }],
    },
    (bytes) => behind + scratch.push(bytes),
  );
  const ofResult = isSum ? (k: number, lane: number) => value('dy', k, lane) : passed;
  const apply = columnPass({
    buffers: {
      ...(isSum ? { dy: stored, x: stored, ...known } : inputs),
      dscale: 'f32',
      doffset: 'f32',
      dx: `mut ${stored}`,
    },
    params: { epsilon: 'f32', count: 'f32' },
    setUp: `${start} ${perLane(
      lanes,
      (lane, at) =>
        `let inverse${lane} = fRsqrt(variance[${at}] + p.epsilon); let factor${lane} = scale[${at}] * inverse${lane};
        let shift${lane} = doffset[${at}] / p.count; let tilt${lane} = dscale[${at}] * inverse${lane} / p.count;`,
    )}`,
    load: isSum ? loadBoth : load,
    use: (k) =>
      `dx[at${k}] = ${perLanes((lane) => `factor${lane} * ((${ofResult(k, lane)} - shift${lane}) - ${centred(k, lane)} * tilt${lane})`)};`,
  });
  const cut = piecesOf({ outer: 1, n, inner: inner / lanes }, 'apply');
  const applied = [...(isSum ? [behind, 1, 2, 3, 4] : operands), dscale, doffset, dx];
  return { dispatches: [...sums, launchColumns(apply, applied, cut, [epsilon, n])], scratch };
}
