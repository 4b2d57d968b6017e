import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: 'src/{index,internal}.ts',
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  // A package says "type": "module", so that .js is unambiguous.
  fixedExtension: false,
  sourcemap: true,
  dts: true,
});
