/** `tf.version`: which Eagre this is. */

/** The version of the package, as npm knows it: `tf.version.VERSION`. */
export const VERSION: string = '0.0.0';
