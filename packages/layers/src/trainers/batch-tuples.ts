import { InvalidArgumentError } from '@eagre/core';
import { defineFunction, type NamedFunction, shown } from '@eagre/core/internal';

type Data = { plain: true };
const DATA: Data = { plain: true };

/** A batch as a list: [x], [x, y] or [x, y, sampleWeight]; of inputs alone that are no list, these themselves. */
export const packXYSampleWeight: NamedFunction<
  [x: unknown, y?: unknown, sampleWeight?: unknown],
  ['x', 'y', 'sampleWeight'],
  unknown,
  unknown
> = defineFunction(
  'keras.utils.packXYSampleWeight',
  { x: DATA, y: DATA, sampleWeight: DATA },
  {},
  (x: unknown, y: unknown = null, sampleWeight: unknown = null) => {
    if (sampleWeight !== null) return [x, y, sampleWeight];
    if (y !== null) return [x, y];
    return Array.isArray(x) ? [x] : x;
  },
);

/** The inputs, targets and weights of a batch; null in the place of what there is not. What is no list is inputs alone. */
export const unpackXYSampleWeight: NamedFunction<
  [data: unknown],
  ['data'],
  unknown,
  [x: unknown, y: unknown, sampleWeight: unknown]
> = defineFunction('keras.utils.unpackXYSampleWeight', { data: DATA }, {}, (data: unknown) => {
  if (!Array.isArray(data)) return [data, null, null];
  if (data.length < 1 || data.length > 3)
    throw new InvalidArgumentError(
      `a batch is [x], [x, y] or [x, y, sampleWeight], got ${shown(data)}`,
      'keras.utils.unpackXYSampleWeight',
    );
  const [x, y = null, sampleWeight = null] = data as unknown[];
  return [x, y, sampleWeight];
});
