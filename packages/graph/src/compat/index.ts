/** `tf.compat`. */
export {
  asBytes,
  asStr,
  asStrAny,
  asText,
  dimensionAtIndex,
  dimensionValue,
  pathToStr,
} from './text.ts';
export * as v1 from './v1.ts';
