import { InvalidArgumentError, OutOfRangeError, UnimplementedError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { type Arguments, context, defineFunction, shown } from '@eagre/core/internal';
import { isDataset } from '../elements/structure.ts';
import type { Dataset } from './dataset.ts';
import { checkCount } from './options.ts';
import { preparing } from './preparing.ts';

/**
 * One element by its number, without a pass: of ranges, rows of tensors, and what `map` (by traced functions that compute element by element),
 * `zip`, `enumerate`, `take`, `skip` and `shard` make of them.
 *
 * @throws OutOfRangeError when there are not so many. @throws UnimplementedError for elements that come in order only.
 */
export const at: <T>(...args: Arguments<[dataset: Dataset<T>, index: number], ['dataset', 'index']>) => T =
  defineFunction<
    NamedFunction<[dataset: Dataset<unknown>, index: number], ['dataset', 'index'], unknown, unknown>
  >('tf.data.at', { dataset: true, index: true }, {}, (dataset, index) => {
    if (!isDataset(dataset))
      throw new InvalidArgumentError(`expected a dataset, got ${shown(dataset)}`, 'at');
    checkCount(index, 'index', 'at', 0);
    const rows = context.tracer === null ? (dataset.node.rows?.() ?? null) : null;
    if (rows === null)
      throw new UnimplementedError(
        `the elements of this dataset (${dataset.node.kind}) can only be read in order: use skip(index).take(1).getSingleElement()`,
        'at',
      );
    if (index >= rows.count)
      throw new OutOfRangeError(`there are ${rows.count} elements, so there is no element ${index}`, 'at');
    return preparing(() => rows.at(index));
  }) as never;
