/** `tf.config`: devices, threads, how functions run. */
export { listPhysicalDevices } from '@eagre/core';
export { functionsRunEagerly, runFunctionsEagerly } from '@eagre/graph';
export * as threading from './threading.ts';
