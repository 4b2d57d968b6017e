const SIZE = 624;

/**
 * Gives the order in which `rng.shuffle(numpy.arange(count))` leaves the indices, for `rng =
 * numpy.random.RandomState(seed)`; each call goes on where the last one ended. Keras shuffles its data sets so, and results
 * can be compared only in the same order.
 *
 * The generator is MT19937 of Matsumoto and Nishimura (1998).
 *
 * @param seed an integer from 0 to 2^32 - 1, which the kind `seed` makes sure of
 */
export function numpyShuffler(seed: number): (count: number) => Int32Array {
  const next = mersenneTwister(seed);
  return (count) => {
    const indices = Int32Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const mask = 2 ** (32 - Math.clz32(i)) - 1;
      let j = (next() & mask) >>> 0;
      while (j > i) j = (next() & mask) >>> 0;
      const moved = indices[i];
      indices[i] = indices[j];
      indices[j] = moved;
    }
    return indices;
  };
}

/** Numbers of 32 bits. */
function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) {
    const previous = state[i - 1] ^ (state[i - 1] >>> 30);
    state[i] = Math.imul(1812433253, previous) + i;
  }
  let position = SIZE;
  return () => {
    if (position === SIZE) {
      twist(state);
      position = 0;
    }
    let y = state[position++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
}

function twist(state: Uint32Array): void {
  for (let i = 0; i < SIZE; i++) {
    const y = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
    state[i] = state[(i + 397) % SIZE] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
  }
}
