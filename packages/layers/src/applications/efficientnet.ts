import { VarianceScaling } from '../initializers/initializers.ts';
import { Activation } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { DepthwiseConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { Rescaling } from '../layers/core/core.ts';
import { Add, Multiply } from '../layers/merging/merging.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { GlobalAveragePooling2D } from '../layers/pooling/pooling.ts';
import { Normalization } from '../layers/preprocessing/normalization.ts';
import { Dropout } from '../layers/regularization/regularization.ts';
import { ZeroPadding2D } from '../layers/reshaping/borders.ts';
import { Reshape } from '../layers/reshaping/reshaping.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  type Architecture,
  averageAndClassify,
  channelsOf,
  defineApplication,
  pooledByName,
  type Settings,
  type Step,
  through,
} from './application.ts';
import { divisible, halvingPad } from './blocks.ts';

/** Of all convolutions. */
export const kernels = (): VarianceScaling =>
  new VarianceScaling({ scale: 2, mode: 'fanOut', distribution: 'truncatedNormal' });
export const swish = (name: string): Activation => new Activation('swish', { name });
/** A convolution without bias whose result has the size of its input. */
export const plain = (filters: number, kernelSize: number, name: string, strides = 1): Conv2D =>
  new Conv2D(filters, kernelSize, {
    strides,
    padding: 'same',
    useBias: false,
    kernelInitializer: kernels(),
    name,
  });

/** Squeeze-and-excite: each channel gets a factor that all channels' means decide. @param squeezed channels between. */
export function excited(x: KerasTensor, squeezed: number, name: string): KerasTensor {
  const channels = channelsOf(x);
  const dense = (filters: number, activation: 'swish' | 'sigmoid', part: string): Conv2D =>
    new Conv2D(filters, 1, {
      padding: 'same',
      activation,
      kernelInitializer: kernels(),
      name: `${name}${part}`,
    });
  const factors = through(
    x,
    new GlobalAveragePooling2D({ name: `${name}se_squeeze` }),
    new Reshape([1, 1, channels], { name: `${name}se_reshape` }),
    dense(squeezed, 'swish', 'se_reduce'),
    dense(channels, 'sigmoid', 'se_expand'),
  );
  return new Multiply({ name: `${name}se_excite` })([x, factors]);
}

/** y plus what was before it; in training some examples go without y. */
export function withShortcut(x: KerasTensor, y: KerasTensor, dropRate: number, name: string): KerasTensor {
  const drop =
    dropRate > 0 ? [new Dropout(dropRate, { noiseShape: [null, 1, 1, 1], name: `${name}drop` })] : [];
  return new Add({ name: `${name}add` })([through(y, ...drop), x]);
}

/** The features of the last block widened, and the classifier behind them. */
export const widened = (filters: number, norm: (name: string) => Step): Step[] => [
  plain(filters, 1, 'top_conv'),
  norm('top_bn'),
  swish('top_activation'),
];
export const topOf =
  (dropoutRate: number) =>
  (x: KerasTensor, settings: Settings): KerasTensor =>
    averageAndClassify(x, settings, {
      between: [new Dropout(dropoutRate, { name: 'top_dropout' })],
      kernelInitializer: new VarianceScaling({ scale: 1 / 3, mode: 'fanOut', distribution: 'uniform' }),
    });

/** Blocks that have so many channels; the first of them has that stride. */
const STACKS: readonly {
  readonly kernelSize: number;
  readonly repeats: number;
  readonly filters: number;
  readonly expansion: number;
  readonly stride: number;
}[] = [
  { kernelSize: 3, repeats: 1, filters: 16, expansion: 1, stride: 1 },
  { kernelSize: 3, repeats: 2, filters: 24, expansion: 6, stride: 2 },
  { kernelSize: 5, repeats: 2, filters: 40, expansion: 6, stride: 2 },
  { kernelSize: 3, repeats: 3, filters: 80, expansion: 6, stride: 2 },
  { kernelSize: 5, repeats: 3, filters: 112, expansion: 6, stride: 1 },
  { kernelSize: 5, repeats: 4, filters: 192, expansion: 6, stride: 2 },
  { kernelSize: 3, repeats: 1, filters: 320, expansion: 6, stride: 1 },
];

const norm = (name: string): BatchNormalization => new BatchNormalization({ name });

interface Block {
  readonly filters: number;
  readonly kernelSize: number;
  readonly stride: number;
  readonly expansion: number;
  readonly dropRate: number;
  readonly name: string;
}

function block(
  x: KerasTensor,
  { filters, kernelSize, stride, expansion, dropRate, name }: Block,
): KerasTensor {
  const before = channelsOf(x);
  const halves = stride === 2;
  const wide =
    expansion === 1
      ? x
      : through(
          x,
          plain(before * expansion, 1, `${name}expand_conv`),
          norm(`${name}expand_bn`),
          swish(`${name}expand_activation`),
        );
  const y = through(
    wide,
    ...(halves ? [new ZeroPadding2D(halvingPad(wide, kernelSize), { name: `${name}dwconv_pad` })] : []),
    new DepthwiseConv2D(kernelSize, {
      strides: stride,
      padding: halves ? 'valid' : 'same',
      useBias: false,
      depthwiseInitializer: kernels(),
      name: `${name}dwconv`,
    }),
    norm(`${name}bn`),
    swish(`${name}activation`),
    (convolved) => excited(convolved, Math.max(1, Math.trunc(before * 0.25)), name),
    plain(filters, 1, `${name}project_conv`),
    norm(`${name}project_bn`),
  );
  return !halves && before === filters ? withShortcut(x, y, dropRate, name) : y;
}

/** @param width the factor of all numbers of channels. @param depth that of the numbers of blocks. @param size of the images. */
const efficientNet = (
  name: string,
  width: number,
  depth: number,
  size: number,
  dropoutRate: number,
): Architecture<object> => ({
  size,
  least: 32,
  name,
  settings: {},
  features(images) {
    const filtersOf = (filters: number): number => divisible(filters * width);
    const stacks = STACKS.map((stack) => ({ ...stack, repeats: Math.ceil(depth * stack.repeats) }));
    const blocks = stacks.reduce((n, { repeats }) => n + repeats, 0);
    let x = through(images, new Rescaling(1 / 255), new Normalization());
    x = through(
      x,
      new ZeroPadding2D(halvingPad(x, 3), { name: 'stem_conv_pad' }),
      new Conv2D(filtersOf(32), 3, {
        strides: 2,
        useBias: false,
        kernelInitializer: kernels(),
        name: 'stem_conv',
      }),
      norm('stem_bn'),
      swish('stem_activation'),
    );
    let done = 0;
    stacks.forEach(({ filters, repeats, ...stack }, i) => {
      for (let j = 0; j < repeats; j++)
        x = block(x, {
          ...stack,
          filters: filtersOf(filters),
          stride: j === 0 ? stack.stride : 1,
          dropRate: (0.2 * done++) / blocks,
          name: `block${i + 1}${String.fromCharCode(97 + j)}_`,
        });
    });
    return through(x, ...widened(filtersOf(1280), norm));
  },
  top: topOf(dropoutRate),
  withoutTop: pooledByName,
});

/**
 * A network of inverted residuals with squeeze-and-excite: images [batch, 224, 224, 3] from 0 to 255, of at least 32 × 32, to probabilities
 * [batch, classes], or to features [batch, height / 32, width / 32, 1280] (Tan and Le, 2019, https://arxiv.org/abs/1905.11946).
 */
export const EfficientNetB0: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB0',
  /* @__PURE__ */ efficientNet('efficientnetb0', 1, 1, 224, 0.2),
);
/** A deeper one, for images [batch, 240, 240, 3]; otherwise as `EfficientNetB0`. */
export const EfficientNetB1: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB1',
  /* @__PURE__ */ efficientNet('efficientnetb1', 1, 1.1, 240, 0.2),
);
/** A deeper and wider one, for images [batch, 260, 260, 3], with 1408 features; otherwise as `EfficientNetB0`. */
export const EfficientNetB2: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB2',
  /* @__PURE__ */ efficientNet('efficientnetb2', 1.1, 1.2, 260, 0.3),
);
/** A deeper and wider one, for images [batch, 300, 300, 3], with 1536 features; otherwise as `EfficientNetB0`. */
export const EfficientNetB3: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB3',
  /* @__PURE__ */ efficientNet('efficientnetb3', 1.2, 1.4, 300, 0.3),
);
/** A deeper and wider one, for images [batch, 380, 380, 3], with 1792 features; otherwise as `EfficientNetB0`. */
export const EfficientNetB4: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB4',
  /* @__PURE__ */ efficientNet('efficientnetb4', 1.4, 1.8, 380, 0.4),
);
/** A deeper and wider one, for images [batch, 456, 456, 3], with 2048 features; otherwise as `EfficientNetB0`. */
export const EfficientNetB5: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB5',
  /* @__PURE__ */ efficientNet('efficientnetb5', 1.6, 2.2, 456, 0.4),
);
/** A deeper and wider one, for images [batch, 528, 528, 3], with 2304 features; otherwise as `EfficientNetB0`. */
export const EfficientNetB6: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB6',
  /* @__PURE__ */ efficientNet('efficientnetb6', 1.8, 2.6, 528, 0.5),
);
/** A deeper and wider one, for images [batch, 600, 600, 3], with 2560 features; otherwise as `EfficientNetB0`. */
export const EfficientNetB7: Application = /* @__PURE__ */ defineApplication(
  'EfficientNetB7',
  /* @__PURE__ */ efficientNet('efficientnetb7', 2, 3.1, 600, 0.5),
);
