import { existsSync } from 'node:fs';
import { defineConfig } from 'tsdown';
import { emitDeclarations } from './tools/declarations.mjs';

const entry = ['index', 'internal', 'plugin', 'register', 'node-hooks']
  .map((name) => `src/${name}.ts`)
  .filter((file) => existsSync(file));

export default defineConfig({
  entry,
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
