import '@eagre/backend-js';
import '@eagre/backend-native';
import { customGradient, GradientTape, grad } from '@eagre/autodiff';
import { type DType, dtypeTraits, EagreError, listBackends, MAX_RANK } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, Tensor, Variable, withBackend } from '@eagre/core';
import { forEachTensor, sizeOf, threads } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';
import { generator } from './values.ts';

// Whatever a public function is given, it returns a value or throws one of Eagre's own errors: no other exception, no crash, no
// hang. Arguments are made by the names of the parameters, so that most calls get past the first check, and some are garbage.

type Fn = (...args: unknown[]) => unknown;
type Random = () => number;

const SECONDS = Number(process.env.EAGRE_FUZZ_SECONDS ?? 8);
const SEED = Number(process.env.EAGRE_FUZZ_SEED ?? 1);

/** Not ops: they take functions, switch something for the whole process, or are classes. */
const skipped = new Set([
  'device',
  'scope',
  'withBackend',
  'nameScope',
  'threads',
  'memory',
  'keep',
  'promote',
]);

function callables(): [name: string, fn: Fn][] {
  const { nn, random, debugging } = core;
  const found: [string, Fn][] = [];
  for (const [space, functions] of Object.entries({ tf: core, nn, random, debugging })) {
    for (const [name, fn] of Object.entries(functions)) {
      if (typeof fn !== 'function' || skipped.has(name) || /^class\b/.test(String(fn))) continue;
      if (/(en|dis)ableCheckNumerics/.test(name)) continue;
      found.push([`${space}.${name}`, fn as Fn]);
    }
  }
  return found;
}

/** The names of a function's parameters, `{a,b}` for a destructured one. */
function parameters(fn: Fn): string[] {
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

class Arguments {
  readonly #random: Random;
  constructor(random: Random) {
    this.#random = random;
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
    if (this.chance(0.02)) t.dispose();
    if (this.chance(0.05) && dtype !== 'string') return new Variable(t);
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
  garbage(): unknown {
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
      () => [constant(1), constant(2)],
      () => core.zeros,
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

const LARGE = 2 ** 28;
const bytesOf = (t: Tensor): number => (t.dtype === 'string' ? 0 : t.size * dtypeTraits[t.dtype].bytes);

/** A result that cannot be: memory too small for its shape, a rank beyond the kernels'. */
function broken(result: unknown): string | undefined {
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

function show(value: unknown): string {
  if (value instanceof Tensor) return `${value.dtype}[${value.shape}]${value.isDisposed ? ' disposed' : ''}`;
  if (value instanceof Variable) return `var ${value.dtype}[${value.shape}]`;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return `{${Object.entries(value).map(([k, v]) => `${k}: ${show(v)}`)}}`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'function';
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
    return Object.prototype.toString.call(value);
  return Object.is(value, -0) ? '-0' : ArrayBuffer.isView(value) ? value.constructor.name : String(value);
}

describe.each(listBackends().map((b) => [b.name] as const))('bad input on %s', (backend) => {
  it('gives a value or one of our errors', () => {
    const problems = new Map<string, string>();
    const functions = callables().map(([name, fn]) => [name, fn, parameters(fn)] as const);
    const end = performance.now() + SECONDS * 1000;
    let calls = 0;
    withBackend(backend, () => {
      for (let round = 0; performance.now() < end; round++) {
        functions.forEach(([name, fn, names], i) => {
          core.scope(() => {
            const args = new Arguments(generator(SEED * 1_000_003 + round * 1009 + i)).call(names, fn.length);
            const where = (): string => `${name}(${args.map(show).join(', ')})`;
            const before = performance.now();
            let bytes = 0;
            try {
              const result = fn(...args);
              if (result instanceof Tensor) bytes = bytesOf(result);
              const wrong = broken(result);
              if (wrong !== undefined) problems.set(`${name} ${wrong}`, where());
            } catch (error) {
              if (error instanceof EagreError && error.code !== 'INTERNAL') {
                if (error.message.length < 12)
                  problems.set(`${name} says little`, `${error.message} ${where()}`);
              } else {
                const text = error instanceof Error ? error.stack : String(error);
                const at = /at .*(?:packages|native).*/.exec(text ?? '')?.[0] ?? '';
                problems.set(`${name} ${at}`, `${where()}: ${String(error)}`);
              }
            }
            const took = performance.now() - before;
            // Gigabytes of fresh memory take their time.
            if (took > 2000 && bytes < LARGE) problems.set(`${name} is slow`, `${where()}: ${took} ms`);
            calls++;
          });
        });
      }
    });
    const list = [...problems].map(([key, text]) => `${key}\n      ${text}`);
    if (process.env.EAGRE_FUZZ_LOG)
      console.log(`${backend}: ${calls} calls, ${list.length} problems\n${list.join('\n')}`);
    expect(list.slice(0, 30)).toEqual([]);
    expect(calls).toBeGreaterThan(functions.length);
  });
});

describe.each(listBackends().map((b) => [b.name] as const))('what only the values tell, on %s', (backend) => {
  const on =
    (fn: () => unknown): (() => unknown) =>
    () =>
      withBackend(backend, fn);
  const { nn } = core;

  it('refuses indices and labels outside of their range', () => {
    const rows = (): Tensor => core.ones([2, 3]);
    for (const bad of [3, -1, 2 ** 31 - 1, -(2 ** 31)]) {
      const i = Int32Array.of(0, bad);
      expect(on(() => core.gather(rows(), i, 1))).toThrow(core.OutOfRangeError);
      expect(on(() => core.gatherNd(rows(), constant([[0, bad]], 'int32')))).toThrow(core.OutOfRangeError);
      expect(on(() => core.unsortedSegmentSum(rows(), i, 2))).toThrow(core.OutOfRangeError);
      expect(on(() => core.tensorScatterNdAdd([0, 0], constant([[bad]], 'int32'), [1]))).toThrow(
        core.OutOfRangeError,
      );
      expect(on(() => nn.sparseSoftmaxCrossEntropyWithLogits({ labels: i, logits: rows() }))).toThrow(
        core.OutOfRangeError,
      );
      expect(on(() => nn.embeddingLookup(rows(), i))).toThrow(core.OutOfRangeError);
    }
    expect(on(() => core.gather(rows(), BigInt64Array.of(2n ** 62n), 0))).toThrow(core.OutOfRangeError);
    expect(on(() => core.gather(core.ones([0, 3]), [0], 0))).toThrow(EagreError);
  });

  it.each(['int32', 'int64', 'uint8'] as const)(
    'refuses to divide %s by zero, and survives the lowest by -1',
    (dtype) => {
      const some = (...v: number[]): Tensor => constant(v, dtype);
      expect(on(() => core.floorDiv(some(1, 2, 3), some(1, 0, 2)))).toThrow(core.InvalidArgumentError);
      expect(on(() => core.mod(some(1, 2, 3), some(0)))).toThrow(core.InvalidArgumentError);
      expect(on(() => core.floorDiv(core.ones([100_000], dtype), core.zeros([100_000], dtype)))).toThrow(
        EagreError,
      );
      if (dtype === 'uint8') return;
      const low = dtype === 'int32' ? -(2n ** 31n) : -(2n ** 63n);
      withBackend(backend, () => {
        const t = core.fill([9], low, dtype);
        expect(core.floorDiv(t, -1).array()).toEqual(core.neg(t).array());
        expect(Number((core.mod(t, -1).array() as (number | bigint)[])[8])).toBe(0);
        expect(core.pow(some(2, 3), some(3, 2)).array()).toEqual(some(8, 9).array());
        expect(on(() => core.pow(some(2), some(-1)))).toThrow(EagreError);
      });
    },
  );

  it('refuses what no memory holds, and goes on', () => {
    for (const size of [2 ** 40, 2 ** 52, Number.MAX_SAFE_INTEGER]) {
      expect(on(() => core.zeros([size]))).toThrow(EagreError);
      expect(on(() => core.zeros([size, size], 'string'))).toThrow(EagreError);
      expect(on(() => core.broadcastTo(1, [size, 7]))).toThrow(EagreError);
      expect(on(() => core.tile([1], [size]))).toThrow(EagreError);
      expect(on(() => core.pad([1], [[size, 0]]))).toThrow(EagreError);
      expect(on(() => core.range(size))).toThrow(EagreError);
      expect(on(() => core.eye(size))).toThrow(EagreError);
      expect(on(() => core.oneHot([1], size))).toThrow(EagreError);
      expect(on(() => core.random.normal([size]))).toThrow(EagreError);
      expect(on(() => core.linspace(0, 1, size))).toThrow(EagreError);
      expect(on(() => core.sequenceMask([1], size))).toThrow(EagreError);
      expect(on(() => core.repeat([1], size))).toThrow(EagreError);
      expect(on(() => core.repeat([1, 2], [size, 1]))).toThrow(EagreError);
      expect(on(() => core.split([1, 2], size))).toThrow(EagreError);
      expect(
        on(() =>
          nn.conv2dTranspose(core.ones([1, 2, 1, 1]), core.ones([1, 1, 1, 1]), null, { strides: size }),
        ),
      ).toThrow(EagreError);
    }
    expect(withBackend(backend, () => core.ones([3]).sum().item())).toBe(3);
  });

  it('refuses a rank above 8', () => {
    const shape = new Array<number>(9).fill(1);
    for (const fn of [
      () => constant(1, 'float32', { shape }),
      () => core.zeros(shape),
      () => constant({ data: Float32Array.of(1), shape }),
      () => constant([[[[[[[[[1]]]]]]]]]),
      () => core.ones(shape.slice(1)).expandDims(0),
      () => core.ones([1]).reshape(shape),
      () => core.ones([1]).broadcastTo(shape),
      () => core.outer(core.ones([2]), core.ones([2])).reshape(shape),
      () => core.tensordot(core.ones(shape.slice(3)), core.ones(shape.slice(3)), 0),
      () => core.stack([core.ones(shape.slice(1))]),
      () => core.random.uniform(shape),
      () => core.einsum('abcde,fghij->abcdefghij', core.ones([1, 1, 1, 1, 1]), core.ones([1, 1, 1, 1, 1])),
      () => core.ones(shape.slice(1)).diag(),
      () => core.meshgrid(new Array<number[]>(9).fill([1])),
      () => core.gather(core.ones(shape.slice(4)), constant([[[[[0]]]]], 'int32')),
      () => core.oneHot(core.zeros(shape.slice(1), 'int32'), 2),
    ]) {
      expect(on(fn), String(fn)).toThrow(EagreError);
    }
    const self: unknown[] = [];
    self.push(self);
    expect(on(() => constant(self as never))).toThrow(EagreError);
  });
});

it('tapes, variables and scopes refuse bad input', () => {
  const never = (value: unknown): never => value as never;
  const tape = (fn: (t: GradientTape) => unknown) => (): unknown => {
    const t = new GradientTape();
    try {
      return fn(t);
    } finally {
      t.dispose();
    }
  };
  const x = constant([1, 2]);
  const custom = (result: unknown) => (): unknown =>
    grad(customGradient((t: Tensor) => [t.mul(1), () => never(result)]))(x);
  for (const fn of [
    tape((t) => t.watch(never(5))),
    tape((t) => t.watch(constant(1, 'int32'))),
    tape((t) => t.gradient(never(null), never(null))),
    tape((t) => t.gradient(constant(1, 'int32'), x)),
    tape((t) => t.gradient(x, x, { outputGradients: never(5) })),
    tape((t) => t.gradient(x, x, { outputGradients: constant([1]) })),
    tape((t) => t.jacobian(never([]), [])),
    tape((t) => t.batchJacobian(never(undefined), never(undefined))),
    tape((t) => t.batchJacobian(x, constant([1]))),
    () => customGradient((_: core.Tensor) => never(5))(1),
    () => customGradient((_: core.Tensor) => never([5, () => 5]))(1),
    custom(5),
    custom(core.ones([7])),
    custom(constant([1, 2], 'float64')),
    custom([x, x]),
    () => grad(() => never(5))(1),
    () => new Variable(never(null)),
    () => new Variable(1, { dtype: never('x') }),
    () => new Variable(1).assign(never(null)),
    () => new Variable(1).assign('x'),
    () => new Variable([1]).assign([1, 2]),
    () => new Variable([1]).assignAdd([1, 2]),
    () => new Variable([1], { dtype: 'int32' }).assignSub(0.5),
    () => core.device('x'),
    () => core.device(never(null), () => 1),
    () => core.withBackend('x', () => 1),
    () => threads(-5),
    () => threads(NaN),
    () => core.scope(async () => 1),
    () => core.scope(never(5)),
    () => core.keep(never(5)),
    () => core.random.setSeed(1.5),
    () => core.random.Generator.fromSeed(never('x')),
    () => core.random.Generator.fromSeed(1).split(2 ** 33),
  ]) {
    expect(fn, String(fn)).toThrow(EagreError);
  }
  expect(x.array()).toEqual([1, 2]);
});
