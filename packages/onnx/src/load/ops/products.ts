// Matrix products, convolutions and their quantized forms.
import { concat, linalg, matmul, nn, reshape, type Tensor, transpose } from '@eagre/core';
import {
  addDims,
  type Dim,
  dims,
  floorDivDims,
  maxDims,
  minDims,
  mulDims,
  subDims,
  toShape,
} from '@eagre/core/internal';
import { floating, type NodeCall, type OpTable, type Run } from '../node.ts';
import { alongChannels, channelsFirst, channelsLast, product, range, shaped } from './helpers.ts';

/** A product as of NumPy's matmul: of vectors too. */
export function numpyMatmul(a: Tensor, b: Tensor): Tensor {
  if (a.rank === 1 && b.rank === 1) return a.mul(b).sum();
  if (a.rank === 1) return matmul(a.expandDims(0), b).squeeze(-2);
  if (b.rank === 1) return matmul(a, b.expandDims(-1)).squeeze(-1);
  return matmul(a, b);
}

const general: Run = (node) => {
  const { attrs } = node;
  const [transA, transB] = [attrs.int('transA', 0) === 1, attrs.int('transB', 0) === 1];
  const [alpha, beta] = [attrs.float('alpha', 1), attrs.float('beta', 1)];
  let y = matmul(node.x(0), node.x(1), { transposeA: transA, transposeB: transB });
  if (alpha !== 1) y = y.mul(alpha);
  const c = node.maybe(2);
  if (c === null || beta === 0) return y;
  return y.add(beta === 1 ? c : c.mul(beta));
};

// ---- convolutions

/** How windows move over the axes of images. */
export interface Windows {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** [before, after] of each axis. */
  readonly pads: readonly (readonly [Dim, Dim])[];
}

/** The geometry in a node's attributes, for images of these sizes. */
export function windowsOf(node: NodeCall, size: readonly Dim[], kernel: readonly number[]): Windows {
  const rank = size.length;
  const strides = node.attrs.ints(
    'strides',
    range(0, rank).map(() => 1),
  );
  const dilations = node.attrs.ints(
    'dilations',
    range(0, rank).map(() => 1),
  );
  const given = node.attrs.ints(
    'pads',
    range(0, 2 * rank).map(() => 0),
  );
  for (const [name, list, length] of [
    ['strides', strides, rank],
    ['dilations', dilations, rank],
    ['pads', given, 2 * rank],
  ] as const)
    if (list.length !== length) node.fail(`${name} has ${list.length} numbers, expected ${length}`);
  const mode = node.attrs.text('auto_pad', 'NOTSET');
  const pads = size.map((n, i): readonly [Dim, Dim] => {
    if (mode === 'NOTSET' || mode === '') return [given[i] as number, given[i + rank] as number];
    if (mode === 'VALID') return [0, 0];
    const stride = strides[i] as number;
    const reach = ((kernel[i] as number) - 1) * (dilations[i] as number) + 1;
    const steps = floorDivDims(addDims(n, stride - 1), stride);
    const total = maxDims(0, subDims(addDims(mulDims(subDims(steps, 1), stride), reach), n));
    const less = floorDivDims(total, 2);
    if (mode === 'SAME_UPPER') return [less, subDims(total, less)];
    if (mode === 'SAME_LOWER') return [subDims(total, less), less];
    return node.fail(`auto_pad '${mode}' is unknown`);
  });
  return { kernel, strides, dilations, pads };
}

/** Images [n, …, c] with a border. */
export function bordered(x: Tensor, pads: Windows['pads'], value = 0): Tensor {
  if (pads.every(([before, after]) => before === 0 && after === 0)) return x;
  if (pads.some(([, after]) => typeof after === 'number' && after < 0)) {
    // Rounding steps down leaves a rest that no window sees.
    const size = dims(x).map((d, i) => addDims(d, minDims(0, pads[i - 1]?.[1] ?? 0)));
    const cut = x.slice(
      dims(x).map(() => 0),
      toShape(size),
    );
    return bordered(
      cut,
      pads.map(([before, after]) => [before, maxDims(0, after)] as const),
      value,
    );
  }
  const sides = [[0, 0], ...pads, [0, 0]].map((pair) => toShape(pair as Dim[]));
  return x.pad(sides as unknown as [number, number][], { constantValues: value });
}

/** A filter [out, in, …] as [… , in, out]. */
const filterLast = (w: Tensor): Tensor => transpose(w, [...range(2, w.rank), 1, 0]);

function convolve(node: NodeCall, x: Tensor, w: Tensor): Tensor {
  const rank = x.rank - 2;
  if (rank < 1 || rank > 3) node.unsupported(`convolutions of ${rank} axes are not translated`);
  const kernel = node.attrs.ints('kernel_shape', w.shape.slice(2));
  const { strides, dilations, pads } = windowsOf(node, dims(x).slice(2), kernel);
  const groups = node.attrs.int('group', 1);
  const y = nn.convolution(bordered(channelsLast(x), pads), filterLast(w), {
    strides: strides as [number],
    dilations: dilations as [number],
    groups,
  });
  return channelsFirst(y);
}

const convolution: Run = (node) => {
  const y = convolve(node, node.x(0), node.x(1));
  const bias = node.maybe(2);
  return bias === null ? y : y.add(alongChannels(bias, y.rank));
};

const transposedConvolution: Run = (node) => {
  const [x, w] = [node.x(0), node.x(1)];
  const rank = x.rank - 2;
  if (rank < 1 || rank > 3) node.unsupported(`convolutions of ${rank} axes are not translated`);
  const groups = node.attrs.int('group', 1);
  const cIn = (w.shape[0] as number) / groups;
  const cX = dims(x)[1] as Dim;
  if (typeof cX === 'number' && cX !== w.shape[0])
    node.fail(`x has ${cX} channels, the filter ${w.shape[0]}`);
  const parts = range(0, groups).map((g) => {
    const piece =
      groups === 1
        ? x
        : x.slice(
            [0, g * cIn, ...range(0, rank).map(() => 0)],
            toShape([dims(x)[0] as Dim, cIn, ...dims(x).slice(2)]),
          );
    const filter =
      groups === 1 ? w : w.slice([g * cIn, ...range(1, w.rank).map(() => 0)], [cIn, ...w.shape.slice(1)]);
    return transposeOne(node, piece, filter);
  });
  const y = parts.length === 1 ? (parts[0] as Tensor) : concat(parts, 1);
  const bias = node.maybe(2);
  return bias === null ? y : y.add(alongChannels(bias, y.rank));
};

/** One group: the whole result, then cut or extended. */
function transposeOne(node: NodeCall, x: Tensor, w: Tensor): Tensor {
  const rank = x.rank - 2;
  const { attrs } = node;
  const ones = range(0, rank).map(() => 1);
  const kernel = attrs.ints('kernel_shape', w.shape.slice(2));
  const strides = attrs.ints('strides', ones);
  const dilations = attrs.ints('dilations', ones);
  const more = attrs.ints(
    'output_padding',
    range(0, rank).map(() => 0),
  );
  const size = dims(x).slice(2);
  const whole = size.map((n, i) =>
    addDims(
      mulDims(subDims(n, 1), strides[i] as number),
      ((kernel[i] as number) - 1) * (dilations[i] as number) + 1,
    ),
  );
  const full = nn.convTranspose(channelsLast(x), transpose(w, [...range(2, w.rank), 1, 0]), null, {
    strides: strides as [number],
    dilations: dilations as [number],
  });
  const mode = attrs.text('auto_pad', 'NOTSET');
  const given = attrs.ints(
    'pads',
    range(0, 2 * rank).map(() => 0),
  );
  const wanted = attrs.has('output_shape') ? attrs.ints('output_shape').slice(-rank) : null;
  const [begin, length] = [[] as Dim[], [] as Dim[]];
  size.forEach((n, i) => {
    const extra = more[i] as number;
    const target =
      wanted !== null
        ? (wanted[i] as number)
        : mode.startsWith('SAME')
          ? mulDims(n, strides[i] as number)
          : subDims(addDims(whole[i] as Dim, extra), (given[i] as number) + (given[i + rank] as number));
    const total = maxDims(0, subDims(addDims(whole[i] as Dim, extra), target));
    const half = floorDivDims(total, 2);
    const byMode = wanted !== null || mode.startsWith('SAME');
    begin.push(byMode ? (mode === 'SAME_UPPER' ? half : subDims(total, half)) : (given[i] as number));
    length.push(target);
  });
  // What lies behind the whole result is zero.
  const behind = size.map((_, i) =>
    maxDims(0, subDims(addDims(begin[i] as Dim, length[i] as Dim), whole[i] as Dim)),
  );
  const room = bordered(
    full,
    behind.map((d) => [0, d] as const),
  );
  const [n, c] = [dims(room)[0] as Dim, dims(room)[rank + 1] as Dim];
  return channelsFirst(room.slice(toShape([0, ...begin, 0]), toShape([n, ...length, c])));
}

const columnsToImages: Run = (node) => {
  const x = node.x(0);
  const [image, block] = [node.ints(1), node.ints(2)];
  const rank = image.length;
  const { strides, dilations, pads } = windowsOf(node, image, block);
  const reach = block.map((b, i) => (b - 1) * (dilations[i] as number) + 1);
  const steps = image.map(
    (n, i) =>
      Math.floor(
        (n + Number(pads[i]?.[0]) + Number(pads[i]?.[1]) - (reach[i] as number)) / (strides[i] as number),
      ) + 1,
  );
  const c = floorDivDims(
    dims(x)[1] as Dim,
    block.reduce((a, b) => a * b, 1),
  );
  // Each element of a block is a tap of a filter that puts it into its place.
  const taps = block.reduce((a, b) => a * b, 1);
  const n = dims(x)[0] as Dim;
  const values = shaped(x, [n, c, taps, ...steps]);
  const flat = shaped(transpose(values, [0, 1, ...range(3, 3 + rank), 2]), [mulDims(n, c), ...steps, taps]);
  const filter = reshape(linalg.eye(taps), [...block, 1, taps]);
  const whole = nn.convTranspose(flat, filter, null, {
    strides: strides as [number],
    dilations: dilations as [number],
  });
  const behind = image.map((size, i) =>
    Math.max(
      0,
      Number(pads[i]?.[0]) +
        size -
        ((steps[i] as number) - 1) * (strides[i] as number) -
        (reach[i] as number),
    ),
  );
  const room = bordered(
    whole,
    behind.map((d) => [0, d] as const),
  );
  const cut = room.slice(
    toShape([0, ...pads.map(([before]) => before), 0]),
    toShape([mulDims(n, c), ...image, 1]),
  );
  return shaped(cut, [n, c, ...image]);
};

// ---- of integers

/** Integers less their zero point, as int32. */
export function centred(x: Tensor, zero: Tensor | null): Tensor {
  const wide = x.cast('int32');
  return zero === null ? wide : wide.sub(zero.cast('int32'));
}
const byRows = (zero: Tensor | null): Tensor | null =>
  zero !== null && zero.rank === 1 ? zero.expandDims(-1) : zero;

/** Products of integers of a byte are exact in float64. */
function integerProduct(a: Tensor, b: Tensor): Tensor {
  return numpyMatmul(a.cast('float64'), b.cast('float64')).cast('int32');
}

function integerConvolution(node: NodeCall, x: Tensor, w: Tensor): Tensor {
  return convolve(node, x.cast('float64'), w.cast('float64')).cast('int32');
}

export const products: OpTable = {
  Col2Im: { hosts: [1, 2], run: columnsToImages },
  Conv: convolution,
  ConvInteger: (node) => {
    const w = node.x(1);
    const zero = node.maybe(3);
    const byFilter =
      zero !== null && zero.rank === 1 ? zero.reshape([-1, ...range(1, w.rank).map(() => 1)]) : zero;
    return integerConvolution(node, centred(node.x(0), node.maybe(2)), centred(w, byFilter));
  },
  ConvTranspose: transposedConvolution,
  Det: (node) => linalg.det(node.x()),
  Einsum: (node) => linalg.einsum(node.attrs.text('equation'), ...node.all()),
  Gemm: general,
  MatMul: (node) => {
    const [a, b] = [node.x(0), node.x(1)];
    return floating(a.dtype) || a.dtype === 'int32' || a.dtype === 'int64'
      ? numpyMatmul(a, b)
      : numpyMatmul(a.cast('int64'), b.cast('int64')).cast(a.dtype);
  },
  MatMulInteger: (node) =>
    integerProduct(centred(node.x(0), byRows(node.maybe(2))), centred(node.x(1), node.maybe(3))),
};
export { convolve, integerConvolution, integerProduct, product };
