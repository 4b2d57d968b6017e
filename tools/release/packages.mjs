// What is published: which packages there are, what of them must be built beforehand, and how they are packed.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { environment, run } from './run.mjs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/**
 * The packages of a checkout that are published, in the order in which they are: the binaries first, since whoever installs a new version at once has to
 * find them, and each package after those that it needs.
 * @returns {{ name: string, folder: string, manifest: object, platform: string | undefined }[]} `folder` is relative to the root
 */
export function publishable(root) {
  const found = ['native/platforms', 'packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => `${group}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .map((folder) => {
        const manifest = read(join(root, folder, 'package.json'));
        const platform = group === 'native/platforms' ? basename(folder) : undefined;
        return { name: manifest.name, folder, manifest, platform };
      })
      .filter(({ manifest }) => manifest.private !== true),
  );
  const ordered = new Set();
  const visit = (one) => {
    if (one === undefined || ordered.has(one)) return;
    for (const name of Object.keys(one.manifest.dependencies ?? {}))
      visit(found.find((other) => other.name === name));
    ordered.add(one);
  };
  for (const one of found) visit(one);
  return [...ordered];
}

/**
 * The parts of the packages that take other tools than Node, and are built before a release.
 * @returns {{ name: string, state: 'there' | 'missing' | 'wrong', says: string, without: string, platform?: string }[]} `without`: what users have of a
 * release without it
 */
export function partsOf(root) {
  const tool = (cwd, ...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { good: status === 0, says: `${stdout}${stderr}`.trim() };
  };
  const part = (name, files, { good, says }, command, without, more = {}) => {
    const isThere = files.every((file) => existsSync(file));
    const state = isThere ? (good ? 'there' : 'wrong') : 'missing';
    return { name, state, says: isThere ? says : `not built (${command})`, without, ...more };
  };
  const platforms = publishable(root).filter(({ platform }) => platform !== undefined);
  const wasm = join(root, 'packages/backend-wasm');
  return [
    ...platforms.map(({ name, folder, platform }) => {
      const place = join(root, folder);
      const checked = tool(place, join(root, 'tools/pack-native.mjs'), '--check');
      const without = `kernels of WebAssembly on ${platform}`;
      const command = `pnpm pack:native --target ${platform}`;
      return part(name, [join(place, 'eagre.node')], checked, command, without, { platform });
    }),
    part(
      'modules of WebAssembly',
      ['eagre.wasm', 'eagre-threads.wasm', 'eagre-codecs.wasm'].map((name) => join(wasm, name)),
      tool(root, join(root, 'tools/pack-wasm.mjs'), '--check'),
      'pnpm pack:wasm',
      'kernels of JavaScript, and no JPEG and PNG files, where there is no native package',
    ),
    part(
      'kernels for GPUs of NVIDIA',
      [join(root, 'packages/backend-cuda/kernels/kernels.bin')],
      tool(root, join(root, 'tools/gpu/pack-kernels.mjs'), '--check'),
      'pnpm pack:kernels',
      '@eagre/backend-cuda compiles its kernels itself, where NVRTC is installed',
    ),
  ];
}

/** The platforms whose packages are left out of what is published. */
export const missingPlatforms = (parts) =>
  parts
    .filter(({ platform, state }) => platform !== undefined && state === 'missing')
    .map(({ name }) => name);

/**
 * `repository`, `homepage` and `bugs` of a package, from the one setting that there is: `repository` in the package.json of the workspace, and `homepage`
 * and `bugs` beside it where they are not those of the repository.
 */
export function addresses(root, folder) {
  const { repository, homepage, bugs } = read(join(root, 'package.json'));
  if (repository === undefined) return {};
  const url = typeof repository === 'string' ? repository : repository.url;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(url)?.[1];
  const web = short ? `https://github.com/${short}` : url.replace(/^git\+/, '').replace(/\.git$/, '');
  return {
    repository: { type: 'git', url: `git+${web}.git`, directory: folder },
    homepage: homepage ?? `${web}/tree/main/${folder}#readme`,
    bugs: bugs ?? { url: `${web}/issues` },
  };
}

/**
 * Packs packages into a folder as they are published: without what is not built, and with the addresses of the project.
 * @param {string} root
 * @param {string} into
 * @param {readonly { name: string, folder: string }[]} packages
 * @param {readonly string[]} missing names of packages that are not published, though others would like to have them
 * @returns {Promise<{ name: string, version: string, folder: string, file: string, size: number, files: number }[]>} in the order of `packages`
 */
export async function pack(root, into, packages, missing) {
  mkdirSync(into, { recursive: true });
  const filters = packages.flatMap(({ name }) => ['--filter', name]);
  await run('pnpm', ['pack', '-r', '--pack-destination', into, ...filters], root);
  const packed = [];
  for (const { name, folder } of packages) {
    const { version } = read(join(root, folder, 'package.json'));
    const file = join(into, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
    const files = finish(file, missing, addresses(root, folder));
    packed.push({ name, version, folder, file, size: statSync(file).size, files });
  }
  return packed;
}

/** Changes the manifest in an archive. @returns the number of its files */
function finish(archive, missing, more) {
  const made = mkdtempSync(`${archive}.`);
  const tar = (...args) => {
    const { status, stderr } = spawnSync('tar', args, { cwd: made, encoding: 'utf8', env: environment() });
    if (status !== 0) throw new Error(`tar ${args.join(' ')} ended with ${status}: ${stderr}`);
  };
  try {
    tar('-xzf', `../${basename(archive)}`);
    const folder = join(made, 'package');
    const manifest = { ...read(join(folder, 'package.json')), ...more };
    for (const name of missing) delete manifest.optionalDependencies?.[name];
    if (Object.keys(manifest.optionalDependencies ?? {}).length === 0) delete manifest.optionalDependencies;
    for (const [name, file] of Object.entries(manifest.exports ?? {}))
      if (typeof file === 'string' && !file.includes('*') && !existsSync(join(folder, file)))
        delete manifest.exports[name];
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    tar('-czf', 'packed.tgz', 'package');
    renameSync(join(made, 'packed.tgz'), archive);
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .length;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/**
 * Publishes what is packed to npm's registry, or to the one that the user has set. A version that is there stays as it is.
 * @param {{ name: string, version: string, file: string }} packed
 * @returns {Promise<boolean>} whether it is new
 */
export async function publish({ name, version, file }, { provenance }) {
  const cwd = dirname(file);
  // Who publishes may have said who they are, and where to.
  const said = Object.entries(process.env).filter(([key]) =>
    /^npm_config_(?:userconfig|registry|otp)$/i.test(key),
  );
  const env = Object.fromEntries(said);
  const there = await run('npm', ['view', `${name}@${version}`, 'version'], cwd, env).catch((error) => {
    // Of a package that nobody has published yet.
    if (/\bE404\b/.test(error.message)) return '';
    throw error;
  });
  if (there !== '') return false;
  await run('npm', [...publishing(file, version), ...(provenance ? ['--provenance'] : [])], cwd, env);
  return true;
}

const publishing = (file, version) => {
  const tag = version.includes('-') ? 'next' : 'latest';
  return ['publish', file, '--access', 'public', '--tag', tag];
};

/** Publishes to a registry of this machine (`startRegistry`), which is empty, and from which nobody installs yet: some at a time. */
export async function publishHere(packed, { userconfig }) {
  const rest = [...packed];
  const work = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift())
      await run('npm', [...publishing(one.file, one.version), '--userconfig', userconfig], dirname(one.file));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}
