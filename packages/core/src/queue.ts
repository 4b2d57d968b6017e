/**
 * `tf.queue`: queues of tensors, in eager code. TensorFlow's wait where a queue is full or empty. JavaScript cannot wait: here such a call fails with
 * UnavailableError, and `whenEnqueued` and `whenDequeued` give promises instead.
 */
export {
  FIFOQueue,
  PaddingFIFOQueue,
  PriorityQueue,
  QueueBase,
  RandomShuffleQueue,
} from './queue/queues.ts';
