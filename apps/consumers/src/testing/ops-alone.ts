// Each op of the catalogue alone in the bundle of a page, as who imports the function that it is made for has it.
import { readFileSync } from 'node:fs';
import * as esbuild from 'esbuild';
import { parseAst } from 'rollup/parseAst';
import { runNode, write } from './packed.ts';

interface Declared {
  readonly op: string;
  /** A module of `@eagre/core`, and what it holds the op by. */
  readonly file: string;
  readonly name: string;
}

const common: esbuild.BuildOptions = {
  bundle: true,
  format: 'esm',
  platform: 'browser',
  logLevel: 'error',
};

/** Reads the modules of `@eagre/core` for pages otherwise: `change` gets what each of their constants is, `[start, end]`, and says what it writes instead. */
const changing = (change: (file: string, code: string) => string): esbuild.Plugin => ({
  name: 'changing',
  setup(build) {
    build.onLoad({ filter: /@eagre[\\/]core[\\/]dist[\\/]pages[\\/].*\.js$/ }, ({ path }) => ({
      contents: change(path, readFileSync(path, 'utf8')),
    }));
  },
});

/** Where ops are declared: whatever declares one, it is a constant of its module. */
async function declarations(project: string): Promise<readonly Declared[]> {
  const built = await esbuild.build({
    ...common,
    stdin: {
      contents: `import * as core from '@eagre/core/internal';
        globalThis.core = core;
        console.log(JSON.stringify(declared));`,
      resolveDir: project,
    },
    // All of it.
    ignoreAnnotations: true,
    write: false,
    banner: {
      js: `const declared = [];
        let seen = 0;
        globalThis.catalogue = new Map();
        function declaring(file, name, make) {
          const value = make();
          const names = [...catalogue.keys()];
          for (; seen < names.length; seen++) declared.push({ op: names[seen], file, name });
          return value;
        }`,
    },
    plugins: [
      changing((file, code) => {
        let changed = code;
        for (const { type, kind, declarations = [] } of parseAst(code).body.toReversed() as {
          type: string;
          kind?: string;
          declarations?: {
            id: { name: string };
            init: { type: string; start: number; end: number } | null;
          }[];
        }[])
          for (const { id, init } of declarations) {
            if (type !== 'VariableDeclaration' || kind === 'let' || init?.type !== 'CallExpression') continue;
            const made = `declaring(${JSON.stringify(file)}, '${id.name}', () => ${code.slice(init.start, init.end)})`;
            changed = changed.slice(0, init.start) + made + changed.slice(init.end);
          }
        return file.endsWith('op.js') ? `${changed}\nglobalThis.catalogue = listOps();` : changed;
      }),
    ],
  });
  const text = built.outputFiles?.[0]?.text as string;
  return JSON.parse(await runNode(project, write(project, 'declared.mjs', text))) as Declared[];
}

/** The kernels in JavaScript that a page has of which one op is all. @returns them by the name of the op */
export async function kernelsOfPages(
  project: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const declared = await declarations(project);
  const exported = new Map<string, Set<string>>();
  for (const { file, name } of declared) exported.set(file, (exported.get(file) ?? new Set()).add(name));
  const found = new Map<string, readonly string[]>();
  const asking = `import { getBackend } from '@eagre/backend';
    import { GradientTape } from '@eagre/autodiff';
    const has = (name) => {
      try {
        return getBackend('js').kernel(name, []) !== undefined;
      } catch (error) {
        if (error.code !== 'UNIMPLEMENTED') throw error;
        return false;
      }
    };
    globalThis.tape = GradientTape;
    export default ${JSON.stringify(names)}.filter(has);`;
  const folder = `${project}/ops-alone`;
  const LOT = 40;
  for (let i = 0; i < declared.length; i += LOT) {
    const lot = declared.slice(i, i + LOT);
    await esbuild.build({
      ...common,
      entryPoints: lot.map((_, k) => ({ in: `alone:${k}`, out: `${k}` })),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      minifyWhitespace: true,
      plugins: [
        {
          name: 'alone',
          setup(build) {
            build.onResolve({ filter: /^alone:/ }, ({ path }) => ({ path, namespace: 'alone' }));
            build.onLoad({ filter: /.*/, namespace: 'alone' }, ({ path }) => {
              const { file, name } = lot[Number(path.slice('alone:'.length))] as Declared;
              const contents = `import { alone$${name} as op } from ${JSON.stringify(file)};\nexport { op };\n${asking}`;
              return { contents, resolveDir: project };
            });
          },
        },
        changing((file, code) => {
          const here = [...(exported.get(file) ?? [])].map((name) => `${name} as alone$${name}`);
          return here.length === 0 ? code : `${code}\nexport { ${here.join(', ')} };`;
        }),
      ],
    });
    const lines = lot.map((_, k) => `kernels.push((await import('./ops-alone/${k}.mjs')).default);`);
    const program = `const kernels = [];\n${lines.join('\n')}\nconsole.log(JSON.stringify(kernels));`;
    const printed = await runNode(project, write(project, 'ops-alone.mjs', program));
    (JSON.parse(printed) as string[][]).forEach((kernels, k) => {
      found.set((lot[k] as Declared).op, kernels);
    });
  }
  return found;
}
