/** `tf.keras.quantizers`: floats as integers and scales. */
import { customGradient } from '@eagre/autodiff';
import {
  type Axis,
  bitcast,
  bitwise,
  cast,
  concat,
  InvalidArgumentError,
  stack,
  type Tensor,
  type TensorLike,
  UnimplementedError,
  where,
  zeros,
} from '@eagre/core';
import {
  argumentsOf,
  type Deserialize,
  defineFunction,
  dims,
  isFloating,
  isPlain,
  type NamedFunction,
  normalizeAxis,
  numberOption,
  type Option,
  takesOptions,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import type { FloatDType, QuantizationMode } from './layer/dtype-policy.ts';
import { show } from './layer/show.ts';
import { markOurs } from './ours.ts';
import {
  ClassNames,
  defineGet,
  defineObjectDeserialize,
  defineObjectSerialize,
  type GetOf,
  KerasObject,
  type SerializedFunction,
  type SerializedObject,
} from './saving/keras-object.ts';

/** The dtypes that quantized values are kept in. */
export type QuantizedDType = 'int8' | 'uint8' | 'int16' | 'int32';
/** The smallest and the largest of the quantized values. */
export type ValueRange = readonly [least: number, most: number];

const EPSILON = 1e-7;
const INT8: ValueRange = [-127, 127];
const INT4: ValueRange = [-8, 7];

/** @throws InvalidArgumentError unless it is a tensor of floats */
function floatsOf(given: TensorLike, op: string): Tensor {
  const x = toTensor(given);
  if (!isFloating(x.dtype))
    throw new InvalidArgumentError(`takes floats, got a tensor of ${x.dtype}; cast it first`, op);
  return x;
}

function rangeOf(given: unknown, op: string): ValueRange {
  if (Array.isArray(given) && given.length === 2 && given.every(Number.isFinite) && given[0] < given[1])
    return [given[0], given[1]] as ValueRange;
  throw new InvalidArgumentError(
    `valueRange must be two numbers, the smaller one first, got ${show(given)}`,
    op,
  );
}

const dtypes: readonly QuantizedDType[] = ['int8', 'uint8', 'int16', 'int32'];
function dtypeOf(given: unknown, name: string, op: string): QuantizedDType {
  if (dtypes.includes(given as QuantizedDType)) return given as QuantizedDType;
  throw new InvalidArgumentError(`${name} must be one of ${dtypes.join(', ')}, got ${show(given)}`, op);
}

/** @throws InvalidArgumentError unless it is a number of at least 0 */
function epsilonOf(given: number, op: string): number {
  if (typeof given === 'number' && given >= 0) return given;
  throw new InvalidArgumentError(`epsilon must be a number of at least 0, got ${show(given)}`, op);
}

/** Options of `absMaxQuantize`. */
export interface QuantizeOptions {
  /** −127 and 127 unless given. */
  readonly valueRange?: ValueRange;
  /** int8 unless given. */
  readonly dtype?: QuantizedDType;
  /** What is added to the largest magnitude, so that nothing is divided by 0; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Integers and the scale that made them, one for all along `axis`: `values ≈ integers / scale`. The largest magnitude becomes the end of
 * `valueRange`; halves are rounded to even numbers.
 * @returns the integers, in the shape of `inputs`, and the scale in its dtype, of size 1 along `axis`.
 * @throws InvalidArgumentError for inputs that are no floats
 */
export const absMaxQuantize: NamedFunction<
  [inputs: TensorLike, axis: Axis],
  ['inputs', 'axis'],
  QuantizeOptions,
  [quantized: Tensor, scale: Tensor]
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.absMaxQuantize',
  { inputs: true, axis: true },
  { valueRange: true, dtype: true, epsilon: true },
  (inputs, axis, options): [Tensor, Tensor] => {
    const op = 'absMaxQuantize';
    const x = floatsOf(inputs as TensorLike, op);
    const [least, most] = rangeOf(options.valueRange ?? INT8, op);
    const dtype = dtypeOf(options.dtype ?? 'int8', 'dtype', op);
    const largest = x.abs().max(axis as Axis, { keepdims: true });
    const scale = toTensor(most)
      .cast(x.dtype)
      .div(largest.add(epsilonOf(options.epsilon ?? EPSILON, op)));
    return [x.mul(scale).round().clipByValue(least, most).cast(dtype), scale];
  },
);

/** Options of `absMaxQuantizeGroupedWithZeroPoint`. */
export interface GroupedOptions {
  /** −8 and 7 unless given: of 4 bits. */
  readonly valueRange?: ValueRange;
  /** int8 unless given. */
  readonly dtype?: QuantizedDType;
  /** What is added to the width of a group's values; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Integers, scales and zero points of groups of `blockSize` rows, in each column for itself: `values ≈ (integers − zeroPoint) · scale`.
 * @param inputs [rows, columns]
 * @returns the integers [rows, columns], then scales and int8 zero points [groups, columns].
 * @throws InvalidArgumentError for another rank than 2, and for rows that are not known
 */
export const absMaxQuantizeGroupedWithZeroPoint: NamedFunction<
  [inputs: TensorLike, blockSize: number],
  ['inputs', 'blockSize'],
  GroupedOptions,
  [quantized: Tensor, scale: Tensor, zeroPoint: Tensor]
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.absMaxQuantizeGroupedWithZeroPoint',
  { inputs: true, blockSize: true },
  { valueRange: true, dtype: true, epsilon: true },
  (inputs, blockSize, options): [Tensor, Tensor, Tensor] => {
    const op = 'absMaxQuantizeGroupedWithZeroPoint';
    const x = floatsOf(inputs as TensorLike, op);
    if (x.rank !== 2)
      throw new InvalidArgumentError(`takes a matrix [rows, columns], got rank ${x.rank}`, op);
    const given = blockSize as number;
    if (!Number.isSafeInteger(given) || given < 1)
      throw new InvalidArgumentError(`blockSize must be an integer of at least 1, got ${show(given)}`, op);
    const [least, most] = rangeOf(options.valueRange ?? INT4, op);
    const dtype = dtypeOf(options.dtype ?? 'int8', 'dtype', op);
    const [rows, columns] = x.shape;
    // Of zeros behind the rows one does as well as many.
    const size = Math.min(given, rows + 1);
    const groups = Math.ceil(rows / size);
    const missing = groups * size - rows;
    const padded = missing === 0 ? x : concat([x, zeros([missing, columns], { dtype: x.dtype })], 0);
    const grouped = padded.reshape([groups, size, columns]);
    const low = grouped.min(1, { keepdims: true });
    const high = grouped.max(1, { keepdims: true });
    // All the same: as wide as if they lay in the middle of two.
    const flat = low.equal(high);
    const from = where(flat, low.sub(1), low);
    const width = where(flat, high.add(1), high).sub(from);
    const scale = width.add(epsilonOf(options.epsilon ?? EPSILON, op)).div(most - least);
    const zero = from.neg().div(scale).round().add(least).clipByValue(least, most);
    const ints = grouped.div(scale).round().add(zero).clipByValue(least, most).cast(dtype);
    return [
      ints.reshape([groups * size, columns]).slice([0, 0], [rows, columns]),
      scale.reshape([groups, columns]),
      zero.reshape([groups, columns]).cast('int8'),
    ];
  },
);

/** Options of `fakeQuantWithMinMaxVars`. */
export interface FakeQuantOptions {
  /** Of the integers that the values could be kept in, 8 unless given. */
  readonly numBits?: number;
  /** Whether the smallest integer is 1 instead of 0; false unless given. */
  readonly narrowRange?: boolean;
  /** The axis that `minVals` and `maxVals` have one value each for; none unless given: both are scalars. */
  readonly axis?: number | null;
}

/**
 * What is left of values that were kept as integers of `numBits` between `minVals` and `maxVals`, which are moved a little so that 0 is
 * one of them. The gradient goes to the inputs inside the range, and to its ends outside.
 * @throws InvalidArgumentError for inputs that are no floats, and bits other than 2 … 16
 */
export const fakeQuantWithMinMaxVars: NamedFunction<
  [inputs: TensorLike, minVals: TensorLike, maxVals: TensorLike],
  ['inputs', 'minVals', 'maxVals'],
  FakeQuantOptions
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.fakeQuantWithMinMaxVars',
  { inputs: true, minVals: true, maxVals: true },
  { numBits: true, narrowRange: true, axis: true },
  (inputs, minVals, maxVals, options): Tensor => {
    const op = 'fakeQuantWithMinMaxVars';
    const given = floatsOf(inputs as TensorLike, op);
    const bits = options.numBits ?? 8;
    if (!Number.isInteger(bits) || bits < 2 || bits > 16)
      throw new InvalidArgumentError(`numBits must be an integer from 2 to 16, got ${show(bits)}`, op);
    const narrow = options.narrowRange ?? false;
    if (typeof narrow !== 'boolean')
      throw new InvalidArgumentError(`narrowRange must be true or false, got ${show(narrow)}`, op);
    const least = narrow ? 1 : 0;
    const most = 2 ** bits - 1;
    const axis = options.axis ?? null;
    const own = axis === null ? null : normalizeAxis(axis, given.rank, op);
    const others = given.shape.map((_, i) => i).filter((i) => i !== own);
    /** So that one value each meets its places of the inputs. */
    const along = (ends: Tensor): Tensor =>
      own === null ? ends.reshape([]) : ends.reshape(given.shape.map((_, i) => (i === own ? -1 : 1)));
    const run = customGradient((x: Tensor, min: Tensor, max: Tensor) => {
      const scale = max.sub(min).div(most - least);
      const inverse = toTensor(most - least)
        .cast('float32')
        .div(max.sub(min));
      const zero = toTensor(least).cast('float32').sub(min.div(scale)).clipByValue(least, most);
      // Halves away from zero, as TensorFlow's kernel rounds.
      const nudged = zero.add(0.5).floor();
      const low = along(toTensor(least).cast('float32').sub(nudged).mul(scale));
      const high = along(toTensor(most).cast('float32').sub(nudged).mul(scale));
      const [step, perStep] = [along(scale), along(inverse)];
      const first = low.neg().mul(perStep).add(0.5).floor();
      const clamped = x.minimum(high).maximum(low);
      const y = clamped.sub(low).mul(perStep).sub(first).add(0.5).floor().mul(step);
      const gradient = (dy: Tensor): Tensor[] => {
        const none = dy.mul(0);
        const below = x.less(low);
        const above = x.greater(high);
        const atEnd = (outside: Tensor, of: Tensor): Tensor =>
          where(outside, dy, none).sum(others).reshape(of.shape);
        return [where(below.logicalOr(above), none, dy), atEnd(below, min), atEnd(above, max)];
      };
      return [y, gradient];
    });
    const ends = [minVals, maxVals].map((v) => toTensor(v as TensorLike).cast('float32'));
    return run(given.cast('float32'), ends[0] as Tensor, ends[1] as Tensor).cast(given.dtype);
  },
);

type Packed = 'int8' | 'uint8';
function checkPacked(x: Tensor, dtype: Packed, op: string): void {
  if (dtype !== 'int8' && dtype !== 'uint8')
    throw new InvalidArgumentError(`dtype must be 'int8' or 'uint8', got ${show(dtype)}`, op);
  if (x.dtype !== dtype) throw new InvalidArgumentError(`takes a tensor of ${dtype}, got ${x.dtype}`, op);
}
/** The axes with one of them first, and back. */
function toFront(axis: number, rank: number): { readonly there: number[]; readonly back: number[] } {
  const there = [axis, ...Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis)];
  return { there, back: there.map((_, i) => there.indexOf(i)) };
}

/**
 * Integers of 4 bits, two in a byte: the first of each pair along `axis` in the lower half. An odd number is filled up with a 0.
 * @param arr of −8 … 7, or of 0 … 15 for uint8
 * @returns the bytes, their shape, and how many there were along `axis`.
 * @throws InvalidArgumentError for another dtype than the one said
 */
export const packInt4: NamedFunction<
  [arr: TensorLike, axis?: number],
  ['arr', 'axis'],
  {
    /** Of the integers that are packed: int8 by default, or uint8. */
    readonly dtype?: Packed;
  },
  [packed: Tensor, packedShape: readonly number[], origLen: number]
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.packInt4',
  { arr: true, axis: true },
  { dtype: true },
  (arr, axis, options): [Tensor, readonly number[], number] => {
    const x = toTensor(arr as TensorLike);
    const dtype = options.dtype ?? 'int8';
    checkPacked(x, dtype, 'packInt4');
    const { there, back } = toFront(
      normalizeAxis((axis as number | undefined) ?? 0, x.rank, 'packInt4'),
      x.rank,
    );
    const front = x.transpose(there);
    const [length, ...rest] = front.shape;
    const even = length % 2 === 0 ? front : concat([front, zeros([1, ...rest], { dtype })], 0);
    const pairs = even.reshape([even.shape[0] / 2, 2, ...rest]).cast('int32');
    const half = (i: number): Tensor => bitwise.bitwiseAnd(pairs.gather(i, { axis: 1 }), 15);
    const bytes = bitwise.bitwiseOr(half(0), bitwise.leftShift(half(1), 4));
    // As the signed number of the same bits.
    const signed = dtype === 'int8' ? bitwise.bitwiseXor(bytes, 128).sub(128) : bytes;
    const packed = cast(signed, dtype).transpose(back);
    return [packed, packed.shape, length];
  },
);

/** The size of the axis that is packed, which has to be known. */
const packedSize = (x: Tensor, axis: number): number => {
  const size = dims(x)[axis];
  if (typeof size === 'number') return size;
  throw new UnimplementedError('the size of the axis has to be known', 'unpackInt4');
};

/**
 * The integers of 4 bits that `packInt4` packed.
 * @param origLen how many there were along `axis`
 * @throws InvalidArgumentError for another dtype than the one said
 */
export const unpackInt4: NamedFunction<
  [packed: TensorLike, origLen: number, axis?: number],
  ['packed', 'origLen', 'axis'],
  {
    /** Of the integers that were packed: int8 by default, or uint8. */
    readonly dtype?: Packed;
  }
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.unpackInt4',
  { packed: true, origLen: true, axis: true },
  { dtype: true },
  (packed, origLen, axis, options): Tensor => {
    const op = 'unpackInt4';
    const x = toTensor(packed as TensorLike);
    const dtype = options.dtype ?? 'int8';
    checkPacked(x, dtype, op);
    const { there, back } = toFront(normalizeAxis((axis as number | undefined) ?? 0, x.rank, op), x.rank);
    const front = x.transpose(there).cast('int32');
    // The other sizes may be any.
    const [, ...rest] = dims(front);
    const bytes = packedSize(x, there[0] as number);
    const length = origLen as number;
    if (!Number.isSafeInteger(length) || length < 0 || length > 2 * bytes)
      throw new InvalidArgumentError(
        `origLen must be an integer from 0 to ${2 * bytes}, got ${show(length)}`,
        op,
      );
    const signed = (half: Tensor): Tensor => (dtype === 'int8' ? bitwise.bitwiseXor(half, 8).sub(8) : half);
    const low = signed(bitwise.bitwiseAnd(front, 15));
    const high = signed(bitwise.bitwiseAnd(bitwise.rightShift(front, 4), 15));
    const all = stack([low, high], { axis: 1 }).reshape(toShape([2 * bytes, ...rest]));
    return all
      .slice([0, ...rest.map(() => 0)], [length, ...rest.map(() => -1)])
      .cast(dtype)
      .transpose(back);
  },
);

/** The floats of 8 bits: with 4 bits of exponent and 3 of fraction, and no infinities, or with 5 and 2. */
export type Float8DType = 'float8_e4m3fn' | 'float8_e5m2';
const FORMS8 = {
  float8_e4m3fn: { fraction: 3, least: -6 },
  float8_e5m2: { fraction: 2, least: -14 },
} as const;
/** @internal The largest of them. */
export const LARGEST_FLOAT8: Readonly<Record<Float8DType, number>> = {
  float8_e4m3fn: 448,
  float8_e5m2: 57344,
};

/** The next scale of floats of 8 bits: that which makes `amax` the largest of them; `scale` where `amax` is 0 or not finite. */
export const computeFloat8Scale: NamedFunction<
  [amax: TensorLike, scale: TensorLike, dtypeMax: number, margin?: number],
  ['amax', 'scale', 'dtypeMax', 'margin']
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.computeFloat8Scale',
  { amax: true, scale: true, dtypeMax: true, margin: true },
  {},
  (given, before, dtypeMax, margin = 0): Tensor => {
    const op = 'computeFloat8Scale';
    const amax = floatsOf(given as TensorLike, op);
    for (const [name, n] of Object.entries({ dtypeMax, margin }))
      if (typeof n !== 'number' || !Number.isFinite(n))
        throw new InvalidArgumentError(`${name} must be a finite number, got ${show(n)}`, op);
    const scale = floatsOf(before as TensorLike, op).reciprocal();
    const factor = toTensor(dtypeMax as number)
      .cast(amax.dtype)
      .div(amax)
      .div(2 ** (margin as number));
    return where(amax.greater(0).logicalAnd(amax.isFinite()), factor, scale).reciprocal();
  },
);

/** The history of largest magnitudes [n] with that of `x` at its beginning, and without the oldest. */
export const computeFloat8AmaxHistory: NamedFunction<
  [x: TensorLike, amaxHistory: TensorLike],
  ['x', 'amaxHistory']
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.computeFloat8AmaxHistory',
  { x: true, amaxHistory: true },
  {},
  (x, amaxHistory): Tensor => {
    const op = 'computeFloat8AmaxHistory';
    const history = floatsOf(amaxHistory as TensorLike, op);
    if (history.rank !== 1 || history.size === 0)
      throw new InvalidArgumentError(`amaxHistory must be a list of numbers, got rank ${history.rank}`, op);
    const now = floatsOf(x as TensorLike, op)
      .abs()
      .max()
      .cast(history.dtype);
    // As Keras, which turns the list by one, and puts the new one over its first.
    const n = history.size;
    if (n === 1) return now.reshape([1]);
    return concat([now.reshape([1]), history.slice([2], [n - 2]), history.slice([0], [1])], 0);
  },
);

/** What is left of floats that are divided by a scale, kept in 8 bits, and multiplied by it. Halves are rounded to even numbers. */
export const quantizeAndDequantize: NamedFunction<
  [inputs: TensorLike, scale: TensorLike, quantizedDtype: Float8DType, computeDtype: FloatDType],
  ['inputs', 'scale', 'quantizedDtype', 'computeDtype']
> = /* @__PURE__ */ defineFunction(
  'keras.quantizers.quantizeAndDequantize',
  { inputs: true, scale: true, quantizedDtype: true, computeDtype: true },
  {},
  (inputs, scale, quantizedDtype, computeDtype): Tensor => {
    const op = 'quantizeAndDequantize';
    if (!(typeof quantizedDtype === 'string' && Object.hasOwn(FORMS8, quantizedDtype)))
      throw new InvalidArgumentError(
        `quantizedDtype must be one of ${Object.keys(FORMS8).join(', ')}, got ${show(quantizedDtype)}`,
        op,
      );
    if (!isFloating(computeDtype as FloatDType))
      throw new InvalidArgumentError(`computeDtype must be a dtype of floats, got ${show(computeDtype)}`, op);
    const dtype = computeDtype as 'float32';
    const name = quantizedDtype as Float8DType;
    const by = floatsOf(scale as TensorLike, op).cast(dtype);
    const x = floatsOf(inputs as TensorLike, op)
      .cast(dtype)
      .div(by);
    return rounded8(x.clipByValue(-LARGEST_FLOAT8[name], LARGEST_FLOAT8[name]).cast('float32'), name)
      .cast(dtype)
      .mul(by);
  },
);

/** The nearest floats of 8 bits, as float32. */
function rounded8(x: Tensor, dtype: Float8DType): Tensor {
  const { fraction, least } = FORMS8[dtype];
  const dropped = 23 - fraction;
  const bits = bitcast(x, 'int32');
  const odd = bitwise.bitwiseAnd(bitwise.rightShift(bits, dropped), 1);
  const up = bits.add(2 ** (dropped - 1) - 1).add(odd);
  const normal = bitcast(bitwise.bitwiseAnd(up, -(2 ** dropped)), 'float32');
  const step = 2 ** (least - fraction);
  return where(x.abs().less(2 ** least), x.div(step).round().mul(step), normal);
}

/** What all quantizers take. */
export interface QuantizerOptions {
  /** The dtype of what it gives; int8 unless given. */
  readonly outputDtype?: QuantizedDType;
}
const outputDtype: Option<QuantizedDType> = {
  read: (given, name, of) => dtypeOf(given ?? 'int8', name, of.constructor.name),
};

/** Base of quantizers, which are functions of a tensor. To make your own, extend it and write `call`, which returns the integers and their scale. */
export class Quantizer extends KerasObject {
  /** The dtype of what it gives. */
  declare readonly outputDtype: QuantizedDType;

  constructor(...args: [outputDtype?: QuantizedDType | QuantizerOptions, ...rest: never[]]) {
    super(...args);
  }
  /** The tensor as it is. */
  override call(
    x: TensorLike,
    _options?: {
      /** Along which one scale is for all; that of the quantizer by default. */
      readonly axis?: Axis | null;
    },
  ): unknown {
    return toTensor(x);
  }
  protected override invoke(x: TensorLike, options?: { readonly axis?: Axis | null }): unknown {
    return this.call(x, options);
  }
  /** @internal */
  protected override get module(): string {
    return 'keras.quantizers';
  }
}
export interface Quantizer {
  (x: TensorLike, options?: { readonly axis?: Axis | null }): unknown;
}

/** Options of `AbsMaxQuantizer`. */
export interface AbsMaxQuantizerOptions extends QuantizerOptions {
  /** Along which one scale is for all; the last axis unless given here or in a call. */
  readonly axis?: number | readonly number[] | null;
  /** −127 and 127 unless given. */
  readonly valueRange?: ValueRange;
  /** Added to the largest magnitude, so that nothing is divided by 0; 1e-7 unless given. */
  readonly epsilon?: number;
}

/** `absMaxQuantize` as an object: `const [ints, scale] = new AbsMaxQuantizer({ axis: 0 })(kernel)`. */
export class AbsMaxQuantizer extends Quantizer {
  /** Along which one scale is for all. */
  declare readonly axis: readonly number[] | null;
  /** The least and the largest integer. */
  declare readonly valueRange: ValueRange;
  /** Added to the largest magnitude, so that nothing is divided by 0. */
  declare readonly epsilon: number;

  constructor(
    ...args: [
      axis?: number | readonly number[] | null | AbsMaxQuantizerOptions,
      options?: AbsMaxQuantizerOptions,
    ]
  ) {
    super(argumentsOf<AbsMaxQuantizerOptions>(AbsMaxQuantizer, new.target, args) as QuantizerOptions);
    const [least, most] = this.valueRange;
    if (this.outputDtype === 'int8' && (least < -128 || most > 127))
      throw new InvalidArgumentError(
        `needs a valueRange within -128 … 127 for int8, got ${show(this.valueRange)}`,
        'AbsMaxQuantizer',
      );
  }
  /** The integers and their scale, of size 1 along `axis`. */
  override call(
    x: TensorLike,
    options?: {
      /** Along which the largest magnitude is looked for; that of the quantizer by default. */
      readonly axis?: Axis | null;
    },
  ): [quantized: Tensor, scale: Tensor] {
    const { valueRange, epsilon, outputDtype: dtype } = this;
    return absMaxQuantize(x, options?.axis ?? this.axis ?? -1, { valueRange, epsilon, dtype });
  }
}
export interface AbsMaxQuantizer {
  (x: TensorLike, options?: { readonly axis?: Axis | null }): [quantized: Tensor, scale: Tensor];
}
markOurs(Quantizer, AbsMaxQuantizer);
takesOptions<QuantizerOptions, Quantizer>(
  { positional: ['outputDtype'], required: 0, options: { outputDtype } },
  Quantizer,
);
const axisOption: Option<readonly number[] | null> = {
  read: (given, name, of) => {
    const list = typeof given === 'number' ? [given] : (given ?? null);
    if (list === null || (Array.isArray(list) && list.every(Number.isInteger)))
      return list as number[] | null;
    throw new InvalidArgumentError(
      `${name} must be an integer or a list of them, got ${show(given)}`,
      of.constructor.name,
    );
  },
  write: (axis) => axis ?? undefined,
};
takesOptions<AbsMaxQuantizerOptions, AbsMaxQuantizer>(
  {
    positional: ['axis'],
    required: 0,
    options: {
      axis: axisOption,
      valueRange: { read: (given, _, of) => rangeOf(given ?? INT8, of.constructor.name) },
      epsilon: numberOption(EPSILON, 0),
      outputDtype,
    },
  },
  AbsMaxQuantizer,
);

/** What all configurations of `model.quantize` take. */
export interface QuantizationConfigOptions {
  /** Of the weights; each layer's own unless given. */
  readonly weightQuantizer?: Quantizer | SerializedObject | null;
  /** Of the inputs, `AbsMaxQuantizer` unless given; null leaves them floats. */
  readonly activationQuantizer?: Quantizer | SerializedObject | 'default' | null;
}

/** How layers quantize their weights and inputs. Each mode has a class that extends this one. */
export class QuantizationConfig extends KerasObject {
  /** Of the weights. */
  declare readonly weightQuantizer: Quantizer | null;
  /** Of the inputs; null leaves them floats. */
  declare readonly activationQuantizer: Quantizer | null;

  constructor(...args: [options?: QuantizationConfigOptions]) {
    super(...(args as []));
  }
  /** The mode that layers get. @throws InvalidArgumentError of this class, which has none */
  get mode(): QuantizationMode {
    throw new InvalidArgumentError(
      'has no mode; use Int8QuantizationConfig, Int4QuantizationConfig, Float8QuantizationConfig, GPTQConfig or AWQConfig',
      'QuantizationConfig',
    );
  }
  /** @internal */
  protected override get module(): string {
    return 'keras.quantizers';
  }
  protected override invoke(): never {
    throw new InvalidArgumentError('is no function; give it to layer.quantize', this.constructor.name);
  }
}

/** Of int8: weights with one scale for each output, and inputs quantized in each call. */
export class Int8QuantizationConfig extends QuantizationConfig {
  constructor(...args: [options?: QuantizationConfigOptions]) {
    super(argumentsOf<QuantizationConfigOptions>(Int8QuantizationConfig, new.target, args));
    const dtype = this.weightQuantizer?.outputDtype ?? 'int8';
    if (dtype !== 'int8')
      throw new InvalidArgumentError(
        `needs a weightQuantizer with outputDtype 'int8', got ${dtype}`,
        'Int8QuantizationConfig',
      );
  }
  override get mode(): 'int8' {
    return 'int8';
  }
}

/** Options of `Int4QuantizationConfig`. */
export interface Int4QuantizationConfigOptions extends QuantizationConfigOptions {
  /** Of the inputs; null, which leaves them floats, unless given. */
  readonly activationQuantizer?: Quantizer | SerializedObject | 'default' | null;
  /** How many elements along the inputs have a scale and a zero point together, 128 unless given; null or −1 for one scale of all. */
  readonly blockSize?: number | null;
}

/**
 * Of int4: weights with a scale and a zero point for each group of `blockSize` in each output, two in a byte; inputs stay floats. Quantizers can be given
 * where there are no groups.
 */
export class Int4QuantizationConfig extends QuantizationConfig {
  /** How many elements along the inputs have a scale and a zero point together; null or −1 for one scale of all. */
  declare readonly blockSize: number | null;

  constructor(...args: [options?: Int4QuantizationConfigOptions]) {
    super(argumentsOf<Int4QuantizationConfigOptions>(Int4QuantizationConfig, new.target, args));
    const { blockSize, weightQuantizer: own, activationQuantizer } = this;
    const refuse = (why: string): never => {
      throw new InvalidArgumentError(why, 'Int4QuantizationConfig');
    };
    if (blockSize !== null && blockSize > 0 && (own !== null || activationQuantizer !== null))
      refuse('takes quantizers with a blockSize of null or -1 only');
    if (own === null) return;
    if (own.outputDtype !== 'int8')
      refuse(`needs a weightQuantizer with outputDtype 'int8', got ${own.outputDtype}`);
    const [least, most] = (own as Partial<AbsMaxQuantizer>).valueRange ?? [];
    if (least !== INT4[0] || most !== INT4[1])
      refuse(`needs a weightQuantizer with valueRange [-8, 7], got ${show([least, most])}`);
  }
  override get mode(): 'int4' {
    return 'int4';
  }
}

/** Of float8: products of floats of 8 bits, which training goes on with. There is nothing to choose. */
export class Float8QuantizationConfig extends QuantizationConfig {
  constructor(...args: [options?: unknown]) {
    super(argumentsOf(Float8QuantizationConfig, new.target, args));
    for (const name of ['weightQuantizer', 'activationQuantizer'])
      Object.defineProperty(this, name, { value: null, enumerable: false });
  }
  override get mode(): 'float8' {
    return 'float8';
  }
}
markOurs(QuantizationConfig, Int8QuantizationConfig, Int4QuantizationConfig, Float8QuantizationConfig);
takesOptions<object, Float8QuantizationConfig>({ options: {} } as never, Float8QuantizationConfig);

const known = new ClassNames<Quantizer>('quantizer', { Quantizer, AbsMaxQuantizer }, {});
const quantizerOption = (otherwise: () => Quantizer | null): Option<Quantizer | null> => ({
  read: (given, name, of) => {
    if (given === undefined || given === 'default') return otherwise();
    if (given === null || given instanceof Quantizer) return given;
    if (isPlain(given)) return known.get(given, Quantizer) as Quantizer;
    throw new InvalidArgumentError(
      `${name} must be a Quantizer or null, got ${show(given)}`,
      of.constructor.name,
    );
  },
  write: (value) => (value === null ? null : value.toJSON()),
});
const none = quantizerOption(() => null);
takesOptions<QuantizationConfigOptions, QuantizationConfig>(
  {
    positional: ['weightQuantizer'],
    required: 0,
    options: { weightQuantizer: none, activationQuantizer: none },
  },
  QuantizationConfig,
);
takesOptions<QuantizationConfigOptions, Int8QuantizationConfig>(
  {
    positional: ['weightQuantizer'],
    required: 0,
    options: {
      weightQuantizer: none,
      activationQuantizer: quantizerOption(() => new AbsMaxQuantizer()),
    },
  },
  Int8QuantizationConfig,
);

const blockSize: Option<number | null> = {
  read: (given = 128, name, of) => {
    if (given === null || given === -1 || (Number.isSafeInteger(given) && (given as number) > 0))
      return given as number | null;
    throw new InvalidArgumentError(
      `${name} must be a positive integer, -1 or null, got ${show(given)}`,
      of.constructor.name,
    );
  },
};
takesOptions<Int4QuantizationConfigOptions, Int4QuantizationConfig>(
  {
    positional: ['weightQuantizer'],
    required: 0,
    options: { weightQuantizer: none, activationQuantizer: none, blockSize },
  },
  Int4QuantizationConfig,
);

/** A name of a quantizer, one itself, or what a file holds. */
export type QuantizerLike = 'absMaxQuantizer' | 'quantizer' | Quantizer | SerializedObject;
/** The quantizer of a name, or itself; null of null. @throws InvalidArgumentError for an unknown name. */
export const get: GetOf<QuantizerLike, Quantizer> = defineGet('quantizers.get', known, Quantizer);
/** A quantizer as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [quantizer: Quantizer],
  ['quantizer'],
  unknown,
  SerializedObject | SerializedFunction
> = defineObjectSerialize('quantizers.serialize', 'quantizer');
/** The quantizer that `serialize`, or Keras, wrote. `customObjects` are classes of your own by name. */
export const deserialize: Deserialize<SerializedObject | SerializedFunction, Quantizer> =
  defineObjectDeserialize('quantizers.deserialize', known, Quantizer);
