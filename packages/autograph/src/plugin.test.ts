import '@eagre/backend-js';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constant, type Tensor } from '@eagre/core';
import type { TracedFunction } from '@eagre/graph';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import * as esbuild from 'esbuild';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import * as vite from 'vite';
import { afterAll, describe, expect, test, vi } from 'vitest';
import webpack from 'webpack';
import { type AutographPluginOptions, autograph } from './plugin.ts';

interface Job {
  readonly folder: string;
  readonly entry: string;
  /** Options of each plugin in the list. */
  readonly plugins: readonly AutographPluginOptions[];
}

const external = ['@eagre/core', '@eagre/graph', '@eagre/autograph/internal', 'elsewhere'];
const out = (folder: string): string => join(folder, 'out/main.js');

/** The tools, each building a module to `out/main.js` with a source map beside it. */
const tools: Readonly<Record<string, { typed: boolean; build(job: Job): Promise<unknown> }>> = {
  vite: {
    typed: true,
    build: ({ folder, entry, plugins }) =>
      vite.build({
        configFile: false,
        logLevel: 'silent',
        root: folder,
        plugins: plugins.map((p) => autograph.vite(p)),
        build: {
          outDir: 'out',
          minify: false,
          sourcemap: true,
          lib: { entry, formats: ['es'], fileName: () => 'main.js' },
          rollupOptions: { external },
        },
      }),
  },
  rollup: {
    typed: false,
    async build({ folder, entry, plugins }) {
      const bundle = await rollup({
        input: entry,
        external,
        plugins: plugins.map((p) => autograph.rollup(p)),
      });
      await bundle.write({ file: out(folder), sourcemap: true });
    },
  },
  rolldown: {
    typed: true,
    async build({ folder, entry, plugins }) {
      const bundle = await rolldown({
        input: entry,
        external,
        plugins: plugins.map((p) => autograph.rolldown(p)),
      });
      await bundle.write({ file: out(folder), sourcemap: true });
    },
  },
  esbuild: {
    typed: true,
    build: ({ folder, entry, plugins }) =>
      esbuild.build({
        entryPoints: [entry],
        outfile: out(folder),
        bundle: true,
        format: 'esm',
        sourcemap: true,
        logLevel: 'silent',
        external,
        plugins: plugins.map((p) => autograph.esbuild(p)),
      }),
  },
  webpack: {
    typed: false,
    build: ({ folder, entry, plugins }) =>
      new Promise((resolve, reject) => {
        const done = (error: unknown, stats?: webpack.Stats): void => {
          const [first] = stats?.compilation.errors ?? [];
          if (error !== null || first !== undefined) reject(error ?? first);
          else resolve(stats);
        };
        const compiler = webpack({
          mode: 'none',
          entry,
          context: folder,
          devtool: 'source-map',
          output: {
            path: join(folder, 'out'),
            filename: 'main.js',
            library: { type: 'module' },
            module: true,
          },
          experiments: { outputModule: true },
          externalsType: 'module',
          externals: external,
          plugins: plugins.map((p) => autograph.webpack(p)),
        });
        compiler.run((error, stats) => compiler.close(() => done(error, stats)));
      }),
  },
};

const source = (typed: boolean): string => `import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import 'elsewhere';
export const collatz = tfFunction((n${typed ? ': any' : ''}) => {
  let steps = constant(0, 'int32')${typed ? ' as any' : ''};
  while (n !== 1) {
    n = n % 2 === 0 ? n.floorDiv(2) : n * 3 + 1;
    steps += 1;
  }
  return steps;
});
`;

async function inFolder<T>(
  text: string,
  typed: boolean,
  work: (folder: string, entry: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-plugin-'));
  try {
    const entry = join(folder, typed ? 'main.ts' : 'main.js');
    writeFileSync(entry, text);
    return await work(folder, entry);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const runtime = '@eagre/autograph/internal';

describe.each(Object.entries(tools))('%s', (_, { typed, build }) => {
  test('builds what runs as a graph, converted once by two plugins, with a map to the source', () =>
    inFolder(source(typed).replace("import 'elsewhere';\n", ''), typed, async (folder, entry) => {
      await build({ folder, entry, plugins: [{ runtime }, {}] });
      const code = readFileSync(out(folder), 'utf8');
      expect(code.match(/whileStmt\(/g)).toHaveLength(1);
      expect(code).not.toContain('eagre/internal"');
      const { collatz } = (await import(out(folder))) as { collatz: TracedFunction<(n: Tensor) => Tensor> };
      expect(collatz(constant(27, 'int32')).item()).toBe(111);
      expect(collatz(constant(6, 'int32')).item()).toBe(8);
      expect(collatz.experimentalGetTracingCount()).toBe(1);

      const map = new TraceMap(readFileSync(`${out(folder)}.map`, 'utf8'));
      const lines = code.split('\n');
      const shown = (text: string) => {
        const line = lines.findIndex((l) => l.includes(text));
        const found = originalPositionFor(map, { line: line + 1, column: lines[line]?.indexOf(text) ?? -1 });
        return [found.source?.split('/').at(-1), found.line, found.column];
      };
      const file = typed ? 'main.ts' : 'main.js';
      expect(shown('whileStmt')).toEqual([file, 5, 2]);
      expect(shown('floorDiv(2)')).toEqual([file, 6, 24]);
    }));

  test('leaves what is excluded, or not included', () =>
    inFolder(source(typed), typed, async (folder, entry) => {
      for (const options of [{ exclude: /main/ }, { include: '**/other.*' }, { exclude: [`${folder}/**`] }]) {
        await build({ folder, entry, plugins: [options] });
        const code = readFileSync(out(folder), 'utf8');
        expect(code).toContain('while (n');
        expect(code).not.toContain('whileStmt');
      }
    }));

  test('fails with file, line, column and the code for what cannot be converted', () => {
    const text = source(typed).replace('steps += 1;', 'var old = n;');
    return inFolder(text, typed, async (folder, entry) => {
      const error: unknown = await build({ folder, entry, plugins: [{ runtime }] }).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(Error);
      const { message, loc, frame, errors } = error as Error & {
        loc?: object;
        frame?: string;
        errors?: readonly { location: { line: number; column: number } | null }[];
      };
      expect(message).toContain(`${entry}:8:5: var belongs`);
      const position = loc ?? errors?.[0]?.location;
      if (position !== undefined && position !== null) expect(position).toMatchObject({ line: 8, column: 4 });
      expect(`${message}\n${frame}`).toMatch(/\n8 \| {5}var old = n;\n {2}\| {5}\^/);
    });
  });
});

describe("Vite's development server", () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-plugin-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  /** What the plugin tells Vite of a project where this is the runtime. */
  const told = (command: string, name: string): unknown => {
    const { config } = autograph.vite({ runtime: `${name}/internal` }) as vite.Plugin;
    const hook = config as (of: vite.UserConfig, env: { command: string }) => unknown;
    vi.stubEnv('VITEST', undefined);
    try {
      return hook({ root: folder }, { command });
    } finally {
      vi.unstubAllEnvs();
    }
  };
  const pack = (place: string, name: string): string => {
    const target = join(folder, place, name);
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, 'internal.js'), '');
    writeFileSync(
      join(target, 'package.json'),
      JSON.stringify({ name, exports: { './internal': './internal.js' } }),
    );
    return target;
  };

  test('is told of what converted code imports, where that is installed', () => {
    pack('node_modules', 'installed');
    expect(told('serve', 'installed')).toEqual({ optimizeDeps: { include: ['installed/internal'] } });
    expect(told('build', 'installed')).toBeUndefined();
    expect(told('serve', 'missing')).toBeUndefined();
    // Packages of the same workspace are sources.
    symlinkSync(pack('packages', 'linked'), join(folder, 'node_modules/linked'), 'junction');
    expect(told('serve', 'linked')).toBeUndefined();
  });
});
