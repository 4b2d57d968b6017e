// Publishes all packages that npm does not have in their version yet: node tools/release.mjs [--dry-run]
// Before: `pnpm changeset version`, commit, the addon of each platform in native/platforms (`pnpm pack:native --target all`), and the kernels for
// GPUs of NVIDIA (`pnpm pack:kernels`).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dryRun = process.argv.includes('--dry-run');

const { status: changed } = spawnSync('git', ['diff', '--quiet', 'HEAD'], { cwd: root });
if (changed !== 0) refuse('There are changes that are not committed.');
const manifests = ['packages', 'apps', 'native/platforms'].flatMap((group) =>
  readdirSync(`${root}${group}`)
    .map((name) => `${root}${group}/${name}/package.json`)
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')))
    .filter((manifest) => manifest.private !== true),
);
const versions = [...new Set(manifests.map(({ version }) => version))];
if (versions.length > 1) refuse(`Versions differ: ${versions.join(', ')}. All packages share one.`);
if (versions[0] === '0.0.0') refuse('The version is 0.0.0: run `pnpm changeset version` first.');

run('node', ['tools/pack-native.mjs']);
for (const platform of readdirSync(`${root}native/platforms`)) {
  const folder = `${root}native/platforms/${platform}`;
  const { status } = spawnSync('node', ['../../../tools/pack-native.mjs', '--check'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status !== 0)
    refuse(`The package of ${platform} is not ready: run \`pnpm pack:native --target ${platform}\`.`);
}
const { status: packed } = spawnSync('node', ['tools/gpu/pack-kernels.mjs', '--check'], {
  cwd: root,
  stdio: 'inherit',
});
if (packed !== 0) refuse('The kernels for GPUs of NVIDIA are not ready.');
run('pnpm', ['exec', 'turbo', 'run', 'build', 'check', '--output-logs=errors-only']);

// Whoever installs a new version at once has to find the binaries that it asks for: they come first.
const publish = ['--access', 'public', '--no-git-checks'];
if (dryRun) {
  for (const { name, version } of manifests) console.log(`would publish ${name} ${version}`);
} else {
  const provenance = { NPM_CONFIG_PROVENANCE: 'true' };
  run('pnpm', ['publish', '-r', '--filter', './native/platforms/*', ...publish], provenance);
  run('pnpm', ['exec', 'changeset', 'publish'], provenance);
}

function run(program, args, env = {}) {
  const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status } = spawnSync(program, args, { ...options, env: { ...process.env, ...env } });
  if (status !== 0) process.exit(status ?? 1);
}

/** A dry run goes on, to show all that is wrong. */
function refuse(message) {
  console.error(message);
  if (!dryRun) process.exit(1);
}
