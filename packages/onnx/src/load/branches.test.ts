// Branches of models: one that does not fit fails where it is taken, and they need not be alike.
import { constant, ones, type Tensor } from '@eagre/core';
import { onnx } from '@eagre/formats';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { afterEach, expect, test, vi } from 'vitest';
import { load } from './load.ts';

afterEach(() => vi.restoreAllMocks());

const FLOAT = 1;
const BOOL = 9;
const info = (
  name: string,
  type: number,
  shape: readonly (number | string)[] | null,
): onnx.ValueInfoProto => ({
  name,
  type: {
    tensor_type: {
      elem_type: type,
      ...(shape === null
        ? {}
        : {
            shape: { dim: shape.map((d) => (typeof d === 'string' ? { dim_param: d } : { dim_value: d })) },
          }),
    },
  },
});
const node = (
  op_type: string,
  input: string[],
  output: string[],
  attribute: onnx.AttributeProto[] = [],
): onnx.NodeProto => ({
  op_type,
  input,
  output,
  attribute,
});
const branch = (name: string, nodes: onnx.NodeProto[]): onnx.AttributeProto => ({
  name,
  type: onnx.AttributeType.GRAPH,
  g: { name, node: nodes, output: [info(`${name}_y`, FLOAT, null)] },
});
const numbers = (name: string, list: readonly number[]): onnx.TensorProto =>
  onnx.encodeOnnxTensor(name, {
    dtype: 'int64',
    shape: [list.length],
    data: BigInt64Array.from(list, BigInt),
  });

/** y is x in a shape of its own in each branch. */
async function reshaping(yes: readonly number[], no: readonly number[], constantPredicate = false) {
  const graph: onnx.GraphProto = {
    name: 'g',
    node: [
      ...(constantPredicate ? [node('Less', ['one', 'two'], ['p'])] : []),
      node(
        'If',
        ['p'],
        ['y'],
        [
          branch('then_branch', [node('Reshape', ['x', 'yes'], ['then_branch_y'])]),
          branch('else_branch', [node('Reshape', ['x', 'no'], ['else_branch_y'])]),
        ],
      ),
    ],
    input: [info('x', FLOAT, ['n', 6]), ...(constantPredicate ? [] : [info('p', BOOL, [])])],
    output: [info('y', FLOAT, null)],
    initializer: [numbers('yes', yes), numbers('no', no), numbers('one', [1]), numbers('two', [2])],
  };
  return load(onnx.ModelProto.encode({ ir_version: 8, graph, opset_import: [{ domain: '', version: 17 }] }));
}

test('a constant predicate folds: the other branch is never looked at', async () => {
  const model = await reshaping([-1, 3], [7, 11, 13], true);
  expect((model(ones([2, 6])) as Tensor).shape).toEqual([4, 3]);
  expect((model(ones([3, 6])) as Tensor).shape).toEqual([6, 3]);
});

test('a branch that does not fit fails when it is taken', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const model = await reshaping([-1, 3], [5, 5]);
  expect((model(ones([2, 6]), constant(true)) as Tensor).shape).toEqual([4, 3]);
  expect(() => model(ones([2, 6]), constant(false))).toThrow('do not fit into [5, 5]');
  expect((model(ones([2, 6]), constant(true)) as Tensor).shape).toEqual([4, 3]);
  expect(warn).not.toHaveBeenCalled();
});

test('a function of any batch around it as well', async () => {
  const model = await reshaping([-1, 3], [5, 5, 0]);
  const inputSignature = [new TensorSpec([2, 6]), new TensorSpec([], 'bool')];
  const traced = (tfFunction as unknown as (fn: unknown, o: unknown) => (...xs: Tensor[]) => Tensor)(
    (x: Tensor, p: Tensor) => model(x, p),
    { inputSignature },
  );
  expect(traced(ones([2, 6]), constant(true)).shape).toEqual([4, 3]);
  expect(() => traced(ones([2, 6]), constant(false))).toThrow('there is no axis 2 to copy');
});

test('branches of other ranks run node by node, which is said once', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const model = await reshaping([-1, 3], [-1, 2, 3]);
  for (const [p, shape] of [
    [true, [4, 3]],
    [false, [2, 2, 3]],
    [true, [4, 3]],
  ] as const)
    expect((model(ones([2, 6]), constant(p)) as Tensor).shape).toEqual(shape);
  expect(warn).toHaveBeenCalledTimes(1);
});
