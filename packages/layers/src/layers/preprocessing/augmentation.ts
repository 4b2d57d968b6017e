// Layers that apply several others: by chance, mixed, or in a row.
import { type PartialShape, stack, type Tensor, where } from '@eagre/core';
import { argumentsOf, isPlain, type Option, takesOptions, toShape } from '@eagre/core/internal';
import type { DTypePolicy } from '../../layer/dtype-policy.ts';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import type { BoundingBoxFormat } from '../../utils/box-formats.ts';
import { fail } from '../common.ts';
import { flag, integer, positive, seed, word } from '../options.ts';
import type { RandomSource } from '../random-source.ts';
import { layerOptions } from '../weights.ts';
import {
  AutoContrast,
  Equalization,
  RandomBrightness,
  RandomColorDegeneration,
  RandomContrast,
  RandomPosterization,
  RandomSharpness,
  Solarization,
} from './color.ts';
import { type Interpolation, RandomRotation, RandomShear, RandomTranslation } from './geometry.ts';
import {
  type BoundingBoxes,
  drawn,
  type Factor,
  ImageLayer,
  imageOptions,
  type RandomImageOptions,
  range,
  type Transformation,
  valueRange,
} from './image-layer.ts';

type Range = readonly [low: number, high: number];

/** Options of `RandAugment`. */
export interface RandAugmentOptions extends RandomImageOptions {
  /** The least and the largest value of colours; [0, 255] by default. */
  readonly valueRange?: Range;
  /** How many changes are made; 2 by default. */
  readonly numOps?: number;
  /** How strong they are, from 0 to 1, or between which bounds; 0.5 by default. */
  readonly factor?: Factor;
  /** How pixels between pixels are found: `bilinear` by default, or `nearest`. */
  readonly interpolation?: Interpolation;
}

interface Strength {
  readonly valueRange: Range;
  readonly factor: Range;
  readonly interpolation: Interpolation;
  readonly source: RandomSource;
  readonly dtypePolicy: DTypePolicy;
  readonly boundingBoxFormat: BoundingBoxFormat | null;
}

/** The changes of both layers, of which those that AugMix leaves out unless asked for are the last. */
function changes(of: Strength): Readonly<Record<string, ImageLayer>> {
  const { factor, interpolation, valueRange: range, source, dtypePolicy: dtype, boundingBoxFormat } = of;
  const moving = { interpolation, dtype, boundingBoxFormat };
  const options = { valueRange: range, dtype, boundingBoxFormat };
  const [, high] = factor;
  const all: Readonly<Record<string, ImageLayer>> = {
    randomShear: new RandomShear(factor, factor, moving),
    randomTranslation: new RandomTranslation(factor, factor, moving),
    randomRotation: new RandomRotation(factor, moving),
    randomPosterization: new RandomPosterization(Math.max(1, Math.floor(8 * high)), options),
    solarization: new Solarization(factor, factor, options),
    autoContrast: new AutoContrast(options),
    equalization: new Equalization(options),
    randomBrightness: new RandomBrightness(factor, options),
    randomColorDegeneration: new RandomColorDegeneration(factor, options),
    randomContrast: new RandomContrast(factor, options),
    randomSharpness: new RandomSharpness(factor, options),
  };
  for (const layer of Object.values(all)) layer.source = source;
  return all;
}
const FEW = 7;

/** Makes some of eleven changes, which ones by chance, the same for all of a batch (Cubuk and others, "RandAugment", 2020). */
export class RandAugment extends ImageLayer {
  declare static readonly fromConfig: FromConfig<RandAugment>;
  /** The least and the largest value of colours. */
  declare readonly valueRange: Range;
  /** How many changes are made. */
  declare readonly numOps: number;
  /** How strong they are, from 0 to 1, or between which bounds. */
  declare readonly factor: Range;
  /** How pixels between pixels are found: `bilinear` or `nearest`. */
  declare readonly interpolation: Interpolation;
  /** The layer then draws the same numbers in every run. */
  declare readonly seed: number | null;
  readonly #layers: Readonly<Record<string, ImageLayer>>;

  constructor(...args: [valueRange?: Range | null | RandAugmentOptions, options?: RandAugmentOptions]) {
    super(argumentsOf<RandAugmentOptions>(RandAugment, new.target, args));
    this.#layers = changes(this);
  }
  protected override draw(images: Tensor): Transformation {
    const all = Object.entries(this.#layers);
    return {
      layerIdxes: this.source.uniform([this.numOps], 'float32', 0, all.length).floor().cast('int32'),
      transforms: Object.fromEntries(
        all.map(([name, layer]) => [name, layer.getRandomTransformation(images)]),
      ),
    };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    return this.#applied(images, transformation, (layer, x, t) => layer.transformImages(x, t));
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.#applied(masks, transformation, (layer, x, t) => layer.transformSegmentationMasks(x, t));
  }
  override transformBoundingBoxes(
    given: BoundingBoxes,
    transformation: Transformation | null,
    training = true,
  ): BoundingBoxes {
    let found = this.checkedBoxes(given);
    if (transformation === null || !training) return found;
    const index = drawn(transformation, 'layerIdxes');
    const transforms = transformation['transforms'] as Readonly<Record<string, Transformation>>;
    for (let i = 0; i < this.numOps; i++) {
      const before = found;
      Object.entries(this.#layers).forEach(([name, layer], k) => {
        const own = layer.transformBoundingBoxes(before, transforms[name]);
        const is = index.at(i).equal(k);
        found = { boxes: where(is, own.boxes, found.boxes), labels: where(is, own.labels, found.labels) };
      });
    }
    return found;
  }
  #applied(
    images: Tensor,
    transformation: Transformation,
    change: (layer: ImageLayer, x: Tensor, t: Transformation) => Tensor,
  ): Tensor {
    const index = drawn(transformation, 'layerIdxes');
    const transforms = transformation['transforms'] as Readonly<Record<string, Transformation>>;
    let x = images;
    for (let i = 0; i < this.numOps; i++) {
      const before = x;
      Object.entries(this.#layers).forEach(([name, layer], k) => {
        x = where(index.at(i).equal(k), change(layer, before, transforms[name]), x);
      });
    }
    return x;
  }
}

// Each takes time, and is part of a trace.
const MOST_CHANGES = 1000;

/** Options of `AugMix`. */
export interface AugMixOptions extends RandomImageOptions {
  /** The least and the largest value of colours; [0, 255] by default. */
  readonly valueRange?: Range;
  /** How many changed images are mixed; 3 by default. */
  readonly numChains?: number;
  /** How many changes each has at most; 3 by default. */
  readonly chainDepth?: number;
  /** How strong they are, from 0 to 1, or between which bounds; 0.3 by default. */
  readonly factor?: Factor;
  /** Of the distributions of weights; 1 by default. */
  readonly alpha?: number;
  /** Whether brightness, colour, contrast and sharpness may change; true by default. */
  readonly allOps?: boolean;
  /** How pixels between pixels are found: `bilinear` by default, or `nearest`. */
  readonly interpolation?: Interpolation;
}

/** Mixes images with several that were changed in a row of ways (Hendrycks and others, "AugMix", 2020). */
export class AugMix extends ImageLayer {
  declare static readonly fromConfig: FromConfig<AugMix>;
  /** The least and the largest value of colours. */
  declare readonly valueRange: Range;
  /** How many changed images are mixed. */
  declare readonly numChains: number;
  /** How many changes each has at most. */
  declare readonly chainDepth: number;
  /** How strong they are, from 0 to 1, or between which bounds. */
  declare readonly factor: Range;
  /** Of the distributions of weights. */
  declare readonly alpha: number;
  /** Whether brightness, colour, contrast and sharpness may change. */
  declare readonly allOps: boolean;
  /** How pixels between pixels are found: `bilinear` or `nearest`. */
  declare readonly interpolation: Interpolation;
  /** The layer then draws the same numbers in every run. */
  declare readonly seed: number | null;
  readonly #layers: readonly ImageLayer[];

  constructor(...args: [valueRange?: Range | null | AugMixOptions, options?: AugMixOptions]) {
    super(argumentsOf<AugMixOptions>(AugMix, new.target, args));
    if (this.numChains * this.chainDepth > MOST_CHANGES)
      fail(this, `makes at most ${MOST_CHANGES} changes, so it needs a smaller numChains or chainDepth`);
    this.#layers = Object.values(changes(this)).slice(0, this.allOps ? undefined : FEW);
  }
  protected override draw(images: Tensor): Transformation {
    const { numChains, chainDepth, alpha } = this;
    const weights = this.source.gamma(toShape([numChains]), 'float32', alpha);
    // The last index is of no change.
    const count = this.#layers.length + 1;
    const chains = Array.from({ length: numChains * chainDepth }, () =>
      this.#layers.map((layer) => layer.getRandomTransformation(images)),
    );
    return {
      chainMixingWeights: weights.div(weights.sum()),
      weightSample: this.source.beta([], 'float32', alpha),
      layerIdxes: this.source.uniform([numChains, chainDepth], 'float32', 0, count).floor().cast('int32'),
      chainTransforms: chains,
    };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const [low, high] = this.valueRange;
    return this.#mixed(images, transformation, (layer, x, t) => layer.transformImages(x, t)).clip(low, high);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.#mixed(masks, transformation, (layer, x, t) => layer.transformSegmentationMasks(x, t));
  }
  #mixed(
    images: Tensor,
    transformation: Transformation,
    change: (layer: ImageLayer, x: Tensor, t: Transformation) => Tensor,
  ): Tensor {
    const { numChains, chainDepth } = this;
    const floats = images.dtype === 'float64' ? images : images.cast('float32');
    const index = drawn(transformation, 'layerIdxes');
    const transforms = transformation['chainTransforms'] as readonly (readonly Transformation[])[];
    const chains = Array.from({ length: numChains }, (_, i) => {
      let x = floats;
      for (let k = 0; k < chainDepth; k++) {
        const before = x;
        const at = index.at(i, k);
        this.#layers.forEach((layer, l) => {
          x = where(at.equal(l), change(layer, before, transforms[i * chainDepth + k][l]), x);
        });
      }
      return x;
    });
    const weights = drawn(transformation, 'chainMixingWeights').cast(floats.dtype);
    const together = stack(chains, -1).mul(weights).sum(-1);
    const share = drawn(transformation, 'weightSample').cast(floats.dtype);
    return share.mul(floats).add(share.neg().add(1).mul(together));
  }
}

/** All arguments of `Pipeline`, by name. */
export interface PipelineArguments extends LayerOptions {
  /** What is applied, in this order. */
  readonly layers: readonly Layer[];
}

/** Applies layers one after the other, to images or to `{ images, labels, … }`: `new Pipeline([new RandomFlip(), new MixUp()])` */
export class Pipeline extends Layer {
  declare static readonly fromConfig: FromConfig<Pipeline>;
  /** What is applied, in this order. */
  declare readonly layers: readonly Layer[];

  constructor(...args: [layers: readonly Layer[] | PipelineArguments, options?: LayerOptions]) {
    super(argumentsOf<PipelineArguments>(Pipeline, new.target, args));
  }
  override get passesOn(): boolean {
    return true;
  }
  override get trainsAlone(): boolean {
    return true;
  }
  override call(inputs: LayerInput, options?: CallOptions | null): LayerOutput {
    const { training = true } = options ?? {};
    let value: unknown = inputs;
    for (const layer of this.layers) value = layer(value as Tensor, { training });
    return value as LayerOutput;
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.layers.reduce((shape, layer) => layer.computeOutputShape(shape), inputShape);
  }
  override getConfig(): Record<string, unknown> {
    return { name: this.name, layers: this.layers.map(serializeLayer) };
  }
}
ownsTemporaries(RandAugment, AugMix);

const interpolation = word<Interpolation>(
  ['bilinear', 'nearest'],
  'bilinear',
  (value) => `needs interpolation 'bilinear' or 'nearest', got ${value}`,
);
const shared = { interpolation, seed, ...imageOptions };
takesOptions<RandAugmentOptions, RandAugment>(
  {
    positional: ['valueRange'],
    required: 0,
    options: { valueRange, numOps: integer(2), factor: range([0, 1], 0.5), ...shared },
  },
  RandAugment,
);
takesOptions<AugMixOptions, AugMix>(
  {
    positional: ['valueRange'],
    required: 0,
    options: {
      valueRange,
      numChains: integer(3),
      chainDepth: integer(3),
      factor: range([0, 1], 0.3),
      alpha: positive(1),
      allOps: flag(true),
      ...shared,
    },
  },
  AugMix,
);
takesOptions<PipelineArguments, Pipeline>(
  {
    positional: ['layers'],
    options: {
      layers: {
        read: (given, _, layer) => {
          const list = Array.isArray(given)
            ? (given as unknown[]).map((l) => (isPlain(l) ? deserializeLayer(l) : l))
            : [];
          if (!Array.isArray(given) || !list.every((l) => l instanceof Layer))
            fail(layer as Layer, `needs a list of layers, got ${show(given)}`);
          return list as readonly Layer[];
        },
      } satisfies Option<readonly Layer[]>,
      ...layerOptions,
    },
  },
  Pipeline,
);
