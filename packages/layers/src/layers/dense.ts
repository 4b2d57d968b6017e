import type { PartialShape, Tensor, Variable } from '@eagre/core';
import { argumentsOf, differs, fusedMatMul, showShape, takesArguments } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../activations.ts';
import { functionConfig } from '../keras-object.ts';
import { builtin, Layer, type LayerOptions, passesMask } from '../layer.ts';
import type { RegularizerFunction, RegularizerLike } from '../regularizers.ts';
import {
  activationConfig,
  applyActivation,
  type Config,
  checkInteger,
  checkOne,
  fail,
  floats,
  knownSize,
  linear,
  penalize,
  relu,
  resolveActivation,
  resolveActivityRegularizer,
  sizesOf,
} from './common.ts';
import {
  type BiasOptions,
  type KernelOptions,
  layerOptions,
  recipe,
  recipeOptions,
  weightNames,
} from './weights.ts';

export interface DenseOptions extends LayerOptions, KernelOptions, BiasOptions {
  /** Applied to the result; none unless said. */
  readonly activation?: ActivationLike;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** All arguments of `Dense`, by name. */
export interface DenseArguments extends DenseOptions {
  /** Size of the result's last axis. */
  readonly units: number;
}

/** `activation(x · kernel + bias)` over the last axis: [..., n] becomes [..., units]. */
export class Dense extends Layer {
  readonly units: number;
  readonly activation: Activation;
  readonly useBias: boolean;
  /** [n, units] */
  kernel!: Variable;
  /** [units], or null without a bias. */
  bias: Variable | null = null;
  readonly #recipes;
  readonly #activityRegularizer: RegularizerLike | null;
  readonly #penalty: RegularizerFunction | undefined;

  constructor(units: number | DenseArguments, options?: DenseOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<DenseArguments>(Dense, new.target, args);
    super(options);
    this.units = checkInteger(this, 'units', options.units);
    this.activation = resolveActivation(options.activation);
    this.useBias = options.useBias ?? true;
    this.#recipes = {
      kernel: recipe('kernel', options, 'glorotUniform'),
      bias: recipe('bias', options, 'zeros'),
    };
    this.#activityRegularizer = options.activityRegularizer ?? null;
    this.#penalty = resolveActivityRegularizer(options.activityRegularizer);
  }

  override build(inputShape: PartialShape): void {
    this.#check(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [knownSize(this, inputShape, -1), this.units],
      ...this.#recipes.kernel,
    });
    if (!this.useBias) return;
    this.bias = this.addWeight({
      name: 'bias',
      shape: [this.units],
      ...this.#recipes.bias,
    });
  }

  override call(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    this.#check(x.shape);
    const fused = this.activation === relu;
    let y = fusedMatMul(x, this.kernel, this.bias, { activation: fused ? 1 : 0 });
    if (!fused && this.activation !== linear) y = applyActivation(this.activation, y);
    return penalize(this, this.#penalty, y);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    return [...inputShape.slice(0, -1), this.units];
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      units: this.units,
      activation: activationConfig(this.activation),
      useBias: this.useBias,
      activityRegularizer: functionConfig(this.#activityRegularizer),
      ...recipeOptions(this.#recipes),
    };
  }
  static override fromConfig({ units, ...options }: Config): Dense {
    return new Dense(units as number, options);
  }

  #check(shape: PartialShape): void {
    if (checkOne(this, shape).length < 2) {
      fail(this, `expects input of rank 2 or more [batch, ..., n], got ${showShape(shape)}`);
    }
    const last = sizesOf(shape).at(-1) ?? null;
    const n = this.kernel?.shape[0];
    if (n !== undefined && last !== null && differs(last, n)) {
      fail(this, `was built for a last axis of ${n}, got ${last} (input ${showShape(shape)})`);
    }
  }
}
builtin(Dense);
passesMask(Dense);
takesArguments<DenseArguments>(
  {
    positional: ['units'],
    names: {
      units: true,
      activation: true,
      useBias: true,
      ...weightNames('kernel', 'bias'),
      activityRegularizer: true,
      ...layerOptions,
    },
  },
  Dense,
);
