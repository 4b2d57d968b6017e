// `outputSignature`: what is known of functions that run as plain code.
import '@eagre/backend-js';
import { constant, type Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { values, valuesLater } from '../testing/elements.ts';

const numbers = (n: number): Dataset<Tensor> => Dataset.range(n, { outputType: 'float32' });
const vector = new TensorSpec([null], 'int32');
const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' });

describe('outputSignature', () => {
  it('of a map tells the spec, converts and checks', async () => {
    const lengths = numbers(3).map((x) => new Array<number>(x.item() + 1).fill(7), {
      runEagerly: true,
      outputSignature: vector,
    });
    expect(lengths.elementSpec).toBe(vector);
    expect([...lengths].map((x) => x.dtype)).toEqual(['int32', 'int32', 'int32']);
    expect(values(lengths.raggedBatch(3))).toMatchObject([
      { values: [7, 7, 7, 7, 7, 7], rowSplits: [0, 1, 3, 6] },
    ]);
    const small = lengths.raggedBatch(3, { rowSplitsDtype: 'int32' });
    expect([...small].map(({ rowSplits }) => [rowSplits.dtype, rowSplits.array()])).toEqual([
      ['int32', [0, 1, 3, 6]],
    ]);
    expect(() => lengths.raggedBatch(3, { rowSplitsDtype: 'float32' as 'int32' })).toThrow(refused);
    const padded = lengths.paddedBatch(3, { paddedShapes: [4], paddingValues: -1 });
    expect(values(padded)).toEqual([
      [
        [7, -1, -1, -1],
        [7, 7, -1, -1],
        [7, 7, 7, -1],
      ],
    ]);
    const later = numbers(2).map(async (x) => [x.item()], { outputSignature: vector, numParallelCalls: 2 });
    expect(later.elementSpec).toBe(vector);
    expect(await valuesLater(later)).toEqual([[0], [1]]);
    const wrong = numbers(1).map(() => 'text', { runEagerly: true, outputSignature: vector });
    expect(() => values(wrong)).toThrow(refused);
    expect(() => numbers(1).map((x) => x, { outputSignature: vector })).toThrow(/does not match/);
  });

  it('of functions that make datasets', async () => {
    const made = { outputSignature: new TensorSpec([null], 'float32') };
    const rows = numbers(7)
      .window(3)
      .flatMap((w) => w.batch(3), made);
    expect(rows.elementSpec).toBe(made.outputSignature);
    expect(values(rows.raggedBatch(3))).toMatchObject([
      { values: [0, 1, 2, 3, 4, 5, 6], rowSplits: [0, 3, 6, 7] },
    ]);
    const generated = numbers(2).interleave(
      (x) =>
        Dataset.fromGenerator(async function* () {
          yield x.reshape([1]);
        }),
      { ...made, cycleLength: 2, numParallelCalls: 2 },
    );
    expect(generated.elementSpec).toBe(made.outputSignature);
    expect(await valuesLater(generated)).toEqual([[0], [1]]);
    const groups = numbers(4).groupByWindow(
      (x) => x.mod(2),
      (_, d) => d.batch(2),
      { ...made, windowSize: 2 },
    );
    expect(groups.elementSpec).toBe(made.outputSignature);
    expect(values(groups)).toEqual([
      [0, 2],
      [1, 3],
    ]);
    const other = numbers(2).flatMap(() => Dataset.range(2), made);
    expect(() => values(other)).toThrow(/but outputSignature is/);
    const inside = numbers(2).flatMap(() => Dataset.fromGenerator(() => [constant(1)]), made);
    expect(() => values(inside)).toThrow(/does not match/);
  });
});
