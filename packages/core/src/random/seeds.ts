/** The seed that `tf.random.setSeed` has set; undefined before. */
export const seeds: { global: number | undefined } = { global: undefined };
