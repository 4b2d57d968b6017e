/** `tf.config`: devices and threads. */
export { listPhysicalDevices, threads } from '@eagre/core';
