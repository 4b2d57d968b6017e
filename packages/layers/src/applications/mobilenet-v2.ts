import { ReLU } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { DepthwiseConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { Add } from '../layers/merging/merging.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { ZeroPadding2D } from '../layers/reshaping/borders.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  averageAndClassify,
  channelsOf,
  defineApplication,
  positive,
  through,
} from './application.ts';
import { divisible, halvingPad } from './blocks.ts';

/** Options of `MobileNetV2`. */
export interface MobileNetV2Options {
  /** The factor of all numbers of channels; 1 by default. */
  readonly alpha?: number;
}

/** Blocks that have so many channels; the first of them has that stride. */
const STACKS: readonly (readonly [filters: number, repeats: number, stride: number])[] = [
  [16, 1, 1],
  [24, 2, 2],
  [32, 3, 2],
  [64, 4, 2],
  [96, 3, 1],
  [160, 3, 2],
  [320, 1, 1],
];

const norm = (name: string): BatchNormalization => new BatchNormalization({ momentum: 0.999, name });
const relu6 = (name: string): ReLU => new ReLU(6, { name });

/** A block that widens, convolves each channel, and narrows again. */
function inverted(x: KerasTensor, filters: number, stride: number, index: number): KerasTensor {
  const before = channelsOf(x);
  const name = index === 0 ? 'expanded_conv' : `block_${index}`;
  const bare = { useBias: false, padding: 'same' } as const;
  const wide =
    index === 0
      ? x
      : through(
          x,
          new Conv2D(6 * before, 1, { ...bare, name: `${name}_expand` }),
          norm(`${name}_expand_BN`),
          relu6(`${name}_expand_relu`),
        );
  const halves = stride === 2;
  const y = through(
    wide,
    ...(halves ? [new ZeroPadding2D(halvingPad(wide, 3), { name: `${name}_pad` })] : []),
    new DepthwiseConv2D(3, {
      strides: stride,
      ...bare,
      ...(halves ? { padding: 'valid' } : {}),
      name: `${name}_depthwise`,
    }),
    norm(`${name}_depthwise_BN`),
    relu6(`${name}_depthwise_relu`),
    new Conv2D(filters, 1, { ...bare, name: `${name}_project` }),
    norm(`${name}_project_BN`),
  );
  return before === filters && !halves ? new Add({ name: `${name}_add` })([x, y]) : y;
}

/**
 * A network of inverted residuals: images [batch, 224, 224, 3], of at least 32 × 32, to probabilities [batch, classes], or to features
 * [batch, height / 32, width / 32, 1280] (Sandler and others, 2018, https://arxiv.org/abs/1801.04381).
 */
export const MobileNetV2: Application<MobileNetV2Options> =
  /* @__PURE__ */ defineApplication<MobileNetV2Options>('MobileNetV2', {
    size: 224,
    least: 32,
    name: ({ alpha }, rows) => `mobilenetv2_${alpha.toFixed(2)}_${rows ?? 'None'}`,
    settings: { alpha: positive(1) },
    features(images, { alpha }) {
      let x = through(
        images,
        new Conv2D(divisible(32 * alpha), 3, { strides: 2, padding: 'same', useBias: false, name: 'Conv1' }),
        norm('bn_Conv1'),
        relu6('Conv1_relu'),
      );
      let index = 0;
      for (const [filters, repeats, stride] of STACKS)
        for (let i = 0; i < repeats; i++)
          x = inverted(x, divisible(Math.trunc(filters * alpha)), i === 0 ? stride : 1, index++);
      return through(
        x,
        new Conv2D(alpha > 1 ? divisible(1280 * alpha) : 1280, 1, { useBias: false, name: 'Conv_1' }),
        norm('Conv_1_bn'),
        relu6('out_relu'),
      );
    },
    top: (x, settings) => averageAndClassify(x, settings, { name: null }),
  });
