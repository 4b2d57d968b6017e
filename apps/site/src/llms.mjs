// Files for language models, as llmstxt.org describes them: a list of the guides, all guides in one file, and each guide by itself.
import { guidePage, guides } from './guides.mjs';

/** What a guide says first, as one line without links. */
function about(text) {
  const [first = ''] = text
    .replace(/^# .*\n/, '')
    .trim()
    .split(/\n\n|(?<=\.)\s/);
  const line = first.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ');
  return /^(?:[|#`<!-]|\d+\.)/.test(line) ? '' : line;
}

/** @returns the files, by name, with their text */
export function forModels(root) {
  const readme = guidePage(root, 'README.md');
  const [, summary] = /^# Eagre\n\n(.*?)\n\n/s.exec(readme);
  const files = new Map();
  const list = [`# Eagre`, '', `> ${summary.replaceAll('\n', ' ')}`, ''];
  list.push(
    "Programs begin with `import * as tf from 'eagre'`. Names are those of TensorFlow and Keras, in camelCase.",
    '',
  );
  const full = [readme];
  for (const { title, items } of guides(root)) {
    list.push(`## ${title}`, '');
    for (const { text, name } of items) {
      const guide = guidePage(root, `docs/${name}.md`);
      files.set(`guide/${name}.md`, guide);
      full.push(guide);
      const says = about(guide);
      list.push(`- [${text}](/guide/${name}.md)${says === '' ? '' : `: ${says}`}`);
    }
    list.push('');
  }
  list.push(
    '## Optional',
    '',
    '- [All guides in one file](/llms-full.txt)',
    '- [Names and arguments of all functions](/api/)',
    '',
  );
  files.set('llms.txt', list.join('\n'));
  files.set('llms-full.txt', full.join('\n\n'));
  return files;
}
