/** `tf.config.threading`: how many threads one op may use. Results do not depend on it. */
import { defineFunction, type NamedFunction, threads } from '@eagre/core/internal';

/**
 * The number of threads that share the work of one op. Unless set it is `EAGRE_NUM_THREADS`, else the number of processors that this
 * process may use, by its affinity and the limits of its control groups; fewer where the system allows no more threads.
 */
export const getIntraOpParallelismThreads: NamedFunction<[], [], unknown, number> =
  /* @__PURE__ */ defineFunction('config.threading.getIntraOpParallelismThreads', {}, {}, () => threads());

/**
 * Sets the number of threads that share the work of one op, for the whole process (all worker threads of Node share one pool).
 * 0 stands for the processors that this process may use, as in TensorFlow.
 * @throws InvalidArgumentError unless it is an integer of at least 0.
 */
export const setIntraOpParallelismThreads: NamedFunction<
  [numThreads: number],
  ['numThreads'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'config.threading.setIntraOpParallelismThreads',
  { numThreads: true },
  {},
  (numThreads) => {
    threads(numThreads);
  },
);
