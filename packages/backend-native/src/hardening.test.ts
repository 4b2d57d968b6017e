import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const built = join(root, 'native/build/Release');
const addons = existsSync(built) ? readdirSync(built).filter((name) => name.endsWith('.node')) : [];

const check = (file: string): string =>
  spawnSync(process.execPath, [join(root, 'tools/hardening.mjs'), file], { encoding: 'utf8' }).stderr;

// Sanitizers look after memory in their own way.
describe.skipIf(process.platform !== 'linux' || process.env['EAGRE_SANITIZED'] !== undefined)(
  'addons',
  () => {
    test.each(addons)('%s is protected as its compiler and linker can', (name) => {
      expect(check(join(built, name))).toBe('');
    });

    test.skipIf(addons.length === 0)('one without protection is told', () => {
      const folder = mkdtempSync(join(tmpdir(), 'eagre-addon-'));
      try {
        const file = join(folder, 'weak.node');
        copyFileSync(join(built, addons[0] as string), file);
        const bytes = readFileSync(file);
        const headers = Number(bytes.readBigUInt64LE(32));
        // No segment keeps its kind: no table is read-only, and nothing says how functions are bound.
        for (let i = 0; i < bytes.readUInt16LE(56); i++)
          bytes.writeUInt32LE(0, headers + i * bytes.readUInt16LE(54));
        writeFileSync(file, bytes);
        expect(check(file)).toMatch(/-z relro.*-z now.*-z noexecstack/s);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  },
);
