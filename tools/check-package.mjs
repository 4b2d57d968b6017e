// Packs the package in the working directory as for publishing, and asks publint and attw about the tarball.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'eagre-pack-'));
let failed = false;
try {
  execFileSync('pnpm', ['pack', '--pack-destination', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const tarball = join(folder, readdirSync(folder)[0]);
  for (const [tool, ...args] of [
    ['publint', '--strict', tarball],
    ['attw', '--profile', 'esm-only', '--quiet', tarball],
  ]) {
    const { status } = spawnSync(tool, args, { stdio: 'inherit' });
    failed ||= status !== 0;
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = failed ? 1 : 0;
