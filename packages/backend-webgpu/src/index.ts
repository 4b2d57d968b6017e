/**
 * GPUs through WebGPU, in browsers, and in Node where the package `webgpu` is installed. Importing it registers the backend, where there is a GPU. Ops run there then, on `/gpu:0`,
 * unless `tf.device` places them elsewhere.
 */
import { type Backend, EagreError, registerBackend, type Watcher } from '@eagre/backend';
import { openGpuDevice } from './gpu-device.ts';
import { WebGpuBackend } from './webgpu-backend.ts';

/** The backend of a GPU. */
export interface GpuBackend extends Backend {
  /** Gives the GPU back. What is still on it is gone. */
  close(): void;
}

/**
 * Opens the GPU, and registers its backend instead of the one before: also after the GPU was lost.
 * @throws UnavailableError where there is no WebGPU, or no GPU.
 */
export async function openWebGpu(): Promise<GpuBackend> {
  const device = await openGpuDevice();
  const backend = new WebGpuBackend(device, await watcherOf());
  // Behind the CPU in lists of devices, and behind CUDA.
  registerBackend(backend, -2);
  return backend;
}

/** In Node the addon tells which tensors were dropped. */
async function watcherOf(): Promise<Watcher | undefined> {
  if (globalThis.process?.versions?.node === undefined) return undefined;
  const { openWatcher } = await import('@eagre/backend-native');
  return openWatcher();
}

async function tryToOpen(): Promise<GpuBackend | Error> {
  try {
    return await openWebGpu();
  } catch (error) {
    if (error instanceof EagreError) return error;
    throw error;
  }
}
const opened = await tryToOpen();

/** The backend, or undefined where there is no GPU (`webgpuUnavailable` says why). */
export const webgpuBackend: GpuBackend | undefined = opened instanceof Error ? undefined : opened;

/** Why there is no backend; undefined where there is one. */
export const webgpuUnavailable: string | undefined = opened instanceof Error ? opened.message : undefined;
