// Types in a circle: a group adds up memory of allocators, which keep it.
import { type CudaGroup, type CudaSum, type DType, InvalidArgumentError } from '@eagre/backend';
import { type CudaAddon, called, type NativeGroup, type NativeSum } from './addon.ts';
import type { CudaAllocator } from './cuda-allocator.ts';

/** `NcclType` in native/cuda/nccl.h, and how many of these an element is. */
const types: { readonly [dtype in DType]?: readonly [type: number, each: number] } = {
  int8: [0, 1],
  uint8: [1, 1],
  int32: [2, 1],
  uint32: [3, 1],
  int64: [4, 1],
  uint64: [5, 1],
  float16: [6, 1],
  float32: [7, 1],
  float64: [8, 1],
  bfloat16: [9, 1],
  complex64: [7, 2],
  complex128: [8, 2],
};

/** The GPUs of a process that add values up together by NCCL. Those of a list share one group. */
export class NcclGroup implements CudaGroup {
  readonly members: readonly CudaAllocator[];
  readonly #native: NativeGroup;

  private constructor(addon: CudaAddon, members: readonly CudaAllocator[]) {
    this.members = members;
    this.#native = called(() => new addon.Group(members.map(({ stream }) => stream.device)));
  }

  /** The one of a list of GPUs. */
  static of(addon: CudaAddon, members: readonly CudaAllocator[]): NcclGroup {
    const known = [...(members[0]?.groups ?? [])].find(
      (group) =>
        group.members.length === members.length && group.members.every((one, i) => one === members[i]),
    );
    if (known !== undefined) return known;
    const made = new NcclGroup(addon, members);
    for (const { groups } of members) groups.add(made);
    return made;
  }

  allReduce(sums: readonly CudaSum[]): void {
    const given = sums.map(({ dtype, count, from, to }): NativeSum => {
      const type = types[dtype];
      if (type === undefined) throw new InvalidArgumentError(`NCCL does not add up ${dtype}`);
      const addresses = (list: CudaSum['from']): readonly number[] => list.map(({ address }) => address);
      return [type[0], count * type[1], addresses(from), addresses(to)];
    });
    // What was called before is told first.
    for (const { stream } of this.members) void stream.device;
    try {
      called(() => this.#native.allReduce(given));
    } catch (error) {
      // NCCL breaks its operations off; the next call begins anew.
      if (!(error instanceof InvalidArgumentError)) this.close();
      throw error;
    }
    for (const [i, member] of this.members.entries())
      member.added(
        sums.map(({ to }) => to[i]),
        this.members,
      );
  }

  close(): void {
    for (const { groups } of this.members) groups.delete(this);
    called(() => this.#native.close());
  }
}
