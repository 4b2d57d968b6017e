/** `tf.keras.applications.efficientnetV2`. */

export {
  EfficientNetV2B0,
  EfficientNetV2B1,
  EfficientNetV2B2,
  EfficientNetV2B3,
  EfficientNetV2L,
  EfficientNetV2M,
  EfficientNetV2S,
} from '../efficientnet-v2.ts';
export { decodePredictions, preprocessNothing as preprocessInput } from '../imagenet-utils.ts';
