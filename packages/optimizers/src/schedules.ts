/** Learning rate schedules. */
import { InvalidArgumentError } from '@eagre/core';
import {
  camelCaseKeys,
  classOf,
  customClass,
  type Deserialize,
  defineDeserialize,
  defineMethods,
  defineSerialize,
  type NamedFunction,
} from '@eagre/core/internal';
import { CosineDecay, CosineDecayRestarts } from './cosine-decays.ts';
import { ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay } from './decays.ts';
import { callsInGraphs, LearningRateSchedule } from './schedule.ts';

export * from './cosine-decays.ts';
export * from './decays.ts';
export { LearningRateSchedule, type Step } from './schedule.ts';

type Loose = new (options: never) => LearningRateSchedule;
const classes: Readonly<Record<string, Loose>> = {
  ExponentialDecay,
  InverseTimeDecay,
  PiecewiseConstantDecay,
  PolynomialDecay,
  CosineDecay,
  CosineDecayRestarts,
};

for (const [name, c] of Object.entries(classes)) {
  defineMethods(c.prototype as object, name, { call: { positional: ['step'] } });
  callsInGraphs(c.prototype as LearningRateSchedule);
}

/** A schedule as Keras writes it in a file. */
export interface SerializedSchedule {
  /** Where the class is found, or null for those of a program. */
  readonly module: string | null;
  /** The name of the class. */
  readonly class_name: string;
  /** Its options, with the names that Keras has for them. */
  readonly config: Record<string, unknown>;
  /** The name that a class of a program was registered by; null for those of Keras. */
  readonly registered_name: string | null;
}

/** A schedule as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [learningRateSchedule: LearningRateSchedule],
  ['learningRateSchedule'],
  unknown,
  SerializedSchedule
> = defineSerialize(
  'schedules.serialize',
  'learningRateSchedule',
  LearningRateSchedule,
  'keras.optimizers.schedules',
);

/**
 * The schedule that `serialize`, or Keras, wrote. `customObjects` are classes of your own by name; they get the config with camelCase
 * names.
 */
export const deserialize: Deserialize<
  Pick<SerializedSchedule, 'class_name' | 'config'>,
  LearningRateSchedule
> = defineDeserialize('schedules.deserialize', (serialized, customObjects) => {
  const find = (key: string): Loose | undefined =>
    customClass<Loose>(key, LearningRateSchedule) ?? (Object.hasOwn(classes, key) ? classes[key] : undefined);
  const known = classOf<Loose>(serialized, customObjects, find, 'schedules.deserialize');
  const { class_name: name, config } = serialized;
  if (known === undefined) {
    throw new InvalidArgumentError(
      `there is no learning rate schedule '${name}'; expected one of ${Object.keys(classes).join(', ')}`,
    );
  }
  return new known(camelCaseKeys(config) as never);
});
