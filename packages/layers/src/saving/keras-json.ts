// Where Keras refuses integers: in optimizers, and in FBetaScore.
const FLOATS = /(?<!\\)("(?:learning_rate|momentum|beta|threshold)": ?-?\d+)(?=[,}\s])/g;

/** The JSON of a configuration. A learning rate of 1 is written 1.0, as are other numbers that Keras takes as floats only. */
export function kerasJson(value: unknown, indent?: number | string | undefined): string {
  return JSON.stringify(value, null, indent).replace(FLOATS, '$1.0');
}
