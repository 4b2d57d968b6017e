// Integers that are made of sizes: tf.shape(x), its elements, and what is computed from them.
import type { DType } from '@eagre/backend';
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

const not = (truth: Dim): Dim => subDims(1, truth);
const isZero = (d: Dim): Dim =>
  leastOf(d) > 0 || mostOf(d) < 0 ? 0 : not(minDims(maxDims(d, mulDims(d, -1)), 1));
const isPositive = (d: Dim): Dim => minDims(maxDims(d, 0), 1);
/** Whether a comparison holds, as 1 and 0, given what b - a is. */
const COMPARISONS: Readonly<Record<string, (difference: Dim) => Dim>> = {
  Equal: isZero,
  NotEqual: (d) => not(isZero(d)),
  Less: isPositive,
  LessEqual: (d) => not(isPositive(mulDims(d, -1))),
  Greater: (d) => isPositive(mulDims(d, -1)),
  GreaterEqual: (d) => not(isPositive(d)),
};
const LOGIC: Readonly<Record<string, (a: Dim, b: Dim) => Dim>> = { LogicalAnd: minDims, LogicalOr: maxDims };

/** Integers of a value, flat; truths are 1 and 0. */
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

/** The integers of a value that is made of sizes, truths as 1 and 0; null for one that depends on other values, or in another way. */
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
      const values = isCounted(output) ? known.outside(output) : null;
      return [values === null ? null : { values, shape: output.shape }];
    }
    if (what.kind === 'size') return [isInteger(what.dtype) ? { values: [what.size], shape: [] } : null];
    if (what.kind === 'constant')
      return isCounted(what.tensor)
        ? [{ values: Array.from(viewOf(what.tensor), Number), shape: what.tensor.shape }]
        : none;
    if (what.kind !== 'op' || !outputs.every(isCounted)) return none;
    const [first] = inputs;
    if (first === undefined) return none;
    if (type === 'Shape') return [{ values: dims(first), shape: [first.shape.length] }];
    if (type === 'Size') return [{ values: [productOf(dims(first))], shape: [] }];
    // Narrow integers do not hold every size.
    if (type === 'Cast')
      return first.dtype === 'bool' || (isInteger(first.dtype) && WIDE.has(output.dtype))
        ? [valueOf(first)]
        : none;
    if (MOVES.has(type)) {
      const own = valueOf(first);
      const indices = inputs.slice(1).map((v) => known.constant(v));
      if (own === null || indices.includes(null)) return none;
      return moved(node, [own], indices as Tensor[]);
    }
    if (!inputs.every(isCounted)) return none;
    const given = inputs.map(valueOf);
    if (JOINS.has(type) && given.some((x) => x !== null))
      given.forEach((x, i) => {
        given[i] = x ?? measuredOf(inputs[i] as GraphValue);
      });
    if (given.includes(null)) return none;
    if (type === 'SelectV2') return [selected(given as Integers[])];
    const [a, b] = given as readonly Integers[] as readonly [Integers, Integers];
    if (JOINS.has(type)) return moved(node, given as Integers[], []);
    if (type === 'Abs') return [{ values: a.values.map((d) => maxDims(d, mulDims(d, -1))), shape: a.shape }];
    if (type === 'Neg') return [{ values: a.values.map((d) => mulDims(d, -1)), shape: a.shape }];
    if (type === 'AddN') return [(given as Integers[]).reduce((x, y) => arithmetic(addDims, x, y))];
    if (type === 'LogicalNot') return [{ values: a.values.map(not), shape: a.shape }];
    const compare = COMPARISONS[type];
    if (compare !== undefined) return [arithmetic((x, y) => compare(subDims(y, x)), a, b)];
    const operation = ARITHMETIC[type] ?? LOGIC[type];
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

  /** The elements that conditions pick; null where sizes decide whether one may be below 0, which stands for what is left. */
  const selected = (given: readonly Integers[]): Integers | null => {
    const [test, yes, no] = given as readonly [Integers, Integers, Integers];
    const open = test.values.some((d) => typeof d !== 'number');
    if (open && [...yes.values, ...no.values].some((d) => leastOf(d) < 0)) return null;
    const picked = arithmetic(mulDims, test, yes);
    const other = arithmetic(mulDims, { ...test, values: test.values.map(not) }, no);
    return arithmetic(addDims, picked, other);
  };

  const valueOf = (v: GraphValue): Integers | null => {
    let outputs = found.get(v.node);
    if (outputs === undefined) {
      const constants = v.node.outputs.map((o) => (isCounted(o) ? known.constant(o) : null));
      outputs = constants.every((t) => t !== null)
        ? constants.map((t) => ({ values: Array.from(viewOf(t), Number), shape: t.shape }))
        : compute(v.node);
      found.set(v.node, outputs);
    }
    return outputs[v.index] ?? null;
  };

  return inInitScope(() => (isCounted(value) ? (valueOf(value)?.values ?? null) : null));
}

const isCounted = ({ dtype }: { readonly dtype: DType }): boolean => isInteger(dtype) || dtype === 'bool';
