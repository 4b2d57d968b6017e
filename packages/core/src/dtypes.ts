/** `tf.dtypes`: dtypes, and conversions between them. */
export { cast, saturateCast } from './ops/elementwise/cast.ts';
export { complex } from './ops/elementwise/complex.ts';
export * from './tensor/dtype-names.ts';
export { asDtype, DType } from './tensor/dtype-object.ts';
