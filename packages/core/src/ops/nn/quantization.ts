// `tf.quantization`: floats rounded to what integers of few bits can hold, with gradients that pass through.

import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkNumber, checkOneOf } from '../../arguments/checks.ts';
import { checkValues } from '../../dispatch/checked-values.ts';
import { context } from '../../dispatch/context.ts';
import { defineElementwise, execute1, type Op } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkFlag, normalizeAxis } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { where } from '../elementwise/select.ts';

interface Bits {
  /** How many bits the integers have: 2 to 16, 8 by default. */
  readonly numBits?: number;
  /** Whether the lowest integer is 1 instead of 0; false by default. */
  readonly narrowRange?: boolean;
}
const bitKinds = { numBits: kind.asIs, narrowRange: kind.asIs };
const rangeKinds = { min: kind.asIs, max: kind.asIs, numBits: kind.asIs, narrowRange: kind.asIs };

/** The range moved so that 0 is one of its steps. */
function nudged(
  min: Tensor,
  max: Tensor,
  low: number,
  high: number,
): { min: Tensor; max: Tensor; scale: Tensor } {
  const scale = max.sub(min).div(high - low);
  const zero = min
    .neg()
    .div(where(scale.equal(0), 1, scale))
    .add(low);
  // Halves go up.
  const point = zero.add(0.5).floor().maximum(low).minimum(high);
  return { min: point.neg().add(low).mul(scale), max: point.neg().add(high).mul(scale), scale };
}

/** The values of `rounded` without gradients, from what is the same for many. */
const fakeQuantOp: Op = /* @__PURE__ */ defineElementwise({
  name: 'FakeQuantOfRange',
  notDifferentiable: 'it is what is left of a function that has the gradient',
  scalar:
    () =>
    (s, ...inputs) => {
      const [x, min, max, inverse, zero, scale, none] = inputs;
      const steps = s.sub(s.mul(s.sub(s.min(s.max(x, min), max), min), inverse), zero);
      return s.add(s.select(none, 0, s.mul(s.floor(s.add(steps, 0.5)), scale)), 0);
    },
  samples: () => [
    {
      inputs: [
        uniform([3, 4], -2, 2),
        ...[-1, 1, 127.5, 128, 1 / 127.5].map((value) => values([value], [])),
        values([0], [], 'bool'),
      ],
    },
  ],
});

/** Values rounded to the steps of a range, which broadcasts. */
function rounded(x: Tensor, min: Tensor, max: Tensor, low: number, high: number): Tensor {
  const range = nudged(min.stopGradient(), max.stopGradient(), low, high);
  const t = x.stopGradient();
  const safe = where(range.scale.equal(0), 1, range.scale);
  // In the order of TensorFlow, which decides where halves go.
  const inverse = safe.reciprocal();
  const zero = range.min.neg().mul(inverse).add(0.5).floor();
  const none = min.equal(0).logicalAnd(max.equal(0));
  // By one pass where nobody asks how, and nothing is to be passed to gradients.
  if (context.tracer === null && context.tapes.length === 0)
    return execute1(fakeQuantOp, [t, range.min, range.max, inverse, zero, range.scale, none]);
  const steps = t
    .maximum(range.min)
    .minimum(range.max)
    .sub(range.min)
    .mul(inverse)
    .sub(zero)
    .add(0.5)
    .floor();
  const all = steps.mul(range.scale);
  const y = where(none, 0, all);
  // Gradients are those of this: what is inside of the range passes, what is beyond goes to its ends, what is NaN to nothing.
  const finite = where(t.isFinite(), x, 0);
  const ends = where(t.less(range.min), min, where(t.greater(range.max), max, finite));
  const passed = where(none, finite, ends);
  return y.add(passed.sub(passed.stopGradient()));
}

function fakeQuantized(x: TensorLike, min: TensorLike, max: TensorLike, bits: Bits, op: string): Tensor {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'inputs', op);
  const [n, low] = bitsOf(bits, op);
  return rounded(t, toTensor(min, t.dtype), toTensor(max, t.dtype), low, 2 ** n - 1);
}

/** Values rounded to 2 ^ numBits steps from `min` to `max`, −6 and 6 by default; gradients pass inside of the range. */
export const fakeQuantWithMinMaxArgs: NamedFunction<
  [inputs: TensorLike],
  ['inputs'],
  {
    /** The lower end of the range; -6 by default. */
    readonly min?: number;
    /** The upper end of the range; 6 by default. */
    readonly max?: number;
  } & Bits
> = /* @__PURE__ */ defineFunction(
  'quantization.fakeQuantWithMinMaxArgs',
  { inputs: kind.tensor },
  rangeKinds,
  (inputs, { min = -6, max = 6, ...bits }) => {
    const op = 'quantization.fakeQuantWithMinMaxArgs';
    checkNumber(min, 'min', op);
    checkNumber(max, 'max', op);
    if (!(min < max)) throw new InvalidArgumentError(`min ${min} must be below max ${max}`, op);
    return fakeQuantized(inputs, min, max, bits, op);
  },
);
type WithRange = NamedFunction<
  [inputs: TensorLike, min: TensorLike, max: TensorLike],
  ['inputs', 'min', 'max'],
  Bits
>;
const withRange = (name: string): WithRange =>
  defineFunction(
    `quantization.${name}`,
    { inputs: kind.tensor, min: kind.tensor, max: kind.tensor },
    bitKinds,
    (inputs, min, max, bits) => fakeQuantized(inputs, min, max, bits, `quantization.${name}`),
  );
/** As `fakeQuantWithMinMaxArgs`, with scalars `min` and `max` that get gradients: those of what is beyond them. */
export const fakeQuantWithMinMaxVars: WithRange = /* @__PURE__ */ withRange('fakeQuantWithMinMaxVars');
/** As `fakeQuantWithMinMaxVars`, with a range for each channel, the last axis. */
export const fakeQuantWithMinMaxVarsPerChannel: WithRange = /* @__PURE__ */ withRange(
  'fakeQuantWithMinMaxVarsPerChannel',
);

// ---- gradients, as functions of their own

interface Range {
  readonly min: Tensor;
  readonly max: Tensor;
}

/** What comes to inputs, minima and maxima where `gradients` come to the rounded values; ranges stand along the last axis, or are scalars. */
function rangeGradients(
  gradients: TensorLike,
  inputs: TensorLike,
  given: Range,
  bits: Bits,
  op: string,
): [Tensor, Tensor, Tensor] {
  const x = toTensor(inputs);
  checkDType(x.dtype, 'floating', 'inputs', op);
  const dy = toTensor(gradients, x.dtype);
  if (dy.dtype !== x.dtype || dy.rank !== x.rank)
    throw new InvalidArgumentError('gradients and inputs must have one dtype and one shape', op);
  const [n, low] = bitsOf(bits, op);
  const range = nudged(given.min, given.max, low, 2 ** n - 1);
  // A range without a width rounds nothing.
  const none = given.min.equal(0).logicalAnd(given.max.equal(0));
  const below = x.less(range.min).logicalAnd(none.logicalNot());
  const above = x.greater(range.max).logicalAnd(none.logicalNot());
  const axes = Array.from({ length: x.rank - given.min.rank }, (_, i) => i);
  const of = (mask: Tensor): Tensor => where(mask, dy, 0).sum(axes);
  const inside = none.logicalOr(x.greaterEqual(range.min).logicalAnd(x.lessEqual(range.max)));
  return [where(inside, dy, 0), of(below), of(above)];
}
function bitsOf(bits: Bits, op: string): readonly [n: number, low: number] {
  const n = bits.numBits ?? 8;
  checkCount(n, 'numBits', op, 2);
  if (n > 16) throw new InvalidArgumentError(`numBits is ${n}, expected at most 16`, op);
  return [n, checkFlag(bits.narrowRange, 'narrowRange', op) ? 1 : 0];
}

/** The gradient of `fakeQuantWithMinMaxArgs`: those of inputs inside of the range. */
export const fakeQuantWithMinMaxArgsGradient: NamedFunction<
  [gradients: TensorLike, inputs: TensorLike],
  ['gradients', 'inputs'],
  {
    /** The lower end of the range; -6 by default. */
    readonly min?: number;
    /** The upper end of the range; 6 by default. */
    readonly max?: number;
  } & Bits
> = /* @__PURE__ */ defineFunction(
  'quantization.fakeQuantWithMinMaxArgsGradient',
  { gradients: kind.tensor, inputs: kind.tensor },
  rangeKinds,
  (gradients, inputs, { min = -6, max = 6, ...bits }) => {
    const op = 'quantization.fakeQuantWithMinMaxArgsGradient';
    checkNumber(min, 'min', op);
    checkNumber(max, 'max', op);
    if (!(min < max)) throw new InvalidArgumentError(`min ${min} must be below max ${max}`, op);
    const { dtype } = toTensor(inputs);
    const range = { min: toTensor(min, dtype), max: toTensor(max, dtype) };
    return rangeGradients(gradients, inputs, range, bits, op)[0];
  },
);
type RangeGradient = NamedFunction<
  [gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike],
  ['gradients', 'inputs', 'min', 'max'],
  Bits,
  [backpropsWrtInput: Tensor, backpropWrtMin: Tensor, backpropWrtMax: Tensor]
>;
const rangeGradient = (name: string, rank: 0 | 1): RangeGradient =>
  defineFunction(
    `quantization.${name}`,
    { gradients: kind.tensor, inputs: kind.tensor, min: kind.tensor, max: kind.tensor },
    bitKinds,
    (gradients, inputs, min, max, bits) => {
      const op = `quantization.${name}`;
      const { dtype } = toTensor(inputs);
      const range = { min: toTensor(min, dtype), max: toTensor(max, dtype) };
      if (range.min.rank !== rank || range.max.rank !== rank)
        throw new InvalidArgumentError(`min and max must have rank ${rank}`, op);
      return rangeGradients(gradients, inputs, range, bits, op);
    },
  );
/** The gradients of `fakeQuantWithMinMaxVars` for inputs, min and max. */
export const fakeQuantWithMinMaxVarsGradient: RangeGradient = /* @__PURE__ */ rangeGradient(
  'fakeQuantWithMinMaxVarsGradient',
  0,
);
/** The gradients of `fakeQuantWithMinMaxVarsPerChannel` for inputs, min and max. */
export const fakeQuantWithMinMaxVarsPerChannelGradient: RangeGradient = /* @__PURE__ */ rangeGradient(
  'fakeQuantWithMinMaxVarsPerChannelGradient',
  1,
);

// ---- there and back

/** Options of `quantizeAndDequantize`. */
export interface QuantizeOptions {
  /** Whether integers may be negative; true by default. */
  readonly signedInput?: boolean;
  /** How many bits they have: 1 to 63, 8 by default. */
  readonly numBits?: number;
  /** Whether inputMin and inputMax are the range, beyond which values end; else it is that of the input. False by default. */
  readonly rangeGiven?: boolean;
  /** Where halves go; to even numbers by default. */
  readonly roundMode?: 'HALF_TO_EVEN' | 'HALF_UP';
  /** Whether the lowest integer is left out, so that the range is symmetric; false by default. */
  readonly narrowRange?: boolean;
  /** The axis along which each slice has a range of its own; one range for all by default. */
  readonly axis?: IntegerLike | null;
}
type Quantize = NamedFunction<
  [input: TensorLike, inputMin: TensorLike, inputMax: TensorLike],
  ['input', 'inputMin', 'inputMax'],
  QuantizeOptions
>;
const quantizeKinds = {
  signedInput: kind.asIs,
  numBits: kind.asIs,
  rangeGiven: kind.asIs,
  roundMode: kind.asIs,
  narrowRange: kind.asIs,
  axis: kind.axis,
};

/** The rounded values, without a gradient, and the given range of the shape of the axis. */
function quantized(
  input: TensorLike,
  inputMin: TensorLike,
  inputMax: TensorLike,
  options: QuantizeOptions,
  op: string,
): { readonly x: Tensor; readonly y: Tensor; readonly given: Range } {
  const { numBits = 8, roundMode = 'HALF_TO_EVEN', axis = null } = options;
  const x = toTensor(input);
  checkDType(x.dtype, 'floating', 'input', op);
  checkCount(numBits, 'numBits', op, 1);
  checkOneOf(roundMode, ['HALF_TO_EVEN', 'HALF_UP'], 'roundMode', op);
  const signed = checkFlag(options.signedInput ?? true, 'signedInput', op);
  const narrow = checkFlag(options.narrowRange, 'narrowRange', op);
  const rangeGiven = checkFlag(options.rangeGiven, 'rangeGiven', op);
  if (numBits > (signed ? 62 : 63))
    throw new InvalidArgumentError(`numBits is ${numBits}, which is too many`, op);
  const at = axis === null || axis === -1 ? null : normalizeAxis(axis as number, x.rank, op);
  const shape = at === null ? [] : dims(x).map((d, i) => (i === at ? d : 1));
  const rank = at === null ? 0 : 1;
  const [low, high] = [inputMin, inputMax].map((v) => toTensor(v, x.dtype));
  if (rangeGiven && (low.rank !== rank || high.rank !== rank))
    throw new InvalidArgumentError(`inputMin and inputMax must have rank ${rank}`, op);
  if (rangeGiven)
    checkValues(
      op,
      [low.greater(high).any()],
      (above) => {
        if (above.item<boolean>()) throw new InvalidArgumentError('inputMin must not be above inputMax', op);
      },
      (above) => above.logicalNot(),
    );
  const placed = (t: Tensor): Tensor => (at === null || t.rank === 0 ? t : t.reshape(toShape(shape)));
  const given = { min: placed(low), max: placed(high) };
  const others = Array.from({ length: x.rank }, (_, i) => i).filter((i) => i !== at);
  const t = x.stopGradient();
  const own = {
    min: t.min(others, { keepdims: at !== null }),
    max: t.max(others, { keepdims: at !== null }),
  };
  const { min, max } = rangeGiven ? { min: given.min.stopGradient(), max: given.max.stopGradient() } : own;
  const least = signed ? -(2 ** (numBits - 1)) + (narrow ? 1 : 0) : 0;
  const most = signed ? 2 ** (numBits - 1) - 1 : 2 ** numBits - 1;
  // The side that scales less decides; 0 stays 0.
  const huge =
    x.dtype === 'float64' ? Number.MAX_VALUE : x.dtype === 'float16' ? 65504 : 3.4028234663852886e38;
  const side = (bound: number, value: Tensor): Tensor =>
    where(value.mul(bound).greater(0), toTensor(bound, x.dtype).div(where(value.equal(0), 1, value)), huge);
  const [fromMin, fromMax] = [side(least, min), side(most, max)];
  const lower = fromMin.less(fromMax);
  const scale = where(lower, fromMin, fromMax);
  const inverse = where(
    lower,
    least === 0 ? toTensor(0, x.dtype) : min.div(least),
    most === 0 ? toTensor(0, x.dtype) : max.div(most),
  );
  const inside = rangeGiven
    ? t.minimum(where(lower, inverse.mul(most), max)).maximum(where(lower, min, inverse.mul(least)))
    : t;
  const steps = inside.mul(scale);
  const whole = roundMode === 'HALF_UP' ? steps.add(0.5).floor() : steps.round();
  return { x, y: whole.mul(inverse), given };
}

/** Values rounded to what integers of some bits, times a scale, can be. Gradients pass. */
export const quantizeAndDequantize: Quantize = /* @__PURE__ */ defineFunction(
  'quantization.quantizeAndDequantize',
  { input: kind.tensor, inputMin: kind.tensor, inputMax: kind.tensor },
  quantizeKinds,
  (input, inputMin, inputMax, options) => {
    const { x, y } = quantized(input, inputMin, inputMax, options, 'quantization.quantizeAndDequantize');
    return y.add(x.sub(x.stopGradient()));
  },
);
/** `quantizeAndDequantize` whose gradients pass only where the input is between inputMin and inputMax. */
export const quantizeAndDequantizeV2: Quantize = /* @__PURE__ */ defineFunction(
  'quantization.quantizeAndDequantizeV2',
  { input: kind.tensor, inputMin: kind.tensor, inputMax: kind.tensor },
  quantizeKinds,
  (input, inputMin, inputMax, options) => {
    const { x, y, given } = quantized(
      input,
      inputMin,
      inputMax,
      options,
      'quantization.quantizeAndDequantizeV2',
    );
    const t = x.stopGradient();
    const inside = t.greaterEqual(given.min.stopGradient()).logicalAnd(t.lessEqual(given.max.stopGradient()));
    return y.add(where(inside, x.sub(t), 0));
  },
);
