/** For tests: processes that run a program on the sources. */
import { type ChildProcess, spawn } from 'node:child_process';
import { bundled } from '../../../testing/src/bundled.ts';
import { loadEngine } from '../engine/load-engine.ts';
import { testPorts } from './ports.ts';

/** Why tests over several processes are skipped; undefined where they are not. */
export const withoutGloo: string | undefined = (() => {
  try {
    loadEngine();
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    console.warn(`Tests over several processes are skipped: ${message}`);
    return message;
  }
})();

/** What became of a process. */
export interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

/** A process that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
  /** Until a text stands in its output. */
  printed(text: string): Promise<void>;
}

/** What programs begin with; to be called while a test file loads. */
export const heads = {
  /** `meet()`: what `rendezvous` gives a process of `TF_CONFIG`. */
  rendezvous: async (): Promise<string> =>
    `import { meet } from ${JSON.stringify(await bundled('distribute/src/testing/meet.ts'))};\n`,
  /** `tf`: the umbrella. */
  tf: async (): Promise<string> =>
    `import * as tf from ${JSON.stringify(await bundled('eagre/src/index.ts'))};\n`,
};

/** Starts a program. @param command what starts Node, where that is done by another program */
export function start(
  program: string,
  env: Readonly<Record<string, string>> = {},
  command: readonly string[] = [],
): Running {
  const [file, ...args] = [...command, process.execPath, '--input-type=module', '-e', program];
  const child = spawn(file as string, args, {
    env: { ...process.env, NODE_OPTIONS: '', EAGRE_NUM_THREADS: '1', ...env },
  });
  let out = '';
  let err = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (d: Buffer) => {
    out += d.toString();
    for (const listener of listeners) listener();
  });
  child.stderr.on('data', (d: Buffer) => (err += d.toString()));
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, out: out.trim(), err }));
  });
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!out.includes(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      void ended.then(({ code, err: errors }) => reject(new Error(`ended with ${code} before: ${errors}`)));
      look();
    });
  return { child, ended, printed };
}

/** The variable `TF_CONFIG` of each of some workers on this machine. */
export async function tfConfigs(workers: number): Promise<string[]> {
  const worker = (await testPorts(workers)).map((port) => `127.0.0.1:${port}`);
  return worker.map((_, index) => JSON.stringify({ cluster: { worker }, task: { type: 'worker', index } }));
}

/** Runs a program in each of some workers. @returns what each printed @throws Error where one ends with an error */
export async function runWorkers(
  workers: number,
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const configs = await tfConfigs(workers);
  const running = configs.map((TF_CONFIG) => start(program, { ...env, TF_CONFIG }));
  const outcomes = await Promise.all(running.map(({ ended }) => ended));
  for (const [i, { code, signal, out, err }] of outcomes.entries())
    if (code !== 0) throw new Error(`worker ${i} ended with ${code ?? signal}\n${out}\n${err}`);
  return outcomes.map(({ out }) => out);
}

/** A cluster of parameter servers and workers on this machine, whose coordinator runs a program. */
export interface ServedCluster {
  readonly coordinator: Running;
  readonly servers: Readonly<Record<string, Running>>;
  /** Starts a server again. */
  restart(name: string): void;
  /** Starts another coordinator. */
  coordinate(): Running;
  /** Ends all processes. */
  end(): Promise<void>;
}

const serve = `
const server = new tf.distribute.Server(new tf.distribute.clusterResolver.TFConfigClusterResolver());
await server.join();
`;

/**
 * Starts `workers` workers, `ps` parameter servers, and a coordinator that runs a program.
 * @param head of the programs, as `heads.tf()` gives it
 */
export async function startServed(
  head: string,
  program: string,
  { workers = 2, ps = 1, env = {} as Readonly<Record<string, string>>, server = serve } = {},
): Promise<ServedCluster> {
  const ports = (await testPorts(workers + ps)).map((port) => `127.0.0.1:${port}`);
  const cluster = { worker: ports.slice(0, workers), ps: ports.slice(workers), chief: ['127.0.0.1:1'] };
  const config = (type: string, index: number): { readonly TF_CONFIG: string } => ({
    TF_CONFIG: JSON.stringify({ cluster, task: { type, index } }),
  });
  const servers: Record<string, Running> = {};
  const all: Running[] = [];
  const run = (text: string, type: string, index: number): Running => {
    const running = start(`${head}${text}`, {
      EAGRE_CLUSTER_TOKEN: 'secret',
      ...env,
      ...config(type, index),
    });
    all.push(running);
    return running;
  };
  const restart = (name: string): void => {
    const [type, index] = name.split(' ') as [string, string];
    servers[name] = run(server, type, Number(index));
  };
  for (let i = 0; i < workers; i++) restart(`worker ${i}`);
  for (let i = 0; i < ps; i++) restart(`ps ${i}`);
  const coordinate = (): Running => run(program, 'chief', 0);
  return {
    coordinator: coordinate(),
    servers,
    restart,
    coordinate,
    async end() {
      for (const { child } of all) child.kill('SIGKILL');
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
