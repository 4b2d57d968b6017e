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
