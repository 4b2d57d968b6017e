import { Conv2D } from '../layers/convolutional/conv.ts';
import { Concatenate } from '../layers/merging/merging.ts';
import { AveragePooling2D, MaxPooling2D } from '../layers/pooling/pooling.ts';
import { ZeroPadding2D } from '../layers/reshaping/borders.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import {
  type Application,
  type Architecture,
  channelsOf,
  defineApplication,
  pooledByName,
  through,
} from './application.ts';
import { norm, normalized, relu } from './resnet.ts';

/** How many channels a block adds. */
const GROWTH = 32;

/** A block that adds its features to all that were before. */
function dense(x: KerasTensor, name: string): KerasTensor {
  const y = through(
    x,
    ...normalized(`${name}_0`),
    new Conv2D(4 * GROWTH, 1, { useBias: false, name: `${name}_1_conv` }),
    ...normalized(`${name}_1`),
    new Conv2D(GROWTH, 3, { padding: 'same', useBias: false, name: `${name}_2_conv` }),
  );
  return new Concatenate({ name: `${name}_concat` })([x, y]);
}

/** Half as many channels, of images half as large. */
const transition = (x: KerasTensor, name: string): KerasTensor =>
  through(
    x,
    ...normalized(name),
    new Conv2D(Math.trunc(channelsOf(x) / 2), 1, { useBias: false, name: `${name}_conv` }),
    new AveragePooling2D(2, { strides: 2, name: `${name}_pool` }),
  );

/** @param depths how many blocks lie before each transition, and before the end. */
const denseNet = (name: string, depths: readonly number[]): Architecture<object> => ({
  size: 224,
  least: 32,
  name,
  settings: {},
  features(images) {
    let x = through(
      images,
      new ZeroPadding2D(3),
      new Conv2D(64, 7, { strides: 2, useBias: false, name: 'conv1_conv' }),
      ...normalized('conv1'),
      new ZeroPadding2D(1),
      new MaxPooling2D(3, { strides: 2, name: 'pool1' }),
    );
    depths.forEach((depth, i) => {
      if (i > 0) x = transition(x, `pool${i + 1}`);
      for (let j = 1; j <= depth; j++) x = dense(x, `conv${i + 2}_block${j}`);
    });
    return through(x, norm('bn'), relu('relu'));
  },
  withoutTop: pooledByName,
});

/**
 * A network whose layers see the features of all before, with 121 layers of weights: images [batch, 224, 224, 3], of at least 32 × 32, to
 * probabilities [batch, classes], or to features [batch, height / 32, width / 32, 1024] (Huang and others, 2017,
 * https://arxiv.org/abs/1608.06993).
 */
export const DenseNet121: Application = /* @__PURE__ */ defineApplication(
  'DenseNet121',
  /* @__PURE__ */ denseNet('densenet121', [6, 12, 24, 16]),
);
/** With 169 layers of weights and 1664 features; otherwise as `DenseNet121`. */
export const DenseNet169: Application = /* @__PURE__ */ defineApplication(
  'DenseNet169',
  /* @__PURE__ */ denseNet('densenet169', [6, 12, 32, 32]),
);
/** With 201 layers of weights and 1920 features; otherwise as `DenseNet121`. */
export const DenseNet201: Application = /* @__PURE__ */ defineApplication(
  'DenseNet201',
  /* @__PURE__ */ denseNet('densenet201', [6, 12, 48, 32]),
);
