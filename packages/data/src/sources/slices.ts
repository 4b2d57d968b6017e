import { InvalidArgumentError } from '@eagre/backend';
import type { CompositeTensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { packWhole, rowCountOf, rowOf, rowSpec, wholeLeaves } from '../elements/composites.ts';
import { type ElementSpec, mapSpec, specOf } from '../elements/element-spec.ts';
import { type Element, tensorsOf, toElement } from '../elements/structure.ts';
import type { RowAccess } from '../pipeline/iterator.ts';
import { ElementsNode } from './elements.ts';
import { RowsNode, SliceRows } from './rows.ts';

/** The rows of tensors along their first axis. */
export class SlicesNode extends RowsNode {
  readonly kind = 'TensorSlice';
  readonly #rows: SliceRows;

  /** @throws InvalidArgumentError for scalars, and for different first dimensions. */
  constructor(value: unknown) {
    const what = 'Dataset.fromTensorSlices';
    const element = toElement(value, what);
    const tensors = tensorsOf(element, what);
    if (tensors.length === 0) throw new InvalidArgumentError('there are no tensors to slice', what);
    if (tensors.some((t) => t.rank === 0))
      throw new InvalidArgumentError(
        'unbatching a tensor is only supported for rank >= 1, and one is a scalar',
        what,
      );
    const counts = tensors.map((t) => t.shape[0]);
    if (counts.some((n) => n !== counts[0]))
      throw new InvalidArgumentError(`the first dimensions differ: ${counts.join(', ')}`, what);
    const spec = mapSpec(specOf(element), (s) =>
      s instanceof TensorSpec ? new TensorSpec((s.shape ?? []).slice(1), s.dtype) : s,
    ) as ElementSpec;
    super(spec);
    this.#rows = new SliceRows(element, tensors, counts[0]);
  }

  rows(): RowAccess {
    return this.#rows;
  }
}

/** One element. */
export function oneElement(value: unknown): Element {
  return toElement(value, 'Dataset.fromTensors');
}

/** The rows of an element with ragged or sparse tensors. @throws InvalidArgumentError for different first dimensions. */
export function rowsNode(value: unknown): ElementsNode {
  const what = 'Dataset.fromTensorSlices';
  const element = toElement(value, what);
  const leaves = wholeLeaves(element);
  const counts = leaves.map(rowCountOf);
  if (counts.some((n) => n !== counts[0]))
    throw new InvalidArgumentError(`the first dimensions differ: ${counts.join(', ')}`, what);
  const specs = wholeLeaves(specOf(element) as never) as readonly (TensorSpec | CompositeTensor)[];
  const spec = packWhole(
    element,
    specs.map((s) =>
      s instanceof TensorSpec ? new TensorSpec((s.shape ?? []).slice(1), s.dtype) : rowSpec(s),
    ),
  );
  const rows = Array.from({ length: counts[0] as number }, (_, i) =>
    packWhole(
      element,
      leaves.map((x) => rowOf(x, i)),
    ),
  );
  return new ElementsNode(rows, spec as never, 'TensorSlice');
}
