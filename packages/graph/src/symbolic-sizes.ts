// Integers that are made of sizes: tf.shape(x), its elements, and what is computed from them.
import { constant, type Tensor } from '@eagre/core';
import { execute, isInteger, lifted, viewOf } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from './graph.ts';

// They compute with their first input alone; indices beside it have to be known.
const MOVES: ReadonlySet<string> = new Set([
  'ExpandDims',
  'GatherV2',
  'Identity',
  'Reshape',
  'ReverseV2',
  'Slice',
  'SplitV',
  'Squeeze',
  'StopGradient',
  'StridedSlice',
  'Unpack',
]);
// What a size is in the trace and in a run is told apart by sums and products alone: the least of two, a remainder or a comparison may
// be the same for all numbers that stand for sizes, and another one for the size of a run.
const ARITHMETIC: ReadonlySet<string> = new Set([
  'AddN',
  'AddV2',
  'ConcatV2',
  'FloorDiv',
  'Mul',
  'Neg',
  'Pack',
  'Prod',
  'Sub',
  'Sum',
]);

/** Reads what is not computed from sizes. */
export interface KnownValues {
  /** A value that is the same at each run; null where runs differ. */
  constant(value: GraphValue): Tensor | null;
  /** The numbers of an argument that comes from the function around; null where they are none made of sizes. */
  outside(value: GraphValue): readonly number[] | null;
}

/**
 * The numbers of an integer value, in which numbers stand for unknown sizes.
 * @returns null for a value that depends on others than sizes, or in another way than by sums, products and quotients without a rest.
 */
export function numbersOfSizes(value: GraphValue, known: KnownValues): readonly number[] | null {
  const found = new Map<GraphNode, readonly (Tensor | null)[]>();
  // In float64: a product of two sizes, or of the numbers that stand for them, may not fit into int32.
  const exact = (list: readonly number[], shape: readonly number[]): Tensor =>
    constant(list, 'float64', { shape });

  const compute = (node: GraphNode): readonly (Tensor | null)[] => {
    const { what, type, inputs, attrs, outputs } = node;
    const none = outputs.map(() => null);
    if (what.kind === 'argument') {
      const [argument] = outputs as readonly [GraphValue];
      const list = isInteger(argument.dtype) ? known.outside(argument) : null;
      return [list === null ? null : exact(list, argument.shape)];
    }
    if (what.kind === 'constant')
      return isInteger(what.tensor.dtype)
        ? [exact(Array.from(viewOf(what.tensor), Number), what.tensor.shape)]
        : none;
    if (what.kind !== 'op' || !outputs.every((v) => isInteger(v.dtype))) return none;
    const [first] = inputs;
    if (first === undefined) return none;
    if (type === 'Shape') return [exact(first.shape, [first.shape.length])];
    if (type === 'Cast') return isInteger(first.dtype) ? [valueOf(first)] : none;
    const moves = MOVES.has(type);
    if (!moves && !ARITHMETIC.has(type)) return none;
    const given = inputs.map((v, i) => (moves && i > 0 ? known.constant(v) : valueOf(v)));
    if (given.some((t) => t === null)) return none;
    const made = execute(what.op, given as Tensor[], attrs);
    return type === 'FloorDiv' && !divides(given as Tensor[], made[0] as Tensor) ? none : made;
  };

  const valueOf = (v: GraphValue): Tensor | null => {
    let outputs = found.get(v.node);
    if (outputs === undefined) {
      const constants = v.node.outputs.map((o) => (isInteger(o.dtype) ? known.constant(o) : null));
      outputs = constants.every((t) => t !== null)
        ? constants.map((t) => exact(Array.from(viewOf(t), Number), t.shape))
        : compute(v.node);
      found.set(v.node, outputs);
    }
    return outputs[v.index] ?? null;
  };

  return lifted(() => {
    const tensor = isInteger(value.dtype) ? valueOf(value) : null;
    return tensor === null ? null : Array.from(viewOf(tensor), Number);
  });
}

function divides([dividend, divisor]: readonly Tensor[], quotient: Tensor): boolean {
  const back = (quotient.mul(divisor as Tensor) as Tensor).equal(dividend as Tensor);
  return (viewOf(back) as Uint8Array).every((same) => same !== 0);
}
