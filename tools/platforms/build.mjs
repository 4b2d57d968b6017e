// Builds the addons for another platform: node tools/platforms/build.mjs TARGET…  What has not changed is not compiled again.
import { exec, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
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
  return buildFor(target, targets[target].zig, [`-DEAGRE_TESTS=${tests ? 'ON' : 'OFF'}`, headers()]);
}

/**
 * Compiles the sources for a platform as `build` does, with warnings as errors, but only as far as the compiler has something to say: no code is
 * optimized or kept, which takes a tenth of the time.
 * @returns `files`, how many were compiled, and `wrong`, what the compiler says of those that it refuses
 * @throws Error that says what else failed
 */
export async function compile(target) {
  const folder = mkdtempSync(join(tmpdir(), `eagre-${target}-`));
  try {
    configure(folder, targets[target].zig, [headers(), '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON']);
    const commands = JSON.parse(readFileSync(join(folder, 'compile_commands.json'), 'utf8'));
    console.log(`${target}: compiling ${commands.length} files without code`);
    // zig keeps what it has compiled, else for ever.
    const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: join(folder, 'cache') };
    const wrong = [];
    const waiting = commands.values();
    const worker = async () => {
      for (const { directory, command } of waiting)
        await new Promise((resolve) => {
          const told = `${command} -Werror -emit-llvm -Xclang -disable-llvm-passes`;
          exec(told, { cwd: directory, env }, (error, _, said) => {
            if (error) wrong.push(said.trim() || error.message);
            resolve();
          });
        });
    };
    await Promise.all(Array.from({ length: jobs() }, worker));
    return { files: commands.length, wrong };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the modules of WebAssembly, `eagre.wasm` and `relaxed.wasm`, for threads or without; without them also `codecs.wasm`. @returns the folder that they are in */
export function buildModules(threads) {
  const name = threads ? 'wasm-threads' : 'wasm';
  return buildFor(name, 'wasm32-wasi', [`-DEAGRE_WASM_THREADS=${threads ? 'ON' : 'OFF'}`]);
}

function buildFor(target, triple, options) {
  const folder = `${root}native/build-${target}`;
  console.log(`${target}: building in native/build-${target}`);
  configure(folder, triple, options);
  run('cmake', ['--build', folder, '--parallel', String(jobs())]);
  return builtFolder(target);
}

function configure(folder, triple, options) {
  const ninja = spawnSync('ninja', ['--version']).status === 0;
  run('cmake', [
    ...['-S', `${root}native`, '-B', folder, '-G', ninja ? 'Ninja' : 'Unix Makefiles', '--log-level=WARNING'],
    `-DCMAKE_TOOLCHAIN_FILE=${root}native/zig.cmake`,
    `-DEAGRE_ZIG=${zig()}`,
    `-DEAGRE_TARGET=${triple}`,
    ...options,
    `-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${folder}/Release`,
    `-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}/Release`,
  ]);
}

/** Those of Node-API, which CMake passes on. */
const headers = () =>
  `-DCMAKE_JS_INC=${createRequire(`${root}native/package.json`)('node-api-headers').include_dir}`;

/** How many files are compiled at a time. */
const jobs = () => Number(process.env.EAGRE_JOBS) || availableParallelism();

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
