import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src/web',
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: { outDir: '../../dist/web', emptyOutDir: true, target: 'es2022' },
});
