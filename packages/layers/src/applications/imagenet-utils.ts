/** `tf.keras.applications.imagenetUtils`: how images get ready for networks, and what their predictions mean. */
import {
  convertToTensor,
  InvalidArgumentError,
  type Tensor,
  type TensorLike,
  UnimplementedError,
} from '@eagre/core';
import {
  checkCount,
  checkOneOf,
  defineFunction,
  hostValues,
  isFloating,
  isPlain,
  kerasDefaults,
  kind,
  type NamedFunction,
  shown,
  showShape,
} from '@eagre/core/internal';
import type { DataFormat } from '../layers/spatial.ts';
import { KerasTensor, type SymbolicFunction } from '../models/keras-tensor.ts';

/**
 * `caffe`: channels in the order blue, green, red, less ImageNet's means. `tf`: from 0 … 255 to −1 … 1. `torch`: from 0 … 255 to 0 … 1, then
 * less ImageNet's means and divided by its deviations.
 */
export type PreprocessMode = 'caffe' | 'tf' | 'torch';

/** Prepares images [height, width, 3] or batches of them; symbolic ones too. Integers become float32. */
export type PreprocessInput = SymbolicFunction<
  NamedFunction<[x: TensorLike, dataFormat?: DataFormat | null], ['x', 'dataFormat']>
>;

const MEANS = [103.939, 116.779, 123.68];

function prepare(given: TensorLike | KerasTensor, dataFormat: unknown, mode: unknown, op: string): Tensor {
  checkOneOf(mode, ['caffe', 'tf', 'torch'], 'mode', op);
  checkOneOf(
    dataFormat,
    ['channelsLast', 'channelsFirst', 'channels_last', 'channels_first'],
    'dataFormat',
    op,
  );
  // A symbolic tensor has the same methods.
  const images = given instanceof KerasTensor ? (given as unknown as Tensor) : convertToTensor(given);
  const { length: rank } = images.shape;
  const axis = String(dataFormat).endsWith('ast') ? rank - 1 : rank - 3;
  if ((rank !== 3 && rank !== 4) || (images.shape[axis] ?? 3) !== 3)
    throw new InvalidArgumentError(
      `expected images with three channels, or a batch of them, got ${showShape(images.shape)}`,
      op,
    );
  const x = isFloating(images.dtype) ? images : images.cast('float32');
  if (mode === 'tf') return x.div(127.5).sub(1);
  const each = (values: readonly number[]): TensorLike =>
    axis === rank - 1 ? [...values] : values.map((v) => [[v]]);
  if (mode === 'caffe') return x.reverse([axis]).sub(each(MEANS));
  return x
    .div(255)
    .sub(each([0.485, 0.456, 0.406]))
    .div(each([0.229, 0.224, 0.225]));
}

/** Prepares images [height, width, 3], or batches of them, as the networks of that `mode` want them; see `PreprocessMode`. */
export const preprocessInput: SymbolicFunction<
  NamedFunction<
    [x: TensorLike, dataFormat?: DataFormat | null, mode?: PreprocessMode],
    ['x', 'dataFormat', 'mode']
  >
> = /* @__PURE__ */ defineFunction<
  NamedFunction<
    [x: TensorLike, dataFormat?: DataFormat | null, mode?: PreprocessMode],
    ['x', 'dataFormat', 'mode']
  >
>(
  'applications.imagenetUtils.preprocessInput',
  { x: kind.tensor, dataFormat: true, mode: true },
  {},
  (x, dataFormat = null, mode = 'caffe') =>
    prepare(
      x,
      dataFormat ?? kerasDefaults.imageDataFormat,
      mode,
      'applications.imagenetUtils.preprocessInput',
    ),
) as never;

const preprocess = (mode: PreprocessMode | null): PreprocessInput => {
  const op = 'applications.preprocessInput';
  return defineFunction<NamedFunction<[x: TensorLike, dataFormat?: DataFormat | null], ['x', 'dataFormat']>>(
    op,
    { x: kind.tensor, dataFormat: true },
    {},
    (x, dataFormat = null) => {
      if (mode !== null) return prepare(x, dataFormat ?? kerasDefaults.imageDataFormat, mode, op);
      return (x as unknown) instanceof KerasTensor ? (x as Tensor) : convertToTensor(x);
    },
  ) as never;
};

/** Images from 0 … 255 as `caffe` has them: channels in the order blue, green, red, less ImageNet's means. */
export const preprocessCaffe: PreprocessInput = /* @__PURE__ */ preprocess('caffe');
/** Images from 0 … 255 brought to −1 … 1. */
export const preprocessTf: PreprocessInput = /* @__PURE__ */ preprocess('tf');
/** Images from 0 … 255 brought to 0 … 1, less ImageNet's means and divided by its deviations. */
export const preprocessTorch: PreprocessInput = /* @__PURE__ */ preprocess('torch');
/** Images as they are: the model itself prepares them. */
export const preprocessNothing: PreprocessInput = /* @__PURE__ */ preprocess(null);

/** The names of classes by their number, as in Keras's file `imagenet_class_index.json`. */
export type ClassIndex = Readonly<Record<string, readonly [id: string, label: string]>>;
/** One of the likeliest classes of an image. */
export type Prediction = [id: string, label: string, score: number];

/** Options of `decodePredictions`. */
export interface DecodeOptions {
  /** `{ '0': ['n01440764', 'tench'], … }`, which has to be given: nothing is downloaded. */
  readonly classIndex?: ClassIndex;
}

/** The likeliest classes for predictions [batch, classes], `top` of each (5 by default), the likeliest first. */
export const decodePredictions: NamedFunction<
  [preds: TensorLike, top?: number],
  ['preds', 'top'],
  DecodeOptions,
  Prediction[][]
> = /* @__PURE__ */ defineFunction(
  'applications.decodePredictions',
  { preds: kind.tensor, top: true },
  { classIndex: kind.structure },
  (preds, top: number = 5, { classIndex }) => {
    const op = 'applications.decodePredictions';
    checkCount(top, 'top', op, 1);
    const scores = convertToTensor(preds as TensorLike);
    if (scores.rank !== 2)
      throw new InvalidArgumentError(
        `expected predictions [batch, classes], got ${showShape(scores.shape)}`,
        op,
      );
    if (classIndex === undefined)
      throw new UnimplementedError(
        "the names of ImageNet's classes cannot be downloaded here: give classIndex, what the file imagenet_class_index.json holds, { '0': ['n01440764', 'tench'], … }",
        op,
      );
    if (!isPlain(classIndex))
      throw new InvalidArgumentError(
        `classIndex must be names by the numbers of classes, got ${shown(classIndex)}`,
        op,
      );
    const [batch, classes] = scores.shape;
    const values = hostValues(scores.cast('float32')) as Float32Array;
    return Array.from({ length: batch }, (_, i) => {
      const row = Array.from(values.subarray(i * classes, (i + 1) * classes), (score, c) => ({ score, c }));
      row.sort((a, b) => b.score - a.score);
      return row.slice(0, top).map(({ score, c }): Prediction => {
        const names = classIndex[c];
        if (!Array.isArray(names))
          throw new InvalidArgumentError(`classIndex lacks the class ${c} of ${classes}`, op);
        return [names[0], names[1], score];
      });
    });
  },
);
