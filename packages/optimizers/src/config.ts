import { UnimplementedError } from '@eagre/core';
import { camelCaseKeys, shown } from '@eagre/core/internal';
import { deserialize, type SerializedSchedule } from './schedules.ts';

/**
 * The options that a config of Keras holds.
 * @throws UnimplementedError for loss scaling and gradient accumulation, which Keras has and this has not
 */
export function optionsOf(
  config: Readonly<Record<string, unknown>>,
  customObjects?: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const {
    loss_scale_factor,
    gradient_accumulation_steps,
    // How Keras runs it.
    jit_compile: _,
    is_legacy_optimizer: __,
    ...known
  } = config;
  for (const [option, value] of Object.entries({
    loss_scale_factor,
    gradient_accumulation_steps,
  })) {
    if (value)
      throw new UnimplementedError(`the option ${option} (${shown(value)}) is not supported`, 'fromConfig');
  }
  const options = camelCaseKeys(known);
  const rate = options['learningRate'];
  if (typeof rate === 'object' && rate !== null)
    options['learningRate'] = deserialize(rate as SerializedSchedule, customObjects);
  return options;
}
