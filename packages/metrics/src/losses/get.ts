import { type ClassNameOf, type CustomName, InvalidArgumentError } from '@eagre/core';
import {
  classOf,
  customClass,
  customObject,
  type Deserialize,
  defineDeserialize,
  defineFunction,
  defineSerialize,
  kind,
  type NamedFunction,
  nearestHint,
  shown,
  snakeCase,
} from '@eagre/core/internal';
import * as classes from './classes.ts';
import { Loss } from './loss.ts';

/** A loss as Keras writes it in a file. */
export interface SerializedLoss {
  readonly class_name: string;
  readonly config: Record<string, unknown>;
}
type ShortName = 'mse' | 'mae' | 'mape' | 'msle' | 'bce' | 'kld';
/** Names of losses; those of the classes and Keras's (`mean_squared_error`, `MSE`) are understood too. */
export type LossName =
  | ClassNameOf<Uncapitalize<Exclude<keyof typeof classes, 'LossFunctionWrapper' | 'KLDivergence' | 'CTC'>>>
  | 'CTC'
  | 'ctc'
  | 'KLDivergence'
  | 'kl_divergence'
  | 'logcosh'
  | ShortName
  | Uppercase<ShortName>
  | CustomName<'loss'>;

/**
 * What stands for a loss: a name such as `'mse'`, a function of (yTrue, yPred), a serialised one, or a loss itself, which is such a
 * function. (Not written apart, so that the arguments of a function written in place get their types.)
 */
export type LossLike = LossName | classes.UserLoss | SerializedLoss;

const { LossFunctionWrapper, ...builtIn } = classes;
type LossClass = (new (options?: never) => Loss) & { fromConfig(config: object): Loss };

const short: Readonly<Record<string, LossClass>> = {
  mse: classes.MeanSquaredError,
  mae: classes.MeanAbsoluteError,
  mape: classes.MeanAbsolutePercentageError,
  msle: classes.MeanSquaredLogarithmicError,
  bce: classes.BinaryCrossentropy,
  kld: classes.KLDivergence,
  // snake_case of the class is another one.
  kl_divergence: classes.KLDivergence,
  logcosh: classes.LogCosh,
};

function find(name: string): LossClass | undefined {
  const own = customClass<LossClass>(name, Loss);
  if (own !== undefined) return own;
  const known = Object.entries(builtIn).find(
    ([key]) => key === name || snakeCase(key) === name || lowerFirst(key) === name,
  );
  const lower = name.toLowerCase();
  return known?.[1] ?? (Object.hasOwn(short, lower) ? short[lower] : undefined);
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function lossOf(identifier: unknown): Loss {
  const own = typeof identifier === 'string' ? customObject(identifier) : undefined;
  if (typeof own === 'function' && !(own.prototype instanceof Loss)) return lossOf(own);
  if (identifier instanceof Loss) return identifier;
  if (typeof identifier === 'function') {
    if (identifier.prototype instanceof Loss) {
      throw new InvalidArgumentError(
        `got the class ${identifier.name}: write new ${identifier.name}(…)`,
        'losses.get',
      );
    }
    return new LossFunctionWrapper(identifier as classes.UserLoss);
  }
  if (typeof identifier === 'string') return deserialize({ class_name: identifier, config: {} });
  if (typeof identifier === 'object' && identifier !== null && 'class_name' in identifier)
    return deserialize(identifier as SerializedLoss);
  throw new InvalidArgumentError(
    `expected a loss, its name or a function, got ${shown(identifier)}`,
    'losses.get',
  );
}

/**
 * The loss for a name (as in Keras `'mse'`, `'mean_squared_error'`, `'MeanSquaredError'`; also `'meanSquaredError'`), for a
 * function, or of a config.
 * @throws InvalidArgumentError for an unknown name
 */
export const get: NamedFunction<[identifier: LossLike | (string & {})], ['identifier'], unknown, Loss> =
  defineFunction('losses.get', { identifier: kind.structure }, {}, lossOf);

/** A loss as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [loss: Loss],
  ['loss'],
  unknown,
  SerializedLoss & { readonly module: string | null; readonly registered_name: string | null }
> = defineSerialize('losses.serialize', 'loss', Loss, 'keras.losses');

/** The loss that `serialize`, or Keras, wrote. `customObjects` are classes of your own by name. */
export const deserialize: Deserialize<SerializedLoss, Loss> = defineDeserialize(
  'losses.deserialize',
  (serialized, customObjects) => {
    const known = classOf<LossClass>(serialized, customObjects, find, 'losses.deserialize');
    const { class_name: name, config } = serialized;
    if (known === undefined) {
      throw new InvalidArgumentError(
        `there is no loss '${name}'; expected one of ${Object.keys(builtIn).join(', ')}${nearestHint(String(name), Object.keys(builtIn))}`,
        'losses.get',
      );
    }
    return known.fromConfig(config);
  },
);
