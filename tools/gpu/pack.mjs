// Packs what runs on GPUs of NVIDIA into a folder for a machine with nothing but a GPU and its driver; run.sh says what it does there.
//
//   EAGRE_NVRTC=…/libnvrtc.so.12 node tools/gpu/pack.mjs FOLDER
//   node tools/gpu/pack.mjs --no-node FOLDER      for a machine that has Node and NVRTC
//
// It needs the native addons (`pnpm build:native`) and xz. Without EAGRE_NVRTC, the other machine must have NVRTC itself.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
/** What the pack may have at most. */
const MOST = 64 * 2 ** 20;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isAlone = process.argv[2] !== '--no-node';
  const [folder, ...rest] = process.argv.slice(isAlone ? 2 : 3);
  if (folder === undefined || rest.length > 0) fail('node tools/gpu/pack.mjs [--no-node] FOLDER');
  const out = resolve(folder);
  await pack(out);
  if (isAlone) {
    addPrograms(out);
    archive(out);
  }
  // What the pack has unpacked and written when it ran is not part of it.
  const files = readdirSync(out, { recursive: true }).filter(
    (file) => !/^(runs|unpacked)\b/.test(file) && statSync(join(out, file)).isFile(),
  );
  const size = files.reduce((sum, file) => sum + statSync(join(out, file)).size, 0);
  console.log(`${out}: ${files.length} files, ${(size / 2 ** 20).toFixed(1)} MiB`);
  if (size > MOST) fail(`that is more than ${MOST / 2 ** 20} MiB`);
}

/** Adds Node and NVRTC. */
function addPrograms(out) {
  compress(out, stripped(process.execPath), `node-${process.version}`);
  const nvrtc = process.env.EAGRE_NVRTC;
  if (!nvrtc) return;
  const file = realpathSync(nvrtc);
  const builtins = readdirSync(dirname(file)).find((each) => /^libnvrtc-builtins\.so\.\d+\.\d+$/.test(each));
  if (builtins === undefined) fail(`there is no libnvrtc-builtins.so beside ${file}`);
  compress(out, file, 'libnvrtc.so.12');
  compress(out, join(dirname(file), builtins), builtins);
}

/** All but Node and NVRTC, in a folder. */
export async function pack(out) {
  const platform = `${process.platform}-${process.arch}`;
  if (!/^linux-(x64|arm64)$/.test(platform)) fail(`CUDA is for Linux on x64 and arm64; this is ${platform}`);
  const addons = `node_modules/@eagre/native-${platform}`;
  for (const folder of ['src', addons]) mkdirSync(join(out, folder), { recursive: true });
  await bundle(join(out, 'src/test.mjs'), join(here, 'test.mjs'));
  const bench = `${root}apps/bench`;
  await bundle(join(out, 'src/bench.mjs'), `${bench}/src/gpu/main.ts`);
  copyFileSync(`${bench}/peers/torch_gpu.py`, join(out, 'src/torch_gpu.py'));

  const given = `${root}native/platforms/${platform}`;
  const { name, version } = JSON.parse(readFileSync(`${given}/package.json`, 'utf8'));
  writeFileSync(join(out, addons, 'package.json'), JSON.stringify({ name, version, main: 'eagre.node' }));
  copyFileSync(`${given}/cuda.cjs`, join(out, addons, 'cuda.cjs'));
  for (const file of ['eagre.node', 'eagre_cuda.node']) {
    const built = `${root}native/build/Release/${file}`;
    if (!existsSync(built)) fail(`${built} is not there: run \`pnpm build:native\``);
    copyFileSync(built, join(out, addons, file));
    strip(join(out, addons, file));
  }
  copyFileSync(`${here}run.sh`, join(out, 'run.sh'));
  chmodSync(join(out, 'run.sh'), 0o755);
}

/** Bundles a program from sources with all that it imports, as one file. */
export async function bundle(outfile, program) {
  // Parts of vitest are found from where it is.
  const fromVitest = createRequire(realpathSync(`${root}node_modules/vitest/package.json`));
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    keepNames: true,
    // Packages are modules with effects: they register ops and backends.
    ignoreAnnotations: true,
    logLevel: 'error',
    plugins: [
      {
        name: 'sources',
        setup({ onResolve }) {
          onResolve({ filter: /^(@eagre\/|eagre$)/ }, ({ path }) => {
            const [folder, entry = 'index'] = path.replace('@eagre/', '').split('/');
            return { path: `${root}packages/${folder}/src/${entry}.ts` };
          });
          onResolve({ filter: /^vitest$/ }, () => ({ path: `${root}tools/gpu/vitest.mjs` }));
          onResolve({ filter: /^@vitest\/(runner|expect)$/ }, ({ path }) => ({
            path: join(dirname(fromVitest.resolve(`${path}/package.json`)), 'dist/index.js'),
          }));
        },
      },
    ],
  });
}

/** Puts what `pack` has made, but for run.sh, into one compressed archive. */
function archive(out) {
  const folders = ['src', 'node_modules'];
  const env = { ...process.env, XZ_OPT: '-9e' };
  execFileSync('tar', ['-C', out, '-cJf', join(out, 'programs.tar.xz'), ...folders], {
    env,
    stdio: 'inherit',
  });
  for (const folder of folders) rmSync(join(out, folder), { recursive: true });
}

/** Takes the symbols out of a program or library. */
function strip(file) {
  execFileSync('strip', ['--strip-unneeded', file], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** A copy without symbols, until this process ends. */
function stripped(file) {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-gpu-pack-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const to = join(folder, basename(file));
  copyFileSync(file, to);
  strip(to);
  return to;
}

/** Compresses a file, unless one of this name and size has been compressed before. */
function compress(out, file, as) {
  const to = join(out, `${as}.${statSync(file).size}.xz`);
  if (existsSync(to)) return;
  console.log(`compressing ${basename(file)}`);
  execFileSync('xz', ['-9e', '-T1', '-c', file], {
    stdio: ['ignore', openSync(`${to}.part`, 'w'), 'inherit'],
  });
  renameSync(`${to}.part`, to);
}

function fail(text) {
  console.error(text);
  process.exit(1);
}
