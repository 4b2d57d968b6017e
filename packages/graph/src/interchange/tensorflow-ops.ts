// Where a node of a graph and TensorFlow's op of the same name differ: in names, types of attributes, and inputs that are constants.
import { type DType, isComplex, UnimplementedError } from '@eagre/backend';
import {
  addDims,
  type Dim,
  type Dims,
  dims,
  dimsOf,
  floorDivDims,
  hasUnknown,
  hintOf,
  isExpression,
  maxDims,
  mulDims,
  PortableOp,
  shapesAgree,
  subDims,
  type TableResource,
  type TypedAttr,
} from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';

/** An input of TensorFlow's op that is an attribute here. */
export interface ConstantInput {
  /** The last part of the constant's name: `Reshape/shape`. */
  readonly name: string;
  readonly dtype: DType;
  /** A number for a scalar, rows for a matrix. Sizes that may be any are expressions. */
  readonly value: Dim | Dims | readonly Dims[];
}

/** A node as TensorFlow writes it. */
export interface TensorFlowOp {
  readonly op: string;
  /** The node's own inputs, by their place, and constants. */
  readonly inputs: readonly (number | ConstantInput)[];
  readonly attrs: Readonly<Record<string, TypedAttr>>;
  /** The table that is its first input, before the others. */
  readonly table?: TableResource;
  /** Shapes of outputs that the op has in TensorFlow alone, behind the node's own. */
  readonly moreOutputs?: readonly (readonly number[])[];
}

type Translate = (node: GraphNode, isUsed?: (output: number) => boolean) => TensorFlowOp | null;

const type = (value: DType): TypedAttr => ({ kind: 'type', value });
const int = (value: number): TypedAttr => ({ kind: 'int', value });
const ints = (value: readonly number[]): TypedAttr => ({ kind: 'ints', value });
const bool = (value: boolean): TypedAttr => ({ kind: 'bool', value });
const text = (value: string): TypedAttr => ({ kind: 'text', value });
/** What a product or convolution does to its results; null without a bias, which TensorFlow's ops insist on. */
function fused({ inputs, attrs }: GraphNode): Readonly<Record<string, TypedAttr>> | null {
  if (inputs.length < 3) return null;
  const value = attrs['activation'] === 1 ? ['BiasAdd', 'Relu'] : ['BiasAdd'];
  return { num_args: int(1), fused_ops: { kind: 'texts', value } };
}
const int32: TypedAttr = type('int32');

const indices = (name: string, value: ConstantInput['value']): ConstantInput => ({
  name,
  dtype: 'int32',
  value,
});
const input = ({ inputs }: GraphNode, i = 0): GraphValue => inputs[i];
const output = ({ outputs }: GraphNode): GraphValue => outputs[0];
const all = ({ inputs }: GraphNode): number[] => inputs.map((_, i) => i);
const attr = <T>({ attrs }: GraphNode, name: string): T => attrs[name] as T;

const reduction =
  (typed = true): Translate =>
  (node) => ({
    op: node.type,
    inputs: [0, indices('reduction_indices', attr<number[]>(node, 'axes'))],
    attrs: {
      ...(typed ? { T: type(input(node).dtype) } : {}),
      Tidx: int32,
      keep_dims: bool(attr(node, 'keepdims')),
    },
  });
const position: Translate = (node) => ({
  op: node.type,
  inputs: [0, indices('dimension', attr<number>(node, 'axis'))],
  attrs: { T: type(input(node).dtype), Tidx: int32, output_type: type(attr(node, 'dtype')) },
});
const scan: Translate = (node) => ({
  op: node.type,
  inputs: [0, indices('axis', attr<number>(node, 'axis'))],
  attrs: {
    T: type(input(node).dtype),
    Tidx: int32,
    exclusive: bool(attr(node, 'exclusive')),
    reverse: bool(attr(node, 'reverse')),
  },
});
/** Ops that have one attribute as a second input. */
const withConstant =
  (name: string, from: string, index: string): Translate =>
  (node) => ({
    op: node.type,
    inputs: [...all(node), indices(name, attr<number[]>(node, from))],
    attrs: { T: type(input(node).dtype), [index]: int32 },
  });
const reshape: Translate = (node) => ({
  op: 'Reshape',
  inputs: [0, indices('shape', dims(output(node)))],
  attrs: { T: type(input(node).dtype), Tshape: int32 },
});
const fill = (node: GraphNode, value: Dim): TensorFlowOp => {
  const { dtype } = output(node);
  return {
    op: 'Fill',
    inputs: [indices('dims', dims(output(node))), { name: 'value', dtype, value }],
    attrs: { T: type(dtype), index_type: int32 },
  };
};
/** TensorFlow's op has no dtype of its own: another than that of its input is filled in. */
const like =
  (value: number): Translate =>
  (node) => {
    const { dtype } = input(node);
    if (dtype !== output(node).dtype) return fill(node, value);
    return { op: node.type, inputs: [0], attrs: { T: type(dtype) } };
  };
/** Random numbers of a shape, by a seed of TensorFlow's own; null where these are not those of its op. */
const random =
  (zero: string, one: string): Translate =>
  (node) => {
    if (node.attrs[zero] !== 0 || node.attrs[one] !== 1) return null;
    const { dtype } = output(node);
    return {
      op: node.type,
      inputs: [indices('shape', dims(output(node)))],
      attrs: { seed: int(0), seed2: int(0), dtype: type(dtype), T: int32 },
    };
  };
/** A stateless draw whose inputs are a shape, a key and a counter, then parameters. */
const stateless =
  (attrs: (node: GraphNode) => Readonly<Record<string, TypedAttr>>): Translate =>
  (node) => {
    const alg: ConstantInput = { name: 'alg', dtype: 'int32', value: 1 };
    const parameters = all(node).slice(3);
    return { op: node.type, inputs: [0, 1, 2, alg, ...parameters], attrs: attrs(node) };
  };
const drawnDtype = (node: GraphNode): Readonly<Record<string, TypedAttr>> => ({
  dtype: type(output(node).dtype),
  Tshape: int32,
});
/** A sampler of classes, which TensorFlow seeds itself. */
const candidates =
  (more: (node: GraphNode) => Readonly<Record<string, TypedAttr>>): Translate =>
  (node) => ({
    op: node.type,
    inputs: [0],
    attrs: {
      num_true: int(attr<number>(node, 'numTrue')),
      num_sampled: int(attr<number>(node, 'numSampled')),
      unique: bool(attr<boolean>(node, 'unique')),
      seed: int(0),
      seed2: int(0),
      ...more(node),
    },
  });
const ranged = (node: GraphNode): Readonly<Record<string, TypedAttr>> => ({
  range_max: int(attr<number>(node, 'rangeMax')),
});
/** Ops between complex numbers and their parts. */
const complexParts: Translate = (node) => ({
  op: node.type,
  inputs: all(node),
  attrs: { T: type(input(node).dtype), Tout: type(output(node).dtype) },
});
/** Ops without a type of their own: truth values in and out. */
const untyped: Translate = (node) => ({ op: node.type, inputs: all(node), attrs: {} });

/** What of a tensor a strided slice takes. */
function stridedSlice(
  begin: Dims,
  size: Dims,
  strides: readonly number[],
): Pick<TensorFlowOp, 'attrs'> & { readonly inputs: readonly ConstantInput[] } {
  const end = begin.map((b, i) => addDims(b, mulDims(strides[i], size[i])));
  // Below 0 would count from the end; a bit of the mask means: as far as there is something.
  const mask = end.reduce<number>((bits, e, i) => (hintOf(e) < 0 ? bits | (1 << i) : bits), 0);
  return {
    inputs: [
      indices('begin', begin),
      indices(
        'end',
        end.map((e) => (hintOf(e) < 0 ? 0 : e)),
      ),
      indices('strides', strides),
    ],
    attrs: {
      begin_mask: int(0),
      end_mask: int(mask),
      ellipsis_mask: int(0),
      new_axis_mask: int(0),
      shrink_axis_mask: int(0),
    },
  };
}
/** Padding with mirrored values, and its gradient. */
const mirrored: Translate = (node) => {
  const { before, after, mode } = node.attrs as unknown as { before: Dims; after: Dims; mode: number };
  return {
    op: node.type,
    inputs: [
      0,
      indices(
        'paddings',
        before.map((b, i) => [b, after[i]]),
      ),
    ],
    attrs: {
      T: type(input(node).dtype),
      Tpaddings: int32,
      mode: text(mode === 1 ? 'REFLECT' : 'SYMMETRIC'),
    },
  };
};
/** Ops that put slices into a tensor. */
const scatter: Translate = (node) => ({
  op: node.type,
  inputs: [0, 1, 2],
  attrs: { T: type(input(node).dtype), Tindices: type(input(node, 1).dtype) },
});
/** An op whose only attribute here is 1 in TensorFlow; null for another one. */
const ofUnitAlpha: Translate = (node) =>
  attr<number>(node, 'alpha') === 1
    ? { op: node.type, inputs: all(node), attrs: { T: type(input(node).dtype) } }
    : null;

interface Window {
  readonly strides: readonly [number, number];
  /** Top, bottom, left, right. */
  readonly padding: Dims;
}

/** `SAME`, `VALID` or `EXPLICIT`. */
function padding(
  { strides, padding: pixels }: Window,
  size: Dims,
  window: Dims,
  dilations: readonly number[],
): Readonly<Record<string, TypedAttr>> {
  if (pixels.every((n) => n === 0)) return { padding: text('VALID') };
  const same = [0, 1].flatMap((i) => {
    const [s, n] = [strides[i], size[i]];
    const reach = addDims(mulDims(subDims(window[i], 1), dilations[i]), 1);
    const steps = floorDivDims(addDims(n, s - 1), s);
    const total = maxDims(0, subDims(addDims(mulDims(subDims(steps, 1), s), reach), n));
    const before = floorDivDims(total, 2);
    return [before, subDims(total, before)];
  });
  if (shapesAgree(same, pixels)) return { padding: text('SAME') };
  if (hasUnknown(pixels))
    throw new UnimplementedError(
      `a GraphDef cannot pad by [${pixels}] pixels: pad before the op, or use SAME or VALID`,
      'asGraphDef',
    );
  return { padding: text('EXPLICIT'), explicit_paddings: ints([0, 0, ...(pixels as number[]), 0, 0]) };
}

/** A convolution or one of its gradients: of images and filters of these shapes. */
function convolution(
  node: GraphNode,
  images: Dims,
  filters: Dims,
  inputs: TensorFlowOp['inputs'],
): TensorFlowOp {
  const window = node.attrs as unknown as Window & { readonly dilations: readonly [number, number] };
  const { strides, dilations } = window;
  return {
    op: node.type,
    inputs,
    attrs: {
      T: type(output(node).dtype),
      strides: ints([1, ...strides, 1]),
      dilations: ints([1, ...dilations, 1]),
      data_format: text('NHWC'),
      ...padding(window, images.slice(1, 3), filters.slice(0, 2), dilations),
    },
  };
}

/** Null where TensorFlow's pooling has no such padding. */
function pooling(
  node: GraphNode,
  images: Dims,
  more: Readonly<Record<string, TypedAttr>>,
): TensorFlowOp | null {
  const window = node.attrs as unknown as Window & { readonly window: readonly [number, number] };
  const pads = padding(window, images.slice(1, 3), window.window, [1, 1]);
  if ('explicit_paddings' in pads && node.type !== 'MaxPool') return null;
  return {
    op: node.type,
    inputs: all(node),
    attrs: {
      T: type(input(node).dtype),
      ksize: ints([1, ...window.window, 1]),
      strides: ints([1, ...window.strides, 1]),
      ...pads,
      ...more,
    },
  };
}

/** An op of one type, and flags that are attributes here too. */
const typed =
  (flags: Readonly<Record<string, string>> = {}): Translate =>
  (node) => ({
    op: node.type,
    inputs: all(node),
    attrs: {
      T: type(input(node).dtype),
      ...Object.fromEntries(
        Object.entries(flags).map(([theirs, ours]) => [theirs, bool(attr<boolean>(node, ours))]),
      ),
    },
  });
/** A Fourier transform of complex numbers. */
const transform: Translate = (node) =>
  // TensorFlow's are those of the last axes.
  node.attrs['axes'] === undefined
    ? { op: node.type, inputs: [0], attrs: { Tcomplex: type(input(node).dtype) } }
    : null;
/** One of real numbers, along so many axes, whose lengths are an input; of `real` numbers to complex ones, or back. */
const realTransform =
  (
    rank: number,
    real: (node: GraphNode) => GraphValue,
    complex: (node: GraphNode) => GraphValue,
  ): Translate =>
  (node) => ({
    op: node.type,
    inputs: [0, indices('fft_length', dims(real(node)).slice(-rank))],
    attrs: { Treal: type(real(node).dtype), Tcomplex: type(complex(node).dtype) },
  });

const translations: Readonly<Record<string, Translate>> = {
  MatMul: (node): TensorFlowOp => {
    const { transposeA, transposeB } = node.attrs as { transposeA: boolean; transposeB: boolean };
    const T = type(input(node).dtype);
    if (output(node).shape.length === 2)
      return {
        op: 'MatMul',
        inputs: [0, 1],
        attrs: { T, transpose_a: bool(transposeA), transpose_b: bool(transposeB) },
      };
    return {
      op: 'BatchMatMulV2',
      inputs: [0, 1],
      attrs: { T, adj_x: bool(transposeA), adj_y: bool(transposeB) },
    };
  },
  _FusedMatMul: (node): TensorFlowOp | null => {
    const { transposeA, transposeB } = node.attrs as { transposeA: boolean; transposeB: boolean };
    const more = fused(node);
    return more === null
      ? null
      : {
          op: '_FusedMatMul',
          inputs: all(node),
          attrs: {
            T: type(output(node).dtype),
            transpose_a: bool(transposeA),
            transpose_b: bool(transposeB),
            ...more,
          },
        };
  },
  Reshape: reshape,
  ExpandDims: (node): TensorFlowOp | null => {
    const shape = dims(output(node));
    const from = dims(input(node));
    const at = shape.findIndex(
      (d, i) => d === 1 && shapesAgree(from, [...shape.slice(0, i), ...shape.slice(i + 1)]),
    );
    if (at < 0) return reshape(node);
    return {
      op: 'ExpandDims',
      inputs: [0, indices('dim', at)],
      attrs: { T: type(input(node).dtype), Tdim: int32 },
    };
  },
  Squeeze: (node): TensorFlowOp | null => {
    const from = dims(input(node));
    // TensorFlow's op would squeeze what turns out to be 1, too.
    const whole =
      !hasUnknown(from) &&
      shapesAgree(
        dims(output(node)),
        from.filter((d) => d !== 1),
      );
    return whole ? { op: 'Squeeze', inputs: [0], attrs: { T: type(input(node).dtype) } } : reshape(node);
  },
  Transpose: withConstant('perm', 'perm', 'Tperm'),
  ReverseV2: withConstant('axis', 'axes', 'Tidx'),
  Tile: withConstant('multiples', 'multiples', 'Tmultiples'),
  BroadcastTo: withConstant('shape', 'shape', 'Tidx'),
  EuclideanNorm: reduction(),
  Elu: ofUnitAlpha,
  EluGrad: ofUnitAlpha,
  Sum: reduction(),
  Mean: reduction(),
  Prod: reduction(),
  Max: reduction(),
  Min: reduction(),
  All: reduction(false),
  Any: reduction(false),
  ArgMax: position,
  ArgMin: position,
  Cumsum: scan,
  Cumprod: scan,
  LogicalAnd: untyped,
  LogicalOr: untyped,
  LogicalNot: untyped,
  // Where gradients are left out, the values alone. TensorFlow finds no gradient of this name, and says so where one is asked for.
  CustomGradient: (node) => ({
    op: 'IdentityN',
    inputs: node.outputs.map((_, i) => i),
    attrs: {
      T: { kind: 'types', value: node.outputs.map(({ dtype }) => dtype) },
      _gradient_op_type: text('CustomGradient-unsaved'),
    },
  }),
  AssignedVariable: (node) => ({ op: 'Identity', inputs: [0], attrs: { T: type(input(node).dtype) } }),
  Cast: (node) => ({
    op: 'Cast',
    inputs: [0],
    attrs: { SrcT: type(input(node).dtype), DstT: type(output(node).dtype), Truncate: bool(false) },
  }),
  Bitcast: (node) => ({
    op: 'Bitcast',
    inputs: [0],
    attrs: { T: type(input(node).dtype), type: type(output(node).dtype) },
  }),
  Complex: complexParts,
  Real: complexParts,
  Imag: complexParts,
  Angle: complexParts,
  // TensorFlow's own Abs is one of real numbers.
  Abs: (node) =>
    isComplex(input(node).dtype) ? { ...(complexParts(node) as TensorFlowOp), op: 'ComplexAbs' } : null,
  Shape: (node) => ({ op: 'Shape', inputs: [0], attrs: { T: type(input(node).dtype), out_type: int32 } }),
  ConcatV2: (node): TensorFlowOp => {
    // TensorFlow's has at least two.
    if (node.inputs.length === 1)
      return { op: 'Identity', inputs: [0], attrs: { T: type(input(node).dtype) } };
    return {
      op: 'ConcatV2',
      inputs: [...all(node), indices('axis', attr<number>(node, 'axis'))],
      attrs: { N: int(node.inputs.length), T: type(input(node).dtype), Tidx: int32 },
    };
  },
  Pack: (node) => ({
    op: 'Pack',
    inputs: all(node),
    attrs: { N: int(node.inputs.length), T: type(input(node).dtype), axis: int(attr(node, 'axis')) },
  }),
  Unpack: (node) => ({
    op: 'Unpack',
    inputs: [0],
    attrs: { num: int(node.outputs.length), T: type(input(node).dtype), axis: int(attr(node, 'axis')) },
  }),
  AddN: (node) => ({
    op: 'AddN',
    inputs: all(node),
    attrs: { N: int(node.inputs.length), T: type(input(node).dtype) },
  }),
  SplitV: (node) => ({
    op: 'SplitV',
    inputs: [
      0,
      indices('size_splits', attr<number[]>(node, 'sizes')),
      indices('split_dim', attr<number>(node, 'axis')),
    ],
    attrs: { num_split: int(node.outputs.length), T: type(input(node).dtype), Tlen: int32 },
  }),
  GatherV2: (node) => ({
    op: 'GatherV2',
    inputs: [0, 1, indices('axis', attr<number>(node, 'axis'))],
    attrs: {
      Tparams: type(input(node).dtype),
      Tindices: type(input(node, 1).dtype),
      Taxis: int32,
      batch_dims: int(attr(node, 'batchDims')),
    },
  }),
  GatherNd: (node) => ({
    op: 'GatherNd',
    inputs: [0, 1],
    attrs: { Tparams: type(input(node).dtype), Tindices: type(input(node, 1).dtype) },
  }),
  TensorScatterUpdate: scatter,
  TensorScatterAdd: scatter,
  TensorScatterSub: scatter,
  TensorScatterMax: scatter,
  TensorScatterMin: scatter,
  ScatterNd: (node) => ({
    op: 'ScatterNd',
    inputs: [0, 1, { name: 'shape', dtype: input(node).dtype, value: dims(output(node)) }],
    attrs: { T: type(input(node, 1).dtype), Tindices: type(input(node).dtype) },
  }),
  OneHot: (node) => {
    const { depth, on, off, axis } = node.attrs as Readonly<Record<string, number>>;
    const { dtype, shape } = output(node);
    return {
      op: 'OneHot',
      inputs: [
        0,
        indices('depth', depth),
        { name: 'on_value', dtype, value: on },
        { name: 'off_value', dtype, value: off },
      ],
      attrs: {
        T: type(dtype),
        TI: type(input(node).dtype),
        axis: int(axis === shape.length - 1 ? -1 : axis),
      },
    };
  },
  Fill: (node) => {
    const value = attr<unknown>(node, 'value');
    return typeof value === 'number' || isExpression(value) ? fill(node, value) : null;
  },
  ZerosLike: like(0),
  OnesLike: like(1),
  RandomUniform: random('low', 'high'),
  RandomStandardNormal: random('mean', 'stddev'),
  TruncatedNormal: random('mean', 'stddev'),
  RandomUniformInt: (node) => {
    const { dtype } = output(node);
    const bound = (name: string, from: string): ConstantInput => ({
      name,
      dtype,
      value: attr<number>(node, from),
    });
    return {
      op: 'RandomUniformInt',
      inputs: [indices('shape', dims(output(node))), bound('min', 'low'), bound('max', 'high')],
      attrs: { seed: int(0), seed2: int(0), Tout: type(dtype), T: int32 },
    };
  },
  UniformCandidateSampler: candidates(ranged),
  LogUniformCandidateSampler: candidates(ranged),
  LearnedUnigramCandidateSampler: candidates(ranged),
  FixedUnigramCandidateSampler: candidates((node) => ({
    ...ranged(node),
    vocab_file: text(''),
    distortion: { kind: 'float', value: attr<number>(node, 'distortion') },
    num_reserved_ids: int(attr<number>(node, 'numReservedIds')),
    num_shards: int(attr<number>(node, 'numShards')),
    shard: int(attr<number>(node, 'shard')),
    unigrams: { kind: 'floats', value: attr<readonly number[]>(node, 'unigrams') },
  })),
  AllCandidateSampler: candidates(() => ({})),
  ComputeAccidentalHits: (node) => ({
    op: node.type,
    inputs: [0, 1],
    attrs: { num_true: int(attr<number>(node, 'numTrue')), seed: int(0), seed2: int(0) },
  }),
  StatelessRandomGetKeyCounter: (node) => ({
    op: node.type,
    inputs: [0],
    attrs: { Tseed: type(input(node).dtype) },
  }),
  StatelessRandomUniformV2: stateless(drawnDtype),
  StatelessRandomNormalV2: stateless(drawnDtype),
  StatelessTruncatedNormalV2: stateless(drawnDtype),
  StatelessRandomUniformFullIntV2: stateless(drawnDtype),
  StatelessRandomUniformIntV2: stateless(drawnDtype),
  StatelessRandomGammaV3: stateless((node) => ({ dtype: type(output(node).dtype), shape_dtype: int32 })),
  StatelessShuffle: stateless((node) => ({ T: type(output(node).dtype) })),
  StatelessRandomPoisson: (node) => ({
    op: node.type,
    inputs: [0, 1, 2],
    attrs: {
      Rtype: type(input(node, 2).dtype),
      dtype: type(output(node).dtype),
      T: int32,
      Tseed: type(input(node, 1).dtype),
    },
  }),
  StatelessRandomBinomial: (node) => ({
    op: node.type,
    inputs: [0, 1, 2, 3],
    attrs: {
      S: int32,
      Tseed: type(input(node, 1).dtype),
      T: type(input(node, 2).dtype),
      dtype: type(output(node).dtype),
    },
  }),
  StatelessMultinomial: (node) => ({
    op: node.type,
    inputs: [0, 1, 2],
    attrs: {
      T: type(input(node).dtype),
      Tseed: type(input(node, 2).dtype),
      output_dtype: type(output(node).dtype),
    },
  }),
  RandomIndexShuffle: (node) => ({
    op: node.type,
    inputs: [0, 1, 2],
    attrs: {
      rounds: int(attr<number>(node, 'rounds')),
      dtype: type(input(node).dtype),
      Tseed: type(input(node, 1).dtype),
    },
  }),
  Range: (node) => {
    const { start, delta, size } = node.attrs as unknown as { start: Dim; delta: number; size: Dim };
    const { dtype } = output(node);
    // Half a step short, so that rounding adds no element; of sizes there are integers only.
    const known = typeof start === 'number' && typeof size === 'number';
    const limit =
      known && dtype.startsWith('float')
        ? start + delta * (size - 0.5)
        : addDims(start, mulDims(size, delta));
    const bound = (name: string, value: Dim): ConstantInput => ({ name, dtype, value });
    return {
      op: 'Range',
      inputs: [bound('start', start), bound('limit', limit), bound('delta', delta)],
      attrs: { Tidx: type(dtype) },
    };
  },
  PadV2: (node) => {
    const { before, after, value } = node.attrs as unknown as { before: Dims; after: Dims; value: number };
    const { dtype } = output(node);
    return {
      op: 'PadV2',
      inputs: [
        0,
        indices(
          'paddings',
          before.map((b, i) => [b, after[i]]),
        ),
        { name: 'constant_values', dtype, value },
      ],
      attrs: { T: type(dtype), Tpaddings: int32 },
    };
  },
  ResizeBilinear: (node) => ({
    op: 'ResizeBilinear',
    inputs: [0, indices('size', dims(output(node)).slice(1, 3))],
    attrs: { T: type(input(node).dtype), align_corners: bool(false), half_pixel_centers: bool(true) },
  }),
  MirrorPad: mirrored,
  MirrorPadGrad: mirrored,
  Slice: (node) => ({
    op: 'Slice',
    inputs: [
      0,
      indices('begin', attr<number[]>(node, 'begin')),
      indices('size', attr<number[]>(node, 'size')),
    ],
    attrs: { T: type(input(node).dtype), Index: int32 },
  }),
  StridedSlice: (node) => {
    const { begin, size, strides } = node.attrs as unknown as {
      begin: Dims;
      size: Dims;
      strides: readonly number[];
    };
    const sliced = stridedSlice(begin, size, strides);
    return {
      op: 'StridedSlice',
      inputs: [0, ...sliced.inputs],
      attrs: { T: type(input(node).dtype), Index: int32, ...sliced.attrs },
    };
  },
  StridedSliceGrad: (node) => {
    const { begin, strides } = node.attrs as unknown as { begin: Dims; strides: readonly number[] };
    const sliced = stridedSlice(begin, dims(input(node)), strides);
    return {
      op: 'StridedSliceGrad',
      inputs: [indices('shape', dims(output(node))), ...sliced.inputs, 0],
      attrs: { T: type(input(node).dtype), Index: int32, ...sliced.attrs },
    };
  },
  SelectV2: (node) => ({ op: 'SelectV2', inputs: [0, 1, 2], attrs: { T: type(input(node, 1).dtype) } }),
  TopKV2: (node) => ({
    op: 'TopKV2',
    inputs: [0, indices('k', attr<number>(node, 'k'))],
    attrs: { T: type(input(node).dtype), Tk: int32, index_type: int32, sorted: bool(true) },
  }),
  Eig: (node) => ({
    op: 'Eig',
    inputs: [0],
    attrs: {
      T: type(input(node).dtype),
      Tout: type(node.outputs[0].dtype),
      compute_v: bool(attr<boolean>(node, 'computeV')),
    },
    moreOutputs: attr<boolean>(node, 'computeV') ? [] : [[0]],
  }),
  Svd: (node) => ({
    op: 'Svd',
    inputs: [0],
    attrs: {
      T: type(input(node).dtype),
      compute_uv: bool(attr<boolean>(node, 'computeUV')),
      full_matrices: bool(attr<boolean>(node, 'fullMatrices')),
    },
    moreOutputs: attr<boolean>(node, 'computeUV') ? [] : [[0], [0]],
  }),
  Betainc: (node) => ({ op: 'Betainc', inputs: [0, 1, 2], attrs: { T: type(input(node).dtype) } }),
  Igamma: (node) => ({ op: 'Igamma', inputs: [0, 1], attrs: { T: type(input(node).dtype) } }),
  IgammaGradA: (node) => ({ op: 'IgammaGradA', inputs: [0, 1], attrs: { T: type(input(node).dtype) } }),
  Igammac: (node) => ({ op: 'Igammac', inputs: [0, 1], attrs: { T: type(input(node).dtype) } }),
  Zeta: (node) => ({ op: 'Zeta', inputs: [0, 1], attrs: { T: type(input(node).dtype) } }),
  NonMaxSuppressionV5: (node) => ({
    op: 'NonMaxSuppressionV5',
    inputs: [0, 1, 2, 3, 4, 5],
    attrs: { T: type(input(node).dtype), pad_to_max_output_size: bool(false) },
    moreOutputs: [[]],
  }),
  CTCGreedyDecoder: (node) => ({
    op: 'CTCGreedyDecoder',
    inputs: [0, 1],
    attrs: {
      T: type(input(node).dtype),
      merge_repeated: bool(attr<boolean>(node, 'mergeRepeated')),
      blank_index: int(attr<number>(node, 'blankIndex')),
    },
  }),
  CTCBeamSearchDecoder: (node) => ({
    op: 'CTCBeamSearchDecoder',
    inputs: [0, 1],
    attrs: {
      T: type(input(node).dtype),
      beam_width: int(attr<number>(node, 'beamWidth')),
      top_paths: int(attr<number>(node, 'topPaths')),
      merge_repeated: bool(false),
    },
  }),
  NonMaxSuppressionWithOverlaps: () => ({
    op: 'NonMaxSuppressionWithOverlaps',
    inputs: [0, 1, 2, 3, 4],
    attrs: {},
  }),
  Cholesky: typed(),
  // TensorFlow has none that takes ones for what is on the diagonal.
  MatrixTriangularSolve: (node) =>
    attr<boolean>(node, 'unit') ? null : typed({ lower: 'lower', adjoint: 'adjoint' })(node),
  Lu: (node): TensorFlowOp | null => {
    const [m, n] = dims(input(node)).slice(-2);
    if (!shapesAgree([m], [n])) return null;
    return { op: 'Lu', inputs: [0], attrs: { T: type(input(node).dtype), output_idx_type: int32 } };
  },
  Qr: typed({ full_matrices: 'fullMatrices' }),
  SelfAdjointEigV2: (node) => ({
    op: 'SelfAdjointEigV2',
    inputs: [0],
    attrs: { T: type(input(node).dtype), compute_v: bool(attr<boolean>(node, 'computeV')) },
    moreOutputs: attr<boolean>(node, 'computeV') ? [] : [[0]],
  }),
  MatrixSolve: typed({ adjoint: 'adjoint' }),
  MatrixInverse: typed({ adjoint: 'adjoint' }),
  MatrixDeterminant: typed(),
  LogMatrixDeterminant: typed(),
  MatrixSquareRoot: typed(),
  MatrixLogarithm: typed(),
  TridiagonalSolve: (node) => ({
    op: 'TridiagonalSolve',
    inputs: [0, 1],
    attrs: {
      T: type(input(node).dtype),
      partial_pivoting: bool(attr<boolean>(node, 'pivoting')),
      perturb_singular: bool(false),
    },
  }),
  TridiagonalMatMul: typed(),
  Cross: typed(),
  FFT: transform,
  IFFT: transform,
  FFT2D: transform,
  IFFT2D: transform,
  FFT3D: transform,
  IFFT3D: transform,
  RFFT: realTransform(1, input, output),
  RFFT2D: realTransform(2, input, output),
  RFFT3D: realTransform(3, input, output),
  IRFFT: realTransform(1, output, input),
  IRFFT2D: realTransform(2, output, input),
  IRFFT3D: realTransform(3, output, input),
  UnsortedSegmentSum: (node) => ({
    op: 'UnsortedSegmentSum',
    inputs: [0, 1, indices('num_segments', attr<number>(node, 'count'))],
    attrs: { T: type(input(node).dtype), Tindices: type(input(node, 1).dtype), Tnumsegments: int32 },
  }),
  SparseSoftmaxCrossEntropyWithLogits: (node) => ({
    op: node.type,
    inputs: [0, 1],
    attrs: { T: type(input(node).dtype), Tlabels: type(input(node, 1).dtype) },
  }),
  Conv2D: (node) => convolution(node, dims(input(node)), dims(input(node, 1)), [0, 1]),
  _FusedConv2D: (node): TensorFlowOp | null => {
    const more = fused(node);
    if (more === null) return null;
    const { op, inputs, attrs } = convolution(node, dims(input(node)), dims(input(node, 1)), all(node));
    const TArgs: TypedAttr = { kind: 'types', value: [input(node, 2).dtype] };
    return { op, inputs, attrs: { ...attrs, ...more, TArgs } };
  },
  Conv2DBackpropInput: (node) => {
    const shape = dims(output(node));
    return convolution(node, shape, dims(input(node)), [indices('input_sizes', shape), 0, 1]);
  },
  Conv2DBackpropFilter: (node) => {
    const shape = dims(output(node));
    return convolution(node, dims(input(node)), shape, [0, indices('filter_sizes', shape), 1]);
  },
  MaxPoolWithArgmax: (node, isUsed) => {
    // Where the maxima are nobody asks: an op with kernels for more.
    if (isUsed?.(1) === false)
      return pooling({ ...node, type: 'MaxPool' }, dims(input(node)), { data_format: text('NHWC') });
    return pooling(node, dims(input(node)), { Targmax: int32, include_batch_in_index: bool(false) });
  },
  AvgPoolGrad: (node) => {
    const shape = dims(output(node));
    const known = pooling(node, shape, { data_format: text('NHWC') });
    return known && { ...known, inputs: [indices('orig_input_shape', shape), 0] };
  },
  AvgPool: (node) => pooling(node, dims(input(node)), { data_format: text('NHWC') }),
};

/** The node as TensorFlow's op of that name has it; null if the op is Eagre's own, or takes its attributes as they are. */
export function tensorFlowOp(node: GraphNode, isUsed?: (output: number) => boolean): TensorFlowOp | null {
  if (node.what.kind !== 'op') return null;
  if (node.what.op instanceof PortableOp) return written(node);
  if (!Object.hasOwn(translations, node.type)) return null;
  return translations[node.type]({ ...node, attrs: withExpressions(node.attrs) } as GraphNode, isUsed);
}

/** An op of TensorFlow that was traced as it is. */
function written(node: GraphNode): TensorFlowOp {
  const { attrs, table } = node.attrs as Pick<TensorFlowOp, 'attrs' | 'table'>;
  return { op: node.type, inputs: all(node), attrs, ...(table === undefined ? {} : { table }) };
}

/** Attributes with expressions in the places of sizes that may be any. */
function withExpressions(attrs: GraphNode['attrs']): GraphNode['attrs'] {
  const list = (value: unknown): unknown =>
    Array.isArray(value) ? dimsOf(value as readonly number[]).map(list) : value;
  return Object.fromEntries(
    Object.entries(attrs).map(([key, value]) => [key, list(value)]),
  ) as GraphNode['attrs'];
}
