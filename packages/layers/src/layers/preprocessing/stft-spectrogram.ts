import { concat, constant, nn, type PartialShape, type Tensor, type Variable } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  dims,
  kerasDefaults,
  mulDims,
  orNull,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { type FromConfig, ownsTemporaries, widened } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail, floats, type Padding, type Size, shapeOf, times } from '../common.ts';
import { flag, integer, padding, word } from '../options.ts';
import { dataFormat, SpatialLayer, type SpatialOptions } from '../spatial.ts';
import { layerOptions } from '../weights.ts';
import { checkMatrix, factorsOf, fourier, type Window, window } from './fourier.ts';

const modes = ['log', 'magnitude', 'psd', 'real', 'imag', 'angle', 'stft'] as const;
/** What is given of each frequency: see `STFTSpectrogramOptions.mode`. */
export type SpectrogramMode = (typeof modes)[number];

/** Options of `STFTSpectrogram`. */
export interface STFTSpectrogramOptions extends SpatialOptions {
  /**
   * `log` of the magnitude by default; the `magnitude`, the power spectral density (`psd`), the `real` or the `imag`inary part, the `angle`, or the
   * real parts and behind them the imaginary ones (`stft`).
   */
  readonly mode?: SpectrogramMode;
  /** Samples of each frame; 256 by default. */
  readonly frameLength?: number;
  /** Samples from one frame to the next; half a frame by default. */
  readonly frameStep?: number | null;
  /** Size of the Fourier transform, at least that of a frame; the next power of two by default. */
  readonly fftLength?: number | null;
  /** A name, a factor for each sample of a frame, or null for none; `hann` by default. */
  readonly window?: Window | null;
  /** Whether a window that is given by name is periodic; false by default. */
  readonly periodic?: boolean;
  /** What the window is divided by: for `density`, the default, the root of the sum of its squares; for `spectrum` its sum; null for nothing. */
  readonly scaling?: 'density' | 'spectrum' | null;
  /** `valid`, the default: only whole frames. `same`: one for each step, with zeros around the signal. */
  readonly padding?: Padding;
  /** Whether channels and frequencies are axes of their own, as images have them; false by default. */
  readonly expandDims?: boolean;
}

/**
 * Short-time Fourier transforms of signals [batch, time, channels], by convolutions whose kernels begin as Fourier's and are trained unless the
 * layer is not `trainable`: [batch, time', channels · frequencies], or with `expandDims` [batch, time', frequencies, channels]. There are
 * fftLength / 2 + 1 frequencies.
 */
export class STFTSpectrogram extends SpatialLayer {
  declare static readonly fromConfig: FromConfig<STFTSpectrogram>;
  /**
   * `log` of the magnitude; the `magnitude`, the power spectral density (`psd`), the `real` or the `imag`inary part, the `angle`, or the
   * real parts and behind them the imaginary ones (`stft`).
   */
  declare readonly mode: SpectrogramMode;
  /** Samples of each frame. */
  declare readonly frameLength: number;
  /** Samples from one frame to the next. */
  declare readonly frameStep: number | null;
  /** Size of the Fourier transform, at least that of a frame. */
  declare readonly fftLength: number | null;
  /** A name, a factor for each sample of a frame, or null for none. */
  declare readonly window: Window | null;
  /** Whether a window that is given by name is periodic. */
  declare readonly periodic: boolean;
  /** What the window is divided by: for `density` the root of the sum of its squares; for `spectrum` its sum; null for nothing. */
  declare readonly scaling: 'density' | 'spectrum' | null;
  /** `valid`: only whole frames. `same`: one for each step, with zeros around the signal. */
  declare readonly padding: Padding;
  /** Whether channels and frequencies are axes of their own, as images have them. */
  declare readonly expandDims: boolean;
  /** [frameLength, 1, frequencies], or null where the mode needs none. */
  realKernel: Variable | null = null;
  imagKernel: Variable | null = null;

  constructor(
    ...args: [mode?: SpectrogramMode | null | STFTSpectrogramOptions, options?: STFTSpectrogramOptions]
  ) {
    super(1, argumentsOf<STFTSpectrogramOptions>(STFTSpectrogram, new.target, args));
    const { frameLength, frameStep, fftLength } = this;
    if (frameStep !== null && frameStep > frameLength)
      fail(this, `needs a frameStep of at most its frameLength ${frameLength}, got ${frameStep}`);
    if (fftLength !== null && fftLength < frameLength)
      fail(this, `needs an fftLength of at least its frameLength ${frameLength}, got ${fftLength}`);
    checkMatrix(
      this,
      frameLength,
      this.#bins,
      fftLength === null ? 'frameLength' : 'frameLength or fftLength',
    );
  }

  override build(inputShape: PartialShape): void {
    this.check(inputShape);
    if (this.mode !== 'imag') this.realKernel = this.#kernel('real');
    if (this.mode !== 'real') this.imagKernel = this.#kernel('imag');
  }

  override call(inputs: Tensor): Tensor {
    const given = floats(this, inputs);
    this.check(given.shape);
    const x = this.channelsLast(given);
    const [batch, time, channels] = dims(x) as [Dim, Dim, Dim];
    const rows = x.transpose([0, 2, 1]).reshape(toShape([mulDims(batch, channels), time, 1]));
    const kernels = [this.realKernel, this.imagKernel].filter((k) => k !== null).map((k) => k.read());
    // Both parts in one convolution.
    const kernel = kernels.length === 1 ? (kernels[0] as Tensor) : concat(kernels, 2);
    const y = nn.conv1d(rows, kernel, {
      stride: this.#step,
      padding: this.padding === 'same' ? 'SAME' : 'VALID',
    });
    const [, frames, size] = dims(y) as [Dim, Dim, Dim];
    return this.#arranged(this.#values(y.reshape(toShape([batch, channels, frames, size]))));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    const [batch, time, channels] = this.sizes(inputShape) as [Size, Size, Size];
    const frames = this.windowed(time, this.frameLength, this.#step, this.padding);
    const bins = this.mode === 'stft' ? 2 * this.#bins : this.#bins;
    if (!this.expandDims) return this.ofSizes([batch, frames, times(channels, bins)]);
    return shapeOf(
      this.dataFormat === 'channelsFirst' ? [batch, channels, frames, bins] : [batch, frames, bins, channels],
    );
  }

  get #step(): number {
    return this.frameStep ?? Math.max(1, Math.floor(this.frameLength / 2));
  }
  get #bins(): number {
    const length = this.fftLength ?? 2 ** Math.ceil(Math.log2(this.frameLength));
    return Math.floor(length / 2) + 1;
  }

  #kernel(side: 'real' | 'imag'): Variable {
    const factors = factorsOf(this, this.window, this.frameLength, this.periodic);
    const sum = (of: (v: number) => number): number => factors.reduce((all, v) => all + of(v), 0);
    const scaling = this.window === null ? null : this.scaling;
    const norm = scaling === null ? 1 : scaling === 'density' ? Math.sqrt(sum((v) => v * v)) : sum(Math.abs);
    const bins = this.#bins;
    const shape = [this.frameLength, 1, bins];
    return this.addWeight({
      name: `${side}_kernel`,
      shape,
      initializer: (_, dtype) =>
        constant(
          fourier(
            side,
            factors.map((v) => v / norm),
            bins,
            Math.max(1, 2 * (bins - 1)),
          ),
          dtype,
          { shape },
        ),
    });
  }

  /** What the mode says, of parts [batch, channels, frames, frequencies]. */
  #values(parts: Tensor): Tensor {
    if (['real', 'imag', 'stft'].includes(this.mode)) return parts;
    const [real, imag] = parts.split(2, 3) as [Tensor, Tensor];
    if (this.mode === 'angle') return imag.atan2(real);
    const power = real.square().add(imag.square());
    if (this.mode === 'psd') {
      // All but the first and the last stand for two.
      const bins = this.#bins;
      const counts = Array.from({ length: bins }, (_, i) => (i === 0 || i === bins - 1 ? 1 : 2));
      return power.mul(constant(counts, power.dtype));
    }
    const magnitude = power.maximum(kerasDefaults.epsilon).sqrt();
    return this.mode === 'magnitude' ? magnitude : magnitude.maximum(kerasDefaults.epsilon).log();
  }

  /** The axes as the options say. */
  #arranged(y: Tensor): Tensor {
    const first = this.dataFormat === 'channelsFirst';
    if (this.expandDims) return first ? y : y.transpose([0, 2, 3, 1]);
    const [batch, channels, frames, bins] = dims(y) as [Dim, Dim, Dim, Dim];
    const all = mulDims(channels, bins);
    return first
      ? y.transpose([0, 1, 3, 2]).reshape(toShape([batch, all, frames]))
      : y.transpose([0, 2, 1, 3]).reshape(toShape([batch, frames, all]));
  }
}
ownsTemporaries(STFTSpectrogram);
widened(STFTSpectrogram);
takesOptions<STFTSpectrogramOptions, STFTSpectrogram>(
  {
    positional: ['mode'],
    required: 0,
    options: {
      mode: word(modes, 'log', (value) => `needs a mode of ${modes.join(', ')}, got ${value}`),
      frameLength: integer(256),
      frameStep: orNull(integer()),
      fftLength: orNull(integer()),
      window,
      periodic: flag(false),
      scaling: {
        read: (given = 'density', _, layer) => {
          if (given !== null && given !== 'density' && given !== 'spectrum')
            fail(layer as STFTSpectrogram, `needs scaling 'density', 'spectrum' or null, got ${show(given)}`);
          return given as 'density' | 'spectrum' | null;
        },
      },
      padding,
      expandDims: flag(false),
      dataFormat,
      ...layerOptions,
    },
  },
  STFTSpectrogram,
);
