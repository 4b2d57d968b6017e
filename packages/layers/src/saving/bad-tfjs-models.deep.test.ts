// Damaged models of Keras in files of TensorFlow.js: a typed error, soon, or a model.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { EagreError } from '@eagre/core';
import { afterAll, expect, test, vi } from 'vitest';
import { randomSource } from '../../../formats/src/testing/mutate.ts';
import { mutateJson } from '../../../formats/src/testing/mutate-structure.ts';
import { loadModel, Model } from '../index.ts';

interface Golden {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}
const { models } = JSON.parse(
  gunzipSync(
    readFileSync(fileURLToPath(new URL('../../golden/tfjs-layers.json.gz', import.meta.url))),
  ).toString(),
) as { readonly models: readonly Golden[] };
const folder = mkdtempSync(join(tmpdir(), 'eagre-bad-tfjs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const seed = Number(process.env['EAGRE_FUZZ_SEED'] ?? 1);
const runs = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 200);

test.each(['tfjs-dense', 'tfjs-words', 'keras2-functional', 'tfjs-images'])('%s', async (name) => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { files } = models.find((model) => model.name === name) as Golden;
  const path = join(folder, name);
  mkdirSync(path);
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(path, file), Buffer.from(content, 'base64'));
  const text = Buffer.from(files['model.json'] as string, 'base64').toString();
  const random = randomSource(seed);
  let refused = 0;
  for (let run = 0; run < runs; run++) {
    writeFileSync(join(path, 'model.json'), mutateJson(text, random));
    try {
      expect(await loadModel(path)).toBeInstanceOf(Model);
    } catch (error) {
      if (!(error instanceof EagreError)) throw new Error(`run ${run}, seed ${seed}`, { cause: error });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(runs / 10);
  writeFileSync(join(path, 'model.json'), text);
  expect(await loadModel(path)).toBeInstanceOf(Model);
});
