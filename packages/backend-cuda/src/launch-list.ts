import type { CudaProgram, GpuProgram } from '@eagre/gpu-kernels';
import type { CudaKernel } from './kernels.ts';

const POINTER_WORDS = 2;
/** The words of a launch's head: `LaunchHead` of native/cuda/device.h. */
const HEAD = 10;
/** Its last word, for products of a library. */
const PRODUCT = 1;

/** Launches in a row, as the addon takes them. */
export class LaunchList {
  #words = new Uint32Array(1024);
  /** The same memory. */
  #floats = new Float32Array(this.#words.buffer);
  #length = 0;
  #count = 0;

  /** How many launches there are. */
  get count(): number {
    return this.#count;
  }

  /** @param addresses of the program's buffers. */
  add(
    { kernel, block }: CudaKernel,
    { params: types }: GpuProgram | CudaProgram,
    addresses: readonly number[],
    params: readonly number[],
    workgroups: readonly [x: number, y: number, z: number],
  ): void {
    const size = POINTER_WORDS * addresses.length + params.length;
    const end = this.#length + HEAD + size + (size % 2);
    if (end > this.#words.length) this.#grow(end);
    const [words, floats] = [this.#words, this.#floats];
    let at = this.#length;
    words[at++] = kernel;
    for (let i = 0; i < 3; i++) words[at++] = workgroups[i];
    for (let i = 0; i < 3; i++) words[at++] = block[i];
    words[at++] = addresses.length;
    words[at++] = 4 * size;
    words[at++] = 0;
    for (const address of addresses) {
      words[at++] = address % 2 ** 32;
      words[at++] = Math.floor(address / 2 ** 32);
    }
    for (let i = 0; i < params.length; i++) {
      if (types[i] === 'f32') floats[at++] = params[i];
      else words[at++] = params[i];
    }
    // Lists are compared byte by byte.
    if (at < end) words[at] = 0;
    this.#length = end;
    this.#count++;
  }

  /** @param product its number on the device. @param addresses of its operands. */
  addProduct(product: number, addresses: readonly number[]): void {
    const end = this.#length + HEAD + POINTER_WORDS * addresses.length;
    if (end > this.#words.length) this.#grow(end);
    const words = this.#words;
    let at = this.#length;
    words[at++] = product;
    // It has no grid and no block.
    for (let i = 0; i < 6; i++) words[at++] = 0;
    words[at++] = addresses.length;
    words[at++] = 4 * POINTER_WORDS * addresses.length;
    words[at++] = PRODUCT;
    for (const address of addresses) {
      words[at++] = address % 2 ** 32;
      words[at++] = Math.floor(address / 2 ** 32);
    }
    this.#length = end;
    this.#count++;
  }

  #grow(least: number): void {
    const before = this.#words;
    this.#words = new Uint32Array(2 * least);
    this.#words.set(before);
    this.#floats = new Float32Array(this.#words.buffer);
  }

  /** All of it; until the next `add`. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer, 0, 4 * this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#count = 0;
  }
}
