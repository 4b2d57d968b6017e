// `tf.quantization`: floats rounded to what integers of few bits can hold, with gradients that pass through.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkNumber } from '../../arguments/checks.ts';
import { checkFlag } from '../../shapes/shape.ts';
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

/** Values rounded to the steps of a range, which broadcasts. */
function rounded(x: Tensor, min: Tensor, max: Tensor, low: number, high: number): Tensor {
  const range = nudged(min.stopGradient(), max.stopGradient(), low, high);
  const t = x.stopGradient();
  const safe = where(range.scale.equal(0), 1, range.scale);
  const steps = t.maximum(range.min).minimum(range.max).sub(range.min).div(safe).add(0.5).floor();
  const all = steps.mul(range.scale).add(range.min);
  const none = min.equal(0).logicalAnd(max.equal(0));
  const y = where(none, all.mul(0), all);
  // Gradients are those of this: what is inside of the range passes, what is beyond goes to its ends.
  const ends = where(t.less(range.min), min, where(t.greater(range.max), max, x));
  const passed = where(none, x, ends);
  return passed.add(y.sub(passed.stopGradient()));
}

function fakeQuantized(x: TensorLike, min: TensorLike, max: TensorLike, bits: Bits, op: string): Tensor {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'inputs', op);
  const n = bits.numBits ?? 8;
  checkCount(n, 'numBits', op, 2);
  if (n > 16) throw new InvalidArgumentError(`numBits is ${n}, expected at most 16`, op);
  const low = checkFlag(bits.narrowRange, 'narrowRange', op) ? 1 : 0;
  return rounded(t, toTensor(min, t.dtype), toTensor(max, t.dtype), low, 2 ** n - 1);
}

/** Values rounded to 2 ^ numBits steps from `min` to `max`, −6 and 6 by default; gradients pass inside of the range. */
export const fakeQuantWithMinMaxArgs: NamedFunction<
  [inputs: TensorLike],
  ['inputs'],
  { readonly min?: number; readonly max?: number } & Bits
> = /* @__PURE__ */ defineFunction(
  'quantization.fakeQuantWithMinMaxArgs',
  { inputs: kind.tensor },
  { min: kind.asIs, max: kind.asIs, ...bitKinds },
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
