/** Keras's activations: functions of a tensor, each also known by its name, `activation: 'relu'`. */
import {
  type CustomName,
  InvalidArgumentError,
  type NameOf,
  nn,
  range,
  sort,
  Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  addDims,
  carryLogits,
  checkFunction,
  checkNumber,
  customObject,
  defineFunction,
  differs,
  dims,
  isPlain,
  kind,
  modDims,
  type NamedFunction,
  normalizeAxis,
  type OptionNames,
  sizeValue,
  snakeCase,
  toShape,
  toTensor,
  unknownName,
} from '@eagre/core/internal';
import { show } from './layer/show.ts';
import { functionConfig, functionOf, type SerializedFunction } from './saving/keras-object.ts';
import { deserializeLayer, withCustomObjects } from './saving/serialization.ts';

/** A function of a tensor. */
export type Activation = (x: Tensor) => Tensor;

/** An activation of Keras's, which takes whatever a tensor is made of. */
export type ActivationFunction<O = unknown> = NamedFunction<[x: TensorLike], ['x'], O>;

/** Options of `relu`. */
export interface ReluOptions {
  /** Slope below the threshold; 0 unless given. */
  readonly negativeSlope?: number;
  /** Larger results become this one; no limit unless given. */
  readonly maxValue?: number | null;
  /** Where the function begins to rise; 0 unless given. */
  readonly threshold?: number;
}

/** An activation under its name, with its options where there are any. */
function define<O extends object>(
  name: string,
  options: OptionNames<O>,
  compute: (x: Tensor, options: O) => Tensor,
): ActivationFunction<O> {
  const run = (x: TensorLike, given: O): Tensor => compute(x instanceof Tensor ? x : toTensor(x), given);
  return defineFunction<NamedFunction<[x: TensorLike], ['x'], object>>(
    name,
    { x: true },
    options as object,
    run as never,
  ) as ActivationFunction<O>;
}

const simple = (name: string, compute: (x: Tensor) => Tensor): ActivationFunction =>
  define<object>(name, {}, compute) as ActivationFunction;

/** x itself. */
export const linear: ActivationFunction = simple('linear', (x) => x);

/** max(x, 0), with an upper limit, a slope below, and another threshold where they are given. */
export const relu: ActivationFunction<ReluOptions> = define<ReluOptions>(
  'relu',
  { negativeSlope: true, maxValue: true, threshold: true },
  (x, options) => {
    const { negativeSlope, maxValue, threshold } = options;
    const slope = negativeSlope ?? 0;
    const from = threshold ?? 0;
    checkNumber(slope, 'negativeSlope', 'relu');
    checkNumber(from, 'threshold', 'relu');
    if (maxValue !== undefined && maxValue !== null) checkNumber(maxValue, 'maxValue', 'relu');
    const limited = maxValue !== undefined && maxValue !== null;
    if (from === 0 && !limited) return slope === 0 ? nn.relu(x) : nn.leakyRelu(x, { alpha: slope });
    let y = from === 0 ? nn.relu(x) : x.greater(from).where(x, 0);
    if (limited) y = y.minimum(maxValue);
    return slope === 0 ? y : y.sub(nn.relu(x.neg().add(from)).mul(slope));
  },
);

/** min(max(x, 0), 6). */
export const relu6: ActivationFunction = simple('relu6', (x) => nn.relu6(x));

/** x where it is positive, negativeSlope · x elsewhere; 0.2 unless given. */
export const leakyRelu: ActivationFunction<{
  /** The slope below 0; 0.2 by default. */
  readonly negativeSlope?: number;
}> = define<{
  readonly negativeSlope?: number;
}>('leakyRelu', { negativeSlope: true }, (x, { negativeSlope }) =>
  nn.leakyRelu(x, { alpha: negativeSlope ?? 0.2 }),
);

/** x where it is positive, alpha · (exp(x) − 1) elsewhere. Clevert et al., 2016. */
export const elu: ActivationFunction<{
  /** Minus the limit at −∞; 1 by default. */
  readonly alpha?: number;
}> = define<{ readonly alpha?: number }>('elu', { alpha: true }, (x, { alpha }) =>
  nn.elu(x, { alpha: alpha ?? 1 }),
);

/** max(x, 0) + min(0, alpha · (exp(x / alpha) − 1)). Barron, 2017. */
export const celu: ActivationFunction<{
  /** Minus the limit at −∞; 1 by default. */
  readonly alpha?: number;
}> = define<{ readonly alpha?: number }>('celu', { alpha: true }, (x, { alpha = 1 }) => {
  checkNumber(alpha, 'alpha', 'celu');
  return x.maximum(0).add(x.minimum(0).div(alpha).expm1().mul(alpha));
});

/** The scaled exponential linear unit, which keeps mean and variance. Klambauer et al., 2017. */
export const selu: ActivationFunction = simple('selu', (x) => nn.selu(x));

/** x · Φ(x), Φ being the normal distribution's; `approximate` computes it by tanh. Hendrycks and Gimpel, 2016. */
export const gelu: ActivationFunction<{
  /** By tanh, as older models do it; false by default. */
  readonly approximate?: boolean;
}> = define<{
  readonly approximate?: boolean;
}>('gelu', { approximate: true }, (x, { approximate }) => nn.gelu(x, { approximate: approximate ?? false }));

/** x · sigmoid(x). */
export const silu: ActivationFunction = simple('silu', (x) => nn.silu(x));
/** The same as `silu`. */
export const swish: ActivationFunction = silu;

/** The first half of an axis, times the sigmoid of the second half. Dauphin et al., 2017. */
export const glu: ActivationFunction<{
  /** The axis that is cut in two halves; the last by default. */
  readonly axis?: number;
}> = define<{ readonly axis?: number }>('glu', { axis: true }, (x, { axis = -1 }) => {
  const at = normalizeAxis(axis, x.rank);
  const size = dims(x)[at];
  if (differs(modDims(size, 2), 0))
    throw new InvalidArgumentError(`needs an even size on axis ${axis}, got ${size}`, 'glu');
  const [values, gates] = x.split(2, at) as [Tensor, Tensor];
  return values.mul(nn.sigmoid(gates));
});

/** 1 / (1 + exp(−x)). The result carries x along: cross-entropies of it compute from x. */
export const sigmoid: ActivationFunction = simple('sigmoid', (x) => carryLogits(nn.sigmoid(x), x));
/** A straight line from 0 at −3 to 1 at 3. */
export const hardSigmoid: ActivationFunction = simple('hardSigmoid', (x) => nn.hardSigmoid(x));
/** log(sigmoid(x)). */
export const logSigmoid: ActivationFunction = simple('logSigmoid', (x) => nn.logSigmoid(x));
/** A straight line from 0 at −1 to 1 at 1. */
export const sparseSigmoid: ActivationFunction = simple('sparseSigmoid', (x) =>
  x.lessEqual(-1).where(0, x.greaterEqual(1).where(1, x.add(1).mul(0.5))),
);
/** x · hardSigmoid(x). */
export const hardSilu: ActivationFunction = simple('hardSilu', (x) => nn.hardSilu(x));
/** The same as `hardSilu`. */
export const hardSwish: ActivationFunction = hardSilu;

/** The hyperbolic tangent. */
export const tanh: ActivationFunction = simple('tanh', (x) => x.tanh());
/** x, at least −1 and at most 1. */
export const hardTanh: ActivationFunction = simple('hardTanh', (x) => x.clipByValue(-1, 1));
/** x − tanh(x). */
export const tanhShrink: ActivationFunction = simple('tanhShrink', (x) => x.sub(x.tanh()));

/** x where |x| is above the threshold, 0.5 unless given; 0 elsewhere. */
export const hardShrink: ActivationFunction<{
  /** Numbers that are no further from 0 become 0; 0.5 by default. */
  readonly threshold?: number;
}> = define<{
  readonly threshold?: number;
}>('hardShrink', { threshold: true }, (x, { threshold: limit = 0.5 }) => {
  checkNumber(limit, 'threshold', 'hardShrink');
  return x.abs().greater(limit).where(x, 0);
});
/** x less the threshold, 0.5 unless given, toward 0; 0 where |x| is at most that. */
export const softShrink: ActivationFunction<{
  /** By how much numbers move towards 0; 0.5 by default. */
  readonly threshold?: number;
}> = define<{
  readonly threshold?: number;
}>('softShrink', { threshold: true }, (x, { threshold: limit = 0.5 }) => {
  checkNumber(limit, 'threshold', 'softShrink');
  return x.greater(limit).where(x.sub(limit), x.less(-limit).where(x.add(limit), 0));
});
/** x where it is above a threshold, another value elsewhere: `threshold(x, { threshold: 1, defaultValue: 0 })`. */
export const threshold: NamedFunction<
  [x: TensorLike, threshold: number, defaultValue: number],
  ['x', 'threshold', 'defaultValue']
> = defineFunction(
  'threshold',
  { x: true, threshold: true, defaultValue: true },
  {},
  (x: TensorLike, limit: number, defaultValue: number) => {
    const values = toTensor(x);
    return values.greater(limit).where(values, defaultValue);
  },
);

/** log(1 + exp(x)). */
export const softplus: ActivationFunction = simple('softplus', (x) => nn.softplus(x));
/** 0 up to −1, x from 1 on, a parabola between. */
export const sparsePlus: ActivationFunction = simple('sparsePlus', (x) =>
  x.lessEqual(-1).where(0, x.less(1).where(x.add(1).square().mul(0.25), x)),
);
/** (x + √(x² + b)) / 2; b is 4 unless given. Barron, 2021. */
export const squareplus: ActivationFunction<{
  /** How round the bend at 0 is; 4 by default. */
  readonly b?: number;
}> = define<{ readonly b?: number }>('squareplus', { b: true }, (x, { b = 4 }) => {
  checkNumber(b, 'b', 'squareplus', 0);
  return x.add(x.square().add(b).sqrt()).mul(0.5);
});
/** x / (1 + |x|). */
export const softsign: ActivationFunction = simple('softsign', (x) => nn.softsign(x));
/** x · tanh(softplus(x)). Misra, 2019. */
export const mish: ActivationFunction = simple('mish', (x) => nn.mish(x));
/** exp(x). */
export const exponential: ActivationFunction = simple('exponential', (x) => x.exp());

interface AxisOption {
  /** The last unless given. */
  readonly axis?: number;
}
/** exp(x) / Σ exp(x) over an axis. The result carries x along: cross-entropies of it compute from x. */
export const softmax: ActivationFunction<AxisOption> = define<AxisOption>(
  'softmax',
  { axis: true },
  (x, { axis = -1 }) => carryLogits(nn.softmax(x, axis), x),
);
/** log(softmax(x)). */
export const logSoftmax: ActivationFunction<AxisOption> = define<AxisOption>(
  'logSoftmax',
  { axis: true },
  (x, { axis = -1 }) => nn.logSoftmax(x, axis),
);
/**
 * The nearest point of the probability simplex, which has zeros in it. Martins and Astudillo, 2016. (Keras 3.15 gives smaller values where
 * more than one is above 0, which do not add up to 1.)
 */
export const sparsemax: ActivationFunction<AxisOption> = define<AxisOption>(
  'sparsemax',
  { axis: true },
  (x, { axis = -1 }) => {
    const at = normalizeAxis(axis, x.rank);
    const sorted = sort(x, at, { direction: 'DESCENDING' });
    const sums = sorted.cumsum(at);
    const n = dims(x)[at];
    const shape = toShape(dims(x).map((_, i) => (i === at ? n : 1)));
    const counts = range(1, sizeValue(addDims(n, 1), 'int32'), 1, { dtype: 'int32' })
      .cast(x.dtype)
      .reshape(shape);
    // As many of the largest as are above 0 in the result.
    const among = sorted.mul(counts).greater(sums.sub(1));
    const total = among.where(sorted, 0).sum(at, { keepdims: true });
    const limit = total.sub(1).div(among.cast(x.dtype).sum(at, { keepdims: true }));
    return nn.relu(x.sub(limit));
  },
);

const named = {
  linear,
  relu,
  relu6,
  leakyRelu,
  elu,
  celu,
  selu,
  gelu,
  silu,
  swish,
  glu,
  sigmoid,
  hardSigmoid,
  logSigmoid,
  sparseSigmoid,
  hardSilu,
  hardSwish,
  tanh,
  hardTanh,
  tanhShrink,
  hardShrink,
  softShrink,
  threshold,
  softplus,
  sparsePlus,
  squareplus,
  softsign,
  mish,
  exponential,
  softmax,
  logSoftmax,
  sparsemax,
};

/** Names of activations; Keras's snake_case is understood too. */
export type ActivationName =
  | NameOf<
      | 'linear'
      | 'relu'
      | 'relu6'
      | 'leakyRelu'
      | 'elu'
      | 'celu'
      | 'selu'
      | 'gelu'
      | 'silu'
      | 'swish'
      | 'glu'
      | 'sigmoid'
      | 'hardSigmoid'
      | 'logSigmoid'
      | 'sparseSigmoid'
      | 'hardSilu'
      | 'hardSwish'
      | 'tanh'
      | 'hardTanh'
      | 'tanhShrink'
      | 'hardShrink'
      | 'softShrink'
      | 'softplus'
      | 'sparsePlus'
      | 'squareplus'
      | 'softsign'
      | 'mish'
      | 'exponential'
      | 'softmax'
      | 'logSoftmax'
      | 'sparsemax'
    >
  | CustomName<'activation'>;

/** A name, or a function of a tensor, which a layer is too; `null` is `linear`. */
export type ActivationLike = ActivationName | Activation | null;

/** What configurations say of an activation: its name in Keras, or what a function of the user's is registered as. */
export const serialize: NamedFunction<
  [activation: Activation],
  ['activation'],
  unknown,
  string | SerializedFunction
> = defineFunction('activations.serialize', { activation: kind.asIs }, {}, (activation) => {
  if (typeof activation !== 'function')
    throw new InvalidArgumentError(
      `expected an activation, got ${show(activation)}`,
      'activations.serialize',
    );
  return isKnown(activation)
    ? snakeCase(activation.name)
    : (functionConfig(activation) as SerializedFunction);
});
/** Whether a function is the one of Keras's that its name says. */
function isKnown(fn: Activation): boolean {
  try {
    return get(fn.name) === fn;
  } catch {
    return false;
  }
}
/** The activation that `serialize`, or Keras, wrote. `customObjects` are functions of your own by name. */
export const deserialize: NamedFunction<
  [config: string | SerializedFunction, customObjects?: Readonly<Record<string, unknown>> | null],
  ['config', 'customObjects'],
  unknown,
  Activation
> = defineFunction(
  'activations.deserialize',
  { config: kind.structure, customObjects: kind.structure },
  {},
  (config, customObjects: Readonly<Record<string, unknown>> | null = null) =>
    withCustomObjects(customObjects, () => get({ identifier: config as string })),
);

/** The activation of a name, or the function itself; `linear` for null. @throws InvalidArgumentError for an unknown name. */
export const get: NamedFunction<
  [identifier?: ActivationLike | (string & {}) | null | undefined],
  ['identifier'],
  unknown,
  Activation
> = defineFunction('activations.get', { identifier: kind.structure }, {}, (identifier = null) => {
  if (identifier === null) return linear;
  if (typeof identifier === 'function') {
    checkFunction(identifier, 'the activation');
    return identifier;
  }
  const bare = functionOf(identifier);
  if (bare !== undefined) return bare as Activation;
  // A layer may be an activation; this is what getConfig made of it.
  if (isPlain(identifier)) return deserializeLayer(identifier) as unknown as Activation;
  if (typeof identifier !== 'string')
    throw new InvalidArgumentError(
      `expected the name of an activation, or a function, got ${show(identifier)}`,
    );
  const own = customObject(identifier);
  if (typeof own === 'function') return own as Activation;
  const found = Object.entries(named).find(([name]) => name === identifier || snakeCase(name) === identifier);
  if (found === undefined) {
    throw new InvalidArgumentError(unknownName(identifier, Object.keys(named), 'activation'));
  }
  return found[1] as Activation;
});
