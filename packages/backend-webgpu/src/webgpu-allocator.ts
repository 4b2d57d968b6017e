import { type Allocator, ResourceExhaustedError, type Storage, type Watcher } from '@eagre/backend';
import { GpuAllocator } from '@eagre/gpu-kernels';
import type { DeviceBuffer, Stream, View } from './stream.ts';

/** Parts of a buffer that kernels see begin at multiples of it. */
const ALIGN = 256;

/** The words that hold so many bytes. */
const wholeWords = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** Some bytes of memory of the device. */
export function viewOf({ buffer, byteOffset }: Storage, bytes: number): View {
  return { buffer: buffer as DeviceBuffer, offset: byteOffset, bytes };
}

/** Memory of a GPU through WebGPU. */
export class WebGpuAllocator extends GpuAllocator<DeviceBuffer> {
  readonly #stream: Stream;
  /** Copies within one buffer, which WebGPU does not do. */
  readonly #copyWithin: (from: Storage, to: Storage, bytes: number) => void;
  #used = 0;
  /** Its memory has to be ended: bind groups that are kept for later calls hold it. */
  readonly #collected = new FinalizationRegistry<GPUBuffer>((gpu) => this.#end(gpu));

  constructor(
    stream: Stream,
    host: () => Allocator,
    watcher: Watcher | undefined,
    copyWithin: (from: Storage, to: Storage, bytes: number) => void,
  ) {
    super(host, watcher, ALIGN);
    this.#stream = stream;
    this.#copyWithin = copyWithin;
  }

  protected readBytes(from: Storage, bytes: number): Uint8Array {
    return this.#stream.read(viewOf(from, wholeWords(bytes))).subarray(0, bytes);
  }

  protected async readBytesAsync(from: Storage, bytes: number): Promise<Uint8Array> {
    return (await this.#stream.readAsync(viewOf(from, wholeWords(bytes)))).subarray(0, bytes);
  }

  protected writeBytes(to: Storage, bytes: Uint8Array): void {
    const words = wholeWords(bytes.length);
    let whole = bytes;
    if (words > bytes.length) {
      whole = new Uint8Array(words);
      whole.set(bytes);
    }
    // WebGPU takes shared memory too; its types do not say so.
    this.#stream.write(viewOf(to, words), whole as Uint8Array<ArrayBuffer>);
  }

  protected copyBytes(from: Storage, to: Storage, bytes: number): void {
    const words = wholeWords(bytes);
    if (from.buffer === to.buffer) this.#copyWithin(from, to, bytes);
    else this.#stream.copy(viewOf(from, words), viewOf(to, words), words);
  }

  synchronize(): void {
    this.#stream.read({ buffer: this.#stream.faults, offset: 0, bytes: 4 });
  }

  async synchronizeAsync(): Promise<void> {
    await this.#stream.readAsync({ buffer: this.#stream.faults, offset: 0, bytes: 4 });
  }

  protected allocated(): number {
    return this.#used;
  }

  protected take(bytes: number): DeviceBuffer {
    const { limit } = this.#stream;
    if (bytes > limit)
      throw new ResourceExhaustedError(
        `no memory for ${bytes} bytes: this GPU has buffers of at most ${limit}`,
      );
    const buffer = this.#stream.create(bytes);
    this.#used += buffer.gpu.size;
    this.#collected.register(buffer, buffer.gpu, buffer);
    return buffer;
  }

  protected addressOf(): number {
    return 0;
  }

  protected override give(buffer: DeviceBuffer): void {
    this.#collected.unregister(buffer);
    this.#end(buffer.gpu);
  }

  #end(gpu: GPUBuffer): void {
    this.#used -= gpu.size;
    this.#stream.destroy(gpu);
  }
}
