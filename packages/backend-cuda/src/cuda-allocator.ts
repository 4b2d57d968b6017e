// Types in a circle: an allocator keeps the groups that add up its memory.
import {
  type Allocator,
  type CudaMemory,
  InvalidArgumentError,
  type MemoryPolicy,
  ResourceExhaustedError,
  type Storage,
  type Watcher,
} from '@eagre/backend';
import { GpuAllocator, set } from '@eagre/gpu-kernels';
import { type CudaAddon, called, isCode, typed } from './addon.ts';
import { NcclGroup } from './nccl-group.ts';
import type { Stream } from './stream.ts';

/** Memory that was taken from the driver. */
export interface DeviceMemory {
  readonly address: number;
  readonly bytes: number;
}

/** Memory of a GPU through CUDA. It is given back in the order of the stream, so that what was called before may use it. */
export class CudaAllocator extends GpuAllocator<DeviceMemory> {
  readonly stream: Stream;
  /** Those that NCCL adds up with others, until it is closed. */
  readonly groups: Set<NcclGroup> = new Set();
  readonly #most: number;
  #used = 0;
  /** What V8 collects where nobody tells of it earlier. */
  readonly #collected = new FinalizationRegistry<DeviceMemory>((memory) => this.#end(memory));
  #isClosed = false;
  /** Other GPUs from which values came that may be wrong: reads throw their errors too. */
  readonly #sources = new Set<CudaAllocator>();
  readonly cuda: CudaMemory;
  /** All memory of this GPU, the first one first. */
  readonly #all: CudaAllocator[];

  /**
   * @param gpu its number among the driver's.
   * @param first the memory of the GPU, of which this is another one.
   */
  constructor(
    addon: CudaAddon,
    stream: Stream,
    gpu: number,
    host: () => Allocator,
    watcher: Watcher | undefined,
    first?: CudaAllocator,
  ) {
    const { bytes } = stream.device.info();
    super(host, watcher, undefined, policyOf(bytes), first);
    this.#all = first === undefined ? [] : first.#all;
    this.#all.push(this);
    this.cuda = { gpu, mark: () => this.#mark(), group: (all) => NcclGroup.of(addon, all.map(ofCuda)) };
    this.stream = stream;
    this.#most = bytes;
  }

  synchronize(): void {
    for (const source of this.#takeSources()) source.synchronize();
    this.stream.read(this.stream.faults, 4);
  }

  async synchronizeAsync(): Promise<void> {
    for (const source of this.#takeSources()) await source.synchronizeAsync();
    await this.stream.readAsync(this.stream.faults, 4);
  }

  #mark(): { readonly event: number; readonly end: () => void } {
    const { device } = this.stream;
    const number = called(() => device.record());
    return { event: called(() => device.handle(number)), end: () => called(() => device.drop(number)) };
  }

  /** Nothing is given back any more: the driver has taken all of it. */
  close(): void {
    for (const each of this.#all) {
      each.#isClosed = true;
      for (const group of [...each.groups]) group.close();
    }
  }

  /** A copy from another GPU, in the order of both. */
  copyFrom(from: Storage, to: Storage, bytes: number): boolean {
    const other = from.allocator;
    // What the host knows is written, and known here too.
    if (!(other instanceof CudaAllocator) || other.scalars.read(from, bytes) !== undefined) return false;
    this.scalars.copied(from, to);
    if (bytes === 0) return true;
    const { device } = other.stream;
    if (other.stream === this.stream) this.copyBytes(from, to, bytes);
    else called(() => this.stream.device.copyFrom(to.address, device, from.address, bytes));
    this.#came(other);
    return true;
  }

  #came(other: CudaAllocator): void {
    if (other.stream.hasSuspects || other.#sources.size > 0) this.#sources.add(other);
  }

  /** Notes that memory has sums of what lay on all these GPUs. */
  added(sums: readonly Storage[], all: readonly CudaAllocator[]): void {
    for (const to of sums) this.scalars.forget(to);
    for (const other of all) if (other !== this) this.#came(other);
  }

  /** They are asked once, also where they took from this one. */
  #takeSources(): readonly CudaAllocator[] {
    const taken = [...this.#sources];
    this.#sources.clear();
    return taken;
  }

  protected readBytes(from: Storage, bytes: number): Uint8Array {
    for (const source of this.#takeSources()) source.synchronize();
    return this.stream.read(from.address, bytes);
  }

  protected async readBytesAsync(from: Storage, bytes: number): Promise<Uint8Array> {
    for (const source of this.#takeSources()) await source.synchronizeAsync();
    return this.stream.readAsync(from.address, bytes);
  }

  protected writeBytes(to: Storage, bytes: Uint8Array): void {
    // A copy would wait for other parts of the GPU, and end the graph that it comes in.
    const scalar = set(bytes);
    if (scalar !== undefined)
      this.stream.dispatch('a scalar', scalar, [{ storage: to, bytes: bytes.length }]);
    else called(() => this.stream.device.write(to.address, bytes));
  }

  protected copyBytes(from: Storage, to: Storage, bytes: number): void {
    called(() => this.stream.device.copy(to.address, from.address, bytes));
  }

  protected allocated(): number {
    return this.#used;
  }

  protected take(bytes: number): DeviceMemory {
    if (bytes > this.#most)
      throw new ResourceExhaustedError(`no memory for ${bytes} bytes: this GPU has ${this.#most}`);
    const address = this.#allocate(bytes);
    const memory = { address, bytes };
    this.#used += bytes;
    // What is told when the object is gone must not hold it.
    this.#collected.register(memory, { address, bytes }, memory);
    return memory;
  }

  #allocate(bytes: number): number {
    try {
      return this.stream.allocate(bytes);
    } catch (error) {
      if (!isCode(error, 'RESOURCE_EXHAUSTED')) throw typed(error);
      // Not one of Eagre's errors: there may be memory when what was dropped is found. Here only what other logical devices keep is given back.
      for (const other of this.#all) {
        if (other === this) continue;
        other.findDropped();
        other.trim();
      }
      if (this.#all.length === 1) throw error;
    }
    try {
      return this.stream.allocate(bytes);
    } catch (error) {
      throw isCode(error, 'RESOURCE_EXHAUSTED') ? error : typed(error);
    }
  }

  protected addressOf({ address }: DeviceMemory): number {
    return address;
  }

  protected override give(memory: DeviceMemory): void {
    this.#collected.unregister(memory);
    this.#end(memory);
  }

  #end({ address, bytes }: DeviceMemory): void {
    this.#used -= bytes;
    if (this.#isClosed) return;
    try {
      this.stream.device.free(address);
    } catch (error) {
      // It may be V8 that calls. Memory of a GPU that is lost is gone, which the next call tells.
      if (!isCode(error, 'UNAVAILABLE')) this.stream.throwLater(typed(error));
    }
  }
}

function ofCuda(allocator: Allocator): CudaAllocator {
  if (allocator instanceof CudaAllocator) return allocator;
  throw new InvalidArgumentError('NCCL adds values up between GPUs of NVIDIA only');
}

const LEAST = 8 * 2 ** 20;

/** The driver takes long to give and take memory: it is kept, and what was dropped is looked for only when much was lent out. */
function policyOf(bytes: number): MemoryPolicy {
  const part = (of: number): number => Math.max(LEAST, Math.floor(bytes / of));
  return {
    collectAfter: part(256),
    collectAfterMost: part(64),
    collectAloneAfter: part(64),
    collectAllAfter: part(3),
    poolLimit: bytes,
  };
}
