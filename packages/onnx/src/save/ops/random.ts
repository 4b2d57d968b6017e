// Random numbers, which the program that runs the model draws.
import { dims } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '@eagre/graph';
import { typeNumber } from '../../tensors.ts';
import { attr, type Row, type Rows } from '../row.ts';
import { type GraphWriter, real } from '../writer.ts';
import { filled } from './arrays.ts';

const output = (node: GraphNode): GraphValue => node.outputs[0] as GraphValue;

/** Numbers of a shape that may not be known. */
function drawn(w: GraphWriter, node: GraphNode, op: string, attrs: Readonly<Record<string, number>>): string {
  const like = filled(w, w.shape(dims(output(node))), 0, 'float32');
  const reals = Object.fromEntries(Object.entries(attrs).map(([key, value]) => [key, real(value)]));
  return w.add(op, [like], { ...reals, dtype: typeNumber('float32') });
}

const uniform: Row = (w, node) => {
  const [low, high] = [attr<number>(node, 'low'), attr<number>(node, 'high')];
  return w.cast(drawn(w, node, 'RandomUniformLike', { low, high }), 'float32', output(node).dtype);
};
const normal: Row = (w, node) => {
  const [mean, scale] = [attr<number>(node, 'mean'), attr<number>(node, 'stddev')];
  return w.cast(drawn(w, node, 'RandomNormalLike', { mean, scale }), 'float32', output(node).dtype);
};
const integers: Row = (w, node) => {
  const [low, high] = [attr<number>(node, 'low'), attr<number>(node, 'high')];
  return w.cast(
    w.add('Floor', [drawn(w, node, 'RandomUniformLike', { low, high })]),
    'float32',
    output(node).dtype,
  );
};

export const randoms: Rows = {
  RandomUniform: uniform,
  RandomStandardNormal: normal,
  RandomUniformInt: integers,
};
