/** `tf.keras.applications.efficientnet`. */

export {
  EfficientNetB0,
  EfficientNetB1,
  EfficientNetB2,
  EfficientNetB3,
  EfficientNetB4,
  EfficientNetB5,
  EfficientNetB6,
  EfficientNetB7,
} from '../efficientnet.ts';
export { decodePredictions, preprocessNothing as preprocessInput } from '../imagenet-utils.ts';
