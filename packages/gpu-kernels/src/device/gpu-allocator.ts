import {
  type Allocator,
  HostScalars,
  type MemoryPolicy,
  PooledAllocator,
  type Storage,
  type Watcher,
} from '@eagre/backend';

/** Memory of a GPU. Integer and bool scalars that the program itself sets are known to the host, and read without waiting. */
export abstract class GpuAllocator<Buffer extends object> extends PooledAllocator<Buffer> {
  readonly isHost = false;
  readonly #host: () => Allocator;
  readonly #sibling: { readonly scalars: HostScalars } | undefined;
  #scalars: HostScalars | undefined;

  /**
   * @param host lends memory for what is computed on the host. Its backend may come after this one.
   * @param alignment of every piece; 64 unless given.
   * @param policy that of the host's memory unless given.
   * @param sibling other memory of the same GPU: what the host knows is told for both.
   */
  constructor(
    host: () => Allocator,
    watcher: Watcher | undefined,
    alignment?: number,
    policy?: MemoryPolicy,
    sibling?: { readonly scalars: HostScalars },
  ) {
    super(watcher, alignment, policy);
    this.#host = host;
    this.#sibling = sibling;
  }

  /** Numbers of which the host has a copy. */
  get scalars(): HostScalars {
    return this.#sibling?.scalars ?? (this.#scalars ??= new HostScalars(this.#host()));
  }

  read(from: Storage, bytes: number): Uint8Array {
    return this.scalars.read(from, bytes) ?? this.readBytes(from, bytes);
  }

  async readAsync(from: Storage, bytes: number): Promise<Uint8Array> {
    // Whoever waits may drop the tensor meanwhile.
    from.refs++;
    try {
      return await this.readBytesAsync(from, bytes);
    } finally {
      from.release();
    }
  }

  write(to: Storage, bytes: Uint8Array): void {
    this.scalars.written(to, bytes);
    if (bytes.length > 0) this.writeBytes(to, bytes);
  }

  copy(from: Storage, to: Storage, bytes: number): void {
    this.scalars.copied(from, to);
    if (bytes > 0) this.copyBytes(from, to, bytes);
  }

  /** Waits for the GPU, and throws what went wrong before. */
  protected abstract readBytes(from: Storage, bytes: number): Uint8Array;
  protected abstract readBytesAsync(from: Storage, bytes: number): Promise<Uint8Array>;
  protected abstract writeBytes(to: Storage, bytes: Uint8Array): void;
  protected abstract copyBytes(from: Storage, to: Storage, bytes: number): void;
}
