/** `tf.browser`: pixels of pages as tensors, and tensors as pixels. */
export {
  type BitmapLike,
  type CanvasLike,
  type DrawOptions,
  draw,
  fromPixels,
  fromPixelsAsync,
  type ImageLike,
  type PixelData,
  type PixelSource,
  toPixels,
  type VideoFrameLike,
  type VideoLike,
} from '@eagre/data/internal';
