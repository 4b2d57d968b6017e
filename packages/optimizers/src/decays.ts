// Learning rates that fall with the step.
import { InvalidArgumentError } from '@eagre/core';
import { flagOption, type Option, takesOptions } from '@eagre/core/internal';
import {
  add,
  ceil,
  div,
  equal,
  floor,
  lessEqual,
  min,
  mul,
  pow,
  type Scalar,
  select,
  sub,
} from './scalars.ts';
import { checkNumber, Decay, named, number, positive } from './schedule.ts';

/** All arguments of `ExponentialDecay` and `InverseTimeDecay`, by name. */
export interface ExponentialDecayOptions {
  /** The learning rate at the first step. */
  readonly initialLearningRate: number;
  /** In how many steps the rate falls by one unit of `decayRate`. */
  readonly decaySteps: number;
  /** How far the rate falls in `decaySteps` steps. */
  readonly decayRate: number;
  /** Falls at whole multiples of `decaySteps` only. */
  readonly staircase?: boolean;
  /** The schedule's name; that of its class by default. */
  readonly name?: string;
}

/** What ExponentialDecay and InverseTimeDecay share: the quotient of step and `decaySteps`. */
abstract class QuotientDecay extends Decay {
  /** The learning rate at the first step. */
  declare readonly initialLearningRate: number;
  /** In how many steps the rate falls by one unit of `decayRate`. */
  declare readonly decaySteps: number;
  /** How far the rate falls in `decaySteps` steps. */
  declare readonly decayRate: number;
  /** Falls at whole multiples of `decaySteps` only. */
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
  protected quotient(step: Scalar): Scalar {
    const p = div(step, this.decaySteps);
    return this.staircase ? floor(p) : p;
  }
}

/** initialLearningRate · decayRate^(step / decaySteps), the exponent rounded down with `staircase`. */
export class ExponentialDecay extends QuotientDecay {
  override call(step: number): number;
  override call(step: Scalar): Scalar;
  override call(step: Scalar): Scalar {
    return mul(this.initialLearningRate, pow(this.decayRate, this.quotient(step)));
  }
}

/** initialLearningRate / (1 + decayRate · step / decaySteps), the quotient rounded down with `staircase`. */
export class InverseTimeDecay extends QuotientDecay {
  override call(step: number): number;
  override call(step: Scalar): Scalar;
  override call(step: Scalar): Scalar {
    return div(this.initialLearningRate, add(1, mul(this.decayRate, this.quotient(step))));
  }
}

/** Options of `PiecewiseConstantDecay`. */
export interface PiecewiseConstantDecayOptions {
  /** Strictly increasing steps. */
  readonly boundaries: readonly number[];
  /** One more than boundaries. */
  readonly values: readonly number[];
  /** The schedule's name; that of its class by default. */
  readonly name?: string;
}

/** values[0] up to and including step boundaries[0], values[1] up to and including boundaries[1], …, at last the last one. */
export class PiecewiseConstantDecay extends Decay {
  /** Strictly increasing steps. */
  declare readonly boundaries: readonly number[];
  /** One more than boundaries. */
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
    if (boundaries.some((b, i) => i > 0 && !(b > boundaries[i - 1]))) {
      throw new InvalidArgumentError(
        `boundaries must increase, got [${boundaries}]`,
        'PiecewiseConstantDecay',
      );
    }
  }
  override call(step: number): number;
  override call(step: Scalar): Scalar;
  override call(step: Scalar): Scalar {
    const { boundaries, values } = this;
    return boundaries.reduceRight<Scalar>(
      (later, boundary, i) => select(lessEqual(step, boundary), values[i], later),
      values[boundaries.length],
    );
  }
}

/** Options of `PolynomialDecay`. */
export interface PolynomialDecayOptions {
  /** The learning rate at the first step. */
  readonly initialLearningRate: number;
  /** In how many steps the rate falls to `endLearningRate`. */
  readonly decaySteps: number;
  /** 0.0001 unless given. */
  readonly endLearningRate?: number;
  /** 1, a straight line, unless given. */
  readonly power?: number;
  /** Starts anew, each time stretched to the next multiple of `decaySteps`, instead of staying at the end. */
  readonly cycle?: boolean;
  /** The schedule's name; that of its class by default. */
  readonly name?: string;
}

/** (initial − end) · (1 − step / decaySteps)^power + end, for steps up to `decaySteps`; then the end. */
export class PolynomialDecay extends Decay {
  /** The learning rate at the first step. */
  declare readonly initialLearningRate: number;
  /** In how many steps the rate falls to `endLearningRate`. */
  declare readonly decaySteps: number;
  /** The learning rate at the end. */
  declare readonly endLearningRate: number;
  /** The exponent of what is left of the steps; 1 is a straight line. */
  declare readonly power: number;
  /** Starts anew, each time stretched to the next multiple of `decaySteps`, instead of staying at the end. */
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
  override call(step: number): number;
  override call(step: Scalar): Scalar;
  override call(step: Scalar): Scalar {
    const { initialLearningRate: from, endLearningRate: to, power } = this;
    const cycles = this.cycle ? select(equal(step, 0), 1, ceil(div(step, this.decaySteps))) : 1;
    const decaySteps = mul(this.decaySteps, cycles);
    const p = div(min(step, decaySteps), decaySteps);
    return add(mul(from - to, pow(sub(1, p), power)), to);
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
