import {
  type DType,
  type DTypeTraits,
  dtypeTraits,
  holdsEvery,
  InvalidArgumentError,
  isComplex,
  numericDTypes,
} from '@eagre/backend';

/** The dtype in which two tensors meet, for messages of `op`: the one that holds every value of the other. */
export function common(a: DType, b: DType, op?: string): DType {
  if (holdsEvery(b, a)) return a;
  if (holdsEvery(a, b)) return b;
  const help =
    a === 'string' || b === 'string'
      ? 'tf.strings.toNumber(x) reads numbers from strings, tf.strings.asString(x) writes them'
      : `convert one of them, for example with x.cast('${dtypeTraits[a].floating ? a : b}')`;
  throw new InvalidArgumentError(`${a} and ${b} have no common dtype without loss; ${help}`, op);
}

export function isFloating(dtype: DType): boolean {
  return typeof dtype === 'string' && (dtypeTraits[dtype]?.floating ?? false);
}

/** Whether there are gradients of and for tensors of a dtype: floats and complex numbers. */
export function hasGradient(dtype: DType): boolean {
  return isFloating(dtype) || isComplex(dtype);
}

export function isInteger(dtype: DType): boolean {
  return typeof dtype === 'string' && (dtypeTraits[dtype]?.integer ?? false);
}

/** @throws InvalidArgumentError for what is no name of a dtype. */
export function checkDTypeName(dtype: DType, op?: string): void {
  if (typeof dtype === 'string' && Object.hasOwn(dtypeTraits, dtype)) return;
  const got = typeof dtype === 'string' ? `'${dtype as string}'` : typeof dtype;
  throw new InvalidArgumentError(
    `${got} is not a dtype; expected one of ${Object.keys(dtypeTraits).join(', ')}`,
    op,
  );
}

const all: readonly DType[] = [...numericDTypes, 'complex64', 'complex128'];
const those = (wanted: (traits: DTypeTraits) => boolean): readonly DType[] =>
  all.filter((dtype) => wanted(dtypeTraits[dtype]));

/** Groups of dtypes that an op accepts for an argument. */
export const dtypeGroups: Readonly<Record<DTypeGroup, readonly DType[]>> = {
  floating: those((traits) => traits.floating),
  integer: those((traits) => traits.integer),
  numeric: those((traits) => traits.floating || traits.integer || traits.kind === 'complex'),
  bool: ['bool'],
  index: ['int32', 'int64'],
  /** Everything but strings. */
  any: all,
};
export type DTypeGroup = 'floating' | 'integer' | 'numeric' | 'bool' | 'index' | 'any';

/** @throws InvalidArgumentError when `dtype` is not in the group. */
export function checkDType(dtype: DType, group: DTypeGroup, argument: string, op: string): void {
  const accepted = dtypeGroups[group];
  if (!accepted.includes(dtype)) {
    if (typeof dtype !== 'string') checkDTypeName(dtype, op);
    const advice =
      dtype === 'string'
        ? 'use tf.strings.join or tf.strings.toNumber'
        : `convert it with ${argument}.cast('${accepted[0]}')`;
    throw new InvalidArgumentError(`${argument} is ${dtype}, expected ${accepted.join(', ')}; ${advice}`, op);
  }
}
