import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';

/** The folder of all packages. */
export const packages: string = fileURLToPath(new URL('../../', import.meta.url));

/** Has esbuild bundle the sources of this workspace, which need no build. */
export const sources: Plugin = {
  name: 'sources',
  setup(build) {
    build.onResolve({ filter: /^(@eagre\/|eagre$)/ }, ({ path }) => {
      const [name, file = 'index'] = path.replace('@eagre/', '').split('/');
      return { path: `${packages}${name}/src/${file}.ts` };
    });
  },
};

/** Lets each source know its own URL: what it looks for lies beside it. */
const sourceUrls: Plugin = {
  name: 'source-urls',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      // Packages by names that only a run knows are found from there too.
      const code = source.replace(
        /\bimport\((?:\s*\/\*.*?\*\/)+ (\w+)\)/g,
        "import(process.getBuiltinModule('node:module').createRequire(import.meta.url).resolve($1))",
      );
      if (!code.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      // In the first line, so that all keep their numbers.
      return { contents: `const sourceUrl = ${url}; ${code}`, loader: 'ts' };
    });
  },
};

/** Leaves packages of others where they are. */
const thirdParties: Plugin = {
  name: 'third-parties',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === thirdParties || kind === 'entry-point' || path.startsWith('node:')) return undefined;
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: thirdParties });
      if (found.errors.length > 0) return { errors: found.errors };
      return { path: found.external ? found.path : pathToFileURL(found.path).href, external: true };
    });
  },
};

/** How sources are bundled for Node, so that they run as they do file by file. */
export const sourceOptions: BuildOptions = {
  absWorkingDir: fileURLToPath(new URL('../../../', import.meta.url)),
  bundle: true,
  // What is imported dynamically stays so.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // All modules run, as they stand in the sources.
  ignoreAnnotations: true,
  keepNames: true,
  define: { 'import.meta.url': 'sourceUrl' },
  plugins: [sources, sourceUrls, thirdParties],
  logLevel: 'error',
};
