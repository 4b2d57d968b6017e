// Golden files: tensors as they stand in them, and how ours are held against them.
import { expect } from 'vitest';
import * as tf from '../../src/index.ts';

/** What is not finite is text, a complex number a pair; complex numbers may also stand as pairs one behind the other. */
type Plain = number | boolean | string | readonly [re: number | string, im: number | string];

/** A tensor in a golden file. */
export interface GoldenTensor {
  readonly dtype: tf.DType;
  readonly shape: readonly number[];
  readonly values: readonly Plain[];
}

const special: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  NaN: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  Infinity: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};
/** The number that a text stands for, if it does. */
export const specialNumber = (text: string): number | undefined =>
  Object.hasOwn(special, text) ? special[text] : undefined;

const numberOf = (v: unknown): number =>
  typeof v === 'string' ? (specialNumber(v) ?? Number(v)) : Number(v);
const isComplex = (dtype: string): boolean => dtype.startsWith('complex');

/** The numbers of a golden tensor, real and imaginary parts by turns; texts of one of strings. */
function wantedOf({ dtype, values }: GoldenTensor): (number | string)[] {
  if (dtype === 'string') return values as string[];
  const numbers = values.flat().map(numberOf);
  return /^(float32|float16|bfloat16)$/.test(dtype) ? numbers.map(Math.fround) : numbers;
}

/** The same of a tensor of ours. */
function foundIn(x: tf.Tensor): (number | string)[] {
  if (x.dtype === 'string') return x.strings();
  if (isComplex(x.dtype)) return foundIn(tf.stack([tf.math.real(x), tf.math.imag(x)], -1));
  return Array.from(x.data() as ArrayLike<number | bigint | boolean>, Number);
}

/** A golden tensor as a tensor. */
export function tensorOf(golden: GoldenTensor): tf.Tensor {
  const { dtype, shape, values } = golden;
  const make = (list: unknown, as: tf.DType): tf.Tensor => tf.constant(list as number[], as, { shape });
  if (dtype === 'bool' || dtype === 'string') return make(values, dtype);
  if (dtype === 'int64' || dtype === 'uint64')
    return make(
      values.map((v) => BigInt(v as number)),
      dtype,
    );
  const numbers = wantedOf(golden) as number[];
  if (!isComplex(dtype)) return make(numbers, dtype);
  const part = (of: number): tf.Tensor =>
    make(
      numbers.filter((_, i) => i % 2 === of),
      dtype === 'complex64' ? 'float32' : 'float64',
    );
  return tf.complex(part(0), part(1));
}

/** How far a result may be off. */
export interface Allowance {
  /** Relative to each number, or to 1 if that is more. */
  readonly tolerance: number;
  /** Relative to the largest number of the tensor instead. */
  readonly ofLargest?: boolean;
  /** A NaN of ours says nothing where the golden tensor has one too: TensorFlow left something in memory that it had not written. */
  readonly looseNaN?: boolean;
}

/** Expects dtype, shape and values of a golden tensor. */
export function expectNear(
  got: tf.Tensor,
  golden: GoldenTensor,
  where: string,
  { tolerance, ofLargest = false, looseNaN = false }: Allowance,
): void {
  expect([got.dtype, [...got.shape]], where).toEqual([golden.dtype, golden.shape]);
  const wanted = wantedOf(golden);
  const found = foundIn(got);
  const sizes = wanted.map((v) => Math.abs(Number(v))).filter(Number.isFinite);
  const largest = sizes.reduce((a, b) => Math.max(a, b), 1);
  const someNaN = wanted.some(Number.isNaN);
  const off = wanted.findIndex((v, i) => {
    const own = found[i];
    if (Object.is(v, own) || v === own || (looseNaN && someNaN && Number.isNaN(own))) return false;
    const scale = ofLargest ? largest : Math.max(1, Math.abs(Number(v)));
    return !(Math.abs(Number(v) - Number(own)) <= tolerance * scale);
  });
  if (off >= 0 || found.length !== wanted.length)
    expect.fail(`${where}: element ${off} is ${found[off]}, TensorFlow has ${wanted[off]}`);
}

// ---- tensors of other kinds, with nested values

/** A tensor of any kind in a golden file. */
export interface GoldenComposite {
  readonly dtype?: string;
  readonly shape?: readonly (number | null)[];
  readonly tensor?: unknown;
  /** Of a ragged tensor. */
  readonly ragged?: unknown;
  readonly splits?: readonly (readonly number[])[];
  readonly splitsDtype?: string;
  /** Of a sparse tensor. */
  readonly indices?: unknown;
  readonly values?: unknown;
  readonly denseShape?: unknown;
  /** Of slices: their indices and rows. */
  readonly slices?: unknown;
  readonly rows?: unknown;
}

/** Nested lists without bigints and NaN. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? Number(v) : Number.isNaN(v) ? 'nan' : v)),
  );

function expectNested(actual: unknown, wanted: unknown, where: string): void {
  if (Array.isArray(wanted)) {
    expect(Array.isArray(actual) && actual.length, where).toBe(wanted.length);
    wanted.forEach((w, i) => {
      expectNested((actual as unknown[])[i], w, `${where}[${i}]`);
    });
  } else if (typeof wanted === 'number') {
    const own = Number(actual);
    if (own !== wanted)
      expect(Math.abs(own - wanted), where).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(wanted)));
  } else expect(actual, where).toEqual(wanted);
}

/** Expects kind, dtype, shape and values of a golden tensor of any kind, or of a list of them. */
export function expectGolden(
  actual: unknown,
  wanted: GoldenComposite | readonly GoldenComposite[],
  where: string,
): void {
  if (Array.isArray(wanted)) {
    expect((actual as unknown[]).length, where).toBe(wanted.length);
    wanted.forEach((w, i) => {
      expectGolden((actual as unknown[])[i], w, `${where} ${i}`);
    });
    return;
  }
  const golden = wanted as GoldenComposite;
  const same = (x: tf.Tensor, values: unknown, what: string): void =>
    expectNested(plain(x.array()), values, `${where}${what}`);
  if (golden.ragged !== undefined) {
    const x = actual as tf.RaggedTensor;
    expect(x, where).toBeInstanceOf(tf.RaggedTensor);
    expectNested(plain(x.toList()), golden.ragged, where);
    expect(
      x.nestedRowSplits.map((s) => plain(s.array())),
      `${where} splits`,
    ).toEqual(golden.splits);
    expect(x.rowSplits.dtype, where).toBe(golden.splitsDtype);
    expectType(x, golden, where);
  } else if (golden.slices !== undefined) {
    const x = actual as tf.IndexedSlices;
    same(x.indices, golden.slices, ' slices');
    same(x.values, golden.rows, ' rows');
  } else if (golden.indices !== undefined) {
    const x = actual as tf.SparseTensor;
    expect(x, where).toBeInstanceOf(tf.SparseTensor);
    same(x.indices, golden.indices, ' indices');
    same(x.values, golden.values, ' values');
    expect(plain(x.denseShape.array()), where).toEqual(golden.denseShape);
    if (golden.dtype !== undefined) expect(x.dtype, where).toBe(golden.dtype);
  } else {
    const x = actual as tf.Tensor;
    expect(x, where).toBeInstanceOf(tf.Tensor);
    same(x, golden.tensor, '');
    expectType(x, golden, where);
  }
}

function expectType(x: tf.Tensor | tf.RaggedTensor, golden: GoldenComposite, where: string): void {
  expect([x.dtype, x.shape], where).toEqual([golden.dtype, golden.shape]);
}
