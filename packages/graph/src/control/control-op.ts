import { InternalError, UnimplementedError } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import {
  type Attrs,
  context,
  currentBackend,
  execute,
  type GradFn,
  Op,
  symbolic,
  type Tracer,
} from '@eagre/core/internal';
import type { Graph, GraphValue } from '../ir/graph.ts';

/** Who takes part in running a graph node by node. */
export interface Interpreter {
  /** Runs a body on tensors for its arguments. @returns its outputs, and behind them the values that are to be saved. */
  run(graph: Graph, inputs: readonly Tensor[], saved?: readonly GraphValue[]): readonly Tensor[];
  /** What loops have left for their gradients, by their records. */
  readonly histories: Map<ForwardRecord, unknown>;
  /** Whether variables change and code of the host runs; without, only values are computed. */
  readonly effects: boolean;
}

/** Values in the body of a loop that another node, its gradient, takes over of each turn: in the order of the gradient's arguments. */
export interface Saved {
  readonly of: ForwardRecord;
  readonly values: readonly GraphValue[];
  /** For each value, what its stack is known by. */
  readonly stacks: readonly object[];
}

/** What is known of a loop beside its attributes: who needs values that only it has seen. */
export class ForwardRecord {
  /** Who traced the node: its gradient must be traced there too. */
  readonly tracer: Tracer | null = context.tracer;
  readonly saved: Saved[] = [];

  /** Whether the node is in the graph that is being traced. */
  get isHere(): boolean {
    return this.tracer === context.tracer;
  }

  /**
   * Has these values of each turn kept for a gradient.
   * @throws UnimplementedError, of `op`, where the two are not in one graph.
   */
  save(values: readonly GraphValue[], op?: string): Saved {
    if (!this.isHere) {
      throw new UnimplementedError(
        'the gradient must be computed in the function, branch or loop that contains the op, not in a nested one',
        op,
      );
    }
    const saved: Saved = { of: this, values, stacks: values.map(() => ({})) };
    this.saved.push(saved);
    return saved;
  }

  /** All that gradients take over. */
  get values(): readonly GraphValue[] {
    return this.saved.flatMap(({ values }) => values);
  }

  /** Which of `tensors`, what `values` names, each gradient takes over. */
  split(tensors: readonly Tensor[]): ReadonlyMap<Saved, readonly Tensor[]> {
    let first = 0;
    return new Map(
      this.saved.map((saved) => {
        const from = first;
        first += saved.values.length;
        return [saved, tensors.slice(from, first)];
      }),
    );
  }
}

/** An op whose attributes hold graphs. It is traced, lowered and interpreted, but has no kernel. */
export abstract class ControlOp extends Op {
  constructor(name: string, grad: GradFn) {
    super({ name, grad, samples: () => [] }, (inputs, attrs) => {
      if (currentBackend() !== symbolic) throw new InternalError(`${name} runs in graphs only`);
      return this.shapes(inputs, attrs);
    });
  }

  /** The graphs inside of a node. */
  abstract bodies(attrs: Attrs): readonly Graph[];

  /** Whether the bodies leave open how long an axis of an output is, beside what depends on values inside of them. */
  isOpen(_attrs: Attrs, _output: number, _axis: number): boolean {
    return false;
  }

  /** How many of the last outputs are values that its bodies would make differently if they ran again. */
  drawn(_attrs: Attrs): number {
    return 0;
  }

  /** Symbolic tensors of the outputs' shapes. */
  protected abstract shapes(inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[];

  /** Computes the outputs; tapes see what happens inside. */
  protected abstract compute(
    inputs: readonly Tensor[],
    attrs: Attrs,
    interpreter: Interpreter,
  ): readonly Tensor[];

  /** The attributes of another node that does the same. */
  protected abstract copied(attrs: Attrs, interpreter: Interpreter): Attrs;

  /**
   * Runs a node of this op: computes it, or adds its like to the graph of the function that is being traced.
   * @param _drawn those of its outputs that are known, since they must not be made again.
   */
  interpret(
    inputs: readonly Tensor[],
    attrs: Attrs,
    interpreter: Interpreter,
    _drawn: readonly Tensor[],
  ): readonly Tensor[] {
    if (context.tracer !== null) return execute(this, inputs, this.copied(attrs, interpreter));
    return this.compute(inputs, attrs, interpreter);
  }
}

/** Variables that a node changes. Their values are inputs and outputs of the node as well. */
export type Written = readonly Variable[];

/** The copy of what a copy of the node itself will save. */
export function copiedSaved(saved: Saved, { histories }: Interpreter): Saved {
  const record = histories.get(saved.of);
  if (!(record instanceof ForwardRecord))
    throw new InternalError('a gradient comes before what it belongs to');
  return record.save(saved.values);
}
