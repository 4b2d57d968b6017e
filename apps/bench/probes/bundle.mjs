// How fast checkpoints are written and read, beside the plain rate of the disk: `pnpm build && node apps/bench/probes/bundle.mjs [folder]`.
// 500 MB of variables. The disk's rates are those of writing the same bytes to one file, with a sync, and of reading them, by turns with the
// checkpoints. Where there is GNU's dd, it has the system forget files before they are read, as far as one can ask it to without being root;
// what holds the disk may remember them all the same. Without it they come from the page cache, and reading only says what checks cost.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BundleReader, BundleWriter } from '@eagre/formats';
// For the native checksums.
import 'eagre';

const MB = 2 ** 20;
const ROUNDS = 5;
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'eagre-bundle-'));
// Like the weights of a large model: few large ones, many small ones.
const sizes = [...new Array(8).fill(40 * MB), ...new Array(160).fill(MB), ...new Array(2000).fill(10_000)];
const tensors = sizes.map((size, i) => ({
  key: `layer-${i}/kernel/.ATTRIBUTES/VARIABLE_VALUE`,
  bytes: new Uint8Array(size).fill(i + 1),
}));
const total = sizes.reduce((a, b) => a + b, 0);

/** Takes the files out of the page cache. */
function forget() {
  const dd = (file) => spawnSync('dd', [`if=${join(folder, file)}`, 'iflag=nocache', 'count=0']).status === 0;
  return readdirSync(folder).every(dd);
}

/** The most that the process has held since the last call, in bytes (Linux). */
const memory = {
  start() {
    try {
      const file = openSync('/proc/self/clear_refs', 'w');
      writeSync(file, '5');
      closeSync(file);
    } catch {
      return Number.NaN;
    }
    return field('VmRSS');
  },
  peak: () => field('VmHWM'),
};
function field(name) {
  try {
    return (
      Number(readFileSync('/proc/self/status', 'utf8').match(new RegExp(`${name}:\\s+(\\d+)`))[1]) * 1024
    );
  } catch {
    return Number.NaN;
  }
}

function plainWrite() {
  const file = openSync(join(folder, 'plain'), 'w');
  for (const { bytes } of tensors)
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, null);
  fsyncSync(file);
  closeSync(file);
}

function plainRead() {
  const file = openSync(join(folder, 'plain'), 'r');
  for (const { bytes } of tensors)
    for (let at = 0; at < bytes.length; ) at += readSync(file, bytes, at, bytes.length - at, null);
  closeSync(file);
}

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
  const reader = BundleReader.openSync(join(folder, 'ckpt'));
  for (const { key, bytes } of tensors) reader.readInto(key, bytes);
}

async function readAsync() {
  const reader = BundleReader.openSync(join(folder, 'ckpt'));
  for (const { key, bytes } of tensors) await reader.readIntoAsync(key, bytes);
}

const steps = {
  'disk, write and sync': plainWrite,
  write: () => write(1),
  'write without blocking': writeAsync,
  'write in 4 files': () => write(4),
  'disk, read': plainRead,
  'read, checked': read,
  'read without blocking': readAsync,
  'page cache, read': plainRead,
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
      // What is still to be done for the files before is not this one's.
      spawnSync('sync');
    }
    if (name.includes('read') && !name.includes('cache')) forgotten = forget();
    const before = memory.start();
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const start = performance.now();
    await run();
    const seconds = (performance.now() - start) / 1000;
    clearInterval(timer);
    const extra = memory.peak() - before;
    const known = best[name];
    best[name] = {
      rate: Math.max(known?.rate ?? 0, total / seconds),
      extra: Math.max(known?.extra ?? 0, extra),
      longest: Math.max(known?.longest ?? 0, longest),
    };
  }
}
rmSync(folder, { recursive: true });

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
