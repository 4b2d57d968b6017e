// What a second process brings. On an idle machine with two cores:
// node apps/bench/probes/two-processes.mjs scale [batch]  examples a second of the CNN for MNIST, 64 a process and step, against one process on one core
// node apps/bench/probes/two-processes.mjs overlap [batch]  a step of a model of 25 MB over a link of 1 Gbit, against sums after the backward pass
//   (root)
// node apps/bench/probes/two-processes.mjs recovery   from the second start of a process that was killed until training goes on
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';
import { run, workers } from './processes.mjs';

const self = fileURLToPath(import.meta.url);
const [what, ...more] = process.argv.slice(2);
const now = () => performance.timeOrigin + performance.now();
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

const measures = { scale, overlap, recovery };
const works = { 'scale-work': scaleWork, 'overlap-work': overlapWork, 'recovery-work': recoveryWork };
if (!(what in { ...measures, ...works }))
  throw new Error(`expected one of ${Object.keys(measures).join(', ')}`);
await { ...measures, ...works }[what]();

/** Runs this file behind `before` (a command, or nothing); gives what it printed last. */
async function answer(args, env, before) {
  const [command, ...rest] = [...before, process.execPath, self, ...args];
  return JSON.parse(await run(command, rest, env));
}

// ---- scale

async function scale() {
  const one = (core) => ['taskset', '-c', String(core)];
  const ratios = [];
  for (let round = 0; round < 5; round++) {
    const alone = await answer(['scale-work', '1', ...more], { EAGRE_NUM_THREADS: '1' }, one(0));
    const tasks = await workers(['127.0.0.1', '127.0.0.1']);
    const [together] = await Promise.all(
      tasks.map((task, i) =>
        answer(['scale-work', '2', ...more], { ...task, EAGRE_NUM_THREADS: '1' }, one(i)),
      ),
    );
    ratios.push(together / alone);
    console.log(
      `${alone.toFixed(0)} examples a second alone, ${together.toFixed(0)} together: ${ratios.at(-1).toFixed(2)}×`,
    );
  }
  console.log(`median ${median(ratios).toFixed(2)}× (bar 1.8)`);
}

async function scaleWork() {
  const processes = Number(more[0]);
  const [batch, steps] = [Number(more[1] ?? 64), 20];
  const build = () => {
    const { layers } = tf;
    const model = new tf.Sequential([
      tf.Input({ shape: [28, 28, 1] }),
      new layers.Conv2D(32, 3, { activation: 'relu' }),
      new layers.MaxPooling2D(2),
      new layers.Conv2D(64, 3, { activation: 'relu' }),
      new layers.MaxPooling2D(2),
      new layers.Flatten(),
      new layers.Dense(64, { activation: 'relu' }),
      new layers.Dense(10),
    ]);
    const loss = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
    model.compile({ optimizer: 'adam', loss });
    return model;
  };
  const strategy = processes > 1 ? new tf.distribute.MultiWorkerMirroredStrategy() : undefined;
  await strategy?.connect({ timeoutSeconds: 60 });
  const model = strategy === undefined ? build() : strategy.scope(build);
  // Each process gets the same number of examples a step.
  const examples = batch * steps * processes;
  const x = tf.random.statelessUniform([examples, 28, 28, 1], [1, 2]);
  const y = tf.constant(Int32Array.from({ length: examples }, (_, i) => i % 10));
  const ends = [];
  const clock = new tf.keras.callbacks.LambdaCallback({
    onEpochEnd: () => void ends.push(performance.now()),
  });
  await model.fit(x, y, {
    batchSize: batch * processes,
    epochs: 6,
    shuffle: false,
    verbose: 0,
    callbacks: [clock],
  });
  await strategy?.close();
  const seconds = ends.slice(1).map((end, i) => (end - ends[i]) / 1000);
  console.log(JSON.stringify(examples / median(seconds)));
}

// ---- overlap

/** Two places with a network of their own, and a link of 1 Gbit between them. */
function link() {
  const call = (...args) => execFileSync('ip', args, { stdio: 'inherit' });
  const names = ['eagre-a', 'eagre-b'];
  const remove = () => names.forEach((name) => spawnQuietly('ip', ['netns', 'del', name]));
  remove();
  for (const name of names) call('netns', 'add', name);
  call('link', 'add', 'veth', 'netns', names[0], 'type', 'veth', 'peer', 'name', 'veth', 'netns', names[1]);
  names.forEach((name, i) => {
    call('-n', name, 'addr', 'add', `10.97.0.${i + 1}/24`, 'dev', 'veth');
    call('-n', name, 'link', 'set', 'veth', 'up');
    call('-n', name, 'link', 'set', 'lo', 'up');
    const shape = ['root', 'tbf', 'rate', '1gbit', 'burst', '256kb', 'latency', '50ms'];
    execFileSync('ip', ['netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', 'veth', ...shape], {
      stdio: 'inherit',
    });
  });
  return { names, remove };
}

function spawnQuietly(command, args) {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
  } catch {
    // It was not there.
  }
}

async function overlap() {
  const { names, remove } = link();
  try {
    const step = async (bytesPerPack) => {
      const tasks = await workers(['10.97.0.1', '10.97.0.2']);
      const place = (i) => ['ip', 'netns', 'exec', names[i], 'taskset', '-c', String(i)];
      const [seconds] = await Promise.all(
        tasks.map((task, i) =>
          answer(
            ['overlap-work', String(bytesPerPack), ...more],
            { ...task, EAGRE_NUM_THREADS: '1' },
            place(i),
          ),
        ),
      );
      return seconds;
    };
    const ratios = [];
    for (let round = 0; round < 3; round++) {
      // One bucket of everything goes when the backward pass has ended.
      const after = await step(2 ** 30);
      const during = await step(2 * 2 ** 20);
      ratios.push(during / after);
      console.log(
        `${(after * 1e3).toFixed(0)} ms after it, ${(during * 1e3).toFixed(0)} ms while it goes on: ${ratios.at(-1).toFixed(2)}×`,
      );
    }
    console.log(`median ${median(ratios).toFixed(2)}× (bar 0.65)`);
  } finally {
    remove();
  }
}

async function overlapWork() {
  const { CommunicationOptions } = tf.distribute.experimental;
  // Over the link: the two places have the memory of this machine in common.
  const communicationOptions = new CommunicationOptions({
    bytesPerPack: Number(more[0]),
    implementation: 'RING',
  });
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions });
  await strategy.connect({ timeoutSeconds: 60 });
  const [width, depth, batch, steps] = [800, 10, Number(more[1] ?? 1024), 6];
  const model = strategy.scope(() => {
    const hidden = Array.from({ length: depth }, () => new tf.layers.Dense(width, { activation: 'relu' }));
    const model = new tf.Sequential([tf.Input({ shape: [width] }), ...hidden, new tf.layers.Dense(1)]);
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    return model;
  });
  const x = tf.random.statelessNormal([batch * steps, width], [1, 2]);
  const ends = [];
  const clock = new tf.keras.callbacks.LambdaCallback({
    onEpochEnd: () => void ends.push(performance.now()),
  });
  const y = x.sum(1, { keepdims: true });
  await model.fit(x, y, { batchSize: batch, epochs: 5, shuffle: false, verbose: 0, callbacks: [clock] });
  await strategy.close();
  console.log(JSON.stringify(median(ends.slice(1).map((end, i) => (end - ends[i]) / 1000)) / steps));
}

// ---- recovery

async function recovery() {
  const seconds = [];
  for (let round = 0; round < 3; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-recovery-'));
    try {
      const command = fileURLToPath(new URL('../../../packages/eagre/bin/eagre.js', import.meta.url));
      const args = [command, 'run', '-n', '2', '--max-restarts', '1', self, 'recovery-work', folder];
      const lines = await run(process.execPath, args);
      const time = (name) => Number(new RegExp(`${name} ([\\d.]+)`).exec(lines)[1]);
      const [killed, noticed, up, going] = ['killed', 'noticed', 'up', 'going'].map(time);
      seconds.push((going - up) / 1000);
      console.log(
        `noticed after ${((noticed - killed) / 1000).toFixed(2)} s; the new process is up after ${((up - killed) / 1000).toFixed(2)} s, ` +
          `training goes on ${seconds.at(-1).toFixed(2)} s later`,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  console.log(`median ${median(seconds).toFixed(2)} s (bar 3)`);
}

async function recoveryWork() {
  const [folder] = more;
  const { task } = JSON.parse(process.env.TF_CONFIG);
  const restarted = process.env.EAGRE_RESTARTS !== undefined && process.env.EAGRE_RESTARTS !== '0';
  if (restarted) console.log(`up ${now()}`);
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
  const x = tf.random.statelessNormal([640, 32], [1, 2]);
  let lost = false;
  for (;;) {
    await strategy.connect({ timeoutSeconds: 60 });
    try {
      const model = strategy.scope(() => {
        const model = new tf.Sequential([
          tf.Input({ shape: [32] }),
          new tf.layers.Dense(256, { activation: 'relu' }),
          new tf.layers.Dense(1),
        ]);
        model.compile({ optimizer: 'adam', loss: 'mse' });
        return model;
      });
      let told = false;
      const watch = new tf.keras.callbacks.LambdaCallback({
        onTrainBatchEnd() {
          if (restarted && !told) console.log(`going ${now()}`);
          told = true;
        },
        onEpochEnd(epoch) {
          if (task.index !== 1 || restarted || epoch !== 2) return;
          process.stdout.write(`killed ${now()}\n`, () => process.kill(process.pid, 'SIGKILL'));
        },
      });
      const backup = new tf.keras.callbacks.BackupAndRestore(folder);
      await model.fit(x, x.sum(1, { keepdims: true }), { epochs: 6, verbose: 0, callbacks: [backup, watch] });
      break;
    } catch (error) {
      if (!(error instanceof tf.errors.UnavailableError)) throw error;
      if (!lost) console.log(`noticed ${now()}`);
      lost = true;
    }
  }
  await strategy.close();
}
