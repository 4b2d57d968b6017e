import { Concatenate } from '../layers/merging/merging.ts';
import { AveragePooling2D } from '../layers/pooling/pooling.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { type Application, defineApplication, type Step, through } from './application.ts';
import { convNorm, halvingConv, halvingPool, type Kernel, stem } from './inception.ts';

type Branch = readonly Step[];

/** Convolutions, each with its filters and its kernel. */
const convs = (...list: readonly (readonly [filters: number, kernel: Kernel])[]): Branch =>
  list.flatMap(([filters, kernel]) => convNorm(filters, kernel));
const pooledThen = (filters: number): Branch => [
  new AveragePooling2D(3, { strides: 1, padding: 'same' }),
  ...convNorm(filters, 1),
];
/** Branches side by side; layers are made in the order of the branches. */
const mixed = (x: KerasTensor, name: string | null, ...branches: readonly (() => Branch)[]): KerasTensor =>
  new Concatenate({ name })(branches.map((make) => through(x, ...make())));

const ROW: Kernel = [1, 7];
const COLUMN: Kernel = [7, 1];

/** Images of 35 × 35. */
const largest = (x: KerasTensor, index: number, pooled: number): KerasTensor =>
  mixed(
    x,
    `mixed${index}`,
    () => convs([64, 1]),
    () => convs([48, 1], [64, 5]),
    () => convs([64, 1], [96, 3], [96, 3]),
    () => pooledThen(pooled),
  );
/** Images of 17 × 17: convolutions over 7 pixels of rows and columns by turns. */
const middle = (x: KerasTensor, index: number, filters: number): KerasTensor =>
  mixed(
    x,
    `mixed${index}`,
    () => convs([192, 1]),
    () => convs([filters, 1], [filters, ROW], [192, COLUMN]),
    () => convs([filters, 1], [filters, COLUMN], [filters, ROW], [filters, COLUMN], [192, ROW]),
    () => pooledThen(192),
  );
/** Images of 8 × 8: branches that divide again. */
function smallest(x: KerasTensor, index: number): KerasTensor {
  const divided =
    (name: string | null): Step =>
    (y) =>
      mixed(
        y,
        name,
        () => convs([384, [1, 3]]),
        () => convs([384, [3, 1]]),
      );
  return mixed(
    x,
    `mixed${index}`,
    () => convs([320, 1]),
    () => [...convs([384, 1]), divided(`mixed9_${index - 9}`)],
    () => [...convs([448, 1], [384, 3]), divided(null)],
    () => pooledThen(192),
  );
}

/**
 * A network whose layers have branches of several kernels: images [batch, 299, 299, 3], of at least 75 × 75, to probabilities [batch,
 * classes], or to features [batch, height', width', 2048], 8 × 8 of 299 × 299 (Szegedy and others, 2016, https://arxiv.org/abs/1512.00567).
 */
export const InceptionV3: Application = /* @__PURE__ */ defineApplication('InceptionV3', {
  size: 299,
  least: 75,
  name: 'inception_v3',
  settings: {},
  features(images) {
    let x = through(images, ...stem());
    [32, 64, 64].forEach((pooled, i) => {
      x = largest(x, i, pooled);
    });
    x = mixed(
      x,
      'mixed3',
      () => halvingConv(384),
      () => [...convs([64, 1], [96, 3]), ...halvingConv(96)],
      halvingPool,
    );
    [128, 160, 160, 192].forEach((filters, i) => {
      x = middle(x, 4 + i, filters);
    });
    x = mixed(
      x,
      'mixed8',
      () => [...convs([192, 1]), ...halvingConv(320)],
      () => [...convs([192, 1], [192, ROW], [192, COLUMN]), ...halvingConv(192)],
      halvingPool,
    );
    x = smallest(x, 9);
    return smallest(x, 10);
  },
});
