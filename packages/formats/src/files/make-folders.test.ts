import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolders } from './make-folders.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-folders-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('makeFolders', () => {
  it('makes what is missing, and leaves what is there', () => {
    const path = join(folder, 'a', 'b', 'c');
    makeFolders(path);
    expect(statSync(path).isDirectory()).toBe(true);
    writeFileSync(join(path, 'kept'), '');
    makeFolders(path);
    makeFolders(join(path, '..', 'd'));
    expect(existsSync(join(path, 'kept')) && existsSync(join(folder, 'a', 'b', 'd'))).toBe(true);
  });

  it('refuses where a file is in the way', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeFolders(join(folder, 'file'))).toThrow('EEXIST');
    expect(() => makeFolders(join(folder, 'file', 'a'))).toThrow('ENOTDIR');
  });

  it.runIf(existsSync('/proc/self'))('ends where no folder can be made', () => {
    expect(() => makeFolders('/proc/eagre/a')).toThrow('ENOENT');
  });
});
