import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/src/temporary.ts';
import { ownMark } from './atomic.ts';
import { deleteLeftoverFolders, folderBeside, replaceFolder, restoreFolder } from './folders.ts';

const dead = spawnSync(process.execPath, ['-e', '']).pid.toString(36);
const [machine] = ownMark().split('-');
const mark = `${machine}-${dead}-x`;
const filled = (path: string, content: string): string => {
  mkdirSync(path);
  writeFileSync(join(path, 'file'), content);
  return path;
};
const contentOf = (path: string): string => readFileSync(join(path, 'file'), 'utf8');

test('a folder is replaced, and nothing else is left', () => {
  const folder = temporaryFolder('folders');
  const target = join(folder, 'model');
  for (const content of ['first', 'second']) {
    replaceFolder(target, filled(folderBeside(target), content));
    expect(contentOf(target)).toBe(content);
    expect(readdirSync(folder)).toEqual(['model']);
  }
  expect(() => replaceFolder(target, join(folder, 'none'))).toThrow('ENOENT');
  expect(contentOf(target)).toBe('second');
});

test('what killed processes have left is put back or deleted, that of others stays', () => {
  const folder = temporaryFolder('folders');
  const target = join(folder, 'model');
  filled(join(folder, `.model.${mark}.old`), 'old');
  filled(join(folder, `.model.${mark}.tmp`), 'new');
  // Of this process, of another machine, and of a target whose name begins with this one's.
  const others = [`.model.${ownMark()}.tmp`, `.model.elsewhere-${dead}-x.old`, `.model.v2.${mark}.old`];
  for (const name of others) filled(join(folder, name), 'other');
  restoreFolder(join(folder, 'nothing'));
  expect(existsSync(join(folder, 'nothing'))).toBe(false);
  restoreFolder(target);
  expect(contentOf(target)).toBe('old');
  filled(join(folder, `.model.${mark}.old`), 'older');
  restoreFolder(target);
  expect(contentOf(target)).toBe('old');
  deleteLeftoverFolders(target);
  expect(readdirSync(folder).sort()).toEqual([...others, 'model'].sort());
});
