import { UnavailableError } from '@eagre/backend';
import { Pump } from './pump.ts';

/** A device of WebGPU, and what a program needs to wait for it. */
export interface GpuDevice {
  /** Kept, since in Node the device ends with it. */
  readonly gpu: GPU;
  readonly device: GPUDevice;
  readonly pump: Pump;
  /** One line for people. */
  readonly description: string;
  /** Whether reads may wait without a turn of the event loop, by polling. */
  readonly polls: boolean;
}

/** `GPUBufferUsage` and the like, which Node does not have as globals. */
export const usage = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128 } as const;
export const MAP_READ = 1;
export const COMPUTE = 4;

interface Found {
  readonly gpu: GPU;
  readonly pump: Pump;
  readonly polls: boolean;
}

async function findGpu(): Promise<Found> {
  const pump = new Pump();
  if (globalThis.navigator?.gpu !== undefined) return { gpu: navigator.gpu, pump, polls: false };
  if (globalThis.process?.versions?.node === undefined)
    throw new UnavailableError('this browser has no WebGPU');
  // Not a name that bundlers for browsers should look for.
  const name = 'webgpu';
  let dawn: { create(options: string[]): GPU };
  try {
    dawn = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
  } catch (cause) {
    throw new UnavailableError("WebGPU in Node needs the package 'webgpu': npm install webgpu", undefined, {
      cause,
    });
  }
  return { gpu: pump.within(() => dawn.create([])), pump, polls: true };
}

/** The limits that kernels make use of: as much as the adapter has. */
const wanted = ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxStorageBuffersPerShaderStage'] as const;

/**
 * Opens the preferred GPU.
 * @throws UnavailableError where there is no WebGPU, or no adapter.
 */
export async function openGpuDevice(): Promise<GpuDevice> {
  const { gpu, pump, polls } = await findGpu();
  const adapter = await pump.within(() => gpu.requestAdapter({ powerPreference: 'high-performance' }));
  if (adapter === null)
    throw new UnavailableError('WebGPU finds no GPU: check the driver, or the flags of the browser');
  const requiredLimits = Object.fromEntries(wanted.map((name) => [name, adapter.limits[name]]));
  const device = await pump.within(() => adapter.requestDevice({ requiredLimits }));
  const { vendor, architecture, description } = adapter.info;
  const named = description || [vendor, architecture].filter((part) => part !== '').join(' ') || 'a GPU';
  return { gpu, device, pump, polls, description: `WebGPU, ${named}` };
}
