import { GradientTape } from '@eagre/autodiff';
import * as tf from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { afterAll, describe, expect, test } from 'vitest';
import {
  expectSame,
  type Golden,
  golden,
  goldenFile,
  modelOf,
  type Stored,
  temporaryFolder,
  toValue,
  unpack,
} from '../testing/golden.ts';
import { load } from './load.ts';
import type { LoadedObject } from './loaded-object.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const version1 = goldenFile<Golden & { readonly others: Golden['models'] }>('version1');
const ALL = [golden, goldenFile<Golden>('concrete-functions'), goldenFile<Golden>('more-models'), version1]
  .flatMap(({ models }) => models)
  .concat(version1.others);

type Call = (...args: unknown[]) => unknown;
const find = (loaded: LoadedObject, path: string): Call =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], loaded) as Call;

describe('models of TensorFlow and Keras compute what they compute there', () => {
  for (const model of ALL) {
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

describe('a loaded model', () => {
  const loaded = async (name: string): Promise<LoadedObject> => load(unpack(modelOf(name), folder.path));

  test('has the gradients that it has in TensorFlow', async () => {
    for (const name of ['dense', 'conv', 'lstm']) {
      const model = modelOf(name);
      const { gradients } = model;
      if (gradients === undefined) throw new Error(`${name} has no gradients`);
      const object = await loaded(name);
      const x = toValue(model.cases[0]?.args[0] as Stored) as tf.Tensor;
      const byName = new Map(object.trainableVariables.map((v) => [v.name, v]));
      const variables = gradients.variables.map((v) => byName.get(v.name.replace(/:0$/, '')) as tf.Variable);
      expect(variables.length).toBeGreaterThan(2);
      for (const serve of [object['serve'], tfFunction((y: tf.Tensor) => object['serve'](y))] as ((
        x: tf.Tensor,
      ) => tf.Tensor)[]) {
        const tape = new GradientTape();
        const loss = tape.record(() => {
          tape.watch(x);
          return serve(x).square().sum();
        });
        expectSame(loss, gradients.loss, `${name}: loss`);
        const found = tape.gradient(loss, [x, ...variables]) as tf.Tensor[];
        expectSame(found[0], gradients.input, `${name}: input`, 1e-4);
        gradients.variables.forEach((v, i) => {
          expectSame(found[i + 1], v.gradient, `${name}: ${v.name}`, 1e-4);
        });
      }
    }
  });

  test('is trained further, and its functions see the new values', async () => {
    const object = await loaded('dense');
    const x = tf.constant([[1, 2, 3]]);
    const before = object['serve'](x).array();
    const step = tfFunction(() => {
      const tape = new GradientTape();
      const loss = tape.record(() => object['serve'](x).gather(0).gather(0).log().neg());
      const variables = object.trainableVariables;
      const gradients = tape.gradient(loss, variables);
      variables.forEach((v, i) => {
        v.assignSub((gradients[i] as tf.Tensor).mul(0.1));
      });
      return loss;
    });
    const losses = Array.from({ length: 4 }, () => step().item());
    expect(losses).toEqual([...losses].sort((a, b) => b - a));
    expect(object['serve'](x).array()).not.toEqual(before);
    expect(object.signatures['serving_default']?.({ keras_tensor: x })['output_0']?.array()).toEqual(
      object['serve'](x).array(),
    );
  });

  test('has its objects, variables and signatures', async () => {
    const flow = await loaded('flow');
    expect(flow).toBeInstanceOf(tf.Module);
    expect(flow.variables.map((v) => v.name).sort()).toEqual([
      'count',
      'offset',
      'pair',
      'scale',
      'w0',
      'w1',
    ]);
    expect(flow.trainableVariables.map((v) => v.name).sort()).toEqual([
      'offset',
      'pair',
      'scale',
      'w0',
      'w1',
    ]);
    expect(flow['weights']).toHaveLength(2);
    expect(flow['count']).toBeInstanceOf(tf.Variable);
    expect(flow['count'].dtype).toBe('int64');
    expect(flow['count'].trainable).toBe(false);
    expect(Object.keys(flow['parts']).sort()).toEqual(['inner', 'scale']);
    expect(flow['parts'].inner.offset.item()).toBe(0.5);
    expect(flow['pair'][0].array()).toEqual([1, 2]);
    const { affine } = flow.signatures;
    expect(String(affine?.structuredInputSignature[1]['x'])).toBe(
      "TensorSpec(shape=[null, 2], dtype=float32, name='x')",
    );
    expect(Object.keys(affine?.structuredOutputs ?? {})).toEqual(['output_0']);
    expect(affine?.inputs.map(String)).toEqual(["TensorSpec(shape=[null, 2], dtype=float32, name='x')"]);
    expect(affine?.variables.map((v) => v.name).sort()).toEqual(['offset', 'pair', 'scale', 'w0', 'w1']);
    expect(String(flow['affine'].getConcreteFunction())).toContain('affine(TensorSpec(shape=[null, 2]');
    expect(flow['power'].traces).toHaveLength(4);
    const circle: unknown[] = [];
    circle.push(circle);
    expect(() => flow['power'](circle)).toThrow(tf.InvalidArgumentError);
    expect(() => flow['power'](tf.ones([2]), { a: { b: circle } })).toThrow(tf.InvalidArgumentError);
  });

  test('takes Python arguments by position and by name, and says what fits when none does', async () => {
    const flow = await loaded('flow');
    const x = tf.constant([1, 2]);
    expect(flow['power'](x, 3, true).array()).toEqual([-1, -8]);
    expect(flow['power'](x, { exponent: 3, negate: true }).array()).toEqual([-1, -8]);
    expect(flow['power']({ x, exponent: 3 }).array()).toEqual([1, 8]);
    expect(flow['power']([1, 2]).array()).toEqual([1, 4]);
    expect(flow['affine'](x.reshape([1, 2])).shape).toEqual([1, 2]);
    expect(() => flow['power'](x, 4)).toThrow(
      /power: no trace fits the arguments[\s\S]*argument 1 \(exponent\) is 4, expected 2/,
    );
    expect(() => flow['power'](x, { exponents: 3 })).toThrow(/it takes no argument 'exponents'/);
    expect(() => flow['power']()).toThrow(/argument 0 \(x\) is missing/);
    expect(() => flow['affine'](tf.zeros([2, 3]))).toThrow(tf.InvalidArgumentError);
    expect(() => flow['affine'](tf.zeros([2, 2], 'int32'))).toThrow(/int32 \[2,2\], expected TensorSpec/);
    expect(() => flow.signatures['affine']?.({ y: x })).toThrow(/it takes no argument 'y'/);
    expect(() => flow['pick']({ a: x.gather(0) })).toThrow(/b is missing/);
  });

  test('with strings has no trace, and says so', async () => {
    const words = await loaded('words');
    expect(() => words['serve'].getConcreteFunction()).toThrow(/takes or gives strings/);
    expect(words.signatures['serving_default']?.variables).toEqual([]);
  });

  test('is part of other functions, of any batch size, without more traces', async () => {
    const object = await loaded('conv');
    const both = tfFunction((x: tf.Tensor) => object['serve'](x).sum());
    for (const n of [1, 2, 3]) {
      const x = tf.random.normal([n, 12, 12, 2]);
      expect(both(x).item()).toBeCloseTo(object['serve'](x).sum().item(), 3);
    }
    expect(object['serve'].traces[0].experimentalGetTracingCount()).toBeLessThan(6);
  });

  test('keeps its state, and loads apart from other copies', async () => {
    const [a, b] = [await loaded('flow'), await loaded('flow')];
    expect([a['step'](), a['step'](), b['step']()].map((t) => t.item())).toEqual([1, 2, 1]);
  });
});

describe('a concrete function that is an attribute', () => {
  const [model] = goldenFile<Golden>('concrete-functions').models as [Golden['models'][number]];
  const loaded = (): Promise<LoadedObject> => load(unpack(model, folder.path));

  test('tells of itself, and is one object wherever it is', async () => {
    const { plain, advance, list, table, shift, structured } = await loaded();
    expect(String(plain.structuredInputSignature[0][0])).toBe(
      "TensorSpec(shape=[null, 2], dtype=float32, name='x')",
    );
    expect(plain.structuredInputSignature[0][1]).toBe(null);
    expect(plain.structuredInputSignature[1]).toEqual({ k: 3, name: 'plain' });
    expect(Object.keys(plain.structuredOutputs)).toEqual(['k', 'plain']);
    expect(plain.variables.map((v: tf.Variable) => v.name)).toEqual(['v']);
    expect(structured.inputs).toHaveLength(4);
    expect(list[0]).toBe(advance);
    expect(table.one).toBe(advance);
    expect(shift.traces.length).toBe(5);
  });

  test('refuses calls that fit neither of its forms', async () => {
    const { plain, with_y: withY, by_name: byName, structured, advance } = await loaded();
    const x = tf.ones([1, 2]);
    for (const call of [
      () => plain(),
      () => plain(x, 1),
      () => plain(x, { k: 4 }),
      () => plain(x, { other: 1 }),
      () => plain(tf.ones([3])),
      () => withY(x),
      () => byName(x, x, x),
      () => byName(x, { x }),
      () => byName(x, tf.ones([2]), { name: 'plain' }),
      () => structured(x),
      () => structured({ inputs: x, inputs_1: x, pair: x }),
      () => advance(x),
    ])
      expect(call, String(call)).toThrow(/no trace fits the arguments/);
    // Values of the trace may be given, too.
    expect(plain(x, null, { k: 3, name: 'plain' }).plain.array()).toEqual([[1, 2]]);
  });

  test('has gradients, runs inside other functions and off the event loop', async () => {
    const { with_y: withY, inner, v, words } = await loaded();
    const x = tf.constant([[1, 3]]);
    const step = tfFunction((rows: tf.Tensor) => {
      const tape = new GradientTape();
      const loss = tape.record(() => (withY(rows, [10, 20]).plain as tf.Tensor).sum());
      return tape.gradient(loss, v as tf.Variable) as tf.Tensor;
    });
    expect(step(x).array()).toEqual([1, 3]);
    expect((await inner.concrete.runAsync([1, 2])).array()).toEqual([2, 4]);
    expect((await words.runAsync(tf.constant(['a']))).strings()).toEqual(['A']);
  });
});
