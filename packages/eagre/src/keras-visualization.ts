/** `tf.keras.visualization`: boxes and masks drawn into images. */
export {
  type DrawBoundingBoxesOptions,
  type DrawnBoxes,
  type DrawSegmentationMasksOptions,
  drawBoundingBoxes,
  drawSegmentationMasks,
  type Rgb,
} from '@eagre/layers';
