import { constant, RaggedTensor, ragged, SparseTensor, sum, type Tensor } from '@eagre/core';
import { RaggedTensorSpec, TensorSpec } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';

const plain = (x: unknown): unknown =>
  JSON.parse(JSON.stringify(x, (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
const all = (dataset: Iterable<unknown>): unknown[] => [...dataset].map(plain);

describe('ragged tensors in datasets', () => {
  const rt = ragged.constant([[1, 2], [], [3], [4, 5, 6]], 'int32');

  test('rows, batches and functions of elements', () => {
    expect(all(Dataset.fromTensorSlices(rt))).toEqual([[1, 2], [], [3], [4, 5, 6]]);
    expect(all(Dataset.fromTensors(rt))).toEqual([[[1, 2], [], [3], [4, 5, 6]]]);
    const pairs = Dataset.fromTensorSlices({ x: rt, y: constant([0, 1, 2, 3], 'int32') });
    expect(all(pairs.take(1))).toEqual([{ x: [1, 2], y: 0 }]);
    const sums = Dataset.fromTensors(rt).map((x) => sum(x as never, 1));
    expect(all(sums)).toEqual([[3, 0, 3, 15]]);
  });

  test('batches of the rows of a ragged tensor are ragged, as in TensorFlow', () => {
    const rows = Dataset.fromTensorSlices(rt);
    const shape = (d: { readonly elementSpec: unknown }): unknown => [
      (d.elementSpec as TensorSpec).shape,
      (d.elementSpec as object).constructor.name,
    ];
    expect(shape(rows)).toEqual([[null], 'RaggedRowSpec']);
    const batches = rows.batch(3);
    expect(shape(batches)).toEqual([[null, null], 'RaggedTensorSpec']);
    expect([...batches].every((b) => (b as unknown) instanceof RaggedTensor)).toBe(true);
    expect(all(batches)).toEqual([[[1, 2], [], [3]], [[4, 5, 6]]]);
    expect(shape(rows.batch(2, { dropRemainder: true }))).toEqual([[2, null], 'RaggedTensorSpec']);
    expect(all(rows.batch(3, { dropRemainder: true }))).toEqual([[[1, 2], [], [3]]]);
    expect(all(rows.filter((x) => (x as unknown as Tensor).sum().greater(0)).batch(2))).toEqual([
      [[1, 2], [3]],
      [[4, 5, 6]],
    ]);
    expect(all(rows.take(2).concatenate(rows).batch(4))).toEqual([
      [[1, 2], [], [1, 2], []],
      [[3], [4, 5, 6]],
    ]);
    expect(all(rows.repeat(2).cache().prefetch(1).batch(8))).toEqual([[...rt.toList(), ...rt.toList()]]);
    expect(all(rows.batch(2).batch(2))).toEqual([
      [
        [[1, 2], []],
        [[3], [4, 5, 6]],
      ],
    ]);
    const pairs = Dataset.fromTensorSlices({ x: rt, y: constant([0, 1, 2, 3], 'int32') });
    expect(all(pairs.batch(4))).toEqual([{ x: rt.toList(), y: [0, 1, 2, 3] }]);
    expect(all(pairs.batch(3).map(({ x }) => sum(x as never, 1)))).toEqual([[3, 0, 3], [15]]);
    // Functions make other tensors of them.
    expect(() => all(rows.map((x) => (x as unknown as Tensor).mul(2)).batch(2))).toThrow('different shapes');
    expect(rt.rowSplits.dtype).toBe((([...batches] as unknown[])[0] as RaggedTensor).rowSplits.dtype);
  });

  test('unbatch gives the rows of ragged and sparse tensors', () => {
    const batches = Dataset.fromTensorSlices(rt).batch(3);
    const rows = batches.unbatch();
    expect(all(rows)).toEqual(rt.toList());
    expect(all(rows.batch(4))).toEqual([rt.toList()]);
    const wide = RaggedTensor.fromRowLengths(
      constant(
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        'int32',
      ),
      [2, 0, 1],
    );
    const again = Dataset.fromTensorSlices(wide).batch(2);
    expect((again.elementSpec as RaggedTensorSpec).shape).toEqual([null, null, 2]);
    expect(([...again] as unknown as RaggedTensor[]).map((b) => [b.raggedRank, b.toList()])).toEqual([
      [
        1,
        [
          [
            [1, 2],
            [3, 4],
          ],
          [],
        ],
      ],
      [1, [[[5, 6]]]],
    ]);
    const deep = ragged.constant([[[1], [2, 3]], [[]], [[4]]], 'int32');
    expect(all(Dataset.fromTensorSlices(deep).batch(2).unbatch().batch(3))).toEqual([deep.toList()]);
    const st = new SparseTensor(
      [
        [0, 1],
        [2, 0],
      ],
      [5, 7],
      [3, 2],
    );
    expect(all(Dataset.fromTensorSlices(st).batch(2).unbatch())).toEqual(all(Dataset.fromTensorSlices(st)));
  });

  test('batches of ragged elements have one more dimension', () => {
    const deep = ragged.constant([[[1], [2, 3]], [[]], [[4]]], 'int32');
    const batches = Dataset.fromTensorSlices(deep).batch(2);
    expect([...batches].map(plain)).toEqual([[[[1], [2, 3]], [[]]], [[[4]]]]);
    const [first] = batches as unknown as Iterable<RaggedTensor>;
    expect(first).toBeInstanceOf(RaggedTensor);
    expect((batches.elementSpec as RaggedTensorSpec).raggedRank).toBe(2);
  });

  test('raggedBatch gives ragged tensors', () => {
    const rows = Dataset.fromGenerator(
      function* () {
        yield [1, 2];
        yield [3];
        yield [4, 5, 6];
      },
      { outputSignature: new TensorSpec([null], 'int32') },
    );
    const batches = rows.raggedBatch(2);
    expect([...batches].every((b) => (b as unknown) instanceof RaggedTensor)).toBe(true);
    expect(all(batches)).toEqual([[[1, 2], [3]], [[4, 5, 6]]]);
    expect(String(batches.elementSpec)).toBe(String(new RaggedTensorSpec([null, null], 'int32')));
    expect(all(batches.map((b) => sum(b as never, 1)))).toEqual([[3, 3], [15]]);
  });
});

describe('sparse tensors in datasets', () => {
  const st = new SparseTensor(
    [
      [0, 1],
      [2, 0],
    ],
    [5, 7],
    [3, 2],
  );
  test('rows and batches', () => {
    expect(all(Dataset.fromTensorSlices(st))).toEqual([
      [0, 5],
      [0, 0],
      [7, 0],
    ]);
    const batches = Dataset.fromTensorSlices(st).batch(2);
    expect([...batches].every((b) => (b as unknown) instanceof SparseTensor)).toBe(true);
    expect(all(batches)).toEqual([
      [
        [0, 5],
        [0, 0],
      ],
      [[7, 0]],
    ]);
    const dense = batches.map((b) => (b as unknown as SparseTensor).toDense() as Tensor);
    expect(all(dense)).toEqual(all(batches));
  });
});
