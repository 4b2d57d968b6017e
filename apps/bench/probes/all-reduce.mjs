// How long sums over two processes of this machine take, beside PyTorch's over Gloo:
// node apps/bench/probes/all-reduce.mjs [--python /path/to/python with torch] [--processes 2] [--implementation AUTO]
// AUTO is memory that the processes share, RING Gloo; of MPI, by mpiexec -n 2 node apps/bench/probes/all-reduce.mjs --implementation MPI.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run, workers } from './processes.mjs';

const SIZES = [4, 4096, 2 ** 20, 2 ** 26];
const rounds = (bytes) => (bytes > 1e7 ? 15 : bytes > 1e5 ? 60 : 300);

const { values } = parseArgs({
  options: {
    python: { type: 'string' },
    processes: { type: 'string', default: '2' },
    implementation: { type: 'string', default: 'AUTO' },
  },
});
if (process.env.TF_CONFIG === undefined && values.implementation !== 'MPI') await launch();
else await work();

async function launch() {
  const count = Number(values.processes);
  const ours = await Promise.all(
    (await workers(Array(count).fill('127.0.0.1'))).map((task) =>
      run(
        process.execPath,
        [fileURLToPath(import.meta.url), '--implementation', values.implementation],
        task,
      ),
    ),
  );
  const rows = { eagre: JSON.parse(ours[0]) };
  if (values.python !== undefined) {
    const script = fileURLToPath(new URL('all_reduce_torch.py', import.meta.url));
    const printed = await run(values.python, [script, String(count), JSON.stringify(SIZES)]);
    rows.torch = JSON.parse(printed);
  }
  for (const [i, bytes] of SIZES.entries()) {
    const shown = Object.entries(rows).map(([name, times]) => `${name} ${(times[i] * 1e6).toFixed(0)} µs`);
    const ratio = rows.torch === undefined ? '' : `, ${(rows.eagre[i] / rows.torch[i]).toFixed(2)}×`;
    console.log(`${bytes} bytes: ${shown.join(', ')}${ratio}`);
  }
}

async function work() {
  const tf = await import('eagre');
  const communicationOptions = new tf.distribute.experimental.CommunicationOptions({
    implementation: values.implementation,
  });
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions });
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
