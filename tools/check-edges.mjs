// Imports go one way: fails on an edge, in a source file or a package.json, that is not permitted below, and on files of a package that need
// each other before either is loaded.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { isOfTests, typeCircles, valueCircles } from './circles.mjs';

const permitted = {
  backend: [],
  formats: [],
  'backend-js': ['backend'],
  'backend-native': [
    'backend',
    'native-darwin-arm64',
    'native-darwin-x64',
    'native-linux-arm64',
    'native-linux-x64',
    'native-linuxmusl-arm64',
    'native-linuxmusl-x64',
    'native-win32-x64',
  ],
  'gpu-kernels': ['backend'],
  'backend-wasm': ['backend', 'backend-native'],
  'backend-webgpu': ['backend', 'backend-native', 'gpu-kernels'],
  'backend-cuda': [
    'backend',
    'backend-native',
    'gpu-kernels',
    // The addon for GPUs of NVIDIA.
    'native-linux-arm64',
    'native-linux-x64',
  ],
  core: ['backend', 'backend-js', 'backend-native', 'backend-wasm'],
  autodiff: ['core', 'backend'],
  // Sessions save their variables.
  // Pages have the kernels in JavaScript that are named there (page-kernels.mjs).
  compiler: ['backend', 'backend-js'],
  graph: ['core', 'autodiff', 'backend', 'backend-js', 'compiler', 'formats', 'checkpoint'],
  autograph: ['graph', 'core', 'autodiff', 'backend'],
  optimizers: ['core', 'autodiff', 'backend', 'backend-js'],
  metrics: ['core', 'backend'],
  data: ['core', 'graph', 'formats', 'backend', 'backend-native', 'backend-wasm'],
  checkpoint: ['core', 'formats', 'backend'],
  summary: ['core', 'graph', 'formats', 'backend', 'backend-wasm'],
  layers: [
    'core',
    'autodiff',
    'graph',
    'optimizers',
    'metrics',
    'formats',
    'summary',
    'checkpoint',
    // When a model is exported.
    'onnx',
    'saved-model',
    'backend',
    'backend-wasm',
  ],
  'saved-model': ['core', 'autodiff', 'graph', 'data', 'checkpoint', 'formats', 'backend'],
  onnx: ['core', 'graph', 'data', 'formats', 'backend'],
  serving: ['core', 'graph', 'saved-model', 'formats', 'backend'],
  distribute: [
    'core',
    'autodiff',
    'graph',
    'data',
    'formats',
    // Traces that other processes run.
    'saved-model',
    'checkpoint',
    'backend',
    // The addon for collectives, where there is one.
    'native-linux-arm64',
    'native-linux-x64',
  ],
  datasets: ['core', 'formats', 'backend', 'backend-wasm'],
  board: ['formats', 'summary'],
  cli: [
    'backend-native',
    'formats',
    'datasets',
    'summary',
    'board',
    'core',
    'graph',
    'layers',
    'saved-model',
    'onnx',
    'serving',
  ],
  testing: [
    'backend',
    'core',
    'autodiff',
    'graph',
    'backend-js',
    'backend-native',
    'backend-cuda',
    'backend-wasm',
    'backend-webgpu',
    'gpu-kernels',
    'formats',
  ],
  'create-eagre': [],
  eagre: [
    'backend',
    'backend-js',
    'backend-native',
    'core',
    'autodiff',
    'graph',
    'autograph',
    'optimizers',
    'metrics',
    'layers',
    'data',
    'checkpoint',
    'summary',
    'datasets',
    'formats',
    'saved-model',
    'onnx',
    'serving',
    'distribute',
    'cli',
  ],
};
const forTests = [
  'testing',
  'backend-js',
  'backend-native',
  'backend-cuda',
  'backend-wasm',
  'backend-webgpu',
];
const apps = {
  consumers: ['testing'],
  // The editor of its pages is the playground's.
  site: ['playground', 'testing'],
  examples: ['eagre'],
  playground: ['eagre', 'autograph', 'backend-wasm', 'backend-webgpu'],
  bench: Object.keys(permitted),
};

const root = fileURLToPath(new URL('..', import.meta.url));
const builtin = new Set(builtinModules);
const shared = Object.keys(readManifest('.').devDependencies);
const problems = [];

for (const folder of readdirSync(`${root}packages`)) {
  if (permitted[folder]) checkMember(`packages/${folder}`, folder, permitted[folder]);
  else problems.push(`packages/${folder}: not in the list of permitted edges (tools/check-edges.mjs)`);
}
for (const folder of readdirSync(`${root}apps`, { withFileTypes: true })) {
  if (!folder.isDirectory()) continue;
  if (apps[folder.name]) checkMember(`apps/${folder.name}`, folder.name, apps[folder.name]);
  else problems.push(`apps/${folder.name}: not in the list of permitted edges (tools/check-edges.mjs)`);
}

if (problems.length > 0) {
  console.error(`${problems.join('\n')}\n${problems.length} edges or circles are not permitted.`);
  process.exit(1);
}

function checkMember(path, own, edges) {
  const manifest = readManifest(path);
  const dependencies = Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  });
  const devDependencies = Object.keys(manifest.devDependencies ?? {});

  for (const name of dependencies) {
    const to = memberOf(name);
    if (to && !edges.includes(to)) problems.push(`${path}/package.json: may not depend on ${name}`);
  }

  if (!existsSync(`${root}${path}/src`)) return;
  for (const circle of valueCircles(`${root}${path}/src`))
    problems.push(`${path}/src: a circle of imports: ${circle.join(', ')}`);
  for (const circle of typeCircles(`${root}${path}/src`))
    problems.push(`${path}/src: a circle of types, and no file says why: ${circle.join(', ')}`);
  const files = ['src', 'tests'].flatMap((room) =>
    existsSync(`${root}${path}/${room}`)
      ? readdirSync(`${root}${path}/${room}`, { recursive: true }).map((file) => ({ room, file }))
      : [],
  );
  for (const { room, file } of files) {
    if (!/\.[cm]?tsx?$/.test(file)) continue;
    const isTest = room === 'tests' || isOfTests(file);
    // What vite bundles is nothing to install.
    const isBundled = /^web[/\\]/.test(file);
    const where = `${path}/${room}/${file}`;
    const { importedFiles } = ts.preProcessFile(readFileSync(`${root}${where}`, 'utf8'), true, true);
    for (const { fileName: specifier } of importedFiles) {
      if (!isTest && /\/testing\//.test(specifier)) problems.push(`${where}: ${specifier} is for tests`);
      if (specifier.startsWith('.') || specifier.startsWith('node:') || builtin.has(specifier)) continue;
      const name = specifier.match(/^(@[^/]+\/)?[^/]+/)[0];
      const to = memberOf(name);
      if (to) {
        const allowed = isTest ? [...edges, ...forTests, own] : edges;
        if (!allowed.includes(to)) problems.push(`${where}: may not import ${specifier}`);
        else if (!isTest && !dependencies.includes(name))
          problems.push(`${where}: ${name} is missing from ${path}/package.json`);
      } else if (
        ![
          ...dependencies,
          ...(isTest || isBundled ? devDependencies : []),
          ...(isTest ? shared : []),
        ].includes(name)
      ) {
        problems.push(`${where}: ${name} is not a dependency of ${path}/package.json`);
      }
    }
  }
}

/** The workspace folder behind a package name, or undefined for third-party packages. */
function memberOf(name) {
  if (name === 'eagre') return 'eagre';
  return name.startsWith('@eagre/') ? name.slice('@eagre/'.length) : undefined;
}

function readManifest(path) {
  return JSON.parse(readFileSync(`${root}${path}/package.json`, 'utf8'));
}
