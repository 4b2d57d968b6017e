import { readFileSync } from 'node:fs';

const { guide, api, examples } = JSON.parse(
  readFileSync(new URL('../pages/sidebar.json', import.meta.url), 'utf8'),
);
const title = (name) => name.replace(/^\d\d-/, '').replaceAll('-', ' ');

const guides = guide.map(({ title, items }) => ({
  text: title,
  items: items.map(({ text, name }) => ({ text, link: `/guide/${name}` })),
}));

export default {
  srcDir: 'pages',
  outDir: 'dist',
  title: 'Eagre',
  description:
    'TensorFlow 2 for TypeScript: eager tensors, Keras, tf.function, on native CPU and GPU kernels and WebAssembly.',
  lang: 'en',
  cleanUrls: true,
  // Else each page has the names of all.
  metaChunk: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { languageAlias: { console: 'sh' } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/guide/install' },
      { text: 'From TensorFlow', link: '/guide/from-tensorflow' },
      { text: 'Examples', link: '/guide/examples' },
      { text: 'API', link: '/api/' },
    ],
    outline: [2, 3],
    sidebar: {
      '/guide/': guides,
      '/project/': guides,
      '/examples/': [
        {
          text: 'Examples',
          items: examples.map((name) => ({ text: title(name), link: `/examples/${name}` })),
        },
      ],
      '/api/': [{ text: 'API', items: api }],
    },
  },
  vite: { build: { chunkSizeWarningLimit: 20000 } },
};
