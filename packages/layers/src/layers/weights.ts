// What the options of layers say of weights: `kernelInitializer`, `kernelRegularizer`, `kernelConstraint` of `kernel`.
import type { OptionNames } from '@eagre/core/internal';
import type { ConstraintLike } from '../constraints.ts';
import type { InitializerLike } from '../initializers/initializers.ts';
import type { LayerOptions, WeightOptions } from '../layer/layer-types.ts';
import type { RegularizerLike } from '../regularizers.ts';

export interface KernelOptions {
  /** Makes the kernel at first; `glorotUniform` by default. */
  readonly kernelInitializer?: InitializerLike;
  /** A penalty on the kernel, which training adds to the loss; none by default. */
  readonly kernelRegularizer?: RegularizerLike | null;
  /** A function that is applied to the kernel after each update; none by default. */
  readonly kernelConstraint?: ConstraintLike | null;
}

export interface BiasOptions {
  /** Whether a bias is added to the result; true by default. */
  readonly useBias?: boolean;
  /** Makes the bias at first; `zeros` by default. */
  readonly biasInitializer?: InitializerLike;
  /** A penalty on the bias, which training adds to the loss; none by default. */
  readonly biasRegularizer?: RegularizerLike | null;
  /** A function that is applied to the bias after each update; none by default. */
  readonly biasConstraint?: ConstraintLike | null;
}

/** Of `addWeight`. */
export const weightOptions: OptionNames<WeightOptions> = {
  shape: true,
  name: true,
  initializer: true,
  regularizer: true,
  constraint: true,
  trainable: true,
  dtype: true,
  autocast: true,
  synchronization: true,
  aggregation: true,
};

/** Of layers that look after the penalty on their output themselves. */
export const penalizedOptions: OptionNames<Omit<LayerOptions, 'activityRegularizer'>> = {
  name: true,
  trainable: true,
  dtype: true,
  autocast: true,
  inputShape: true,
};
export const layerOptions: OptionNames<LayerOptions> = { ...penalizedOptions, activityRegularizer: true };
