// Ragged tensors: the splits of each ragged axis, and the values of the innermost rows.
import * as tf from '@eagre/core';
import { RaggedTensor, type SparseTensor, type Tensor } from '@eagre/core';
import { columnOf, makeSparse } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { intOf, type OpTable, several, type Translate } from '../op-row.ts';

/** The gradients of the values, which went to the places of input 0, and of the default, which all other places have. */
export const filledRowsGradient: Translate = (c) => {
  const values = tf.gather(c.x(1), c.x(0));
  return [values, tf.sum(c.x(1)).sub(tf.sum(values))];
};

/** A value in each row that has none: [filled, which rows had none, where each element went]. */
export function filledRows(x: SparseTensor, missing: Tensor): [SparseTensor, Tensor, Tensor] {
  const [filled, empty] = tf.sparse.fillEmptyRows(x, missing);
  // The same rows in the same order, moved by the empty rows before.
  const before = tf.cumsum(tf.cast(empty, 'int64'));
  const rows = columnOf(x.indices, 0);
  const places = tf.range(tf.cast(tf.size(rows), 'int64'), { dtype: 'int64' });
  return [filled, empty, places.add(tf.gather(before, rows))];
}

/** The ragged tensor of splits, outermost first, and values. */
export function raggedOf(splits: readonly Tensor[], values: Tensor): RaggedTensor {
  return RaggedTensor.fromNestedRowSplits(values, splits, { validate: false });
}

/** Rows of any lengths as a tensor, with a value where they end; rows are told in one of three ways for each axis. */
const toTensor: Translate = (c) => {
  const kinds = c.textsAttr('row_partition_types');
  const parts = kinds.map((_, i) => c.x(3 + i));
  let [rows, next] = [null as Tensor | null, 0];
  if (kinds[0] === 'FIRST_DIM_SIZE') [rows, next] = [parts[0] as Tensor, 1];
  // From the outside in; each knows how many rows there are by what is around it.
  const made: Tensor[] = [];
  for (; next < kinds.length; next++) {
    const part = parts[next] as Tensor;
    if (kinds[next] === 'ROW_SPLITS') made.push(part);
    else if (kinds[next] === 'VALUE_ROWIDS') {
      const count = made.length === 0 ? rows : lastOf(made.at(-1) as Tensor);
      if (count === null) throw c.wrong('nothing tells how many rows there are');
      made.push(splitsOf(part, count));
    } else throw c.lacks(`rows told by ${kinds.join(', ')} are not supported`);
  }
  const x = raggedOf(made, c.x(1));
  const shape = sizesOf(c, 0, x.rank);
  return x.toTensor({ defaultValue: c.x(2), ...(shape === null ? {} : { shape }) });
};

const lastOf = (splits: Tensor): Tensor => tf.gather(splits, tf.size(splits).sub(1));

/** The splits of rows that the number of its row is told for each value. */
function splitsOf(rowIds: Tensor, rows: Tensor): Tensor {
  const counts = tf.unsortedSegmentSum(tf.onesLike(rowIds), rowIds, tf.cast(rows, 'int32'));
  return tf.concat([tf.zeros([1], rowIds.dtype), tf.cumsum(counts)], 0);
}

/** The sizes of the result as the node wants them: null for those that the rows tell; null for all of them. */
function sizesOf(c: OpCall, input: number, rank: number): (number | null)[] | null {
  const x = c.x(input);
  if (x.rank === 0) return null;
  const sizes = c.ints(input);
  if (sizes.every((size) => size < 0)) return null;
  return Array.from({ length: rank }, (_, i) => ((sizes[i] ?? -1) < 0 ? null : (sizes[i] as number)));
}

/** The axes that stay ragged, and the values of the innermost rows. */
function nested(x: Tensor | RaggedTensor, ranks: number, splitsDType: tf.DType): Tensor[] {
  const splits: Tensor[] = [];
  let rest = x;
  for (let i = 0; i < ranks; i++) {
    const own: RaggedTensor = rest instanceof RaggedTensor ? rest : raggedRows(rest, splitsDType);
    splits.push(tf.cast(own.rowSplits, splitsDType));
    rest = own.values;
  }
  return [...splits, rest instanceof RaggedTensor ? rest.flatValues : rest];
}

/** Rows of one length as ragged ones. */
function raggedRows(x: Tensor, splitsDType: tf.DType): RaggedTensor {
  const rank1 = x.rank < 2;
  if (rank1) throw new tf.InvalidArgumentError('a vector has no rows');
  return RaggedTensor.fromTensor(x, { raggedRank: 1, rowSplitsDtype: splitsDType as 'int64' });
}

const gather: Translate = (c) => {
  const rank = c.intAttr('PARAMS_RAGGED_RANK', 1);
  const x = raggedOf(c.xs(0, rank), c.x(rank));
  const found = tf.gather(x as never, c.x(rank + 1)) as unknown as Tensor | RaggedTensor;
  return nested(found, c.intAttr('OUTPUT_RAGGED_RANK'), c.dtypeAttr('Tsplits', 'int64'));
};

const range: Translate = (c) => {
  const rowSplitsDtype = c.dtypeAttr('Tsplits', 'int64') as 'int64';
  const x = tf.ragged.range(c.x(0), c.x(1), c.x(2), { rowSplitsDtype });
  return nested(x, 1, rowSplitsDtype);
};

const toSparse: Translate = (c) => {
  const rank = c.intAttr('RAGGED_RANK');
  const { indices, values, denseShape } = raggedOf(c.xs(0, rank), c.x(rank)).toSparse();
  return [indices, values, denseShape];
};

/** A value in each row that has none, of rows that the number of its row is told for each value. */
const emptyRows: Translate = (c) => {
  const [rowIds, values, rows] = [c.x(0), c.x(1), c.x(2)];
  const count = tf.cast(tf.size(values), 'int64');
  const indices = tf.stack([rowIds, tf.range(count, { dtype: 'int64' })], 1);
  const x = makeSparse(indices, values, tf.stack([tf.reshape(rows, []), count]));
  const [filled, empty, places] = filledRows(x, c.x(3));
  return [columnOf(filled.indices, 0), filled.values, empty, places];
};

export const ragged: OpTable = {
  RaggedFillEmptyRows: several(
    ['output_value_rowids', 'output_values', 'empty_row_indicator', 'reverse_index_map'],
    emptyRows,
  ),
  RaggedFillEmptyRowsGrad: several(['d_values', 'd_default_value'], filledRowsGradient),
  RaggedTensorToTensor: toTensor,
  RaggedTensorToSparse: several(['sparse_indices', 'sparse_values', 'sparse_dense_shape'], toSparse),
  RaggedRange: several(['rt_nested_splits', 'rt_dense_values'], range),
  RaggedGather: {
    outputs: ['output_nested_splits', 'output_dense_values'],
    counts: (node) => [intOf(node, 'OUTPUT_RAGGED_RANK', 0), 1],
    run: gather,
  },
};
