// What saving and restoring 500 MB of variables by tf.train.Checkpoint costs beside writing and reading the same bytes:
// `pnpm build && node apps/bench/probes/checkpoint.mjs [folder]`. Each step runs in turn with the others; told are the best rates, the
// processor's time for them, and the most memory beyond what was there before. What is read comes from the page cache unless GNU's dd can have
// the system forget the files.
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
import * as tf from 'eagre';

const MB = 2 ** 20;
const ROUNDS = 4;
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'eagre-checkpoint-'));
// Like the weights of a large model: few large ones, many small ones.
const sizes = [
  256 * MB,
  ...new Array(2).fill(40 * MB),
  ...new Array(144).fill(MB),
  ...new Array(2000).fill(10_000),
];
const total = sizes.reduce((a, b) => a + b, 0);
const variables = sizes.map((size, i) => new tf.Variable(tf.fill([size / 4], i)));
const checkpoint = new tf.train.Checkpoint({ variables });
// As much as the variables: a part that is used again and again would stay in the processor's cache.
const plain = new Uint8Array(total).fill(7);
const PART = 4 * MB;

function plainWrite() {
  const file = openSync(join(folder, 'plain'), 'w');
  for (let at = 0; at < total; ) at += writeSync(file, plain, at, Math.min(PART, total - at));
  fsyncSync(file);
  closeSync(file);
}
function plainRead() {
  const file = openSync(join(folder, 'plain'), 'r');
  for (let at = 0; at < total; ) at += readSync(file, plain, at, Math.min(PART, total - at), null);
  closeSync(file);
}

const path = join(folder, 'ckpt');
const steps = {
  'disk, read': plainRead,
  read: () => checkpoint.read(path).assertConsumed(),
  'page cache, read': plainRead,
  'read, cached': () => checkpoint.read(path).assertConsumed(),
  'disk, write and sync': plainWrite,
  write: () => checkpoint.write(path),
  writeAsync: () => checkpoint.writeAsync(path),
};

function forget() {
  const dd = (file) => spawnSync('dd', [`if=${join(folder, file)}`, 'iflag=nocache', 'count=0']).status === 0;
  return readdirSync(folder).every(dd);
}
function memory(field) {
  const [, kilobytes] = readFileSync('/proc/self/status', 'utf8').match(new RegExp(`${field}:\\s+(\\d+)`));
  return Number(kilobytes) * 1024;
}
/** Forgets the most memory that was held so far. @returns what is held now. */
function resetPeak() {
  const file = openSync('/proc/self/clear_refs', 'w');
  writeSync(file, '5');
  closeSync(file);
  return memory('VmRSS');
}

const best = {};
let forgotten = false;
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(steps)) {
    if (name === 'disk, read') {
      plainWrite();
      checkpoint.write(path);
    }
    if (name.includes('write')) {
      // Memory that a virtual machine has given back takes long to be used again: each step finds some that was just freed.
      plainWrite();
      for (const file of readdirSync(folder)) rmSync(join(folder, file));
    }
    // What is still to be written, and what the system remembers of other files, is not this step's.
    spawnSync('sync');
    forgotten = forget();
    if (name.includes('cache')) await run();
    const before = process.platform === 'linux' ? resetPeak() : Number.NaN;
    const cpu = process.cpuUsage();
    const start = performance.now();
    await run();
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const extra = process.platform === 'linux' ? memory('VmHWM') - before : Number.NaN;
    const known = best[name] ?? { seconds: Infinity, cpu: Infinity, extra: 0 };
    best[name] = {
      seconds: Math.min(known.seconds, seconds),
      cpu: Math.min(known.cpu, (user + system) / 1000),
      extra: Math.max(known.extra, extra),
    };
  }
}
rmSync(folder, { recursive: true });

if (!forgotten) console.log('No dd: what is read comes from the page cache.');
console.log(
  `${(total / MB).toFixed(0)} MB in ${variables.length} variables, best of ${ROUNDS} rounds, most memory`,
);
for (const [name, { seconds, cpu, extra }] of Object.entries(best)) {
  const base = name.includes('cache')
    ? 'page cache, read'
    : name.includes('read')
      ? 'disk, read'
      : 'disk, write and sync';
  console.log(
    `${name.padEnd(22)}${(total / MB / seconds).toFixed(0).padStart(6)} MB/s${((100 * best[base].seconds) / seconds).toFixed(0).padStart(5)} %` +
      `${cpu.toFixed(0).padStart(7)} ms of processor${(extra / MB).toFixed(0).padStart(6)} MB extra`,
  );
}
