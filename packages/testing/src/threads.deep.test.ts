import '@eagre/backend-js';
import '@eagre/backend-native';
import {
  type AttrValue,
  type Backend,
  buildScalarProgram,
  encodeScalarProgram,
  type KernelName,
  type NumericDType,
  philoxKinds,
  specialFunctions,
  textHashes,
} from '@eagre/backend';
import { nativeBackend } from '@eagre/backend-native';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { emptyTensor, execute, listOps, type Sample, sizeOf, viewOf } from '@eagre/core/internal';
import { afterAll, describe, expect, it } from 'vitest';
import { generator, hasFloats, materialize } from './values.ts';

// No result may depend on the number of threads, to the last bit. So that a test says something, every kernel runs on inputs that
// it really cuts: the addon counts the jobs that threads shared.

type Shape = readonly number[];
type Spec = readonly [dtype: NumericDType, shape: Shape];

interface Case {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Spec[];
  readonly attrs?: Readonly<Record<string, AttrValue>>;
  /** The inputs that the kernel updates, instead of outputs. */
  readonly inPlace?: readonly number[];
}

if (nativeBackend === undefined) throw new Error('the native backend is not there');
const backend = nativeBackend as Backend & { jobs(): number };
const before = backend.threads();
afterAll(() => void backend.threads(before));

/** Runs on some threads; the result, and how many jobs were cut. */
function on<T>(threads: number, fn: () => T): [T, number] {
  backend.threads(threads);
  const jobs = backend.jobs();
  return [withBackend('native', fn), backend.jobs() - jobs];
}

const bytes = (t: Tensor): Uint8Array => {
  const view = viewOf(t);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
};
function same(got: readonly Tensor[], expected: readonly Tensor[], where: string): void {
  expect(got.length, where).toBe(expected.length);
  got.forEach((t, i) => {
    const other = expected[i] as Tensor;
    if (t.dtype === 'string') expect(t.strings(), where).toEqual(other.strings());
    else expect(Buffer.compare(bytes(t), bytes(other)), `${where}, output ${i}`).toBe(0);
  });
}

const random = generator(11);
function filled(dtype: NumericDType, shape: Shape, value: () => number): Tensor {
  const list = Array.from({ length: sizeOf(shape) }, value);
  return withBackend('native', () => constant(list, dtype, { shape }));
}
const float = (...shape: number[]): Tensor => filled('float32', shape, () => random() * 2 - 1);
const double = (...shape: number[]): Tensor => filled('float64', shape, () => random() * 2 - 1);
const positive = (...shape: number[]): Tensor => filled('float32', shape, () => random() + 0.1);
const below = (n: number, ...shape: number[]): Tensor =>
  filled('int32', shape, () => Math.floor(random() * n));
/** A call of ResizeAxis whose spans have five places each. */
function resizedAxis([n, from, c]: readonly [number, number, number], to: number, transposed: boolean): Case {
  const [parts, whole] = transposed ? [from, to] : [to, from];
  let at = 0;
  const ends = (): number => Math.floor((at >> 1) * ((whole - 5) / parts)) + 5 * (at++ & 1);
  return {
    inputs: [float(n, from, c), filled('int32', [parts, 2], ends), float(parts, 5)],
    outputs: [['float32', [n, to, c]]],
    attrs: { transposed },
  };
}
const flags = (...shape: number[]): Tensor => filled('bool', shape, () => (random() < 0.5 ? 0 : 1));

function run(kernel: KernelName, { inputs, outputs, attrs = {}, inPlace }: Case): Tensor[] {
  const own = inputs.map((t, i) =>
    inPlace?.includes(i) ? constant(t.data(), t.dtype, { shape: t.shape }) : t,
  );
  const results = inPlace?.map((i) => own[i] as Tensor) ?? outputs.map(([d, s]) => emptyTensor(d, s));
  const dtypes = own.map((t) => t.dtype as NumericDType);
  backend.kernel(kernel, dtypes)?.(own as never, results as never, attrs);
  return results;
}
/** What a kernel makes, for the inputs of another. */
const made = (kernel: KernelName, c: Case): Tensor[] => on(1, () => run(kernel, c))[0];

const unary = (x: Tensor, shape: Shape, attrs: Case['attrs'] = {}, dtype = x.dtype): Case => ({
  inputs: [x],
  outputs: [[dtype as NumericDType, shape]],
  attrs,
});
const like = (t: Tensor): Spec => [t.dtype as NumericDType, t.shape];

const stream = { k0: 7, k1: 8, counter0: 9, counter1: 10 };
const draws =
  (attrs: Case['attrs'], ...dtypes: NumericDType[]) =>
  (): Case[] =>
    dtypes.map((d) => ({ inputs: [], outputs: [[d, [300_003]]], attrs: { ...stream, ...attrs } }));

/** Inner, outer, all and middle axes; few and many outputs; wide and narrow ones. */
const reduced = (make: (...shape: number[]) => Tensor) => (): Case[] => {
  const x = make(60, 70, 80);
  const narrow = make(100_000, 3);
  return [
    unary(x, [60, 70], { axes: [2] }),
    unary(x, [70, 80], { axes: [0] }),
    unary(x, [60, 80], { axes: [1] }),
    unary(x, [70], { axes: [0, 2] }),
    unary(x, [], { axes: [0, 1, 2] }),
    unary(narrow, [3], { axes: [0] }),
    unary(narrow, [100_000], { axes: [1] }),
    unary(make(4, 100_000), [4], { axes: [1] }),
  ];
};
const extreme = (): Case[] => [
  unary(float(4000, 100), [4000], { axis: 1 }, 'int32'),
  unary(float(100, 4000), [4000], { axis: 0 }, 'int64'),
];
const scanned = (): Case[] => {
  const x = float(600, 1000);
  return [
    unary(x, x.shape, { axis: 1, exclusive: false, reverse: false }),
    unary(x, x.shape, { axis: 0, exclusive: true, reverse: true }),
  ];
};
/** Squares of differences, kept in full and reduced by each kind, over runs of one, several and many pieces. */
const mapReduced = (): Case[] => {
  const program = encodeScalarProgram(
    buildScalarProgram(['float32', 'float32'], (s, a, b) => {
      const d = s.sub(a, b);
      const square = s.mul(d, d);
      return [square, square, d, d, d, square];
    }),
  );
  return [
    [3000, 100],
    [60, 5001],
    [3, 100_000],
    [1, 300_001],
  ].map(([runs, width]) => ({
    inputs: [float(runs, width), float(1, width)],
    outputs: [['float32', [runs, width]], ...Array.from({ length: 5 }, (): Spec => ['float32', [runs]])],
    attrs: { program, shape: [runs, width], width, reductions: [0, 1, 2, 3, 4, 5] },
  }));
};
const softmaxed = (): Case[] =>
  [float(2000, 100), float(30, 20_000), double(500, 90)].map((x) => unary(x, x.shape));

interface Convolution {
  readonly x: Shape;
  readonly filter: Shape;
  readonly y: Shape;
  readonly attrs: Readonly<Record<string, AttrValue>>;
}
const convolution = (x: Shape, filter: Shape, y: Shape, attrs: object = {}): Convolution => ({
  x,
  filter,
  y,
  attrs: { strides: [1, 1], padding: [1, 1, 1, 1], dilations: [1, 1], groups: 1, activation: 0, ...attrs },
});
const none = [0, 0, 0, 0];
const convolutions: readonly Convolution[] = [
  convolution([4, 32, 32, 16], [3, 3, 16, 32], [4, 32, 32, 32]),
  convolution([4, 33, 33, 16], [3, 3, 16, 32], [4, 17, 17, 32], { strides: [2, 2] }),
  convolution([4, 32, 32, 16], [3, 3, 16, 32], [4, 30, 30, 32], { dilations: [2, 2] }),
  convolution([8, 32, 32, 64], [1, 1, 64, 64], [8, 32, 32, 64], { padding: none }),
  convolution([8, 64, 64, 3], [5, 5, 3, 24], [8, 60, 60, 24], { padding: none }),
  convolution([4, 64, 64, 16], [3, 3, 16, 2], [4, 64, 64, 2]),
  convolution([4, 32, 32, 32], [3, 3, 8, 32], [4, 32, 32, 32], { groups: 4 }),
  convolution([8, 48, 48, 32], [3, 3, 1, 32], [8, 48, 48, 32], { groups: 32 }),
];

const bothPools = [
  { x: [16, 64, 64, 16], y: [16, 32, 32, 16], window: [2, 2], strides: [2, 2], padding: none },
  { x: [16, 48, 48, 16], y: [16, 48, 48, 16], window: [3, 3], strides: [1, 1], padding: [1, 1, 1, 1] },
];
type Pool = (typeof bothPools)[number];
const poolAttrs = ({ window, strides, padding }: Pool) => ({ window, strides, padding });
const pooled = (p: Pool): [Tensor, Tensor] => {
  const c: Case = {
    inputs: [float(...p.x)],
    outputs: [
      ['float32', p.y],
      ['int32', p.y],
    ],
    attrs: poolAttrs(p),
  };
  return [c.inputs[0] as Tensor, made('MaxPool', c)[1] as Tensor];
};

/** Both layouts, with and without masks, many and few heads. */
function attentions(): { inputs: Tensor[]; attrs: Case['attrs']; heads: Shape }[] {
  const attrs = { timeFirst: false, scale: 0.2, causal: false };
  return [
    {
      inputs: [float(4, 8, 96, 32), float(4, 8, 96, 32), float(4, 8, 96, 32)],
      attrs,
      heads: [4, 8, 96],
    },
    {
      inputs: [float(2, 300, 4, 16), float(2, 600, 4, 16), float(2, 600, 4, 16), float(2, 1, 300, 600)],
      attrs: { ...attrs, timeFirst: true },
      heads: [2, 4, 300],
    },
    {
      inputs: [float(1, 1, 1100, 16), float(1, 1, 1100, 16), float(1, 1, 1100, 16)],
      attrs: { ...attrs, causal: true },
      heads: [1, 1, 1100],
    },
    {
      inputs: [float(1, 2, 600, 8), float(1, 2, 700, 8), float(1, 2, 700, 8), flags(1, 1, 600, 700)],
      attrs,
      heads: [1, 2, 600],
    },
  ];
}

/** [batch, time, features, units]: many examples, few, a large matrix. */
const networks = [
  [96, 10, 24, 48],
  [20, 30, 70, 64],
  [40, 5, 16, 200],
] as const;

const steps =
  (slots: number, attrs: Case['attrs'], scalars = 1) =>
  (): Case[] => {
    const sizes = [[70_001], [5], [300, 301]];
    const each = slots + 2;
    const inputs = sizes.flatMap((s) => [
      float(...s),
      ...Array.from({ length: slots }, () => positive(...s)),
      float(...s),
    ]);
    const inPlace = inputs.map((_, i) => i).filter((i) => i % each !== each - 1);
    for (let i = 0; i < scalars; i++) inputs.push(constant(0.01, 'float64'));
    return [{ inputs, outputs: [], inPlace, attrs: { count: sizes.length, ...attrs } }];
  };

// Keyed by all kernels, so that a new one gets a case; NextDraw makes two numbers, which nothing cuts.
const cases: Readonly<Record<Exclude<KernelName, 'NextDraw'>, () => Case[]>> = {
  Fill: () => [{ inputs: [], outputs: [['float32', [300_001]]], attrs: { value: 3 } }],
  Iota: () => [{ inputs: [], outputs: [['float32', [300_001]]], attrs: { start: 1, delta: 0.1 } }],
  RandomUniform: draws({ low: -1, high: 2 }, 'float32', 'float64'),
  RandomNormal: draws({ mean: 1, stddev: 2 }, 'float32', 'float64'),
  TruncatedNormal: draws({ mean: 1, stddev: 2 }, 'float32', 'float64'),
  RandomUniformInt: draws({ low: 3, high: 1000 }, 'int32', 'int64', 'uint8'),
  PhiloxNumbers: () => {
    const list = (dtype: NumericDType, shape: Shape, ...items: (number | bigint)[]): Tensor =>
      withBackend('native', () => constant(items as number[], dtype, { shape }));
    const source = list('uint64', [3], 5n, 2n ** 64n - 9n, 7n);
    const parameters: Readonly<Record<string, Tensor>> = {
      integers: list('int64', [2], -3n, 1000n),
      gamma: list('float64', [3], 0.4, 7.5, 2),
      poisson: list('float64', [3], 0.7, 9, 300),
      binomial: list('float64', [2, 3], 5, 100, 40, 0.2, 0.6, 0.9),
    };
    return philoxKinds.map((kind, i): Case => {
      const given = parameters[kind];
      const dtype = kind === 'bits' || kind === 'integers' ? 'int64' : 'float32';
      return {
        inputs: given === undefined ? [source] : [source, given],
        outputs: [[dtype, [300_003]]],
        attrs: { kind: i },
      };
    });
  },
  SpecialFunction: () =>
    specialFunctions.map((name, i): Case => {
      const x = positive(3001);
      return {
        inputs: name === 'betainc' ? [x, positive(3001), positive(3001)] : [positive(3001).add(1), x],
        outputs: [['float32', [3001]]],
        attrs: { function: i },
      };
    }),
  HashTexts: () =>
    textHashes.map((_, hash): Case => {
      const bytes = constant(
        Array.from({ length: 150_000 }, (_v, i) => i % 251),
        'uint8',
      );
      const starts = constant(
        Array.from({ length: 5001 }, (_v, i) => 30 * i),
        'int32',
      );
      const key = { key0: 1, key1: 2, key2: 3, key3: 4 };
      return { inputs: [bytes, starts], outputs: [['int64', [5000]]], attrs: { hash, count: 1000, ...key } };
    }),
  Copy: () => [unary(float(300_001), [300_001])],
  Bitcast: () => [unary(float(300_001), [300_001])],
  Transpose: () => [
    unary(float(700, 600), [600, 700], { perm: [1, 0] }),
    unary(double(512, 256), [256, 512], { perm: [1, 0] }),
    unary(float(50, 90, 80), [80, 50, 90], { perm: [2, 0, 1] }),
    unary(float(60, 70, 8, 9), [60, 8, 70, 9], { perm: [0, 2, 1, 3] }),
  ],
  Reverse: () => [
    unary(float(500, 601), [500, 601], { axes: [1] }),
    unary(float(500, 601), [500, 601], { axes: [0] }),
  ],
  Pad: () =>
    [0, 1, 2].map((mode) =>
      unary(float(500, 601), [505, 611], { before: [2, 4], after: [3, 6], mode, value: 7 }),
    ),
  MirrorPadGrad: () =>
    [1, 2].map((mode) => unary(float(505, 611), [500, 601], { before: [2, 4], after: [3, 6], mode })),
  Slice: () => [
    unary(float(900, 700), [800, 600], { begin: [50, 20], strides: [1, 1] }),
    unary(float(900, 1400), [450, 700], { begin: [899, 0], strides: [-2, 2] }),
  ],
  SliceGrad: () => [
    unary(float(800, 600), [900, 700], { begin: [50, 20], strides: [1, 1] }),
    unary(float(450, 700), [900, 1400], { begin: [899, 0], strides: [-2, 2] }),
  ],
  Concat: () => [
    {
      inputs: [float(500, 300), float(500, 7), float(500, 400)],
      outputs: [['float32', [500, 707]]],
      attrs: { axis: 1 },
    },
    { inputs: [float(300, 500), float(900, 500)], outputs: [['float32', [1200, 500]]], attrs: { axis: 0 } },
  ],
  Tile: () => [unary(float(50, 60), [500, 600]), unary(float(700, 1), [700, 600])],
  Gather: () =>
    [[[1000, 64], [5000], [5000, 64]] as const, [[400_000], [300_001], [300_001]] as const].map(
      ([params, indices, y]) => ({
        inputs: [float(...params), below(params[0], ...indices)],
        outputs: [['float32', y]],
        attrs: { axis: 0, batchDims: 0 },
      }),
    ),
  GatherGrad: () =>
    [
      [[5000, 64], [1000, 64], [5000]] as const,
      [[300_001], [400_000], [300_001]] as const,
      [[300_001], [30], [300_001]] as const,
    ].map(([dy, params, indices]) => ({
      inputs: [float(...dy), below(params[0], ...indices)],
      outputs: [['float32', params]],
      attrs: { axis: 0, batchDims: 0 },
    })),
  SegmentReduce: () =>
    [0, 1, 2, 3, 4].flatMap((reduction) =>
      [1, 7, 50_000].map((each): Case => {
        let row = 0;
        const ids = filled('int32', [100_001], () => Math.floor(row++ / each));
        const count = Math.floor(100_000 / each) + 1;
        return { inputs: [float(100_001, 5), ids], outputs: [['float32', [count, 5]]], attrs: { reduction } };
      }),
    ),
  GatherNd: () => [{ inputs: [float(40, 50, 64), below(40, 5000, 2)], outputs: [['float32', [5000, 64]]] }],
  ScatterNd: () =>
    [0, 1, 2, 3, 4].map((mode) => ({
      inputs: [float(40, 50, 200), below(40, 3000, 2), float(3000, 200)],
      outputs: [['float32', [40, 50, 200]]],
      attrs: { mode },
    })),
  SetRow: () =>
    [0, 1].map((mode) => ({
      inputs: [float(40, 500, 200), below(40), float(500, 200)],
      outputs: [['float32', [40, 500, 200]]],
      attrs: { mode },
    })),
  OneHot: () => [
    {
      inputs: [below(120, 4000)],
      outputs: [['float32', [4000, 100]]],
      attrs: { axis: 1, on: 2, off: -1 },
    },
    {
      inputs: [below(120, 40, 90)],
      outputs: [['float32', [40, 100, 90]]],
      attrs: { axis: 1, on: 2, off: -1 },
    },
  ],
  Nonzero: () => {
    const x = flags(400, 500);
    const n = (x.data() as Uint8Array).reduce((a, v) => a + v, 0);
    return [unary(x, [n, 2], {}, 'int64')];
  },
  TopK: () =>
    [5, 100].map((k) => ({
      inputs: [filled('float32', [1000, 100], () => Math.floor(random() * 60))],
      outputs: [
        ['float32', [1000, k]],
        ['int32', [1000, k]],
      ],
      attrs: { descending: k === 5 },
    })),
  CumSum: scanned,
  CumProd: scanned,
  Sum: () => [...reduced(float)(), ...reduced(double)()],
  Mean: reduced(float),
  Prod: reduced(positive),
  Max: reduced(float),
  Min: reduced(float),
  All: reduced(flags),
  Any: reduced(flags),
  MapReduce: mapReduced,
  ArgMax: extreme,
  ArgMin: extreme,
  MatMul: () => {
    const product = (m: number, k: number, n: number, rest: object = {}): Case => ({
      inputs: [float(m, k), float(k, n)],
      outputs: [['float32', [m, n]]],
      attrs: { transposeA: false, transposeB: false, activation: 0, ...rest },
    });
    const turned = (c: Case, inputs: Tensor[], attrs: object): Case => ({
      ...c,
      inputs,
      attrs: { ...c.attrs, ...attrs },
    });
    return [
      product(300, 301, 302),
      product(1, 2000, 3000),
      product(4, 1000, 3001),
      product(3000, 1000, 3),
      product(20, 3000, 1000),
      product(200, 2000, 17),
      turned(product(300, 301, 302), [float(301, 300), float(302, 301)], {
        transposeA: true,
        transposeB: true,
      }),
      turned(product(5, 1000, 2000), [float(5, 1000), float(2000, 1000)], { transposeB: true }),
      turned(product(200, 300, 400), [float(200, 300), float(300, 400), float(400)], { activation: 1 }),
      {
        ...product(1, 1, 1),
        inputs: [float(40, 64, 65), float(40, 65, 66)],
        outputs: [['float32', [40, 64, 66]]],
      },
      {
        ...product(1, 1, 1),
        inputs: [float(3, 200, 201), float(3, 201, 202)],
        outputs: [['float32', [3, 200, 202]]],
      },
      {
        ...product(1, 1, 1),
        inputs: [double(200, 201), double(201, 202)],
        outputs: [['float64', [200, 202]]],
      },
      {
        ...product(1, 1, 1),
        inputs: [below(99, 200, 201), below(99, 201, 202)],
        outputs: [['int32', [200, 202]]],
      },
    ];
  },
  Conv2D: () =>
    convolutions.flatMap(({ x, filter, y, attrs }, i) => [
      {
        inputs: [float(...x), float(...filter), ...(i % 2 === 0 ? [] : [float(filter[3] as number)])],
        outputs: [['float32', y]],
        attrs: { ...attrs, activation: i % 2 },
      },
    ]),
  Conv2DBackpropInput: () =>
    convolutions.map(({ x, filter, y, attrs }) => ({
      inputs: [float(...filter), float(...y)],
      outputs: [['float32', x]],
      attrs,
    })),
  Conv2DBackpropFilter: () =>
    convolutions.map(({ x, filter, y, attrs }) => ({
      inputs: [float(...x), float(...y)],
      outputs: [['float32', filter]],
      attrs,
    })),
  MaxPool: () =>
    bothPools.map((p) => ({
      inputs: [float(...p.x)],
      outputs: [
        ['float32', p.y],
        ['int32', p.y],
      ],
      attrs: poolAttrs(p),
    })),
  MaxPoolGrad: () =>
    bothPools.map((p) => ({ inputs: [float(...p.y), pooled(p)[1]], outputs: [['float32', p.x]] })),
  MaxPoolGather: () => bothPools.map((p) => ({ inputs: pooled(p), outputs: [['float32', p.y]] })),
  AvgPool: () => bothPools.map((p) => unary(float(...p.x), p.y, poolAttrs(p))),
  AvgPoolGrad: () => bothPools.map((p) => unary(float(...p.y), p.x, poolAttrs(p))),
  Softmax: softmaxed,
  LogSoftmax: softmaxed,
  SoftmaxCrossEntropyWithLogits: () => [
    {
      inputs: [float(3000, 60), positive(3000, 60)],
      outputs: [
        ['float32', [3000]],
        ['float32', [3000, 60]],
      ],
    },
  ],
  SparseSoftmaxCrossEntropyWithLogits: () => [
    {
      inputs: [float(3000, 60), below(60, 3000)],
      outputs: [
        ['float32', [3000]],
        ['float32', [3000, 60]],
      ],
    },
  ],
  FusedBatchNorm: () =>
    [[16, 32, 32, 12] as const, [300, 700] as const].map((shape) => {
      const c = shape[shape.length - 1] as number;
      const [x, wide] = [float(...shape), float(c)];
      return {
        inputs: [x, wide, float(c)],
        outputs: [like(x), like(wide), like(wide)],
        attrs: { epsilon: 1e-3 },
      };
    }),
  FusedBatchNormGrad: () =>
    [[16, 32, 32, 12] as const, [300, 700] as const].map((shape) => {
      const c = shape[shape.length - 1] as number;
      const [x, wide] = [float(...shape), float(c)];
      return {
        inputs: [float(...shape), x, wide, float(c), positive(c)],
        outputs: [like(x), like(wide), like(wide)],
        attrs: { epsilon: 1e-3 },
      };
    }),
  Moments: () =>
    [
      [[3000, 100], [1], [3000]] as const,
      [[3, 90_000], [1], [3]] as const,
      [[8000, 50], [0], [50]] as const,
      [[4, 300, 1500], [1], [4, 1500]] as const,
    ].map(([shape, axes, reduced]) => ({
      inputs: [float(...shape)],
      outputs: [
        ['float32', [...reduced]],
        ['float32', [...reduced]],
      ],
      attrs: { axes: [...axes] },
    })),
  Svd: () =>
    [
      [400, 8, 6],
      [30, 20, 33],
    ].map(([count, m, n]) => ({
      inputs: [float(count, m, n)],
      outputs: [
        ['float32', [count, Math.min(m, n)]],
        ['float32', [count, m, m]],
        ['float32', [count, n, Math.min(m, n)]],
      ],
      attrs: { complex: false },
    })),
  Cholesky: () => [
    { inputs: [float(400, 12, 12)], outputs: [like(float(400, 12, 12))], attrs: { complex: false } },
  ],
  LU: () =>
    [
      [300, 12],
      [1, 220],
    ].map(([count, n]) => ({
      inputs: [float(count, n, n)],
      outputs: [
        ['float32', [count, n, n]],
        ['int32', [count, n]],
      ],
      attrs: { complex: false, check: false },
    })),
  ResizeBilinear: () => [
    { inputs: [float(4, 50, 60, 3)], outputs: [['float32', [4, 80, 30, 3]]], attrs: {} },
    { inputs: [float(2, 30, 40, 33)], outputs: [['float32', [2, 15, 90, 33]]], attrs: {} },
  ],
  ResizeAxis: () => [
    resizedAxis([4, 50, 600], 80, false),
    resizedAxis([4, 80, 600], 50, true),
    resizedAxis([200, 50, 3], 80, false),
  ],
  TriangularSolve: () =>
    [
      [300, 12, 9],
      [1, 600, 400],
    ].map(([count, n, k]) => ({
      inputs: [float(count, n, n), float(count, n, k)],
      outputs: [['float32', [count, n, k]]],
      attrs: { complex: false, lower: true, adjoint: false, unit: true },
    })),
  TridiagonalSolve: () => [
    {
      inputs: [float(600, 3, 40), float(600, 40, 3)],
      outputs: [['float32', [600, 40, 3]]],
      attrs: { complex: false, pivoting: true },
    },
  ],
  QR: () =>
    [
      [300, 12, 8],
      [1, 180, 140],
    ].map(([count, m, n]) => ({
      inputs: [float(count, m, n)],
      outputs: [
        ['float32', [count, m, n]],
        ['float32', [count, n, n]],
      ],
      attrs: { complex: false },
    })),
  SelfAdjointEig: () => [
    {
      inputs: [float(200, 12, 12)],
      outputs: [
        ['float32', [200, 12]],
        ['float32', [200, 12, 12]],
      ],
      attrs: { complex: false },
    },
  ],
  Eig: () => [
    {
      inputs: [float(100, 12, 12)],
      outputs: [
        ['float32', [100, 12, 2]],
        ['float32', [100, 12, 12, 2]],
      ],
    },
  ],
  MatrixFunction: () =>
    [0, 1].map((which) => ({
      inputs: [float(100, 12, 12, 2)],
      outputs: [['float32', [100, 12, 12, 2]]],
      attrs: { complex: true, function: which },
    })),
  FFT: () =>
    (
      [
        [[400, 60, 2], [-1]],
        [[400, 74, 2], [-1]],
        [
          [60, 400, 2],
          [-1, -2],
        ],
        [[1, 20_000, 2], [-1]],
        [[10_007, 2], [-1]],
      ] as const
    ).map(([shape, axes]) => ({
      inputs: [float(...shape)],
      outputs: [['float32', shape]],
      attrs: { inverse: false, axes },
    })),
  RFFT: () =>
    [60, 37].map((n) => ({
      inputs: [float(500, n)],
      outputs: [['float32', [500, Math.floor(n / 2) + 1, 2]]],
    })),
  IRFFT: () =>
    [60, 37].map((n) => ({
      inputs: [float(500, Math.floor(n / 2) + 1, 2)],
      outputs: [['float32', [500, n]]],
    })),
  LayerNorm: () => [
    {
      inputs: [float(3000, 100), float(100), float(100)],
      outputs: [
        ['float32', [3000, 100]],
        ['float32', [3000]],
        ['float32', [3000]],
      ],
      attrs: { epsilon: 1e-3, scaled: true, shifted: true },
    },
  ],
  LayerNormGrad: () => [
    {
      inputs: [float(3000, 100), float(3000, 100), float(3000), positive(3000), float(100)],
      outputs: [
        ['float32', [3000, 100]],
        ['float32', [100]],
        ['float32', [100]],
      ],
    },
    {
      inputs: [float(40, 9000), float(40, 9000), float(40), positive(40)],
      outputs: [
        ['float32', [40, 9000]],
        ['float32', [9000]],
        ['float32', [9000]],
      ],
    },
  ],
  RMSNorm: () => [
    {
      inputs: [float(3000, 100), float(100)],
      outputs: [
        ['float32', [3000, 100]],
        ['float32', [3000]],
      ],
      attrs: { epsilon: 1e-3, scaled: true },
    },
  ],
  RMSNormGrad: () => [
    {
      inputs: [float(3000, 100), float(3000, 100), positive(3000), float(100)],
      outputs: [
        ['float32', [3000, 100]],
        ['float32', [100]],
      ],
    },
  ],
  ScaledDotProductAttention: () =>
    attentions().map(({ inputs, attrs, heads }) => ({
      inputs,
      outputs: [like(inputs[0] as Tensor), ['float32', heads]],
      attrs: attrs ?? {},
    })),
  ScaledDotProductAttentionGrad: () =>
    attentions().map(({ inputs, attrs, heads }) => {
      const [q, k, v, ...mask] = inputs as [Tensor, Tensor, Tensor];
      const forward: Case = { inputs, outputs: [like(q), ['float32', heads]], attrs: attrs ?? {} };
      const [y, lse] = made('ScaledDotProductAttention', forward) as [Tensor, Tensor];
      return {
        inputs: [float(...q.shape), q, k, v, y, lse, ...mask],
        outputs: [like(q), like(k), like(v)],
        attrs: attrs ?? {},
      };
    }),
  LSTM: () => networks.map(([b, t, f, u]) => lstm(b, t, f, u)),
  LSTMGrad: () =>
    networks.map(([b, t, f, u]) => {
      const forward = lstm(b, t, f, u);
      const [h, , , reserve] = made('LSTM', forward) as [Tensor, Tensor, Tensor, Tensor];
      const [x, h0, c0, kernel, recurrent] = forward.inputs as [Tensor, Tensor, Tensor, Tensor, Tensor];
      const d = [float(b, t, u), float(b, u), float(b, u)];
      return {
        inputs: [x, h0, c0, kernel, recurrent, h, reserve, ...d],
        outputs: [
          ['float32', [b, t, 4 * u]],
          like(h0),
          like(c0),
          like(kernel),
          like(recurrent),
          ['float32', [4 * u]],
          like(x),
        ],
      };
    }),
  GRU: () => networks.map(([b, t, f, u]) => gru(b, t, f, u)),
  GRUGrad: () =>
    networks.map(([b, t, f, u]) => {
      const forward = gru(b, t, f, u);
      const [h, , reserve] = made('GRU', forward) as [Tensor, Tensor, Tensor];
      const [x, h0, kernel, recurrent] = forward.inputs as [Tensor, Tensor, Tensor, Tensor];
      return {
        inputs: [x, h0, kernel, recurrent, h, reserve, float(b, t, u), float(b, u)],
        outputs: [
          ['float32', [b, t, 4 * u]],
          like(h0),
          like(kernel),
          like(recurrent),
          ['float32', [2, 3 * u]],
          like(x),
        ],
      };
    }),
  ApplyGradientDescent: steps(0, {}),
  ApplyMomentum: steps(1, { momentum: 0.9, nesterov: true }),
  ApplyRMSProp: () => [
    ...steps(1, { rho: 0.9, momentum: 0, epsilon: 1e-7, centered: false })(),
    ...steps(3, { rho: 0.9, momentum: 0.9, epsilon: 2, centered: true })(),
  ],
  ApplyAdam: () => [
    ...steps(2, { beta1: 0.9, beta2: 0.999, epsilon: 1e-7, weightDecay: 0, amsgrad: false }, 2)(),
    ...steps(3, { beta1: 0.9, beta2: 0.999, epsilon: 1e-7, weightDecay: 0.1, amsgrad: true }, 2)(),
  ],
};

function lstm(b: number, t: number, f: number, u: number): Case {
  return {
    inputs: [float(b, t, f), float(b, u), float(b, u), float(f, 4 * u), float(u, 4 * u), float(4 * u)],
    outputs: [
      ['float32', [b, t, u]],
      ['float32', [b, u]],
      ['float32', [b, u]],
      ['float32', [b, t, 6 * u]],
    ],
  };
}
function gru(b: number, t: number, f: number, u: number): Case {
  return {
    inputs: [float(b, t, f), float(b, u), float(f, 3 * u), float(u, 3 * u), float(2, 3 * u)],
    outputs: [
      ['float32', [b, t, u]],
      ['float32', [b, u]],
      ['float32', [b, t, 4 * u]],
    ],
  };
}

describe('every kernel gives the same bits on any number of threads', () => {
  it.each(Object.keys(cases) as (keyof typeof cases)[])('%s', (kernel) => {
    cases[kernel]().forEach((c, index) => {
      const [expected, alone] = on(1, () => run(kernel, c));
      expect(alone).toBe(0);
      for (const threads of [2, 3, 2]) {
        const [got, jobs] = on(threads, () => run(kernel, c));
        expect(jobs, `case ${index} is too small to be cut`).toBeGreaterThan(0);
        same(got, expected, `case ${index}, ${threads} threads`);
      }
    });
  });
});

/** A sample with one axis of all its inputs made `factor` times as long, its first one or its last one. */
function longer(sample: Sample, factor: number, last: boolean): Sample {
  return {
    ...sample,
    inputs: sample.inputs.map((input) => {
      const at = last ? input.shape.length - 1 : 0;
      const shape = input.shape.map((n, i) => (i === at && n > 1 ? n * factor : n));
      const times = sizeOf(shape) / Math.max(1, sizeOf(input.shape));
      return input.kind === 'values'
        ? { ...input, shape, values: Array.from({ length: times }, () => input.values).flat() }
        : { ...input, shape };
    }),
  };
}

const onHost = new Set(['MatrixSquareRoot', 'MatrixLogarithm', 'RandomIndexShuffle', 'HostSlope']);
describe('every op gives the same bits on any number of threads', () => {
  const cut = new Set<string>();
  for (const op of listOps().values()) {
    it(op.name, () => {
      for (const [index, sample] of op.samples().entries()) {
        for (const float of hasFloats(sample) ? (['float32', 'float64'] as const) : (['float32'] as const)) {
          for (const last of [false, true]) {
            // The host computes with one thread, and long on large inputs.
            const factors = onHost.has(op.name) ? [1] : [1, 16, 256, 4096, 65_536];
            for (const factor of last ? factors.slice(1, 4) : factors) {
              const inputs = on(1, () => materialize(longer(sample, factor, last), float, index + 1))[0];
              const compute = () => execute(op, inputs, sample.attrs ?? {});
              let expected: readonly Tensor[];
              try {
                expected = on(1, compute)[0];
              } catch (error) {
                // Its attributes hold the small shape, or the inputs no longer fit together.
                if (factor > 1 && error instanceof Error && 'code' in error) break;
                throw error;
              }
              const [got, jobs] = on(2, compute);
              same(got, expected, `sample ${index}, ${float}, ${factor} times`);
              if (jobs > 0) cut.add(op.name);
              const size = [...inputs, ...got].reduce((sum, t) => sum + t.size, 0);
              for (const t of [...inputs, ...got]) t.dispose();
              if (jobs > 0 || size > 60_000 || got.length > 1000) break;
            }
          }
        }
      }
    });
  }
  // What grows only with an attribute (a shape, a number of draws) stays whole here, and has its kernel above.
  it('most of them on inputs that are cut', () => {
    expect(cut.size).toBeGreaterThan(listOps().size * 0.75);
  });
});
