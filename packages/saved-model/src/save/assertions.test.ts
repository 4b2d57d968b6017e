// Checks that a function makes are in its SavedModel; tools/interop/saved_models.py shows that TensorFlow makes them too.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assert, constant, debugging, math, type Tensor } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { save } from './save.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-assertions-'));
afterAll(() => rmSync(folder, { recursive: true }));

const cases: Readonly<Record<string, readonly [(x: Tensor) => void, good: number[], bad: number[]]>> = {
  less: [(x) => debugging.assertLess(x, 3), [1, 2], [1, 3]],
  near: [(x) => debugging.assertNear(x, 1, { atol: 0.1 }), [1, 1.05], [1, 1.2]],
  positive: [(x) => debugging.assertPositive(x, 'a weight'), [1, 2], [0, 2]],
  finite: [(x) => debugging.assertAllFinite(x.log()), [1, 2], [0, 2]],
  assert: [(x) => Assert(x.sum().greater(0), ['the sum is', x.sum()]), [1, 2], [-1, 0]],
  rising: [(x) => math.segmentSum(x, x.cast('int32')), [0, 1], [1, 0]],
};

test.each(Object.entries(cases))('%s', async (name, [check, good, bad]) => {
  const fn = tfFunction({ inputSignature: [new TensorSpec([null])] })((x: Tensor) => {
    check(x);
    return x.add(1);
  }) as (x: Tensor) => Tensor;
  const path = join(folder, name);
  await save({ fn }, path, { signatures: fn as never });
  const loaded = (await load(path)) as unknown as { fn(x: Tensor): Tensor };
  for (const run of [fn, loaded.fn]) {
    expect(run(constant(good)).shape).toEqual([2]);
    expect(() => run(constant(bad))).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
  }
});
