/** `tf.config`: devices and threads. */
export { listPhysicalDevices } from '@eagre/core';
export * as threading from './threading.ts';
