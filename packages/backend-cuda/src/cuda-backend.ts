import {
  type Allocator,
  type Executable,
  hostOf,
  type Kernel,
  type KernelName,
  type NumericDType,
  type Plan,
  placement,
  type Storage,
  type TensorRef,
  unregisterBackend,
  type Watcher,
} from '@eagre/backend';
import {
  type CudaDispatch,
  type CudaDispatches,
  type Dispatch,
  DispatchingBackend,
  type Instead,
  type LibraryCall,
  type Lower,
  libraryMatmul,
  type Operand,
} from '@eagre/gpu-kernels';
import { type CudaAddon, called, type NativeDevice } from './addon.ts';
import { CudaAllocator } from './cuda-allocator.ts';
import { GraphedPlan, isStraight } from './graphed-plan.ts';
import type { KernelImages } from './kernel-images.ts';
import { CudaKernels } from './kernels.ts';
import { LibraryProducts } from './library-products.ts';
import { Stream } from './stream.ts';
import type { MakeOwn } from './tailoring/plans.ts';
import { tailored } from './tailoring/tailor.ts';

/** What dispatches of kernels in CUDA C++ need. */
interface Needs {
  /** That programs allow fewer bits of float32. */
  readonly tensorFloat32: boolean;
  /** Whether all of them are compiled, or can be, and the driver has the tensor maps that they need. */
  readonly areThere: boolean;
}

/** A GPU through CUDA. */
export class CudaBackend extends DispatchingBackend {
  readonly name: string;
  readonly deviceIndex: number;
  readonly description: string;
  readonly allocator: CudaAllocator;
  protected readonly mostBuffers: number = Number.POSITIVE_INFINITY;
  readonly #newMemory: (first: CudaAllocator | undefined) => CudaAllocator;
  readonly #stream: Stream;
  readonly #device: NativeDevice;
  readonly #capability: number;
  readonly #hasTensorMaps: boolean;
  readonly #kernels: CudaKernels;
  readonly #products: LibraryProducts;
  /** For products of the library: what the one needed that needs most. */
  #workspace: Storage | undefined;
  /** Of dispatches that were looked at. */
  readonly #needs = new WeakMap<CudaDispatches, Needs>();
  #hasWarned = false;

  constructor(
    addon: CudaAddon,
    images: KernelImages,
    device: NativeDevice,
    index: number,
    newWatcher: () => Watcher | undefined,
  ) {
    super();
    const { name, capability, driverVersion, hasTensorMaps } = device.info();
    this.name = index === 0 ? 'cuda' : `cuda${index}`;
    this.deviceIndex = index;
    this.description = `CUDA ${versionOf(driverVersion)}, ${name}, compute capability ${Math.floor(capability / 10)}.${capability % 10}`;
    this.#device = device;
    this.#capability = capability;
    this.#hasTensorMaps = hasTensorMaps;
    this.#kernels = new CudaKernels(images, device);
    this.#stream = new Stream(device, this.#kernels);
    this.#products = new LibraryProducts(this.#stream);
    const host = (): Allocator => hostOf(this).allocator;
    // Each has a watcher of its own.
    this.#newMemory = (first) => new CudaAllocator(addon, this.#stream, index, host, newWatcher(), first);
    this.allocator = this.#newMemory(undefined);
  }

  newAllocator(): Allocator {
    return this.#newMemory(this.allocator);
  }

  tailor(plan: Plan): Plan {
    const make: MakeOwn = (call, title, made) => {
      let inputs: readonly TensorRef[] | undefined;
      let tensors: readonly TensorRef[] = [];
      const run: Kernel = (given, outputs) => {
        // A prepared plan calls with the same lists at each run.
        if (inputs !== given) [inputs, tensors] = [given, [...given, ...outputs]];
        this.run(title, { made, tensors });
        if (placement.synchronous) this.allocator.synchronize();
      };
      return { ...call, kernel: 'Own', own: { title, run }, attrs: {} };
    };
    const runs = ({ dispatches }: Instead): boolean => {
      const { tensorFloat32, areThere } = this.#needsOf(dispatches.filter((each) => 'program' in each));
      return areThere && !tensorFloat32;
    };
    return tailored(plan, make, { capability: this.#capability, runs });
  }

  /** Launches of a straight plan become graphs, unless `EAGRE_CUDA_GRAPHS` is 0. */
  override prepare(plan: Plan, allocator: Allocator = this.allocator): Executable {
    const plain = super.prepare(plan, allocator);
    const isGraphed =
      this.#device.info().hasGraphs && isStraight(plan) && process.env['EAGRE_CUDA_GRAPHS'] !== '0';
    return isGraphed ? new GraphedPlan(plain, this.#stream) : plain;
  }

  get productLibrary(): string | undefined {
    return this.#products.description;
  }

  useProductLibrary(uses: boolean): void {
    this.#products.isUsed = uses;
  }

  /** Products of float64, by the library alone: no kernel of this package has them. */
  protected override own(name: KernelName, inputs: readonly NumericDType[]): Lower | undefined {
    if (name !== 'MatMul' || inputs[0] !== 'float64' || this.#products.description === undefined)
      return undefined;
    return (given, made, attrs, onMemory) => {
      onMemory();
      if (made[0].size === 0) return undefined;
      const library = libraryMatmul({ inputs: given, outputs: made, attrs });
      const instead = this.#products.instead(library, [...given, ...made]);
      return instead && { dispatches: [], scratch: [], instead };
    };
  }

  /** Has the driver told now what was called before; other threads tell it meanwhile. Errors are thrown by the next read. */
  settle(): void {
    const { device } = this.#stream;
    called(() => device.settle());
  }

  /** Gives the GPU back. What is still on it is gone. */
  close(): void {
    unregisterBackend(this);
    this.allocator.close();
    called(() => this.#device.close());
  }

  /** Products that the library makes, and what only GPUs of NVIDIA run. */
  protected override instead(
    of: Pick<Dispatch, 'cuda' | 'library' | 'prefersCuda'>,
    operands: readonly Operand[],
  ): Instead | undefined {
    if (of.prefersCuda) return this.#ofCuda(of) ?? this.#products.instead(of.library, operands);
    return this.#products.instead(of.library, operands) ?? this.#ofCuda(of);
  }

  /** What needs a newer GPU, tensor maps that the driver lacks, or fewer bits of float32 than the program wants, is left to the other kernels; so is, with a warning, what nobody compiled. */
  #ofCuda({ cuda }: Pick<Dispatch, 'cuda'>): CudaDispatches | undefined {
    let made = cuda?.(this.#capability);
    if (made === undefined) return undefined;
    for (; made !== undefined; made = made.withoutMaps) {
      let needs = this.#needs.get(made);
      if (needs === undefined) this.#needs.set(made, (needs = this.#needsOf(made.dispatches)));
      if (needs.tensorFloat32 && !placement.tensorFloat32) return undefined;
      if (needs.areThere) return made;
    }
    this.#warn();
    return undefined;
  }

  #workspaceOf({ workspace }: LibraryCall): number | undefined {
    if (workspace === 0) return undefined;
    let known = this.#workspace;
    if (known === undefined || known.capacity < workspace) {
      this.#workspace = undefined;
      known?.release();
      this.#workspace = known = this.allocator.allocateAlone(workspace);
    }
    return known.address;
  }

  #needsOf(dispatches: readonly CudaDispatch[]): Needs {
    const own = dispatches.flatMap(({ program }) => ('print' in program ? [program] : []));
    return {
      tensorFloat32: own.some((program) => program.isTensorFloat32),
      areThere: own.every(
        (program) => (program.maps === 0 || this.#hasTensorMaps) && this.#kernels.has(program),
      ),
    };
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    console.warn(
      `eagre: ${this.name} runs a product without its tensor cores, which takes several times as long: its kernel was not compiled before, and NVRTC is ` +
        'not there to compile it (`pip install nvidia-cuda-nvrtc-cu12`, and name the file libnvrtc.so.12 in EAGRE_NVRTC)',
    );
  }

  protected dispatch(
    name: string,
    dispatch: Dispatch | CudaDispatch | LibraryCall,
    given: readonly Operand[],
  ): void {
    if ('product' in dispatch) this.#stream.product(dispatch, given, this.#workspaceOf(dispatch));
    else this.#stream.dispatch(name, dispatch, given);
  }
}

/** 12080 → 12.8 */
function versionOf(number: number): string {
  return `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 10)}`;
}
