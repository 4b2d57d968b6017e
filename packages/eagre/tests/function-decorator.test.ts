import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// The parentheses are for esbuild, which takes no keyword in a decorator without them; the last test has none.

class Counter {
  total: tf.Variable | undefined;
  traces = 0;

  // biome-ignore format: see above
  @(tf.function)
  add(by: tf.Tensor): tf.Tensor {
    this.traces++;
    this.total ??= new tf.Variable(tf.zeros(by.shape));
    return this.total.assignAdd(by).read();
  }

  // biome-ignore format: see above
  @(tf.function({ inputSignature: [new tf.TensorSpec([], 'float32')] }))
  half(x: tf.Tensor | number): tf.Tensor {
    return tf.multiply(x, 0.5);
  }

  // biome-ignore format: see above
  @(tf.function)
  static double(x: tf.Tensor): tf.Tensor {
    return x.mul(Counter.factor);
  }
  static readonly factor = 2;
}

type Traced = tf.TracedFunction<(...args: never[]) => unknown>;
const traced = (fn: unknown): Traced => fn as Traced;

describe('@tf.function', () => {
  test('gives each object traces and variables of its own', () => {
    const [a, b] = [new Counter(), new Counter()];
    expect(a.add(tf.constant(1)).item()).toBe(1);
    expect(a.add(tf.constant(2)).item()).toBe(3);
    expect(b.add(tf.constant([5, 6])).array()).toEqual([5, 6]);
    expect(a.add(tf.constant(3)).item()).toBe(6);
    expect(a.total).not.toBe(b.total);
    // Twice, for the first trace makes the variable.
    expect([a.traces, b.traces]).toEqual([2, 2]);
    expect(traced(a.add).experimentalGetTracingCount()).toBe(2);
  });

  test('takes options, and turns numbers into tensors of the signature', () => {
    const counter = new Counter();
    expect(counter.half(3).item()).toBe(1.5);
    expect(() => counter.half(tf.constant([1, 2]))).toThrow('do not match the inputSignature');
    expect(() => counter.half(tf.constant(1, 'int32'))).toThrow('int32');
  });

  test('leaves the methods of an object functions that can be asked', () => {
    const counter = new Counter();
    const concrete = traced(counter.half).getConcreteFunction(tf.constant(1) as never);
    expect(concrete.graph.name).toBe('half');
    expect(Object.keys(counter)).toEqual(['total', 'traces']);
    const { half } = counter;
    expect(half(5).item()).toBe(2.5);
  });

  test('works on static methods', () => {
    expect(Counter.double(tf.constant(4)).item()).toBe(8);
    expect(traced(Counter.double).experimentalGetTracingCount()).toBe(1);
  });

  test('lets subclasses override and call what they override', () => {
    class Twice extends Counter {
      // biome-ignore format: see above
      @(tf.function)
      override half(x: tf.Tensor | number): tf.Tensor {
        return super.half(x).add(100);
      }
      override add(by: tf.Tensor): tf.Tensor {
        return super.add(by).neg();
      }
    }
    const twice = new Twice();
    expect(twice.half(4).item()).toBe(102);
    expect(twice.add(tf.constant(3)).item()).toBe(-3);
    expect(new Counter().half(4).item()).toBe(2);
  });

  test('works on private methods, on modules and on layers, which find the variables', () => {
    class Scale extends tf.layers.Layer {
      w!: tf.Variable;
      override build(): void {
        this.w = this.addWeight({ shape: [2], initializer: 'ones', name: 'w' });
      }
      // biome-ignore format: see above
      @(tf.function)
      override call(x: tf.Tensor): tf.Tensor {
        return this.#shifted(x.mul(this.w));
      }
      // biome-ignore format: see above
      @(tf.function)
      #shifted(x: tf.Tensor): tf.Tensor {
        return x.add(1);
      }
    }
    const scale = new Scale();
    expect(scale([[1, 2]]).array()).toEqual([[2, 3]]);
    scale.w.assign([3, 4]);
    expect(scale([[1, 2]]).array()).toEqual([[4, 9]]);
    expect(scale.variables).toEqual([scale.w]);
    expect(traced(scale.call).experimentalGetTracingCount()).toBe(1);
  });

  test('is for nothing but methods, by the standard', () => {
    const decorate = tf.function as unknown as (value: unknown, context: unknown) => unknown;
    for (const kind of ['getter', 'setter', 'class'])
      expect(() => decorate(() => 1, { kind })).toThrow(`works on methods only, not on a ${kind}`);
    expect(() => decorate(Counter.prototype, 'add')).toThrow('experimentalDecorators');
  });

  test('is written as it is in Python where TypeScript compiles', () => {
    const source = `
      class Square {
        made = 0;
        @tf.function
        of(x: tf.Tensor): tf.Tensor { this.made++; return x.mul(x); }
        @tf.function({ inputSignature: [new tf.TensorSpec([null], 'float32')] })
        sum(x: tf.Tensor): tf.Tensor { return x.sum(); }
      }`;
    const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    const { outputText } = ts.transpileModule(source, { compilerOptions: options });
    expect(outputText).toContain('__esDecorate');
    const Square = new Function('tf', `${outputText}\nreturn Square;`)(tf) as new () => {
      made: number;
      of(x: tf.Tensor): tf.Tensor;
      sum(x: tf.Tensor): tf.Tensor;
    };
    const square = new Square();
    for (let i = 0; i < 3; i++) expect(square.of(tf.constant(3)).item()).toBe(9);
    expect(square.made).toBe(1);
    expect(square.sum(tf.constant([1, 2])).item()).toBe(3);
    expect(() => square.sum(tf.constant(1))).toThrow('inputSignature');
  });
});
