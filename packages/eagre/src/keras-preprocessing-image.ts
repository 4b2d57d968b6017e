/** `tf.keras.preprocessing.image`. */
import type { NamedFunction, TensorLike } from '@eagre/core';
import { defineFunction, kind } from '@eagre/core/internal';
import { ops } from '@eagre/layers';

export { arrayToImg, imgToArray, loadImg, saveImg } from '@eagre/data';

/** Options of `smartResize`. */
export interface SmartResizeOptions {
  /** `bilinear` by default. */
  readonly interpolation?: 'bilinear' | 'nearest' | 'bicubic' | 'lanczos3' | 'lanczos5';
  /** `channels_last` by default. */
  readonly dataFormat?: 'channels_last' | 'channels_first';
}

/** Images [height, width, channels], or a batch of them, of another size: the largest part of the middle with its proportions, resized. */
export const smartResize: NamedFunction<
  [x: TensorLike, size: readonly [height: number, width: number]],
  ['x', 'size'],
  SmartResizeOptions
> = /* @__PURE__ */ defineFunction(
  'keras.preprocessing.image.smartResize',
  { x: kind.tensor, size: kind.shape },
  { interpolation: kind.asIs, dataFormat: kind.asIs },
  (x, size, { interpolation = 'bilinear', dataFormat = 'channels_last' }) =>
    ops.image.resize(x, size, { interpolation, dataFormat, cropToAspectRatio: true }),
);
