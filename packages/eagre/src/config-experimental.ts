/** `tf.config.experimental`: how devices work, their memory, and older names of what is in `tf.config`. */
export {
  getLogicalDeviceConfiguration as getVirtualDeviceConfiguration,
  getSynchronousExecution,
  LogicalDeviceConfiguration as VirtualDeviceConfiguration,
  listLogicalDevices,
  listPhysicalDevices,
  setLogicalDeviceConfiguration as setVirtualDeviceConfiguration,
  setSynchronousExecution,
} from '@eagre/core';
export {
  type DeviceMemory,
  type DevicePolicy,
  enableOpDeterminism,
  enableTensorFloat32Execution,
  getDeviceDetails,
  getDevicePolicy,
  getMemoryGrowth,
  getMemoryInfo,
  getMemoryUsage,
  getVisibleDevices,
  resetMemoryStats,
  setDevicePolicy,
  setMemoryGrowth,
  setVisibleDevices,
  tensorFloat32ExecutionEnabled,
} from '@eagre/core/internal';
