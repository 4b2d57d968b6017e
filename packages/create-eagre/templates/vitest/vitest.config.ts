import { autograph } from 'eagre/plugin';
import { defineConfig } from 'vitest/config';

// AutoGraph makes branches and loops on tensors part of graphs.
export default defineConfig({ plugins: [autograph.vite()] });
