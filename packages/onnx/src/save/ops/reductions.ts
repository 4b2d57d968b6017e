// Reductions, positions and scans.
import type { DType } from '@eagre/backend';
import type { GraphNode, GraphValue } from '@eagre/graph';
import { attr, type Row, type Rows } from '../row.ts';
import type { GraphWriter } from '../writer.ts';

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
  Softmax: (w, node, [x]) => w.add('Softmax', [x as string], { axis: last(node) }),
  LogSoftmax: (w, node, [x]) => w.add('LogSoftmax', [x as string], { axis: last(node) }),
};
