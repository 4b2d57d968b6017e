// Programs whose sizes depend on shapes and values: loaded, traced for any batch, and saved again they give what onnxruntime gives.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constant, type Tensor } from '@eagre/core';
import { type Signature, TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { save } from '../save/save.ts';
import { difference } from '../testing/compare.ts';
import { load } from './load.ts';

interface Stored {
  readonly dtype: 'float32' | 'int64';
  readonly shape: readonly number[];
  readonly data: readonly (number | string)[];
}
const { cases } = JSON.parse(readFileSync(new URL('../../golden/sizes.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly name: string;
    readonly model: string;
    readonly atol: number;
    readonly runs: readonly { readonly inputs: readonly Stored[]; readonly output: Stored }[];
  }[];
};
const tensorOf = ({ dtype, shape, data }: Stored): Tensor =>
  dtype === 'int64'
    ? constant(data.map(BigInt), 'int64', { shape })
    : constant(data as readonly number[] as number[], 'float32', { shape });

// Its type is of one signature.
type Run = (...inputs: Tensor[]) => unknown;
type Decorated = (fn: Run, options: { inputSignature: readonly Signature[] }) => Run;

const folder = mkdtempSync(join(tmpdir(), 'eagre-onnx-sizes-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});

/** A file for all sizes holds one rank only. */
const OF_RANKS = 'one axis or two, by a size';

describe.each(cases)('$name', ({ name, model, atol, runs }) => {
  const check = (fn: (...inputs: Tensor[]) => unknown): void => {
    for (const { inputs, output } of runs)
      expect(difference(fn(...inputs.map(tensorOf)) as Tensor, tensorOf(output), 1e-5, atol)).toBe(undefined);
  };
  const loaded = load(Buffer.from(model, 'base64'));

  test('loaded', async () => check(await loaded));

  test('traced for any batch, and saved again', async () => {
    const own = await loaded;
    const inputSignature = own.inputs.map(
      ({ shape, dtype, name }) => new TensorSpec(shape, dtype as 'float32', name),
    ) as Signature[];
    const traced = (tfFunction as unknown as Decorated)((...xs) => own(...xs), { inputSignature });
    check(traced);
    const file = join(folder, 'again.onnx');
    const saved = save(own, file, {});
    if (name === OF_RANKS) {
      await expect(saved).rejects.toThrow('all branches must return the same');
      return;
    }
    await saved;
    check(await load(file));
  });
});
