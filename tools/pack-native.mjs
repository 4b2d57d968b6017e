// Puts the native addon into the package of this platform (native/platforms/), ready to be published:
// node tools/pack-native.mjs           builds it, strips it, checks it
// node tools/pack-native.mjs --built   strips and checks the build that is there
// node tools/pack-native.mjs --check   checks what lies in the package of the working directory
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { unprotected } from './hardening.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** What Node 20 itself asks for. */
const allowedGlibc = '2.28';
const most = 2.5e6;
/** Of the addon for GPUs of NVIDIA. */
const mostCuda = 0.2e6;
/** Of the addon for several processes with its libraries, which few programs load. */
const mostDistribute = 1e6;
/** The licences of the libraries that a package has beside the addon. */
const notices = 'THIRD_PARTY_NOTICES.txt';
/** What every Linux has that runs Node: not part of a package. */
const ofSystem = /^(?:linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so/;

if (process.argv[2] === '--check') {
  check(process.cwd());
} else {
  const platform = `${process.platform}-${process.arch}`;
  const folder = `${root}native/platforms/${platform}`;
  if (!existsSync(folder)) fail(`There is no package for ${platform} in native/platforms.`);
  if (process.argv[2] !== '--built') {
    const command = ['--silent', 'exec', 'turbo', 'run', 'build', '--output-logs=errors-only'];
    run('pnpm', [...command, '--filter=@eagre/native']);
  }
  const build = `${root}native/build/Release`;
  if (process.platform === 'linux') {
    place(`${build}/eagre.node`, `${folder}/eagre.node`, '--strip-all');
    place(`${build}/eagre_cuda.node`, `${folder}/eagre_cuda.node`, '--strip-all');
    packDistribute(folder);
  } else place(`${build}/eagre.node`, `${folder}/eagre.node`, process.platform === 'darwin' ? '-x' : null);
  check(folder);
}

/** Copies and strips a library. It appears whole: other processes may load it at any moment. */
function place(from, to, strip) {
  const made = `${to}.${process.pid}`;
  copyFileSync(from, made);
  if (strip !== null) run('strip', [strip, made]);
  renameSync(made, to);
}

/** The addon for several processes, with Gloo and what Gloo needs beside it; nothing where it was not built. */
function packDistribute(folder) {
  const built = `${root}native/build/Release/eagre_distribute.node`;
  for (const name of distributed(folder)) rmSync(`${folder}/${name}`);
  rmSync(`${folder}/${notices}`, { force: true });
  if (!existsSync(built)) return;
  const listed = execFileSync('ldd', [built], { encoding: 'utf8' });
  const licences = [];
  for (const [, name, path] of listed.matchAll(/^\s*(\S+) => (\S+)/gm)) {
    if (ofSystem.test(name)) continue;
    if (path === 'not') fail(`${name}, which ${built} needs, is not on this machine.`);
    place(realpathSync(path), `${folder}/${name}`, '--strip-unneeded');
    licences.push(`${name}\n\n${licenceOf(realpathSync(path))}`);
  }
  writeFileSync(`${folder}/${notices}`, licences.join(`\n${'-'.repeat(80)}\n\n`));
  // Last: who finds it finds its libraries too.
  place(built, `${folder}/eagre_distribute.node`, '--strip-all');
}

/** What the package of a library on this system (Debian, Ubuntu) says of its authors and licence. */
function licenceOf(library) {
  // By its name: /lib is /usr/lib on newer systems, and the packages were told either.
  const owner = execFileSync('dpkg', ['-S', `*/${basename(library)}`], { encoding: 'utf8' }).split(':')[0];
  const file = `/usr/share/doc/${owner}/copyright`;
  if (!existsSync(file)) fail(`The licence of ${library} is not on this machine (${file}).`);
  return readFileSync(file, 'utf8');
}

/** The files of the addon for several processes in a package. */
function distributed(folder) {
  return readdirSync(folder).filter((name) => name === 'eagre_distribute.node' || /^lib.*\.so\./.test(name));
}

/** Says what a package has for several processes. Without it the package is complete, but for that. */
function checkDistribute(folder, platform) {
  if (!platform.startsWith('linux')) return;
  const names = distributed(folder);
  if (!names.includes('eagre_distribute.node')) {
    console.log(
      `${platform}: without training on several processes, since Gloo was not found when the addons were built (apt-get install libgloo-dev)`,
    );
    return;
  }
  const files = names.map((name) => readFileSync(resolve(folder, name)));
  const packed = files.map((bytes) => gzipSync(bytes, { level: 9 }).length).reduce((a, b) => a + b);
  if (!names.some((name) => name.startsWith('libgloo.so')))
    fail(
      `${folder} has eagre_distribute.node, but not the library Gloo: run \`pnpm pack:native\` on ${platform}.`,
    );
  names.forEach((name, i) => {
    if (formatOf(files[i]) !== platform) fail(`${resolve(folder, name)} is for ${formatOf(files[i])}.`);
  });
  const licences = existsSync(resolve(folder, notices)) ? readFileSync(resolve(folder, notices), 'utf8') : '';
  for (const name of names)
    if (name.startsWith('lib') && !licences.includes(`${name}\n`))
      fail(`${folder} has ${name}, but not its licence in ${notices}.`);
  const addon = files[names.indexOf('eagre_distribute.node')];
  checkProtected(addon, `${folder}/eagre_distribute.node`);
  if (!addon.includes('$ORIGIN'))
    fail(`${folder}/eagre_distribute.node does not look for its libraries beside it.`);
  if (packed > mostDistribute)
    fail(
      `eagre_distribute.node and its libraries have ${packed} bytes when they are packed; ${mostDistribute} are the most.`,
    );
  const newest = newestGlibc(Buffer.concat(files));
  console.log(
    `${platform}: several processes, ${names.length} files, ${(packed / 1e6).toFixed(2)} MB packed, glibc ${newest}`,
  );
}

/** Ends the process unless a package of Linux holds the addon for GPUs. It needs no library, as it finds the driver when it runs. */
function checkCuda(folder, platform) {
  if (!platform.startsWith('linux')) return;
  const file = resolve(folder, 'eagre_cuda.node');
  if (!existsSync(file)) fail(`${file} is missing: run \`pnpm pack:native\` on ${platform}.`);
  const bytes = readFileSync(file);
  if (formatOf(bytes) !== platform) fail(`${file} is for ${formatOf(bytes)}.`);
  const packed = gzipSync(bytes, { level: 9 }).length;
  if (packed > mostCuda) fail(`${file} has ${packed} bytes when it is packed; ${mostCuda} are the most.`);
  console.log(`${platform}: GPUs, ${(packed / 1e6).toFixed(2)} MB packed${checkVersions(bytes, file)}`);
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
  checkCuda(folder, platform);
  checkDistribute(folder, platform);
}

/** Of an ELF file: the versions of libraries that it asks for stand in it by name. */
function checkVersions(bytes, file) {
  checkProtected(bytes, file);
  const newest = newestGlibc(bytes);
  if (newest === undefined || newerFirst(newest, allowedGlibc) < 0)
    fail(
      `${file} asks for glibc ${newest}; ${allowedGlibc} is the newest that it may ask for (native/binding/old_glibc.cc).`,
    );
  const library = bytes.toString('latin1').match(/\b(?:GLIBCXX|CXXABI)_[\d.]+(?=\0)/);
  if (library !== null) fail(`${file} asks for ${library[0]}: link the C++ library statically.`);
  return `, glibc ${newest}`;
}

/** Ends the process where an addon lacks what limits the harm of a mistake in it. */
function checkProtected(bytes, file) {
  for (const what of unprotected(bytes)) fail(`${file}: ${what}.`);
}

/** The newest version of glibc that stands in ELF files. */
function newestGlibc(bytes) {
  const names = bytes.toString('latin1').match(/\bGLIBC_[\d.]+(?=\0)/g) ?? [];
  return names.map((name) => name.slice(6)).sort(newerFirst)[0];
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
