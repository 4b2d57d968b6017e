/** `tf.bitwise`: the bits of integers, element-wise. */
export {
  bitwiseAnd,
  bitwiseLeftShift as leftShift,
  bitwiseNot as invert,
  bitwiseOr,
  bitwiseRightShift as rightShift,
  bitwiseXor,
} from './ops/elementwise/logic.ts';
