// Functions that ONNX does not have, by their series. They are computed in doubles, so that floats are right to the last bits.
import type { DType } from '@eagre/backend';
import type { GraphWriter } from './writer.ts';

const WIDE = 'float64';

/** What writes a function of doubles. */
type Body = (f: Formula, x: string) => string;
type Special = (w: GraphWriter, x: string, dtype: DType) => string;

/** Formulas of doubles. */
class Formula {
  readonly #w: GraphWriter;
  constructor(w: GraphWriter) {
    this.#w = w;
  }
  number(value: number): string {
    return this.#w.scalar(value, WIDE);
  }
  of(op: string, ...args: (string | number)[]): string {
    return this.#w.add(
      op,
      args.map((a) => (typeof a === 'number' ? this.number(a) : a)),
    );
  }
  add(a: string | number, b: string | number): string {
    return this.of('Add', a, b);
  }
  sub(a: string | number, b: string | number): string {
    return this.of('Sub', a, b);
  }
  mul(a: string | number, b: string | number): string {
    return this.of('Mul', a, b);
  }
  div(a: string | number, b: string | number): string {
    return this.of('Div', a, b);
  }
  where(condition: string, a: string | number, b: string | number): string {
    return this.of('Where', condition, a, b);
  }
  /** Coefficients from the highest power on. */
  polynomial(x: string, coefficients: readonly number[]): string {
    const [first, ...rest] = coefficients;
    return rest.reduce<string>((sum, c) => this.add(this.mul(sum, x), c), this.number(first as number));
  }
}

const inDoubles =
  (body: Body): Special =>
  (w, x, dtype) =>
    w.cast(body(new Formula(w), w.cast(x, dtype, WIDE)), WIDE, dtype);

// Chebyshev's series of log(erfc(z) / t) + z², t = 2 / (2 + z) (Press et al., Numerical Recipes, 6.2.2).
const ERFC = [
  -1.3026537197817094, 0.6419697923564902, 1.9476473204185836e-2, -9.561514786808631e-3, -9.46595344482036e-4,
  3.66839497852761e-4, 4.2523324806907e-5, -2.0278578112534e-5, -1.624290004647e-6, 1.30365583558e-6,
  1.5626441722e-8, -8.5238095915e-8, 6.529054439e-9, 5.059343495e-9, -9.91364156e-10, -2.27365122e-10,
  9.6467911e-11, 2.394038e-12, -6.886027e-12, 8.94487e-13, 3.13092e-13, -1.12708e-13, 3.81e-16, 7.106e-15,
  -1.523e-15, -9.4e-17, 1.21e-16, -2.8e-17,
] as const;

const complement: Body = (f, x) => {
  const z = f.of('Abs', x);
  const t = f.div(2, f.add(z, 2));
  const ty = f.sub(f.mul(t, 4), 2);
  let [d, before] = [f.number(0), f.number(0)];
  for (const c of ERFC.slice(1).reverse()) [d, before] = [f.add(f.sub(f.mul(ty, d), before), c), d];
  const sum = f.sub(f.mul(f.add(f.mul(ty, d), ERFC[0]), 0.5), before);
  const upper = f.mul(t, f.of('Exp', f.sub(sum, f.mul(z, z))));
  return f.where(f.of('Less', x, 0), f.sub(2, upper), upper);
};
/** 1 − erf(x), right where it is small too. */
export const erfc: Special = inDoubles(complement);

// Of x², from the highest power on.
const ERF = [1 / 9360, -1 / 1320, 1 / 216, -1 / 42, 1 / 10, -1 / 3, 1].map(
  (c) => (c * 2) / Math.sqrt(Math.PI),
);
const erfOfDoubles: Body = (f, x) => {
  const near = f.mul(f.polynomial(f.mul(x, x), ERF), x);
  return f.where(f.of('Less', f.of('Abs', x), 0.1), near, f.sub(1, complement(f, x)));
};
/** erf, which ONNX has; ONNX Runtime computes it of floats alone. */
export const erf: Special = (w, x, dtype) =>
  dtype === WIDE ? inDoubles(erfOfDoubles)(w, x, dtype) : w.add('Erf', [x]);

// Lanczos, g = 7 (Godfrey's coefficients).
const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
];

/** log |Γ(x)|, by Γ(x) Γ(1 − x) = π / sin πx below ½. */
export const lgamma: Special = inDoubles((f, x) => {
  const low = f.of('Less', x, 0.5);
  const z = f.sub(f.where(low, f.sub(1, x), x), 1);
  const sum = LANCZOS.reduce<string>(
    (all, c, i) => f.add(all, f.div(c, f.add(z, i + 1))),
    f.number(0.9999999999998099),
  );
  const t = f.add(z, 7.5);
  const upper = f.add(
    f.sub(f.mul(f.add(z, 0.5), f.of('Log', t)), t),
    f.add(f.of('Log', sum), 0.5 * Math.log(2 * Math.PI)),
  );
  const sine = f.of('Abs', f.of('Sin', f.mul(f.sub(x, f.of('Round', x)), Math.PI)));
  const lower = f.sub(f.of('Log', f.div(Math.PI, sine)), upper);
  return f.where(f.of('IsInf', x), Number.POSITIVE_INFINITY, f.where(low, lower, upper));
});

// Of 1/z², from the highest power on: B(2k) / 2k.
const ASYMPTOTIC = [1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12, 0];
const STEPS = 8;

/** The derivative of lgamma: eight steps up, where its asymptotic series is right; NaN at 0, −1, −2 and so on. */
export const digamma: Special = inDoubles((f, x) => {
  const low = f.of('Less', x, 0.5);
  let z = f.where(low, f.sub(1, x), x);
  let below = f.number(0);
  for (let i = 0; i < STEPS; i++) {
    below = f.add(below, f.div(1, z));
    z = f.add(z, 1);
  }
  const series = f.polynomial(f.div(1, f.mul(z, z)), ASYMPTOTIC);
  const upper = f.sub(f.sub(f.sub(f.of('Log', z), f.div(0.5, z)), series), below);
  const turned = f.mul(f.sub(x, f.of('Round', x)), Math.PI);
  const cotangent = f.div(f.of('Cos', turned), f.of('Sin', turned));
  const pole = f.of('Equal', turned, 0);
  const lower = f.where(pole, Number.NaN, f.sub(upper, f.mul(cotangent, Math.PI)));
  return f.where(low, lower, upper);
});

// Giles, "Approximating the erfinv function": of −log(1 − x²) below 5, and of its root.
const NEAR = [
  2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503, -0.00417768164,
  0.246640727, 1.50140941,
];
const FAR = [
  -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
  1.00167406, 2.83297682,
];

/** The inverse of erf: Giles' formula, which is right for floats, and two steps of Halley for doubles. */
export const erfinv: Special = (w, x, dtype) =>
  inDoubles((f, wide) => {
    const size = f.of('Neg', f.of('Log', f.mul(f.sub(1, wide), f.add(1, wide))));
    const factor = f.where(
      f.of('Less', size, 5),
      f.polynomial(f.sub(size, 2.5), NEAR),
      f.polynomial(f.sub(f.of('Sqrt', size), 3), FAR),
    );
    let y = f.mul(factor, wide);
    if (dtype === WIDE)
      for (let i = 0; i < 2; i++) {
        const slope = f.mul(f.of('Exp', f.of('Neg', f.mul(y, y))), 2 / Math.sqrt(Math.PI));
        const step = f.div(f.sub(erfOfDoubles(f, y), wide), slope);
        y = f.sub(y, f.div(step, f.add(1, f.mul(y, step))));
      }
    const end = f.of('Equal', f.of('Abs', wide), 1);
    return f.where(end, f.mul(wide, Number.POSITIVE_INFINITY), y);
  })(w, x, dtype);
