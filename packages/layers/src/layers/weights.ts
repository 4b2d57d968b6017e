// What the options of layers say of weights: `kernelInitializer`, `kernelRegularizer`, `kernelConstraint` of `kernel`.
import type { OptionNames } from '@eagre/core/internal';
import type { ConstraintLike } from '../constraints.ts';
import type { InitializerLike } from '../initializers/initializers.ts';
import type { LayerOptions, WeightOptions } from '../layer/layer-types.ts';
import type { RegularizerLike } from '../regularizers.ts';

export interface KernelOptions {
  /** `glorotUniform` by default. */
  readonly kernelInitializer?: InitializerLike;
  readonly kernelRegularizer?: RegularizerLike | null;
  readonly kernelConstraint?: ConstraintLike | null;
}

export interface BiasOptions {
  /** True by default. */
  readonly useBias?: boolean;
  /** `zeros` by default. */
  readonly biasInitializer?: InitializerLike;
  readonly biasRegularizer?: RegularizerLike | null;
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
