// Convolutions as matrix products whose factors are read from images as they are needed; each group is a product of its own.
import { list, type NumericDType } from '@eagre/backend';
import { cudaForms } from './cuda-forms.ts';
import {
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type Lowered,
  lowered,
  type TensorInfo,
} from './kernel.ts';
import { fill } from './moves.ts';
import { matrixDispatch, productDispatch } from './product.ts';
import type { Along, Product, ProductSizes, Value } from './product-factors.ts';
import { floats } from './scalar-program.ts';

export interface Geometry {
  /** The parameters of the kernels, by name; all are u32. */
  readonly params: Readonly<Record<string, number>>;
  readonly strides: readonly number[];
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
  const [padTop, , padLeft] = list(attrs.padding);
  const [strideY, strideX] = list(attrs.strides);
  const [dilationY, dilationX] = list(attrs.dilations);
  const groups = attrs.groups as number;
  const groupIn = c / groups;
  const groupOut = o / groups;
  const ofImage = { h, w, c, kh, kw, oh, ow, o, strideY, strideX, dilationY, dilationX, padTop, padLeft };
  return {
    params: { ...ofImage, groupIn, groupOut },
    strides: [strideY, strideX],
    groups,
    inputs: groupIn,
    outputs: groupOut,
    taps: kh * kw,
    pixels: n * oh * ow,
    isProduct: kh * kw === 1 && groups === 1 && h === oh && w === ow && strideY * strideX === 1,
  };
}

/** A convolution's product, with its parameters. */
function dispatchOf(
  { params, isProduct }: Pick<Geometry, 'params' | 'isProduct'>,
  made: Omit<Product, 'params'>,
  operands: readonly number[],
  sizes: ProductSizes,
  kept = 0,
): Dispatch | undefined {
  const fields = Object.fromEntries(Object.keys(params).map((name) => [name, 'u32' as const]));
  const product = { ...made, params: fields };
  const values = Object.values(params);
  if (!isProduct) return productDispatch(product, operands, values, sizes, kept);
  const [, rows, columns, depth] = sizes;
  return matrixDispatch(product, operands, values, [rows, columns, depth]);
}

/** Where pixels of the result begin in the image. */
const pixels: Along = {
  digits: [['outX', 'p.ow'], ['outY', 'p.oh'], ['image']],
  coordinates: ['outY * p.strideY - p.padTop', 'outX * p.strideX - p.padLeft'],
  at: '((image * p.h + outY * p.strideY - p.padTop) * p.w + outX * p.strideX - p.padLeft) * p.c',
};

/** How far a tap of the filter is from there, and which channel of the group it sees. */
const taps: Along = {
  digits: [['channel', 'p.groupIn'], ['tapX', 'p.kw'], ['tapY']],
  coordinates: ['tapY * p.dilationY', 'tapX * p.dilationX'],
  at: '(tapY * p.dilationY * p.w + tapX * p.dilationX) * p.c + batch * p.groupIn + channel',
};

const patch = { buffer: 'x', within: ['p.h', 'p.w'] } as const;

/** Makes the dispatch of a convolution; of a filled up image, the number of that is told, and the bytes of the temporary that stay as they are. */
export type Make = (g: Geometry, filled?: number, kept?: number) => Dispatch | undefined;

/** A convolution as products of a geometry. */
export interface Convolution {
  readonly geometry: Geometry;
  readonly make: Make;
}

type Given = Pick<Call, 'inputs' | 'outputs' | 'attrs'>;

function lowerFilled(x: TensorInfo, { geometry, make }: Convolution): Lowered | undefined {
  const dispatch = make(geometry);
  const cuda = cudaForms()?.filledUp(x, geometry, make);
  return dispatch && lowered(cuda === undefined ? dispatch : { ...dispatch, cuda, prefersCuda: true });
}

/** `Conv2D`. */
export function ofForward({ inputs: [x, filter, bias], outputs: [y], attrs }: Given): Convolution {
  const operands = bias === undefined ? [1, 2] : [1, 2, 3];
  const columns: Along = { at: 'batch * p.groupOut + column' };
  const make: Make = (g, filled, kept) =>
    dispatchOf(
      g,
      {
        dtype: x.dtype as NumericDType,
        buffers: bias === undefined ? ['x', 'filter'] : ['x', 'filter', 'bias'],
        left: { ...patch, side: pixels, deep: taps, inner: 'deep', run: g.inputs },
        right: {
          buffer: 'filter',
          side: columns,
          inner: 'side',
          run: g.outputs,
          ...(filled === undefined
            ? { deep: { at: 'deep * p.o' } }
            : {
                deep: {
                  digits: [['channel', 'p.groupIn'], ['tap']],
                  coordinates: ['channel'],
                  at: '(tap * p.filterIn + channel) * p.o',
                },
                within: ['p.filterIn'],
              }),
        },
        at: 'row * p.o + batch * p.groupOut',
        biasAt: bias && columns.at,
        activation: attrs.activation as number,
      },
      [filled ?? 0, ...operands],
      [g.groups, g.pixels, g.outputs, g.taps * g.inputs],
      kept,
    );
  return { geometry: geometryOf(x, filter, y, attrs), make };
}

function forward(call: Call): Lowered | undefined {
  const { inputs, outputs } = call;
  if (!fits(inputs[0], inputs[1], outputs[0]) || outputs[0].size === 0) return undefined;
  return lowerFilled(inputs[0], ofForward(call));
}

/** Values of `batch` of an image's gradient where strides are 1: all pixels see all taps. */
const allTaps: readonly Value[] = [
  ['ofGroup', 'u32', 'batch'],
  ...['Y', 'X'].flatMap((axis): readonly Value[] => [
    [`first${axis}`, 'u32', '0u'],
    [`taps${axis}`, 'u32', `p.k${axis === 'Y' ? 'h' : 'w'}`],
    [`from${axis}`, 'u32', `p.pad${axis === 'Y' ? 'Top' : 'Left'}`],
  ]),
];

/**
 * The same where they are more. Pixels whose places leave the same rest when they are divided by the strides see the same taps, and so are a product of their
 * own: from the first tap on each `period`-th one. None sees any where the rest is no multiple of what stride and dilation have in common.
 */
const someTaps: readonly Value[] = [
  ['ofGroup', 'u32', 'batch / (p.strideY * p.strideX)'],
  ['restY', 'u32', 'batch / p.strideX % p.strideY'],
  ['restX', 'u32', 'batch % p.strideX'],
  ...['Y', 'X'].flatMap((axis): readonly Value[] => {
    const [size, pad] = axis === 'Y' ? ['p.kh', 'p.padTop'] : ['p.kw', 'p.padLeft'];
    const period = `p.period${axis}`;
    return [
      [`end${axis}`, 'u32', `rest${axis} + ${pad}`],
      [`first${axis}`, 'u32', `end${axis} / p.common${axis} % ${period} * p.inverse${axis} % ${period}`],
      [
        `seen${axis}`,
        'u32',
        `(${size} + ${period} - 1u - first${axis}) / ${period} * u32(end${axis} % p.common${axis} == 0u)`,
      ],
      [`taps${axis}`, 'u32', `seen${axis} + u32(seen${axis} == 0u)`],
      // A whole number, but it may be less than 0.
      [
        `from${axis}`,
        'u32',
        `u32(i32(end${axis} - first${axis} * p.dilation${axis}) / i32(p.stride${axis}))`,
      ],
    ];
  }),
];

function greatestCommon(a: number, b: number): number {
  return b === 0 ? a : greatestCommon(b, a % b);
}

/** Of one axis: what stride and dilation have in common, each how many-th tap a pixel sees, the inverse of the dilation there, and how far such taps are apart. */
function tapsOf(stride: number, dilation: number): readonly number[] {
  const common = greatestCommon(stride, dilation);
  const period = stride / common;
  const far = dilation / common;
  let inverse = 0;
  while (period > 1 && (inverse * far) % period !== 1) inverse++;
  return [common, period, inverse, far];
}

function inputGradient({ inputs: [filter, dy], outputs: [dx], attrs }: Call): Lowered | undefined {
  if (!fits(filter, dy, dx) || dx.size === 0) return undefined;
  if (dy.size === 0 || filter.size === 0) return lowered(fill(2, dx, 0));
  const g = geometryOf(dx, filter, dy, attrs);
  const [n, h, w] = dx.shape;
  const [strideY, strideX] = g.strides;
  const [high, wide] = [Math.ceil(h / strideY), Math.ceil(w / strideX)];
  const [[commonY, periodY, inverseY, farY], [commonX, periodX, inverseX, farX]] = g.strides.map(
    (stride, i) => tapsOf(stride, list(attrs.dilations)[i]),
  );
  const isStrided = strideY * strideX > 1;
  const ofRow: Along['digits'] = [['atX', 'p.wide'], ['atY', 'p.high'], ['image']];
  const ofTaps: Along['digits'] = [['out', 'p.groupOut'], ['tapX', 'tapsX'], ['tapY']];
  const ofOutput = 'ofGroup * p.groupOut';
  const dispatch = dispatchOf(
    {
      ...g,
      params: {
        ...g.params,
        ...{ high, wide, periodY, periodX, farY, farX },
        ...(isStrided ? { commonY, commonX, inverseY, inverseX } : {}),
      },
    },
    {
      dtype: dy.dtype as NumericDType,
      buffers: ['filter', 'dy'],
      batch: isStrided ? someTaps : allTaps,
      // Each pixel of the image sees, for each tap, the output pixel to which it went by that tap, if there is one.
      left: {
        buffer: 'dy',
        side: {
          digits: ofRow,
          coordinates: ['atY + fromY', 'atX + fromX'],
          at: `((image * p.oh + atY + fromY) * p.ow + atX + fromX) * p.o + ${ofOutput}`,
        },
        deep: {
          digits: ofTaps,
          coordinates: ['0u - tapY * p.farY', '0u - tapX * p.farX'],
          at: 'out - (tapY * p.farY * p.ow + tapX * p.farX) * p.o',
        },
        within: ['p.oh', 'p.ow'],
        inner: 'deep',
        run: g.outputs,
      },
      right: {
        buffer: 'filter',
        side: { at: `column * p.o + ${ofOutput}` },
        deep: {
          digits: ofTaps,
          at: '((firstY + tapY * p.periodY) * p.kw + firstX + tapX * p.periodX) * p.groupIn * p.o + out',
        },
        inner: 'deep',
        run: g.outputs,
      },
      ...(isStrided
        ? {
            depth: 'seenY * seenX * p.groupOut',
            row: ofRow,
            stores: 'atY * p.strideY + restY < p.h && atX * p.strideX + restX < p.w',
            at: '((image * p.h + atY * p.strideY + restY) * p.w + atX * p.strideX + restX) * p.c + ofGroup * p.groupIn',
          }
        : { at: 'row * p.c + ofGroup * p.groupIn' }),
    },
    [0, 1, 2],
    [
      g.groups * strideY * strideX,
      n * high * wide,
      g.inputs,
      Math.ceil(g.params.kh / periodY) * Math.ceil(g.params.kw / periodX) * g.outputs,
    ],
  );
  return dispatch && lowered(dispatch);
}

/** `Conv2DBackpropFilter`. */
export function ofFilterGradient({ inputs: [x, dy], outputs: [df], attrs }: Given): Convolution {
  const make: Make = (g, filled, kept) =>
    dispatchOf(
      g,
      {
        dtype: x.dtype as NumericDType,
        buffers: ['x', 'dy'],
        left: { ...patch, side: taps, deep: pixels, inner: 'side', run: g.inputs },
        right: {
          buffer: 'dy',
          side: { at: 'batch * p.groupOut + column' },
          deep: { at: 'deep * p.o' },
          inner: 'side',
          run: g.outputs,
        },
        ...(filled === undefined
          ? { at: 'row * p.o + batch * p.groupOut' }
          : {
              row: [['channel', 'p.groupIn'], ['tap']],
              stores: 'channel < p.filterIn',
              at: '(tap * p.filterIn + channel) * p.o',
            }),
      },
      [filled ?? 0, 1, 2],
      [g.groups, g.taps * g.inputs, g.outputs, g.pixels],
      kept,
    );
  return { geometry: geometryOf(x, df, dy, attrs), make };
}

function filterGradient(call: Call): Lowered | undefined {
  const {
    inputs: [x, dy],
    outputs: [df],
  } = call;
  if (!fits(x, dy, df) || df.size === 0) return undefined;
  if (dy.size === 0 || x.size === 0) return lowered(fill(2, df, 0));
  return lowerFilled(x, ofFilterGradient(call));
}

export const kernels: GpuKernels = {
  Conv2D: { dtypes: floats, lower: forward },
  Conv2DBackpropInput: { dtypes: floats, lower: inputGradient },
  Conv2DBackpropFilter: { dtypes: floats, lower: filterGradient },
};
