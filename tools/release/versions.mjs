// Gives all packages their next version, and writes what has changed into their CHANGELOG.md: node tools/release/versions.mjs [FOLDER]
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

/** The notes of what has changed since the last release (`.changeset/*.md`). */
export function notesOf(root) {
  return readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md') && name !== 'README.md');
}

/** @returns {Promise<string>} the version */
export async function nextVersion(root) {
  await run('pnpm', ['exec', 'changeset', 'version'], root);
  const { version } = JSON.parse(readFileSync(join(root, 'packages/eagre/package.json'), 'utf8'));
  // Programs read it as `tf.version.VERSION`.
  const file = join(root, 'packages/eagre/src/version.ts');
  const before = readFileSync(file, 'utf8');
  const after = before.replace(/(export const VERSION: string = )'.*'/, `$1'${version}'`);
  if (after === before && !before.includes(`'${version}'`)) throw new Error(`${file} names no version`);
  writeFileSync(file, after);
  return version;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(argv[2] ?? fileURLToPath(new URL('../..', import.meta.url)));
  if (!existsSync(join(root, '.changeset')) || notesOf(root).length === 0) {
    console.error('Nothing has changed: there is no note in .changeset.');
    process.exit(1);
  }
  console.log(
    `All packages are now of version ${await nextVersion(root)}. Read the changes, and commit them.`,
  );
}
