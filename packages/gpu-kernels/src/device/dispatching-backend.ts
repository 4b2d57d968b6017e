import {
  type Allocator,
  type AttrValue,
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
  processorOf,
  type ScalarProgram,
  type Storage,
  sameBytes,
  type TensorRef,
  wideKernel,
} from '@eagre/backend';
import { type ElementwiseKernel, elementwiseKernel } from '../kernels/elementwise.ts';
import type { CudaDispatch, Dispatch, Instead, LibraryCall, Lowered } from '../kernels/kernel.ts';
import { gpuKernel } from '../kernels/registry.ts';
import { type ProgramPart, splitProgram } from '../kernels/split.ts';
import type { GpuAllocator } from './gpu-allocator.ts';

/** Memory that a call needs meanwhile. */
export interface Temporary {
  readonly storage: Storage;
  readonly bytes: number;
}

/** What a dispatch sees: a tensor or a temporary. */
export type Operand = TensorRef | Temporary;

/** Turns a call into dispatches; undefined where GPUs do not serve it. */
export type Lower = (
  inputs: readonly TensorRef[],
  outputs: readonly TensorRef[],
  attrs: KernelAttrs,
  /** Called where the dispatches depend on the memory of the tensors. */
  onMemory: () => void,
) => Lowered | undefined;

/** A call as dispatches, and its tensors: inputs, then outputs. */
export interface Issue {
  readonly inputs: readonly TensorRef[];
  readonly attrs: KernelAttrs;
  readonly made: Lowered;
  readonly tensors: readonly TensorRef[];
}

/** What turns a call into dispatches and finds its tensors; undefined where GPUs do not serve it. */
type Issuer = (
  inputs: readonly TensorRef[],
  outputs: readonly TensorRef[],
  attrs: KernelAttrs,
) => Issue | undefined;

/** Of plans, where the outputs are the same objects at each run, and so are the attributes: a call is looked at once. */
function planIssuer(lower: Lower): Issuer {
  const known = new WeakMap<readonly TensorRef[], Issue>();
  return (inputs, outputs, attrs) => {
    const last = known.get(outputs);
    if (last !== undefined && last.inputs === inputs && last.attrs === attrs) return last;
    let isFixed = true;
    const made = lower(inputs, outputs, attrs, () => {
      isFixed = false;
    });
    if (made === undefined) return undefined;
    const issue = { inputs, attrs, made, tensors: [...inputs, ...outputs] };
    if (isFixed) known.set(outputs, issue);
    return issue;
  };
}

/** So many calls of a kernel are known at once. */
const MOST_KNOWN = 256;

/** Of single calls, which are looked at once for their shapes and attributes. */
function callIssuer(lower: Lower): Issuer {
  const known = new Map<string, Lowered>();
  return (inputs, outputs, attrs) => {
    const key = keyOf(inputs, outputs, attrs);
    let made = known.get(key);
    if (made === undefined) {
      let isFixed = true;
      made = lower(inputs, outputs, attrs, () => {
        isFixed = false;
      });
      if (made === undefined) return undefined;
      if (known.size === MOST_KNOWN) known.clear();
      if (isFixed) known.set(key, made);
    }
    return { inputs, attrs, made, tensors: [...inputs, ...outputs] };
  };
}

/** What the dispatches of a kernel's call depend on, besides its inputs' dtypes. */
function keyOf(inputs: readonly TensorRef[], outputs: readonly TensorRef[], attrs: KernelAttrs): string {
  let key = '';
  for (const { shape } of inputs) key += `${shape.join()};`;
  for (const { dtype, shape } of outputs) key += `${dtype} ${shape.join()};`;
  for (const name in attrs) key += `${name} ${keyOfValue(attrs[name])};`;
  return key;
}

function keyOfValue(value: AttrValue | undefined): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  return Array.isArray(value) ? `[${value.map(keyOfValue).join()}]` : String(value);
}

/** A GPU that runs the kernels of this package. It computes later: errors that depend on values are thrown by the next read. */
export abstract class DispatchingBackend implements Backend {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly deviceIndex: number;
  abstract readonly allocator: GpuAllocator<object>;
  readonly deviceType: string = 'GPU';

  /**
   * Runs one dispatch behind what was called before; those that are not `Dispatch` only if `instead` gave them.
   * @param operands of the call, by number; `TEMPORARY` is the last one.
   */
  protected abstract dispatch(
    name: string,
    dispatch: Dispatch | CudaDispatch | LibraryCall,
    operands: readonly Operand[],
  ): void;
  /** What serves a kernel on this GPU, where the registry has nothing for all GPUs. */
  protected own(_name: KernelName, _inputs: readonly NumericDType[]): Lower | undefined {
    return undefined;
  }
  /** What this GPU runs instead of a dispatch, or of those of a call. */
  protected instead(
    _of: Pick<Dispatch, 'cuda' | 'library' | 'prefersCuda'>,
    _operands: readonly Operand[],
  ): Instead | undefined {
    return undefined;
  }
  /** How many buffers a dispatch may have. */
  protected abstract readonly mostBuffers: number;

  /** Kernels for single calls, which know the calls that they have seen. */
  readonly #kernels = new Map<string, Kernel>();

  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined {
    const key = `${name} ${inputs.join()}`;
    const known = this.#kernels.get(key);
    if (known !== undefined) return known;
    const kernel = this.#named(name, inputs, false);
    if (kernel !== undefined) this.#kernels.set(key, kernel);
    return kernel;
  }

  elementwise(program: ScalarProgram): Kernel {
    return this.#ofProgram(program, false);
  }

  /** A plan makes the same calls at each run, so their dispatches are made once. */
  prepare(plan: Plan, allocator: Allocator = this.allocator): Executable {
    const { name, deviceType, deviceIndex, description } = this;
    const recording: Backend = {
      name,
      deviceType,
      deviceIndex,
      description,
      allocator,
      kernel: (kernel, inputs) => this.#named(kernel, inputs, true),
      elementwise: (program) => this.#ofProgram(program, true),
      prepare: (inner, own = allocator) => this.prepare(inner, own),
      threads: () => 1,
    };
    return interpretPlan(recording, plan);
  }

  threads(): number {
    return 1;
  }

  #named(name: KernelName, inputs: readonly NumericDType[], records: boolean): Kernel | undefined {
    const gpu = gpuKernel(name, inputs);
    const lower: Lower | undefined =
      gpu === undefined
        ? this.own(name, inputs)
        : (given, made, attrs, onMemory) => {
            const all = [...given, ...made];
            const same = (a: number, b: number): boolean => {
              onMemory();
              return sameBytes(all[a].storage, all[b].storage);
            };
            return gpu.lower({ inputs: given, outputs: made, attrs, same });
          };
    if (lower === undefined) return undefined;
    return this.#kernel(name, inputs, records, lower, (backend) => {
      const kernel = backend.kernel(name, inputs) ?? wideKernel(backend, name, inputs);
      if (kernel === undefined)
        throw new InternalError(`the ${backend.name} backend has no kernel ${name} of ${inputs.join(', ')}`);
      return kernel;
    });
  }

  /** What a GPU cannot compute keeps the rest of a program from it only where the one is written over what the other reads. */
  #ofProgram(program: ScalarProgram, records: boolean): Kernel {
    const gpu = elementwiseKernel(program);
    const whole = this.#ofWhole(program, gpu, records);
    const split = splitProgram(program);
    if (split === undefined) return whole;
    const forward = split.map((part) => ({ part, run: this.#ofPart(part, records) }));
    const backward = [...forward].reverse();
    return (inputs, outputs, attrs) => {
      // The host knows single numbers only.
      if (gpu !== undefined && outputs[0].size !== 1) {
        whole(inputs, outputs, attrs);
        return;
      }
      const order = [forward, backward].find((parts) =>
        parts.every(({ part }, i) =>
          parts.slice(i + 1).every((later) => !overwrites(part, later.part, inputs, outputs)),
        ),
      );
      if (order === undefined) whole(inputs, outputs, attrs);
      else for (const { run } of order) run(inputs, outputs, attrs);
    };
  }

  /** A kernel of some of the results, which is called with the operands of all. */
  #ofPart(part: ProgramPart, records: boolean): Kernel {
    const kernel = this.#ofWhole(part.program, elementwiseKernel(part.program), records);
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

  #ofWhole(program: ScalarProgram, gpu: ElementwiseKernel | undefined, records: boolean): Kernel {
    return this.#kernel(
      'an elementwise function',
      program.inputs,
      records,
      (inputs, outputs) => {
        const dispatch = gpu?.lower(inputs, outputs);
        return dispatch && { dispatches: [dispatch], scratch: [] };
      },
      (backend) => backend.elementwise(program),
    );
  }

  #kernel(
    name: string,
    dtypes: readonly NumericDType[],
    records: boolean,
    lower: Lower,
    kernelOf: (backend: Backend) => Kernel,
  ): Kernel {
    const issueOf = records ? planIssuer(lower) : callIssuer(lower);
    let scalar: Kernel | undefined;
    let fallback: Kernel | undefined;
    const ofScalars: Kernel = (inputs, outputs, attrs) => {
      scalar ??= kernelOf(hostOf(this));
      scalar(inputs, outputs, attrs);
    };
    return (inputs, outputs, attrs) => {
      if (this.allocator.scalars.compute(ofScalars, inputs, outputs, attrs)) return;
      const issue = issueOf(inputs, outputs, attrs);
      if (issue === undefined || !this.#hasRoom(issue.made)) {
        fallback ??= onHost(this, name, dtypes, kernelOf(processorOf(this)));
        fallback(inputs, outputs, attrs);
        return;
      }
      this.run(name, issue);
      if (placement.synchronous) this.allocator.synchronize();
    };
  }

  #hasRoom({ dispatches }: Lowered): boolean {
    const most = this.mostBuffers;
    for (const { operands } of dispatches) if (operands.length > most) return false;
    return true;
  }

  /** Runs a call's dispatches. */
  protected run(name: string, { made, tensors }: Pick<Issue, 'made' | 'tensors'>): void {
    const { dispatches, scratch } = made;
    const temporaries: Temporary[] = [];
    try {
      let operands: readonly Operand[] = tensors;
      if (scratch.length > 0) {
        for (const bytes of scratch) temporaries.push({ storage: this.#lend(operands, bytes), bytes });
        operands = [...tensors, ...temporaries];
      }
      const whole = made.instead ?? (made.cuda === undefined ? undefined : this.instead(made, operands));
      if (whole !== undefined) {
        this.#runInstead(name, whole, operands, temporaries);
        return;
      }
      for (const dispatch of dispatches) {
        const own = this.instead(dispatch, operands);
        if (own === undefined) this.dispatch(name, dispatch, operands);
        else this.#runInstead(name, own, operands, temporaries);
      }
    } finally {
      // The last one first, so that the next call, and the next run of a plan, get the same memory again.
      for (let i = temporaries.length - 1; i >= 0; i--) temporaries[i].storage.release();
    }
  }

  /** Memory for a while, of the logical device that has the results, which are the last operands. */
  #lend(operands: readonly Operand[], bytes: number): Storage {
    return (operands[operands.length - 1]?.storage.allocator ?? this.allocator).allocate(bytes);
  }

  #runInstead(
    name: string,
    { dispatches, scratch }: Instead,
    operands: readonly Operand[],
    temporaries: Temporary[],
  ): void {
    let all = operands;
    if (scratch > 0) {
      const own = { storage: this.#lend(operands, scratch), bytes: scratch };
      temporaries.push(own);
      all = [...operands, own];
    }
    for (const each of dispatches) this.dispatch(name, each, all);
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

/** The bytes of an operand: what holds whole elements of every type, and never none. */
export function bytesOfOperand(operand: Operand): number {
  const bytes = 'dtype' in operand ? operand.size * dtypeTraits[operand.dtype].bytes : operand.bytes;
  return Math.max(16, Math.ceil(bytes / 16) * 16);
}
