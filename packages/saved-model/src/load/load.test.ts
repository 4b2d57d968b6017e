import { GradientTape } from '@eagre/autodiff';
import * as tf from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { afterAll, describe, expect, test } from 'vitest';
import { expectSame, golden, modelOf, temporaryFolder, toValue, unpack } from '../testing/golden.ts';
import { load } from './load.ts';
import type { LoadedObject } from './loaded-object.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

type Call = (...args: unknown[]) => unknown;
const find = (loaded: LoadedObject, path: string): Call =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], loaded) as Call;

describe('models of TensorFlow and Keras compute what they compute there', () => {
  for (const model of golden.models) {
    test(model.name, async () => {
      const loaded = await load(unpack(model, folder.path));
      for (const [i, { call, args, kwargs, result }] of model.cases.entries()) {
        const named = Object.fromEntries(Object.entries(kwargs).map(([key, item]) => [key, toValue(item)]));
        const given = [...args.map(toValue), ...(Object.keys(named).length > 0 ? [named] : [])];
        expectSame(find(loaded, call)(...given), result, `${model.name}: ${i}, ${call}`);
      }
    });
  }
});
void GradientTape;
void tfFunction;
void modelOf;
void tf;
void expect;
