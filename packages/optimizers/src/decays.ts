// Learning rates that fall with the step.
import { InvalidArgumentError } from '@eagre/core';
import { flagOption, type Option, takesOptions } from '@eagre/core/internal';
import { checkNumber, Decay, named, number, positive } from './schedule.ts';

export interface ExponentialDecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  /** Falls at whole multiples of `decaySteps` only. */
  readonly staircase?: boolean;
  readonly name?: string;
}

/** What ExponentialDecay and InverseTimeDecay share: the quotient of step and `decaySteps`. */
abstract class QuotientDecay extends Decay {
  declare readonly initialLearningRate: number;
  declare readonly decaySteps: number;
  declare readonly decayRate: number;
  declare readonly staircase: boolean;

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
    super(...(args as unknown as []));
  }
  protected quotient(step: number): number {
    const p = step / this.decaySteps;
    return this.staircase ? Math.floor(p) : p;
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
export class PiecewiseConstantDecay extends Decay {
  declare readonly boundaries: readonly number[];
  declare readonly values: readonly number[];

  constructor(
    ...args:
      | [
          boundaries: readonly number[],
          values: readonly number[],
          options?: Pick<PiecewiseConstantDecayOptions, 'name'>,
        ]
      | [options: PiecewiseConstantDecayOptions]
  ) {
    super(...(args as unknown as []));
    const { boundaries, values } = this;
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
  }
  override call(step: number): number {
    const i = this.boundaries.findIndex((b) => step <= b);
    return this.values[i < 0 ? this.boundaries.length : i] as number;
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
export class PolynomialDecay extends Decay {
  declare readonly initialLearningRate: number;
  declare readonly decaySteps: number;
  declare readonly endLearningRate: number;
  declare readonly power: number;
  declare readonly cycle: boolean;

  constructor(
    ...args:
      | [
          initialLearningRate: number,
          decaySteps: number,
          options?: Omit<PolynomialDecayOptions, 'initialLearningRate' | 'decaySteps'>,
        ]
      | [options: PolynomialDecayOptions]
  ) {
    super(...(args as unknown as []));
  }
  override call(step: number): number {
    let { decaySteps } = this;
    if (this.cycle) decaySteps *= step === 0 ? 1 : Math.ceil(step / decaySteps);
    const p = Math.min(step, decaySteps) / decaySteps;
    return (this.initialLearningRate - this.endLearningRate) * (1 - p) ** this.power + this.endLearningRate;
  }
}

const first = { initialLearningRate: number(), decaySteps: positive } as const;
takesOptions<ExponentialDecayOptions, QuotientDecay>(
  {
    positional: ['initialLearningRate', 'decaySteps', 'decayRate'],
    options: { ...first, decayRate: number(), staircase: flagOption(false), name: named() },
  },
  ExponentialDecay,
  InverseTimeDecay,
);
const numbers: Option<readonly number[]> = {
  read: (given) => {
    if (!Array.isArray(given))
      throw new InvalidArgumentError(
        'boundaries and values must be lists of numbers',
        'PiecewiseConstantDecay',
      );
    return given.map((value: number) => checkNumber(value, 'each of them', 'PiecewiseConstantDecay'));
  },
};
takesOptions<PiecewiseConstantDecayOptions, PiecewiseConstantDecay>(
  {
    positional: ['boundaries', 'values'],
    options: { boundaries: numbers, values: numbers, name: named('PiecewiseConstant') },
  },
  PiecewiseConstantDecay,
);
takesOptions<PolynomialDecayOptions, PolynomialDecay>(
  {
    positional: ['initialLearningRate', 'decaySteps'],
    options: {
      ...first,
      endLearningRate: number(0.0001),
      power: number(1),
      cycle: flagOption(false),
      name: named(),
    },
  },
  PolynomialDecay,
);
