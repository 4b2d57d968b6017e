import type { PartialShape, Tensor } from '@eagre/core';
import { argumentsOf, type SerializedObject, takesOptions } from '@eagre/core/internal';
import { type FromConfig, Layer, type LayerOptions, ownsTemporaries } from '../layer/layer.ts';
import { isShapes } from '../layer/specs.ts';
import { Activation } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { Concatenate } from '../layers/merging/merging.ts';
import { number } from '../layers/options.ts';
import { AveragePooling2D } from '../layers/pooling/pooling.ts';
import { layerOptions } from '../layers/weights.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { type Application, channelsOf, defineApplication, type Step, through } from './application.ts';
import { convNorm, halvingConv, halvingPool, type Kernel, stem } from './inception.ts';

interface CustomScaleLayerOptions extends LayerOptions {
  readonly scale?: number;
}

/** The first input plus `scale` times the second. Keras has it under this name. */
export class CustomScaleLayer extends Layer {
  declare static readonly fromConfig: FromConfig<CustomScaleLayer>;
  declare readonly scale: number;
  constructor(...args: [scale: number | CustomScaleLayerOptions, options?: CustomScaleLayerOptions]) {
    super(argumentsOf<CustomScaleLayerOptions>(CustomScaleLayer, new.target, args));
  }
  override call([x, y]: readonly Tensor[]): Tensor {
    return x.add(y.mul(this.scale));
  }
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    return (isShapes(inputShape) ? inputShape[0] : inputShape) as PartialShape;
  }
  /** @internal */
  override get kerasNames(): Partial<SerializedObject> {
    return { module: 'keras.src.applications.inception_resnet_v2', registered_name: 'CustomScaleLayer' };
  }
}
ownsTemporaries(CustomScaleLayer);
takesOptions<CustomScaleLayerOptions, CustomScaleLayer>(
  { positional: ['scale'], options: { scale: number(1), ...layerOptions } },
  CustomScaleLayer,
);

type Branches = readonly (() => readonly Step[])[];
type Conv = readonly [filters: number, kernel: Kernel];
const convs =
  (...list: readonly Conv[]) =>
  (): Step[] =>
    list.flatMap(([filters, kernel]) => convNorm(filters, kernel));
/** Convolutions, the last of which halves images. */
const halving =
  (last: number, ...list: readonly Conv[]) =>
  (): Step[] => [...convs(...list)(), ...halvingConv(last)];

/** Branches side by side; layers are made in the order of the branches. */
const mixed = (x: KerasTensor, name: string, branches: Branches): KerasTensor =>
  new Concatenate({ name })(branches.map((make) => through(x, ...make())));

/** Branches whose features, brought to the number of channels before and scaled, are added to what was before. */
function residual(
  x: KerasTensor,
  scale: number,
  name: string,
  branches: Branches,
  isLast = false,
): KerasTensor {
  const up = new Conv2D(channelsOf(x), 1, { padding: 'same', name: `${name}_conv` });
  const sum = new CustomScaleLayer(scale)([x, up(mixed(x, `${name}_mixed`, branches))]);
  return isLast ? sum : new Activation('relu', { name: `${name}_ac` })(sum);
}

const BLOCK35: Branches = [convs([32, 1]), convs([32, 1], [32, 3]), convs([32, 1], [48, 3], [64, 3])];
const BLOCK17: Branches = [convs([192, 1]), convs([128, 1], [160, [1, 7]], [192, [7, 1]])];
const BLOCK8: Branches = [convs([192, 1]), convs([192, 1], [224, [1, 3]], [256, [3, 1]])];

/**
 * A network of branches with shortcuts: images [batch, 299, 299, 3], of at least 75 × 75, to probabilities [batch, classes], or to features
 * [batch, height', width', 1536], 8 × 8 of 299 × 299 (Szegedy, Ioffe, Vanhoucke and Alemi, 2017, https://arxiv.org/abs/1602.07261).
 */
export const InceptionResNetV2: Application = /* @__PURE__ */ defineApplication('InceptionResNetV2', {
  size: 299,
  least: 75,
  name: 'inception_resnet_v2',
  settings: {},
  features(images) {
    let x = through(images, ...stem());
    const mean = (): Step[] => [new AveragePooling2D(3, { strides: 1, padding: 'same' }), ...convNorm(64, 1)];
    x = mixed(x, 'mixed_5b', [
      convs([96, 1]),
      convs([48, 1], [64, 5]),
      convs([64, 1], [96, 3], [96, 3]),
      mean,
    ]);
    for (let i = 1; i <= 10; i++) x = residual(x, 0.17, `block35_${i}`, BLOCK35);
    x = mixed(x, 'mixed_6a', [halving(384), halving(384, [256, 1], [256, 3]), halvingPool]);
    for (let i = 1; i <= 20; i++) x = residual(x, 0.1, `block17_${i}`, BLOCK17);
    x = mixed(x, 'mixed_7a', [
      halving(384, [256, 1]),
      halving(288, [256, 1]),
      halving(320, [256, 1], [288, 3]),
      halvingPool,
    ]);
    for (let i = 1; i <= 10; i++) x = residual(x, i === 10 ? 1 : 0.2, `block8_${i}`, BLOCK8, i === 10);
    return through(x, ...convNorm(1536, 1, { name: 'conv_7b' }));
  },
});
