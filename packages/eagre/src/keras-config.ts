/** `tf.keras.config`: what holds for all layers. */
import { checkCount, defineFunction, kerasDefaults, type NamedFunction } from '@eagre/core/internal';

export {
  disableInteractiveLogging,
  dtypePolicy,
  enableInteractiveLogging,
  isInteractiveLoggingEnabled,
  setDtypePolicy,
} from '@eagre/layers';
export {
  backend,
  epsilon,
  floatx,
  imageDataFormat,
  setEpsilon,
  setFloatx,
  setImageDataFormat,
} from './keras-backend.ts';

type Ask<T> = NamedFunction<[], [], unknown, T>;

/** How many epochs `fit` makes at most; null for no limit. */
export const maxEpochs: Ask<number | null> = /* @__PURE__ */ defineFunction(
  'keras.config.maxEpochs',
  {},
  {},
  () => kerasDefaults.maxEpochs,
);
/** Limits the epochs of every `fit`, to try out a program quickly; null lifts it. @throws InvalidArgumentError for what is no count */
export const setMaxEpochs: NamedFunction<[maxEpochs: number | null], ['maxEpochs'], unknown, void> =
  /* @__PURE__ */ defineFunction('keras.config.setMaxEpochs', { maxEpochs: true }, {}, (most: unknown) => {
    if (most !== null) checkCount(most, 'maxEpochs', 'keras.config.setMaxEpochs', 1);
    kerasDefaults.maxEpochs = most as number | null;
  });
/** How many batches a pass over data has at most; null for no limit. */
export const maxStepsPerEpoch: Ask<number | null> = /* @__PURE__ */ defineFunction(
  'keras.config.maxStepsPerEpoch',
  {},
  {},
  () => kerasDefaults.maxStepsPerEpoch,
);
/** Limits the batches of every pass of `fit`, `evaluate` and `predict`; null lifts it. @throws InvalidArgumentError for what is no count */
export const setMaxStepsPerEpoch: NamedFunction<
  [maxStepsPerEpoch: number | null],
  ['maxStepsPerEpoch'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'keras.config.setMaxStepsPerEpoch',
  { maxStepsPerEpoch: true },
  {},
  (most: unknown) => {
    if (most !== null) checkCount(most, 'maxStepsPerEpoch', 'keras.config.setMaxStepsPerEpoch', 1);
    kerasDefaults.maxStepsPerEpoch = most as number | null;
  },
);
