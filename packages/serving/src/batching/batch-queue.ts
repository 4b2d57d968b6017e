// Runs what requests ask for, several at once where they fit together, and never more than a few runs at a time.
import { FailedPreconditionError, UnavailableError } from '@eagre/backend';
import { concatRows, rowsOf } from '../servable/host-tensors.ts';
import type { HostTensors, ServableSignature, TensorInfo } from '../servable/servable.ts';

/** When requests are put together. */
export interface BatchingOptions {
  /** The most rows of a batch; 32 unless given. A request with more runs alone. */
  readonly maxBatchSize?: number;
  /** How long the first request of a batch waits for others, in microseconds, rounded up to milliseconds; 1000 unless given. */
  readonly batchTimeoutMicros?: number;
}

export interface QueueOptions {
  /** undefined where every request runs alone. */
  readonly batching: Required<BatchingOptions> | undefined;
  /** The most runs at a time. */
  readonly maxInFlight: number;
  /** The most requests that wait. */
  readonly maxEnqueued: number;
}

/** What a queue tells of its runs. */
export interface QueueObserver {
  /** A run begins: how many rows it has (undefined where they are not known), and how long its requests have waited, in microseconds. */
  started(rows: number | undefined, waitedMicros: readonly number[]): void;
}

interface Task {
  readonly inputs: HostTensors;
  readonly rows: number;
  readonly queued: number;
  resolve(outputs: HostTensors): void;
  reject(error: unknown): void;
  /** Nobody waits for it any more. */
  dropped: boolean;
}

interface Batch {
  readonly signature: ServableSignature;
  /** undefined for one that takes no others. */
  readonly key: string | undefined;
  readonly tasks: Task[];
  readonly abort: AbortController;
  rows: number;
  timer: NodeJS.Timeout | undefined;
}

/** The requests that wait, and the runs. */
export class BatchQueue {
  readonly #options: QueueOptions;
  readonly #observer: QueueObserver;
  /** Batches that take more rows. */
  readonly #open = new Map<ServableSignature, Map<string, Batch>>();
  /** Batches that are to run, in this order; they may still be open. */
  readonly #ready: Batch[] = [];
  #waiting = 0;
  #inFlight = 0;

  constructor(options: QueueOptions, observer: QueueObserver) {
    this.#options = options;
    this.#observer = observer;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How many runs there are now. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Runs a signature.
   *
   * @param signal gives the request up.
   * @throws UnavailableError where too many wait already; the reason of the signal; what the signature's run throws
   */
  submit(signature: ServableSignature, inputs: HostTensors, signal: AbortSignal): Promise<HostTensors> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#waiting >= this.#options.maxEnqueued)
      return Promise.reject(
        new UnavailableError(`the queue is full: ${this.#options.maxEnqueued} requests wait already`),
      );
    return new Promise((resolve, reject) => {
      const rows = this.#options.batching === undefined ? undefined : rowCount(signature, inputs);
      const task: Task = {
        inputs,
        rows: rows ?? 1,
        queued: performance.now(),
        resolve,
        reject,
        dropped: false,
      };
      this.#waiting++;
      const batch = this.#add(task, signature, rows);
      const giveUp = (): void => this.#drop(task, batch, signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      const settled = (fn: () => void): void => {
        signal.removeEventListener('abort', giveUp);
        fn();
      };
      task.resolve = (outputs) => settled(() => resolve(outputs));
      task.reject = (error) => settled(() => reject(error));
      this.#start();
    });
  }

  #add(task: Task, signature: ServableSignature, rows: number | undefined): Batch {
    const { batching } = this.#options;
    if (batching === undefined || rows === undefined || rows >= batching.maxBatchSize) {
      const alone = newBatch(signature, undefined);
      alone.tasks.push(task);
      alone.rows = task.rows;
      this.#ready.push(alone);
      return alone;
    }
    const key = keyOf(task.inputs);
    let batch = this.#open.get(signature)?.get(key);
    if (batch !== undefined && batch.rows + rows > batching.maxBatchSize) {
      this.#close(batch);
      this.#makeReady(batch);
      batch = undefined;
    }
    batch ??= this.#opened(signature, key, batching.batchTimeoutMicros);
    batch.tasks.push(task);
    batch.rows += rows;
    if (batch.rows === batching.maxBatchSize) {
      this.#close(batch);
      this.#makeReady(batch);
    }
    return batch;
  }

  #opened(signature: ServableSignature, key: string, timeoutMicros: number): Batch {
    const batch = newBatch(signature, key);
    const of = this.#open.get(signature) ?? new Map<string, Batch>();
    this.#open.set(signature, of.set(key, batch));
    if (timeoutMicros === 0) this.#makeReady(batch);
    else
      batch.timer = setTimeout(
        () => {
          this.#makeReady(batch);
          this.#start();
        },
        Math.ceil(timeoutMicros / 1000),
      );
    return batch;
  }

  /** Lets no more requests into a batch. */
  #close(batch: Batch): void {
    const of = this.#open.get(batch.signature);
    if (batch.key === undefined || of?.get(batch.key) !== batch) return;
    of.delete(batch.key);
    if (of.size === 0) this.#open.delete(batch.signature);
  }

  #makeReady(batch: Batch): void {
    clearTimeout(batch.timer);
    batch.timer = undefined;
    if (!this.#ready.includes(batch)) this.#ready.push(batch);
  }

  #start(): void {
    while (this.#inFlight < this.#options.maxInFlight) {
      const batch = this.#ready.shift();
      if (batch === undefined) return;
      this.#close(batch);
      const tasks = batch.tasks.filter(({ dropped }) => !dropped);
      if (tasks.length === 0) continue;
      this.#waiting -= tasks.length;
      this.#inFlight++;
      const now = performance.now();
      this.#observer.started(
        batch.key === undefined ? undefined : tasks.reduce((rows, t) => rows + t.rows, 0),
        tasks.map(({ queued }) => (now - queued) * 1000),
      );
      void runTasks(batch, tasks).finally(() => {
        this.#inFlight--;
        this.#start();
      });
    }
  }

  #drop(task: Task, batch: Batch, reason: unknown): void {
    task.dropped = true;
    const waits =
      this.#ready.includes(batch) || this.#open.get(batch.signature)?.get(batch.key ?? '') === batch;
    if (waits) {
      this.#waiting--;
      const place = batch.tasks.indexOf(task);
      batch.tasks.splice(place, 1);
      batch.rows -= task.rows;
      if (batch.tasks.length === 0) this.#forget(batch);
    } else if (batch.tasks.every(({ dropped }) => dropped)) batch.abort.abort(reason);
    task.reject(reason);
  }

  #forget(batch: Batch): void {
    clearTimeout(batch.timer);
    this.#close(batch);
    const place = this.#ready.indexOf(batch);
    if (place >= 0) this.#ready.splice(place, 1);
  }
}

function newBatch(signature: ServableSignature, key: string | undefined): Batch {
  return { signature, key, tasks: [], abort: new AbortController(), rows: 0, timer: undefined };
}

/** The rows of inputs that may be put together with others; undefined for others. */
function rowCount({ inputs, outputs }: ServableSignature, given: HostTensors): number | undefined {
  const anyRows = ({ shape }: TensorInfo): boolean => shape !== null && shape.length > 0 && shape[0] === null;
  if (!Object.values(inputs).every(anyRows) || !Object.values(outputs).every(anyRows)) return undefined;
  const sizes = Object.values(given).map(({ shape }) => shape[0]);
  const [rows] = sizes;
  return rows > 0 && sizes.every((size) => size === rows) ? rows : undefined;
}

/** Requests of one key have inputs of equal shapes besides the rows. */
const keyOf = (inputs: HostTensors): string =>
  Object.entries(inputs)
    .map(([name, { shape }]) => `${name}:${shape.slice(1)}`)
    .sort()
    .join(';');

async function runTasks(batch: Batch, tasks: readonly Task[]): Promise<void> {
  const { signature, abort } = batch;
  if (tasks.length === 1) return runAlone(signature, tasks[0], abort.signal);
  try {
    const names = Object.keys(tasks[0].inputs);
    const inputs = names.map((name) => [name, concatRows(tasks.map((t) => t.inputs[name]))] as const);
    const outputs = await signature.run(Object.fromEntries(inputs), abort.signal);
    const total = tasks.reduce((rows, t) => rows + t.rows, 0);
    checkRows(outputs, total);
    let start = 0;
    for (const task of tasks) {
      const from = start;
      const own = Object.entries(outputs).map(([name, t]) => [name, rowsOf(t, from, task.rows)] as const);
      start += task.rows;
      task.resolve(Object.fromEntries(own));
    }
  } catch {
    // One of them may be at fault: the others shall not suffer for it.
    for (const task of tasks) if (!task.dropped) await runAlone(signature, task, abort.signal);
  }
}

async function runAlone(signature: ServableSignature, task: Task, signal: AbortSignal): Promise<void> {
  try {
    task.resolve(await signature.run(task.inputs, signal));
  } catch (error) {
    task.reject(error);
  }
}

/** @throws FailedPreconditionError with TensorFlow Serving's messages, for outputs that are not a row for each row */
function checkRows(outputs: HostTensors, rows: number): void {
  for (const { shape } of Object.values(outputs)) {
    if (shape.length === 0) throw new FailedPreconditionError('Batched output tensor has 0 dimensions');
    if (shape[0] !== rows)
      throw new FailedPreconditionError(
        "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors",
      );
  }
}
