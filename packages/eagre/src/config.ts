/** `tf.config`: devices, threads, how functions run. */
export {
  getLogicalDeviceConfiguration,
  getSoftDevicePlacement,
  LogicalDevice,
  LogicalDeviceConfiguration,
  listLogicalDevices,
  listPhysicalDevices,
  PhysicalDevice,
  setLogicalDeviceConfiguration,
  setSoftDevicePlacement,
} from '@eagre/core';
export { getVisibleDevices, setVisibleDevices } from '@eagre/core/internal';
export {
  functionsRunEagerly,
  functionsRunEagerly as experimentalFunctionsRunEagerly,
  runFunctionsEagerly,
  runFunctionsEagerly as experimentalRunFunctionsEagerly,
} from '@eagre/graph';
export * as experimental from './config-experimental.ts';
export * as threading from './threading.ts';
