import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';
import type { Failed, Hello, Measured, Prepared, Request } from './protocol.ts';

/** One of the libraries that are compared. */
export interface Library {
  readonly id: string;
  readonly title: string;
  /** Where it can use no more threads than these. */
  readonly maxThreads?: number;
  readonly command: (threads: number) => readonly [command: string, ...args: string[]];
}

const folder: string = fileURLToPath(new URL('..', import.meta.url));
export const benchFolder: string = folder;
export const python: string = process.env.EAGRE_BENCH_PYTHON || 'python3';

// Children that run TypeScript get the flags that this process got for it.
const node = (...args: string[]): [string, ...string[]] => [process.execPath, ...process.execArgv, ...args];

export const eagre: Library = {
  id: 'eagre',
  title: 'Eagre',
  command: (threads) => node('src/eagre-peer.ts', '--threads', `${threads}`),
};

function tfjs(backend: string): Library {
  return {
    id: `tfjs-${backend}`,
    title: `TensorFlow.js ${backend}`,
    maxThreads: 1,
    command: (threads) => node('peers/tfjs_peer.mjs', '--backend', backend, '--threads', `${threads}`),
  };
}

export const peers: readonly Library[] = [
  {
    id: 'torch',
    title: 'PyTorch',
    command: (threads) => [python, 'peers/torch_peer.py', '--threads', `${threads}`],
  },
  {
    id: 'tensorflow',
    title: 'TensorFlow',
    command: (threads) => [python, 'peers/tensorflow_peer.py', '--threads', `${threads}`],
  },
  tfjs('wasm'),
  tfjs('cpu'),
];

const START_SECONDS = 120;
// Beyond the time that is asked for; some peers take many seconds for what others do in one.
const PATIENCE_SECONDS = 60;

/** One library with one number of threads: a process, started again if it had to be killed. */
export class Contender {
  readonly library: Library;
  readonly threads: number;
  #child: Child | null = null;

  constructor(library: Library, threads: number) {
    this.library = library;
    this.threads = threads;
  }

  get label(): string {
    return `${this.library.title}, ${this.threads} ${this.threads === 1 ? 'thread' : 'threads'}`;
  }

  async start(): Promise<Hello> {
    const [command, ...args] = this.library.command(this.threads);
    const n = `${this.threads}`;
    this.#child = new Child(command, args, {
      cwd: folder,
      env: {
        ...process.env,
        EAGRE_NUM_THREADS: n,
        OMP_NUM_THREADS: n,
        MKL_NUM_THREADS: n,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    try {
      return await this.#child.next<Hello>(START_SECONDS);
    } catch (error) {
      return { absent: (error as Error).message };
    }
  }

  async ask<T extends Prepared | Measured>(request: Request): Promise<T | Failed> {
    try {
      if (this.#child?.alive !== true) await this.start();
      return await this.#child!.ask<T | Failed>(
        JSON.stringify(request),
        PATIENCE_SECONDS + 4 * request.seconds,
      );
    } catch (error) {
      return { error: (error as Error).message };
    }
  }

  close(): void {
    this.#child?.close();
  }
}
