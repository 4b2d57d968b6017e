// Packs the package in the working directory as for publishing, and asks publint and attw about the tarball. Looks at the built classes'
// names, too, and at those of types.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Names of exported classes and functions that the bundler has changed, as in `Hinge$1` or `e`: losses and layers are named after them. */
async function renamed() {
  const found = new Set();
  const visit = (value, depth) => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return;
    // Arrow functions have no prototype; nothing is named after them.
    if (value.prototype !== undefined && /\$\d+$|^.$/.test(value.name)) found.add(value.name);
    if (depth > 0) for (const member of Object.values(value)) visit(member, depth - 1);
  };
  for (const file of ['dist/index.js', 'dist/internal.js'].filter((name) => existsSync(name)))
    visit(await import(pathToFileURL(resolve(file)).href), 3);
  return [...found];
}

/** What one file of declarations exports to another under a shorter name, as in `Tensor as wt`: errors of TypeScript would show it. */
function shortened() {
  const files = readdirSync('dist').filter((name) => name.endsWith('.d.ts'));
  const exported = files.flatMap(
    (name) => readFileSync(join('dist', name), 'utf8').match(/^export \{.*\};$/gm) ?? [],
  );
  return exported.flatMap((line) => line.match(/\b[A-Z]\w{2,} as \w{1,2}\b/g) ?? []);
}

/** Leaves entries that are no modules of JavaScript out of what has types. */
function untyped() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = Object.keys(exports).filter((name) => name.endsWith('.wasm'));
  return entries.length === 0 ? [] : ['--exclude-entrypoints', ...entries];
}

const folder = mkdtempSync(join(tmpdir(), 'eagre-pack-'));
let failed = false;
try {
  execFileSync('pnpm', ['pack', '--pack-destination', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const tarball = join(folder, readdirSync(folder)[0]);
  const packed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n');
  // Templates come with tests of their own.
  const tests = packed.filter(
    (path) => /\/(tests|testing)\/|\.test\./.test(path) && !/^package\/templates\//.test(path),
  );
  if (tests.length > 0) {
    console.error(`tests are in the package: ${tests.join(', ')}`);
    failed = true;
  }
  for (const [tool, ...args] of [
    ['publint', '--strict', tarball],
    ['attw', tarball, '--profile', 'esm-only', '--quiet', ...untyped()],
  ]) {
    const { status } = spawnSync(tool, args, { stdio: 'inherit' });
    failed ||= status !== 0;
  }
} finally {
  rmSync(folder, { recursive: true });
}
const names = await renamed();
if (names.length > 0) {
  console.error(`the bundler has renamed ${names.join(', ')}`);
  failed = true;
}
const short = shortened();
if (short.length > 0) {
  console.error(`the bundler has shortened ${short.join(', ')}`);
  failed = true;
}
process.exitCode = failed ? 1 : 0;
