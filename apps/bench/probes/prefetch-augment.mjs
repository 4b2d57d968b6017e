// The function of prefetch.mjs, in a module of its own, which threads load fast.
export const SIZE = 256;

/** A few milliseconds of plain code. */
export const augment = ({ data, dtype }) => {
  const out = new Float32Array(SIZE * SIZE);
  for (let round = 0; round < 8; round++)
    for (let i = 0; i < out.length; i++) out[i] = Math.sin(i * 0.001 + data[0] + round) * 0.01;
  return { data: out, shape: [SIZE, SIZE], dtype };
};
