// Fourier transforms.
import * as tf from '@eagre/core';
import { type OpTable, type Translate, unary } from '../op-row.ts';

type RealTransform = (x: tf.Tensor, lengths: readonly number[]) => tf.Tensor;
const ofLength =
  (fn: RealTransform): Translate =>
  (c) =>
    fn(c.x(0), c.ints(1));
type TransformND = (x: tf.Tensor, lengths: readonly number[], axes: readonly number[]) => tf.Tensor;
const alongAxes =
  (fn: TransformND): Translate =>
  (c) =>
    fn(c.x(0), c.ints(1), c.ints(2));

export const signal: OpTable = {
  FFT: unary((x) => tf.signal.fft(x)),
  IFFT: unary((x) => tf.signal.ifft(x)),
  FFT2D: unary((x) => tf.signal.fft2d(x)),
  IFFT2D: unary((x) => tf.signal.ifft2d(x)),
  FFT3D: unary((x) => tf.signal.fft3d(x)),
  IFFT3D: unary((x) => tf.signal.ifft3d(x)),
  RFFT: ofLength(tf.signal.rfft),
  IRFFT: ofLength(tf.signal.irfft),
  RFFT2D: ofLength(tf.signal.rfft2d),
  IRFFT2D: ofLength(tf.signal.irfft2d),
  RFFT3D: ofLength(tf.signal.rfft3d),
  IRFFT3D: ofLength(tf.signal.irfft3d),
  FFTND: alongAxes(tf.signal.fftnd),
  IFFTND: alongAxes(tf.signal.ifftnd),
  RFFTND: alongAxes(tf.signal.rfftnd),
  IRFFTND: alongAxes(tf.signal.irfftnd),
};
