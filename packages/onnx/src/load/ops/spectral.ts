// Spectra of signals, whose complex numbers are pairs along the last axis.
import { complex, constant, imag, moveAxis, pad, real, signal, slice, stack, type Tensor } from '@eagre/core';
import { addDims, type Dim, dims, floorDivDims, toShape } from '@eagre/core/internal';
import { dtypeOf } from '../../tensors.ts';
import type { NodeCall, OpTable, Run } from '../node.ts';
import { range } from './helpers.ts';

/** The numbers of pairs; those of a last axis of one are real. */
function numbersOf(node: NodeCall, x: Tensor): Tensor {
  const size = dims(x).at(-1);
  if (size !== 1 && size !== 2) node.fail(`the last axis must have 1 or 2 elements, not ${size}`);
  const part = (i: number): Tensor => x.gather(constant(i, 'int32'), -1);
  return size === 1 ? part(0) : complex(part(0), part(1));
}
const pairsOf = (x: Tensor): Tensor => stack([real(x), imag(x)], -1);

/** The first `n` elements of the last axis, with zeros behind where there are fewer. */
function resized(x: Tensor, n: number): Tensor {
  const own = dims(x).at(-1) as number;
  if (typeof own !== 'number' || own > n)
    return slice(
      x,
      dims(x).map(() => 0),
      toShape([...dims(x).slice(0, -1), n]),
    );
  return own === n ? x : pad(x, [...range(1, x.rank).map(() => [0, 0] as const), [0, n - own]]);
}

/** The spectrum along the last axis: the whole, or the half that tells that of real numbers. */
function spectrum(x: Tensor, onesided: boolean): Tensor {
  const whole = x.dtype.startsWith('complex') ? x : complex(x, x.mul(0));
  if (onesided && whole !== x) return signal.rfft(x);
  const y = signal.fft(whole);
  const bins = addDims(floorDivDims(dims(y).at(-1) as Dim, 2), 1);
  if (!onesided) return y;
  return slice(
    y,
    dims(y).map(() => 0),
    toShape([...dims(y).slice(0, -1), bins]),
  );
}

const dft: Run = (node) => {
  const given = node.x(0);
  const [inverse, onesided] = [node.attrs.int('inverse', 0) === 1, node.attrs.int('onesided', 0) === 1];
  const byInput = node.opset >= 20;
  const told = byInput ? (node.maybe(2) === null ? -2 : node.int(2)) : node.attrs.int('axis', 1);
  const axis = node.axis(told as number, given.rank);
  if (axis === given.rank - 1) node.fail('the last axis has the parts of numbers, not the signal');
  let x = moveAxis(numbersOf(node, given), axis, -1);
  const length = node.maybe(1) === null ? null : node.int(1);
  if (inverse && onesided) {
    // Half a spectrum is that of real numbers.
    const y = signal.irfft(x, length === null ? null : [length]);
    return moveAxis(y, -1, axis).expandDims(-1);
  }
  if (length !== null) x = resized(x, length);
  const whole = x.dtype.startsWith('complex') ? x : complex(x, x.mul(0));
  return pairsOf(moveAxis(inverse ? signal.ifft(whole) : spectrum(x, onesided), -1, axis));
};

const stft: Run = (node) => {
  const given = node.x(0);
  // PyTorch leaves the axis of the parts out where numbers are real, and ONNX Runtime takes that.
  const signals = given.rank === 2 ? given : numbersOf(node, given);
  const step = node.int(1);
  const window = node.maybe(2);
  const length = node.maybe(3) === null ? (window === null ? null : dims(window)[0]) : node.int(3);
  if (typeof length !== 'number') return node.fail('neither a window nor a length of frames is given');
  const ofFrames = (x: Tensor): Tensor => {
    const frames = signal.frame(x, length, step);
    return window === null ? frames : frames.mul(window);
  };
  const frames = signals.dtype.startsWith('complex')
    ? complex(ofFrames(real(signals)), ofFrames(imag(signals)))
    : ofFrames(signals);
  return pairsOf(spectrum(frames, node.attrs.int('onesided', 1) === 1));
};

// More than any spectrum needs.
const MOST_WEIGHTS = 2 ** 26;

/** Triangles that are as wide as they are to the ear. */
const melWeights: Run = (node) => {
  const [bands, length, rate] = range(0, 3).map((i) => node.int(i)) as [number, number, number];
  const [low, high] = [3, 4].map((i) => 2595 * Math.log10(1 + node.number(i) / 700)) as [number, number];
  const bins = Math.floor(length / 2) + 1;
  if (!(bands >= 0 && bins >= 0 && bands * bins <= MOST_WEIGHTS))
    node.fail(`there cannot be ${bands} bands of ${bins} bins`);
  const step = (high - low) / (bands + 2);
  const edges = range(0, bands + 2).map((i) => {
    const hertz = 700 * (10 ** ((i * step + low) / 2595) - 1);
    return Math.floor(((length + 1) * hertz) / rate);
  });
  const data = new Float64Array(bins * bands);
  const set = (bin: number, band: number, weight: number): void => {
    if (bin < 0 || bin >= bins) node.fail(`the edge of band ${band} is no bin of ${bins}`);
    data[bin * bands + band] = weight;
  };
  for (let band = 0; band < bands; band++) {
    const [from, top, to] = edges.slice(band, band + 3) as [number, number, number];
    if (from === top) set(top, band, 1);
    else for (let j = from; j <= top; j++) set(j, band, (j - from) / (top - from));
    for (let j = top; j < to; j++) set(j, band, (to - j) / (to - top));
  }
  return constant({ data, shape: [bins, bands] }).cast(dtypeOf(node.attrs.int('output_datatype', 1)));
};

export const spectral: OpTable = {
  DFT: { hosts: [1, 2], run: dft },
  STFT: { hosts: [1, 3], run: stft },
  MelWeightMatrix: { hosts: [0, 1, 2, 3, 4], run: melWeights },
};
