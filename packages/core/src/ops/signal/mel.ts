// Spectrograms on the mel scale, which follows hearing.

import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { mulDims } from '../../shapes/dim.ts';
import { dims } from '../../shapes/dims.ts';
import { knownDim, lessThan } from '../../shapes/shape-env.ts';
import { checkSize, sizeValue } from '../../shapes/sizes.ts';
import { constant } from '../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import { cast } from '../elementwise/cast.ts';
import { dct } from './spectral.ts';

/** The mel scale of HTK. */
const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700);
/** `count` numbers from `start` to `stop`. */
const spaced = (start: number, stop: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start + ((stop - start) * i) / Math.max(1, count - 1));

/**
 * A matrix [numSpectrogramBins, numMelBins] by which spectrograms [..., numSpectrogramBins] become spectrograms on the mel scale: triangles
 * that overlap by half.
 *
 *     const melSpectrogram = spectrogram.matmul(tf.signal.linearToMelWeightMatrix(40, 129, 16000));
 *
 * @param numMelBins 20 by default
 * @param numSpectrogramBins how many bins spectrograms have, 129 by default
 * @param sampleRate samples per second, 8000 by default
 * @param lowerEdgeHertz the lowest frequency, 125 by default
 * @param upperEdgeHertz the highest frequency, 3800 by default
 * @throws InvalidArgumentError for numbers that are none, and edges out of order or above half of the sample rate.
 */
export const linearToMelWeightMatrix: NamedFunction<
  [
    numMelBins?: IntegerLike,
    numSpectrogramBins?: IntegerLike,
    sampleRate?: number,
    lowerEdgeHertz?: number,
    upperEdgeHertz?: number,
    dtype?: DType,
  ],
  ['numMelBins', 'numSpectrogramBins', 'sampleRate', 'lowerEdgeHertz', 'upperEdgeHertz', 'dtype']
> = /* @__PURE__ */ defineFunction(
  'signal.linearToMelWeightMatrix',
  {
    numMelBins: kind.size,
    numSpectrogramBins: kind.size,
    sampleRate: kind.asIs,
    lowerEdgeHertz: kind.asIs,
    upperEdgeHertz: kind.asIs,
    dtype: kind.asIs,
  },
  {},
  (
    numMelBins: IntegerLike = 20,
    numSpectrogramBins: IntegerLike = 129,
    sampleRate: number = 8000,
    lowerEdgeHertz: number = 125,
    upperEdgeHertz: number = 3800,
    dtype: DType = 'float32',
  ) => {
    const name = 'signal.linearToMelWeightMatrix';
    const bands = knownDim(checkSize(numMelBins, 'numMelBins', name, 1));
    const bins = knownDim(checkSize(numSpectrogramBins, 'numSpectrogramBins', name, 1));
    const numbers = [sampleRate, lowerEdgeHertz, upperEdgeHertz];
    if (
      numbers.some((x) => typeof x !== 'number' || !Number.isFinite(x)) ||
      !(
        sampleRate > 0 &&
        lowerEdgeHertz >= 0 &&
        lowerEdgeHertz < upperEdgeHertz &&
        upperEdgeHertz <= sampleRate / 2
      )
    ) {
      throw new InvalidArgumentError(
        `sampleRate is ${String(sampleRate)} and the edges are ${String(lowerEdgeHertz)} and ${String(upperEdgeHertz)}, expected 0 ≤ lowerEdgeHertz < ` +
          'upperEdgeHertz ≤ sampleRate / 2',
        name,
      );
    }
    checkDType(dtype, 'floating', 'dtype', name);
    checkListSize(bins * bands, 'weights', 'take fewer bins', name);
    const edges = spaced(mel(lowerEdgeHertz), mel(upperEdgeHertz), bands + 2);
    const list = spaced(0, sampleRate / 2, bins).flatMap((hertz, bin) =>
      Array.from({ length: bands }, (_, i) => {
        const [lower, middle, upper] = edges.slice(i, i + 3);
        const x = mel(hertz);
        // As in HTK, nothing of frequency 0.
        return bin === 0
          ? 0
          : Math.max(0, Math.min((x - lower) / (middle - lower), (upper - x) / (upper - middle)));
      }),
    );
    return cast(constant(list, 'float64', { shape: [bins, bands] }), dtype);
  },
);

/**
 * The mel frequency cepstral coefficients [..., n] of logarithms of mel spectrograms [..., n]: a cosine transform of type 2, scaled as in HTK.
 * @throws InvalidArgumentError for spectrograms without bins.
 */
export const mfccsFromLogMelSpectrograms: NamedFunction<
  [logMelSpectrograms: TensorLike],
  ['logMelSpectrograms']
> = /* @__PURE__ */ defineFunction(
  'signal.mfccsFromLogMelSpectrograms',
  { logMelSpectrograms: kind.tensor },
  {},
  (logMelSpectrograms) => {
    const x = toTensor(logMelSpectrograms);
    const bins = x.rank === 0 ? 0 : dims(x)[x.rank - 1];
    if (!lessThan(0, bins))
      throw new InvalidArgumentError(
        'logMelSpectrograms has no bins, expected one or more along the last axis',
        'signal.mfccsFromLogMelSpectrograms',
      );
    const y = dct(x);
    const size = sizeValue(mulDims(2, bins), 'int32');
    return y.div(typeof size === 'number' ? Math.sqrt(size) : size.cast(y.dtype).sqrt());
  },
);
