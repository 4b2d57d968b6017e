// What saving or restoring 500 MB of variables by tf.train.Checkpoint costs, by turns with writing or reading the same bytes:
// `pnpm build && node apps/bench/probes/checkpoint.mjs save|restore|memory [folder]`. The value is the median of the seconds, the limit that of
// the disk's bytes in a second; for `memory` the most megabytes beyond those of the variables, of saving and restoring.
import { join } from 'node:path';
import {
  forget,
  MB,
  measure,
  plainRead,
  plainWrite,
  removeFiles,
  sizes,
  temporaryFolder,
  total,
} from './disk.mjs';

const tf = await import('eagre');
const ROUNDS = 9;
const [what, parent] = process.argv.slice(2);
const folder = temporaryFolder(parent);
const variables = sizes.map((size, i) => new tf.Variable(tf.fill([size / 4], i)));
const checkpoint = new tf.train.Checkpoint({ variables });
// As much as the variables: a part that is used again and again would stay in the processor's cache.
const plain = new Uint8Array(total).fill(7);
const path = join(folder, 'checkpoint');
const plainPath = join(folder, 'plain');
let forgotten = true;

const save = () => checkpoint.write(path);
const restore = () => checkpoint.read(path).assertConsumed();

/** What was written first to a part of a virtual disk, or to memory, may cost several times as much: before each step there is one of its kind. */
async function measureWriting(step) {
  step();
  removeFiles(folder);
  await forget(folder);
  return measure(step);
}

async function measureReading(step) {
  forgotten = (await forget(folder)) && forgotten;
  return measure(step);
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

const own = [];
const disk = [];
if (what === 'memory') {
  for (let round = 0; round < 2; round++) own.push(await measure(save), await measureReading(restore));
  const extra = Math.max(...own.map((m) => m.extra)) / MB;
  if (Number.isNaN(extra)) throw new Error('this is measured on Linux only');
  console.log(JSON.stringify({ value: extra }));
} else {
  if (what === 'restore') {
    plainWrite(plainPath, plain);
    save();
    await measureReading(() => plainRead(plainPath, plain));
    await measureReading(restore);
  }
  for (let round = 0; round < ROUNDS; round++) {
    // The other one is first each time.
    const turns = [
      async () =>
        disk.push(
          what === 'save'
            ? await measureWriting(() => plainWrite(plainPath, plain))
            : await measureReading(() => plainRead(plainPath, plain)),
        ),
      async () => own.push(what === 'save' ? await measureWriting(save) : await measureReading(restore)),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  const limit = total / median(disk.map((m) => m.seconds));
  const detail = forgotten
    ? {}
    : { detail: 'no dd of GNU: what is read comes from memory, not from the disk' };
  console.log(JSON.stringify({ value: median(own.map((m) => m.seconds)), limit, ...detail }));
}
