/** `tf.signal`: Fourier and cosine transforms, frames, windows, mel spectrograms. */

export {
  fft,
  fft2d,
  fft3d,
  fftnd,
  fftshift,
  ifft,
  ifft2d,
  ifft3d,
  ifftnd,
  ifftshift,
  irfft,
  irfft2d,
  irfft3d,
  irfftnd,
  rfft,
  rfft2d,
  rfft3d,
  rfftnd,
} from './ops/signal/fft.ts';
export { type FrameOptions, frame, overlapAndAdd } from './ops/signal/frames.ts';
export { linearToMelWeightMatrix, mfccsFromLogMelSpectrograms } from './ops/signal/mel.ts';
export {
  type DctOptions,
  dct,
  idct,
  inverseMdct,
  inverseStft,
  inverseStftWindowFn,
  type MdctOptions,
  mdct,
  type StftOptions,
  stft,
} from './ops/signal/spectral.ts';
export {
  hammingWindow,
  hannWindow,
  kaiserBesselDerivedWindow,
  kaiserWindow,
  vorbisWindow,
  type WindowFunction,
  type WindowOptions,
} from './ops/signal/windows.ts';
