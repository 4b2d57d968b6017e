// `tf.debugging`: checks that throw, at once or at each run of a traced function. They read values, so they are for tests and for
// hunting bugs.

import {
  arrayLength,
  type DType,
  dtypeTraits,
  InvalidArgumentError,
  isComplex,
  partsOf,
  placement,
} from '@eagre/backend';
import type { IntegerLike, IntegersLike } from './arguments/argument-kinds.ts';
import * as kind from './arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from './arguments/arguments.ts';
import { shown } from './arguments/checks.ts';
import { assertion } from './dispatch/checked-values.ts';
import { context, type TapeObserver } from './dispatch/context.ts';
import { atRunTime, type HostFunction, type PortableForm } from './dispatch/host.ts';
import { type Attrs, defineOp, execute1, type Op, pair } from './dispatch/op.ts';
import { uniform } from './dispatch/samples.ts';
import { bitcast } from './ops/elementwise/cast.ts';
import {
  broadcastShapes,
  checkFlag,
  checkList,
  type PartialShape,
  sameShape,
  showShape,
} from './shapes/shape.ts';
import { constant } from './tensor/constant.ts';
import { type TensorLike, toOwnTensor, toTensor } from './tensor/convert.ts';
import { hasGradient, isFloating, isInteger } from './tensor/dtypes.ts';
import { aliasTensor, hostValues, Tensor, textsOf } from './tensor/tensor.ts';
import { Variable } from './tensor/variable.ts';

type Value = number | bigint | string;

/** The values in place. */
function elementsOf(x: Tensor): ArrayLike<Value> {
  return x.dtype === 'string' ? textsOf(x) : (hostValues(x) as ArrayLike<number | bigint>);
}

/** [1, 0, 2] of a place in row-major order. */
function coordinates(place: number, shape: readonly number[]): string {
  const out = new Array<number>(shape.length);
  let rest = place;
  for (let i = shape.length - 1; i >= 0; i--) {
    out[i] = rest % shape[i];
    rest = Math.floor(rest / shape[i]);
  }
  return `[${out.join(', ')}]`;
}

/** A message as it is, and what is none as messages show it. */
const messageOf = (message: unknown): string => (typeof message === 'string' ? message : shown(message));

function failure(name: string, text: string, message: string | undefined): InvalidArgumentError {
  return new InvalidArgumentError(
    message === undefined || message === '' ? text : `${messageOf(message)}: ${text}`,
    name,
  );
}

/** What comparisons look at: of complex numbers both parts, along one more axis. */
function partsFor(name: string, x: Tensor): Tensor {
  if (!isComplex(x.dtype)) return x;
  if (name !== 'assertEqual' && name !== 'assertNear')
    throw new InvalidArgumentError(`${x.dtype} numbers have no order; compare x.abs(), say`, name);
  return bitcast(x, partsOf(x.dtype));
}

/** The same in ops, for files: whether it holds for each pair. */
type InOps = (x: Tensor, y: Tensor) => Tensor;

/** An assertion in a SavedModel. */
function written(name: string, text: string, message: string | undefined, holds: InOps): PortableForm {
  return assertion(
    name,
    (x, y) => holds(x as Tensor, y as Tensor).all(),
    () => [constant(failure(name, text, message).message)],
  );
}

/** Throws at the first pair of elements, after broadcasting, that `holds` denies. */
function compare(
  name: string,
  relation: string,
  a: TensorLike,
  b: TensorLike,
  message: string | undefined,
  { holds, inOps }: Relation,
): void {
  const [x, y] = pair(a, b, name).map((t) => partsFor(name, t));
  const together = (p: Tensor, q: Tensor): readonly number[] => {
    try {
      return broadcastShapes(p.shape, q.shape);
    } catch {
      throw failure(name, `shapes ${showShape(p.shape)} and ${showShape(q.shape)} do not broadcast`, message);
    }
  };
  together(x, y);
  const check = (p: Tensor, q: Tensor): void => {
    // Of the run: while a function is traced, sizes need not be known.
    const shape = together(p, q);
    const left = elementsOf(sameShape(p.shape, shape) ? p : p.broadcastTo(shape));
    const right = elementsOf(sameShape(q.shape, shape) ? q : q.broadcastTo(shape));
    let wrong = 0;
    let first = -1;
    for (let i = 0; i < left.length; i++) {
      if (holds(left[i], right[i])) continue;
      if (wrong++ === 0) first = i;
    }
    if (wrong === 0) return;
    throw failure(
      name,
      `expected a ${relation} b, but ${wrong} of ${left.length} elements differ; first at ${coordinates(first, shape)}: ` +
        `a = ${left[first]}, b = ${right[first]} (a ${p.dtype} ${showShape(p.shape)}, b ${q.dtype} ${showShape(q.shape)})`,
      message,
    );
  };
  const form = written(name, `expected a ${relation} b`, message, inOps);
  atRunTime(name, check as HostFunction, [x, y], [], false, form);
}

type Comparison = NamedFunction<
  [a: TensorLike, b: TensorLike, message?: string],
  ['a|x', 'b|y', 'message'],
  unknown,
  void
>;
type Assertion = NamedFunction<[x: TensorLike, message?: string], ['x', 'message'], unknown, void>;
type Holds = (x: Value, y: Value) => boolean;

/** What has to hold for each pair: of values, and the same in ops. */
interface Relation {
  readonly holds: Holds;
  readonly inOps: InOps;
}
const relations = {
  '=': { holds: (x, y) => x === y, inOps: (x, y) => x.equal(y) },
  '≠': { holds: (x, y) => x !== y, inOps: (x, y) => x.notEqual(y) },
  '<': { holds: (x, y) => x < y, inOps: (x, y) => x.less(y) },
  '≤': { holds: (x, y) => x <= y, inOps: (x, y) => x.lessEqual(y) },
  '>': { holds: (x, y) => x > y, inOps: (x, y) => x.greater(y) },
  '≥': { holds: (x, y) => x >= y, inOps: (x, y) => x.greaterEqual(y) },
} satisfies Record<string, Relation>;
type Sign = keyof typeof relations;

/** An assertion on pairs of elements. */
const comparison = /* @__NO_SIDE_EFFECTS__ */ (name: string, sign: Sign): Comparison =>
  defineFunction(
    `debugging.${name}`,
    { 'a|x': kind.tensor, 'b|y': kind.tensor, message: kind.optional(kind.asIs) },
    {},
    (a, b, message = undefined) => compare(name, sign, a, b, message, relations[sign]),
  );
/** An assertion on elements and 0. */
const ofSign = /* @__NO_SIDE_EFFECTS__ */ (name: string, sign: Sign): Assertion =>
  defineFunction(
    `debugging.${name}`,
    { x: kind.tensor, message: kind.optional(kind.asIs) },
    {},
    (x, message = undefined) => compare(name, sign, x, 0, message, relations[sign]),
  );

/**
 * Throws unless all elements are equal (after broadcasting). Plain arrays may stand for tensors:
 * `tf.debugging.assertEqual(logits.shape, [32, 10])`
 */
export const assertEqual: Comparison = comparison('assertEqual', '=');
/** Throws unless all elements differ. */
export const assertNoneEqual: Comparison = comparison('assertNoneEqual', '≠');
/** Throws unless a < b for all elements. */
export const assertLess: Comparison = comparison('assertLess', '<');
/** Throws unless a ≤ b for all elements. */
export const assertLessEqual: Comparison = comparison('assertLessEqual', '≤');
/** Throws unless a > b for all elements. */
export const assertGreater: Comparison = comparison('assertGreater', '>');
/** Throws unless a ≥ b for all elements. */
export const assertGreaterEqual: Comparison = comparison('assertGreaterEqual', '≥');
/** Throws unless |a − b| ≤ atol + rtol · |b| for all elements; both are ten times the dtype's precision by default. */
export const assertNear: NamedFunction<
  [a: TensorLike, b: TensorLike],
  ['a|x', 'b|y'],
  {
    /** How far values may be apart, as a share of the second one; ten times the precision of the dtype by default. */
    rtol?: number;
    /** How far values may be apart; ten times the precision of the dtype by default. */
    atol?: number;
    /** What the error says before the values. */
    message?: string;
  },
  void
> = defineFunction(
  'debugging.assertNear',
  { 'a|x': kind.tensor, 'b|y': kind.tensor },
  { rtol: kind.asIs, atol: kind.asIs, message: kind.asIs },
  (a, b, options) => {
    const [x, y] = pair(a, b, 'assertNear');
    const precision = isFloating(x.dtype) ? 10 * 2 ** (1 - dtypeTraits[x.dtype].digits) : 10 * 2 ** -23;
    const rtol = Number(options.rtol ?? precision);
    const atol = Number(options.atol ?? precision);
    compare('assertNear', `≈ (rtol ${rtol}, atol ${atol})`, x, y, options.message, {
      holds: (p, q) => {
        const [u, v] = [Number(p), Number(q)];
        return u === v || Math.abs(u - v) <= atol + rtol * Math.abs(v);
      },
      inOps: (p, q) => {
        const [u, v] = [p.cast('float64'), q.cast('float64')];
        return u.equal(v).logicalOr(u.sub(v).abs().lessEqual(v.abs().mul(rtol).add(atol)));
      },
    });
  },
);
/** Throws unless x > 0 for all elements. */
export const assertPositive: Assertion = ofSign('assertPositive', '>');
/** Throws unless x ≥ 0 for all elements. */
export const assertNonNegative: Assertion = ofSign('assertNonNegative', '≥');
/** Throws unless x < 0 for all elements. */
export const assertNegative: Assertion = ofSign('assertNegative', '<');
/** Throws unless x ≤ 0 for all elements. */
export const assertNonPositive: Assertion = ofSign('assertNonPositive', '≤');

// ---- shapes and dtypes

/** Throws unless x has the rank. */
export const assertRank: NamedFunction<
  [x: TensorLike, rank: IntegerLike, message?: string],
  ['x', 'rank', 'message'],
  unknown,
  void
> = defineFunction(
  'debugging.assertRank',
  { x: kind.tensor, rank: kind.integer, message: kind.optional(kind.asIs) },
  {},
  (x, rank: number, message = undefined) => {
    const t = toTensor(x);
    if (t.rank !== rank)
      throw failure(
        'assertRank',
        `shape ${showShape(t.shape)} has rank ${t.rank}, expected ${rank}`,
        message,
      );
  },
);
/** Throws unless x has at least the rank. */
export const assertRankAtLeast: NamedFunction<
  [x: TensorLike, rank: IntegerLike, message?: string],
  ['x', 'rank', 'message'],
  unknown,
  void
> = defineFunction(
  'debugging.assertRankAtLeast',
  { x: kind.tensor, rank: kind.integer, message: kind.optional(kind.asIs) },
  {},
  (x, rank: number, message = undefined) => {
    const t = toTensor(x);
    if (t.rank < rank) {
      throw failure(
        'assertRankAtLeast',
        `shape ${showShape(t.shape)} has rank ${t.rank}, expected at least ${rank}`,
        message,
      );
    }
  },
);
/** Throws unless x has one of the ranks. */
export const assertRankIn: NamedFunction<
  [x: TensorLike, ranks: IntegersLike, message?: string],
  ['x', 'ranks', 'message'],
  unknown,
  void
> = defineFunction(
  'debugging.assertRankIn',
  { x: kind.tensor, ranks: kind.integers, message: kind.optional(kind.asIs) },
  {},
  (x, ranks: readonly number[], message = undefined) => {
    const t = toTensor(x);
    if (!checkList(ranks, 'ranks', 'assertRankIn').includes(t.rank)) {
      throw failure(
        'assertRankIn',
        `shape ${showShape(t.shape)} has rank ${t.rank}, expected one of ${ranks.join(', ')}`,
        message,
      );
    }
  },
);
/** Throws unless x is a scalar. @returns x as a tensor */
export const assertScalar: NamedFunction<[x: TensorLike, message?: string], ['x|tensor', 'message']> =
  defineFunction(
    'debugging.assertScalar',
    { 'x|tensor': kind.tensor, message: kind.optional(kind.asIs) },
    {},
    (x, message = undefined) => {
      const t = toOwnTensor(x);
      if (t.rank !== 0)
        throw failure('assertScalar', `shape ${showShape(t.shape)}, expected a scalar`, message);
      return t;
    },
  );
/** Throws unless x has the dtype. */
export const assertType: NamedFunction<
  [x: TensorLike, dtype: DType, message?: string],
  ['x|tensor', 'dtype|tfType', 'message'],
  unknown,
  void
> = defineFunction(
  'debugging.assertType',
  { 'x|tensor': kind.tensor, 'dtype|tfType': kind.asIs, message: kind.optional(kind.asIs) },
  {},
  (x, dtype, message = undefined) => {
    const t = toTensor(x);
    if (t.dtype !== dtype)
      throw failure(
        'assertType',
        `x is ${t.dtype}, expected ${typeof dtype === 'string' ? dtype : shown(dtype)}`,
        message,
      );
  },
);
/** Throws unless all have one dtype, and that one if it is given. */
export const assertSameFloatDtype: NamedFunction<
  [tensors: readonly TensorLike[], dtype?: DType],
  ['tensors', 'dtype'],
  unknown,
  void
> = defineFunction(
  'debugging.assertSameFloatDtype',
  { tensors: kind.tensor, dtype: kind.optional(kind.asIs) },
  {},
  (tensors, dtype = undefined) => {
    const dtypes = checkList(tensors, 'tensors', 'assertSameFloatDtype').map((x) => toTensor(x).dtype);
    const expected = dtype ?? dtypes[0];
    if (expected !== undefined && (!isFloating(expected) || dtypes.some((d) => d !== expected))) {
      throw failure(
        'assertSameFloatDtype',
        `dtypes ${dtypes.join(', ')}, expected ${typeof expected === 'string' ? expected : shown(expected)} for all, a floating one`,
        undefined,
      );
    }
  },
);
/** Throws unless x is of an integer dtype. */
export const assertInteger: Assertion = defineFunction(
  'debugging.assertInteger',
  { x: kind.tensor, message: kind.optional(kind.asIs) },
  {},
  (x, message = undefined) => {
    const t = toTensor(x);
    if (!isInteger(t.dtype)) throw failure('assertInteger', `x is ${t.dtype}, expected integers`, message);
  },
);

/** Throws unless x can be walked through, and is neither a tensor nor a string. */
export const assertProperIterable: NamedFunction<[x: unknown], ['x|values'], unknown, void> =
  /* @__PURE__ */ defineFunction(
    'debugging.assertProperIterable',
    { 'x|values': kind.structure },
    {},
    (x) => {
      const iterable = typeof x === 'object' && x !== null && Symbol.iterator in x && !(x instanceof Tensor);
      if (!iterable) throw failure('assertProperIterable', `got ${shown(x)}, expected a list`, undefined);
    },
  );

/** Whether a value is a tensor of numbers. */
export const isNumericTensor: NamedFunction<[tensor: unknown], ['tensor'], unknown, boolean> =
  /* @__PURE__ */ defineFunction('debugging.isNumericTensor', { tensor: kind.structure }, {}, (tensor) => {
    if (!(tensor instanceof Tensor || tensor instanceof Variable)) return false;
    return isInteger(tensor.dtype) || hasGradient(tensor.dtype);
  });

/**
 * Throws unless tensors have shapes; a name stands for one size wherever it is used, `null` for any:
 * `tf.debugging.assertShapes([[x, ['batch', 'features']], [y, ['batch', null]]])`
 */
export const assertShapes: NamedFunction<
  [pairs: readonly (readonly [TensorLike, readonly (number | string | null)[]])[], message?: string],
  ['pairs|shapes', 'message'],
  unknown,
  void
> = defineFunction(
  'debugging.assertShapes',
  { 'pairs|shapes': kind.tensor, message: kind.optional(kind.asIs) },
  {},
  (pairs, message = undefined) => {
    const known = new Map<string, number>();
    checkList(pairs, 'pairs', 'assertShapes').forEach((item, i) => {
      const [value, dims] = checkList(item, `pair ${i}`, 'assertShapes') as (typeof pairs)[number];
      const { shape } = toTensor(value);
      checkList(dims, `the shape of pair ${i}`, 'assertShapes');
      const expected: PartialShape = dims.map((d) => (typeof d === 'string' ? (known.get(d) ?? null) : d));
      if (shape.length !== dims.length || expected.some((d, axis) => d !== null && d !== shape[axis])) {
        const bound = [...known].map(([name, size]) => `${name} = ${size}`).join(', ');
        throw failure(
          'assertShapes',
          `tensor ${i} has shape ${showShape(shape)}, expected [${dims.map((d) => (typeof d === 'string' ? d : shown(d))).join(', ')}]${bound === '' ? '' : ` with ${bound}`}`,
          message,
        );
      }
      dims.forEach((d, axis) => {
        if (typeof d !== 'string') return;
        // A name may stand twice in one shape.
        const size = known.get(d);
        if (size !== undefined && size !== shape[axis]) {
          throw failure(
            'assertShapes',
            `'${d}' is ${size} and ${shape[axis]} in shape ${showShape(shape)} of tensor ${i}`,
            message,
          );
        }
        known.set(d, shape[axis]);
      });
    });
  },
);

// ---- NaN and infinity

/** What is wrong with a tensor's values; undefined if nothing. */
function notFinite(x: Tensor): string | undefined {
  if (!hasGradient(x.dtype)) return undefined;
  const view = hostValues(x) as Float32Array;
  const parts = arrayLength(x.dtype, 1);
  let nan = 0;
  let infinite = 0;
  let first = -1;
  for (let i = 0; i < view.length; i++) {
    if (Number.isFinite(view[i])) continue;
    if (first < 0) first = i;
    if (Number.isNaN(view[i])) nan++;
    else infinite++;
  }
  if (first < 0) return undefined;
  return (
    `${nan} NaN and ${infinite} infinite of ${view.length} ${parts > 1 ? 'parts' : 'elements'}; first at ${coordinates(Math.floor(first / parts), x.shape)}: ${view[first]} ` +
    `(${x.dtype} ${showShape(x.shape)})`
  );
}

/** The same values, if all of them are finite. */
const checkNumericsOp: Op = defineOp({
  name: 'CheckNumericsV2',
  run: ([x], { message }) => {
    const wrong = notFinite(x);
    if (wrong !== undefined) throw failure('checkNumerics', wrong, message as string);
    return aliasTensor(x, x.shape);
  },
  grad: (_, dy) => dy,
  samples: () => [{ inputs: [uniform([2, 3])], attrs: { message: '' } }],
});

/** x itself, if all values are finite. @throws InvalidArgumentError that counts NaN and infinities and names the first place. */
export const checkNumerics: NamedFunction<[x: TensorLike, message?: string], ['x|tensor', 'message']> =
  defineFunction(
    'debugging.checkNumerics',
    { 'x|tensor': kind.tensor, message: kind.asIs },
    {},
    (x, message = '') => {
      const t = toTensor(x);
      if (context.tracer === null) return execute1(checkNumericsOp, [t], { message });
      checkFinite(t, 'checkNumerics', message);
      return t;
    },
  );

/** Throws unless all values are finite. */
export const assertAllFinite: Assertion = defineFunction(
  'debugging.assertAllFinite',
  { x: kind.tensor, message: kind.optional(kind.asIs) },
  {},
  (x, message = undefined) => {
    checkFinite(toTensor(x), 'assertAllFinite', message);
  },
);

/** At each run of a graph, or now. */
function checkFinite(x: Tensor, name: string, message: string | undefined): void {
  // Integers are finite.
  if (!hasGradient(x.dtype)) return;
  const check: HostFunction = (t) => {
    const wrong = notFinite(t);
    if (wrong !== undefined) throw failure(name, wrong, message);
  };
  // What is not finite is not 0 times 0.
  const finite = (t: Tensor): Tensor =>
    (isComplex(t.dtype) ? bitcast(t, partsOf(t.dtype)) : t).mul(0).equal(0);
  const form = written(name, 'not all values are finite', message, finite);
  atRunTime(name, check, [x], [], false, form);
}

const watcher: TapeObserver = {
  record(op: Op, inputs: readonly Tensor[], _attrs: Attrs, outputs: readonly Tensor[]): void {
    outputs.forEach((y, i) => {
      const wrong = notFinite(y);
      if (wrong === undefined) return;
      const from = inputs.map((x) => `${x.dtype} ${showShape(x.shape)}`).join(', ');
      throw new InvalidArgumentError(
        `output ${i} has ${wrong}; the inputs were ${from === '' ? 'none' : from}`,
        op.name,
      );
    });
  },
  variableRead(): void {},
};

/** From now on every op throws when its result holds NaN or infinity, and names itself. Slow. */
export const enableCheckNumerics: NamedFunction<[], [], unknown, void> = defineFunction(
  'debugging.enableCheckNumerics',
  {},
  {},
  () => {
    if (!context.tapes.includes(watcher)) context.tapes = [...context.tapes, watcher];
  },
);
/** Ends what `enableCheckNumerics` began. */
export const disableCheckNumerics: NamedFunction<[], [], unknown, void> = defineFunction(
  'debugging.disableCheckNumerics',
  {},
  {},
  () => {
    context.tapes = context.tapes.filter((t) => t !== watcher);
  },
);

// ---- devices

/**
 * Has the console tell on which device ops run: of eager code each op when it runs, of a traced function each call of a kernel once, when the function is made
 * ready for the sizes of its inputs.
 */
export const setLogDevicePlacement: NamedFunction<[enabled: boolean], ['enabled'], unknown, void> =
  defineFunction('tf.debugging.setLogDevicePlacement', { enabled: kind.asIs }, {}, (enabled) => {
    placement.logs = checkFlag(enabled, 'enabled', 'tf.debugging.setLogDevicePlacement');
  });

/** What `setLogDevicePlacement` set. */
export const getLogDevicePlacement: NamedFunction<[], [], unknown, boolean> = defineFunction(
  'tf.debugging.getLogDevicePlacement',
  {},
  {},
  () => placement.logs,
);

// ---- tests

/**
 * Has `toEqual` of Vitest and Jest compare tensors and variables by dtype, shape and values, also inside of arrays and objects:
 *
 *     expect.addEqualityTesters([tf.debugging.equalityTester]);
 *     expect(tf.range(3)).toEqual(tf.constant([0, 1, 2]));
 *
 * As `toEqual` does it with numbers, NaN equals NaN and 0 differs from -0.
 * They hand over a third argument as well, so it looks at its first two alone.
 * @returns undefined where nothing is to be said of two values, because one of them is no tensor.
 */
export function equalityTester(a: unknown, b: unknown): boolean | undefined {
  const [x, y] = [a, b].map((v) => (v instanceof Variable ? v.read() : v));
  if (!(x instanceof Tensor) || !(y instanceof Tensor)) return undefined;
  if (x.dtype !== y.dtype || !sameShape(x.shape, y.shape)) return false;
  const [left, right] = [elementsOf(x), elementsOf(y)];
  for (let i = 0; i < left.length; i++) if (!Object.is(left[i], right[i])) return false;
  return true;
}

export { Assert } from './ops/array/checked.ts';
