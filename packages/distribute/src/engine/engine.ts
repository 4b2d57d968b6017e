// The collectives of one process, over plain memory.
import {
  type ErrorCode,
  errorFromCode,
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  UnimplementedError,
} from '@eagre/backend';
import {
  type CollectiveKind,
  elements,
  type GpuPart,
  kinds,
  type NativeEngine,
  type NativeOperation,
  type ReducedDType,
  type ReductionName,
  reductions,
} from './native-engine.ts';

/** What an operation is, beside its memory. */
export interface OperationOptions {
  /** What it is for, the same on all ranks. */
  readonly name?: string;
  /** What each of the values in the name belongs to, with semicolons between; for errors, and need not be the same. */
  readonly labels?: string;
  /** How long it may take in seconds; null, the default, for ever, as long as all ranks are alive. */
  readonly timeoutSeconds?: number | null;
}

/** How values are combined. */
export interface ReduceOptions extends OperationOptions {
  readonly dtype: ReducedDType;
  /** The sum by default. A mean is the sum divided by the number of ranks, for floats. */
  readonly reduction?: ReductionName;
}

/** Memory: elements in place. 16-bit floats are their bits. */
export type Memory = ArrayBufferView;

/**
 * The collectives of one rank. All ranks call the same operations, in the same order, with the same names, dtypes and sizes; the engine
 * notices where they do not, and ends with an InvalidArgumentError on all ranks. Whatever fails ends the engine: every later
 * operation throws the same error. Each operation has a form that blocks and, with the ending `Async`, one that gives a promise, whose memory must not
 * be touched before.
 */
export class Engine {
  readonly rank: number;
  readonly size: number;
  /** How errors name the ranks. */
  readonly names: readonly string[];
  /** Whether sums are always in the order of ranks. Without it, sums of three and more ranks depend on the place in the buffer. */
  readonly deterministic: boolean;
  /** Which of the driver's GPUs NCCL uses; null with other libraries. */
  readonly gpu: number | null;
  readonly #native: NativeEngine;
  /** What the addon knows of names. */
  readonly #names = new Map<string, { readonly tag: number; readonly about: number }>();
  #nextName = 0;

  constructor(
    native: NativeEngine,
    rank: number,
    names: readonly string[],
    deterministic: boolean,
    gpu: number | null,
  ) {
    this.#native = native;
    this.rank = rank;
    this.size = names.length;
    this.names = names;
    this.deterministic = deterministic;
    this.gpu = gpu;
    closeAtExit(this);
  }

  /**
   * In place: the reduction of what all ranks have. With NCCL also of memory of its GPU, where `reducesOnGpu`: on all ranks or on none. An event of the
   * driver tells when it is filled; it must not be touched, nor the event dropped, before the end.
   */
  allReduce(data: Memory | GpuPart, options: ReduceOptions): void {
    this.#run(this.#reducing('allReduce', data, 0, options));
  }
  allReduceAsync(data: Memory | GpuPart, options: ReduceOptions): Promise<void> {
    return this.#start(this.#reducing('allReduce', data, 0, options));
  }
  /** As `allReduce`, but rank `root` alone gets the result; the others keep what they have. */
  reduce(data: Memory, root: number, options: ReduceOptions): void {
    this.#run(this.#reducing('reduce', data, root, options));
  }
  reduceAsync(data: Memory, root: number, options: ReduceOptions): Promise<void> {
    return this.#start(this.#reducing('reduce', data, root, options));
  }
  /** In place: what rank `root` has. */
  broadcast(data: Memory, root: number, options: OperationOptions = {}): void {
    this.#run(this.#moving('broadcast', data, root, options));
  }
  broadcastAsync(data: Memory, root: number, options: OperationOptions = {}): Promise<void> {
    return this.#start(this.#moving('broadcast', data, root, options));
  }
  /** Into `out`: what all ranks give, one behind the other. `bytes` has the size of each rank's part. */
  allGather(data: Memory, out: Memory, bytes: readonly number[], options: OperationOptions = {}): void {
    this.#run(this.#gathering(data, out, bytes, options));
  }
  allGatherAsync(
    data: Memory,
    out: Memory,
    bytes: readonly number[],
    options: OperationOptions = {},
  ): Promise<void> {
    return this.#start(this.#gathering(data, out, bytes, options));
  }
  /** Until all ranks are here. */
  barrier(options: OperationOptions = {}): void {
    this.#run(this.#moving('barrier', undefined, 0, options));
  }
  barrierAsync(options: OperationOptions = {}): Promise<void> {
    return this.#start(this.#moving('barrier', undefined, 0, options));
  }

  /** Whether memory of NCCL's GPU can be added up where it lies: floats of 16 bits, and sums in the order of ranks, go through the host. */
  reducesOnGpu(dtype: ReducedDType): boolean {
    return this.gpu !== null && !dtype.includes('float16') && (!this.deterministic || this.size === 2);
  }

  /** Ends all operations on all ranks, with an error of this code. */
  abort(message: string, code: ErrorCode = 'ABORTED'): void {
    this.#native.fail(code, message);
  }
  /** The error by which the engine ended, if it did. */
  get failure(): Error | undefined {
    const verdict = this.#native.verdict();
    return verdict === undefined ? undefined : typedError(verdict);
  }
  /** Says farewell, after the others have ended the operations that this rank has, or after so many milliseconds. */
  close(waitMs: number = 5000): Promise<void> {
    return this.#native.close(waitMs);
  }
  /** The same at the end of a process, blocking. */
  closeNow(waitMs: number): void {
    this.#native.closeNow(waitMs);
  }

  #run(operation: NativeOperation): void {
    try {
      this.#native.run(...operation);
    } catch (error) {
      throw typedError(error);
    }
  }
  #start(operation: NativeOperation): Promise<void> {
    return this.#native.start(...operation).catch((error: unknown) => {
      throw typedError(error);
    });
  }

  #reducing(
    kind: CollectiveKind,
    data: Memory | GpuPart,
    root: number,
    { dtype, reduction = 'sum', ...options }: ReduceOptions,
  ): NativeOperation {
    if (!Object.hasOwn(elements, dtype) || (dtype as string) === 'bytes')
      throw new InvalidArgumentError(
        `values of dtype ${dtype} cannot be reduced between processes; cast them first`,
        kind,
      );
    if (!Object.hasOwn(reductions, reduction))
      throw new InvalidArgumentError(`unknown reduction ${reduction}`, kind);
    if (reduction === 'mean' && dtype.startsWith('int'))
      throw new InvalidArgumentError(`the mean of ${dtype} is not defined; cast to a float first`, kind);
    if (!ArrayBuffer.isView(data) && !(this.reducesOnGpu(dtype) && reduction === 'sum'))
      throw new UnimplementedError(
        `the ${reduction} of ${dtype} in memory of a GPU is not there; read it to the host first`,
        kind,
      );
    this.#checkRoot(root, kind);
    return [
      kinds[kind],
      elements[dtype],
      reductions[reduction],
      this.deterministic,
      root,
      ...this.#rest(options),
      data,
      undefined,
      undefined,
    ];
  }
  #moving(
    kind: CollectiveKind,
    data: Memory | undefined,
    root: number,
    options: OperationOptions,
  ): NativeOperation {
    this.#checkRoot(root, kind);
    return [kinds[kind], elements.bytes, 0, false, root, ...this.#rest(options), data, undefined, undefined];
  }
  #gathering(
    data: Memory,
    out: Memory,
    bytes: readonly number[],
    options: OperationOptions,
  ): NativeOperation {
    const total = bytes.reduce((a, b) => a + b, 0);
    if (bytes.length !== this.size || bytes[this.rank] !== data.byteLength || total !== out.byteLength)
      throw new InvalidArgumentError(
        `the parts have ${bytes.join(', ')} bytes, but this rank gives ${data.byteLength}, and there is room for ${out.byteLength}`,
        'allGather',
      );
    return [kinds.allGather, elements.bytes, 0, false, 0, ...this.#rest(options), data, out, bytes];
  }
  #rest({
    name = '',
    labels = '',
    timeoutSeconds = null,
  }: OperationOptions): [tag: number, about: number, timeout: number] {
    if (timeoutSeconds !== null && !(timeoutSeconds > 0))
      throw new InvalidArgumentError(`timeoutSeconds must be positive or null, got ${timeoutSeconds}`);
    const { tag, about } = this.#known(name, labels);
    return [tag, about, timeoutSeconds === null ? 0 : Math.max(1, Math.round(timeoutSeconds * 1000))];
  }
  #known(name: string, labels: string): { readonly tag: number; readonly about: number } {
    const key = labels === '' ? name : `${name}\n${labels}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    // Where names are new again and again, old ones are forgotten.
    if (this.#names.size >= mostNames) this.#names.clear();
    const about = name === '' ? 0 : 1 + (this.#nextName++ % mostNames);
    if (about !== 0) this.#native.name(about, labelled(name, labels));
    const added = { tag: tagOf(name), about };
    this.#names.set(key, added);
    return added;
  }
  #checkRoot(root: number, kind: CollectiveKind): void {
    if (!Number.isInteger(root) || root < 0 || root >= this.size)
      throw new InvalidArgumentError(`root must be a rank below ${this.size}, got ${root}`, kind);
  }
}

const mostNames = 4000;

// A program that ends by `process.exit` or an error runs no hooks of addons, and the others would take it for lost.
const open = new Set<WeakRef<Engine>>();
let isWatchingExit = false;
function closeAtExit(engine: Engine): void {
  for (const each of open) if (each.deref() === undefined) open.delete(each);
  open.add(new WeakRef(engine));
  if (isWatchingExit) return;
  isWatchingExit = true;
  globalThis.process.on('exit', () => {
    for (const each of open) each.deref()?.closeNow(0);
  });
}

/** `sum: float32[2]; float32[3]` with the labels `a; b` is `sum: a float32[2]; b float32[3]`. */
function labelled(name: string, labels: string): string {
  if (labels === '') return name;
  const at = name.indexOf(': ') + 2;
  const all = labels.split('; ');
  const parts = name
    .slice(at)
    .split('; ')
    .map((part, i) => `${all[i]} ${part}`);
  return `${name.slice(0, at)}${parts.join('; ')}`;
}

/** FNV-1a of a name. */
function tagOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** What the addon throws, with its code. */
export function typedError(error: unknown): Error {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  const known = [
    'UNAVAILABLE',
    'DEADLINE_EXCEEDED',
    'INVALID_ARGUMENT',
    'ABORTED',
    'FAILED_PRECONDITION',
    'UNIMPLEMENTED',
  ];
  if (code !== undefined && known.includes(code)) return errorFromCode(code as ErrorCode, message ?? '');
  if (message?.includes('is not connected'))
    return new FailedPreconditionError('the processes are not connected');
  return new InternalError(message ?? String(error), undefined, { cause: error });
}
