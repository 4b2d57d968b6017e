import { type DType, InvalidArgumentError, type Shape, type Tensor, constant as tensorOf } from '@eagre/core';
import { checkShape, flagOption, nameOption, type Option, orNull, takesOptions } from '@eagre/core/internal';
import { show } from '../layer/show.ts';
import { Initializer } from './initializer.ts';
import { type WindowName, windowNames, windowOf } from './windows.ts';

type Side = 'real' | 'imag';
type Scaling = 'density' | 'spectrum';

/** Options of `STFT`. */
export interface STFTOptions {
  /** Which part of the transform; `real` unless given. */
  readonly side?: Side;
  /** A window by its name in SciPy, its values, or null for none; `hann` unless given. */
  readonly window?: WindowName | readonly number[] | null;
  /** Divide by the root of the sum of the window's squares (`density`, the default), by the sum of its sizes (`spectrum`), or not (null). */
  readonly scaling?: Scaling | null;
  /** Whether the window is periodic, of which the last value is left out; false unless given. */
  readonly periodic?: boolean;
}

/**
 * The kernel of a convolution that computes a short-time Fourier transform, [frameLength, 1, fftLength / 2 + 1]: cosines of falling phase
 * (`real`) or their sines (`imag`), `window(t) · cos(-2π · t · f / fftLength)`.
 */
export class STFT extends Initializer {
  /** Which part of the transform. */
  declare readonly side: Side;
  /** A window by its name in SciPy, its values, or null for none. */
  declare readonly window: WindowName | readonly number[] | null;
  /** Divide by the root of the sum of the window's squares (`density`), by the sum of its sizes (`spectrum`), or not (null). */
  declare readonly scaling: Scaling | null;
  /** Whether the window is periodic, of which the last value is left out. */
  declare readonly periodic: boolean;

  constructor(...args: [side?: Side | STFTOptions, options?: STFTOptions]) {
    super(...args);
  }

  /** @throws InvalidArgumentError for a shape that is not of rank 3, and for a window of another length */
  override call(shape: Shape, dtype: DType): Tensor {
    checkShape(shape, 'STFT');
    const [length, channels, bands] = shape;
    if (shape.length !== 3 || channels !== 1)
      throw new InvalidArgumentError(
        `needs a shape [frameLength, 1, fftLength / 2 + 1], got [${shape.join(', ')}]`,
        'STFT',
      );
    const { window, periodic, scaling, side } = this;
    const values = typeof window === 'string' ? windowOf(window, length, periodic) : window;
    if (values !== null && values.length !== length)
      throw new InvalidArgumentError(`the window has ${values.length} values, the frame ${length}`, 'STFT');
    const size = values === null ? 1 : scaleOf(values, scaling);
    const wave = side === 'real' ? Math.cos : Math.sin;
    const out = new Float64Array(length * bands);
    for (let t = 0; t < length; t++) {
      const height = values === null ? 1 : values[t] / size;
      for (let f = 0; f < bands; f++) out[t * bands + f] = height * wave((-Math.PI * t * f) / (bands - 1));
    }
    return tensorOf(out, 'float64', { shape: [length, 1, bands] }).cast(dtype);
  }
}

function scaleOf(window: readonly number[], scaling: Scaling | null): number {
  if (scaling === 'density') return Math.hypot(...window);
  return scaling === 'spectrum' ? window.reduce((sum, w) => sum + Math.abs(w), 0) : 1;
}

const window: Option<WindowName | readonly number[] | null> = {
  read: (given = 'hann') => {
    if (given === null || windowNames.includes(given as string)) return given as WindowName | null;
    if (Array.isArray(given) && given.every((value) => typeof value === 'number')) return given;
    throw new InvalidArgumentError(
      `window must be null, a list of numbers, or one of ${windowNames.join(', ')}, got ${show(given)}`,
      'STFT',
    );
  },
};
const scaling: Option<Scaling> = nameOption<Scaling>(['density', 'spectrum'], 'density');

takesOptions<STFTOptions, STFT>(
  {
    positional: ['side'],
    required: 0,
    options: {
      side: nameOption<Side>(['real', 'imag'], 'real'),
      window,
      scaling: { ...orNull(scaling), read: (given = 'density', ...of) => orNull(scaling).read(given, ...of) },
      periodic: flagOption(false),
    },
  },
  STFT,
);
