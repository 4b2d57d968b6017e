// How fast checkpoints are written and read, beside the plain rate of the disk: `pnpm build && node apps/bench/probes/bundle.mjs [folder]`.
// 500 MB of tensors, by turns with writing the same bytes to one file, with a sync, and reading them. Where there is no GNU's dd, what is read
// comes from the page cache, and reading only says what checks cost.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { forget, MB, measure, plainRead, plainWrite, sizes, temporaryFolder, total } from './disk.mjs';

const { BundleReader, BundleWriter } = await import('@eagre/formats');
// For the native checksums, and for what native code does with files.
await import('eagre');

const ROUNDS = 5;
const folder = temporaryFolder(process.argv[2]);
const tensors = sizes.map((size, i) => ({
  key: `layer-${i}/kernel/.ATTRIBUTES/VARIABLE_VALUE`,
  bytes: new Uint8Array(size).fill(i + 1),
}));
const plain = new Uint8Array(total).fill(7);
const plainPath = join(folder, 'plain');

function write(shards) {
  const writer = new BundleWriter(join(folder, 'ckpt'), { shards });
  for (const { key, bytes } of tensors) writer.add(key, 'uint8', [bytes.length], bytes);
  writer.finish();
}

async function writeAsync() {
  const writer = new BundleWriter(join(folder, 'ckpt'));
  for (const { key, bytes } of tensors) await writer.addAsync(key, 'uint8', [bytes.length], bytes);
  await writer.finishAsync();
}

function read() {
  BundleReader.openSync(join(folder, 'ckpt')).readAllInto(tensors.map(({ key, bytes }) => [key, bytes]));
}

async function readAsync() {
  const reader = BundleReader.openSync(join(folder, 'ckpt'));
  for (const { key, bytes } of tensors) await reader.readIntoAsync(key, bytes);
}

const steps = {
  'disk, write and sync': () => plainWrite(plainPath, plain),
  write: () => write(1),
  'write without blocking': writeAsync,
  'write in 4 files': () => write(4),
  'disk, read': () => plainRead(plainPath, plain),
  'read, checked': read,
  'read without blocking': readAsync,
  'page cache, read': () => plainRead(plainPath, plain),
  'read, checked, cached': read,
  'read w/o blocking, cached': readAsync,
};
const best = {};
let forgotten = false;
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(steps)) {
    if (name.includes('write')) {
      const old = name.startsWith('disk') ? 'plain' : 'ckpt';
      for (const file of readdirSync(folder)) if (file.startsWith(old)) rmSync(join(folder, file));
    }
    // What is still to be done for the files before is not this one's.
    if (!name.includes('cache')) forgotten = await forget(folder);
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const { seconds, extra } = await measure(run);
    clearInterval(timer);
    const known = best[name];
    best[name] = {
      rate: Math.max(known?.rate ?? 0, total / seconds),
      extra: Math.max(known?.extra ?? 0, extra),
      longest: Math.max(known?.longest ?? 0, longest),
    };
  }
}

if (!forgotten) console.log('No dd: what is read comes from the page cache.');
console.log(
  `${(total / MB).toFixed(0)} MB in ${tensors.length} tensors, best rate of ${ROUNDS} rounds, most memory`,
);
for (const [name, { rate, extra, longest }] of Object.entries(best)) {
  const base = name.includes('read')
    ? best[name.includes('cache') ? 'page cache, read' : 'disk, read']
    : best['disk, write and sync'];
  const wait = /without|w\/o/.test(name) ? `, event loop held for ${longest.toFixed(0)} ms at most` : '';
  console.log(
    `${name.padEnd(26)}${(rate / MB).toFixed(0).padStart(6)} MB/s${((100 * rate) / base.rate).toFixed(0).padStart(5)} %` +
      `${(extra / MB).toFixed(0).padStart(6)} MB extra${wait}`,
  );
}
