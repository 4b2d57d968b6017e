import { autograph } from 'eagre/plugin';
import { defineConfig } from 'vitest/config';

// Pages with these headers are isolated, and only those compute by several threads.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // AutoGraph makes branches and loops on tensors part of graphs.
  plugins: [autograph.vite()],
  // Workers have a build of their own.
  worker: { format: 'es', plugins: () => [autograph.vite()] },
  server: { headers },
  preview: { headers },
  build: { target: 'es2022' },
});
