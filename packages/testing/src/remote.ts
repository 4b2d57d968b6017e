// A device for tests that behaves as a GPU does: its bytes are none of the host's, its kernels run later, reads wait for them, errors arrive
// late, its memory is small, and it lacks some kernels.
import {
  type Allocator,
  type Backend,
  dtypeTraits,
  type Executable,
  HostScalars,
  hostBytes,
  InternalError,
  interpretPlan,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  type NumericDType,
  nextTurn,
  type Plan,
  PooledAllocator,
  partOf,
  placement,
  ResourceExhaustedError,
  registerBackend,
  type ScalarProgram,
  type Storage,
  type TensorRef,
  type Watcher,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend, openWatcher } from '@eagre/backend-native';

/** Bytes that only this file can look at. */
class RemoteBuffer {
  readonly size: number;
  readonly #memory: Storage;

  constructor(host: Allocator, bytes: number) {
    this.size = bytes;
    this.#memory = host.allocate(bytes);
  }

  /** What the kernels that do the work see. */
  static open({ buffer, byteOffset, capacity }: Storage): Storage {
    if (!(buffer instanceof RemoteBuffer))
      throw new InternalError('memory of the host was given to a kernel of the remote device');
    return partOf(buffer.#memory, byteOffset, capacity);
  }

  end(): void {
    this.#memory.release();
  }
}

/** What the device has been told and has not done yet. */
class Stream {
  #queue: (() => void)[] = [];
  #error: unknown;
  /** How often the host waited for work that was not done. */
  waits = 0;
  /** A device works while the host does something else. */
  #working = false;

  push(work: () => void): void {
    this.#queue.push(work);
    if (placement.synchronous) this.wait();
    else this.#work();
  }

  /** Does what is left. @throws the first error since the last wait. */
  wait(): void {
    if (this.#queue.length > 0) this.waits++;
    this.#run(this.#queue.length);
    this.throwLate();
  }

  async waitAsync(): Promise<void> {
    while (this.#queue.length > 0) await nextTurn();
    this.throwLate();
  }

  throwLate(): void {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
  }

  #run(count: number): void {
    // Work may be added by none of it.
    for (const work of this.#queue.splice(0, count)) {
      try {
        work();
      } catch (error) {
        this.#error ??= error;
      }
    }
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    while (this.#queue.length > 0) {
      await nextTurn();
      this.#run(16);
    }
    this.#working = false;
  }
}

class RemoteAllocator extends PooledAllocator<RemoteBuffer> {
  readonly isHost = false;
  readonly stream: Stream;
  readonly scalars: HostScalars;
  readonly #host: Allocator;
  readonly #limit: number;
  #used = 0;
  readonly #collected = new FinalizationRegistry<number>((bytes) => {
    this.#used -= bytes;
  });

  constructor(limit: number, host: Backend, watcher: Watcher | undefined) {
    super(watcher);
    this.#host = host.allocator;
    this.#limit = limit;
    this.stream = new Stream();
    this.scalars = new HostScalars(host.allocator);
  }

  read(from: Storage, bytes: number): Uint8Array {
    const known = this.scalars.read(from, bytes);
    if (known !== undefined) return known;
    this.stream.wait();
    return bytesOf(from, bytes).slice();
  }

  async readAsync(from: Storage, bytes: number): Promise<Uint8Array> {
    // Whoever waits may drop the tensor meanwhile.
    from.refs++;
    try {
      let copy: Uint8Array | undefined;
      this.stream.push(() => {
        copy = bytesOf(from, bytes).slice();
      });
      await this.stream.waitAsync();
      return copy as Uint8Array;
    } finally {
      from.release();
    }
  }

  write(to: Storage, bytes: Uint8Array): void {
    this.scalars.written(to, bytes);
    const sent = bytes.slice();
    this.stream.push(() => bytesOf(to, sent.length).set(sent));
  }

  copy(from: Storage, to: Storage, bytes: number): void {
    this.scalars.copied(from, to);
    this.stream.push(() => bytesOf(to, bytes).set(bytesOf(from, bytes)));
  }

  synchronize(): void {
    this.stream.wait();
  }

  synchronizeAsync(): Promise<void> {
    return this.stream.waitAsync();
  }

  protected allocated(): number {
    return this.#used;
  }

  protected take(bytes: number): RemoteBuffer {
    if (bytes > this.#limit)
      throw new ResourceExhaustedError(`no memory for ${bytes} bytes: there are ${this.#limit}`);
    if (this.#used + bytes > this.#limit)
      throw new RangeError(`${this.#used} of ${this.#limit} bytes are in use`);
    const buffer = new RemoteBuffer(this.#host, bytes);
    this.#used += bytes;
    this.#collected.register(buffer, bytes, buffer);
    return buffer;
  }

  protected addressOf(): number {
    return 0;
  }

  protected override give(buffer: RemoteBuffer): void {
    this.#collected.unregister(buffer);
    this.#used -= buffer.size;
    // What was called before is done with it first.
    this.stream.push(() => buffer.end());
  }
}

function bytesOf(storage: Storage, bytes: number): Uint8Array {
  return hostBytes(RemoteBuffer.open(storage), bytes);
}

export interface RemoteOptions {
  /** `REMOTE` unless given. */
  readonly type?: string;
  readonly index?: number;
  /** Bytes of memory; 64 MiB unless given. */
  readonly memory?: number;
  /** Tells which objects were collected, in a loop without a pause too: the native addon. */
  readonly watcher?: Watcher | undefined;
  /** Kernels that it has not. */
  readonly lacks?: readonly KernelName[];
}

export class RemoteBackend implements Backend {
  readonly name: string;
  readonly deviceType: string;
  readonly deviceIndex: number;
  readonly description = 'a device for tests, which works later';
  readonly allocator: RemoteAllocator;
  readonly #host: Backend;
  readonly #lacks: ReadonlySet<KernelName>;

  /** @param host whose kernels do the work. */
  constructor(
    host: Backend,
    { type = 'REMOTE', index = 0, memory = 64 << 20, watcher, lacks = [] }: RemoteOptions = {},
  ) {
    this.name = `${type.toLowerCase()}${index === 0 ? '' : index}`;
    this.deviceType = type;
    this.deviceIndex = index;
    this.#host = host;
    this.#lacks = new Set(lacks);
    this.allocator = new RemoteAllocator(memory, host, watcher);
  }

  /** How often the host has waited for it. */
  get waits(): number {
    return this.allocator.stream.waits;
  }

  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined {
    const kernel = this.#lacks.has(name) ? undefined : this.#host.kernel(name, inputs);
    return kernel === undefined ? undefined : this.#later(kernel);
  }

  elementwise(program: ScalarProgram): Kernel {
    return this.#later(this.#host.elementwise(program));
  }

  prepare(plan: Plan): Executable {
    const executable = interpretPlan(this, plan);
    const { stream } = this.allocator;
    return {
      arenaBytes: executable.arenaBytes,
      run(inputs, outputs, times) {
        stream.throwLate();
        executable.run(inputs, outputs, times);
      },
      runAsync: (inputs, outputs, signal) => executable.runAsync(inputs, outputs, signal),
      dispose: () => executable.dispose(),
    };
  }

  threads(): number {
    return 1;
  }

  #later(kernel: Kernel): Kernel {
    const { stream, scalars } = this.allocator;
    return (inputs, outputs, attrs) => {
      if (scalars.compute(kernel, inputs, outputs, attrs)) return;
      // Those of plans change with the next run.
      const [given, made, own] = [inputs.map(local), outputs.map(local), { ...attrs } as KernelAttrs];
      stream.push(() => kernel(given, made, own));
    };
  }
}

/** What the kernels of the host see of a tensor of the device. */
function local({ dtype, shape, size, storage }: TensorRef): TensorRef {
  if (size * dtypeTraits[dtype].bytes > storage.capacity)
    throw new InternalError('a tensor is larger than its memory');
  return { dtype, shape, size, storage: RemoteBuffer.open(storage) };
}

/** Two such devices, `/remote:0` and `/remote:1`, behind all other backends. */
export const remotes: readonly RemoteBackend[] = [0, 1].map(
  (index) =>
    new RemoteBackend(nativeBackend ?? jsBackend, {
      index,
      watcher: openWatcher(),
      lacks: ['Svd'],
    }),
);
for (const backend of remotes) registerBackend(backend, -1);
