import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { layers } = tf;
const names = (f: { readonly graph: { readonly nodes: readonly { readonly name: string }[] } }): string[] =>
  f.graph.nodes.map((n) => n.name);

describe('names in graphs', () => {
  test('carry the scopes of layers, losses, optimizers and gradients, as in TensorFlow', () => {
    const model = new tf.Sequential(
      [new layers.Dense(4, { activation: 'relu', name: 'hidden' }), new layers.Dense(2, { name: 'head' })],
      { name: 'mlp' },
    );
    const lossObject = new tf.losses.MeanSquaredError();
    const optimizer = new tf.optimizers.SGD(0.1);
    const step = tf.function((x: tf.Tensor, y: tf.Tensor) => {
      const tape = new tf.GradientTape();
      const loss = lossObject(y, model(x));
      const variables = model.trainableVariables;
      optimizer.applyGradients(tape.gradient(loss, variables), variables);
      return loss;
    });
    const scopes = new Set(
      names(step.getConcreteFunction(tf.zeros([3, 5]), tf.zeros([3, 2]))).map((n) => n.replace(/[^/]*$/, '')),
    );
    expect([...scopes]).toEqual(
      expect.arrayContaining([
        'mlp/hidden/',
        'mlp/head/',
        'mean_squared_error/',
        'gradient_tape/mlp/hidden/',
        'gradient_tape/mlp/head/',
        'gradient_tape/mean_squared_error/',
        'sgd/',
      ]),
    );
  });

  test('are unique: the second scope of a name gets a number', () => {
    const dense = new layers.Dense(2, { name: 'dense' });
    const other = new layers.Dense(2, { name: 'dense_1' });
    const f = tf.function((x: tf.Tensor) => {
      const y = tf.nameScope('dense', () => x.neg());
      return other(dense(dense(y)));
    });
    const found = names(f.getConcreteFunction(tf.zeros([1, 2])));
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((n) => /Neg|MatMul/.test(n))).toEqual([
      'dense/Neg',
      'dense_1/_FusedMatMul',
      'dense_2/_FusedMatMul',
      'dense_1_1/_FusedMatMul',
    ]);
  });

  test('of modules are in their own scope, also when it is opened twice', () => {
    class Dense extends tf.Module {
      w: tf.Variable | undefined;
      @tf.Module.withNameScope
      apply(x: tf.Tensor): tf.Tensor {
        this.w ??= new tf.Variable(tf.ones([2, 2]), { name: 'w' });
        return x.matmul(this.w);
      }
    }
    class Mlp extends tf.Module {
      layers = this.nameScope(() => [new Dense({ name: 'first' }), new Dense({ name: 'second' })]);
      // biome-ignore format: esbuild takes no keyword in a decorator without parentheses.
      @(tf.function)
      @tf.Module.withNameScope
      call(x: tf.Tensor): tf.Tensor {
        return this.layers.reduce((y, layer) => layer.apply(layer.apply(y)), x);
      }
    }
    const mlp = new Mlp();
    const f = tf.function((x: tf.Tensor) => mlp.call(x));
    expect(names(f.getConcreteFunction(tf.ones([1, 2]))).filter((n) => n.includes('MatMul'))).toEqual([
      'mlp/first/MatMul',
      'mlp/first/MatMul_1',
      'mlp/second/MatMul',
      'mlp/second/MatMul_1',
    ]);
    expect(mlp.variables.map((v) => v.path)).toEqual(['mlp/first/w', 'mlp/second/w']);
  });
});
