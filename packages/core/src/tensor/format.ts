import { type DType, isComplex, isHalf, partsOf, roundToHalf, type TypedArray } from '@eagre/backend';
import { showShape } from '../shapes/shape.ts';
import { type Complex, complexAt } from './complex-numbers.ts';
import { isFloating } from './dtypes.ts';
import type { Scalar, Tensor } from './tensor.ts';

// Imported for its type only: the printer works on what `array()` gives.
type Value = Scalar | readonly Value[];

const EDGE = 3;
const THRESHOLD = 1000;
const WIDTH = 75;

/** The values as NumPy prints them: aligned columns, `...` in the middle of what is long. */
export function formatValues(tensor: Tensor): string {
  if (tensor.size === 0) return '[]';
  const summarise = tensor.size > THRESHOLD;
  const nested = pick(tensor, summarise);
  const leaves: Scalar[] = [];
  collect(nested, leaves);
  const show = leafFormat(leaves, tensor.dtype);
  return print(nested, show, tensor.shape, summarise, 1);
}

/** `tf.Tensor([[4.]], shape=[1, 1], dtype=float32)` */
export function formatTensor(tensor: Tensor): string {
  const head = `shape=${showShape(tensor.shape)}, dtype=${tensor.dtype}`;
  if (tensor.backend.name === 'symbolic') return `tf.Tensor(<traced>, ${head})`;
  if (tensor.isDisposed) return `tf.Tensor(<disposed>, ${head})`;
  const values = formatValues(tensor);
  return values.includes('\n') ? `tf.Tensor(\n${values}, ${head})` : `tf.Tensor(${values}, ${head})`;
}

/** Only the elements that will be printed, so that a large tensor is not turned into a million boxed numbers. */
function pick(tensor: Tensor, summarise: boolean): Value {
  if (!summarise) return tensor.array() as Value;
  const { shape } = tensor;
  const flat = tensor.dtype === 'string' ? tensor.strings() : tensor.data();
  const at = (axis: number, offset: number, stride: number): Value => {
    if (axis === shape.length) {
      if (isComplex(tensor.dtype)) return complexAt(flat as TypedArray, offset);
      const v = flat[offset];
      return tensor.dtype === 'bool' ? v !== 0 : v;
    }
    const n = shape[axis];
    const step = stride / n;
    return visible(n, true).map((i) => at(axis + 1, offset + i * step, step));
  };
  return at(0, 0, tensor.size);
}

function visible(n: number, summarise: boolean): number[] {
  if (!summarise || n <= 2 * EDGE) return Array.from({ length: n }, (_, i) => i);
  return [0, 1, 2, n - 3, n - 2, n - 1];
}

function collect(value: Value, out: Scalar[]): void {
  if (Array.isArray(value)) for (const v of value) collect(v as Value, out);
  else out.push(value as Scalar);
}

type LeafFormat = (value: Scalar) => string;

function leafFormat(leaves: readonly Scalar[], dtype: DType): LeafFormat {
  if (dtype === 'string') return (v) => JSON.stringify(v);
  if (isComplex(dtype)) return complexFormat(leaves as readonly Complex[], partsOf(dtype)) as LeafFormat;
  if (!isFloating(dtype)) return padded(leaves, String);
  return floatFormat(leaves as readonly number[], dtype) as LeafFormat;
}

/** Both parts in columns of their own; the j stands behind the last digit. */
function complexFormat(leaves: readonly Complex[], dtype: DType): (v: Complex) => string {
  const [re, im] = [
    floatFormat(
      leaves.map((v) => v.re),
      dtype,
    ),
    floatFormat(
      leaves.map((v) => v.im),
      dtype,
      true,
    ),
  ];
  return (v) => {
    const second = im(v.im);
    const digits = second.trimEnd();
    return `${re(v.re)}${digits}j${' '.repeat(second.length - digits.length)}`;
  };
}

const DIGITS = 8;

/**
 * As many digits as the numbers need, at most 8 behind the point, which all stand in one column. With exponents where numbers
 * are large, small or far apart; then mantissas are filled up with zeros, otherwise numbers with spaces.
 * @param plus a sign before what is not negative, too.
 */
function floatFormat(leaves: readonly number[], dtype: DType, plus = false): (v: number) => string {
  const round = roundingTo(dtype);
  const shortest = dtype === 'float64' ? String : (v: number) => shortestFloat(v, round);
  const finite = leaves.filter(Number.isFinite);
  const sizes = finite.filter((v) => v !== 0).map(Math.abs);
  const max = Math.max(0, ...sizes);
  const min = Math.min(Number.POSITIVE_INFINITY, ...sizes);
  const exponents = sizes.length > 0 && (max >= 1e8 || min < round(1e-4) || round(max / min) > 1000);
  const parts = (v: number): [int: string, fraction: string, power: string] => {
    const text = exponents ? Number(shortest(v)).toExponential() : shortest(v);
    const [mantissa, power = ''] = text.split('e') as [string, string?];
    let [int, fraction = ''] = mantissa.split('.') as [string, string?];
    if (fraction.length > DIGITS) {
      const cut = exponents ? v.toExponential(DIGITS).split('e')[0] : v.toFixed(DIGITS);
      [int, fraction] = cut.split('.') as [string, string];
      fraction = fraction.replace(/0+$/, '');
    }
    return [Object.is(v, -0) ? '-0' : plus && v >= 0 ? `+${int}` : int, fraction, power];
  };
  const all = finite.map(parts);
  const widest = (index: 0 | 1 | 2): number => Math.max(0, ...all.map((p) => p[index].length));
  const behind = widest(1);
  const digits = Math.max(2, widest(2) - 1);
  const tail = exponents ? digits + 2 : 0;
  const before = Math.max(
    widest(0),
    ...leaves.filter((v) => !Number.isFinite(v)).map((v) => special(v, plus).length - behind - tail - 1),
  );
  return (v) => {
    if (!Number.isFinite(v)) return special(v, plus).padStart(before + 1 + behind + tail);
    const [int, fraction, power] = parts(v);
    const head = `${int.padStart(before)}.`;
    if (!exponents) return head + fraction.padEnd(behind);
    return `${head}${fraction.padEnd(behind, '0')}e${power.charAt(0)}${power.slice(1).padStart(digits, '0')}`;
  };
}

function special(v: number, plus: boolean): string {
  const sign = v < 0 ? '-' : plus ? '+' : '';
  return `${sign}${Number.isNaN(v) ? 'nan' : 'inf'}`;
}

/** Rounds a number to a dtype of floats. */
export function roundingTo(dtype: DType): (v: number) => number {
  return dtype === 'float64' ? Number : isHalf(dtype) ? (v) => roundToHalf(v, dtype) : Math.fround;
}

/** The shortest decimal that is this number again, once rounded. */
function shortestFloat(v: number, round: (v: number) => number): string {
  for (let p = 1; p <= 9; p++) {
    const text = v.toPrecision(p);
    if (round(Number(text)) === v) return String(Number(text));
  }
  return String(v);
}

function padded(leaves: readonly Scalar[], show: LeafFormat): LeafFormat {
  const width = leaves.reduce<number>((w, v) => Math.max(w, show(v).length), 0);
  return (v) => show(v).padStart(width);
}

function print(
  value: Value,
  show: LeafFormat,
  shape: readonly number[],
  summarise: boolean,
  indent: number,
): string {
  if (!Array.isArray(value)) return show(value as Scalar);
  const axis = indent - 1;
  const rows = (value as readonly Value[]).map((v) => print(v, show, shape, summarise, indent + 1));
  if (summarise && shape[axis] > 2 * EDGE) rows.splice(EDGE, 0, '...');
  const inner = shape.length - axis;
  if (inner === 1) return wrap(rows, indent);
  return `[${rows.join(`\n${'\n'.repeat(inner - 2)}${' '.repeat(indent)}`)}]`;
}

/** One row of numbers, broken where NumPy breaks it. */
function wrap(items: readonly string[], indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const item of items) {
    if (line !== '' && line.length + item.length + 1 + indent > WIDTH - indent) {
      lines.push(line.trimEnd());
      line = item;
    } else line = line === '' ? item : `${line} ${item}`;
  }
  lines.push(line);
  return `[${lines.join(`\n${' '.repeat(indent)}`)}]`;
}

/** Sets what console.log prints for objects of a class (Node's inspect hook; elsewhere it does nothing). */
export function showInConsole<T extends object>(prototype: T, show: (object: T) => string): void {
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    configurable: true,
    value(this: T): string {
      return show(this);
    },
  });
}
