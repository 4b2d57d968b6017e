/** For tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A folder that goes when the process does. */
export function temporaryFolder(): string {
  if (made.length === 0)
    process.once('exit', () => {
      for (const folder of made) rmSync(folder, { recursive: true, force: true });
    });
  const folder = mkdtempSync(join(tmpdir(), 'eagre-summary-'));
  made.push(folder);
  return folder;
}
