// All messages, as one namespace.
import * as bundle from '../tensorflow/bundle-messages.ts';
import * as events from '../tensorflow/events.ts';
import * as examples from '../tensorflow/example-messages.ts';
import * as framework from '../tensorflow/framework.ts';
import * as hparams from '../tensorflow/hparams.ts';
import * as savedModels from '../tensorflow/saved-model-messages.ts';
import type { MessageType } from './protobuf.ts';

export * from '../tensorflow/bundle-messages.ts';
export { DataType } from '../tensorflow/data-types.ts';
export * from '../tensorflow/events.ts';
export * from '../tensorflow/example-messages.ts';
export * from '../tensorflow/framework.ts';
export * from '../tensorflow/hparams.ts';
export * from '../tensorflow/saved-model-messages.ts';
export * from '../tensorflow/xplane.ts';

/**
 * The numbers of every field of every message, under the names of TensorFlow and TensorBoard: programs in `tools/golden` compare
 * them with the real ones.
 */
export function fieldNumbers(): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const numbers: Record<string, Readonly<Record<string, number>>> = {};
  for (const module of [framework, bundle, events, examples, hparams, savedModels])
    for (const value of Object.values(module)) if (isMessageType(value)) numbers[value.name] = value.numbers;
  return numbers;
}

function isMessageType(value: unknown): value is MessageType<object> {
  return typeof value === 'object' && value !== null && 'numbers' in value && 'decode' in value;
}
