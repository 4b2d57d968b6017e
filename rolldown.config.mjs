import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig, build as rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { emitDeclarations } from './tools/declarations.mjs';
import { droppable } from './tools/droppable.mjs';
import { lateNamespaces, lateProbe } from './tools/late-namespaces.mjs';
import { groupsOfKernels, withKernels } from './tools/page-kernels.mjs';

const name = basename(process.cwd());
const filesIn = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/'\.\/(.*\.ts)'/g)].map(([, name]) => `src/${name}`);
const files = (...names) => names.map((name) => `src/${name}.ts`).filter((file) => existsSync(file));
const entry = files(
  'index',
  'internal',
  'plugin',
  'register',
  'node',
  // Of native kernels Node reads the index in its place.
  ...(name === 'backend-native' ? [] : ['here']),
  'elsewhere',
  'later',
  'open',
  'node-hooks',
  'specs',
  'interchange',
  'tensorflow-js',
  ...(name === 'core' ? ['image'] : []),
);
// Its declarations alone: Node has them late.
const kernelsOfPages = name === 'backend-js' ? files('kernels') : [];
// Node has it in `here`.
const codecsAlone = name === 'backend-wasm' ? files('codecs') : [];
// Namespaces that Node loads late: modules of their own. Some are late in pages alone.
const manifest = readFileSync('package.json', 'utf8');
const [late] = manifest.includes('/late-node.js') ? files('late') : [];
const apart = late === undefined ? [] : [late, ...filesIn(late)];

// To find a module takes Node as long as to parse ten kilobytes, so few are better. `internal` of these packages exports all that the index
// does. So it is the module that has the code, the others name some of it, and other packages of ours import nothing else.
const whole = ['core', 'checkpoint', 'summary'];
const isWhole = whole.includes(name);
const fromInternal = Object.fromEntries(whole.map((name) => [`@eagre/${name}`, `@eagre/${name}/internal`]));

const options = {
  input: isWhole ? ['src/internal.ts'] : [...new Set([...entry, ...apart])],
  // Other packages and Node's modules, but not helpers for syntax that the target lacks.
  external: /^(?!@oxc-project\/runtime\/)(@|\w[\w-])/,
  platform: 'neutral',
  tsconfig: false,
  transform: { target: 'es2022' },
};

/** The other modules of a package whose code is in `internal`. */
const namesOfWhole = {
  name: 'names-of-whole',
  async generateBundle() {
    for (const input of entry.filter((file) => file !== 'src/internal.ts')) {
      const { output } = await rolldown({ ...options, input, write: false });
      const module = basename(input, '.ts');
      const names = `{\n\t${output[0].exports.join(',\n\t')}\n}`;
      // The others are namespaces of the index.
      const source =
        module === 'index'
          ? `export ${names} from "./internal.js";\n`
          : `import { ${module} } from "./internal.js";\nconst ${names} = ${module};\nexport ${names};\n`;
      this.emitFile({ type: 'asset', fileName: `${module}.js`, source });
    }
  },
};
// Only names of classes are read. A call that names a function would keep it, and all that it uses, in every bundle.
const unnamedFunctions = {
  name: 'unnamed-functions',
  renderChunk: (code) => ({ code: code.replace(/^__name\([\w$]+, "[a-z]\w*"\);\n/gm, ''), map: null }),
};
const hasPages = manifest.includes('"./dist/pages/');
const kernelGroups = groupsOfKernels('../backend-js/src');
/** In pages, who names a kernel brings it. */
const kernelsInPages = {
  name: 'kernels-in-pages',
  transform(code, id) {
    if (!id.endsWith('.ts') || id.includes('/node_modules/') || /^(backend|gpu-kernels)/.test(name))
      return undefined;
    const brought = withKernels(code, kernelGroups);
    if (brought === undefined) return undefined;
    if (!hasPages || !manifest.includes('"@eagre/backend-js"'))
      throw new Error(`${id} names kernels: the package needs a form for pages, and @eagre/backend-js`);
    return { code: brought, map: null };
  },
};
/** Leaves out what declarations of ops have for tests alone, which run on sources: calls to try, where, and how exact results are. */
const forTests = ['samples', 'domain', 'ulp'];
const withoutSamples = {
  name: 'without-samples',
  transform(code, id) {
    if (!/\/core\/src\/.*\.ts$/.test(id)) return undefined;
    const cuts = [];
    const visit = (node) => {
      if (Array.isArray(node)) return node.forEach(visit);
      if (typeof node?.type !== 'string') return undefined;
      if (node.type === 'CallExpression' && /^define/.test(node.callee.name ?? ''))
        for (const { properties = [] } of node.arguments)
          for (const property of properties)
            if (forTests.includes(property.key?.name) && property.value.type !== 'CallExpression')
              cuts.push(property);
      return Object.values(node).forEach(visit);
    };
    visit(parseAst(code, { lang: 'ts' }).body);
    let short = code;
    for (const { start, end } of cuts.sort((a, b) => b.start - a.start))
      short = `${short.slice(0, start)}${short.slice(end).replace(/^\s*,/, '')}`;
    return { code: short, map: null };
  },
};
/** Node prints the line that threw an error which nobody caught: it has nothing else then. */
const shortThrows = {
  name: 'short-throws',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const breaks = new Set();
      const visit = (node) => {
        if (Array.isArray(node)) return node.forEach(visit);
        if (typeof node?.type !== 'string') return undefined;
        if (node.type === 'ThrowStatement' && node.argument.type === 'NewExpression')
          breaks.add(node.start - 1).add(node.argument.callee.start - 1);
        return Object.values(node).forEach(visit);
      };
      visit(parseAst(chunk.code).body);
      chunk.code = chunk.code.replace(/ /g, (space, at) => (breaks.has(at) ? '\n' : space));
    }
  },
};
/** Puts the bundler's helpers into each module that uses them: they are smaller than what it takes to find one module more. */
const inlineHelpers = {
  name: 'inline-helpers',
  generateBundle(_, bundle) {
    const file = Object.keys(bundle).find((file) => file.startsWith('rolldown-runtime'));
    if (file === undefined) return;
    const { code, exports } = bundle[file];
    const helpers = `${code.slice(0, code.lastIndexOf('export {'))}return { ${exports.join(', ')} };`;
    for (const chunk of Object.values(bundle))
      chunk.code = chunk.code?.replace(
        /^import \{ (.*) \} from "\.\/rolldown-runtime-.*";$/m,
        (_, names) =>
          `const { ${names.replaceAll(' as ', ': ')} } = /* @__PURE__ */ (() => {\n${helpers}\n})();`,
      );
    delete bundle[file];
  },
};
/** Bundlers see which statements have no effects: all but those of files that package.json names. */
const droppableStatements = {
  name: 'droppable-statements',
  generateBundle(_, bundle) {
    const { sideEffects } = JSON.parse(manifest);
    const withEffects = (sideEffects || []).map((file) => file.replace('./', ''));
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk') chunk.code = droppable(chunk.code, withEffects);
  },
};
/** The texts in templates. */
function textsOf(code, options) {
  const texts = [];
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node?.type !== 'string') return undefined;
    if (node.type === 'TemplateElement') texts.push(node);
    return Object.values(node).forEach(visit);
  };
  visit(parseAst(code, options).body);
  return texts;
}
/** V8 reads each character: one of twenty is a tab before a line, and lines that name the source file (`droppable` has read them by then) are many, too. */
const withoutIndents = {
  name: 'without-indents',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      // Texts of several lines stay as they are.
      const texts = textsOf(chunk.code).filter(({ value }) => value.raw.includes('\n'));
      const isText = (at) => texts.some(({ start, end }) => start <= at && at < end);
      chunk.code = chunk.code.replace(/^(\t+|\/\/ (src\/\S+|\\0\S+)\n)/gm, (space, at) =>
        isText(at) ? space : '',
      );
    }
  },
};
/** Texts of kernels in the language of all GPUs are parsed, so their lines begin where they do, too. Those in CUDA C++ stay: the archive of compiled ones finds them by their text. */
const withoutIndentsOfKernels = {
  name: 'without-indents-of-kernels',
  transform(code, id) {
    if (!/\/gpu-kernels\/src\/kernels\/.*\.ts$/.test(id)) return undefined;
    let short = code;
    for (const { start, end } of textsOf(code, { lang: 'ts' }).sort((a, b) => b.start - a.start))
      short = short.slice(0, start) + short.slice(start, end).replace(/\n[ \t]+/g, '\n') + short.slice(end);
    return { code: short, map: null };
  },
};
/** Late namespaces come from the module that fits what loads them. */
const isLate = (source) => /^\.{1,2}\/(\.\.\/)*late\.ts$/.test(source);
const lateByRuntime = {
  name: 'late-by-runtime',
  resolveId: (source) => (isLate(source) ? { id: '#late', external: true } : undefined),
  writeBundle() {
    writeFileSync('dist/late-node.js', lateNamespaces('src/late.ts', 'dist'));
    writeFileSync('dist/late-probe.js', lateProbe);
  },
};
const declarations = {
  name: 'declarations',
  writeBundle: () => emitDeclarations('.', [...entry, ...codecsAlone, ...kernelsOfPages]),
};

// Classes say what they take when they are loaded, which keeps them in bundles. So those of core that few programs need are a module of
// their own, after the tensors that they are made of.
const rooms =
  '(ragged|sparse|lookup|queue|sets)\\b|composites|strings\\.ts|composite/indexed|module/asset|ops/strings/(split|unicode|rows|join)|ops/nn/ctc-decode|' +
  'shapes/tensor-shape|tensor/dtype-object|dispatch/device-spec|random\\.ts|random-experimental|random/generator';

// Of the umbrella: what holds all names of another package, or has classes.
const spaces =
  'train|train-experimental|exponential-moving-average|images|test|test-case|equal-graph-defs|types-experimental|' +
  'graph-util|experimental|extension-type|profiler-experimental';

const output = {
  // Names of classes are names of losses, of layers, in files: the bundler may not change them where two modules use the same.
  keepNames: true,
  // An import takes as long as its source is to parse. So comments stay in the declarations, and local names are short; functions and
  // classes keep theirs, and lines are lines, so that a stack trace can be read.
  comments: { annotation: true, jsdoc: false, legal: false },
  minify: {
    compress: false,
    mangle: { keepNames: true },
    codegen: { removeWhitespace: false, asciiOnly: true },
  },
  minifyInternalExports: false,
};
const packed = {
  ...options,
  plugins: [
    !hasPages && kernelsInPages,
    withoutSamples,
    withoutIndentsOfKernels,
    isWhole && namesOfWhole,
    unnamedFunctions,
    inlineHelpers,
    droppableStatements,
    shortThrows,
    withoutIndents,
    late !== undefined && lateByRuntime,
    declarations,
  ],
  output: {
    ...output,
    dir: 'dist',
    cleanDir: true,
    // The umbrella exports what an index exports.
    paths: name === 'eagre' ? {} : fromInternal,
    codeSplitting: {
      groups: [
        { name: 'rooms', test: new RegExp(`core/src/(${rooms})`) },
        {
          name: 'tensors',
          test: new RegExp(`core/src/(?!(index|internal|math|ops/nn/nn)\\.ts|${rooms})`),
          priority: 1,
        },
        // They hold all of another package's names, which is an effect that bundlers do not leave out of the index.
        { name: 'spaces', test: new RegExp(`eagre/src/(${spaces})\\.ts$`) },
        { name: 'later', test: /eagre\/src\/(onnx|saved-model|serving)\.ts$/ },
        { name: 'convert', test: /autograph\/src\/convert\.ts$/ },
        { name: 'graph', test: /\bgraph\/src\/(control|ir|tracing)\// },
        { name: 'layers', test: /layers\/src\//, tags: ['$initial'] },
        // Where an entry of its own shares code with the index, that code would be modules more to find.
        {
          name: 'formats',
          test: /formats\/src\/(?!tensorflow-js|protobuf\/json-format|index\.ts|internal\.ts|zlib|late)/,
          tags: ['$initial'],
        },
      ],
    },
  },
};

/** Imports stay as they are written, but for the ends of their names. */
const asWritten = {
  name: 'as-written',
  resolveId: (source, importer) =>
    importer === undefined || source.startsWith('\0')
      ? undefined
      : {
          // Other folders have such modules of their own.
          id: isLate(source)
            ? '#late'
            : source.replace(/^(\..*\/late)\.ts$/, '$1-elsewhere.ts').replace(/^(\..*)\.ts$/, '$1.js'),
          external: 'relative',
        },
};
/** Objects of some classes are called after these, in programs and in files, and minifiers of programs change names. */
const namedClasses = {
  name: 'named-classes',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      const bodies = new Map();
      const visit = (node) => {
        if (Array.isArray(node)) return node.forEach(visit);
        if (typeof node?.type !== 'string') return undefined;
        const isNamed = ({ type, key, static: isStatic, start, end }) =>
          type === 'StaticBlock'
            ? chunk.code.slice(start, end).includes('__name(')
            : isStatic && key?.name === 'name';
        const made = node.type === 'VariableDeclarator' ? node.init : node;
        const id = made?.id ?? node.id;
        // One that has been renamed says so itself.
        if (
          /^Class(Declaration|Expression)$/.test(made?.type) &&
          /^[A-Z]\w/.test(id?.name) &&
          !made.body.body.some(isNamed)
        )
          bodies.set(made.body.start, bodies.get(made.body.start) ?? id.name);
        return Object.values(node).forEach(visit);
      };
      visit(parseAst(chunk.code).body);
      chunk.code = chunk.code.replace(/\{/g, (brace, at) =>
        bodies.has(at) ? `{\nstatic name = ${JSON.stringify(bodies.get(at))};` : brace,
      );
    }
  },
};
/**
 * An entry whose statements have effects is always in a bundle, and with it, loaded first, each file that it imports if only something of it is
 * used late. So what such an entry exports is a module of its own.
 */
const namesApart = {
  name: 'names-apart',
  generateBundle(_, bundle) {
    for (const entry of ['index', 'internal']) {
      const { code, fileName } = bundle[`${entry}.js`];
      this.emitFile({ type: 'asset', fileName: `${entry}-names.js`, source: code });
      bundle[fileName].code = `import "./dispatch/install.js";\nexport * from "./${entry}-names.js";\n`;
    }
  },
};
/**
 * What bundlers for pages take: each file is a module. One that splits a program puts whole modules either into what is loaded first or into
 * what is loaded late, so it needs small ones, where Node is faster with few.
 */
const forPages = {
  ...options,
  external: [],
  input: Object.fromEntries(
    readdirSync('src', { recursive: true })
      .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|(^|[\\/])testing[\\/]/.test(file))
      .map((file) => [file.slice(0, -'.ts'.length), `src/${file}`]),
  ),
  plugins: [
    asWritten,
    kernelsInPages,
    withoutSamples,
    withoutIndentsOfKernels,
    unnamedFunctions,
    namedClasses,
    droppableStatements,
    shortThrows,
    withoutIndents,
    name === 'core' && namesApart,
  ],
  output: { ...output, dir: 'dist/pages', chunkFileNames: '[name].js' },
};

/** What Node has in another module of the package, which is loaded anyway: by itself for all others. */
const alone = (input) => ({
  ...packed,
  input,
  plugins: packed.plugins.filter((plugin) => plugin !== declarations),
  output: { ...packed.output, cleanDir: false },
});

export default defineConfig([packed, ...(hasPages ? [forPages] : []), ...codecsAlone.map(alone)]);
