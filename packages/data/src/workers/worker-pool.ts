// Threads that run an exported function of a module.

import type { Worker } from 'node:worker_threads';
import { InternalError, InvalidArgumentError, ResourceExhaustedError } from '@eagre/backend';

/** What a thread answers: a result, or an error. */
type Answer =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly name: string; readonly message: string; readonly stack: string };
    };

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
  /** Ends it, where it has nothing to do. */
  readonly end: () => void;
}

// A thread that has nothing to do for so long is ended; another one is started when it is needed.
const IDLE_MS = 5000;

/** Threads of all pools that have nothing to do, with what ends them in time; the one that waits longest comes first. */
const idle = new Map<Thread, NodeJS.Timeout>();

/** Keeps the thread for a while. Passes that were dropped leave few threads behind, and these not for long. */
function rest(thread: Thread): void {
  idle.set(thread, setTimeout(thread.end, IDLE_MS).unref());
  const most = 2 * process.getBuiltinModule('node:os').availableParallelism();
  for (const longest of idle.keys()) {
    if (idle.size <= most) return;
    longest.end();
  }
}

function wake(thread: Thread): void {
  clearTimeout(idle.get(thread));
  idle.delete(thread);
}

// A module of its own in text: it works wherever this package is bundled to. Buffers that results own alone are moved, not copied.
const MAIN = `
import { parentPort, workerData } from 'node:worker_threads';
const own = (value, into) => {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteLength } = value;
    if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && byteLength > 0) into.add(buffer);
  } else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) own(item, into);
  return into;
};
const module = import(workerData.url).then((exports) => {
  const fn = exports[workerData.name];
  if (typeof fn !== 'function') throw new TypeError('the module ' + workerData.url + ' does not export a function ' + workerData.name);
  return fn;
});
module.catch(() => undefined);
parentPort.on('message', async ({ id, args }) => {
  try {
    const value = await (await module)(...args);
    parentPort.postMessage({ id, value }, [...own(value, new Set())]);
  } catch (error) {
    const { name = 'Error', message = String(error), stack = '' } = error ?? {};
    parentPort.postMessage({ id, error: { name: String(name), message: String(message), stack: String(stack) } });
  }
});
`;

/** Whether the system starts no more threads, or has no files left for one. */
const isRefused = (cause: unknown): cause is Error =>
  cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_INIT_FAILED';

/** Up to `size` threads, started when they are needed. They keep the process alive only while they compute. */
export class WorkerPool {
  readonly #url: string;
  readonly #name: string;
  #size: number;
  readonly #what: string;
  #threads: Thread[] = [];
  #next = 0;
  #closed = false;

  constructor(url: URL, name: string, size: number, what: string) {
    this.#url = url.href;
    this.#name = name;
    this.#size = size;
    this.#what = what;
  }

  /** Calls the function on the thread that has least to do. The buffers in `transfer` are moved there. */
  call(args: readonly unknown[], transfer: readonly ArrayBuffer[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(new InternalError('the threads were ended', this.#what));
    const thread = this.#thread();
    const id = this.#next++;
    wake(thread);
    return new Promise((resolve, reject) => {
      thread.pending.set(id, { resolve, reject });
      thread.worker.ref();
      try {
        thread.worker.postMessage({ id, args }, transfer);
      } catch (error) {
        this.#settled(thread, id);
        reject(error);
      }
    });
  }

  #thread(): Thread {
    const idle = this.#threads.find(({ pending }) => pending.size === 0);
    if (idle) return idle;
    if (this.#threads.length < this.#size) {
      try {
        return this.#start();
      } catch (cause) {
        if (!isRefused(cause)) throw cause;
        // A limit of the system: those that run have to do.
        this.#size = this.#threads.length;
        if (this.#size === 0)
          throw new ResourceExhaustedError(
            `no thread can start (${cause.message}): end some, or raise \`ulimit -u\``,
            this.#what,
            { cause },
          );
      }
    }
    return this.#threads.reduce((least, t) => (t.pending.size < least.pending.size ? t : least));
  }

  #start(): Thread {
    const { Worker: NodeWorker } = process.getBuiltinModule('node:worker_threads');
    const worker = new NodeWorker(new URL(`data:text/javascript,${encodeURIComponent(MAIN)}`), {
      workerData: { url: this.#url, name: this.#name },
    });
    const thread: Thread = {
      worker,
      pending: new Map(),
      end: () => this.#lose(thread, new Error('it had nothing to do')),
    };
    worker.unref();
    worker.on('message', (answer: Answer) => {
      const pending = this.#settled(thread, answer.id);
      if ('error' in answer) pending?.reject(this.#failure(answer.error));
      else pending?.resolve(answer.value);
    });
    worker.on('messageerror', (error) => this.#lose(thread, error));
    worker.on('error', (error) => this.#lose(thread, error));
    worker.on('exit', (code) => this.#lose(thread, new Error(`the thread ended with code ${code}`)));
    this.#threads.push(thread);
    return thread;
  }

  #settled(thread: Thread, id: number): Pending | undefined {
    const pending = thread.pending.get(id);
    thread.pending.delete(id);
    if (thread.pending.size === 0) {
      thread.worker.unref();
      if (!idle.has(thread) && this.#threads.includes(thread)) rest(thread);
    }
    return pending;
  }

  #failure(error: { readonly name: string; readonly message: string; readonly stack: string }): Error {
    const cause = new Error(error.message);
    cause.name = error.name;
    cause.stack = error.stack;
    return new InvalidArgumentError(
      `${this.#name} failed on a thread: ${error.name}: ${error.message}`,
      this.#what,
      {
        cause,
      },
    );
  }

  /** A thread that is gone answers no more. Another one takes its place at the next call. */
  #lose(thread: Thread, cause: Error): void {
    this.#threads = this.#threads.filter((t) => t !== thread);
    wake(thread);
    const Kind = isRefused(cause) ? ResourceExhaustedError : InternalError;
    for (const { reject } of thread.pending.values())
      reject(
        new Kind(`a thread that ran ${this.#name} failed: ${cause.message}`, this.#what, {
          cause,
        }),
      );
    thread.pending.clear();
    void thread.worker.terminate();
  }

  /** Ends all threads; calls that are under way are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = this.#threads;
    for (const thread of threads) this.#lose(thread, new Error('the pass was ended'));
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}
