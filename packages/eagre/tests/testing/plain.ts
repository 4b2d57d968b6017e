import * as tf from '../../src/index.ts';

/** What a call gave, as plain values that can be compared. @param rest what it makes of other values */
export function plainOf(value: unknown, rest: (value: unknown) => unknown = (v) => v): unknown {
  const plain = (v: unknown): unknown => {
    if (v instanceof tf.Tensor) return { dtype: v.dtype, shape: v.shape, values: v.array() };
    if (Array.isArray(v)) return v.map(plain);
    if (v instanceof tf.SparseTensor) return plain([v.indices, v.values, v.denseShape]);
    if (v instanceof Object && Object.getPrototypeOf(v) === Object.prototype)
      return Object.fromEntries(Object.entries(v).map(([key, of]) => [key, plain(of)]));
    return rest(v);
  };
  return plain(value);
}
