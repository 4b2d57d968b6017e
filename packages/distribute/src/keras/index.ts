/** `tf.keras.distribution`: models on several devices. */
export { DeviceMesh, getDeviceCount, listDevices } from './device-mesh.ts';
export {
  DataParallel,
  Distribution,
  distributeTensor,
  distribution,
  initialize,
  LayoutMap,
  ModelParallel,
  setDistribution,
} from './distributions.ts';
export { TensorLayout } from './tensor-layout.ts';
