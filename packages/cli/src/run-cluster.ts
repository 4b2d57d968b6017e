// `eagre run`: several processes of one program, which find each other by TF_CONFIG.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { Readable } from 'node:stream';
import { freePorts } from './free-ports.ts';

/** What the command line says. */
export interface RunClusterOptions {
  /** How many processes on this machine: the workers, where there are parameter servers. */
  readonly processes: number;
  /** How many parameter servers; with some, a further process is the coordinator. */
  readonly ps?: number;
  /** All machines, where there are several: the same command is run on each. */
  readonly hosts?: readonly string[];
  /** Which of `hosts` this machine is, where its names do not tell. */
  readonly hostIndex?: number;
  /** Of the first process on each machine; the others follow. Free ones by default, where there is one machine. */
  readonly port?: number;
  /** How often each process may be started again when it fails. */
  readonly maxRestarts: number;
}

interface Output {
  write(text: string): void;
}

/** What is written, and where signals come from. */
export interface Surroundings {
  readonly out: Output;
  readonly err: Output;
  /** Calls a function for each signal that is to be passed on. @returns what ends that */
  readonly onSignal: (fn: (signal: NodeJS.Signals) => void) => () => void;
  /** How long processes may take to end after SIGTERM, in milliseconds. */
  readonly patience?: number;
}

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** This process: its output and its signals. */
export const ownSurroundings: Surroundings = {
  out: process.stdout,
  err: process.stderr,
  onSignal(fn) {
    for (const signal of passedOn) process.on(signal, fn);
    return () => {
      for (const signal of passedOn) process.off(signal, fn);
    };
  },
};

/**
 * Runs a program in several processes, until all have ended.
 *
 * @returns 0 where all ended well; else the exit code of the first that failed, after the others were ended; 128 and its number for a signal.
 * @throws Error where this machine is none of the hosts, there is no token for several hosts, or the caller was started by `eagre run`
 */
export async function runCluster(
  program: string,
  args: readonly string[],
  options: RunClusterOptions,
  surroundings: Surroundings = ownSurroundings,
): Promise<number> {
  if (process.env['EAGRE_RESTARTS'] !== undefined)
    throw new Error('a program that `eagre run` has started cannot call it again');
  const { tasks, own } = await tasksOf(options);
  const cluster: Record<string, string[]> = {};
  for (const { type, address } of tasks) (cluster[type] ??= []).push(address);
  const token = process.env['EAGRE_CLUSTER_TOKEN'] ?? randomBytes(16).toString('hex');
  const group = new Group(surroundings, options.maxRestarts, ({ type, index }, restarts) =>
    // Options of Node for the program come by NODE_OPTIONS: those of this process may be a program of their own.
    spawn(process.execPath, [program, ...args], {
      stdio: ['inherit', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TF_CONFIG: JSON.stringify({ cluster, task: { type, index } }),
        EAGRE_CLUSTER_TOKEN: token,
        EAGRE_RESTARTS: String(restarts),
      },
    }),
  );
  return group.run(own);
}

/** What a process is. */
interface Task {
  readonly type: 'chief' | 'worker' | 'ps';
  readonly index: number;
  readonly address: string;
}

/** All tasks, and those of this machine. @throws Error for parameter servers on several hosts */
async function tasksOf(
  options: RunClusterOptions,
): Promise<{ readonly tasks: readonly Task[]; readonly own: readonly Task[] }> {
  const { processes, ps = 0, hosts } = options;
  if (ps > 0 && hosts !== undefined)
    throw new Error('--ps starts processes on this machine: set TF_CONFIG yourself on several hosts');
  const { addresses, first } = await placesOf({ ...options, processes: processes + (ps > 0 ? ps + 1 : 0) });
  const all = (type: Task['type'], list: readonly string[]): readonly Task[] =>
    list.map((address, index) => ({ type, index, address }));
  if (ps === 0) {
    const tasks = all('worker', addresses);
    return { tasks, own: tasks.slice(first, first + processes) };
  }
  const tasks = [
    ...all('worker', addresses.slice(0, processes)),
    ...all('ps', addresses.slice(processes, processes + ps)),
    ...all('chief', addresses.slice(processes + ps)),
  ];
  return { tasks, own: tasks };
}

/** The addresses of all processes, and the place of this machine's first one. */
async function placesOf({
  processes,
  hosts,
  hostIndex,
  port,
}: RunClusterOptions): Promise<{ readonly addresses: readonly string[]; readonly first: number }> {
  if (hosts === undefined) {
    const ports =
      port === undefined ? await freePorts(processes) : Array.from({ length: processes }, (_, i) => port + i);
    return { addresses: ports.map((p) => `127.0.0.1:${p}`), first: 0 };
  }
  if (hosts.length > 1 && (process.env['EAGRE_CLUSTER_TOKEN'] ?? '') === '')
    throw new Error('set EAGRE_CLUSTER_TOKEN to the same secret on all hosts');
  const here = hostIndex ?? hosts.findIndex((host) => ownNames().has(host.toLowerCase()));
  if (here < 0 || here >= hosts.length)
    throw new Error(`this machine is none of ${hosts.join(', ')}: say which by --host-index`);
  const addresses = hosts.flatMap((host) =>
    Array.from(
      { length: processes },
      (_, i) => `${host.includes(':') ? `[${host}]` : host}:${(port ?? 29400) + i}`,
    ),
  );
  return { addresses, first: here * processes };
}

/** The names and addresses of this machine. */
function ownNames(): ReadonlySet<string> {
  const full = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap(
    (list) => list?.map(({ address }) => address) ?? [],
  );
  return new Set([full, full.split('.')[0] as string, 'localhost', ...addresses]);
}

/** Processes that live and end together. */
class Group {
  readonly #surroundings: Surroundings;
  readonly #maxRestarts: number;
  readonly #spawn: (task: Task, restarts: number) => ChildProcess;
  readonly #living = new Map<Task, ChildProcess>();
  #code = 0;
  #ending = false;
  #killer: NodeJS.Timeout | undefined;

  constructor(
    surroundings: Surroundings,
    maxRestarts: number,
    start: (task: Task, restarts: number) => ChildProcess,
  ) {
    this.#surroundings = surroundings;
    this.#maxRestarts = maxRestarts;
    this.#spawn = start;
  }

  async run(tasks: readonly Task[]): Promise<number> {
    const stop = this.#surroundings.onSignal((signal) => this.#onSignal(signal));
    try {
      await Promise.all(tasks.map((task) => this.#keep(task)));
      return this.#code;
    } finally {
      stop();
      clearTimeout(this.#killer);
    }
  }

  /** Starts a process, and again as often as it fails and may be. */
  async #keep(task: Task): Promise<void> {
    const name = `${task.type} ${task.index}`;
    for (let restarts = 0; ; restarts++) {
      const code = await this.#once(task, restarts);
      // Servers serve until the coordinator has ended.
      if (code === 0 && task.type === 'chief') this.#end('SIGTERM');
      if (code === 0 || this.#ending) return;
      if (restarts < this.#maxRestarts) {
        this.#say(
          `${name} ended with ${nameOf(code)}; started again (${restarts + 1} of ${this.#maxRestarts})`,
        );
        continue;
      }
      this.#say(`${name} ended with ${nameOf(code)}`);
      this.#code = code;
      this.#end('SIGTERM');
      return;
    }
  }

  /** @returns its exit code; 128 and the number of the signal that ended it */
  #once(task: Task, restarts: number): Promise<number> {
    const child = this.#spawn(task, restarts);
    this.#living.set(task, child);
    const name = `${task.type} ${task.index}`;
    const prefix = `[${name}] `;
    prefixLines(child.stdout as Readable, prefix, this.#surroundings.out);
    prefixLines(child.stderr as Readable, prefix, this.#surroundings.err);
    return new Promise((resolve) => {
      child.on('error', (error) => {
        this.#say(`${name} cannot be started: ${error.message}`);
        resolve(127);
      });
      child.on('close', (code, signal) => {
        this.#living.delete(task);
        resolve(code ?? 128 + (signal === null ? 0 : signalNumber(signal)));
      });
    });
  }

  #onSignal(signal: NodeJS.Signals): void {
    // Whoever asks twice does not want to wait.
    const again = this.#ending;
    this.#code = 128 + signalNumber(signal);
    this.#end(again ? 'SIGKILL' : signal);
  }

  #end(signal: NodeJS.Signals): void {
    this.#ending = true;
    for (const child of this.#living.values()) child.kill(signal);
    this.#killer ??= setTimeout(() => {
      for (const child of this.#living.values()) child.kill('SIGKILL');
    }, this.#surroundings.patience ?? 10_000);
  }

  #say(text: string): void {
    this.#surroundings.err.write(`eagre run: ${text}\n`);
  }
}

const numbers: { readonly [signal in NodeJS.Signals]?: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};
const signalNumber = (signal: NodeJS.Signals): number => numbers[signal] ?? 0;
const nameOf = (code: number): string => {
  const signal = Object.entries(numbers).find(([, number]) => code === 128 + (number ?? 0));
  return signal === undefined ? `exit code ${code}` : `signal ${signal[0]}`;
};

/** Writes what comes line by line, each with a prefix; a last line without an end gets one. */
function prefixLines(from: Readable, prefix: string, to: Output): void {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    if (lines.length > 0) to.write(lines.map((line) => `${prefix}${line}\n`).join(''));
  });
  from.on('end', () => {
    if (rest !== '') to.write(`${prefix}${rest}\n`);
    rest = '';
  });
}
