// Nodes of a graph that TensorFlow has no op for, in terms of its ops.
import type { PartialShape } from '@eagre/core';
import { partialShape, type TypedAttr } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
import type { ConstantInput } from './tensorflow-ops.ts';
import { updateParts } from './update-parts.ts';

/** One of the nodes that stand for another. */
export interface Part {
  /** The last part of its name, by which those after it take its result. */
  readonly name: string;
  readonly op: string;
  /** The whole node's inputs by their place, results of earlier parts by name, and constants. */
  readonly inputs: readonly (number | string | ConstantInput)[];
  readonly attrs: Readonly<Record<string, TypedAttr>>;
  readonly shape: PartialShape;
}

export interface Parts {
  readonly nodes: readonly Part[];
  /** Which part gives each of the node's outputs. */
  readonly outputs: readonly string[];
}

/** Mean and variance as `tf.nn.moments` makes them. */
function moments({ inputs, attrs }: GraphNode): Parts {
  const [{ dtype, shape }] = inputs as readonly [GraphValue];
  const axes = attrs['axes'] as readonly number[];
  const keepdims = attrs['keepdims'] as boolean;
  const T: TypedAttr = { kind: 'type', value: dtype };
  // Sizes that are not known stay so.
  const known = partialShape(shape);
  const reduced = (keep: boolean): PartialShape =>
    known.flatMap((d, axis) => (!axes.includes(axis) ? [d] : keep ? [1] : []));
  const mean = (name: string, of: number | string): Part => ({
    name,
    op: 'Mean',
    inputs: [of, { name: `${name}/reduction_indices`, dtype: 'int32', value: axes }],
    attrs: { T, Tidx: { kind: 'type', value: 'int32' }, keep_dims: { kind: 'bool', value: true } },
    shape: reduced(true),
  });
  const nodes: Part[] = [
    mean('mean', 0),
    { name: 'SquaredDifference', op: 'SquaredDifference', inputs: [0, 'mean'], attrs: { T }, shape: known },
    mean('variance', 'SquaredDifference'),
  ];
  if (keepdims) return { nodes, outputs: ['mean', 'variance'] };
  const squeezed = (name: string, of: string): Part => ({
    name,
    op: 'Squeeze',
    inputs: [of],
    attrs: { T, squeeze_dims: { kind: 'ints', value: axes } },
    shape: reduced(false),
  });
  nodes.push(squeezed('Squeeze', 'mean'), squeezed('Squeeze_1', 'variance'));
  return { nodes, outputs: ['Squeeze', 'Squeeze_1'] };
}

/** Zeros where the noise is below the rate. */
function dropout({ inputs, outputs, attrs }: GraphNode): Parts {
  const [, noise] = inputs as readonly [GraphValue, GraphValue];
  const [{ dtype, shape }] = outputs as readonly [GraphValue];
  const rate = attrs['rate'] as number;
  const T: TypedAttr = { kind: 'type', value: dtype };
  const number = (name: string, value: number): ConstantInput => ({ name, dtype, value });
  const whole = partialShape(shape);
  const kept = partialShape(noise.shape);
  return {
    nodes: [
      {
        name: 'GreaterEqual',
        op: 'GreaterEqual',
        inputs: [1, number('rate', rate)],
        attrs: { T },
        shape: kept,
      },
      { name: 'Mul', op: 'Mul', inputs: [0, number('scale', 1 / (1 - rate))], attrs: { T }, shape: whole },
      {
        name: 'SelectV2',
        op: 'SelectV2',
        inputs: ['GreaterEqual', 'Mul', number('zero', 0)],
        attrs: { T },
        shape: whole,
      },
    ],
    outputs: ['SelectV2'],
  };
}

/** The nodes of TensorFlow that stand for a node; null where one does. */
export function partsOf(node: GraphNode): Parts | null {
  switch (node.type) {
    case 'Moments':
      return moments(node);
    case 'Dropout':
      return dropout(node);
    default:
      return updateParts(node);
  }
}
