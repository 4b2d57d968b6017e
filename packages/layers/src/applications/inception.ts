// What networks of branches share.
import { Activation } from '../layers/activation/activation.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { BatchNormalization } from '../layers/normalization/normalization.ts';
import { MaxPooling2D } from '../layers/pooling/pooling.ts';
import type { Step } from './application.ts';

export type Kernel = number | readonly [height: number, width: number];

interface ConvNormOptions {
  readonly strides?: number;
  readonly padding?: 'valid' | 'same';
  /** Of the convolution; the others are called after it. */
  readonly name?: string;
}

/** A convolution without bias, normalised by batches without a factor, and relu. */
export const convNorm = (
  filters: number,
  kernel: Kernel,
  { name, padding = 'same', ...options }: ConvNormOptions = {},
): Step[] => {
  const named = (ending: string): string | null => (name === undefined ? null : `${name}${ending}`);
  return [
    new Conv2D(filters, kernel, { padding, useBias: false, ...options, name: named('') }),
    new BatchNormalization({ scale: false, name: named('_bn') }),
    new Activation('relu', { name: named('_ac') }),
  ];
};
/** One that halves images. */
export const halvingConv = (filters: number): Step[] =>
  convNorm(filters, 3, { strides: 2, padding: 'valid' });
export const halvingPool = (): Step[] => [new MaxPooling2D(3, { strides: 2 })];
/** The first layers. */
export const stem = (): Step[] => [
  ...halvingConv(32),
  ...convNorm(32, 3, { padding: 'valid' }),
  ...convNorm(64, 3),
  ...halvingPool(),
  ...convNorm(80, 1, { padding: 'valid' }),
  ...convNorm(192, 3, { padding: 'valid' }),
  ...halvingPool(),
];
