/** `tf.profiler.experimental`: profiles for TensorBoard. */
export { Profile, ProfilerOptions, start, stop, Trace } from '@eagre/summary/internal';
