import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly main: string;
  readonly engines?: { readonly node?: string };
}

interface Package {
  readonly name: string;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly platform: string | undefined;
}

type Install = (
  manager: Manager,
  folder: string,
  packages: readonly string[],
  options: { readonly registry: { readonly address: string; readonly onlyOurs: boolean } },
) => Promise<void>;

interface Registry {
  readonly address: string;
  readonly userconfig: string;
  stop(): Promise<void>;
}

export type Manager = 'npm' | 'pnpm' | 'yarn' | 'yarn 4';

// As `pnpm release` does it.
const tool = (path: string): Promise<unknown> => import(join(root, 'tools', path));
const {
  pack: packAll,
  publishHere,
  publishable,
} = (await tool('release/packages.mjs')) as {
  pack(
    root: string,
    into: string,
    packages: readonly Package[],
    missing: readonly string[],
  ): Promise<readonly { readonly name: string }[]>;
  publishHere(packed: readonly { readonly name: string }[], registry: Registry): Promise<void>;
  publishable(root: string): readonly Package[];
};
const { startRegistry } = (await tool('release/registry.mjs')) as {
  startRegistry(folder: string): Promise<Registry>;
};
interface Program {
  readonly text: string;
  readonly prints: readonly string[];
}

const projects = (await tool('release/projects.mjs')) as {
  managers: Readonly<Record<Manager, { run?(folder: string, words: readonly string[]): Promise<string> }>>;
  installIn: Install;
  project: Install;
  runPrograms(
    folder: string,
    options: { readonly manager: Manager },
  ): Promise<{ readonly backend: string; readonly version: string }>;
  programsIn(markdown: string): readonly Program[];
  withoutSpace(text: string): string;
};
const { installIn, managers, project, runPrograms } = projects;
/** The programs of a text in Markdown, and the lines that each says it prints. */
export const programsIn: (markdown: string) => readonly Program[] = projects.programsIn;
/** What is printed, however Node breaks its lines. */
export const withoutSpace: (text: string) => string = projects.withoutSpace;
const { run: start } = (await tool('release/run.mjs')) as {
  run(
    program: string,
    args: readonly string[],
    cwd: string,
    more?: Readonly<Record<string, string>>,
  ): Promise<string>;
};
const { own } = (await tool('platforms/targets.mjs')) as { own: string };

/** Runs the first programs of the README. @returns the version and the backend that they have run on */
export const firstPrograms: (
  folder: string,
  options: { readonly manager: Manager },
) => Promise<{ readonly backend: string; readonly version: string }> = runPrograms;

const all = publishable(root);
/** What is published, apart from binaries. */
export const published: readonly Manifest[] = all
  .filter(({ platform }) => platform === undefined)
  .map(({ manifest }) => manifest);
/** The version of all of them. */
export const version: string = published[0]?.version as string;

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
 * Packs all packages as they are published, and publishes them to a registry on this machine; packages of others come from where they always do. What
 * is not built is built before; the addon is the one that all tests use, and there is none for other platforms. Once for all test files
 * (`setup.ts`): two builds at a time would take each other's files away.
 */
export async function pack(): Promise<PackedPlace & { stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-consumers-'));
  const here = all.filter(({ platform }) => platform === undefined || platform === own);
  const others = all.filter((one) => !here.includes(one)).map(({ name }) => name);
  const filters = published.flatMap(({ name }) => ['--filter', name]);
  await run('pnpm', ['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', ...filters], root);
  await run(process.execPath, ['tools/pack-native.mjs', '--built'], root);
  const packed = await packAll(root, join(folder, 'tarballs'), here, others);
  const registry = await startRegistry(join(folder, 'registry'));
  await publishHere(packed, registry);
  return {
    folder,
    address: registry.address,
    async stop() {
      await registry.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An empty project, in which a program has installed packages from the registry. @returns its folder */
export async function consumer(manager: Manager, name: string, packages: readonly string[]): Promise<string> {
  const { folder: parent, address } = packedPlace();
  const folder = join(parent, name);
  const words = packages.map((one) => (one.startsWith('@') ? one : `${one}@${tarball(one)}`));
  await project(manager, folder, words, { registry: { address, onlyOurs: true } });
  return folder;
}

/** Installs what the project in a folder asks for. */
export async function installInto(folder: string): Promise<void> {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> };
  manifest.dependencies['eagre'] = tarball('eagre');
  writeFileSync(file, JSON.stringify(manifest));
  await installIn('npm', folder, [], { registry: { address: packedPlace().address, onlyOurs: true } });
}

export function packedPlace(): PackedPlace {
  const place = inject('packed');
  if (typeof place === 'string') throw new Error(place);
  return place;
}

/** Where a package of ours without a scope is: the registry of such names is that of all. */
const tarball = (name: string): string => `${packedPlace().address}${name}/-/${name}-${version}.tgz`;

/** Runs a program in a folder, with more in its environment. @returns what it prints. @throws Error with all that it says if it fails. */
export const run: (
  program: string,
  args: readonly string[],
  cwd: string,
  more?: Readonly<Record<string, string>>,
) => Promise<string> = start;

export const runNode = (cwd: string, ...args: readonly string[]): Promise<string> =>
  run(process.execPath, args, cwd);

/** Whether the modules of WebAssembly were built, and so are packed. */
export const hasWasm: boolean = ['eagre-threads', 'eagre-codecs'].every((name) =>
  existsSync(join(root, `packages/backend-wasm/${name}.wasm`)),
);

/** Trains by the `tf` of a program, long enough that `fit` lets the event loop turn in between. */
export const training = `
const x = tf.random.normal([512, 8]);
const y = x.square().sum(1, { keepdims: true });
const model = new tf.Sequential([new tf.layers.Dense(16, { activation: 'relu', inputShape: [8] }), new tf.layers.Dense(1)]);
model.compile({ optimizer: new tf.optimizers.Adam(), loss: 'meanSquaredError' });
const { history } = await model.fit(x, y, { epochs: 30, verbose: 0 });
const double = tf.function((v) => v.mul(2));
`;

/** Runs Node in a project, as whoever has installed there does it. @returns what it prints. @throws Error with all that it says if it fails. */
export const runIn = (manager: Manager, folder: string, ...words: readonly string[]): Promise<string> =>
  managers[manager].run?.(folder, words) ?? runNode(folder, ...words);

/** Writes a file into a folder. @returns its path */
export function write(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
