// Publishes all packages that npm does not have in their version yet: pnpm release. With --dry-run it rehearses only.
//
// All of it happens in a copy of the last commit: the packages are built, checked and packed there, and published to a registry on this machine. npm,
// pnpm and yarn install them into empty projects, where the first programs of the README run. What was rehearsed is then published, file by file.
// Before: `pnpm release:version`, a commit, and the binaries (`pnpm pack:native --target all`, `pnpm pack:wasm`, `pnpm pack:kernels`). What is not
// built is left out. A rehearsal gives the packages their next version itself, in the copy.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { own, targets } from './platforms/targets.mjs';
import {
  addresses,
  missingPlatforms,
  pack,
  partsOf,
  publish,
  publishable,
  publishHere,
} from './release/packages.mjs';
import { kernelsIn, managers, project, runPrograms } from './release/projects.mjs';
import { startRegistry } from './release/registry.mjs';
import { run } from './release/run.mjs';
import { nextVersion, notesOf } from './release/versions.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dryRun = process.argv.includes('--dry-run');
const unknown = process.argv.slice(2).find((word) => word !== '--dry-run');
if (unknown !== undefined) {
  console.error(`What is ${unknown}? Usage: pnpm release [--dry-run]`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'eagre-release-'));
const copy = join(folder, 'copy');
const began = Date.now();
/** What must change before anything is published. */
const obstacles = [];
/** What is good to know. */
const notes = [];
const rows = {};
let registry;
let packed = [];
try {
  await release();
} catch (error) {
  obstacles.push(error.message);
} finally {
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true });
}
report();

async function release() {
  const parts = partsOf(root);
  const missing = missingPlatforms(parts);
  look(parts);
  if (!dryRun && obstacles.length > 0) return;

  await step('copying the last commit, and what was built beside it', () => copySources(parts));
  if (dryRun && notesOf(copy).length > 0)
    await step('giving all packages their next version, in the copy', () => nextVersion(copy));
  const packages = publishable(copy).filter(({ name }) => !missing.includes(name));
  const versions = [...new Set(packages.map(({ manifest }) => manifest.version))];
  if (versions.length > 1)
    throw new Error(`Versions differ: ${versions.join(', ')}. All packages share one.`);
  if (versions[0] === '0.0.0') throw new Error('The version is 0.0.0, and no note in .changeset raises it.');
  if (dryRun) sayChanges(versions[0]);
  await step('building and checking all packages', () => {
    const filters = packages.flatMap(({ name }) => ['--filter', name]);
    // A rehearsal need not build again what was built for another one.
    const kept = dryRun ? ['--cache-dir', join(root, 'node_modules/.cache/turbo-release')] : [];
    const words = [
      'exec',
      'turbo',
      'run',
      'build',
      'check',
      '--output-logs=errors-only',
      ...kept,
      ...filters,
    ];
    return run('pnpm', words, copy);
  });
  packed = await step(`packing ${packages.length} packages`, () =>
    pack(copy, join(folder, 'packed'), packages, missing),
  );
  await rehearse(versions[0], missing);
  if (!dryRun && obstacles.length === 0) await publishToNpm(versions[0]);
}

/** What there is to publish, and what is in the way of it. */
function look(parts) {
  for (const { name, state, says, without } of parts) {
    if (state === 'wrong') obstacles.push(`${name}: ${says.split('\n').at(-1)}`);
    if (state === 'missing') notes.push(`Left out: ${name}, ${says}. Without it: ${without}.`);
  }
  if (parts.every(({ platform, state }) => platform === undefined || state === 'missing'))
    obstacles.push('No package with native kernels is built: run `pnpm pack:native`.');
  const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
  const pending = notesOf(root).length;
  if (dryRun) {
    if (changed) notes.push('Changes that are not committed are not part of it.');
    if (pending > 0) notes.push('Before a release: `pnpm release:version`, and commit what it writes.');
  } else {
    if (changed) obstacles.push('There are changes that are not committed.');
    if (pending > 0)
      obstacles.push(
        `${pending} notes in .changeset wait: run \`pnpm release:version\`, and commit what it writes.`,
      );
  }
  if (addresses(root, '.').repository === undefined)
    notes.push('No repository is set (package.json), so the packages name none.');
  if (!hasProvenance())
    notes.push(
      `Without provenance: ${hasIdentity() ? 'no repository is set' : 'this is no CI that says who it is (`id-token: write` on GitHub)'}.`,
    );
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

/** Who publishes proves where the files were built: npm takes such a proof from a few services, for a repository that the package names. */
function hasProvenance() {
  return addresses(root, '.').repository !== undefined && hasIdentity();
}

function hasIdentity() {
  const {
    ACTIONS_ID_TOKEN_REQUEST_URL: url,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: token,
    SIGSTORE_ID_TOKEN: given,
  } = process.env;
  return Boolean((url && token) || given);
}

/** A clone, with the packages of others, and the binaries: what git does not know, but for what `pnpm build` makes. */
async function copySources(parts) {
  await run('git', ['clone', '--quiet', '--no-hardlinks', root, copy], folder);
  await run(
    'pnpm',
    ['install', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts', '--silent'],
    copy,
  );
  const left = parts.filter(({ state }) => state === 'missing').map(({ name }) => name);
  for (const { name, folder: place } of publishable(root).filter((one) => !left.includes(one.name))) {
    const files = git('ls-files', '--others', '--ignored', '--exclude-standard', '--', place).split('\n');
    const built = files.filter((file) => file && !/\/(?:node_modules|dist|\.[^/]*)\//.test(file));
    for (const file of built.filter((one) => name.startsWith('@eagre/') && existsSync(join(root, one)))) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file));
    }
  }
}

function sayChanges(version) {
  const log = readFileSync(join(copy, 'packages/eagre/CHANGELOG.md'), 'utf8');
  const [, latest = ''] = log.split(/^## /m);
  const count = latest.match(/^- /gm)?.length ?? 0;
  console.log(`  ${version}: ${count} changes in the changelog of eagre`);
}

/** Publishes to a registry on this machine, and installs from it. */
async function rehearse(version, missing) {
  const outside = await run('npm', ['config', 'get', 'registry'], folder);
  registry = await step('starting a registry on this machine', () =>
    startRegistry(join(folder, 'registry'), outside),
  );
  await step(`publishing ${packed.length} packages to it`, () => publishHere(packed, registry));
  for (const manager of Object.keys(managers))
    await attempt(`${manager} installs eagre on ${own}`, () => use(manager, own, version, missing));
  await attempt('npm create eagre, npm start', () => create(version, missing));
  for (const target of Object.keys(targets).filter((name) => name !== own))
    await attempt(`npm installs eagre for ${target}`, () => use('npm', target, version, missing));
}

/** Installs for a platform, and runs what the README shows first. @returns what the table says of it */
async function use(manager, target, version, missing) {
  const place = join(folder, `${manager.replace(' ', '-')}-${target}`);
  await project(manager, place, ['eagre'], { registry, target, cache: join(folder, 'cache') });
  const isThere = !missing.includes(`@eagre/native-${target}`);
  const found = kernelsIn(place);
  // Yarn 1 knows nothing of C libraries.
  const alike = ({ os, cpu }) => `${os} ${cpu}`;
  const rest = found.filter((name) => name !== target);
  const right =
    found.includes(target) === isThere &&
    (manager === 'yarn'
      ? rest.every((name) => alike(targets[name]) === alike(targets[target]))
      : rest.length === 0);
  const kernels = found.length === 0 ? 'none' : found.join(', ');
  if (!right) throw new Error(`it has installed the kernels of ${kernels}`);
  const outcome = await runPrograms(place, { manager, target });
  if (outcome.missing !== undefined) return { kernels, programs: `not run: ${outcome.missing}` };
  const backend = isThere ? 'native' : hasWasm() ? 'wasm' : 'js';
  if (outcome.backend !== backend || outcome.version !== version)
    throw new Error(
      `version ${outcome.version} computes by ${outcome.backend}, not ${version} by ${backend}`,
    );
  return { kernels, programs: `${outcome.programs} run, on ${backend} kernels` };
}

/** Starts a project as its author does, and trains there. @returns what the table says of it */
async function create(version, missing) {
  const env = { npm_config_registry: registry.address, npm_config_cache: join(folder, 'cache/npm') };
  const words = ['create', '--yes', `eagre@${version}`, 'created', '--', '--template', 'node'];
  await run('npm', words, folder, env);
  const place = join(folder, 'created');
  const said = await run('npm', ['start'], place, env);
  const accuracy = Number(/accuracy ([\d.]+)\n/.exec(said)?.[1]);
  if (!(accuracy > 0.9)) throw new Error(`the project has trained to an accuracy of ${accuracy}: ${said}`);
  if (!missing.includes(`@eagre/native-${own}`) && !kernelsIn(place).includes(own))
    throw new Error('the project has no native kernels');
  return { kernels: kernelsIn(place).join(', '), programs: `trained to an accuracy of ${accuracy}` };
}

function hasWasm() {
  return existsSync(join(copy, 'packages/backend-wasm/eagre.wasm'));
}

async function attempt(what, action) {
  try {
    rows[what] = await step(what, action);
  } catch (error) {
    obstacles.push(`${what}: ${error.message}`);
    rows[what] = { kernels: '', programs: `FAILED: ${error.message.split('\n')[0]}` };
  }
}

/** Publishes what was rehearsed, to npm. */
async function publishToNpm(version) {
  const provenance = hasProvenance();
  let count = 0;
  await step(`publishing ${packed.length} packages${provenance ? ', with provenance' : ''}`, async () => {
    // One after the other: whoever installs finds what a package needs.
    for (const one of packed) if (await publish(one, { provenance })) count++;
  });
  console.log(`  ${count} are new; the others were there.`);
  if (git('tag', '--list', `v${version}`) === '') git('tag', `v${version}`);
  notes.push(`The commit has the tag v${version}: run \`git push origin v${version}\`.`);
}

async function step(what, action) {
  const start = Date.now();
  console.log(`${what} …`);
  const result = await action();
  console.log(`  done (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  return result;
}

function report() {
  if (Object.keys(rows).length > 0) console.table(rows);
  if (packed.length > 0) {
    console.log(`\n${dryRun ? 'Would be published' : 'Published, unless something is in the way'}:`);
    for (const { name, version, size, files } of packed)
      console.log(`  ${name} ${version} (${files} files, ${(size / 1e6).toFixed(2)} MB)`);
  }
  for (const note of notes) console.log(`- ${note}`);
  for (const obstacle of obstacles) console.error(`In the way: ${obstacle}`);
  const seconds = ((Date.now() - began) / 1000).toFixed(0);
  if (obstacles.length === 0)
    console.log(dryRun ? `Rehearsed in ${seconds} s; nothing is in the way.` : 'Released.');
  process.exitCode = obstacles.length === 0 ? 0 : 1;
}
