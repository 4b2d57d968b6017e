// tf.signal against TensorFlow (tools/golden/signals.py).
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { type GoldenFunction, testGolden } from './testing/golden-results.ts';

const { signal } = tf;
/** A function of one tensor, whose options follow by their names. */
const named =
  (fn: unknown, name: string): GoldenFunction =>
  ([x], options) =>
    (fn as (args: object) => tf.Tensor)(x === undefined ? options : { [name]: x, ...withWindow(options) });

/** The option `window` names a window. */
function withWindow({ window, ...options }: Readonly<Record<string, never>>): object {
  return window === undefined ? options : { ...options, windowFn: windows[window as keyof typeof windows] };
}
const windows = {
  hann: signal.hannWindow,
  hamming: signal.hammingWindow,
  vorbis: signal.vorbisWindow,
  none: null,
};

const transforms = Object.fromEntries(
  (['fft', 'ifft', 'fft2d', 'ifft2d', 'fft3d', 'ifft3d', 'dct', 'idct'] as const).map((name) => [
    name,
    named(signal[name], 'input'),
  ]),
);
const realTransforms = Object.fromEntries(
  (
    [
      'rfft',
      'irfft',
      'rfft2d',
      'irfft2d',
      'rfft3d',
      'irfft3d',
      'fftnd',
      'ifftnd',
      'rfftnd',
      'irfftnd',
    ] as const
  ).map((name) => [name, named(signal[name], 'inputTensor')]),
);
const made = Object.fromEntries(
  (
    [
      'hannWindow',
      'hammingWindow',
      'kaiserWindow',
      'kaiserBesselDerivedWindow',
      'vorbisWindow',
      'linearToMelWeightMatrix',
    ] as const
  ).map((name) => [name, named(signal[name], '')]),
);

describe("TensorFlow's signals", () => {
  testGolden(
    new URL('../../core/golden/signal.json', import.meta.url),
    {
      ...transforms,
      ...realTransforms,
      ...made,
      fftshift: named(signal.fftshift, 'x'),
      ifftshift: named(signal.ifftshift, 'x'),
      frame: named(signal.frame, 'signal'),
      overlapAndAdd: named(signal.overlapAndAdd, 'signal'),
      stft: named(signal.stft, 'signals'),
      inverseStft: named(signal.inverseStft, 'stfts'),
      stftAndBack: ([x], { frameLength, frameStep, window }) => {
        const windowFn = windows[window as 'hann'];
        const y = signal.stft(x, frameLength, frameStep, { windowFn, padEnd: true });
        const back = signal.inverseStftWindowFn(frameStep, { forwardWindowFn: windowFn });
        return signal.inverseStft(y, frameLength, frameStep, { windowFn: back });
      },
      mdct: named(signal.mdct, 'signals'),
      inverseMdct: named(signal.inverseMdct, 'mdcts'),
      mfccsFromLogMelSpectrograms: named(signal.mfccsFromLogMelSpectrograms, 'logMelSpectrograms'),
    },
    { float32: 1e-5, float64: 1e-11 },
  );
});

test('what is no length is refused as an argument', () => {
  for (const wrong of [[null], ['2'], [-1], [1.5], 1n])
    for (const fn of [
      () => signal.rfft([1, 2], { fftLength: wrong as never }),
      () => signal.irfft(tf.complex([1, 2], [0, 0]), wrong as never),
    ])
      expect(fn).toThrow(tf.errors.InvalidArgumentError);
});
