// Builds the modules of WebAssembly into packages/backend-wasm: pnpm pack:wasm. The first build takes some minutes: it compiles a C++ library, too.
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildModule } from './platforms/build.mjs';

const folder = fileURLToPath(new URL('../packages/backend-wasm/', import.meta.url));
// What is fetched by a page, compressed.
const MOST = 1.2e6;

try {
  for (const threads of [false, true]) {
    const file = `${folder}eagre${threads ? '-threads' : ''}.wasm`;
    copyFileSync(buildModule(threads), file);
    const packed = gzipSync(readFileSync(file), { level: 9 }).length;
    console.log(`${file}: ${statSync(file).size} bytes, ${packed} compressed`);
    if (packed > MOST) throw new Error(`${file} is larger than ${MOST} bytes when compressed`);
  }
} catch (error) {
  console.error(error.message);
  exit(1);
}
