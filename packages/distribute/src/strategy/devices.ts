// The devices of strategies.
import { InvalidArgumentError } from '@eagre/backend';
import { device, LogicalDevice, listLogicalDevices, zeros } from '@eagre/core';
import { checkList, checkText, naming } from '@eagre/core/internal';

/** A name, or one of `tf.config.listLogicalDevices()`. */
export type DeviceLike = string | LogicalDevice;

/**
 * Full names of devices, checked: `/device:CPU:1`.
 * @throws NotFoundError for a device that does not exist, InvalidArgumentError for an empty list and one that is named twice
 */
export function devicesNamed(given: readonly DeviceLike[], op: string, what = 'devices'): readonly string[] {
  checkList(given, what, op);
  if (given.length === 0) throw new InvalidArgumentError(`${what} must name at least one device`, op);
  const full = given.map((one, i) => deviceNamed(one, op, `${what}[${i}]`));
  const twice = full.find((name, i) => full.indexOf(name) !== i);
  if (twice !== undefined) throw new InvalidArgumentError(`the device ${twice} is named twice`, op);
  return full;
}

/** The full name of a device, checked. @throws NotFoundError for one that does not exist */
export function deviceNamed(given: DeviceLike, op: string, what: string): string {
  const name = given instanceof LogicalDevice ? given.name : given;
  checkText(name, what, op);
  return naming(what, () => {
    using probe = device(name, () => zeros([]));
    return probe.device;
  });
}

/** The name of the GPU of this number; undefined where programs use none. */
export function gpuNamed(index: number): string | undefined {
  return listLogicalDevices('GPU')[index]?.name;
}

/** All GPUs, or all CPUs where there is no GPU. */
export function allDevices(): readonly string[] {
  const all = listLogicalDevices();
  const gpus = all.filter(({ deviceType }) => deviceType === 'GPU');
  return (gpus.length > 0 ? gpus : all.filter(({ deviceType }) => deviceType === 'CPU')).map(
    ({ name }) => name,
  );
}
