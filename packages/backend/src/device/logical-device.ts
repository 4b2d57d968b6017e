import type { Allocator } from '../buffer/storage.ts';
import type { NumericDType } from '../dtype.ts';
import type { KernelName } from '../kernels.ts';
import type { Executable, Plan } from '../plan/plan.ts';
import type { ScalarProgram } from '../program/scalar.ts';
import type { Backend, Kernel } from './backend.ts';

const known = new WeakMap<Backend, Map<number, Backend>>();

/**
 * Another device on the hardware of a backend: its kernels and its memory under a number of its own. Programs that are written for
 * several devices run on it as they are.
 */
export function logicalDevice(backend: Backend, index: number): Backend {
  const whole = hardwareOf(backend);
  if (index === whole.deviceIndex) return whole;
  let devices = known.get(whole);
  if (devices === undefined) known.set(whole, (devices = new Map()));
  let device = devices.get(index);
  if (device === undefined) devices.set(index, (device = new LogicalDevice(whole, index)));
  return device;
}

/** The backend that a logical device is made of, or the backend itself. */
export function hardwareOf(backend: Backend): Backend {
  return backend instanceof LogicalDevice ? backend.hardware : backend;
}

class LogicalDevice implements Backend {
  readonly hardware: Backend;
  readonly name: string;
  readonly deviceType: string;
  readonly deviceIndex: number;
  readonly allocator: Allocator;

  constructor(hardware: Backend, index: number) {
    this.hardware = hardware;
    this.name = hardware.name;
    this.deviceType = hardware.deviceType;
    this.deviceIndex = index;
    this.allocator = hardware.allocator;
  }

  get description(): string {
    return this.hardware.description;
  }
  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined {
    return this.hardware.kernel(name, inputs);
  }
  elementwise(program: ScalarProgram): Kernel {
    return this.hardware.elementwise(program);
  }
  forget(kernel: Kernel): void {
    this.hardware.forget?.(kernel);
  }
  prepare(plan: Plan): Executable {
    return this.hardware.prepare(plan);
  }
  threads(count?: number): number {
    return this.hardware.threads(count);
  }
}
