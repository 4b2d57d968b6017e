// A backend of the host that notes what GPU kernels would do in its calls, so that they can be run and compared later.
import {
  type Allocator,
  type Backend,
  dtypeTraits,
  type Executable,
  hostBytes,
  interpretPlan,
  isHalf,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  type NumericDType,
  type Plan,
  type ScalarProgram,
  type Storage,
  sameBytes,
  type TensorRef,
  valuesOf,
  wideKernel,
} from '@eagre/backend';
import { serveCuda } from '../cuda/serve-cuda.ts';
import { elementwiseKernel } from '../kernels/elementwise.ts';
import {
  type CudaDispatch,
  type CudaProgram,
  type Dispatch,
  FAULT,
  FAULT_BYTES,
  type GpuProgram,
  type Lowered,
  TEMPORARY,
} from '../kernels/kernel.ts';
import { gpuKernel } from '../kernels/registry.ts';
import type { ShimDispatch } from './cuda-shim.ts';

// It notes what GPUs of NVIDIA would run, too.
serveCuda();

/** The first GPUs of NVIDIA for which there are programs of their own: Ampere, Hopper and Blackwell. */
const FIRST_CAPABILITIES = [80, 90, 100];
/** So few that persistent workgroups have several tiles. */
const MULTIPROCESSORS = 2;

/** A call of a kernel, with what the host made of it. */
export interface Recorded {
  /** Of the test that made the call. */
  readonly label: string;
  readonly kernel: KernelName | 'elementwise';
  readonly ulp: number;
  /** What the buffers hold before: operands, temporaries, faults. */
  readonly buffers: readonly Uint8Array[];
  readonly dispatches: readonly ShimDispatch[];
  readonly outputs: readonly {
    readonly buffer: number;
    readonly dtype: NumericDType;
    readonly expected: Uint8Array;
  }[];
}

export class Recorder implements Backend {
  readonly name = 'recorder';
  readonly deviceType = 'RECORDER';
  readonly deviceIndex = 0;
  readonly description = 'a backend for tests, which notes the calls of kernels';
  readonly allocator: Allocator;
  readonly recorded: Recorded[] = [];
  /** The programs of the calls, and what GPUs of NVIDIA run instead. */
  readonly programs: Set<GpuProgram | CudaProgram> = new Set();
  /** What is mapped over tensors. */
  readonly functions: Set<ScalarProgram> = new Set();
  /** Whether the calls are kept. */
  keeps = true;
  /** Kernels of calls that no GPU kernel served, and how often. */
  readonly missing = new Map<string, number>();
  /** Where the calls come from, and how far results may be off. */
  label = '';
  ulp = 4;
  /** Of a GPU of NVIDIA: what that runs instead is noted. 0 for none. */
  capability = 0;
  /** Whether its driver has tensor maps. */
  hasTensorMaps = true;
  readonly #host: Backend;

  /** @param host whose kernels do the work. */
  constructor(host: Backend) {
    this.#host = host;
    this.allocator = host.allocator;
  }

  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined {
    const gpu = gpuKernel(name, inputs);
    // Of 16 bits those kernels that GPUs have.
    const kernel = this.#host.kernel(name, inputs) ?? (gpu && wideKernel(this.#host, name, inputs));
    if (kernel === undefined) return undefined;
    return (given, made, attrs) =>
      this.#run(name, kernel, given, made, attrs, (same) =>
        gpu?.lower({ inputs: given, outputs: made, attrs, same }),
      );
  }

  elementwise(program: ScalarProgram): Kernel {
    const kernel = this.#host.elementwise(program);
    const gpu = elementwiseKernel(program);
    this.functions.add(program);
    return (given, made, attrs) =>
      this.#run('elementwise', kernel, given, made, attrs, () => {
        const dispatch = gpu?.lower(given, made);
        return dispatch && { dispatches: [dispatch], scratch: [] };
      });
  }

  prepare(plan: Plan): Executable {
    return interpretPlan(this, plan);
  }

  threads(): number {
    return 1;
  }

  #run(
    name: Recorded['kernel'],
    kernel: Kernel,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: KernelAttrs,
    lower: (same: (a: number, b: number) => boolean) => Lowered | undefined,
  ): void {
    const tensors = [...inputs, ...outputs];
    const memories: Storage[] = [];
    const bytes: Uint8Array[] = [];
    const places = tensors.map(({ storage, size, dtype }) => {
      const known = memories.findIndex((memory) => sameBytes(memory, storage));
      if (known >= 0) return known;
      memories.push(storage);
      return bytes.push(hostBytes(storage, size * dtypeTraits[dtype].bytes).slice()) - 1;
    });
    const made = lower((a, b) => places[a] === places[b]);
    if (made === undefined) {
      const key = `${name} ${inputs.map(({ dtype }) => dtype)} → ${outputs.map(({ dtype }) => dtype)}`;
      this.missing.set(key, (this.missing.get(key) ?? 0) + 1);
    }
    kernel(inputs, outputs, attrs);
    if (made === undefined) return;
    for (const { program } of made.dispatches) this.programs.add(program);
    for (const { cuda } of [made, ...made.dispatches])
      for (const capability of FIRST_CAPABILITIES)
        for (let made = cuda?.(capability); made !== undefined; made = made.withoutMaps)
          for (const other of made.dispatches) this.programs.add(other.program);
    if (!this.keeps) return;
    // What is only written to holds garbage before.
    outputs.forEach((_, i) => {
      const place = places[inputs.length + i];
      if (places.indexOf(place) >= inputs.length) bytes[place].fill(0xa7);
    });
    const temporary = (size: number): number => bytes.push(new Uint8Array(size).fill(0xa7)) - 1;
    const scratch = made.scratch.map(temporary);
    const fault = bytes.push(new Uint8Array(FAULT_BYTES)) - 1;
    const bufferOf = (operand: number): number =>
      operand === FAULT
        ? fault
        : operand < places.length
          ? places[operand]
          : scratch[operand - places.length];
    const recorded = (
      { program, params, workgroups, operands, maps = [] }: CudaDispatch,
      own = -1,
    ): ShimDispatch => {
      const placeOf = (operand: number): number => (operand === TEMPORARY ? own : bufferOf(operand));
      const isPersistent = 'print' in program && program.isPersistent;
      return {
        program,
        params,
        workgroups: isPersistent ? [Math.min(workgroups[0], MULTIPROCESSORS), 1, 1] : workgroups,
        buffers: operands.map(placeOf),
        maps: maps.map((map) => ({ ...map, operand: placeOf(map.operand) })),
      };
    };
    const instead = ({ cuda }: Pick<Dispatch, 'cuda'>): ShimDispatch[] | undefined => {
      const first = cuda?.(this.capability);
      if (first === undefined) return undefined;
      const own = (this.hasTensorMaps ? undefined : first.withoutMaps) ?? first;
      const memory = own.scratch === 0 ? -1 : temporary(own.scratch);
      return own.dispatches.map((each) => recorded(each, memory));
    };
    const dispatches =
      instead(made) ?? made.dispatches.flatMap((dispatch) => instead(dispatch) ?? [recorded(dispatch)]);
    this.recorded.push({
      label: this.label,
      kernel: name,
      ulp: this.ulp,
      buffers: bytes,
      dispatches,
      outputs: outputs.map(({ storage, dtype, size }, i) => ({
        buffer: places[inputs.length + i],
        dtype: dtype as NumericDType,
        expected: hostBytes(storage, size * dtypeTraits[dtype].bytes).slice(),
      })),
    });
  }
}

/**
 * How far results are from what the host made, in units in the last place; Infinity where dtypes other than floats differ at all.
 * @param ofLargest whether the units are those of the largest result.
 */
export function distance(
  dtype: NumericDType,
  got: Uint8Array,
  expected: Uint8Array,
  ofLargest = false,
): number {
  if (dtype !== 'float32' && !isHalf(dtype))
    return Buffer.compare(got, expected) === 0 ? 0 : Number.POSITIVE_INFINITY;
  const [a, b] = [got, expected].map((bytes) =>
    isHalf(dtype)
      ? (valuesOf(new Uint16Array(bytes.slice().buffer), dtype) as Float32Array)
      : new Float32Array(bytes.slice().buffer),
  );
  const unit = 2 ** (1 - dtypeTraits[dtype].digits);
  const least = dtype === 'float16' ? 2 ** -14 : 1e-30;
  let scale = 0;
  for (const value of b) if (Number.isFinite(value)) scale = Math.max(scale, Math.abs(value));
  let most = 0;
  b.forEach((wanted, i) => {
    const value = a[i];
    if (value === wanted || (Number.isNaN(value) && Number.isNaN(wanted))) return;
    const size = ofLargest ? scale : Math.max(Math.abs(wanted), scale / 1000, least);
    const off = Math.abs(value - wanted) / (size * unit);
    most = Number.isNaN(off) ? Number.POSITIVE_INFINITY : Math.max(most, off);
  });
  return most;
}
