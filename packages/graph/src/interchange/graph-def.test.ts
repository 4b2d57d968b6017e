import { UnimplementedError } from '@eagre/backend';
import '@eagre/backend-js';
import {
  cast,
  concat,
  constant,
  linalg,
  nn,
  onesLike,
  pad,
  print,
  random,
  split,
  type Tensor,
  Variable,
  zerosLike,
} from '@eagre/core';
import { defineOp, execute1 } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { describe, expect, it } from 'vitest';
import * as v1 from '../compat/v1.ts';
import { cond } from '../control/cond.ts';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from '../function/function.ts';
import { Graph } from '../ir/graph.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';

const { DataType } = tensorflow;
type NodeDef = tensorflow.NodeDef;

function decoded(graph: Graph, options?: Parameters<Graph['asGraphDef']>[0]) {
  const def = tensorflow.GraphDef.decode(graph.asGraphDef(options));
  const byName = new Map(def.node?.map((node) => [node.name, node]));
  return { def, node: (name: string): NodeDef => byName.get(name) as NodeDef, names: [...byName.keys()] };
}

/** Attributes that are not there for TensorBoard alone. */
function attrs(node: NodeDef): Record<string, tensorflow.AttrValue> {
  return Object.fromEntries([...(node.attr ?? [])].filter(([key]) => !key.startsWith('_')));
}

const text = (s: string): { s: Uint8Array } => ({ s: new TextEncoder().encode(s) });
const float = { type: DataType.DT_FLOAT };
const double = { type: DataType.DT_DOUBLE };
const int = { type: DataType.DT_INT32 };

/** The numbers of an int32 constant that was made of an attribute. */
function ints(node: NodeDef): readonly number[] | undefined {
  return node.attr?.get('value')?.tensor?.int_val;
}

describe('asGraphDef', () => {
  it('writes draws as calls of functions, one for each distribution and dtype', () => {
    const f = tfFunction((x: Tensor) => [
      random.uniform([2, 3], { dtype: 'float64', maxval: 5 }).add(x),
      random.uniform([4], { dtype: 'float64' }),
      random.normal([2]),
      random.truncatedNormal([2]),
      random.uniform([2], { minval: 3, maxval: 9, dtype: 'int32' }),
      random.statelessUniform([2], [1, 2]),
    ]);
    const { node, def } = decoded(f.getConcreteFunction(constant(1, 'float64')).graph);
    const functions = new Map(
      def.library?.function?.map(({ signature, node_def }) => [signature?.name, node_def]),
    );
    expect([...functions.keys()]).toEqual([
      'draw_RandomUniform_float64',
      'draw_RandomStandardNormal_float32',
      'draw_TruncatedNormal_float32',
      'draw_RandomUniformInt_int32',
    ]);
    expect(node('RandomUniform').op).toBe('PartitionedCall');
    expect(node('RandomUniform').input).toEqual([
      'random_state/Read',
      'RandomUniform/shape',
      'RandomUniform/low',
      'RandomUniform/high',
    ]);
    expect(ints(node('RandomUniform/shape'))).toEqual([2, 3]);
    expect(attrs(node('RandomUniform'))).toEqual({
      Tin: { list: { type: [DataType.DT_INT64, DataType.DT_INT32, DataType.DT_DOUBLE, DataType.DT_DOUBLE] } },
      Tout: { list: { type: [DataType.DT_DOUBLE] } },
      f: { func: { name: 'draw_RandomUniform_float64' } },
    });
    expect(node('RandomUniform_1').input?.[0]).toBe('random_state/draw');
    expect(node('RandomUniformInt').input?.slice(2)).toEqual([
      'RandomUniformInt/low',
      'RandomUniformInt/range',
    ]);
    // Stateless draws are TensorFlow's own: of a shape, a key, a counter and an algorithm.
    expect(node('StatelessRandomUniformV2').input).toHaveLength(4);
    for (const [name, nodes] of functions)
      expect(
        nodes?.filter(({ op }) => op === 'StatelessRandomUniformFullIntV2'),
        name,
      ).toHaveLength(1);
  });

  it("leaves draws of sessions to TensorFlow's ops, where these give such numbers", () => {
    const graph = new v1.Graph();
    graph.asDefault(() => {
      random.normal([2], { dtype: 'float64' });
      random.uniform([2], { minval: 3, maxval: 9, dtype: 'int32' });
    });
    const { node } = tensorflow.GraphDef.decode(graph.asGraphDef());
    const seeds = { seed: { i: 0 }, seed2: { i: 0 } };
    const found = (op: string): NodeDef => node?.find((n) => n.op === op) as NodeDef;
    expect(attrs(found('RandomStandardNormal'))).toEqual({ ...seeds, dtype: double, T: int });
    expect(found('RandomUniformInt').input).toHaveLength(3);
    expect(attrs(found('RandomUniformInt'))).toEqual({ ...seeds, Tout: int, T: int });
  });

  it('refuses an op that draws by itself, except to look at', () => {
    /** Something and noise. */
    const drawing = defineOp({
      name: 'DrawsItself',
      compose: ([x]) => (x as Tensor).add(random.uniform([2])),
      notDifferentiable: 'a test',
      samples: () => [],
    });
    const { graph } = tfFunction((x: Tensor) => execute1(drawing, [x])).getConcreteFunction(constant([1, 2]));
    expect(() => graph.asGraphDef()).toThrow(UnimplementedError);
    expect(() => graph.asGraphDef()).toThrow("'DrawsItself' (DrawsItself) draws random numbers itself");
    expect(decoded(graph, { largestConstant: 10 }).node('DrawsItself').op).toBe('DrawsItself');
  });

  it('writes arguments, constants, variables, ops and results as TensorFlow does', () => {
    const w = new Variable(
      [
        [1, 2],
        [3, 4],
      ],
      { name: 'dense/kernel' },
    );
    const bias = constant([10, 20]);
    const f = tfFunction((x: Tensor) => x.matmul(w, { transposeB: true }).add(bias).relu());
    const { def, node, names } = decoded(f.getConcreteFunction(constant([[1, 1]])).graph);
    expect(names).toEqual([
      'args_0',
      'dense/kernel',
      'dense/kernel/Read',
      'MatMul',
      'Const',
      'AddV2',
      'Relu',
      'Identity',
    ]);
    expect(def.versions).toEqual({ producer: 2474, min_consumer: 12 });
    expect(def.library).toBe(undefined);
    expect(node('args_0')).toMatchObject({ op: 'Placeholder' });
    expect(attrs(node('args_0'))).toEqual({
      dtype: float,
      shape: { shape: { dim: [{ size: 1 }, { size: 2 }] } },
    });
    expect(node('dense/kernel')).toMatchObject({ op: 'VarHandleOp' });
    expect(attrs(node('dense/kernel'))['shared_name']).toEqual(text('dense/kernel'));
    expect(node('dense/kernel/Read')).toMatchObject({ op: 'ReadVariableOp', input: ['dense/kernel'] });
    expect(node('MatMul')).toMatchObject({ op: 'MatMul', input: ['args_0', 'dense/kernel/Read'] });
    expect(attrs(node('MatMul'))).toEqual({ T: float, transpose_a: { b: false }, transpose_b: { b: true } });
    expect(node('MatMul').attr?.get('_output_shapes')).toEqual({
      list: { shape: [{ dim: [{ size: 1 }, { size: 2 }] }] },
    });
    const value = attrs(node('Const'))['value']?.tensor;
    expect(value).toMatchObject({ dtype: DataType.DT_FLOAT, tensor_shape: { dim: [{ size: 2 }] } });
    expect(Buffer.from(value?.tensor_content ?? [])).toEqual(Buffer.from(new Float32Array([10, 20]).buffer));
    expect(node('AddV2')).toMatchObject({ op: 'AddV2', input: ['MatMul', 'Const'] });
    expect(node('Identity')).toMatchObject({ op: 'Identity', input: ['Relu'] });
  });

  it('makes constants of what are inputs of TensorFlow’s ops, and attributes of its types', () => {
    const f = tfFunction((x: Tensor) => {
      const [a, b] = split(x, [1, 2], 1) as [Tensor, Tensor];
      const joined = concat([b, a], 1).transpose().reshape([2, 3]).sum(1, { keepdims: true });
      return [
        cast(
          pad(joined, [
            [1, 0],
            [0, 2],
          ]),
          'int32',
        ),
        x.expandDims(1),
        x.argMax(1),
      ];
    });
    const { node } = decoded(
      f.getConcreteFunction(
        constant([
          [1, 2, 3],
          [4, 5, 6],
        ]),
      ).graph,
    );
    expect(node('SplitV').input).toEqual(['args_0', 'SplitV/size_splits', 'SplitV/split_dim']);
    expect(ints(node('SplitV/size_splits'))).toEqual([1, 2]);
    expect(attrs(node('SplitV'))).toEqual({ T: float, Tlen: int, num_split: { i: 2 } });
    expect(node('ConcatV2').input).toEqual(['SplitV:1', 'SplitV', 'ConcatV2/axis']);
    expect(attrs(node('ConcatV2'))).toEqual({ N: { i: 2 }, T: float, Tidx: int });
    expect(ints(node('Transpose/perm'))).toEqual([1, 0]);
    expect(ints(node('Reshape/shape'))).toEqual([2, 3]);
    expect(attrs(node('Sum'))).toEqual({ T: float, Tidx: int, keep_dims: { b: true } });
    expect(node('PadV2/paddings').attr?.get('value')?.tensor).toEqual({
      dtype: DataType.DT_INT32,
      tensor_shape: { dim: [{ size: 2 }, { size: 2 }] },
      int_val: [1, 0, 0, 2],
    });
    expect(attrs(node('Cast'))).toEqual({ SrcT: float, DstT: int, Truncate: { b: false } });
    expect(ints(node('ExpandDims/dim'))).toEqual([1]);
    expect(attrs(node('ArgMax'))['output_type']).toEqual({ type: DataType.DT_INT64 });
  });

  it('writes decompositions with the attributes and results of TensorFlow’s op', () => {
    const f = tfFunction((x: Tensor) => [
      ...linalg.svd(x, { fullMatrices: true }),
      linalg.svd(x, { computeUV: false }),
    ]);
    const x = constant([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const { def, node } = decoded(f.getConcreteFunction(x).graph);
    expect(attrs(node('Svd'))).toEqual({ T: float, compute_uv: { b: true }, full_matrices: { b: true } });
    expect(attrs(node('Svd_1'))).toEqual({ T: float, compute_uv: { b: false }, full_matrices: { b: false } });
    expect(node('Svd_1').attr?.get('_output_shapes')?.list?.shape).toHaveLength(3);
    expect(def.node?.slice(-4).map(({ input }) => input?.[0])).toEqual(['Svd', 'Svd:1', 'Svd:2', 'Svd_1']);
  });

  it('writes ones and zeros like a tensor without a dtype, which TensorFlow’s ops have not', () => {
    const f = tfFunction((x: Tensor) => [onesLike(x), zerosLike(x, 'int32')]);
    const { node } = decoded(f.getConcreteFunction(constant([1, 2])).graph);
    expect([node('OnesLike').op, node('OnesLike').input, attrs(node('OnesLike'))]).toEqual([
      'OnesLike',
      ['args_0'],
      { T: float },
    ]);
    expect([node('ZerosLike').op, attrs(node('ZerosLike'))]).toEqual(['Fill', { T: int, index_type: int }]);
    expect(ints(node('ZerosLike/dims'))).toEqual([2]);
  });

  it('tells the padding of convolutions by its name', () => {
    const filter = constant(new Float32Array(9), 'float32').reshape([3, 3, 1, 1]);
    const padding = (given: 'SAME' | 'VALID' | [[number, number], [number, number]]) => {
      const f = tfFunction((x: Tensor) => nn.conv2d(x, filter, { strides: 2, padding: given }));
      const { node } = decoded(
        f.getConcreteFunction(constant(new Float32Array(64)).reshape([1, 8, 8, 1])).graph,
      );
      expect(attrs(node('Conv2D'))['strides']).toEqual({ list: { i: [1, 2, 2, 1] } });
      const { padding, explicit_paddings } = attrs(node('Conv2D'));
      return [new TextDecoder().decode(padding?.s), explicit_paddings?.list?.i];
    };
    expect(padding('SAME')).toEqual(['SAME', undefined]);
    expect(padding('VALID')).toEqual(['VALID', undefined]);
    expect(
      padding([
        [2, 0],
        [1, 1],
      ]),
    ).toEqual(['EXPLICIT', [0, 0, 2, 0, 1, 1, 0, 0]]);
  });

  it('orders what has effects, and lets results wait for it', () => {
    const v = new Variable([1, 2], { name: 'v' });
    const f = tfFunction((x: Tensor) => {
      print('before', x);
      v.assignAdd(x);
      print('after');
      return x.neg();
    });
    const { node } = decoded(f.getConcreteFunction(constant([1, 1])).graph);
    expect(node('PrintV2').input).toEqual(['args_0']);
    expect(node('PrintV2_1').input).toEqual(['^PrintV2']);
    expect(node('v/Assign')).toMatchObject({ op: 'AssignVariableOp', input: ['v', 'AddV2', '^v/Read'] });
    expect(node('Identity').input).toEqual(['Neg', '^PrintV2_1', '^v/Assign']);
  });

  it('writes moments in terms of ops that TensorFlow has', () => {
    const f = tfFunction((x: Tensor) => nn.moments(x, 0), { inputSignature: [new TensorSpec([null, 2])] });
    const { node, names } = decoded(f.getConcreteFunction(constant([[1, 1]])).graph);
    expect(names).toEqual([
      'args_0',
      'Moments/mean/reduction_indices',
      'Moments/mean',
      'Moments/SquaredDifference',
      'Moments/variance/reduction_indices',
      'Moments/variance',
      'Moments/Squeeze',
      'Moments/Squeeze_1',
      'Identity',
      'Identity_1',
    ]);
    expect(node('Moments/SquaredDifference').input).toEqual(['args_0', 'Moments/mean']);
    const shape = { list: { shape: [{ dim: [{ size: -1 }, { size: 2 }] }] } };
    expect(node('Moments/SquaredDifference').attr?.get('_output_shapes')).toEqual(shape);
    expect(node('Identity_1').input).toEqual(['Moments/Squeeze_1']);
  });

  it('leaves large constants out if asked', () => {
    const table = constant(new Float32Array(1000));
    const f = tfFunction((x: Tensor) => x.add(table));
    const { graph } = f.getConcreteFunction(constant(1));
    expect(graph.asGraphDef().length).toBeGreaterThan(4000);
    const { node } = decoded(graph, { largestConstant: 1024 });
    expect(attrs(node('Const'))).toEqual({ dtype: float });
    expect(() => graph.asGraphDef({ largest: 1024 } as never)).toThrow(
      "Graph.asGraphDef: 'largest' is not an option; the options are largestConstant",
    );
    expect(() => (graph.toDot as (x: number) => string)(1)).toThrow('takes at most 0 arguments');
  });

  it('keeps Eagre’s own ops under their names, and writes names that TensorFlow accepts', () => {
    const f = tfFunction((x: Tensor) => nn.gelu(x));
    const { graph } = f.getConcreteFunction(constant([1]));
    const { def } = decoded(graph);
    for (const { name } of def.node ?? []) expect(name).toMatch(/^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$/);
    expect(def.node?.some(({ op }) => op === 'Gelu')).toBe(true);
  });

  it('makes functions of graphs inside of attributes', () => {
    const type = { dtype: 'float32', shape: [2] } as const;
    const body = new Graph('body');
    const [x] = body.add('Placeholder', { kind: 'argument' }, [], {}, [type], { name: 'x' }).outputs;
    const twice = body.add('AddV2', { kind: 'argument' }, [], {}, [type]);
    if (x === undefined) throw new Error('no output');
    body.arguments.push(x, ...twice.outputs);
    body.outputs = [x];
    const graph = new Graph('main');
    const [a] = graph.add('Placeholder', { kind: 'argument' }, [], {}, [type], { name: 'a' }).outputs;
    if (a === undefined) throw new Error('no output');
    graph.arguments.push(a);
    const nothing = { kind: 'host', fn: () => undefined, results: [type] } as const;
    const call = graph.add('Switch', nothing, [a], { branches: [body, body], other: body }, [type]);
    graph.outputs = call.outputs;
    const { def, node } = decoded(graph);
    expect(attrs(node('Switch'))).toMatchObject({
      branches: { list: { func: [{ name: 'body' }, { name: 'body' }] } },
      other: { func: { name: 'body' } },
    });
    expect(def.library?.function).toHaveLength(1);
    expect(def.library?.function?.[0]).toMatchObject({
      signature: {
        name: 'body',
        input_arg: [
          { name: 'x', type: DataType.DT_FLOAT },
          { name: 'AddV2', type: DataType.DT_FLOAT },
        ],
        output_arg: [{ name: 'output', type: DataType.DT_FLOAT }],
      },
      ret: new Map([['output', 'x']]),
    });
  });

  it('writes -1 for sizes of placeholders that may be any, and computes with them in nodes', () => {
    const f = tfFunction((x: Tensor) => x.reshape([-1]).add(1), {
      inputSignature: [new TensorSpec([null, 3])],
    });
    const { node } = decoded(f.getConcreteFunction().graph);
    expect(attrs(node('args_0'))['shape']).toEqual({ shape: { dim: [{ size: -1 }, { size: 3 }] } });
    expect(node('AddV2').attr?.get('_output_shapes')).toEqual({ list: { shape: [{ dim: [{ size: -1 }] }] } });
    expect(node('Reshape').input).toEqual(['args_0', 'Reshape/shape']);
    expect(node('Reshape/shape')).toMatchObject({ op: 'Identity', input: ['sizes/Pack'] });
    expect(node('sizes/Pack').input).toEqual(['sizes/Mul']);
    expect(node('sizes/Mul').input).toEqual(['sizes/Const', 'sizes/StridedSlice']);
    expect(ints(node('sizes/Const'))).toEqual([3]);
    expect(node('sizes/StridedSlice').input?.[0]).toBe('sizes/Shape');
    expect(node('sizes/Shape').input).toEqual(['args_0']);
  });

  it('writes branches and loops as TensorFlow does', () => {
    const v = new Variable([2, 2], { name: 'v' });
    const f = tfFunction((x: Tensor, n: Tensor) => {
      const [, y] = whileLoop(
        (i) => i.less(n),
        (i, z) => [i.add(1), z.mul(v)],
        [constant(0, 'int32'), x] as [Tensor, Tensor],
      ) as [Tensor, Tensor];
      return cond(
        y.sum().greater(0),
        () => y,
        () => y.neg(),
      );
    });
    const { def, node } = decoded(f.getConcreteFunction(constant([1, 2]), constant(3, 'int32')).graph);
    const loop = node('While');
    const inputs = loop.input?.length as number;
    expect(loop.attr?.get('T')?.list?.type).toHaveLength(inputs);
    const functions = new Map(def.library?.function?.map((g) => [g.signature?.name, g.signature]));
    const body = functions.get(loop.attr?.get('body')?.func?.name);
    // TensorFlow's loops return all that goes into them.
    expect(body?.input_arg).toHaveLength(inputs);
    expect(body?.output_arg?.map((a) => a.type)).toEqual(loop.attr?.get('T')?.list?.type);
    expect(functions.get(loop.attr?.get('cond')?.func?.name)?.output_arg).toEqual([
      { name: 'output', type: DataType.DT_BOOL },
    ]);
    const branch = node('If');
    expect(attrs(branch)).toMatchObject({
      Tcond: { type: DataType.DT_BOOL },
      Tout: { list: { type: [DataType.DT_FLOAT] } },
    });
    for (const key of ['then_branch', 'else_branch']) {
      const signature = functions.get(branch.attr?.get(key)?.func?.name);
      expect(signature?.input_arg).toHaveLength((branch.input?.length as number) - 1);
      expect(signature?.output_arg).toHaveLength(1);
    }
  });
});
