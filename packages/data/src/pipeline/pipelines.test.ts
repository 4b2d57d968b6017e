// Pipelines of any transformations behind each other, against the same on plain arrays: gone through at once, with waiting, saved and restored.
import '@eagre/backend-js';
import type { Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { values } from '../testing/elements.ts';
import { Dataset } from './dataset.ts';
import { stateFromTensor, stateToTensor } from './state.ts';

type Numbers = Dataset<Tensor>;
/** A transformation, and what it does with an array. */
interface Step {
  readonly name: string;
  readonly dataset: (d: Numbers) => Numbers;
  readonly array: (a: readonly number[]) => readonly number[];
  /** Whether it has to be waited for. */
  readonly waits?: boolean;
}

const chunks = (a: readonly number[], size: number): number[][] =>
  Array.from({ length: Math.ceil(a.length / size) }, (_, i) => a.slice(i * size, (i + 1) * size));
const range = (n: number): Numbers => Dataset.range(n, { outputType: 'float32' });
const integer = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

const same = (name: string, dataset: Step['dataset']): fc.Arbitrary<Step> =>
  fc.constant({ name, dataset, array: (a) => a });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({
    name: 'map',
    dataset: (d) => d.map((x) => x.add(1)),
    array: (a) => a.map((x) => x + 1),
  }),
  fc.constant<Step>({
    name: 'map eagerly',
    dataset: (d) => d.map((x) => x.item() * 2, { runEagerly: true }),
    array: (a) => a.map((x) => x * 2),
  }),
  fc.constant<Step>({
    name: 'filter',
    dataset: (d) => d.filter((x) => x.mod(3).notEqual(0)),
    array: (a) => a.filter((x) => x % 3 !== 0),
  }),
  integer(0, 9).map(
    (n): Step => ({ name: `take ${n}`, dataset: (d) => d.take(n), array: (a) => a.slice(0, n) }),
  ),
  integer(0, 4).map(
    (n): Step => ({ name: `skip ${n}`, dataset: (d) => d.skip(n), array: (a) => a.slice(n) }),
  ),
  fc.tuple(integer(1, 3), integer(0, 2)).map(
    ([n, i]): Step => ({
      name: `shard ${n} ${i % n}`,
      dataset: (d) => d.shard(n, i % n),
      array: (a) => a.filter((_, at) => at % n === i % n),
    }),
  ),
  integer(0, 3).map(
    (n): Step => ({
      name: `repeat ${n}`,
      dataset: (d) => d.repeat(n),
      array: (a) => Array.from({ length: n }, () => a).flat(),
    }),
  ),
  integer(1, 5).map(
    (n): Step => ({
      name: `takeWhile ${n * 4}`,
      dataset: (d) => d.takeWhile((x) => x.less(n * 4)),
      array: (a) =>
        a.slice(0, a.findIndex((x) => x >= n * 4) < 0 ? a.length : a.findIndex((x) => x >= n * 4)),
    }),
  ),
  integer(1, 4).map(
    (n): Step => ({
      name: `batch ${n}, sums`,
      dataset: (d) => d.batch(n).map((x) => x.sum()),
      array: (a) => chunks(a, n).map((c) => c.reduce((x, y) => x + y, 0)),
    }),
  ),
  integer(1, 4).map(
    (n): Step => ({
      name: `batch ${n}, whole`,
      dataset: (d) => d.batch(n, { dropRemainder: true }).map((x) => x.sum()),
      array: (a) =>
        chunks(a, n)
          .filter((c) => c.length === n)
          .map((c) => c.reduce((x, y) => x + y, 0)),
    }),
  ),
  fc.tuple(integer(1, 4), integer(1, 4)).map(
    ([n, m]): Step => ({
      name: `batch ${n}, rebatch ${m}, unbatch`,
      dataset: (d) => d.batch(n).rebatch(m).unbatch(),
      array: (a) => a,
    }),
  ),
  fc.tuple(integer(1, 3), integer(1, 3)).map(
    ([size, shift]): Step => ({
      name: `window ${size} ${shift}`,
      dataset: (d) => d.window(size, { shift }).flatMap((w) => w.skip(0)),
      array: (a) =>
        Array.from({ length: Math.ceil(a.length / shift) }, (_, i) =>
          a.slice(i * shift, i * shift + size),
        ).flat(),
    }),
  ),
  fc.constant<Step>({
    name: 'flatMap',
    dataset: (d) => d.flatMap((x) => Dataset.fromTensors(x).repeat(Math.abs(x.item()) % 3)),
    array: (a) => a.flatMap((x) => Array.from({ length: Math.abs(x) % 3 }, () => x)),
  }),
  fc.constant<Step>({
    name: 'scan',
    dataset: (d) => d.scan(0, (s, x) => [s.add(x).mod(50), s.add(x).mod(50)]),
    array: (a) => {
      let s = 0;
      return a.map((x) => (s = (((s + x) % 50) + 50) % 50));
    },
  }),
  fc.constant<Step>({
    name: 'enumerate',
    dataset: (d) => d.enumerate().map((i, x) => x.add(i.cast('float32'))),
    array: (a) => a.map((x, i) => x + i),
  }),
  integer(0, 4).map(
    (n): Step => ({
      name: `concatenate ${n}`,
      dataset: (d) => d.concatenate(range(n)),
      array: (a) => [...a, ...Array(n).keys()],
    }),
  ),
  integer(0, 12).map(
    (n): Step => ({
      name: `zip ${n}`,
      dataset: (d) => Dataset.zip(d, range(n)).map((x, y) => x.sub(y)),
      array: (a) => a.slice(0, n).map((x, i) => x - i),
    }),
  ),
  fc.constant<Step>({
    name: 'unique',
    dataset: (d) => d.unique(),
    array: (a) => [...new Set(a)],
  }),
  fc.constant<Step>({
    name: 'map async',
    dataset: (d) => d.map(async (x) => x.add(3), { numParallelCalls: 3 }),
    array: (a) => a.map((x) => x + 3),
    waits: true,
  }),
  fc.constant<Step>({
    name: 'interleave async',
    dataset: (d) =>
      d.interleave(async (x) => Dataset.fromTensors(x).repeat(2), { cycleLength: 2, numParallelCalls: 2 }),
    array: (a) => chunks(a, 2).flatMap((pair) => [...pair, ...pair]),
    waits: true,
  }),
  same('cache', (d) => d.cache()),
  same('prefetch 2', (d) => d.prefetch(2)),
  same('ignoreErrors', (d) => d.ignoreErrors()),
  same('withOptions', (d) => d.withOptions({ vectorization: false })),
);

const sources: Readonly<Record<string, (n: number) => Numbers>> = {
  rows: range,
  generator: (n) =>
    Dataset.fromGenerator(() => Array(n).keys(), { outputSignature: new TensorSpec([]) }) as Numbers,
  asyncGenerator: (n) =>
    Dataset.fromGenerator(
      async function* () {
        for (let i = 0; i < n; i++) {
          if (i % 3 === 0) await Promise.resolve();
          yield i;
        }
      },
      { outputSignature: new TensorSpec([]) },
    ) as Numbers,
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it.each(Object.keys(sources))('over %s', async (source) => {
  const make = sources[source] as (n: number) => Numbers;
  const pipeline = fc.record({
    size: fc.nat(14),
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    at: fc.nat(8),
  });
  await fc.assert(
    fc.asyncProperty(pipeline, async ({ size, steps, at }) => {
      const dataset = steps.reduce((d, s) => s.dataset(d), make(size));
      // Zeros have signs here as well.
      const expected = steps
        .reduce((a, s) => s.array(a), [...Array(size).keys()] as readonly number[])
        .map((x) => x + 0);
      const says = steps.map((s) => s.name).join(', ');
      const n = dataset.cardinality();
      if (n >= 0) expect(n, says).toBe(expected.length);
      const waits = source === 'asyncGenerator' || steps.some((s) => s.waits);
      if (!waits) expect(values(dataset), says).toEqual(expected);
      // With time for others between the elements, and from a state in the middle.
      const iterator = dataset.iterator();
      let state = stateToTensor(iterator.saveState());
      const seen: number[] = [];
      for await (const x of { [Symbol.asyncIterator]: () => iterator[Symbol.asyncIterator]() }) {
        seen.push(x.item() + 0);
        if (seen.length <= at) {
          await turn();
          state = stateToTensor(iterator.saveState());
        }
      }
      expect(seen, says).toEqual(expected);
      const other = dataset.iterator();
      other.restoreState(stateFromTensor(state));
      const rest: number[] = [];
      for await (const x of other) rest.push(x.item() + 0);
      expect(rest, `${says}, from ${Math.min(at, seen.length)}`).toEqual(
        expected.slice(Math.min(at, seen.length)),
      );
    }),
    { numRuns: 120 },
  );
});
