// Integers that are made of sizes: tf.shape(x), its elements, and what is computed from them.
import { add, constant, type Tensor } from '@eagre/core';
import {
  addDims,
  type Dim,
  type Dims,
  dims,
  execute,
  floorDivDims,
  hasUnknown,
  inInitScope,
  isInteger,
  leastOf,
  maxDims,
  minDims,
  modDims,
  mostOf,
  mulDims,
  productOf,
  subDims,
  viewOf,
} from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';

// They move elements of their first input; indices beside it have to be known.
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
const WIDE: ReadonlySet<string> = new Set(['int32', 'int64', 'uint32', 'uint64']);
// They move elements of all of their inputs.
const JOINS: ReadonlySet<string> = new Set(['ConcatV2', 'Pack']);
const ARITHMETIC: Readonly<Record<string, (a: Dim, b: Dim) => Dim>> = {
  AddV2: addDims,
  Sub: subDims,
  Mul: mulDims,
  FloorDiv: floorDivDims,
  FloorMod: modDims,
  Maximum: maxDims,
  Minimum: minDims,
};
const REDUCTIONS: Readonly<Record<string, (values: Dims) => Dim>> = {
  Prod: productOf,
  Sum: (values) => values.reduce(addDims, 0),
  Max: (values) => values.reduce(maxDims),
  Min: (values) => values.reduce(minDims),
};

/** Whether a comparison holds whatever the sizes are, given what b - a is; undefined where that depends on them. */
const COMPARISONS: Readonly<Record<string, (difference: Dim) => boolean | undefined>> = {
  Equal: isZero,
  NotEqual: (d) => inverted(isZero(d)),
  Less: isPositive,
  LessEqual: (d) => inverted(isPositive(mulDims(d, -1))),
  Greater: (d) => isPositive(mulDims(d, -1)),
  GreaterEqual: (d) => inverted(isPositive(d)),
};
const inverted = (b: boolean | undefined): boolean | undefined => (b === undefined ? undefined : !b);
function isZero(d: Dim): boolean | undefined {
  if (d === 0) return true;
  return leastOf(d) > 0 || mostOf(d) < 0 ? false : undefined;
}
function isPositive(d: Dim): boolean | undefined {
  if (leastOf(d) > 0) return true;
  return mostOf(d) <= 0 ? false : undefined;
}

/** Integers of a value, flat. */
interface Integers {
  readonly values: Dims;
  readonly shape: readonly number[];
}

/** Reads what is not computed from sizes. */
export interface KnownValues {
  /** A value that is the same at each run; null where runs differ. */
  constant(value: GraphValue): Tensor | null;
  /** The integers of an argument that comes from the function around; null where they are not made of sizes. */
  outside(value: GraphValue): Dims | null;
  /** What stands for integers that only a run knows, beside others in a list that are known; without it such a list is unknown as a whole. */
  measured?(value: GraphValue): Dims | null;
}

/** The integers of a value that is made of sizes; null for one that depends on other values, or in another way. */
export function numbersOfSizes(value: GraphValue, known: KnownValues): Dims | null {
  const found = new Map<GraphNode, readonly (Integers | null)[]>();

  /** Elements are told by their places, which the op moves instead of them. */
  const moved = (node: GraphNode, inputs: readonly Integers[], more: readonly Tensor[]): Integers[] => {
    const values = inputs.flatMap((x) => x.values);
    let first = 0;
    const places = inputs.map(({ values: own, shape }) => {
      const list = own.map((_, i) => first + i);
      first += own.length;
      return constant(list, 'int32', { shape });
    });
    if (node.what.kind !== 'op') return [];
    return execute(node.what.op, [...places, ...more], node.attrs as Record<string, unknown>).map((t) => ({
      values: Array.from(viewOf(t) as Int32Array, (i) => values[i] as Dim),
      shape: t.shape,
    }));
  };

  const arithmetic = (compute: (a: Dim, b: Dim) => Dim, a: Integers, b: Integers): Integers => {
    const places = ({ values, shape }: Integers): Tensor =>
      constant(
        values.map((_, i) => i),
        'int32',
        { shape },
      );
    const zeros = ({ values, shape }: Integers): Tensor =>
      constant(
        values.map(() => 0),
        'int32',
        { shape },
      );
    const left = add(places(a), zeros(b));
    const right = viewOf(add(zeros(a), places(b)));
    return {
      values: Array.from(viewOf(left) as Int32Array, (i, at) =>
        compute(a.values[i] as Dim, b.values[right[at] as number] as Dim),
      ),
      shape: left.shape,
    };
  };

  const compute = (node: GraphNode): readonly (Integers | null)[] => {
    const { what, type, inputs, outputs } = node;
    const none = outputs.map(() => null);
    const [output] = outputs;
    if (output === undefined) return none;
    if (what.kind === 'argument') {
      const values = isInteger(output.dtype) ? known.outside(output) : null;
      return [values === null ? null : { values, shape: output.shape }];
    }
    if (what.kind === 'size') return [isInteger(what.dtype) ? { values: [what.size], shape: [] } : null];
    if (what.kind === 'constant')
      return isInteger(what.tensor.dtype)
        ? [{ values: Array.from(viewOf(what.tensor), Number), shape: what.tensor.shape }]
        : none;
    if (what.kind !== 'op' || !outputs.every((v) => isInteger(v.dtype))) return none;
    const [first] = inputs;
    if (first === undefined) return none;
    if (type === 'Shape') return [{ values: dims(first), shape: [first.shape.length] }];
    if (type === 'Size') return [{ values: [productOf(dims(first))], shape: [] }];
    // Narrow integers do not hold every size.
    if (type === 'Cast') return isInteger(first.dtype) && WIDE.has(output.dtype) ? [valueOf(first)] : none;
    if (MOVES.has(type)) {
      const own = valueOf(first);
      const indices = inputs.slice(1).map((v) => known.constant(v));
      if (own === null || indices.includes(null)) return none;
      return moved(node, [own], indices as Tensor[]);
    }
    const given = inputs.map(valueOf);
    if (JOINS.has(type) && given.some((x) => x !== null))
      given.forEach((x, i) => {
        given[i] = x ?? measuredOf(inputs[i] as GraphValue);
      });
    if (type === 'SelectV2') return [selected(inputs, given)];
    if (given.includes(null)) return none;
    const [a, b] = given as readonly Integers[] as readonly [Integers, Integers];
    if (JOINS.has(type)) return moved(node, given as Integers[], []);
    if (type === 'Abs') return [{ values: a.values.map((d) => maxDims(d, mulDims(d, -1))), shape: a.shape }];
    if (type === 'Neg') return [{ values: a.values.map((d) => mulDims(d, -1)), shape: a.shape }];
    if (type === 'AddN') return [(given as Integers[]).reduce((x, y) => arithmetic(addDims, x, y))];
    const operation = ARITHMETIC[type];
    if (operation !== undefined) return [arithmetic(operation, a, b)];
    const reduction = REDUCTIONS[type];
    // Of all elements: what a size is computed with.
    if (reduction !== undefined && output.shape.every((d) => d === 1) && a.values.length > 0)
      return [{ values: [reduction(a.values)], shape: output.shape }];
    return none;
  };

  const measuredOf = (v: GraphValue): Integers | null => {
    const values = known.measured?.(v) ?? null;
    return values === null || hasUnknown(v.shape) ? null : { values, shape: v.shape };
  };

  /** The elements that a condition picks, where sizes decide it. */
  const selected = (inputs: readonly GraphValue[], given: readonly (Integers | null)[]): Integers | null => {
    const [test] = inputs as readonly [GraphValue];
    const [, yes, no] = given;
    const picks = decided(test);
    if (picks === null || yes === null || yes === undefined || no === null || no === undefined) return null;
    const both = arithmetic((a) => a, yes, no);
    const either = arithmetic((a) => a, both, picks);
    const other = arithmetic(
      (a) => a,
      arithmetic((_, b) => b, yes, no),
      picks,
    );
    const which = arithmetic((a) => a, picks, both);
    return {
      values: which.values.map((pick, i) => (pick === 1 ? either : other).values[i] as Dim),
      shape: which.shape,
    };
  };

  /** The truth of a comparison of sizes, as 1 and 0, where it does not depend on them. */
  const decided = (v: GraphValue): Integers | null => {
    const constantTruth = known.constant(v);
    if (constantTruth !== null)
      return { values: Array.from(viewOf(constantTruth), Number), shape: constantTruth.shape };
    const compare = COMPARISONS[v.node.type];
    const [a, b] = v.node.inputs.map((x) => (isInteger(x.dtype) ? valueOf(x) : null));
    if (compare === undefined || a === null || a === undefined || b === null || b === undefined) return null;
    const truth = arithmetic((x, y) => Number(compare(subDims(y, x)) ?? Number.NaN), a, b);
    return truth.values.some((d) => Number.isNaN(d)) ? null : truth;
  };

  const valueOf = (v: GraphValue): Integers | null => {
    let outputs = found.get(v.node);
    if (outputs === undefined) {
      const constants = v.node.outputs.map((o) => (isInteger(o.dtype) ? known.constant(o) : null));
      outputs = constants.every((t) => t !== null)
        ? constants.map((t) => ({ values: Array.from(viewOf(t), Number), shape: t.shape }))
        : compute(v.node);
      found.set(v.node, outputs);
    }
    return outputs[v.index] ?? null;
  };

  return inInitScope(() => (isInteger(value.dtype) ? (valueOf(value)?.values ?? null) : null));
}
