// Strategies for tests: on two logical CPUs.
import { LogicalDeviceConfiguration, listPhysicalDevices, setLogicalDeviceConfiguration } from '@eagre/core';
import { MirroredStrategy } from '../index.ts';

/** Makes so many devices of the CPU. */
export function cpus(count: number): string[] {
  const [cpu] = listPhysicalDevices('CPU');
  setLogicalDeviceConfiguration(
    cpu,
    Array.from({ length: count }, () => new LogicalDeviceConfiguration()),
  );
  return Array.from({ length: count }, (_, i) => `/cpu:${i}`);
}

export const mirrored = (count = 2): MirroredStrategy => new MirroredStrategy(cpus(count));
