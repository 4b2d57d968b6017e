import { constant, nn, type PartialShape, pad, slice, type Tensor } from '@eagre/core';
import {
  addDims,
  argumentsOf,
  type Dim,
  dims,
  floorDivDims,
  isFloating,
  lessThan,
  showShape,
  sizeOfDims,
  subDims,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { type FromConfig, Layer, type LayerOptions, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { checkOne, fail, inPrecision, shapeOf, sizesOf } from '../common.ts';
import { flag, integer, notNegative, option, positive } from '../options.ts';
import { layerOptions } from '../weights.ts';
import { checkMatrix, factorsOf, fourier, type Window, window } from './fourier.ts';

/** Options of `MelSpectrogram`. */
export interface MelSpectrogramOptions extends LayerOptions {
  /** Size of the Fourier transform; 2048 by default. */
  readonly fftLength?: number;
  /** Samples from one frame to the next; 512 by default. */
  readonly sequenceStride?: number;
  /** Samples of a frame, in the middle of the transform; as many as that has by default. */
  readonly sequenceLength?: number | null;
  /** A name, a factor for each sample of a frame, or null for none; `hann` by default. */
  readonly window?: Window | null;
  /** Samples per second; 16000 by default. */
  readonly samplingRate?: number;
  /** How many bands of frequencies the result has; 128 by default. */
  readonly numMelBins?: number;
  /** The lowest frequency, 20 Hz by default. */
  readonly minFreq?: number;
  /** The highest frequency; half of the sampling rate by default. */
  readonly maxFreq?: number | null;
  /** Whether results are decibels; true by default. */
  readonly powerToDb?: boolean;
  /** How far decibels may lie below the largest of the call; 80 by default. */
  readonly topDb?: number;
  /** Exponent of the magnitude: 1 for energy, 2, the default, for power. */
  readonly magExp?: number;
  /** What counts at least as power; 1e-10 by default. */
  readonly minPower?: number;
  /** The power of 0 dB; 1 by default. */
  readonly refPower?: number;
}

/** On the mel scale of HTK. */
const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700);

/**
 * Spectrograms on the mel scale, on which listeners hear frequencies as equally far apart: samples [time] or [batch, time] become [numMelBins, frames] or
 * [batch, numMelBins, frames]. Signals are reflected at their ends, so that they must be longer than half of `fftLength`.
 */
export class MelSpectrogram extends Layer {
  declare static readonly fromConfig: FromConfig<MelSpectrogram>;
  /** Size of the Fourier transform. */
  declare readonly fftLength: number;
  /** Samples from one frame to the next. */
  declare readonly sequenceStride: number;
  /** Samples of a frame, in the middle of the transform. */
  declare readonly sequenceLength: number;
  /** A name, a factor for each sample of a frame, or null for none. */
  declare readonly window: Window | null;
  /** Samples per second. */
  declare readonly samplingRate: number;
  /** How many bands of frequencies the result has. */
  declare readonly numMelBins: number;
  /** The lowest frequency, in Hz. */
  declare readonly minFreq: number;
  /** The highest frequency. */
  declare readonly maxFreq: number;
  /** Whether results are decibels. */
  declare readonly powerToDb: boolean;
  /** How far decibels may lie below the largest of the call. */
  declare readonly topDb: number;
  /** Exponent of the magnitude: 1 for energy, 2 for power. */
  declare readonly magExp: number;
  /** What counts at least as power. */
  declare readonly minPower: number;
  /** The power of 0 dB. */
  declare readonly refPower: number;
  #kernel: Float64Array | undefined;
  #matrix: Float64Array | undefined;

  constructor(...args: [options?: MelSpectrogramOptions]) {
    super(argumentsOf<MelSpectrogramOptions>(MelSpectrogram, new.target, args));
    const { sequenceLength, fftLength } = this;
    if (sequenceLength > fftLength)
      fail(this, `needs a sequenceLength of at most its fftLength ${fftLength}, got ${sequenceLength}`);
    checkMatrix(this, sequenceLength, 2 * this.#bins, 'sequenceLength or fftLength');
    checkMatrix(this, this.#bins, this.numMelBins, 'fftLength or numMelBins');
  }

  override call(inputs: Tensor): Tensor {
    const x = inPrecision(this, inputs);
    this.#check(x.shape);
    const own = dims(x);
    const [lead, time] = [own.slice(0, -1), own.at(-1) as Dim];
    const half = Math.floor(this.fftLength / 2);
    if (!lessThan(half, time))
      fail(
        this,
        `needs signals of more than ${half} samples, half of its fftLength, got ${showShape(x.shape)}`,
      );
    const y = this.#levels(this.#power(x.reshape(toShape([sizeOfDims(lead), time])), half));
    const [, frames] = dims(y) as [Dim, Dim];
    const levels = y.transpose([0, 2, 1]).reshape(toShape([...lead, this.numMelBins, frames]));
    return isFloating(this.computeDtype) ? levels : levels.cast(this.computeDtype);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    const own = sizesOf(inputShape);
    const time = own.at(-1) ?? null;
    // Of an odd transform, the reflected ends are one sample shorter.
    const whole = time === null ? null : subDims(time, this.fftLength % 2);
    const frames = whole === null ? null : addDims(floorDivDims(whole, this.sequenceStride), 1);
    return shapeOf([...own.slice(0, -1), this.numMelBins, frames]);
  }

  #check(shape: PartialShape): void {
    if (checkOne(this, shape).length === 0) fail(this, 'expects signals [batch, time], got a scalar');
  }
  get #bins(): number {
    return Math.floor(this.fftLength / 2) + 1;
  }

  /** Magnitudes to the power of `magExp`, [rows, frames, frequencies]. */
  #power(x: Tensor, half: number): Tensor {
    const { fftLength, sequenceLength, sequenceStride } = this;
    const around = pad(
      x,
      [
        [0, 0],
        [half, half],
      ],
      { mode: 'REFLECT' },
    );
    // A frame that is shorter than the transform stands in its middle.
    const begin = Math.floor((fftLength - sequenceLength) / 2);
    const [rows, all] = dims(around) as [Dim, Dim];
    const kept = slice(around, [0, begin], toShape([rows, subDims(all, fftLength - sequenceLength)]));
    const kernel = constant(this.#waves(), x.dtype, { shape: [sequenceLength, 1, 2 * this.#bins] });
    const parts = nn.conv1d(kept.expandDims(2), kernel, { stride: sequenceStride, padding: 'VALID' });
    const [real, imag] = parts.split(2, 2) as [Tensor, Tensor];
    const power = real.square().add(imag.square());
    return this.magExp === 2 ? power : power.pow(this.magExp / 2);
  }

  /** [rows, frames, mel bins], in decibels if they are to be. */
  #levels(spectrum: Tensor): Tensor {
    const matrix = constant(this.#filters(), spectrum.dtype, { shape: [this.#bins, this.numMelBins] });
    const y = spectrum.matmul(matrix);
    if (!this.powerToDb) return y;
    const { minPower, refPower, topDb } = this;
    const reference = 10 * Math.log10(Math.max(Math.abs(refPower), minPower));
    const decibels = y
      .maximum(minPower)
      .log()
      .mul(10 / Math.LN10)
      .sub(reference);
    return decibels.maximum(decibels.max().sub(topDb));
  }

  /** Of each place of a frame the real parts of all waves, then the imaginary ones. Where a frame begins in the transform turns phases alone. */
  #waves(): Float64Array {
    if (this.#kernel !== undefined) return this.#kernel;
    const bins = this.#bins;
    const factors = factorsOf(this, this.window, this.sequenceLength, true);
    const all = new Float64Array(factors.length * 2 * bins);
    (['real', 'imag'] as const).forEach((side, k) => {
      const part = fourier(side, factors, bins, this.fftLength);
      for (let t = 0; t < factors.length; t++)
        all.set(part.subarray(t * bins, (t + 1) * bins), (2 * t + k) * bins);
    });
    this.#kernel = all;
    return all;
  }

  /** Triangles over the frequencies, [frequencies, mel bins]; nothing of frequency 0. */
  #filters(): Float64Array {
    if (this.#matrix !== undefined) return this.#matrix;
    const { numMelBins, samplingRate } = this;
    const bins = this.#bins;
    const [low, high] = [mel(this.minFreq), mel(this.maxFreq)];
    const edge = (i: number): number => low + ((high - low) * i) / (numMelBins + 1);
    const all = new Float64Array(bins * numMelBins);
    for (let f = 1; f < bins; f++) {
      const at = mel((samplingRate / 2) * (f / (bins - 1)));
      for (let m = 0; m < numMelBins; m++) {
        const [lower, centre, upper] = [edge(m), edge(m + 1), edge(m + 2)];
        const slopes = Math.min((at - lower) / (centre - lower), (upper - at) / (upper - centre));
        all[f * numMelBins + m] = Math.max(0, slopes);
      }
    }
    this.#matrix = all;
    return all;
  }
}
ownsTemporaries(MelSpectrogram);
takesOptions<MelSpectrogramOptions, MelSpectrogram>(
  {
    options: {
      fftLength: integer(2048),
      sequenceStride: integer(512),
      sequenceLength: integer((layer: MelSpectrogram) => layer.fftLength),
      window,
      samplingRate: positive(16000),
      numMelBins: integer(128),
      minFreq: notNegative(20),
      maxFreq: option(
        (value, name, layer) => {
          if (typeof value !== 'number' || !(value > (layer as MelSpectrogram).minFreq))
            fail(layer, `needs ${name} to be a number above its minFreq, got ${show(value)}`);
          return value;
        },
        (layer: MelSpectrogram) => Math.floor(layer.samplingRate / 2),
      ),
      powerToDb: flag(true),
      topDb: notNegative(80),
      magExp: positive(2),
      minPower: positive(1e-10),
      refPower: positive(1),
      ...layerOptions,
    },
  },
  MelSpectrogram,
);
