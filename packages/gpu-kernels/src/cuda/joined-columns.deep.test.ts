// Reductions whose pieces the workgroup merges that ends last, on the processor.
import { isHalf, valuesOf } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { columnLanes, columnType, columnValue } from '../kernels/columns.ts';
import { COUNTERS, type Dispatch, MOST_COUNTERS } from '../kernels/kernel.ts';
import { CudaShim, compiler } from '../testing/cuda-shim.ts';
import { joinedMoments, joinedSums } from './joined-columns.ts';

type Float = 'float32' | 'float16' | 'bfloat16';

/** Columns, and how many pieces their rows are cut into. */
const cases: readonly (readonly [dtype: Float, outer: number, n: number, inner: number, pieces: number])[] = [
  ['float32', 1, 1030, 3, 2],
  ['float32', 3, 600, 5, 2],
  ['bfloat16', 1, 4300, 64, 34],
  ['float16', 1, 4230, 66, 34],
  ['bfloat16', 2, 1100, 7, 3],
  ['float32', 1, 140_000, 1, 35],
];
/** It is run a second time, which finds the counters as the first one left them. */
const RUNS = 2;

const bitsOf = (dtype: Float, count: number): Uint8Array => {
  const values = Float32Array.from({ length: count }, (_, i) => ((i * 7919) % 1013) / 256 + 16);
  const words = new Uint32Array(values.buffer);
  if (dtype === 'float32') return new Uint8Array(values.buffer);
  // Multiples of 2^-2 below 32 are exact in both.
  const narrow = Uint16Array.from(words, (word, i) => {
    const value = Math.floor(values[i]! * 4) / 4;
    if (dtype === 'bfloat16') return new Uint32Array(Float32Array.of(value).buffer)[0]! >>> 16;
    return word >= 0 ? halfOf(value) : 0;
  });
  return new Uint8Array(narrow.buffer);
};
const halfOf = (value: number): number => {
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | ((value / 2 ** exponent - 1) * 1024);
};

function valuesIn(dtype: Float, bytes: Uint8Array): Float32Array {
  return isHalf(dtype)
    ? (valuesOf(new Uint16Array(bytes.slice().buffer), dtype) as Float32Array)
    : new Float32Array(bytes.slice().buffer);
}

/** The two results of a reduction of [outer, n, inner], in each order of threads and in both languages. */
function results(
  [dtype, outer, n, inner, pieces]: (typeof cases)[number],
  make: (extra: (bytes: number) => number) => readonly Dispatch[],
): Float32Array[] {
  const scratch: number[] = [];
  const dispatches = make((bytes) => 2 + scratch.push(bytes));
  expect(dispatches).toHaveLength(1);
  const [{ program, operands, params, workgroups }] = dispatches as [Dispatch];
  expect(params[4]).toBe(pieces);
  const garbage = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(0xa7);
  const buffers = [
    bitsOf(dtype, outer * n * inner),
    garbage(4 * outer * inner),
    garbage(4 * outer * inner),
    ...scratch.map(garbage),
    new Uint8Array(4 * MOST_COUNTERS),
  ];
  const used = operands.map((operand) => (operand === COUNTERS ? buffers.length - 1 : operand));
  const made = (['cuda', 'ptx'] as const).flatMap((language) => {
    const shim = new CudaShim([program], language);
    try {
      return [0, 1, 12345].map((order) => {
        const one = { program, buffers: used, params, workgroups };
        const after = shim.run(buffers, Array(RUNS).fill(one), order);
        expect(after.at(-1)!.every((byte) => byte === 0)).toBe(true);
        return [1, 2].map((i) => new Float32Array(after[i]!.slice().buffer));
      });
    } finally {
      shim.end();
    }
  });
  for (const other of made) expect(other).toEqual(made[0]);
  return made[0]!;
}

/** A function of each column, in float64. */
function ofColumns(
  [dtype, outer, n, inner]: (typeof cases)[number],
  of: (column: number[]) => number,
): number[] {
  const x = valuesIn(dtype, bitsOf(dtype, outer * n * inner));
  return Array.from({ length: outer * inner }, (_, i) => {
    const start = Math.floor(i / inner) * n * inner + (i % inner);
    return of(Array.from({ length: n }, (_, row) => x[start + row * inner]!));
  });
}
const sumOf = (list: number[]): number => list.reduce((a, b) => a + b, 0);

function expectClose(got: Float32Array, wanted: number[]): void {
  expect(got.length).toBe(wanted.length);
  wanted.forEach((value, i) => expect(Math.abs(got[i]! / value - 1)).toBeLessThan(2e-6));
}

describe.skipIf(compiler === undefined)('columns that are reduced in one launch', () => {
  it.each(cases)('have the mean and the variance: %s [%i, %i, %i]', (...of) => {
    const [dtype, outer, n, inner] = of;
    const made = { buffers: { mean: 'mut f32', variance: 'mut f32' }, operands: [1, 2] };
    const [mean, variance] = results(of, (extra) =>
      joinedMoments(0, dtype, { outer, n, inner }, made, extra),
    );
    expectClose(
      mean!,
      ofColumns(of, (column) => sumOf(column) / n),
    );
    expectClose(
      variance!,
      ofColumns(of, (column) => {
        const center = sumOf(column) / n;
        return sumOf(column.map((value) => (value - center) ** 2)) / n;
      }),
    );
  });

  it.each(cases.filter(([, outer]) => outer === 1))('have sums: %s [%i, %i, %i]', (...of) => {
    const [dtype, , n, inner] = of;
    const lanes = columnLanes(dtype, inner);
    const value = (k: number, lane: number): string => columnValue(`x${k}`, lane, dtype, lanes);
    const [sum, square] = results(of, (extra) =>
      joinedSums(
        {
          n,
          inner,
          lanes,
          inputs: { x: columnType(dtype, lanes) },
          operands: [0],
          params: { factor: 0.5 },
          load: (k) => `let x${k} = x[at${k}];`,
          sums: [value, (k, lane) => `${value(k, lane)} * ${value(k, lane)}`],
          finish: (s, number) => (number === 0 ? s : `${s} * p.factor`),
          outputs: [{ y: ['f32', 1] }, { z: ['f32', 2] }],
        },
        extra,
      ),
    );
    expectClose(sum!, ofColumns(of, sumOf));
    expectClose(
      square!,
      ofColumns(of, (column) => 0.5 * sumOf(column.map((each) => each * each))),
    );
  });
});
