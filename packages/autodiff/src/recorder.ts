import type { Tensor, Variable } from '@eagre/core';
import { type Attrs, context, hasGradient, type Op, type TapeObserver } from '@eagre/core/internal';

/** One op on a tape. */
export interface Entry {
  readonly op: Op;
  readonly inputs: readonly Tensor[];
  readonly attrs: Attrs;
  readonly outputs: readonly Tensor[];
  /** The name scope in the graph of a traced function. */
  readonly scope: string;
}

/**
 * Records the ops that depend on something watched. What it records it holds, so that memory scopes do not take away what a
 * gradient will need; `release` lets go.
 */
export class Recorder implements TapeObserver {
  readonly takesCalls = true;
  readonly entries: Entry[] = [];
  /** Ids of the tensors that depend on something watched. */
  readonly tracked: Set<number> = new Set();
  /** Which variable a tensor was read from. */
  readonly reads: Map<number, Variable> = new Map();
  readonly #watchAccessed: boolean;
  readonly #watchedVariables = new Set<Variable>();
  #closed = false;

  constructor(watchAccessedVariables: boolean) {
    this.#watchAccessed = watchAccessedVariables;
  }

  watchTensor(tensor: Tensor): void {
    this.tracked.add(tensor.id);
  }
  watchVariable(variable: Variable): void {
    this.#watchedVariables.add(variable);
  }

  /** Whether it is told of ops in vain. */
  get closed(): boolean {
    return this.#closed;
  }

  follows({ id }: Tensor): boolean {
    return this.tracked.has(id);
  }

  record(op: Op, inputs: readonly Tensor[], attrs: Attrs, outputs: readonly Tensor[]): void {
    const tracked = this.tracked;
    let depends = false;
    for (let i = 0; i < inputs.length; i++) {
      if (tracked.has(inputs[i].id)) {
        depends = true;
        break;
      }
    }
    if (!depends || op.grad === undefined) return;
    for (let i = 0; i < inputs.length; i++) inputs[i].storage.refs++;
    for (let i = 0; i < outputs.length; i++) {
      const output = outputs[i];
      output.storage.refs++;
      if (hasGradient(output.dtype)) tracked.add(output.id);
    }
    const { tracer } = context;
    this.entries.push({ op, inputs, attrs, outputs, scope: tracer === null ? '' : tracer.nameScope });
  }

  variableRead({ whole: variable }: Variable, value: Tensor): void {
    if (this.#closed || this.reads.has(value.id)) return;
    if ((this.#watchAccessed && variable.trainable) || this.#watchedVariables.has(variable)) {
      this.tracked.add(value.id);
      this.reads.set(value.id, variable);
    }
  }

  /** Every variable that was watched and read, in the order of first use. */
  watchedVariables(): Variable[] {
    return [...new Set(this.reads.values())];
  }

  /** Lets go of one entry's tensors. */
  static letGo(entry: Entry): void {
    for (const t of entry.inputs) t.storage.release();
    for (const t of entry.outputs) t.storage.release();
  }

  /** Lets go of everything, for good: what still tells it of ops tells in vain. */
  close(): void {
    this.#closed = true;
    this.release();
  }

  release(): void {
    for (const entry of this.entries) Recorder.letGo(entry);
    this.entries.length = 0;
    this.tracked.clear();
    this.reads.clear();
  }
}
