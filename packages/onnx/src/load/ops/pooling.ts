// Pooling over images [n, c, …].
import { broadcastTo, concat, gather, max, mean, nn, type Tensor, transpose, zerosLike } from '@eagre/core';
import { addDims, type Dim, dims, floorDivDims, iota, mulDims, subDims, toShape } from '@eagre/core/internal';
import type { NodeCall, OpTable, Run } from '../node.ts';
import { channelsFirst, channelsLast, product, range, scalar, shaped } from './helpers.ts';
import { bordered, type Windows, windowsOf } from './products.ts';

/** The windows of a pooling node, with the border that rounding the number of steps up needs. */
function poolWindows(node: NodeCall, size: readonly Dim[]): Windows & { readonly own: Windows['pads'] } {
  const kernel = node.attrs.ints('kernel_shape');
  if (kernel.length !== size.length)
    node.fail(`kernel_shape has ${kernel.length} numbers, expected ${size.length}`);
  const windows = windowsOf(node, size, kernel);
  if (node.attrs.int('ceil_mode', 0) === 0) return { ...windows, own: windows.pads };
  const pads = windows.pads.map(([before, after], i): readonly [Dim, Dim] => {
    const stride = windows.strides[i] as number;
    const reach = ((kernel[i] as number) - 1) * (windows.dilations[i] as number) + 1;
    const room = subDims(addDims(size[i] as Dim, addDims(before, after)), reach);
    const steps = floorDivDims(addDims(room, stride - 1), stride);
    const needed = subDims(mulDims(steps, stride), room);
    // A window that begins behind the images and their border does not count.
    const begins = mulDims(steps, stride);
    const end = addDims(size[i] as Dim, before);
    if (typeof begins === 'number' && typeof end === 'number' && begins >= end)
      return [before, addDims(after, subDims(needed, stride))];
    return [before, addDims(after, needed)];
  });
  return { ...windows, pads, own: windows.pads };
}

/** Every window's elements side by side: [n, …, taps, c]. Border elements are `value`. */
function windowElements(x: Tensor, { kernel, strides, dilations, pads }: Windows, value: number): Tensor {
  let y = bordered(x, pads, value);
  kernel.forEach((taps, i) => {
    const axis = 2 * i + 1;
    const n = dims(y)[axis] as Dim;
    const [stride, dilation] = [strides[i] as number, dilations[i] as number];
    const steps = addDims(floorDivDims(subDims(n, (taps - 1) * dilation + 1), stride), 1);
    const places = iota(steps)
      .cast('int32')
      .mul(scalar(stride, 'int32'))
      .reshape([-1, 1])
      .add(iota(taps).cast('int32').mul(scalar(dilation, 'int32')).reshape([1, -1]));
    y = gather(y, places, axis);
  });
  // [n, s1, k1, s2, k2, …, c] → [n, s1, s2, …, k1·k2·…, c]
  const rank = kernel.length;
  const order = [
    0,
    ...range(0, rank).map((i) => 2 * i + 1),
    ...range(0, rank).map((i) => 2 * i + 2),
    2 * rank + 1,
  ];
  const sorted = transpose(y, order);
  const shape = dims(sorted);
  return shaped(sorted, [...shape.slice(0, rank + 1), product(kernel), shape.at(-1) as Dim]);
}

const isPlain = ({ dilations }: Windows): boolean => dilations.every((d) => d === 1);
const lowest = (x: Tensor): number =>
  x.dtype.includes('float') ? Number.NEGATIVE_INFINITY : x.dtype === 'int8' ? -128 : 0;

const largest: Run = (node) => {
  const x = node.x();
  const rank = x.rank - 2;
  const windows = poolWindows(node, dims(x).slice(2));
  const last = channelsLast(x);
  const floats = x.dtype.includes('float');
  if (!node.wants(1) && isPlain(windows) && rank <= 3 && floats) {
    const y = nn.maxPool(bordered(last, windows.pads, lowest(x)), windows.kernel as [number], {
      strides: windows.strides as [number],
    });
    return channelsFirst(y);
  }
  const all = windowElements(last, windows, lowest(x));
  const y = channelsFirst(max(all, -2));
  return node.wants(1) ? [y, places(node, x, windows, all)] : y;
};

/** Where in the whole input each maximum is, as one number. */
function places(node: NodeCall, x: Tensor, windows: Windows, all: Tensor): Tensor {
  const size = dims(x);
  const count = product(size.slice(2));
  const columns = node.attrs.int('storage_order', 0) === 1;
  const index = iota(count).cast('int32');
  const sizes = size.slice(2);
  const whole = columns
    ? transpose(shaped(index, [...sizes].reverse()), range(0, sizes.length).reverse())
    : shaped(index, sizes);
  const own = windowElements(shaped(whole, [1, ...sizes, 1]).cast('float64'), windows, -1);
  const first = all
    .equal(max(all, -2, { keepdims: true }))
    .cast('int32')
    .argMax(-2, { dtype: 'int32' });
  const flat = broadcastTo(own, toShape(dims(all)));
  const rank = all.rank;
  const swap = [...range(0, rank - 2), rank - 1, rank - 2];
  const picked = gather(transpose(flat, swap), first.expandDims(-1), rank - 1, {
    batchDims: rank - 1,
  }).squeeze(-1);
  const local = channelsFirst(picked).cast('int64');
  const nc = iota(mulDims(size[0] as Dim, size[1] as Dim)).cast('int64');
  const offset = shaped(nc, [size[0] as Dim, size[1] as Dim, ...sizes.map(() => 1)]).mul(
    iota(addDims(count, 1))
      .cast('int64')
      .slice(toShape([count]), [1])
      .reshape([]),
  );
  return local.add(offset);
}

const average: Run = (node) => {
  const x = node.x();
  const windows = poolWindows(node, dims(x).slice(2));
  const last = channelsLast(x);
  const includesBorder = node.attrs.int('count_include_pad', 0) === 1;
  const sums = windowElements(last, windows, 0).sum(-2);
  // How many elements count in each window: those of the images, or of the images and their border.
  const ones = zerosLike(x)
    .slice(
      range(0, x.rank).map(() => 0),
      toShape([1, 1, ...dims(x).slice(2)]),
    )
    .add(1);
  const inside = channelsLast(ones);
  const counted = includesBorder ? bordered(inside, windows.own, 1) : inside;
  const rest = includesBorder
    ? windows.pads.map(
        ([b, a], i) =>
          [subDims(b, windows.own[i]?.[0] as Dim), subDims(a, windows.own[i]?.[1] as Dim)] as const,
      )
    : windows.pads;
  const counts = windowElements(counted, { ...windows, pads: rest }, 0).sum(-2);
  return channelsFirst(sums.div(counts));
};

/** Averages without a border are a kernel. */
const averages: Run = (node) => {
  const x = node.x();
  const windows = poolWindows(node, dims(x).slice(2));
  const none = windows.pads.every(([before, after]) => before === 0 && after === 0);
  if (!none || !isPlain(windows) || x.rank > 5) return average(node);
  const y = nn.avgPool(channelsLast(x), windows.kernel as [number], { strides: windows.strides as [number] });
  return channelsFirst(y);
};

const spatial = (x: Tensor): number[] => range(2, x.rank);

const norms: Run = (node) => {
  const x = node.x();
  const p = node.attrs.int('p', 2);
  const windows = poolWindows(node, dims(x).slice(2));
  const all = windowElements(channelsLast(x).abs().pow(p), windows, 0);
  return channelsFirst(all.sum(-2).pow(1 / p));
};

const unpooled: Run = (node) => {
  const [x, indices] = [node.x(0), node.x(1)];
  const size = dims(x);
  const kernel = node.attrs.ints('kernel_shape');
  const { strides, pads } = windowsOf(node, size.slice(2), kernel);
  const natural = size
    .slice(2)
    .map((n, i) =>
      subDims(
        addDims(mulDims(subDims(n, 1), strides[i] as number), kernel[i] as number),
        addDims(pads[i]?.[0] as Dim, pads[i]?.[1] as Dim),
      ),
    );
  const shape = node.maybe(2) === null ? [size[0] as Dim, size[1] as Dim, ...natural] : node.sizes(2);
  // Indices are those of the size that the attributes give.
  const flat = shaped(indices, [-1]);
  const own = [size[0] as Dim, size[1] as Dim, ...natural];
  const values = shaped(x, [-1]);
  let rest = flat;
  const coordinates: Tensor[] = [];
  for (let axis = own.length - 1; axis >= 0; axis--) {
    const n = scalar(Number(own[axis]), 'int64');
    coordinates.unshift(rest.mod(n).expandDims(-1));
    rest = rest.floorDiv(n);
  }
  const zeros = broadcastTo(scalar(0, x.dtype), toShape(shape));
  return zeros.tensorScatterNdUpdate(concat(coordinates, 1), values);
};

export const pooling: OpTable = {
  AveragePool: averages,
  GlobalAveragePool: (node) => mean(node.x(), spatial(node.x()), { keepdims: true }),
  GlobalLpPool: (node) => {
    const p = node.attrs.int('p', 2);
    return node
      .x()
      .abs()
      .pow(p)
      .sum(spatial(node.x()), { keepdims: true })
      .pow(1 / p);
  },
  GlobalMaxPool: (node) => max(node.x(), spatial(node.x()), { keepdims: true }),
  LpPool: norms,
  MaxPool: largest,
  MaxUnpool: { hosts: [2], run: unpooled },
};
