// Lookups without a vocabulary, and vocabularies in configurations and files.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constant, FailedPreconditionError, PermissionDeniedError, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadModel, modelFromJSON } from '../../index.ts';
import type { Layer } from '../../layer/layer.ts';
import { Input } from '../../models/functional.ts';
import { Model } from '../../models/model.ts';
import { Sequential } from '../../models/sequential.ts';
import { deserializeLayer } from '../../saving/serialization.ts';
import { layerClasses, requiredArguments } from '../../testing/layer-arguments.ts';
import * as layers from '../index.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eagre-vocabulary-'));
  await writeFile(join(folder, 'secret'), 'of somebody\nelse\n');
});
afterAll(() => rm(folder, { recursive: true }));

const words = constant([['a', 'b']], 'string');
const lookups: readonly (readonly [name: string, Class: new (options?: object) => Layer, x: Tensor])[] = [
  ['StringLookup', layers.StringLookup, words],
  ['TextVectorization', layers.TextVectorization as never, constant(['a b'], 'string')],
  ['IntegerLookup', layers.IntegerLookup, constant([[1, 2]], 'int64')],
];
const modes = [
  {},
  ...['oneHot', 'multiHot', 'count', 'tfIdf'].flatMap((outputMode) => [
    { outputMode },
    { outputMode, padToMaxTokens: true, maxTokens: 5 },
  ]),
];

describe('without a vocabulary there are no indices', () => {
  for (const [name, Class, x] of lookups)
    test.each(modes)(`${name} %j`, (options) => {
      const layer = new Class(options);
      expect(() => layer(x)).toThrow(FailedPreconditionError);
      expect(() => tfFunction((v: Tensor) => layer(v))(x)).toThrow('needs a vocabulary');
      // Shapes need none.
      const input = Input({ shape: name === 'TextVectorization' ? [] : [2], dtype: x.dtype });
      const model = new Model(input, layer(input));
      expect(() => model(x)).toThrow('needs a vocabulary');
    });
  test('nor tokens', () => {
    const at = constant([1, 2], 'int64');
    expect(() => new layers.StringLookup({ invert: true })(at)).toThrow('needs a vocabulary');
    expect(() => new layers.IntegerLookup({ invert: true })(at)).toThrow('needs a vocabulary');
  });
  test('where adapt found no token, all are unknown', () => {
    const layer = new layers.StringLookup();
    layer.adapt(constant(['[UNK]'], 'string'));
    expect(layer(words).array()).toEqual([[0n, 0n]]);
  });
});

describe('what adapt found, in files', () => {
  const make = (): { readonly model: Model; readonly layer: layers.TextVectorization } => {
    const x = Input({ shape: [], dtype: 'string' });
    const layer = new layers.TextVectorization({ outputSequenceLength: 3, name: 'vectorize' });
    return { model: new Model(x, layer(x)), layer };
  };
  const texts = constant(['x z'], 'string');
  const expected = [[4n, 2n, 0n]];

  test('.keras files keep it', async () => {
    const { model, layer } = make();
    layer.adapt(constant(['x y z'], 'string'));
    expect(model(texts).array()).toEqual(expected);
    await model.save(join(folder, 'm.keras'));
    const again = (await loadModel(join(folder, 'm.keras'))) as Model;
    expect(again(texts).array()).toEqual(expected);
    const empty = make().model;
    await empty.save(join(folder, 'empty.keras'));
    const loaded = (await loadModel(join(folder, 'empty.keras'))) as Model;
    expect(() => loaded(texts)).toThrow('needs a vocabulary');
  });
  test('.h5 and weights files do not, so that such a model computes nothing until it is told', async () => {
    const { model, layer } = make();
    layer.adapt(constant(['x y z'], 'string'));
    await model.save(join(folder, 'm.h5'));
    await model.saveWeights(join(folder, 'm.weights.h5'));
    const other = make();
    await other.model.loadWeights(join(folder, 'm.weights.h5'));
    for (const read of [(await loadModel(join(folder, 'm.h5'))) as Model, other.model]) {
      expect(() => read(texts)).toThrow('needs a vocabulary');
      (read.getLayer('vectorize') as layers.TextVectorization).setVocabulary(layer.getVocabulary());
      expect(read(texts).array()).toEqual(expected);
    }
  });
});

describe('a configuration reads no file', () => {
  const config = (className: string, vocabulary: string): object => ({
    module: 'keras.layers',
    class_name: className,
    config: { name: 'look', vocabulary, output_mode: 'int' },
    registered_name: null,
  });
  test.each(lookups)('%s', async (name, Class) => {
    const path = join(folder, 'secret');
    const given = config(name, path);
    const fails = (make: () => unknown): void => {
      expect(make).toThrow(PermissionDeniedError);
      expect(make).not.toThrow('somebody');
    };
    fails(() => deserializeLayer(given as never));
    fails(() => (Class as unknown as typeof Layer).fromConfig({ vocabulary: path }));
    const json = JSON.stringify({
      module: 'keras',
      class_name: 'Sequential',
      config: { name: 'model', layers: [given] },
    });
    fails(() => modelFromJSON(json));
    // The program itself may.
    if (name !== 'IntegerLookup') expect(() => new Class({ vocabulary: path })).not.toThrow();
    const vocabulary = name === 'IntegerLookup' ? [1, 2] : ['a', 'b'];
    expect(() => modelFromJSON(new Sequential([new Class({ vocabulary })]).toJSON())).not.toThrow();
  });

  test.each(layerClasses)('%s', (name, Class) => {
    const path = join(folder, 'secret');
    const written = new Class(
      ...(name === 'InputLayer' ? [{ shape: [2] }] : requiredArguments(name)),
    ).getConfig();
    for (const key of Object.keys(written)) {
      let told: string;
      try {
        const layer = Class.fromConfig({ ...written, [key]: path });
        told = JSON.stringify(layer.getConfig());
      } catch (error) {
        told = String(error);
      }
      expect(told, key).not.toContain('somebody');
    }
  });
});
