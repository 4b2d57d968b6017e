// Restoring from files, read by native code where there is any and without it: all is checked before anything changes.
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeFiles } from '@eagre/backend-native';
import { BundleReader, useNativeFiles } from '@eagre/formats';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as tf from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-restore-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

const readers = { 'native code': nativeFiles, Node: undefined };

describe.each(Object.keys(readers) as (keyof typeof readers)[])('read by %s', (name) => {
  beforeAll(() => useNativeFiles(readers[name]));
  afterAll(() => useNativeFiles(nativeFiles));

  const sizes = [0, 1, 3, 5_000, 100_000];
  const make = () => {
    const variables = sizes.map((size) => new tf.Variable(tf.zeros([size])));
    const flags = new tf.Variable(tf.constant([false, false, false]));
    const names = new tf.Variable(tf.constant(['', '']));
    return new tf.train.Checkpoint({ variables, flags, names });
  };
  const content = (checkpoint: ReturnType<typeof make>) => [
    ...checkpoint.variables.map((v) => v.data().slice()),
    checkpoint.flags.array(),
    checkpoint.names.array(),
  ];
  const saved = (shards: number) => {
    const checkpoint = make();
    for (const [i, v] of checkpoint.variables.entries()) v.assign(tf.range(sizes[i] as number).add(i));
    checkpoint.flags.assign(tf.constant([true, false, true]));
    checkpoint.names.assign(tf.constant(['a', 'ü']));
    const path = join(folder, `${name}-${shards}`);
    checkpoint.write(path, new tf.train.CheckpointOptions({ shards }));
    const files = Array.from({ length: shards }, (_, i) => `${path}.data-0000${i}-of-0000${shards}`);
    return { path, files, expected: content(checkpoint) };
  };

  it.each([1, 3])('values come out of %i files', (shards) => {
    const { path, expected } = saved(shards);
    const checkpoint = make();
    checkpoint.read(path).assertConsumed();
    expect(content(checkpoint)).toEqual(expected);
  });

  it('nothing changes where a byte has changed, or the end is missing', () => {
    const { path, files } = saved(3);
    const checkpoint = make();
    const before = content(checkpoint);
    for (const file of files) {
      const good = readFileSync(file);
      for (const part of [0, 0.3, 0.7, 0.999]) {
        const at = Math.floor(good.length * part);
        const open = openSync(file, 'r+');
        writeSync(open, Uint8Array.of((good[at] as number) ^ 4), 0, 1, at);
        closeSync(open);
        expect(() => checkpoint.read(path)).toThrow(tf.errors.DataLossError);
        truncateSync(file, at);
        expect(() => checkpoint.read(path)).toThrow(/truncated data/);
        writeFileSync(file, good);
      }
      rmSync(file);
      expect(() => checkpoint.read(path)).toThrow(tf.errors.NotFoundError);
      writeFileSync(file, good);
    }
    expect(content(checkpoint)).toEqual(before);
    checkpoint.read(path).assertConsumed();
  });

  it('a file that changes after it was checked gives an error', () => {
    const { path, files } = saved(1);
    const [file = ''] = files;
    const verify = BundleReader.prototype.verify;
    vi.spyOn(BundleReader.prototype, 'verify').mockImplementation(function (this: BundleReader, key) {
      verify.call(this, key);
      truncateSync(file, 1000);
    });
    expect(() => make().read(path)).toThrow(tf.errors.DataLossError);
  });
});
