// Equations of matrices, and boxes that are kept.
import { UnimplementedError } from '@eagre/backend';
import { dims, viewOf } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '@eagre/graph';
import { attr, type Row, type Rows } from '../row.ts';
import type { GraphWriter } from '../writer.ts';

// Each column is a dozen of nodes.
const MOST_COLUMNS = 64;

/** Gauss and Jordan, column by column, with the largest number of a column as its pivot. A singular matrix gives NaN or infinity. */
const solved: Row = (w, node, [a, b]) => {
  const [left, right] = node.inputs as readonly [GraphValue, GraphValue];
  const [shape, dtype] = [dims(right), left.dtype];
  const n = dims(left).at(-1);
  if (typeof n !== 'number' || n > MOST_COLUMNS)
    throw new UnimplementedError(
      `'${node.name}' solves equations of ${n} unknowns; their number must be known and at most ${MOST_COLUMNS}`,
      'tf.onnx.save',
    );
  const columns = shape.at(-1) as NonNullable<(typeof shape)[number]>;
  const flat = (x: string, last: typeof columns): string =>
    w.add('Reshape', [x, w.add('Concat', [w.ints([-1, n]), w.size(last)], { axis: 0 })]);
  const given = flat(a as string, n);
  const matrix = attr(node, 'adjoint') === true ? w.transpose(given, [0, 2, 1]) : given;
  let rows = w.add('Concat', [matrix, flat(b as string, columns)], { axis: 2 });
  const places = w.file.constant([...Array(n).keys()], 'int64', [1, n, 1]);
  const full = w.add('Shape', [rows]);
  for (let k = 0; k < n; k++) {
    const at = w.scalar(k, 'int64');
    const isRow = w.add('Equal', [places, at]);
    const column = part(w, rows, 2, k, k + 1);
    const open = w.add('Where', [w.add('Less', [places, at]), w.scalar(-1, dtype), w.add('Abs', [column])]);
    const pivot = w.add('ArgMax', [open], { axis: 1, keepdims: 1 });
    // The row of the pivot and that of the column change places.
    const from = w.add('Where', [
      isRow,
      pivot,
      w.add('Where', [w.add('Equal', [places, pivot]), at, places]),
    ]);
    const sorted = w.add('GatherElements', [rows, w.add('Expand', [from, full])], { axis: 1 });
    const own = part(w, sorted, 1, k, k + 1);
    const unit = w.add('Div', [own, part(w, own, 2, k, k + 1)]);
    const less = w.add('Sub', [sorted, w.add('Mul', [part(w, sorted, 2, k, k + 1), unit])]);
    rows = w.add('Where', [isRow, unit, less]);
  }
  const end = w.add('Add', [w.ints([n]), w.size(columns)]);
  const solution = w.add('Slice', [rows, w.ints([n]), end, w.ints([2])]);
  return w.add('Reshape', [solution, w.shape(shape)]);
};
const part = (w: GraphWriter, x: string, axis: number, from: number, to: number): string =>
  w.add('Slice', [x, w.ints([from]), w.ints([to]), w.ints([axis])]);

/** The number of an input; null where it is not known. */
function numberOf(w: GraphWriter, name: string): number | null {
  const tensor = w.file.initializers.get(name);
  return tensor === undefined || tensor.size !== 1
    ? null
    : Number((viewOf(tensor) as ArrayLike<number | bigint>)[0]);
}

/** Boxes of which those of the highest scores are kept; ONNX takes batches and classes. */
const suppressed: Row = (w, node: GraphNode, [boxes, scores, most, overlap, least, sigma]) => {
  if (numberOf(w, sigma as string) !== 0)
    throw new UnimplementedError(
      `'${node.name}' lowers scores instead of leaving boxes out, which ONNX cannot`,
      'tf.onnx.save',
    );
  const [{ dtype }, , { dtype: counts }] = node.inputs as readonly [GraphValue, GraphValue, GraphValue];
  const float = (x: string): string => w.cast(x, dtype, 'float32');
  const one = (x: string): string => w.add('Reshape', [x, w.ints([1])]);
  const found = w.add('NonMaxSuppression', [
    w.unsqueeze(float(boxes as string), [0]),
    w.unsqueeze(float(scores as string), [0, 1]),
    one(w.cast(most as string, counts, 'int64')),
    one(w.cast(overlap as string, (node.inputs[3] as GraphValue).dtype, 'float32')),
    one(w.cast(least as string, (node.inputs[4] as GraphValue).dtype, 'float32')),
  ]);
  const places = w.squeeze(part(w, found, 1, 2, 3), [1]);
  return [w.cast(places, 'int64', 'int32'), w.add('Gather', [scores as string, places], { axis: 0 })];
};

export const matrices: Rows = { MatrixSolve: solved, NonMaxSuppressionV5: suppressed };
