import { UnavailableError } from '@eagre/backend';
import { type CudaProgram, cudaPrelude, type GpuProgram, printCuda, printPtx } from '@eagre/gpu-kernels';
import { called, isCode, type NativeDevice, typed } from './addon.ts';
import type { KernelImages } from './kernel-images.ts';

/** A program on a GPU. */
export interface CudaKernel {
  /** Its number on the device. */
  readonly kernel: number;
  readonly block: readonly [number, number, number];
  /** More workgroups along x are of no use. */
  readonly most: number;
}

const NAME = 'eagre_kernel';

/** The text of a program, as compilers and archives know it. */
export function textOf(program: GpuProgram | CudaProgram): string {
  return `${cudaPrelude}${'print' in program ? program.print(NAME) : printCuda(program.module, NAME)}`;
}

/** Programs as kernels of one GPU: loaded when they are first run. */
export class CudaKernels {
  readonly #images: KernelImages;
  readonly #device: NativeDevice;
  readonly #capability: number;
  readonly #multiprocessors: number;
  readonly #known = new Map<GpuProgram | CudaProgram, CudaKernel>();
  readonly #available = new Map<CudaProgram, boolean>();

  constructor(images: KernelImages, device: NativeDevice) {
    this.#images = images;
    this.#device = device;
    const { capability, multiprocessors } = device.info();
    this.#capability = capability;
    this.#multiprocessors = multiprocessors;
  }

  /** Whether there is an image of a program that has no text but that of CUDA C++. */
  has(program: CudaProgram): boolean {
    let has = this.#available.get(program);
    if (has === undefined)
      this.#available.set(program, (has = this.#images.has(textOf(program), this.#capability)));
    return has;
  }

  /** @throws UnavailableError where no image of it can be had */
  get(program: GpuProgram | CudaProgram): CudaKernel {
    let made = this.#known.get(program);
    if (made === undefined) this.#known.set(program, (made = this.#load(program)));
    return made;
  }

  #load(program: GpuProgram | CudaProgram): CudaKernel {
    const block = 'print' in program ? program.workgroup : program.module.workgroup;
    const shared = 'print' in program ? program.shared : 0;
    const isPersistent = 'print' in program && program.isPersistent;
    const most = isPersistent ? this.#multiprocessors : Number.POSITIVE_INFINITY;
    const capability = this.#capability;
    const ptx = 'print' in program ? undefined : () => printPtx(program.module, NAME, capability);
    const refused: Error[] = [];
    try {
      for (const { image, from } of this.#images.of(textOf(program), NAME, capability, ptx)) {
        const module = this.#module(image, from, refused);
        if (module !== undefined)
          return { kernel: called(() => this.#device.function(module, NAME, shared)), block, most };
      }
    } catch (error) {
      if (refused.length === 0 || !(error instanceof UnavailableError)) throw error;
      const reasons = refused.map(({ message }) => message).join('; ');
      throw new UnavailableError(`${error.message}. ${reasons}`, undefined, { cause: error });
    }
    throw refused[refused.length - 1];
  }

  /** The module of an image; undefined where it was made for other drivers or GPUs, so that the next one may do. */
  #module(image: Uint8Array, from: string, refused: Error[]): number | undefined {
    try {
      return this.#device.load(image);
    } catch (error) {
      const made = typed(error);
      if (!isCode(error, 'UNIMPLEMENTED') && !isCode(error, 'INVALID_ARGUMENT')) throw made;
      made.message = `the driver refuses what ${from} has: ${made.message}`;
      refused.push(made);
      return undefined;
    }
  }
}
