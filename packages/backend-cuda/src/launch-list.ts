import { dtypeTraits } from '@eagre/backend';
import {
  COUNTERS,
  type CudaDispatch,
  type Dispatch,
  FAULT,
  type LibraryCall,
  type Operand,
  TEMPORARY,
  type TensorMap,
} from '@eagre/gpu-kernels';
import type { CudaKernel } from './kernels.ts';

const POINTER_WORDS = 2;
/** The words of what a tensor map is of: `TensorShape` of native/cuda/device.h. */
const MAP_WORDS = 12;
/** The driver's numbers of types. Numbers of float32 are rounded to TensorFloat-32. */
const mapTypes = { float16: 6, bfloat16: 9, float32: 11 } as const;
/** The words of a launch's head: `LaunchHead` of native/cuda/device.h. */
const HEAD = 10;
/** The lower half of its last word, for products of a library. The upper half is the number of tensor maps. */
const PRODUCT = 1;

const NO_MAPS: readonly TensorMap[] = [];

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

  /** @param faults where kernels note what went wrong. @param counters where workgroups count those that have ended. */
  add(
    { kernel, block, most }: CudaKernel,
    dispatch: Dispatch | CudaDispatch,
    given: readonly Operand[],
    faults: number,
    counters: number,
  ): void {
    const { program, operands, params, workgroups } = dispatch;
    const maps = 'maps' in dispatch ? (dispatch.maps ?? NO_MAPS) : NO_MAPS;
    const size = MAP_WORDS * maps.length + POINTER_WORDS * operands.length + params.length;
    const end = this.#length + HEAD + size + (size % 2);
    if (end > this.#words.length) this.#grow(end);
    const words = this.#words;
    let at = this.#length;
    words[at] = kernel;
    words[at + 1] = Math.min(workgroups[0], most);
    words[at + 2] = workgroups[1];
    words[at + 3] = workgroups[2];
    words[at + 4] = block[0];
    words[at + 5] = block[1];
    words[at + 6] = block[2];
    words[at + 7] = operands.length;
    words[at + 8] = 4 * size;
    words[at + 9] = maps.length * 2 ** 16;
    at += HEAD;
    for (const map of maps) {
      this.#describe(at, map, given);
      at += MAP_WORDS;
    }
    for (let i = 0; i < operands.length; i++) {
      const operand = operands[i];
      const address =
        operand === FAULT ? faults : operand === COUNTERS ? counters : addressOf(given, operand);
      setLong(words, at, address);
      at += POINTER_WORDS;
    }
    const types = program.params;
    for (let i = 0; i < params.length; i++) {
      if (types[i] === 'f32') this.#floats[at++] = params[i];
      else words[at++] = params[i];
    }
    // Lists are compared byte by byte.
    if (at < end) words[at] = 0;
    this.#length = end;
    this.#count++;
  }

  #describe(
    at: number,
    { operand, dtype, from, sizes, pitch, box }: TensorMap,
    given: readonly Operand[],
  ): void {
    const words = this.#words;
    const bytes = dtypeTraits[dtype].bytes;
    setLong(words, at, addressOf(given, operand) + from * bytes);
    setLong(words, at + 2, pitch * bytes);
    setLong(words, at + 4, sizes[1] * pitch * bytes);
    words[at + 6] = sizes[0];
    words[at + 7] = sizes[1];
    words[at + 8] = sizes[2];
    words[at + 9] = box[0];
    words[at + 10] = box[1];
    words[at + 11] = mapTypes[dtype];
  }

  /** @param workspace where its workspace is, if it needs one. */
  addProduct(
    { product, operands, offsets }: LibraryCall,
    given: readonly Operand[],
    workspace?: number,
  ): void {
    const count = operands.length + (workspace === undefined ? 0 : 1);
    const end = this.#length + HEAD + POINTER_WORDS * count;
    if (end > this.#words.length) this.#grow(end);
    const words = this.#words;
    let at = this.#length;
    words[at] = product;
    // It has no grid and no block.
    for (let i = 1; i < 7; i++) words[at + i] = 0;
    words[at + 7] = count;
    words[at + 8] = 4 * POINTER_WORDS * count;
    words[at + 9] = PRODUCT;
    at += HEAD;
    for (let i = 0; i < count; i++) {
      const address =
        i < operands.length ? addressOf(given, operands[i]) + offsets[i] : (workspace as number);
      setLong(words, at, address);
      at += POINTER_WORDS;
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

/** Sets a whole number of up to 53 bits as two words. Arrays of words take the lower bits of a number themselves, faster than `%` does. */
function setLong(words: Uint32Array, at: number, value: number): void {
  words[at] = value;
  words[at + 1] = value / 2 ** 32;
}

/** The temporary that dispatches have of their own comes last. */
function addressOf(given: readonly Operand[], operand: number): number {
  return given[operand === TEMPORARY ? given.length - 1 : operand].storage.address;
}
