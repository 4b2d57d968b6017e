import { constant, isFinite, type Tensor, type TrackableView, type Variable, where } from '@eagre/core';
import {
  argumentsOf,
  checkConfig,
  inInitScope,
  type Option,
  serializedObject,
  takesOptions,
  toTensor,
  within,
  withoutUnused,
} from '@eagre/core/internal';
import { optionsOf } from './config.ts';
import type { GradientAndVariable } from './gradients.ts';
import { Optimizer, variableOf } from './optimizer.ts';
import { checkOptimizer } from './optimizer-map.ts';
import { reading } from './reading.ts';
import { onDevice } from './scalars.ts';
import { checkPositive } from './schedule.ts';

/** Options of `LossScaleOptimizer`. */
export interface LossScaleOptimizerOptions {
  /** By what losses are multiplied at first; 2^15 by default. */
  readonly initialScale?: number;
  /** After how many steps in a row without an overflow the scale is doubled; 2,000 by default. */
  readonly dynamicGrowthSteps?: number;
  /** Part of the names of its variables; the class's name unless given. */
  readonly name?: string | null;
}
/** All arguments of `LossScaleOptimizer`, by name. */
export interface LossScaleOptimizerArguments extends LossScaleOptimizerOptions {
  /** What updates the variables, by the gradients of the loss itself. */
  readonly innerOptimizer: Optimizer;
}

/**
 * Scales losses, so that small gradients do not vanish in float16, and gives another optimizer the gradients of the loss itself. Where a
 * gradient is not finite, nothing is updated and the scale is halved (Micikevicius and others, "Mixed precision training", 2018). `fit` of
 * a model with the policy `mixed_float16` uses it by itself.
 *
 * Whether gradients are finite is not read: the device chooses between the values. So it alone knows how many updates were made, and what the optimizer
 * inside makes of that number is computed there, in float32, as in Keras. A learning rate that is a plain function needs the number on the host, which
 * then waits for the device in each step.
 */
export class LossScaleOptimizer extends Optimizer {
  /** @internal */
  declare readonly innerOptimizer: Optimizer;
  /** By what losses are multiplied at first. */
  declare readonly initialScale: number;
  /** After how many steps in a row without an overflow the scale is doubled. */
  declare readonly dynamicGrowthSteps: number;
  /** The scale at hand, and the steps since it changed; null before `build`. */
  dynamicScale: Variable | null = null;
  /** How many steps in a row had no overflow; null before the optimizer is built. */
  stepCounter: Variable | null = null;

  constructor(
    ...args: [innerOptimizer: Optimizer | LossScaleOptimizerArguments, options?: LossScaleOptimizerOptions]
  ) {
    super(0, argumentsOf<LossScaleOptimizerArguments>(LossScaleOptimizer, new.target, args) as never);
  }

  override get variables(): Variable[] {
    return [...super.variables, ...this.innerOptimizer.variables];
  }
  override get variablesHere(): readonly Variable[] {
    return [...super.variablesHere, ...this.innerOptimizer.variablesHere];
  }
  override get changedVariables(): readonly Variable[] {
    const own = [this.dynamicScale, this.stepCounter].filter((v) => v !== null);
    return [...own, ...this.innerOptimizer.changedVariables];
  }
  /** Those of the optimizer inside: steps whose gradients are not finite do not count. */
  override get iterations(): Variable {
    return this.innerOptimizer.iterations;
  }
  /** That of the optimizer inside. */
  override get learningRate(): number {
    return this.innerOptimizer.learningRate;
  }
  override set learningRate(value: number) {
    this.innerOptimizer.learningRate = value;
  }

  protected override scaled(loss: Tensor): Tensor {
    const scale = inInitScope(() => this.#state()).scale;
    return loss.mul(scale.read().cast(loss.dtype));
  }

  #state(): { readonly scale: Variable; readonly steps: Variable } {
    this.stepCounter ??= this.addVariable([], { dtype: 'int64', name: 'step_counter' });
    this.dynamicScale ??= this.addVariable([], { name: 'dynamic_scale', initial: this.initialScale });
    return { scale: this.dynamicScale, steps: this.stepCounter };
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    this.#state();
    this.innerOptimizer.build(variables);
  }

  protected override applyPairs(pairs: readonly GradientAndVariable[]): void {
    const variables = pairs.map(([, variable]) => variableOf(variable, `${this.name}.applyGradients`));
    const { scale, steps } = inInitScope(() => {
      this.build(variables);
      return this.#state();
    });
    // Gradients of rows as those of whole tensors.
    const given = pairs.map(([gradient]) =>
      gradient === null || gradient === undefined ? null : toTensor(gradient as Tensor),
    );
    const finite = given
      .flatMap((g) => (g === null ? [] : [isFinite(g).all()]))
      .reduce((a, b) => a.logicalAnd(b), constant(true));
    const unscaled = given.map((g, i): GradientAndVariable => {
      const own = g === null ? null : where(finite, g, 0).div(scale.read().cast(g.dtype));
      return [own, variables[i]];
    });
    // The update is computed in any case, and taken back where a gradient was not finite.
    const written = [...new Set([...variables, ...this.innerOptimizer.changedVariables])];
    const before = written.map((variable) => variable.read());
    const dtype = variables.some((variable) => variable.dtype === 'float64') ? 'float64' : 'float32';
    within(onDevice, { dtype }, () => this.innerOptimizer.applyGradients(unscaled));
    written.forEach((variable, i) => {
      variable.assign(where(finite, variable, before[i]));
    });
    const grows = finite.logicalAnd(steps.equal(this.dynamicGrowthSteps - 1));
    scale.assign(where(finite, where(grows, scale.mul(2), scale), scale.mul(0.5)));
    steps.assign(where(finite.logicalAnd(grows.logicalNot()), steps.add(1), 0));
  }

  override trackableView(): TrackableView {
    const { children = [], listed = [], ...view } = super.trackableView();
    const inner = ['inner_optimizer', this.innerOptimizer] as const;
    return { ...view, children: [...children, inner], listed: [...listed, inner] };
  }
  override get averages(): ReadonlyMap<Variable, Variable> | null {
    return this.innerOptimizer.averages;
  }
  protected override finalizeAll(variables: readonly Variable[]): void {
    this.innerOptimizer.finalizeVariableValues(variables);
  }

  /** Keras's config, without the state. */
  override getConfig(): Record<string, unknown> {
    const { name, initialScale, dynamicGrowthSteps } = this;
    const inner = serializedObject(this.innerOptimizer, 'keras.optimizers');
    return {
      name,
      inner_optimizer: inner,
      initial_scale: initialScale,
      dynamic_growth_steps: dynamicGrowthSteps,
    };
  }

  /** The optimizer of a config, from `getConfig` or Keras. `customObjects` are classes and functions of your own by name. */
  static override fromConfig<T extends Optimizer>(
    this: new (
      options: never,
    ) => T,
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): T {
    checkConfig(config, LossScaleOptimizer);
    const { inner_optimizer: written, ...others } = config;
    const read = reading.optimizer as NonNullable<typeof reading.optimizer>;
    const innerOptimizer = read(written, customObjects ?? {});
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this({ ...withoutUnused(this, optionsOf(others)), innerOptimizer } as never);
  }
}

// What others do to gradients and variables is done by the optimizer inside.
const nothing = {
  clipnorm: null,
  clipvalue: null,
  globalClipnorm: null,
  weightDecay: null,
  useEma: false,
  gradientAccumulationSteps: null,
  lossScaleFactor: null,
};
Object.assign(LossScaleOptimizer.prototype, nothing);

const positive = (otherwise: number): Option<number> => ({
  read: (given, name, of) => {
    const value = given ?? otherwise;
    return checkPositive(value as number, name, (of as LossScaleOptimizer).name);
  },
});
takesOptions<LossScaleOptimizerArguments, LossScaleOptimizer>(
  {
    positional: ['innerOptimizer'],
    options: {
      innerOptimizer: {
        read: (given) => {
          checkOptimizer(given, 'innerOptimizer');
          return given;
        },
        hidden: true,
      },
      initialScale: positive(2 ** 15),
      dynamicGrowthSteps: positive(2000),
      name: true,
    },
  },
  LossScaleOptimizer,
);
