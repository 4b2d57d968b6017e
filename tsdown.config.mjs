import { existsSync } from 'node:fs';
import { defineConfig } from 'tsdown';
import { emitDeclarations } from './tools/declarations.mjs';

const files = (...names) => names.map((name) => `src/${name}.ts`).filter((file) => existsSync(file));
const entry = files('index', 'image', 'internal', 'plugin', 'register', 'node-hooks');
// Namespaces of the umbrella, whose index cannot be left out of a bundle: as modules of their own they can.
const apart = files('images', 'keras', 'onnx', 'saved-model', 'serving', 'train');

export default defineConfig({
  entry: [...entry, ...apart],
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  // A package says "type": "module", so that .js is unambiguous.
  fixedExtension: false,
  external: [/^@eagre\//, /^node:/],
  outputOptions: {
    // Names of classes are names of losses, of layers, in files: the bundler may not change them where two modules use the same.
    keepNames: true,
  },
  // What is published is as readable as the sources, and maps were more than half of it.
  sourcemap: false,
  dts: false,
  hooks: { 'build:done': () => emitDeclarations('.', entry) },
});
