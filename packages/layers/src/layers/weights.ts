// What the options of layers say of weights: `kernelInitializer`, `kernelRegularizer`, `kernelConstraint` of `kernel`.
import type { OptionNames } from '@eagre/core/internal';
import { type ConstraintLike, get as getConstraint } from '../constraints.ts';
import { get as getInitializer, type InitializerLike } from '../initializers.ts';
import { functionConfig } from '../keras-object.ts';
import type { LayerOptions, WeightOptions } from '../layer-types.ts';
import { get as getRegularizer, type RegularizerLike } from '../regularizers.ts';

export interface KernelOptions {
  /** `glorotUniform` unless said. */
  readonly kernelInitializer?: InitializerLike;
  readonly kernelRegularizer?: RegularizerLike | null;
  readonly kernelConstraint?: ConstraintLike | null;
}

export interface BiasOptions {
  /** True unless said. */
  readonly useBias?: boolean;
  /** `zeros` unless said. */
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
};

export const layerOptions: OptionNames<LayerOptions> = {
  name: true,
  trainable: true,
  dtype: true,
  inputShape: true,
};

type WeightNames<W extends string> = Readonly<
  Record<`${W}Initializer` | `${W}Regularizer` | `${W}Constraint`, true>
>;

/** The options of weights in Keras's order: their initializers, then their regularizers, then their constraints. */
export function weightNames<W extends string>(...weights: readonly W[]): WeightNames<W> {
  const names = ['Initializer', 'Regularizer', 'Constraint'].flatMap((part) =>
    weights.map((weight) => `${weight}${part}`),
  );
  return Object.fromEntries(names.map((name) => [name, true])) as WeightNames<W>;
}

/** How a weight is made: what `addWeight` takes beside name and shape. */
export interface Recipe {
  readonly initializer: InitializerLike;
  readonly regularizer: RegularizerLike | null;
  readonly constraint: ConstraintLike | null;
}

type Some<K extends string, V> = { readonly [P in K]?: V };
const pick = <K extends string, V>(options: Some<K, V>, name: K): V | undefined => options[name];

/**
 * What options say of the weight `name`; `initializer` unless they do.
 * @throws InvalidArgumentError for names that no initializer, regularizer or constraint has.
 */
export function recipe<N extends string>(
  name: N,
  options: Some<`${N}Initializer`, InitializerLike> &
    Some<`${N}Regularizer`, RegularizerLike | null> &
    Some<`${N}Constraint`, ConstraintLike | null>,
  initializer: InitializerLike,
): Recipe {
  const given: Recipe = {
    initializer: pick<`${N}Initializer`, InitializerLike>(options, `${name}Initializer`) ?? initializer,
    regularizer: pick<`${N}Regularizer`, RegularizerLike | null>(options, `${name}Regularizer`) ?? null,
    constraint: pick<`${N}Constraint`, ConstraintLike | null>(options, `${name}Constraint`) ?? null,
  };
  getInitializer(given.initializer);
  if (given.regularizer !== null) getRegularizer(given.regularizer);
  if (given.constraint !== null) getConstraint(given.constraint);
  return given;
}

/** Recipes as the options that they came from, for `getConfig`. */
export function recipeOptions(recipes: Readonly<Record<string, Recipe>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(recipes).flatMap(([name, { initializer, regularizer, constraint }]) => [
      [`${name}Initializer`, functionConfig(initializer)],
      [`${name}Regularizer`, functionConfig(regularizer)],
      [`${name}Constraint`, functionConfig(constraint)],
    ]),
  );
}
