/** For tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A folder for the tests of one file: `afterAll(removeTemporaryFolders)`, as a process of tests is ended before it could clean up itself. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-summary-'));
  made.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}
