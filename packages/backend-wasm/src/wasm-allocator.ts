import { PooledAllocator, ResourceExhaustedError, type Storage, type Watcher } from '@eagre/backend';
import type { WasmMemory } from './memory.ts';

/** What the module's allocator has given. */
interface Piece {
  readonly address: number;
}

// What 32 bits can address, less a page for what is at its end.
const MOST = 2 ** 32 - 2 ** 16;

/**
 * Lends out the module's memory. It counts as that of a device: kernels reach it by address, and JavaScript gets copies, since views of it would
 * be empty as soon as it has grown.
 */
export class WasmAllocator extends PooledAllocator<Piece> {
  readonly isHost = false;
  readonly #memory: WasmMemory;

  constructor(memory: WasmMemory, watcher: Watcher) {
    super(watcher);
    this.#memory = memory;
  }

  read(from: Storage, bytes: number): Uint8Array {
    return this.#memory.bytes(from.address, bytes).slice();
  }

  async readAsync(from: Storage, bytes: number): Promise<Uint8Array> {
    return this.read(from, bytes);
  }

  write(to: Storage, bytes: Uint8Array): void {
    this.#memory.bytes(to.address, bytes.length).set(bytes);
  }

  copy(from: Storage, to: Storage, bytes: number): void {
    this.#memory.bytes(to.address, bytes).set(this.#memory.bytes(from.address, bytes));
  }

  /** Kernels are done when they return. */
  synchronize(): void {}
  async synchronizeAsync(): Promise<void> {}

  protected allocated(): number {
    return this.#memory.size;
  }

  protected take(bytes: number): Piece {
    if (bytes > MOST)
      throw new ResourceExhaustedError(`no memory for ${bytes} bytes: WebAssembly can address ${MOST}`);
    const address = this.#memory.exports.allocate(bytes) >>> 0;
    if (address === 0) throw new RangeError('the memory of WebAssembly is full');
    return { address };
  }

  protected override fullMessage(bytes: number): string {
    return `${super.fullMessage(bytes)}: what was dropped comes back between two turns of the event loop, so await something in a long loop, or dispose of tensors by \`using\``;
  }

  protected addressOf(piece: Piece): number {
    return piece.address;
  }

  protected override give(piece: Piece): void {
    this.#memory.exports.release(piece.address);
  }
}
