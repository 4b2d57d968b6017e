import { autograph } from 'eagre/plugin';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [autograph.vite()],
  build: { target: 'es2022', sourcemap: true },
});
