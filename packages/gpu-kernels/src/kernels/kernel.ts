import {
  type DType,
  dtypeTraits,
  InternalError,
  type KernelAttrs,
  type KernelName,
  type NumericDType,
} from '@eagre/backend';
import { parseKernel } from '../language/parse.ts';
import type { KernelModule } from '../language/syntax.ts';
import type { LibraryProduct } from './library-product.ts';
import { withMath } from './math.ts';

/** What a kernel knows of a tensor before it runs. */
export interface TensorInfo {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
}

/** The text of a kernel, parsed once. */
export interface GpuProgram {
  /** Its text, by which it is known. */
  readonly text: string;
  readonly module: KernelModule;
  /** The types of the fields of its uniform block, in order. */
  readonly params: readonly ('u32' | 'i32' | 'f32')[];
  /** How many storage buffers it has; the uniform block, if there is one, is the binding behind them. */
  readonly buffers: number;
}

/** A kernel in CUDA C++, for what the subset of WGSL has no words for. */
export interface CudaProgram {
  /** Its text, behind `cudaPrelude`, with a global function of that name, whose parameters are as `printCuda` has them. */
  readonly print: (name: string) => string;
  /** How many tensor maps its parameters begin with. */
  readonly maps: number;
  /** The types of its pointers. */
  readonly pointers: readonly string[];
  readonly params: GpuProgram['params'];
  readonly workgroup: readonly [x: number, y: number, z: number];
  /** The compute capability that it needs: 80 for 8.0. */
  readonly capability: number;
  /** Whether it has instructions of that compute capability that no later one has. */
  readonly isSpecific: boolean;
  /** Bytes of shared memory that launches give it, beside those that it declares. */
  readonly shared: number;
  /** Whether its workgroups, all along x, go on until everything is made: no more of them are of use than there are multiprocessors. */
  readonly isPersistent: boolean;
  /** Whether it multiplies numbers of float32 with fewer bits, which programs may forbid. */
  readonly isTensorFloat32: boolean;
}

/** The operand that stands for the words in which kernels say what went wrong: see `faults`. */
export const FAULT = -1;
/** The operand that stands for the temporary of `CudaDispatches`. */
export const TEMPORARY = -2;
/** The operand that stands for so many words by which workgroups of a launch count those that have ended, on GPUs of NVIDIA. They are 0 between launches. */
export const COUNTERS = -3;
/** How many of these words there are at most. */
export const MOST_COUNTERS = 2048;

/** One dispatch of a program. */
export interface Dispatch {
  readonly program: GpuProgram;
  /** What each storage buffer is: the number of a tensor of the call (inputs, then outputs, then scratch), `FAULT` or `COUNTERS`. */
  readonly operands: readonly number[];
  readonly params: readonly number[];
  readonly workgroups: readonly [x: number, y: number, z: number];
  /** What GPUs of NVIDIA of a compute capability run instead, if they can do so. */
  readonly cuda?: (capability: number) => CudaDispatches | undefined;
  /** The product that it makes, for GPUs whose maker has a library of products. */
  readonly library?: LibraryProduct;
  /** Whether `cuda` is faster than libraries. */
  readonly prefersCuda?: boolean;
}

/** A dispatch on a GPU of NVIDIA. */
export interface CudaDispatch extends Omit<Dispatch, 'program' | 'cuda' | 'library' | 'prefersCuda'> {
  readonly program: GpuProgram | CudaProgram;
  /** What the tensor maps of the program are of. */
  readonly maps?: readonly TensorMap[];
}

/** Matrices behind each other in an operand, of whose lines a kernel copies boxes, as a tensor map of the driver describes them. */
export interface TensorMap {
  readonly operand: number;
  /** Elements of float32 are rounded to TensorFloat-32 when they are copied. */
  readonly dtype: 'float32' | 'float16' | 'bfloat16';
  /** Elements before the first matrix. It begins at a multiple of 16 bytes. */
  readonly from: number;
  readonly sizes: readonly [elements: number, lines: number, matrices: number];
  /** Elements from a line to the next, which are a multiple of 16 bytes. */
  readonly pitch: number;
  /** A line of a box is at most 128 bytes, of which there are at most 256. */
  readonly box: readonly [elements: number, lines: number];
}

/** What GPUs of NVIDIA run instead of a dispatch, or of a call's, in this order. */
export interface CudaDispatches {
  readonly dispatches: readonly CudaDispatch[];
  /** The bytes of a temporary of their own, the operand `TEMPORARY`, or 0. */
  readonly scratch: number;
  /** What runs instead where the driver has no tensor maps, which these need. */
  readonly withoutMaps?: CudaDispatches;
}

/** A call of a product of a library. */
export interface LibraryCall {
  /** Its number on the GPU. */
  readonly product: number;
  readonly operands: readonly number[];
  /** For each operand the byte at which the call begins. */
  readonly offsets: readonly number[];
  /** Bytes that it needs besides: all calls on a GPU share them, as they run one behind the other. */
  readonly workspace: number;
}

/** What a GPU runs instead of a dispatch, in this order, with a temporary as `CudaDispatches` has it. */
export interface Instead {
  readonly dispatches: readonly (CudaDispatch | LibraryCall)[];
  readonly scratch: number;
}

/** Whether a GPU of this compute capability runs a program. */
export function runsOn(program: GpuProgram | CudaProgram, capability: number): boolean {
  if (!('print' in program)) return true;
  return program.isSpecific ? capability === program.capability : capability >= program.capability;
}

/** Dispatches that are made when a GPU first asks for them. */
export function perCapability(
  make: (capability: number) => CudaDispatches | undefined,
): NonNullable<Dispatch['cuda']> {
  const known = new Map<number, CudaDispatches | undefined>();
  return (capability) => {
    if (!known.has(capability)) known.set(capability, make(capability));
    return known.get(capability);
  };
}

/** A call of a kernel as dispatches, which run in their order. */
export interface Lowered {
  readonly dispatches: readonly Dispatch[];
  /** The bytes of each temporary. */
  readonly scratch: readonly number[];
  /** What runs instead of dispatches, of which there are none then. */
  readonly instead?: Instead;
  /** What GPUs of NVIDIA of a compute capability run instead of all of them, if they can do so. */
  readonly cuda?: Dispatch['cuda'];
}

/** A call of a kernel of the registry. */
export interface Call {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly attrs: KernelAttrs;
  /** Whether two operands are the same memory. */
  readonly same: (a: number, b: number) => boolean;
}

/** What serves a kernel of the registry on GPUs. */
export interface GpuKernel {
  /** The dtypes of the first input, or of the output of a kernel without inputs. */
  readonly dtypes: readonly NumericDType[];
  /**
   * Turns a call into dispatches; undefined where this call is not served, which the host then does.
   * @throws InvalidArgumentError for what the shapes and attributes already tell to be wrong.
   */
  readonly lower: (call: Call) => Lowered | undefined;
}

/** Kernels for GPUs by their names. */
export type GpuKernels = { readonly [name in KernelName]?: GpuKernel };

/** What goes wrong while kernels run, by the number that they write. A kernel stays in its memory and goes on with zeros. */
export const faults = {
  1: 'an index is out of range',
  2: 'integer division by zero',
  3: 'an integer to a negative power',
  4: 'a label is out of range',
  5: 'an argmax points to another channel',
} as const;
/** The number of what went wrong. */
export type Fault = keyof typeof faults;

/** Bytes of the buffer of faults: its first word is the number of the worst. */
export const FAULT_BYTES = 16;

/** A statement that notes a fault, in a program that has the binding `fault`. */
export function raise(fault: Fault): string {
  return `atomicMax(&fault[0], ${fault}u);`;
}

const programs = new Map<string, GpuProgram>();

/** The program of a text; functions of `math.ts` that it calls are added. */
export function programOf(text: string): GpuProgram {
  let program = programs.get(text);
  if (program !== undefined) return program;
  const module = parseKernel(withMath(text));
  const uniform = module.bindings.find(({ space }) => space === 'uniform');
  const buffers = module.bindings.length - (uniform === undefined ? 0 : 1);
  if (uniform !== undefined && uniform.number !== buffers)
    throw new InternalError('the uniform block of a GPU kernel is its last binding');
  const block = uniform?.type.kind === 'name' ? uniform.type.name : undefined;
  const fields = module.structs.find(({ name }) => name === block)?.fields ?? [];
  const params = fields.map(({ name, type }) => {
    if (type.kind === 'name' && (type.name === 'u32' || type.name === 'i32' || type.name === 'f32'))
      return type.name;
    throw new InternalError(`the field ${name} of a GPU kernel's uniform block is no word`);
  });
  programs.set(text, (program = { text, module, params, buffers }));
  return program;
}

/**
 * The head of a kernel's text: its buffers, in order, and the fields of its uniform block, `p`.
 * @param buffers name → type of the elements, with `mut ` before it for those that it writes.
 */
export function head(
  buffers: Readonly<Record<string, string>>,
  params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>,
): string {
  const lines = Object.entries(buffers).map(([name, type], i) => {
    const written = type.startsWith('mut ');
    return `@group(0) @binding(${i}) var<storage, ${written ? 'read_write' : 'read'}> ${name}: array<${type.replace('mut ', '')}>;`;
  });
  const fields = Object.entries(params).map(([name, type]) => `${name}: ${type}`);
  return `struct Params { ${fields.join(', ')} }\n${lines.join('\n')}\n@group(0) @binding(${lines.length}) var<uniform> p: Params;\n`;
}

/** Threads of a workgroup of most kernels. */
export const THREADS = 64;
const MOST_GROUPS = 65535;

/** The workgroups for so many threads; more than fit into one dimension go on in the second. */
export function groupsFor(threads: number, each: number = THREADS): [x: number, y: number, z: number] {
  return groups(Math.ceil(threads / each));
}

/** So many workgroups, in two dimensions where one is too short. */
export function groups(count: number): [x: number, y: number, z: number] {
  const y = Math.max(1, Math.ceil(count / MOST_GROUPS));
  return [Math.max(1, Math.ceil(count / y)), y, 1];
}

/** A kernel in which each thread does a piece of work of its own: `body` sees its number as `thread`. */
export function perThread(
  buffers: Readonly<Record<string, string>>,
  params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>,
  body: string,
): GpuProgram {
  return programOf(`${head(buffers, { ...params, threads: 'u32' })}
@compute @workgroup_size(${THREADS})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) all: vec3u) {
  let thread = id.y * (all.x * ${THREADS}u) + id.x;
  if (thread < p.threads) { ${body} }
}`);
}

/** One dispatch of a program of `perThread`. */
export function launch(
  program: GpuProgram,
  operands: readonly number[],
  params: readonly number[],
  threads: number,
): Dispatch {
  return { program, operands, params: [...params, threads], workgroups: groupsFor(threads) };
}

/** Bytes of an element. */
export function bytesOf(dtype: DType): number {
  return dtypeTraits[dtype].bytes;
}

/** A call of no work, such as one whose outputs are empty. */
export const nothing: Lowered = { dispatches: [], scratch: [] };

/** Dispatches without temporaries. */
export function lowered(...dispatches: readonly Dispatch[]): Lowered {
  return { dispatches, scratch: [] };
}

/** Whether every size and every count of words can be counted by 32 bits. */
export function fits(...tensors: readonly TensorInfo[]): boolean {
  return tensors.every(({ size, dtype }) => size * bytesOf(dtype) < 2 ** 31);
}

/** Serves the calls whose sizes fit, and those of no outputs by nothing. */
export function alwaysFits(lower: GpuKernel['lower']): GpuKernel['lower'] {
  return (call) => {
    if (!fits(...call.inputs, ...call.outputs)) return undefined;
    if (call.outputs.every(({ size }) => size === 0)) return nothing;
    return lower(call);
  };
}
