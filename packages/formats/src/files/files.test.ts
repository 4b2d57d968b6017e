import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gunzip, isGzip } from '../archives/gzip.ts';
import { encodeIdx } from '../arrays/idx.ts';
import type { NDArray } from '../arrays/ndarray.ts';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { ownMark, writeFileAtomic, writeFileAtomicSync } from './atomic.ts';
import {
  readFileBytes,
  readIdxFile,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from './files.ts';
import { readRegularSync } from './open-files.ts';

const array: NDArray = { dtype: 'int32', shape: [2, 2], data: new Int32Array([1, 2, 3, 4]) };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-formats-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('what killed processes have left', () => {
  it('is deleted at the next write, and nothing else is', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid.toString(36);
    const [machine, own] = ownMark().split('-') as [string, string];
    const left = [`.x.npz.${machine}-${dead}-abc.tmp`, `.other.safetensors.${machine}-${dead}-1.tmp`];
    const kept = [
      `.x.npz.${machine}-${own}-abc.tmp`,
      `.x.npz.elsewhere-${dead}-abc.tmp`,
      `.x.npz.${machine}-1-abc.tmp`,
      `x.npz.${machine}-${dead}-abc.tmp`,
      `.x.npz.${machine}-${dead}-abc`,
      '.x.tmp',
    ];
    for (const write of [
      writeFileAtomic,
      async (path: string, data: string) => writeFileAtomicSync(path, data),
    ]) {
      for (const name of [...left, ...kept]) writeFileSync(join(folder, name), '');
      await write(join(folder, 'y'), 'new');
      expect(readdirSync(folder).sort()).toEqual([...kept, 'y'].sort());
    }
  });

  it('a file of more bytes than memory holds is no RangeError', async () => {
    const path = join(folder, 'hole');
    const file = openSync(path, 'w');
    // Nothing of it is on the disk.
    ftruncateSync(file, 2 ** 43);
    closeSync(file);
    await expect(readFileBytes(path)).rejects.toThrow(FormatError);
    await expect(readFileBytes(path)).rejects.toThrow(/hole: the size: expected what memory holds/);
    expect(() => readRegularSync(path, 'npz')).toThrow(FormatError);
    expect(() => readRegularSync(path, 'npz')).toThrow(/hole: the size: expected less than 2 GiB/);
  });

  it('a pipe is not replaced by a file', async () => {
    const path = join(folder, 'pipe.npz');
    execFileSync('mkfifo', [path]);
    await expect(writeFileAtomic(path, 'x')).rejects.toThrow(FormatError);
    expect(() => writeFileAtomicSync(path, 'x')).toThrow(
      /expected a regular file or none, got a folder, a pipe/,
    );
    expect(() => writeFileAtomicSync(folder, 'x')).toThrow(FormatError);
    expect(statSync(path).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(['pipe.npz']);
  });
});

describe('writeFileAtomic', () => {
  const writers = {
    writeFileAtomic,
    writeFileAtomicSync: async (...args: [string, Uint8Array | string]) => writeFileAtomicSync(...args),
  };
  for (const [name, write] of Object.entries(writers)) {
    it(`${name} replaces the content and leaves nothing beside it`, async () => {
      const path = join(folder, 'x.bin');
      await write(path, 'old');
      await write(path, new Uint8Array([1, 2]));
      expect([...readFileSync(path)]).toEqual([1, 2]);
      expect(readdirSync(folder)).toEqual(['x.bin']);
    });

    it(`${name} cleans up when it fails`, async () => {
      // A file cannot be renamed over a folder.
      const target = join(folder, 'sub');
      await write(join(folder, 'keep'), 'kept');
      const { mkdirSync } = await import('node:fs');
      mkdirSync(target);
      await expect(write(target, 'data')).rejects.toThrow();
      expect(readdirSync(folder).sort()).toEqual(['keep', 'sub']);
      await expect(write(join(folder, 'missing', 'x'), 'data')).rejects.toMatchObject({ code: 'ENOENT' });
    });
  }
});

describe('file helpers', () => {
  it('write what they read', async () => {
    const path = join(folder, 'x');
    await writeNpyFile(path, array);
    expect(await readNpyFile(path)).toEqual(array);
    await writeNpzFile(path, { a: array }, { compress: true });
    expect((await readNpzFile(path)).get('a')).toEqual(array);
    await writeSafetensorsFile(path, { a: array }, { format: 'tf' });
    expect((await readSafetensorsFile(path)).tensors.get('a')).toEqual(array);
    expect((await readSafetensorsFile(path)).metadata).toEqual({ format: 'tf' });
  });

  it('read IDX files with and without gzip', async () => {
    const path = join(folder, 'x-idx2-int');
    writeFileSync(path, encodeIdx(array));
    expect(await readIdxFile(path)).toEqual(array);
    writeFileSync(path, gzipSync(encodeIdx(array)));
    expect(await readIdxFile(path)).toEqual(array);
  });

  it('name the file in errors', async () => {
    const path = join(folder, 'bad');
    writeFileSync(path, 'bad');
    await expect(readNpyFile(path)).rejects.toThrow(path);
    await expect(readNpzFile(path)).rejects.toMatchObject({ file: path });
    await expect(readFileBytes(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('gunzip', () => {
  const packed = gzipSync(new Uint8Array(100_000));

  it('stops at the limit', async () => {
    expect((await gunzip(packed, { maxBytes: 100_000 })).length).toBe(100_000);
    await expect(gunzip(packed, { maxBytes: 99_999 })).rejects.toThrow(/too large: expected at most 99999/);
  });

  it('tells truncated from corrupt', async () => {
    await expect(gunzip(packed.subarray(0, 50), { file: 'x.gz' })).rejects.toThrow(/x.gz: truncated/);
    await expect(gunzip(new Uint8Array(50))).rejects.toThrow(/corrupt/);
    expect([isGzip(packed), isGzip(new Uint8Array(0))]).toEqual([true, false]);
  });

  it('never fails otherwise on damaged files', async () => {
    const random = randomSource(1);
    for (let run = 0; run < 2000; run++) {
      const result = await gunzip(mutate(packed, random), { maxBytes: 200_000 }).catch(
        (error: unknown) => error,
      );
      if (!(result instanceof Uint8Array)) expect(result).toBeInstanceOf(FormatError);
    }
  });
});
