import { addN, device, type Tensor } from '@eagre/core';
import { argumentsOf, checkFunction, takesArguments } from '@eagre/core/internal';
import { deviceNamed } from './devices.ts';

/** How the values of the devices of one process are added up. */
export abstract class CrossDeviceOps {
  /** @internal The sum of one value of each replica, which have one shape, in their order; `devices` are those of the replicas. */
  abstract sum(values: readonly Tensor[], devices: readonly string[]): Tensor;

  /** @internal The sums of several values, where each replica needs them. @param given by replica, in the order of `devices` */
  allReduce(
    given: readonly (readonly Tensor[])[],
    devices: readonly string[],
    _op: string,
  ): readonly (readonly Tensor[])[] {
    const sums = given[0].map((_, i) =>
      this.sum(
        given.map((values) => values[i]),
        devices,
      ),
    );
    return given.map(() => sums);
  }
}

/** Options of `ReductionToOneDevice`. */
export interface ReductionToOneDeviceOptions {
  /** Where the sum is computed; on the first replica's device by default. */
  readonly reduceToDevice?: string | null;
  /** What adds a list of tensors up; `tf.addN` by default. */
  readonly accumulationFn?: ((tensors: readonly Tensor[]) => Tensor) | null;
}

/** Copies all values to one device and adds them up there: the default on CPUs. */
export class ReductionToOneDevice extends CrossDeviceOps {
  readonly #device: string | null;
  readonly #add: (tensors: readonly Tensor[]) => Tensor;

  constructor(...args: [options?: ReductionToOneDeviceOptions | null]) {
    const name = 'ReductionToOneDevice';
    super();
    const options = argumentsOf<ReductionToOneDeviceOptions>(ReductionToOneDevice, new.target, args);
    const { reduceToDevice = null, accumulationFn = null } = options;
    this.#device = reduceToDevice === null ? null : deviceNamed(reduceToDevice, name, 'reduceToDevice');
    if (accumulationFn !== null) checkFunction(accumulationFn, 'accumulationFn', name);
    this.#add = accumulationFn ?? ((tensors) => addN([...tensors]));
  }

  override sum(values: readonly Tensor[]): Tensor {
    const add = (): Tensor => this.#add(values);
    return this.#device === null ? add() : device(this.#device, add);
  }
}
takesArguments<ReductionToOneDeviceOptions>(
  { names: { reduceToDevice: true, accumulationFn: true } },
  ReductionToOneDevice,
);

/**
 * Adds values up in pairs, each on the device of its first, then the sums of pairs, and so on: of N devices, half work at once, and each value goes
 * over log2(N) links instead of all to one device.
 */
export class HierarchicalCopyAllReduce extends CrossDeviceOps {
  constructor(...args: [options?: Record<string, never> | null]) {
    super();
    argumentsOf(HierarchicalCopyAllReduce, new.target, args);
  }

  override sum(values: readonly Tensor[], devices: readonly string[]): Tensor {
    let level = values.map((value, i) => ({ value, on: devices[i] }));
    while (level.length > 1) {
      const next: typeof level = [];
      for (let i = 0; i < level.length; i += 2) {
        const [a, b] = level.slice(i, i + 2);
        next.push(b === undefined ? a : { value: device(a.on, () => a.value.add(b.value)), on: a.on });
      }
      level = next;
    }
    return level[0].value;
  }
}
// Tensors are not packed into larger ones, so there is no numPacks.
takesArguments({ names: {} }, HierarchicalCopyAllReduce);
