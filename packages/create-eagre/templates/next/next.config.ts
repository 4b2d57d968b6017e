import { autograph } from 'eagre/plugin';
import type { NextConfig } from 'next';

const config: NextConfig = {
  // Routes load it as it is installed, with its native kernels.
  serverExternalPackages: ['eagre'],
  // AutoGraph makes branches and loops on tensors part of graphs.
  webpack(settings) {
    settings.plugins.push(autograph.webpack());
    return settings;
  },
  // Pages with these headers are isolated, and only those compute by several threads.
  async headers() {
    return [
      {
        source: '/:path*',
        headers: [
          { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
          { key: 'Cross-Origin-Embedder-Policy', value: 'require-corp' },
        ],
      },
    ];
  },
};

export default config;
