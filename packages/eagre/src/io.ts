/** `tf.io`: files of arrays. What is read goes into every op; `tensor.ndarray()` is what is written. */
export {
  type NDArray,
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '@eagre/formats';
