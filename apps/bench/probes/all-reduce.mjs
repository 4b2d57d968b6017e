// How long sums over two processes of this machine take, beside PyTorch's over the same library, Gloo:
// node apps/bench/probes/all-reduce.mjs [--python /path/to/python with torch] [--processes 2]
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const SIZES = [4, 4096, 2 ** 20, 2 ** 26];
const rounds = (bytes) => (bytes > 1e7 ? 15 : bytes > 1e5 ? 60 : 300);

if (process.env.TF_CONFIG === undefined) await launch();
else await work();

async function launch() {
  const { values } = parseArgs({
    options: { python: { type: 'string' }, processes: { type: 'string', default: '2' } },
  });
  const count = Number(values.processes);
  const worker = [];
  for (let i = 0; i < count; i++) worker.push(`127.0.0.1:${await freePort()}`);
  const ours = await Promise.all(
    worker.map((_, index) => {
      const TF_CONFIG = JSON.stringify({ cluster: { worker }, task: { type: 'worker', index } });
      return run(process.execPath, [fileURLToPath(import.meta.url)], { TF_CONFIG });
    }),
  );
  const rows = { eagre: JSON.parse(ours[0]) };
  if (values.python !== undefined) {
    const script = fileURLToPath(new URL('all_reduce_torch.py', import.meta.url));
    const { stdout } = await promisify(execFile)(values.python, [
      script,
      String(count),
      JSON.stringify(SIZES),
    ]);
    rows.torch = JSON.parse(stdout);
  }
  for (const [i, bytes] of SIZES.entries()) {
    const shown = Object.entries(rows).map(([name, times]) => `${name} ${(times[i] * 1e6).toFixed(0)} µs`);
    const ratio = rows.torch === undefined ? '' : `, ${(rows.eagre[i] / rows.torch[i]).toFixed(2)}×`;
    console.log(`${bytes} bytes: ${shown.join(', ')}${ratio}`);
  }
}

async function work() {
  const tf = await import('eagre');
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
  await strategy.connect({ timeoutSeconds: 60 });
  const { engine } = strategy.collectives;
  const medians = SIZES.map((bytes) => {
    const data = new Float32Array(bytes / 4).fill(1);
    const times = Array.from({ length: rounds(bytes) }, () => {
      const start = performance.now();
      engine.allReduce(data, { dtype: 'float32', name: 'probe' });
      const time = performance.now() - start;
      data.fill(1);
      return time / 1000;
    });
    return times.slice(3).sort((a, b) => a - b)[Math.floor((times.length - 3) / 2)];
  });
  if (strategy.isChief) console.log(JSON.stringify(medians));
  await strategy.close();
}

function run(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (data) => (out += data));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`a process ended with ${code}`)),
    );
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
