import { Activation } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { SeparableConv2D } from '../layers/convolutional/depthwise-conv.ts';
import { Add } from '../layers/merging/merging.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { MaxPooling2D } from '../layers/pooling/pooling.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { type Application, defineApplication, type Step, through } from './application.ts';

const norm = (name: string): BatchNormalization => new BatchNormalization({ name: `${name}_bn` });
const relu = (name: string): Activation => new Activation('relu', { name: `${name}_act` });
const separable = (filters: number, name: string): Step[] => [
  new SeparableConv2D(filters, 3, { padding: 'same', useBias: false, name }),
  norm(name),
];

/** A block of the same size and channels. */
function middle(x: KerasTensor, name: string): KerasTensor {
  const steps = [1, 2, 3]
    .map((i) => `${name}_sepconv${i}`)
    .flatMap((part) => [relu(part), ...separable(728, part)]);
  return new Add()([through(x, ...steps), x]);
}

/** A block that halves images. @param isFirst its input is active already. */
function halving(
  x: KerasTensor,
  [first, last]: readonly [number, number],
  name: string,
  isFirst = false,
): KerasTensor {
  const shortcut = through(
    x,
    new Conv2D(last, 1, { strides: 2, padding: 'same', useBias: false }),
    new BatchNormalization(),
  );
  const [one, two] = [`${name}_sepconv1`, `${name}_sepconv2`];
  const y = through(
    x,
    ...(isFirst ? [] : [relu(one)]),
    ...separable(first, one),
    relu(two),
    ...separable(last, two),
    new MaxPooling2D(3, { strides: 2, padding: 'same', name: `${name}_pool` }),
  );
  return new Add()([y, shortcut]);
}

/**
 * A network of depthwise separable convolutions with shortcuts: images [batch, 299, 299, 3], of at least 71 × 71, to probabilities [batch,
 * classes], or to features [batch, height / 32, width / 32, 2048] (Chollet, 2017, https://arxiv.org/abs/1610.02357).
 */
export const Xception: Application = /* @__PURE__ */ defineApplication('Xception', {
  size: 299,
  least: 71,
  name: 'xception',
  settings: {},
  features(images) {
    const active = (layer: Step, name: string): Step[] => [layer, norm(name), relu(name)];
    const conv = (filters: number, strides: number, name: string): Step[] =>
      active(new Conv2D(filters, 3, { strides, useBias: false, name }), name);
    let x = through(images, ...conv(32, 2, 'block1_conv1'), ...conv(64, 1, 'block1_conv2'));
    x = halving(x, [128, 128], 'block2', true);
    x = halving(x, [256, 256], 'block3');
    x = halving(x, [728, 728], 'block4');
    for (let i = 5; i <= 12; i++) x = middle(x, `block${i}`);
    x = halving(x, [728, 1024], 'block13');
    const last = (filters: number, name: string): Step[] => [...separable(filters, name), relu(name)];
    return through(x, ...last(1536, 'block14_sepconv1'), ...last(2048, 'block14_sepconv2'));
  },
});
