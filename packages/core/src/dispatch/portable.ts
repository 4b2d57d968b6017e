// Ops of TensorFlow in traces that are made to be written: strings that differ from run to run, and tables. Nothing runs them here.
import { type DType, UnimplementedError } from '@eagre/backend';
import type { TableResource } from '../lookup/table-resource.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { context } from './context.ts';
import { Op, type OutputSpec } from './op.ts';

/** An attribute with its type in TensorFlow. */
export type TypedAttr =
  | { readonly kind: 'type'; readonly value: DType }
  | { readonly kind: 'types'; readonly value: readonly DType[] }
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'ints'; readonly value: readonly (number | bigint)[] }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'floats'; readonly value: readonly number[] }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'texts'; readonly value: readonly string[] };

/** A call of an op of TensorFlow. */
export interface PortableCall {
  /** TensorFlow's name of it. */
  readonly op: string;
  readonly inputs: readonly Tensor[];
  readonly attrs?: Readonly<Record<string, TypedAttr>>;
  /** The table that is its first input. */
  readonly table?: TableResource;
  /** Whether the table may be changed: such calls keep their order. */
  readonly ordered?: boolean;
  /** What it gives; `size` makes a size that only a run knows. */
  readonly outputs: (size: () => Dim) => readonly OutputSpec[];
}

/** The op of such calls. The attributes of a node are `attrs`, `table` and `ordered` of the call. */
export class PortableOp extends Op {
  constructor(name: string) {
    super({ name, notDifferentiable: 'of strings and tables', samples: () => [] }, () => {
      throw new UnimplementedError(
        'only SavedModels hold strings and tables; a trace that is made for a file does not run',
        name,
      );
    });
  }
}

const ops = /* @__PURE__ */ new Map<string, PortableOp>();

/** The op of a name. */
export function portableOpOf(name: string): PortableOp {
  let op = ops.get(name);
  if (op === undefined) ops.set(name, (op = new PortableOp(name)));
  return op;
}

/** Whether the function that is traced now is traced to be written, so that strings may differ from run to run. */
export function tracesForFile(): boolean {
  return context.tracer?.forFile === true;
}

/** Writes a call into the trace, which is one for a file. */
export function portable(call: PortableCall): readonly Tensor[] {
  return (context.tracer as NonNullable<typeof context.tracer>).portable(call);
}

/** A call with one result, of the shape of its first input. */
export function portableEach(
  op: string,
  inputs: readonly Tensor[],
  dtype: DType,
  attrs: Readonly<Record<string, TypedAttr>> = {},
): Tensor {
  return portable({ op, inputs, attrs, outputs: () => [{ dtype, shape: dims(inputs[0]) }] })[0];
}
