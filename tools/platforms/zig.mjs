// The compiler that builds addons for other platforms: clang, a linker, and the C and C++ libraries of all of them. `node tools/platforms/zig.mjs` says
// where it is.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/** As PyPI has it, in the package `ziglang`. */
const version = '0.17.1';
/** Of its files for Linux (x64, arm64), macOS (arm64, x64) and Windows (x64). */
const sha256 = [
  'ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54',
  'b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e',
  '09953b6af7f64168b915180a42774f520f92d86ef6331b28e33915c7e1f0bb23',
  '4e0b4b9c02b8d0d220e9948010f860b62ff11d96abb39762eca5fa2ef3f7bc97',
  '69c3dfc3aff6a297ec4017aa904782c0e450eb988982d7f675d83edce27526fb',
];

/** The folder that all that is fetched or made for other platforms goes into. */
export const cache = join(
  process.env.EAGRE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'eagre'),
);

/** Where zig keeps what it has compiled: for each platform a C++ library. */
export const zigCache = join(cache, 'zig-cache');

/**
 * The program zig, which is fetched when it is first needed: 100 MB, by pip, into the user's cache. `EAGRE_ZIG` names another of this version.
 * @throws Error that says what is missing
 */
export function zig() {
  const given = process.env.EAGRE_ZIG;
  const folder = join(cache, `zig-${version}`);
  const program = given || join(folder, 'ziglang', process.platform === 'win32' ? 'zig.exe' : 'zig');
  if (!given && !existsSync(program)) fetchZig(folder);
  const { stdout, error } = spawnSync(program, ['version'], { encoding: 'utf8' });
  if (error) throw new Error(`${program} cannot be run: ${error.message}`);
  if (stdout.trim() !== version) throw new Error(`${program} is zig ${stdout.trim()}; this needs ${version}`);
  return program;
}

function fetchZig(folder) {
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${folder}.`);
  try {
    const wanted = join(made, 'requirements.txt');
    writeFileSync(
      wanted,
      [`ziglang==${version}`, ...sha256.map((hash) => `--hash=sha256:${hash}`)].join(' '),
    );
    console.log(`Fetching zig ${version}, which compiles for other platforms (100 MB, once, into ${folder})`);
    const pip = [
      '-m',
      'pip',
      '--disable-pip-version-check',
      'install',
      '--no-deps',
      '--no-compile',
      '--only-binary=:all:',
    ];
    const args = [...pip, '--require-hashes', '--target', join(made, 'zig'), '-r', wanted];
    const python = process.platform === 'win32' ? 'python' : 'python3';
    const { status, error } = spawnSync(python, args, { stdio: 'inherit' });
    if (error || status !== 0)
      throw new Error(
        `zig ${version} could not be fetched${error ? ` (${python}: ${error.message})` : ''}. It needs Python with pip, and the network. ` +
          `Or name a zig ${version} that is on this machine: EAGRE_ZIG=/path/to/zig`,
      );
    // Another process may have been faster.
    if (!existsSync(folder)) renameSync(join(made, 'zig'), folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(zig());
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
