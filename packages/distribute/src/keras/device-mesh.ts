import { InvalidArgumentError } from '@eagre/backend';
import { listLogicalDevices } from '@eagre/core';
import {
  argumentsOf,
  checkList,
  checkText,
  defineFunction,
  kind,
  type NamedFunction,
  shown,
  takesArguments,
} from '@eagre/core/internal';

interface DeviceMeshArguments {
  /** How many devices there are along each axis. */
  readonly shape: readonly number[];
  /** A name for each axis: `['batch', 'model']`. */
  readonly axisNames: readonly string[];
  /** The devices row by row, as many as the mesh has places: `['cpu:0', 'cpu:1']`. All by default. */
  readonly devices?: readonly string[] | null;
}

/** Devices in a grid whose axes have names. */
export class DeviceMesh {
  /** How many devices there are along each axis. */
  readonly shape: readonly number[];
  /** A name for each axis: `['batch', 'model']`. */
  readonly axisNames: readonly string[];
  /** The devices row by row: `'cpu:0'`. */
  readonly devices: readonly string[];

  /**
   * @param shape how many devices there are along each axis
   * @param axisNames a name for each axis: `['batch', 'model']`
   * @param options `devices`: as many as the mesh has places; all by default
   * @throws InvalidArgumentError where these do not fit each other
   */
  constructor(
    ...args: [
      shape: readonly number[] | DeviceMeshArguments,
      axisNames?: readonly string[],
      options?: {
        /** The devices row by row, as many as the mesh has places: `['cpu:0', 'cpu:1']`. All by default. */
        readonly devices?: readonly string[] | null;
      },
    ]
  ) {
    const op = 'DeviceMesh';
    const { shape, axisNames, devices } = argumentsOf<DeviceMeshArguments>(DeviceMesh, new.target, args);
    checkList(shape, 'shape', op);
    checkList(axisNames, 'axisNames', op);
    for (const name of axisNames) checkText(name, 'axisNames', op);
    if (shape.length === 0 || !shape.every((n) => Number.isSafeInteger(n) && n > 0))
      throw new InvalidArgumentError(`shape must be a list of integers from 1 on, got ${shown(shape)}`, op);
    if (shape.length !== axisNames.length)
      throw new InvalidArgumentError(
        `the shape has ${shape.length} axes, but there are ${axisNames.length} names`,
        op,
      );
    const all = devices ?? listDevices();
    checkList(all, 'devices', op);
    for (const name of all) checkText(name, 'devices', op);
    const places = shape.reduce((a, b) => a * b, 1);
    if (all.length !== places)
      throw new InvalidArgumentError(
        `the mesh has ${places} places, but there are ${all.length} devices`,
        op,
      );
    this.shape = Object.freeze([...shape]);
    this.axisNames = Object.freeze([...axisNames]);
    this.devices = Object.freeze([...all]);
  }
}
takesArguments<DeviceMeshArguments>(
  { positional: ['shape', 'axisNames'], names: { shape: true, axisNames: true, devices: true } },
  DeviceMesh,
);

/**
 * The devices of this process, of one type or of the most capable one: GPUs, or CPUs where there is none.
 * @returns names such as `'cpu:0'`
 */
export const listDevices: NamedFunction<
  [deviceType?: 'cpu' | 'gpu' | null],
  ['deviceType'],
  unknown,
  string[]
> = /* @__PURE__ */ defineFunction(
  'keras.distribution.listDevices',
  { deviceType: kind.asIs },
  {},
  (deviceType = null) => devicesOf(deviceType),
);

/** How many devices `listDevices` lists. */
export const getDeviceCount: NamedFunction<
  [deviceType?: 'cpu' | 'gpu' | null],
  ['deviceType'],
  unknown,
  number
> = /* @__PURE__ */ defineFunction(
  'keras.distribution.getDeviceCount',
  { deviceType: kind.asIs },
  {},
  (deviceType = null) => devicesOf(deviceType).length,
);

function devicesOf(type: unknown): string[] {
  if (type !== null) checkText(type, 'deviceType', 'keras.distribution.listDevices');
  const all = listLogicalDevices().map(({ name }) => name.replace('/device:', '').toLowerCase());
  const of = (one: string): string[] => all.filter((name) => name.startsWith(`${one}:`));
  if (type !== null) return of((type as string).toLowerCase());
  const gpus = of('gpu');
  return gpus.length > 0 ? gpus : of('cpu');
}
