// How processes divide datasets, held against TensorFlow's auto-sharding; each process's part is read here by itself.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError } from '@eagre/core';
import { replicaBatchSizes } from '@eagre/data/internal';
import * as tf from 'eagre';
import { afterAll, describe, expect, test } from 'vitest';
import { mirrored } from './testing/strategies.ts';

type Policy = tf.data.AutoShardPolicy;
interface Golden {
  readonly batchSizes: readonly {
    readonly arguments: readonly [number, number, number];
    readonly sizes: number[][];
  }[];
  readonly local: readonly {
    readonly replicas: number;
    readonly count: number;
    readonly size: number;
    readonly policy: Policy;
    readonly parts: unknown;
  }[];
  readonly cases: readonly {
    readonly source: string;
    readonly policy: Policy;
    readonly workers: number;
    readonly size: number;
    readonly read: readonly (string | readonly (readonly number[])[])[];
  }[];
}
const golden = JSON.parse(
  readFileSync(new URL('../golden/auto_shard.json', import.meta.url), 'utf8'),
) as Golden;

const folder = mkdtempSync(join(tmpdir(), 'eagre-shard-'));
afterAll(() => rmSync(folder, { recursive: true }));
const files = [0, 1, 2, 3].map((i) => {
  const path = join(folder, `${i}.txt`);
  const lines = Array.from({ length: i < 3 ? 5 : 2 }, (_, k) => `${i * 10 + k}\n`);
  writeFileSync(path, lines.join(''));
  return path;
});

const { Dataset, SHARD_HINT, TextLineDataset } = tf.data;
type Numbers = tf.data.Dataset<tf.Tensor>;
const numbers = (lines: Numbers): Numbers =>
  lines.map((line: tf.Tensor) => tf.strings.toNumber(line, 'int64'), { runEagerly: true }) as Numbers;
const pairs = (a: Numbers, b: Numbers, fn: (x: tf.Tensor, y: tf.Tensor) => tf.Tensor): Numbers =>
  Dataset.zip([a, b] as const).map(fn as never) as unknown as Numbers;
const hinted = (from: number): Numbers => Dataset.range(from, from + 11).shard(SHARD_HINT, SHARD_HINT);
const thousands = (a: tf.Tensor, b: tf.Tensor): tf.Tensor => a.mul(tf.constant(1000, 'int64')).add(b);
const lines = (names: readonly string[]): Numbers => numbers(new TextLineDataset(names));
const list = (): Numbers => Dataset.listFiles(`${folder}/*.txt`, { shuffle: false });

const sources: Readonly<Record<string, () => Numbers>> = {
  range: () => Dataset.range(11),
  lines: () => lines(files),
  oneFile: () => lines(files.slice(0, 1)),
  listed: () => numbers(new TextLineDataset(list())),
  interleaved: () =>
    numbers(
      Dataset.fromTensorSlices(tf.constant(files)).interleave(
        (f: tf.Tensor) => new TextLineDataset(f.strings() as string[]),
        {
          cycleLength: 2,
        },
      ) as Numbers,
    ),
  flat: () =>
    numbers(list().flatMap((f: tf.Tensor) => new TextLineDataset(f.strings() as string[])) as Numbers),
  zipped: () => pairs(lines(files), lines([...files].reverse()), (a, b) => a.add(b)),
  zippedRange: () => pairs(lines(files), Dataset.range(100), thousands),
  joined: () => lines(files).concatenate(lines(files.slice(0, 2))),
  repeated: () => lines(files).repeat(2),
  hinted: () => hinted(0).map((x: tf.Tensor) => x.mul(tf.constant(2, 'int64'))) as Numbers,
  twoHints: () => pairs(hinted(0), hinted(100), thousands),
};

/** A strategy of a process among others, which need not be there to read a dataset. */
class Among extends tf.distribute.Strategy {
  readonly #place: { readonly count: number; readonly index: number };
  constructor(count: number, index: number) {
    const alone = (values: readonly tf.Tensor[]): readonly tf.Tensor[] => values;
    super({
      devices: ['/cpu:0'],
      collectives: {
        size: count,
        rank: index,
        nameOf: (rank) => `worker ${rank}`,
        allReduce: alone,
        allGather: alone,
        broadcast: alone,
        fromOwners: alone,
      },
    });
    this.#place = { count, index };
  }
  override get inputPipelines(): { readonly count: number; readonly index: number } {
    return this.#place;
  }
  /** The others end with this one. */
  override allAgree(yes: boolean): boolean {
    return yes;
  }
}

const read = (strategy: tf.distribute.Strategy, data: tf.data.Dataset<tf.Tensor>): number[][] =>
  [...strategy.experimentalDistributeDataset(data)].map((batch) =>
    Array.from(batch.data() as BigInt64Array, Number),
  );

test.each(golden.batchSizes)(
  'batch sizes of replicas $arguments',
  ({ arguments: [size, count, replicas], sizes }) => {
    expect(sizes.map((_, index) => replicaBatchSizes(size, { count, index }, replicas))).toEqual(sizes);
  },
);

describe('several processes', () => {
  // TensorFlow divides the files of one part and then the elements, so that some get lost.
  const cases = golden.cases.filter(
    ({ source, policy, workers }) => workers > 1 && !(source === 'zippedRange' && policy === 'AUTO'),
  );
  test.each(cases)(
    '$source by $policy, $workers processes, batches of $size',
    ({ source, policy, workers, size, read: expected }) => {
      const make = (): Numbers =>
        (sources[source] as () => Numbers)()
          .batch(size)
          .withOptions({ experimentalDistribute: { autoShardPolicy: policy } });
      // TensorFlow throws in some of the processes, which have too few files; here all do.
      const failure = expected.find((one) => typeof one === 'string');
      for (let index = 0; index < workers; index++) {
        const strategy = new Among(workers, index);
        if (failure !== undefined)
          expect(() => read(strategy, make())).toThrow(expect.objectContaining({ name: failure }));
        else expect(read(strategy, make())).toEqual(expected[index]);
      }
    },
  );

  test('AUTO falls back to DATA where not all elements come from files', () => {
    const parts = [0, 1].map((index) =>
      read(new Among(2, index), (sources['zippedRange'] as () => Numbers)().batch(4)),
    );
    expect(parts[0]?.[0]).toEqual([0, 1001]);
    expect(parts[1]?.[0]).toEqual([2002, 3003]);
  });

  test('each reads other files, however they are shuffled', () => {
    for (const make of [
      () => new TextLineDataset(Dataset.listFiles(`${folder}/*.txt`)),
      () => new TextLineDataset(Dataset.fromTensorSlices(tf.constant(files)).shuffle(4)),
      () =>
        Dataset.listFiles(`${folder}/*.txt`).interleave(
          (f: tf.Tensor) => new TextLineDataset(f.strings() as string[]),
        ),
    ]) {
      const found = [0, 1].flatMap((index) =>
        read(new Among(2, index), numbers(make() as Numbers).batch(4)).flat(),
      );
      expect(found.sort((a, b) => a - b)).toEqual([
        0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 30, 31,
      ]);
    }
  });

  test('a repeated list of files is shuffled anew in each round', () => {
    const data = new TextLineDataset(Dataset.listFiles(`${folder}/*.txt`, { seed: 3 })).repeat(20);
    const rounds = read(new Among(2, 0), numbers(data).batch(4)).flat();
    const orders = new Set(Array.from({ length: 20 }, (_, i) => rounds.slice(i * 10, i * 10 + 10).join()));
    expect(orders.size).toBe(2);
  });

  test('batches whose size is not known before are divided one by one', () => {
    const data = Dataset.fromGenerator(() => [tf.range(5), tf.range(3)]).withOptions({
      experimentalDistribute: { autoShardPolicy: 'OFF' },
    });
    const strategy = new Among(2, 0);
    const got = [...strategy.experimentalDistributeDataset(data)].map((batch) =>
      (batch as tf.Tensor).array(),
    );
    expect(got).toEqual([[0, 1, 2], [3, 4], [0, 1], [2]]);
  });

  test('refuses batches that leave replicas nothing, and options that do not exist', () => {
    const off = Dataset.range(8)
      .batch(2)
      .withOptions({ experimentalDistribute: { autoShardPolicy: 'OFF' } });
    expect(() => read(new Among(3, 0), off)).toThrow(InvalidArgumentError);
    const wrong = { experimentalDistribute: { autoShardPolicy: 'SOME' as 'OFF' } };
    expect(() => Dataset.range(2).withOptions(wrong)).toThrow(InvalidArgumentError);
    const more = { experimentalDistribute: { numDevices: 2 } as object };
    expect(() => Dataset.range(2).withOptions(more)).toThrow(InvalidArgumentError);
    expect(() => Dataset.range(4).shard(SHARD_HINT, 0)).toThrow(InvalidArgumentError);
  });
});

describe('one process', () => {
  test.each(golden.local)(
    '$replicas replicas, $count by $size, $policy',
    ({ replicas, count, size, policy, parts }) => {
      const data = Dataset.range(count)
        .batch(size)
        .withOptions({ experimentalDistribute: { autoShardPolicy: policy } });
      const found = [...mirrored(replicas).experimentalDistributeDataset(data)].map((batch) =>
        (batch as unknown as tf.distribute.PerReplica<tf.Tensor>).values.map((t) =>
          Array.from(t.data() as BigInt64Array, Number),
        ),
      );
      expect(found).toEqual(parts);
    },
  );
});
