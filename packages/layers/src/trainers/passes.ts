// Passes over batches, with steps and callbacks.
import { nextTurn } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/core';
import type { DistributionStrategy } from '@eagre/core/internal';
import type { FitParams, Logs } from '../callbacks/callback.ts';
import { CallbackRun } from '../callbacks/callback-run.ts';
import { ProgressBar } from '../callbacks/progress.ts';
import type { Model } from '../models/model.ts';
import type { CheckSignal } from './cancellation.ts';
import { type Batch, type Batches, Feed } from './data-adapter.ts';
import { type BatchOptions, checkCallbacks, verbosity } from './training-options.ts';

// A turn of the event loop now and then: timers, signals and the collection of what native code held need it.
const TURN_MS = 50;

// For all runs together: one of many short passes has its turn as well.
let lastTurn = 0;

async function turn(): Promise<void> {
  if (performance.now() - lastTurn < TURN_MS) return;
  await nextTurn();
  lastTurn = performance.now();
}

/** What is done with batches, several of them in one go where `stepsPerExecution` says so. */
export interface Execution {
  /** Before the first of them, by its number. */
  begin(index: number): Promise<void>;
  run(batch: Batch): void | Promise<void>;
  /** Behind the last one; of a last go that is short, Keras tells the number that it would have had. */
  end(index: number, logs: Logs): Promise<void>;
  /** The logs of the batches so far. To read them takes the work of all processes that train together. */
  logs(): Logs | Promise<Logs>;
  /** Whether `end` looks at them. */
  readsLogs(): boolean;
}

/**
 * One pass over batches.
 * @param limit of the batches; what is run in one go is not cut, as in Keras.
 * @param size how many are run in one go.
 * @param strategy by which several processes train together; null for one that trains alone.
 * @returns the logs of the last one, which hold means over the pass, and the number of batches.
 * @throws CancelledError between two goes
 */
export async function pass(
  feed: Feed,
  limit: number | undefined,
  size: number,
  { begin, run, end, logs, readsLogs }: Execution,
  checkSignal: CheckSignal,
  strategy: DistributionStrategy | null,
  model?: Model,
): Promise<{ readonly logs: Logs; readonly count: number }> {
  let count = 0;
  let last: Logs = {};
  let isRead = true;
  const whole = limit === undefined ? undefined : Math.ceil(limit / size) * size;
  const known = feed.count(whole) ?? -1;
  // Processes that train together read logs in the same steps: where one of them looks, all read.
  const all = strategy?.numbersOfAll([known, readsLogs() ? 1 : 0]) ?? [];
  const together = strategy === null ? null : all.some(([, reads]) => reads === 1);
  // Where all know that they have the same number of batches, they need not ask each other before each.
  const asks = known === -1 || all.some(([count]) => count !== known) ? strategy : null;
  const ended = async (index: number): Promise<void> => {
    isRead = together ?? readsLogs();
    if (isRead) last = await logs();
    await end(index, last);
  };
  for await (const batch of agreed(asks, feed.pass(whole))) {
    if (count % size === 0) {
      checkSignal(count);
      await begin(count);
    }
    try {
      const running = run(batch);
      if (running !== undefined) await running;
    } catch (error) {
      feed.tell(error, batch);
      throw error;
    }
    if (++count % size !== 0) continue;
    await ended(count - 1);
    if (model?.stopTraining === true) break;
    await turn();
    checkSignal(count);
  }
  if (count % size !== 0) {
    await ended(Math.ceil(count / size) * size - 1);
    checkSignal(count);
  }
  return { logs: isRead ? last : await logs(), count };
}

/** Where several processes train together: batches as long as all of them have some, so that none waits for another in vain. */
async function* agreed(
  strategy: DistributionStrategy | null,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<Batch, void, undefined> {
  if (strategy === null) return yield* batches;
  for await (const batch of batches) {
    if (!strategy.allAgree(true)) return;
    yield batch;
  }
  strategy.allAgree(false);
}

/** One pass over batches that nobody goes on with. @throws InvalidArgumentError when there is none. */
export async function onePass(
  batches: Batches,
  limit: number | undefined,
  size: number,
  what: string,
  execution: Execution,
  checkSignal: CheckSignal,
  strategy: DistributionStrategy | null,
): Promise<Logs> {
  const feed = new Feed(batches);
  try {
    const { logs, count } = await pass(feed, limit, size, execution, checkSignal, strategy);
    if (count === 0) throw new InvalidArgumentError(NO_BATCH, what);
    return logs;
  } finally {
    await feed.close();
  }
}

export const NO_BATCH = 'there was no batch to go through';

/** A pass outside of training, with its own progress bar. */
export async function runStandalone(
  label: string,
  model: Model,
  batches: Batches,
  options: BatchOptions,
  checkSignal: CheckSignal,
  work: (callbacks: CallbackRun, bar: ProgressBar | undefined) => Promise<Logs>,
): Promise<Logs> {
  const params: FitParams = {
    epochs: 1,
    steps: options.steps ?? batches.steps,
    verbose: verbosity(options.verbose),
  };
  const bar = params.verbose === 0 ? undefined : new ProgressBar(label);
  const given = checkCallbacks(options.callbacks);
  checkSignal(0);
  const callbacks = new CallbackRun(model, params, given);
  bar?.attach(model, params);
  try {
    await bar?.onEpochBegin(0);
    const logs = await work(callbacks, bar);
    bar?.onEpochEnd(0, logs);
    return logs;
  } catch (error) {
    callbacks.close();
    throw error;
  } finally {
    bar?.close();
  }
}
