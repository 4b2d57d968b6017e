/** `tf.image`: images as tensors [height, width, channels], or batches of them, and in files. */
export * from '@eagre/core/image';
export {
  adjustJpegQuality,
  decodeAndCropJpeg,
  decodeBmp,
  decodeGif,
  decodeImage,
  decodeJpeg,
  decodePng,
  decodeWebp,
  encodeJpeg,
  encodePng,
  extractJpegShape,
  isJpeg,
  randomJpegQuality,
  statelessRandomJpegQuality,
} from '@eagre/data/internal';
