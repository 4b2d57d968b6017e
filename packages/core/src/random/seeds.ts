/** The seed that `tf.random.setSeed` has set; undefined before. */
export const seeds: {
  global: number | undefined;
  /** How often it was set. */
  settings: number;
} = { global: undefined, settings: 0 };

/** Whether every run of a program has to give the same numbers; `tf.config.experimental.enableOpDeterminism` sets it. */
export const determinism: { enabled: boolean } = { enabled: false };
