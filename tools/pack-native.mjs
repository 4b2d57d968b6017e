// Puts native addons into the packages of their platforms (native/platforms/), ready to be published:
// node tools/pack-native.mjs                  builds those of this platform with this machine's compiler, strips them, checks them
// node tools/pack-native.mjs --built          strips and checks the build that is there
// node tools/pack-native.mjs --target NAME    builds those of a platform, such as darwin-arm64, with zig; `all` is each one, of which that of this
//                                             machine is built as without --target
// node tools/pack-native.mjs --check          checks what lies in the package of the working directory
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
import { describe } from './platforms/binaries.mjs';
import { build } from './platforms/build.mjs';
import { demands, mistakes } from './platforms/check.mjs';
import { notices, noticesOfOwn, noticesOfZig, withLibraries } from './platforms/notices.mjs';
import { isOfSources, stampSources } from './platforms/sources.mjs';
import { own, targets, targetsNamed } from './platforms/targets.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const most = 2.5e6;
/** Of the addon for pictures in files. */
const mostCodecs = 0.35e6;
/** Of the addon for GPUs of NVIDIA. */
const mostCuda = 0.2e6;
/** Of the addon for several processes with its libraries, which few programs load. */
const mostDistribute = 1e6;
/** The addons that each platform has. */
const everywhere = ['eagre.node', 'eagre_codecs.node'];
/** What every Linux has that runs Node: not part of a package. */
const ofSystem = /^(?:linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so/;

const [option, named] = process.argv.slice(2);
if (option === '--check') check(process.cwd());
else if (option === '--target') {
  const chosen = targetsNamed(named ?? '');
  if (chosen === undefined) fail(`--target takes one of all, ${Object.keys(targets).join(', ')}.`);
  for (const target of chosen) {
    if (target === own && named === 'all') packOwn(true);
    else packOther(target);
  }
} else packOwn(option !== '--built');

/** The addons of this machine's own compiler. */
function packOwn(builds) {
  if (own === undefined)
    fail(`There is no package for ${process.platform}-${process.arch} in native/platforms.`);
  const folder = `${root}native/platforms/${own}`;
  if (builds) {
    const command = ['--silent', 'exec', 'turbo', 'run', 'build', '--output-logs=errors-only'];
    run('pnpm', [...command, '--filter=@eagre/native']);
  }
  const built = `${root}native/build/Release`;
  let libraries = [];
  if (process.platform === 'linux') {
    for (const name of everywhere) place(`${built}/${name}`, `${folder}/${name}`, '--strip-all');
    place(`${built}/eagre_cuda.node`, `${folder}/eagre_cuda.node`, '--strip-all');
    libraries = packDistribute(folder);
  } else
    for (const name of everywhere)
      place(`${built}/${name}`, `${folder}/${name}`, process.platform === 'darwin' ? '-x' : null);
  describeTo(folder, withLibraries(noticesOfOwn(), libraries));
  check(folder);
}

/** Those that zig builds, which have no symbols that nobody needs. */
function packOther(target) {
  const folder = `${root}native/platforms/${target}`;
  try {
    const built = build(target);
    for (const name of everywhere) place(`${built}/${name}`, `${folder}/${name}`, null);
    if (hasCuda(target)) place(`${built}/eagre_cuda.node`, `${folder}/eagre_cuda.node`, null);
  } catch (error) {
    fail(error.message);
  }
  // It is the machine's own Gloo that the addon for several processes is built with.
  for (const name of distributed(folder)) rmSync(`${folder}/${name}`);
  describeTo(folder, noticesOfZig(target));
  check(folder);
}

/** Says in a package what its binaries have of others, and beside it what they were built from. */
function describeTo(folder, text) {
  writeFileSync(`${folder}/${notices}`, text);
  stampSources(folder);
}

/** NVIDIA's driver is for glibc. */
function hasCuda(target) {
  return targets[target].libc === 'glibc';
}

/** Copies and strips a library. It appears whole: other processes may load it at any moment. */
function place(from, to, strip) {
  const made = `${to}.${process.pid}`;
  copyFileSync(from, made);
  if (strip !== null) run('strip', [strip, made]);
  renameSync(made, to);
}

/** The addon for several processes, with Gloo and what Gloo needs beside it: @returns these libraries, none where it was not built. */
function packDistribute(folder) {
  const built = `${root}native/build/Release/eagre_distribute.node`;
  for (const name of distributed(folder)) rmSync(`${folder}/${name}`);
  if (!existsSync(built)) return [];
  const listed = execFileSync('ldd', [built], { encoding: 'utf8' });
  const libraries = [];
  for (const [, name, path] of listed.matchAll(/^\s*(\S+) => (\S+)/gm)) {
    if (ofSystem.test(name)) continue;
    if (path === 'not') fail(`${name}, which ${built} needs, is not on this machine.`);
    place(realpathSync(path), `${folder}/${name}`, '--strip-unneeded');
    libraries.push({ name, licence: licenceOf(realpathSync(path)) });
  }
  // Last: who finds it finds its libraries too.
  place(built, `${folder}/eagre_distribute.node`, '--strip-all');
  return libraries;
}

/** What the package of a library on this system (Debian, Ubuntu) says of its authors and licence, and where its sources are. */
function licenceOf(library) {
  const said = (program, ...args) => execFileSync(program, args, { encoding: 'utf8' });
  // By its name: /lib is /usr/lib on newer systems, and the packages were told either.
  const owner = said('dpkg', '-S', `*/${basename(library)}`).split(':')[0];
  const file = `/usr/share/doc/${owner}/copyright`;
  if (!existsSync(file)) fail(`The licence of ${library} is not on this machine (${file}).`);
  const text = readFileSync(file, 'utf8');
  const system = /^ID=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  // What dpkg-query fills in.
  const wanted = ['Package', 'Version'].map((name) => `$\{source:${name}}`).join(' ');
  const [source, version] = said('dpkg-query', '-W', '-f', wanted, owner).split(' ');
  const place =
    system === 'ubuntu' ? 'https://launchpad.net/ubuntu/+source' : 'https://snapshot.debian.org/package';
  // Licences that many packages have lie in one place.
  const names = new Set(
    [...text.matchAll(/\/usr\/share\/common-licenses\/([\w.-]*\w)/g)].map(([, name]) => name),
  );
  const common = [...names].map((name) => [name, `/usr/share/common-licenses/${name}`]);
  const texts = common
    .filter(([, path]) => existsSync(path))
    .map(([name, path]) => `${name}:\n\n${readFileSync(path, 'utf8')}`);
  return [`Its sources: ${place}/${source}/${version}\n`, text, ...texts].join('\n');
}

/** The files of the addon for several processes in a package. */
function distributed(folder) {
  return readdirSync(folder).filter((name) => name === 'eagre_distribute.node' || /^lib.*\.so\./.test(name));
}

/** Says what a package has for several processes. Without it the package is complete, but for that. */
function checkDistribute(folder, platform) {
  if (targets[platform].libc !== 'glibc') return;
  const names = distributed(folder);
  if (!names.includes('eagre_distribute.node')) {
    console.log(
      `${platform}: without training on several processes, which only \`pnpm pack:native\` builds on ${platform}, where Gloo is (apt-get install libgloo-dev)`,
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
    const { system, cpu } = describe(files[i]);
    if (`${system}-${cpu}` !== platform) fail(`${resolve(folder, name)} is for ${system} on ${cpu}.`);
  });
  const licences = readFileSync(resolve(folder, notices), 'utf8');
  for (const name of names)
    if (name.startsWith('lib') && !licences.includes(`${name}\n`))
      fail(`${folder} has ${name}, but not its licence in ${notices}.`);
  const addon = files[names.indexOf('eagre_distribute.node')];
  for (const what of unprotected(addon)) fail(`${folder}/eagre_distribute.node: ${what}.`);
  if (!addon.includes('$ORIGIN'))
    fail(`${folder}/eagre_distribute.node does not look for its libraries beside it.`);
  if (packed > mostDistribute)
    fail(
      `eagre_distribute.node and its libraries have ${packed} bytes when they are packed; ${mostDistribute} are the most.`,
    );
  console.log(
    `${platform}: several processes, ${names.length} files, ${(packed / 1e6).toFixed(2)} MB packed, ${demands(addon)}`,
  );
}

/** Ends the process unless the package holds the addons for its platform, and old systems can load them. */
function check(folder) {
  const platform = basename(folder);
  if (targets[platform] === undefined) fail(`${folder} is of no platform (tools/platforms/targets.mjs).`);
  if (existsSync(resolve(folder, 'eagre.node'))) {
    const again = `run \`pnpm pack:native --target ${platform}\``;
    if (!existsSync(resolve(folder, notices))) fail(`${folder}/${notices} is missing: ${again}.`);
    if (!isOfSources(folder)) fail(`${folder} was built from other sources: ${again}.`);
  }
  checkAddon(folder, platform, 'eagre.node', most, 'kernels');
  checkAddon(folder, platform, 'eagre_codecs.node', mostCodecs, 'pictures');
  // It needs no library, as it finds the driver when it runs.
  if (hasCuda(platform)) checkAddon(folder, platform, 'eagre_cuda.node', mostCuda, 'GPUs');
  checkDistribute(folder, platform);
}

function checkAddon(folder, platform, name, most, what) {
  const file = resolve(folder, name);
  if (!existsSync(file)) fail(`${file} is missing: run \`pnpm pack:native --target ${platform}\`.`);
  const bytes = readFileSync(file);
  const wrong = mistakes(platform, bytes);
  if (wrong.length > 0) fail(wrong.map((mistake) => `${file}: ${mistake}.`).join('\n'));
  const packed = gzipSync(bytes, { level: 9 }).length;
  if (packed > most) fail(`${file} has ${packed} bytes when it is packed; ${most} are the most.`);
  console.log(`${platform}: ${what}, ${(packed / 1e6).toFixed(2)} MB packed, ${demands(bytes)}`);
}

function run(program, args) {
  execFileSync(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
