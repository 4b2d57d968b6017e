// Convolutions as matrix products whose factors are read from images as they are needed; each group is a product of its own.
import { list } from '@eagre/backend';
import { type Call, fits, type GpuKernels, type Lowered, lowered, type TensorInfo } from './kernel.ts';
import { epilogue, productDispatch } from './matmul.ts';
import { fill } from './moves.ts';
import { floats, ofFloats } from './scalar-program.ts';

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
  };
}

/** Statements that set `value` to the image's element which output pixel `pixel` sees at `tap`, in channel `channel` of the group. */
const patch = (pixel: string, at: string): string => `
  let pixel = ${pixel}; let tap = (${at}) / p.groupIn; let channel = (${at}) % p.groupIn;
  let ox = pixel % p.ow; let oy = (pixel / p.ow) % p.oh; let image = pixel / (p.ow * p.oh);
  let iy = i32(oy) * p.strideY - p.padTop + i32(tap / p.kw) * p.dilationY;
  let ix = i32(ox) * p.strideX - p.padLeft + i32(tap % p.kw) * p.dilationX;
  if (iy >= 0 && iy < i32(p.h) && ix >= 0 && ix < i32(p.w)) {
    value = x[((image * p.h + u32(iy)) * p.w + u32(ix)) * p.c + batch * p.groupIn + channel];
  }`;

function forward({ inputs: [x, filter, bias], outputs: [y], attrs }: Call): Lowered | undefined {
  if (!fits(x, filter, y) || y.size === 0) return undefined;
  const g = geometryOf(x, filter, y, attrs);
  const dispatch = productDispatch(
    {
      type: 'f32',
      buffers: ofFloats(x.dtype, {
        x: 'f32',
        filter: 'f32',
        ...(bias === undefined ? {} : { bias: 'f32' }),
        y: 'mut f32',
      }),
      params: sizes,
      setUp: '',
      left: patch('row', 'deep'),
      right: 'value = filter[deep * p.o + batch * p.groupOut + column];',
      store: `let place = batch * p.groupOut + column; ${epilogue(x.dtype, bias && 'bias[place]', attrs.activation as number)} y[row * p.o + place] = sum;`,
    },
    bias === undefined ? [0, 1, 2] : [0, 1, 2, 3],
    g.values,
    [g.groups, g.pixels, g.outputs, g.taps * g.inputs],
  );
  return dispatch && lowered(dispatch);
}

/** Each pixel of the image is a row: it sees, for each tap, the output pixel to which it went by that tap, if there is one. */
function inputGradient({ inputs: [filter, dy], outputs: [dx], attrs }: Call): Lowered | undefined {
  if (!fits(filter, dy, dx) || dx.size === 0) return undefined;
  if (dy.size === 0 || filter.size === 0) return lowered(fill(2, dx, 0));
  const g = geometryOf(dx, filter, dy, attrs);
  const [n, h, w] = dx.shape;
  const dispatch = productDispatch(
    {
      type: 'f32',
      buffers: ofFloats(dy.dtype, { filter: 'f32', dy: 'f32', y: 'mut f32' }),
      params: sizes,
      setUp: '',
      left: `let tap = deep / p.groupOut; let out = deep % p.groupOut;
        let ix = row % p.w; let iy = (row / p.w) % p.h; let image = row / (p.w * p.h);
        let fromY = i32(iy) + p.padTop - i32(tap / p.kw) * p.dilationY;
        let fromX = i32(ix) + p.padLeft - i32(tap % p.kw) * p.dilationX;
        let oy = fromY / p.strideY; let ox = fromX / p.strideX;
        if (fromY >= 0 && fromX >= 0 && oy * p.strideY == fromY && ox * p.strideX == fromX && oy < i32(p.oh) && ox < i32(p.ow)) {
          value = dy[((image * p.oh + u32(oy)) * p.ow + u32(ox)) * p.o + batch * p.groupOut + out];
        }`,
      right: `let tap = deep / p.groupOut; let out = deep % p.groupOut;
        value = filter[(tap * p.groupIn + column) * p.o + batch * p.groupOut + out];`,
      store: 'y[row * p.c + batch * p.groupIn + column] = sum;',
    },
    [0, 1, 2],
    g.values,
    [g.groups, n * h * w, g.inputs, g.taps * g.outputs],
  );
  return dispatch && lowered(dispatch);
}

function filterGradient({ inputs: [x, dy], outputs: [df], attrs }: Call): Lowered | undefined {
  if (!fits(x, dy, df) || df.size === 0) return undefined;
  if (dy.size === 0 || x.size === 0) return lowered(fill(2, df, 0));
  const g = geometryOf(x, df, dy, attrs);
  const dispatch = productDispatch(
    {
      type: 'f32',
      buffers: ofFloats(x.dtype, { x: 'f32', dy: 'f32', y: 'mut f32' }),
      params: sizes,
      setUp: '',
      left: patch('deep', 'row'),
      right: 'value = dy[deep * p.o + batch * p.groupOut + column];',
      store: 'y[row * p.o + batch * p.groupOut + column] = sum;',
    },
    [0, 1, 2],
    g.values,
    [g.groups, g.taps * g.inputs, g.outputs, g.pixels],
  );
  return dispatch && lowered(dispatch);
}

export const kernels: GpuKernels = {
  Conv2D: { dtypes: floats, lower: forward },
  Conv2DBackpropInput: { dtypes: floats, lower: inputGradient },
  Conv2DBackpropFilter: { dtypes: floats, lower: filterGradient },
};
