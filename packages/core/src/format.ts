import type { Tensor } from './tensor.ts';

// Imported for its type only: the printer works on what `array()` gives.
type Value = number | bigint | boolean | string | readonly Value[];

const EDGE = 3;
const THRESHOLD = 1000;

/** The values as NumPy prints them: aligned columns, `...` in the middle of what is long. */
export function formatValues(tensor: Tensor): string {
  const summarise = tensor.size > THRESHOLD;
  const nested = pick(tensor, summarise);
  const leaves: (number | bigint | boolean | string)[] = [];
  collect(nested, leaves);
  const show = leafFormat(leaves, tensor.dtype);
  return print(nested, show, tensor.shape, summarise, 1);
}

/** `tf.Tensor([[4.]], shape=[1, 1], dtype=float32)` */
export function formatTensor(tensor: Tensor): string {
  const head = `shape=[${tensor.shape.join(', ')}], dtype=${tensor.dtype}`;
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
      const v = flat[offset] as number | bigint | string;
      return tensor.dtype === 'bool' ? v !== 0 : v;
    }
    const n = shape[axis] as number;
    const step = stride / n;
    return visible(n, true).map((i) => at(axis + 1, offset + i * step, step));
  };
  return at(0, 0, tensor.size);
}

function visible(n: number, summarise: boolean): number[] {
  if (!summarise || n <= 2 * EDGE) return Array.from({ length: n }, (_, i) => i);
  return [0, 1, 2, n - 3, n - 2, n - 1];
}

function collect(value: Value, out: (number | bigint | boolean | string)[]): void {
  if (Array.isArray(value)) for (const v of value) collect(v as Value, out);
  else out.push(value as number | bigint | boolean | string);
}

type LeafFormat = (value: number | bigint | boolean | string) => string;

function leafFormat(leaves: readonly (number | bigint | boolean | string)[], dtype: string): LeafFormat {
  if (dtype === 'string') return (v) => JSON.stringify(v);
  if (dtype !== 'float32' && dtype !== 'float64') return padded(leaves, String);
  const finite = (leaves as readonly number[]).filter((v) => Number.isFinite(v) && v !== 0).map(Math.abs);
  const max = Math.max(0, ...finite);
  const min = Math.min(Number.POSITIVE_INFINITY, ...finite);
  const digits = 8;
  const shortest = (v: number): string => (dtype === 'float32' ? shortestFloat32(v) : String(v));
  if (finite.length > 0 && (max >= 1e8 || min < 1e-4 || max / min > 1e3 * 1e5)) {
    return padded(leaves, (v) => special(v as number) ?? exponent(v as number, shortest(v as number)));
  }
  const decimals = Math.max(0, ...finite.map((v) => fraction(shortest(v), digits)));
  return padded(leaves, (v) => special(v as number) ?? fixed(v as number, decimals));
}

function special(v: number): string | undefined {
  if (Number.isNaN(v)) return 'nan';
  if (!Number.isFinite(v)) return v > 0 ? 'inf' : '-inf';
  return undefined;
}

function fixed(v: number, decimals: number): string {
  const sign = Object.is(v, -0) ? '-' : '';
  return decimals === 0 ? `${sign}${v.toFixed(0)}.` : `${sign}${v.toFixed(decimals)}`;
}

function exponent(v: number, shortest: string): string {
  const [mantissa, power] = Number(shortest).toExponential().split('e') as [string, string];
  const n = Number(power);
  const sign = Object.is(v, -0) ? '-' : '';
  return `${sign}${mantissa.includes('.') ? mantissa : `${mantissa}.`}e${n < 0 ? '-' : '+'}${String(Math.abs(n)).padStart(2, '0')}`;
}

function fraction(text: string, limit: number): number {
  if (text.includes('e')) return limit;
  const dot = text.indexOf('.');
  return dot < 0 ? 0 : Math.min(limit, text.length - dot - 1);
}

/** The shortest decimal that is this float32 again. */
function shortestFloat32(v: number): string {
  for (let p = 1; p <= 9; p++) {
    const text = v.toPrecision(p);
    if (Math.fround(Number(text)) === v) return String(Number(text));
  }
  return String(v);
}

function padded(leaves: readonly (number | bigint | boolean | string)[], show: LeafFormat): LeafFormat {
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
  if (!Array.isArray(value)) return show(value as number);
  const axis = indent - 1;
  const rows = (value as readonly Value[]).map((v) => print(v, show, shape, summarise, indent + 1));
  if (summarise && (shape[axis] as number) > 2 * EDGE) rows.splice(EDGE, 0, '...');
  const inner = shape.length - axis;
  if (inner === 1) return wrap(rows, indent);
  return `[${rows.join(`\n${'\n'.repeat(inner - 2)}${' '.repeat(indent)}`)}]`;
}

/** One row of numbers, broken at 75 columns. */
function wrap(items: readonly string[], indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const item of items) {
    if (line !== '' && line.length + item.length + 1 + indent > 75) {
      lines.push(line);
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
