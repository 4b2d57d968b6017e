/** The same inputs in every library: a multiplicative hash of the index, in -0.5 … 0.5. */
export function values(size: number, salt = 0): Float32Array {
  const out = new Float32Array(size);
  for (let i = 0; i < size; i++) out[i] = (((i + salt) * 16807) % 65521) / 65521 - 0.5;
  return out;
}

/** Weights of a model, by their shapes: kernels keep the size of what they are given, and what has one axis is around 1. */
export function modelWeights(shapes: readonly (readonly number[])[]): Float32Array[] {
  return shapes.map((shape, salt) => {
    const [size, fan] = [shape, shape.slice(0, -1)].map((sizes) => sizes.reduce((a, b) => a * b, 1)) as [
      number,
      number,
    ];
    // Each channel has its own kernel of a depthwise convolution.
    const summed = shape.length === 4 && shape[3] === 1 ? shape[0]! * shape[1]! : fan;
    const scale = Math.sqrt(24 / summed);
    return values(size, salt).map((v) => (shape.length === 1 ? 1 + v : v * scale));
  });
}

export function classLabels(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => (i * 7) % 10);
}

/** Integers from 0 to 1000. */
export function wholeNumbers(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => (i * 7) % 1001);
}

/** Random bits of an index, the same in every library: the last steps of MurmurHash3. */
function randomBits(i: number, salt: number): number {
  let h = i + Math.imul(salt + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Random numbers in -0.5 … 0.5, for work that depends on their order or on their rank: `values` repeat. */
export function noise(size: number, salt = 0): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => randomBits(i, salt) / 2 ** 32 - 0.5);
}

/** Random integers from 0 to `below` - 1. */
export function randomIntegers(n: number, below: number, salt = 0): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => Math.floor((randomBits(i, salt) / 2 ** 32) * below));
}

const WORDS = ['the', 'quick', 'brown', 'fox', 'jumps', 'over'];

/** Lines of six words, each with a number. */
export function textLines(n: number): string[] {
  return Array.from({ length: n }, (_, i) => WORDS.map((word, j) => `${word}${(i * j) % 97}`).join(' '));
}

/** The number that libraries are compared by. */
export function meanSquare(data: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < data.length; i++) sum += data[i]! ** 2;
  return sum / data.length;
}
