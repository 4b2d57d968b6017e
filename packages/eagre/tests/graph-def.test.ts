import { StreamGenerator } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

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
    const { node: nodes = [] } = tensorflow.GraphDef.decode(graph.asGraphDef());
    const byName = new Map(nodes.map((node) => [node.name, node]));
    expect(byName.size).toBe(nodes.length);
    for (const { name: own, input: inputs = [], attr } of nodes) {
      expect(own).toMatch(/^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$/);
      for (const i of inputs) expect(byName.has(i.replace(/^\^/, '').replace(/:\d+$/, ''))).toBe(true);
      for (const [key, value] of attr ?? []) expect([key, Object.keys(value).length]).toEqual([key, 1]);
    }
    // Every node that runs is there under its name and type, with its inputs first.
    for (const node of graph.liveNodes()) {
      // But an optimizer's update is arithmetic.
      if (node.what.kind === 'update') {
        expect(nodes.some((n) => n.name?.startsWith(`${node.name}/`))).toBe(true);
        continue;
      }
      const written = byName.get(node.name);
      expect(written?.input?.filter((i) => !i.startsWith('^')).length ?? 0).toBeGreaterThanOrEqual(
        node.inputs.length,
      );
    }
    const handles = nodes.filter((n) => n.op === 'VarHandleOp').map((n) => n.name);
    const assigned = nodes.filter((n) => n.op === 'AssignVariableOp').map((n) => n.input?.[0]);
    expect(handles).toEqual(expect.arrayContaining(model.variables.map((v) => v.path)));
    expect(assigned).toEqual(graph.assignments.map((a) => a.variable.path));
    const scopes = nodes.map((n) => (n.name as string).split('/')[0]);
    expect(scopes).toEqual(
      expect.arrayContaining([name, 'gradient_tape', 'adam', 'sparse_categorical_crossentropy']),
    );
    const result = nodes.at(-1);
    expect(result?.op).toBe('Identity');
    expect(result?.input?.filter((i) => i.startsWith('^'))).toHaveLength(assigned.length);
  });
});

/** The ops of a step that moves a matrix and a vector. */
function opsOf(optimizer: tf.optimizers.Optimizer, options?: { readonly largestConstant: number }): string[] {
  const variables = [new tf.Variable([[1, 2]]), new tf.Variable([3])];
  const step = tf.function(() => {
    const tape = new tf.GradientTape();
    const loss = variables.reduce((sum, v) => sum.add(v.square().sum()), tf.constant(0));
    optimizer.applyGradients(tape.gradient(loss, variables), variables);
  });
  optimizer.build(variables);
  const def = tensorflow.GraphDef.decode(step.getConcreteFunction().graph.asGraphDef(options));
  return (def.node ?? []).map(({ op }) => op as string);
}

const { SGD, Adam, AdamW, RMSprop, schedules } = tf.optimizers;
const updates: Readonly<Record<string, () => tf.optimizers.Optimizer>> = {
  sgd: () => new SGD(new schedules.CosineDecay(0.1, 10)),
  momentum: () => new SGD({ learningRate: 0.1, momentum: 0.9, nesterov: true }),
  rmsprop: () => new RMSprop({ learningRate: 0.1, momentum: 0.5, centered: true }),
  adam: () => new Adam(new schedules.ExponentialDecay(0.1, 5, 0.5)),
  adamW: () => new AdamW({ amsgrad: true }),
};

test.each(Object.keys(updates))('updates are made of ops that TensorFlow has: %s', (name) => {
  const ops = new Set(opsOf((updates[name] as () => tf.optimizers.Optimizer)()));
  expect([...ops].filter((op) => /Apply|Late|LearningRate/.test(op))).toEqual([]);
  expect(ops).toContain('AssignVariableOp');
});

test('draws come from a state, which the graph advances once for each', () => {
  tf.random.setSeed(1);
  const generator = new StreamGenerator(2);
  generator.uniform([1]);
  const f = tf.function(() => [
    tf.random.uniform([3]),
    generator.uniform([2]),
    tf.random.normal([4]),
    tf.random.uniform([5]),
  ]);
  const { node: nodes = [] } = tensorflow.GraphDef.decode(f.getConcreteFunction().graph.asGraphDef());
  const values = (name: string): number[] => {
    const { tensor_content } = nodes.find((n) => n.name === name)?.attr?.get('value')?.tensor ?? {};
    return Array.from(new BigInt64Array((tensor_content as Uint8Array).slice().buffer), Number);
  };
  expect(values('random_state/Initializer')[0]).toBe(0);
  expect(values('random_state/next/y')).toEqual([3, 0]);
  expect(values('random_state_1/Initializer')[0]).toBe(1);
  expect(values('random_state_1/next/y')).toEqual([1, 0]);
  expect(nodes.filter(({ op }) => op === 'PartitionedCall')).toHaveLength(4);
  expect(nodes.at(-1)?.input).toEqual(
    expect.arrayContaining(['^random_state/Assign', '^random_state_1/Assign']),
  );
});

test('branches and loops draw from the same states, one after the other', () => {
  const f = tf.function((n: tf.Tensor) => {
    const first = tf.random.uniform([2]);
    const [, last] = tf.whileLoop(
      (i) => i.less(n),
      (i, x) => [i.add(1), x.add(tf.random.uniform([2]))] as const,
      [tf.constant(0, 'int32'), first] as const,
    );
    return [last, tf.random.uniform([2])];
  });
  const { node: nodes = [], library } = tensorflow.GraphDef.decode(
    f.getConcreteFunction(tf.constant(3, 'int32')).graph.asGraphDef(),
  );
  const inputs = (name: string): readonly string[] => nodes.find((n) => n.name === name)?.input ?? [];
  expect(inputs('random_state/Assign')).toEqual(['random_state', 'random_state/next', '^random_state/Read']);
  expect(inputs('While')).toContain('^random_state/Assign');
  expect(inputs('random_state/Read_1')).toEqual(['random_state', '^While']);
  expect(inputs('Identity')).toContain('^random_state/Assign_1');
  const body = library?.function?.find(({ signature }) => (signature?.control_output?.length ?? 0) > 0);
  expect(body?.signature).toMatchObject({ is_stateful: true, control_output: ['random_state/Assign'] });
  const handle = body?.node_def?.find(({ op }) => op === 'VarHandleOp');
  expect(handle?.attr?.get('shared_name')).toEqual(
    nodes.find(({ name }) => name === 'random_state')?.attr?.get('shared_name'),
  );
});

test('a schedule that only the host knows is in no GraphDef, except to look at', () => {
  const make = (): tf.optimizers.Optimizer => new SGD((step) => 1 / (1 + step));
  expect(() => opsOf(make())).toThrow(tf.errors.UnimplementedError);
  expect(() => opsOf(make())).toThrow(/has trace\(step\) beside call\(step\)/);
  expect(opsOf(make(), { largestConstant: 1024 })).toContain('LearningRate');
});
