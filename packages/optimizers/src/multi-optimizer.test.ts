import '@eagre/backend-js';
import { constant, FailedPreconditionError, InvalidArgumentError, Variable } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { Adam, deserialize, MultiOptimizer, type Optimizer, OptimizerMap, SGD, serialize } from './index.ts';

const variables = (): Variable[] =>
  ['encoder/a', 'encoder/b', 'last'].map((name) => new Variable([1, -2], { name }));
const gradients = [constant([0.5, 1]), constant([-1, 2]), constant([0.25, -0.5])];

describe('OptimizerMap', () => {
  test('finds optimizers by names and regular expressions', () => {
    const [sgd, adam, own] = [new SGD(), new Adam(), new Adam()];
    const map = new OptimizerMap(sgd, { 'encoder/.*': adam });
    expect(map.set('encoder/a', own)).toBe(map);
    expect([map.get('encoder/a'), map.get('encoder/b'), map.get('my/encoder/b'), map.get('x')]).toEqual([
      own,
      adam,
      sgd,
      sgd,
    ]);
    expect(map(new Variable(1, { name: 'encoder/c' }))).toBe(adam);
    expect([...map].map(([key]) => key)).toEqual(['encoder/.*', 'encoder/a']);
    map.set('.*b', own);
    expect(() => map.get('encoder/b')).toThrow("matched by several keys: 'encoder/.*', '.*b'");
    expect([map.delete('.*b'), map.delete('.*b'), map.size]).toEqual([true, false, 2]);
    const again = OptimizerMap.fromConfig(JSON.parse(JSON.stringify(map.getConfig())));
    expect(JSON.stringify(again)).toBe(JSON.stringify(map));
    expect(new OptimizerMap({ defaultOptimizer: sgd }).get('x')).toBe(sgd);
  });

  test('refuses what is no optimizer, and keys that are taken or no expressions', () => {
    const [sgd, map] = [new SGD(), new OptimizerMap(new SGD(), { a: new SGD() })];
    for (const fn of [
      () => new OptimizerMap('sgd' as never),
      () => new OptimizerMap(sgd, { x: 'adam' as never }),
      () => new OptimizerMap(sgd, [] as never),
      () => map.set('a', sgd),
      () => map.set('(', sgd),
      () => map.set('multi', new MultiOptimizer(map)),
      () => map.get(3 as never),
      () => map(3 as never),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
  });
});

describe('MultiOptimizer', () => {
  /** The variables after three steps. */
  const after = (steps: (all: Variable[]) => void): unknown[] => {
    const all = variables();
    for (let i = 0; i < 3; i++) steps(all);
    return all.map((v) => v.array());
  };

  test('leaves each variable to its optimizer', () => {
    const [a, b] = [new Adam(0.1), new SGD(0.5)];
    const expected = after(([x, y, z]) => {
      a.applyGradients([gradients[0], gradients[1]], [x, y]);
      b.applyGradients([gradients[2]], [z]);
    });
    const ways: ((adam: Optimizer, sgd: Optimizer) => MultiOptimizer)[] = [
      (adam, sgd) => new MultiOptimizer(new OptimizerMap(sgd, { 'encoder/.*': adam })),
      (adam, sgd) =>
        new MultiOptimizer({ optimizerMap: (v) => (v.name === 'last' ? sgd : adam), name: 'mine' }),
    ];
    for (const make of ways) {
      const optimizer = make(new Adam(0.1), new SGD(0.5));
      expect(after((all) => optimizer.applyGradients(gradients, all))).toEqual(expected);
      expect(optimizer.iterations.item()).toBe(3);
      expect(optimizer.optimizers.map((o) => o.iterations.item())).toEqual([3, 3]);
      expect(optimizer.variables.map((v) => v.path)).toEqual([
        ...[`${optimizer.name}/iteration`, `${optimizer.name}/learning_rate`],
        ...['adam/iteration', 'adam/learning_rate', 'adam/encoder_a_momentum', 'adam/encoder_a_velocity'],
        ...['adam/encoder_b_momentum', 'adam/encoder_b_velocity', 'sgd/iteration', 'sgd/learning_rate'],
      ]);
    }
  });

  test('has no learning rate', () => {
    const optimizer = new MultiOptimizer(new OptimizerMap(new SGD()));
    expect(() => optimizer.learningRate).toThrow(FailedPreconditionError);
    expect(() => {
      optimizer.learningRate = 1;
    }).toThrow('its optimizers have learning rates of their own');
  });

  test('puts the averages of its optimizers in their places', () => {
    const optimizer = new MultiOptimizer(
      new OptimizerMap(new SGD(0.5), { last: new SGD(0.5, { useEma: true, emaMomentum: 0.5 }) }),
    );
    const all = variables();
    for (let i = 0; i < 2; i++) optimizer.applyGradients(gradients, all);
    const before = all.map((v) => v.array());
    optimizer.finalizeVariableValues(all);
    expect(all.slice(0, 2).map((v) => v.array())).toEqual(before.slice(0, 2));
    expect(all[2]?.array()).toEqual([0.8125, -1.625]);
  });

  test('is written and read, with a registered function too', () => {
    const byRank = ({ rank }: Variable): Optimizer => (rank === 1 ? new SGD() : new Adam());
    expect(() => serialize(new MultiOptimizer(byRank))).toThrow('registerKerasSerializable');
    registerKerasSerializable(byRank, { name: 'byRank' });
    const written = serialize(new MultiOptimizer(byRank, { name: 'two' }));
    expect(written.config.optimizer_map).toMatchObject({ class_name: 'function', config: 'Custom>byRank' });
    const read = deserialize(written);
    expect(serialize(read)).toEqual(written);
    expect(read).toBeInstanceOf(MultiOptimizer);
    expect(() => MultiOptimizer.fromConfig({ optimizer_map: 3 })).toThrow(InvalidArgumentError);
  });

  test('refuses functions that give no optimizer, and other arguments', () => {
    const [v] = variables();
    for (const given of [3, null, new MultiOptimizer(() => new SGD()), Promise.resolve()]) {
      const optimizer = new MultiOptimizer(() => given as never);
      for (let i = 0; i < 2; i++)
        expect(() => optimizer.applyGradients([gradients[0]], [v])).toThrow(InvalidArgumentError);
    }
    expect(() => new MultiOptimizer('sgd' as never)).toThrow(InvalidArgumentError);
    expect(() => new MultiOptimizer(() => new SGD(), { clipnorm: 1 } as never)).toThrow(
      "'clipnorm' is not an option",
    );
    const optimizer = new MultiOptimizer(() => new SGD());
    expect(() => optimizer.applyGradients([null], [v])).toThrow('No gradients provided');
  });
});
