/** Special functions in float64, with relative errors near 1e-15 unless noted. */

/** Coefficients from the constant term up. */
function polynomial(x: number, coefficients: readonly number[]): number {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + coefficients[i];
  return sum;
}

/** Ties go to the even neighbour. */
export function roundHalfEven(x: number): number {
  if (Math.abs(x) >= 2 ** 52) return x;
  // From 2^52 on, doubles are the integers, so the addition itself rounds, half to even.
  const rounded = x < 0 ? x - 2 ** 52 + 2 ** 52 : x + 2 ** 52 - 2 ** 52;
  return rounded === 0 ? x * 0 : rounded;
}

/** TensorFlow's FloorMod: the remainder that has the divisor's sign. */
export function floorMod(x: number, y: number): number {
  const rest = x % y;
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
}

/** IEEE 754 `pow`, from which ECMAScript's differs where the base is ±1. */
export function power(x: number, y: number): number {
  if (x === 1 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  return x ** y;
}

export function sigmoid(x: number): number {
  const e = Math.exp(-Math.abs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

/** log(1 + exp(x)) without overflow. */
export function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

// W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969), in three ranges:
// erf(x) = x R(x²) to 0.46875, erfc(x) = exp(-x²) R(x) to 4, exp(-x²)/x (1/√π + R(1/x²)/x²) beyond.
const erfNear = [
  [3209.3775891384694, 377.485237685302, 113.86415415105016, 3.1611237438705655, 0.18577770618460315],
  [2844.236833439171, 1282.6165260773723, 244.02463793444417, 23.601290952344122, 1],
] as const;
const erfcMiddle = [
  [
    1230.3393547979972, 2051.0783778260716, 1712.0476126340707, 881.952221241769, 298.6351381974001,
    66.11919063714163, 8.883149794388377, 0.5641884969886701, 2.1531153547440383e-8,
  ],
  [
    1230.3393548037495, 3439.3676741437216, 4362.619090143247, 3290.7992357334597, 1621.3895745666903,
    537.1811018620099, 117.6939508913125, 15.744926110709835, 1,
  ],
] as const;
const erfcFar = [
  [
    -0.0006587491615298378, -0.016083785148742275, -0.12578172611122926, -0.36034489994980445,
    -0.30532663496123236, -0.016315387137302097,
  ],
  [0.0023352049762686918, 0.06051834131244132, 0.5279051029514285, 1.8729528499234604, 2.568520192289822, 1],
] as const;

/** erfc for x ≥ 0.46875. */
function erfcTail(x: number): number {
  if (x > 27) return 0;
  // x² in two parts, the first exact, since exp would magnify the rounding of a square.
  const head = Math.trunc(x * 16) / 16;
  const scale = Math.exp(-head * head) * Math.exp(-(x - head) * (x + head));
  if (x <= 4) return (scale * polynomial(x, erfcMiddle[0])) / polynomial(x, erfcMiddle[1]);
  const z = 1 / (x * x);
  const correction = (z * polynomial(z, erfcFar[0])) / polynomial(z, erfcFar[1]);
  return (scale / x) * (1 / Math.sqrt(Math.PI) + correction);
}

export function erf(x: number): number {
  if (Math.abs(x) <= 0.46875) return (x * polynomial(x * x, erfNear[0])) / polynomial(x * x, erfNear[1]);
  return x < 0 ? erfcTail(-x) - 1 : 1 - erfcTail(x);
}

export function erfc(x: number): number {
  if (Math.abs(x) <= 0.46875) return 1 - erf(x);
  return x < 0 ? 2 - erfcTail(-x) : erfcTail(x);
}

// M. J. Wichura, Algorithm AS 241: The percentage points of the normal distribution, Appl. Statist. 37 (1988), PPND16.
const quantileCentre = [
  [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
    67265.7709270087, 33430.57558358813, 2509.0809287301227,
  ],
  [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
] as const;
const quantileMiddle = [
  [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
] as const;
const quantileFar = [
  [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 0.000027115555687434876, 2.0103343992922881e-7,
  ],
  [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
    0.000018463183175100548, 1.421511758316446e-7, 2.0442631033899397e-15,
  ],
] as const;

/** On [-1, 1], the ends being infinite; NaN outside. */
export function erfinv(x: number): number {
  const size = Math.abs(x);
  if (!(size <= 1)) return NaN;
  if (size === 1) return x * Infinity;
  // erfinv(x) is the normal quantile of (1 + x)/2 over √2; the algorithm wants the distance of that from 1/2.
  const q = x / 2;
  if (size <= 0.85) {
    const r = 0.180625 - q * q;
    return ((q * polynomial(r, quantileCentre[0])) / polynomial(r, quantileCentre[1])) * Math.SQRT1_2;
  }
  const r = Math.sqrt(-Math.log((1 - size) / 2));
  const [p, s] = r <= 5 ? quantileMiddle : quantileFar;
  const t = r <= 5 ? r - 1.6 : r - 5;
  return Math.sign(x) * (polynomial(t, p) / polynomial(t, s)) * Math.SQRT1_2;
}

/** ζ(k) − 1 from k = 2. */
const zetaMinusOne = [
  0.6449340668482264, 0.2020569031595943, 0.08232323371113819, 0.03692775514336993, 0.01734306198444914,
  0.008349277381922827, 0.00407735619794434, 0.0020083928260822143, 0.0009945751278180853,
  0.0004941886041194645, 0.0002460865533080483, 0.00012271334757848915, 0.00006124813505870483,
  0.00003058823630702049, 0.00001528225940865187, 0.000007637197637899763, 0.00000381729326499984,
  0.000001908212716553939, 9.539620338727962e-7, 4.769329867878064e-7, 2.38450502727733e-7,
  1.1921992596531106e-7, 5.960818905125948e-8, 2.980350351465228e-8, 1.4901554828365043e-8,
  7.45071178983543e-9,
] as const;
const eulerGamma = 0.5772156649015329;

/** lgamma(2 + z) for |z| ≤ 1/2, by its Taylor series z (1 − γ) + Σ (−z)^k (ζ(k) − 1)/k, which keeps the zero at z = 0 exact. */
function lgammaAroundTwo(z: number): number {
  let sum = 0;
  for (let k = zetaMinusOne.length + 1; k >= 2; k--) sum = (zetaMinusOne[k - 2] / k - sum) * z;
  return z * (1 - eulerGamma + sum);
}

/** Stirling's series B(2k) / (2k (2k − 1)), good for x ≥ 10. */
const stirling = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400];

/** log |Γ(x)|. The zeros between the negative poles are met in absolute, not in relative terms. */
export function lgamma(x: number): number {
  if (!Number.isFinite(x)) return x * x;
  if (Math.abs(x) < 1e-17) return -Math.log(Math.abs(x));
  if (x < 0) {
    const sine = Math.sin(Math.PI * (x - Math.round(x)));
    // Γ(x) Γ(−x) = −π / (x sin πx)
    return sine === 0 ? Infinity : Math.log(Math.PI / Math.abs(x * sine)) - lgamma(-x);
  }
  if (x < 0.5) return lgammaAroundTwo(x) - Math.log1p(x) - Math.log(x);
  if (x < 1.5) return lgammaAroundTwo(x - 1) - Math.log1p(x - 1);
  if (x < 10) {
    let factor = 1;
    while (x > 2.5) factor *= --x;
    return lgammaAroundTwo(x - 2) + Math.log(factor);
  }
  const series = polynomial(1 / (x * x), stirling) / x;
  return (x - 0.5) * (Math.log(x) - 1) + 0.5 * (Math.log(2 * Math.PI) - 1) + series;
}

/** digamma's one positive zero, in two parts, and its Taylor coefficients there, ψ⁽ᵏ⁾/k! from k = 1. */
const digammaZero = [1.4616321449683622, 9.549995429965697e-17] as const;
const digammaTaylor = [
  0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652, 0.10782405069126237,
  -0.07219956125645471, 0.04880428816414311, -0.03316112647484736, 0.022597648232218104, -0.01542476590494896,
  0.010538791616612175, -0.007204534386356869, 0.004926781395729853, -0.003369801655439328,
  0.002305126326734928, -0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052,
  0.000504953265834602, -0.0003454680251063077, 0.00023635601564027053, -0.00016170622091974803,
] as const;
/** B(2k) / 2k, good for x ≥ 10. */
const digammaAsymptotic = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12];

/** The derivative of lgamma; NaN at the poles. Negative zeros are met in absolute terms. */
export function digamma(x: number): number {
  if (x === Infinity) return Infinity;
  if (x <= 0) {
    const fraction = x - Math.round(x);
    return fraction === 0 ? NaN : digamma(1 - x) - Math.PI / Math.tan(Math.PI * fraction);
  }
  const z = x - digammaZero[0] - digammaZero[1];
  if (Math.abs(z) < 0.3) return z * polynomial(z, digammaTaylor);
  let sum = 0;
  for (; x < 10; x++) sum -= 1 / x;
  const squared = 1 / (x * x);
  return sum + Math.log(x) - 0.5 / x - squared * polynomial(squared, digammaAsymptotic);
}
