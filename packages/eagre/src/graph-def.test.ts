import { tensorflow } from '@eagre/formats';
import { describe, expect, test } from 'vitest';
import * as tf from './index.ts';

// tools/interop/graphs.py has TensorFlow read the same graphs.

const { layers } = tf;

const models: Readonly<Record<string, { readonly model: () => tf.Model; readonly input: () => tf.Tensor }>> =
  {
    mlp: {
      model: () =>
        new tf.Sequential([new layers.Dense(16, { activation: 'relu' }), new layers.Dense(10)], {
          name: 'mlp',
        }),
      input: () => tf.random.normal([4, 8]),
    },
    cnn: {
      model: () =>
        new tf.Sequential(
          [
            new layers.Conv2D(4, 3, { activation: 'relu' }),
            new layers.MaxPooling2D(2),
            new layers.Flatten(),
            new layers.Dense(10),
          ],
          { name: 'cnn' },
        ),
      input: () => tf.random.normal([4, 8, 8, 1]),
    },
  };

describe('the GraphDef of a training step', () => {
  test.each(Object.entries(models))('%s', (name, { model: make, input }) => {
    const model = make();
    const x = input();
    const labels = tf.constant([3, 1, 0, 2], 'int32');
    const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
    const optimizer = new tf.optimizers.Adam(1e-3);
    const step = tf.function((images: tf.Tensor) => {
      const tape = new tf.GradientTape();
      const loss = lossObject(labels, model(images, { training: true }));
      optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
      return loss;
    });
    const { graph } = step.getConcreteFunction(x);
    const { node: nodes = [] } = tensorflow.GraphDef.decode(graph.toGraphDef());
    const byName = new Map(nodes.map((node) => [node.name, node]));
    expect(byName.size).toBe(nodes.length);
    for (const { name: own, input: inputs = [], attr } of nodes) {
      expect(own).toMatch(/^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$/);
      for (const i of inputs) expect(byName.has(i.replace(/^\^/, '').replace(/:\d+$/, ''))).toBe(true);
      for (const [key, value] of attr ?? []) expect([key, Object.keys(value).length]).toEqual([key, 1]);
    }
    // Every node that runs is there under its name and type, with its inputs first.
    for (const node of graph.liveNodes()) {
      const written = byName.get(node.name);
      expect(written?.input?.filter((i) => !i.startsWith('^')).length ?? 0).toBeGreaterThanOrEqual(
        node.inputs.length,
      );
    }
    const handles = nodes.filter((n) => n.op === 'VarHandleOp').map((n) => n.name);
    const assigned = nodes.filter((n) => n.op === 'AssignVariableOp').map((n) => n.input?.[0]);
    expect(handles).toEqual(expect.arrayContaining(model.variables.map((v) => v.name)));
    expect(assigned).toEqual(graph.assignments.map((a) => a.variable.name));
    const scopes = nodes.map((n) => (n.name as string).split('/')[0]);
    expect(scopes).toEqual(
      expect.arrayContaining([name, 'gradient_tape', 'adam', 'sparse_categorical_crossentropy']),
    );
    const result = nodes.at(-1);
    expect(result?.op).toBe('Identity');
    expect(result?.input?.filter((i) => i.startsWith('^'))).toHaveLength(assigned.length);
  });
});
