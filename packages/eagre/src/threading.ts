/** `tf.config.threading`: how many threads one op may use. Results do not depend on it. */
import { threads } from '@eagre/core/internal';

/** The number of threads that share the work of one op: the machine's cores, or `EAGRE_NUM_THREADS`, unless set. */
export function getIntraOpParallelismThreads(): number {
  return threads();
}

/**
 * Sets the number of threads that share the work of one op, for the whole process (all worker threads of Node share one pool).
 * 0 stands for the machine's cores, as in TensorFlow.
 * @throws InvalidArgumentError unless it is an integer of at least 0.
 */
export function setIntraOpParallelismThreads(count: number): void {
  threads(count === 0 ? cores() : count);
}

function cores(): number {
  if (typeof process !== 'object' || typeof process.getBuiltinModule !== 'function') return 1;
  return process.getBuiltinModule('node:os').availableParallelism();
}
