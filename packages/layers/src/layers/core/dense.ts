import type { PartialShape, Tensor, Variable } from '@eagre/core';
import { argumentsOf, differs, fusedMatMul, showShape, takesOptions } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import { type FromConfig, Layer, type LayerOptions, ownsTemporaries, passesMask } from '../../layer/layer.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import {
  applyActivation,
  checkOne,
  fail,
  floats,
  knownSize,
  linear,
  penalize,
  relu,
  sizesOf,
} from '../common.ts';
import { activation, activityRegularizer, flag, integer, recipe, weights } from '../options.ts';
import { type BiasOptions, type KernelOptions, layerOptions } from '../weights.ts';

export interface DenseOptions extends LayerOptions, KernelOptions, BiasOptions {
  /** Applied to the result; none by default. */
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
  declare static readonly fromConfig: FromConfig<Dense>;
  declare readonly units: number;
  declare readonly activation: Activation;
  declare readonly useBias: boolean;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** [n, units] */
  kernel!: Variable;
  /** [units], or null without a bias. */
  bias: Variable | null = null;

  constructor(...args: [units: number | DenseArguments, options?: DenseOptions]) {
    super(argumentsOf<DenseArguments>(Dense, new.target, args));
  }

  override build(inputShape: PartialShape): void {
    this.#check(inputShape);
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [knownSize(this, inputShape, -1), this.units],
      ...recipe(this, 'kernel'),
    });
    if (!this.useBias) return;
    this.bias = this.addWeight({
      name: 'bias',
      shape: [this.units],
      ...recipe(this, 'bias'),
    });
  }

  override call(inputs: Tensor): Tensor {
    const x = floats(this, inputs);
    this.#check(x.shape);
    const fused = this.activation === relu;
    let y = fusedMatMul(x, this.kernel, this.bias, { activation: fused ? 1 : 0 });
    if (!fused && this.activation !== linear) y = applyActivation(this.activation, y);
    return penalize(this, y);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    return [...inputShape.slice(0, -1), this.units];
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
ownsTemporaries(Dense);
passesMask(Dense);
takesOptions<DenseArguments, Dense>(
  {
    positional: ['units'],
    options: {
      units: integer(),
      activation: activation('linear'),
      useBias: flag(true),
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      activityRegularizer,
      ...layerOptions,
    },
    fixed: { quantization_config: null },
  },
  Dense,
);
