// Empty projects, into which programs that install packages put what is published; and programs that use it there.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOn, runtimeHere } from '../platforms/runtimes.mjs';
import { own, targets } from '../platforms/targets.mjs';
import { environment, run } from './run.mjs';

const { resolve } = createRequire(import.meta.url);

/** Where a program finds packages: all of them in one registry, or only those of Eagre, and the others where it always does. */
const npmSettings = ({ address, onlyOurs }) =>
  // A network may be slow, or fail for a moment.
  `${onlyOurs ? '@eagre:' : ''}registry=${address}\nfetch-retries=8\nfetch-timeout=600000\n`;

/** Programs that install packages. Those that are development tools of this workspace are of a known version. */
export const managers = {
  npm: {
    install(folder, packages, { target, cache }) {
      const { os, cpu, libc } = targets[target] ?? {};
      const platform = target === own ? [] : ['--os', os, '--cpu', cpu, ...(libc ? ['--libc', libc] : [])];
      const quiet = ['--no-audit', '--no-fund', '--no-update-notifier'];
      const where = cache ? ['--cache', join(cache, 'npm')] : ['--prefer-offline'];
      return run(
        'npm',
        ['install', ...packages, '--ignore-scripts', ...quiet, ...where, ...platform],
        folder,
      );
    },
  },
  pnpm: {
    install(folder, packages, { cache }) {
      const where = cache
        ? [`--store-dir=${join(cache, 'pnpm')}`, `--config.cache-dir=${join(cache, 'pnpm-cache')}`]
        : ['--prefer-offline'];
      return run('pnpm', ['add', ...packages, '--ignore-scripts', '--silent', ...where], folder);
    },
  },
  yarn: {
    install(folder, packages, { cache }) {
      const where = ['--cache-folder', join(cache ?? folder, 'yarn')];
      const quiet = ['--non-interactive', '--no-progress', '--silent', '--ignore-scripts'];
      const yarn = resolve('yarn/bin/yarn.js');
      return run(process.execPath, [yarn, 'add', ...packages, ...quiet, ...where], folder);
    },
  },
  // Without node_modules: packages stay packed, but for those with libraries of the system. In Node 20, modules of packed packages cannot be required,
  // which `eagre/register` does.
  'yarn 4': {
    registers: false,
    settings: ({ address, onlyOurs }) => [
      onlyOurs
        ? `npmScopes:\n  eagre:\n    npmRegistryServer: "${address}"`
        : `npmRegistryServer: "${address}"`,
      'unsafeHttpWhitelist:\n  - 127.0.0.1',
      'enableTelemetry: false',
      'enableGlobalCache: false',
      'enableImmutableInstalls: false',
      'enableScripts: false',
      // What was published a minute ago is what is wanted.
      'npmMinimalAgeGate: 0',
      'npmPreapprovedPackages:\n  - eagre\n  - "@eagre/*"',
    ],
    async install(folder, packages, { registry, cache }) {
      const more = [
        `cacheFolder: "${join(cache ?? folder, 'yarn-4')}"`,
        `globalFolder: "${join(cache ?? folder, 'yarn-4-global')}"`,
      ];
      writeFileSync(join(folder, '.yarnrc.yml'), `${[...this.settings(registry), ...more].join('\n')}\n`);
      return run(process.execPath, [berry(), 'add', ...packages], folder);
    },
    run: (folder, words) => run(process.execPath, [berry(), 'node', ...words], folder),
  },
};

const berry = () => resolve('@yarnpkg/cli-dist/bin/yarn.js');

/**
 * An empty project in a folder, in which a program has installed packages.
 * @param {keyof typeof managers} manager
 * @param {string} folder
 * @param {readonly string[]} packages
 * @param options `registry`: its `address`, and `onlyOurs` where the packages of others come from where they always do; `target`: a platform that is
 * not this one, which npm alone can be told; `cache`: a folder for what is fetched, else the program's own
 */
export async function project(manager, folder, packages, { registry, target = own, cache }) {
  mkdirSync(folder, { recursive: true });
  const manifest = {
    name: 'project',
    version: '1.0.0',
    private: true,
    type: 'module',
    license: 'UNLICENSED',
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  await installIn(manager, folder, packages, { registry, target, cache });
}

/** Installs packages into a project that is there, beside those that it asks for. The options are those of `project`. */
export async function installIn(manager, folder, packages, { registry, target = own, cache }) {
  writeFileSync(join(folder, '.npmrc'), npmSettings(registry));
  await managers[manager].install(folder, packages, { registry, target, cache });
}

/** The platforms whose packages with kernels are in a project, wherever the program has put them. */
export function kernelsIn(folder) {
  const places = ['node_modules/@eagre', 'node_modules/.pnpm', '.yarn/unplugged'].map((name) =>
    join(folder, name),
  );
  const names = places.filter((place) => existsSync(place)).flatMap((place) => readdirSync(place));
  const known = names.map((name) => /^(?:@eagre[+-])?native-([a-z0-9]+-[a-z0-9]+)/.exec(name)?.[1]);
  return [...new Set(known)].filter((name) => name !== undefined && targets[name] !== undefined).sort();
}

/** The programs of a text in Markdown, with what is ahead of each, and the lines that it says it prints. */
export const programsIn = (markdown) =>
  [...markdown.matchAll(/(.*?)```js\n(.*?)```/gs)].map(([, before, text]) => ({
    before,
    text,
    prints: [...text.matchAll(/^.*console\.log\(.*\); \/\/ → (.*)$/gm)].map(([, line]) => line),
  }));

/** What is printed, however Node breaks its lines. */
export const withoutSpace = (text) => text.replace(/\s/g, '');

/** The first programs of the README, the lines that it says they print, and whether it says to run them with `eagre/register`. */
export function firstPrograms() {
  const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const section = /\n## First steps\n(.*?)\n## /s.exec(readme)[1];
  return programsIn(section).map(({ before, text, prints }) => ({
    text,
    prints,
    registers: before.includes('node --import eagre/register'),
  }));
}

/**
 * Runs the first programs of the README in a project, and one that says what computes.
 * @param options `target`: the platform, `manager`: who has installed
 * @returns {Promise<{ backend: string, version: string, programs: number } | { missing: string }>} `missing`: why programs for the platform do not run here
 * @throws Error if one of them fails, or prints something else
 */
export async function runPrograms(folder, { target = own, manager = 'npm' } = {}) {
  const runtime = runtimeHere(target);
  if (runtime.missing !== undefined) return runtime;
  // Where there is no package for the platform, a warning says so.
  const env = { ...environment(), NODE_NO_WARNINGS: '1' };
  const start = async (name, text, registers = false) => {
    writeFileSync(join(folder, name), text);
    // Those for musl run in Bun.
    const before = registers
      ? [targets[target].libc === 'musl' ? '--preload' : '--import', 'eagre/register']
      : [];
    const { run } = managers[manager];
    if (run !== undefined) return run(folder, [...before, name]);
    const { text: said, wrong } = runOn(runtime, folder, name, { before, env });
    if (wrong !== undefined) throw new Error(`${name} ended with ${wrong}: ${said}\n${text}`);
    return said;
  };
  // Wine 8 lacks a library of Windows (bcryptprimitives.dll) that the parser of `eagre/register` needs.
  const isWine = target === 'win32-x64' && target !== own;
  const canRegister = !isWine && managers[manager].registers !== false;
  const programs = firstPrograms().filter(({ registers }) => canRegister || !registers);
  for (const [i, { text, prints, registers }] of programs.entries()) {
    const printed = await start(`first-${i}.mjs`, text, registers);
    if (prints.length > 0 && withoutSpace(printed) !== withoutSpace(prints.join('')))
      throw new Error(
        `A program of the README prints ${printed}; it says that it prints ${prints.join(', ')}:\n${text}`,
      );
  }
  const what = `import * as tf from 'eagre';\nconsole.log(tf.zeros([1]).backend.name, tf.version.VERSION);\n`;
  const [backend, version] = (await start('what.mjs', what)).split(/\r?\n/).at(-1).split(' ');
  return { backend, version, programs: programs.length };
}
