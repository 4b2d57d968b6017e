// Learning rates that fall as half a cosine does.
import { InvalidArgumentError } from '@eagre/core';
import { argumentsOf, takesArguments } from '@eagre/core/internal';
import { checkNumber, checkPositive, LearningRateSchedule } from './schedule.ts';

export interface CosineDecayOptions {
  readonly initialLearningRate: number;
  /** Steps of the decay, after the warm-up. */
  readonly decaySteps: number;
  /** The last learning rate as a fraction of the highest; 0 unless given. */
  readonly alpha?: number;
  /** Rises from the initial rate to this one in `warmupSteps` steps before it falls. */
  readonly warmupTarget?: number | null;
  readonly warmupSteps?: number;
  readonly name?: string;
}

/**
 * Half a cosine from the initial learning rate (or `warmupTarget`) down to `alpha` times that: rate · ((1 − alpha) ·
 * (1 + cos(π · step / decaySteps)) / 2 + alpha); a straight line up to `warmupTarget` before.
 * Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016.
 */
export class CosineDecay extends LearningRateSchedule {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly alpha: number;
  readonly warmupTarget: number | null;
  readonly warmupSteps: number;
  override readonly name: string;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          decaySteps: number,
          options?: Omit<CosineDecayOptions, 'initialLearningRate' | 'decaySteps'>,
        ]
      | [options: CosineDecayOptions]
  ) {
    super();
    const options = argumentsOf<CosineDecayOptions>(CosineDecay, new.target, args);
    this.initialLearningRate = checkNumber(options.initialLearningRate, 'initialLearningRate', 'CosineDecay');
    this.decaySteps = checkPositive(options.decaySteps, 'decaySteps', 'CosineDecay');
    this.alpha = options.alpha ?? 0;
    this.warmupTarget = options.warmupTarget ?? null;
    this.warmupSteps = options.warmupSteps ?? 0;
    this.name = options.name ?? 'CosineDecay';
  }
  override call(step: number): number {
    const { initialLearningRate, decaySteps, warmupTarget, warmupSteps, alpha } = this;
    const top = warmupTarget ?? initialLearningRate;
    const before = warmupTarget === null ? 0 : warmupSteps;
    if (step < before) return initialLearningRate + (top - initialLearningRate) * (step / before);
    const done = Math.min(step - before, decaySteps) / decaySteps;
    return top * ((1 - alpha) * 0.5 * (1 + Math.cos(Math.PI * done)) + alpha);
  }
  override getConfig(): Record<string, unknown> {
    return {
      initial_learning_rate: this.initialLearningRate,
      decay_steps: this.decaySteps,
      alpha: this.alpha,
      name: this.name,
      warmup_target: this.warmupTarget,
      warmup_steps: this.warmupSteps,
    };
  }
}

export interface CosineDecayRestartsOptions {
  readonly initialLearningRate: number;
  /** Steps of the first period. */
  readonly firstDecaySteps: number;
  /** How much longer than the one before each period is, at least 1; 2 unless given. */
  readonly tMul?: number;
  /** The rate at the beginning of a period as a fraction of that of the one before; 1 unless given. */
  readonly mMul?: number;
  /** The rate at the end of a period as a fraction of the initial one; 0 unless given. */
  readonly alpha?: number;
  readonly name?: string;
}

/**
 * Periods of half a cosine, each `tMul` times as long as the one before: in the n-th, from 0 on, with a share p of it behind,
 * initialLearningRate · ((1 − alpha) · mMulⁿ · (1 + cos(π · p)) / 2 + alpha).
 * Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2016.
 */
export class CosineDecayRestarts extends LearningRateSchedule {
  readonly initialLearningRate: number;
  readonly firstDecaySteps: number;
  readonly tMul: number;
  readonly mMul: number;
  readonly alpha: number;
  override readonly name: string;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          firstDecaySteps: number,
          options?: Omit<CosineDecayRestartsOptions, 'initialLearningRate' | 'firstDecaySteps'>,
        ]
      | [options: CosineDecayRestartsOptions]
  ) {
    super();
    const options = argumentsOf<CosineDecayRestartsOptions>(CosineDecayRestarts, new.target, args);
    const name = 'CosineDecayRestarts';
    this.initialLearningRate = checkNumber(options.initialLearningRate, 'initialLearningRate', name);
    this.firstDecaySteps = checkPositive(options.firstDecaySteps, 'firstDecaySteps', name);
    this.tMul = checkNumber(options.tMul ?? 2, 'tMul', name);
    this.mMul = checkNumber(options.mMul ?? 1, 'mMul', name);
    this.alpha = checkNumber(options.alpha ?? 0, 'alpha', name);
    this.name = options.name ?? 'SGDRDecay';
    if (this.tMul < 1) throw new InvalidArgumentError(`tMul must be at least 1, got ${this.tMul}`, name);
  }
  override call(step: number): number {
    let period = this.firstDecaySteps;
    // As many as are behind when all are equally long.
    let restarts = this.tMul === 1 ? Math.floor(step / period) : 0;
    let done = step - restarts * period;
    for (; done >= period; restarts++) {
      done -= period;
      period *= this.tMul;
    }
    const cosine = this.mMul ** restarts * 0.5 * (1 + Math.cos((Math.PI * done) / period));
    return this.initialLearningRate * ((1 - this.alpha) * cosine + this.alpha);
  }
  override getConfig(): Record<string, unknown> {
    return {
      initial_learning_rate: this.initialLearningRate,
      first_decay_steps: this.firstDecaySteps,
      t_mul: this.tMul,
      m_mul: this.mMul,
      alpha: this.alpha,
      name: this.name,
    };
  }
}

takesArguments<CosineDecayOptions>(
  {
    positional: ['initialLearningRate', 'decaySteps'],
    names: {
      initialLearningRate: true,
      decaySteps: true,
      alpha: true,
      name: true,
      warmupTarget: true,
      warmupSteps: true,
    },
  },
  CosineDecay,
);
takesArguments<CosineDecayRestartsOptions>(
  {
    positional: ['initialLearningRate', 'firstDecaySteps'],
    names: {
      initialLearningRate: true,
      firstDecaySteps: true,
      tMul: true,
      mMul: true,
      alpha: true,
      name: true,
    },
  },
  CosineDecayRestarts,
);
