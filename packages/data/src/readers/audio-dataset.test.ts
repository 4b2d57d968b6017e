import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError } from '@eagre/backend';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { audioDatasetFromDirectory } from './audio-dataset.ts';
import { decodeWav } from './wav.ts';

const chunk = (name: string, data: Uint8Array): Buffer => {
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};
function wav(values: readonly number[], { channels = 1, bits = 16, kind = 1, rate = 8000 } = {}): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(kind, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE((rate * channels * bits) / 8, 8);
  format.writeUInt16LE((channels * bits) / 8, 12);
  format.writeUInt16LE(bits, 14);
  const data = new Uint8Array(Int16Array.from(values).buffer);
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    chunk('fmt ', format),
    // What is not known is skipped; an odd size is followed by a byte.
    chunk('LIST', Buffer.from('abc')),
    chunk('data', data),
  ]);
  return chunk('RIFF', body);
}

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-audio-'));
  for (const name of ['high', 'low']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'high', 'a.wav'), wav([16384, -32768, 8192]));
  writeFileSync(join(root, 'high', 'b.wav'), wav([32767]));
  writeFileSync(join(root, 'low', 'c.wav'), wav([0, 1]));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('audioDatasetFromDirectory', () => {
  const plain = { shuffle: false, batchSize: 2 } as const;

  test('pads the sounds of a batch', () => {
    const dataset = audioDatasetFromDirectory(root, plain);
    expect(dataset.classNames).toEqual(['high', 'low']);
    const batches = [...dataset].map(([x, y]) => [x.array(), y.array()]);
    expect(batches).toEqual([
      [
        [
          [[0.5], [-1], [0.25]],
          [[Math.fround(32767 / 32768)], [0], [0]],
        ],
        [0, 0],
      ],
      [[[[0], [2 ** -15]]], [1]],
    ]);
  });

  test('or brings them to one length', () => {
    const dataset = audioDatasetFromDirectory(root, { ...plain, outputSequenceLength: 2, labels: null });
    expect([...dataset].map((x) => x.shape)).toEqual([
      [2, 2, 1],
      [1, 2, 1],
    ]);
    const single = audioDatasetFromDirectory(root, { shuffle: false, batchSize: null, labelMode: null });
    expect([...single].map((x) => x.shape)).toEqual([
      [3, 1],
      [1, 1],
      [2, 1],
    ]);
  });

  test('splits, and checks the rate', () => {
    const options = { ...plain, validationSplit: 0.4, samplingRate: 8000 };
    const [training, validation] = audioDatasetFromDirectory(root, { ...options, subset: 'both' });
    expect([training.filePaths.length, validation.filePaths.length]).toEqual([2, 1]);
    expect([...training]).toHaveLength(1);
    const other = audioDatasetFromDirectory(root, { ...plain, samplingRate: 16000 });
    expect(() => [...other]).toThrow(UnimplementedError);
  });

  test('refuses wrong options and files', () => {
    expect(() => audioDatasetFromDirectory(join(root, 'none'))).toThrow(NotFoundError);
    expect(() => audioDatasetFromDirectory(root, { samplingRate: 0 })).toThrow(InvalidArgumentError);
    expect(() => audioDatasetFromDirectory(root, { ragged: true as never })).toThrow(UnimplementedError);
    writeFileSync(join(root, 'low', 'c.wav'), wav([1, 2, 3]).subarray(0, 50));
    expect(() => [...audioDatasetFromDirectory(root)]).toThrow(DataLossError);
  });
});

test('decodeWav', () => {
  const stereo = decodeWav(wav([1, 2, 3, 4], { channels: 2, rate: 44100 }), 'a');
  expect([stereo.channels, stereo.rate, stereo.samples.length]).toEqual([2, 44100, 4]);
  expect(() => decodeWav(wav([1], { bits: 8 }), 'a')).toThrow(UnimplementedError);
  expect(() => decodeWav(wav([1], { kind: 3 }), 'a')).toThrow(UnimplementedError);
  // Any part of a file gives an error, or a part of the sound.
  const whole = wav([1, 2, 3]);
  for (let length = 0; length < whole.length; length++)
    expect(() => decodeWav(whole.subarray(0, length), 'a')).toThrow(DataLossError);
});
