// `sparseBatch`: tensors of different shapes as one sparse tensor.
import { DataLossError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { concat, constant, type PartialShape, SparseTensor, Tensor } from '@eagre/core';
import { checkPartialShape, showShape } from '@eagre/core/internal';
import { SparseTensorSpec, TensorSpec } from '@eagre/graph';
import type { ElementSpec } from '../elements/element-spec.ts';
import type { Element } from '../elements/structure.ts';
import type { DatasetNode } from '../pipeline/iterator.ts';
import { type Count, checkCount } from '../pipeline/options.ts';
import { ListBatchNode } from './list-batch.ts';

const OP = 'Dataset.sparseBatch';

/** Batches of elements that are one tensor each: a sparse tensor that holds all of their values, zeros too. */
export class SparseBatchNode extends ListBatchNode {
  readonly kind = 'SparseBatch';
  readonly #rowShape: PartialShape;

  /** @param rowShape the shape of a row; null (or -1) for a size that is that of the largest element of the batch. */
  constructor(input: DatasetNode, batchSize: Count, rowShape: PartialShape) {
    const size = checkCount(batchSize, 'batchSize', OP);
    if (!Array.isArray(rowShape))
      throw new InvalidArgumentError('rowShape must be a list of sizes, with null for those that vary', OP);
    const row: PartialShape = rowShape.map((n: number | null) => (n === -1 ? null : n));
    checkPartialShape(row, OP);
    const { spec } = input;
    if (spec !== null && !(spec instanceof TensorSpec))
      throw new InvalidArgumentError('the elements must be one tensor each', OP);
    if (spec?.dtype === 'string')
      throw new UnimplementedError('strings in sparse tensors: use raggedBatch or paddedBatch', OP);
    const made = spec === null ? null : (new SparseTensorSpec([null, ...row], spec.dtype) as ElementSpec);
    super(input, made, size, false);
    this.#rowShape = row;
  }

  make(elements: readonly Element[]): Element {
    const rowShape = this.#rowShape;
    const tensors = elements.map((x) => {
      if (x instanceof Tensor && x.rank === rowShape.length) return x;
      throw new InvalidArgumentError(
        x instanceof Tensor
          ? `an element has shape ${showShape(x.shape)}, and rowShape has ${rowShape.length} sizes`
          : 'the elements must be one tensor each',
        OP,
      );
    });
    const row = rowShape.map((n, axis) => n ?? Math.max(...tensors.map((x) => x.shape[axis])));
    const places: number[] = [];
    tensors.forEach((x, i) => {
      if (x.shape.some((n, axis) => n > row[axis]))
        throw new DataLossError(
          `an element has shape ${showShape(x.shape)}, which is larger than the row ${showShape(row)}`,
          OP,
        );
      for (let k = 0; k < x.size; k++) places.push(i, ...coordinates(k, x.shape));
    });
    const flat = tensors.map((x) => x.reshape([x.size]));
    const indices = constant(places, 'int64').reshape([places.length / (row.length + 1), row.length + 1]);
    return new SparseTensor(indices, concat(flat), constant([tensors.length, ...row], 'int64'));
  }
}

/** Where element `k` stands in a tensor. */
function coordinates(k: number, shape: readonly number[]): number[] {
  const at: number[] = [];
  for (let axis = shape.length - 1, rest = k; axis >= 0; axis--) {
    const size = shape[axis] as number;
    at.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return at;
}
