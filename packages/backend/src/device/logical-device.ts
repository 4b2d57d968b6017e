import type { Allocator } from '../buffer/storage.ts';
import type { NumericDType } from '../dtype.ts';
import { UnimplementedError } from '../errors.ts';
import type { KernelName } from '../kernels.ts';
import type { Executable, Plan } from '../plan/plan.ts';
import type { ScalarProgram } from '../program/scalar.ts';
import type { Backend, Kernel } from './backend.ts';

/** The logical devices of a backend, by number and place, and the memory of those that have memory of their own, by place. */
interface Division {
  readonly devices: Map<string, Backend>;
  readonly memories: readonly Allocator[];
}
const divisions = new WeakMap<Backend, Division>();

/**
 * Another device on the hardware of a backend: its kernels and its memory under a number of its own. Programs that are written for
 * several devices run on it as they are.
 * @param place its place among those of this hardware.
 */
export function logicalDevice(backend: Backend, index: number, place: number): Backend {
  const whole = hardwareOf(backend);
  if (index === whole.deviceIndex && place === 0) return whole;
  const { devices, memories } = divisionOf(whole);
  const key = `${index} ${place}`;
  let device = devices.get(key);
  if (device === undefined)
    devices.set(key, (device = new LogicalDevice(whole, index, memories[place] ?? whole.allocator)));
  return device;
}

function divisionOf(whole: Backend): Division {
  let division = divisions.get(whole);
  if (division === undefined) divisions.set(whole, (division = { devices: new Map(), memories: [] }));
  return division;
}

/**
 * Sets how much memory each logical device of a backend may have, in bytes; undefined for no limit. Where one has a limit, all but the first
 * get memory of their own. What is on a device stays as it is.
 * @throws UnimplementedError for limits where the hardware has one memory only, or cannot tell what is in use.
 */
export function limitMemory(backend: Backend, limits: readonly (number | undefined)[]): void {
  const whole = hardwareOf(backend);
  const memories: Allocator[] = [];
  if (limits.some((limit) => limit !== undefined)) {
    if (whole.allocator.limit === undefined || (limits.length > 1 && whole.newAllocator === undefined))
      throw new UnimplementedError(
        `the memory of ${limits.length > 1 ? 'several devices' : 'the device'} of '${whole.name}' cannot be limited: leave memoryLimit out`,
      );
    limits.forEach((limit, place) => {
      if (place === 0) {
        memories.push(whole.allocator);
        return;
      }
      const memory = (whole.newAllocator as () => Allocator)();
      if (limit !== undefined) memory.limit = limit;
      memories.push(memory);
    });
    whole.allocator.limit = limits[0] ?? Number.POSITIVE_INFINITY;
  } else if (whole.allocator.limit !== undefined) whole.allocator.limit = Number.POSITIVE_INFINITY;
  if (memories.length > 1 || divisionOf(whole).memories.length > 1)
    divisions.set(whole, { devices: new Map(), memories });
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

  constructor(hardware: Backend, index: number, allocator: Allocator) {
    this.hardware = hardware;
    this.name = hardware.name;
    this.deviceType = hardware.deviceType;
    this.deviceIndex = index;
    this.allocator = allocator;
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
  tailor(plan: Plan): Plan {
    return this.hardware.tailor?.(plan) ?? plan;
  }
  prepare(plan: Plan, allocator: Allocator = this.allocator): Executable {
    return this.hardware.prepare(plan, allocator);
  }
  threads(count?: number): number {
    return this.hardware.threads(count);
  }
}
