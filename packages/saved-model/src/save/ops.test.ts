// Every op of the catalogue, as TensorFlow's graphs have it.
import '@eagre/backend-js';
import { constant, type Tensor, zeros } from '@eagre/core';
import { type Attrs, execute, listOps, type Op } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { type ConcreteFunction, tfFunction } from '@eagre/graph';
import { signatureOfOp } from '@eagre/graph/interchange';
import { materialize } from '@eagre/testing';
import { describe, expect, test } from 'vitest';
import { savedModelOf } from './saved-model.ts';

/** Ops without a graph, or samples of which there is no form in TensorFlow's ops, and why. */
const left: Readonly<Record<string, RegExp>> = {
  InvertPermutation: /no value while tf.function traces/,
  CheckNumericsV2: /no value while tf.function traces/,
  // Of matrices that are not square.
  Lu: /cannot be written for TensorFlow/,
  // With pixels around the images that TensorFlow's op does not have.
  MaxPoolWithArgmax: /cannot be written for TensorFlow/,
  AvgPoolGrad: /cannot be written for TensorFlow/,
  // Parts of TensorFlow's ops, or of its loops: labels each once, the windows of fractional pools, the segments of isotonic regressions.
  CtcUniqueLabels: /cannot be written for TensorFlow/,
  FractionalPoolingSequence: /cannot be written for TensorFlow/,
  IsotonicSegments: /cannot be written for TensorFlow/,
  // TensorFlow's takes a seed, and one with a key only beside a generator's state.
  RandomBinomialByKey: /cannot be written for TensorFlow/,
  // Its method is a string, which graphs have no constants of.
  Fingerprint: /cannot be written for TensorFlow|Fingerprint/,
  // Derivatives that TensorFlow does not have, and orders as integers.
  HostSlope: /cannot be written for TensorFlow/,
  Polygamma: /cannot be written for TensorFlow/,
};

/** Nodes that TensorFlow would refuse. */
function wrongNodes(nodes: readonly tensorflow.NodeDef[], functions: ReadonlySet<string>): string[] {
  return nodes.flatMap((node) => {
    const { name = '', op = '', input = [], attr = new Map() } = node;
    const signature = signatureOfOp(op);
    if (signature === null) return [`${name}: there is no ${op}`];
    const wrong: string[] = [];
    for (const each of signature.attrs.values()) {
      const value = attr.get(each.name);
      if (value === undefined && each.isRequired) wrong.push(`${name} (${op}) lacks ${each.name}`);
      const [list] = Object.values(value?.list ?? {}) as (readonly unknown[])[];
      const size = value?.i ?? list?.length;
      if (size !== undefined && each.least > 0 && Number(size) < each.least)
        wrong.push(`${name} (${op}) has ${each.name} ${size}, below ${each.least}`);
      const dtype = value?.type;
      if (dtype !== undefined && each.dtypes !== null && !each.dtypes.has(dtype))
        wrong.push(`${name} (${op}) has ${each.name} ${dtype}`);
    }
    for (const key of attr.keys())
      if (!key.startsWith('_') && !signature.attrs.has(key)) wrong.push(`${name} (${op}) has a ${key}`);
    const data = input.filter((i) => !i.startsWith('^')).length;
    if (!signature.inputs.some(({ isList }) => isList) && data !== signature.inputs.length)
      wrong.push(`${name} (${op}) has ${data} inputs`);
    for (const { func } of attr.values() as Iterable<tensorflow.AttrValue>)
      if (func !== undefined && !functions.has(func.name ?? '')) wrong.push(`${name} calls ${func.name}`);
    return wrong;
  });
}

function traced(op: Op, inputs: readonly Tensor[], attrs: Attrs): ConcreteFunction {
  return tfFunction((...xs: Tensor[]) => execute(op, xs, attrs) as Tensor[]).getConcreteFunction(...inputs);
}

/** Ops of `left` of which a sample was indeed refused. */
const refused = new Set<string>();

describe('each op', () => {
  for (const op of listOps().values())
    test(op.name, () => {
      for (const [index, sample] of op.samples().entries()) {
        const inputs = materialize(sample, 'float32', index + 1);
        if (inputs.some(({ dtype }) => dtype === 'string')) continue;
        try {
          const f = traced(op, inputs, sample.attrs ?? {});
          const { proto } = savedModelOf({ f }, new Map());
          const library = proto.meta_graphs?.[0]?.graph_def?.library?.function ?? [];
          const names = new Set(library.map(({ signature }) => signature?.name ?? ''));
          expect(library.flatMap(({ node_def = [] }) => wrongNodes(node_def, names))).toEqual([]);
        } catch (error) {
          expect((error as Error).message).toMatch(left[op.name] ?? /^$/);
          refused.add(op.name);
        }
      }
    });
});

/** Lists of one, which TensorFlow's ops may not take. */
const short: Readonly<Record<string, Attrs>> = {
  ConcatV2: { axis: 0 },
  Pack: { axis: 0 },
  AddN: {},
  SplitV: { sizes: [4], axis: 0 },
  Unpack: { axis: 1 },
  DepthToSpace: { blockSize: 1 },
  SpaceToDepth: { blockSize: 1 },
};
test.each(Object.entries(short))('%s of one', (name, attrs) => {
  const f = traced(listOps().get(name) as Op, [zeros([4, 1, 2, 3])], attrs);
  const library = savedModelOf({ f }, new Map()).proto.meta_graphs?.[0]?.graph_def?.library?.function ?? [];
  expect(library.flatMap(({ node_def = [] }) => wrongNodes(node_def, new Set()))).toEqual([]);
});

test('what is left out cannot be written indeed', () => {
  expect(Object.keys(left).filter((name) => !refused.has(name))).toEqual([]);
});

test('an op of a program is written as its scalar program', () => {
  const op = listOps().get('Silu') as Op;
  const f = traced(op, [constant([1, 2])], {});
  const [fn] = savedModelOf({ f }, new Map()).proto.meta_graphs?.[0]?.graph_def?.library?.function ?? [];
  expect(fn?.node_def?.map(({ op }) => op)).toEqual(['Sigmoid', 'Mul']);
});
