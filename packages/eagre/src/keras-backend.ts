/** `tf.keras.backend`: what programs still ask it for. */
import { defineFunction, type NamedFunction } from '@eagre/core/internal';

export { clearSession, isKerasTensor, standardizeDtype } from '@eagre/layers';

/** The small number that keeps quotients and logarithms finite: 1e-7. */
export const epsilon: NamedFunction<[], [], unknown, number> = /* @__PURE__ */ defineFunction(
  'keras.backend.epsilon',
  {},
  {},
  () => 1e-7,
);
/** The dtype of layers unless they are given another one. */
export const floatx: NamedFunction<[], [], unknown, 'float32'> = /* @__PURE__ */ defineFunction(
  'keras.backend.floatx',
  {},
  {},
  () => 'float32',
);
/** The order of an image's axes: channels last, the only one. */
export const imageDataFormat: NamedFunction<[], [], unknown, 'channelsLast'> = /* @__PURE__ */ defineFunction(
  'keras.backend.imageDataFormat',
  {},
  {},
  () => 'channelsLast',
);
