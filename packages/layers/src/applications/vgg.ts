import { Conv2D } from '../layers/convolutional/conv.ts';
import { Dense } from '../layers/core/dense.ts';
import { MaxPooling2D } from '../layers/pooling/pooling.ts';
import { Flatten } from '../layers/reshaping/reshaping.ts';
import { type Application, type Architecture, defineApplication, through } from './application.ts';

/** @param depths how many convolutions each of the five blocks has. */
const vgg = (name: string, depths: readonly number[]): Architecture<object> => ({
  size: 224,
  least: 32,
  name,
  settings: {},
  features: (images) =>
    depths.reduce((x, depth, i) => {
      const block = `block${i + 1}`;
      const convolutions = Array.from(
        { length: depth },
        (_, j) =>
          new Conv2D(Math.min(64 << i, 512), 3, {
            activation: 'relu',
            padding: 'same',
            name: `${block}_conv${j + 1}`,
          }),
      );
      return through(x, ...convolutions, new MaxPooling2D(2, { strides: 2, name: `${block}_pool` }));
    }, images),
  top: (x, { classes, classifierActivation: activation }) =>
    through(
      x,
      new Flatten({ name: 'flatten' }),
      new Dense(4096, { activation: 'relu', name: 'fc1' }),
      new Dense(4096, { activation: 'relu', name: 'fc2' }),
      new Dense(classes, { activation, name: 'predictions' }),
    ),
});

/**
 * VGG with 16 layers of weights: images [batch, 224, 224, 3], of at least 32 × 32, to probabilities [batch, classes], or to
 * features [batch, height / 32, width / 32, 512] (Simonyan and Zisserman, 2015, https://arxiv.org/abs/1409.1556).
 */
export const VGG16: Application = /* @__PURE__ */ defineApplication(
  'VGG16',
  /* @__PURE__ */ vgg('vgg16', [2, 2, 3, 3, 3]),
);

/** VGG with 19 layers of weights; otherwise as `VGG16`. */
export const VGG19: Application = /* @__PURE__ */ defineApplication(
  'VGG19',
  /* @__PURE__ */ vgg('vgg19', [2, 2, 4, 4, 4]),
);
