import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly main: string;
  readonly engines?: { readonly node?: string };
  readonly publishConfig?: Readonly<Record<string, unknown>>;
}

const readManifest = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

function manifestsIn(group: string): Manifest[] {
  const found = readdirSync(join(root, group), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return found
    .map(({ name }) => readManifest(join(root, group, name, 'package.json')))
    .filter((manifest) => manifest.private !== true);
}

/** What is published, apart from binaries. */
export const published: readonly Manifest[] = [...manifestsIn('packages'), ...manifestsIn('apps')];
const binaries = manifestsIn('native/platforms');
const ownBinary = `@eagre/native-${process.platform}-${process.arch}`;

/** Where the packed packages are. */
export interface PackedPlace {
  /** Of the tarballs, and of the projects that tests make. */
  readonly folder: string;
  /** The URL of a registry that has them. */
  readonly address: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** What went wrong where it is a text. */
    packed: PackedPlace | string;
  }
}

/**
 * Packs all packages as they would be published, and starts a registry that has them, as npm asks for them: packages of others come from where they
 * always do. What is not built is built before; the addon is the one that all tests use. Once for all test files (`setup.ts`): two builds at a
 * time would take each other's files away.
 */
export async function pack(): Promise<PackedPlace & { stop(): Promise<void> }> {
  const names = [...published.map(({ name }) => name), ownBinary];
  const filters = names.flatMap((name) => ['--filter', name]);
  pnpm(['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', ...filters.slice(0, -2)]);
  execFileSync(process.execPath, ['tools/pack-native.mjs', '--built'], { cwd: root, stdio: 'pipe' });
  const folder = mkdtempSync(join(tmpdir(), 'eagre-consumers-'));
  pnpm(['pack', '-r', '--pack-destination', tarballsIn(folder), ...filters]);
  let address = '';
  const server = createServer(({ url = '' }, response) => {
    const body = answer({ folder, address }, url);
    response.writeHead(body === undefined ? 404 : 200);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Nothing that npm keeps of another run may answer for this one.
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${Date.now().toString(36)}`;
  return {
    folder,
    address,
    async stop() {
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const tarballsIn = (folder: string): string => join(folder, 'tarballs');

/** What the registry says. */
function answer(place: PackedPlace, url: string): Buffer | string | undefined {
  const tarballs = tarballsIn(place.folder);
  const path = decodeURIComponent(url).split('/').slice(2).join('/');
  if (path.endsWith('.tgz')) return readFileSync(join(tarballs, path));
  const manifest = [...published, ...binaries].find(({ name }) => name === path);
  if (manifest === undefined) return undefined;
  const { version } = manifest;
  const there = published.includes(manifest) || manifest.name === ownBinary;
  const bytes = there ? readFileSync(join(tarballs, fileOf(path))) : Buffer.alloc(0);
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const packed = there ? packedManifest(bytes) : { ...manifest, ...manifest.publishConfig };
  const dist = { tarball: tarballOf(place, path), integrity };
  return JSON.stringify({
    name: path,
    'dist-tags': { latest: version },
    versions: { [version]: { ...packed, dist } },
  });
}

const tarballOf = ({ address }: PackedPlace, name: string): string => `${address}/${fileOf(name)}`;

/** An empty project with these packages, which `program` (npm or pnpm) has installed from the registry. @returns its folder */
export async function consumer(
  program: 'npm' | 'pnpm',
  name: string,
  packages: readonly string[],
): Promise<string> {
  const place = inject('packed');
  if (typeof place === 'string') throw new Error(place);
  const folder = join(place.folder, name);
  mkdirSync(folder);
  const dependencies = packages.map((one) => [one, one === 'eagre' ? tarballOf(place, one) : '*']);
  const manifest = { name, private: true, type: 'module', dependencies: Object.fromEntries(dependencies) };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  // A network may be slow, or fail for a moment.
  const patience = 'fetch-retries=8\nfetch-timeout=600000\n';
  writeFileSync(join(folder, '.npmrc'), `@eagre:registry=${place.address}/\n${patience}`);
  const quiet = program === 'npm' ? ['--no-audit', '--no-fund', '--no-update-notifier'] : ['--silent'];
  await run(program, ['install', '--prefer-offline', '--ignore-scripts', ...quiet], folder);
  return folder;
}

const fileOf = (name: string): string => `${name.replace('@', '').replace('/', '-')}-0.0.0.tgz`;

function packedManifest(tarball: Buffer): object {
  const args = ['-xzOf', '-', 'package/package.json'];
  return JSON.parse(execFileSync('tar', args, { input: tarball, encoding: 'utf8' })) as object;
}

function pnpm(args: readonly string[]): void {
  execFileSync('pnpm', args, {
    cwd: root,
    stdio: 'pipe',
    env: environment(),
    shell: process.platform === 'win32',
  });
}

/** Without what pnpm and npm tell the programs that they start, and without what tests set for Eagre. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS$|NODE_ENV$|VITEST|EAGRE_(ADDON|BACKEND)$)/i.test(name),
  );
  return { ...Object.fromEntries(kept), TURBO_TELEMETRY_DISABLED: '1' };
}

/** Runs a program in a folder, with more in its environment. @returns what it prints. @throws Error with all that it says if it fails. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const shell = process.platform === 'win32' && program !== process.execPath;
  const child = spawn(program, args, { cwd, env: { ...environment(), ...more }, shell });
  return new Promise((resolve, reject) => {
    let out = '';
    let all = '';
    child.stdout.on('data', (text) => {
      out += text;
      all += text;
    });
    child.stderr.on('data', (text) => (all += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(out.trim());
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${all}`));
    });
  });
}

export const runNode = (cwd: string, ...args: readonly string[]): Promise<string> =>
  run(process.execPath, args, cwd);

/** Whether the modules of WebAssembly were built, and so are packed. */
export const hasWasm: boolean = existsSync(join(root, 'packages/backend-wasm/eagre-threads.wasm'));

/** Trains by the `tf` of a program, long enough that `fit` lets the event loop turn in between. */
export const training = `
const x = tf.random.normal([512, 8]);
const y = x.square().sum(1, { keepdims: true });
const model = new tf.Sequential([new tf.layers.Dense(16, { activation: 'relu', inputShape: [8] }), new tf.layers.Dense(1)]);
model.compile({ optimizer: new tf.optimizers.Adam(), loss: 'meanSquaredError' });
const { history } = await model.fit(x, y, { epochs: 30, verbose: 0 });
const double = tf.function((v) => v.mul(2));
`;

/** Writes a file into a folder. @returns its path */
export function write(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
