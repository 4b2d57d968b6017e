// Compiles the kernels that programs usually run on GPUs of NVIDIA, and puts them into the package @eagre/backend-cuda, so that its users need no compiler:
//
//   EAGRE_NVRTC=…/libnvrtc.so.12 node tools/gpu/pack-kernels.mjs [--out=FILE] [--first=COUNT] [CAPABILITY…]
//   node tools/gpu/pack-kernels.mjs --check      whether the package has them
//
// `--first` compiles only so many programs, for tests. It needs the native addons (`pnpm build:native`), and no GPU.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './pack.mjs';

/** Turing, Ampere and Ada Lovelace, Hopper, and both kinds of Blackwell: machine code runs on later GPUs of the same major version. */
const CAPABILITIES = ['75', '80', '90', '100', '120'];
/** What the package may have at most. */
const MOST = 24 * 2 ** 20;

const folder = fileURLToPath(new URL('../../packages/backend-cuda/kernels', import.meta.url));
const given = process.argv.slice(2);
const option = (name) => given.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
const capabilities = given.filter((each) => /^\d+$/.test(each));
const unknown = given.find((each) => !/^(\d+|--check|--out=.+|--first=\d+)$/.test(each));
if (unknown !== undefined) fail(`what is ${unknown}?`);
const file = resolve(option('out') ?? `${folder}/kernels.bin`);

if (!given.includes('--check')) {
  mkdirSync(folder, { recursive: true });
  // In the package, from where Node finds the addon.
  const program = `${folder}/build-${process.pid}.mjs`;
  try {
    await bundle(program, fileURLToPath(new URL('kernels.mjs', import.meta.url)));
    const args = [file, option('first') ?? '0', ...(capabilities.length > 0 ? capabilities : CAPABILITIES)];
    execFileSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  } finally {
    rmSync(program, { force: true });
  }
}
if (!existsSync(file)) fail(`${file} is not there: run \`pnpm pack:kernels\``);
if (statSync(file).size > MOST) fail(`${file} has more than ${MOST / 2 ** 20} MiB`);

function fail(text) {
  console.error(text);
  process.exit(1);
}
