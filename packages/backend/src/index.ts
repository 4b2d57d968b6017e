/** The contract between Eagre's core and the code that computes: dtypes, memory, kernels, scalar programs, errors. */

export * from './buffer/host-allocator.ts';
export { type MemoryPolicy, PooledAllocator, type Watcher } from './buffer/pooled-allocator.ts';
export * from './buffer/storage.ts';
export * from './cast.ts';
export * from './device/backend.ts';
export { HostScalars } from './device/host-scalars.ts';
export { hardwareOf, limitMemory, logicalDevice } from './device/logical-device.ts';
export {
  hostFallbacks,
  hostOf,
  onHost,
  placedKernel,
  placement,
  processorOf,
} from './device/soft-placement.ts';
export { wideKernel } from './device/wide-kernel.ts';
export * from './dtype.ts';
export * from './errors.ts';
export * from './half.ts';
export * from './hashes.ts';
export * from './kernels.ts';
export { logGamma } from './log-gamma.ts';
export { nextTurn } from './next-turn.ts';
export { philox } from './philox.ts';
export * from './philox-stream.ts';
export { checkPlan } from './plan/check.ts';
export * from './plan/flat-plan.ts';
export { flattenPlan } from './plan/flatten-plan.ts';
export { interpretLater } from './plan/interpret-later.ts';
export * from './plan/interpreter.ts';
export * from './plan/memory.ts';
export { mayOverwrite } from './plan/overwrite.ts';
export * from './plan/plan.ts';
export { PlanRun } from './plan/run.ts';
export { callsHost, Uses } from './plan/uses.ts';
export * from './program/complex.ts';
export * from './program/scalar.ts';
export * from './shape.ts';
export * from './special-numbers.ts';
export { fileError, withFileErrors } from './system-error.ts';
