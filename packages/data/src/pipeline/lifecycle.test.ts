// What a pass leaves behind when it ends, fails or is left: nothing open, and a state that can be gone on with.
import '@eagre/backend-js';
import type { Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { values, valuesLater } from '../testing/elements.ts';
import { Dataset } from './dataset.ts';
import { INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from './options.ts';

const floats = (n: number): Dataset<Tensor> => Dataset.range(n, { outputType: 'float32' });
const refuse = (x: Tensor): Tensor => {
  if (x.item() === 2) throw new Error('bad');
  return x;
};

let open = 0;
const counting = (): Dataset<Tensor> =>
  Dataset.fromGenerator(function* () {
    open++;
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      open--;
    }
  });
const countingLater = (): Dataset<Tensor> =>
  Dataset.fromGenerator(async function* () {
    open++;
    try {
      for (let i = 0; ; i++) yield await Promise.resolve(i);
    } finally {
      open--;
    }
  });

describe('a loop closes what it opened', () => {
  const left: Readonly<Record<string, (d: Dataset<Tensor>) => Dataset<unknown>>> = {
    'that ends with take': (d) => d.take(2),
    'that ends with takeWhile': (d) => d.takeWhile((x) => x.less(3)),
    'that ends with zip': (d) => Dataset.zip([d, floats(2)]),
    'that fails': (d) => d.map(refuse, { runEagerly: true }).batch(2),
  };
  it.each(Object.keys(left))('%s', async (name) => {
    const make = left[name] as (typeof left)[string];
    const fails = name === 'that fails';
    const pass = (): unknown => values(make(counting()));
    if (fails) expect(pass).toThrow('bad');
    else pass();
    expect(open).toBe(0);
    const later = valuesLater(make(countingLater()));
    if (fails) await expect(later).rejects.toThrow('bad');
    else await later;
    expect(open).toBe(0);
  });
  it('and a pass by hand goes on behind an error', () => {
    const iterator = counting().map(refuse, { runEagerly: true }).iterator();
    expect([iterator.next(), iterator.next()].map((r) => r.value?.item())).toEqual([0, 1]);
    expect(() => iterator.next()).toThrow('bad');
    expect(iterator.next().value?.item()).toBe(3);
    expect(open).toBe(1);
    iterator.close();
    expect(open).toBe(0);
  });
});

describe('states', () => {
  it('of a closed pass are where it was', () => {
    const cached = floats(4).cache();
    const first = cached.iterator();
    first.next();
    first.close();
    const second = cached.iterator();
    second.restoreState(first.saveState());
    expect([...second].map((x) => x.item())).toEqual([1, 2, 3]);
    expect(values(cached)).toEqual([0, 1, 2, 3]);
    const loop = cached[Symbol.iterator]();
    loop.return();
    expect(() => loop.saveState()).toThrow(expect.objectContaining({ code: 'FAILED_PRECONDITION' }));
  });
  it('of a whole pass are followed by the pass that would have followed', () => {
    const make = (): Dataset<Tensor> => floats(9).shuffle(9, { seed: 2 });
    const dataset = make();
    const first = dataset.iterator();
    for (const _ of first);
    const state = first.saveState();
    const other = make();
    other.iterator().restoreState(state);
    expect(values(other)).toEqual(values(dataset));
  });
  it('that lack something are refused', () => {
    const iterator = floats(4).batch(2).iterator();
    const { kinds } = iterator.saveState() as { kinds: string };
    for (const part of [{ input: 0 }, { own: {} }, []])
      expect(() => iterator.restoreState({ kinds, iterator: part as never })).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      );
  });
  it.each(['sync', 'async'])('of datasets that share a shuffled one go on alike, %s', async (kind) => {
    const make = (): Dataset<Tensor> => {
      const inner = floats(4).shuffle(4, { seed: 1 });
      const fn = kind === 'sync' ? () => inner : async () => inner;
      return floats(7).interleave(fn as () => Dataset<Tensor>, { cycleLength: 3 });
    };
    const all = await valuesLater(make());
    for (let at = 0; at < all.length; at++) {
      const first = make().iterator();
      for (let i = 0; i < at; i++) await first.nextAsync();
      const second = make().iterator();
      second.restoreState(first.saveState());
      const rest: number[] = [];
      for await (const x of second) rest.push(x.item());
      expect(rest, `from ${at}`).toEqual(all.slice(at));
    }
  });
});

describe('repeat', () => {
  it('goes on behind a round without elements, unless it has no end', () => {
    let calls = 0;
    const odd = floats(1).filter(() => calls++ % 2 === 1, { runEagerly: true });
    expect(values(odd.repeat(4))).toEqual([0, 0]);
    expect(
      values(
        floats(3)
          .filter((x) => x.less(0))
          .repeat(),
      ),
    ).toEqual([]);
  });
  it('of an unknown number of elements is infinite', () => {
    const some = floats(3).filter((x) => x.greater(0));
    expect(some.repeat().cardinality()).toBe(INFINITE_CARDINALITY);
    expect(some.repeat(2).cardinality()).toBe(UNKNOWN_CARDINALITY);
  });
});

it('predicates are truth values, keys are integers', () => {
  const code = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
  expect(() => floats(3).filter((x) => x.sub(1))).toThrow(code);
  expect(() =>
    floats(3)
      .batch(2)
      .takeWhile((x) => x.greater(1)),
  ).toThrow(code);
  expect(() => values(floats(3).filter((x) => x.item(), { runEagerly: true }))).toThrow(code);
  const halves = floats(3).groupByWindow(
    (x) => x.div(2),
    (_, d) => d,
    { windowSize: 2 },
  );
  expect(() => values(halves)).toThrow(/integer, got 0.5/);
  const nan = floats(1).groupByWindow(
    (x) => x.div(0).sub(x.div(0)),
    (_, d) => d,
    { windowSize: 2 },
  );
  expect(() => values(nan)).toThrow(/integer/);
});

describe('ignoreErrors comes to an end', () => {
  const failing: Readonly<Record<string, () => Dataset<unknown>>> = {
    'behind a source that cannot begin': () =>
      Dataset.fromGenerator(() => {
        throw new Error('bad');
      }),
    'behind a source that is none': () => Dataset.fromGenerator(() => 3 as never),
    'behind a source that fails': () =>
      Dataset.fromGenerator(() => ({
        [Symbol.iterator]: () => ({
          next(): never {
            throw new Error('bad');
          },
        }),
      })),
    'behind a number of elements that is wrong': () => floats(3).assertCardinality(5),
    'behind too many': () => floats(3).assertCardinality(1),
    'behind functions that make no dataset': () => floats(3).flatMap((x) => x as never),
    'behind a repetition': () => floats(3).map(refuse, { runEagerly: true }).batch(2).repeat(2),
  };
  it.each(Object.keys(failing))('%s', async (name) => {
    const make = failing[name] as () => Dataset<unknown>;
    expect(values(make().ignoreErrors()).length).toBeLessThan(7);
    expect((await valuesLater(make().prefetch(1).ignoreErrors())).length).toBeLessThan(7);
    expect(() => values(make())).toThrow();
  });
});

it('a state stays what it is', () => {
  const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' });
  const d = floats(3);
  expect(() => d.reduce(0, (s, x) => [s, x])).toThrow(/the new state is .* the initial one/);
  expect(() => d.reduce(0, (_, x) => String(x.item()), { runEagerly: true })).toThrow(refused);
  expect(() => values(d.scan(0, (_, x) => [x.item() > 0, x] as const, { runEagerly: true }))).toThrow(
    /the new state is .*bool/,
  );
});

it('buckets have boundaries that ascend', () => {
  const bucketed =
    (...boundaries: number[]) =>
    () =>
      floats(3).bucketBySequenceLength((x) => x.size, boundaries, [1, 1, 1]);
  expect(bucketed(5, 2)).toThrow(/must ascend/);
  expect(bucketed(5, 5)).toThrow(/must ascend/);
  expect(bucketed(2, Number.NaN)).toThrow(/must ascend/);
});

it('counts what may be drawn only', () => {
  const cardinality = (...weights: number[]): number =>
    Dataset.sampleFromDatasets([floats(3), floats(2)], { weights }).cardinality();
  expect([cardinality(1, 1), cardinality(0, 1), cardinality(1, 0)]).toEqual([5, 2, 3]);
});

it('shuffles everything where the number is not known', () => {
  const some = floats(9).filter((x) => x.greater(0));
  const order = values(some.shuffle(some.cardinality(), { seed: 1 })) as number[];
  expect(order).not.toEqual([...order].sort());
  expect([...order].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it('says what there is in the place of what there is not', () => {
  const code = expect.objectContaining({ code: 'UNIMPLEMENTED' });
  expect(() => floats(3).snapshot('folder', { shardFunc: () => 0 })).toThrow(code);
});

it('pads to the boundary of a bucket', () => {
  const lengths = (...all: number[]): Dataset<Tensor> =>
    Dataset.fromGenerator(() => all.map((n) => new Float32Array(n).fill(1)), {
      outputSignature: new TensorSpec([null]),
    });
  const bucketed = (d: Dataset<Tensor>): Dataset<Tensor> =>
    d.bucketBySequenceLength((x) => x.shape[0], [5], [2, 2], { padToBucketBoundary: true });
  // TensorFlow 2.21 gives the same.
  expect(values(bucketed(lengths(1, 2, 3)))).toEqual([
    [
      [1, 0, 0, 0],
      [1, 1, 0, 0],
    ],
    [[1, 1, 1, 0]],
  ]);
  expect(() => values(bucketed(lengths(5)))).toThrow(/last boundary, 5/);
  const unknown = floats(2).map((x) => [x.item()], { runEagerly: true });
  expect(() => bucketed(unknown)).toThrow(/outputSignature/);
});
