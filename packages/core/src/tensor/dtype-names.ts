// Dtypes as TensorFlow's code writes them: `tf.cast(x, tf.float32)` is `tf.cast(x, 'float32')`.

/** Floats of 32 bits. */
export const float32: 'float32' = 'float32';
/** Floats of 64 bits. */
export const float64: 'float64' = 'float64';
/** Integers of 32 bits. */
export const int32: 'int32' = 'int32';
/** Integers of 64 bits. */
export const int64: 'int64' = 'int64';
/** Integers from 0 to 255. */
export const uint8: 'uint8' = 'uint8';
/** True or false. */
export const bool: 'bool' = 'bool';
/** Texts and bytes of any length. */
export const string: 'string' = 'string';
/** Integers of 8 bits. */
export const int8: 'int8' = 'int8';
/** Integers of 16 bits. */
export const int16: 'int16' = 'int16';
/** Integers of 16 bits from 0 on. */
export const uint16: 'uint16' = 'uint16';
/** Integers of 32 bits from 0 on. */
export const uint32: 'uint32' = 'uint32';
/** Integers of 64 bits from 0 on. */
export const uint64: 'uint64' = 'uint64';
/** Floats of 16 bits: 11 bits of precision, up to 65,504. */
export const float16: 'float16' = 'float16';
/** Floats of 16 bits with the range of float32: 8 bits of precision. */
export const bfloat16: 'bfloat16' = 'bfloat16';
/** Complex numbers of two float32. */
export const complex64: 'complex64' = 'complex64';
/** Complex numbers of two float64. */
export const complex128: 'complex128' = 'complex128';
/** Another name of float16. */
export const half: 'float16' = 'float16';
/** Another name of float64. */
export const double: 'float64' = 'float64';
