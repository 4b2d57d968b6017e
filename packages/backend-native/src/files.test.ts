import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeCrc32c, nativeFiles } from './index.ts';

describe.runIf(nativeFiles !== undefined && process.platform !== 'win32')(
  'the native reading of files',
  () => {
    const { readRange: read, beginSync } = nativeFiles as NonNullable<typeof nativeFiles>;
    const crc = nativeCrc32c as NonNullable<typeof nativeCrc32c>;
    const folder = mkdtempSync(join(tmpdir(), 'eagre-read-range-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    const bytes = Uint8Array.from({ length: 1_500_000 }, (_, i) => (i * 2654435761) >>> 13);
    const file = openSync(join(folder, 'data'), 'w+');
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    afterAll(() => closeSync(file));

    it('gives bytes and checksum of every part', () => {
      for (let i = 0; i < 50; i++) {
        const places = [(i * 7_654_321) % bytes.length, (i * i * 123_457) % bytes.length];
        const from = Math.min(...places);
        const to = Math.max(...places);
        const expected = bytes.subarray(from, to);
        expect(read(file, from, to - from, undefined)).toBe(crc(expected, 0));
        const target = new Uint8Array(to - from + 6).fill(99);
        expect(read(file, from, to - from, target.subarray(3, to - from + 3))).toBe(crc(expected, 0));
        expect(Buffer.compare(target.subarray(3, to - from + 3), expected)).toBe(0);
        expect([...target.subarray(0, 3), ...target.subarray(-3)]).toEqual([99, 99, 99, 99, 99, 99]);
      }
    });

    it('says where there is nothing to read', () => {
      expect(read(file, 0, bytes.length + 1, undefined)).toBe(-1);
      expect(read(file, 2 ** 53, 1, undefined)).toBe(-1);
      expect(read(file, 0, 2 ** 53, undefined)).toBe(-1);
      expect(read(9999, 0, 1, undefined)).toBe(-1);
      const empty = openSync(join(folder, 'empty'), 'w');
      expect(read(empty, 0, 0, undefined)).toBe(0);
      ftruncateSync(empty, 10);
      // Opened for writing alone.
      expect(read(empty, 0, 10, undefined)).toBe(-1);
      closeSync(empty);
      const directory = openSync(folder, 'r');
      expect(read(directory, 0, 1, undefined)).toBe(-1);
      closeSync(directory);
    });

    it('has the disk begin with what was written', () => {
      expect(beginSync(file, 0, bytes.length)).toBeUndefined();
      expect(read(file, 0, bytes.length, undefined)).toBe(crc(bytes, 0));
      // What cannot be asked is left to the end.
      for (const call of [[file, -1, 5], [file, 0, -1], [9999, 0, 5], [file, 2 ** 60, 2 ** 60], []])
        expect(beginSync(...(call as [number, number, number]))).toBeUndefined();
    });

    it('refuses what is no part of a file', () => {
      const target = new Uint8Array(10);
      const calls: unknown[][] = [
        [],
        [file],
        [file, 0],
        [-1, 0, 10, target],
        ['a', 0, 10, target],
        [file, -1, 10, target],
        [file, Number.NaN, 10, target],
        [file, 0, -1, undefined],
        [file, 0, Number.POSITIVE_INFINITY, undefined],
        [file, 2 ** 60, 10, target],
        [file, 0, 11, target],
        [file, 0, 9, target],
        [file, 0, 10, null],
        [file, 0, 10, [1]],
        [file, 0, 10, new Float32Array(10)],
        [file, 0, 10, new ArrayBuffer(10)],
      ];
      for (const call of calls) expect(() => read(...(call as Parameters<typeof read>))).toThrow(TypeError);
    });
  },
);
