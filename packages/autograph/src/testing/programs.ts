// Programs of users in a folder, run by Node with the hooks; the library there is built from these sources.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../../', import.meta.url));

export interface Users {
  readonly folder: string;
  /** `--import` of the hooks. */
  readonly hooks: string;
  write(files: Readonly<Record<string, string>>): void;
  /** What Node prints, on both streams. */
  node(...args: readonly string[]): string;
  remove(): void;
}

type Build = (options: {
  readonly entryPoints: Readonly<Record<string, string>>;
  readonly outdir: string;
  readonly bundle: true;
  readonly splitting: true;
  readonly format: 'esm';
  readonly target: string;
  readonly platform: 'node';
  readonly sourcemap: true;
  readonly external: string[];
  readonly alias: Readonly<Record<string, string>>;
}) => Promise<unknown>;

/** @param build that of esbuild, on which only tests may depend. */
export async function users(build: Build): Promise<Users> {
  // Here, so that the parser is found.
  const cache = join(packages, 'autograph/node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const library = mkdtempSync(join(cache, 'register-'));
  const folder = mkdtempSync(join(tmpdir(), 'eagre-register-'));
  const own = (file: string): string => join(packages, 'autograph/src', `${file}.ts`);
  const source = (name: string, file = 'index'): string => join(packages, name, 'src', `${file}.ts`);
  const names = ['core', 'graph', 'backend-js'];
  await build({
    entryPoints: {
      register: own('register'),
      'node-hooks': own('node-hooks'),
      internal: own('internal'),
      ...Object.fromEntries(names.map((name) => [name, source(name)])),
    },
    outdir: library,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    platform: 'node',
    sourcemap: true,
    external: ['oxc-parser'],
    alias: Object.fromEntries(
      ['backend', 'formats', 'autodiff', ...names].flatMap((name) => [
        [`@eagre/${name}/internal`, source(name, 'internal')],
        [`@eagre/${name}`, source(name)],
      ]),
    ),
  });
  writeFileSync(join(library, 'package.json'), '{ "type": "module" }');
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  };
  write({ 'package.json': '{ "type": "module" }' });
  for (const name of names) {
    write({
      [`node_modules/@eagre/${name}/package.json`]: '{ "type": "module", "exports": "./index.js" }',
      [`node_modules/@eagre/${name}/index.js`]: `export * from ${JSON.stringify(join(library, `${name}.js`))};\n`,
    });
  }
  return {
    folder,
    hooks: `--import=${join(library, 'register.js')}`,
    write,
    node(...args) {
      const { NODE_OPTIONS: _, ...env } = process.env;
      const done = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
      return done.stdout + done.stderr;
    },
    remove() {
      rmSync(library, { recursive: true });
      rmSync(folder, { recursive: true });
    },
  };
}

/** `--import` of tsx. */
export const tsx: string = `--import=${createRequire(import.meta.url).resolve('tsx')}`;
