/** The seed that `tf.random.setSeed` has set; undefined before. */
export const seeds: {
  global: number | undefined;
  /** How often it was set. */
  settings: number;
} = { global: undefined, settings: 0 };
