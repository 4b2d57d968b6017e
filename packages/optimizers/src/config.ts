import { camelCaseKeys } from '@eagre/core/internal';
import { deserialize, type SerializedSchedule } from './schedules.ts';

/** The options that a config of Keras holds. */
export function optionsOf(
  config: Readonly<Record<string, unknown>>,
  customObjects?: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // How Keras runs it.
  const { jit_compile: _, is_legacy_optimizer: __, ...known } = config;
  const options = camelCaseKeys(known);
  const rate = options['learningRate'];
  if (typeof rate === 'object' && rate !== null)
    options['learningRate'] = deserialize(rate as SerializedSchedule, customObjects);
  return options;
}
