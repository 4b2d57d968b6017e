import { GradientTape } from '@eagre/autodiff';
import { constant, type Tensor, type TensorLike } from '@eagre/core';
import { expect, test } from 'vitest';
import {
  AbsMaxQuantizer,
  Int4QuantizationConfig,
  Int8QuantizationConfig,
  type QuantizationConfig,
} from '../../quantizers.ts';
import { ReversibleEmbedding } from './reversible-embedding.ts';

const matrix = (rows: number, columns: number, s: number): number[][] =>
  Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => (((i * 7 + j * 3 + s) % 11) - 5) / 8),
  );
const x = constant(
  [0, 1].map((b) => [0, 1].map((i) => [0, 1, 2, 3, 4, 5, 6].map((j) => (((i * 2 + j * 3 + b) % 7) - 3) / 4))),
);
const ids = constant(
  [
    [0, 3],
    [4, 1],
  ],
  'int32',
);

type Row = readonly [
  name: string,
  tieWeights: boolean,
  make: () => 'int8' | 'int4' | QuantizationConfig,
  policy: string,
  weights: readonly string[],
  shapes: readonly (readonly number[])[],
  vector: readonly number[],
  logits: readonly number[],
  capped: readonly number[],
  sums: readonly number[],
];
// Keras 3.15.1: names of the weights, shapes in a file, the vector of the integer 3, logits of two vectors, the others with a cap of 1.5; sums of what a
// file has, times 1000.
const rows: readonly Row[] = [
  [
    'int8',
    true,
    () => 'int8',
    'int8_from_float32',
    ['embeddings', 'embeddings_scale'],
    [[5, 7], [5]],
    [0.625, -0.374016, 0.0, 0.374016, -0.625, -0.250984, 0.123032],
    [0.066437, 0.406992, -0.628943, 0.066437, 0.748768],
    [0.304278, -0.0295238, 0.617558, -0.668361, -0.668361],
    [76000, 1015999],
  ],
  [
    'int8 weights only',
    true,
    () => new Int8QuantizationConfig({ activationQuantizer: null }),
    'int8_from_float32',
    ['embeddings', 'embeddings_scale'],
    [[5, 7], [5]],
    [0.625, -0.374016, 0.0, 0.374016, -0.625, -0.250984, 0.123032],
    [0.0639764, 0.407234, -0.628691, 0.0639764, 0.751723],
    [0.304519, -0.0319833, 0.62001, -0.668167, -0.668167],
    [76000, 1015999],
  ],
  [
    'int4',
    true,
    () => 'int4',
    'int4/128_from_float32',
    ['embeddings', 'embeddings_scale', 'embeddings_zero', 'g_idx'],
    [[5, 4], [5, 1], [5, 1], [7]],
    [0.583333, -0.333333, 0.0, 0.333333, -0.583333, -0.25, 0.0833333],
    [0.1125, 0.395833, -0.6, 0.0833333, 0.76875],
    [0.296063, -0.041656, 0.617355, -0.625983, -0.693176],
    [106000, 391, -4000, 0],
  ],
  [
    'int4 per channel',
    true,
    () => new Int4QuantizationConfig({ blockSize: -1 }),
    'int4/-1_from_float32',
    ['embeddings', 'embeddings_scale'],
    [[5, 4], [5]],
    [0.625, -0.357143, 0.0, 0.357143, -0.625, -0.267857, 0.0892857],
    [0.0892857, 0.424107, -0.691964, 0.0892857, 0.78125],
    [0.243366, -0.0446297, 0.664781, -0.664781, -0.664781],
    [283000, 55999],
  ],
  [
    'int4 groups of 4',
    true,
    () => new Int4QuantizationConfig({ blockSize: 4 }),
    'int4/4_from_float32',
    ['embeddings', 'embeddings_scale', 'embeddings_zero', 'g_idx'],
    [[5, 4], [5, 2], [5, 2], [7]],
    [0.6, -0.4, 0.0, 0.4, -0.6, -0.25, 0.1],
    [0.09375, 0.4, -0.5875, 0.0625, 0.716667],
    [0.290052, -0.0666228, 0.605194, -0.653253, -0.639682],
    [108000, 625, -7000, 3000],
  ],
  [
    'int4 with activations',
    true,
    () =>
      new Int4QuantizationConfig({ blockSize: -1, activationQuantizer: new AbsMaxQuantizer({ axis: -1 }) }),
    'int4/-1_from_float32',
    ['embeddings', 'embeddings_scale'],
    [[5, 4], [5]],
    [0.625, -0.357143, 0.0, 0.357143, -0.625, -0.267857, 0.0892857],
    [0.0917464, 0.423932, -0.692316, 0.0917464, 0.778262],
    [0.243024, -0.0421711, 0.662378, -0.664923, -0.664923],
    [283000, 55999],
  ],
  [
    'int8',
    false,
    () => 'int8',
    'int8_from_float32',
    ['embeddings', 'embeddings_scale', 'reverse_embeddings', 'reverse_embeddings_scale'],
    [[5, 7], [5], [7, 5], [5]],
    [0.625, -0.374016, 0.0, 0.374016, -0.625, -0.250984, 0.123032],
    [0.374994, 0.0332185, 0.377465, 0.0332185, 0.374994],
    [0.481819, -0.189916, -1.00753, 0.481819, 0.48294],
    [76000, 1015999, -178000, 1015999],
  ],
  [
    'int8 weights only',
    false,
    () => new Int8QuantizationConfig({ activationQuantizer: null }),
    'int8_from_float32',
    ['embeddings', 'embeddings_scale', 'reverse_embeddings', 'reverse_embeddings_scale'],
    [[5, 7], [5], [7, 5], [5]],
    [0.625, -0.374016, 0.0, 0.374016, -0.625, -0.250984, 0.123032],
    [0.376476, 0.0319882, 0.378937, 0.0319882, 0.376476],
    [0.480724, -0.188467, -1.00672, 0.480724, 0.481828],
    [76000, 1015999, -178000, 1015999],
  ],
  [
    'int4',
    false,
    () => 'int4',
    'int4/128_from_float32',
    [
      'embeddings',
      'embeddings_scale',
      'embeddings_zero',
      'g_idx',
      'reverse_embeddings',
      'reverse_embeddings_scale',
      'reverse_embeddings_zero',
    ],
    [[5, 4], [5, 1], [5, 1], [7], [4, 5], [1, 5], [1, 5]],
    [0.583333, -0.333333, 0.0, 0.333333, -0.583333, -0.25, 0.0833333],
    [0.35625, 0.05, 0.416667, 0.0416667, 0.35625],
    [0.504563, -0.165984, -0.965043, 0.425502, 0.487866],
    [106000, 391, -4000, 0, 208000, 383, -2000],
  ],
  [
    'int4 per channel',
    false,
    () => new Int4QuantizationConfig({ blockSize: -1 }),
    'int4/-1_from_float32',
    ['embeddings', 'embeddings_scale', 'reverse_embeddings', 'reverse_embeddings_scale'],
    [[5, 4], [5], [4, 5], [5]],
    [0.625, -0.357143, 0.0, 0.357143, -0.625, -0.267857, 0.0892857],
    [0.401786, 0.0446429, 0.446429, 0.0446429, 0.401786],
    [0.454065, -0.221581, -1.01134, 0.454065, 0.474248],
    [283000, 55999, 345000, 55999],
  ],
  [
    'int4 groups of 4',
    false,
    () => new Int4QuantizationConfig({ blockSize: 4 }),
    'int4/4_from_float32',
    [
      'embeddings',
      'embeddings_scale',
      'embeddings_zero',
      'g_idx',
      'reverse_embeddings',
      'reverse_embeddings_scale',
      'reverse_embeddings_zero',
    ],
    [[5, 4], [5, 2], [5, 2], [7], [4, 5], [2, 5], [2, 5]],
    [0.6, -0.4, 0.0, 0.4, -0.6, -0.25, 0.1],
    [0.333333, 0.0145833, 0.372917, 0.00208333, 0.333333],
    [0.51194, -0.202915, -1.00988, 0.454065, 0.497159],
    [108000, 625, -7000, 3000, 222000, 650, -5000],
  ],
  [
    'int4 with activations',
    false,
    () =>
      new Int4QuantizationConfig({ blockSize: -1, activationQuantizer: new AbsMaxQuantizer({ axis: -1 }) }),
    'int4/-1_from_float32',
    ['embeddings', 'embeddings_scale', 'reverse_embeddings', 'reverse_embeddings_scale'],
    [[5, 4], [5], [4, 5], [5]],
    [0.625, -0.357143, 0.0, 0.357143, -0.625, -0.267857, 0.0892857],
    [0.400204, 0.0458732, 0.445023, 0.0458732, 0.400204],
    [0.455022, -0.222956, -1.01211, 0.455022, 0.475514],
    [283000, 55999, 345000, 55999],
  ],
];

// The values above have six digits.
const close = (given: unknown, wanted: readonly number[]): void => {
  const list = given as number[];
  expect(list).toHaveLength(wanted.length);
  for (const [i, v] of wanted.entries()) expect(Math.abs((list[i] as number) - v)).toBeLessThan(6e-6);
};
const made = (tieWeights: boolean, logitSoftCap: number | null = null): ReversibleEmbedding => {
  const layer = new ReversibleEmbedding(5, 7, { tieWeights, logitSoftCap });
  layer.build([null]);
  layer.setWeights([matrix(5, 7, 0), ...(tieWeights ? [] : [matrix(7, 5, 2)])]);
  return layer;
};
const quantize = (layer: ReversibleEmbedding, make: Row[2]): void => {
  const how = make();
  if (typeof how === 'string') layer.quantize(how);
  else layer.quantize(null as never, { config: how });
};

test.each(rows)('%s, tied: %s', (_, tied, make, policy, names, shapes, vector, logits, capped, sums) => {
  const layer = made(tied);
  quantize(layer, make);
  expect(layer.dtypePolicy.name).toBe(policy);
  expect(layer.weights.map((w) => w.name)).toEqual(names);
  close(layer(ids).at(0, 1).array(), vector);
  const y = layer(x, { reverse: true }) as Tensor;
  close(y.slice([1, 1, 0], [1, 1, 5]).reshape([5]).array(), logits);
  const other = made(tied, 1.5);
  quantize(other, make);
  close((other(x, { reverse: true }) as Tensor).slice([0, 0, 0], [1, 1, 5]).reshape([5]).array(), capped);
  const store: Record<string, TensorLike> = {};
  layer.saveOwnVariables(store);
  const saved = Object.values(store).map((v) => constant(v as Tensor));
  expect(saved.map((v) => v.shape)).toEqual(shapes);
  for (const [i, v] of saved.entries())
    expect(Math.abs(v.cast('float64').sum().item() * 1000 - (sums[i] as number))).toBeLessThan(1.1);
  // A layer of the configuration has the same weights.
  const again = ReversibleEmbedding.fromConfig(JSON.parse(JSON.stringify(layer.getConfig())));
  again.build([null]);
  again.loadOwnVariables(store);
  expect(again(x, { reverse: true }).array()).toEqual(y.array());
});

test.each([true, false])('inputs have gradients as of floats, tied: %s', (tied) => {
  const gradient = (layer: ReversibleEmbedding): Tensor => {
    const tape = new GradientTape();
    tape.watch(x);
    const loss = tape.record(() => (layer(x, { reverse: true }) as Tensor).square().sum());
    return tape.gradient(loss, x) as Tensor;
  };
  const wanted = gradient(made(tied)).data() as Float32Array;
  for (const mode of ['int8', 'int4'] as const) {
    const layer = made(tied);
    layer.quantize(mode);
    const own = gradient(layer).data() as Float32Array;
    const most = mode === 'int8' ? 0.05 : 0.4;
    own.forEach((g, i) => expect(Math.abs(g - (wanted[i] as number))).toBeLessThan(most));
  }
});
