import type { DType } from '@eagre/backend';
import { asIs, defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkDTypeName, common } from './dtypes.ts';

/**
 * The dtype in which two tensors meet: the wider one, if it holds every value of the other (bool → uint8 → int16 → int32 → int64;
 * uint8 → float32; int32, float32 → float64). Nothing is narrowed or rounded silently.
 * @throws InvalidArgumentError when neither holds the other, such as int32 with float32.
 */
export const promote: NamedFunction<[a: DType, b: DType], ['a', 'b'], unknown, DType> = defineFunction(
  'tf.experimental.promote',
  { a: asIs, b: asIs },
  {},
  (a, b) => {
    checkDTypeName(a, 'tf.experimental.promote');
    checkDTypeName(b, 'tf.experimental.promote');
    return common(a, b, 'tf.experimental.promote');
  },
);
