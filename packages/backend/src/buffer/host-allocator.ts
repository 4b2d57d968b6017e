import { ResourceExhaustedError } from '../errors.ts';
import { collectsYoung } from './minor-gc.ts';
import { PooledAllocator, type Watcher } from './pooled-allocator.ts';
import { hostBytes, type Storage } from './storage.ts';

const LARGE = 1024 * 1024 * 1024;
// Linux gives memory in pages of this size where they begin and end within it, and finding a page among 4 KB ones costs kernels a tenth of
// their time. So large blocks begin where such a page does: what lies before is never touched, and takes addresses only. A page that is
// not used whole costs more than it brings, so NumPy too asks for them from 4 MB on.
const LARGE_PAGE = 2 * 1024 * 1024;
const LARGE_BLOCK = 4 * 1024 * 1024;

/** Host memory in V8-owned buffers. */
export class HostAllocator extends PooledAllocator<ArrayBuffer> {
  readonly isHost = true;
  readonly #addressOf: (buffer: ArrayBuffer) => number;
  readonly #hasLargePages: boolean;

  /**
   * @param addressOf the machine address of a buffer; a backend that needs none passes nothing.
   * @param watcher without one, V8 collects the buffers of dropped tensors.
   */
  constructor(addressOf?: (buffer: ArrayBuffer) => number, watcher?: Watcher) {
    super(watcher);
    this.#addressOf = addressOf ?? (() => 0);
    // Other platforms than Node may fill a buffer when they make it.
    this.#hasLargePages = addressOf !== undefined && collectsYoung && process.platform === 'linux';
  }

  read(from: Storage, bytes: number): Uint8Array {
    return hostBytes(from, bytes).slice();
  }

  async readAsync(from: Storage, bytes: number): Promise<Uint8Array> {
    return this.read(from, bytes);
  }

  write(to: Storage, bytes: Uint8Array): void {
    hostBytes(to, bytes.length).set(bytes);
  }

  copy(from: Storage, to: Storage, bytes: number): void {
    hostBytes(to, bytes).set(hostBytes(from, bytes));
  }

  /** Kernels of the host are done when they return. */
  synchronize(): void {}
  async synchronizeAsync(): Promise<void> {}

  protected allocated(): number {
    return arrayBufferBytes();
  }

  protected take(bytes: number): ArrayBuffer {
    checkLimit(bytes);
    return allocateBytes(bytes);
  }

  protected addressOf(buffer: ArrayBuffer): number {
    return this.#addressOf(buffer);
  }

  protected override alignmentOf(size: number): number {
    return size >= LARGE_BLOCK && this.#hasLargePages ? LARGE_PAGE : super.alignmentOf(size);
  }
}

// Limits show only when the pages are touched, by the end of the process: so what can never fit is refused.
function checkLimit(bytes: number): void {
  if (bytes < LARGE || typeof process !== 'object') return;
  const container = process.constrainedMemory?.() || Infinity;
  const machine = process.getBuiltinModule?.('node:os').totalmem() ?? Infinity;
  const limit = Math.min(container, machine);
  if (bytes > limit)
    throw new ResourceExhaustedError(`no memory for ${bytes} bytes: there are ${limit}, all in all`);
}

// Node's Buffer skips the zeroing that `new ArrayBuffer` must do (230 µs against 9 µs for 4 MB); browsers have only the latter.
const allocateBytes: (bytes: number) => ArrayBuffer =
  typeof Buffer === 'function' && typeof Buffer.allocUnsafeSlow === 'function'
    ? (bytes) => Buffer.allocUnsafeSlow(bytes).buffer
    : (bytes) => new ArrayBuffer(bytes);

const arrayBufferBytes = (): number =>
  typeof process === 'object' ? process.memoryUsage().arrayBuffers : Number.NaN;
