// Products of matrices by cuBLASLt, where it is found: which products it makes, and what is known of them.
import { dtypeTraits, type NumericDType, placement, UnavailableError } from '@eagre/backend';
import type { Instead, LibraryProduct, Operand } from '@eagre/gpu-kernels';
import { called } from './addon.ts';
import { productLibraries } from './libraries.ts';
import type { Stream } from './stream.ts';

/** `ProductType` in native/cuda/cublas_lt.h. Of float32 there are two. */
const types: { readonly [dtype in NumericDType]?: number } = {
  float32: 0,
  float16: 2,
  bfloat16: 3,
  float64: 4,
};
const TENSOR_FLOAT_32 = 1;

/**
 * Addresses count as aligned to so many bytes and no more: no algorithm needs more, and the algorithm must not depend on where memory is just free, as
 * results would then.
 */
const ALIGNMENT = 16;

/** More products than that are asked for anew. */
const MOST_KNOWN = 1024;

/** A product that the library was asked for. */
interface Known {
  /** On the device; 0 where the library has no algorithm. */
  readonly number: number;
  readonly workspace: number;
  isDropped: boolean;
}

/** What a call of a plan was answered last, and what it depends on besides the product. */
interface Answer {
  readonly type: number;
  /** The bits of where its factors and results begin in their tensors, in bytes. */
  readonly starts: number;
  readonly alignment: number;
  readonly known: Known;
  readonly instead: Instead | undefined;
}

/** The library on one GPU. It is loaded when the first product asks for it. */
export class LibraryProducts {
  readonly #stream: Stream;
  /** What was found; undefined before, null for nothing. */
  #found: { readonly path: string; readonly version: string } | null | undefined;
  /** By description, the one that was asked for last at the end. */
  readonly #known = new Map<string, Known>();
  readonly #answers = new WeakMap<LibraryProduct, Answer>();

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /** Whether products are made by it, where it is found. */
  isUsed = true;

  /**
   * The library, in words; undefined where there is none.
   * @throws UnavailableError where one is named that cannot be used
   */
  get description(): string | undefined {
    const found = this.#open();
    return found === null ? undefined : `cuBLASLt ${found.version} (${found.path})`;
  }

  /**
   * The calls of the library that make a product.
   * @returns undefined where there is no library, or it has no algorithm.
   * @throws UnavailableError where a library is named that cannot be used
   */
  instead(
    library: LibraryProduct | undefined,
    given: readonly Pick<Operand, 'storage'>[],
  ): Instead | undefined {
    if (library === undefined || !this.isUsed || this.#open() === null) return undefined;
    const { dtype, operands } = library;
    const type = dtype === 'float32' && placement.tensorFloat32 ? TENSOR_FLOAT_32 : types[dtype];
    if (type === undefined) return undefined;
    const last = this.#answers.get(library);
    const each = dtypeTraits[dtype].bytes;
    const starts =
      last?.starts ?? library.calls.flat().reduce((bits, start) => bits | (start * each), ALIGNMENT);
    // The lowest bit that one of them has. Bits of a number are its lower 32.
    let bits = starts;
    for (let i = 0; i < operands.length; i++) bits |= given[operands[i]].storage.address;
    const alignment = bits & -bits;
    if (last?.type === type && last.alignment === alignment && !last.known.isDropped) return last.instead;
    const known = this.#ask(library, type, alignment);
    const instead = known.number === 0 ? undefined : callsOf(library, known, each);
    this.#answers.set(library, { type, starts, alignment, known, instead });
    return instead;
  }

  #open(): { readonly path: string; readonly version: string } | null {
    if (this.#found !== undefined) return this.#found;
    const { paths, isNamed } = productLibraries();
    if (paths.length === 0) return (this.#found = null);
    try {
      this.#found = called(() => this.#stream.device.openProducts(paths));
    } catch (cause) {
      if (!(cause instanceof UnavailableError)) throw cause;
      if (isNamed)
        throw new UnavailableError(
          `EAGRE_CUBLASLT names a library that cannot be used: ${cause.message}; name another, or set it to 0 to do without`,
          undefined,
          { cause },
        );
      this.#found = null;
    }
    return this.#found;
  }

  #ask(library: LibraryProduct, type: number, alignment: number): Known {
    const { rows, columns, depth, batches, strides } = library;
    const flags =
      (library.transposeA ? 1 : 0) |
      (library.transposeB ? 2 : 0) |
      (library.hasBias ? 4 : 0) |
      (library.hasRelu ? 8 : 0);
    const description = [type, flags, rows, columns, depth, batches, ...strides, alignment] as const;
    const key = description.join();
    let known = this.#known.get(key);
    if (known === undefined) {
      const { device } = this.#stream;
      const number = called(() => device.product(...description));
      const workspace = number === 0 ? 0 : called(() => device.workspace(number));
      known = { number, workspace, isDropped: false };
    } else this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > MOST_KNOWN) this.#dropOldest();
    return known;
  }

  #dropOldest(): void {
    for (const [key, known] of this.#known) {
      this.#known.delete(key);
      known.isDropped = true;
      const { device } = this.#stream;
      if (known.number !== 0) called(() => device.dropProduct(known.number));
      return;
    }
  }
}

function callsOf(
  { calls, hasBias, operands }: LibraryProduct,
  { number, workspace }: Known,
  each: number,
): Instead {
  return {
    dispatches: calls.map(([a, b, y]) => ({
      product: number,
      operands,
      offsets: [a * each, b * each, ...(hasBias ? [0] : []), y * each],
      workspace,
    })),
    scratch: 0,
  };
}
