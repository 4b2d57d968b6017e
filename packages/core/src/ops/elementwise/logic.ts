import { type BinaryFunction, defineBinary, defineUnary, type UnaryFunction } from '../../dispatch/op.ts';
import { bools, integers, type Sample, uniform } from '../../dispatch/samples.ts';
import { constant } from '../../tensor/constant.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { knownStrings } from '../strings.ts';

const isBool = 'the result is bool';
const isInteger = 'integers have no gradient';

/** Small integers, so that some are equal, and floats. */
const comparable = (): readonly Sample[] => [
  { inputs: [integers([4, 6], 0, 3), integers([4, 6], 0, 3)] },
  { inputs: [integers([2, 1, 4], 0, 3, 'int64'), integers([3, 1], 0, 3, 'int64')] },
  { inputs: [uniform([3, 5]), uniform([5])] },
];

// ---- comparisons

/**
 * Compares strings: each is given a number, by which they are compared. In a traced function both must be known.
 * @throws UnimplementedError for strings that differ from run to run of a traced function.
 */
const ofStrings =
  (op: string, compare: (a: Tensor, b: Tensor) => Tensor): ((a: Tensor, b: Tensor) => Tensor) =>
  (a, b) => {
    const places = new Map<string, number>();
    const numbers = (t: Tensor): Tensor => {
      const data = Int32Array.from(knownStrings(t, op).strings(), (s) => {
        const place = places.get(s) ?? places.size;
        places.set(s, place);
        return place;
      });
      return constant({ data, shape: t.shape });
    };
    return compare(numbers(a), numbers(b));
  };

/** Whether a = b, element-wise, of strings too. NaN equals nothing. */
export const equal: BinaryFunction = defineBinary({
  name: 'Equal',
  dtypes: 'any',
  samples: () => [...comparable(), { inputs: [bools([6]), bools([6])] }],
  scalar: (s, a, b) => s.eq(a, b),
  strings: ofStrings('Equal', (a, b) => equal(a, b)),
  notDifferentiable: isBool,
});
/** Whether a ≠ b, element-wise, of strings too. NaN differs from everything, itself included. */
export const notEqual: BinaryFunction = defineBinary({
  name: 'NotEqual',
  dtypes: 'any',
  samples: () => [...comparable(), { inputs: [bools([6]), bools([6])] }],
  scalar: (s, a, b) => s.ne(a, b),
  strings: ofStrings('NotEqual', (a, b) => notEqual(a, b)),
  notDifferentiable: isBool,
});
/** Whether a < b, element-wise. */
export const less: BinaryFunction = defineBinary({
  name: 'Less',
  dtypes: 'numeric',
  samples: comparable,
  scalar: (s, a, b) => s.lt(a, b),
  notDifferentiable: isBool,
});
/** Whether a ≤ b, element-wise. */
export const lessEqual: BinaryFunction = defineBinary({
  name: 'LessEqual',
  dtypes: 'numeric',
  samples: comparable,
  scalar: (s, a, b) => s.le(a, b),
  notDifferentiable: isBool,
});
/** Whether a > b, element-wise. */
export const greater: BinaryFunction = defineBinary({
  name: 'Greater',
  dtypes: 'numeric',
  samples: comparable,
  scalar: (s, a, b) => s.gt(a, b),
  notDifferentiable: isBool,
});
/** Whether a ≥ b, element-wise. */
export const greaterEqual: BinaryFunction = defineBinary({
  name: 'GreaterEqual',
  dtypes: 'numeric',
  samples: comparable,
  scalar: (s, a, b) => s.ge(a, b),
  notDifferentiable: isBool,
});

// ---- kinds of floats

const unusual = (): readonly Sample[] => [
  { inputs: [{ kind: 'values', shape: [2, 3], values: [1, -2, NaN, Infinity, -Infinity, 0] }] },
];

/** Whether x is NaN, element-wise. */
export const isNan: UnaryFunction = defineUnary({
  name: 'IsNan',
  samples: unusual,
  scalar: (s, x) => s.isNaN(x),
  notDifferentiable: isBool,
});
/** Whether x is infinite, element-wise. */
export const isInf: UnaryFunction = defineUnary({
  name: 'IsInf',
  samples: unusual,
  scalar: (s, x) => s.isInf(x),
  notDifferentiable: isBool,
});
/** Whether x is neither infinite nor NaN, element-wise. */
export const isFinite: UnaryFunction = defineUnary({
  name: 'IsFinite',
  samples: unusual,
  scalar: (s, x) => s.isFinite(x),
  notDifferentiable: isBool,
});

// ---- truth values

/** Whether a and b, element-wise, of bools. */
export const logicalAnd: BinaryFunction = defineBinary({
  name: 'LogicalAnd',
  dtypes: 'bool',
  scalar: (s, a, b) => s.and(a, b),
  notDifferentiable: isBool,
});
/** Whether a or b or both, element-wise, of bools. */
export const logicalOr: BinaryFunction = defineBinary({
  name: 'LogicalOr',
  dtypes: 'bool',
  scalar: (s, a, b) => s.or(a, b),
  notDifferentiable: isBool,
});
/** Whether either a or b, element-wise, of bools. */
export const logicalXor: BinaryFunction = defineBinary({
  name: 'LogicalXor',
  dtypes: 'bool',
  scalar: (s, a, b) => s.xor(a, b),
  notDifferentiable: isBool,
});
/** Whether not x, element-wise, of bools. */
export const logicalNot: UnaryFunction = defineUnary({
  name: 'LogicalNot',
  dtypes: 'bool',
  scalar: (s, x) => s.not(x),
  notDifferentiable: isBool,
});

// ---- bits

/** The bits that both integers have, element-wise. */
export const bitwiseAnd: BinaryFunction = defineBinary({
  name: 'BitwiseAnd',
  dtypes: 'integer',
  scalar: (s, a, b) => s.bitAnd(a, b),
  notDifferentiable: isInteger,
});
/** The bits that one or both integers have, element-wise. */
export const bitwiseOr: BinaryFunction = defineBinary({
  name: 'BitwiseOr',
  dtypes: 'integer',
  scalar: (s, a, b) => s.bitOr(a, b),
  notDifferentiable: isInteger,
});
/** The bits that exactly one of the integers has, element-wise. */
export const bitwiseXor: BinaryFunction = defineBinary({
  name: 'BitwiseXor',
  dtypes: 'integer',
  scalar: (s, a, b) => s.bitXor(a, b),
  notDifferentiable: isInteger,
});
/** All bits of the integer flipped, element-wise. */
export const bitwiseNot: UnaryFunction = defineUnary({
  name: 'Invert',
  dtypes: 'integer',
  scalar: (s, x) => s.bitNot(x),
  notDifferentiable: isInteger,
});
/** The integer a shifted left by b bits, element-wise; b is taken into 0 … width − 1. */
export const bitwiseLeftShift: BinaryFunction = defineBinary({
  name: 'LeftShift',
  dtypes: 'integer',
  scalar: (s, a, b) => s.shiftLeft(a, b),
  notDifferentiable: isInteger,
});
/** The integer a shifted right by b bits, element-wise, keeping its sign; b is taken into 0 … width − 1. */
export const bitwiseRightShift: BinaryFunction = defineBinary({
  name: 'RightShift',
  dtypes: 'integer',
  scalar: (s, a, b) => s.shiftRight(a, b),
  notDifferentiable: isInteger,
});
