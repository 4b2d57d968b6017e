// Integers of 64 bits without bigints, of which a million take as long as the rest of a function.

/** Writes a safe integer into the halves of an array of 64 bits. */
export function setInteger(words: Uint32Array, at: number, value: number): void {
  words[2 * at] = value;
  words[2 * at + 1] = Math.floor(value / 2 ** 32);
}
