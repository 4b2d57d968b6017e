// tf.function and its neighbours take their arguments by name, and refuse what they do not take.
import { expect, expectTypeOf, test } from 'vitest';
import * as tf from '../src/index.ts';

type AnyFunction = (...args: unknown[]) => unknown;

function refused(call: () => unknown, message: string): void {
  expect(call).toThrow(message);
  expect(call).toThrow(tf.errors.InvalidArgumentError);
}

const double = (x: tf.Tensor): tf.Tensor => x.mul(2);
const spec = new tf.TensorSpec([null]);

test('tf.function is given its options in four ways', () => {
  const traced = [
    tf.function(double),
    tf.function(double, { inputSignature: [spec] }),
    tf.function({ inputSignature: [spec] })(double),
    tf.function({ func: double, inputSignature: [spec], name: 'twice' }),
    tf.function(double, null),
    tf.function({})(double),
  ];
  for (const f of traced) {
    expectTypeOf(f).parameters.toEqualTypeOf<[x: tf.Tensor]>();
    expect(f(tf.constant([1, 2])).array()).toEqual([2, 4]);
  }
  expect(traced[3]?.getConcreteFunction().graph.name).toBe('twice');
  const byName = tf.function({ func: (x, y) => x.add(y) });
  expectTypeOf(byName).parameters.toEqualTypeOf<[x: tf.Tensor, y: tf.Tensor]>();
});

test('tf.function refuses what it does not take', () => {
  const make = tf.function as unknown as AnyFunction;
  refused(
    () => make(double, { jitCompile: true }),
    "'jitCompile' is not an option; the options are func, inputSignature",
  );
  refused(() => make({ inputsignature: [] }), "did you mean 'inputSignature'?");
  refused(() => make({ func: double, bogus: 1 }), "'bogus' is not an option");
  refused(() => make(double, { func: double }), 'func is given twice');
  refused(() => make(double, [spec]), 'write { inputSignature:');
  refused(() => make(), 'func must be given: write tf.function(func, { inputSignature })');
  refused(() => [double].map(make), 'write map((x) => tf.function(x))');
  refused(() => make(double, 'name', {}), 'experimentalDecorators');
});

test('graphs, settings and records', () => {
  const linear = tf.experimental.graphCallable({ signature: [spec] })({ fn: double });
  expect(linear(tf.constant([1])).array()).toEqual([2]);
  refused(
    () => (tf.experimental.graphCallable as unknown as AnyFunction)([spec], 1),
    'takes at most 1 arguments',
  );
  const { config } = tf;
  config.runFunctionsEagerly({ runEagerly: true });
  expect(config.functionsRunEagerly()).toBe(true);
  config.runFunctionsEagerly(false);
  refused(() => config.runFunctionsEagerly(1 as never), 'runEagerly is 1, expected true or false');
  const threads = config.threading.getIntraOpParallelismThreads();
  config.threading.setIntraOpParallelismThreads({ numThreads: threads });
  refused(() => config.threading.setIntraOpParallelismThreads(-1), 'at least 0');
  expect(tf.keras.backend.epsilon()).toBe(1e-7);
  refused(() => (tf.keras.clearSession as unknown as AnyFunction)(true), 'takes at most 0 arguments');

  const { encodeExample, decodeExample } = tf.io;
  const bytes = encodeExample({ a: [1, 2] });
  expect(encodeExample({ features: { a: [1, 2] } })).toEqual(bytes);
  expect([...decodeExample({ serialized: bytes, file: 'f' })]).toEqual([['a', Float32Array.of(1, 2)]]);
  expect([...decodeExample(encodeExample({ features: [3] }))]).toEqual([['features', Float32Array.of(3)]]);
  refused(
    () => decodeExample('a' as never),
    "serialized must be the bytes of an Example, a Uint8Array; got 'a'",
  );
  refused(() => encodeExample(3 as never), 'features must be an object or a map');
});

test('autograph', () => {
  const { convert, doNotConvert, toCode, toGraph } = tf.autograph;
  const source = 'const f = (x) => x;';
  expect(convert({ source, filename: 'a.js' })).toEqual(convert(source));
  refused(() => convert(3 as never), 'source must be a string, got 3');
  refused(
    () => convert(source, { file: 'a.js' } as never),
    "'file' is not an option; the options are source, filename",
  );
  const plain = doNotConvert({ func: double });
  expect(doNotConvert(plain)).toBe(plain);
  expect(toGraph({ entity: plain })).toBe(plain);
  refused(
    () => (doNotConvert as unknown as AnyFunction)(double, { recursive: true }),
    "'recursive' is not an option",
  );
  class Model {
    factor = 2;
    // biome-ignore format: esbuild takes no decorator of this form without parentheses
    @(doNotConvert)
    call(x: tf.Tensor): tf.Tensor {
      return x.mul(this.factor);
    }
  }
  expect(new Model().call(tf.constant(2)).item()).toBe(4);
  expect(toCode({ entity: (x: number) => x })).toContain('x');
  const k = 3;
  const f = toGraph({ entity: (x: number) => (x > k ? x : -k), scope: { k } });
  expect(f(5)).toBe(5);
  refused(() => toGraph(double, { scope: [1] as never }), 'scope must be an object of values by name');
});
