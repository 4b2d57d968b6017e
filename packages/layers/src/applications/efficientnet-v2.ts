import { DepthwiseConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { Rescaling } from '../layers/core/core.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { Normalization } from '../layers/preprocessing/normalization.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  type Architecture,
  channelsOf,
  defineApplication,
  flag,
  pooledByName,
  through,
} from './application.ts';
import { multiple } from './blocks.ts';
import { excited, kernels, plain, swish, topOf, widened, withShortcut } from './efficientnet.ts';

/** Options of the models EfficientNetV2. */
export interface EfficientNetV2Options {
  /** Whether images are brought from 0 … 255 to the range of the network first; true by default. */
  readonly includePreprocessing?: boolean;
}

/**
 * Blocks that have so many channels; the first of them has that stride. `fused` ones have a whole convolution in the place of a depthwise one
 * and no squeeze-and-excite.
 */
type Stack = readonly [
  kind: 'fused' | 'excited',
  repeats: number,
  filters: number,
  expansion: number,
  stride: number,
];

const BASE: readonly Stack[] = [
  ['fused', 1, 16, 1, 1],
  ['fused', 2, 32, 4, 2],
  ['fused', 2, 48, 4, 2],
  ['excited', 3, 96, 4, 2],
  ['excited', 5, 112, 6, 1],
  ['excited', 8, 192, 6, 2],
];
const SMALL: readonly Stack[] = [
  ['fused', 2, 24, 1, 1],
  ['fused', 4, 48, 4, 2],
  ['fused', 4, 64, 4, 2],
  ['excited', 6, 128, 4, 2],
  ['excited', 9, 160, 6, 1],
  ['excited', 15, 256, 6, 2],
];
const MEDIUM: readonly Stack[] = [
  ['fused', 3, 24, 1, 1],
  ['fused', 5, 48, 4, 2],
  ['fused', 5, 80, 4, 2],
  ['excited', 7, 160, 4, 2],
  ['excited', 14, 176, 6, 1],
  ['excited', 18, 304, 6, 2],
  ['excited', 5, 512, 6, 1],
];
const LARGE: readonly Stack[] = [
  ['fused', 4, 32, 1, 1],
  ['fused', 7, 64, 4, 2],
  ['fused', 7, 96, 4, 2],
  ['excited', 10, 192, 4, 2],
  ['excited', 19, 224, 6, 1],
  ['excited', 25, 384, 6, 2],
  ['excited', 7, 640, 6, 1],
];

const norm = (name: string): BatchNormalization => new BatchNormalization({ momentum: 0.9, name });

interface Block {
  readonly filters: number;
  readonly expansion: number;
  readonly stride: number;
  readonly dropRate: number;
  readonly name: string;
}

/** A 3 × 3 convolution, and one that narrows again where that was a wide one. */
function fused(x: KerasTensor, { filters, expansion, stride, name }: Block): KerasTensor {
  const end = [norm(`${name}project_bn`)] as const;
  if (expansion === 1)
    return through(
      x,
      plain(filters, 3, `${name}project_conv`, stride),
      ...end,
      swish(`${name}project_activation`),
    );
  return through(
    x,
    plain(channelsOf(x) * expansion, 3, `${name}expand_conv`, stride),
    norm(`${name}expand_bn`),
    swish(`${name}expand_activation`),
    plain(filters, 1, `${name}project_conv`),
    ...end,
  );
}

/** A block that widens, convolves each channel, excites, and narrows again. */
function inverted(x: KerasTensor, { filters, expansion, stride, name }: Block): KerasTensor {
  const before = channelsOf(x);
  return through(
    x,
    plain(before * expansion, 1, `${name}expand_conv`),
    norm(`${name}expand_bn`),
    swish(`${name}expand_activation`),
    new DepthwiseConv2D(3, {
      strides: stride,
      padding: 'same',
      useBias: false,
      depthwiseInitializer: kernels(),
      name: `${name}dwconv2`,
    }),
    norm(`${name}bn`),
    swish(`${name}activation`),
    (y) => excited(y, Math.max(1, Math.trunc(before * 0.25)), name),
    plain(filters, 1, `${name}project_conv`),
    norm(`${name}project_bn`),
  );
}

/** Images from 0 … 255: normalised by ImageNet's means and deviations, or brought to −1 … 1. */
function preprocessed(images: KerasTensor, isNormalised: boolean): KerasTensor {
  if (!isNormalised || channelsOf(images) !== 3) return new Rescaling(1 / 128, { offset: -1 })(images);
  const variance = [0.229 ** 2, 0.224 ** 2, 0.225 ** 2];
  return through(
    images,
    new Rescaling(1 / 255),
    new Normalization({ mean: [0.485, 0.456, 0.406], variance }),
  );
}

/** @param width the factor of all numbers of channels. @param depth that of the numbers of blocks. @param size of the images. */
const efficientNetV2 = (
  name: string,
  stacks: readonly Stack[],
  size: number,
  width = 1,
  depth = 1,
): Architecture<EfficientNetV2Options> => ({
  size,
  least: 32,
  name,
  settings: { includePreprocessing: flag(true) },
  features(images, { includePreprocessing }) {
    const filtersOf = (filters: number): number => multiple(filters * width);
    // As in Keras, which counts them before `depth` makes more of them: rates of the last ones are above 0.2 then.
    const blocks = stacks.reduce((n, [, repeats]) => n + repeats, 0);
    const [, , first] = stacks[0];
    let x = through(
      includePreprocessing ? preprocessed(images, stacks === BASE) : images,
      plain(filtersOf(stacks === BASE ? 32 : first), 3, 'stem_conv', 2),
      norm('stem_bn'),
      swish('stem_activation'),
    );
    let done = 0;
    stacks.forEach(([kind, repeats, filters, expansion, stride], i) => {
      for (let j = 0; j < Math.ceil(depth * repeats); j++) {
        const block: Block = {
          filters: filtersOf(filters),
          expansion,
          stride: j === 0 ? stride : 1,
          dropRate: (0.2 * done++) / blocks,
          name: `block${i + 1}${String.fromCharCode(97 + j)}_`,
        };
        const y = (kind === 'fused' ? fused : inverted)(x, block);
        const isSame = block.stride === 1 && channelsOf(x) === block.filters;
        x = isSame ? withShortcut(x, y, block.dropRate, block.name) : y;
      }
    });
    return through(x, ...widened(filtersOf(1280), norm));
  },
  top: topOf(0.2),
  withoutTop: pooledByName,
});

const define = (
  name: string,
  ...given: Parameters<typeof efficientNetV2>
): Application<EfficientNetV2Options> =>
  defineApplication<EfficientNetV2Options>(`EfficientNetV2${name}`, efficientNetV2(...given));

/**
 * A network of inverted residuals, of which the first are fused: images [batch, 224, 224, 3] from 0 to 255, of at least 32 × 32, to
 * probabilities [batch, classes], or to features [batch, height / 32, width / 32, 1280] (Tan and Le, 2021, https://arxiv.org/abs/2104.00298).
 */
export const EfficientNetV2B0: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'B0',
  'efficientnetv2-b0',
  BASE,
  224,
);
/** A deeper one, for images [batch, 240, 240, 3]; otherwise as `EfficientNetV2B0`. */
export const EfficientNetV2B1: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'B1',
  'efficientnetv2-b1',
  BASE,
  240,
  1,
  1.1,
);
/** A deeper and wider one, for images [batch, 260, 260, 3], with 1408 features; otherwise as `EfficientNetV2B0`. */
export const EfficientNetV2B2: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'B2',
  'efficientnetv2-b2',
  BASE,
  260,
  1.1,
  1.2,
);
/** A deeper and wider one, for images [batch, 300, 300, 3], with 1536 features; otherwise as `EfficientNetV2B0`. */
export const EfficientNetV2B3: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'B3',
  'efficientnetv2-b3',
  BASE,
  300,
  1.2,
  1.4,
);
/** A small one with blocks of its own, for images [batch, 384, 384, 3]; otherwise as `EfficientNetV2B0`. */
export const EfficientNetV2S: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'S',
  'efficientnetv2-s',
  SMALL,
  384,
);
/** A medium one with blocks of its own, for images [batch, 480, 480, 3]; otherwise as `EfficientNetV2B0`. */
export const EfficientNetV2M: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'M',
  'efficientnetv2-m',
  MEDIUM,
  480,
);
/** A large one with blocks of its own, for images [batch, 480, 480, 3]; otherwise as `EfficientNetV2B0`. */
export const EfficientNetV2L: Application<EfficientNetV2Options> = /* @__PURE__ */ define(
  'L',
  'efficientnetv2-l',
  LARGE,
  480,
);
