import { Activation, ReLU } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { DepthwiseConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { GlobalAveragePooling2D } from '../layers/pooling/pooling.ts';
import { Dropout } from '../layers/regularization/regularization.ts';
import { ZeroPadding2D } from '../layers/reshaping/borders.ts';
import { Reshape } from '../layers/reshaping/reshaping.ts';
import {
  type Application,
  count,
  defineApplication,
  positive,
  type Step,
  share,
  through,
} from './application.ts';

/** Options of `MobileNet`. */
export interface MobileNetOptions {
  /** The factor of all numbers of channels; 1 by default. */
  readonly alpha?: number;
  /** How many channels the depthwise convolutions make of one; 1 by default. */
  readonly depthMultiplier?: number;
  /** The share that dropout sets to 0 before the classifier; 0.001 by default. */
  readonly dropout?: number;
}

/** The channels behind each block, and whether it halves the images. */
const BLOCKS: readonly (readonly [filters: number, halves: boolean])[] = [
  [64, false],
  [128, true],
  [128, false],
  [256, true],
  [256, false],
  [512, true],
  [512, false],
  [512, false],
  [512, false],
  [512, false],
  [512, false],
  [1024, true],
  [1024, false],
];

const normalized = (name: string): Step[] => [
  new BatchNormalization({ name: `${name}_bn` }),
  new ReLU(6, { name: `${name}_relu` }),
];

/**
 * A network of depthwise separable convolutions: images [batch, 224, 224, 3], of at least 32 × 32, to probabilities [batch, classes], or to
 * features [batch, height / 32, width / 32, 1024 · alpha] (Howard and others, 2017, https://arxiv.org/abs/1704.04861).
 */
export const MobileNet: Application<MobileNetOptions> = /* @__PURE__ */ defineApplication<MobileNetOptions>(
  'MobileNet',
  {
    size: 224,
    least: 32,
    name: ({ alpha }, rows) => `mobilenet_${alpha.toFixed(2)}_${rows ?? 'None'}`,
    settings: { alpha: positive(1), depthMultiplier: count(1), dropout: share(1e-3) },
    features(images, { alpha, depthMultiplier }) {
      const bare = { useBias: false, padding: 'same' } as const;
      const first = through(
        images,
        new Conv2D(Math.trunc(32 * alpha), 3, { strides: 2, ...bare, name: 'conv1' }),
        ...normalized('conv1'),
      );
      return BLOCKS.reduce((x, [filters, halves], i) => {
        const [pad, depthwise, pointwise] = ['pad', 'dw', 'pw'].map((part) => `conv_${part}_${i + 1}`);
        const border = [
          [0, 1],
          [0, 1],
        ] as const;
        return through(
          x,
          ...(halves ? [new ZeroPadding2D(border, { name: pad })] : []),
          new DepthwiseConv2D(3, {
            ...bare,
            depthMultiplier,
            ...(halves ? { strides: 2, padding: 'valid' } : {}),
            name: depthwise,
          }),
          ...normalized(depthwise),
          new Conv2D(Math.trunc(filters * alpha), 1, { ...bare, name: pointwise }),
          ...normalized(pointwise),
        );
      }, first);
    },
    top: (x, { classes, classifierActivation, dropout }) =>
      through(
        x,
        new GlobalAveragePooling2D({ keepdims: true }),
        new Dropout(dropout, { name: 'dropout' }),
        new Conv2D(classes, 1, { padding: 'same', name: 'conv_preds' }),
        new Reshape([classes], { name: 'reshape_2' }),
        new Activation(classifierActivation, { name: 'predictions' }),
      ),
  },
);
