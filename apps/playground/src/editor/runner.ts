// The worker of an editor: one for each run, made ahead, so that each program begins in a world of its own.
import type { Ask, BackendName, Tell } from './messages.ts';

export class Runner {
  readonly #hear: (message: Tell) => void;
  #worker: Worker | undefined;
  #backend: BackendName | undefined;
  #isUsed = false;

  constructor(hear: (message: Tell) => void) {
    this.#hear = hear;
  }

  /** Loads what a program needs, for the next one to find it there. */
  prepare(backend: BackendName): void {
    if (this.#worker !== undefined && !this.#isUsed && this.#backend === backend) return;
    this.stop();
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Tell>) => this.#hear(data));
    // One that cannot even be loaded.
    worker.addEventListener('error', ({ message }) =>
      this.#hear({
        kind: 'done',
        milliseconds: 0,
        mistake: { text: message || 'The worker could not be loaded' },
      }),
    );
    [this.#worker, this.#backend, this.#isUsed] = [worker, backend, false];
    this.#ask({ backend });
  }

  run(program: string, backend: BackendName): void {
    this.prepare(backend);
    this.#isUsed = true;
    this.#ask({ backend, program });
  }

  /** Ends what runs, whatever it does. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #ask(message: Ask): void {
    this.#worker?.postMessage(message);
  }
}
