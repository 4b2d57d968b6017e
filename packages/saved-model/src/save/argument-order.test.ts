import '@eagre/backend-native';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constant, Module, type Tensor } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { save } from './save.ts';

test('arguments of a signature are those of their names, whatever their order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-saved-'));
  try {
    const minus = tfFunction((x: Tensor, n: Tensor, b: Tensor) => x.sub(b).mul(n.cast('float32')), {
      inputSignature: [
        new TensorSpec([null], 'float32', 'z'),
        new TensorSpec([], 'int32', 'n'),
        new TensorSpec([null], 'float32', 'b'),
      ],
    });
    await save(Object.assign(new Module(), { minus }), join(folder, 'm'), { signatures: minus });
    const { signatures } = await load(join(folder, 'm'));
    const [z, n, b] = [constant([10]), constant(2, 'int32'), constant([3])];
    expect(Object.values(signatures['serving_default']?.({ z, n, b }) ?? {}).map((t) => t.array())).toEqual([
      [14],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
