// Builds the site: pnpm docs:build, or pnpm docs:dev to look at it.  Its pages are made of the guides, the examples and the declarations, into `pages`; VitePress makes
// the site of them, in `dist`. A link that leads nowhere fails it.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { bundleEditor } from '@eagre/playground/editor';
import { build, createServer } from 'vitepress';
import { apiPages } from './api.mjs';
import { examplePage, guidePage, guides, marked } from './guides.mjs';
import { forModels } from './llms.mjs';

const site = fileURLToPath(new URL('..', import.meta.url));
const root = join(site, '../..');
const pages = join(site, 'pages');

function write(name, text) {
  const file = join(pages, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function stage() {
  rmSync(pages, { recursive: true, force: true });
  for (const name of ['index.md', 'playground.md'])
    write(name, marked(readFileSync(join(site, name), 'utf8')));
  // The reference has the examples of `docs/api`.
  for (const name of readdirSync(join(root, 'docs'), { recursive: true }).filter(
    (one) => one.endsWith('.md') && !/^api[/\\]/.test(one),
  ))
    write(join('guide', name), marked(guidePage(root, join('docs', name))));
  cpSync(join(root, 'docs/images'), join(pages, 'guide/images'), { recursive: true });
  for (const name of ['CONTRIBUTING.md', 'CODE_OF_CONDUCT.md', 'SECURITY.md'])
    write(join('project', name.toLowerCase().replaceAll('_', '-')), guidePage(root, name));
  const examples = readdirSync(join(root, 'apps/examples/src')).filter((name) => /^\d\d-.*\.ts$/.test(name));
  for (const name of examples)
    write(join('examples', `${basename(name, '.ts')}.md`), examplePage(root, name));
  for (const [name, text] of forModels(root)) write(join('public', name), text);
  await bundleEditor(join(pages, 'public/play'));
  const { files, sidebars, counts } = await apiPages(root);
  for (const [name, text] of files) write(join('api', name), text);
  write(
    'sidebar.json',
    JSON.stringify({
      guide: guides(root),
      api: sidebars,
      examples: examples.map((name) => basename(name, '.ts')),
    }),
  );
  console.log(
    `${files.size} pages of the API: ${counts.all} symbols, ${counts.silent.length} without a docstring; ${counts.shown} examples, ${counts.classes.length} classes without one`,
  );
  if (counts.silent.length > 0) console.error(`Without a docstring: ${counts.silent.join(', ')}`);
}

await stage();
if (argv[2] === 'dev') {
  const server = await createServer(site, { port: 5173 });
  await server.listen();
  server.printUrls();
} else {
  await build(site);
}
