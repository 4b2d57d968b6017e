/** `tf.keras.backend`: what programs still ask it for. */
export { clearSession } from '@eagre/layers';

/** The small number that keeps quotients and logarithms finite: 1e-7. */
export function epsilon(): number {
  return 1e-7;
}
/** The dtype of layers unless they are given another one. */
export function floatx(): 'float32' {
  return 'float32';
}
/** The order of an image's axes: channels last, the only one. */
export function imageDataFormat(): 'channelsLast' {
  return 'channelsLast';
}
