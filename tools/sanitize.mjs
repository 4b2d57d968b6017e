// Builds the native kernels with a sanitizer, and runs their C++ tests and the conformance suite with them (Linux, gcc or clang):
// node tools/sanitize.mjs asan|tsan [build] [cpp] [node]
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [kind, ...chosen] = process.argv.slice(2);
const sanitizers = {
  asan: {
    value: 'address',
    symbol: '__asan_init',
    libraries: ['libasan.so', 'libstdc++.so.6'],
    threads: '2',
  },
  tsan: { value: 'thread', symbol: '__tsan_init', libraries: ['libtsan.so', 'libstdc++.so.6'], threads: '4' },
};
const sanitizer = sanitizers[kind];
const parts = chosen.length > 0 ? chosen : ['build', 'cpp', 'node'];
if (sanitizer === undefined || parts.some((p) => !['build', 'cpp', 'node'].includes(p)))
  fail('Usage: node tools/sanitize.mjs asan|tsan [build] [cpp] [node]');
if (process.platform !== 'linux') fail('The sanitizers run on Linux only.');

const folder = `${root}native/build-${kind}`;
const addon = `${folder}/Release/eagre.node`;
const jobs = process.env.EAGRE_JOBS ?? '2';

const common = {
  EAGRE_ADDON: addon,
  EAGRE_BACKEND: 'native',
  EAGRE_SANITIZED: kind,
  EAGRE_NUM_THREADS: process.env.EAGRE_NUM_THREADS ?? sanitizer.threads,
  // What is refused for its size has to come back as an error. Leaks are looked for by the C++ tests alone: V8 frees little at exit.
  ASAN_OPTIONS: 'allocator_may_return_null=1:detect_leaks=0:abort_on_error=1',
  UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
  // Node is not instrumented: what it does with memory and locks of its own says nothing.
  TSAN_OPTIONS: 'halt_on_error=1:abort_on_error=1:second_deadlock_stack=1:ignore_noninstrumented_modules=1',
};

if (parts.includes('build')) {
  const flags = [`--CDEAGRE_SANITIZE=${sanitizer.value}`, '--CDEAGRE_TESTS=ON', '--parallel', jobs];
  run(
    process.execPath,
    ['node_modules/cmake-js/bin/cmake-js', 'compile', '--out', folder, ...flags],
    {},
    `${root}native`,
  );
}
if (!readFileSync(addon).includes(sanitizer.symbol)) fail(`${addon} is not instrumented`);

if (parts.includes('cpp')) {
  const env = { ...common, ASAN_OPTIONS: 'detect_leaks=1:abort_on_error=1' };
  const tests = readdirSync(folder).filter((name) => name.endsWith('_test'));
  if (tests.length === 0) fail('no C++ tests were built');
  for (const isa of ['baseline', 'avx2', 'avx512', 'amx']) {
    for (const test of tests) program(`${folder}/${test}`, [], { ...env, EAGRE_ISA: isa });
  }
}

if (parts.includes('node')) {
  // Node is not instrumented, so the run-time library has to be there before everything else; libstdc++ so that it finds `throw`.
  const env = { ...common, LD_PRELOAD: sanitizer.libraries.map(library).join(' ') };
  planted(env);
  const config = ['--config', 'tools/sanitizers/vitest.config.mjs'];
  program(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...config], env);
}
console.log(`No findings: ${kind}, ${parts.join(', ')}.`);

/** A mistake made on purpose has to be found, or all the rest says nothing. */
function planted(env) {
  const { status, signal, stderr } = spawnSync(
    ...started([`${root}tools/sanitizers/planted.mjs`, kind], env),
  );
  if (status === 0 || !/ERROR: AddressSanitizer|WARNING: ThreadSanitizer: data race/.test(stderr))
    fail(`The planted mistake was not found (${signal ?? status}):\n${stderr}`);
  console.log('The planted mistake was found.');
}

function started(args, env) {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } };
  return [...still(process.execPath, args), options];
}

/** ThreadSanitizer's fixed layout of memory allows little randomness of addresses. */
function still(file, args) {
  return kind === 'tsan'
    ? ['setarch', [process.arch === 'x64' ? 'x86_64' : 'aarch64', '-R', file, ...args]]
    : [file, args];
}

function program(file, args, env) {
  run(...still(file, args), env);
}

function run(file, args, env, cwd = root) {
  const { status, signal, error } = spawnSync(file, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (error) fail(`Cannot run ${file}: ${error.message}`);
  if (status !== 0) fail(`${[file, ...args].join(' ')} ended with ${signal ?? status}`);
}

function library(name) {
  return spawnSync(process.env.CXX ?? 'c++', [`-print-file-name=${name}`], {
    encoding: 'utf8',
  }).stdout.trim();
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
