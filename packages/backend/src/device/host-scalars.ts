import { type Allocator, hostBytes, type Storage, sameBytes } from '../buffer/storage.ts';
import { dtypeTraits } from '../dtype.ts';
import type { Kernel, TensorRef } from './backend.ts';

/** The bytes of one value at most. */
const SCALAR = 8;

/**
 * Scalars of a device of which the host has a copy, so that steps, counts, sizes and conditions are read without waiting, as TensorFlow
 * keeps those in memory of the host. Integers, bools and numbers of float64, such as those of optimizers, that are computed from such are computed on
 * the host at once, and sent.
 */
export class HostScalars {
  readonly #copies = new WeakMap<Storage, Uint8Array>();
  readonly #host: Allocator;

  /** @param host lends memory for what is computed on the host. */
  constructor(host: Allocator) {
    this.#host = host;
  }

  /** Notes what is written to memory of the device. */
  written(to: Storage, bytes: Uint8Array): void {
    if (bytes.length <= SCALAR) this.#copies.set(to, bytes.slice());
    else this.#copies.delete(to);
  }

  /** Notes that the device writes what the host does not know. */
  forget(to: Storage): void {
    this.#copies.delete(to);
  }

  copied(from: Storage, to: Storage): void {
    const known = this.#copies.get(from);
    if (known === undefined) this.#copies.delete(to);
    else this.#copies.set(to, known);
  }

  /** The first bytes, where the host knows them. */
  read(from: Storage, bytes: number): Uint8Array | undefined {
    const known = this.#copies.get(from);
    return known !== undefined && known.length >= bytes ? known.slice(0, bytes) : undefined;
  }

  /**
   * Computes on the host what may be computed there.
   * @param kernel that of the host.
   * @returns whether that was done; else the device must, and the host knows the outputs no more.
   */
  compute(
    kernel: Kernel,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: Parameters<Kernel>[2],
  ): boolean {
    if (!outputs.every(isOfHost) || !inputs.every((t) => this.#knows(t))) {
      for (const { storage } of outputs) this.#copies.delete(storage);
      return false;
    }
    const lent: Storage[] = [];
    const local = ({ dtype, shape, size }: TensorRef, at = -1): TensorRef => {
      const storage = lent[at] ?? this.#host.allocate(SCALAR);
      if (at < 0) lent.push(storage);
      return { dtype, shape, size, storage };
    };
    const given = inputs.map((t) => local(t));
    // Outputs that are inputs stay so: optimizers change in place what they are given.
    const made = outputs.map((t) =>
      local(
        t,
        inputs.findIndex(({ storage }) => sameBytes(storage, t.storage)),
      ),
    );
    try {
      inputs.forEach((t, i) => {
        const bytes = this.#copies.get(t.storage) as Uint8Array;
        given[i].storage.allocator.write(given[i].storage, bytes);
      });
      kernel(given, made, attrs);
      outputs.forEach((t, i) => {
        const bytes = dtypeTraits[t.dtype].bytes;
        t.storage.allocator.write(t.storage, hostBytes(made[i].storage, bytes));
      });
    } finally {
      for (const storage of lent) storage.release();
    }
    return true;
  }

  #knows(t: TensorRef): boolean {
    const known = t.size === 1 ? this.#copies.get(t.storage) : undefined;
    return known !== undefined && known.length >= dtypeTraits[t.dtype].bytes;
  }
}

/** Whether it is one value that the host rather computes than a device. */
function isOfHost({ dtype, size }: TensorRef): boolean {
  return size === 1 && (!dtypeTraits[dtype].floating || dtype === 'float64');
}
