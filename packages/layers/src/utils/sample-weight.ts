import { InvalidArgumentError } from '@eagre/core';
import { defineFunction, kind, type NamedFunction, shown } from '@eagre/core/internal';

/**
 * Inputs, targets and weights as an element of a data set for `fit`: `[x, y, sampleWeight]`, `[x, y]` without weights, and without targets x
 * itself, in a list where it is a list.
 */
export const packXYSampleWeight: NamedFunction<
  [x: unknown, y?: unknown, sampleWeight?: unknown],
  ['x', 'y', 'sampleWeight'],
  unknown,
  unknown
> = /* @__PURE__ */ defineFunction(
  'keras.utils.packXYSampleWeight',
  { x: kind.structure, y: kind.structure, sampleWeight: kind.structure },
  {},
  (x: unknown, y: unknown = null, sampleWeight: unknown = null): unknown => {
    if (y === null) return Array.isArray(x) ? [x] : x;
    return sampleWeight === null ? [x, y] : [x, y, sampleWeight];
  },
);

/**
 * Inputs, targets and weights of an element of a data set: `[x, y, sampleWeight]`, with null for what it does not have. What is no list is x.
 * @throws InvalidArgumentError for an empty list and for more than three parts.
 */
export const unpackXYSampleWeight: NamedFunction<
  [data: unknown],
  ['data'],
  unknown,
  [x: unknown, y: unknown, sampleWeight: unknown]
> = /* @__PURE__ */ defineFunction(
  'keras.utils.unpackXYSampleWeight',
  { data: kind.structure },
  {},
  (data: unknown): [unknown, unknown, unknown] => {
    if (!Array.isArray(data)) return [data, null, null];
    if (data.length === 0 || data.length > 3)
      throw new InvalidArgumentError(
        `expected x, [x], [x, y] or [x, y, sampleWeight], got ${shown(data)}`,
        'keras.utils.unpackXYSampleWeight',
      );
    return [data[0], data[1] ?? null, data[2] ?? null];
  },
);
