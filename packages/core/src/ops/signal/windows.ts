// Windows: what frames of a signal are multiplied by before they are transformed.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { inInitScope } from '../../dispatch/context.ts';
import { type Dim, isExpression } from '../../shapes/dim.ts';
import { checkFlag } from '../../shapes/shape.ts';
import { knownDim } from '../../shapes/shape-env.ts';
import { checkSize, sizeValue } from '../../shapes/sizes.ts';
import { constant } from '../../tensor/constant.ts';
import { toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { cast } from '../elementwise/cast.ts';
import { where } from '../elementwise/select.ts';

/** The dtype of a window. */
export interface WindowOptions {
  /** A dtype of floats, float32 by default. */
  readonly dtype?: DType;
}
type Window<O = WindowOptions> = NamedFunction<[windowLength: IntegerLike], ['windowLength'], O>;
/** A window: its length and dtype give its values. */
export type WindowFunction = (windowLength: number, options: { readonly dtype: DType }) => Tensor;

/** A window of numbers that are computed in float64. */
function made(list: readonly number[], dtype: DType, name: string): Tensor {
  checkDType(dtype, 'floating', 'dtype', name);
  const window = constant(list.length === 0 ? { data: new Float64Array(0), shape: [0] } : list, 'float64');
  return dtype === 'float64' ? window : cast(window, dtype);
}
/** What depends on a size alone: a constant of a trace that knows the size. */
export const ofSize = (n: Dim, make: () => Tensor): Tensor => (isExpression(n) ? make() : inInitScope(make));

/** A window of a length that need not be known: what a function makes of places and length, both in float64. */
function computed(
  length: Dim,
  dtype: DType,
  name: string,
  of: (place: Tensor, length: Tensor) => Tensor,
): Tensor {
  checkDType(dtype, 'floating', 'dtype', name);
  const n = checkSize(length, 'windowLength', name);
  return ofSize(n, () =>
    cast(of(iota(n).cast('float64'), toTensor(sizeValue(n, 'float64'), 'float64')), dtype),
  );
}
const numbered = (n: number, f: (i: number) => number): number[] => Array.from({ length: n }, (_, i) => f(i));

interface PeriodicOptions extends WindowOptions {
  /** Whether the window repeats itself behind its end (true, the default), or is symmetric. An odd length is symmetric. */
  readonly periodic?: boolean;
}
const raisedCosine = (name: string, a: number): Window<PeriodicOptions> =>
  defineFunction(
    `signal.${name}`,
    { windowLength: kind.size },
    { periodic: kind.asIs, dtype: kind.asIs },
    (windowLength, { periodic, dtype = 'float32' }) => {
      const repeats = periodic === undefined || checkFlag(periodic, 'periodic', `signal.${name}`);
      return computed(windowLength as Dim, dtype, `signal.${name}`, (i, n) => {
        // n, or one less for what is symmetric.
        const turn = n.sub(repeats ? n.mod(2) : 1);
        return where(
          n.equal(1),
          1,
          i
            .mul(2 * Math.PI)
            .div(turn.maximum(1))
            .cos()
            .mul(a - 1)
            .add(a),
        );
      });
    },
  );
/** A Hann window: 0.5 − 0.5 cos(2πi/n). @throws InvalidArgumentError for lengths that are none, and dtypes other than floats */
export const hannWindow: Window<PeriodicOptions> = /* @__PURE__ */ raisedCosine('hannWindow', 0.5);
/** A Hamming window: 0.54 − 0.46 cos(2πi/n). @throws InvalidArgumentError for lengths that are none, and dtypes other than floats */
export const hammingWindow: Window<PeriodicOptions> = /* @__PURE__ */ raisedCosine('hammingWindow', 0.54);

/** The modified Bessel function of order 0, by its series; all of its terms are positive. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
function kaiser(n: number, beta: number): number[] {
  const middle = (n - 1) / 2;
  const one = bessel(beta);
  return numbered(n, (i) =>
    n === 1 ? 1 : bessel(beta * Math.sqrt(Math.max(0, 1 - ((i - middle) / middle) ** 2))) / one,
  );
}
function checkBeta(beta: unknown, name: string): number {
  // Beyond, the function is larger than any number.
  if (typeof beta === 'number' && Math.abs(beta) <= 700) return beta;
  throw new InvalidArgumentError(`beta is ${String(beta)}, expected a number from -700 to 700`, name);
}

type BetaWindow = NamedFunction<
  [windowLength: IntegerLike, beta?: number],
  ['windowLength', 'beta'],
  WindowOptions
>;
const betaWindow = (name: string, of: (n: number, beta: number) => number[]): BetaWindow =>
  defineFunction(
    `signal.${name}`,
    { windowLength: kind.size, beta: kind.asIs },
    { dtype: kind.asIs },
    (windowLength, beta: number = 12, { dtype = 'float32' }) => {
      const op = `signal.${name}`;
      const n = knownDim(checkSize(windowLength, 'windowLength', op));
      checkListSize(n, 'numbers of a window', 'take a shorter one', op);
      return made(of(n, checkBeta(beta, op)), dtype, op);
    },
  );
/** A Kaiser window. @param beta how narrow it is, 12 by default @throws InvalidArgumentError for lengths that are none, and dtypes other than floats */
export const kaiserWindow: BetaWindow = /* @__PURE__ */ betaWindow('kaiserWindow', kaiser);
/** A window of two halves whose squares are the growing sums of a Kaiser window. @param beta how narrow that is, 12 by default */
export const kaiserBesselDerivedWindow: BetaWindow = /* @__PURE__ */ betaWindow(
  'kaiserBesselDerivedWindow',
  (n, beta) => {
    const half = Math.floor(n / 2);
    let sum = 0;
    const sums = kaiser(half + 1, beta).map((x) => (sum += x));
    const rising = sums.slice(0, half).map((x) => Math.sqrt(x / sum));
    return [...rising, ...rising.toReversed()];
  },
);
/** The window of Ogg Vorbis: sin(π/2 sin²(π (i + ½)/n)). @throws InvalidArgumentError for lengths that are none, and dtypes other than floats */
export const vorbisWindow: Window = /* @__PURE__ */ defineFunction(
  'signal.vorbisWindow',
  { windowLength: kind.size },
  { dtype: kind.asIs },
  (windowLength, { dtype = 'float32' }) => {
    const of = (i: Tensor, n: Tensor): Tensor =>
      i
        .add(0.5)
        .mul(Math.PI)
        .div(n)
        .sin()
        .square()
        .mul(Math.PI / 2)
        .sin();
    return computed(windowLength as Dim, dtype, 'signal.vorbisWindow', of);
  },
);
