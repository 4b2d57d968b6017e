/** `tf.keras.distribution`: models on several devices. */
export {
  DataParallel,
  DeviceMesh,
  Distribution,
  distributeTensor,
  distribution,
  getDeviceCount,
  initialize,
  LayoutMap,
  listDevices,
  ModelParallel,
  setDistribution,
  TensorLayout,
} from '@eagre/distribute/internal';
