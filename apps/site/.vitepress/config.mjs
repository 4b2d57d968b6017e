import { readFileSync } from 'node:fs';

const { guide, api, examples } = JSON.parse(
  readFileSync(new URL('../pages/sidebar.json', import.meta.url), 'utf8'),
);
const title = (name) => name.replace(/^\d\d-/, '').replaceAll('-', ' ');

const guides = guide.map(({ title, items }) => ({
  text: title,
  items: items.map(({ text, name }) => ({ text, link: `/guide/${name}` })),
}));

/** The terms of a text for the index: names as a whole, without regard to case and underscores, also without what stands ahead of a dot; and the words in them. */
function terms(text) {
  const found = [];
  for (const word of text.split(/[^\p{L}\p{N}_.]+/u)) {
    const name = word.replace(/^\.+|\.+$/g, '');
    if (name === '') continue;
    const plain = name.replaceAll('_', '').toLowerCase();
    for (let at = 0; ; ) {
      found.push(plain.slice(at));
      at = plain.indexOf('.', at) + 1;
      if (at === 0) break;
    }
    if (name.includes('_')) found.push(...name.toLowerCase().split(/[_.]+/));
  }
  return found.filter((term) => term !== '');
}

/** The terms of what is looked for: names as a whole, and their last parts. */
function askedFor(text) {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_.]+/u)
    .map((word) => word.replace(/^\.+|\.+$/g, '').replaceAll('_', ''))
    .filter((word) => word !== '')
    .flatMap((word) => (word.includes('.') ? [word, word.slice(word.lastIndexOf('.') + 1)] : [word]));
}

/** Highlights each text once: signatures stand on several pages, and each page is made several times. */
function highlightOnce(md) {
  const { highlight } = md.options;
  const known = new Map();
  md.options.highlight = (code, language, attributes) => {
    const key = JSON.stringify([code, language, attributes]);
    if (!known.has(key)) known.set(key, highlight(code, language, attributes));
    return known.get(key);
  };
}

/** What GitHub calls the place of a heading. */
const slugify = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

/** Adds a button to the programs that run in their page. */
function runButtons(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, at, ...rest) => {
    const html = fence(tokens, at, ...rest);
    if (!/ run$/.test(tokens[at].info.trim()) || !md.options.highlight) return html;
    return html.replace(
      /<\/div>\s*$/,
      '<div class="runs"><button type="button" class="run">Run</button></div></div>',
    );
  };
}

/** A page as search reads it: without colours, which take most of the time. Lists of names are left out: they have every name, and say nothing about it. */
function plainPage(source, env, md) {
  if (/^guide\/(benchmarks\/|.*-parity|.*-members|.*-ops)/.test(env.relativePath)) return '';
  const { highlight } = md.options;
  md.options.highlight = null;
  try {
    return md.render(source, env);
  } finally {
    md.options.highlight = highlight;
  }
}

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
  // Copies of guides for models, as they are.
  srcExclude: ['public/**'],
  markdown: {
    // Their colours can be read by all.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Links in guides lead to these places on GitHub, too.
    anchor: { slugify },
    languageAlias: { console: 'sh' },
    config(md) {
      highlightOnce(md);
      runButtons(md);
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: plainPage,
        miniSearch: {
          options: { tokenize: terms },
          searchOptions: {
            tokenize: askedFor,
            // A whole name counts for more than its last part, and one that is written alike for less than its beginning.
            boostTerm: (term) => (term.includes('.') ? 8 : 1),
            fuzzy: (term) => (term.includes('.') ? false : 0.2),
            weights: { fuzzy: 0.1, prefix: 0.3 },
          },
        },
      },
    },
    nav: [
      { text: 'Start', link: '/guide/install' },
      { text: 'From TensorFlow', link: '/guide/from-tensorflow' },
      { text: 'Examples', link: '/guide/examples' },
      { text: 'API', link: '/api/' },
      { text: 'Playground', link: '/playground' },
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
      ...api,
    },
  },
  vite: { build: { chunkSizeWarningLimit: 20000 } },
};
