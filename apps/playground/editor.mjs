// Bundles the editor of programs, out of the sources of all packages: the site has it in its pages.
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const packages = fileURLToPath(new URL('../../packages/', import.meta.url));

const sources = {
  name: 'sources',
  setup(build) {
    build.onResolve({ filter: /^(@eagre\/|eagre$)/ }, ({ path }) => {
      const [name, file = 'index'] = path.replace('@eagre/', '').split('/');
      return { path: `${packages}${name}/src/${file}.ts` };
    });
  },
};

/** The keys of the nodes of JavaScript, from the parser that Node has. */
function visitorKeys() {
  const { visitorKeys } = createRequire(join(packages, 'autograph/package.json'))('oxc-parser');
  return Object.fromEntries(Object.entries(visitorKeys).filter(([type]) => !/^(TS|JSX)/.test(type)));
}

/** The programs to choose from, by their titles: the first line of each. */
export function programs() {
  const names = readdirSync(join(here, 'programs')).filter((name) => /^\d\d-.*\.ts$/.test(name));
  return Object.fromEntries(
    names.map((name) => {
      const text = readFileSync(join(here, 'programs', name), 'utf8');
      return [/^\/\/ (.*?)[.:]/.exec(text)[1], text];
    }),
  );
}

/**
 * Writes `js/editor.js`, with what it loads later, and the kernels of WebAssembly, where they are built, into a folder.
 * @returns the bytes that the editor has before a program runs, and those of the worker
 */
export async function bundleEditor(folder) {
  const { metafile } = await build({
    entryPoints: { editor: join(here, 'src/editor/editor.ts'), worker: join(here, 'src/editor/worker.ts') },
    outdir: join(folder, 'js'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // Names of classes are names of layers, in files and in what is printed.
    keepNames: true,
    minify: true,
    metafile: true,
    loader: { '.css': 'text' },
    define: {
      __VISITOR_KEYS__: JSON.stringify(visitorKeys()),
      __PROGRAMS__: JSON.stringify(programs()),
    },
    plugins: [sources],
    logLevel: 'error',
  });
  // Modules look for them in the folder above their own.
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(join(packages, 'backend-wasm')).filter((one) => one.endsWith('.wasm')))
    copyFileSync(join(packages, 'backend-wasm', name), join(folder, name));
  return metafile;
}
