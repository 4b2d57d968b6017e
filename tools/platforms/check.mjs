// Whether an addon is as its platform's package promises: node tools/platforms/check.mjs TARGET FILE…
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { unprotected } from '../hardening.mjs';
import { describe } from './binaries.mjs';
import { targets } from './targets.mjs';

/** What Node 20 itself asks for. */
const allowedGlibc = '2.28';
const oldestMac = '11.0';
/** What every system has that runs Node. */
const ofSystem = {
  glibc: /^(?:ld-linux-.*|libc|libm|libdl|librt|libpthread|libgcc_s)\.so\.\d+$/,
  musl: /^libc\.so$/,
  darwin: /^\/usr\/lib\/libSystem\.B\.dylib$/,
  win32: /^(?:kernel32|ntdll|advapi32|api-ms-win-crt-[a-z0-9-]+|ucrtbase|msvcrt)\.dll$/i,
};
/** What Node looks for in an addon. */
const entries = ['napi_register_module_v1', 'node_api_module_get_api_version_v1'];
/** What zig's linker for macOS exports of each library; nobody binds to them. */
const ofLinker = ['_mh_dylib_header', '__dso_handle'];

/**
 * What is wrong with an addon for a platform.
 * @param {string} target
 * @param {Buffer} bytes
 * @param own names of libraries that lie beside it
 * @returns {string[]} a line for each mistake
 */
export function mistakes(target, bytes, own = []) {
  const { os, cpu, libc } = targets[target];
  const it = describe(bytes);
  if (it.system !== os || it.cpu !== cpu) return [`it is for ${it.system} on ${it.cpu}`];
  const system = ofSystem[libc ?? os];
  const wrong = it.libraries
    .filter((name) => !system.test(name) && !own.includes(name))
    .map((name) => `it needs ${name}, which is not part of the system`);
  for (const name of entries) if (!it.exports.includes(name)) wrong.push(`it does not export ${name}`);
  if (os !== 'win32' || it.exports.length > 0) {
    const more = it.exports.filter((name) => !entries.includes(name) && !ofLinker.includes(name));
    if (more.length > 0) wrong.push(`it exports more than Node looks for: ${more.slice(0, 5).join(', ')}`);
  }
  // Node-API is whoever's that loads it; nobody has the rest, and so the addon cannot be loaded. Symbols of musl have no versions that tell.
  const unknown = (libc === 'musl' ? [] : (it.unbound ?? [])).filter(
    (name) => !/^(?:napi|node_api)_/.test(name),
  );
  if (unknown.length > 0) wrong.push(`it needs functions that nobody has: ${unknown.slice(0, 5).join(', ')}`);
  if (os === 'linux') wrong.push(...unprotected(bytes), ...wrongVersions(it, libc));
  if (os === 'darwin') {
    if (newerFirst(it.minimum, oldestMac) < 0 || it.minimum === 'unknown')
      wrong.push(`it asks for macOS ${it.minimum}; ${oldestMac} is the newest that it may ask for`);
    // Other processors run what nobody signed.
    if (cpu === 'arm64' && it.signature !== 'ad hoc')
      wrong.push(`its signature is ${it.signature}, not ad hoc: Apple silicon refuses it`);
    if (!it.imports.includes('napi_create_function'))
      wrong.push('it does not take Node-API from whoever loads it');
  }
  if (os === 'win32') {
    for (const protection of ['high entropy addresses', 'dynamic base', 'no execution of data'])
      if (!it.protections.includes(protection)) wrong.push(`it lacks a protection: ${protection}`);
    if (it.imports.some((name) => name.startsWith('napi_')))
      wrong.push('it takes Node-API from a program of one name');
  }
  return wrong;
}

function wrongVersions({ versions, libraries }, libc) {
  const glibc = versions.filter((name) => name.startsWith('GLIBC_')).map((name) => name.slice(6));
  if (libc === 'musl') return glibc.length > 0 || libraries.includes('libc.so.6') ? ['it is for glibc'] : [];
  const newest = glibc.sort(newerFirst)[0];
  if (newest === undefined) return ['it does not ask for glibc'];
  return newerFirst(newest, allowedGlibc) < 0
    ? [
        `it asks for glibc ${newest}; ${allowedGlibc} is the newest that it may ask for (native/binding/old_glibc.cc)`,
      ]
    : [];
}

/** What an addon asks of its system, in a few words. */
export function demands(bytes) {
  const { system, versions = [], minimum } = describe(bytes);
  if (system === 'darwin') return `macOS ${minimum}`;
  if (system !== 'linux') return '';
  const glibc = versions.filter((name) => name.startsWith('GLIBC_')).map((name) => name.slice(6));
  return glibc.length === 0 ? 'musl' : `glibc ${glibc.sort(newerFirst)[0]}`;
}

function newerFirst(a, b) {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number));
  return y[0] - x[0] || y[1] - x[1] || (y[2] ?? 0) - (x[2] ?? 0);
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [target, ...files] = argv.slice(2);
  const found = files.flatMap((file) =>
    mistakes(target, readFileSync(file)).map((what) => `${file}: ${what}`),
  );
  if (found.length > 0) console.error(found.join('\n'));
  exit(found.length > 0 ? 1 : 0);
}
