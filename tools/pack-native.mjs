// Puts the native addon into the package of this platform (native/platforms/), ready to be published:
// node tools/pack-native.mjs           builds it, strips it, checks it
// node tools/pack-native.mjs --built   strips and checks the build that is there
// node tools/pack-native.mjs --check   checks what lies in the package of the working directory
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What Node 20 itself asks for. */
const newestGlibc = '2.28';
const most = 2.5e6;

if (process.argv[2] === '--check') {
  check(process.cwd());
} else {
  const platform = `${process.platform}-${process.arch}`;
  const folder = `${root}native/platforms/${platform}`;
  if (!existsSync(folder)) fail(`There is no package for ${platform} in native/platforms.`);
  if (process.argv[2] !== '--built') {
    const build = ['--silent', 'exec', 'turbo', 'run', 'build', '--output-logs=errors-only'];
    run('pnpm', [...build, '--filter=@eagre/native']);
  }
  const file = `${folder}/eagre.node`;
  copyFileSync(`${root}native/build/Release/eagre.node`, file);
  if (process.platform === 'linux') run('strip', ['--strip-all', file]);
  else if (process.platform === 'darwin') run('strip', ['-x', file]);
  check(folder);
}

/** Ends the process unless the package holds an addon for its platform that old systems can load. */
function check(folder) {
  const platform = basename(folder);
  const file = resolve(folder, 'eagre.node');
  if (!existsSync(file)) fail(`${file} is missing: run \`pnpm pack:native\` on ${platform}.`);
  const bytes = readFileSync(file);
  if (formatOf(bytes) !== platform) fail(`${file} is for ${formatOf(bytes)}.`);
  const packed = gzipSync(bytes, { level: 9 }).length;
  if (packed > most) fail(`${file} has ${packed} bytes when it is packed; ${most} are the most.`);
  const asked = platform.startsWith('linux') ? checkVersions(bytes, file) : '';
  console.log(`${platform}: ${(packed / 1e6).toFixed(2)} MB packed${asked}`);
}

/** Of an ELF file: the versions of libraries that it asks for stand in it by name. */
function checkVersions(bytes, file) {
  const text = bytes.toString('latin1');
  const versions = [...new Set(text.match(/\bGLIBC_[\d.]+(?=\0)/g) ?? [])].map((name) => name.slice(6));
  const [newest] = versions.sort(newerFirst);
  if (newest === undefined || newerFirst(newest, newestGlibc) < 0)
    fail(
      `${file} asks for glibc ${newest}; ${newestGlibc} is the newest that it may ask for (native/binding/old_glibc.cc).`,
    );
  const library = text.match(/\b(?:GLIBCXX|CXXABI)_[\d.]+(?=\0)/);
  if (library !== null) fail(`${file} asks for ${library[0]}: link the C++ library statically.`);
  return `, glibc ${newest}`;
}

function newerFirst(a, b) {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number));
  return y[0] - x[0] || y[1] - x[1] || (y[2] ?? 0) - (x[2] ?? 0);
}

/** The platform for which a file of code is, by its first bytes. */
function formatOf(bytes) {
  const at = (offset, names) => names[bytes.readUInt16LE(offset)] ?? 'another processor';
  if (bytes.readUInt32BE(0) === 0x7f454c46) return `linux-${at(18, { 62: 'x64', 183: 'arm64' })}`;
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return `darwin-${at(4, { 7: 'x64', 12: 'arm64' })}`;
  if (bytes.readUInt16BE(0) === 0x4d5a)
    return `win32-${at(bytes.readUInt32LE(60) + 4, { 34404: 'x64', 43620: 'arm64' })}`;
  return 'no known system';
}

function run(program, args) {
  execFileSync(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
