import {
  type Kernel,
  type KernelAttrs,
  type KernelName,
  list,
  OutOfRangeError,
  type TensorRef,
} from '@eagre/backend';
import { numbers } from './view.ts';

/**
 * Visits the output pixels with the part of their window that lies inside the image, in order: `to` and `pixels` are where the
 * channels of y's pixel and of each of x's pixels start.
 */
function forEachWindow(
  x: TensorRef,
  y: TensorRef,
  attrs: KernelAttrs,
  visit: (to: number, pixels: readonly number[], image: number) => void,
): void {
  if (y.size === 0) return;
  const [n, h, w, c] = x.shape;
  const [, oh, ow] = y.shape;
  const [kh, kw] = list(attrs.window);
  const [strideY, strideX] = list(attrs.strides);
  const [top, , left] = list(attrs.padding);
  let to = 0;
  for (let image = 0; image < n; image++) {
    for (let oy = 0; oy < oh; oy++) {
      for (let ox = 0; ox < ow; ox++, to += c) {
        const startY = oy * strideY - top;
        const startX = ox * strideX - left;
        const pixels: number[] = [];
        for (let iy = Math.max(startY, 0); iy < Math.min(startY + kh, h); iy++) {
          for (let ix = Math.max(startX, 0); ix < Math.min(startX + kw, w); ix++) {
            pixels.push(((image * h + iy) * w + ix) * c);
          }
        }
        visit(to, pixels, image * h * w * c);
      }
    }
  }
}

/** Where a window lies wholly in the padding, its maximum is -∞ and its argmax -1. */
function maxPool(x: TensorRef, y: TensorRef, argmax: TensorRef, attrs: KernelAttrs): void {
  const data = numbers(x);
  const out = numbers(y);
  const at = numbers(argmax);
  const channels = x.shape[3];
  forEachWindow(x, y, attrs, (to, pixels, image) => {
    for (let k = 0; k < channels; k++) {
      let best = -Infinity;
      let place = -1;
      for (const pixel of pixels) {
        const value = data[pixel + k];
        // "Not at most", so that a NaN wins, but no later one.
        if (place < 0 || (!(value <= best) && !Number.isNaN(best))) {
          best = value;
          place = pixel + k - image;
        }
      }
      out[to + k] = best;
      at[to + k] = place;
    }
  });
}

/** Visits the pooled elements that have an argmax; `place` is its index within the whole batch. */
function forEachArgmax(
  large: TensorRef,
  argmax: TensorRef,
  op: string,
  visit: (i: number, place: number) => void,
): void {
  const at = numbers(argmax);
  const images = large.shape[0];
  const image = large.size / images;
  const pooled = argmax.size / images;
  for (let i = 0; i < argmax.size; i++) {
    if (at[i] < -1 || at[i] >= image)
      throw new OutOfRangeError(`argmax ${at[i]} is not in [0, ${image})`, op);
    if (at[i] >= 0) visit(i, Math.floor(i / pooled) * image + at[i]);
  }
}

function maxPoolGrad(dy: TensorRef, argmax: TensorRef, dx: TensorRef): void {
  const data = numbers(dy);
  const sums = new Float64Array(dx.size);
  forEachArgmax(dx, argmax, 'MaxPoolGrad', (i, place) => {
    sums[place] += data[i];
  });
  numbers(dx).set(sums);
}

function maxPoolGather(x: TensorRef, argmax: TensorRef, y: TensorRef): void {
  const data = numbers(x);
  const out = numbers(y).fill(0);
  forEachArgmax(x, argmax, 'MaxPoolGather', (i, place) => {
    out[i] = data[place];
  });
}

/** Where a window lies wholly in the padding, the mean is that of nothing, NaN. */
function avgPool(x: TensorRef, y: TensorRef, attrs: KernelAttrs): void {
  const data = numbers(x);
  const out = numbers(y);
  const channels = x.shape[3];
  forEachWindow(x, y, attrs, (to, pixels) => {
    for (let k = 0; k < channels; k++) {
      let sum = 0;
      for (const pixel of pixels) sum += data[pixel + k];
      out[to + k] = sum / pixels.length;
    }
  });
}

function avgPoolGrad(dy: TensorRef, dx: TensorRef, attrs: KernelAttrs): void {
  const data = numbers(dy);
  const sums = new Float64Array(dx.size);
  const channels = dx.shape[3];
  forEachWindow(dx, dy, attrs, (from, pixels) => {
    for (let k = 0; k < channels; k++) {
      const share = data[from + k] / pixels.length;
      for (const pixel of pixels) sums[pixel + k] += share;
    }
  });
  numbers(dx).set(sums);
}

/** The kernels of pooling and its gradients. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  MaxPool: ([x], [y, argmax], attrs) => maxPool(x, y, argmax, attrs),
  MaxPoolGrad: ([dy, argmax], [dx]) => maxPoolGrad(dy, argmax, dx),
  MaxPoolGather: ([x, argmax], [y]) => maxPoolGather(x, argmax, y),
  AvgPool: ([x], [y], attrs) => avgPool(x, y, attrs),
  AvgPoolGrad: ([dy], [dx], attrs) => avgPoolGrad(dy, dx, attrs),
};
