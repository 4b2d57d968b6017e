/** `tf.image`: images as tensors [height, width, channels], or batches of them. */
export {
  combinedNonMaxSuppression,
  cropAndResize,
  drawBoundingBoxes,
  extractPatches,
  nonMaxSuppression,
  nonMaxSuppressionOverlaps,
  nonMaxSuppressionPadded,
  nonMaxSuppressionWithScores,
} from './ops/image/boxes.ts';
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
export { convertImageDtype, rgbToYiq, rgbToYuv, yiqToRgb, yuvToRgb } from './ops/image/colors.ts';
export { extractGlimpse, type GlimpseOptions } from './ops/image/glimpse.ts';
export {
  imageGradients,
  psnr,
  type SsimOptions,
  sobelEdges,
  ssim,
  ssimMultiscale,
  totalVariation,
} from './ops/image/measures.ts';
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
export {
  randomBrightness,
  randomContrast,
  randomCrop,
  randomFlipLeftRight,
  randomFlipUpDown,
  randomHue,
  randomSaturation,
  sampleDistortedBoundingBox,
  statelessRandomBrightness,
  statelessRandomContrast,
  statelessRandomCrop,
  statelessRandomFlipLeftRight,
  statelessRandomFlipUpDown,
  statelessRandomHue,
  statelessRandomSaturation,
  statelessSampleDistortedBoundingBox,
} from './ops/image/random.ts';
export { ResizeMethod, type ResizeOptions, resize, resizeWithPad } from './ops/image/resize.ts';
export {
  affineTransform,
  type FillMode,
  perspectiveTransform,
  type WarpInterpolation,
  type WarpOptions,
} from './ops/image/warp.ts';
