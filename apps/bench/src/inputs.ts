/** The same inputs in every library: a multiplicative hash of the index, in -0.5 … 0.5. */
export function values(size: number, salt = 0): Float32Array {
  const out = new Float32Array(size);
  for (let i = 0; i < size; i++) out[i] = (((i + salt) * 16807) % 65521) / 65521 - 0.5;
  return out;
}

export function classLabels(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => (i * 7) % 10);
}

/** Integers from 0 to 1000. */
export function wholeNumbers(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => (i * 7) % 1001);
}

/** The number that libraries are compared by. */
export function meanSquare(data: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < data.length; i++) sum += data[i]! ** 2;
  return sum / data.length;
}
