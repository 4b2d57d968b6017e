// Strategies for tests: on logical CPUs.
import * as tf from 'eagre';

/** Makes so many devices of the CPU. */
export function cpus(count: number): string[] {
  const [cpu] = tf.config.listPhysicalDevices('CPU');
  tf.config.setLogicalDeviceConfiguration(
    cpu as tf.config.PhysicalDevice,
    Array.from({ length: count }, () => new tf.config.LogicalDeviceConfiguration()),
  );
  return Array.from({ length: count }, (_, i) => `/cpu:${i}`);
}

export const mirrored = (count: number): tf.distribute.MirroredStrategy =>
  new tf.distribute.MirroredStrategy(cpus(count));
