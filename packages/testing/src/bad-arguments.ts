// Arguments for functions, good and bad, by the names of their parameters.
import { type DType, dtypeTraits, MAX_RANK } from '@eagre/backend';
import { constant, Tensor, Variable, zeros } from '@eagre/core';
import { declared, forEachTensor, sizeOf } from '@eagre/core/internal';

/** A function of any arguments. */
export type AnyFunction = (...args: unknown[]) => unknown;
type Random = () => number;

/** The names of a function's parameters, `{a,b}` for a destructured one. */
export function parameters(fn: AnyFunction): string[] {
  const takes = declared(fn);
  if (takes !== undefined) {
    const options = Object.keys(takes.options).length > 0 ? ['options'] : [];
    return [...takes.positional, ...(takes.rest === undefined ? options : [`...${takes.rest}`])];
  }
  const text = String(fn)
    .replace(/^function\s*\w*/, '')
    .trim();
  let depth = 0;
  let part = '';
  const parts: string[] = [];
  for (const c of text) {
    if ('([{'.includes(c)) depth++;
    if (')]}'.includes(c)) depth--;
    if (depth === 0) break;
    if (c === ',' && depth === 1) {
      parts.push(part);
      part = '';
    } else if (depth > 1 || c !== '(') part += c;
  }
  parts.push(part);
  return parts.map((p) => p.trim().replace(/\s*=.*$/s, '')).filter((p) => p !== '');
}

const dtypes: readonly DType[] = ['float32', 'float64', 'int32', 'int64', 'uint8', 'bool', 'string'];
const dims: readonly number[] = [0, 1, 1, 2, 2, 3, 3, 4, 5];
const numbers: readonly number[] = [
  0,
  0,
  1,
  1,
  2,
  2,
  3,
  4,
  -1,
  -1,
  -2,
  -3,
  0.5,
  1.5,
  -0,
  9,
  100,
  -100,
  NaN,
  Infinity,
  -Infinity,
  1e-300,
  1e300,
  -(2 ** 31),
  2 ** 31,
  2 ** 40,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
];
const small: readonly number[] = [0, 0, 1, 1, 2, 2, 3, -1, -1, -2, 4];
const words: readonly string[] = [
  'SAME',
  'VALID',
  'same',
  'REFLECT',
  'SYMMETRIC',
  'CONSTANT',
  'ASCENDING',
  'DESCENDING',
  'float32',
  'int32',
  'float64',
  'euclidean',
  'fro',
  'abc',
  '',
  '...',
  ':',
  '1:3',
  '::-1',
  '1:2:0',
  'newaxis',
  'ij->ji',
  'ij,jk->ik',
  'i,i->',
  '...i->...',
  'ii',
  'é',
  '->',
  '0',
  'xy',
  'ij',
  'constructor',
  '__proto__',
  'bool',
  'string',
];
const optionNames: readonly string[] = [
  'keepdims',
  'dtype',
  'shape',
  'exclusive',
  'reverse',
  'direction',
  'strides',
  'padding',
  'dilations',
  'groups',
  'axis',
  'batchDims',
  'mode',
  'constantValues',
  'transposeA',
  'transposeB',
  'alpha',
  'approximate',
  'onValue',
  'offValue',
  'indexing',
  'batchShape',
  'useNorm',
  'globalNorm',
  'epsilon',
  'mean',
  'variance',
  'stddev',
  'minval',
  'maxval',
  'seed',
  'rate',
  'labels',
  'logits',
  'posWeight',
  'noiseShape',
  'gamma',
  'beta',
  'scale',
  'offset',
  'isTraining',
  'training',
  'rtol',
  'atol',
  'message',
  'ksize',
  'begin',
];

/** An object that cannot even be looked at. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Makes arguments out of random numbers in [0, 1). */
export class Arguments {
  readonly #random: Random;
  readonly #textless: boolean;
  readonly #revoked: boolean;
  /** @param options whether there are values that do not turn into text, and proxies that were revoked */
  constructor(random: Random, options: { readonly textless?: boolean; readonly revoked?: boolean } = {}) {
    this.#random = random;
    this.#textless = options.textless ?? false;
    this.#revoked = options.revoked ?? false;
  }
  chance(p: number): boolean {
    return this.#random() < p;
  }
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }
  list<T>(length: number, item: () => T): T[] {
    return Array.from({ length }, item);
  }
  shape(): number[] {
    const rank = this.chance(0.06) ? this.pick([7, 8, 9, 12]) : this.pick([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5]);
    return this.list(rank, () => (rank > 6 ? this.pick([0, 1, 1, 2]) : this.pick(dims)));
  }
  numbers(): number[] {
    return this.list(this.pick([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 9]), () => this.number());
  }
  number(): number {
    return this.chance(0.8) ? this.pick(small) : this.pick(numbers);
  }
  dtype(): DType {
    return this.chance(0.6) ? 'float32' : this.pick(dtypes);
  }
  values(dtype: DType, size: number): unknown[] {
    if (dtype === 'string') return this.list(size, () => this.pick(words));
    if (dtype === 'bool') return this.list(size, () => this.chance(0.5));
    if (dtypeTraits[dtype].floating) {
      return this.list(size, () =>
        this.chance(0.05) ? this.pick([NaN, Infinity, -Infinity, -0, 3e38]) : this.#random() * 6 - 3,
      );
    }
    const low = dtype === 'uint8' ? 0 : -1;
    return this.list(size, () =>
      this.chance(0.03)
        ? this.pick(dtype === 'uint8' ? [255] : [2 ** 31 - 1, -(2 ** 31), -7])
        : Math.floor(this.#random() * (5 - low)) + low,
    );
  }
  tensor(shape: readonly number[] = this.shape(), dtype: DType = this.dtype()): unknown {
    if (shape.length > MAX_RANK) return { data: new Float32Array(sizeOf(shape)), shape };
    const list = this.values(dtype, sizeOf(shape));
    const t = constant(list as number[], dtype, { shape });
    if (this.chance(0.05) && dtype !== 'string') return new Variable(t);
    if (this.chance(0.02)) t.dispose();
    return t;
  }
  indices(): unknown {
    return this.tensor(
      this.shape(),
      this.chance(0.9) ? this.pick(['int32', 'int64'] as const) : this.dtype(),
    );
  }
  nested(): unknown {
    const rank = this.pick([0, 1, 1, 2, 3]);
    const build = (depth: number): unknown =>
      depth === 0
        ? this.chance(0.02)
          ? this.garbage()
          : this.number()
        : this.list(this.chance(0.95) ? 2 : this.pick(dims), () => build(depth - 1));
    return build(rank);
  }
  options(): unknown {
    const made: Record<string, unknown> = {};
    if (this.chance(0.5)) return made;
    for (let i = this.pick([1, 2, 4, 8]); i > 0; i--) {
      const name = this.pick(optionNames);
      made[name] = this.chance(0.7) ? this.named(name) : this.anything();
    }
    return made;
  }
  /** What does not turn into text, where that is looked for. */
  textless(): unknown {
    return this.pick<() => unknown>([
      () => Symbol('s'),
      () => [Symbol('s')],
      () => Object.create(null),
      () => ({
        toString() {
          throw new RangeError('no text');
        },
      }),
      () =>
        new (class Unprintable {
          toString(): string {
            throw new RangeError('no text');
          }
          get [Symbol.toStringTag](): string {
            throw new RangeError('no tag');
          }
        })(),
      () => [constant(1), constant(2)],
      () => zeros,
    ])();
  }
  garbage(): unknown {
    if (this.#revoked && this.chance(0.05)) return this.chance(0.5) ? revoked() : [revoked()];
    if (this.#textless && this.chance(0.2)) return this.textless();
    return this.pick<() => unknown>([
      () => null,
      () => undefined,
      () => this.pick(words),
      () => this.pick(numbers),
      () => 10n ** 30n,
      () => 3n,
      () => true,
      () => ({}),
      () => [],
      () => [[]],
      () => [null],
      () => [[1, 2], [3]],
      () => [1, 'a'],
      () => () => 1,
      () => new Date(0),
      () => new Map([[1, 2]]),
      () => new Uint16Array(2),
      () => new DataView(new ArrayBuffer(8)),
      () => ({ data: new Float32Array(4), shape: [3] }),
      () => ({ data: new Float32Array(4), shape: [2, 2], dtype: 'nonsense' }),
      () => ({ data: new Float32Array(4), shape: 'abc' }),
      () => ({ length: 3 }),
    ])();
  }
  anything(): unknown {
    return this.pick<() => unknown>([
      () => this.tensor(),
      () => this.indices(),
      () => this.number(),
      () => this.pick(numbers),
      () => this.numbers(),
      () => this.nested(),
      () => this.pick(words),
      () => this.options(),
      () => this.garbage(),
    ])();
  }
  /** A plausible argument for a parameter of that name. */
  named(name: string, like?: Tensor): unknown {
    const rank = like?.rank ?? 2;
    if (name.startsWith('...')) return this.list(this.pick([0, 1, 2, 3]), () => this.anything());
    if (name.startsWith('{')) {
      return {
        labels: this.near(like),
        logits: this.near(like),
        posWeight: this.near(like),
        axis: this.number(),
      };
    }
    if (/^(indices|segmentIds|ids|targets|labels|argmax)$/.test(name)) return this.indices();
    if (/^(axis\d?|source|destination|axes|sources)$/.test(name)) {
      if (this.chance(0.7)) return Math.floor(this.#random() * (rank + 1)) - 1;
      return this.chance(0.5) ? this.list(this.pick([0, 1, 2, 3]), () => this.number()) : this.anything();
    }
    if (/^(shape|outputShape|batchShape|noiseShape)$/.test(name))
      return this.chance(0.8) ? this.shape() : this.chance(0.5) ? this.numbers() : this.anything();
    if (/^(perm|multiples|begin|end|size|strides|sizes|numOrSizes|repeats|shift|ranks|seed)$/.test(name)) {
      if (this.chance(0.5)) return this.list(rank, () => Math.abs(this.pick(small)));
      return this.chance(0.5) ? this.number() : this.numbers();
    }
    if (name === 'paddings' || name === 'padding')
      return this.chance(0.3)
        ? this.pick(words)
        : this.list(rank, () => this.list(this.chance(0.9) ? 2 : 3, () => Math.abs(this.number())));
    if (
      /^(k|num\w*|depth|blockSize|groups|ksize|maxlen|start\w*|stop|limit|delta|rate|batchDims|rank)$/.test(
        name,
      )
    )
      return this.number();
    if (name === 'dtype') return this.chance(0.7) ? this.pick(dtypes) : this.anything();
    if (/^(options|masks|_options)$/.test(name)) return this.options();
    if (/^(list|tensors|vectors|operands|pairs)$/.test(name))
      return this.list(this.pick([0, 1, 2, 2, 3, 17]), () => this.near(like));
    if (/^(equation|message|mode|direction|ord|name|indexing)$/.test(name)) return this.pick(words);
    if (/^(keepdims|exclusive|reverse|transpose[AB]|training|isTraining|useNorm)$/.test(name))
      return this.chance(0.7);
    return this.near(like);
  }
  /** A tensor that may well fit beside another. */
  near(like: Tensor | undefined): unknown {
    if (like === undefined || this.chance(0.3)) return this.chance(0.85) ? this.tensor() : this.anything();
    const shape = [...like.shape];
    for (let i = 0; i < shape.length; i++)
      if (this.chance(0.15)) shape[i] = this.pick([0, 1, shape[i] as number, 2]);
    if (this.chance(0.2)) shape.shift();
    if (this.chance(0.2)) shape.reverse();
    return this.tensor(shape, this.chance(0.8) ? like.dtype : this.dtype());
  }
  call(names: readonly string[], required: number): unknown[] {
    const whole = /^(\{|options)/.test(names[required - 1] ?? '') || names[0]?.startsWith('{') === true;
    const count = !whole && this.chance(0.1) ? this.pick([0, 1, 2, 3, 4, 5]) : names.length;
    let like: Tensor | undefined;
    const args: unknown[] = [];
    for (let i = 0; i < count; i++) {
      const name = names[i];
      // An object of options, or of named tensors, is one: TypeScript leaves no way to pass null for it.
      const fixed = name !== undefined && /^(\{|options|_options|masks)/.test(name);
      const arg = !fixed && this.chance(0.06) ? this.garbage() : this.named(name ?? 'x', like);
      if (name?.startsWith('...') && Array.isArray(arg)) args.push(...arg);
      else args.push(arg);
      if (like === undefined && arg instanceof Tensor) like = arg;
    }
    return args;
  }
}

/** Bytes of results that take their time. */
export const LARGE: number = 2 ** 28;
/** What a tensor takes. */
export const bytesOf = (t: Tensor): number =>
  t.dtype === 'string' ? 0 : t.size * dtypeTraits[t.dtype].bytes;

/** A result that cannot be: memory too small for its shape, a rank beyond the kernels'. */
export function broken(result: unknown): string | undefined {
  let wrong: string | undefined;
  forEachTensor(result, (t) => {
    const bytes = bytesOf(t);
    if (sizeOf(t.shape) !== t.size) wrong = `size ${t.size} for shape [${t.shape}]`;
    else if (!t.shape.every((d) => Number.isSafeInteger(d) && d >= 0)) wrong = `shape [${t.shape}]`;
    else if (t.dtype === 'string' ? t.strings().length !== t.size : t.storage.capacity < bytes)
      wrong = 'memory';
    else if (t.rank > MAX_RANK) wrong = `rank ${t.rank}`;
    // Copies of gigabytes would only take the time of other calls.
    else if (t.dtype !== 'string' && t.storage.refs > 0 && bytes < LARGE) void t.data();
  });
  return wrong;
}

/** An argument in a message. */
export function show(value: unknown): string {
  try {
    return shown(value);
  } catch {
    return 'what cannot be looked at';
  }
}

function shown(value: unknown): string {
  if (value instanceof Tensor) return `${value.dtype}[${value.shape}]${value.isDisposed ? ' disposed' : ''}`;
  if (value instanceof Variable) return `var ${value.dtype}[${value.shape}]`;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return `{${Object.entries(value).map(([k, v]) => `${k}: ${show(v)}`)}}`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'function';
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
    return `an object of ${String(value.constructor?.name ?? 'no class')}`;
  return Object.is(value, -0) ? '-0' : ArrayBuffer.isView(value) ? value.constructor.name : String(value);
}
