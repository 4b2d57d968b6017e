/** `tf.keras.random`. */
import { type DType, nn, random, type ShapeLike, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, type NamedFunction } from '@eagre/core/internal';

type Random = typeof random;
interface Drawn {
  readonly dtype?: DType;
  readonly seed?: number;
}

export const beta: Random['beta'] = /* @__PURE__ */ (() => random.beta)();
export const categorical: Random['categorical'] = /* @__PURE__ */ (() => random.categorical)();
export const gamma: Random['gamma'] = /* @__PURE__ */ (() => random.gamma)();
export const normal: Random['normal'] = /* @__PURE__ */ (() => random.normal)();
export const shuffle: Random['shuffle'] = /* @__PURE__ */ (() => random.shuffle)();
export const truncatedNormal: Random['truncatedNormal'] = /* @__PURE__ */ (() => random.truncatedNormal)();
export const uniform: Random['uniform'] = /* @__PURE__ */ (() => random.uniform)();

/** Integers from minval up to maxval, which is not among them; int32 by default. */
export const randint: NamedFunction<
  [shape: ShapeLike, minval: number, maxval: number],
  ['shape', 'minval', 'maxval'],
  Drawn
> = /* @__PURE__ */ defineFunction(
  'keras.random.randint',
  { shape: true, minval: true, maxval: true },
  { dtype: true, seed: true },
  (shape, minval, maxval, options) => random.uniform(shape, { dtype: 'int32', ...options, minval, maxval }),
);

/** x with a share `rate` of its elements at 0 and the others scaled up. */
export const dropout: NamedFunction<
  [inputs: TensorLike, rate: number],
  ['inputs', 'rate'],
  { readonly noiseShape?: readonly number[]; readonly seed?: number },
  Tensor
> = /* @__PURE__ */ defineFunction(
  'keras.random.dropout',
  { inputs: true, rate: true },
  { noiseShape: true, seed: true },
  (inputs, rate, options) => nn.dropout(inputs, rate, options),
);
