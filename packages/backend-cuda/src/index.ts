/**
 * GPUs of NVIDIA in Node, on Linux, through the driver. Importing it registers a backend for each GPU, where the driver is found. Ops run on the first one then, `/gpu:0`, unless
 * `tf.device` places them elsewhere.
 */
import { type Backend, EagreError, registerBackend, UnavailableError } from '@eagre/backend';
import { openWatcher } from '@eagre/backend-native';
import { serveCuda } from '@eagre/gpu-kernels';
import { type CudaAddon, called, loadCudaAddon } from './addon.ts';
import { CudaBackend } from './cuda-backend.ts';
import { KernelImages } from './kernel-images.ts';
import { driverLibrary } from './libraries.ts';

/** The backend of a GPU. */
export interface GpuBackend extends Backend {
  /**
   * The library that makes products of matrices, with its version and its file; undefined where kernels of this package make all of them. It is loaded now,
   * if no product was made before.
   * @throws UnavailableError where `EAGRE_CUBLASLT` names one that cannot be used
   */
  readonly productLibrary: string | undefined;
  /** Has kernels of this package make all products, or the library again, where it is there. To compare them; programs set `EAGRE_CUBLASLT`. */
  useProductLibrary(uses: boolean): void;
  /** Gives the GPU back. What is still on it is gone. */
  close(): void;
}

/**
 * Opens the GPUs, in the driver's order, and registers their backends instead of those before.
 * @throws UnavailableError where there is no driver or no GPU, or no compiler that is named; DataLossError where the package's archive of kernels is damaged.
 */
export function openCuda(): readonly [GpuBackend, ...GpuBackend[]] {
  serveCuda();
  const addon = loadCudaAddon();
  const driver = driverLibrary();
  const count = countDevices(addon, driver);
  if (count === 0) throw new UnavailableError('the driver of CUDA finds no GPU');
  const images = new KernelImages(addon);
  const open = (index: number): CudaBackend =>
    new CudaBackend(
      addon,
      images,
      called(() => new addon.Device(driver, index)),
      index,
      openWatcher,
    );
  const backends: [CudaBackend, ...CudaBackend[]] = [open(0)];
  try {
    for (let i = 1; i < count; i++) backends.push(open(i));
  } catch (error) {
    for (const backend of backends) backend.close();
    throw error;
  }
  // Behind the CPU in lists of devices.
  for (const backend of backends) registerBackend(backend, -1);
  return backends;
}

function countDevices(addon: CudaAddon, driver: string): number {
  try {
    return called(() => addon.countDevices(driver));
  } catch (cause) {
    if (!(cause instanceof UnavailableError)) throw cause;
    throw new UnavailableError(
      `the driver of NVIDIA cannot be used (${cause.message}): install it, or name its library libcuda.so.1 in EAGRE_CUDA_DRIVER`,
      undefined,
      { cause },
    );
  }
}

function tryToOpen(): readonly [GpuBackend, ...GpuBackend[]] | Error {
  try {
    return openCuda();
  } catch (error) {
    if (error instanceof EagreError) return error;
    throw error;
  }
}
const opened = tryToOpen();

/** The backend of the first GPU, or undefined where there is none (`cudaUnavailable` says why). */
export const cudaBackend: GpuBackend | undefined = opened instanceof Error ? undefined : opened[0];

/** Why there is no backend; undefined where there is one. */
export const cudaUnavailable: string | undefined = opened instanceof Error ? opened.message : undefined;
