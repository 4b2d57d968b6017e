import * as tf from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { describe, expect, test } from 'vitest';
import { expectSame, goldenFile, type Stored, toValue } from '../../testing/golden.ts';
import { loadGraphDef } from '../graph-def-file.ts';
import { translatedOps } from './index.ts';

type Complex = { readonly complex: readonly [Stored, Stored] };
const golden = goldenFile<{
  readonly graph: string;
  readonly inputs: Readonly<Record<string, Stored>>;
  readonly cases: Readonly<Record<string, readonly (Stored | Complex)[]>>;
}>('imported-ops');
const bytes = Buffer.from(golden.graph, 'base64');

describe('ops of TensorFlow give what they give there', async () => {
  const graph = await loadGraphDef(bytes);
  const names = Object.keys(golden.inputs);
  const inputs = names.map((name) => toValue(golden.inputs[name] as Stored) as tf.Tensor);
  for (const [name, results] of Object.entries(golden.cases))
    test(name, () => {
      for (const [i, wanted] of results.entries()) {
        const output = `case_${name}_${i}:0`;
        const run = graph.prune(
          names.map((input) => `${input}:0`),
          output,
        );
        const [result] = run(...inputs) as [tf.Tensor];
        if ('complex' in wanted) {
          expectSame(tf.real(result), wanted.complex[0], `${output}, real`);
          expectSame(tf.imag(result), wanted.complex[1], `${output}, imaginary`);
        } else expectSame(result, wanted, output);
      }
    });
});

test('most ops are in the graph', () => {
  const { node = [] } = tensorflow.GraphDef.decode(bytes);
  const tested = new Set(node.map(({ op }) => op));
  const translated = translatedOps();
  expect([...translated.keys()].filter((op) => tested.has(op)).length).toBeGreaterThan(300);
});

test('CTCLossV2, which GPUs run in TensorFlow, is the loss with the blank in front', async () => {
  const type = (number: number): tensorflow.AttrValue => ({ type: number });
  const names = ['inputs', 'labels_indices', 'labels_values', 'sequence_length'];
  const graph = await loadGraphDef(
    tensorflow.GraphDef.encode({
      node: [
        ...[1, 9, 3, 3].map((dtype, i) => ({
          name: names[i] as string,
          op: 'Placeholder',
          attr: new Map([['dtype', type(dtype)]]),
        })),
        { name: 'loss', op: 'CTCLossV2', input: names },
      ],
    }),
  );
  const run = graph.prune(
    names.map((name) => `${name}:0`),
    ['loss:0', 'loss:1'],
  );
  const indices = tf.constant(
    [
      [0, 0],
      [0, 1],
      [1, 0],
    ],
    'int64',
  );
  const logits = tf.sin(tf.range(24, { dtype: 'float32' })).reshape([3, 2, 4]);
  const [loss, gradient] = run(
    logits,
    indices,
    tf.constant([1, 2, 3], 'int32'),
    tf.constant([3, 2], 'int32'),
  ) as tf.Tensor[];
  // tf.nn.ctc_loss(labels, logits, None, [3, 2], blank_index=0) and its gradient.
  expectSame(loss, { dtype: 'float32', shape: [2], data: [2.6557732, 1.4234537] }, 'loss');
  const wanted = [
    [0.041345, -0.563949, 0.357004, 0.165599, -0.024459, 0.10835, 0.213764, -0.297655],
    [0.099119, -0.046808, -0.123775, 0.071464, -0.110024, 0.226658, 0.400968, -0.517602],
    [0.125945, 0.138246, -0.684214, 0.420022, 0, 0, 0, 0],
  ];
  expectSame(gradient, { dtype: 'float32', shape: [3, 2, 4], data: wanted.flat() }, 'gradient');
});

test('segments whose number is given, which XLA runs in TensorFlow', async () => {
  const type = (number: number): tensorflow.AttrValue => ({ type: number });
  const names = ['data', 'segment_ids', 'num_segments'];
  const kinds = ['Sum', 'Prod', 'Max', 'Min'];
  const graph = await loadGraphDef(
    tensorflow.GraphDef.encode({
      node: [
        ...[1, 3, 3].map((dtype, i) => ({
          name: names[i] as string,
          op: 'Placeholder',
          attr: new Map([['dtype', type(dtype)]]),
        })),
        ...kinds.map((kind) => ({ name: kind, op: `Segment${kind}V2`, input: names })),
      ],
    }),
  );
  const run = graph.prune(
    names.map((name) => `${name}:0`),
    kinds.map((kind) => `${kind}:0`),
  );
  const data = tf.constant([1, 2, 3, -4, 5, 6, -7, 8], 'float32', { shape: [4, 2] });
  const results = run(data, tf.constant([0, 0, 2, 2], 'int32'), tf.constant(4, 'int32')) as tf.Tensor[];
  // tf.raw_ops.SegmentSumV2(data=…, segment_ids=[0, 0, 2, 2], num_segments=4) with jit_compile=True, and the others.
  const most = 3.4028234663852886e38;
  const wanted = [
    [4, -2, 0, 0, -2, 14, 0, 0],
    [3, -8, 1, 1, -35, 48, 1, 1],
    [3, 2, -most, -most, 5, 8, -most, -most],
    [1, -4, most, most, -7, 6, most, most],
  ];
  for (const [i, data] of wanted.entries())
    expectSame(results[i], { dtype: 'float32', shape: [4, 2], data }, kinds[i] as string);
});
