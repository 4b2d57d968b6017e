// Layers, weights and outputs are those of Keras: tools/golden/applications.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { createHash } from 'node:crypto';
import { constant, type Tensor, zeros } from '@eagre/core';
import { describe, expect, test, vi } from 'vitest';
import { Layer } from '../layer/layer.ts';
import type { WeightOptions } from '../layer/layer-types.ts';
import { clearSession } from '../layer/naming.ts';
import type { Model } from '../models/model.ts';
import { Operation } from '../models/operations.ts';
import { assertClose, readGolden } from '../testing/golden.ts';
import type { ApplicationOptions } from './application.ts';
import * as applications from './index.ts';

type Options = ApplicationOptions;
interface Lists {
  readonly layers: readonly string[];
  readonly weights: readonly string[];
}
interface Structure {
  readonly application: string;
  readonly options: Options;
  readonly name: string;
  readonly params: number;
  readonly output: readonly (number | null)[];
  readonly layers: number;
  readonly layersHash: string;
  readonly weights: number;
  readonly weightsHash: string;
  readonly lists?: Lists;
}
interface Output {
  readonly options: Options;
  readonly shape: readonly number[];
  readonly mean: number;
  readonly size: number;
  readonly values: readonly number[];
}
interface Golden {
  readonly structures: readonly Structure[];
  readonly outputs: readonly {
    readonly application: string;
    readonly scale: number;
    readonly outputs: readonly Output[];
  }[];
}
const golden = readGolden<Golden>('applications');

const make = (name: string, options: Options): Model => {
  clearSession();
  return (applications as unknown as Readonly<Record<string, (options: Options) => Model>>)[name](options);
};

/** Numbers from -1 to below 1 that look random, as the program in Python makes them. */
function spread(n: number, k: number): Float64Array {
  const offset = (Math.imul(k, 0x9e3779b9) + 0x7f4a7c15) >>> 0;
  return Float64Array.from({ length: n }, (_, i) => {
    let h = (i + offset) >>> 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return ((h ^ (h >>> 16)) >>> 0) / 2 ** 31 - 1;
  });
}
const product = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1);

function fill(model: Model): void {
  const leaves = model.submodules.filter((m): m is Layer => m instanceof Layer && m.sublayers.length === 0);
  const names = new Map(
    leaves.flatMap((layer) => layer._layer.weights.map((w) => [w.variable, w.name] as const)),
  );
  model.weights.forEach((w, k) => {
    const name = names.get(w) as string;
    if (name === 'count') return;
    const { shape } = w;
    const fan = shape.length === 4 && shape[3] === 1 ? shape.slice(0, 2) : shape.slice(0, -1);
    const factor = Math.sqrt(6 / product(fan));
    const values = spread(product(shape), k);
    const data = Float32Array.from(values, (u) => {
      if (name.endsWith('kernel')) return u * factor;
      if (name === 'gamma' || name === 'moving_variance') return 1 + u / 4;
      return name === 'variance' ? (1 + u / 4) / 4 : u / 4;
    });
    w.assign({ data, shape, dtype: 'float32' });
  });
}

/** The layers and the weights of a model as the program in Python lists them. */
function listsOf(model: Model): Lists {
  const owners = model.submodules
    .filter((m): m is Layer => m instanceof Layer)
    .flatMap((layer) => layer._layer.weights.map((w) => [w.variable, `${layer.name}/${w.name}`] as const));
  const names = new Map(owners);
  return {
    layers: model.layers
      .filter((layer) => !(layer instanceof Operation))
      .map((layer) => `${layer.name} ${layer.constructor.name}`),
    weights: model.weights.map((w) => `${names.get(w)} [${w.shape.join(', ')}]`),
  };
}
const hash = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);

describe('layers and weights', () => {
  // What weights begin with does not matter here, and takes long.
  const { addWeight } = Layer.prototype;
  const quick = vi.spyOn(Layer.prototype, 'addWeight').mockImplementation(function (this: Layer, given) {
    const initializer = (shape: readonly number[], dtype: never): Tensor => zeros([...shape], dtype);
    return addWeight.call(this, { ...given, initializer } as WeightOptions);
  });
  test.each(golden.structures.map((s) => [`${s.application} ${JSON.stringify(s.options)}`, s] as const))(
    '%s',
    (_, { application, options, lists, ...expected }) => {
      const model = make(application, options);
      const { layers, weights } = listsOf(model);
      if (lists !== undefined) expect({ layers, weights }).toEqual(lists);
      expect({
        name: model.name,
        params: model.countParams(),
        output: model.outputs[0].shape,
        layers: layers.length,
        layersHash: hash(layers),
        weights: weights.length,
        weightsHash: hash(weights),
      }).toEqual(expected);
      for (const w of model.weights) w.dispose();
    },
  );
  test('weights begin as layers say', () => quick.mockRestore());
});

describe('outputs', () => {
  test.each(golden.outputs)('$application', ({ application, scale, outputs }) => {
    for (const { options, shape, mean, size, values } of outputs) {
      const model = make(application, options);
      fill(model);
      const images = [2, ...(options.inputShape as readonly number[])];
      const x = constant(
        Float32Array.from(spread(product(images), 0), (u) => u * scale),
        'float32',
        { shape: images },
      );
      const y = model(x) as Tensor;
      expect(y.shape).toEqual(shape);
      const flat = y.data() as Float32Array;
      assertClose(flat.subarray(0, values.length), values, application, 1e-4, size);
      assertClose([flat.reduce((sum, v) => sum + v, 0) / flat.length], [mean], application, 1e-4, size);
    }
  });
});
