/** What `native/distribute/binding.cc` offers. */
export interface NativeEngine {
  /** Where each of the other ranks connects to: bytes that only the addon understands. */
  addresses(): Uint8Array[];
  /** Where it listens for heartbeats. */
  port(): number;
  /** The GPUs that this process may use, by their places on the bus, with commas between; empty without NCCL. */
  gpus(): string;
  /**
   * Begins the library, which may wait for the other ranks: once all are known to be there, before `connect`, on the thread that made the
   * engine. `shared`, unless empty, is a name that this cluster alone has: memory of the machine, where all ranks are, then takes the
   * library's place. `gpu`: which of its GPUs NCCL is to use. @throws Error with a code
   */
  prepare(shared: string, gpu: number): void;
  /** Waits until every rank is connected to every other. `key` is alike on all ranks. */
  connect(
    addresses: readonly Uint8Array[],
    hosts: readonly string[],
    ports: readonly number[],
    key: bigint,
  ): Promise<void>;
  /** From here on the others are watched, and operations can be given: once all are known to be connected. */
  begin(): void;
  /** What operations with a number for `about` are for, in words for messages. */
  name(about: number, text: string): void;
  /** Blocks until the operation has ended. @throws Error with a code */
  run(...operation: NativeOperation): void;
  /** The same on the communication thread, which holds the memory until the promise is settled. */
  start(...operation: NativeOperation): Promise<void>;
  /** Ends all operations, here and on the other ranks. */
  fail(code: string, message: string): void;
  /** The error by which the engine ended, if it did. */
  verdict(): (Error & { readonly code: string }) | undefined;
  /** Says farewell to the others, and waits at most so many milliseconds until they have ended what this one has. */
  close(wait: number): Promise<void>;
  closeNow(wait: number): void;
}

/** Makes engines, which listen from then on. Times are in milliseconds. */
export type NativeEngineClass = new (options: {
  readonly library: number;
  readonly rank: number;
  readonly size: number;
  readonly host: string;
  readonly names: readonly string[];
  readonly heartbeat: number;
  readonly timeout: number;
}) => NativeEngine;

export type NativeOperation = [
  kind: number,
  element: number,
  reduction: number,
  inOrder: boolean,
  root: number,
  tag: number,
  about: number,
  timeout: number,
  data: ArrayBufferView | GpuPart | undefined,
  out: ArrayBufferView | undefined,
  counts: readonly number[] | undefined,
];

/** Memory of the GPU that NCCL uses: where it begins, and an event of the driver behind what fills it. */
export interface GpuPart {
  readonly address: number;
  readonly bytes: number;
  readonly event: number;
}

const numbers = <K extends string>(...names: readonly K[]): { readonly [P in K]: number } =>
  Object.fromEntries(names.map((name, i) => [name, i])) as never;

/** `Kind` in native/distribute/mesh.h. */
export const kinds: { readonly [K in 'none' | CollectiveKind]: number } = numbers(
  'none',
  'allReduce',
  'allGather',
  'broadcast',
  'reduce',
  'barrier',
);
export type CollectiveKind = 'allReduce' | 'allGather' | 'broadcast' | 'reduce' | 'barrier';

/** `Element` in native/distribute/reduction.h. */
export const elements: { readonly [K in ReducedDType | 'bytes']: number } = numbers(
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'int32',
  'int64',
  'bytes',
);
/** The dtypes that can be reduced; all others can be moved. */
export type ReducedDType = 'float32' | 'float64' | 'float16' | 'bfloat16' | 'int32' | 'int64';

/** `Library` in native/distribute/engine.h. */
export const libraries: { readonly [K in 'Gloo' | 'MPI' | 'NCCL']: number } = numbers('Gloo', 'MPI', 'NCCL');

/** `Reduction` in native/distribute/reduction.h. */
export const reductions: { readonly [K in ReductionName]: number } = numbers('sum', 'mean', 'min', 'max');
export type ReductionName = 'sum' | 'mean' | 'min' | 'max';
