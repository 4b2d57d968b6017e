// Requests per second, and how long they take, of a small CNN behind Eagre's server and behind one of aiohttp around `tf.saved_model.load`.
//
//     node apps/bench/probes/serve.mjs --python <a Python with tensorflow, keras and aiohttp>
//
// Both serve the same SavedModel, one after the other, in processes of their own; the clients are in another one. Options: --seconds 10,
// --clients 32, --rounds 3 (the servers take turns), --batch 32 (rows that Eagre puts together; 0 for none), --threads (of the kernels
// of both; all processors by default).
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    python: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '3' },
    batch: { type: 'string', default: '32' },
    threads: { type: 'string' },
  },
});
if (values.python === undefined)
  throw new Error('give --python, a Python with tensorflow, keras and aiohttp');
const { python, seconds, clients, batch, threads } = values;
const here = fileURLToPath(new URL('.', import.meta.url));
const SIDE = 28;

/** Starts a process. `ready` is what matches its output, `ended` its exit code. */
function start(command, args, pattern, env = {}) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: '3', CUDA_VISIBLE_DEVICES: '-1', ...env },
  });
  let out = '';
  const ended = new Promise((done) => child.on('close', done));
  const ready = new Promise((done, fail) => {
    child.stdout.on('data', (data) => {
      out += data;
      const found = pattern.exec(out);
      if (found !== null) done(found);
    });
    ended.then((code) => fail(new Error(`${command} ended with ${code}: ${out}`)));
  });
  return { child, ready, ended };
}

async function stopped({ child, ended }) {
  child.kill('SIGTERM');
  await ended;
}

/** What the clients saw of a server. */
async function load(url) {
  const args = [join(here, 'serve-clients.mjs'), url, seconds, clients, String(SIDE)];
  const { ready, ended } = start(process.execPath, args, /^(\{.*\})\n/m);
  const [, line] = await ready;
  await ended;
  return JSON.parse(line);
}

const folder = mkdtempSync(join(tmpdir(), 'eagre-bench-serve-'));
const model = join(folder, 'cnn');
const ofThreads = threads === undefined ? {} : { EAGRE_NUM_THREADS: threads };
const servers = {
  eagre: () =>
    start(process.execPath, [join(here, 'serve-eagre.mjs'), model, batch], /at (http:\S+)/, ofThreads),
  'eagre, a run for each request': () =>
    start(process.execPath, [join(here, 'serve-eagre.mjs'), model, '0'], /at (http:\S+)/, ofThreads),
  'tensorflow and aiohttp': () =>
    start(python, [join(here, 'serve.py'), 'serve', model, threads ?? '0'], /at (http:\S+)/),
};
if (batch === '0') delete servers['eagre, a run for each request'];
try {
  const made = start(python, [join(here, 'serve.py'), 'export', model, String(SIDE)], /exported/);
  await made.ready;
  await made.ended;
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const [name, launch] of Object.entries(servers)) {
      const server = launch();
      let seen;
      try {
        const [, url] = await server.ready;
        seen = await load(url);
      } finally {
        await stopped(server);
      }
      const { requests, failures, wrong, perSecond, p50, p99 } = seen;
      console.log(
        `round ${round}, ${name}: ${perSecond.toFixed(0)} requests/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ` +
          `${requests} requests, ${failures} failures, ${wrong} wrong answers`,
      );
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
