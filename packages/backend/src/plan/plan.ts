// Types in a circle: a backend prepares plans, whose host code sees tensors as its kernels do.
import type { Storage } from '../buffer/storage.ts';
import type { Kernel, TensorRef } from '../device/backend.ts';
import type { DType } from '../dtype.ts';
import { type KernelAttrs, type KernelName, kernelAttrs } from '../kernels.ts';
import type { ScalarProgram } from '../program/scalar.ts';

/** What a call sees of a value: some memory with a dtype and a shape. Several may look at one value (a reshape). */
export interface PlanTensor {
  /** The number of the memory, its place in `Plan.bytes`. */
  readonly value: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly size: number;
}

/** Code of the host among kernel calls: reads the inputs' memory and fills the outputs'. */
export type HostCode = (inputs: readonly TensorRef[], outputs: readonly TensorRef[]) => void;

/** A kernel that no other backend has. */
export interface OwnKernel {
  /** What it is called in texts of plans. */
  readonly title: string;
  readonly run: Kernel;
}

/** What a call may be beside a named kernel and a scalar program; `PlanCall` says what each does. */
export type ControlKernel = 'Host' | 'Own' | 'Case' | 'While' | 'Push' | 'Pop';

/** Whether that is the name of a kernel that a backend has. */
export function isKernelName(kernel: PlanCall['kernel']): kernel is KernelName {
  return typeof kernel === 'string' && Object.hasOwn(kernelAttrs, kernel);
}

/**
 * One call: of a kernel; of a scalar program, which is mapped over inputs that broadcast to the outputs' one shape; or one of these.
 *
 * `Host`: `host` runs, which may do anything, so that such calls are never dropped, shared or reordered among each other.
 *
 * `Own`: `own` runs, a kernel of the backend that put the call into the plan (`Backend.tailor`). It may write what it reads where it says so itself.
 *
 * `Case`: one of `bodies` runs. The first input selects it: a bool scalar takes body 0 where it is true and body 1 where it is false; an
 * int32 scalar takes that body, and the last one where it is out of range. The inputs that follow are the `inputs` of each body, the
 * first outputs the `outputs` of each.
 *
 * `While`: `bodies` are a condition and a body, with the same inputs: the carried values and then what stays the same. The condition's
 * one output is a bool scalar; the body's outputs are the next carried values. While the condition holds the body runs; the call's first
 * outputs are the carried values at the end.
 *
 * Behind those, the inputs of `Case` and `While` list every state of this plan that a body touches, the outputs every one that a body
 * writes, so that who looks at inputs and outputs alone knows what depends on what.
 *
 * `Push`: puts a copy of the first input on a stack, its second input and only output. `Pop`: takes the last one off a stack, its only
 * input, into the first output; the second output is the stack.
 */
export interface PlanCall {
  readonly kernel: KernelName | ControlKernel | ScalarProgram;
  readonly host?: HostCode;
  readonly own?: OwnKernel;
  readonly bodies?: readonly Plan[];
  readonly inputs: readonly PlanTensor[];
  readonly outputs: readonly PlanTensor[];
  /** The kernel's attributes; those of `kernelAttrs`. */
  readonly attrs: KernelAttrs;
  /** For errors and profiles: the op that it belongs to. */
  readonly name: string;
}

/** Memory that outlives a run: a variable's value, or a constant; or a stack, which is empty before and after a run. */
export interface PlanState {
  readonly value: number;
  /** What it is: states of a plan and of bodies in it that have one source are the same memory. */
  readonly source: object;
  /**
   * The memory of a constant, which is held as long as the plan; or what tells the memory now, asked before each run: for a state that is
   * written, nobody else holds it. Null for a stack, whose value has 0 bytes.
   */
  readonly memory: Storage | (() => Storage) | null;
}

/**
 * A list of calls over numbered memory. Every value is one of the inputs, a state, or written by exactly one call, which comes before
 * those that read it. States may be read and written by several calls, in their order; one call may write what it reads only where its
 * kernel allows outputs to be inputs (scalar programs on tensors of the outputs' shape, optimizers, NextDraw, SetRow, ScatterNd, states of Case and While).
 *
 * The plans in `PlanCall.bodies` number their values by themselves. A body's inputs are given by the call, its states by the plans
 * around it where those have one of the same source. A state may be given to a body that writes it, as it is before the call.
 */
export interface Plan {
  /** The size of each value in bytes. */
  readonly bytes: readonly number[];
  /** Given at each run. */
  readonly inputs: readonly number[];
  readonly states: readonly PlanState[];
  readonly calls: readonly PlanCall[];
  /** Written into memory that is given at each run; each is the output of a call, and listed once. */
  readonly outputs: readonly number[];
}

/** A plan made ready by a backend. */
export interface Executable {
  /** Bytes kept for values that are neither given nor states. */
  readonly arenaBytes: number;
  /**
   * Runs all calls.
   * @param inputs memory of `plan.inputs`; only read.
   * @param outputs memory for `plan.outputs`.
   * @param times if given, filled with the seconds that each of the plan's calls took, those in bodies included in theirs.
   * @throws the error of a call, whose `op` is the call's name. States may have been written by the calls before.
   */
  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void;
  /**
   * Runs all calls without holding up this thread's other work for long: on another thread where the backend has them. Code of the host
   * runs on this one. The memory of states is asked for at the start and held until the end.
   * @throws as `run`; CancelledError once `signal` is aborted, between two calls.
   */
  runAsync(inputs: readonly Storage[], outputs: readonly Storage[], signal?: AbortSignal): Promise<void>;
  /** Gives its memory back. */
  dispose(): void;
}
