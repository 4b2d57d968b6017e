// Ops that make, move and cut arrays.
import { type DType, UnimplementedError } from '@eagre/backend';
import {
  addDims,
  type Dim,
  dims,
  dimsOf,
  hintOf,
  identicalDims,
  isExpression,
  mulDims,
} from '@eagre/core/internal';
import { onnx } from '@eagre/formats';
import type { GraphNode, GraphValue } from '@eagre/graph';
import { attr, type Row, type Rows } from '../row.ts';
import type { GraphWriter } from '../writer.ts';

const input = (node: GraphNode, i = 0): GraphValue => node.inputs[i] as GraphValue;
const output = (node: GraphNode): GraphValue => node.outputs[0] as GraphValue;
const sizes = (node: GraphNode, name: string): readonly Dim[] => dimsOf(attr<readonly number[]>(node, name));
const refuse = (node: GraphNode, why: string): never => {
  throw new UnimplementedError(
    `ONNX has no form of the node '${node.name}' (${node.type}): ${why}`,
    'tf.onnx.save',
  );
};

/** A shape with as few computed sizes as possible: 0 copies one, and -1 is what is left. */
export function reshaped(w: GraphWriter, x: string, from: readonly Dim[], to: readonly Dim[]): string {
  if (to.includes(0)) return w.add('Reshape', [x, w.shape(to)], { allowzero: 1 });
  const wanted: Dim[] = to.map((d, i) => {
    if (typeof d === 'number') return d;
    const own = from[i];
    return own !== undefined && identicalDims(own, d) ? 0 : d;
  });
  const late = wanted.filter(isExpression);
  if (late.length > 1) return w.add('Reshape', [x, w.shape(to)]);
  return w.add('Reshape', [x, w.ints(wanted.map((d) => (typeof d === 'number' ? d : -1)))]);
}
const reshape: Row = (w, node, [x]) => reshaped(w, x as string, dims(input(node)), dims(output(node)));

/** `x[begin:end:stride]` along the axes that are not whole. */
function sliced(
  w: GraphWriter,
  x: string,
  shape: readonly Dim[],
  begin: readonly Dim[],
  size: readonly Dim[],
  strides: readonly number[],
): string {
  const axes = begin
    .map((_, i) => i)
    .filter((i) => begin[i] !== 0 || strides[i] !== 1 || !identicalDims(shape[i] as Dim, size[i] as Dim));
  if (axes.length === 0) return w.add('Identity', [x]);
  const ends = axes.map((i): Dim => {
    const end = addDims(begin[i] as Dim, mulDims(strides[i] as number, size[i] as Dim));
    // Below 0 would count from the end.
    return hintOf(end) < 0 ? -(2 ** 63) : end;
  });
  return w.add('Slice', [
    x,
    w.shape(axes.map((i) => begin[i] as Dim)),
    w.shape(ends),
    w.ints(axes),
    w.ints(axes.map((i) => strides[i] as number)),
  ]);
}

/** A tensor of one number. */
export function filled(w: GraphWriter, shape: string, value: number, dtype: DType): string {
  const tensor = onnx.encodeOnnxTensor('value', oneNumber(value, dtype));
  return w.add('ConstantOfShape', [shape], { value: tensor });
}
function oneNumber(value: number, dtype: DType): onnx.OnnxValue {
  if (dtype === 'int64' || dtype === 'uint64')
    return { dtype, shape: [1], data: BigInt64Array.of(BigInt(value)) } as never;
  const arrays: Readonly<Record<string, { of(n: number): unknown }>> = {
    float64: Float64Array,
    int32: Int32Array,
    uint32: Uint32Array,
    int16: Int16Array,
    uint16: Uint16Array,
    int8: Int8Array,
    uint8: Uint8Array,
    bool: Uint8Array,
  };
  return { dtype, shape: [1], data: (arrays[dtype] ?? Float32Array).of(value) } as never;
}

const likeInput =
  (value: number): Row =>
  (w, node, [x]) =>
    filled(w, w.add('Shape', [x as string]), value, output(node).dtype);

const gather: Row = (w, node, [x, indices]) => {
  const axis = attr<number>(node, 'axis');
  const batch = attr<number>(node, 'batchDims');
  if (batch === 0) return w.add('Gather', [x as string, indices as string], { axis });
  const last = w.unsqueeze(w.cast(indices as string, input(node, 1).dtype, 'int64'), [
    input(node, 1).shape.length,
  ]);
  if (axis === batch) return w.add('GatherND', [x as string, last], { batch_dims: batch });
  // The axis moves behind the batch, and back behind the indices.
  const rank = input(node).shape.length;
  const order = Array.from({ length: rank }, (_, i) => i);
  const front = [...order.slice(0, batch), axis, ...order.slice(batch).filter((i) => i !== axis)];
  const y = w.add('GatherND', [w.transpose(x as string, front), last], { batch_dims: batch });
  const picked = input(node, 1).shape.length - batch;
  const all = output(node).shape.length;
  const between = axis - batch;
  // Now: batch, indices, the axes between, the rest. Wanted: batch, the axes between, indices, the rest.
  const back = Array.from({ length: all }, (_, i) => {
    if (i < batch || i >= batch + between + picked) return i;
    return i < batch + between ? i + picked : i - between;
  });
  return w.transpose(y, back);
};

/** What a gather took, added up where it came from: a transposed convolution of volumes is made of that. */
const gatherGrad: Row = (w, node, [dy, indices]) => {
  const axis = attr<number>(node, 'axis');
  if (attr<number>(node, 'batchDims') !== 0) refuse(node, 'it has axes of a batch');
  const shape = dims(output(node));
  const picked = input(node, 1).shape.length;
  const order = Array.from({ length: dims(input(node)).length }, (_, i) => i);
  // The picked axes first, then those before and behind.
  const front = [...order.slice(axis, axis + picked), ...order.slice(0, axis), ...order.slice(axis + picked)];
  const base = filled(
    w,
    w.shape([shape[axis] as Dim, ...shape.slice(0, axis), ...shape.slice(axis + 1)]),
    0,
    output(node).dtype,
  );
  const places = w.unsqueeze(w.cast(indices as string, input(node, 1).dtype, 'int64'), [picked]);
  const sums = w.add('ScatterND', [base, places, w.transpose(dy as string, front)], { reduction: 'add' });
  return w.transpose(
    sums,
    shape.map((_, i) => (i < axis ? i + 1 : i === axis ? 0 : i)),
  );
};

const oneHot: Row = (w, node, [indices]) => {
  const { depth, on, off, axis } = node.attrs as unknown as {
    depth: Dim;
    on: number;
    off: number;
    axis: number;
  };
  const { dtype } = output(node);
  const wide = w.cast(indices as string, input(node).dtype, 'int64');
  // An index below 0 would count from the end.
  const count = w.squeeze(w.size(depth), [0]);
  const safe = w.add('Where', [w.add('Less', [wide, w.scalar(0, 'int64')]), count, wide]);
  if (dtype === 'float32' || dtype === 'int64' || dtype === 'float16')
    return w.add('OneHot', [safe, count, w.file.constant([off, on], dtype, [2])], { axis });
  // ONNX Runtime has it of few dtypes.
  const is = w.add('OneHot', [safe, count, w.file.constant([0, 1], 'int64', [2])], { axis });
  const values = [w.scalar(on, dtype), w.scalar(off, dtype)];
  return w.widened('Where', [w.cast(is, 'int64', 'bool')], values, dtype);
};

const pad: Row = (w, node, [x]) => {
  const pads = [...sizes(node, 'before'), ...sizes(node, 'after')];
  return w.add('Pad', [x as string, w.shape(pads), w.scalar(attr(node, 'value'), input(node).dtype)]);
};
const mirror: Row = (w, node, [x]) => {
  const pads = [...sizes(node, 'before'), ...sizes(node, 'after')];
  const reflect = attr<number>(node, 'mode') === 1;
  if (!reflect && !pads.every((d) => typeof d === 'number' && d <= 1))
    refuse(node, 'the edge is repeated by one element at most');
  return w.add('Pad', [x as string, w.shape(pads)], { mode: reflect ? 'reflect' : 'edge' });
};

const range: Row = (w, node) => {
  const { start, delta, size } = node.attrs as unknown as { start: Dim; delta: number; size: Dim };
  const { dtype } = output(node);
  const scalar = (d: Dim): string => w.squeeze(w.size(d), [0]);
  const counted = w.add('Range', [w.scalar(0, 'int64'), scalar(size), w.scalar(1, 'int64')]);
  const steps = w.cast(counted, 'int64', dtype);
  const first = typeof start === 'number' ? w.scalar(start, dtype) : w.cast(scalar(start), 'int64', dtype);
  return w.add('Add', [w.add('Mul', [steps, w.scalar(delta, dtype)]), first]);
};

const fill: Row = (w, node) => {
  const value = attr<unknown>(node, 'value');
  const { dtype } = output(node);
  const shape = w.shape(dims(output(node)));
  if (typeof value === 'number') return filled(w, shape, value, dtype);
  if (!isExpression(value)) return refuse(node, 'its value is no number');
  return w.add('Expand', [w.cast(w.size(value), 'int64', dtype), shape]);
};

const scatter =
  (reduction: string): Row =>
  (w, node, [base, indices, updates]) => {
    if (['max', 'min'].includes(reduction) && w.opset < 18) refuse(node, 'it needs opset 18');
    const places = w.cast(indices as string, input(node, 1).dtype, 'int64');
    const attrs: Readonly<Record<string, string>> = reduction === 'none' ? {} : { reduction };
    return w.add('ScatterND', [base as string, places, updates as string], attrs);
  };

const row = (w: GraphWriter, index: string, dtype: DType): string =>
  w.add('Reshape', [w.cast(index, dtype, 'int64'), w.ints([1, 1])]);

export const arrays: Rows = {
  // Its steps, and so its nodes, are as many as the axis is long.
  CumulativeLogsumexp: (_, node) => refuse(node, 'ONNX has no such op'),
  Reshape: reshape,
  ExpandDims: reshape,
  Squeeze: reshape,
  Transpose: (w, node, [x]) => w.add('Transpose', [x as string], { perm: attr<number[]>(node, 'perm') }),
  ReverseV2: (w, node, [x]) => {
    const axes = attr<number[]>(node, 'axes');
    if (axes.length === 0) return w.add('Identity', [x as string]);
    const each = (value: number): string => w.ints(axes.map(() => value));
    return w.add('Slice', [x as string, each(-1), each(-(2 ** 63)), w.ints(axes), each(-1)]);
  },
  Tile: (w, node, [x]) => w.add('Tile', [x as string, w.shape(sizes(node, 'multiples'))]),
  BroadcastTo: (w, node, [x]) => w.add('Expand', [x as string, w.shape(dims(output(node)))]),
  Shape: (w, node, [x]) => w.cast(w.add('Shape', [x as string]), 'int64', output(node).dtype),
  ConcatV2: (w, node, inputs) => w.add('Concat', inputs, { axis: attr<number>(node, 'axis') }),
  Pack: (w, node, inputs) => {
    const axis = attr<number>(node, 'axis');
    return w.add(
      'Concat',
      inputs.map((x) => w.unsqueeze(x, [axis])),
      { axis },
    );
  },
  Unpack: (w, node, [x]) => {
    const axis = attr<number>(node, 'axis');
    const count = node.outputs.length;
    if (count === 1) return [w.squeeze(x as string, [axis])];
    return w
      .several('Split', [x as string, w.ints(node.outputs.map(() => 1))], { axis }, count)
      .map((y) => w.squeeze(y, [axis]));
  },
  SplitV: (w, node, [x]) => {
    const count = node.outputs.length;
    if (count === 1) return [w.add('Identity', [x as string])];
    return w.several(
      'Split',
      [x as string, w.shape(sizes(node, 'sizes'))],
      { axis: attr<number>(node, 'axis') },
      count,
    );
  },
  Slice: (w, node, [x]) =>
    sliced(
      w,
      x as string,
      dims(input(node)),
      sizes(node, 'begin'),
      sizes(node, 'size'),
      sizes(node, 'size').map(() => 1),
    ),
  StridedSlice: (w, node, [x]) =>
    sliced(
      w,
      x as string,
      dims(input(node)),
      sizes(node, 'begin'),
      sizes(node, 'size'),
      attr(node, 'strides'),
    ),
  GatherV2: gather,
  GatherNd: (w, node, [x, indices]) =>
    w.add('GatherND', [x as string, w.cast(indices as string, input(node, 1).dtype, 'int64')]),
  GatherGrad: gatherGrad,
  OneHot: oneHot,
  Fill: fill,
  ZerosLike: likeInput(0),
  OnesLike: likeInput(1),
  Range: range,
  PadV2: pad,
  MirrorPad: mirror,
  TensorScatterUpdate: scatter('none'),
  TensorScatterAdd: scatter('add'),
  TensorScatterSub: (w, node, [base, indices, updates]) =>
    scatter('add')(w, node, [base as string, indices as string, w.add('Neg', [updates as string])]),
  TensorScatterMax: scatter('max'),
  TensorScatterMin: scatter('min'),
  ScatterNd: (w, node, [indices, updates]) => {
    const { dtype } = output(node);
    const base = filled(w, w.shape(dims(output(node))), 0, dtype);
    const places = w.cast(indices as string, input(node).dtype, 'int64');
    return w.add('ScatterND', [base, places, updates as string], { reduction: 'add' });
  },
  UnsortedSegmentSum: (w, node, [x, segments]) => {
    const { dtype } = output(node);
    const [count, ...rest] = dims(output(node)) as [Dim, ...Dim[]];
    const ids = w.cast(segments as string, input(node, 1).dtype, 'int64');
    // What belongs to no segment goes into one more, which is cut off.
    const none = w.squeeze(w.size(count), [0]);
    const places = w.add('Where', [w.add('Less', [ids, w.scalar(0, 'int64')]), none, ids]);
    const base = filled(w, w.shape([addDims(count, 1), ...rest]), 0, dtype);
    const index = w.unsqueeze(places, [input(node, 1).shape.length]);
    const sums = w.add('ScatterND', [base, index, x as string], { reduction: 'add' });
    return w.add('Slice', [sums, w.ints([0]), w.size(count), w.ints([0])]);
  },
  TensorListGetItem: (w, _, [list, index]) => w.add('Gather', [list as string, index as string], { axis: 0 }),
  TensorListSetItem: (w, node, [list, index, item]) =>
    w.add('ScatterND', [
      list as string,
      row(w, index as string, input(node, 1).dtype),
      w.unsqueeze(item as string, [0]),
    ]),
  TopKV2: (w, node, [x]) => {
    const [values, indices] = w.several(
      'TopK',
      [x as string, w.size(attr<Dim>(node, 'k'))],
      { axis: -1 },
      2,
    ) as [string, string];
    return [values, w.cast(indices, 'int64', (node.outputs[1] as GraphValue).dtype)];
  },
  Sort: (w, node, [x]) => {
    const n = dims(input(node)).at(-1) as Dim;
    const largest = attr<boolean>(node, 'descending') ? 1 : 0;
    const [values, indices] = w.several('TopK', [x as string, w.size(n)], { axis: -1, largest }, 2) as [
      string,
      string,
    ];
    return [values, w.cast(indices, 'int64', (node.outputs[1] as GraphValue).dtype)];
  },
  MatrixDeterminant: (w, _, [x]) => w.add('Det', [x as string]),
  UniqueWithCounts: (w, node, [x]) => {
    // onnxruntime has few of its dtypes.
    const { dtype } = input(node);
    const wide = /^(u?int(8|16)|u?int32|bool)$/.test(dtype) ? 'int64' : /16$/.test(dtype) ? 'float32' : dtype;
    const given = w.cast(x as string, dtype, wide);
    const [values, , places, counts] = w.several('Unique', [given], { sorted: 0 }, 4) as [
      string,
      string,
      string,
      string,
    ];
    const [, placeType, countType] = node.outputs.map(({ dtype }) => dtype) as [DType, DType, DType];
    return [
      w.cast(values, wide, dtype),
      w.cast(places, 'int64', placeType),
      w.cast(counts, 'int64', countType),
    ];
  },
  Where: (w, node, [x]) => {
    const y = w.transpose(w.add('NonZero', [x as string]), [1, 0]);
    return w.cast(y, 'int64', output(node).dtype);
  },
};
