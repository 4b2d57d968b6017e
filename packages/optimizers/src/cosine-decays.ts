// Learning rates that fall as half a cosine does.
import { InvalidArgumentError } from '@eagre/core';
import { orNull, takesOptions } from '@eagre/core/internal';
import { add, cos, div, floor, less, log, min, mul, pow, type Scalar, select, sub } from './scalars.ts';
import { Decay, named, number, positive } from './schedule.ts';

/** Options of `CosineDecay`. */
export interface CosineDecayOptions {
  /** The learning rate at the first step. */
  readonly initialLearningRate: number;
  /** Steps of the decay, after the warm-up. */
  readonly decaySteps: number;
  /** The last learning rate as a fraction of the highest; 0 unless given. */
  readonly alpha?: number;
  /** Rises from the initial rate to this one in `warmupSteps` steps before it falls. */
  readonly warmupTarget?: number | null;
  /** Steps of the rise to `warmupTarget`; 0 by default. */
  readonly warmupSteps?: number;
  /** The schedule's name; that of its class by default. */
  readonly name?: string;
}

/**
 * Half a cosine from the initial learning rate (or `warmupTarget`) down to `alpha` times that: rate · ((1 − alpha) ·
 * (1 + cos(π · step / decaySteps)) / 2 + alpha); a straight line up to `warmupTarget` before.
 * Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016.
 */
export class CosineDecay extends Decay {
  /** The learning rate at the first step. */
  declare readonly initialLearningRate: number;
  /** Steps of the decay, after the warm-up. */
  declare readonly decaySteps: number;
  /** The last learning rate as a fraction of the highest. */
  declare readonly alpha: number;
  /** Rises from the initial rate to this one in `warmupSteps` steps before it falls. */
  declare readonly warmupTarget: number | null;
  /** Steps of the rise to `warmupTarget`. */
  declare readonly warmupSteps: number;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          decaySteps: number,
          options?: Omit<CosineDecayOptions, 'initialLearningRate' | 'decaySteps'>,
        ]
      | [options: CosineDecayOptions]
  ) {
    super(...(args as unknown as []));
  }
  override call(step: number): number;
  override call(step: Scalar): Scalar;
  override call(step: Scalar): Scalar {
    const { initialLearningRate, decaySteps, warmupTarget, warmupSteps, alpha } = this;
    const top = warmupTarget ?? initialLearningRate;
    const before = warmupTarget === null ? 0 : warmupSteps;
    const done = div(min(sub(step, before), decaySteps), decaySteps);
    const decayed = mul(top, add(mul((1 - alpha) * 0.5, add(1, cos(mul(Math.PI, done)))), alpha));
    if (!(before > 0)) return decayed;
    const rising = add(initialLearningRate, mul(top - initialLearningRate, div(step, before)));
    return select(less(step, before), rising, decayed);
  }
}

/** Options of `CosineDecayRestarts`. */
export interface CosineDecayRestartsOptions {
  /** The learning rate at the first step. */
  readonly initialLearningRate: number;
  /** Steps of the first period. */
  readonly firstDecaySteps: number;
  /** How much longer than the one before each period is, at least 1; 2 unless given. */
  readonly tMul?: number;
  /** The rate at the beginning of a period as a fraction of that of the one before; 1 unless given. */
  readonly mMul?: number;
  /** The rate at the end of a period as a fraction of the initial one; 0 unless given. */
  readonly alpha?: number;
  /** The schedule's name; `SGDRDecay` by default, as in Keras. */
  readonly name?: string;
}

/**
 * Periods of half a cosine, each `tMul` times as long as the one before: in the n-th, from 0 on, with a share p of it behind,
 * initialLearningRate · ((1 − alpha) · mMulⁿ · (1 + cos(π · p)) / 2 + alpha).
 * Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016.
 */
export class CosineDecayRestarts extends Decay {
  /** The learning rate at the first step. */
  declare readonly initialLearningRate: number;
  /** Steps of the first period. */
  declare readonly firstDecaySteps: number;
  /** How much longer than the one before each period is, at least 1. */
  declare readonly tMul: number;
  /** The rate at the beginning of a period as a fraction of that of the one before. */
  declare readonly mMul: number;
  /** The rate at the end of a period as a fraction of the initial one. */
  declare readonly alpha: number;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          firstDecaySteps: number,
          options?: Omit<CosineDecayRestartsOptions, 'initialLearningRate' | 'firstDecaySteps'>,
        ]
      | [options: CosineDecayRestartsOptions]
  ) {
    super(...(args as unknown as []));
    if (this.tMul < 1)
      throw new InvalidArgumentError(`tMul must be at least 1, got ${this.tMul}`, 'CosineDecayRestarts');
  }
  override call(step: number): number;
  override call(step: Scalar): Scalar;
  override call(step: Scalar): Scalar {
    const { initialLearningRate, firstDecaySteps: first, tMul, mMul, alpha } = this;
    const restarts = this.#restarts(step);
    const period = mul(first, pow(tMul, restarts));
    const done = sub(step, this.#start(restarts));
    const cosine = mul(mul(pow(mMul, restarts), 0.5), add(1, cos(div(mul(Math.PI, done), period))));
    return mul(initialLearningRate, add(mul(1 - alpha, cosine), alpha));
  }

  /** How many periods are behind a step. */
  #restarts(step: Scalar): Scalar {
    const { firstDecaySteps: first, tMul } = this;
    const periods = div(step, first);
    if (tMul === 1) return floor(periods);
    const guess = floor(div(log(add(1, mul(periods, tMul - 1))), Math.log(tMul)));
    // The logarithm is inexact where a period begins.
    const atLeast = select(less(step, this.#start(guess)), sub(guess, 1), guess);
    const next = add(atLeast, 1);
    return select(less(step, this.#start(next)), atLeast, next);
  }

  /** The step at which the period after so many begins. */
  #start(restarts: Scalar): Scalar {
    const { firstDecaySteps: first, tMul } = this;
    return tMul === 1 ? mul(first, restarts) : div(mul(first, sub(pow(tMul, restarts), 1)), tMul - 1);
  }
}

takesOptions<CosineDecayOptions, CosineDecay>(
  {
    positional: ['initialLearningRate', 'decaySteps'],
    options: {
      initialLearningRate: number(),
      decaySteps: positive,
      alpha: number(0),
      name: named(),
      warmupTarget: orNull(number()),
      warmupSteps: number(0),
    },
  },
  CosineDecay,
);
takesOptions<CosineDecayRestartsOptions, CosineDecayRestarts>(
  {
    positional: ['initialLearningRate', 'firstDecaySteps'],
    options: {
      initialLearningRate: number(),
      firstDecaySteps: positive,
      tMul: number(2),
      mMul: number(1),
      alpha: number(0),
      name: named('SGDRDecay'),
    },
  },
  CosineDecayRestarts,
);
