import type { TensorRef } from './backend.ts';
import type { DType } from './dtype.ts';
import type { AttrValue, KernelName } from './kernels.ts';
import type { ScalarProgram } from './scalar.ts';
import type { Storage } from './storage.ts';

/** Numbers that are asked for anew before each run of a plan: key and counter of a random draw, a learning rate. */
export interface LateNumbers {
  next(): readonly number[];
}

/** An attribute that is one of them. All that share `numbers` are of the same draw. */
export class LateNumber {
  readonly numbers: LateNumbers;
  readonly index: number;

  constructor(numbers: LateNumbers, index: number) {
    this.numbers = numbers;
    this.index = index;
  }
}

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

/** One kernel call. */
export interface PlanCall {
  /**
   * A named kernel, a scalar program that is mapped over inputs which broadcast to the outputs' one shape, or `'Host'`: then `host`
   * runs, which may do anything, so that such calls are never dropped, shared or reordered among each other.
   */
  readonly kernel: KernelName | 'Host' | ScalarProgram;
  readonly host?: HostCode;
  readonly inputs: readonly PlanTensor[];
  readonly outputs: readonly PlanTensor[];
  /** The kernel's attributes; those of `kernelAttrs`. */
  readonly attrs: Readonly<Record<string, AttrValue | LateNumber>>;
  /** For errors and profiles: the op that it belongs to. */
  readonly name: string;
}

/** Memory that outlives a run: a variable's value, or a constant. */
export interface PlanState {
  readonly value: number;
  /** The memory now; asked before each run. For one that is written: nobody else holds it. */
  memory(): Storage;
}

/**
 * A straight list of kernel calls over numbered memory. Every value is one of the inputs, a state, or written by exactly one
 * call, which comes before those that read it. States may be read and written by several calls, in their order; one call may
 * write what it reads only where its kernel allows outputs to be inputs (scalar programs on tensors of the outputs' shape,
 * optimizers).
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
   * @param times if given, filled with the seconds that each call took.
   * @throws the error of a call, whose `op` is the call's name. States may have been written by the calls before.
   */
  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void;
  /** Gives its memory back. */
  dispose(): void;
}
