// The functions of tf.keras.ops against Keras: eagerly, traced with sizes that are not known, and in functional models.
import { GradientTape } from '@eagre/autodiff';
import { constant, type DType, InvalidArgumentError, nn, ones, random, Tensor } from '@eagre/core';
import { declared } from '@eagre/core/internal';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { Model } from '../index.ts';
import { ops } from '../models/all-operations.ts';
import { modelFromJSON } from '../models/cloning.ts';
import { Input } from '../models/functional.ts';
import { readGolden } from '../testing/golden.ts';

type Plain = number | boolean | string;
interface Values {
  readonly shape: number[];
  readonly dtype: DType;
  readonly values: Plain[];
}
interface Case {
  readonly op: string;
  readonly args: unknown[];
  readonly options?: Record<string, unknown>;
  readonly result: Values[];
  readonly gradient?: Values;
}
const { cases } = readGolden<{ cases: Case[] }>('keras_ops');

const isValues = (v: unknown): v is Values =>
  typeof v === 'object' && v !== null && Object.hasOwn(v, 'values');
const plain = (v: Plain): number => Number(v);
const tensorOf = ({ shape, dtype, values }: Values): Tensor =>
  constant(dtype === 'bool' ? (values as boolean[]) : values.map(plain), dtype, { shape });
const given = (v: unknown): unknown =>
  isValues(v)
    ? tensorOf(v)
    : Array.isArray(v)
      ? v.map(given)
      : v === 'Infinity'
        ? Infinity
        : v === '-Infinity'
          ? -Infinity
          : v;
const leaves = (v: unknown): Tensor[] => (Array.isArray(v) ? v.flatMap(leaves) : [v as Tensor]);
const fnOf = (op: string): ((...args: unknown[]) => unknown) =>
  op.split('.').reduce<unknown>((o, k) => (o as Record<string, unknown>)[k], ops) as never;
/** Numbers of a tensor; complex ones as two. */
const numbersOf = (x: Tensor): number[] => {
  const own = x.dtype === 'complex64' ? (ops.viewAsReal(x) as Tensor) : x;
  return Array.from(own.data() as ArrayLike<number | bigint | boolean>, Number);
};
function near(got: Tensor, expected: Values, what: string, tolerance: number): void {
  expect(got.shape, what).toEqual(expected.shape);
  const values = expected.values.map(plain);
  const numbers = numbersOf(got);
  const off = values.findIndex(
    (v, i) =>
      !(
        Object.is(v, numbers[i]) ||
        v === numbers[i] ||
        Math.abs(v - numbers[i]) <= tolerance * Math.max(1, Math.abs(v))
      ),
  );
  expect(off < 0 ? '' : `${what}: element ${off} is ${numbers[off]}, Keras has ${values[off]}`).toBe('');
}

/** The dtype is another one than Keras's. */
const dtypes: Readonly<Record<string, string>> = {};

describe.each(cases.map((c, i) => [`${c.op} ${i}`, c] as const))('%s', (name, c) => {
  it('gives what Keras gives', () => {
    const results = leaves(fnOf(c.op)(...call(c)));
    expect(results.length).toBe(c.result.length);
    c.result.forEach((expected, i) => {
      near(results[i], expected, name, 2e-5);
      if (dtypes[c.op] === undefined) expect(results[i].dtype, name).toBe(expected.dtype);
    });
  });
  if (c.gradient !== undefined)
    it('has its gradient', () => {
      const args = call(c);
      const x = (Array.isArray(args[0]) ? args[0][0] : args[0]) as Tensor;
      const tape = new GradientTape();
      tape.watch(x);
      const results = leaves(fnOf(c.op)(...args)).filter((r) => r.dtype.startsWith('float'));
      const total = results
        .map((r) => {
          const n = r.size;
          const weights = constant(
            Array.from({ length: n }, (_, i) => Math.cos(i)),
            'float64',
            { shape: r.shape },
          );
          return r.cast('float64').mul(weights).sum();
        })
        .reduce((a, b) => a.add(b));
      near(tape.gradient(total, x) as Tensor, c.gradient as Values, name, 2e-4);
    });
});

function call(c: Case): unknown[] {
  const args = c.args.map(given);
  if (c.options === undefined) return args;
  return [...args, Object.fromEntries(Object.entries(c.options).map(([k, v]) => [k, given(v)]))];
}

/** What reads values or sizes, so that a trace has to know them. */
const needsValues: ReadonlySet<string> = new Set([
  ...['arange', 'full', 'zeros', 'identity', 'eye', 'tri', 'linspace', 'logspace', 'geomspace'],
  ...['hamming', 'hanning', 'blackman', 'bartlett', 'kaiser'],
]);

describe('traced with sizes that are not known', () => {
  it.each(cases.filter((c) => !needsValues.has(c.op)).map((c, i) => [`${c.op} ${i}`, c] as const))(
    '%s',
    (name, c) => {
      const args = call(c);
      const first = args[0];
      if (!(first instanceof Tensor)) return;
      const sizes = first.shape.map((d, axis) => (axis === 0 && d > 1 ? null : d));
      const run = tfFunction((x: Tensor) => leaves(fnOf(c.op)(x, ...args.slice(1))), {
        inputSignature: [new TensorSpec(sizes, first.dtype)],
      });
      const results = run(first) as Tensor[];
      c.result.forEach((expected, i) => near(results[i], expected, name, 2e-5));
    },
  );
});

describe('in functional models', () => {
  const wanted = new Set(
    'median quantile take where concatenate stack sum argmax dot einsum oneHot softmax gelu layerNormalization conv maxPool norm'
      .split(' ')
      .concat(
        'topK split pad moments logsumexp inv segmentSum image.resize fft pad clip cumsum flip diff tril round'.split(
          ' ',
        ),
      ),
  );
  it.each(cases.filter((c) => wanted.has(c.op)).map((c, i) => [`${c.op} ${i}`, c] as const))(
    '%s',
    (name, c) => {
      const args = call(c);
      const first = args[0];
      if (!(first instanceof Tensor) || first.rank === 0) return;
      const x = Input({ shape: first.shape.slice(1), batchSize: first.shape[0], dtype: first.dtype });
      const y = fnOf(c.op)(x, ...args.slice(1));
      const model = new Model(x, y as never);
      const results = leaves(model.call(first as never, {} as never));
      c.result.forEach((expected, i) => near(results[i], expected, name, 2e-5));
    },
  );
});

it('all functions say what they take', () => {
  const without = Object.entries({ ...ops, ...ops.image }).flatMap(([name, fn]) =>
    typeof fn === 'function' && declared(fn) === undefined ? [name] : [],
  );
  expect(without).toEqual([]);
});

describe('functions of functions', () => {
  const list = (x: unknown): unknown => leaves(x).map((t) => t.array());
  it('loops and branches', () => {
    expect(
      list(
        ops.whileLoop(
          (i) => i.less(5),
          (i) => i.add(2),
          constant(0),
        ),
      ),
    ).toEqual([6]);
    expect(
      list(
        ops.whileLoop(
          (i) => i.less(9),
          (i, s) => [i.add(1), s.add(i)],
          [constant(0), constant(0)],
          3,
        ),
      ),
    ).toEqual([3, 3]);
    expect(list(ops.foriLoop(1, 4, (i, v) => v.mul(i.cast('float32')), constant(1)))).toEqual([6]);
    expect(list(ops.switch(2, [(x: Tensor) => x, (x: Tensor) => x.mul(2)], constant(3)))).toEqual([6]);
    expect(
      list(
        ops.cond(
          constant(true),
          () => constant(1),
          () => constant(2),
        ),
      ),
    ).toEqual([1]);
    const traced = tfFunction((x: Tensor) => ops.foriLoop(0, 3, (_, v) => v.add(x), x) as Tensor);
    expect(traced(constant([1, 2])).array()).toEqual([4, 8]);
  });
  it('scans', () => {
    const step = (sum: Tensor, x: Tensor): [Tensor, Tensor] => [sum.add(x), sum.mul(x)];
    const xs = constant([1, 2, 3]);
    expect(list(ops.scan(step, constant(0), xs))).toEqual([6, [0, 2, 9]]);
    expect(list(ops.scan(step, constant(0), xs, { reverse: true }))).toEqual([6, [5, 6, 0]]);
    const traced = tfFunction((x: Tensor) => ops.scan(step, constant(0), x) as Tensor[], {
      inputSignature: [new TensorSpec([null], 'float32')],
    });
    expect(list(traced(xs))).toEqual([6, [0, 2, 9]]);
    expect(list(ops.associativeScan((a: Tensor, b: Tensor) => a.add(b), constant([1, 2, 3, 4, 5])))).toEqual([
      [1, 3, 6, 10, 15],
    ]);
    expect(
      list(ops.associativeScan((a: Tensor, b: Tensor) => a.add(b), constant([1, 2, 3]), { reverse: true })),
    ).toEqual([[6, 5, 3]]);
    expect(list(ops.map((x: Tensor) => x.mul(2), xs))).toEqual([[2, 4, 6]]);
  });
  it('vectorize', () => {
    expect(list(ops.vectorize((a: Tensor, b: Tensor) => a.add(b))([1, 2, 3], 2))).toEqual([[3, 4, 5]]);
    const dots = ops.vectorize((a: Tensor, b: Tensor) => ops.dot(a, b), { signature: '(n),(n)->()' });
    expect(
      list(
        dots(
          [
            [1, 2],
            [3, 4],
          ],
          [1, 10],
        ),
      ),
    ).toEqual([[21, 43]]);
  });
  it('jvp', () => {
    const [value, change] = ops.jvp(
      (x: Tensor) => x.square(),
      [constant([1, 2])],
      [constant([1, 3])],
    ) as Tensor[];
    expect([value.array(), change.array()]).toEqual([
      [1, 4],
      [2, 12],
    ]);
  });
  it('eigh and factors give their matrices again', () => {
    const a = constant([
      [2, 1, 0],
      [1, 3, -1],
      [0, -1, 1],
    ]);
    const [values, vectors] = ops.eigh(a) as Tensor[];
    near(
      vectors.mul(values).matmul(vectors, { transposeB: true }),
      { shape: [3, 3], dtype: 'float32', values: a.flatten().array() as number[] },
      'eigh',
      1e-5,
    );
    const [lu, pivots] = ops.luFactor(a) as Tensor[];
    const product = lu.tril(-1).add(ops.eye(3)).matmul(lu.triu());
    near(
      ops.take(product, pivots, 0),
      { shape: [3, 3], dtype: 'float32', values: a.flatten().array() as number[] },
      'lu',
      1e-5,
    );
  });
  it('what is asked of symbolic tensors', () => {
    const x = Input({ shape: [3] });
    expect([ops.shape(x), ops.ndim(x), ops.dtype(x), ops.isTensor(x)]).toEqual([
      [null, 3],
      2,
      'float32',
      true,
    ]);
    expect([ops.shape(constant([[1, 2]])), ops.isTensor([1])]).toEqual([[1, 2], false]);
    expect(ops.convertToNumpy([1, 2]).shape).toEqual([2]);
  });
  it('refuses what it does not take', () => {
    expect(() => ops.median([1, 2], 0, { keepDims: true } as never)).toThrow("did you mean 'keepdims'?");
    expect(() => ops.quantile([1], 0.5, 0, { method: 'best' as never })).toThrow('expected one of linear');
  });
});

it('models of these calls are written in Keras form and read again', () => {
  const x = Input({ shape: [4, 3], name: 'x' });
  const y = ops.median(ops.quantile(ops.nanToNum(x, 1), 0.5, { axis: 1, keepdims: true }), { axis: 1 });
  const z = ops.layerNormalization(ops.logaddexp(y, ops.mean(x, 1)));
  const model = new Model(x, ops.reshape(ops.round(ops.tile(z, [1, 2]), 2), [-1, 3, 2]));
  const json = model.toJSON() as string;
  const names = [...json.matchAll(/"class_name":"(\w+)"/g)].map(([, name]) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'Median',
      'Quantile',
      'NanToNum',
      'LayerNorm',
      'Logaddexp',
      'Mean',
      'Round',
      'Tile',
      'Reshape',
    ]),
  );
  const again = modelFromJSON(json);
  const input = constant(
    Array.from({ length: 24 }, (_, i) => Math.sin(i)),
    'float32',
    { shape: [2, 4, 3] },
  );
  expect((again.call(input as never, {} as never) as Tensor).array()).toEqual(
    (model.call(input as never, {} as never) as Tensor).array(),
  );
});

it('ctcLoss has the batch first, and a blank of class 0', () => {
  const output = random.normal([2, 5, 4], { seed: 1 });
  const labels = [
    [1, 2],
    [3, 0],
  ];
  const wanted = nn.ctcLoss(labels, output.transpose([1, 0, 2]), [2, 1], [5, 4], { blankIndex: 0 });
  expect(ops.ctcLoss(labels, output, [2, 1], [5, 4]).array()).toEqual(wanted.array());
  expect(ops.nn.ctcLoss(labels, output, [2, 1], [5, 4]).array()).toEqual(wanted.array());
});

it('wrong arguments are refused by typed errors', () => {
  const any = ops as unknown as Record<string, (...args: unknown[]) => unknown>;
  const x = ones([1, 4, 4, 2]);
  const calls: readonly (readonly [string, ...unknown[]])[] = [
    ['eye', {}],
    ['identity', 'x'],
    ['tri', []],
    ['rot90', x, 1, 3],
    ['select', 3, 4],
    ['rearrange', x, 3],
    ['switch', 0, 3],
    ['maxPool', x, 0],
    ['averagePool', x, [1, 2, 3]],
    ['adaptiveMaxPool', x, {}],
    ['conv', x, ones([2, 2, 2, 1]), { strides: {} }],
    ['segmentMax', [1, 2], [0, 1], 'two'],
    ['unravelIndex', [3], 4],
    ['view', 3, 'float64'],
    ['jvp', (a: unknown) => a, 3, 4],
    ['diag', [1, 2], 'k'],
    ['select', null, null],
    ['switch', 0, null],
    ['rearrange', x, null],
    ['jvp', x, null, null],
    ['jvp', x, [1], [1]],
    ['associativeScan', x, x],
    ['histogram', [1, 2], 'bins'],
  ];
  for (const [name, ...args] of calls) expect(() => any[name](...args), name).toThrow(InvalidArgumentError);
  expect(() => ops.image.extractPatches(x, null as never)).toThrow(InvalidArgumentError);
});

describe('functions that leave out NaN', () => {
  const places = /^(nanToNum|nanarg)/;
  const names = Object.keys(ops).filter((name) => name.startsWith('nan') && !places.test(name));
  const call = (name: string, x: Tensor): Tensor => {
    const fn = (ops as unknown as Record<string, (x: Tensor, q?: number) => Tensor>)[name];
    return /percentile/.test(name) ? fn(x, 40) : /quantile/.test(name) ? fn(x, 0.4) : fn(x);
  };
  const gradient = (name: string, values: number[]): number[] => {
    const x = constant(values, 'float64');
    const tape = new GradientTape();
    tape.watch(x);
    const y = tape.record(() => call(name, x));
    return (tape.gradient(y, x) as Tensor).array() as number[];
  };
  const without = (list: number[]): number[] => [list[0], list[2], list[3]];

  it.each(names)('the gradient of %s is that of the rest, and 0 where NaN is', (name) => {
    const dx = gradient(name, [1, Number.NaN, 3, 2]);
    expect(dx[1]).toBe(0);
    // A running sum counts NaN as another 0 or 1, so that more sums hold what stands before it.
    if (name.startsWith('nancum')) expect(dx.every(Number.isFinite)).toBe(true);
    else for (const [i, v] of gradient(name, [1, 3, 2]).entries()) expect(without(dx)[i]).toBeCloseTo(v, 12);
    // Nothing is left here, and nothing gets a gradient.
    expect(gradient(name, [Number.NaN, Number.NaN])).toEqual([0, 0]);
  });
});
