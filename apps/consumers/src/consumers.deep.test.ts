// What whoever installs the packages has: they are packed as for publishing, installed into empty projects, and used there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { browserPath } from '@eagre/testing';
import commonjsPlugin from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import * as swc from '@swc/core';
import * as esbuild from 'esbuild';
import { chromium } from 'playwright-core';
import { rollup } from 'rollup';
import { minVersion, satisfies } from 'semver';
import ts from 'typescript';
import { build as viteBuild } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import webpack from 'webpack';
import {
  consumer,
  firstPrograms,
  hasWasm,
  type Manager,
  type Manifest,
  programsIn,
  published,
  run,
  runIn,
  runNode,
  training,
  version,
  withoutSpace,
  write,
} from './testing/packed.ts';

// Its declarations are those of a CommonJS module, which it is not for Node.
const commonjs = commonjsPlugin as unknown as typeof commonjsPlugin.default;

/** Has `eagre`, installed by npm. */
let project: string;
/** Has every package, installed by pnpm, so that each finds what it depends on and nothing else. */
let strict: string;

beforeAll(async () => {
  [project, strict] = await Promise.all([
    consumer('npm', 'project', ['eagre']),
    consumer(
      'pnpm',
      'strict',
      published.map(({ name }) => name),
    ),
  ]);
});

const program = `
import * as tf from 'eagre';
${training}
const outcome = JSON.stringify([tf.zeros([1]).backend.name, history.loss.at(-1) < history.loss[0], double(tf.constant([1, 2])).array()]);
`;
const printing = `${program}\nconsole.log(outcome);\n`;
const native = '["native",true,[2,4]]';

test('a program in plain JavaScript computes on native kernels', async () => {
  write(project, 'main.js', printing);
  expect(await runNode(project, '--throw-deprecation', '--trace-warnings', 'main.js')).toBe(native);
});

describe('the first programs of the README run as they stand, where eagre was installed by', () => {
  test.each<Manager>(['npm', 'pnpm', 'yarn', 'yarn 4'])('%s', async (manager) => {
    const there = { npm: project, pnpm: strict, yarn: undefined, 'yarn 4': undefined }[manager];
    const folder = there ?? (await consumer(manager, manager.replace(' ', '-'), ['eagre']));
    expect(await firstPrograms(folder, { manager })).toMatchObject({ backend: 'native', version });
    const late = write(
      folder,
      'late.mjs',
      'import * as tf from "eagre"; console.log(typeof tf.keras.Model);',
    );
    const atOnce = '--no-experimental-require-module';
    const printed = await runIn(manager, folder, late).catch(String);
    // It is Node 20 that finds no modules there.
    if (manager === 'yarn 4' && process.version.startsWith('v20.'))
      expect(printed).toContain(`NODE_OPTIONS=${atOnce}`);
    else expect(printed).toBe('function');
    expect(await runIn(manager, folder, atOnce, late)).toBe('function');
  });
});

describe("the programs in the packages' own READMEs run as they stand", () => {
  test.each(published.map(({ name }) => name))('%s', async (name) => {
    const readme = readFileSync(join(strict, 'node_modules', name, 'README.md'), 'utf8');
    const programs = programsIn(readme);
    if (!/It is for Eagre's own packages|^npm create eagre /m.test(readme)) expect(programs).not.toEqual([]);
    if (name !== 'eagre') expect(readme).toContain('https://www.npmjs.com/package/eagre');
    for (const [i, { text, prints }] of programs.entries()) {
      const file = write(strict, `${name.replace('/', '-')}-${i}.mjs`, text);
      const printed = await runNode(strict, '--no-warnings', file);
      if (text.includes('// → ')) expect(withoutSpace(printed)).toBe(withoutSpace(prints.join('')));
    }
  });
});

test('the command runs', async () => {
  expect(await runNode(project, 'node_modules/eagre/bin/eagre.js', '--version')).toBe(version);
});

const tsx = new URL('../node_modules/tsx/dist/', import.meta.url);
// These have `require` compile every module anew, as CommonJS: what Node loads late would come with a second library of its own.
describe.each([
  ['node --import tsx', ['--import', new URL('loader.mjs', tsx).href]],
  ['tsx', [fileURLToPath(new URL('cli.mjs', tsx))]],
])('%s', (_, args) => {
  test('a program in TypeScript has one library', async () => {
    const source = `import * as tf from 'eagre';
      type Known = { readonly [name: string]: boolean };
      const input = tf.keras.Input({ shape: [4] });
      const output = new tf.layers.Dense(1)(new tf.keras.layers.Dense(3)(input));
      const model = new tf.keras.Model(input, output);
      model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'meanSquaredError' });
      const data = tf.data.Dataset.fromTensorSlices([tf.ones([8, 4]), tf.ones([8, 1])]).batch(4);
      await model.fit(data, { verbose: 0 });
      const image = tf.io.decodePng(tf.io.encodePng(tf.ones([2, 2, 1]).cast('uint8')));
      const known: Known = { layers: tf.keras.layers.Dense === tf.layers.Dense, tensors: image instanceof tf.Tensor };
      try {
        tf.image.resize(image, [2]);
      } catch (error) {
        console.log(JSON.stringify({ ...known, errors: error instanceof tf.errors.InvalidArgumentError }));
      }`;
    expect(await runNode(project, ...args, write(project, 'program.ts', source))).toBe(
      '{"layers":true,"tensors":true,"errors":true}',
    );
  });
  test('so has one that is CommonJS', async () => {
    const source = `const tf = require('eagre');
      const model = new tf.keras.Sequential([tf.keras.Input({ shape: [4] }), new tf.layers.Dense(1)]);
      model.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
      model.fit(tf.ones([8, 4]), tf.ones([8, 1]), { verbose: 0 }).then(({ epoch }) => console.log(epoch.length));`;
    expect(await runNode(project, ...args, write(project, 'program.cjs', source))).toBe('1');
  });
});

test('the stack of an error shows the line of the program', async () => {
  const text = await runNode(
    project,
    write(
      project,
      'wrong.mjs',
      `import * as tf from 'eagre';
      const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [3] })]);
      model.compile({ loss: 'meanSquaredError' });
      async function train() {
        await model.fit(tf.ones([2, 4]), tf.ones([2, 1]), { verbose: 0 });
      }
      await train().catch(({ stack }) => console.log(stack));`,
    ),
  );
  expect(text).toMatch(
    /^ {4}at .*node_modules.*\n {4}… \d+ more in Eagre .*\n {4}at async train \(.*wrong\.mjs:5:/m,
  );
});

test('classes that the bundler puts into a module of their own say what they take', async () => {
  const text = await runNode(
    project,
    write(
      project,
      'rooms.mjs',
      `import * as tf from 'eagre';
      const queue = new tf.queue.FIFOQueue({ capacity: 2, dtypes: ['float32'] });
      queue.enqueue([3]);
      const keys = new tf.lookup.KeyValueTensorInitializer({ keys: ['a', 'b'], values: [1, 2] });
      const table = new tf.lookup.StaticHashTable(keys, -1);
      const dense = tf.sparse.toDense(new tf.SparseTensor({ indices: [[1]], values: [5], denseShape: [2] }));
      const rows = tf.ragged.constant([[1], []]);
      const shape = new tf.TensorShape([2, null]);
      console.log(JSON.stringify([
        [queue.dequeue()].flat()[0].item(), table.lookup(['b', 'c']).array().map(Number), dense.array(), rows.toList(), shape.rank,
      ]));`,
    ),
  );
  expect(text.trim()).toBe('[3,[2,-1],[0,5],[[1],[]],2]');
});

test('a program without packages that are optional says what to install', async () => {
  const loader = write(
    project,
    'without.mjs',
    `import { createRequire, Module } from 'node:module';
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name.startsWith('@eagre/native-')) throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
  return load(name, ...rest);
};
process.on('warning', ({ code, message }) => console.log(code, message));
const tf = await import('eagre');
console.log(tf.zeros([1]).backend.name);`,
  );
  const text = await runNode(project, loader);
  expect(text).toMatch(hasWasm ? /^wasm$/m : /^js$/m);
  expect(text).toContain(`EAGRE_NO_NATIVE Eagre's native kernels could not be loaded`);
  expect(text).toContain(`Kernels ${hasWasm ? 'of WebAssembly' : 'in JavaScript'} run instead`);
  expect(text).toContain(`Install the package @eagre/native-${process.platform}-${process.arch}`);
  expect(text).not.toMatch(/build\/Release|pnpm/);
});

test.skipIf(!hasWasm)('where no addon can be loaded, kernels of WebAssembly train', async () => {
  for (const folder of [project, strict]) {
    write(folder, 'wasm.js', printing);
    const node = (file: string, env: Record<string, string>): Promise<string> =>
      run(process.execPath, [file], folder, env);
    expect(await node('wasm.js', { EAGRE_ADDON: '/nowhere/eagre.node' })).toBe('["wasm",true,[2,4]]');
    // CommonJS can require all of it.
    write(
      folder,
      'wasm.cjs',
      `const tf = require('eagre'); console.log(tf.matmul([[1, 2]], [[3], [4]]).item(), tf.zeros([1]).backend.name);`,
    );
    expect(await node('wasm.cjs', { EAGRE_BACKEND: 'wasm' })).toBe('11 wasm');
    // What the package itself opens is what is open already.
    write(
      folder,
      'again.mjs',
      `import * as tf from 'eagre';
      import { wasmBackend } from '${folder === project ? '@eagre/backend-wasm' : './node_modules/@eagre/backend-wasm/dist/node.js'}';
      console.log(tf.zeros([1]).backend === wasmBackend);`,
    );
    expect(await node('again.mjs', { EAGRE_BACKEND: 'wasm' })).toBe('true');
  }
});

test('every package that is installed runs on all versions of Node that Eagre runs on', () => {
  const manifests = installed(join(project, 'node_modules'));
  expect(manifests.length).toBeGreaterThan(20);
  const engines = published.find(({ name }) => name === 'eagre')?.engines?.node as string;
  const versions = engines.split('||').map((range) => minVersion(range)?.version as string);
  expect(versions).toEqual(['20.19.0', '22.12.0']);
  const bad = manifests.filter(
    ({ engines: { node = '*' } = {} }) => !versions.every((v) => satisfies(v, node)),
  );
  expect(bad.map(({ name, version }) => `${name}@${version}`)).toEqual([]);
});

function installed(folder: string): Manifest[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.flatMap(({ name }) => {
    if (name.startsWith('.')) return [];
    const inner = join(folder, name);
    if (name.startsWith('@')) return installed(inner);
    const own = JSON.parse(readFileSync(join(inner, 'package.json'), 'utf8')) as Manifest;
    const nested = readdirSync(inner).includes('node_modules') ? installed(join(inner, 'node_modules')) : [];
    return [own, ...nested];
  });
}

describe('alone', () => {
  const programs: Record<string, string> = {
    core: `console.log(m.add([1], [2]).array()[0], m.zeros([1]).backend.name)`,
    autodiff: `const g = m.grad((x) => x.square()); console.log(g(1.5).item(), g(1.5).backend.name)`,
    graph: `const f = m.tfFunction((x) => x.add(1)); const y = f(constant(2)); console.log(y.item(), y.backend.name)`,
    metrics: `const l = new m.losses.MeanSquaredError()([[1]], [[2]]); console.log(l.item() + 2, l.backend.name)`,
    optimizers: `new m.Adam(); console.log(3, 'native')`,
    layers: `const y = new m.layers.ReLU()([3]); console.log(y.array()[0], y.backend.name)`,
    data: `for (const x of m.Dataset.fromTensorSlices([3])) console.log(x.item(), x.backend.name)`,
    checkpoint: `new m.Checkpoint({}); console.log(3, 'native')`,
  };

  test.each(published.map(({ name }) => name))('%s', async (name) => {
    const body =
      programs[name.replace('@eagre/', '')] ?? `console.log(3, Object.keys(m).length > 0 && 'native')`;
    const code = `import * as m from '${name}';\nimport { constant } from '@eagre/core';\n${body}`;
    expect(await runNode(strict, '--input-type=module', '-e', code)).toBe('3 native');
  });

  test('kernels for pages are small, and none of CUDA is among them', async () => {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: `import '@eagre/backend-webgpu';`, resolveDir: strict },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      write: false,
      // Programs have these anyway.
      external: ['@eagre/backend', '@eagre/backend-native'],
      logLevel: 'error',
    });
    const [{ text, contents }] = outputFiles as [esbuild.OutputFile];
    expect(text).toContain('createComputePipelineAsync');
    expect(text).not.toMatch(/__device__|mma\.sync/);
    expect(gzipSync(contents).length / 1000).toBeLessThan(62);
  });
});

test('the umbrella has native code check files', () => {
  // A bundler may take a module for one without effects.
  const built = readFileSync(join(project, 'node_modules/eagre/dist/index.js'), 'utf8');
  for (const name of ['useCrc32c', 'useNativeFiles']) {
    const [, local] = new RegExp(`\\b${name} as ([\\w$]+)`).exec(built) ?? [];
    expect(built).toContain(`\n${local}(`);
  }
});

// The time of an import changes with the machine; what it has to read and find does not. `node apps/bench/probes/loaded.mjs --list` shows what.
test('an import loads few modules with little source', async () => {
  const probe = readFileSync(new URL('../../bench/probes/loaded.mjs', import.meta.url), 'utf8');
  write(project, 'loaded.mjs', probe);
  const { modules, characters } = JSON.parse(await runNode(project, 'loaded.mjs')) as Loaded;
  expect(modules).toBeGreaterThan(10);
  expect(modules).toBeLessThanOrEqual(32);
  expect(characters).toBeLessThan(2_825_000);
});

test('namespaces that Node loads late have what the modules have', async () => {
  const text = await runNode(
    project,
    '--trace-warnings',
    write(
      project,
      'late.mjs',
      `import * as tf from 'eagre';
      import * as late from './node_modules/eagre/dist/late.js';
      for (const [name, space] of Object.entries(late)) {
        const wrong = Object.keys({ ...space, ...tf[name] }).filter((key) => tf[name][key] !== space[key] || !(key in tf[name]));
        if (tf[name] === space || wrong.length > 0) console.log(name, wrong);
      }
      console.log(Object.keys(late).length > 10, Object.isExtensible(tf.data), Number([...tf.data.Dataset.range(1)][0].item()) === 0);
      console.log(\`\${tf.typeSpecFromValue(tf.data.Dataset.range(3).iterator())}\`, new tf.OptionalSpec(null) instanceof tf.OptionalSpec);`,
    ),
  );
  expect(text).toBe('true false true\nIteratorSpec(TensorSpec(shape=[], dtype=int64)) true');
});

test('an error that nobody catches shows no line of the library', async () => {
  const file = write(project, 'uncaught.cjs', `require('eagre').matmul([[1]], [[1, 2], [3, 4]]);`);
  const text = await runNode(project, '--no-warnings', file).catch(String);
  expect(text).toMatch(/\/dist\/.*\.js:\d+\nthrow new\n *\^\n\nInvalidArgumentError: /);
  expect(text).toContain('uncaught.cjs:1:');
});

interface Loaded {
  readonly modules: number;
  readonly characters: number;
}

/** What pages have to load before they can add, and before they can train a layer: about a hundredth more than they do. */
const CORE_ADD_KB = 81.4;
const ADD_KB = 84.7;
const DENSE_KB = 232.4;

describe('bundled by', () => {
  const bundlers: Record<string, (entry: string, out: string) => Promise<unknown>> = {
    esbuild: (entry, outfile) =>
      esbuild.build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        format: 'esm',
        platform: 'node',
        logLevel: 'error',
      }),
    rollup: async (input, file) => {
      const warnings: string[] = [];
      const bundle = await rollup({
        input,
        external: /^node:/,
        plugins: [nodeResolve({ exportConditions: ['node'] }), commonjs()],
        onwarn: ({ code, message }) => {
          if (code !== 'CIRCULAR_DEPENDENCY') warnings.push(message);
        },
      });
      await bundle.write({ file, format: 'esm', inlineDynamicImports: true });
      expect(warnings).toEqual([]);
    },
    vite: (entry, out) =>
      viteBuild({
        root: project,
        configFile: false,
        logLevel: 'error',
        ssr: { noExternal: true },
        build: {
          ssr: entry,
          target: 'es2022',
          outDir: join(out, '..'),
          emptyOutDir: false,
          rollupOptions: { output: { entryFileNames: 'vite.mjs' } },
        },
      }),
    webpack: (entry, file) =>
      new Promise((resolve, reject) => {
        const config: webpack.Configuration = {
          mode: 'production',
          context: project,
          entry,
          target: 'node20',
          optimization: { minimize: false },
          experiments: { outputModule: true },
          output: {
            path: join(file, '..'),
            filename: 'webpack.mjs',
            module: true,
            library: { type: 'module' },
          },
        };
        webpack(config, (error, stats) => {
          const wrong = stats?.toJson({ all: false, errors: true, warnings: true });
          if (error === null) resolve([...(wrong?.errors ?? []), ...(wrong?.warnings ?? [])]);
          else reject(error);
        });
      }).then((wrong) => expect(wrong).toEqual([])),
  };

  test.each(Object.keys(bundlers))('%s', async (name) => {
    const entry = write(project, `${name}-entry.mjs`, printing);
    const out = join(project, 'dist', `${name}.mjs`);
    await bundlers[name]?.(entry, out);
    // All is in one file: what Node loads late is not.
    expect(readFileSync(out, 'utf8')).not.toMatch(/\blate\(['"]@eagre\/data/);
    expect(await runNode(project, out)).toBe(native);
    if (hasWasm)
      expect(await run(process.execPath, [out], project, { EAGRE_BACKEND: 'wasm' })).toBe(
        '["wasm",true,[2,4]]',
      );
  });

  /** The script that esbuild makes for a page. */
  const ofPage = async (contents: string): Promise<string> => {
    const { outputFiles } = await esbuild.build({
      stdin: { contents, resolveDir: project },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      logLevel: 'error',
    });
    return outputFiles[0]?.text as string;
  };

  test('esbuild for browsers: what a program does not use is left out', async () => {
    const size = async (contents: string): Promise<number> => gzipSync(await ofPage(contents)).length / 1000;
    const add = await size(`import { add } from 'eagre'; console.log(add(1, 2).item());`);
    const core = await size(`import { add } from '@eagre/core'; console.log(add(1, 2).item());`);
    expect(core).toBeLessThan(CORE_ADD_KB);
    // Of what the umbrella can load late, esbuild keeps modules that are indexes, even where nothing loads it.
    expect(add).toBeLessThan(ADD_KB);
  });

  test.each([
    ['not', '', 'UNIMPLEMENTED true'],
    ['once it imports what writes them', `import 'eagre/graph-def';`, 'bytes true'],
  ])('esbuild for browsers: a page writes GraphDefs %s', async (name, line, printed) => {
    const script = await ofPage(`${line}
          import { function as compiled, TensorSpec } from 'eagre';
          const { graph } = compiled((x) => x.add(1)).getConcreteFunction(new TensorSpec([2]));
          try {
            console.log('bytes', graph.asGraphDef().length > 100);
          } catch ({ code, message }) {
            console.log(code, message.includes("import 'eagre/graph-def'"));
          }`);
    const file = write(project, `graph-def-${name.length}.mjs`, script);
    expect(await runNode(project, '--no-warnings', file)).toBe(printed);
  });

  test('esbuild for browsers: steps are plain code until what traces is loaded, which fit waits for', async () => {
    const script = await ofPage(`
          import { layers, ones, Sequential } from 'eagre';
          let calls = 0;
          class Counted extends Sequential {
            trainStep(...args) {
              calls++;
              return super.trainStep(...args);
            }
          }
          const model = new Counted([new layers.Dense(1, { inputShape: [2], kernelInitializer: 'ones' })]);
          model.compile({ optimizer: 'sgd', loss: 'mse' });
          const [x, y] = [ones([4, 2]), ones([4, 1])];
          const seen = [];
          const told = ({ loss }) => seen.push(calls, Math.round(loss * 1e4));
          told(model.trainOnBatch(x, y));
          told(model.trainOnBatch(x, y));
          const { history } = await model.fit(x, y, { epochs: 3, verbose: 0 });
          told({ loss: history.loss.at(-1) });
          told(model.trainOnBatch(x, y));
          console.log(JSON.stringify(seen));`);
    const file = write(project, 'steps.mjs', script);
    expect(await runNode(project, '--no-warnings', file)).toBe('[1,10000,2,8836,3,6096,3,5386]');
  });

  test('Vite for pages: what a program needs late is not loaded first', async () => {
    const entry = write(
      project,
      'page-entry.mjs',
      `import { layers, ones, Sequential } from 'eagre';
      const model = new Sequential([new layers.Dense(1, { inputShape: [2] })]);
      model.compile({ optimizer: 'sgd', loss: 'mse' });
      await model.fit(ones([4, 2]), ones([4, 1]));`,
    );
    const built = await viteBuild({
      root: project,
      configFile: false,
      logLevel: 'error',
      build: { write: false, target: 'es2022', rollupOptions: { input: entry } },
    });
    const { output } = built as Extract<typeof built, { output: unknown }>;
    const chunks = new Map(
      output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file] as const] : [])),
    );
    const first = new Set(
      [...chunks.values()].flatMap(({ isEntry, fileName }) => (isEntry ? [fileName] : [])),
    );
    for (const name of first) for (const needed of chunks.get(name)?.imports ?? []) first.add(needed);
    const kilobytes = [...first].map((name) => gzipSync(chunks.get(name)?.code ?? '').length / 1000);
    expect(chunks.size).toBeGreaterThan(first.size);
    expect(kilobytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(DENSE_KB);
  }, 180_000);
});

// Next.js minifies by SWC, which leaves out defaults that are undefined, so that a function seems to have one parameter more.
test('minified by SWC, every function must be given the same arguments', async () => {
  const contents = `
    import * as tf from 'eagre';
    import { declared } from '@eagre/core/internal';
    const seen = new Set();
    const lines = [];
    const walk = (value, path) => {
      if (value === null || !['object', 'function'].includes(typeof value) || seen.has(value)) return;
      seen.add(value);
      const found = typeof value === 'function' ? declared(value) : undefined;
      if (found) lines.push(path + ' ' + found.required);
      else for (const key of Object.keys(value)) walk(value[key], path + '.' + key);
    };
    walk(tf, 'tf');
    console.log(lines.join('\\n'));`;
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'error',
  });
  const bundle = outputFiles[0]?.text as string;
  const { code } = await swc.minify(bundle, { module: true, compress: true, mangle: true });
  const [plain, minified] = await Promise.all(
    [bundle, code].map((text, i) => runNode(project, write(project, `declared-${i}.mjs`, text))),
  );
  expect(plain.split('\n').length).toBeGreaterThan(900);
  expect(plain).toContain('tf.ones 1\n');
  expect(minified.split('\n')).toEqual(plain.split('\n'));
});

test.skipIf(browserPath === undefined)('a page in a browser trains', async () => {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: `${program}\nglobalThis.outcome = outcome;`, resolveDir: project },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'error',
  });
  const browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => wrong.push(message.text()));
    await page.addScriptTag({ type: 'module', content: outputFiles[0]?.text as string });
    await page.waitForFunction('globalThis.outcome').catch((error) => wrong.push(String(error)));
    // A script in a page does not know where modules are.
    expect(wrong).toEqual([expect.stringContaining('give it to openWasm({ module })')]);
    expect(await page.evaluate('globalThis.outcome')).toBe('["js",true,[2,4]]');
  } finally {
    await browser.close();
  }
});

describe('TypeScript', () => {
  const typed = `import * as tf from 'eagre';
export function trainStep(model: tf.Sequential, x: tf.Tensor, y: tf.Tensor): number {
  using tape = new tf.GradientTape();
  const loss = tf.losses.meanSquaredError(y, model(x)).mean();
  const gradients = tape.gradient(loss, model.trainableVariables);
  new tf.optimizers.Adam().applyGradients(gradients, model.trainableVariables);
  return loss.item();
}
export const layer: tf.layers.Dense = new tf.layers.Dense(3);
export const level = tf.constant([1]).log1p();
// @ts-expect-error: types are there, and not \`any\`.
export const wrong: string = level;
`;
  const base: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    // No types of Node, and no library for \`using\`: those who only have the packages.
    types: [],
  };
  const resolutions: Record<string, ts.CompilerOptions> = {
    node10: { module: ts.ModuleKind.ES2022, moduleResolution: ts.ModuleResolutionKind.Node10 },
    node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
    bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  };

  test.each(Object.keys(resolutions))('with moduleResolution %s', (name) => {
    const file = write(project, `typed-${name}.ts`, typed);
    const checked = ts.createProgram([file], { ...base, ...resolutions[name] });
    const messages = ts.getPreEmitDiagnostics(checked).map(({ file: where, messageText }) => {
      return `${where?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(messages).toEqual([]);
  });

  test('shows comments and real names', () => {
    const file = write(project, 'hovered.ts', typed);
    const options = { ...base, ...resolutions['bundler'] };
    const service = ts.createLanguageService({
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      directoryExists: ts.sys.directoryExists,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getScriptFileNames: () => [file],
      getScriptVersion: () => '1',
      getScriptSnapshot: (name) => {
        const text = ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCompilationSettings: () => options,
      getCurrentDirectory: () => project,
    });
    const hover = (text: string): string => {
      const info = service.getQuickInfoAtPosition(file, typed.indexOf(text) + 1);
      return `${ts.displayPartsToString(info?.displayParts)}\n${ts.displayPartsToString(info?.documentation)}`;
    };
    expect(hover('log1p')).toMatch(/^\(property\) log1p: .*Tensor<any>\nlog\(1 \+ x\), element-wise/);
    expect(hover('layer:')).toBe('const layer: tf.layers.Dense\n');
    expect(hover('Adam()')).not.toContain('_exports');
  });
});

test('a program that is no module can require the package', async () => {
  const file = write(project, 'main.cjs', `console.log(require('eagre').add(1, 2).item());`);
  expect(await runNode(project, '--no-warnings', file)).toBe('3');
});
