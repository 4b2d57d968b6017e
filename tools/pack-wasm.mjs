// Builds the modules of WebAssembly into packages/backend-wasm: pnpm pack:wasm. The first build takes some minutes: it compiles a C++ library, too.
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildModules } from './platforms/build.mjs';

const folder = fileURLToPath(new URL('../packages/backend-wasm/', import.meta.url));

try {
  for (const threads of [false, true]) {
    const built = buildModules(threads);
    const name = `${folder}eagre${threads ? '-threads' : ''}`;
    pack(`${built}/eagre.wasm`, `${name}.wasm`, 1.2e6);
    checkBare(`${built}/relaxed.wasm`);
    pack(`${built}/relaxed.wasm`, `${name}-relaxed.wasm`, 16e3);
  }
} catch (error) {
  console.error(error.message);
  exit(1);
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
