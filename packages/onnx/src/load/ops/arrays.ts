// Ops that make, move and cut arrays.
import type { DType } from '@eagre/backend';
import {
  booleanMask,
  broadcastTo,
  concat,
  constant,
  cumprod,
  cumsum,
  gather,
  gatherNd,
  math,
  moveAxis,
  nonzero,
  oneHot,
  pad,
  range as rangeOf,
  reshape,
  shapeOf,
  split,
  squeeze,
  stack,
  stridedSlice,
  type Tensor,
  tensorScatterNdAdd,
  tensorScatterNdMax,
  tensorScatterNdMin,
  tensorScatterNdUpdate,
  tile,
  topK,
  transpose,
  unique,
  where,
  zeros,
  zerosLike,
} from '@eagre/core';
import {
  addDims,
  broadcastShapes,
  type Dim,
  dims,
  floorDivDims,
  hostDims,
  iota,
  leastOf,
  maxDims,
  mayBeOpen,
  minDims,
  mostOf,
  mulDims,
  sizeOfDims,
  sizeValue,
  subDims,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { dtypeOf } from '../../tensors.ts';
import type { NodeCall, OnnxOp, OpTable, Run } from '../node.ts';
import { product, range, scalar, shaped } from './helpers.ts';

const reshapeTo: Run = (node) => {
  const x = node.x();
  const wanted = node.sizes(1);
  const own = dims(x);
  const keepsZero = node.attrs.int('allowzero', 0) === 1;
  const sizes = wanted.map((d, i) =>
    d === 0 && !keepsZero ? (own[i] ?? node.fail(`there is no axis ${i} to copy`)) : d,
  );
  if (sizes.includes(-1) || !sizes.some(mayBeOpen)) return shaped(x, sizes);
  // What only a run knows may be -1, or 0.
  return reshape(
    x,
    stack(
      sizes.map((d, i) => {
        const size = sizeTensor(d, 'int64');
        if (!mayBeOpen(d) || keepsZero || own[i] === undefined) return size;
        return where(size.equal(0), sizeTensor(own[i], 'int64'), size);
      }),
    ),
  );
};

const flattened: Run = (node) => {
  const x = node.x();
  const given = node.attrs.int('axis', 1);
  const axis = given < 0 ? given + x.rank : given;
  return shaped(x, [product(dims(x).slice(0, axis)), product(dims(x).slice(axis))]);
};

const squeezed: Run = (node) => {
  const x = node.x();
  const axes = node.axes(1, 13);
  if (axes === null) return squeeze(x);
  const drop = new Set(axes.map((a) => node.axis(a, x.rank)));
  return shaped(
    x,
    dims(x).filter((_, i) => !drop.has(i)),
  );
};

const unsqueezed: Run = (node) => {
  const x = node.x();
  const axes = node.axes(1, 13) ?? node.fail('axes are missing');
  const rank = x.rank + axes.length;
  const added = new Set(axes.map((a) => node.axis(a, rank)));
  if (added.size < axes.length) node.fail(`the axes [${axes}] are not distinct`);
  const rest = [...dims(x)];
  return shaped(
    x,
    range(0, rank).map((i) => (added.has(i) ? 1 : (rest.shift() as Dim))),
  );
};

const expanded: Run = (node) => {
  const x = node.x();
  const own = dims(x);
  const wanted = node.sizes(1);
  const more = own.length - wanted.length;
  // Beside a size that only a run knows, an axis that is not 1 keeps its own.
  const settled = wanted.map((d, i) => {
    const size = own[i + more] ?? 1;
    return mayBeOpen(d) && typeof size === 'number' && size !== 1 ? size : d;
  });
  return broadcastTo(x, toShape(broadcastShapes(x.shape, toShape(settled), 'Expand')));
};

const shapeSlice: Run = (node) => {
  const x = node.x();
  const { rank } = x;
  const place = (name: string, otherwise: number): number => {
    const given = node.attrs.int(name, otherwise);
    return Math.min(rank, Math.max(0, given < 0 ? given + rank : given));
  };
  const [start, end] = [place('start', 0), place('end', rank)];
  return shapeOf(x)
    .cast('int64')
    .slice([start], [Math.max(0, end - start)]);
};

/** Starts and ends count from the end below 0, and are brought into the axis; steps have either sign. */
const slices: Run = (node) => {
  const x = node.x();
  const byInput = node.opset >= 10;
  const starts = byInput ? placesOf(node, 1) : node.attrs.ints('starts');
  const ends = byInput ? placesOf(node, 2) : node.attrs.ints('ends');
  const axes = byInput
    ? node.maybe(3) === null
      ? range(0, starts.length)
      : node.ints(3)
    : node.attrs.ints('axes', range(0, starts.length));
  const steps = byInput && node.maybe(4) !== null ? node.ints(4) : axes.map(() => 1);
  if ([ends, axes, steps].some(({ length }) => length !== starts.length))
    node.fail(
      `${starts.length} starts do not fit ${ends.length} ends, ${axes.length} axes and ${steps.length} steps`,
    );
  const own = dims(x);
  const begin: Dim[] = own.map(() => 0);
  const end: Dim[] = [...own];
  const stride = own.map(() => 1);
  let endMask = 0;
  axes.forEach((given, i) => {
    const axis = node.axis(given, x.rank);
    const n = own[axis] as Dim;
    const step = steps[i] as number;
    if (step === 0) node.fail('a step is 0');
    const within = (d: Dim, low: number, most: Dim): Dim => {
      if (typeof d === 'number' && d >= FAR) return most;
      if (typeof d === 'number' && d <= -FAR) return low;
      return minDims(maxDims(fromStart(d, n), low), most);
    };
    stride[axis] = step;
    begin[axis] = step > 0 ? within(starts[i] as Dim, 0, n) : within(starts[i] as Dim, 0, subDims(n, 1));
    end[axis] = step > 0 ? within(ends[i] as Dim, 0, n) : within(ends[i] as Dim, -1, subDims(n, 1));
    // -1 would count from the end: all up to the first one.
    if (end[axis] === -1) endMask |= 1 << axis;
  });
  return stridedSlice(x, toShape(begin), toShape(end.map((d) => (d === -1 ? 0 : d))), stride, { endMask });
};
/** Starts or ends; what only a run knows is brought into the range of int32, in which files of TensorFlow compute sizes. */
function placesOf(node: NodeCall, input: number): readonly Dim[] {
  const places = node.sizes(input);
  if (!places.some(mayBeOpen)) return places;
  const near = hostDims(node.x(input).minimum(FAR).maximum(-FAR), `input ${input}`, node.where);
  return places.map((d, i) => (mayBeOpen(d) ? (near[i] as Dim) : d));
}

/** A place that counts from the end of an axis below 0; where only a run knows whether it does, the axis is added there. */
function fromStart(d: Dim, n: Dim): Dim {
  if (leastOf(d) >= 0) return d;
  if (mostOf(d) < 0) return addDims(d, n);
  return addDims(d, mulDims(n, minDims(maxDims(mulDims(d, -1), 0), 1)));
}
// Bounds that stand for the end of an axis: INT_MAX and more.
const FAR = 2 ** 31 - 1;

const splits: Run = (node) => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', 0), x.rank);
  const given =
    node.opset >= 13
      ? node.maybe(1) === null
        ? null
        : node.sizes(1)
      : node.attrs.has('split')
        ? node.attrs.ints('split')
        : null;
  const count = node.attrs.int('num_outputs', node.outputs.length);
  const n = dims(x)[axis] as Dim;
  const chunk = floorDivDims(addDims(n, count - 1), count);
  const sizes =
    given ?? range(0, count).map((i) => (i < count - 1 ? chunk : subDims(n, mulDims(chunk, count - 1))));
  return split(x, toShape(sizes), axis);
};

/** Indices that count from the front. */
export function fromFront(indices: Tensor, size: Dim): Tensor {
  return where(indices.less(0), indices.add(sizeTensor(size, indices.dtype)), indices);
}
/** A size as a scalar. */
export const sizeTensor = (size: Dim, dtype: DType): Tensor => toTensor(sizeValue(size, dtype), dtype);

const gathered: Run = (node) => {
  const [x, indices] = [node.x(0), node.x(1)];
  const axis = node.axis(node.attrs.int('axis', 0), x.rank);
  return gather(x, fromFront(indices, dims(x)[axis] as Dim), axis);
};

/** The whole index of each element of `indices`, whose values are places along `axis`: [elements, rank]. */
function elementPlaces(indices: Tensor, axis: number): Tensor {
  const shape = dims(indices);
  const places = shape.map((d, i) => {
    if (i === axis) return shaped(indices.cast('int64'), [-1, 1]);
    const along = shaped(
      iota(d).cast('int64'),
      shape.map((_, j) => (j === i ? d : 1)),
    );
    return shaped(broadcastTo(along, toShape(shape)), [-1, 1]);
  });
  return concat(places, 1);
}

const gatherElements: Run = (node) => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', 0), x.rank);
  const indices = fromFront(node.x(1), dims(x)[axis] as Dim);
  return shaped(gatherNd(x, elementPlaces(indices, axis)), dims(indices));
};

type Scatter = (base: Tensor, places: Tensor, updates: Tensor) => Tensor;

/** What the updates of a place multiply with each other and with what is there. */
const scatterProducts: Scatter = (base, places, updates) => {
  const own = dims(base);
  const depth = Number(dims(places).at(-1));
  const [lead, rest] = [own.slice(0, depth), own.slice(depth)];
  const strides = lead.map((_, i) => sizeValue(product(lead.slice(i + 1)), 'int64'));
  const rows = shaped(
    strides.reduce<Tensor>(
      (sum, stride, i) => sum.add(places.at('...', i).cast('int64').mul(stride)),
      scalar(0, 'int64'),
    ),
    [-1],
  );
  const flat = shaped(updates, [-1, ...rest]);
  const products = math.unsortedSegmentProd(flat, rows, sizeValue(product(lead), 'int32') as number);
  return base.mul(shaped(products, own));
};

function scatterWith(node: NodeCall): Scatter {
  const reduction = node.attrs.text('reduction', 'none');
  switch (reduction) {
    case 'none':
      return tensorScatterNdUpdate;
    case 'add':
      return tensorScatterNdAdd;
    case 'max':
      return tensorScatterNdMax;
    case 'min':
      return tensorScatterNdMin;
    case 'mul':
      return scatterProducts;
    default:
      return node.fail(`the reduction '${reduction}' is unknown`);
  }
}

const scatterElements: Run = (node) => {
  const [x, given, updates] = [node.x(0), node.x(1), node.x(2)];
  const axis = node.axis(node.attrs.int('axis', 0), x.rank);
  const places = elementPlaces(fromFront(given, dims(x)[axis] as Dim), axis);
  return scatterWith(node)(x, places, shaped(updates, [-1]));
};

/** Index tuples whose numbers count from the front. */
function tuplesFromFront(x: Tensor, indices: Tensor, from: number): Tensor {
  const last = Number(dims(indices).at(-1));
  const sizes = concat(
    range(from, from + last).map((axis) => shapeOf(x).slice([axis], [1]).cast(indices.dtype)),
    0,
  );
  return where(indices.less(0), indices.add(sizes), indices);
}

const gatherTuples: Run = (node) => {
  const [x, given] = [node.x(0), node.x(1)];
  const batch = node.attrs.int('batch_dims', 0);
  const indices = tuplesFromFront(x, given, batch).cast('int64');
  if (batch === 0) return gatherNd(x, indices);
  const shape = dims(indices);
  const lead = shape.slice(0, -1);
  const own = range(0, batch).map((axis) => {
    const along = shaped(iota(shape[axis] as Dim).cast('int64'), [
      ...lead.map((_, j) => (j === axis ? (shape[axis] as Dim) : 1)),
      1,
    ]);
    return broadcastTo(along, toShape([...lead, 1]));
  });
  return gatherNd(x, concat([...own, indices], -1));
};

const scatterTuples: Run = (node) => {
  const [x, given, updates] = [node.x(0), node.x(1), node.x(2)];
  const places = tuplesFromFront(x, given, 0).cast('int64');
  return scatterWith(node)(x, places, updates);
};

/** A cache with an update written into each example, from a place of its own on. */
const cacheUpdated: Run = (node) => {
  const [given, changes] = [node.x(0), node.x(1)];
  const axis = node.axis(node.attrs.int('axis', -2), given.rank);
  if (axis === 0) node.fail('the first axis has the examples, not the places');
  const [cache, update] = [moveAxis(given, axis, 1), moveAxis(changes, axis, 1)];
  const [batch, size] = dims(cache) as [Dim, Dim];
  const steps = dims(update)[1] as Dim;
  const from = node.maybe(2) ?? zeros(toShape([batch]), { dtype: 'int64' });
  const mode = node.attrs.text('mode', 'linear');
  if (mode !== 'linear' && mode !== 'circular') node.fail(`the mode '${mode}' is unknown`);
  const places = from.cast('int64').expandDims(-1).add(iota(steps).cast('int64').expandDims(0));
  const inside = mode === 'circular' ? places.mod(sizeValue(size, 'int64')) : places;
  const example = broadcastTo(iota(batch).cast('int64').expandDims(-1), toShape([batch, steps]));
  return moveAxis(tensorScatterNdUpdate(cache, stack([example, inside], -1), update), 1, axis);
};

/** Each side of each axis: [before, after]. Negative ones cut. */
const padded: Run = (node) => {
  const x = node.x();
  const mode = node.attrs.text('mode', 'constant');
  const given = node.opset >= 11 ? node.sizes(1) : node.attrs.ints('pads');
  const axes =
    node.opset >= 18 && node.maybe(3) !== null
      ? node.ints(3).map((a) => node.axis(a, x.rank))
      : range(0, x.rank);
  if (given.length !== 2 * axes.length) node.fail(`there are ${given.length} pads for ${axes.length} axes`);
  const sides: [Dim, Dim][] = range(0, x.rank).map(() => [0, 0]);
  axes.forEach((axis, i) => {
    sides[axis] = [given[i] as Dim, given[i + axes.length] as Dim];
  });
  const kept = sides.map(([before, after]): [Dim, Dim] => [maxDims(before, 0), maxDims(after, 0)]);
  const cut = sides.map(([before, after]): [Dim, Dim] => [
    maxDims(mulDims(before, -1), 0),
    maxDims(mulDims(after, -1), 0),
  ]);
  let y = x;
  if (cut.flat().some((d) => d !== 0)) {
    const begin = cut.map(([before]) => before);
    const size = dims(x).map((d, i) =>
      subDims(d, addDims((cut[i] as [Dim, Dim])[0], (cut[i] as [Dim, Dim])[1])),
    );
    y = x.slice(toShape(begin), toShape(size));
  }
  return padWith(node, y, kept, mode);
};

function padWith(node: NodeCall, x: Tensor, sides: readonly [Dim, Dim][], mode: string): Tensor {
  const pairs = sides.map((pair) => toShape(pair)) as unknown as [number, number][];
  switch (mode) {
    case 'constant': {
      const value =
        node.opset >= 11
          ? node.maybe(2) === null
            ? 0
            : (node.numbers(2)[0] ?? 0)
          : node.attrs.float('value', 0);
      if (x.dtype === 'bool') return pad(x.cast('int32'), pairs, { constantValues: value }).cast('bool');
      return pad(x, pairs, { constantValues: value });
    }
    case 'reflect':
      return pad(x, pairs, { mode: 'REFLECT' });
    case 'edge':
    case 'wrap':
      return sides.reduce((y, [before, after], axis) => {
        if (before === 0 && after === 0) return y;
        const n = dims(y)[axis] as Dim;
        const places = iota(addDims(n, addDims(before, after)))
          .cast('int32')
          .sub(sizeTensor(before, 'int32'));
        const count = sizeTensor(n, 'int32');
        const from = mode === 'wrap' ? places.mod(count) : places.maximum(0).minimum(count.sub(1));
        return gather(y, from, axis);
      }, x);
    default:
      return node.unsupported(`the mode '${mode}' is not translated`);
  }
}

const topOf: Run = (node) => {
  const x = node.x();
  const axis = node.axis(node.attrs.int('axis', -1), x.rank);
  const k =
    node.opset >= 10 ? ((node.sizes(1)[0] ?? node.fail('k is missing')) as number) : node.attrs.int('k');
  const last = x.rank - 1;
  const order = swapped(x.rank, axis);
  const moved = axis === last ? x : transpose(x, order);
  const largest = node.attrs.int('largest', 1) === 1;
  let [values, indices] = largest ? pairOf(topK(moved, k)) : smallest(moved, k);
  if (axis !== last) {
    values = transpose(values, order);
    indices = transpose(indices, order);
  }
  return [values, indices.cast('int64')];
};
const pairOf = ({ values, indices }: { values: Tensor; indices: Tensor }): [Tensor, Tensor] => [
  values,
  indices,
];
const swapped = (rank: number, axis: number): number[] =>
  range(0, rank).map((i) => (i === axis ? rank - 1 : i === rank - 1 ? axis : i));
function smallest(x: Tensor, k: number): [Tensor, Tensor] {
  const negated = x.dtype.startsWith('u') ? scalar(-1, 'int64').sub(x.cast('int64')) : x.neg();
  const { indices } = topK(negated, k);
  return [gather(x, indices, x.rank - 1, { batchDims: x.rank - 1 }), indices];
}

const hotRows: Run = (node) => {
  const indices = node.x(0);
  const [depth] = hostDims(node.x(1).cast('int64').reshape([1]), 'the depth', node.where) as [Dim];
  const values = node.x(2);
  const [off, on] = [values.slice([0], [1]).reshape([]), values.slice([1], [1]).reshape([])];
  const places = indices.cast('int64');
  const front = fromFront(places, depth);
  const rank = indices.rank + 1;
  const axis = node.axis(node.attrs.int('axis', -1), rank);
  return where(oneHot(front, depth as number, { axis, dtype: 'int32' }).equal(1), on, off);
};

const eyeLike: Run = (node) => {
  const x = node.x();
  if (x.rank !== 2) node.fail(`expected a matrix, got a tensor of rank ${x.rank}`);
  const [rows, columns] = x.shape as readonly [number, number];
  const k = node.attrs.int('k', 0);
  const dtype = node.attrs.has('dtype') ? dtypeOf(node.attrs.int('dtype')) : x.dtype;
  const places = iota(rows).reshape([-1, 1]).add(k);
  return places.equal(iota(columns).reshape([1, -1])).cast(dtype);
};

const triangle: Run = (node) => {
  const x = node.x();
  const k = node.maybe(1) === null ? 0 : node.int(1);
  const rows = iota(dims(x).at(-2) as Dim).reshape([-1, 1]);
  const columns = iota(dims(x).at(-1) as Dim).reshape([1, -1]);
  const kept =
    node.attrs.int('upper', 1) === 1 ? columns.greaterEqual(rows.add(k)) : columns.lessEqual(rows.add(k));
  return where(kept, x, zerosLike(x));
};

const counted: Run = (node) => {
  const [start, limit, delta] = [node.x(0), node.x(1), node.x(2)];
  const { dtype } = start;
  if (!dtype.startsWith('int')) {
    const [a, b, c] = [0, 1, 2].map((i) => node.number(i)) as [number, number, number];
    return rangeOf(a, b, c, { dtype });
  }
  const [a, b, c] = [start, limit, delta].map(
    (_, i) => node.sizes(i)[0] ?? node.fail(`input ${i} is empty`),
  ) as [Dim, Dim, Dim];
  if ([a, b, c].every((d) => typeof d === 'number'))
    return rangeOf(a as number, b as number, c as number, { dtype });
  if (typeof c !== 'number') return node.unsupported('the step depends on sizes that are not known');
  const size = maxDims(0, floorDivDims(addDims(subDims(b, a), c > 0 ? c - 1 : c + 1), c));
  return iota(size).cast(dtype).mul(scalar(c, dtype)).add(sizeTensor(a, dtype));
};

const constantOf: Run = (node) => {
  const { attrs } = node;
  if (attrs.has('value')) return attrs.tensor('value');
  if (attrs.has('value_float')) return scalar(attrs.float('value_float'), 'float32');
  if (attrs.has('value_int')) return constant(attrs.bigint('value_int'), 'int64');
  if (attrs.has('value_floats')) return constant([...attrs.floats('value_floats')], 'float32');
  if (attrs.has('value_ints')) return constant(attrs.bigints('value_ints'), 'int64');
  if (attrs.has('value_string')) return constant(attrs.text('value_string'), 'string');
  if (attrs.has('value_strings')) return constant(attrs.texts('value_strings'), 'string');
  return node.unsupported('a constant of this kind is not translated');
};

const filled: Run = (node) => {
  const shape = node.sizes(0);
  const value = node.attrs.has('value') ? node.attrs.tensor('value') : scalar(0, 'float32');
  return broadcastTo(value.reshape([]), toShape(shape));
};

const compressed: OnnxOp = {
  eager: true,
  run: (node) => {
    const condition = node.x(1);
    const axis = node.attrs.has('axis') ? node.axis(node.attrs.int('axis'), node.x().rank) : null;
    const x = axis === null ? shaped(node.x(), [-1]) : node.x();
    const along = axis ?? 0;
    const kept = nonzero(condition).reshape([-1]);
    const n = dims(x)[along] as number;
    return gather(x, booleanMask(kept, kept.less(scalar(n, kept.dtype))), along);
  },
};

const sums = (fn: typeof cumsum): OnnxOp => ({
  hosts: [1],
  run: (node) => {
    const x = node.x();
    const axis = node.axis(node.int(1), x.rank);
    const [exclusive, back] = [node.attrs.int('exclusive', 0), node.attrs.int('reverse', 0)];
    return fn(x, axis, { exclusive: exclusive === 1, reverse: back === 1 });
  },
});

const reversedSequences: Run = (node) => {
  const x = node.x();
  const [batch, time] = [node.attrs.int('batch_axis', 1), node.attrs.int('time_axis', 0)];
  const lengths = node.x(1).cast('int64').reshape([-1, 1]);
  const moved = batch === 0 ? x : transpose(x, [1, 0, ...range(2, x.rank)]);
  if (batch + time !== 1) node.fail('batch_axis and time_axis have to be 0 and 1');
  const steps = iota(dims(moved)[1] as Dim)
    .cast('int64')
    .reshape([1, -1]);
  const places = where(steps.less(lengths), lengths.sub(1).sub(steps), steps);
  const y = gather(moved, places, 1, { batchDims: 1 });
  return batch === 0 ? y : transpose(y, [1, 0, ...range(2, x.rank)]);
};

const deepSpace: Run = (node) => {
  const x = node.x();
  const b = node.attrs.int('blocksize');
  const [n, c, h, w] = dims(x) as readonly [Dim, Dim, Dim, Dim];
  const less = floorDivDims(c, b * b);
  const crd = node.attrs.text('mode', 'DCR') === 'CRD';
  const split6 = shaped(x, crd ? [n, less, b, b, h, w] : [n, b, b, less, h, w]);
  return shaped(transpose(split6, crd ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2]), [
    n,
    less,
    mulDims(h, b),
    mulDims(w, b),
  ]);
};

const spacedDepth: Run = (node) => {
  const x = node.x();
  const b = node.attrs.int('blocksize');
  const [n, c, h, w] = dims(x) as readonly [Dim, Dim, Dim, Dim];
  const [rows, columns] = [floorDivDims(h, b), floorDivDims(w, b)];
  const cut = shaped(x, [n, c, rows, b, columns, b]);
  return shaped(
    transpose(cut, node.attrs.text('mode', 'DCR') === 'CRD' ? [0, 1, 3, 5, 2, 4] : [0, 3, 5, 1, 2, 4]),
    [n, mulDims(c, b * b), rows, columns],
  );
};

const uniqueOf: OnnxOp = {
  eager: true,
  run: (node) => {
    const sorted = node.attrs.int('sorted', 1) === 1;
    if (node.attrs.has('axis') && node.x().rank !== 1)
      node.unsupported('unique slices along an axis are not translated');
    const x = shaped(node.x(), [-1]);
    const { values: y, indices: idx } = unique(x);
    const values = elementsOf(y);
    const places = elementsOf(idx).map(Number);
    const order = range(0, values.length);
    if (sorted) order.sort((a, b) => Number(values[a]) - Number(values[b]));
    const rank = new Map(order.map((from, to) => [from, to]));
    const first = order.map((from) => places.indexOf(from));
    const counts = order.map((from) => places.filter((p) => p === from).length);
    const integers = (list: readonly number[]): Tensor => constant(list.map(BigInt), 'int64').reshape([-1]);
    return [
      gather(y, constant(order, 'int32').reshape([-1])),
      integers(first),
      integers(places.map((p) => rank.get(p) as number)),
      integers(counts),
    ];
  },
};
const elementsOf = (x: Tensor): (number | bigint)[] => Array.from(x.data() as ArrayLike<number | bigint>);

export const arrays: OpTable = {
  Compress: compressed,
  Concat: (node) => concat(node.all(), node.axis(node.attrs.int('axis'), node.x().rank)),
  Constant: constantOf,
  ConstantOfShape: filled,
  CumProd: sums(cumprod),
  CumSum: sums(cumsum),
  DepthToSpace: deepSpace,
  Expand: expanded,
  EyeLike: eyeLike,
  Flatten: flattened,
  Gather: gathered,
  GatherElements: gatherElements,
  GatherND: gatherTuples,
  NonZero: { eager: true, run: (node) => transpose(nonzero(node.x()), [1, 0]).cast('int64') },
  OneHot: { hosts: [1], run: hotRows },
  Pad: { hosts: [1, 2, 3], run: padded },
  Range: { hosts: [0, 1, 2], run: counted },
  Reshape: { hosts: [1], run: reshapeTo },
  ReverseSequence: reversedSequences,
  Scatter: scatterElements,
  ScatterElements: scatterElements,
  ScatterND: scatterTuples,
  Shape: shapeSlice,
  Size: (node) => sizeTensor(sizeOfDims(node.x().shape), 'int64'),
  Slice: { hosts: [3, 4], run: slices },
  SpaceToDepth: spacedDepth,
  Split: splits,
  Squeeze: { hosts: [1], run: squeezed },
  Tile: (node) => tile(node.x(), toShape(node.sizes(1))),
  TensorScatter: cacheUpdated,
  TopK: { hosts: [1], run: topOf },
  Transpose: (node) => {
    const x = node.x();
    return transpose(x, node.attrs.ints('perm', range(0, x.rank).reverse()));
  },
  Trilu: { hosts: [1], run: triangle },
  Unique: uniqueOf,
  Unsqueeze: { hosts: [1], run: unsqueezed },
};
