import {
  type Allocator,
  type Backend,
  type CudaGroup,
  type CudaMemory,
  InvalidArgumentError,
} from '@eagre/backend';
import { addN, device, identity, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  atRunTime,
  checkCount,
  context,
  dims,
  emptyTensor,
  findDevice,
  takesArguments,
  toShape,
} from '@eagre/core/internal';
import { CrossDeviceOps } from './cross-device-ops.ts';

/** Options of `NcclAllReduce`. */
export interface NcclAllReduceOptions {
  /** In how many calls of NCCL the values of an operation are added up, such as all gradients of a step; 0 for one each. 1 by default. */
  readonly numPacks?: number;
}

/** How the elements of dtypes are added up that NCCL does not know. */
const widened = { int16: 'int32', uint16: 'int32' } as const;

/**
 * Adds the values of several GPUs of NVIDIA up by NCCL, their library for that: each GPU gets the sum, and nothing goes through the host. It needs
 * `@eagre/backend-cuda`, and NCCL 2.14 or newer. `strategy.reduce`, which makes one value, copies and adds.
 *
 *     new tf.distribute.MirroredStrategy({ crossDeviceOps: new tf.distribute.NcclAllReduce() });
 *
 * What replicas do together throws an InvalidArgumentError on devices that are no such GPUs, as in TensorFlow, and an UnimplementedError where there
 * is no NCCL.
 */
export class NcclAllReduce extends CrossDeviceOps {
  readonly #packs: number;

  /** @throws InvalidArgumentError for a negative number */
  constructor(...args: [options?: NcclAllReduceOptions | null]) {
    super();
    const { numPacks = 1 } = argumentsOf<NcclAllReduceOptions>(NcclAllReduce, new.target, args);
    checkCount(numPacks, 'numPacks', 'NcclAllReduce');
    this.#packs = numPacks;
  }

  override sum(values: readonly Tensor[]): Tensor {
    return addN([...values]);
  }

  override allReduce(
    given: readonly (readonly Tensor[])[],
    devices: readonly string[],
    op: string,
  ): readonly (readonly Tensor[])[] {
    if (given.length === 1) return given;
    const backends = backendsOf(devices, op);
    const wide = each(devices, (i) =>
      given[i].map((x) => {
        const dtype = widened[x.dtype as keyof typeof widened];
        return dtype === undefined ? identity(x) : x.cast(dtype);
      }),
    );
    const sums =
      context.tracer === null ? this.#sum(wide, backends) : this.#atEachRun(wide, devices, backends);
    return each(devices, (i) =>
      sums[i].map((x, k) => (x.dtype === given[i][k].dtype ? x : x.cast(given[i][k].dtype as 'int16'))),
    );
  }

  /** In a graph each GPU gives its values in a step of its own and gets the sums in another: a plan runs on one device. */
  #atEachRun(
    given: readonly (readonly Tensor[])[],
    devices: readonly string[],
    backends: readonly Backend[],
  ): readonly (readonly Tensor[])[] {
    let held: (readonly Tensor[])[] = [];
    const last = devices.length - 1;
    const give = (i: number, values: readonly Tensor[]): void => {
      // What an earlier run left when it failed.
      if (i === 0) held = [];
      // Loops run as a whole on one device.
      held[i] = device(devices[i], () => values.map((x) => (isOn(x, backends[i]) ? x : identity(x))));
      if (i === last) held = this.#sum(held, backends);
    };
    const take = (i: number): readonly Tensor[] => {
      const own = held[i];
      if (i === last) held = [];
      return own;
    };
    each(devices, (i) => atRunTime('NcclAllReduceStart', (...now) => give(i, now), given[i], []));
    return each(devices, (i) =>
      atRunTime(
        'NcclAllReduce',
        () => take(i),
        [],
        given[i].map((x) => ({ dtype: x.dtype, shape: toShape(dims(x)) })),
      ),
    );
  }

  #sum(given: readonly (readonly Tensor[])[], backends: readonly Backend[]): (readonly Tensor[])[] {
    const group = groupOf(backends);
    const sums = given.map((values, i) =>
      values.map(({ dtype, shape, size }) => emptyTensor(dtype, shape, size, backends[i])),
    );
    const places = given[0].flatMap(({ size }, k) => (size === 0 ? [] : [k]));
    const most = this.#packs === 0 ? 1 : Math.ceil(places.length / this.#packs);
    for (let at = 0; at < places.length; at += most)
      group.allReduce(
        places.slice(at, at + most).map((k) => ({
          dtype: given[0][k].dtype,
          count: given[0][k].size,
          from: given.map((values) => values[k].storage),
          to: sums.map((values) => values[k].storage),
        })),
      );
    return sums;
  }
}
takesArguments<NcclAllReduceOptions>({ names: { numPacks: true } }, NcclAllReduce);

/** Calls code on each device. */
function each<T>(devices: readonly string[], call: (index: number) => T): T[] {
  return devices.map((name, i) => device(name, () => call(i)));
}

const isOn = (x: Tensor, { allocator }: Backend): boolean => x.storage.allocator === allocator;

/** @throws InvalidArgumentError for devices that NCCL does not know, UnimplementedError where there is no NCCL */
function backendsOf(devices: readonly string[], op: string): readonly Backend[] {
  const backends = devices.map(findDevice);
  const other = backends.findIndex(({ allocator }) => allocator.cuda === undefined);
  if (other >= 0)
    throw new InvalidArgumentError(
      `NCCL adds values up between GPUs of NVIDIA (@eagre/backend-cuda), and ${devices[other]} is none: use new tf.distribute.ReductionToOneDevice()`,
      op,
    );
  const gpus = backends.map(({ allocator }) => allocator.cuda?.gpu);
  const again = gpus.findIndex((gpu, i) => gpus.indexOf(gpu) < i);
  if (again >= 0)
    throw new InvalidArgumentError(
      `NCCL adds values up between GPUs, and ${devices[gpus.indexOf(gpus[again])]} and ${devices[again]} are parts of one: use new tf.distribute.ReductionToOneDevice()`,
      op,
    );
  groupOf(backends);
  return backends;
}

/** Each time: one in which NCCL failed is replaced. */
function groupOf(backends: readonly Backend[]): CudaGroup {
  const all: readonly Allocator[] = backends.map(({ allocator }) => allocator);
  return (all[0].cuda as CudaMemory).group(all);
}
