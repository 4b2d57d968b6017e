// How checkpoints see tables that change.
import { InvalidArgumentError } from '@eagre/backend';
import type { TrackableView } from '../module/trackable.ts';
import { sameShape } from '../shapes/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { denseBuckets } from './dense-buckets.ts';
import type { LookupTable } from './table-items.ts';
import type { TableResource } from './table-resource.ts';

/** Keys and values, as checkpoints of TensorFlow have them: dense tables as in their memory. */
export function tableView(
  table: LookupTable,
  { name, keyDtype, valueDtype, valueShape, reserved, contents }: TableResource,
): TrackableView {
  let keys: Tensor | null = null;
  let values: Tensor | null = null;
  const saved = (): readonly [Tensor, Tensor] =>
    reserved === null ? contents() : denseBuckets(contents(), reserved[0]);
  const take = (): void => {
    if (keys === null || values === null) return;
    const sizes = values.shape.slice(1);
    const own = valueShape.length === 0 ? sizes.filter((d) => d !== 1) : valueShape;
    if (keys.dtype !== keyDtype || values.dtype !== valueDtype || !sameShape(sizes, own))
      throw new InvalidArgumentError('the file has a table of other keys or values', name);
    table.replace(keys, values);
  };
  return {
    children: [],
    attributes: [
      [
        'table-keys',
        {
          save: () => saved()[0],
          restore: (value) => {
            keys = value;
            take();
          },
        },
      ],
      [
        'table-values',
        {
          save: () => saved()[1],
          restore: (value) => {
            values = value;
            take();
          },
        },
      ],
    ],
  };
}
