import { InternalError } from '@eagre/backend';
import { type CudaProgram, cudaPrelude, type GpuProgram, printCuda } from '@eagre/gpu-kernels';
import { type CudaAddon, called, isCode, type NativeDevice, typed } from './addon.ts';

/** A compiled program. */
export interface CudaKernel {
  /** Its number on the device. */
  readonly kernel: number;
  readonly block: readonly [number, number, number];
}

const NAME = 'eagre_kernel';

/** Programs as kernels of one GPU: compiled when they are first run. */
export class CudaKernels {
  readonly #addon: CudaAddon;
  readonly #compiler: string;
  readonly #device: NativeDevice;
  readonly #capability: number;
  readonly #known = new Map<GpuProgram | CudaProgram, CudaKernel>();

  /** @param compiler path of its library. */
  constructor(addon: CudaAddon, compiler: string, device: NativeDevice) {
    this.#addon = addon;
    this.#compiler = compiler;
    this.#device = device;
    this.#capability = device.info().capability;
  }

  get(program: GpuProgram | CudaProgram): CudaKernel {
    let made = this.#known.get(program);
    if (made === undefined) this.#known.set(program, (made = this.#compile(program)));
    return made;
  }

  #compile(program: GpuProgram | CudaProgram): CudaKernel {
    const isCuda = 'print' in program;
    const text = `${cudaPrelude}${isCuda ? program.print(NAME) : printCuda(program.module, NAME)}`;
    let image: Uint8Array;
    try {
      image = this.#addon.compile([this.#compiler], text, NAME, this.#capability);
    } catch (cause) {
      // The text is not the user's.
      if (isCode(cause, 'INVALID_ARGUMENT'))
        throw new InternalError((cause as Error).message, undefined, { cause });
      throw typed(cause);
    }
    const shared = isCuda ? program.shared : 0;
    const kernel = called(() => this.#device.function(this.#device.load(image), NAME, shared));
    return { kernel, block: isCuda ? program.workgroup : program.module.workgroup };
  }
}
