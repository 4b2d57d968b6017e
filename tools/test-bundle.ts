// What tests run of packages other than their own: the sources as a few large modules, which load many times as fast as hundreds of small ones.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { sourceOptions } from '../packages/testing/src/sources.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = readdirSync(`${root}packages`).filter((name) =>
  existsSync(`${root}packages/${name}/package.json`),
);
const nameOf = (folder: string): string => (folder === 'eagre' ? 'eagre' : `@eagre/${folder}`);

/** A module that programs import, of the package in a folder. */
interface Entry {
  readonly folder: string;
  readonly entry: string;
  readonly source: string;
}

/** The entries of packages by the names that programs import them by: their sources. */
export const entries: ReadonlyMap<string, Entry> = new Map(
  folders.flatMap((folder) =>
    readdirSync(`${root}packages/${folder}/src`)
      .filter((file) =>
        /^(codecs|here|index|image|interchange|internal|later|plugin|register|specs|tensorflow-js)\.ts$/.test(
          file,
        ),
      )
      .map((file): [string, Entry] => {
        const given = file.slice(0, -3);
        const name = given === 'index' ? nameOf(folder) : `${nameOf(folder)}/${given}`;
        // What pages wait for is there in Node.
        const entry = given === 'later' ? 'here' : given;
        return [name, { folder, entry, source: `${root}packages/${folder}/src/${entry}.ts` }];
      }),
  ),
);

const dependencies = new Map(
  folders.map((name) => {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(`${root}packages/${name}/package.json`, 'utf8'),
    );
    return [name, Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })];
  }),
);

/** The folders of the packages that need a package, itself too: its tests run on the sources of these. */
export function dependentsOf(folder: string): ReadonlySet<string> {
  const found = new Set([folder]);
  for (const name of found)
    for (const [other, names] of dependencies) if (names.includes(nameOf(name))) found.add(other);
  return found;
}

/** Whether a package needs another one, or one that needs it. */
export const needs = (folder: string, other: string): boolean =>
  folder !== other && dependentsOf(other).has(folder);

/**
 * Bundles all packages into a folder.
 * @returns the module of an entry
 */
export async function bundleSources(folder: string): Promise<(entry: Entry) => string> {
  const outdir = `${root}node_modules/.cache/@eagre/${folder}/`;
  await build({
    ...sourceOptions,
    entryPoints: Object.fromEntries(
      [...entries.values()].map(({ folder: name, entry, source }) => [`${name}/${entry}`, source]),
    ),
    outdir,
  });
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  return ({ folder: name, entry }) => `${outdir}${name}/${entry}.js`;
}
