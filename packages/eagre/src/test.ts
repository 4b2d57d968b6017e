/** `tf.test`: what tests need. */
export { assertEqualGraphDef, type GraphDefLike } from './equal-graph-defs.ts';
export {
  computeGradient,
  gpuDeviceName,
  isGpuAvailable,
  type Jacobians,
  TestCase,
  type TestValue,
  type Tolerance,
} from './test-case.ts';
export * as experimental from './test-experimental.ts';
