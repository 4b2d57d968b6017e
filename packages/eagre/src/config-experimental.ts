/** `tf.config.experimental`: how devices work. */
export { getSynchronousExecution, setSynchronousExecution } from '@eagre/core';
