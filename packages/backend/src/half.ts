import { type DType, dtypeTraits, type TypedArray } from './dtype.ts';

/** The dtypes of 16 bits that JavaScript has no array for: their tensors hold the bits, and are read as Float32Array of the values. */
export type HalfDType = 'float16' | 'bfloat16';

/** Whether elements of a dtype are stored as the bits of floats that JavaScript has no array for. */
export function isHalf(dtype: DType): dtype is HalfDType {
  return dtype === 'float16' || dtype === 'bfloat16';
}

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** The bits of the value nearest to a number, ties to even. A number goes through float32, as in TensorFlow. */
export function halfBits(value: number, dtype: HalfDType): number {
  float[0] = value;
  const bits = word[0];
  const rest = bits & 0x7fffffff;
  const sign = (bits >>> 16) & 0x8000;
  if (dtype === 'bfloat16') {
    if (rest > 0x7f800000) return (bits >>> 16) | 0x40;
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
  }
  if (rest > 0x7f800000) return sign | 0x7e00 | ((rest >>> 13) & 0x3ff);
  if (rest >= 0x47800000) return sign | 0x7c00;
  if (rest < 0x38800000) {
    // Beside a half, the last bit of a float32 is that of the smallest subnormal.
    word[0] = rest;
    float[0] += 0.5;
    return sign | (word[0] - 0x3f000000);
  }
  // 0x37fff001 takes 112 off the exponent, and adds a little less than half of the last bit.
  return sign | ((rest - 0x37fff001 + ((rest >>> 13) & 1)) >>> 13);
}

/** The value that bits stand for. */
export function halfValue(bits: number, dtype: HalfDType): number {
  if (dtype === 'bfloat16') {
    word[0] = bits << 16;
    return float[0];
  }
  const rest = (bits & 0x7fff) << 13;
  if (rest >= 0x0f800000) word[0] = rest | 0x7f800000;
  else {
    word[0] = rest;
    // The exponent's bias is 112 larger, which the multiplication adds, also to what is subnormal.
    float[0] *= 2 ** 112;
  }
  return (bits & 0x8000) === 0 ? float[0] : -float[0];
}

/** A number rounded to the nearest value of a dtype; goes through float32. */
export function roundToHalf(value: number, dtype: HalfDType): number {
  return halfValue(halfBits(value, dtype), dtype);
}

/** The values of elements as they are stored: the same array, or a Float32Array for floats of 16 bits. */
export function valuesOf(elements: TypedArray, dtype: DType): TypedArray {
  if (!isHalf(dtype)) return elements;
  const values = new Float32Array(elements.length);
  for (let i = 0; i < values.length; i++) values[i] = halfValue(elements[i] as number, dtype);
  return values;
}

/** A number as it is stored among the elements of a dtype. */
export function storedNumber(value: number, dtype: DType): number {
  return isHalf(dtype) ? halfBits(value, dtype) : value;
}

/** Writes values into elements as they are stored. */
export function storeValues(elements: TypedArray, dtype: DType, values: ArrayLike<number | bigint>): void {
  if (!isHalf(dtype)) elements.set(values as never);
  else for (let i = 0; i < values.length; i++) elements[i] = halfBits(values[i] as number, dtype);
}

/** The largest finite value of a float's dtype. */
export function largestFloat(dtype: DType): number {
  const { digits, exponent } = dtypeTraits[dtype];
  return (2 - 2 ** (1 - digits)) * 2 ** exponent;
}
