import { Activation } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { Add } from '../layers/merging/merging.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { MaxPooling2D } from '../layers/pooling/pooling.ts';
import { ZeroPadding2D } from '../layers/reshaping/borders.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  type Architecture,
  defineApplication,
  pooledByName,
  type Step,
  through,
} from './application.ts';

/** A batch normalization and an activation behind it: `conv1_bn` and `conv1_relu`. */
export const normalized = (name: string): Step[] => [norm(`${name}_bn`), relu(`${name}_relu`)];
/** A batch normalization with the epsilon of residual networks. */
export const norm = (name: string): BatchNormalization => new BatchNormalization({ epsilon: 1.001e-5, name });
export const relu = (name: string): Activation => new Activation('relu', { name });

/** A block of residual learning: the activation comes last. */
function residual(
  x: KerasTensor,
  filters: number,
  stride: number,
  isFirst: boolean,
  name: string,
): KerasTensor {
  const shortcut = isFirst
    ? through(
        x,
        new Conv2D(4 * filters, 1, { strides: stride, name: `${name}_0_conv` }),
        norm(`${name}_0_bn`),
      )
    : x;
  const y = through(
    x,
    new Conv2D(filters, 1, { strides: stride, name: `${name}_1_conv` }),
    ...normalized(`${name}_1`),
    new Conv2D(filters, 3, { padding: 'same', name: `${name}_2_conv` }),
    ...normalized(`${name}_2`),
    new Conv2D(4 * filters, 1, { name: `${name}_3_conv` }),
    norm(`${name}_3_bn`),
  );
  return relu(`${name}_out`)(new Add({ name: `${name}_add` })([shortcut, y]));
}

/** A block whose activations come first. */
function preactivated(
  x: KerasTensor,
  filters: number,
  stride: number,
  isFirst: boolean,
  name: string,
): KerasTensor {
  const active = through(x, ...normalized(`${name}_preact`));
  let shortcut = x;
  if (isFirst) shortcut = new Conv2D(4 * filters, 1, { strides: stride, name: `${name}_0_conv` })(active);
  else if (stride > 1) shortcut = new MaxPooling2D(1, { strides: stride })(x);
  const y = through(
    active,
    new Conv2D(filters, 1, { useBias: false, name: `${name}_1_conv` }),
    ...normalized(`${name}_1`),
    new ZeroPadding2D(1, { name: `${name}_2_pad` }),
    new Conv2D(filters, 3, { strides: stride, useBias: false, name: `${name}_2_conv` }),
    ...normalized(`${name}_2`),
    new Conv2D(4 * filters, 1, { name: `${name}_3_conv` }),
  );
  return new Add({ name: `${name}_out` })([shortcut, y]);
}

/** @param depths how many blocks each of the four stacks has. */
const resnet = (name: string, depths: readonly number[], isV2: boolean): Architecture<object> => ({
  size: 224,
  least: 32,
  name,
  settings: {},
  features(images) {
    const stem = through(
      images,
      new ZeroPadding2D(3, { name: 'conv1_pad' }),
      new Conv2D(64, 7, { strides: 2, name: 'conv1_conv' }),
      ...(isV2 ? [] : normalized('conv1')),
      new ZeroPadding2D(1, { name: 'pool1_pad' }),
      new MaxPooling2D(3, { strides: 2, name: 'pool1_pool' }),
    );
    const block = isV2 ? preactivated : residual;
    const features = depths.reduce((before, depth, i) => {
      // The first version halves the images at the beginning of all stacks but the first, the second at the end of all but the last.
      const halved = isV2 ? (i === 3 ? 0 : depth) : i === 0 ? 0 : 1;
      let x = before;
      for (let j = 1; j <= depth; j++)
        x = block(x, 64 << i, j === halved ? 2 : 1, j === 1, `conv${i + 2}_block${j}`);
      return x;
    }, stem);
    return isV2 ? through(features, ...normalized('post')) : features;
  },
  withoutTop: pooledByName,
});

/**
 * A residual network with 50 layers of weights: images [batch, 224, 224, 3], of at least 32 × 32, to probabilities [batch, classes], or to
 * features [batch, height / 32, width / 32, 2048] (He, Zhang, Ren and Sun, 2015, https://arxiv.org/abs/1512.03385).
 */
export const ResNet50: Application = /* @__PURE__ */ defineApplication(
  'ResNet50',
  /* @__PURE__ */ resnet('resnet50', [3, 4, 6, 3], false),
);
/** With 101 layers of weights; otherwise as `ResNet50`. */
export const ResNet101: Application = /* @__PURE__ */ defineApplication(
  'ResNet101',
  /* @__PURE__ */ resnet('resnet101', [3, 4, 23, 3], false),
);
/** With 152 layers of weights; otherwise as `ResNet50`. */
export const ResNet152: Application = /* @__PURE__ */ defineApplication(
  'ResNet152',
  /* @__PURE__ */ resnet('resnet152', [3, 8, 36, 3], false),
);

/**
 * A residual network whose activations come before the convolutions, with 50 layers of weights; shapes as of `ResNet50` (He, Zhang, Ren and
 * Sun, 2016, https://arxiv.org/abs/1603.05027).
 */
export const ResNet50V2: Application = /* @__PURE__ */ defineApplication(
  'ResNet50V2',
  /* @__PURE__ */ resnet('resnet50v2', [3, 4, 6, 3], true),
);
/** With 101 layers of weights; otherwise as `ResNet50V2`. */
export const ResNet101V2: Application = /* @__PURE__ */ defineApplication(
  'ResNet101V2',
  /* @__PURE__ */ resnet('resnet101v2', [3, 4, 23, 3], true),
);
/** With 152 layers of weights; otherwise as `ResNet50V2`. */
export const ResNet152V2: Application = /* @__PURE__ */ defineApplication(
  'ResNet152V2',
  /* @__PURE__ */ resnet('resnet152v2', [3, 8, 36, 3], true),
);
