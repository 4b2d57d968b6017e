// Pages of the guides and of the examples.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** The guides, in the groups and under the titles that the README gives them. */
export function guides(root) {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = /\n## Guides\n(.*?)\n## /s.exec(readme)[1];
  return [...section.matchAll(/^- (.*?): (.*)$/gm)].map(([, title, list]) => ({
    title,
    items: [...list.matchAll(/\[(.*?)\]\(docs\/(.*?)\.md\)/g)].map(([, text, name]) => ({
      text: text[0].toUpperCase() + text.slice(1),
      name,
    })),
  }));
}

/** What a page has not: files, processes, elements in a worker; and what the converter of pages cannot read. */
const elsewhere = [
  /\b(process|Buffer|require|document|window|fetch|setImmediate|__dirname)\b/,
  /import\.meta/,
  /^\s*@\w/m,
  /\busing \w+ =/,
  /^\/\/ refused: /m,
  // Pages fetch the codecs of pictures first.
  /\b(en|de)code(Png|Jpeg|Image)\b/,
  // What reads or writes files, or waits for other processes.
  /FromDirectory|createFileWriter|TensorBoard|\.profiler\.|gfile|\.datasets\.|saveSafetensors|savedModel\./,
  /Checkpoint|MultiWorker|ParameterServer|createServer|\.export\(|ExportArchive|\bsharp\b|\bz\./,
  /['"`](\.{0,2}\/|[\w./${}-]*\.(keras|h5|csv|jsonl?|txt|png|jpe?g|onnx|npy|npz|tfrecord|safetensors|parquet|bin|gz|js|ts|wav|gif)\b)/,
];

/** Whether a program of a guide runs in a page as it stands: it needs nothing but Eagre. */
export function runsInPage(code) {
  const imported = [...code.matchAll(/\b(?:from|import) ?\(?'([^']+)'/g)].map(([, name]) => name);
  return (
    /\btf\./.test(code) &&
    imported.every((name) => name === 'eagre') &&
    !elsewhere.some((pattern) => pattern.test(code))
  );
}

const BLOCK = /^```(ts|js)\n(.*?)^```$/gms;

/** The example programs of the reference, by the names that they are about: `docs/api` has them under headings. */
export function apiExamples(root) {
  const found = new Map();
  for (const file of readdirSync(join(root, 'docs/api'))) {
    const text = readFileSync(join(root, 'docs/api', file), 'utf8');
    for (const [, names, code] of text.matchAll(/^## ([^\n]*)\n\n```ts\n(.*?)^```$/gms))
      for (const name of names.split(', ')) found.set(name, code.trimEnd());
  }
  return found;
}

/** The programs of a guide that run in its page. */
export const programsOf = (text) =>
  [...text.matchAll(BLOCK)].map(([, , code]) => code.trimEnd()).filter(runsInPage);

/** Marks the programs of a page that run there. */
export const marked = (text) =>
  text.replace(BLOCK, (block, language, code) =>
    runsInPage(code) ? block.replace(language, `${language} run`) : block,
  );

/** A page of a file: links lead to other pages of the site, and what is none stays without a link. */
export function guidePage(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  return text.replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g, (whole, image, title, target) => {
    if (image || /^([a-z]+:|#)/i.test(target)) return whole;
    const [path, anchor = ''] = target.split(/(?=#)/);
    const page = pageOf(root, relative(root, join(root, dirname(file), path)));
    // The front page has no sections.
    return page === undefined || (page === '/' && anchor !== '') ? title : `[${title}](${page}${anchor})`;
  });
}

/** The page of a file of the project; undefined where there is none. */
function pageOf(root, file) {
  if (file === 'README.md') return '/';
  if (/^[A-Z_]+\.md$/.test(file))
    return `/project/${basename(file, '.md').toLowerCase().replaceAll('_', '-')}`;
  if (/^docs\/.*\.md$/.test(file))
    return existsSync(join(root, file)) ? `/guide/${file.slice('docs/'.length, -'.md'.length)}` : undefined;
  const example = /^apps\/examples\/src\/(\d\d-.*)\.ts$/.exec(file);
  return example ? `/examples/${example[1]}` : undefined;
}

/** A page with the program of an example, whose first comment says what it is. */
export function examplePage(root, name) {
  const source = readFileSync(join(root, 'apps/examples/src', name), 'utf8');
  const about = /^(?:\/\/ .*\n)+/.exec(source)?.[0] ?? /^\/\*\*?([\s\S]*?)\*\/\n/.exec(source)?.[0] ?? '';
  const words = about.replace(/^\/\*\*?|\*\/$|^\/\/ ?|^ \* ?/gm, '').trim();
  const title = basename(name, '.ts')
    .replace(/^\d\d-/, '')
    .replaceAll('-', ' ');
  return `# ${title[0].toUpperCase()}${title.slice(1)}

${escaped(words)}

In a checkout, after \`npm start\`: \`cd apps/examples && npx tsx src/${name}\`. [All examples](/guide/examples).

\`\`\`ts
${source.slice(about.length).trim()}
\`\`\`
`;
}

/** Text that Vue and Markdown take for text: what is no code has no tags and no expressions. */
export function escaped(text) {
  return text
    .split('\n')
    .map((line) =>
      /^ {4}/.test(line)
        ? line
        : line
            .split(/(`[^`]*`)/)
            .map((part, i) =>
              i % 2 === 1
                ? part
                : part
                    .replace(/&(?!\w+;)/g, '&amp;')
                    .replace(/</g, '&lt;')
                    .replace(/\{\{/g, '&#123;&#123;'),
            )
            .join(''),
    )
    .join('\n');
}
