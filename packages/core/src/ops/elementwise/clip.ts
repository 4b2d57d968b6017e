import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { shown } from '../../arguments/checks.ts';
import { checkList } from '../../shapes/shape.ts';
import { type TensorLike, toOwnTensor, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';

type Given = TensorLike | null;

function tensorsOf(list: readonly Given[], op: string): (Tensor | null)[] {
  return checkList(list, 'tensors', op).map((x, i) => {
    if (x === null) return null;
    const value = toTensor(x);
    checkDType(value.dtype, 'floating', `tensor ${i}`, op);
    return value;
  });
}

/**
 * The euclidean norm of all elements of all tensors together; nulls (missing gradients) are skipped.
 * @throws InvalidArgumentError when there is no tensor, or one that is not floating.
 */
export const globalNorm: NamedFunction<[tensors: readonly (TensorLike | null)[]], ['tensors|tList']> =
  defineFunction('globalNorm', { 'tensors|tList': kind.tensors }, {}, (tensors) => {
    const sums = tensorsOf(tensors, 'globalNorm').flatMap((x) => (x === null ? [] : [x.square().sum()]));
    if (sums.length === 0)
      throw new InvalidArgumentError('the list is empty, expected at least one tensor', 'globalNorm');
    return sums.reduce((a, b) => a.add(b)).sqrt();
  });

/** What `clipByGlobalNorm` gives: nulls stay null. */
type Clipped<T> = [clipped: (T extends null ? null : Tensor)[], globalNorm: Tensor];

/**
 * Tensors scaled down together so that their `globalNorm` is at most `clipNorm`; NaN when the norm is not finite, so that a
 * broken step is seen. Nulls stay null.
 * @param options.useNorm the global norm, if it is known already.
 * @returns the tensors and their global norm before.
 * @example const [clipped, norm] = tf.clipByGlobalNorm(gradients, 1);
 */
export const clipByGlobalNorm: <T extends TensorLike | null>(
  ...args: Arguments<
    [tensors: readonly T[], clipNorm: number],
    ['tensors|tList', 'clipNorm'],
    {
      /** The norm of all together, where it is known; it is computed by default. */
      readonly useNorm?: TensorLike;
    }
  >
) => Clipped<T> = defineFunction<
  NamedFunction<
    [tensors: readonly Given[], clipNorm: number],
    ['tensors|tList', 'clipNorm'],
    { readonly useNorm?: TensorLike },
    unknown
  >
>(
  'clipByGlobalNorm',
  { 'tensors|tList': kind.tensors, clipNorm: kind.asIs },
  { useNorm: kind.asIs },
  (tensors, clipNorm, options) => {
    if (typeof clipNorm !== 'number' || !(clipNorm > 0))
      throw new InvalidArgumentError(
        `clipNorm is ${shown(clipNorm)}, expected a number above 0`,
        'clipByGlobalNorm',
      );
    const list = tensorsOf(tensors, 'clipByGlobalNorm');
    const norm = options.useNorm === undefined ? globalNorm(list) : toOwnTensor(options.useNorm);
    // norm − norm is 0, or NaN where the norm is infinite or NaN.
    const scale = norm.maximum(clipNorm).reciprocal().mul(clipNorm).add(norm.sub(norm));
    return [list.map((x) => (x === null ? null : x.mul(scale.cast(x.dtype)))), norm];
  },
) as never;
