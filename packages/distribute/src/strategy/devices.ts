// The devices of strategies.
import { InvalidArgumentError } from '@eagre/backend';
import { device, listLogicalDevices, zeros } from '@eagre/core';
import { checkList, checkText } from '@eagre/core/internal';

/**
 * Names as they are given, checked: `/device:CPU:1`.
 * @throws NotFoundError for a device that does not exist, InvalidArgumentError for an empty list and one that is named twice
 */
export function devicesNamed(names: readonly string[], op: string): readonly string[] {
  checkList(names, 'devices', op);
  if (names.length === 0) throw new InvalidArgumentError('devices must name at least one device', op);
  const full = names.map((name, i) => {
    checkText(name, `devices[${i}]`, op);
    using probe = device(name, () => zeros([]));
    return probe.device;
  });
  const twice = full.find((name, i) => full.indexOf(name) !== i);
  if (twice !== undefined) throw new InvalidArgumentError(`the device ${twice} is named twice`, op);
  return full;
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
