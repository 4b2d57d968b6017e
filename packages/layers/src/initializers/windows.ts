// The windows of signal processing, by SciPy's names.

type Formula = (count: number) => (i: number) => number;
export type WindowName =
  | 'boxcar'
  | 'hann'
  | 'hamming'
  | 'blackman'
  | 'nuttall'
  | 'blackmanharris'
  | 'flattop'
  | 'bartlett'
  | 'triang'
  | 'cosine'
  | 'barthann'
  | 'bohman'
  | 'exponential'
  | 'lanczos'
  | 'parzen'
  | 'tukey';

const FORMULAS: Readonly<Record<WindowName, Formula>> = {
  boxcar: () => () => 1,
  hann: /* @__PURE__ */ cosines(0.5, 0.5),
  hamming: /* @__PURE__ */ cosines(0.54, 0.46),
  blackman: /* @__PURE__ */ cosines(0.42, 0.5, 0.08),
  nuttall: /* @__PURE__ */ cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
  blackmanharris: /* @__PURE__ */ cosines(0.35875, 0.48829, 0.14128, 0.01168),
  flattop: /* @__PURE__ */ cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
  bartlett: (n) => (i) => 1 - Math.abs((2 * i) / (n - 1) - 1),
  triang: (n) => (i) => 1 - Math.abs(2 * i - (n - 1)) / (n + (n % 2)),
  cosine: (n) => (i) => Math.sin((Math.PI / n) * (i + 0.5)),
  barthann: (n) => (i) => {
    const x = i / (n - 1) - 0.5;
    return 0.62 - 0.48 * Math.abs(x) + 0.38 * Math.cos(2 * Math.PI * x);
  },
  bohman: (n) => (i) => {
    if (i === 0 || i === n - 1) return 0;
    const x = Math.abs((2 * i) / (n - 1) - 1);
    return (1 - x) * Math.cos(Math.PI * x) + Math.sin(Math.PI * x) / Math.PI;
  },
  exponential: (n) => (i) => Math.exp(-Math.abs(i - (n - 1) / 2)),
  lanczos: (n) => (i) => {
    const x = Math.PI * ((2 * i) / (n - 1) - 1);
    return x === 0 ? 1 : Math.sin(x) / x;
  },
  parzen: (n) => (i) => {
    const x = Math.abs(2 * i - (n - 1)) / n;
    return x <= (n - 1) / (2 * n) ? 1 - 6 * x ** 2 + 6 * x ** 3 : 2 * (1 - x) ** 3;
  },
  // A quarter of it rises, and one falls.
  tukey: (n) => (i) => {
    const x = Math.min(i, n - 1 - i) / (n - 1);
    return x >= 0.25 ? 1 : 0.5 * (1 + Math.cos(Math.PI * (4 * x - 1)));
  },
};

/** The names of the windows. */
export const windowNames: readonly string[] = /* @__PURE__ */ Object.keys(FORMULAS);

/** A sum of cosines, which fall from 1 in the middle. */
function cosines(...factors: readonly number[]): Formula {
  return (n) => (i) => {
    const x = Math.PI * ((2 * i) / (n - 1) - 1);
    return factors.reduce((sum, factor, k) => sum + factor * Math.cos(k * x), 0);
  };
}

/**
 * The values of a window.
 * @param periodic whether they are those of one more without the last, as Fourier transforms want them
 */
export function windowOf(name: WindowName, count: number, periodic: boolean): number[] {
  if (count <= 1) return new Array<number>(count).fill(1);
  return Array.from({ length: count }, (_, i) => i).map(FORMULAS[name](periodic ? count + 1 : count));
}
