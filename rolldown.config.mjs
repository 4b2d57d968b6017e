import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig } from 'rolldown';
import { emitDeclarations } from './tools/declarations.mjs';

const files = (...names) => names.map((name) => `src/${name}.ts`).filter((file) => existsSync(file));
const entry = files('index', 'internal', 'plugin', 'register', 'node-hooks');
// Namespaces of the umbrella, whose index cannot be left out of a bundle: as modules of their own they can.
const apart = files('distribute', 'keras', 'onnx', 'saved-model', 'serving');

export default defineConfig({
  input: [...entry, ...apart],
  // Other packages and Node's modules, but not helpers for syntax that the target lacks.
  external: /^(?!@oxc-project\/runtime\/)(@|\w[\w-])/,
  platform: 'neutral',
  tsconfig: false,
  transform: { target: 'es2022' },
  plugins: [{ name: 'declarations', writeBundle: () => emitDeclarations('.', entry) }],
  output: {
    dir: 'dist',
    cleanDir: true,
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
    // To find a module takes as long as to parse ten kilobytes, so few are better. The internals of core hold the rest of it.
    paths: basename(process.cwd()) === 'eagre' ? {} : { '@eagre/core': '@eagre/core/internal' },
    codeSplitting: {
      groups: [
        { name: 'later', test: /eagre\/src\/(onnx|saved-model|serving)\.ts$/ },
        { name: 'convert', test: /autograph\/src\/convert\.ts$/ },
        { name: 'layers', test: /layers\/src\//, tags: ['$initial'] },
      ],
    },
  },
});
