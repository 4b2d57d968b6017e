import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: 'src/{index,internal,plugin,register,node-hooks}.ts',
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  // A package says "type": "module", so that .js is unambiguous.
  fixedExtension: false,
  // The paths of tsconfig.base.json would pull other packages' declarations in.
  external: [/^@eagre\//, /^node:/],
  outputOptions: {
    // Names of classes are names of losses, of layers, in files: the bundler may not change them where two modules use the same.
    keepNames: true,
    // Names that files of a package export to each other stand in the errors of TypeScript: `a + b` of two Tensors would be of two `wt`.
    minifyInternalExports: false,
  },
  sourcemap: true,
  dts: { sourcemap: true },
});
