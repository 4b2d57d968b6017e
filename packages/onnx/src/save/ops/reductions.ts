// Reductions, positions and scans.
import type { DType } from '@eagre/backend';
import { type Dim, dims } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '@eagre/graph';
import { attr, type Row, type Rows } from '../row.ts';
import type { GraphWriter } from '../writer.ts';
import { filled } from './arrays.ts';

/** A reduction; its axes are an input from an opset on. */
export function reduced(
  w: GraphWriter,
  op: string,
  x: string,
  axes: readonly number[],
  keepdims: boolean,
): string {
  if (axes.length === 0) return w.add('Identity', [x]);
  const keep = { keepdims: keepdims ? 1 : 0 };
  const byInput = w.opset >= (op === 'ReduceSum' ? 13 : 18);
  return byInput ? w.add(op, [x, w.ints(axes)], keep) : w.add(op, [x], { axes, ...keep });
}

const reduction =
  (op: string): Row =>
  (w, node, [x]) =>
    reduced(w, op, x as string, attr(node, 'axes'), attr(node, 'keepdims'));
const ofBools =
  (op: string): Row =>
  (w, node, [x]) => {
    const wide = w.cast(x as string, 'bool', 'int32');
    return w.cast(reduced(w, op, wide, attr(node, 'axes'), attr(node, 'keepdims')), 'int32', 'bool');
  };
const position =
  (op: string): Row =>
  (w, node, [x]) =>
    w.cast(
      w.add(op, [x as string], { axis: attr<number>(node, 'axis'), keepdims: 0 }),
      'int64',
      attr<DType>(node, 'dtype'),
    );

/** Mean and variance. */
export function momentsOf(
  w: GraphWriter,
  x: string,
  axes: readonly number[],
  keepdims: boolean,
): [string, string] {
  const mean = reduced(w, 'ReduceMean', x, axes, true);
  const centred = w.add('Sub', [x, mean]);
  const variance = reduced(w, 'ReduceMean', w.add('Mul', [centred, centred]), axes, keepdims);
  return [keepdims ? mean : w.squeeze(mean, axes), variance];
}
const moments: Row = (w, node, [x]) => momentsOf(w, x as string, attr(node, 'axes'), attr(node, 'keepdims'));

/** What is reduced up to each place of an axis: a table of which element counts for which, as ONNX before opset 26 scans sums alone. */
const scan =
  (reduction: string, none: number): Row =>
  (w, node, [x]) => {
    const { dtype, shape } = node.inputs[0] as GraphValue;
    const axis = attr<number>(node, 'axis');
    const isReverse = attr<boolean>(node, 'reverse');
    const size = w.shape([dims(node.inputs[0] as GraphValue)[axis] as Dim]);
    const square = filled(w, w.add('Concat', [size, size], { axis: 0 }), 1, 'int64');
    const skip = attr<boolean>(node, 'exclusive') ? (isReverse ? 1 : -1) : 0;
    const counts = w.cast(
      w.add('Trilu', [square, w.scalar(skip, 'int64')], { upper: isReverse ? 1 : 0 }),
      'int64',
      'bool',
    );
    const after = Array.from({ length: shape.length - 1 - axis }, (_, i) => 2 + i);
    const table = after.length === 0 ? counts : w.unsqueeze(counts, after);
    const each = w.add('Where', [table, w.unsqueeze(x as string, [axis]), w.scalar(none, dtype)]);
    return reduced(w, reduction, each, [axis + 1], false);
  };

/** Losses of classes, and what their gradients need. */
const softmaxLoss: Row = (w, node, [logits, labels]) => {
  const logs = w.add('LogSoftmax', [logits as string], { axis: last(node) });
  const loss = w.add('Neg', [
    reduced(w, 'ReduceSum', w.add('Mul', [labels as string, logs]), [last(node)], false),
  ]);
  if (!w.isUsed(node.outputs[1] as GraphValue)) return [loss, null];
  // The gradient also where labels do not add up to 1.
  const total = reduced(w, 'ReduceSum', labels as string, [last(node)], true);
  const share = w.add('Mul', [w.add('Softmax', [logits as string], { axis: last(node) }), total]);
  return [loss, w.add('Sub', [share, labels as string])];
};
const sparseSoftmaxLoss: Row = (w, node, [logits, labels]) => {
  const { dtype, shape } = node.inputs[1] as GraphValue;
  const logs = w.add('LogSoftmax', [logits as string], { axis: last(node) });
  const places = w.unsqueeze(w.cast(labels as string, dtype, 'int64'), [shape.length]);
  const loss = w.add('Neg', [
    w.squeeze(w.add('GatherElements', [logs, places], { axis: last(node) }), [last(node)]),
  ]);
  if (!w.isUsed(node.outputs[1] as GraphValue)) return [loss, null];
  const { dtype: floats } = node.inputs[0] as GraphValue;
  const classes = w.size(dims(node.inputs[0] as GraphValue).at(-1) as Dim);
  const values = w.cast(w.ints([0, 1]), 'int64', floats);
  const ones = w.add('OneHot', [w.cast(labels as string, dtype, 'int64'), classes, values], { axis: -1 });
  return [loss, w.add('Sub', [w.add('Softmax', [logits as string], { axis: last(node) }), ones])];
};

const last = (node: GraphNode): number => (node.inputs[0] as GraphValue).shape.length - 1;

export const reductions: Rows = {
  Sum: reduction('ReduceSum'),
  Mean: reduction('ReduceMean'),
  Prod: reduction('ReduceProd'),
  Max: reduction('ReduceMax'),
  Min: reduction('ReduceMin'),
  ReduceLogSumExp: reduction('ReduceLogSumExp'),
  All: ofBools('ReduceMin'),
  Any: ofBools('ReduceMax'),
  ArgMax: position('ArgMax'),
  ArgMin: position('ArgMin'),
  Moments: moments,
  Cumsum: (w, node, [x]) =>
    w.add('CumSum', [x as string, w.scalar(attr(node, 'axis'), 'int64')], {
      exclusive: attr<boolean>(node, 'exclusive') ? 1 : 0,
      reverse: attr<boolean>(node, 'reverse') ? 1 : 0,
    }),
  Cumprod: scan('ReduceProd', 1),
  CumulativeLogsumexp: scan('ReduceLogSumExp', Number.NEGATIVE_INFINITY),
  SoftmaxCrossEntropyWithLogits: softmaxLoss,
  SparseSoftmaxCrossEntropyWithLogits: sparseSoftmaxLoss,
  Softmax: (w, node, [x]) => w.add('Softmax', [x as string], { axis: last(node) }),
  LogSoftmax: (w, node, [x]) => w.add('LogSoftmax', [x as string], { axis: last(node) }),
};
