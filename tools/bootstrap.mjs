// Runs `npm start`, `npm test` and `npm run test:deep` on a machine with nothing but Node: only built-in modules, and files beside this one.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BuildProgress } from './build-progress.mjs';

const [command, ...args] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const { packageManager, engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const [major, minor] = process.versions.node.split('.').map(Number);
const [wantedMajor, wantedMinor] = engines.node.match(/\d+/g).map(Number);
if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  fail(`Eagre needs Node ${engines.node}; this is Node ${process.versions.node}.`);
}

if (!process.env.npm_config_user_agent?.startsWith('pnpm/')) {
  console.log(`Using ${packageManager} through npx (fetched once) to install, build and run.`);
  run('npx', ['--yes', '--loglevel=error', packageManager, '--silent', 'run', command, ...args]);
  process.exit();
}

run('pnpm', [
  'install',
  '--frozen-lockfile',
  '--prefer-offline',
  '--reporter=append-only',
  '--loglevel=warn',
]);
requireCompiler();

const turbo = ['exec', 'turbo', 'run', 'build', '--output-logs=new-only', '--filter=@eagre/native'];
if (command === 'start') {
  console.log('Building the native addon and the packages (kept for the next time).');
  await build([...turbo, '--filter=@eagre/examples^...']);
  run('pnpm', ['--silent', '--dir', 'apps/examples', 'run', 'start', ...args]);
} else if (command === 'test' || command === 'test:deep') {
  console.log('Building the native addon (kept for the next time).');
  await build(turbo);
  const deep = command === 'test:deep';
  run('pnpm', [
    'exec',
    'vitest',
    'run',
    deep ? '--project=*:deep' : '--project=!*:deep',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=runs/${deep ? 'deep-tests' : 'tests'}.json`,
    ...args,
  ]);
} else {
  fail('Usage: node tools/bootstrap.mjs start|test|test:deep [arguments]');
}

/** Runs turbo, and says every few seconds how far it is; what it says itself is shown if it fails. */
async function build(programArgs) {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' };
  const child = spawn('pnpm', programArgs, { cwd: root, env, shell: process.platform === 'win32' });
  const progress = new BuildProgress();
  child.stdout.setEncoding('utf8').on('data', (text) => progress.hear(text));
  child.stderr.setEncoding('utf8').on('data', (text) => progress.hear(text));
  const start = performance.now();
  const timer = setInterval(() => console.log(progress.line(performance.now() - start)), 10_000);
  const status = await new Promise((resolve) => {
    child.on('error', ({ message }) => fail(`Cannot run pnpm: ${message}`));
    child.on('close', resolve);
  });
  clearInterval(timer);
  if (status === 0) return;
  console.error(progress.said);
  process.exit(status ?? 1);
}

function run(program, programArgs, env = {}) {
  const { status, error } = spawnSync(program, programArgs, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    // npx and pnpm are .cmd files on Windows.
    shell: process.platform === 'win32',
  });
  if (error) fail(`Cannot run ${program}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

function requireCompiler() {
  const missing = [];
  if (!works('cmake')) missing.push('cmake');
  const compilers = [process.env.CXX, 'c++', 'g++', 'clang++'].filter(Boolean);
  if (process.platform !== 'win32' && !compilers.some(works)) missing.push('a C++ compiler');
  if (process.platform !== 'win32' && !['make', 'ninja'].some(works)) missing.push('make');
  if (missing.length === 0) return;
  const hint = {
    darwin: 'xcode-select --install; brew install cmake',
    linux: 'sudo apt-get install cmake g++ make   (or the same from your distribution)',
  }[process.platform];
  fail(
    `Building the native addon needs ${missing.join(' and ')}.\n${hint ? `Install with: ${hint}` : 'Install CMake and the C++ build tools.'}`,
  );
}

function works(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
