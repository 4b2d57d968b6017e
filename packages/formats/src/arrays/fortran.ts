/**
 * Reorders column-major elements, the first index running fastest, to row-major. `bytes` holds the elements of
 * `shape`, `size` bytes each.
 */
export function toRowMajor(bytes: Uint8Array, size: number, shape: readonly number[]): Uint8Array {
  // With one dimension beside sizes of 1 both orders are the same.
  if (shape.filter((length) => length !== 1).length < 2) return bytes;
  const strides: number[] = [];
  let stride = size;
  for (const length of shape) {
    strides.push(stride);
    stride *= length;
  }
  const out = new Uint8Array(bytes.length);
  const index = new Array<number>(shape.length).fill(0);
  let from = 0;
  for (let to = 0; to < out.length; to += size) {
    for (let i = 0; i < size; i++) out[to + i] = bytes[from + i];
    // Step the index as an odometer whose last wheel runs fastest.
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis]++;
      from += strides[axis];
      if (index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}
