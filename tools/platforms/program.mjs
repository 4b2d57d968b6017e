// What is run on each platform, bundled into one file (test.mjs): `node program.mjs [pattern of names]`. It ends with 1 where something fails.
import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exit, memoryUsage } from 'node:process';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { loadCodecs, nativeFiles, nativeUnavailable } from '@eagre/backend-native';
import { camelCaseKeys } from '@eagre/core/internal';
import * as tf from 'eagre';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import golden from '../../packages/data/golden/picture-codecs.json';
import { report, runTests, tell } from '../gpu/vitest.mjs';

function programs() {
  // An emulator is slow: it reads this file again for each worker.
  describe('programs', { timeout: 1_200_000 }, () => {
    let folder;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'eagre-platform-'));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const numbers = (shape) => tf.random.normal(shape);
    const trained = async (model, x, y) => {
      model.compile({ optimizer: new tf.optimizers.Adam(0.02), loss: 'meanSquaredError' });
      const { history } = await model.fit(x, y, { epochs: 6, batchSize: 16, verbose: 0 });
      expect(history.loss.at(-1)).toBeLessThan(history.loss[0] * 0.95);
      return model;
    };
    const perceptron = () =>
      new tf.Sequential([
        new tf.layers.Dense(16, { activation: 'tanh', inputShape: [4] }),
        new tf.layers.Dense(1),
      ]);

    it('a perceptron learns, and is the same after a checkpoint and as a SavedModel', async () => {
      const [model, other] = [perceptron(), perceptron()];
      const given = numbers([64, 4]);
      await trained(model, given, given.square().sum(1, { keepdims: true }));
      const x = numbers([5, 4]);
      const expected = (await model.predict(x, { verbose: 0 })).array();
      const path = new tf.train.Checkpoint({ model }).save(join(folder, 'checkpoint'));
      new tf.train.Checkpoint({ model: other }).restore(path).expectPartial();
      expect((await other.predict(x, { verbose: 0 })).array()).toEqual(expected);
      const saved = join(folder, 'saved');
      await tf.savedModel.save(model, saved);
      const loaded = await tf.savedModel.load(saved);
      const got = loaded.signatures.serving_default(x);
      expect(Object.values(got)[0].array()).toEqual(expected);
    });

    it('a network of convolutions learns', async () => {
      const x = numbers([32, 8, 8, 2]);
      const model = new tf.Sequential([
        new tf.layers.Conv2D(8, 3, { activation: 'relu', inputShape: [8, 8, 2] }),
        new tf.layers.BatchNormalization(),
        new tf.layers.MaxPooling2D(),
        new tf.layers.Flatten(),
        new tf.layers.Dense(1),
      ]);
      await trained(model, x, x.mean([1, 2]).sum(1, { keepdims: true }));
    });

    it('a network of LSTM learns', async () => {
      const x = numbers([32, 6, 3]);
      const model = new tf.Sequential([
        new tf.layers.LSTM(8, { inputShape: [6, 3] }),
        new tf.layers.Dense(1),
      ]);
      await trained(model, x, x.mean([1, 2]).reshape([32, 1]));
    });

    it('a large checkpoint, which several threads read', () => {
      const [w, other] = [new tf.Variable(numbers([1000, 1000])), new tf.Variable(tf.zeros([1000, 1000]))];
      const path = new tf.train.Checkpoint({ w }).save(join(folder, 'large'));
      new tf.train.Checkpoint({ w: other }).restore(path);
      expect(other.read().equal(w.read()).all().item()).toBe(true);
    });

    it('files are read at offsets, and summed up', () => {
      const name = join(folder, 'bytes');
      writeFileSync(
        name,
        Uint8Array.from({ length: 3_000_000 }, (_, i) => i * 7),
      );
      const file = openSync(name, 'r');
      const targets = [new Uint8Array(2_000_000), new Uint8Array(5)];
      const crcs = nativeFiles.readRanges(file, Float64Array.of(3, 2_000_000, 0, 5), targets);
      closeSync(file);
      expect([...crcs].every((crc) => crc >= 0)).toBe(true);
      expect([...targets[1]]).toEqual([0, 7, 14, 21, 28]);
      expect(targets[0][1_999_999]).toBe((2_000_002 * 7) & 255);
    });

    it('pictures are read as TensorFlow reads them, also damaged ones', () => {
      expect(loadCodecs()).toBeDefined();
      const hash = (values) =>
        createHash('sha256')
          .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
          .digest('hex');
      for (const { file, size, window, wishes, sha256, error } of golden.cases) {
        const contents = Uint8Array.from(Buffer.from(golden.files[file], 'base64')).subarray(0, size);
        const given = { contents, ...camelCaseKeys(wishes) };
        const read = () => {
          if (contents[0] === 0x89) return tf.io.decodePng(given);
          return window === undefined
            ? tf.io.decodeJpeg(given)
            : tf.io.decodeAndCropJpeg({ ...given, cropWindow: window });
        };
        if (error === undefined) expect(hash(read().data()), file).toBe(sha256);
        else expect(read, file).toThrow();
      }
    });

    it('a worker thread computes, and ends', async () => {
      for (let i = 0; i < 2; i++) {
        const worker = new Worker(new URL(import.meta.url));
        const sum = await new Promise((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        });
        await worker.terminate();
        expect(sum).toEqual(['native', 10]);
      }
      expect(
        tf
          .matmul(tf.ones([64, 64]), tf.ones([64, 64]))
          .sum()
          .item(),
      ).toBe(64 ** 3);
    });

    it('memory of dropped tensors comes back', async () => {
      for (let i = 0; i < 400; i++) {
        tf.ones([256, 1024]).add(1);
        if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      expect(memoryUsage().rss / 1e6).toBeLessThan(1000);
    });
  });
}

async function load() {
  programs();
  await import('../../packages/testing/src/conformance.test.ts');
  await import('../../packages/testing/src/gradients.test.ts');
}

if (isMainThread) {
  console.log(nativeUnavailable ?? tf.zeros([1]).backend.description);
  if (nativeUnavailable !== undefined) exit(1);
  tf.random.setSeed(1);
  exit(report(await runTests(load, process.argv[2], { onEnd: tell })) ? 0 : 1);
} else parentPort.postMessage([tf.zeros([1]).backend.name, tf.constant([1, 2, 3, 4]).sum().item()]);
