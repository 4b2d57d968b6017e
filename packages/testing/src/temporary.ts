// For tests: folders in the system's temporary one, which are removed when the file of tests ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];
// Not when the process ends: vitest ends it before it could.
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * A new folder, also within a test.
 * @param name what it is for: its own name begins with `eagre-` and this
 */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `eagre-${name}-`));
  made.push(folder);
  return folder;
}
