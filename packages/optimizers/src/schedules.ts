/** Learning rate schedules. */
import { InvalidArgumentError } from '@eagre/core';
import { camelCaseKeys, checkInstance, classOf } from '@eagre/core/internal';
import { CosineDecay, CosineDecayRestarts } from './cosine-decays.ts';
import { ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay } from './decays.ts';
import { LearningRateSchedule } from './schedule.ts';

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

/** A schedule as Keras writes it in a file. */
export interface SerializedSchedule {
  readonly module: string | null;
  readonly class_name: string;
  readonly config: Record<string, unknown>;
  readonly registered_name: string | null;
}

/** A schedule as plain JSON, in Keras's form. */
export function serialize(schedule: LearningRateSchedule): SerializedSchedule {
  checkInstance(schedule, LearningRateSchedule, 'schedules.serialize');
  return {
    module: 'keras.optimizers.schedules',
    class_name: schedule.constructor.name,
    config: schedule.getConfig(),
    registered_name: null,
  };
}

/**
 * The schedule that `serialize`, or Keras, wrote.
 * @param customObjects classes of your own by name; they get the config with camelCase names.
 */
export function deserialize(
  serialized: Pick<SerializedSchedule, 'class_name' | 'config'>,
  customObjects: Readonly<Record<string, unknown>> = {},
): LearningRateSchedule {
  const find = (key: string): Loose | undefined => (Object.hasOwn(classes, key) ? classes[key] : undefined);
  const known = classOf<Loose>(serialized, customObjects, find, 'schedules.deserialize');
  const { class_name: name, config } = serialized;
  if (known === undefined) {
    throw new InvalidArgumentError(
      `no learning rate schedule '${name}' is known; known: ${Object.keys(classes).join(', ')}`,
    );
  }
  return new known(camelCaseKeys(config) as never);
}
