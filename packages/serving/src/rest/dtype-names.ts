import type { DType } from '@eagre/backend';

// TensorFlow's names where they are not ours.
const others: { readonly [D in DType]?: string } = {
  float32: 'float',
  float64: 'double',
  float16: 'half',
};

/** A dtype as TensorFlow's messages have it: `float`. */
export const nameOfDType = (dtype: DType): string => others[dtype] ?? dtype;

/** A dtype as its protocol buffers have it: `DT_FLOAT`. */
export const enumOfDType = (dtype: DType): string => `DT_${nameOfDType(dtype).toUpperCase()}`;
