/** `tf.test.experimental`: for tests of devices. */
export { syncDevices } from '@eagre/core';
