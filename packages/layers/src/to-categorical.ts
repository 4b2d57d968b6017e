import { constant, InvalidArgumentError, type NamedFunction, oneHot, type TensorLike } from '@eagre/core';
import { defineFunction, shown } from '@eagre/core/internal';

const OP = 'tf.keras.utils.toCategorical';
const MOST = 2 ** 31 - 1;

/**
 * Numbers of classes as rows with a 1 in that place, Keras's `to_categorical`: labels of shape [...shape] become float32
 * [...shape, numClasses]; a last dimension of 1 is left out. It looks at the values, so in a `tf.function` use `tf.oneHot`.
 *
 * @param numClasses one more than the largest label unless given.
 * @throws InvalidArgumentError for labels that are no integers from 0 to `numClasses` - 1.
 */
export const toCategorical: NamedFunction<
  [x: TensorLike, numClasses?: number | bigint | null],
  ['x', 'numClasses']
> = defineFunction(OP, { x: true, numClasses: true }, {}, (labels, most: number | bigint | null = null) => {
  const x = constant(labels);
  const numClasses = typeof most === 'bigint' ? Number(most) : (most ?? undefined);
  if (x.dtype === 'string') throw new InvalidArgumentError('expected integers as labels, got strings', OP);
  const values = Array.from(x.data(), Number);
  const classes = numClasses ?? values.reduce((most, v) => Math.max(most, v + 1), 0);
  const isIn = (v: number, low: number, high: number): boolean =>
    Number.isInteger(v) && v >= low && v <= high;
  const wrong = values.find((v) => !isIn(v, 0, (numClasses ?? MOST) - 1));
  if (numClasses !== undefined && !isIn(numClasses, 1, MOST))
    throw new InvalidArgumentError(
      `numClasses must be an integer of at least 1, got ${shown(numClasses)}`,
      OP,
    );
  if (wrong !== undefined) {
    const most = numClasses === undefined ? '' : ` to ${numClasses - 1}`;
    throw new InvalidArgumentError(`expected integers from 0${most} as labels, got ${wrong}`, OP);
  }
  if (classes === 0) throw new InvalidArgumentError('there are no labels: give numClasses', OP);
  const shape = x.rank > 1 && x.shape.at(-1) === 1 ? x.shape.slice(0, -1) : x.shape;
  return oneHot(x.reshape(shape).cast('int32'), classes);
});
