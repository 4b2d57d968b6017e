/** `tf.image`: images as tensors [height, width, channels], or batches of them. */
export {
  adjustBrightness,
  adjustContrast,
  adjustGamma,
  adjustHue,
  adjustSaturation,
  grayscaleToRgb,
  hsvToRgb,
  perImageStandardization,
  rgbToGrayscale,
  rgbToHsv,
} from './ops/image/color.ts';
export {
  centralCrop,
  cropToBoundingBox,
  flipLeftRight,
  flipUpDown,
  padToBoundingBox,
  resizeWithCropOrPad,
  rot90,
  transpose,
} from './ops/image/placing.ts';
export { type ResizeMethod, type ResizeOptions, resize } from './ops/image/resize.ts';
export {
  affineTransform,
  type FillMode,
  perspectiveTransform,
  type WarpInterpolation,
  type WarpOptions,
} from './ops/image/warp.ts';
