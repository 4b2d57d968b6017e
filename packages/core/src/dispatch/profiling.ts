// Who is told how long things take; see `tf.profiler.experimental`.

export const profiling: {
  /** Gets the name of what has just ended, an op or a function, and when it began (`performance.now()`). Null while nothing is profiled. */
  record: ((name: string, begin: number) => void) | null;
} = { record: null };
