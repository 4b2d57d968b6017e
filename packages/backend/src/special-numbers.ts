// Incomplete gamma and beta functions and the zeta function of single numbers, in float64. native/cpu/special_numbers.cc has the same in C++, but for fewer
// terms of the zeta function where the result is float32; change both or
// neither.

import { logGamma } from './log-gamma.ts';

const EPSILON = 2 ** -53;
const TINY = 1e-300;

/** B(2k) / (2k)!, from k = 1: of the Euler-Maclaurin sum. */
const BERNOULLI_OVER_FACTORIAL: readonly number[] = [
  1 / 12,
  -1 / 720,
  1 / 30240,
  -1 / 1209600,
  1 / 47900160,
  -691 / 1307674368000,
  1 / 74724249600,
  -3617 / 10670622842880000,
];

/** log(1 + u) − u, exact for small u. */
function logOneMinus(u: number): number {
  if (Math.abs(u) > 0.3) return Math.log1p(u) - u;
  let power = u * u;
  let sum = 0;
  for (let k = 2; k < 60; k++) {
    const term = power / k;
    sum += k % 2 === 0 ? -term : term;
    if (Math.abs(term) < EPSILON * Math.abs(sum)) break;
    power *= u;
  }
  return sum;
}

/** What Stirling's formula leaves out of log Γ(a). */
function stirlingRest(a: number): number {
  return logGamma(a) - ((a - 0.5) * Math.log(a) - a + 0.5 * Math.log(2 * Math.PI));
}

/** x^a exp(−x) / Γ(a), without the loss that large exponents have where x is near a. */
function gammaPrefix(a: number, x: number): number {
  if (a < 10) return Math.exp(a * Math.log(x) - x - logGamma(a));
  return Math.sqrt(a / (2 * Math.PI)) * Math.exp(a * logOneMinus((x - a) / a) - stirlingRest(a));
}

/** From where on the series would need too many terms: about √a of them. */
const LARGE = 1e8;
/** The incomplete gamma function of a large a: the first term of the uniform asymptotic expansion (Temme, 1979), the rest of which is below 1e-9 / √a. */
function largeIncomplete(a: number, x: number, upper: boolean): number {
  const off = (x - a) / a;
  // η²/2 = off − log(1 + off), of the sign of off; by its series where the difference would lose digits.
  const half =
    Math.abs(off) < 1e-3
      ? off * off * (1 / 2 - off * (1 / 3 - off * (1 / 4 - off / 5)))
      : off - Math.log1p(off);
  const eta = Math.sign(off) * Math.sqrt(2 * half);
  const correction = Math.abs(eta) < 1e-3 ? -1 / 3 + eta / 12 : 1 / off - 1 / eta;
  const rest = (Math.exp(-a * half) / Math.sqrt(2 * Math.PI * a)) * correction;
  const tail = gammaIncomplete(0.5, a * half, true) / 2;
  const side = off > 0 === upper ? tail : 1 - tail;
  return upper ? side + rest : side - rest;
}

/** The incomplete gamma function, lower or upper: a series where x is small, else a continued fraction. */
export function gammaIncomplete(a: number, x: number, upper: boolean): number {
  if (!(a > 0) || !(x >= 0)) return Number.NaN;
  if (x === 0) return upper ? 1 : 0;
  if (x === Number.POSITIVE_INFINITY) return upper ? 0 : 1;
  if (a === Number.POSITIVE_INFINITY) return upper ? 1 : 0;
  if (a > LARGE) return largeIncomplete(a, x, upper);
  const prefix = gammaPrefix(a, x);
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < 100000; n++) {
      term *= x / (a + n);
      sum += term;
      if (term < sum * EPSILON) break;
    }
    const lower = Math.min(1, prefix * sum);
    return upper ? 1 - lower : lower;
  }
  const rest = prefix * upperFraction(a, x);
  return upper ? rest : 1 - rest;
}

/** The continued fraction of the upper function, by Lentz's method. */
function upperFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let value = d;
  for (let n = 1; n < 100000; n++) {
    const factor = -n * (n - a);
    b += 2;
    d = factor * d + b;
    if (Math.abs(d) < TINY) d = TINY;
    c = b + factor / c;
    if (Math.abs(c) < TINY) c = TINY;
    d = 1 / d;
    const step = d * c;
    value *= step;
    if (Math.abs(step - 1) < EPSILON) break;
  }
  return value;
}

/** The derivative of log Γ. */
function digammaOf(x: number): number {
  let z = x;
  let sum = 0;
  while (z < 10) sum -= 1 / z++;
  const inverse = 1 / (z * z);
  const series =
    inverse *
    (1 / 12 -
      inverse *
        (1 / 120 -
          inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132 - inverse * (691 / 32760))))));
  return sum + Math.log(z) - 0.5 / z - series;
}

/** The derivative of the lower incomplete gamma function by a. */
export function gammaIncompleteSlope(a: number, x: number): number {
  if (!(a > 0) || !(x >= 0)) return Number.NaN;
  if (x === 0 || x === Number.POSITIVE_INFINITY) return 0;
  const prefix = gammaPrefix(a, x);
  const slope = Math.log(x) - digammaOf(a);
  if (x < a + 30) {
    // The series Σ x^n / (a (a + 1) … (a + n)) and its derivative.
    let term = 1 / a;
    let logSlope = -1 / a;
    let sum = term;
    let dSum = term * logSlope;
    for (let n = 1; n < 100000; n++) {
      term *= x / (a + n);
      logSlope -= 1 / (a + n);
      sum += term;
      dSum += term * logSlope;
      if (n > x && Math.abs(term * logSlope) < EPSILON * Math.abs(dSum)) break;
    }
    return prefix * (slope * sum + dSum);
  }
  // −d/da of the upper one, as a quotient of differences of its fraction, which is smooth.
  const h = 1e-4 * Math.max(1, a);
  const of = (v: number): number => upperFraction(v, x);
  const d1 = (of(a + h) - of(a - h)) / (2 * h);
  const d2 = (of(a + 2 * h) - of(a - 2 * h)) / (4 * h);
  return -prefix * (slope * of(a) + (4 * d1 - d2) / 3);
}

/** The regularised incomplete beta function, by its continued fraction. */
export function betaIncomplete(a: number, b: number, x: number): number {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return Number.NaN;
  if (x === 0 || x === 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(b, a, 1 - x);
  return betaBelow(a, b, x);
}
function betaBelow(a: number, b: number, x: number): number {
  const size = logGamma(a) + logGamma(b) - logGamma(a + b);
  const prefix = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - size) / a;
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  if (Math.abs(d) < TINY) d = TINY;
  d = 1 / d;
  let value = d;
  for (let m = 1; m < 100000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let step = 1;
    for (const factor of [even, odd]) {
      d = 1 + factor * d;
      if (Math.abs(d) < TINY) d = TINY;
      c = 1 + factor / c;
      if (Math.abs(c) < TINY) c = TINY;
      d = 1 / d;
      step = d * c;
      value *= step;
    }
    if (Math.abs(step - 1) < EPSILON) break;
  }
  return prefix * value;
}

/** Σ (q + n)^(−x) over n from 0: some terms, then the Euler-Maclaurin sum. */
export function hurwitzZeta(x: number, q: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY;
  if (!(x > 1)) return Number.NaN;
  if (q <= 0) {
    if (q === Math.floor(q)) return Number.POSITIVE_INFINITY;
    // Powers of negative numbers.
    if (x !== Math.floor(x)) return Number.NaN;
  }
  // So far below 0 the places on either side of 0 are two sums from there on; one by one they would be as many as q says.
  if (q < FAR_BELOW) {
    const above = q - Math.floor(q);
    const sign = x % 2 === 0 ? 1 : -1;
    return hurwitzZeta(x, above) + sign * hurwitzZeta(x, 1 - above) - sign * hurwitzZeta(x, 1 - q);
  }
  return zetaOver(x, q, 1);
}

const FAR_BELOW = -100;

/** Σ ((q + n) / unit)^(−x): some terms, then the Euler-Maclaurin sum. */
function zetaOver(x: number, q: number, unit: number): number {
  let sum = 0;
  let place = q;
  for (let n = 0; n < 12 || place <= 9; n++) {
    sum += (place / unit) ** -x;
    place += 1;
  }
  const power = (place / unit) ** -x;
  sum += (power * place) / (x - 1) + 0.5 * power;
  // x (x + 1) … over rising powers.
  let factor = (x * power) / place;
  for (let k = 0; k < BERNOULLI_OVER_FACTORIAL.length; k++) {
    sum += (BERNOULLI_OVER_FACTORIAL[k] as number) * factor;
    factor *= ((x + 2 * k + 1) * (x + 2 * k + 2)) / (place * place);
  }
  return sum;
}

const LAST_FACTORIAL = 170;

/** The n-th derivative of digamma, n an integer: (−1)^(n + 1) n! ζ(n + 1, x). NaN for n below 1. */
export function polygammaOf(n: number, x: number): number {
  if (!(n >= 1)) return Number.NaN;
  const sign = n % 2 === 0 ? -1 : 1;
  if (n <= LAST_FACTORIAL) {
    let factorial = 1;
    for (let i = 2; i <= n; i++) factorial *= i;
    return sign * factorial * hurwitzZeta(n + 1, x);
  }
  if (!(x > 0)) return sign * Number.POSITIVE_INFINITY * hurwitzZeta(n + 1, x);
  // n! alone is beyond all numbers, and the sum is 0: together they may be neither.
  return sign * Math.exp(logGamma(n + 1) - (n + 1) * Math.log(x)) * zetaOver(n + 1, x, x);
}
