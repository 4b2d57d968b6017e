// What layers take and give.
import type {
  DType,
  PartialShape,
  Tensor,
  Variable,
  VariableAggregation,
  VariableSynchronization,
} from '@eagre/core';
import type { ConstraintLike } from '../constraints.ts';
import type { InitializerLike } from '../initializers/initializers.ts';
import type { RegularizerLike } from '../regularizers.ts';
import type { Tensors } from './batch-tensors.ts';
import type { PolicyLike } from './dtype-policy.ts';

/** What all layers take. */
export interface LayerOptions {
  /** Unique in a model; `dense`, `dense_1`… unless given. */
  readonly name?: string | null;
  /** False freezes the weights. */
  readonly trainable?: boolean;
  /** Of weights and computation: float32 by default, or what `setDtypePolicy` says. `mixed_bfloat16` computes in 16 bits. */
  readonly dtype?: PolicyLike | null;
  /** Whether floats of another precision are converted to that of the computation; true by default. False leaves inputs as they are. */
  readonly autocast?: boolean;
  /** Without the batch dimension: lets a Sequential model build its weights at once. */
  readonly inputShape?: PartialShape;
  /** A penalty on each output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** What every call of a layer or model takes behind its inputs: `layer(x, { training: true })`. */
export interface CallOptions {
  /** Whether layers behave as in training (Dropout, BatchNormalization); inherited from the calling layer unless given. */
  readonly training?: boolean;
  readonly [option: string]: unknown;
}

/** Options of `layer.addWeight`. */
export interface WeightOptions {
  /** A dimension that is not known (`null`, `undefined`) is an error when the weight is made. */
  readonly shape?: readonly (number | null | undefined)[];
  /** Part of the weight's name in files: `kernel`. */
  readonly name?: string;
  /** Makes the first value; `glorotUniform` by default. */
  readonly initializer?: InitializerLike;
  /** A penalty on the weight, which training adds to the loss; none by default. */
  readonly regularizer?: RegularizerLike | null;
  /** A function that is applied to the weight after each update; none by default. */
  readonly constraint?: ConstraintLike | null;
  /** Whether training changes it; true by default. */
  readonly trainable?: boolean;
  /** Of the weight; that of the layer's policy by default. */
  readonly dtype?: DType;
  /** Whether a layer of a mixed policy reads it in the precision of its computation; true by default. */
  readonly autocast?: boolean;
  /** Under a distribution strategy, when the copies of the replicas become equal; as `tf.Variable` says. */
  readonly synchronization?: VariableSynchronization;
  /** Under a distribution strategy, how values of several replicas become one; as `tf.Variable` says. */
  readonly aggregation?: VariableAggregation;
}

export type LayerInput = Tensor | readonly Tensor[];
export type LayerOutput = Tensors | StepOutput;
/** What a cell of a recurrent network gives: its output and the new states. */
export type StepOutput = readonly [output: Tensor, states: readonly Tensor[]];

/** A weight with its name in a weights file, such as `dense/kernel`. */
export interface NamedWeight {
  readonly path: string;
  readonly variable: Variable;
  /** Neither the weight nor a layer around it is frozen. */
  readonly trainable: boolean;
}

/** What makes a layer of a configuration that `getConfig` gave, here or in Keras. */
export type FromConfig<L> = (config: Readonly<Record<string, unknown>>) => L;
