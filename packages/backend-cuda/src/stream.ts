import {
  type CudaProgram,
  FAULT_BYTES,
  type Fault,
  faultError,
  type GpuProgram,
  Suspects,
} from '@eagre/gpu-kernels';
import { called, type NativeDevice, type NativeTransfer } from './addon.ts';
import type { CudaKernels } from './kernels.ts';

const POINTER_BYTES = 8;

/** A read with the faults up to its place in the stream. */
interface Reading {
  readonly data: NativeTransfer;
  readonly faults: NativeTransfer | undefined;
  readonly suspects: string | undefined;
}

/** How long programs that await a read sleep between two looks at it, in milliseconds, after some turns of the event loop without sleep. */
const NAP = 1;
const TURNS = 20;

/** What the GPU is told, in order. It works later. */
export class Stream {
  readonly device: NativeDevice;
  readonly #kernels: CudaKernels;
  /** Where kernels note what went wrong. */
  readonly faults: number;
  readonly #suspects = new Suspects();
  /** What went wrong where nothing can be thrown. */
  #late: Error | undefined;
  /** The arguments of a launch. */
  #words = new Uint32Array(256);
  /** The same memory. */
  #floats = new Float32Array(this.#words.buffer);

  constructor(device: NativeDevice, kernels: CudaKernels) {
    this.device = device;
    this.#kernels = kernels;
    this.faults = called(() => device.allocate(FAULT_BYTES));
    called(() => device.fill(this.faults, 0, FAULT_BYTES));
  }

  /**
   * Adds a dispatch.
   * @param addresses of the program's buffers.
   * @param suspect what to call the kernel by that may note a fault, if it may.
   */
  dispatch(
    program: GpuProgram | CudaProgram,
    addresses: readonly number[],
    params: readonly number[],
    [x, y, z]: readonly [number, number, number],
    suspect: string | undefined,
  ): void {
    const { kernel, block } = this.#kernels.get(program);
    const bytes = this.#pack(program, addresses, params);
    called(() => this.device.launch(kernel, x, y, z, block[0], block[1], block[2], bytes, addresses.length));
    if (suspect !== undefined) this.#suspects.add(suspect);
  }

  #pack(
    { params: types }: GpuProgram | CudaProgram,
    addresses: readonly number[],
    params: readonly number[],
  ): Uint8Array {
    const bytes = POINTER_BYTES * addresses.length + 4 * params.length;
    if (bytes > this.#words.byteLength) {
      this.#words = new Uint32Array(bytes / 2);
      this.#floats = new Float32Array(this.#words.buffer);
    }
    const [words, floats] = [this.#words, this.#floats];
    let at = 0;
    for (const address of addresses) {
      words[at++] = address % 2 ** 32;
      words[at++] = Math.floor(address / 2 ** 32);
    }
    for (let i = 0; i < params.length; i++) {
      if (types[i] === 'f32') floats[at++] = params[i];
      else words[at++] = params[i];
    }
    return new Uint8Array(words.buffer, 0, bytes);
  }

  /** Has the next read throw an error. */
  throwLater(error: Error): void {
    this.#late ??= error;
  }

  /** The bytes at an address, after all that was told before. @throws the error of a kernel that failed meanwhile. */
  read(address: number, bytes: number): Uint8Array<ArrayBuffer> {
    return this.#finish(this.#start(address, bytes));
  }

  /** `read` that lets other code run meanwhile. */
  async readAsync(address: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const reading = this.#start(address, bytes);
    const last = reading.faults ?? reading.data;
    // The driver calls no JavaScript when it is done, so the program looks.
    for (let turn = 0; !called(() => last.isDone()); turn++)
      await new Promise<void>((resolve) => {
        if (turn < TURNS) setImmediate(resolve);
        else setTimeout(resolve, NAP);
      });
    return this.#finish(reading);
  }

  #start(address: number, bytes: number): Reading {
    const { device, faults } = this;
    const data = called(() => device.startRead(address, bytes));
    const suspects = this.#suspects.take();
    if (suspects === undefined) return { data, faults: undefined, suspects };
    try {
      const noted = called(() => device.startRead(faults, FAULT_BYTES));
      called(() => device.fill(faults, 0, FAULT_BYTES));
      return { data, faults: noted, suspects };
    } catch (error) {
      // The faults are still where they were.
      this.#suspects.add(suspects);
      throw error;
    }
  }

  #finish({ data, faults, suspects }: Reading): Uint8Array<ArrayBuffer> {
    const bytes = called(() => data.finish());
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) {
      if (suspects !== undefined) this.#suspects.add(suspects);
      throw late;
    }
    if (faults !== undefined && suspects !== undefined) {
      const [number] = new Uint32Array(called(() => faults.finish()).buffer);
      if (number !== 0) throw faultError(number as Fault, suspects);
    }
    return bytes;
  }
}
