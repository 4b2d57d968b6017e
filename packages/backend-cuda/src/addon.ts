import {
  type EagreError,
  type ErrorCode,
  errorFromCode,
  errorNumbers,
  UnavailableError,
} from '@eagre/backend';

/** What the driver tells of a GPU. */
export interface DeviceInfo {
  readonly name: string;
  /** The compute capability: 90 for 9.0. */
  readonly capability: number;
  readonly multiprocessors: number;
  /** The newest CUDA that the driver supports: 12080 for 12.8. */
  readonly driverVersion: number;
  readonly bytes: number;
  /** Whether memory is taken and given back in the order of the stream. */
  readonly hasMemoryPools: boolean;
  readonly hasGraphs: boolean;
  /** Whether kernels may have tensor maps. */
  readonly hasTensorMaps: boolean;
}

/** A read that is under way. */
export interface NativeTransfer {
  isDone(): boolean;
  /** Waits. Once only. */
  finish(): Uint8Array<ArrayBuffer>;
}

/** A GPU with its one stream, as native/cuda/device.h has it. Addresses and sizes are in bytes. */
export interface NativeDevice {
  info(): DeviceInfo;
  freeBytes(): number;
  allocate(bytes: number): number;
  /** What was called before may still use the memory. */
  free(address: number): void;
  /** `bytes` may change afterwards. */
  write(to: number, bytes: Uint8Array): void;
  startRead(from: number, bytes: number): NativeTransfer;
  copy(to: number, from: number, bytes: number): void;
  /** From another GPU, behind what that was told before; what it is told later waits until its memory is read. */
  copyFrom(to: number, other: NativeDevice, from: number, bytes: number): void;
  fill(to: number, value: number, bytes: number): void;
  /** Takes a cubin, a fatbin or PTX, and gives the number of its module. */
  load(image: Uint8Array): number;
  unload(module: number): void;
  /** The number of a kernel of a module. @param shared bytes of shared memory that each launch gives it, beside those that it declares. */
  function(module: number, name: string, shared: number): number;
  /** Finds cuBLASLt: the first of these libraries that can be used. Once. */
  openProducts(paths: readonly string[]): { readonly path: string; readonly version: string };
  /**
   * The number of a product for lists of launches, or 0 where the library has no algorithm for it: `ProductShape` of native/cuda/cublas_lt.h.
   * @param flags 1 a is transposed, 2 b is, 4 there is a bias, 8 relu.
   */
  product(
    type: number,
    flags: number,
    rows: number,
    columns: number,
    depth: number,
    batches: number,
    strideA: number,
    strideB: number,
    alignment: number,
  ): number;
  /** The bytes that each call of a product needs besides. */
  workspace(product: number): number;
  dropProduct(product: number): void;
  /** Launches a list, as `LaunchList` makes it. The driver is told later: what it says is thrown by one of the next launches, graphs, reads or waits. */
  launchAll(list: Uint8Array): void;
  /** Has the driver told now what was launched. */
  settle(): void;
  /** The number of a graph that does what a list says, or 0 where the driver cannot make it. Nothing is launched. */
  makeGraph(list: Uint8Array): number;
  /** Launches a list by a graph, as `launchAll`. @returns false, and nothing is done, where the graph cannot do it, or could not do what it was told last. */
  launchGraph(graph: number, list: Uint8Array): boolean;
  dropGraph(graph: number): void;
  /** The number of an event behind what was called before. */
  record(): number;
  isDone(event: number): boolean;
  /** As the driver knows it, for other libraries. */
  handle(event: number): number;
  wait(event: number): void;
  drop(event: number): void;
  synchronize(): void;
  /** Gives everything back. Every other call but `info` throws then. */
  close(): void;
}

/** A value that all GPUs of a group have: NCCL's number of its type, its elements, and its addresses on each GPU before and behind the sum. */
export type NativeSum = readonly [
  type: number,
  count: number,
  from: readonly number[],
  to: readonly number[],
];

/** GPUs that add values up by NCCL, as native/cuda/group.h has them. */
export interface NativeGroup {
  /** Behind what each GPU was told before. What fails ends the group. */
  allReduce(sums: readonly NativeSum[]): void;
  close(): void;
}

/** The addon built from native/cuda. All that it throws has a `code`; `called` makes it one of Eagre's errors. */
export interface CudaAddon {
  /** @param driver path or name of the driver's library. */
  readonly Device: new (
    driver: string,
    ordinal: number,
  ) => NativeDevice;
  readonly Group: new (devices: readonly NativeDevice[]) => NativeGroup;
  countDevices(driver: string): number;
  /** The first of these libraries that can be loaded. */
  findCompiler(paths: readonly string[]): { readonly path: string; readonly version: string };
  /** CUDA C++ → an image for a GPU of this compute capability. @param name for messages. */
  compile(paths: readonly string[], text: string, name: string, capability: number): Uint8Array;
}

/** What an error of the addon has. */
interface AddonError {
  readonly message: string;
  readonly code?: string;
  /** `CUDA_ERROR_OUT_OF_MEMORY`, and the like. */
  readonly driverError?: string;
}

/** Runs calls of the addon, and has them throw errors of Eagre. Their `cause` is the addon's, with the driver's name of it as `driverError`. */
export function called<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw typed(error);
  }
}

/** Whether the addon threw an error of this code. */
export function isCode(error: unknown, code: ErrorCode): boolean {
  return (error as AddonError).code === code;
}

/** An error of the addon as one of Eagre. */
export function typed(error: unknown): Error {
  const { code, message } = error as AddonError;
  if (code === undefined || !(code in errorNumbers)) return error as Error;
  const made: EagreError = errorFromCode(code as ErrorCode, message);
  made.cause = error;
  return made;
}

/**
 * The addon for this platform.
 * @throws UnavailableError that says why there is none.
 */
export function loadCudaAddon(): CudaAddon {
  const builtin = globalThis.process?.getBuiltinModule;
  const platform = builtin === undefined ? 'this' : `${process.platform}-${process.arch}`;
  if (builtin === undefined || (platform !== 'linux-x64' && platform !== 'linux-arm64'))
    throw new UnavailableError(
      `CUDA is for Node on Linux, on x64 and arm64; this is ${builtin === undefined ? 'no Node' : platform}`,
    );
  const require = builtin('node:module').createRequire(import.meta.url);
  const file = `@eagre/native-${platform}/cuda.cjs`;
  try {
    return require(file) as CudaAddon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new UnavailableError(`the addon for CUDA cannot be loaded: ${file}: ${reason}`, undefined, {
      cause,
    });
  }
}
