// `raggedBatch`: elements whose first sizes differ, one behind the other.
import { InvalidArgumentError } from '@eagre/backend';
import type { PartialShape, RaggedTensor } from '@eagre/core';
import { shown } from '@eagre/core/internal';
import { RaggedTensorSpec, TensorSpec } from '@eagre/graph';
import { type ElementSpec, flattenSpec, mapSpec } from '../elements/element-spec.ts';
import { type Element, mapLeaves } from '../elements/structure.ts';
import type { DatasetNode } from '../pipeline/iterator.ts';
import { type Count, checkCount } from '../pipeline/options.ts';
import { leavesOf, raggedOf, stackTensors } from '../pipeline/stacker.ts';
import type { BatchOptions } from './batch.ts';
import { ListBatchNode } from './list-batch.ts';

/** Options of `raggedBatch`. */
export interface RaggedBatchOptions extends BatchOptions {
  /** Of `rowSplits`; int64 unless set. */
  readonly rowSplitsDtype?: 'int32' | 'int64';
}

/** A component of a ragged batch: row i is what element i has. */
export type Ragged = RaggedTensor;

export class RaggedBatchNode extends ListBatchNode {
  readonly kind = 'RaggedBatch';
  readonly #splits: 'int32' | 'int64';

  constructor(input: DatasetNode, batchSize: Count, options: RaggedBatchOptions) {
    const name = 'Dataset.raggedBatch';
    const { dropRemainder = false, rowSplitsDtype = 'int64' } = options;
    const size = checkCount(batchSize, 'batchSize', name);
    if (rowSplitsDtype !== 'int64' && rowSplitsDtype !== 'int32')
      throw new InvalidArgumentError(
        `rowSplitsDtype must be int64 or int32, got ${shown(rowSplitsDtype)}`,
        name,
      );
    const { spec } = input;
    if (spec === null)
      throw new InvalidArgumentError(
        'raggedBatch needs to know which sizes vary: give the generator, or the preceding function, an outputSignature with null for them',
        name,
      );
    const batch = dropRemainder ? size : null;
    super(
      input,
      mapSpec(spec, (s) => {
        if (!(s instanceof TensorSpec))
          throw new InvalidArgumentError('the elements hold datasets (windows); use flatMap', name);
        if (!isRagged(s)) return new TensorSpec([batch, ...(s.shape as PartialShape)], s.dtype);
        const inner = s.shape?.slice(1) ?? [];
        return new RaggedTensorSpec([batch, null, ...inner], s.dtype, 1, rowSplitsDtype);
      }) as ElementSpec,
      size,
      dropRemainder,
    );
    this.#splits = rowSplitsDtype;
  }

  make(elements: readonly Element[]): Element {
    const specs = flattenSpec(this.input.spec as ElementSpec) as TensorSpec[];
    const leaves = leavesOf(elements, 'Dataset.raggedBatch');
    return mapLeaves(elements[0], (_, k) => {
      const tensors = leaves.map((l) => l[k]);
      return isRagged(specs[k])
        ? raggedOf(tensors, this.#splits, 'Dataset.raggedBatch')
        : stackTensors(tensors, k, 'Dataset.raggedBatch');
    }) as Element;
  }
}

const isRagged = ({ shape }: TensorSpec): boolean => shape === null || shape.includes(null);
