// Features of sounds, as the models of TensorFlow's speech commands have them.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { knownDim } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import type { OpTable } from '../op-row.ts';

/** Hann's window over a whole period, whether its length is even or odd. */
const hann = (n: number): number[] =>
  Array.from({ length: n }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / n));

/** Magnitudes [channels, frames, bins] of frames of a sound [samples, channels]. */
function spectrogram(c: OpCall): Tensor {
  const sound = c.x(0);
  if (sound.rank !== 2) throw c.wrong(`input must be [samples, channels], got rank ${sound.rank}`);
  const [size, stride] = [c.intAttr('window_size'), c.intAttr('stride')];
  if (size < 2 || stride < 1) throw c.wrong(`no frames of ${size} samples every ${stride}`);
  const spectrum = tf.signal.stft(tf.transpose(sound), size, stride, null, {
    windowFn: () => tf.constant(hann(size), 'float32'),
  });
  const magnitude = tf.abs(spectrum);
  return c.boolAttr('magnitude_squared', false) ? magnitude.square() : magnitude;
}

const mel = (hertz: number): number => 1127 * Math.log1p(hertz / 700);

/** How much each of `bins` frequencies counts in each channel: triangles that are equally wide in mel, as HTK has them. */
function melWeights(
  c: OpCall,
  bins: number,
  channels: number,
  rate: number,
  [low, high]: readonly [number, number],
): Float64Array {
  if (rate <= 0) throw c.wrong(`the sample rate is ${rate}, expected a positive one`);
  if (channels < 1) throw c.wrong(`there are ${channels} channels of the filter bank`);
  if (bins < 2) throw c.wrong(`the spectrogram has ${bins} frequencies, expected 2 or more`);
  if (low < 0 || high <= low) throw c.wrong(`the frequencies from ${low} to ${high} are no range`);
  const from = mel(low);
  const step = (mel(high) - from) / (channels + 1);
  const centre = (channel: number): number => from + step * (channel + 1);
  const perBin = (0.5 * rate) / (bins - 1);
  const [start, end] = [Math.trunc(1.5 + low / perBin), Math.trunc(high / perBin)];
  if (end >= bins) throw c.wrong(`the frequency ${high} is above what the spectrogram has`);
  const weights = new Float64Array(bins * channels);
  let above = 0;
  for (let bin = start; bin <= end; bin++) {
    const at = mel(bin * perBin);
    while (above < channels && centre(above) < at) above++;
    // A frequency is on the way down from one centre, and up to the next.
    const down = (centre(above) - at) / step;
    if (above > 0) weights[bin * channels + above - 1] = down;
    if (above < channels) weights[bin * channels + above] = 1 - down;
  }
  return weights;
}

/** Cosines of the mel cepstrum [..., coefficients] of squared magnitudes [..., bins]. */
function mfcc(c: OpCall): Tensor {
  const x = c.x(0);
  const bins = knownDim(x.shape.at(-1) as number);
  const channels = c.intAttr('filterbank_channel_count', 40);
  const count = c.intAttr('dct_coefficient_count', 13);
  if (count < 1 || count > channels)
    throw c.wrong(`there are no ${count} coefficients of ${channels} channels`);
  const range = [
    c.floatAttr('lower_frequency_limit', 20),
    c.floatAttr('upper_frequency_limit', 4000),
  ] as const;
  const weights = tf.constant(melWeights(c, bins, channels, c.int(1), range), 'float64', {
    shape: [bins, channels],
  });
  const cosines = Float64Array.from({ length: channels * count }, (_, at) => {
    const [j, i] = [Math.floor(at / count), at % count];
    return Math.sqrt(2 / channels) * Math.cos(((i * Math.PI) / channels) * (j + 0.5));
  });
  const energies = tf.tensordot(tf.cast(x, 'float64').sqrt(), weights, 1);
  const logs = tf.log(tf.maximum(energies, 1e-12));
  return tf.cast(
    tf.tensordot(logs, tf.constant(cosines, 'float64', { shape: [channels, count] }), 1),
    'float32',
  );
}

export const audio: OpTable = { AudioSpectrogram: spectrogram, Mfcc: mfcc };
