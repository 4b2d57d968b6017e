// Damaged models of TensorFlow.js: typed errors, or models that run.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { mutateJson } from '../../../formats/src/testing/mutate-structure.ts';
import { goldenFile, type StoredModel, temporaryFolder, unpack } from '../testing/golden.ts';
import { load } from './load.ts';

const { models } = goldenFile<{ readonly models: readonly StoredModel[] }>('tfjs-graphs');
const folder = temporaryFolder();
afterAll(() => folder.remove());
const seed = Number(process.env['EAGRE_FUZZ_SEED'] ?? 1);
const runs = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 300);

test.each([
  'dense-None',
  'dense-uint8',
  'branches-functions-up',
  'branches-lowered-up',
  'table-True',
  'joined',
])('%s', async (name) => {
  const model = models.find((m) => m.name === name) as StoredModel;
  const path = unpack(model, folder.path);
  const file = join(path, 'model.json');
  const bytes = Buffer.from(model.files['model.json'] as string, 'base64');
  const random = randomSource(seed);
  let refused = 0;
  for (let run = 0; run < runs; run++) {
    writeFileSync(file, run % 3 === 2 ? mutate(bytes, random) : mutateJson(bytes.toString(), random));
    try {
      const loaded = await load(path, { lazy: run % 2 === 1 });
      for (const fn of Object.values(loaded.signatures)) {
        const zeros = fn.inputs.map(({ shape, dtype }) =>
          dtype === 'string'
            ? tf.constant(['a'])
            : tf.zeros(
                (shape ?? []).map((d) => Math.min(d ?? 1, 64)),
                dtype,
              ),
        );
        const keys = Object.keys(fn.structuredInputSignature[1]);
        fn(Object.fromEntries(keys.map((key, i) => [key, zeros[i]])));
      }
    } catch (error) {
      if (!(error instanceof tf.EagreError)) throw new Error(`run ${run}, seed ${seed}`, { cause: error });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(runs / 10);
  writeFileSync(file, bytes);
  expect(await load(path)).toBeInstanceOf(tf.Module);
});
