import { fileURLToPath } from 'node:url';
import { autograph } from 'eagre/plugin';
import { defineConfig, type UserConfig } from 'vite';
import { mnist } from './mnist-plugin.ts';

const page = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const config: UserConfig = defineConfig({
  plugins: [autograph.vite(), mnist()],
  // Isolated pages have threads.
  server: { headers },
  preview: { headers },
  build: {
    target: 'es2022',
    sourcemap: true,
    rollupOptions: { input: [page('index.html'), page('mnist.html')] },
  },
});
export default config;
