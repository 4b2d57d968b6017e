import type { DType, TypedArray } from '@eagre/backend';
import { callCodecs } from '@eagre/backend-wasm/codecs';

/** A PNG of eight bits for each channel. @param channels 1 grey, 2 grey with alpha, 3 RGB, 4 RGBA. */
export function encodePng(data: Uint8Array, width: number, height: number, channels: number): Uint8Array {
  return callCodecs('tf.summary.image', (codecs) => codecs.encodePng(data, height, width, channels, -1));
}

/**
 * Pixels as bytes, as `tf.image.convert_image_dtype` makes them: floats are clipped to [0, 1], the range of an integer dtype becomes
 * that of bytes, of which negative values are 0.
 */
export function toBytes(values: TypedArray, dtype: DType): Uint8Array {
  if (dtype === 'uint8') return values as Uint8Array;
  const out = new Uint8Array(values.length);
  if (dtype === 'int64') {
    const wide = values as BigInt64Array;
    for (let i = 0; i < out.length; i++) out[i] = Math.max(0, Number(wide[i] >> 55n));
    return out;
  }
  const numbers = values as Float32Array | Float64Array | Int32Array;
  // A conversion of floats rounds down after adding what makes the last half step as wide as the others.
  const scale = dtype === 'int32' ? 2 ** -23 : 255.5;
  const round = dtype === 'float32' ? Math.fround : (v: number): number => v;
  for (let i = 0; i < out.length; i++) {
    out[i] = Math.max(0, Math.min(255, Math.floor(round(numbers[i] * scale))));
  }
  return out;
}
