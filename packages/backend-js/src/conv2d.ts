import { type Kernel, type KernelAttrs, type KernelName, list, type TensorRef } from '@eagre/backend';
import { addRowTimesMatrix, storeRow } from './matmul.ts';
import { type NumberArray, numbers } from './view.ts';

/** The sizes of a convolution; x is [n, h, w, c], the filter [kh, kw, c/groups, o], y [n, oh, ow, o]. */
interface Geometry {
  n: number;
  h: number;
  w: number;
  c: number;
  kh: number;
  kw: number;
  oh: number;
  ow: number;
  o: number;
  groups: number;
  /** Pixels between outputs, and between the filter's taps. */
  strideY: number;
  strideX: number;
  dilationY: number;
  dilationX: number;
  top: number;
  left: number;
}

function geometry(x: TensorRef, filter: TensorRef, y: TensorRef, attrs: KernelAttrs): Geometry {
  const [n, h, w, c] = x.shape;
  const [kh, kw] = filter.shape;
  const [, oh, ow, o] = y.shape;
  const [strideY, strideX] = list(attrs.strides);
  const [dilationY, dilationX] = list(attrs.dilations);
  const [top, , left] = list(attrs.padding);
  const groups = attrs.groups as number;
  return { n, h, w, c, kh, kw, oh, ow, o, groups, strideY, strideX, dilationY, dilationX, top, left };
}

/**
 * Visits the taps of the filter that lie inside the image for output pixel (oy, ox): `tap` counts them row by row, `pixel`
 * is where the channels of the image's pixel start.
 */
function forEachTap(
  g: Geometry,
  image: number,
  oy: number,
  ox: number,
  visit: (tap: number, pixel: number) => void,
): void {
  for (let ky = 0; ky < g.kh; ky++) {
    const y = oy * g.strideY - g.top + ky * g.dilationY;
    if (y < 0 || y >= g.h) continue;
    for (let kx = 0; kx < g.kw; kx++) {
      const x = ox * g.strideX - g.left + kx * g.dilationX;
      if (x < 0 || x >= g.w) continue;
      visit(ky * g.kw + kx, ((image * g.h + y) * g.w + x) * g.c);
    }
  }
}

/** Visits the output pixels in order; `pixel` is where the channels of y's pixel start. */
function forEachOutput(
  g: Geometry,
  visit: (image: number, oy: number, ox: number, pixel: number) => void,
): void {
  let pixel = 0;
  for (let image = 0; image < g.n; image++) {
    for (let oy = 0; oy < g.oh; oy++) {
      for (let ox = 0; ox < g.ow; ox++, pixel += g.o) visit(image, oy, ox, pixel);
    }
  }
}

// ---- One group: each output pixel is a row of a matrix product, with the filter as a matrix of kh·kw·c rows of o.

/** What an output pixel sees of the image, one row of im2col; zeros for the padding. */
function gatherPatch(
  g: Geometry,
  x: NumberArray,
  image: number,
  oy: number,
  ox: number,
  patch: Float64Array,
): void {
  patch.fill(0);
  forEachTap(g, image, oy, ox, (tap, pixel) => {
    const at = tap * g.c;
    for (let i = 0; i < g.c; i++) patch[at + i] = x[pixel + i];
  });
}

function forwardDense(
  g: Geometry,
  x: NumberArray,
  filter: NumberArray,
  y: NumberArray,
  bias: NumberArray | undefined,
  activation: number,
): void {
  const taps = g.kh * g.kw * g.c;
  const matrix = new Float64Array(filter);
  const patch = new Float64Array(taps);
  const sums = new Float64Array(g.o);
  forEachOutput(g, (image, oy, ox, pixel) => {
    gatherPatch(g, x, image, oy, ox, patch);
    sums.fill(0);
    addRowTimesMatrix(sums, patch, matrix, taps, g.o);
    storeRow(y, pixel, sums, g.o, bias, activation);
  });
}

function inputGradientDense(g: Geometry, filter: NumberArray, dy: NumberArray, dx: Float64Array): void {
  const taps = g.kh * g.kw * g.c;
  const transposed = new Float64Array(taps * g.o);
  for (let i = 0; i < taps; i++) {
    for (let j = 0; j < g.o; j++) transposed[j * taps + i] = filter[i * g.o + j];
  }
  const row = new Float64Array(g.o);
  const patch = new Float64Array(taps);
  forEachOutput(g, (image, oy, ox, pixel) => {
    for (let j = 0; j < g.o; j++) row[j] = dy[pixel + j];
    patch.fill(0);
    addRowTimesMatrix(patch, row, transposed, g.o, taps);
    forEachTap(g, image, oy, ox, (tap, to) => {
      const at = tap * g.c;
      for (let i = 0; i < g.c; i++) dx[to + i] += patch[at + i];
    });
  });
}

/** Output pixels per product of the filter's gradient: many save passes over it, too many leave the cache. */
const CHUNK = 64;

function filterGradientDense(g: Geometry, x: NumberArray, dy: NumberArray, df: Float64Array): void {
  const taps = g.kh * g.kw * g.c;
  const patches = new Float64Array(CHUNK * taps);
  const rows = new Float64Array(CHUNK * g.o);
  const column = new Float64Array(CHUNK);
  let count = 0;
  const flush = (): void => {
    for (let i = 0; i < taps; i++) {
      for (let p = 0; p < count; p++) column[p] = patches[p * taps + i];
      addRowTimesMatrix(df.subarray(i * g.o, (i + 1) * g.o), column, rows, count, g.o);
    }
    count = 0;
  };
  forEachOutput(g, (image, oy, ox, pixel) => {
    gatherPatch(g, x, image, oy, ox, patches.subarray(count * taps, (count + 1) * taps));
    for (let j = 0; j < g.o; j++) rows[count * g.o + j] = dy[pixel + j];
    if (++count === CHUNK) flush();
  });
  flush();
}

// ---- Groups: each sees c/groups of the channels and makes o/groups of the outputs, mostly few, so that nothing is copied.

/** Visits each product of a convolution for one tap: x[pixel + i], filter[weight], y[j]. */
function forEachProduct(
  g: Geometry,
  tap: number,
  visit: (i: number, weight: number, j: number) => void,
): void {
  const inputs = g.c / g.groups;
  const outputs = g.o / g.groups;
  for (let group = 0; group < g.groups; group++) {
    for (let i = 0; i < inputs; i++) {
      const weight = (tap * inputs + i) * g.o;
      for (let j = group * outputs; j < (group + 1) * outputs; j++) visit(group * inputs + i, weight + j, j);
    }
  }
}

function forwardGroups(
  g: Geometry,
  x: NumberArray,
  filter: NumberArray,
  y: NumberArray,
  bias: NumberArray | undefined,
  activation: number,
): void {
  const depthwise = g.groups === g.c && g.o === g.c;
  const sums = new Float64Array(g.o);
  forEachOutput(g, (image, oy, ox, pixel) => {
    sums.fill(0);
    forEachTap(g, image, oy, ox, (tap, from) => {
      if (depthwise) {
        for (let i = 0; i < g.c; i++) sums[i] += x[from + i] * filter[tap * g.c + i];
      } else {
        forEachProduct(g, tap, (i, weight, j) => {
          sums[j] += x[from + i] * filter[weight];
        });
      }
    });
    storeRow(y, pixel, sums, g.o, bias, activation);
  });
}

function inputGradientGroups(g: Geometry, filter: NumberArray, dy: NumberArray, dx: Float64Array): void {
  forEachOutput(g, (image, oy, ox, pixel) => {
    forEachTap(g, image, oy, ox, (tap, to) => {
      forEachProduct(g, tap, (i, weight, j) => {
        dx[to + i] += dy[pixel + j] * filter[weight];
      });
    });
  });
}

function filterGradientGroups(g: Geometry, x: NumberArray, dy: NumberArray, df: Float64Array): void {
  forEachOutput(g, (image, oy, ox, pixel) => {
    forEachTap(g, image, oy, ox, (tap, from) => {
      forEachProduct(g, tap, (i, weight, j) => {
        df[weight] += x[from + i] * dy[pixel + j];
      });
    });
  });
}

/** The kernels of convolutions and their gradients. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Conv2D: ([x, filter, bias], [y], attrs) => {
    const g = geometry(x, filter, y, attrs);
    const forward = g.groups === 1 ? forwardDense : forwardGroups;
    forward(g, numbers(x), numbers(filter), numbers(y), bias && numbers(bias), attrs.activation as number);
  },
  Conv2DBackpropInput: ([filter, dy], [dx], attrs) => {
    const g = geometry(dx, filter, dy, attrs);
    const sums = new Float64Array(dx.size);
    const gradient = g.groups === 1 ? inputGradientDense : inputGradientGroups;
    gradient(g, numbers(filter), numbers(dy), sums);
    numbers(dx).set(sums);
  },
  Conv2DBackpropFilter: ([x, dy], [df], attrs) => {
    const g = geometry(x, df, dy, attrs);
    const sums = new Float64Array(df.size);
    const gradient = g.groups === 1 ? filterGradientDense : filterGradientGroups;
    gradient(g, numbers(x), numbers(dy), sums);
    numbers(df).set(sums);
  },
};
