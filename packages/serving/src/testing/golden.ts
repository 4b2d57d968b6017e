// The SavedModels that `tools/golden/serving.py` made with TensorFlow.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export interface GoldenModel {
  readonly files: Readonly<Record<string, string>>;
  /** As TensorFlow prints them. */
  readonly signatures: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

export const goldenModels: Readonly<Record<string, GoldenModel>> = (
  JSON.parse(
    gunzipSync(
      readFileSync(fileURLToPath(new URL('../../golden/models.json.gz', import.meta.url))),
    ).toString(),
  ) as { readonly models: Readonly<Record<string, GoldenModel>> }
).models;

/** Writes a model's files to a folder. */
export function unpack(name: string, folder: string): void {
  for (const [path, content] of Object.entries(goldenModels[name].files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Buffer.from(content, 'base64'));
  }
}
