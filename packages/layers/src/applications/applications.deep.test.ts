// Layers, weights and outputs are those of Keras: tools/golden/applications.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { createHash } from 'node:crypto';
import { constant, type DType, keep, type Tensor, type Variable, zeros } from '@eagre/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
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

const product = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1);

/** n numbers that look random, `middle` give or take `reach`, as the program in Python makes them. */
function spread(n: number, k: number, reach: number, middle = 0): Float32Array {
  const offset = (Math.imul(k, 0x9e3779b9) + 0x7f4a7c15) >>> 0;
  const numbers = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    let h = (i + offset) >>> 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    numbers[i] = middle + (((h ^ (h >>> 16)) >>> 0) / 2 ** 31 - 1) * reach;
  }
  return numbers;
}

function fill(model: Model): void {
  const names = namesOf(model);
  model.weights.forEach((w, k) => {
    const name = names.get(w)?.split('/')[1] as string;
    if (name === 'count') return;
    const { shape } = w;
    const fan = shape.length === 4 && shape[3] === 1 ? shape.slice(0, 2) : shape.slice(0, -1);
    const numbers = (reach: number, middle?: number): Float32Array =>
      spread(product(shape), k, reach, middle);
    let data: Float32Array;
    if (name.endsWith('kernel')) data = numbers(Math.sqrt(6 / product(fan)));
    else if (name === 'gamma' || name === 'moving_variance') data = numbers(1 / 4, 1);
    else data = name === 'variance' ? numbers(1 / 16, 1 / 4) : numbers(1 / 4);
    w.assign({ data, shape, dtype: 'float32' });
  });
}

/** What each weight is called: its layer and its name there. */
function namesOf(model: Model): Map<Variable, string> {
  const layers = model.submodules.filter((m): m is Layer => m instanceof Layer);
  return new Map(
    layers.flatMap((layer) =>
      layer._layer.weights.map((w) => [w.variable, `${layer.name}/${w.name}`] as const),
    ),
  );
}

/** The layers and the weights of a model as the program in Python lists them. */
function listsOf(model: Model): Lists {
  const names = namesOf(model);
  return {
    layers: model.layers
      .filter((layer) => !(layer instanceof Operation))
      .map((layer) => `${layer.name} ${layer.constructor.name}`),
    weights: model.weights.map((w) => `${names.get(w)} [${w.shape.join(', ')}]`),
  };
}
const hash = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);

// What weights begin with does not matter here, and takes long: those of one size share their memory.
const { addWeight } = Layer.prototype;
const shared = new Map<string, Tensor>();
const initializer = (shape: readonly number[], dtype: DType): Tensor => {
  const key = `${product(shape)} ${dtype}`;
  const values = shared.get(key) ?? keep(zeros([product(shape)], dtype));
  shared.set(key, values);
  return values.reshape([...shape]);
};
const quickly = (): void => {
  vi.spyOn(Layer.prototype, 'addWeight').mockImplementation(function (this: Layer, given) {
    return addWeight.call(this, { ...given, initializer } as WeightOptions);
  });
};
afterEach(() => vi.restoreAllMocks());

describe('layers and weights', () => {
  test.each(golden.structures.map((s) => [`${s.application} ${JSON.stringify(s.options)}`, s] as const))(
    '%s',
    (_, { application, options, lists, ...expected }) => {
      quickly();
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
    },
  );
});

describe('outputs', () => {
  test.each(golden.outputs)('$application', ({ application, scale, outputs }) => {
    for (const { options, shape, mean, size, values } of outputs) {
      quickly();
      const model = make(application, options);
      fill(model);
      const images = [2, ...(options.inputShape as readonly number[])];
      const x = constant(spread(product(images), 0, scale), 'float32', { shape: images });
      const y = model(x) as Tensor;
      expect(y.shape).toEqual(shape);
      const flat = y.data() as Float32Array;
      assertClose(flat.subarray(0, values.length), values, application, 1e-4, size);
      assertClose([flat.reduce((sum, v) => sum + v, 0) / flat.length], [mean], application, 1e-4, size);
    }
  });
});
