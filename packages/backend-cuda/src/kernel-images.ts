import { InternalError, UnavailableError } from '@eagre/backend';
import { type CudaAddon, isCode, typed } from './addon.ts';
import { type KernelArchive, keyOfText, openKernelArchive } from './kernel-archive.ts';
import { type KernelCache, openKernelCache } from './kernel-cache.ts';
import { findCompiler } from './libraries.ts';

/** An image of a program, and where it comes from, for messages. */
export interface KernelImage {
  readonly image: Uint8Array;
  readonly from: string;
}

/** NVRTC, or why it is not there. */
type Compiler = { readonly path: string; readonly version: string } | { readonly missing: UnavailableError };

/** Where the images of programs come from, for all GPUs of a process. */
export class KernelImages {
  readonly #addon: CudaAddon;
  readonly #archive: KernelArchive | undefined;
  readonly #cache: KernelCache | undefined;
  #compiler: Compiler | undefined;

  /** @throws UnavailableError where `EAGRE_NVRTC` names no compiler; DataLossError where the package's archive is damaged. */
  constructor(addon: CudaAddon) {
    this.#addon = addon;
    this.#archive = openKernelArchive();
    this.#cache = openKernelCache();
    // What a program asks for by name is there, or it is told so at once.
    const named = process.env['EAGRE_NVRTC'];
    if (named && named !== '0') this.#compiler = findCompiler(addon);
  }

  /** Looked for when the archive first lacks a program. */
  get #found(): Compiler {
    if (this.#compiler === undefined) {
      try {
        this.#compiler = findCompiler(this.#addon);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        this.#compiler = { missing: error };
      }
    }
    return this.#compiler;
  }

  /** Whether there is an image of a text of CUDA C++ for a compute capability, as far as can be told without making it. */
  has(text: string, capability: number): boolean {
    return this.#archive?.has(keyOfText(text), capability) === true || !('missing' in this.#found);
  }

  /**
   * The images of a text in CUDA C++ for a compute capability, the best first. The driver may refuse one that is newer than itself.
   * @param ptx the same as PTX, if it can be printed so: where there is no compiler.
   * @throws UnavailableError behind the last where there is neither.
   */
  *of(
    text: string,
    name: string,
    capability: number,
    ptx: (() => string) | undefined,
  ): Generator<KernelImage> {
    for (const image of this.#archive?.find(keyOfText(text), capability) ?? [])
      yield { image, from: 'the archive of kernels' };
    const found = this.#found;
    if ('missing' in found) {
      if (ptx === undefined) throw found.missing;
      yield { image: new TextEncoder().encode(ptx()), from: 'the printer of PTX' };
      return;
    }
    const key = JSON.stringify([text, name, capability, found.version]);
    const kept = this.#cache?.get(key);
    // A driver may be older than the one for which it was kept, but then it refuses what is compiled now too.
    if (kept !== undefined) {
      yield { image: kept, from: `NVRTC ${found.version}` };
      return;
    }
    const image = this.#compile(found.path, text, name, capability);
    this.#cache?.put(key, image);
    yield { image, from: `NVRTC ${found.version}` };
  }

  #compile(compiler: string, text: string, name: string, capability: number): Uint8Array {
    try {
      return this.#addon.compile([compiler], text, name, capability);
    } catch (cause) {
      // The text is not the user's.
      if (isCode(cause, 'INVALID_ARGUMENT'))
        throw new InternalError((cause as Error).message, undefined, { cause });
      throw typed(cause);
    }
  }
}
