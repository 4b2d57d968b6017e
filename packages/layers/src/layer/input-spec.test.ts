import '@eagre/backend-js';
import '@eagre/backend-native';
import { ones, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { InputSpec, type InputSpecOptions, Layer } from '../layers/index.ts';
import { Input } from '../models/functional.ts';

const made = (...specs: InputSpecOptions[]): Layer => {
  class Sum extends Layer {
    override inputSpec = specs.length === 1 ? new InputSpec(specs[0]) : specs.map((s) => new InputSpec(s));
    override call(x: Tensor | readonly Tensor[] | Record<string, Tensor>): Tensor {
      const all = (Array.isArray(x) ? x : 'shape' in x ? [x] : Object.values(x)) as readonly Tensor[];
      return all.map((t) => t.sum()).reduce((a, b) => a.add(b));
    }
  }
  return new Sum();
};

test('a layer refuses inputs that are not what it says', () => {
  const x = ones([2, 3, 4]);
  const cases: readonly [InputSpecOptions, string | null][] = [
    [{ ndim: 3 }, null],
    [{ ndim: 2 }, 'expects rank 2 as input 0, got float32 [2, 3, 4]'],
    [{ maxNdim: 2 }, 'rank 2 at most'],
    [{ minNdim: 4 }, 'rank 4 at least'],
    [{ dtype: 'int32' }, 'expects int32'],
    [{ axes: { [-1]: 4, 1: null } }, null],
    [{ axes: { [-1]: 5 } }, 'expects 5 along axis -1'],
    [{ shape: [null, 3, 4] }, null],
    [{ shape: [null, 3, 5] }, 'expects [null, 3, 5]'],
    [{ shape: [null, 3] }, 'rank 2'],
    [{ shape: [2, 3, 4, 1], allowLastAxisSqueeze: true }, null],
  ];
  for (const [options, message] of cases) {
    const call = (): unknown => made(options)(x);
    if (message === null) call();
    else expect(call, message).toThrow(message);
  }
});

test('of several inputs, also by name and symbolic ones', () => {
  const flat = made({ ndim: 2 });
  expect((flat([[1, 2]]) as Tensor).item()).toBe(3);
  expect(() => flat([1, 2])).toThrow('expects rank 2');
  const two = made({ ndim: 1, name: 'a' }, { ndim: 2, name: 'b', optional: true });
  expect((two([ones([2]), ones([2, 2])]) as Tensor).item()).toBe(6);
  expect(() => two([ones([2]), ones([2])])).toThrow('rank 2 as input b');
  expect(() => two(ones([2]))).toThrow('expects 2 inputs, got 1');
  expect((two({ b: ones([2, 2]), a: ones([2]) }) as Tensor).item()).toBe(6);
  expect((two({ a: ones([2]) }) as Tensor).item()).toBe(2);
  expect(() => two({ b: ones([2, 2]) })).toThrow("expects an input 'a'");
  const sized = made({ shape: [null, 7] });
  expect(sized(Input({ shape: [null] })).shape).toEqual([]);
  expect(() => sized(Input({ shape: [6] }))).toThrow('expects [null, 7]');
});

test('its configuration is that of Keras', () => {
  const spec = new InputSpec({ shape: [null, 3], dtype: 'float32', axes: { 1: 3 } });
  const config = {
    ...{ dtype: 'float32', shape: [null, 3], ndim: 2, max_ndim: null, min_ndim: null },
    ...{ axes: { 1: 3 }, optional: false },
  };
  expect(spec.getConfig()).toEqual(config);
  expect(InputSpec.fromConfig(config).getConfig()).toEqual(config);
  expect(() => new InputSpec({ ndim: 2, axes: { 2: 3 } })).toThrow('axis 2 is not one of the 2 axes');
  expect(() => new InputSpec({ ndim: -1 })).toThrow('ndim must be a rank');
  expect(() => new InputSpec({ axes: { x: 3 } as never })).toThrow('axes must be an object');
  expect(() => new InputSpec({ shape: 'x' as never })).toThrow('shape');
});
