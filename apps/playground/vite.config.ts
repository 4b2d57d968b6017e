import { fileURLToPath } from 'node:url';
import { autograph } from 'eagre/plugin';
import { defineConfig, type UserConfig } from 'vite';
import { mnist } from './mnist-plugin.ts';

const page = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const config: UserConfig = defineConfig({
  plugins: [autograph.vite(), mnist()],
  build: {
    target: 'es2022',
    sourcemap: true,
    rollupOptions: { input: [page('index.html'), page('mnist.html')] },
  },
});
export default config;
