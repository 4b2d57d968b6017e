/** Kernels for GPUs, written once in a subset of WGSL, and their printers to WGSL, CUDA C++ and PTX. */
export { activatedBatchNorm, activatedBatchNormGrad } from './cuda/batch-norm.ts';
export { filledConvolution } from './cuda/filled-images.ts';
export { joinedSums } from './cuda/joined-columns.ts';
export { windowedMaxPoolGrad } from './cuda/max-pool.ts';
export { packedAttention } from './cuda/packed-attention.ts';
export {
  isWorthPitching,
  narrowCrossEntropy,
  pitchedLines,
  pitchedMatmul,
  pitchWanted,
} from './cuda/pitched.ts';
export { serveCuda } from './cuda/serve-cuda.ts';
export { LEAST_SIDE_BY_SIDE, MOST_SIDE_BY_SIDE, sideBySide } from './cuda/side-by-side.ts';
export { type ColumnMaker, summedColumns } from './cuda/summed-columns.ts';
export { summedLayerNorm } from './cuda/summed-rows.ts';
export {
  bytesOfOperand,
  DispatchingBackend,
  type Lower,
  type Operand,
  type Temporary,
} from './device/dispatching-backend.ts';
export { faultError, Suspects } from './device/faults.ts';
export { GpuAllocator } from './device/gpu-allocator.ts';
export { type ElementwiseKernel, elementwiseKernel } from './kernels/elementwise.ts';
export {
  type Call,
  COUNTERS,
  type CudaDispatch,
  type CudaDispatches,
  type CudaProgram,
  type Dispatch,
  FAULT,
  FAULT_BYTES,
  type Fault,
  faults,
  type GpuKernel,
  type GpuKernels,
  type GpuProgram,
  type Instead,
  type LibraryCall,
  type Lowered,
  MOST_COUNTERS,
  programOf,
  runsOn,
  TEMPORARY,
  type TensorInfo,
  type TensorMap,
} from './kernels/kernel.ts';
export type { LibraryProduct } from './kernels/library-product.ts';
export { libraryMatmul } from './kernels/matmul.ts';
export { copy, set } from './kernels/moves.ts';
export { rowNorm, rowNormGrad } from './kernels/norms.ts';
export { gpuKernel, gpuKernels } from './kernels/registry.ts';
export { partOfProgram } from './kernels/split.ts';
export { parseKernel } from './language/parse.ts';
export { cudaPrelude, printCuda } from './language/print-cuda.ts';
export { printPtx } from './language/print-ptx.ts';
export { printWgsl, shareType, type WgslOptions, wgslFeatures } from './language/print-wgsl.ts';
export type * from './language/syntax.ts';
