// Files that real Keras made: tools/golden/keras_model_files.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { loadModel, type Model } from '../index.ts';
import { flat, folder, type GoldenCase, golden, lossesOf, tensorsOf } from '../testing/keras-files.ts';

const own = mkdtempSync(join(tmpdir(), 'eagre-keras-'));
afterAll(() => rmSync(own, { recursive: true }));

const close = (actual: readonly number[], wanted: readonly number[], digits = 4): void => {
  expect(actual.length).toBe(wanted.length);
  for (const [i, value] of actual.entries()) expect(value).toBeCloseTo(wanted[i] as number, digits);
};
function check(model: Model, one: GoldenCase): void {
  close(flat(model(tensorsOf(one.x) as never)), flat(one.outputs));
  if (one.losses !== undefined) close(lossesOf(model, one), one.losses);
}

describe('.keras files predict the same, and train on with the same losses', () => {
  test.each(Object.keys(golden.cases))('%s', async (name) => {
    const one = golden.cases[name] as GoldenCase;
    const warn = vi.spyOn(console, 'warn');
    const model = await loadModel(`${folder}${name}.keras`);
    const path = join(own, `${name}.keras`);
    await model.save(path);
    check(model, one);
    // Ours hold the same.
    check(await loadModel(path), one);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
