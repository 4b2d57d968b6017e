// Functions as graphs of TensorFlow.js: nodes in JSON, variables and constants as weights beside them.
import { InternalError } from '@eagre/backend';
import { InvalidArgumentError, Tensor, UnimplementedError, Variable } from '@eagre/core';
import { isPlain, TableResource } from '@eagre/core/internal';
import { dataTypeInfo, decodeTensorProto, type NDArray, tensorflow } from '@eagre/formats';
import { encodeTfjsModel, type TfjsArray, toProtoJson } from '@eagre/formats/tensorflow-js';
import type { ConcreteFunction } from '@eagre/graph';
import { type Capture, compositionOf, Library, Names, signatureOfOp } from '@eagre/graph/interchange';
import { namedInputs } from './functions.ts';
import { fused } from './fused.ts';
import { parametersOf } from './parameters.ts';
import { outputNames, SERVING_DEFAULT } from './signatures.ts';
import { shapeProto, typeOf } from './structured-value.ts';

type AttrValue = tensorflow.AttrValue;
type NodeDef = tensorflow.NodeDef;
type FunctionDef = tensorflow.FunctionDef;

const OP = 'savedModel.save';
const MAIN = 'main';
const RESOURCE = 20;
const VARIANT = 21;
const STRING = 7;
const INT32 = 3;
const BOOL = 10;

/** The ops that TensorFlow.js 4.22 runs, and computes as TensorFlow does. Its Mod is FloorMod. */
const OPS: ReadonlySet<string> = new Set(
  (
    'Add AddV2 AddN BiasAdd Sub RealDiv Div DivNoNan FloorDiv Mul Maximum Minimum Pow SquaredDifference FloorMod Abs Acos Asin Atan Atan2 Ceil ' +
    'ClipByValue Complex ComplexAbs Cos Cosh Elu Exp Floor Log Imag Neg Real Prelu Relu Relu6 Selu Sigmoid Sin Sinh Sqrt Rsqrt Square Tan Tanh ' +
    'Sign Round Expm1 Log1p Reciprocal Softplus Asinh Acosh Atanh Erf LeakyRelu IsNan IsFinite IsInf EmptyTensorList TensorListScatter ' +
    'TensorListScatterV2 TensorListGather TensorListGetItem TensorListSetItem TensorListReserve TensorListFromTensor TensorListStack ' +
    'TensorListSplit TensorListConcat TensorListConcatV2 TensorListPopBack TensorListPushBack TensorListLength TensorListResize AvgPool MaxPool ' +
    'MaxPoolWithArgmax AvgPool3D MaxPool3D Conv2D Conv2DBackpropInput DepthwiseConv2dNative Conv3D Dilation2D Fill LinSpace OneHot OnesLike ' +
    'Range ZerosLike NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 Where ListDiff LowerBound TopKV2 ' +
    'UpperBound Unique UniqueV2 Identity IdentityN Rank Size Shape ShapeN NoOp StopGradient FakeQuantWithMinMaxVars ResizeBilinear ' +
    'ResizeNearestNeighbor CropAndResize ImageProjectiveTransformV3 Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalNot ' +
    'LogicalOr Select SelectV2 BitwiseAnd MatMul BatchMatMul BatchMatMulV2 Transpose Einsum MatrixBandPart EuclideanNorm FusedBatchNorm ' +
    'FusedBatchNormV2 FusedBatchNormV3 LRN Softmax LogSoftmax RaggedGather RaggedRange RaggedTensorToTensor Bincount DenseBincount Max Mean Min ' +
    'Sum All Any ArgMax ArgMin Prod Cumprod Cumsum ConcatV2 GatherV2 ReverseV2 Slice StridedSlice Pack Unpack Tile Split SplitV ScatterNd ' +
    'GatherNd SparseToDense TensorScatterUpdate SparseFillEmptyRows SparseReshape SparseSegmentMean SparseSegmentSum FFT IFFT RFFT IRFFT Cast ' +
    'ExpandDims MirrorPad Pad PadV2 Reshape EnsureShape Squeeze SpaceToBatchND BatchToSpaceND DepthToSpace BroadcastTo BroadcastArgs'
  ).split(' '),
);
/** Ops that are another one there, since nothing is computed back through them. */
const SAME: ReadonlyMap<string, string> = new Map([
  ['PreventGradient', 'Identity'],
  ['CheckNumerics', 'Identity'],
  ['BatchMatMulV3', 'BatchMatMulV2'],
  ['Rint', 'Round'],
]);
/** Ops in terms of those that it has: each takes the results of others, by their places, the argument (x) or one (1). The last is the result. */
const PARTS: ReadonlyMap<string, readonly (readonly [op: string, ...inputs: ('x' | '1' | number)[]])[]> =
  new Map([
    [
      'Erfc',
      [
        ['Erf', 'x'],
        ['Sub', '1', 0],
      ],
    ],
    [
      'Softsign',
      [
        ['Abs', 'x'],
        ['AddV2', 0, '1'],
        ['RealDiv', 'x', 1],
      ],
    ],
  ]);
/** Ops that only look at values: its converter leaves them out, too. */
const CHECKS: ReadonlySet<string> = new Set(['Assert', 'NoOp']);

/**
 * The files of a graph model, of which the last is the JSON.
 * @param file the name of the JSON
 * @throws UnimplementedError for what TensorFlow.js has no op for, with the names of all such ops; for random numbers, tables, texts, and
 * variables that change. InvalidArgumentError for integers beyond 32 bits.
 */
export function encodeGraphModel(
  concrete: ConcreteFunction,
  file: string,
): readonly (readonly [name: string, content: Uint8Array])[] {
  const { graph, structuredOutputs } = concrete.saved;
  const inputs = namedInputs(concrete.structuredInputSignature, parametersOf(concrete.hostFunction));
  const library = new Library({}, { compose: compositionOf, customGradients: false });
  const captures = library.add(MAIN, graph, { arguments: inputs.map(({ name }) => name) });
  const writer = new GraphModelWriter(library.functions());
  const named = outputNames(structuredOutputs, SERVING_DEFAULT);
  const keys = named.map(({ name }) => name);
  const written = writer.main(MAIN, inputs.length, captures);
  const infos = (
    list: readonly {
      readonly name: string;
      readonly type: number;
      readonly shape: tensorflow.TensorShapeProto;
    }[],
    names: readonly string[],
  ): Map<string, tensorflow.TensorInfo> =>
    new Map(
      list.map(({ name, type, shape }, i) => [
        names[i] as string,
        { name: `${name}:0`, dtype: type, tensor_shape: shape },
      ]),
    );
  const isNamed = isPlain(structuredOutputs) || structuredOutputs instanceof Map;
  return encodeTfjsModel(
    file,
    {
      format: 'graph-model',
      generatedBy: 'Eagre',
      convertedBy: null,
      signature: toProtoJson(tensorflow.SignatureDef, {
        inputs: infos(
          written.inputs.map((name, i) => {
            const { dtype, shape } = (inputs[i] as (typeof inputs)[0]).spec;
            return { name, type: typeOf(dtype), shape: shapeProto(shape) };
          }),
          inputs.map(({ name }) => name),
        ),
        outputs: infos(
          written.outputs.map((output, i) => ({
            ...output,
            shape: shapeProto((named[i] as (typeof named)[0]).spec.shape),
          })),
          keys,
        ),
      }),
      ...(isNamed ? { userDefinedMetadata: { structuredOutputKeys: keys } } : {}),
      modelTopology: toProtoJson(tensorflow.GraphDef, written.graph),
    },
    written.weights,
  );
}

interface Written {
  readonly graph: tensorflow.GraphDef;
  /** The names of the placeholders. */
  readonly inputs: readonly string[];
  readonly outputs: readonly { readonly name: string; readonly type: number }[];
  readonly weights: readonly TfjsArray[];
}

interface Argument {
  readonly name: string;
  readonly type: number;
}

/** One of several branches, each a function of the number and the arguments. */
interface Choice {
  readonly branches: readonly string[];
  readonly types: readonly number[];
  readonly results: readonly number[];
}

/** What the values of a function are called among the nodes. */
type References = Map<string, string>;

class GraphModelWriter {
  readonly #functions: ReadonlyMap<string, FunctionDef>;
  /** Of nodes and weights: there is one list of weights for all functions. */
  readonly #names = new Names();
  readonly #weights: TfjsArray[] = [];
  readonly #library: FunctionDef[] = [];
  readonly #done = new Map<string, string>();
  readonly #lacking = new Set<string>();
  /** What is known of the shapes of values, by how nodes name them. */
  readonly #shapes = new Map<string, readonly number[]>();

  constructor(functions: readonly FunctionDef[]) {
    this.#functions = new Map(functions.map((fn) => [fn.signature?.name ?? '', fn]));
  }

  main(name: string, count: number, captures: readonly Capture[]): Written {
    const fn = this.#function(name);
    const { input_arg: args = [], output_arg: results = [] } = fn.signature ?? {};
    const nodes: NodeDef[] = [];
    const references: References = new Map();
    const shapes = fn.attr?.get('_input_shapes')?.list?.shape ?? [];
    const inputs = args.slice(0, count).map(({ name: arg = '', type = 0 }, i) => {
      const own = this.#names.take(arg);
      checkType(type, `the input '${arg}'`);
      nodes.push({
        name: own,
        op: 'Placeholder',
        attr: new Map<string, AttrValue>([
          ['dtype', { type }],
          ['shape', { shape: shapes[i] ?? { unknown_rank: true } }],
        ]),
      });
      references.set(arg, own);
      this.#note(own, shapes[i]);
      return own;
    });
    args.slice(count).forEach(({ name: arg = '' }, i) => {
      const capture = captures[i];
      const array = capturedArray(capture);
      const wanted = capture instanceof Variable ? capture.path : arg;
      references.set(arg, this.#constant(nodes, wanted, array));
    });
    this.#body(fn, nodes, references);
    const outputs = results.map(({ name: result = '', type = 0 }) => {
      const from = this.#reference(fn, fn.ret?.get(result) ?? '', references);
      const own = this.#names.take('Identity');
      nodes.push(node(own, 'Identity', [from], { T: { type } }));
      return { name: own, type };
    });
    if (this.#lacking.size > 0)
      throw new UnimplementedError(
        `TensorFlow.js has no op ${[...this.#lacking].sort().join(', ')}; save the model as a SavedModel, or for ONNX`,
        OP,
      );
    const library = this.#library.length === 0 ? {} : { library: { function: this.#library } };
    const own = this.#joined(
      alive(
        nodes,
        outputs.map((output) => output.name),
      ),
    );
    const kept = new Set([own, ...this.#library.map((f) => f.node_def ?? [])].flat().map((n) => n.name));
    return {
      graph: { node: own, ...library, versions: {} },
      inputs,
      outputs,
      weights: this.#weights.filter((weight) => kept.has(weight.name)),
    };
  }

  #function(name: string): FunctionDef {
    const fn = this.#functions.get(name);
    if (fn === undefined) throw new InternalError(`there is no function '${name}'`, OP);
    return fn;
  }

  /**
   * Adds a branch or a body of a loop.
   * @param isNumbered whether it takes the number of a branch before its arguments, and does nothing with it
   * @returns its name
   */
  #inner(called: string, isNumbered = false): string {
    const key = isNumbered ? `numbered ${called}` : called;
    const known = this.#done.get(key);
    if (known !== undefined) return known;
    const name = this.#names.take(called);
    this.#done.set(key, name);
    const fn = this.#function(called);
    const { input_arg: args = [], output_arg: results = [] } = fn.signature ?? {};
    const references: References = new Map();
    const inputs = args.map(({ name: arg = '', type = 0 }, i) => {
      checkType(type, `'${arg}' of '${called}'`);
      // The names of nodes and weights are those of one list.
      const own = this.#names.take(`${name}/${arg}`);
      references.set(arg, own);
      this.#note(own, fn.attr?.get('_input_shapes')?.list?.shape?.[i]);
      return { name: own, type };
    });
    if (isNumbered) inputs.unshift({ name: this.#names.take(`${name}/index`), type: INT32 });
    const nodes: NodeDef[] = [];
    this.#body(fn, nodes, references, `${name}/`);
    const found = results.map(({ name: result = '', type = 0 }) => ({
      from: this.#reference(fn, fn.ret?.get(result) ?? '', references),
      type,
    }));
    this.#add(name, inputs, nodes, found);
    return name;
  }

  /** Adds a function. A node is the result of one place there, so that each has a node of its own. */
  #add(
    name: string,
    input_arg: readonly Argument[],
    nodes: NodeDef[],
    results: readonly { readonly from: string; readonly type: number }[],
  ): void {
    const ret = new Map<string, string>();
    const output_arg = results.map(({ from, type }, i): Argument => {
      const own = this.#names.take(`${name}/Identity`);
      nodes.push(node(own, 'Identity', [from], { T: { type } }));
      ret.set(`output_${i}`, `${own}:output:0`);
      return { name: `output_${i}`, type };
    });
    const own = this.#joined(alive(nodes, [...ret.values()]));
    this.#library.push({
      signature: { name, input_arg, output_arg },
      node_def: own.map(inFunction(own)),
      ret,
    });
  }

  /** The nodes of a function, under names of their own. */
  #body(fn: FunctionDef, nodes: NodeDef[], references: References, prefix = ''): void {
    for (const { name = '', op = '', input = [], attr = new Map<string, AttrValue>() } of fn.node_def ?? []) {
      const given = input
        .filter((one) => !one.startsWith('^'))
        .map((one) => () => this.#reference(fn, one, references));
      if (CHECKS.has(op)) continue;
      if (op === 'Const') {
        const array = decodeTensorProto(attr.get('value')?.tensor ?? {});
        if (array.dtype === 'string') throw texts(`the constant '${name}'`);
        references.set(name, this.#constant(nodes, prefix + name, array));
        continue;
      }
      if (op === 'ReadVariableOp') {
        references.set(name, (given[0] as () => string)());
        continue;
      }
      if (/^Assign.*VariableOp$|^Resource.*(Scatter|Apply)/.test(op))
        throw new UnimplementedError(
          `the function changes a variable (${name}), and variables are constants in TensorFlow.js: save a function that only computes, such as a model's predictions`,
          OP,
        );
      if (op === 'PartitionedCall' || op === 'StatefulPartitionedCall') throw random(name);
      const own = this.#names.take(prefix + name);
      references.set(name, own);
      const inputs = given.map((one) => one());
      for (const [i, shape] of (attr.get('_output_shapes')?.list?.shape ?? []).entries())
        this.#note(i === 0 ? own : `${own}:${i}`, shape);
      const attrs = new Map([...attr].filter(([key]) => !key.startsWith('_')));
      for (const { type, list } of attrs.values())
        for (const number of [...(type === undefined ? [] : [type]), ...(list?.type ?? [])])
          checkType(number, `'${name}'`);
      if (op === 'If' || op === 'StatelessIf' || op === 'While' || op === 'StatelessWhile') {
        for (const [key, value] of attrs)
          if (value.func !== undefined)
            attrs.set(key, { func: { name: this.#inner(value.func.name ?? '') } });
        nodes.push({
          name: own,
          op: op.startsWith('Stateless') ? op : `Stateless${op}`,
          input: inputs,
          attr: attrs,
        });
      } else if (op === 'Case' || op === 'StatelessCase') {
        const branches = attrs.get('branches')?.list?.func ?? [];
        const choice: Choice = {
          branches: branches.map(({ name: branch = '' }) => this.#inner(branch, true)),
          types: [INT32, ...(attrs.get('Tin')?.list?.type ?? [])],
          results: attrs.get('Tout')?.list?.type ?? [],
        };
        nodes.push(this.#chosen(nodes, own, inputs, choice));
      } else if (PARTS.has(op)) this.#parts(nodes, own, inputs[0] as string, op, attrs.get('T') ?? {});
      else {
        const theirs = SAME.get(op) ?? op;
        if (!OPS.has(theirs)) this.#lacking.add(op);
        const given = { name: own, op: theirs, input: inputs, attr: attrs };
        nodes.push(theirs === 'Conv2D' ? this.#convolution(nodes, given) : given);
      }
    }
  }

  /** The node of one of several branches from a number on: that branch, or what a function of the others chooses. All take the number. */
  #chosen(nodes: NodeDef[], name: string, inputs: readonly string[], choice: Choice, at = 0): NodeDef {
    const { branches, types, results } = choice;
    const number = this.#constant(nodes, `${name}/number`, {
      dtype: 'int32',
      shape: [],
      data: Int32Array.of(at),
    });
    const isIt = this.#names.take(`${name}/is`);
    nodes.push(node(isIt, 'Equal', [inputs[0] as string, number], { T: { type: INT32 } }));
    const other = at + 2 < branches.length ? this.#others(choice, at + 1) : (branches.at(-1) as string);
    return node(name, 'StatelessIf', [isIt, ...inputs], {
      Tcond: { type: BOOL },
      Tin: { list: { type: types } },
      Tout: { list: { type: results } },
      then_branch: { func: { name: branches[at] as string } },
      else_branch: { func: { name: other } },
    });
  }

  /** A function that chooses one of the branches from a number on. @returns its name */
  #others(choice: Choice, at: number): string {
    const fn = this.#names.take(`${choice.branches[at]}_and_others`);
    const args = choice.types.map(
      (type, i): Argument => ({ name: this.#names.take(`${fn}/argument_${i}`), type }),
    );
    const nodes: NodeDef[] = [];
    const own = this.#names.take(`${fn}/chosen`);
    nodes.push(
      this.#chosen(
        nodes,
        own,
        args.map(({ name }) => name),
        choice,
        at,
      ),
    );
    this.#add(
      fn,
      args,
      nodes,
      choice.results.map((type, i) => ({ from: i === 0 ? own : `${own}:${i}`, type })),
    );
    return fn;
  }

  #joined(nodes: readonly NodeDef[]): readonly NodeDef[] {
    const constants = new Set(this.#weights.map(({ name }) => name));
    const sizes = (name: string): readonly number[] => this.#shapes.get(name) ?? [];
    return fused(
      nodes,
      (name) => (constants.has(name) && sizes(name).length === 1 ? sizes(name)[0] : undefined),
      (name) => sizes(name).at(-1),
    );
  }

  #note(name: string, shape: tensorflow.TensorShapeProto | undefined): void {
    if (shape !== undefined && shape.unknown_rank !== true)
      this.#shapes.set(
        name,
        (shape.dim ?? []).map(({ size = 0 }) => Number(size)),
      );
  }

  #parts(nodes: NodeDef[], own: string, x: string, op: string, T: AttrValue): void {
    const parts = PARTS.get(op) ?? [];
    const made: string[] = [];
    for (const [i, [part, ...inputs]] of parts.entries()) {
      const given = inputs.map((input) => {
        if (typeof input === 'number') return made[input] as string;
        if (input === 'x') return x;
        return this.#constant(nodes, `${own}/one`, { dtype: 'float32', shape: [], data: Float32Array.of(1) });
      });
      made.push(i === parts.length - 1 ? own : this.#names.take(`${own}/${part}`));
      nodes.push(node(made[i] as string, part, given, { T }));
    }
  }

  /** A convolution of channels in groups: TensorFlow.js has none but of each channel by itself, as another op. */
  #convolution(nodes: NodeDef[], given: NodeDef): NodeDef {
    const [x = '', filter = ''] = given.input ?? [];
    const channels = this.#shapes.get(x)?.at(-1) ?? -1;
    const [height = -1, width = -1, depth = -1, wanted = -1] = this.#shapes.get(filter) ?? [];
    if (channels < 0 || depth < 0 || channels === depth) return given;
    const shape = [height, width, channels, wanted / channels];
    if (depth !== 1 || shape.some((size) => size < 0)) {
      this.#lacking.add('Conv2D in groups of several channels');
      return given;
    }
    const from = nodes.find(({ name, op }) => name === filter && op === 'Reshape')?.input?.[0] ?? filter;
    let own = from;
    if (String(this.#shapes.get(from)) !== String(shape)) {
      const sizes = this.#constant(nodes, `${given.name}/shape`, {
        dtype: 'int32',
        shape: [4],
        data: Int32Array.from(shape),
      });
      own = this.#names.take(`${given.name}/filter`);
      nodes.push(
        node(own, 'Reshape', [filter, sizes], { T: given.attr?.get('T') ?? {}, Tshape: { type: INT32 } }),
      );
    }
    return { ...given, op: 'DepthwiseConv2dNative', input: [x, own] };
  }

  /** How a node of the whole graph names a value. */
  #reference(fn: FunctionDef, given: string, references: References): string {
    const [name = '', output, place = '0'] = given.split(':');
    const own = references.get(name);
    if (own === undefined) throw new InternalError(`'${name}' is not in '${fn.signature?.name}'`, OP);
    if (output === undefined) return own;
    const from = fn.node_def?.find((n) => n.name === name);
    const { op = '' } = from ?? {};
    const outputs = signatureOfOp(op)?.outputs ?? [];
    const before = outputs.findIndex((o) => o.name === output);
    const index = Math.max(0, before) + Number(place);
    return index === 0 ? own : `${own}:${index}`;
  }

  /** Adds a constant, with its values among the weights. @returns its name */
  #constant(nodes: NodeDef[], wanted: string, array: NDArray): string {
    const name = this.#names.take(wanted);
    const type = typeOf(array.dtype);
    this.#weights.push({ name, array: narrowed(array, name) });
    this.#shapes.set(name, array.shape);
    nodes.push({
      name,
      op: 'Const',
      attr: new Map<string, AttrValue>([
        ['dtype', { type }],
        ['value', { tensor: { dtype: type, tensor_shape: shapeProto(array.shape) } }],
      ]),
    });
    return name;
  }
}

const node = (
  name: string,
  op: string,
  input: readonly string[],
  attrs: Readonly<Record<string, AttrValue>>,
): NodeDef => ({
  name,
  op,
  input,
  attr: new Map(Object.entries(attrs)),
});

const operationOf = (value: string): string => value.replace(/:.*$/s, '');

/** Nodes without those that no result needs; each comes behind what it needs. */
function alive(nodes: readonly NodeDef[], results: readonly string[]): readonly NodeDef[] {
  const used = new Set(results.map(operationOf));
  for (const { name = '', input = [] } of [...nodes].reverse())
    if (used.has(name)) for (const from of input) used.add(operationOf(from));
  return nodes.filter(({ name = '', op }) => op === 'Placeholder' || used.has(name));
}

/** A node as functions have it: there inputs name outputs, as in `product:0`. Of several outputs it gives the number. */
function inFunction(nodes: readonly NodeDef[]): (node: NodeDef) => NodeDef {
  const ops = new Map(nodes.map(({ name = '', op = '' }) => [name, op]));
  const named = (from: string): string => {
    const [name = '', place = '0'] = from.split(':');
    const op = ops.get(name);
    if (op === undefined) return from;
    const outputs = signatureOfOp(op)?.outputs ?? [];
    const [only] = outputs;
    // TensorFlow.js knows outputs by their numbers alone.
    return outputs.length > 1 ? from : `${name}:${only?.name ?? 'output'}:${place}`;
  };
  return (node) => ({ ...node, input: (node.input ?? []).map(named) });
}

/** What a function uses that is no argument. @throws UnimplementedError for what no constant stands for */
function capturedArray(capture: Capture | undefined): NDArray {
  if (capture instanceof Variable || capture instanceof Tensor) {
    if (capture.dtype === 'string')
      throw texts(capture instanceof Variable ? `'${capture.path}'` : 'a constant');
    return capture.ndarray() as NDArray;
  }
  if (capture instanceof TableResource)
    throw new UnimplementedError(
      `the table '${capture.name}' cannot be written for TensorFlow.js: look up before the function, and give it the numbers`,
      OP,
    );
  throw random('the function');
}

const random = (what: string): UnimplementedError =>
  new UnimplementedError(
    `${what} draws random numbers by a state, which TensorFlow.js does not have: draw outside, and give them as an argument`,
    OP,
  );
const texts = (what: string): UnimplementedError =>
  new UnimplementedError(`${what} holds texts, which are not written for TensorFlow.js`, OP);

/** The data types that it has, or reads as one that it has. */
const READ_AS: Readonly<Record<string, TfjsArray['array']['dtype']>> = {
  float32: 'float32',
  float64: 'float32',
  float16: 'float32',
  bfloat16: 'float32',
  int32: 'int32',
  int64: 'int32',
  int8: 'int32',
  uint8: 'int32',
  int16: 'int32',
  uint16: 'int32',
  bool: 'bool',
};

/** @throws UnimplementedError for a data type that TensorFlow.js has nothing for */
function checkType(type: number, what: string): void {
  const kind = type === STRING ? 'string' : type === RESOURCE ? 'a resource' : dataTypeInfo(type)?.kind;
  if (kind === 'string') throw texts(what);
  // Lists are values of its own.
  if (type === VARIANT || (kind !== undefined && Object.hasOwn(READ_AS, kind)) || kind === 'complex64')
    return;
  throw new UnimplementedError(
    `${what} is ${kind ?? `of the data type ${type}`}, which TensorFlow.js does not have`,
    OP,
  );
}

/** An array in the data type that its constant has there. @throws InvalidArgumentError for integers beyond 32 bits */
function narrowed(array: NDArray, name: string): TfjsArray['array'] {
  const dtype = Object.hasOwn(READ_AS, array.dtype) ? READ_AS[array.dtype] : undefined;
  if (dtype === undefined)
    throw new UnimplementedError(
      `the constant '${name}' is ${array.dtype}, which is not written for TensorFlow.js`,
      OP,
    );
  const { shape, data } = array;
  if (array.dtype === dtype) return array as TfjsArray['array'];
  if (dtype === 'float32') return { dtype, shape, data: Float32Array.from(data as Float64Array) };
  const integers = Array.from(data as ArrayLike<number | bigint>, Number);
  const wide = integers.find((value) => value < -(2 ** 31) || value >= 2 ** 31);
  if (wide !== undefined)
    throw new InvalidArgumentError(
      `the constant '${name}' holds ${wide}, and TensorFlow.js has integers of 32 bits`,
      OP,
    );
  return { dtype: 'int32', shape, data: Int32Array.from(integers) };
}
