/**
 * `tf.keras.applications`: networks for images, as in Keras, layer by layer, so that weights of Keras fit. Each is a function that makes a
 * `Model`; weights are random unless `weights` is the path of a file.
 */
export type { Application, ApplicationOptions } from './application.ts';
export {
  ConvNeXtBase,
  ConvNeXtLarge,
  type ConvNeXtOptions,
  ConvNeXtSmall,
  ConvNeXtTiny,
  ConvNeXtXLarge,
} from './convnext.ts';
export { DenseNet121, DenseNet169, DenseNet201 } from './densenet.ts';
export {
  EfficientNetB0,
  EfficientNetB1,
  EfficientNetB2,
  EfficientNetB3,
  EfficientNetB4,
  EfficientNetB5,
  EfficientNetB6,
  EfficientNetB7,
} from './efficientnet.ts';
export {
  EfficientNetV2B0,
  EfficientNetV2B1,
  EfficientNetV2B2,
  EfficientNetV2B3,
  EfficientNetV2L,
  EfficientNetV2M,
  type EfficientNetV2Options,
  EfficientNetV2S,
} from './efficientnet-v2.ts';
export type {
  ClassIndex,
  DecodeOptions,
  Prediction,
  PreprocessInput,
  PreprocessMode,
} from './imagenet-utils.ts';
export { InceptionResNetV2 } from './inception-resnet-v2.ts';
export { InceptionV3 } from './inception-v3.ts';
export { MobileNet, type MobileNetOptions } from './mobilenet.ts';
export { MobileNetV2, type MobileNetV2Options } from './mobilenet-v2.ts';
export { MobileNetV3Large, type MobileNetV3Options, MobileNetV3Small } from './mobilenet-v3.ts';
export * as convnext from './namespaces/convnext.ts';
export * as densenet from './namespaces/densenet.ts';
export * as efficientnet from './namespaces/efficientnet.ts';
export * as efficientnetV2 from './namespaces/efficientnet-v2.ts';
export * as imagenetUtils from './namespaces/imagenet-utils.ts';
export * as inceptionResnetV2 from './namespaces/inception-resnet-v2.ts';
export * as inceptionV3 from './namespaces/inception-v3.ts';
export * as mobilenet from './namespaces/mobilenet.ts';
export * as mobilenetV2 from './namespaces/mobilenet-v2.ts';
export * as mobilenetV3 from './namespaces/mobilenet-v3.ts';
export * as nasnet from './namespaces/nasnet.ts';
export * as resnet from './namespaces/resnet.ts';
export * as resnetV2 from './namespaces/resnet-v2.ts';
export * as resnet50 from './namespaces/resnet50.ts';
export * as vgg16 from './namespaces/vgg16.ts';
export * as vgg19 from './namespaces/vgg19.ts';
export * as xception from './namespaces/xception.ts';
export { NASNetLarge, NASNetMobile } from './nasnet.ts';
export { ResNet50, ResNet50V2, ResNet101, ResNet101V2, ResNet152, ResNet152V2 } from './resnet.ts';
export { VGG16, VGG19 } from './vgg.ts';
export { Xception } from './xception.ts';
