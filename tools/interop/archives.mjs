// ZIP archives with zip64 fields for archives.py, and theirs: `node archives.mjs write|read <folder>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzip, zipParts } from '../../packages/formats/dist/index.js';

const [command, folder] = process.argv.slice(2);
const at = (name) => join(folder, name);
const files = [
  ['a.txt', Buffer.from('first')],
  ['ü/b.txt', Buffer.alloc(300, 7)],
  ['empty', Buffer.alloc(0)],
];

if (command === 'write') {
  // As if 32 bits held less: what is in 64 bits then are sizes, places, the directory and the number of files.
  for (const from of [0, 4, 10, 100, 320])
    writeFileSync(at(`${from}.zip`), Buffer.concat([...zipParts(files, from)]));
  const many = Array.from({ length: 65_600 }, (_, i) => [`${i}`, Buffer.from(`${i}`)]);
  writeFileSync(at('many.zip'), Buffer.concat([...zipParts(many)]));
} else {
  const read = (name) =>
    unzip(readFileSync(at(name))).map(({ name, bytes }) => [name, Buffer.from(bytes).toString('base64')]);
  console.log(JSON.stringify({ small: read('small.zip'), many: read('many.zip').length }));
}
