// Builds the addons for another platform: node tools/platforms/build.mjs TARGET…  What has not changed is not compiled again.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { targets, targetsNamed } from './targets.mjs';
import { zig, zigCache } from './zig.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The folder that the build of a platform puts its addons into. */
export const builtFolder = (target) => `${root}native/build-${target}/Release`;

/**
 * Builds the addons for a platform with zig. `EAGRE_JOBS` is how many files are compiled at a time. The first build for a platform also compiles its
 * C++ library, which takes some minutes.
 * @param options `tests`: also the C++ tests of the kernels
 * @returns the folder that they are in
 * @throws Error that says what failed
 */
export function build(target, { tests = false } = {}) {
  const headers = createRequire(`${root}native/package.json`)('node-api-headers').include_dir;
  return buildFor(target, targets[target].zig, [
    `-DEAGRE_TESTS=${tests ? 'ON' : 'OFF'}`,
    `-DCMAKE_JS_INC=${headers}`,
  ]);
}

/** Builds the modules of WebAssembly, `eagre.wasm` and `relaxed.wasm`, for threads or without. @returns the folder that they are in */
export function buildModules(threads) {
  const name = threads ? 'wasm-threads' : 'wasm';
  return buildFor(name, 'wasm32-wasi', [`-DEAGRE_WASM_THREADS=${threads ? 'ON' : 'OFF'}`]);
}

function buildFor(target, triple, options) {
  const folder = `${root}native/build-${target}`;
  const out = builtFolder(target);
  const ninja = spawnSync('ninja', ['--version']).status === 0;
  console.log(`${target}: building in native/build-${target}`);
  run('cmake', [
    ...['-S', `${root}native`, '-B', folder, '-G', ninja ? 'Ninja' : 'Unix Makefiles', '--log-level=WARNING'],
    `-DCMAKE_TOOLCHAIN_FILE=${root}native/zig.cmake`,
    `-DEAGRE_ZIG=${zig()}`,
    `-DEAGRE_TARGET=${triple}`,
    ...options,
    `-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${out}`,
    `-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${out}`,
  ]);
  const jobs = process.env.EAGRE_JOBS || String(availableParallelism());
  run('cmake', ['--build', folder, '--parallel', jobs]);
  return out;
}

function run(program, args) {
  const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: process.env.ZIG_GLOBAL_CACHE_DIR || zigCache };
  const { status, signal, error } = spawnSync(program, args, { stdio: 'inherit', env });
  if (error) throw new Error(`${program} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${signal ?? status}`);
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const named = argv.slice(2).map(targetsNamed);
  if (named.length === 0 || named.includes(undefined)) {
    console.error(
      `Usage: node tools/platforms/build.mjs TARGET…, each one of all, ${Object.keys(targets).join(', ')}`,
    );
    exit(2);
  }
  try {
    for (const target of named.flat()) build(target);
  } catch (error) {
    console.error(error.message);
    exit(1);
  }
}
