// The eigenvalues of real matrices, which are real or pairs of conjugates, with numbers that are real: Francis's QR steps of two shifts at once
// (Golub and Van Loan, "Matrix Computations", 7.5). native/cpu/eig.cc has the same in C++.

/** z · t · zᵀ: t is upper triangular but for blocks of two rows, one for each pair of conjugates. */
export interface RealSchur {
  readonly t: Float64Array;
  /** The transpose of z. Empty where it was not wanted; then t is no more than what the eigenvalues took. */
  readonly z: Float64Array;
  /** The eigenvalues: of a pair the one with a positive imaginary part comes first. */
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Subtracts 2 · v · (vᵀ · a) from the rows `first` on, of columns from `from` on. */
function reflectRows(a: Float64Array, n: number, v: Float64Array, first: number, from: number): void {
  const sums = new Float64Array(n);
  for (let i = 0, row = first * n; i < v.length; i++, row += n)
    for (let j = from; j < n; j++) sums[j] += v[i] * a[row + j];
  for (let i = 0, row = first * n; i < v.length; i++, row += n) {
    const by = 2 * v[i];
    for (let j = from; j < n; j++) a[row + j] -= by * sums[j];
  }
}

function toHessenberg(a: Float64Array, n: number, z: Float64Array): void {
  for (let k = 0; k + 2 < n; k++) {
    const v = new Float64Array(n - k - 1);
    let below = 0;
    for (let i = 0; i < v.length; i++) {
      v[i] = a[(k + 1 + i) * n + k];
      if (i > 0) below += v[i] * v[i];
    }
    if (below === 0) continue;
    const norm = Math.sqrt(v[0] * v[0] + below);
    v[0] += v[0] >= 0 ? norm : -norm;
    const length = Math.sqrt(v[0] * v[0] + below);
    for (let i = 0; i < v.length; i++) v[i] /= length;
    reflectRows(a, n, v, k + 1, k);
    for (let i = 0, row = k + 1; i < n; i++, row += n) {
      let sum = 0;
      for (let j = 0; j < v.length; j++) sum += a[row + j] * v[j];
      sum *= 2;
      for (let j = 0; j < v.length; j++) a[row + j] -= sum * v[j];
    }
    if (z.length > 0) reflectRows(z, n, v, k + 1, 0);
    for (let i = k + 2; i < n; i++) a[i * n + k] = 0;
  }
}

/** Makes a block of two rows triangular, if its eigenvalues are real: the rotation (c, s). */
function turnBlock(t: Float64Array, n: number, z: Float64Array, i: number, c: number, s: number): void {
  const turnRows = (a: Float64Array, from: number): void => {
    for (let p = i * n + from, q = p + n; p < (i + 1) * n; p++, q++) {
      const [x, y] = [a[p], a[q]];
      a[p] = c * x + s * y;
      a[q] = c * y - s * x;
    }
  };
  turnRows(t, i);
  for (let r = 0, p = i; r < i + 2; r++, p += n) {
    const [x, y] = [t[p], t[p + 1]];
    t[p] = c * x + s * y;
    t[p + 1] = c * y - s * x;
  }
  t[(i + 1) * n + i] = 0;
  turnRows(z, 0);
}

// Steps for each row, of which about one is needed.
const STEPS = 30;

/** @param a is changed. @returns null where steps do not converge */
export function realSchurOf(n: number, a: Float64Array, wanted: boolean): RealSchur | null {
  const z = new Float64Array(wanted ? n * n : 0);
  if (wanted) for (let i = 0; i < n; i++) z[i * n + i] = 1;
  toHessenberg(a, n, z);
  const [re, im] = [new Float64Array(n), new Float64Array(n)];
  let norm = 0;
  for (let i = 0; i < n * n; i++) norm = Math.max(norm, Math.abs(a[i]));
  let last = n - 1;
  let step = 0;
  for (let all = 0; last >= 0; ) {
    let first = last;
    for (; first > 0; first--) {
      const p = first * (n + 1);
      const beside = Math.abs(a[p]) + Math.abs(a[p - n - 1]);
      if (Math.abs(a[p - 1]) > Number.EPSILON * (beside === 0 ? norm : beside)) continue;
      a[p - 1] = 0;
      break;
    }
    if (first === last) {
      re[last] = a[last * (n + 1)];
      last--;
      step = 0;
      continue;
    }
    const at = (last - 1) * (n + 1);
    const [h00, h01, h10, h11] = [a[at], a[at + 1], a[at + n], a[at + n + 1]];
    if (first === last - 1) {
      const p = (h00 - h11) / 2;
      const q = p * p + h01 * h10;
      const root = Math.sqrt(Math.abs(q));
      if (q >= 0) {
        const far = p >= 0 ? p + root : p - root;
        re[first] = h11 + far;
        re[last] = far === 0 ? h11 : h11 - (h01 * h10) / far;
        const length = Math.sqrt(far * far + h10 * h10);
        if (wanted) turnBlock(a, n, z, first, far / length, h10 / length);
      } else {
        re[first] = re[last] = h11 + p;
        im[first] = root;
        im[last] = -root;
      }
      last -= 2;
      step = 0;
      continue;
    }
    step++;
    if (++all > STEPS * n) return null;
    let [x, y, w] = [h11, h00, h01 * h10];
    if (step % 10 === 0) {
      // What does not converge is moved elsewhere.
      const s = Math.abs(h10) + Math.abs(a[at - 1]);
      x = y = 0.75 * s + h11;
      w = -0.4375 * s * s;
    }
    qrStep(a, n, z, first, last, [x, y, w]);
  }
  return { t: a, z, re, im };
}

/** One step on rows `first` … `last`: shifts with the sum x + y and the product x · y − w. */
function qrStep(
  a: Float64Array,
  n: number,
  z: Float64Array,
  first: number,
  last: number,
  [x, y, w]: readonly [number, number, number],
): void {
  const wanted = z.length > 0;
  const end = wanted ? n : last + 1;
  const top = wanted ? 0 : first;
  for (let k = first; k < last; k++) {
    const three = k + 2 <= last;
    const row = k * n;
    let [p, q, r] = [0, 0, 0];
    if (k === first) {
      const d = a[row + k];
      p = ((d - x) * (d - y) - w) / a[row + n + k] + a[row + k + 1];
      q = d + a[row + n + k + 1] - x - y;
      r = a[row + 2 * n + k + 1];
    } else {
      p = a[row + k - 1];
      q = a[row + n + k - 1];
      r = three ? a[row + 2 * n + k - 1] : 0;
    }
    const scale = Math.abs(p) + Math.abs(q) + Math.abs(r);
    if (scale === 0) continue;
    p /= scale;
    q /= scale;
    r /= scale;
    const length = Math.sqrt(p * p + q * q + r * r);
    const s = p < 0 ? -length : length;
    if (k > first) {
      a[row + k - 1] = -s * scale;
      a[row + n + k - 1] = 0;
      if (three) a[row + 2 * n + k - 1] = 0;
    }
    // The reflection I − (f, g, h)ᵀ · (1, v, u).
    const [f, v, u] = [(p + s) / s, q / (p + s), r / (p + s)];
    const [g, h] = [q / s, r / s];
    const turnRows = (m: Float64Array, from: number, to: number): void => {
      for (let i = row + from, stop = row + to; i < stop; i++) {
        const sum = m[i] + v * m[i + n] + (three ? u * m[i + 2 * n] : 0);
        m[i] -= f * sum;
        m[i + n] -= g * sum;
        if (three) m[i + 2 * n] -= h * sum;
      }
    };
    turnRows(a, k, end);
    for (let i = top * n + k, stop = Math.min(last, k + 3) * n + k; i <= stop; i += n) {
      const sum = f * a[i] + g * a[i + 1] + (three ? h * a[i + 2] : 0);
      a[i] -= sum;
      a[i + 1] -= v * sum;
      if (three) a[i + 2] -= u * sum;
    }
    if (wanted) turnRows(z, 0, n);
  }
}

// Elements of a vector above are divided by that much, as those of defective matrices grow without end.
const HUGE = 1e100;

/**
 * The eigenvalues and, if they are wanted, eigenvectors as columns of length 1: real and imaginary parts by turns. Null where they are not found.
 * @param a is changed
 */
export function eigenOfReal(
  n: number,
  a: Float64Array,
  wanted: boolean,
): { readonly values: Float64Array; readonly vectors: Float64Array | null } | null {
  const schur = realSchurOf(n, a, wanted);
  if (schur === null) return null;
  const { t, z, re, im } = schur;
  const values = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    values[2 * i] = re[i];
    values[2 * i + 1] = im[i];
  }
  if (!wanted) return { values, vectors: null };
  const vectors = new Float64Array(2 * n * n);
  let norm = 0;
  for (let i = 0; i < n * n; i++) norm = Math.max(norm, Math.abs(t[i]));
  const least = norm === 0 ? 1 : Number.EPSILON * norm;
  const [xRe, xIm, vRe, vIm] = [0, 0, 0, 0].map(() => new Float64Array(n)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let k = n - 1; k >= 0; k--) {
    // Of a pair the vector of the first one is computed, and stands for both.
    const isPair = im[k] < 0;
    const [lRe, lIm] = [re[k], isPair ? -im[k] : 0];
    let i = k - 1;
    if (isPair) {
      const [p, q] = [(k - 1) * n + k - 1, k * n + k - 1];
      const half = (t[p] - t[q + 1]) / 2;
      // The larger one of both elements beside the diagonal divides nothing.
      const above = Math.abs(t[p + 1]) >= Math.abs(t[q]);
      xRe[k - 1] = above ? t[p + 1] : half;
      xIm[k - 1] = above ? 0 : lIm;
      xRe[k] = above ? -half : t[q];
      xIm[k] = above ? lIm : 0;
      i--;
    } else {
      xRe[k] = 1;
      xIm[k] = 0;
    }
    const sumOf = (row: number, from: number): [number, number] => {
      let [sumRe, sumIm] = [0, 0];
      for (let j = from, p = row * n + from; j <= k; j++, p++) {
        sumRe += t[p] * xRe[j];
        sumIm += t[p] * xIm[j];
      }
      return [sumRe, sumIm];
    };
    while (i >= 0) {
      const [s1Re, s1Im] = sumOf(i, i + 1);
      const p = i * (n + 1);
      let most = 0;
      if (im[i] === 0) {
        let [dRe, dIm] = [t[p] - lRe, -lIm];
        if (Math.abs(dRe) + Math.abs(dIm) < least) [dRe, dIm] = [least, 0];
        [xRe[i], xIm[i]] = quotient(-s1Re, -s1Im, dRe, dIm);
        most = Math.abs(xRe[i]) + Math.abs(xIm[i]);
        i--;
      } else {
        const [s0Re, s0Im] = sumOf(i - 1, i + 1);
        const [aRe, dRe, b, c] = [t[p - n - 1] - lRe, t[p] - lRe, t[p - n], t[p - 1]];
        let [detRe, detIm] = [aRe * dRe - lIm * lIm - b * c, -lIm * (aRe + dRe)];
        if (Math.abs(detRe) + Math.abs(detIm) < least * least) [detRe, detIm] = [least * least, 0];
        [xRe[i - 1], xIm[i - 1]] = quotient(
          b * s1Re - (s0Re * dRe + s0Im * lIm),
          b * s1Im - (s0Im * dRe - s0Re * lIm),
          detRe,
          detIm,
        );
        [xRe[i], xIm[i]] = quotient(
          c * s0Re - (s1Re * aRe + s1Im * lIm),
          c * s0Im - (s1Im * aRe - s1Re * lIm),
          detRe,
          detIm,
        );
        most = Math.max(Math.abs(xRe[i]) + Math.abs(xIm[i]), Math.abs(xRe[i - 1]) + Math.abs(xIm[i - 1]));
        i -= 2;
      }
      if (most <= HUGE) continue;
      for (let j = i + 1; j <= k; j++) {
        xRe[j] /= most;
        xIm[j] /= most;
      }
    }
    vRe.fill(0);
    vIm.fill(0);
    for (let j = 0; j <= k; j++)
      for (let r = 0, p = j * n; r < n; r++, p++) {
        vRe[r] += xRe[j] * z[p];
        vIm[r] += xIm[j] * z[p];
      }
    let length = 0;
    // Squares of huge ones would overflow.
    for (let r = 0; r < n; r++) length = Math.max(length, Math.abs(vRe[r]), Math.abs(vIm[r]));
    const down = 1 / length;
    let squares = 0;
    for (let r = 0; r < n; r++) squares += (vRe[r] * down) ** 2 + (vIm[r] * down) ** 2;
    const by = down / Math.sqrt(squares);
    for (let r = 0; r < n; r++) {
      const to = 2 * (r * n + k);
      vectors[to] = vRe[r] * by;
      vectors[to + 1] = isPair ? -vIm[r] * by : 0;
      if (!isPair) continue;
      vectors[to - 2] = vRe[r] * by;
      vectors[to - 1] = vIm[r] * by;
    }
    if (isPair) k--;
  }
  return { values, vectors };
}

function quotient(a: number, b: number, c: number, d: number): [number, number] {
  // By the larger part, so that squares do not overflow (Smith, 1962).
  if (Math.abs(c) >= Math.abs(d)) {
    const r = d / c;
    const q = c + d * r;
    return [(a + b * r) / q, (b - a * r) / q];
  }
  const r = c / d;
  const q = c * r + d;
  return [(a * r + b) / q, (b * r - a) / q];
}
