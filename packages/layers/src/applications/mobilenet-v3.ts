import { Activation, ReLU } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { DepthwiseConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { Rescaling } from '../layers/core/core.ts';
import { Add, Multiply } from '../layers/merging/merging.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { GlobalAveragePooling2D } from '../layers/pooling/pooling.ts';
import { Dropout } from '../layers/regularization/regularization.ts';
import { ZeroPadding2D } from '../layers/reshaping/borders.ts';
import { Flatten } from '../layers/reshaping/reshaping.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  type Architecture,
  channelsOf,
  defineApplication,
  flag,
  pooledByName,
  positive,
  share,
  through,
} from './application.ts';
import { divisible, halvingPad } from './blocks.ts';

/** Options of `MobileNetV3Small` and `MobileNetV3Large`. */
export interface MobileNetV3Options {
  /** The factor of all numbers of channels; 1 by default. */
  readonly alpha?: number;
  /** Without wide kernels, squeeze-and-excite and hard swish, which some devices do not compute fast; false by default. */
  readonly minimalistic?: boolean;
  /** The share that dropout sets to 0 before the classifier; 0.2 by default. */
  readonly dropoutRate?: number;
  /** Whether images are brought from 0 … 255 to −1 … 1 first; true by default. */
  readonly includePreprocessing?: boolean;
}

/** How a block differs from a plain one: a wide kernel (5), squeeze-and-excite, hard swish in place of relu. */
interface Kind {
  readonly wide?: true;
  readonly excites?: true;
  readonly swishes?: true;
}
type Block = readonly [expansion: number, filters: number, stride: number, kind: Kind];
const plain: Kind = {};
const swishing: Kind = { swishes: true };
const exciting: Kind = { excites: true, swishes: true };
const all: Kind = { wide: true, excites: true, swishes: true };

const SMALL: readonly Block[] = [
  [1, 16, 2, { excites: true }],
  [72 / 16, 24, 2, plain],
  [88 / 24, 24, 1, plain],
  [4, 40, 2, all],
  [6, 40, 1, all],
  [6, 40, 1, all],
  [3, 48, 1, all],
  [3, 48, 1, all],
  [6, 96, 2, all],
  [6, 96, 1, all],
  [6, 96, 1, all],
];
const LARGE: readonly Block[] = [
  [1, 16, 1, plain],
  [4, 24, 2, plain],
  [3, 24, 1, plain],
  [3, 40, 2, { wide: true, excites: true }],
  [3, 40, 1, { wide: true, excites: true }],
  [3, 40, 1, { wide: true, excites: true }],
  [6, 80, 2, swishing],
  [2.5, 80, 1, swishing],
  [2.3, 80, 1, swishing],
  [2.3, 80, 1, swishing],
  [6, 112, 1, exciting],
  [6, 112, 1, exciting],
  [6, 160, 2, all],
  [6, 160, 1, all],
  [6, 160, 1, all],
];

type Activate = (x: KerasTensor) => KerasTensor;
const relu: Activate = (x) => new ReLU()(x);
const hardSwish: Activate = (x) => new Activation('hardSwish')(x);
const hardSigmoid: Activate = (x) => new ReLU(6)(x.add(3)).mul(1 / 6);
const norm = (name: string): BatchNormalization => new BatchNormalization({ momentum: 0.999, name });

/** Squeeze-and-excite: each channel gets a factor that all channels' means decide. */
function excited(x: KerasTensor, name: string): KerasTensor {
  const channels = channelsOf(x);
  const [conv, pad] = [`${name}squeeze_excite_conv`, { padding: 'same' } as const];
  const factors = through(
    x,
    new GlobalAveragePooling2D({ keepdims: true, name: `${name}squeeze_excite_avg_pool` }),
    new Conv2D(divisible(channels * 0.25), 1, { ...pad, name: conv }),
    new ReLU({ name: `${name}squeeze_excite_relu` }),
    new Conv2D(channels, 1, { ...pad, name: `${conv}_1` }),
    hardSigmoid,
  );
  return new Multiply({ name: `${name}squeeze_excite_mul` })([x, factors]);
}

function inverted(
  x: KerasTensor,
  [expansion, filters, stride, { wide, excites, swishes }]: Block,
  index: number,
): KerasTensor {
  const before = channelsOf(x);
  const name = index === 0 ? 'expanded_conv_' : `expanded_conv_${index}_`;
  const bare = { useBias: false, padding: 'same' } as const;
  const activate = swishes === true ? hardSwish : relu;
  const kernelSize = wide === true ? 5 : 3;
  const halves = stride === 2;
  let y = x;
  if (index > 0)
    y = through(
      x,
      new Conv2D(divisible(before * expansion), 1, { ...bare, name: `${name}expand` }),
      norm(`${name}expand_bn`),
      activate,
    );
  y = through(
    y,
    ...(halves ? [new ZeroPadding2D(halvingPad(y, kernelSize), { name: `${name}depthwise_pad` })] : []),
    new DepthwiseConv2D(kernelSize, {
      strides: stride,
      ...bare,
      ...(halves ? { padding: 'valid' } : {}),
      name: `${name}depthwise`,
    }),
    norm(`${name}depthwise_bn`),
    activate,
    ...(excites === true ? [(wider: KerasTensor): KerasTensor => excited(wider, name)] : []),
    new Conv2D(filters, 1, { ...bare, name: `${name}project` }),
    norm(`${name}project_bn`),
  );
  return !halves && before === filters ? new Add({ name: `${name}add` })([x, y]) : y;
}

const mobileNetV3 = (
  name: string,
  blocks: readonly Block[],
  last: number,
): Architecture<MobileNetV3Options> => ({
  size: null,
  least: 32,
  name,
  settings: {
    alpha: positive(1),
    minimalistic: flag(false),
    dropoutRate: share(0.2),
    includePreprocessing: flag(true),
  },
  features(images, { alpha, minimalistic, includePreprocessing }) {
    const activate = minimalistic ? relu : hardSwish;
    const first = through(
      images,
      ...(includePreprocessing ? [new Rescaling(1 / 127.5, { offset: -1 })] : []),
      new Conv2D(16, 3, { strides: 2, padding: 'same', useBias: false, name: 'conv' }),
      norm('conv_bn'),
      activate,
    );
    const x = blocks.reduce(
      (y, [expansion, filters, stride, kind], i) =>
        inverted(y, [expansion, divisible(filters * alpha), stride, minimalistic ? plain : kind], i),
      first,
    );
    return through(
      x,
      new Conv2D(divisible(channelsOf(x) * 6), 1, { padding: 'same', useBias: false, name: 'conv_1' }),
      norm('conv_1_bn'),
      activate,
    );
  },
  top: (x, { alpha, minimalistic, dropoutRate, classes, classifierActivation }) =>
    through(
      x,
      new GlobalAveragePooling2D({ keepdims: true }),
      new Conv2D(alpha > 1 ? divisible(last * alpha) : last, 1, { padding: 'same', name: 'conv_2' }),
      minimalistic ? relu : hardSwish,
      ...(dropoutRate > 0 ? [new Dropout(dropoutRate)] : []),
      new Conv2D(classes, 1, { padding: 'same', name: 'logits' }),
      new Flatten(),
      new Activation(classifierActivation, { name: 'predictions' }),
    ),
  withoutTop: pooledByName,
});

/**
 * A small network that was found by a search: images [batch, height, width, 3] from 0 to 255, of at least 32 × 32, to probabilities [batch,
 * classes], or to features [batch, height / 32, width / 32, 576] (Howard and others, 2019, https://arxiv.org/abs/1905.02244).
 */
export const MobileNetV3Small: Application<MobileNetV3Options> =
  /* @__PURE__ */ defineApplication<MobileNetV3Options>(
    'MobileNetV3Small',
    /* @__PURE__ */ mobileNetV3('MobileNetV3Small', SMALL, 1024),
  );
/** The large network of the two; it has 960 features. Otherwise as `MobileNetV3Small`. */
export const MobileNetV3Large: Application<MobileNetV3Options> =
  /* @__PURE__ */ defineApplication<MobileNetV3Options>(
    'MobileNetV3Large',
    /* @__PURE__ */ mobileNetV3('MobileNetV3Large', LARGE, 1280),
  );
