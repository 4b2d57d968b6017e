import { type DType, dtypeTraits, type TypedArray, typedView } from '../dtype.ts';
import { InternalError } from '../errors.ts';

/** Elements of a string tensor; what nobody asked for as text may be its bytes. */
export type StringElements = readonly (string | Uint8Array)[];

/** Elements of a string tensor whose texts were not made yet. */
export interface ByteStrings {
  /** Bytes, and texts that stand beside them. */
  readonly elements: StringElements;
  /** The number of elements. */
  readonly length: number;
  /** The texts of all elements. */
  texts(): readonly string[];
  /** Others, so that who moves elements need not know how texts are made. */
  of(elements: StringElements): ByteStrings;
}

/**
 * The memory of one tensor or of several that share it. `refs` counts the tensors and the tapes that hold it; at zero its
 * bytes went back to the pool and may belong to another. A tensor that a user merely drops never counts down: its memory
 * comes back when V8 has collected this object, so nothing has to be disposed. Whoever reads the bytes keeps this object.
 */
export class Storage {
  refs = 1;
  /** The elements of a string tensor, which have no bytes. */
  strings: readonly string[] | ByteStrings | undefined = undefined;
  /** An ArrayBuffer where the allocator is the host's, else what only its device understands. */
  readonly buffer: object;
  readonly byteOffset: number;
  /** Usable bytes; at least what was asked for. */
  readonly capacity: number;
  /** Machine address of the first byte, or 0 where the backend needs none. */
  readonly address: number;
  readonly allocator: Allocator;
  /** What the bytes belong to, as the allocator has it; undefined for a buffer of their own. */
  readonly owner: object | undefined;

  constructor(
    allocator: Allocator,
    buffer: object,
    byteOffset: number,
    capacity: number,
    address: number,
    owner: object | undefined,
  ) {
    this.allocator = allocator;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.capacity = capacity;
    this.address = address;
    this.owner = owner;
  }

  /** One holder less; the last one gives the bytes back to the pool. */
  release(): void {
    if (--this.refs === 0) this.allocator.recycle(this);
  }
}

/** What an allocator can tell of its memory, in bytes. */
export interface MemoryInfo {
  /**
   * On the host: in array buffers that V8 has not collected yet, Eagre's and others': live tensors, garbage not yet found, and the pool;
   * with 2 MB of addresses that hold nothing for each block of 4 MB and more where Linux has pages of 2 MB.
   * The same number for every CPU backend of a thread; NaN where the platform does not tell (browsers). On a device: taken from it.
   */
  readonly bytesAllocated: number;
  /** The part of it that waits in the pool. */
  readonly bytesPooled: number;
  /** Ever taken anew because the pool had nothing that fits; stands still while everything made is given back. */
  readonly bytesTaken: number;
  /**
   * In blocks that are lent out: live tensors, and those that are garbage and were not found yet. Small memory of its own
   * (`allocateAlone`) counts only where there is a limit.
   */
  readonly bytesInUse: number;
  /** The most that was in use at once, since the start or the last `resetPeak`. */
  readonly bytesPeak: number;
  /** Of a device: how many kernels ran on the host, for want of one there, with copies there and back. */
  readonly hostFallbacks?: number;
}

/** Memory that the driver of NVIDIA's GPUs knows, so that other libraries of the process may use it by its address. */
export interface CudaMemory {
  /** Which of the driver's GPUs it is on. */
  readonly gpu: number;
  /** An event of the driver behind all that was called before, by its handle, and what gives the event back. */
  mark(): { readonly event: number; readonly end: () => void };
  /**
   * What adds values up between several GPUs of this process by NCCL. There is one for each list of GPUs, made at the first call.
   * @param all their memory, this one among it
   * @throws UnimplementedError where there is no NCCL, InvalidArgumentError for other memory and a GPU that is there twice
   */
  group(all: readonly Allocator[]): CudaGroup;
}

/** Several GPUs of NVIDIA in one process that add values up together. */
export interface CudaGroup {
  /**
   * Sums over all GPUs, in the order of each one's calls; several are one call of NCCL.
   * @throws InvalidArgumentError for dtypes that NCCL does not add up, UnavailableError where it fails
   */
  allReduce(sums: readonly CudaSum[]): void;
}

/** A value of which each GPU of a group has its own. */
export interface CudaSum {
  readonly dtype: DType;
  /** How many elements it has. */
  readonly count: number;
  /** Its memory on each GPU. */
  readonly from: readonly Storage[];
  /** Where each gets the sum: memory of its own, or that of the value. */
  readonly to: readonly Storage[];
}

/**
 * The memory of a device: lends it out, and moves bytes into it and out of it. A device works in the order of its calls, kernels and
 * moves alike, maybe later: what reads to the host waits for what was called before, and throws the error of a kernel that failed
 * meanwhile, once.
 */
export interface Allocator {
  /** Whether it is memory of the host, on which `hostView` looks. */
  readonly isHost: boolean;
  /** How many bytes may be lent out at once; any number unless set. */
  limit?: number;
  /** Of what it lends, and of what is cut from that: 64 unless said. */
  readonly alignment?: number;
  /** On a GPU of NVIDIA. */
  readonly cuda?: CudaMemory;
  /** Uninitialised memory of at least `bytes`, aligned to 64 or `alignment`. @throws ResourceExhaustedError */
  allocate(bytes: number): Storage;
  /** Memory of its own for something long-lived. @throws ResourceExhaustedError */
  allocateAlone(bytes: number): Storage;
  /** Takes bytes back; called by `Storage.release`. */
  recycle(storage: Storage): void;
  /**
   * Calls `dropped` once `object` has been collected: when memory is looked for, or at `findDropped`, so also in a loop that never
   * pauses. @returns what ends the watch; undefined where nobody can tell.
   */
  watch(object: object, dropped: () => void): (() => void) | undefined;
  /** Has young objects collected, and takes back what is gone. */
  findDropped(): void;
  /** Drops what the pool holds. */
  trim(): void;
  info(): MemoryInfo;
  /** Lets the peak of memory begin anew at what is in use now. */
  resetPeak(): void;
  /** The first bytes, which the caller may keep and change. Waits. */
  read(from: Storage, bytes: number): Uint8Array;
  /** `read` that lets other code run meanwhile. */
  readAsync(from: Storage, bytes: number): Promise<Uint8Array>;
  /** Sets the first bytes; `bytes` may change afterwards. */
  write(to: Storage, bytes: Uint8Array): void;
  /** Copies the first bytes of one memory of this allocator to another. */
  copy(from: Storage, to: Storage, bytes: number): void;
  /** Copies the first bytes of memory of another device without the host. @returns false, and nothing is done, where it cannot. */
  copyFrom?(from: Storage, to: Storage, bytes: number): boolean;
  /** Waits until all that was called before is done. */
  synchronize(): void;
  synchronizeAsync(): Promise<void>;
}

/** A piece of some memory, which it keeps. It is never given back by itself. */
export function partOf(whole: Storage, offset: number, bytes: number): Storage {
  const { allocator, buffer, byteOffset, address } = whole;
  return new Storage(
    allocator,
    buffer,
    byteOffset + offset,
    bytes,
    address === 0 ? 0 : address + offset,
    whole,
  );
}

/** The elements of host memory, in place: valid until the memory is given back. @throws InternalError for memory of a device. */
export function hostView({ allocator, buffer, byteOffset }: Storage, dtype: DType, size: number): TypedArray {
  if (!allocator.isHost) throw notHost();
  return typedView(dtype, buffer as ArrayBuffer, byteOffset, size);
}

/** The first bytes of host memory, in place. @throws InternalError for memory of a device. */
export function hostBytes({ allocator, buffer, byteOffset }: Storage, bytes: number): Uint8Array {
  if (!allocator.isHost) throw notHost();
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, bytes);
}

const notHost = (): InternalError =>
  new InternalError("memory of a device was looked at as if it were the host's");

/** Whether two memories begin at the same byte. */
export function sameBytes(a: Storage, b: Storage): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}

/** Copies the first bytes of one memory to another, of whatever devices. */
export function copyStorage(from: Storage, to: Storage, bytes: number): void {
  if (from.allocator === to.allocator) to.allocator.copy(from, to, bytes);
  else if (from.allocator.isHost) to.allocator.write(to, hostBytes(from, bytes));
  else if (to.allocator.isHost) hostBytes(to, bytes).set(from.allocator.read(from, bytes));
  else if (to.allocator.copyFrom?.(from, to, bytes) !== true)
    to.allocator.write(to, from.allocator.read(from, bytes));
}

/** What of some memory the host can look at: itself, or a copy. */
export function readStorage(from: Storage, dtype: DType, size: number): TypedArray {
  if (from.allocator.isHost) return hostView(from, dtype, size);
  const { buffer, byteOffset } = from.allocator.read(from, size * dtypeTraits[dtype].bytes);
  return typedView(dtype, buffer, byteOffset, size);
}
