// Builds the modules of WebAssembly into packages/backend-wasm: pnpm pack:wasm [--check]. The first build takes some minutes: it compiles a C++ library,
// too. With --check it says only whether those that are there can be published.
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildModules } from './platforms/build.mjs';
import { notices, noticesOfWasm } from './platforms/notices.mjs';
import { isOfSources, stampSources } from './platforms/sources.mjs';

const folder = fileURLToPath(new URL('../packages/backend-wasm/', import.meta.url));

try {
  if (argv.includes('--check')) check();
  else packModules();
} catch (error) {
  console.error(error.message);
  exit(1);
}

function packModules() {
  for (const threads of [false, true]) {
    const built = buildModules(threads);
    const name = `${folder}eagre${threads ? '-threads' : ''}`;
    pack(`${built}/eagre.wasm`, `${name}.wasm`, 1.2e6);
    checkBare(`${built}/relaxed.wasm`);
    pack(`${built}/relaxed.wasm`, `${name}-relaxed.wasm`, 16e3);
    if (!threads) pack(`${built}/codecs.wasm`, `${name}-codecs.wasm`, 115e3);
  }
  writeFileSync(`${folder}${notices}`, noticesOfWasm());
  stampSources(folder);
}

function check() {
  const { files } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  const missing = files.filter((name) => name !== 'dist' && !existsSync(`${folder}${name}`));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} missing: run \`pnpm pack:wasm\``);
  if (!isOfSources(folder))
    throw new Error('The modules of WebAssembly were built from other sources: run `pnpm pack:wasm`');
  console.log(`${folder}: the modules are of the sources that are there`);
}

/** @param most bytes that a page fetches, compressed */
function pack(built, file, most) {
  copyFileSync(built, file);
  const packed = gzipSync(readFileSync(file), { level: 9 }).length;
  console.log(`${file}: ${statSync(file).size} bytes, ${packed} compressed`);
  if (packed > most) throw new Error(`${file} is larger than ${most} bytes when compressed`);
}

/** Refuses a module that wants memory or a table of its own: whoever joins it to the kernels gives it none. (WebAssembly's tool conventions: `dylink.0`.) */
function checkBare(file) {
  const bytes = readFileSync(file);
  const name = bytes.indexOf('dylink.0');
  // After the name: the kind of the first part, 1, its length, and four numbers.
  const [kind, length, ...numbers] = bytes.subarray(name + 8, name + 14);
  if (name < 0 || kind !== 1 || length !== 4 || numbers.some((number, i) => i % 2 === 0 && number !== 0))
    throw new Error(`${file} has data or a table of its own`);
}
