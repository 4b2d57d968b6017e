import { declared } from '@eagre/core/internal';
import { type AnyFunction, Arguments, fuzz, LONGEST_WORK_MS, parameters, show, workOf } from '@eagre/testing';
import { expect, it } from 'vitest';
import * as tf from '../src/index.ts';

// As bad-classes.deep.test.ts: whatever the methods of pipelines are given, elements come or one of Eagre's own errors.

const ROUNDS = 400;

const { Dataset } = tf.data;

/** They write or read files, or cannot end, or give no pipeline. */
const skipped = new Set([
  'constructor',
  'cache',
  'snapshot',
  'load',
  'save',
  'listFiles',
  'apply',
  'iterator',
]);

const methods = (of: object): string[] =>
  Object.getOwnPropertyNames(of).filter(
    (name) => !skipped.has(name) && typeof Object.getOwnPropertyDescriptor(of, name)?.value === 'function',
  );

/** Those of a method, whose source begins with its name. */
const parametersOf = (method: AnyFunction): string[] => {
  if (declared(method) !== undefined) return parameters(method);
  const source = `function ${String(method).replace(/^async\s+/, '')}`;
  return parameters({ toString: () => source } as AnyFunction);
};

const functions: readonly AnyFunction[] = [
  (x) => x,
  (x) => [x, x],
  (x) => ({ x }),
  () => 1,
  () => tf.constant([1, 2]),
  () => Dataset.range(2),
  () => 'a',
  () => undefined,
  () => null,
  () => true,
  () => {
    throw new tf.errors.InvalidArgumentError('said by the function of the user');
  },
];
const optionNames = [
  'dropRemainder',
  'numParallelCalls',
  'deterministic',
  'seed',
  'reshuffleEachIteration',
  'shift',
  'stride',
  'cycleLength',
  'blockLength',
  'paddedShapes',
  'paddingValues',
  'weights',
  'stopOnEmptyDataset',
  'logWarning',
  'name',
];

class PipelineArguments extends Arguments {
  dataset(): tf.data.Dataset<unknown> {
    return this.pick<() => tf.data.Dataset<unknown>>([
      () => Dataset.range(5),
      () => Dataset.range(0),
      () => Dataset.fromTensors({ a: tf.ones([2, 2]), b: 'x' }),
      () => Dataset.fromTensorSlices([tf.ones([4, 2]), tf.range(4)]),
      () => Dataset.fromTensorSlices(['a', 'b', 'c']),
      () => Dataset.range(3).map((x) => [x, x.mul(2)]),
      () => Dataset.range(4).batch(3),
    ])();
  }
  value(name: string): unknown {
    // TypeScript leaves no way to pass anything else for options.
    if (this.chance(0.12) && !/options|^{/i.test(name)) return this.anything();
    if (/^(map|scan|reduc|key|predicate|element|classFunc|initialState|windowSize)/i.test(name))
      return this.pick(functions);
    if (/options|^{/i.test(name)) {
      const made: Record<string, unknown> = {};
      for (let i = this.pick([0, 0, 1, 2]); i > 0; i--)
        made[this.pick(optionNames)] = this.chance(0.5) ? this.number() : this.anything();
      return made;
    }
    if (/dataset|other|choice/i.test(name)) return this.chance(0.5) ? this.dataset() : [this.dataset()];
    if (name.startsWith('...')) return this.dataset();
    return this.chance(0.7) ? this.number() : this.anything();
  }
}

it('pipelines give elements or one of our errors', () => {
  const made = methods(Dataset).map((name) => ({ name, of: null as string | null }));
  const all = [...made, ...methods(Dataset.prototype).map((name) => ({ name, of: 'dataset' }))];
  expect(all.length).toBeGreaterThan(40);
  const findings = fuzz(all, ROUNDS, ({ name, of }, random, found) => {
    const a = new PipelineArguments(random, { textless: true });
    const owner = of === null ? Dataset : a.dataset();
    const method = (owner as unknown as Record<string, AnyFunction>)[name] as AnyFunction;
    const args = parametersOf(method).map((n) => a.value(n));
    const where = (): string => `${of ?? 'Dataset'}.${name}(${args.map(show).join(', ')})`;
    const before = process.cpuUsage();
    try {
      const result = method.apply(owner, args);
      if (result instanceof Dataset) {
        let seen = 0;
        for (const _ of result) if (++seen === 3) break;
        result.cardinality();
        void result.elementSpec;
      }
      // What is wrong later shows in tests of its own.
      if (result instanceof Promise) result.catch(() => undefined);
      found.values++;
    } catch (error) {
      found.isOwn(error, name, where);
    }
    const took = workOf(before);
    if (took > LONGEST_WORK_MS) found.add(`${name} is slow`, `${where()}: ${took} ms`);
  });
  expect(findings.list('pipelines').slice(0, 30)).toEqual([]);
  expect(findings.values).toBeGreaterThan(findings.calls / 20);
});
