import {
  type BinaryFunction,
  type BinaryNames,
  defineBinary,
  defineUnary,
  type UnaryFunction,
} from '../../dispatch/op.ts';
import { portable, tracesForFile } from '../../dispatch/portable.ts';
import { bools, integers, type Sample, uniform } from '../../dispatch/samples.ts';
import { knownTensor } from '../../dispatch/symbolic.ts';
import { dimsOf } from '../../shapes/dims.ts';
import { broadcastShapes } from '../../shapes/shape.ts';
import { constant } from '../../tensor/constant.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { knownStrings } from '../strings/known-strings.ts';

type UnaryBody = Parameters<typeof defineUnary>[0]['scalar'];
type BinaryBody = Parameters<typeof defineBinary>[0]['scalar'];

type Comparison = BinaryFunction<BinaryNames, Tensor<'bool'>>;
type Test = UnaryFunction<'x', Tensor<'bool'>>;

const isBool = 'the result is bool';
const OF_INTEGERS = 'integers have no gradient';

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
    if (tracesForFile() && [a, b].some((t) => knownTensor(t) === null))
      return portable({
        op,
        inputs: [a, b],
        attrs: { T: { kind: 'type', value: 'string' } },
        outputs: () => [{ dtype: 'bool', shape: dimsOf(broadcastShapes(a.shape, b.shape, op)) }],
      })[0];
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
export const equal: Comparison = defineBinary({
  name: 'Equal',
  dtypes: 'any',
  samples: () => [...comparable(), { inputs: [bools([6]), bools([6])] }],
  scalar: (s, a, b) => s.eq(a, b),
  strings: ofStrings('Equal', (a, b) => equal(a, b)),
  notDifferentiable: isBool,
});
/** Whether a ≠ b, element-wise, of strings too. NaN differs from everything, itself included. */
export const notEqual: Comparison = defineBinary({
  name: 'NotEqual',
  dtypes: 'any',
  samples: () => [...comparable(), { inputs: [bools([6]), bools([6])] }],
  scalar: (s, a, b) => s.ne(a, b),
  strings: ofStrings('NotEqual', (a, b) => notEqual(a, b)),
  notDifferentiable: isBool,
});
const comparison = /* @__NO_SIDE_EFFECTS__ */ (name: string, scalar: BinaryBody): BinaryFunction =>
  defineBinary({ name, dtypes: 'numeric', samples: comparable, scalar, notDifferentiable: isBool });

/** Whether a < b, element-wise. */
export const less: Comparison = comparison('Less', (s, a, b) => s.lt(a, b));
/** Whether a ≤ b, element-wise. */
export const lessEqual: Comparison = comparison('LessEqual', (s, a, b) => s.le(a, b));
/** Whether a > b, element-wise. */
export const greater: Comparison = comparison('Greater', (s, a, b) => s.gt(a, b));
/** Whether a ≥ b, element-wise. */
export const greaterEqual: Comparison = comparison('GreaterEqual', (s, a, b) => s.ge(a, b));

// ---- kinds of floats

const unusual = (): readonly Sample[] => [
  { inputs: [{ kind: 'values', shape: [2, 3], values: [1, -2, NaN, Infinity, -Infinity, 0] }] },
];

const kindOfFloat = /* @__NO_SIDE_EFFECTS__ */ (name: string, scalar: UnaryBody): UnaryFunction =>
  defineUnary({ name, samples: unusual, scalar, notDifferentiable: isBool });

/** Whether x is NaN, element-wise. */
export const isNan: Test = kindOfFloat('IsNan', (s, x) => s.isNaN(x));
/** Whether x is infinite, element-wise. */
export const isInf: Test = kindOfFloat('IsInf', (s, x) => s.isInf(x));
/** Whether x is neither infinite nor NaN, element-wise. */
export const isFinite: Test = kindOfFloat('IsFinite', (s, x) => s.isFinite(x));

// ---- truth values

const defineLogical = /* @__NO_SIDE_EFFECTS__ */ (name: string, scalar: BinaryBody): BinaryFunction =>
  defineBinary({ name, dtypes: 'bool', scalar, notDifferentiable: isBool });

/** Whether a and b, element-wise, of bools. */
export const logicalAnd: Comparison = defineLogical('LogicalAnd', (s, a, b) => s.and(a, b));
/** Whether a or b or both, element-wise, of bools. */
export const logicalOr: Comparison = defineLogical('LogicalOr', (s, a, b) => s.or(a, b));
/** Whether either a or b, element-wise, of bools. */
export const logicalXor: Comparison = defineLogical('LogicalXor', (s, a, b) => s.xor(a, b));
/** Whether not x, element-wise, of bools. */
export const logicalNot: Test = defineUnary({
  name: 'LogicalNot',
  dtypes: 'bool',
  scalar: (s, x) => s.not(x),
  notDifferentiable: isBool,
});

// ---- bits

const defineBitwise = /* @__NO_SIDE_EFFECTS__ */ (name: string, scalar: BinaryBody): BinaryFunction =>
  defineBinary({ name, dtypes: 'integer', scalar, notDifferentiable: OF_INTEGERS });

/** The bits that both integers have, element-wise. */
export const bitwiseAnd: BinaryFunction = defineBitwise('BitwiseAnd', (s, a, b) => s.bitAnd(a, b));
/** The bits that one or both integers have, element-wise. */
export const bitwiseOr: BinaryFunction = defineBitwise('BitwiseOr', (s, a, b) => s.bitOr(a, b));
/** The bits that exactly one of the integers has, element-wise. */
export const bitwiseXor: BinaryFunction = defineBitwise('BitwiseXor', (s, a, b) => s.bitXor(a, b));
/** All bits of the integer flipped, element-wise. */
export const bitwiseNot: UnaryFunction = defineUnary({
  name: 'Invert',
  dtypes: 'integer',
  scalar: (s, x) => s.bitNot(x),
  notDifferentiable: OF_INTEGERS,
});
/** The integer a shifted left by b bits, element-wise; b is taken into 0 … width − 1. */
export const bitwiseLeftShift: BinaryFunction = defineBitwise('LeftShift', (s, a, b) => s.shiftLeft(a, b));
/** The integer a shifted right by b bits, element-wise, keeping its sign; b is taken into 0 … width − 1. */
export const bitwiseRightShift: BinaryFunction = defineBitwise('RightShift', (s, a, b) => s.shiftRight(a, b));
