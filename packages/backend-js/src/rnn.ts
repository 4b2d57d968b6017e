import type { Kernel, KernelName, TensorRef } from '@eagre/backend';
import { type NumberArray, numbers } from './view.ts';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** `x[row] · w`, plus `bias` from `from` on; x has `n` numbers a row, w has `width`. */
function product(
  x: NumberArray | Float64Array,
  row: number,
  n: number,
  w: NumberArray,
  width: number,
  bias?: NumberArray,
  from = 0,
): Float64Array {
  const out = new Float64Array(width);
  if (bias !== undefined) for (let j = 0; j < width; j++) out[j] = bias[from + j];
  for (let k = 0; k < n; k++) {
    const value = x[row * n + k];
    for (let j = 0; j < width; j++) out[j] += value * w[k * width + j];
  }
  return out;
}

/** `d · wᵀ`, where w has rows of d's length. */
function productTransposed(d: Float64Array, w: NumberArray, rows: number): Float64Array {
  return Float64Array.from({ length: rows }, (_, k) => {
    let sum = 0;
    for (let j = 0; j < d.length; j++) sum += d[j] * w[k * d.length + j];
    return sum;
  });
}

/** Adds the outer product of x's row and d to `w`. */
function addOuter(
  w: Float64Array,
  x: NumberArray | Float64Array,
  row: number,
  n: number,
  d: Float64Array,
): void {
  for (let k = 0; k < n; k++) {
    for (let j = 0; j < d.length; j++) w[k * d.length + j] += x[row * n + k] * d[j];
  }
}

const rowOf = (x: NumberArray, row: number, n: number): Float64Array =>
  Float64Array.from(x.subarray(row * n, (row + 1) * n));

interface Sizes {
  readonly batch: number;
  readonly time: number;
  readonly features: number;
  readonly units: number;
}
const sizesOf = (x: TensorRef, h0: TensorRef): Sizes => ({
  batch: x.shape[0],
  time: x.shape[1],
  features: x.shape[2],
  units: h0.shape[1],
});

// ---- LSTM: gates i, f, g (the candidate), o, and in the reserve behind them c and tanh(c)

function lstm(inputs: readonly TensorRef[], outputs: readonly TensorRef[]): void {
  const { batch, time, features, units } = sizesOf(inputs[0], inputs[1]);
  const [x, h0, c0, kernel, recurrent, bias] = inputs.map(numbers);
  const [sequence, lastH, lastC, reserve] = outputs.map(numbers);
  for (let b = 0; b < batch; b++) {
    let h = rowOf(h0, b, units);
    let c = rowOf(c0, b, units);
    for (let t = 0; t < time; t++) {
      const step = b * time + t;
      const fromX = product(x, step, features, kernel, 4 * units, bias);
      const fromH = product(h, 0, units, recurrent, 4 * units);
      const before = (gate: number, j: number): number => fromX[gate * units + j] + fromH[gate * units + j];
      const nextH = new Float64Array(units);
      const nextC = new Float64Array(units);
      for (let j = 0; j < units; j++) {
        const i = sigmoid(before(0, j));
        const f = sigmoid(before(1, j));
        const g = Math.tanh(before(2, j));
        const o = sigmoid(before(3, j));
        nextC[j] = f * c[j] + i * g;
        nextH[j] = o * Math.tanh(nextC[j]);
        if (reserve === undefined) continue;
        [i, f, g, o, nextC[j], Math.tanh(nextC[j])].forEach((value, part) => {
          reserve[(step * 6 + part) * units + j] = value;
        });
      }
      h = nextH;
      c = nextC;
      sequence.set(h, step * units);
    }
    lastH.set(h, b * units);
    lastC.set(c, b * units);
  }
}

function lstmGrad(inputs: readonly TensorRef[], outputs: readonly TensorRef[]): void {
  const { batch, time, features, units } = sizesOf(inputs[0], inputs[1]);
  const [x, h0, c0, kernel, recurrent, sequence, reserve] = inputs.map(numbers);
  const [dLastH, dLastC] = inputs.slice(-2).map(numbers);
  const dSequence = inputs.length > 9 ? numbers(inputs[7]) : null;
  const [dGates, dH0, dC0, dKernel, dRecurrent, dBias, dX] = outputs.map(numbers);
  const ofKernel = new Float64Array(dKernel.length);
  const ofRecurrent = new Float64Array(dRecurrent.length);
  const ofBias = new Float64Array(dBias.length);
  for (let b = 0; b < batch; b++) {
    let dh = rowOf(dLastH, b, units);
    const dc = rowOf(dLastC, b, units);
    for (let t = time - 1; t >= 0; t--) {
      const step = b * time + t;
      const d = new Float64Array(4 * units);
      for (let j = 0; j < units; j++) {
        const [i, f, g, o, , squashed] = Array.from(
          { length: 6 },
          (_, part) => reserve[(step * 6 + part) * units + j],
        );
        const before = t > 0 ? reserve[((step - 1) * 6 + 4) * units + j] : c0[b * units + j];
        const up = dh[j] + (dSequence?.[step * units + j] ?? 0);
        const ofC = dc[j] + up * o * (1 - squashed * squashed);
        d[j] = ofC * g * i * (1 - i);
        d[units + j] = ofC * before * f * (1 - f);
        d[2 * units + j] = ofC * i * (1 - g * g);
        d[3 * units + j] = up * squashed * o * (1 - o);
        dc[j] = ofC * f;
      }
      dGates.set(d, step * 4 * units);
      dh = productTransposed(d, recurrent, units);
      addOuter(ofKernel, x, step, features, d);
      if (t > 0) addOuter(ofRecurrent, sequence, step - 1, units, d);
      else addOuter(ofRecurrent, h0, b, units, d);
      for (let j = 0; j < d.length; j++) ofBias[j] += d[j];
      dX?.set(productTransposed(d, kernel, features), step * features);
    }
    dH0.set(dh, b * units);
    dC0.set(dc, b * units);
  }
  dKernel.set(ofKernel);
  dRecurrent.set(ofRecurrent);
  dBias.set(ofBias);
}

// ---- GRU: gates z, r, g (the candidate), and in the reserve behind them q, the part of the candidate that r scales

function gru(inputs: readonly TensorRef[], outputs: readonly TensorRef[]): void {
  const { batch, time, features, units } = sizesOf(inputs[0], inputs[1]);
  const [x, h0, kernel, recurrent, bias] = inputs.map(numbers);
  const [sequence, lastH, reserve] = outputs.map(numbers);
  for (let b = 0; b < batch; b++) {
    let h = rowOf(h0, b, units);
    for (let t = 0; t < time; t++) {
      const step = b * time + t;
      const fromX = product(x, step, features, kernel, 3 * units, bias);
      const fromH = product(h, 0, units, recurrent, 3 * units, bias, 3 * units);
      const next = new Float64Array(units);
      for (let j = 0; j < units; j++) {
        const z = sigmoid(fromX[j] + fromH[j]);
        const r = sigmoid(fromX[units + j] + fromH[units + j]);
        const q = fromH[2 * units + j];
        const g = Math.tanh(fromX[2 * units + j] + r * q);
        next[j] = z * h[j] + (1 - z) * g;
        [z, r, g, q].forEach((value, part) => {
          reserve[(step * 4 + part) * units + j] = value;
        });
      }
      h = next;
      sequence.set(h, step * units);
    }
    lastH.set(h, b * units);
  }
}

function gruGrad(inputs: readonly TensorRef[], outputs: readonly TensorRef[]): void {
  const { batch, time, features, units } = sizesOf(inputs[0], inputs[1]);
  const [x, h0, kernel, recurrent, sequence, reserve] = inputs.map(numbers);
  const dLastH = numbers(inputs[inputs.length - 1]);
  const dSequence = inputs.length > 7 ? numbers(inputs[6]) : null;
  const [dGates, dH0, dKernel, dRecurrent, dBias, dX] = outputs.map(numbers);
  const ofKernel = new Float64Array(dKernel.length);
  const ofRecurrent = new Float64Array(dRecurrent.length);
  const ofBias = new Float64Array(dBias.length);
  for (let b = 0; b < batch; b++) {
    let dh = rowOf(dLastH, b, units);
    for (let t = time - 1; t >= 0; t--) {
      const step = b * time + t;
      // What the products with x and with the state see: the candidate's parts differ.
      const ofX = new Float64Array(3 * units);
      const ofH = new Float64Array(3 * units);
      const kept = new Float64Array(units);
      for (let j = 0; j < units; j++) {
        const [z, r, g, q] = Array.from({ length: 4 }, (_, part) => reserve[(step * 4 + part) * units + j]);
        const before = t > 0 ? sequence[(step - 1) * units + j] : h0[b * units + j];
        const up = dh[j] + (dSequence?.[step * units + j] ?? 0);
        const candidate = up * (1 - z) * (1 - g * g);
        ofX[j] = ofH[j] = up * (before - g) * z * (1 - z);
        ofX[units + j] = ofH[units + j] = candidate * q * r * (1 - r);
        ofX[2 * units + j] = candidate;
        ofH[2 * units + j] = candidate * r;
        kept[j] = up * z;
      }
      dGates.set(ofX, step * 4 * units);
      dGates.set(ofH.subarray(2 * units), (step * 4 + 3) * units);
      dh = productTransposed(ofH, recurrent, units).map((value, j) => value + kept[j]);
      addOuter(ofKernel, x, step, features, ofX);
      if (t > 0) addOuter(ofRecurrent, sequence, step - 1, units, ofH);
      else addOuter(ofRecurrent, h0, b, units, ofH);
      for (let j = 0; j < ofX.length; j++) {
        ofBias[j] += ofX[j];
        ofBias[ofX.length + j] += ofH[j];
      }
      dX?.set(productTransposed(ofX, kernel, features), step * features);
    }
    dH0.set(dh, b * units);
  }
  dKernel.set(ofKernel);
  dRecurrent.set(ofRecurrent);
  dBias.set(ofBias);
}

/** The kernels of recurrent networks. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  LSTM: lstm,
  LSTMGrad: lstmGrad,
  GRU: gru,
  GRUGrad: gruGrad,
};
