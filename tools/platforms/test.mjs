// Builds the addons for other platforms, reads what their files say, and runs them where this machine can: node tools/platforms/test.mjs [TARGET…]
// [--only PATTERN] [--report FILE]  All platforms unless some are named; of the tests those whose names match. At the end stands what ran, what did
// not, and why. The report has the numbers of tests as vitest's has.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { bundle } from '../gpu/pack.mjs';
import { build } from './build.mjs';
import { demands, mistakes } from './check.mjs';
import { runtimeOf } from './runtimes.mjs';
import { targets, targetsNamed } from './targets.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = argv.slice(2);
const option = (name) => {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words.splice(at, 2)[1];
};
const [only, report] = [option('--only'), option('--report')];
const named = words.length === 0 ? [Object.keys(targets)] : words.map(targetsNamed);
if (named.includes(undefined)) {
  console.error(
    `Usage: pnpm test:platforms [--only PATTERN] [--report FILE] [TARGET…], each one of all, ${Object.keys(targets).join(', ')}`,
  );
  exit(2);
}

const work = mkdtempSync(join(tmpdir(), 'eagre-platforms-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
await bundle(join(work, 'program.mjs'), join(root, 'tools/platforms/program.mjs'));
const rows = [];
for (const target of named.flat()) rows.push({ target, ...test(target) });
if (report !== undefined) {
  const sum = (what) =>
    rows.reduce((n, { tests }) => n + Number(new RegExp(`(\\d+) ${what}`).exec(tests)?.[1] ?? 0), 0);
  const broken = rows.filter(({ file, tests }) => !isWell(file, tests) && !/\d+ failed/.test(tests));
  writeFileSync(
    report,
    JSON.stringify({ numPassedTests: sum('passed'), numFailedTests: sum('failed') + broken.length }),
  );
}
console.table(Object.fromEntries(rows.map(({ target, ...row }) => [target, row])));
exit(rows.every(({ file, tests }) => isWell(file, tests)) ? 0 : 1);

function isWell(file, tests) {
  return file.startsWith('as promised') && !tests.startsWith('FAILED');
}

/** What the table says of a platform. */
function test(target) {
  let built;
  try {
    built = build(target);
  } catch (error) {
    return { file: error.message, tests: 'FAILED: not built' };
  }
  const addons = ['eagre.node', 'eagre_cuda.node'].map((name) => join(built, name)).filter(existsSync);
  const wrong = addons.flatMap((file) =>
    mistakes(target, readFileSync(file)).map((what) => `${file}: ${what}`),
  );
  for (const line of wrong) console.error(line);
  const file = wrong.length > 0 ? wrong[0] : `as promised, ${demands(readFileSync(addons[0]))}`;
  return { file, tests: run(target, addons[0]) };
}

/** How programs for a platform are run, where they start at all: a container may forbid an emulator what it needs. */
function runtimeHere(target) {
  try {
    const runtime = runtimeOf(target);
    if (runtime.missing !== undefined) return runtime;
    const [command, ...args] = [...runtime.command, '--version'];
    const env = { ...process.env, ...runtime.environment };
    const { status, signal, error } = spawnSync(command, args, { stdio: 'ignore', env });
    return status === 0
      ? runtime
      : { missing: `${command} does not start: ${error?.message ?? signal ?? status}` };
  } catch (error) {
    return { missing: error.message };
  }
}

/** Runs the program with the addon as users have it: in a package for the platform, beside a flat tree of others. */
function run(target, addon) {
  const runtime = runtimeHere(target);
  if (runtime.missing !== undefined) return `not run: ${runtime.missing}`;
  const folder = join(work, target);
  const home = join(folder, 'node_modules/@eagre', `native-${target}`);
  mkdirSync(home, { recursive: true });
  const manifest = JSON.parse(readFileSync(`${root}native/platforms/${target}/package.json`, 'utf8'));
  writeFileSync(join(home, 'package.json'), JSON.stringify({ ...manifest, ...manifest.publishConfig }));
  copyFileSync(addon, join(home, 'eagre.node'));
  copyFileSync(join(work, 'program.mjs'), join(folder, 'program.mjs'));
  const [command, ...args] = [
    ...runtime.command,
    runtime.file(join(folder, 'program.mjs')),
    ...(only ? [only] : []),
  ];
  console.log(`${target}: ${[command, ...args].join(' ')}`);
  // A pipe is nothing that Node in Wine can write to.
  const said = openSync(join(folder, 'said.txt'), 'w');
  const env = { ...process.env, EAGRE_ADDON: '', EAGRE_BACKEND: 'native', ...runtime.environment };
  const { status, signal, error } = spawnSync(command, args, {
    cwd: folder,
    stdio: ['ignore', said, said],
    env,
  });
  closeSync(said);
  const text = readFileSync(join(folder, 'said.txt'), 'utf8').trim();
  console.log(text);
  const [first, last] = [text.split(/\r?\n/)[0], text.split(/\r?\n/).at(-1)];
  return status === 0 ? `${last} (${first})` : `FAILED: ${error?.message ?? signal ?? status}: ${last}`;
}
