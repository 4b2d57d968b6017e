import { InvalidArgumentError } from '@eagre/core';
import { Activation } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { SeparableConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { Add, Concatenate } from '../layers/merging/merging.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { AveragePooling2D, MaxPooling2D } from '../layers/pooling/pooling.ts';
import { Cropping2D, ZeroPadding2D } from '../layers/reshaping/borders.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  type Architecture,
  averageAndClassify,
  channelsOf,
  defineApplication,
  type Step,
  through,
} from './application.ts';
import { halvingPad } from './blocks.ts';

const relu = (name: string | null = null): Activation => new Activation('relu', { name });
const norm = (name: string): BatchNormalization => new BatchNormalization({ momentum: 0.9997, name });
const conv = (filters: number, name: string): Conv2D =>
  new Conv2D(filters, 1, { padding: 'same', useBias: false, kernelInitializer: 'heNormal', name });
const add = (x: KerasTensor, y: KerasTensor, name: string | null = null): KerasTensor =>
  new Add({ name })([x, y]);
const mean = (name: string): Step => new AveragePooling2D(3, { strides: 1, padding: 'same', name });

/** Two separable convolutions, the first with the stride. */
function separable(x: KerasTensor, filters: number, kernel: number, id: string, strides = 1): KerasTensor {
  const active = relu()(x);
  const halves = strides === 2;
  const part = (
    i: number,
    options: { readonly strides: number; readonly padding: 'valid' | 'same' },
  ): Step[] => [
    new SeparableConv2D(filters, kernel, { ...options, useBias: false, name: `separable_conv_${i}_${id}` }),
    norm(`separable_conv_${i}_bn_${id}`),
  ];
  return through(
    active,
    ...(halves
      ? [new ZeroPadding2D(halvingPad(active, kernel), { name: `separable_conv_1_pad_${id}` })]
      : []),
    ...part(1, { strides, padding: halves ? 'valid' : 'same' }),
    relu(),
    ...part(2, { strides: 1, padding: 'same' }),
  );
}

/** The features of the cell before the last, brought to the size and the channels of the last one's. */
function adjusted(p: KerasTensor | null, x: KerasTensor, filters: number, id: string): KerasTensor {
  if (p === null) return x;
  if (p.shape[2] !== x.shape[2]) {
    const active = relu(`adjust_relu_1_${id}`)(p);
    const half = (i: number): Step[] => [
      new AveragePooling2D(1, { strides: 2, name: `adjust_avg_pool_${i}_${id}` }),
      conv(Math.trunc(filters / 2), `adjust_conv_${i}_${id}`),
    ];
    const first = through(active, ...half(1));
    // The same of the pixels beside those.
    const [end, begin] = [[0, 1] as const, [1, 0] as const];
    const shifted = [new ZeroPadding2D([end, end]), new Cropping2D([begin, begin])];
    const second = through(active, ...shifted, ...half(2));
    return norm(`adjust_bn_${id}`)(new Concatenate()([first, second]));
  }
  if (channelsOf(p) === filters) return p;
  return through(p, relu(), conv(filters, `adjust_conv_projection_${id}`), norm(`adjust_bn_${id}`));
}

/** A cell that keeps the size. */
function normal(x: KerasTensor, before: KerasTensor | null, filters: number, id: string): KerasTensor {
  const p = adjusted(before, x, filters, id);
  const h = through(x, relu(), conv(filters, `normal_conv_1_${id}`), norm(`normal_bn_1_${id}`));
  const sum = (y: KerasTensor, z: KerasTensor, i: number): KerasTensor => add(y, z, `normal_add_${i}_${id}`);
  const left = (y: KerasTensor, kernel: number, i: number): KerasTensor =>
    separable(y, filters, kernel, `normal_left${i}_${id}`);
  const right = (y: KerasTensor, kernel: number, i: number): KerasTensor =>
    separable(y, filters, kernel, `normal_right${i}_${id}`);
  const x1 = sum(left(h, 5, 1), right(p, 3, 1), 1);
  const x2 = sum(left(p, 5, 2), right(p, 3, 2), 2);
  const x3 = sum(through(h, mean(`normal_left3_${id}`)), p, 3);
  const x4 = sum(through(p, mean(`normal_left4_${id}`)), through(p, mean(`normal_right4_${id}`)), 4);
  const x5 = sum(left(h, 3, 5), h, 5);
  return new Concatenate({ name: `normal_concat_${id}` })([p, x1, x2, x3, x4, x5]);
}

/** A cell that halves the size. */
function reduction(x: KerasTensor, before: KerasTensor | null, filters: number, id: string): KerasTensor {
  const p = adjusted(before, x, filters, id);
  const h = through(x, relu(), conv(filters, `reduction_conv_1_${id}`), norm(`reduction_bn_1_${id}`));
  const padded = new ZeroPadding2D(halvingPad(h, 3), { name: `reduction_pad_1_${id}` })(h);
  const half = (y: KerasTensor, kernel: number, side: string): KerasTensor =>
    separable(y, filters, kernel, `reduction_${side}_${id}`, 2);
  const largest = (side: string): KerasTensor =>
    new MaxPooling2D(3, { strides: 2, name: `reduction_${side}_${id}` })(padded);
  const x1 = add(half(h, 5, 'left1'), half(p, 7, 'right1'), `reduction_add_1_${id}`);
  const x2 = add(largest('left2'), half(p, 7, 'right2'), `reduction_add_2_${id}`);
  const means = new AveragePooling2D(3, { strides: 2, name: `reduction_left3_${id}` })(padded);
  const x3 = add(means, half(p, 5, 'right3'), `reduction_add3_${id}`);
  const x4 = add(x2, through(x1, mean(`reduction_left4_${id}`)));
  const x5 = add(
    separable(x1, filters, 3, `reduction_left4_${id}`),
    largest('right5'),
    `reduction_add4_${id}`,
  );
  return new Concatenate({ name: `reduction_concat_${id}` })([x2, x3, x4, x5]);
}

interface Variant {
  readonly name: string;
  readonly size: number;
  readonly sizeWithoutTop: number | null;
  /** How many normal cells stand between two that halve the size. */
  readonly cells: number;
  readonly stem: number;
  /** Of the last cells. */
  readonly features: number;
  /** Whether cells behind one that halves the size see what was before it, not its input. */
  readonly skips: boolean;
}

const nasNet = ({ cells, stem, features, skips, ...variant }: Variant): Architecture<object> => ({
  ...variant,
  least: 32,
  settings: {},
  features(images) {
    if (images.shape.includes(null, 1))
      throw new InvalidArgumentError('the size of the images must be known; give inputShape', variant.name);
    const filters = features / 24;
    let x = through(
      images,
      new Conv2D(stem, 3, { strides: 2, useBias: false, kernelInitializer: 'heNormal', name: 'stem_conv1' }),
      norm('stem_bn1'),
    );
    let p: KerasTensor | null = null;
    const cell = (make: typeof normal, width: number, id: string, keepsBefore = false): void => {
      [x, p] = [make(x, p, filters * width, id), keepsBefore ? p : x];
    };
    cell(reduction, 1 / 4, 'stem_1');
    cell(reduction, 1 / 2, 'stem_2');
    for (let stage = 0; stage < 3; stage++) {
      if (stage > 0) cell(reduction, 2 ** stage, `reduce_${stage * cells}`, skips);
      const first = stage * cells + (stage > 0 ? 1 : 0);
      for (let i = 0; i < cells; i++) cell(normal, 2 ** stage, `${first + i}`);
    }
    return relu()(x);
  },
  top: (x, settings) => averageAndClassify(x, settings, { name: null }),
});

/**
 * A small network of cells that were found by a search: images [batch, 224, 224, 3], of at least 32 × 32, to probabilities [batch, classes],
 * or to features [batch, height', width', 1056], 7 × 7 of 224 × 224 (Zoph and others, 2018, https://arxiv.org/abs/1707.07012).
 */
export const NASNetMobile: Application = /* @__PURE__ */ defineApplication(
  'NASNetMobile',
  /* @__PURE__ */ nasNet({
    name: 'nasnet_mobile',
    size: 224,
    sizeWithoutTop: 224,
    cells: 4,
    stem: 32,
    features: 1056,
    skips: false,
  }),
);
/** The large one, for images [batch, 331, 331, 3], with 4032 features; otherwise as `NASNetMobile`. */
export const NASNetLarge: Application = /* @__PURE__ */ defineApplication(
  'NASNetLarge',
  /* @__PURE__ */ nasNet({
    name: 'nasnet_large',
    size: 331,
    sizeWithoutTop: 331,
    cells: 6,
    stem: 96,
    features: 4032,
    skips: true,
  }),
);
