// What processes that train together must have alike, compared before they begin.
import type { Variable } from '@eagre/core';
import type { Model } from '../models/model.ts';
import { compileConfig, strategyOf } from './compile.ts';

/** What goes with a run, by the name under which an error tells it. */
export type RunFacts = Readonly<Record<string, unknown>>;

// Numbers that tell names apart may be others in a process that has made other models before; seeds may differ; and what was built may depend on the batch.
const ownKeys = new Set(['seed', 'build_config', 'run_eagerly', 'jit_compile', 'shared_object_id']);
const numbered = /_\d+(?=\/|\s|$)/g;

function comparable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(numbered, '');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function') return value.name;
  if (typeof value !== 'object' || value === null) return value ?? null;
  const entries = Object.entries(value).filter(([key]) => !ownKeys.has(key));
  return Object.fromEntries(entries.map(([key, each]) => [key.replace(numbered, ''), comparable(each)]));
}

/** What `read` gives; of code of the user's that has no configuration, nothing is compared. */
function ifAny(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return null;
  }
}

/**
 * Compares what a run of training is told with that of the other processes, and the model and what it was compiled with.
 * @param notes which may differ, and are told at once where they do
 * @throws InvalidArgumentError in all processes, which says what differs and where
 */
export function checkAlike(model: Model, what: string, facts: RunFacts, notes: RunFacts): void {
  const strategy = strategyOf(model);
  if (strategy === null || !strategy.spansProcesses) return;
  const variables = model.variables.map(
    ({ path, shape, dtype, trainable }: Variable) =>
      `${path} ${dtype}[${shape}]${trainable ? '' : ', not trainable'}`,
  );
  const all = {
    ...facts,
    compile: ifAny(() => compileConfig(model)),
    model: ifAny(() => model.getConfig()),
    variables,
  };
  const texts = (given: RunFacts): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, JSON.stringify(comparable(value))]),
    );
  strategy.checkAlike(what, texts(all), texts(notes));
}
