// Learning rates that fall with the step.
import { InvalidArgumentError } from '@eagre/core';
import { argumentsOf, checkFlag, takesArguments } from '@eagre/core/internal';
import { checkNumber, checkPositive, LearningRateSchedule } from './schedule.ts';

export interface ExponentialDecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  /** Falls at whole multiples of `decaySteps` only. */
  readonly staircase?: boolean;
  readonly name?: string;
}

/** What ExponentialDecay and InverseTimeDecay share: the quotient of step and `decaySteps`. */
abstract class QuotientDecay extends LearningRateSchedule {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  readonly staircase: boolean;
  override readonly name: string;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          decaySteps: number,
          decayRate: number,
          options?: Pick<ExponentialDecayOptions, 'staircase' | 'name'>,
        ]
      | [options: ExponentialDecayOptions]
  ) {
    super();
    const options = argumentsOf<ExponentialDecayOptions>(new.target, new.target, args);
    const schedule = new.target.name;
    this.initialLearningRate = checkNumber(options.initialLearningRate, 'initialLearningRate', schedule);
    this.decaySteps = checkPositive(options.decaySteps, 'decaySteps', schedule);
    this.decayRate = checkNumber(options.decayRate, 'decayRate', schedule);
    this.staircase = checkFlag(options.staircase, 'staircase', schedule);
    this.name = options.name ?? schedule;
  }
  protected quotient(step: number): number {
    const p = step / this.decaySteps;
    return this.staircase ? Math.floor(p) : p;
  }
  override getConfig(): Record<string, unknown> {
    return {
      initial_learning_rate: this.initialLearningRate,
      decay_steps: this.decaySteps,
      decay_rate: this.decayRate,
      staircase: this.staircase,
      name: this.name,
    };
  }
}

/** initialLearningRate · decayRate^(step / decaySteps), the exponent rounded down with `staircase`. */
export class ExponentialDecay extends QuotientDecay {
  override call(step: number): number {
    return this.initialLearningRate * this.decayRate ** this.quotient(step);
  }
}

/** initialLearningRate / (1 + decayRate · step / decaySteps), the quotient rounded down with `staircase`. */
export class InverseTimeDecay extends QuotientDecay {
  override call(step: number): number {
    return this.initialLearningRate / (1 + this.decayRate * this.quotient(step));
  }
}

export interface PiecewiseConstantDecayOptions {
  /** Strictly increasing steps. */
  readonly boundaries: readonly number[];
  /** One more than boundaries. */
  readonly values: readonly number[];
  readonly name?: string;
}

/** values[0] up to and including step boundaries[0], values[1] up to and including boundaries[1], …, at last the last one. */
export class PiecewiseConstantDecay extends LearningRateSchedule {
  readonly boundaries: readonly number[];
  readonly values: readonly number[];
  override readonly name: string;

  constructor(
    ...args:
      | [
          boundaries: readonly number[],
          values: readonly number[],
          options?: Pick<PiecewiseConstantDecayOptions, 'name'>,
        ]
      | [options: PiecewiseConstantDecayOptions]
  ) {
    super();
    const options = argumentsOf<PiecewiseConstantDecayOptions>(PiecewiseConstantDecay, new.target, args);
    const { boundaries, values } = options;
    if (!Array.isArray(boundaries) || !Array.isArray(values))
      throw new InvalidArgumentError(
        'boundaries and values must be lists of numbers',
        'PiecewiseConstantDecay',
      );
    for (const value of [...boundaries, ...values])
      checkNumber(value, 'each of them', 'PiecewiseConstantDecay');
    if (values.length !== boundaries.length + 1) {
      throw new InvalidArgumentError(
        `${boundaries.length} boundaries need ${boundaries.length + 1} values, got ${values.length}`,
        'PiecewiseConstantDecay',
      );
    }
    if (boundaries.some((b, i) => i > 0 && !(b > (boundaries[i - 1] as number)))) {
      throw new InvalidArgumentError(
        `boundaries must increase, got [${boundaries}]`,
        'PiecewiseConstantDecay',
      );
    }
    this.boundaries = [...boundaries];
    this.values = [...values];
    this.name = options.name ?? 'PiecewiseConstant';
  }
  override call(step: number): number {
    const i = this.boundaries.findIndex((b) => step <= b);
    return this.values[i < 0 ? this.boundaries.length : i] as number;
  }
  override getConfig(): Record<string, unknown> {
    return { boundaries: [...this.boundaries], values: [...this.values], name: this.name };
  }
}

export interface PolynomialDecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  /** 0.0001 unless given. */
  readonly endLearningRate?: number;
  /** 1, a straight line, unless given. */
  readonly power?: number;
  /** Starts anew, each time stretched to the next multiple of `decaySteps`, instead of staying at the end. */
  readonly cycle?: boolean;
  readonly name?: string;
}

/** (initial − end) · (1 − step / decaySteps)^power + end, for steps up to `decaySteps`; then the end. */
export class PolynomialDecay extends LearningRateSchedule {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly endLearningRate: number;
  readonly power: number;
  readonly cycle: boolean;
  override readonly name: string;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          decaySteps: number,
          options?: Omit<PolynomialDecayOptions, 'initialLearningRate' | 'decaySteps'>,
        ]
      | [options: PolynomialDecayOptions]
  ) {
    super();
    const options = argumentsOf<PolynomialDecayOptions>(PolynomialDecay, new.target, args);
    this.initialLearningRate = checkNumber(
      options.initialLearningRate,
      'initialLearningRate',
      'PolynomialDecay',
    );
    this.decaySteps = checkPositive(options.decaySteps, 'decaySteps', 'PolynomialDecay');
    this.endLearningRate = checkNumber(
      options.endLearningRate ?? 0.0001,
      'endLearningRate',
      'PolynomialDecay',
    );
    this.power = checkNumber(options.power ?? 1, 'power', 'PolynomialDecay');
    this.cycle = checkFlag(options.cycle, 'cycle', 'PolynomialDecay');
    this.name = options.name ?? 'PolynomialDecay';
  }
  override call(step: number): number {
    let { decaySteps } = this;
    if (this.cycle) decaySteps *= step === 0 ? 1 : Math.ceil(step / decaySteps);
    const p = Math.min(step, decaySteps) / decaySteps;
    return (this.initialLearningRate - this.endLearningRate) * (1 - p) ** this.power + this.endLearningRate;
  }
  override getConfig(): Record<string, unknown> {
    return {
      initial_learning_rate: this.initialLearningRate,
      decay_steps: this.decaySteps,
      end_learning_rate: this.endLearningRate,
      power: this.power,
      cycle: this.cycle,
      name: this.name,
    };
  }
}

takesArguments<ExponentialDecayOptions>(
  {
    positional: ['initialLearningRate', 'decaySteps', 'decayRate'],
    names: { initialLearningRate: true, decaySteps: true, decayRate: true, staircase: true, name: true },
  },
  ExponentialDecay,
  InverseTimeDecay,
);
takesArguments<PiecewiseConstantDecayOptions>(
  { positional: ['boundaries', 'values'], names: { boundaries: true, values: true, name: true } },
  PiecewiseConstantDecay,
);
takesArguments<PolynomialDecayOptions>(
  {
    positional: ['initialLearningRate', 'decaySteps'],
    names: {
      initialLearningRate: true,
      decaySteps: true,
      endLearningRate: true,
      power: true,
      cycle: true,
      name: true,
    },
  },
  PolynomialDecay,
);
