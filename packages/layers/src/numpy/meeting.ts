// In what dtype arrays of `tf.experimental.numpy` meet.
import { asDtype, cast, type DType, InvalidArgumentError, type TensorLike } from '@eagre/core';
import { dtypeOf, isFloating, isInteger } from '@eagre/core/internal';

const FLOATS: readonly DType[] = ['float16', 'float32', 'float64'];
const COMPLEX: Readonly<Partial<Record<DType, DType>>> = { float64: 'complex128', int64: 'complex128' };
const bitsOf = (dtype: DType): number => 8 * asDtype(dtype).size;
const signed = (bits: number): DType => `int${bits}` as DType;

/** The smallest float that holds what an integer of so many bits does, more or less, as NumPy has it. */
const floatFor = (dtype: DType): DType =>
  dtype === 'bool' || bitsOf(dtype) <= 8 ? 'float16' : bitsOf(dtype) <= 16 ? 'float32' : 'float64';

/** The dtype in which two meet in NumPy. @throws InvalidArgumentError if there is none */
export function meeting(a: DType, b: DType, op: string): DType {
  if (a === b) return a;
  const refuse = (): never => {
    throw new InvalidArgumentError(`${a} and ${b} do not meet in one dtype`, op);
  };
  if (a === 'string' || b === 'string') return refuse();
  const complexOf = [a, b].filter((d) => d.startsWith('complex'));
  if (complexOf.length > 0) {
    const reals = [a, b].filter((d) => !d.startsWith('complex'));
    const wide =
      complexOf.includes('complex128') ||
      reals.some((d) => COMPLEX[d] !== undefined || (isInteger(d) && bitsOf(d) >= 32));
    return wide ? 'complex128' : 'complex64';
  }
  if (isFloating(a) || isFloating(b)) {
    if (a === 'bfloat16' || b === 'bfloat16') {
      const other = a === 'bfloat16' ? b : a;
      if (other === 'float32' || other === 'float64') return other;
      return other === 'bool' || bitsOf(other) <= 8 ? 'bfloat16' : refuse();
    }
    const [p, q] = [a, b].map((d) => (isFloating(d) ? d : floatFor(d))) as [DType, DType];
    return FLOATS.indexOf(p) > FLOATS.indexOf(q) ? p : q;
  }
  if (a === 'bool') return b;
  if (b === 'bool') return a;
  const unsigned = [a, b].map((d) => d.startsWith('uint'));
  if (unsigned[0] === unsigned[1]) return bitsOf(a) > bitsOf(b) ? a : b;
  const [u, s] = unsigned[0] === true ? [a, b] : [b, a];
  if (bitsOf(s) > bitsOf(u)) return s;
  return bitsOf(u) >= 64 ? 'float64' : signed(2 * bitsOf(u));
}

/** Values in the dtype in which NumPy has them meet; bare numbers follow what stands beside them, so there is none if all are bare. */
export function met<L extends readonly TensorLike[]>(
  values: L,
  op: string,
): { readonly values: L; readonly dtype: DType | undefined } {
  const known = values.map(dtypeOf);
  const given = known.filter((d): d is DType => d !== undefined);
  if (given.length === 0) return { values, dtype: undefined };
  const dtype = given.reduce((a, b) => meeting(a, b, op));
  const same = values.map((v, i) => (known[i] === undefined || known[i] === dtype ? v : cast(v, dtype)));
  return { values: same as readonly TensorLike[] as L, dtype };
}
