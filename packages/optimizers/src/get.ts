import { type CustomName, InvalidArgumentError } from '@eagre/core';
import {
  classOf,
  customClass,
  type Deserialize,
  defineDeserialize,
  defineFunction,
  defineSerialize,
  kind,
  type NamedFunction,
  nearestHint,
  shown,
} from '@eagre/core/internal';
import { Adadelta } from './adadelta.ts';
import { Adafactor } from './adafactor.ts';
import { Adagrad } from './adagrad.ts';
import { Adam, AdamW } from './adam.ts';
import { Adamax } from './adamax.ts';
import { Ftrl } from './ftrl.ts';
import { Lamb } from './lamb.ts';
import { LazyAdam } from './lazy-adam.ts';
import { Lion } from './lion.ts';
import { LossScaleOptimizer } from './loss-scale-optimizer.ts';
import { MultiOptimizer } from './multi-optimizer.ts';
import { Muon } from './muon.ts';
import { Nadam } from './nadam.ts';
import { Optimizer } from './optimizer.ts';
import { reading } from './reading.ts';
import { RMSprop } from './rmsprop.ts';
import { ScheduleFreeAdamW } from './schedule-free-adamw.ts';
import { SGD } from './sgd.ts';

/** An optimizer as Keras writes it in a file. */
export interface SerializedOptimizer {
  /** The name of the class. */
  readonly class_name: string;
  /** Its options, with the names that Keras has for them. */
  readonly config: Record<string, unknown>;
}

type ClassName =
  | 'SGD'
  | 'RMSprop'
  | 'Adam'
  | 'AdamW'
  | 'Adamax'
  | 'Nadam'
  | 'Adagrad'
  | 'Adadelta'
  | 'Adafactor'
  | 'Ftrl'
  | 'Lion'
  | 'Lamb'
  | 'LazyAdam'
  | 'Muon'
  | 'ScheduleFreeAdamW';
/** Names of optimizers: those of the classes, also in lower case. Others are understood in any case at run time. */
export type OptimizerName = ClassName | Lowercase<ClassName> | CustomName<'optimizer'>;

type FromConfig = {
  fromConfig(
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): Optimizer;
};
const classes: Readonly<Record<ClassName | 'MultiOptimizer' | 'LossScaleOptimizer', FromConfig>> = {
  SGD,
  RMSprop,
  Adam,
  AdamW,
  Adamax,
  Nadam,
  Adagrad,
  Adadelta,
  Adafactor,
  Ftrl,
  Lion,
  Lamb,
  LazyAdam,
  Muon,
  ScheduleFreeAdamW,
  MultiOptimizer,
  LossScaleOptimizer,
};

/** An optimizer as plain JSON, in Keras's form; without its state. */
export const serialize: NamedFunction<
  [optimizer: Optimizer],
  ['optimizer'],
  unknown,
  SerializedOptimizer & { readonly module: string | null; readonly registered_name: string | null }
> = defineSerialize('optimizers.serialize', 'optimizer', Optimizer, 'keras.optimizers');

/** The optimizer that `serialize`, or Keras, wrote. `customObjects` are classes of your own by name. */
export const deserialize: Deserialize<SerializedOptimizer, Optimizer> = defineDeserialize(
  'optimizers.deserialize',
  (serialized, customObjects) => {
    const known = classOf<FromConfig>(
      serialized,
      customObjects,
      (name) =>
        customClass<FromConfig>(name, Optimizer) ??
        Object.entries(classes).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1],
      'optimizers.deserialize',
    );
    const { class_name: name, config } = serialized;
    if (known === undefined) {
      throw new InvalidArgumentError(
        `there is no optimizer '${name}'; expected one of ${Object.keys(classes).join(', ')}${nearestHint(String(name), Object.keys(classes))}`,
        'optimizers.get',
      );
    }
    return known.fromConfig(config, customObjects);
  },
);

reading.optimizer = (written, customObjects) => deserialize(written as SerializedOptimizer, customObjects);

/** What stands for an optimizer: a name such as `'adam'`, a serialised one, or an optimizer itself. */
export type OptimizerLike = OptimizerName | SerializedOptimizer | Optimizer;

/** The optimizer for a name (`'adam'`, in any case), a serialised one, or an optimizer itself. */
export const get: NamedFunction<
  [identifier: OptimizerLike | (string & {})],
  ['identifier'],
  unknown,
  Optimizer
> = defineFunction('optimizers.get', { identifier: kind.structure }, {}, (identifier: unknown) => {
  if (identifier instanceof Optimizer) return identifier;
  if (typeof identifier === 'string') return deserialize({ class_name: identifier, config: {} });
  if (typeof identifier === 'object' && identifier !== null && 'class_name' in identifier)
    return deserialize(identifier as SerializedOptimizer);
  throw new InvalidArgumentError(
    typeof identifier === 'function'
      ? `got the class ${identifier.name}: write new ${identifier.name}(…)`
      : `expected an optimizer or its name, got ${shown(identifier)}`,
    'optimizers.get',
  );
});
