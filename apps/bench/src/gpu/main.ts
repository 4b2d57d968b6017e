// Times Eagre and PyTorch on the GPU: `pnpm bench --device gpu`, or `run.sh bench` of the pack.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Backend, EagreError } from '@eagre/backend';
import { cudaBackend, cudaUnavailable } from '@eagre/backend-cuda';
import * as tf from 'eagre';
import { summarize } from '../statistics.ts';
import { type GpuOptions, gpuUsage, parseGpuArguments } from './arguments.ts';
import { profileOf } from './profile.ts';
import { type GpuResult, gpuTable, type Timing } from './table.ts';
import { type GpuWorkload, gpuWorkloads } from './workloads.ts';

/** As the pack's tests end. */
const NO_GPU = 77;
const LEAST_SAMPLES = 3;
/** Lines of a profile that are printed. */
const MOST_KERNELS = 27;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: GpuOptions;
  try {
    options = parseGpuArguments(
      process.argv.slice(2),
      gpuWorkloads.map(({ name }) => name),
    );
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${gpuUsage}`);
    return 2;
  }
  if (options.help) {
    console.log(gpuUsage);
    return 0;
  }
  if (cudaBackend === undefined) {
    console.error(`There is no GPU, and nothing was timed on one: ${cudaUnavailable}`);
    return NO_GPU;
  }
  const backend = cudaBackend as Backend;
  const started = new Date().toISOString();
  const chosen = gpuWorkloads.filter(
    ({ name }) => options.names.length === 0 || options.names.includes(name),
  );
  if (options.profiles) {
    profile(backend, chosen, options);
    return 0;
  }
  const timings: Timing[] = [];
  const add = (timing: Timing): void => {
    timings.push(timing);
    console.error(
      `${timing.library} ${timing.workload}: ${timing.failed ?? `${(timing.median! * 1e6).toFixed(1)} µs`}`,
    );
  };
  for (const workload of chosen) add(time(backend, workload, options));
  const absent = options.peers ? await timePeers(chosen, options, add) : undefined;
  const result: GpuResult = {
    started,
    device: backend.description,
    isTiny: options.isTiny,
    absent,
    workloads: chosen.map(({ make, ...rest }) => rest),
    timings,
  };
  const text = gpuTable(result);
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, 'gpu-bench.json'), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(options.out, 'gpu-bench.md'), text);
  console.log(text);
  return timings.some(({ failed }) => failed !== undefined) ? 1 : 0;
}

/** Graphs run as one: the kernels of functions are launched one by one here. */
function profile(backend: Backend, chosen: readonly GpuWorkload[], { isTiny, out }: GpuOptions): void {
  process.env['EAGRE_CUDA_GRAPHS'] = '0';
  const tables = chosen.map(({ name, make }) =>
    tf.device('/gpu:0', () => {
      const run = make(tf, isTiny);
      for (let i = 0; i < 2; i++) run();
      const table = `${name}: ${profileOf(backend, run)}\n`;
      console.log(`${table.split('\n').slice(0, MOST_KERNELS).join('\n')}\n`);
      return table;
    }),
  );
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'gpu-profile.txt'), `${backend.description}\n\n${tables.join('\n')}`);
}

function time(backend: Backend, { name, ...workload }: GpuWorkload, { seconds, isTiny }: GpuOptions): Timing {
  const named = { workload: name, library: 'eagre' } as const;
  try {
    return tf.device('/gpu:0', () => {
      const run = workload.make(tf, isTiny);
      const wait = (): void => backend.allocator.synchronize();
      const repeats = isTiny ? 1 : workload.repeats;
      // Kernels are compiled, functions traced, and V8 optimizes what runs often.
      const began = performance.now();
      for (let i = 0; i < 3 || performance.now() - began < seconds * 1000; i++) {
        run();
        if (i % repeats === 0) wait();
      }
      wait();
      const samples: number[] = [];
      for (let spent = 0; spent < seconds || samples.length < LEAST_SAMPLES; ) {
        const before = performance.now();
        for (let i = 0; i < repeats; i++) run();
        if (!workload.isHostTime) wait();
        const took = (performance.now() - before) / 1000;
        wait();
        spent += (performance.now() - before) / 1000;
        samples.push(took / repeats / workload.parts);
      }
      return { ...named, ...summarize(samples) };
    });
  } catch (error) {
    if (!(error instanceof EagreError)) throw error;
    return { ...named, failed: error.message };
  }
}

/** @returns why there is no peer, if there is none. */
async function timePeers(
  chosen: readonly GpuWorkload[],
  { seconds, isTiny, peers, compiles }: GpuOptions,
  add: (timing: Timing) => void,
): Promise<string | undefined> {
  const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const script = [beside('torch_gpu.py'), beside('../../peers/torch_gpu.py')].find(existsSync);
  if (script === undefined) return 'torch_gpu.py is not there';
  const settings = {
    seconds,
    isTiny,
    least: LEAST_SAMPLES,
    compiles,
    workloads: chosen.map(({ make, ...rest }) => rest),
    onCpu: peers === 'cpu',
  };
  const child = spawn(process.env['EAGRE_PYTHON'] || 'python3', [script, JSON.stringify(settings)], {
    cwd: dirname(resolve(script)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let why: string | undefined;
  let said = '';
  child.on('error', (error) => {
    why = error.message;
  });
  child.stderr.on('data', (text) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise<number | null>((done) => {
    child.on('close', done);
    child.on('error', () => done(null));
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const told = JSON.parse(line);
    if (told.absent !== undefined) why = told.absent;
    else if (told.failed !== undefined)
      add({ workload: told.workload, library: told.library, failed: told.failed });
    else add({ workload: told.workload, library: told.library, ...summarize(told.samples) });
  }
  const status = await ended;
  return why ?? (status === 0 ? undefined : `${said.trim().split('\n').at(-1)} (status ${status})`);
}
