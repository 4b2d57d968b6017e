import {
  type Backend,
  dtypeTraits,
  type Executable,
  hostOf,
  InternalError,
  interpretPlan,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  type NumericDType,
  onHost,
  type Plan,
  placement,
  type ScalarProgram,
  type Storage,
  sameBytes,
  type TensorRef,
  wideKernel,
} from '@eagre/backend';
import { elementwiseKernel } from '../kernels/elementwise.ts';
import {
  type CudaDispatch,
  type CudaDispatches,
  type Dispatch,
  type Lowered,
  TEMPORARY,
} from '../kernels/kernel.ts';
import { gpuKernel } from '../kernels/registry.ts';
import { type ProgramPart, splitProgram } from '../kernels/split.ts';
import type { GpuAllocator } from './gpu-allocator.ts';

/** What a dispatch sees of a tensor or a temporary. */
export interface Operand {
  readonly storage: Storage;
  /** What holds whole elements of every type, and never none. */
  readonly bytes: number;
}

/** Turns a call into dispatches; undefined where GPUs do not serve it. */
type Lower = (
  inputs: readonly TensorRef[],
  outputs: readonly TensorRef[],
  attrs: KernelAttrs,
  /** Called where the dispatches depend on the memory of the tensors. */
  onMemory: () => void,
) => Lowered | undefined;

/** The dispatches of a call of a plan. */
interface Recording {
  readonly inputs: readonly TensorRef[];
  readonly attrs: KernelAttrs;
  readonly made: Lowered;
}

/** Remembers the dispatches of calls by their outputs: in a plan these are the same objects at each run, and so are the attributes. */
function recorded(lower: Lower): Lower {
  const recordings = new WeakMap<readonly TensorRef[], Recording>();
  return (inputs, outputs, attrs) => {
    const known = recordings.get(outputs);
    if (known !== undefined && known.inputs === inputs && known.attrs === attrs) return known.made;
    let isFixed = true;
    const made = lower(inputs, outputs, attrs, () => {
      isFixed = false;
    });
    if (isFixed && made !== undefined) recordings.set(outputs, { inputs, attrs, made });
    return made;
  };
}

/** A GPU that runs the kernels of this package. It computes later: errors that depend on values are thrown by the next read. */
export abstract class DispatchingBackend implements Backend {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly deviceIndex: number;
  abstract readonly allocator: GpuAllocator<object>;
  readonly deviceType: string = 'GPU';

  /** Runs one dispatch behind what was called before; those of CUDA only if `instead` gave them. @param operands of the call, by number. */
  protected abstract dispatch(
    name: string,
    dispatch: Dispatch | CudaDispatch,
    operands: readonly Operand[],
  ): void;
  /** What this GPU runs instead of a dispatch, or of those of a call. */
  protected instead(_made: Pick<Dispatch, 'cuda'>): CudaDispatches | undefined {
    return undefined;
  }
  /** How many buffers a dispatch may have. */
  protected abstract readonly mostBuffers: number;

  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined {
    return this.#named(name, inputs, false);
  }

  elementwise(program: ScalarProgram): Kernel {
    return this.#ofProgram(program, false);
  }

  /** A plan makes the same calls at each run, so their dispatches are made once. */
  prepare(plan: Plan): Executable {
    const { name, deviceType, deviceIndex, description, allocator } = this;
    const recording: Backend = {
      name,
      deviceType,
      deviceIndex,
      description,
      allocator,
      kernel: (kernel, inputs) => this.#named(kernel, inputs, true),
      elementwise: (program) => this.#ofProgram(program, true),
      prepare: (inner) => this.prepare(inner),
      threads: () => 1,
    };
    return interpretPlan(recording, plan);
  }

  threads(): number {
    return 1;
  }

  #named(name: KernelName, inputs: readonly NumericDType[], records: boolean): Kernel | undefined {
    const gpu = gpuKernel(name, inputs);
    if (gpu === undefined) return undefined;
    return this.#kernel(
      name,
      inputs,
      records,
      (given, made, attrs, onMemory) => {
        const all = [...given, ...made];
        const same = (a: number, b: number): boolean => {
          onMemory();
          return sameBytes(all[a].storage, all[b].storage);
        };
        return gpu.lower({ inputs: given, outputs: made, attrs, same });
      },
      () => {
        const own = hostOf(this);
        const kernel = own.kernel(name, inputs) ?? wideKernel(own, name, inputs);
        if (kernel === undefined)
          throw new InternalError(`the host has no kernel ${name} of ${inputs.join(', ')}`);
        return kernel;
      },
    );
  }

  /** What a GPU cannot compute keeps the rest of a program from it only where the one is written over what the other reads. */
  #ofProgram(program: ScalarProgram, records: boolean): Kernel {
    const whole = this.#ofWhole(program, records);
    const split = splitProgram(program);
    if (split === undefined) return whole;
    const [ofGpu, ofHost] = split.map((part) => this.#ofPart(part, records));
    return (inputs, outputs, attrs) => {
      if (!overwrites(split[1], split[0], inputs, outputs)) {
        ofHost(inputs, outputs, attrs);
        ofGpu(inputs, outputs, attrs);
      } else if (!overwrites(split[0], split[1], inputs, outputs)) {
        ofGpu(inputs, outputs, attrs);
        ofHost(inputs, outputs, attrs);
      } else whole(inputs, outputs, attrs);
    };
  }

  /** A kernel of some of the results, which is called with the operands of all. */
  #ofPart(part: ProgramPart, records: boolean): Kernel {
    const kernel = this.#ofWhole(part.program, records);
    // A plan calls with the same lists at each run, and so does this.
    const known = new WeakMap<
      readonly TensorRef[],
      { readonly all: readonly TensorRef[]; readonly inputs: TensorRef[]; readonly outputs: TensorRef[] }
    >();
    return (inputs, outputs, attrs) => {
      let own = known.get(outputs);
      if (own?.all !== inputs) {
        own = {
          all: inputs,
          inputs: part.inputs.map((i) => inputs[i]),
          outputs: part.outputs.map((i) => outputs[i]),
        };
        known.set(outputs, own);
      }
      kernel(own.inputs, own.outputs, attrs);
    };
  }

  #ofWhole(program: ScalarProgram, records: boolean): Kernel {
    const gpu = elementwiseKernel(program);
    return this.#kernel(
      'an elementwise function',
      program.inputs,
      records,
      (inputs, outputs) => {
        const dispatch = gpu?.lower(inputs, outputs);
        return dispatch && { dispatches: [dispatch], scratch: [] };
      },
      () => hostOf(this).elementwise(program),
    );
  }

  #kernel(
    name: string,
    dtypes: readonly NumericDType[],
    records: boolean,
    lower: Lower,
    makeHost: () => Kernel,
  ): Kernel {
    const dispatchesOf = records ? recorded(lower) : lower;
    let host: Kernel | undefined;
    let fallback: Kernel | undefined;
    const ofHost: Kernel = (inputs, outputs, attrs) => {
      host ??= makeHost();
      host(inputs, outputs, attrs);
    };
    return (inputs, outputs, attrs) => {
      if (this.allocator.scalars.compute(ofHost, inputs, outputs, attrs)) return;
      const made = dispatchesOf(inputs, outputs, attrs, () => {});
      if (made === undefined || made.dispatches.some(({ operands }) => operands.length > this.mostBuffers)) {
        fallback ??= onHost(this, name, dtypes, ofHost);
        fallback(inputs, outputs, attrs);
        return;
      }
      this.#run(name, made, [...inputs, ...outputs]);
      if (placement.synchronous) this.allocator.synchronize();
    };
  }

  #run(name: string, made: Lowered, tensors: readonly TensorRef[]): void {
    const { dispatches, scratch } = made;
    const temporaries: Storage[] = [];
    try {
      for (const bytes of scratch) temporaries.push(this.allocator.allocate(bytes));
      const operands = [
        ...tensors.map(({ storage, size, dtype }) => operandOf(storage, size * dtypeTraits[dtype].bytes)),
        ...temporaries.map((storage, i) => operandOf(storage, scratch[i])),
      ];
      const run = (own: CudaDispatches): void => {
        let all = operands;
        if (own.scratch > 0) {
          const storage = this.allocator.allocate(own.scratch);
          temporaries.push(storage);
          all = [...operands, operandOf(storage, own.scratch)];
        }
        for (const each of own.dispatches) {
          const numbers = each.operands.map((n) => (n === TEMPORARY ? operands.length : n));
          this.dispatch(name, { ...each, operands: numbers }, all);
        }
      };
      const whole = this.instead(made);
      if (whole !== undefined) {
        run(whole);
        return;
      }
      for (const dispatch of dispatches) {
        const own = this.instead(dispatch);
        if (own === undefined) this.dispatch(name, dispatch, operands);
        else run(own);
      }
    } finally {
      for (const storage of temporaries) storage.release();
    }
  }
}

/** Whether one part of a program writes where another reads. */
function overwrites(
  first: ProgramPart,
  second: ProgramPart,
  inputs: readonly TensorRef[],
  outputs: readonly TensorRef[],
): boolean {
  return first.outputs.some((o) =>
    second.inputs.some((i) => sameBytes(outputs[o].storage, inputs[i].storage)),
  );
}

/** The first bytes of some memory, for a dispatch. */
export function operandOf(storage: Storage, bytes: number): Operand {
  return { storage, bytes: Math.max(16, Math.ceil(bytes / 16) * 16) };
}
