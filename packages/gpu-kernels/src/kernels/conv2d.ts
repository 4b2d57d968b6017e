// Convolutions as matrix products whose factors are read from images as they are needed; each group is a product of its own.
import { list, type NumericDType } from '@eagre/backend';
import {
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type Lowered,
  lowered,
  type TensorInfo,
} from './kernel.ts';
import { type LibraryProduct, libraryMatrices } from './library-product.ts';
import { fill } from './moves.ts';
import { productDispatch } from './product.ts';
import type { Factor, Value } from './product-factors.ts';
import { floats } from './scalar-program.ts';

const sizes = {
  n: 'u32',
  h: 'u32',
  w: 'u32',
  c: 'u32',
  kh: 'u32',
  kw: 'u32',
  oh: 'u32',
  ow: 'u32',
  o: 'u32',
  strideY: 'i32',
  strideX: 'i32',
  dilationY: 'i32',
  dilationX: 'i32',
  padTop: 'i32',
  padLeft: 'i32',
  groupIn: 'u32',
  groupOut: 'u32',
} as const;

interface Geometry {
  readonly values: readonly number[];
  readonly groups: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly taps: number;
  readonly pixels: number;
  /** Whether each pixel of the result is the product of one of the image with the filter: all pixels in their order are a matrix then. */
  readonly isProduct: boolean;
}

function geometryOf(x: TensorInfo, filter: TensorInfo, y: TensorInfo, attrs: Call['attrs']): Geometry {
  const [n, h, w, c] = x.shape;
  const [kh, kw] = filter.shape;
  const [, oh, ow, o] = y.shape;
  const [top, , left] = list(attrs.padding);
  const groups = attrs.groups as number;
  const inputs = c / groups;
  const outputs = o / groups;
  return {
    values: [
      n,
      h,
      w,
      c,
      kh,
      kw,
      oh,
      ow,
      o,
      ...list(attrs.strides),
      ...list(attrs.dilations),
      top,
      left,
      inputs,
      outputs,
    ],
    groups,
    inputs,
    outputs,
    taps: kh * kw,
    pixels: n * oh * ow,
    isProduct:
      kh * kw === 1 &&
      groups === 1 &&
      h === oh &&
      w === ow &&
      list(attrs.strides).every((stride) => stride === 1),
  };
}

/** The same as a product of matrices, for libraries. */
function withLibrary(
  dispatch: Dispatch | undefined,
  { isProduct }: Geometry,
  product: Parameters<typeof libraryMatrices>[0],
): Lowered | undefined {
  const library: LibraryProduct | undefined = isProduct ? libraryMatrices(product) : undefined;
  return dispatch && lowered(library === undefined ? dispatch : { ...dispatch, library });
}

/** Where a pixel of the result begins in the image. */
const ofPixel = (pixel: string): readonly Value[] => [
  ['beginX', 'i32', `i32(${pixel} % p.ow) * p.strideX - p.padLeft`],
  ['beginY', 'i32', `i32(${pixel} / p.ow % p.oh) * p.strideY - p.padTop`],
  ['image', 'u32', `${pixel} / p.ow / p.oh`],
];

/** How far a tap of the filter is from there, and which channel of the group it sees. */
const ofTap = (at: string): readonly Value[] => [
  ['channel', 'u32', `${at} % p.groupIn`],
  ['awayX', 'i32', `i32(${at} / p.groupIn % p.kw) * p.dilationX`],
  ['awayY', 'i32', `i32(${at} / p.groupIn / p.kw) * p.dilationY`],
];

const patch = {
  buffer: 'x',
  inside:
    'beginY + awayY >= 0 && beginY + awayY < i32(p.h) && beginX + awayX >= 0 && beginX + awayX < i32(p.w)',
  at: '((image * p.h + u32(beginY + awayY)) * p.w + u32(beginX + awayX)) * p.c + batch * p.groupIn + channel',
} as const;

function forward({ inputs: [x, filter, bias], outputs: [y], attrs }: Call): Lowered | undefined {
  if (!fits(x, filter, y) || y.size === 0) return undefined;
  const g = geometryOf(x, filter, y, attrs);
  const dispatch = productDispatch(
    {
      dtype: x.dtype as 'float32',
      buffers: bias === undefined ? ['x', 'filter'] : ['x', 'filter', 'bias'],
      params: sizes,
      left: { ...patch, side: ofPixel('row'), deep: ofTap('deep'), inner: 'deep', run: g.inputs },
      right: {
        buffer: 'filter',
        at: 'deep * p.o + batch * p.groupOut + column',
        inner: 'side',
        run: g.outputs,
      },
      at: 'row * p.o + batch * p.groupOut + column',
      biasAt: bias && 'batch * p.groupOut + column',
      activation: attrs.activation as number,
    },
    bias === undefined ? [0, 1, 2] : [0, 1, 2, 3],
    g.values,
    [g.groups, g.pixels, g.outputs, g.taps * g.inputs],
  );
  return withLibrary(dispatch, g, {
    operands: bias === undefined ? [0, 1, 2] : [0, 1, 2, 3],
    dtype: x.dtype as NumericDType,
    rows: g.pixels,
    columns: g.outputs,
    depth: g.inputs,
    hasBias: bias !== undefined,
    hasRelu: attrs.activation === 1,
  });
}

/** Each pixel of the image is a row: it sees, for each tap, the output pixel to which it went by that tap, if there is one. */
const cameFrom: Factor = {
  buffer: 'dy',
  side: [
    ['endX', 'i32', 'i32(row % p.w) + p.padLeft'],
    ['endY', 'i32', 'i32(row / p.w % p.h) + p.padTop'],
    ['image', 'u32', 'row / p.w / p.h'],
  ],
  deep: [
    ['out', 'u32', 'deep % p.groupOut'],
    ['awayX', 'i32', 'i32(deep / p.groupOut % p.kw) * p.dilationX'],
    ['awayY', 'i32', 'i32(deep / p.groupOut / p.kw) * p.dilationY'],
  ],
  inside:
    'endY >= awayY && endX >= awayX && (endY - awayY) % p.strideY == 0 && (endX - awayX) % p.strideX == 0 && (endY - awayY) / p.strideY < i32(p.oh) && (endX - awayX) / p.strideX < i32(p.ow)',
  at: '((image * p.oh + u32((endY - awayY) / p.strideY)) * p.ow + u32((endX - awayX) / p.strideX)) * p.o + batch * p.groupOut + out',
  inner: 'deep',
  run: 1,
};

function inputGradient({ inputs: [filter, dy], outputs: [dx], attrs }: Call): Lowered | undefined {
  if (!fits(filter, dy, dx) || dx.size === 0) return undefined;
  if (dy.size === 0 || filter.size === 0) return lowered(fill(2, dx, 0));
  const g = geometryOf(dx, filter, dy, attrs);
  const [n, h, w] = dx.shape;
  const dispatch = productDispatch(
    {
      dtype: dy.dtype as 'float32',
      buffers: ['filter', 'dy'],
      params: sizes,
      left: { ...cameFrom, run: g.outputs },
      right: {
        buffer: 'filter',
        deep: [
          ['out', 'u32', 'deep % p.groupOut'],
          ['tap', 'u32', 'deep / p.groupOut'],
        ],
        at: '(tap * p.groupIn + column) * p.o + batch * p.groupOut + out',
        inner: 'deep',
        run: g.outputs,
      },
      at: 'row * p.c + batch * p.groupIn + column',
    },
    [0, 1, 2],
    g.values,
    [g.groups, n * h * w, g.inputs, g.taps * g.outputs],
  );
  return withLibrary(dispatch, g, {
    operands: [1, 0, 2],
    dtype: dy.dtype as NumericDType,
    rows: g.pixels,
    columns: g.inputs,
    depth: g.outputs,
    transposeB: true,
  });
}

function filterGradient({ inputs: [x, dy], outputs: [df], attrs }: Call): Lowered | undefined {
  if (!fits(x, dy, df) || df.size === 0) return undefined;
  if (dy.size === 0 || x.size === 0) return lowered(fill(2, df, 0));
  const g = geometryOf(x, df, dy, attrs);
  const dispatch = productDispatch(
    {
      dtype: x.dtype as 'float32',
      buffers: ['x', 'dy'],
      params: sizes,
      left: { ...patch, side: ofTap('row'), deep: ofPixel('deep'), inner: 'side', run: g.inputs },
      right: {
        buffer: 'dy',
        at: 'deep * p.o + batch * p.groupOut + column',
        inner: 'side',
        run: g.outputs,
      },
      at: 'row * p.o + batch * p.groupOut + column',
    },
    [0, 1, 2],
    g.values,
    [g.groups, g.taps * g.inputs, g.outputs, g.pixels],
  );
  return withLibrary(dispatch, g, {
    operands: [0, 1, 2],
    dtype: x.dtype as NumericDType,
    rows: g.inputs,
    columns: g.outputs,
    depth: g.pixels,
    transposeA: true,
  });
}

export const kernels: GpuKernels = {
  Conv2D: { dtypes: floats, lower: forward },
  Conv2DBackpropInput: { dtypes: floats, lower: inputGradient },
  Conv2DBackpropFilter: { dtypes: floats, lower: filterGradient },
};
