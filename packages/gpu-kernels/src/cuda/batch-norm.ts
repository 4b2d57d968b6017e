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
import { columnMoments, columnSums, perLane } from '../kernels/norms.ts';
import { rounded } from '../kernels/scalar-program.ts';

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
  const moments = columnMoments(
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

/**
 * dy, x, scale, mean, variance and `offset` or `y` → dx, dscale, doffset: FusedBatchNormGrad of dy where the result was above 0, else of 0. What the result was
 * is computed anew from the offset, or is the sign of y.
 * @returns undefined where it is too large, or the scale has 16 bits
 */
export function activatedBatchNormGrad(
  [dy, x, scale]: readonly TensorInfo[],
  epsilon: number,
  from: 'offset' | 'y',
): Lowered | undefined {
  const of = normalized(x, scale);
  if (of === undefined || !fits(dy)) return undefined;
  const { lanes, stored, n, inner, value } = of;
  const scratch: number[] = [];
  const [dx, dscale, doffset] = [6, 7, 8];
  const shown = from === 'y' ? stored : 'f32';
  const load = (k: number): string =>
    `let dy${k} = dy[at${k}]; let x${k} = x[at${k}]; ${from === 'y' ? `let y${k} = y[at${k}];` : ''}`;
  const slope = (k: number, lane: number): string =>
    `select(0.0, ${value('dy', k, lane)}, ${from === 'y' ? value('y', k, lane) : affine(value('x', k, lane), lane, x.dtype)} > 0.0)`;
  const centred = (k: number, lane: number): string => `(${value('x', k, lane)} - level${lane})`;
  const shared = { scale: 'f32', mean: 'f32', variance: 'f32', [from]: shown };
  const start = from === 'y' ? perLane(lanes, (lane, at) => `let level${lane} = mean[${at}];`) : setUp(lanes);
  const sums = columnSums(
    {
      n,
      inner,
      lanes,
      inputs: { dy: stored, x: stored, ...shared },
      operands: [0, 1, 2, 3, 4, 5],
      params: { epsilon },
      setUp: start,
      load,
      sums: [slope, (k, lane) => `${slope(k, lane)} * ${centred(k, lane)}`],
      finish: (s, number, at) => (number === 0 ? s : `${s} * fRsqrt(variance[${at}] + p.epsilon)`),
      outputs: [{ doffset: ['f32', doffset] }, { dscale: ['f32', dscale] }],
    },
    (bytes) => doffset + scratch.push(bytes),
  );
  const result = (k: number, lane: number): string =>
    `factor${lane} * ((${slope(k, lane)} - shift${lane}) - ${centred(k, lane)} * tilt${lane})`;
  const apply = columnPass({
    buffers: { dy: stored, x: stored, ...shared, dscale: 'f32', doffset: 'f32', dx: `mut ${stored}` },
    params: { epsilon: 'f32', count: 'f32' },
    setUp: `${start} ${perLane(
      lanes,
      (lane, at) =>
        `let inverse${lane} = fRsqrt(variance[${at}] + p.epsilon); let factor${lane} = scale[${at}] * inverse${lane};
        let shift${lane} = doffset[${at}] / p.count; let tilt${lane} = dscale[${at}] * inverse${lane} / p.count;`,
    )}`,
    load,
    use: (k) =>
      `dx[at${k}] = ${columnStore(lanes === 2 ? [result(k, 0), result(k, 1)] : [result(k, 0)], x.dtype)};`,
  });
  const cut = piecesOf({ outer: 1, n, inner: inner / lanes }, 'apply');
  const operands = [0, 1, 2, 3, 4, 5, dscale, doffset, dx];
  return { dispatches: [...sums, launchColumns(apply, operands, cut, [epsilon, n])], scratch };
}
