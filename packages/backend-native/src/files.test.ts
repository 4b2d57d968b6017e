import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeCrc32c, nativeFiles } from './index.ts';

describe.runIf(nativeFiles !== undefined && process.platform !== 'win32')(
  'the native reading of files',
  () => {
    const { readRanges, beginSync } = nativeFiles as NonNullable<typeof nativeFiles>;
    const crc = nativeCrc32c as NonNullable<typeof nativeCrc32c>;
    const read = (file: number, from: number, length: number, to?: Uint8Array): number =>
      readRanges(file, Float64Array.of(from, length), to && [to])[0] as number;
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
        expect(read(file, from, to - from)).toBe(crc(expected, 0));
        const target = new Uint8Array(to - from + 6).fill(99);
        expect(read(file, from, to - from, target.subarray(3, to - from + 3))).toBe(crc(expected, 0));
        expect(Buffer.compare(target.subarray(3, to - from + 3), expected)).toBe(0);
        expect([...target.subarray(0, 3), ...target.subarray(-3)]).toEqual([99, 99, 99, 99, 99, 99]);
      }
    });

    it('says where there is nothing to read', () => {
      expect(read(file, 0, bytes.length + 1)).toBe(-1);
      expect(read(file, 2 ** 53, 1)).toBe(-1);
      expect(read(file, 0, 2 ** 53)).toBe(-1);
      expect(read(9999, 0, 1)).toBe(-1);
      const empty = openSync(join(folder, 'empty'), 'w');
      expect(read(empty, 0, 0)).toBe(0);
      ftruncateSync(empty, 10);
      // Opened for writing alone.
      expect(read(empty, 0, 10)).toBe(-1);
      closeSync(empty);
      const directory = openSync(folder, 'r');
      expect(read(directory, 0, 1)).toBe(-1);
      closeSync(directory);
    });

    it('has the disk begin with what was written', () => {
      expect(beginSync(file, 0, bytes.length)).toBeUndefined();
      expect(read(file, 0, bytes.length)).toBe(crc(bytes, 0));
      // What cannot be asked is left to the end.
      for (const call of [[file, -1, 5], [file, 0, -1], [9999, 0, 5], [file, 2 ** 60, 2 ** 60], []])
        expect(beginSync(...(call as [number, number, number]))).toBeUndefined();
    });

    it('reads many parts in any order, also where they adjoin, cover one another or end too late', () => {
      let seed = 1;
      const below = (most: number): number => {
        seed = (seed * 48271) % 2147483647;
        return seed % most;
      };
      for (let round = 0; round < 40; round++) {
        let end = below(1000);
        const parts = Array.from({ length: below(80) }, (): [from: number, length: number] => {
          const length = below(below(4) === 0 ? 400_000 : 2000);
          const from = round % 2 === 0 ? below(bytes.length) : end;
          end += length;
          return [from, length];
        });
        if (round % 4 === 1) parts.reverse();
        const there = parts.map(([from, length]) => bytes.subarray(from, from + length));
        const expected = parts.map(([, length], i) => {
          const part = there[i] as Uint8Array;
          return part.length === length ? crc(part, 0) : -1;
        });
        const places = Float64Array.from(parts.flat());
        expect([...readRanges(file, places, undefined)]).toEqual(expected);
        const targets = parts.map(([, length]) => new Uint8Array(length));
        expect([...readRanges(file, places, targets)]).toEqual(expected);
        for (const [i, target] of targets.entries())
          if (expected[i] !== -1) expect(Buffer.compare(target, there[i] as Uint8Array)).toBe(0);
      }
    });

    it('refuses what is no part of a file', () => {
      const target = new Uint8Array(10);
      const whole = Float64Array.of(0, 10);
      const calls: unknown[][] = [
        [],
        [file],
        [-1, whole, [target]],
        ['a', whole, [target]],
        [file, [0, 10], [target]],
        [file, new Float32Array(2), [new Uint8Array(0)]],
        [file, new ArrayBuffer(16), undefined],
        [file, Float64Array.of(0), undefined],
        [file, Float64Array.of(0, 10, 0), [target]],
        [file, Float64Array.of(-1, 10), [target]],
        [file, Float64Array.of(Number.NaN, 10), [target]],
        [file, Float64Array.of(0.5, 10), [target]],
        [file, Float64Array.of(0, -1), undefined],
        [file, Float64Array.of(0, 1.5), undefined],
        [file, Float64Array.of(0, Number.POSITIVE_INFINITY), undefined],
        [file, Float64Array.of(2 ** 60, 10), [target]],
        [file, Float64Array.of(0, 11), [target]],
        [file, Float64Array.of(0, 9), [target]],
        [file, whole, null],
        [file, whole, target],
        [file, whole, []],
        [file, whole, [target, target]],
        [file, whole, [undefined]],
        [file, whole, new Array(1)],
        [file, whole, [[1]]],
        [file, whole, [new Float32Array(10)]],
        [file, whole, [new ArrayBuffer(10)]],
      ];
      for (const call of calls)
        expect(() => readRanges(...(call as Parameters<typeof readRanges>))).toThrow(TypeError);
    });

    it('is not deceived by a list that takes memory away while it is looked at', () => {
      const first = new Uint8Array(10);
      const list = [first];
      const second = new Uint8Array(10);
      Object.defineProperty(list, 1, {
        get: () => {
          structuredClone(first.buffer, { transfer: [first.buffer] });
          return second;
        },
      });
      expect(() => readRanges(file, Float64Array.of(0, 10, 0, 10), list)).toThrow(TypeError);
      const thrower = Object.defineProperty([first], 0, {
        get: () => {
          throw new RangeError('no element');
        },
      });
      expect(() => readRanges(file, Float64Array.of(0, 10), thrower)).toThrow('no element');
    });
  },
);
