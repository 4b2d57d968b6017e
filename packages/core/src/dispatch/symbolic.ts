// Values that stand for what a traced function will have when it runs: shapes and dtypes without memory.
import {
  type Allocator,
  type Backend,
  type DType,
  InternalError,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  type ScalarProgram,
  type TensorRef,
} from '@eagre/backend';
import type { DrawSource } from '../random/draws.ts';
import type { Dims } from '../shapes/dim.ts';
import { sizeOfDims } from '../shapes/dims.ts';
import { SymbolicStorage } from '../tensor/no-value.ts';
import { type Tensor, tensorOver } from '../tensor/tensor.ts';
import { context, eagerBackend } from './context.ts';

const nothing = {};

const noMemory = (): never => {
  throw new InternalError('symbolic tensors have no memory');
};

const allocator: Allocator = {
  isHost: false,
  allocate(bytes: number): SymbolicStorage {
    return new SymbolicStorage(allocator, nothing, 0, bytes, 0, undefined);
  },
  allocateAlone: (bytes) => allocator.allocate(bytes),
  recycle() {},
  watch: () => undefined,
  findDropped() {},
  trim() {},
  info: () => ({ bytesAllocated: 0, bytesPooled: 0, bytesTaken: 0, bytesInUse: 0, bytesPeak: 0 }),
  resetPeak() {},
  read: noMemory,
  readAsync: noMemory,
  write: noMemory,
  copy: noMemory,
  synchronize() {},
  async synchronizeAsync() {},
};

/** A draw while a function is traced: the one at `place` of those from a counter and a key (uint64 [2]) that only a run knows. */
export interface SymbolicDraw {
  readonly from: Tensor;
  readonly place: number;
}

/** Receives the kernel calls of ops that run on symbolic tensors. */
export interface KernelRecorder {
  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: KernelAttrs,
  ): void;
  /** The symbolic tensor that stands for a real one. */
  capture(x: Tensor): Tensor;
  /** Says that a tensor is memory of the run's own, which calls write several times. */
  scratch?(x: TensorRef): void;
  /** Code of the host that computes the outputs of an op, in each run. */
  host?(
    name: string,
    fn: (...inputs: Tensor[]) => readonly Tensor[],
    inputs: readonly Tensor[],
    outputs: readonly Tensor[],
  ): void;
  /** The next draw from a source, in each run. */
  draw?(source: DrawSource): SymbolicDraw;
}

class SymbolicBackend implements Backend {
  readonly name = 'symbolic';
  readonly deviceType = 'CPU';
  readonly deviceIndex = 0;
  readonly description = 'shapes and dtypes alone';
  readonly allocator: Allocator = allocator;
  /** Who is told of kernel calls now; without one, only shapes are computed. */
  recorder: KernelRecorder | null = null;
  readonly #kernels = new Map<KernelName, Kernel>();

  kernel(name: KernelName): Kernel {
    let kernel = this.#kernels.get(name);
    if (kernel === undefined) {
      kernel = (inputs, outputs, attrs) => this.recorder?.call(name, inputs, outputs, attrs);
      this.#kernels.set(name, kernel);
    }
    return kernel;
  }

  elementwise(program: ScalarProgram): Kernel {
    return (inputs, outputs) => this.recorder?.call(program, inputs, outputs, {});
  }

  draw(source: DrawSource): SymbolicDraw {
    return this.recorder?.draw?.(source) ?? { from: symbolicTensor('uint64', [2]), place: 0 };
  }

  prepare(): never {
    throw new InternalError('symbolic tensors have no values to run a plan on');
  }

  threads(): number {
    return 1;
  }
}

/** The backend on which functions are traced and lowered. */
export const symbolic: SymbolicBackend = new SymbolicBackend();

/** The tensor with values, where it has the same ones at each run; else null. */
export function knownTensor(x: Tensor): Tensor | null {
  return x.backend === symbolic ? (context.tracer?.constant(x) ?? null) : x;
}

/** A symbolic tensor that no memory scope knows. */
export function symbolicTensor(dtype: DType, shape: Dims): Tensor {
  return tensorOver(symbolic.allocator.allocate(0), dtype, shape, sizeOfDims(shape), symbolic);
}

/** Runs `fn` on symbolic tensors, with real ones made from host values as before; ops are computed or recorded by nobody but `recorder`. */
export function symbolically<T>(sink: KernelRecorder | null, fn: () => T): T {
  const outer = symbolic.recorder;
  // By hand, as each op of a trace comes here.
  const { eagerBackend: eager, backend, tracer } = context;
  symbolic.recorder = sink;
  context.eagerBackend = eagerBackend();
  context.backend = symbolic;
  context.tracer = null;
  try {
    return fn();
  } finally {
    symbolic.recorder = outer;
    context.eagerBackend = eager;
    context.backend = backend;
    context.tracer = tracer;
  }
}
