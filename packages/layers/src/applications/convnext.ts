import { type PartialShape, random, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, dims, type SerializedObject, takesOptions, toShape } from '@eagre/core/internal';
import { Constant } from '../initializers/initializers.ts';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../layer/layer.ts';
import { Activation } from '../layers/activation/activation.ts';
import { checkOne, floats } from '../layers/common.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { Dense } from '../layers/core/dense.ts';
import { LayerNormalization } from '../layers/normalization/normalization.ts';
import { integer, number, rate } from '../layers/options.ts';
import { GlobalAveragePooling2D } from '../layers/pooling/pooling.ts';
import { Normalization } from '../layers/preprocessing/normalization.ts';
import { layerOptions } from '../layers/weights.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { Sequential } from '../models/sequential.ts';
import {
  type Application,
  type Architecture,
  channelsOf,
  defineApplication,
  flag,
  pooled,
  through,
} from './application.ts';

const MODULE = 'keras.src.applications.convnext';

interface LayerScaleOptions extends LayerOptions {
  /** What all factors begin with. */
  readonly initValues?: number;
  /** How many channels there are. */
  readonly projectionDim?: number;
}

/** A factor for each channel, which training learns. */
export class LayerScale extends Layer {
  declare static readonly fromConfig: FromConfig<LayerScale>;
  /** What all factors begin with. */
  declare readonly initValues: number;
  /** How many channels there are. */
  declare readonly projectionDim: number;
  gamma!: Variable;
  constructor(
    ...args: [initValues: number | LayerScaleOptions, projectionDim?: number, options?: LayerScaleOptions]
  ) {
    super(argumentsOf<LayerScaleOptions>(LayerScale, new.target, args));
  }
  override build(_inputShape: PartialShape): void {
    const initializer = new Constant(this.initValues);
    this.gamma = this.addWeight({ shape: [this.projectionDim], initializer });
  }
  override call(inputs: Tensor): Tensor {
    return floats(this, inputs).mul(this.gamma);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  /** @internal */
  override get kerasNames(): Partial<SerializedObject> {
    return { module: MODULE, registered_name: 'LayerScale' };
  }
}

interface StochasticDepthOptions extends LayerOptions {
  readonly dropPathRate?: number;
}

/** In training, sets a share of the examples to 0 as a whole, and scales the others up (Huang and others, 2016). */
export class StochasticDepth extends Layer {
  declare static readonly fromConfig: FromConfig<StochasticDepth>;
  declare readonly dropPathRate: number;
  constructor(...args: [dropPathRate: number | StochasticDepthOptions, options?: StochasticDepthOptions]) {
    super(argumentsOf<StochasticDepthOptions>(StochasticDepth, new.target, args));
  }
  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = floats(this, inputs);
    if (training !== true) return x;
    const kept = 1 - this.dropPathRate;
    const shape = toShape(dims(x).map((n, i) => (i === 0 ? n : 1)));
    return x.div(kept).mul(random.uniform(shape, { dtype: x.dtype }).add(kept).floor());
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  /** @internal */
  override get kerasNames(): Partial<SerializedObject> {
    return { module: MODULE, registered_name: 'StochasticDepth' };
  }
}
ownsTemporaries(LayerScale, StochasticDepth);
takesOptions<LayerScaleOptions, LayerScale>(
  {
    positional: ['initValues', 'projectionDim'],
    options: { initValues: number(1e-6), projectionDim: integer(), ...layerOptions },
  },
  LayerScale,
);
takesOptions<StochasticDepthOptions, StochasticDepth>(
  { positional: ['dropPathRate'], options: { dropPathRate: rate(), ...layerOptions } },
  StochasticDepth,
);

/** Options of the models ConvNeXt. */
export interface ConvNeXtOptions {
  /** Whether images from 0 … 255 are normalised by ImageNet's means and deviations first; true by default. */
  readonly includePreprocessing?: boolean;
}

const norm = (name: string | null): LayerNormalization => new LayerNormalization({ epsilon: 1e-6, name });

function block(x: KerasTensor, name: string): KerasTensor {
  const channels = channelsOf(x);
  const y = through(
    x,
    new Conv2D(channels, 7, { padding: 'same', groups: channels, name: `${name}_depthwise_conv` }),
    norm(`${name}_layernorm`),
    new Dense(4 * channels, { name: `${name}_pointwise_conv_1` }),
    new Activation('gelu', { name: `${name}_gelu` }),
    new Dense(channels, { name: `${name}_pointwise_conv_2` }),
    new LayerScale(1e-6, channels, { name: `${name}_layer_scale` }),
    new Activation('linear', { name: `${name}_identity` }),
  );
  return x.add(y);
}

/** Images normalised by ImageNet's means and deviations, where they have three channels. */
function preprocessed(images: KerasTensor, name: string): KerasTensor {
  if (channelsOf(images) !== 3) return images;
  return new Normalization({
    mean: [0.485, 0.456, 0.406].map((mean) => mean * 255),
    variance: [0.229, 0.224, 0.225].map((deviation) => (deviation * 255) ** 2),
    name: `${name}_prestem_normalization`,
  })(images);
}

/** @param depths how many blocks the four stages have. @param channels of the first stage; each further one has twice as many. */
const convNeXt = (
  size: string,
  depths: readonly number[],
  channels: number,
): Architecture<ConvNeXtOptions> => {
  const defaultName = `convnext_${size}`;
  return {
    size: 224,
    least: 32,
    name: defaultName,
    settings: { includePreprocessing: flag(true) },
    features(images, { includePreprocessing, name: given }) {
      const name = given ?? defaultName;
      let x = includePreprocessing ? preprocessed(images, name) : images;
      depths.forEach((depth, stage) => {
        const halved = (part: string): string => `${name}_downsampling_${part}_${stage - 1}`;
        const before =
          stage === 0
            ? new Sequential(
                [
                  new Conv2D(channels, 4, { strides: 4, name: `${name}_stem_conv` }),
                  norm(`${name}_stem_layernorm`),
                ],
                { name: `${name}_stem` },
              )
            : new Sequential(
                [
                  norm(halved('layernorm')),
                  new Conv2D(channels << stage, 2, { strides: 2, name: halved('conv') }),
                ],
                { name: halved('block') },
              );
        x = before(x);
        for (let j = 0; j < depth; j++) x = block(x, `${name}_stage_${stage}_block_${j}`);
      });
      return x;
    },
    top(x, { classes, classifierActivation: activation, name }) {
      const head = `${name ?? defaultName}_head`;
      return through(
        x,
        new GlobalAveragePooling2D({ name: `${head}_gap` }),
        norm(`${head}_layernorm`),
        new Dense(classes, { activation, name: `${head}_dense` }),
      );
    },
    withoutTop: (x, settings) => norm(null)(pooled(x, settings)),
  };
};

const define = (variant: string, ...given: Parameters<typeof convNeXt>): Application<ConvNeXtOptions> =>
  defineApplication<ConvNeXtOptions>(`ConvNeXt${variant}`, convNeXt(...given));

/**
 * A convolutional network with the blocks of transformers: images [batch, 224, 224, 3] from 0 to 255, of at least 32 × 32, to probabilities
 * [batch, classes], or to features [batch, height / 32, width / 32, 768] (Liu and others, 2022, https://arxiv.org/abs/2201.03545).
 */
export const ConvNeXtTiny: Application<ConvNeXtOptions> = /* @__PURE__ */ define(
  'Tiny',
  'tiny',
  [3, 3, 9, 3],
  96,
);
/** With 36 blocks; otherwise as `ConvNeXtTiny`. */
export const ConvNeXtSmall: Application<ConvNeXtOptions> = /* @__PURE__ */ define(
  'Small',
  'small',
  [3, 3, 27, 3],
  96,
);
/** With 36 blocks and 1024 features; otherwise as `ConvNeXtTiny`. */
export const ConvNeXtBase: Application<ConvNeXtOptions> = /* @__PURE__ */ define(
  'Base',
  'base',
  [3, 3, 27, 3],
  128,
);
/** With 36 blocks and 1536 features; otherwise as `ConvNeXtTiny`. */
export const ConvNeXtLarge: Application<ConvNeXtOptions> = /* @__PURE__ */ define(
  'Large',
  'large',
  [3, 3, 27, 3],
  192,
);
/** With 36 blocks and 2048 features; otherwise as `ConvNeXtTiny`. */
export const ConvNeXtXLarge: Application<ConvNeXtOptions> = /* @__PURE__ */ define(
  'XLarge',
  'xlarge',
  [3, 3, 27, 3],
  256,
);
