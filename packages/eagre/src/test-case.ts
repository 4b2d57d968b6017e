// `tf.test.TestCase`: assertions about tensors, for any test runner; and what else tests ask.

import { GradientTape } from '@eagre/autodiff';
import {
  constant,
  type DType,
  InvalidArgumentError,
  listLogicalDevices,
  Tensor,
  type TensorLike,
  Variable,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  defineFunction,
  defineMethods,
  hostValues,
  isComposite,
  isFloating,
  isPlain,
  kind,
  type NamedFunction,
  sameShape,
  shown,
  showShape,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';

/** Values to compare: tensors, values for them, or these in plain objects and lists. */
export type TestValue = TensorLike | { readonly [key: string]: TestValue } | readonly TestValue[];

/** How far values may be apart. */
export interface Tolerance {
  /** Relative to the second; 1e-6 unless given. */
  readonly rtol?: number;
  /** 1e-6 unless given. */
  readonly atol?: number;
  /** What failures say. */
  readonly msg?: string | null;
}
interface Message {
  readonly msg?: string | null;
}

type Numbers = readonly (number | bigint | boolean | string)[];
type Pair = readonly [a: Tensor, b: Tensor, path: string];

function fail(what: string, message: string | null | undefined, op: string): never {
  throw new InvalidArgumentError(message == null ? what : `${what}: ${message}`, op);
}

const numbersOf = (t: Tensor): Numbers =>
  t.dtype === 'string' ? t.strings() : (Array.from(hostValues(t) as never) as Numbers);

function tensor(value: unknown, op: string): Tensor {
  if (isComposite(value) && value.dense === null)
    throw new InvalidArgumentError(`${shown(value)} cannot be compared: ${value.advice}`, op);
  return toTensor(value instanceof Variable ? value.read() : (value as TensorLike));
}

/** The tensors of two structures side by side; what differs where the structures do. @throws InvalidArgumentError for what is no tensor */
function* pairsOf(a: unknown, b: unknown, op: string, path = ''): Generator<Pair | string> {
  const isList = (x: unknown): x is readonly unknown[] =>
    Array.isArray(x) &&
    x.some((v) => v instanceof Tensor || v instanceof Variable || (isPlain(v) && !('re' in v)));
  if (isList(a) || isList(b)) {
    const [one, two] = [a, b].map((x) => (Array.isArray(x) ? x : []) as readonly unknown[]) as [
      unknown[],
      unknown[],
    ];
    if (one.length !== two.length) yield `a${path} has ${one.length} items, b${path} ${two.length}`;
    else for (const [i, x] of one.entries()) yield* pairsOf(x, two[i], op, `${path}[${i}]`);
    return;
  }
  if (isPlain(a) && isPlain(b) && !('data' in a) && !('re' in a)) {
    const [keys, others] = [a, b].map((x) => Object.keys(x).sort()) as [string[], string[]];
    if (keys.join() !== others.join())
      yield `a${path} has the keys ${keys.join(', ')}, b${path} ${others.join(', ')}`;
    else for (const key of keys) yield* pairsOf(a[key], b[key], op, `${path}.${key}`);
    return;
  }
  yield [tensor(a, op), tensor(b, op), path];
}

/** What differs between the shapes of two tensors; null for one shape. */
function shapesDiffer([a, b, path]: Pair): string | null {
  if (sameShape(a.shape, b.shape)) return null;
  return `the shapes differ: a${path} ${showShape(a.shape)}, b${path} ${showShape(b.shape)}`;
}

function sameShapes(pair: Pair, msg: string | null | undefined, op: string): void {
  const difference = shapesDiffer(pair);
  if (difference !== null) fail(difference, msg, op);
}

/**
 * What differs first between two structures of tensors; null where nothing does.
 * @param alike whether two numbers are as they should be
 * @param relation what they are then: `close to`
 * @throws InvalidArgumentError for what is no tensor
 */
function differenceOf(
  a: unknown,
  b: unknown,
  alike: (x: never, y: never) => boolean,
  relation: string,
  op: string,
): string | null {
  // All of them first: what is no tensor is told in any case.
  for (const pair of [...pairsOf(a, b, op)]) {
    if (typeof pair === 'string') return pair;
    const shapes = shapesDiffer(pair);
    if (shapes !== null) return shapes;
    const [x, y, path] = pair;
    const places = different(x, y, alike);
    if (places.length > 0) return `a${path} is not ${relation} b${path}: ${firstOf(places, x, y)}`;
  }
  return null;
}

function near(a: unknown, b: unknown, err: number, msg: string | null | undefined, op: string): void {
  const [x, y] = [a, b].map((v) => Number(v instanceof Tensor ? v.item() : v)) as [number, number];
  if (x !== y && !(Math.abs(x - y) <= err)) fail(`${x} is not within ${err} of ${y}`, msg, op);
}

/** The places where two tensors differ, as a test of each pair of numbers says. */
function different(a: Tensor, b: Tensor, alike: (x: never, y: never) => boolean): number[] {
  const [x, y] = [numbersOf(a), numbersOf(b)];
  return x.flatMap((v, i) => (alike(v as never, y[i] as never) ? [] : [i]));
}

function firstOf(places: readonly number[], a: Tensor, b: Tensor): string {
  const [x, y] = [numbersOf(a), numbersOf(b)];
  const list = places.slice(0, 5).map((i) => `element ${i}: ${String(x[i])} and ${String(y[i])}`);
  return `${places.length} of ${a.size} elements differ: ${list.join('; ')}`;
}

const close =
  (rtol: number, atol: number) =>
  (x: number, y: number): boolean =>
    Object.is(x, y) ||
    x === y ||
    (Number.isNaN(x) && Number.isNaN(y)) ||
    Math.abs(Number(x) - Number(y)) <= atol + rtol * Math.abs(Number(y));
const equal = (x: unknown, y: unknown): boolean =>
  x === y || (Number.isNaN(x) && Number.isNaN(y)) || (typeof x !== typeof y && Number(x) === Number(y));

/** Dtypes whose values are known less well, and how well. */
const coarse: Readonly<Partial<Record<DType, number>>> = { float16: 1e-3, bfloat16: 1e-2 };

/**
 * Assertions about tensors, which throw InvalidArgumentError. They need no test runner: in any, `const t = new tf.test.TestCase(); t.assertAllClose(y, [1, 2])`,
 * or in a class that extends this.
 */
export class TestCase {
  constructor(...args: Arguments<[], []>) {
    argumentsOf(TestCase, new.target, args);
  }

  /** That shapes are the same, and each `a` is within `atol + rtol * |b|` of its `b`; also in plain objects and lists. NaN is like NaN. */
  assertAllClose(a: TestValue, b: TestValue, options?: Tolerance | null): void;
  assertAllClose(a: TestValue, b: TestValue, { rtol = 1e-6, atol = 1e-6, msg }: Tolerance = {}): void {
    const op = 'TestCase.assertAllClose';
    const difference = differenceOf(a, b, close(rtol, atol), 'close to', op);
    if (difference !== null) fail(difference, msg, op);
  }
  /** `assertAllClose`, with a tolerance of 1e-3 where one of both is float16, and 1e-2 where it is bfloat16. */
  assertAllCloseAccordingToType(a: TestValue, b: TestValue, options?: Tolerance | null): void;
  assertAllCloseAccordingToType(
    a: TestValue,
    b: TestValue,
    { rtol = 1e-6, atol = 1e-6, msg }: Tolerance = {},
  ): void {
    const op = 'TestCase.assertAllCloseAccordingToType';
    const dtypes = [...pairsOf(a, b, op)].flatMap((pair) =>
      typeof pair === 'string' ? [] : [pair[0].dtype, pair[1].dtype],
    );
    const least = Math.max(0, ...dtypes.map((dtype) => coarse[dtype] ?? 0));
    const alike = close(Math.max(rtol, least), Math.max(atol, least));
    const difference = differenceOf(a, b, alike, 'close to', op);
    if (difference !== null) fail(difference, msg, op);
  }
  /** That they are not close: another shape, or a number that is farther away. */
  assertNotAllClose(a: TestValue, b: TestValue, options?: Tolerance | null): void;
  assertNotAllClose(a: TestValue, b: TestValue, { rtol = 1e-6, atol = 1e-6, msg }: Tolerance = {}): void {
    const op = 'TestCase.assertNotAllClose';
    if (differenceOf(a, b, close(rtol, atol), 'close to', op) === null)
      fail('all elements are close', msg, op);
  }
  /** That shapes and all elements are the same. NaN is like NaN. */
  assertAllEqual(a: TestValue, b: TestValue, options?: Message | null): void;
  assertAllEqual(a: TestValue, b: TestValue, { msg }: Message = {}): void {
    const op = 'TestCase.assertAllEqual';
    const difference = differenceOf(a, b, equal, 'equal to', op);
    if (difference !== null) fail(difference, msg, op);
  }
  /** That shapes or some elements differ. */
  assertNotAllEqual(a: TestValue, b: TestValue, options?: Message | null): void;
  assertNotAllEqual(a: TestValue, b: TestValue, { msg }: Message = {}): void {
    const op = 'TestCase.assertNotAllEqual';
    if (differenceOf(a, b, equal, 'equal to', op) === null) fail('all elements are equal', msg, op);
  }
  assertAllGreater(a: TensorLike, comparisonTarget: number): void {
    each(a, (x) => x > comparisonTarget, `greater than ${comparisonTarget}`, 'TestCase.assertAllGreater');
  }
  assertAllGreaterEqual(a: TensorLike, comparisonTarget: number): void {
    each(a, (x) => x >= comparisonTarget, `at least ${comparisonTarget}`, 'TestCase.assertAllGreaterEqual');
  }
  assertAllLess(a: TensorLike, comparisonTarget: number): void {
    each(a, (x) => x < comparisonTarget, `less than ${comparisonTarget}`, 'TestCase.assertAllLess');
  }
  assertAllLessEqual(a: TensorLike, comparisonTarget: number): void {
    each(a, (x) => x <= comparisonTarget, `at most ${comparisonTarget}`, 'TestCase.assertAllLessEqual');
  }
  /** That all elements lie between two numbers. */
  assertAllInRange(
    target: TensorLike,
    lowerBound: number,
    upperBound: number,
    options?: {
      /** Whether the lower bound itself is outside; false by default. */
      readonly openLowerBound?: boolean;
      /** Whether the upper bound itself is outside; false by default. */
      readonly openUpperBound?: boolean;
    } | null,
  ): void;
  assertAllInRange(
    target: TensorLike,
    lower: number,
    upper: number,
    {
      openLowerBound = false,
      openUpperBound = false,
    }: { openLowerBound?: boolean; openUpperBound?: boolean } = {},
  ): void {
    each(
      target,
      (x) => (openLowerBound ? x > lower : x >= lower) && (openUpperBound ? x < upper : x <= upper),
      `from ${lower}${openLowerBound ? ' (open)' : ''} to ${upper}${openUpperBound ? ' (open)' : ''}`,
      'TestCase.assertAllInRange',
    );
  }
  /** That all elements are among some values. */
  assertAllInSet(target: TensorLike, expectedSet: Iterable<number | string | boolean>): void {
    const set = new Set<unknown>(expectedSet);
    each(
      target,
      (x) => set.has(x) || set.has(Number(x)),
      `in {${[...set].join(', ')}}`,
      'TestCase.assertAllInSet',
    );
  }
  /** That two numbers are at most `err` apart. */
  assertNear(f1: number | Tensor, f2: number | Tensor, err: number, options?: Message | null): void;
  assertNear(f1: number | Tensor, f2: number | Tensor, err: number, { msg }: Message = {}): void {
    near(f1, f2, err, msg, 'TestCase.assertNear');
  }
  /** `assertNear` of each pair of two lists. */
  assertArrayNear(
    farray1: readonly number[],
    farray2: readonly number[],
    err: number,
    options?: Message | null,
  ): void;
  assertArrayNear(a: readonly number[], b: readonly number[], err: number, { msg }: Message = {}): void {
    const op = 'TestCase.assertArrayNear';
    if (a.length !== b.length) fail(`the lists have ${a.length} and ${b.length} items`, msg, op);
    for (const [i, x] of a.entries()) near(x, b[i], err, msg, op);
  }
  /** That two tensors have one shape, and the norm of their difference is less than `err`. */
  assertNDArrayNear(ndarray1: TensorLike, ndarray2: TensorLike, err: number, options?: Message | null): void;
  assertNDArrayNear(a: TensorLike, b: TensorLike, err: number, { msg }: Message = {}): void {
    const op = 'TestCase.assertNDArrayNear';
    const pair: Pair = [tensor(a, op), tensor(b, op), ''];
    sameShapes(pair, msg, op);
    const distance = Number(
      pair[0].cast('float64').sub(pair[1].cast('float64')).square().sum().sqrt().item(),
    );
    if (!(distance < err))
      fail(`the norm of the difference is ${distance}, expected less than ${err}`, msg, op);
  }
  assertDTypeEqual(target: TensorLike, expectedDtype: DType): void {
    const { dtype } = tensor(target, 'TestCase.assertDTypeEqual');
    if (dtype !== String(expectedDtype))
      fail(`the dtype is ${dtype}, expected ${String(expectedDtype)}`, null, 'TestCase.assertDTypeEqual');
  }
  assertShapeEqual(inputA: TensorLike, inputB: TensorLike, options?: Message | null): void;
  assertShapeEqual(a: TensorLike, b: TensorLike, { msg }: Message = {}): void {
    const op = 'TestCase.assertShapeEqual';
    sameShapes([tensor(a, op), tensor(b, op), ''], msg, op);
  }
  /** That two names are those of one device, however they are written. */
  assertDeviceEqual(device1: string, device2: string, options?: Message | null): void;
  assertDeviceEqual(a: string, b: string, { msg }: Message = {}): void {
    const plain = (name: string): string => name.toLowerCase().replace(/^\/?(device:)?/, '');
    if (plain(a) !== plain(b)) fail(`${a} is not ${b}`, msg, 'TestCase.assertDeviceEqual');
  }
  /** That `fn` throws an error of Eagre's whose message has this text, or matches. */
  assertRaisesOpError(
    expectedErrReOrPredicate: string | RegExp | ((error: Error) => boolean),
    fn: () => unknown,
  ): void {
    const op = 'TestCase.assertRaisesOpError';
    const expected = expectedErrReOrPredicate;
    let error: unknown;
    try {
      fn();
    } catch (cause) {
      error = cause;
    }
    if (!(error instanceof Error)) fail('nothing was thrown', null, op);
    const matches =
      typeof expected === 'function'
        ? expected(error)
        : typeof expected === 'string'
          ? error.message.includes(expected)
          : expected.test(error.message);
    if (!matches) fail(`another error was thrown: ${error.message}`, null, op);
  }
}

function each(value: TensorLike, is: (x: number) => boolean, what: string, op: string): void {
  const numbers = numbersOf(tensor(value, op));
  const place = numbers.findIndex((x) => !is(x as number));
  if (place >= 0) fail(`element ${place} is ${String(numbers[place])}, expected all ${what}`, null, op);
}

takesArguments({ names: {} }, TestCase);
const two = { positional: ['a', 'b'], objects: ['a', 'b'] } as const;
const tolerance = { rtol: true, atol: true, msg: true } as const;
const msg = { msg: true } as const;
const compared = { positional: ['a', 'comparisonTarget'] } as const;
defineMethods(TestCase.prototype, 'TestCase', {
  assertAllClose: { ...two, options: tolerance },
  assertAllCloseAccordingToType: { ...two, options: tolerance },
  assertNotAllClose: { ...two, options: tolerance },
  assertAllEqual: { ...two, options: msg },
  assertNotAllEqual: { ...two, options: msg },
  assertAllGreater: compared,
  assertAllGreaterEqual: compared,
  assertAllLess: compared,
  assertAllLessEqual: compared,
  assertAllInRange: {
    positional: ['target', 'lowerBound', 'upperBound'],
    options: { openLowerBound: true, openUpperBound: true },
  },
  assertAllInSet: { positional: ['target', 'expectedSet'] },
  assertNear: { positional: ['f1', 'f2', 'err'], options: msg },
  assertArrayNear: { positional: ['farray1', 'farray2', 'err'], options: msg },
  assertNDArrayNear: { positional: ['ndarray1', 'ndarray2', 'err'], options: msg },
  assertDTypeEqual: { positional: ['target', 'expectedDtype'] },
  assertShapeEqual: { positional: ['inputA', 'inputB'], options: msg },
  assertDeviceEqual: { positional: ['device1', 'device2'], options: msg },
  assertRaisesOpError: { positional: ['expectedErrReOrPredicate', 'fn'] },
});

/** Jacobians of all arguments: [elements of the result, elements of the argument] each. */
export type Jacobians = readonly Tensor[];

/**
 * The jacobians of a function of tensors, by the tape and by central differences: `const [theoretical, numerical] = tf.test.computeGradient(f, [x])`.
 * @param x the arguments, of floats.
 * @throws InvalidArgumentError for other arguments and results.
 */
export const computeGradient: NamedFunction<
  [f: (...x: Tensor[]) => Tensor, x: readonly TensorLike[]],
  ['f', 'x'],
  {
    /** How far each element is moved to both sides; 1/1024 unless given. */
    readonly delta?: number;
  },
  readonly [theoretical: Jacobians, numerical: Jacobians]
> = /* @__PURE__ */ defineFunction(
  'test.computeGradient',
  { f: kind.asIs, x: kind.asIs },
  { delta: kind.asIs },
  (f, x, { delta = 1 / 1024 }) => {
    const op = 'test.computeGradient';
    if (typeof f !== 'function') throw new InvalidArgumentError(`f must be a function, got ${shown(f)}`, op);
    if (!Array.isArray(x))
      throw new InvalidArgumentError(`x must be a list of the arguments, got ${shown(x)}`, op);
    const inputs = x.map((value: TensorLike, i) => {
      const t = toTensor(value);
      if (!isFloating(t.dtype))
        throw new InvalidArgumentError(`x[${i}] must be of floats, got ${t.dtype}`, op);
      return t.identity();
    });
    if (!(delta > 0)) throw new InvalidArgumentError(`delta must be positive, got ${shown(delta)}`, op);
    using tape = new GradientTape();
    tape.watch(inputs);
    const y = tape.record(() => toTensor(f(...inputs)));
    if (!isFloating(y.dtype)) throw new InvalidArgumentError(`f must return floats, got ${y.dtype}`, op);
    const jacobians = tape.jacobian(y, inputs, { unconnectedGradients: 'zero' }) as Tensor[];
    const theoretical = inputs.map((t, k) => (jacobians[k] as Tensor).reshape([y.size, t.size]));
    return [theoretical, inputs.map((_, k) => numeric(f, inputs, k, delta, y.size))] as const;
  },
);

/** The jacobian by moving each element of one argument. */
function numeric(
  f: (...x: Tensor[]) => Tensor,
  inputs: readonly Tensor[],
  k: number,
  delta: number,
  size: number,
): Tensor {
  const at = inputs[k] as Tensor;
  const values = numbersOf(at).map(Number);
  const moved = (i: number, by: number): number[] => {
    const one = constant(
      values.map((v, j) => (j === i ? v + by : v)),
      at.dtype,
      { shape: at.shape },
    );
    return numbersOf(toTensor(f(...inputs.map((t, j) => (j === k ? one : t))))).map(Number);
  };
  const columns = values.map((_, i) => {
    const [up, down] = [moved(i, delta), moved(i, -delta)];
    return up.map((v, j) => (v - (down[j] as number)) / (2 * delta));
  });
  const rows = Array.from({ length: size }, (_, j) => columns.map((column) => column[j] as number));
  return constant(rows.flat(), at.dtype, { shape: [size, values.length] });
}

/** The name of the first GPU, `/device:GPU:0`; an empty text where there is none. */
export const gpuDeviceName: NamedFunction<[], [], unknown, string> = /* @__PURE__ */ defineFunction(
  'test.gpuDeviceName',
  {},
  {},
  () => listLogicalDevices('GPU')[0]?.name ?? '',
);

/** Whether there is a GPU. */
export const isGpuAvailable: NamedFunction<[], [], unknown, boolean> = /* @__PURE__ */ defineFunction(
  'test.isGpuAvailable',
  {},
  {},
  () => listLogicalDevices('GPU').length > 0,
);
