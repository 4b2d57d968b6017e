// What probes of checkpoints share: the sizes of the variables, the disk's own rate, files that the system forgets, the memory that a step needs.
import { spawn } from 'node:child_process';
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
import { createInterface } from 'node:readline';

export const MB = 2 ** 20;
const PART = 4 * MB;

/** Bytes of variables like the weights of a large model, 500 MB: few large ones, many small ones. checkpoint.py has the same. */
export const sizes = [256, 40, 40, ...new Array(144).fill(1)]
  .map((n) => n * MB)
  .concat(new Array(2000).fill(10_000));
export const total = sizes.reduce((a, b) => a + b, 0);

// A process that is started from this one later would share its memory, which then is slow to write to. So this one starts before there is any.
const helper = spawn(
  'sh',
  [
    '-c',
    'while read -r d; do sync; s=forgotten; for f in "$d"/*; do dd if="$f" iflag=nocache count=0 2>/dev/null || s=kept; done; echo $s; done',
  ],
  { stdio: ['pipe', 'pipe', 'ignore'] },
);
// It does not keep this process alive, except while that waits for an answer.
helper.unref();
helper.stdin.unref();
helper.stdout.unref();
const answers = createInterface({ input: helper.stdout })[Symbol.asyncIterator]();
const started = new Promise((resolve) => {
  helper.once('spawn', () => resolve(true));
  helper.once('error', () => resolve(false));
});

/** A folder that is gone at the end, in `parent` or where temporary files are. */
export function temporaryFolder(parent = tmpdir()) {
  const folder = mkdtempSync(join(parent, 'eagre-disk-'));
  process.once('exit', () => {
    helper.kill();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/**
 * Waits until a folder's files are on the disk, and has the system forget them, by GNU's dd, as far as one can ask it to without being root; what
 * holds the disk may remember them all the same. @returns whether that could be asked
 */
export async function forget(folder) {
  if (!(await started)) return false;
  helper.stdout.ref();
  helper.stdin.write(`${folder}\n`);
  const { value } = await answers.next();
  helper.stdout.unref();
  return value === 'forgotten';
}

export function removeFiles(folder) {
  for (const file of readdirSync(folder)) rmSync(join(folder, file));
}

/** Writes bytes to a file, and waits until the disk has them. */
export function plainWrite(path, bytes) {
  const file = openSync(path, 'w');
  for (let at = 0; at < bytes.length; )
    at += writeSync(file, bytes, at, Math.min(PART, bytes.length - at), null);
  fsyncSync(file);
  closeSync(file);
}

/** Reads as many bytes of a file. */
export function plainRead(path, bytes) {
  const file = openSync(path, 'r');
  for (let at = 0; at < bytes.length; )
    at += readSync(file, bytes, at, Math.min(PART, bytes.length - at), null);
  closeSync(file);
}

function field(name) {
  const [, kilobytes] = readFileSync('/proc/self/status', 'utf8').match(new RegExp(`${name}:\\s+(\\d+)`));
  return Number(kilobytes) * 1024;
}

/** Runs a step. @returns its seconds, and the most bytes that it held beyond those before (NaN except on Linux) */
export async function measure(step) {
  const linux = process.platform === 'linux';
  if (linux) {
    // The most so far becomes what is held now.
    const file = openSync('/proc/self/clear_refs', 'w');
    writeSync(file, '5');
    closeSync(file);
  }
  const before = linux ? field('VmRSS') : Number.NaN;
  const start = performance.now();
  await step();
  const seconds = (performance.now() - start) / 1000;
  return { seconds, extra: linux ? field('VmHWM') - before : Number.NaN };
}
