import type { KernelAttrs, NumericDType } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './conv2d.ts';
import { inner, noise, run, tensor, values } from './testing/kernels.ts';

interface Case {
  x: [number, number, number, number];
  /** kh, kw, o */
  filter: [number, number, number];
  strides: [number, number];
  dilations: [number, number];
  /** top, bottom, left, right */
  padding: [number, number, number, number];
  groups: number;
}

const cases: Case[] = [
  {
    x: [1, 5, 5, 1],
    filter: [3, 3, 1],
    strides: [1, 1],
    dilations: [1, 1],
    padding: [0, 0, 0, 0],
    groups: 1,
  },
  {
    x: [2, 7, 6, 3],
    filter: [3, 2, 4],
    strides: [2, 1],
    dilations: [1, 1],
    padding: [1, 1, 0, 1],
    groups: 1,
  },
  {
    x: [3, 9, 8, 2],
    filter: [2, 3, 5],
    strides: [1, 2],
    dilations: [3, 2],
    padding: [2, 1, 3, 0],
    groups: 1,
  },
  {
    x: [2, 6, 6, 4],
    filter: [1, 1, 3],
    strides: [1, 1],
    dilations: [1, 1],
    padding: [0, 0, 0, 0],
    groups: 1,
  },
  {
    x: [2, 6, 5, 6],
    filter: [3, 3, 4],
    strides: [1, 1],
    dilations: [1, 1],
    padding: [1, 1, 1, 1],
    groups: 2,
  },
  {
    x: [2, 6, 7, 3],
    filter: [3, 3, 3],
    strides: [2, 2],
    dilations: [1, 1],
    padding: [0, 1, 0, 1],
    groups: 3,
  },
  {
    x: [1, 6, 7, 2],
    filter: [2, 2, 6],
    strides: [1, 1],
    dilations: [2, 1],
    padding: [1, 0, 1, 0],
    groups: 2,
  },
  {
    x: [1, 2, 2, 1],
    filter: [3, 3, 1],
    strides: [1, 1],
    dilations: [1, 1],
    padding: [3, 3, 3, 3],
    groups: 1,
  },
];

function outputShape(t: Case): number[] {
  const out = (
    size: number,
    before: number,
    after: number,
    k: number,
    stride: number,
    dilation: number,
  ): number => Math.floor((size + before + after - (k - 1) * dilation - 1) / stride) + 1;
  return [
    t.x[0],
    out(t.x[1], t.padding[0], t.padding[1], t.filter[0], t.strides[0], t.dilations[0]),
    out(t.x[2], t.padding[2], t.padding[3], t.filter[1], t.strides[1], t.dilations[1]),
    t.filter[2],
  ];
}

const filterShape = (t: Case): number[] => [t.filter[0], t.filter[1], t.x[3] / t.groups, t.filter[2]];
const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const random = (dtype: NumericDType, shape: readonly number[], seed: number) =>
  tensor(dtype, shape, noise(count(shape), seed));
const attrsOf = ({ strides, dilations, padding, groups }: Case, activation = 0): KernelAttrs => ({
  strides,
  dilations,
  padding,
  groups,
  activation,
});

/** One element of a convolution, straight from the definition. */
function convolve(
  t: Case,
  x: number[],
  filter: number[],
  n: number,
  oy: number,
  ox: number,
  o: number,
): number {
  const [, h, w, c] = t.x;
  const [kh, kw, outputs] = t.filter;
  const channels = c / t.groups;
  const group = Math.floor(o / (outputs / t.groups));
  let sum = 0;
  for (let ky = 0; ky < kh; ky++) {
    for (let kx = 0; kx < kw; kx++) {
      const y = oy * t.strides[0] - t.padding[0] + ky * t.dilations[0];
      const z = ox * t.strides[1] - t.padding[2] + kx * t.dilations[1];
      if (y < 0 || y >= h || z < 0 || z >= w) continue;
      for (let i = 0; i < channels; i++) {
        const pixel = x[((n * h + y) * w + z) * c + group * channels + i];
        sum += pixel * filter[((ky * kw + kx) * channels + i) * outputs + o];
      }
    }
  }
  return sum;
}

describe('Conv2D', () => {
  it('has known values', () => {
    const x = tensor('float32', [1, 3, 3, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const filter = tensor('float32', [2, 2, 1, 1], [1, 2, 3, 4]);
    const bias = tensor('float32', [1], [-57]);
    const attrs = { strides: [1, 1], dilations: [1, 1], padding: [0, 0, 0, 0], groups: 1, activation: 0 };
    expect(values(run(kernels, 'Conv2D', [x, filter], 'float32', [1, 2, 2, 1], attrs))).toEqual([
      37, 47, 67, 77,
    ]);
    const relu = { ...attrs, activation: 1 };
    expect(values(run(kernels, 'Conv2D', [x, filter, bias], 'float32', [1, 2, 2, 1], relu))).toEqual([
      0, 0, 10, 20,
    ]);
  });

  it.each(cases)('agrees with its definition: %j', (t) => {
    const x = random('float64', t.x, 1);
    const filter = random('float64', filterShape(t), 2);
    const bias = random('float64', [t.filter[2]], 3);
    const [n, oh, ow, o] = outputShape(t);
    for (const activation of [0, 1]) {
      const y = run(kernels, 'Conv2D', [x, filter, bias], 'float64', [n, oh, ow, o], attrsOf(t, activation));
      values(y).forEach((value, i) => {
        const pixel = Math.floor(i / o);
        const [image, row] = [Math.floor(pixel / (oh * ow)), Math.floor(pixel / ow) % oh];
        let expected = convolve(
          t,
          values(x) as number[],
          values(filter) as number[],
          image,
          row,
          pixel % ow,
          i % o,
        );
        expected += values(bias)[i % o] as number;
        expect(value).toBeCloseTo(activation ? Math.max(expected, 0) : expected, 12);
      });
    }
  });

  it.each(cases)('has adjoint gradients: %j', (t) => {
    const x = random('float64', t.x, 4);
    const filter = random('float64', filterShape(t), 5);
    const dy = random('float64', outputShape(t), 6);
    const y = run(kernels, 'Conv2D', [x, filter], 'float64', dy.shape, attrsOf(t));
    const dx = run(kernels, 'Conv2DBackpropInput', [filter, dy], 'float64', x.shape, attrsOf(t));
    const df = run(kernels, 'Conv2DBackpropFilter', [x, dy], 'float64', filter.shape, attrsOf(t));
    // The convolution is linear in either argument, so these three are one number.
    const product = inner(y, dy);
    expect(inner(x, dx)).toBeCloseTo(product, 11);
    expect(inner(filter, df)).toBeCloseTo(product, 11);
  });

  it('takes no images', () => {
    const t: Case = { ...cases[1], x: [0, 7, 6, 3] };
    const filter = random('float32', filterShape(t), 1);
    const dy = tensor('float32', outputShape(t));
    const x = tensor('float32', t.x);
    expect(values(run(kernels, 'Conv2D', [x, filter], 'float32', dy.shape, attrsOf(t)))).toEqual([]);
    const df = run(kernels, 'Conv2DBackpropFilter', [x, dy], 'float32', filter.shape, attrsOf(t));
    expect(new Set(values(df))).toEqual(new Set([0]));
  });
});
