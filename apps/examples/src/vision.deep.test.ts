import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

// Keras's tutorials about images, at a smaller size than a user's run.
let folder: string;
beforeEach(() => {
  tf.keras.clearSession();
  folder = mkdtempSync(join(tmpdir(), 'eagre-vision-'));
  vi.stubEnv('RUNS', process.env.KEEP_RUNS ?? folder);
  if (process.env.KEEP_RUNS === undefined) vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** The first and the last value of a history. */
function ends(values: readonly number[] | undefined): [first: number, last: number] {
  return [values?.[0] ?? NaN, values?.at(-1) ?? NaN];
}

it('40: a variational autoencoder', async () => {
  vi.stubEnv('EXAMPLES', '4000');
  vi.stubEnv('EPOCHS', '3');
  const e = await import('./40-vae.ts');
  const [first, last] = ends(e.history.loss);
  expect(first).toBeLessThan(400);
  expect(last).toBeLessThan(210);
  expect(ends(e.history.kl_loss)[1]).toBeGreaterThan(0.5);
  expect([e.grid.shape, existsSync(e.file)]).toEqual([[420, 420, 1], true]);
  // The digit 1 lies apart from the digit 0.
  expect(tf.norm(e.centres.at(0).sub(e.centres.at(1))).item()).toBeGreaterThan(1);
});

it('41: a generative adversarial network', async () => {
  vi.stubEnv('EXAMPLES', '1600');
  vi.stubEnv('EPOCHS', '4');
  const e = await import('./41-dcgan.ts');
  expect(e.history.d_loss).toHaveLength(4);
  expect(e.files).toHaveLength(4);
  expect(e.files.every((file) => existsSync(file))).toBe(true);
  const { before, after, real } = e.means;
  expect(Math.abs(after - real)).toBeLessThan(0.25 * Math.abs(before - real));
});

it('42: a U-Net finds the pixels of shapes', async () => {
  vi.stubEnv('EXAMPLES', '800');
  vi.stubEnv('EPOCHS', '8');
  const e = await import('./42-unet.ts');
  const [first, last] = ends(e.history.loss);
  expect(last).toBeLessThan(first * 0.6);
  expect(e.scores.accuracy).toBeGreaterThan(0.8);
  // Of three classes, each found in part at least.
  expect(e.scores.mean_io_u).toBeGreaterThan(0.4);
  expect(e.scores.loss).toBeCloseTo(Math.min(...(e.history.val_loss as number[])), 4);
  expect(existsSync(e.file)).toBe(true);
});

it('45: a student learns from its teacher', async () => {
  vi.stubEnv('EXAMPLES', '2000');
  const e = await import('./45-distillation.ts');
  const [first, last] = ends(e.history.loss);
  expect(last).toBeLessThan(first * 0.5);
  expect(e.teacherScores.sparse_categorical_accuracy).toBeGreaterThan(0.85);
  expect(e.distilledScores.sparse_categorical_accuracy).toBeGreaterThan(0.75);
  expect(e.teacherChanged).toBe(false);
});

it('44: a Siamese network tells digits apart', async () => {
  vi.stubEnv('EXAMPLES', '2000');
  vi.stubEnv('EPOCHS', '4');
  const e = await import('./44-siamese.ts');
  const [first, last] = ends(e.history.loss);
  expect(last).toBeLessThan(first * 0.8);
  expect(e.results.accuracy).toBeGreaterThan(0.75);
  expect(e.different - e.same).toBeGreaterThan(0.4);
  // Both towers are one network: the distance has no direction.
  expect(e.predictions.shape).toEqual([1000]);
});

it('46: a vision transformer', async () => {
  vi.stubEnv('EXAMPLES', '3000');
  vi.stubEnv('EPOCHS', '4');
  const e = await import('./46-vision-transformer.ts');
  const [first, last] = ends(e.history.loss);
  expect(last).toBeLessThan(first * 0.6);
  expect(e.scores.accuracy).toBeGreaterThan(0.6);
  expect(e.scores['top-3-accuracy']).toBeGreaterThan(0.85);
});

it('43: transfer learning and fine-tuning', async () => {
  vi.stubEnv('EXAMPLES', '1500');
  vi.stubEnv('EPOCHS', '10');
  const e = await import('./43-transfer-learning.ts');
  expect(ends(e.pretrained.history.accuracy)[1]).toBeGreaterThan(0.85);
  expect([e.trainableWhenFrozen, e.changedWhenFrozen]).toEqual([2, 0]);
  expect(e.topScores.binary_accuracy).toBeGreaterThan(0.7);
  // Seven convolutions, and gamma and beta of six normalizations, but no moving statistics.
  expect([e.trainableWhenTuned, e.changedWhenTuned]).toEqual([2 + 7 + 12, 7 + 12]);
  expect(ends(e.tuned.history.loss)[1]).toBeLessThan(ends(e.top.history.loss)[1] * 0.9);
  expect(e.tunedScores.binary_accuracy).toBeGreaterThan(0.75);
});

it('47: a graph attention network', async () => {
  vi.stubEnv('EPOCHS', '30');
  const e = await import('./47-graph-attention.ts');
  const [first, last] = ends(e.history.loss);
  expect(last).toBeLessThan(first * 0.5);
  // Five kinds; the words alone tell half at most.
  expect(e.scores.accuracy).toBeGreaterThan(0.7);
  expect(e.probabilities.shape).toEqual([e.testIndices.shape[0], 5]);
  expect(e.sums.array()).toEqual(Array.from({ length: 3 }, () => expect.closeTo(1, 5)));
});

it('48: neural style transfer', async () => {
  vi.stubEnv('ITERATIONS', '80');
  const e = await import('./48-style-transfer.ts');
  expect(ends(e.losses)[1]).toBeLessThan(ends(e.losses)[0] * 0.3);
  // The grey image takes on the colours of the stripes.
  expect(e.colours.base).toBeCloseTo(0, 5);
  expect(e.colours.result).toBeGreaterThan(0.1);
  expect([e.traces, existsSync(e.file)]).toEqual([1, true]);
});

it('49: a contact sheet of augmented images', async () => {
  const { pictures, original, sheet, file } = await import('./49-image-augmentation.ts');
  const changed = Object.entries(pictures).filter(([, p]) => p.sub(original).abs().mean().item() > 1e-3);
  // A flip may be none.
  expect(Object.keys(pictures).length - changed.length).toBeLessThanOrEqual(2);
  for (const [name, p] of Object.entries(pictures)) {
    expect([name, p.shape]).toEqual([name, [96, 96, 3]]);
    expect([name, p.isFinite().all().item()]).toEqual([name, true]);
  }
  expect(pictures['flipLeftRight']?.array()).toEqual(original.reverse(1).array());
  expect([sheet.shape, existsSync(file)]).toEqual([[520, 624, 3], true]);
});
