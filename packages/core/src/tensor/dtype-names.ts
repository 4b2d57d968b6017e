/** Dtypes as TensorFlow's code writes them: `tf.cast(x, tf.float32)` is `tf.cast(x, 'float32')`. */
export const float32: 'float32' = 'float32';
export const float64: 'float64' = 'float64';
export const int32: 'int32' = 'int32';
export const int64: 'int64' = 'int64';
export const uint8: 'uint8' = 'uint8';
export const bool: 'bool' = 'bool';
export const string: 'string' = 'string';
export const int8: 'int8' = 'int8';
export const int16: 'int16' = 'int16';
export const uint16: 'uint16' = 'uint16';
export const uint32: 'uint32' = 'uint32';
export const uint64: 'uint64' = 'uint64';
export const float16: 'float16' = 'float16';
export const bfloat16: 'bfloat16' = 'bfloat16';
export const complex64: 'complex64' = 'complex64';
export const complex128: 'complex128' = 'complex128';
