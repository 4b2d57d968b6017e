// Against TensorFlow: tools/golden/data.py holds the same pipelines.
import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { concat, constant, debugging, type Tensor, zeros } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { DatasetSpec, type ElementSpec } from '../elements/element-spec.ts';
import { values } from '../testing/elements.ts';
import { Dataset } from './dataset.ts';

const D = Dataset;
const golden: {
  readonly errors: Readonly<Record<string, string>>;
  readonly pipelines: Readonly<
    Record<string, { readonly cardinality: number; readonly shapes: unknown; readonly elements: unknown[] }>
  >;
} = JSON.parse(readFileSync(new URL('../../golden/transformations.json', import.meta.url), 'utf8'));

const ragged = (lengths: readonly number[]): Dataset<Tensor> =>
  D.fromGenerator(() => lengths.map((n, i) => new Float32Array(n).fill(i + 1)), {
    outputSignature: new TensorSpec([null]),
  });
const matrices = (): Dataset<Tensor> =>
  D.fromGenerator(
    () =>
      [
        [1, 3],
        [2, 1],
        [3, 2],
      ].map(([m, n]) =>
        constant(
          Array.from({ length: m as number }, (_, r) =>
            Array.from({ length: n as number }, (_, c) => r * 10 + c),
          ),
        ),
      ),
    { outputSignature: new TensorSpec([null, null]) },
  );
const records = () => D.fromTensorSlices({ a: [1, 2, 3], b: [4, 5, 6] });
const texts = () =>
  D.fromGenerator(
    () => [
      { x: [1, 2], n: 'q' },
      { x: [3], n: 'r' },
    ],
    { outputSignature: { x: new TensorSpec([null], 'int32'), n: new TensorSpec([], 'string') } },
  );
const length = (x: Tensor): number | undefined => x.shape[0];
const words = (): Dataset<Tensor> =>
  D.fromGenerator(() => [['a'], ['b', 'c'], ['d', 'e', 'f']].map((w) => constant(w)), {
    outputSignature: new TensorSpec([null], 'string'),
  });
const number = (x: Tensor): number => x.item();
const int64 = (n: number): Tensor => constant(n, 'int64');

const pipelines: Readonly<Record<string, () => Dataset<unknown>>> = {
  range: () => D.range(2, 11, 3),
  'range down': () => D.range(5, 0, -2),
  slices: () =>
    D.fromTensorSlices({
      a: [
        [1, 2],
        [3, 4],
      ],
      b: [constant([5, 6]), constant(['x', 'y'])],
    }),
  tensors: () => D.fromTensors([constant([1, 2]), constant(3)]),
  batch: () => D.range(8).batch(3),
  'batch whole': () => D.range(8).batch(3, { dropRemainder: true }),
  'batch of batch': () => D.range(9).batch(2).batch(2, { dropRemainder: true }),
  padded: () => ragged([1, 3, 2, 4, 0]).paddedBatch(2),
  'padded to 5': () => ragged([1, 3, 2]).paddedBatch(2, { paddedShapes: [5], paddingValues: -1 }),
  'padded matrices': () => matrices().paddedBatch(3, { paddingValues: 9 }),
  'padded axis': () => matrices().paddedBatch(2, { paddedShapes: [3, null], dropRemainder: true }),
  'padded words': () => words().paddedBatch(3, { paddingValues: '-' }),
  unbatch: () =>
    D.fromTensorSlices([
      constant([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
      constant([7, 8, 9]),
    ])
      .batch(2)
      .unbatch(),
  rebatch: () => D.range(10).batch(4).rebatch(3),
  'rebatch sizes': () => D.range(10).batch(4).rebatch([2, 1]),
  'rebatch whole': () => D.range(10).batch(4).rebatch([3, 2], { dropRemainder: true }),
  window: () => D.range(7).window(3),
  'window shift': () => D.range(7).window(3, { shift: 1, dropRemainder: true }),
  'window stride': () => D.range(10).window(3, { shift: 2, stride: 2 }),
  'window stride whole': () => D.range(10).window(3, { shift: 2, stride: 2, dropRemainder: true }),
  'window gaps': () => D.range(10).window(2, { shift: 4 }),
  'window tuple': () =>
    D.zip(D.range(4), D.range(10, 14))
      .window(2)
      .flatMap((a, b) => D.zip(a.batch(2), b.batch(2))),
  zip: () => D.zip({ x: D.range(3), y: [D.range(5), D.range(10, 14)] }),
  concatenate: () => D.range(3).concatenate(D.range(7, 9)),
  interleave: () =>
    D.range(1, 6).interleave((x) => D.fromTensors(x).repeat(6), { cycleLength: 2, blockLength: 4 }),
  'interleave uneven': () =>
    D.range(0, 7).interleave((x) => D.fromTensors(x).repeat(number(x)), { cycleLength: 3, blockLength: 2 }),
  'interleave one': () =>
    D.range(4).interleave((x) => D.range(number(x)), { cycleLength: 1, blockLength: 3 }),
  'flat map': () => D.range(4).flatMap((x) => D.range(number(x))),
  filter: () => D.range(10).filter((x) => x.mod(3).equal(1)),
  'take while': () => D.range(10).takeWhile((x) => x.less(4)),
  'take skip': () => D.range(10).skip(2).take(5),
  'take all': () => D.range(3).take(-1),
  'skip all': () => D.range(3).skip(-1),
  shard: () => D.range(10).shard(3, 1),
  repeat: () => D.range(3).repeat(2),
  'repeat batch': () => D.range(5).repeat(2).batch(4),
  scan: () => D.range(6).scan(int64(0), (s, x) => [s.add(x), s.mul(x)]),
  enumerate: () => D.range(10, 13).enumerate(5),
  unique: () => D.fromTensorSlices([1, 37, 2, 37, 2, 1]).unique(),
  choose: () =>
    D.chooseFromDatasets([D.fromTensors(1).repeat(2), D.fromTensors(2).repeat(5)], D.range(2).repeat(4), {
      stopOnEmptyDataset: false,
    }),
  'choose until': () =>
    D.chooseFromDatasets([D.fromTensors(1).repeat(2), D.fromTensors(2).repeat(5)], D.range(2).repeat(4)),
  group: () =>
    D.range(11).groupByWindow(
      (x) => x.mod(3),
      (_, d) => d.batch(2),
      { windowSize: 3 },
    ),
  bucket: () => ragged([1, 5, 2, 7, 3, 8, 1]).bucketBySequenceLength((x) => x.shape[0], [3, 6], [2, 2, 2]),
  'map structure': () => D.range(3).map((x) => ({ d: x.mul(2), t: [x, x.cast('float32').div(2)] })),
  counter: () => D.counter({ start: 3, step: 2 }).take(3),
  infinite: () => D.range(3).repeat(),
  'interleave several': () =>
    D.range(9).interleave((x) => D.fromTensors(x).repeat((number(x) * 5) % 4), {
      cycleLength: 3,
      blockLength: 2,
      numParallelCalls: 3,
    }),
  'map nested': () =>
    D.zip([D.range(3), [D.range(3), D.range(1, 4)]]).map((x, yz) => x.add(yz[0].mul(yz[1]))),
  'scan pairs': () => D.zip(D.range(3), D.range(4)).scan(int64(0), (s, x) => [s.add(x[0]), [s, x[1]]]),
  'unique words': () => D.fromTensorSlices(['a', 'b', 'a']).unique(),
  'unique rows': () =>
    D.fromTensorSlices([
      [1, 2],
      [1, 2],
      [2, 1],
    ]).unique(),
  'window structure': () => records().window(2),
  'window of window': () =>
    D.range(6)
      .window(2)
      .window(2)
      .flatMap((w) => w.flatMap((v) => v.batch(2))),
  'window batches': () =>
    records()
      .window(2, { shift: 1, dropRemainder: true })
      .flatMap((w) => D.zip(w).batch(2)),
  'group sizes': () =>
    D.range(10).groupByWindow(
      (x) => x.mod(2),
      (_, d) => d.batch(10),
      { windowSizeFunc: (key) => key + 1 },
    ),
  'bucket to boundary': () =>
    ragged([1, 2, 3, 1, 2]).bucketBySequenceLength(length, [2, 4], [2, 2, 2], { padToBucketBoundary: true }),
  'bucket whole': () =>
    ragged([1, 2, 3, 4, 5, 6, 2, 1]).bucketBySequenceLength(length, [2, 4], [2, 2, 2], {
      dropRemainder: true,
    }),
  'bucket values': () =>
    ragged([1, 2, 3]).bucketBySequenceLength(length, [2, 4], [2, 2, 2], { paddingValues: -1 }),
  'bucket as they are': () =>
    ragged([2, 2, 1]).bucketBySequenceLength(length, [2], [2, 2], { noPadding: true }),
  'padded structure': () =>
    texts().paddedBatch(2, { paddedShapes: { x: [4], n: [] }, paddingValues: { x: -1, n: '' } }),
  'padded scalars': () => D.range(5).paddedBatch(2),
  'padded rows': () =>
    D.fromTensorSlices([
      [1, 2],
      [3, 4],
    ]).paddedBatch(2),
  'padded truths': () =>
    (
      D.fromGenerator(() => [[true], [true, true]], {
        outputSignature: new TensorSpec([null], 'bool'),
      }) as Dataset<Tensor>
    ).paddedBatch(2),
  'rebatch halves': () => D.range(8).batch(4, { dropRemainder: true }).rebatch(2),
  'choose some': () =>
    D.chooseFromDatasets(
      [D.range(1), D.range(10, 13)],
      D.fromTensorSlices(constant([0, 0, 1, 0, 1], 'int64')),
      { stopOnEmptyDataset: false },
    ),
  'sample one': () => D.sampleFromDatasets([D.range(2), D.range(10, 13)], { weights: [0, 1] }),
  'resample none': () =>
    D.range(4)
      .rejectionResample(() => constant(0, 'int32'), [1, 0], { initialDist: [1, 0] })
      .map((_, x) => x),
  'ignore errors': () =>
    D.fromTensorSlices([1, 0, 2])
      .map((x) => debugging.checkNumerics(constant(1).div(x), 'not finite'))
      .ignoreErrors(),
  'concatenate shapes': () => D.fromTensors(constant([1])).concatenate(D.fromTensors(constant([1, 2]))),
  'counter halves': () => D.counter({ start: 0.5, step: 0.25, outputType: 'float32' }).take(3),
  'enumerate below 0': () => D.range(2).enumerate(-3),
  'unbatch known': () => D.range(7).batch(3, { dropRemainder: true }).unbatch(),
  reduce: () =>
    D.fromTensors(
      D.range(5).reduce([int64(0), int64(1)], ([sum, product], x) => [sum.add(x), product.mul(x.add(1))]),
    ),
  'reduce grows': () =>
    D.fromTensors(
      D.range(3).reduce(zeros([0], { dtype: 'int64' }), (s, x) => concat([s, x.reshape([1])], 0)),
    ),
};

/** Pipelines whose spec only calls of plain code tell. */
const unknown = Object.keys(golden.pipelines).filter((name) =>
  /interleave|flat map|window|group|bucket/.test(name),
);

function shapes(spec: ElementSpec): unknown {
  if (spec instanceof TensorSpec) return spec.shape === null ? null : { shape: spec.shape };
  if (spec instanceof DatasetSpec) return { window: shapes(spec.elementSpec as ElementSpec) };
  if (Array.isArray(spec)) return spec.map(shapes);
  return Object.fromEntries(Object.entries(spec).map(([k, v]) => [k, shapes(v as ElementSpec)]));
}

it('has a pipeline for each golden one', () => {
  expect(Object.keys(pipelines).sort()).toEqual(Object.keys(golden.pipelines).sort());
});

describe('elements', () => {
  it.each(Object.keys(golden.pipelines))('%s', (name) => {
    const expected = golden.pipelines[name] as (typeof golden.pipelines)[string];
    const dataset = (pipelines[name] as () => Dataset<unknown>)();
    expect(values(dataset.take(20))).toEqual(expected.elements);
    // What TensorFlow does not know may be known.
    if (expected.cardinality !== -2) expect(dataset.cardinality()).toBe(expected.cardinality);
    // Behind functions that run as plain code nothing is known.
    const { elementSpec } = dataset;
    if (elementSpec !== null) expect(shapes(elementSpec)).toEqual(expected.shapes);
    else expect(unknown).toContain(name);
  });
});

describe('errors', () => {
  const failing: Readonly<Record<string, () => unknown>> = {
    'batch shapes': () => [...ragged([1, 2]).batch(2)],
    'padded too small': () => [...ragged([1, 3]).paddedBatch(2, { paddedShapes: [2] })],
    cardinality: () => [...D.range(5).assertCardinality(4)],
    'cardinality few': () => [...D.range(3).assertCardinality(4)],
    'single none': () => D.range(0).getSingleElement(),
    'single several': () => D.range(2).getSingleElement(),
    'reduce dtype': () => D.range(3).reduce(constant(0, 'int32'), (_, x) => x.cast('float32')),
    'scan dtype': () => D.range(3).scan(constant(0, 'int32'), (s, x) => [x, s]),
    choice: () => [...D.chooseFromDatasets([D.range(2), D.range(2)], D.range(2, 3))],
    'generated shape': () => [
      ...D.fromGenerator(() => [[1]], { outputSignature: new TensorSpec([2], 'int32') }),
    ],
    predicate: () => D.range(3).filter((x) => x),
    'many calls': () => D.range(3).interleave(() => D.range(2), { cycleLength: 2, numParallelCalls: 3 }),
  };
  /** The sentence, without the name of the op. */
  const sentence = (name: string): string =>
    (golden.errors[name] as string)
      .replace(/^[^}]*}}/, '')
      .replace(/ \[Op:.*/, '')
      .replace(/^[A-Za-z]+Error: /, '')
      .trim();

  it.each(['cardinality', 'cardinality few', 'batch shapes'])('%s: in the words of TensorFlow', (name) => {
    expect(failing[name]).toThrow(sentence(name).slice(0, 60));
  });
  it('has a failure for each golden one', () => {
    expect(Object.keys(failing).sort()).toEqual(Object.keys(golden.errors).sort());
  });
  it.each(Object.keys(failing))('%s', (name) => {
    // Python's errors, of what is wrong before anything runs, are invalid arguments here.
    const codes: Readonly<Record<string, string>> = {
      FailedPreconditionError: 'FAILED_PRECONDITION',
      DataLossError: 'DATA_LOSS',
    };
    const [kind = ''] = (golden.errors[name] as string).split(':');
    expect(failing[name]).toThrow(expect.objectContaining({ code: codes[kind] ?? 'INVALID_ARGUMENT' }));
  });
});
