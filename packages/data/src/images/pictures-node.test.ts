// Batches of pictures by threads of the addon, against those that JavaScript makes one by one.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { EagreError } from '@eagre/backend';
import { loadCodecs } from '@eagre/backend-native/here';
import { random, type Tensor } from '@eagre/core';
import { bytesOf } from '@eagre/core/internal';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { useCodecs } from './codecs.ts';
import { encodeJpeg, encodePng } from './decode-image.ts';
import { type ImageDatasetOptions, imageDatasetFromDirectory } from './image-dataset.ts';

const FILES = 23;
const root = mkdtempSync(join(tmpdir(), 'eagre-pictures-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => useCodecs(undefined));

/** A BMP file, which the addon does not know, of one colour. */
function bmp(width: number, height: number, value: number): Uint8Array {
  const row = Math.ceil((3 * width) / 4) * 4;
  const file = Buffer.alloc(54 + row * height, value);
  file.fill(0, 0, 54);
  file.write('BM', 0, 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  return file;
}

function folderOf(name: string, damaged: readonly number[]): string {
  const folder = join(root, name);
  for (const label of ['a', 'b', 'c']) mkdirSync(join(folder, label), { recursive: true });
  for (let i = 0; i < FILES; i++) {
    const at = (ending: string): string =>
      join(folder, 'abc'[i % 3] as string, `${String(i).padStart(2, '0')}${ending}`);
    const [height, width] = [5 + ((i * 7) % 20), 4 + ((i * 5) % 30)];
    const channels = ([1, 3, 4] as const)[i % 3] as number;
    const pixels = (n: number): Tensor =>
      random
        .statelessUniform([height, width, n], [i, 0], { minval: 0, maxval: 256, dtype: 'int32' })
        .cast('uint8');
    if (damaged.includes(i))
      writeFileSync(at('.jpg'), bytesOf(encodeJpeg(pixels(3)).item() as never).slice(0, 300));
    else if (i % 5 === 4) writeFileSync(at('.bmp'), bmp(width, height, 10 * i));
    else if (i % 2 === 0)
      writeFileSync(at('.jpg'), bytesOf(encodeJpeg(pixels(channels === 1 ? 1 : 3)).item() as never));
    else writeFileSync(at('.png'), bytesOf(encodePng(pixels(channels)).item() as never));
  }
  return folder;
}
const whole = folderOf('whole', []);
const damaged = folderOf('damaged', [3, 12, 13]);

const plain = { imageSize: [9, 11], shuffle: false, batchSize: 4 } as const;
const shown = (batch: readonly [Tensor, Tensor]): unknown => [batch[0].shape, batch.map((t) => t.array())];

/** The same decoders, one by one. */
const oneByOne = { ...loadCodecs()!, beginPictures: undefined as never };

describe.skipIf(loadCodecs() === undefined)('pictures by threads', () => {
  /** What a dataset gives by threads, and in JavaScript. */
  async function both<T>(run: () => Promise<T>): Promise<readonly [T, T]> {
    useCodecs(undefined);
    const threads = await run();
    useCodecs(oneByOne);
    try {
      return [threads, await run()];
    } finally {
      useCodecs(undefined);
    }
  }

  const cases: Record<string, ImageDatasetOptions> = {
    bilinear: {},
    nearest: { interpolation: 'nearest', labelMode: 'categorical' },
    grey: { colorMode: 'grayscale', batchSize: 5 },
    'with alpha': { colorMode: 'rgba', batchSize: FILES },
    cropped: { cropToAspectRatio: true, batchSize: 100 },
    padded: { padToAspectRatio: true, batchSize: 1 },
    shuffled: { shuffle: true, seed: 3 },
    'one by one': { batchSize: null },
    'a subset': { validationSplit: 0.3, subset: 'validation', shuffle: true, seed: 5 },
  };
  test.each(Object.entries(cases))('are the same: %s', async (_, options) => {
    const [threads, code] = await both(async () => {
      const dataset = await imageDatasetFromDirectory(whole, { ...plain, ...options });
      return [...dataset].map(shown);
    });
    expect(threads.length).toBeGreaterThan(0);
    expect(threads).toEqual(code);
  });

  test('are the same without labels, taken, skipped, shuffled and batched again', async () => {
    const [threads, code] = await both(async () => {
      const dataset = await imageDatasetFromDirectory(whole, { ...plain, labels: null });
      const others = [
        dataset.skip(2).take(2),
        dataset.unbatch().skip(3).batch(7).prefetch(2),
        dataset.shuffle(3, { seed: 1 }).repeat(2),
        dataset.shard(2, 1),
      ];
      return others.map((each) => [...each].map((x) => (x as Tensor).array()));
    });
    expect(threads).toEqual(code);
  });

  test('fail where they do one by one, with the name of the file, and go on behind it', async () => {
    const [threads, code] = await both(async () => {
      const dataset = await imageDatasetFromDirectory(damaged, plain);
      const iterator = dataset.iterator();
      const seen: unknown[] = [];
      for (;;) {
        try {
          const { done, value } = iterator.next();
          if (done === true) break;
          seen.push(shown(value as never));
        } catch (error) {
          expect(error).toBeInstanceOf(EagreError);
          seen.push((error as Error).message);
        }
      }
      return { seen, kept: [...dataset.ignoreErrors()].map((batch) => shown(batch as never)) };
    });
    const messages = threads.seen.filter((each) => typeof each === 'string');
    expect(messages).toHaveLength(3);
    for (const message of messages) expect(message).toContain('.jpg');
    expect(threads).toEqual(code);
  });

  test.each([0, 1, 2, 4])('go on from a state saved behind %i batches', async (count) => {
    for (const folder of [whole, damaged]) {
      const dataset = (
        await imageDatasetFromDirectory(folder, { ...plain, shuffle: true, seed: 2 })
      ).ignoreErrors();
      const first = dataset.iterator();
      for (let i = 0; i < count; i++) first.next();
      const state = first.saveState();
      const rest = [...first].map((batch) => shown(batch as never));
      for (const known of [undefined, oneByOne]) {
        useCodecs(known);
        const again = dataset.iterator();
        again.restoreState(state);
        expect([...again].map((batch) => shown(batch as never))).toEqual(rest);
      }
      useCodecs(undefined);
    }
  });

  test('end when the iterator is closed, or forgotten', async () => {
    const dataset = await imageDatasetFromDirectory(whole, plain);
    const iterator = dataset.iterator();
    iterator.next();
    await iterator.close();
    for (let i = 0; i < 200; i++) {
      const [images] = dataset.iterator().next().value as [Tensor, Tensor];
      expect(images.shape).toEqual([4, 9, 11, 3]);
    }
  });
});
