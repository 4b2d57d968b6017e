import { UnavailableError } from '@eagre/backend';
import { wgslFeatures } from '@eagre/gpu-kernels';
import { keepsHalfBits } from './half-bits.ts';
import { Pump } from './pump.ts';

/** A device of WebGPU, and what a program needs to wait for it. */
export interface GpuDevice {
  /** Kept, since in Node the device ends with it. */
  readonly gpu: GPU;
  readonly device: GPUDevice;
  readonly pump: Pump;
  /** Those of `wgslFeatures` of which kernels make use there. */
  readonly features: ReadonlySet<string>;
  /** One line for people. */
  readonly description: string;
  /** Whether reads may wait without a turn of the event loop, by polling. */
  readonly polls: boolean;
}

/** What gives a program its adapters. */
export interface FoundGpu {
  readonly gpu: GPU;
  readonly pump: Pump;
  readonly polls: boolean;
}

async function findGpu(): Promise<FoundGpu> {
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
 * Opens the preferred GPU, with those features of which kernels make use and that it has.
 * @throws UnavailableError where there is no WebGPU, or no adapter.
 */
export async function openGpuDevice(found?: FoundGpu): Promise<GpuDevice> {
  const { gpu, pump, polls } = found ?? (await findGpu());
  const adapter = await pump.within(() => gpu.requestAdapter({ powerPreference: 'high-performance' }));
  if (adapter === null)
    throw new UnavailableError('WebGPU finds no GPU: check the driver, or the flags of the browser');
  const requiredLimits = Object.fromEntries(wanted.map((name) => [name, adapter.limits[name]]));
  const requiredFeatures = wgslFeatures.filter((name) => adapter.features.has(name));
  const device = await pump.within(() => adapter.requestDevice({ requiredLimits, requiredFeatures }));
  const features = new Set<string>(requiredFeatures);
  if (features.has('shader-f16') && !(await keepsHalfBits(device, pump))) features.delete('shader-f16');
  const { vendor, architecture, description } = adapter.info;
  const named = description || [vendor, architecture].filter((part) => part !== '').join(' ') || 'a GPU';
  const used = features.size === 0 ? '' : `, with ${[...features].join(' and ')}`;
  return { gpu, device, pump, polls, features, description: `WebGPU, ${named}${used}` };
}
