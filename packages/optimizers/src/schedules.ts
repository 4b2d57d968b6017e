import { InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { Callable, checkOptionsOf, takesOptions } from '@eagre/core/internal';

/** A step number, or something that holds one, such as `optimizer.iterations`. */
export type Step = number | bigint | Tensor | Variable;

/** A learning rate that depends on the step. Call it, `schedule(step)`; to make your own, extend it and write `call`. */
export abstract class LearningRateSchedule extends Callable {
  /** @param options those of a class of ours, which are checked. */
  constructor(options?: object) {
    super();
    checkOptionsOf(new.target, options);
  }
  /** The learning rate at a step; the first step is 0. */
  abstract call(step: number): number;
  /** What makes it again, with Keras's names: `new Class(...)` by `schedules.deserialize`. */
  abstract getConfig(): Record<string, unknown>;

  protected override invoke(step: Step): number {
    return this.call(Number(typeof step === 'object' ? step.item() : step));
  }
}
export interface LearningRateSchedule {
  (step: Step): number;
}

function checkPositive(value: number, argument: string, schedule: string): void {
  if (!(value > 0)) throw new InvalidArgumentError(`${argument} must be above 0, got ${value}`, schedule);
}

export interface ExponentialDecayOptions {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  /** Falls at whole multiples of `decaySteps` only. */
  readonly staircase?: boolean;
  readonly name?: string;
}

/** initialLearningRate · decayRate^(step / decaySteps), the exponent rounded down with `staircase`. */
export class ExponentialDecay extends LearningRateSchedule {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  readonly staircase: boolean;
  override readonly name: string;

  constructor(options: ExponentialDecayOptions) {
    super(options);
    checkPositive(options.decaySteps, 'decaySteps', 'ExponentialDecay');
    this.initialLearningRate = options.initialLearningRate;
    this.decaySteps = options.decaySteps;
    this.decayRate = options.decayRate;
    this.staircase = options.staircase ?? false;
    this.name = options.name ?? 'ExponentialDecay';
  }
  override call(step: number): number {
    const p = step / this.decaySteps;
    return this.initialLearningRate * this.decayRate ** (this.staircase ? Math.floor(p) : p);
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

/** initialLearningRate / (1 + decayRate · step / decaySteps), the quotient rounded down with `staircase`. */
export class InverseTimeDecay extends LearningRateSchedule {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  readonly staircase: boolean;
  override readonly name: string;

  constructor(options: ExponentialDecayOptions) {
    super(options);
    checkPositive(options.decaySteps, 'decaySteps', 'InverseTimeDecay');
    this.initialLearningRate = options.initialLearningRate;
    this.decaySteps = options.decaySteps;
    this.decayRate = options.decayRate;
    this.staircase = options.staircase ?? false;
    this.name = options.name ?? 'InverseTimeDecay';
  }
  override call(step: number): number {
    const p = step / this.decaySteps;
    return this.initialLearningRate / (1 + this.decayRate * (this.staircase ? Math.floor(p) : p));
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

  constructor(options: PiecewiseConstantDecayOptions) {
    super(options);
    const { boundaries, values } = options;
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

  constructor(options: PolynomialDecayOptions) {
    super(options);
    checkPositive(options.decaySteps, 'decaySteps', 'PolynomialDecay');
    this.initialLearningRate = options.initialLearningRate;
    this.decaySteps = options.decaySteps;
    this.endLearningRate = options.endLearningRate ?? 0.0001;
    this.power = options.power ?? 1;
    this.cycle = options.cycle ?? false;
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

  constructor(options: CosineDecayOptions) {
    super(options);
    checkPositive(options.decaySteps, 'decaySteps', 'CosineDecay');
    this.initialLearningRate = options.initialLearningRate;
    this.decaySteps = options.decaySteps;
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

const decayOptions = { initialLearningRate: true, decaySteps: true, name: true } as const;
takesOptions<ExponentialDecayOptions>(
  { ...decayOptions, decayRate: true, staircase: true },
  ExponentialDecay,
  InverseTimeDecay,
);
takesOptions<PiecewiseConstantDecayOptions>(
  { boundaries: true, values: true, name: true },
  PiecewiseConstantDecay,
);
takesOptions<PolynomialDecayOptions>(
  { ...decayOptions, endLearningRate: true, power: true, cycle: true },
  PolynomialDecay,
);
takesOptions<CosineDecayOptions>(
  { ...decayOptions, alpha: true, warmupTarget: true, warmupSteps: true },
  CosineDecay,
);

type Loose = new (options: never) => LearningRateSchedule;
const classes: Readonly<Record<string, Loose>> = {
  ExponentialDecay,
  InverseTimeDecay,
  PiecewiseConstantDecay,
  PolynomialDecay,
  CosineDecay,
};

/** A schedule as Keras writes it in a file. */
export interface SerializedSchedule {
  readonly module: string | null;
  readonly class_name: string;
  readonly config: Record<string, unknown>;
  readonly registered_name: string | null;
}

/** A schedule as plain JSON, in Keras's form. */
export function serialize(schedule: LearningRateSchedule): SerializedSchedule {
  return {
    module: 'keras.optimizers.schedules',
    class_name: schedule.constructor.name,
    config: schedule.getConfig(),
    registered_name: null,
  };
}

/**
 * The schedule that `serialize`, or Keras, wrote.
 * @param customObjects classes of your own by name; they get the config with camelCase names.
 */
export function deserialize(
  serialized: Pick<SerializedSchedule, 'class_name' | 'config'>,
  customObjects: Readonly<Record<string, unknown>> = {},
): LearningRateSchedule {
  const { class_name: name, config } = serialized;
  const known = { ...classes, ...(customObjects as Record<string, Loose>) }[name];
  if (known === undefined) {
    throw new InvalidArgumentError(
      `no learning rate schedule '${name}' is known; known: ${Object.keys(classes).join(', ')}`,
    );
  }
  return new known(camelCaseKeys(config) as never);
}

/** @internal `{ decay_rate: 1 }` → `{ decayRate: 1 }`; `beta_1` → `beta1`. */
export function camelCaseKeys(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, v]) => [
      key.replace(/_+([a-z\d])/g, (_, c: string) => c.toUpperCase()),
      v,
    ]),
  );
}
