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
import { BundleReader } from '@eagre/formats';
import { useNativeFiles } from '@eagre/formats/internal';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as tf from '../src/index.ts';

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

  it('a small value amid others is named where a byte of it has changed, and nothing changes', () => {
    const count = 300;
    const fill = (value: number) =>
      Array.from(
        { length: count },
        (_, i) => new tf.Variable(tf.fill([i % 7 === 0 ? 5000 : 20 + i], value + i)),
      );
    const path = join(folder, `${name}-small`);
    new tf.train.Checkpoint({ variables: fill(1) }).write(path);
    const file = `${path}.data-00000-of-00001`;
    const entries = BundleReader.openSync(path).entries();
    const variables = fill(-1000);
    // The old value that somebody holds stays as well.
    const held = variables[40]?.read();
    const checkpoint = new tf.train.Checkpoint({ variables });
    const flip = (at: number) => {
      const open = openSync(file, 'r+');
      writeSync(open, Uint8Array.of((readFileSync(file)[at] as number) ^ 128), 0, 1, at);
      closeSync(open);
    };
    for (const which of [0, 1, 7, 150, 299]) {
      const key = `variables/${which}/.ATTRIBUTES/VARIABLE_VALUE`;
      const { offset = 0, bytes = 0 } = entries.get(key) ?? {};
      for (const at of [offset, offset + bytes - 1]) {
        flip(at);
        expect(() => checkpoint.read(path)).toThrow(`tensor "${key}": checksum`);
        flip(at);
      }
    }
    // Of two, the one that comes first in the file.
    const places = [200, 20].map(
      (i) => entries.get(`variables/${i}/.ATTRIBUTES/VARIABLE_VALUE`)?.offset ?? 0,
    );
    for (const at of places) flip(at);
    const first = (places[0] as number) < (places[1] as number) ? 200 : 20;
    expect(() => checkpoint.read(path)).toThrow(`tensor "variables/${first}/`);
    for (const at of places) flip(at);
    expect(variables.every((v, i) => v.data().every((x) => x === i - 1000))).toBe(true);
    checkpoint.read(path).assertConsumed();
    expect(variables.every((v, i) => v.data().every((x) => x === i + 1))).toBe(true);
    expect(held?.data()[0]).toBe(40 - 1000);
  });

  it('values of two objects for one: the later one', () => {
    const path = join(folder, `${name}-two`);
    const size = [100_000];
    new tf.train.Checkpoint({
      a: new tf.Variable(tf.fill(size, 1)),
      b: new tf.Variable(tf.fill(size, 2)),
    }).write(path);
    const one = new tf.Variable(tf.zeros(size));
    new tf.train.Checkpoint({ a: one, b: one }).read(path);
    expect(one.data().every((x) => x === 2)).toBe(true);
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
