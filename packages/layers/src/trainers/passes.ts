// Passes over batches, with steps and callbacks.
import { nextTurn } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/core';
import type { FitParams, Logs } from '../callbacks/callback.ts';
import { CallbackRun } from '../callbacks/callback-run.ts';
import { ProgressBar } from '../callbacks/progress.ts';
import type { Model } from '../models/model.ts';
import { type Batch, type Batches, Feed } from './data-adapter.ts';
import { type BatchOptions, checkCallbacks, verbosity } from './training-options.ts';

// A turn of the event loop now and then: timers, signals and the collection of what native code held need it.
const TURN_MS = 50;

class Pacer {
  #last = performance.now();
  async turn(): Promise<void> {
    if (performance.now() - this.#last < TURN_MS) return;
    await nextTurn();
    this.#last = performance.now();
  }
}

/** One pass over batches. @returns the logs of the last one, which hold means over the pass, and the number of batches. */
export async function pass(
  feed: Feed,
  limit: number | undefined,
  step: (batch: Batch, index: number) => Promise<Logs>,
  model?: Model,
): Promise<{ readonly logs: Logs; readonly count: number }> {
  const pacer = new Pacer();
  let logs: Logs = {};
  let count = 0;
  for await (const batch of feed.pass(limit)) {
    logs = await step(batch, count++);
    if (model?.stopTraining === true) break;
    await pacer.turn();
  }
  return { logs, count };
}

/** One pass over batches that nobody goes on with. @throws InvalidArgumentError when there is none. */
export async function onePass(
  batches: Batches,
  limit: number | undefined,
  what: string,
  step: (batch: Batch, index: number) => Promise<Logs>,
): Promise<Logs> {
  const feed = new Feed(batches);
  try {
    const { logs, count } = await pass(feed, limit, step);
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
  work: (callbacks: CallbackRun, bar: ProgressBar | undefined) => Promise<Logs>,
): Promise<Logs> {
  const params: FitParams = {
    epochs: 1,
    steps: options.steps ?? batches.steps,
    verbose: verbosity(options.verbose),
  };
  const bar = params.verbose === 0 ? undefined : new ProgressBar(label);
  const callbacks = new CallbackRun(model, params, checkCallbacks(options.callbacks));
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

export function resetMetrics(model: Model): void {
  for (const metric of model.metrics) metric.resetState();
}
