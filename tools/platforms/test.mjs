// Builds the addons for other platforms, reads what their files say, and runs them where this machine can: node tools/platforms/test.mjs [TARGET…]
// [--only PATTERN] [--report FILE] [--built] [--into FOLDER] [--others]  All platforms unless some are named; of the tests those whose names match. At
// the end stands what ran, what did not, and why. The report has the numbers of tests as vitest's has. With --built the addons are those that lie in
// native/platforms. With --into nothing runs here: the folder has a folder for each platform, to run `node program.mjs` in elsewhere. With --others the
// sources are also compiled for the platforms that are not named, warnings being errors; each counts as a test.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { bundle } from '../gpu/pack.mjs';
import { build, compile } from './build.mjs';
import { demands, mistakes } from './check.mjs';
import { runOn, runtimeHere } from './runtimes.mjs';
import { own, targets, targetsNamed } from './targets.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = argv.slice(2);
const option = (name) => {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words.splice(at, 2)[1];
};
const [only, report, into] = [option('--only'), option('--report'), option('--into')];
const flag = (name) => words.includes(name) && words.splice(words.indexOf(name), 1).length > 0;
const [built, others] = [flag('--built'), flag('--others')];
const named = words.length === 0 ? [Object.keys(targets)] : words.map(targetsNamed);
if (named.includes(undefined)) {
  console.error(
    `Usage: pnpm test:platforms [--only PATTERN] [--report FILE] [--built] [--into FOLDER] [--others] [TARGET…], each one of all, ${Object.keys(targets).join(', ')}`,
  );
  exit(2);
}

const work = mkdtempSync(join(tmpdir(), 'eagre-platforms-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
await bundle(join(work, 'program.mjs'), join(root, 'tools/platforms/program.mjs'));
const rows = [];
for (const target of named.flat()) rows.push({ target, ...test(target) });
if (others)
  // This machine's own compiler has built those of its platform.
  for (const target of Object.keys(targets))
    if (target !== own && !named.flat().includes(target)) rows.push({ target, ...(await compiled(target)) });
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
  return /^(?:as promised|not built)/.test(file) && !tests.startsWith('FAILED');
}

/** What the table says of a platform whose addons are not built. */
async function compiled(target) {
  try {
    const { files, wrong } = await compile(target);
    for (const text of wrong) console.error(text);
    const tests = wrong.length > 0 ? `FAILED: ${wrong.length} of ${files} files` : '1 passed';
    return { file: `not built: ${files} files compiled`, tests };
  } catch (error) {
    return { file: error.message, tests: 'FAILED: not compiled' };
  }
}

/** What the table says of a platform. */
function test(target) {
  let folder;
  try {
    folder = built ? join(root, 'native/platforms', target) : build(target);
  } catch (error) {
    return { file: error.message, tests: 'FAILED: not built' };
  }
  const addons = ['eagre.node', 'eagre_codecs.node', 'eagre_cuda.node']
    .map((name) => join(folder, name))
    .filter(existsSync);
  if (addons.length === 0) return { file: `${folder} has no addon`, tests: 'FAILED: not built' };
  const wrong = addons.flatMap((file) =>
    mistakes(target, readFileSync(file)).map((what) => `${file}: ${what}`),
  );
  for (const line of wrong) console.error(line);
  const file = wrong.length > 0 ? wrong[0] : `as promised, ${demands(readFileSync(addons[0]))}`;
  return { file, tests: run(target, addons) };
}

/** Runs the program with the addons as users have them: in a package for the platform, beside a flat tree of others. */
function run(target, addons) {
  const runtime = into === undefined ? runtimeHere(target) : { missing: `it is in ${join(into, target)}` };
  if (runtime.missing !== undefined && into === undefined) return `not run: ${runtime.missing}`;
  const folder = join(into ?? work, target);
  const home = join(folder, 'node_modules/@eagre', `native-${target}`);
  mkdirSync(home, { recursive: true });
  const platform = join(root, 'native/platforms', target);
  const manifest = JSON.parse(readFileSync(join(platform, 'package.json'), 'utf8'));
  writeFileSync(join(home, 'package.json'), JSON.stringify({ ...manifest, ...manifest.publishConfig }));
  for (const addon of addons) copyFileSync(addon, join(home, basename(addon)));
  for (const name of manifest.files.filter((name) => name.endsWith('.cjs')))
    copyFileSync(join(platform, name), join(home, name));
  copyFileSync(join(work, 'program.mjs'), join(folder, 'program.mjs'));
  if (runtime.missing !== undefined) return `not run: ${runtime.missing}`;
  console.log(`${target}: ${runtime.command.join(' ')} ${join(folder, 'program.mjs')}`);
  const env = { ...process.env, EAGRE_ADDON: '', EAGRE_BACKEND: 'native' };
  const { text, wrong } = runOn(runtime, folder, 'program.mjs', { after: only ? [only] : [], env });
  console.log(text);
  const [first, last] = [text.split(/\r?\n/)[0], text.split(/\r?\n/).at(-1)];
  return wrong === undefined ? `${last} (${first})` : `FAILED: ${wrong}: ${last}`;
}
