import { FailedPreconditionError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';

/** A function of the library reads values, so that what calls it cannot be traced: it runs as plain code for each element. */
export class PlainCodeNeeded extends FailedPreconditionError {}

/** @throws PlainCodeNeeded for a tensor without a value, as functions get them while they are traced. */
export function needsValue(tensor: Tensor, what: string): void {
  if (tensor.backend.name !== 'symbolic') return;
  throw new PlainCodeNeeded(
    'reads bytes, which a traced function does not have: call it outside of tf.function, such as in dataset.map',
    what,
  );
}
