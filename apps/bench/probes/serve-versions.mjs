// A server whose model gets a new version again and again, under load: how many requests were answered, and which failed.
//
//     pnpm build && node apps/bench/probes/serve-versions.mjs --seconds 600
//
// Options: --seconds 600, --clients 4, --every 10 (seconds between versions), --pause 20 (milliseconds between the requests of a client).
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import * as tf from 'eagre';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    clients: { type: 'string', default: '4' },
    every: { type: 'string', default: '10' },
    pause: { type: 'string', default: '20' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'eagre-versions-'));
const models = join(folder, 'model');
mkdirSync(models);

const scale = new tf.Variable(1, { name: 'scale' });
const call = tf.function((x) => x.mul(scale).tanh().div(scale.tanh()), {
  inputSignature: [new tf.TensorSpec([null, 8], 'float32', 'x')],
});
let version = 0;
/** Writes a version aside, and gives it its name when it is complete. */
async function publish() {
  scale.assign(1 + (++version % 7));
  const aside = join(folder, `next-${version}`);
  await tf.savedModel.save({ scale, call }, aside, { signatures: call });
  renameSync(aside, join(models, String(version)));
  // Old ones go; a server keeps what it has loaded.
  if (version > 3) rmSync(join(models, String(version - 3)), { recursive: true });
}

await publish();
const server = await tf.serving.createServer(models, { name: 'model', port: 0, log: () => undefined });
const end = performance.now() + Number(values.seconds) * 1000;
const failures = [];
let answered = 0;
let slowest = 0;
const body = JSON.stringify({ instances: [new Array(8).fill(1), new Array(8).fill(0)] });

async function client() {
  while (performance.now() < end) {
    const start = performance.now();
    try {
      const response = await fetch(`${server.url}/v1/models/model:predict`, { method: 'POST', body });
      const { predictions, error } = await response.json();
      const right = response.ok && Math.abs(predictions[0][0] - 1) < 1e-5 && predictions[1][0] === 0;
      if (right) answered++;
      else failures.push(error ?? `status ${response.status}: ${JSON.stringify(predictions)}`);
    } catch (error) {
      failures.push(String(error));
    }
    slowest = Math.max(slowest, performance.now() - start);
    await wait(Number(values.pause));
  }
}
async function publisher() {
  while (performance.now() + 1000 * Number(values.every) < end) {
    await wait(1000 * Number(values.every));
    await publish();
  }
}
await Promise.all([publisher(), ...Array.from({ length: Number(values.clients) }, client)]);
const served = server.models.model;
await server.close();
rmSync(folder, { recursive: true });
const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
console.log(
  JSON.stringify({
    versions: version,
    served,
    answered,
    failed: failures.length,
    failures: failures.slice(0, 5),
    slowestMs: Math.round(slowest),
    memoryMB: memory,
  }),
);
