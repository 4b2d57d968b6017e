// Models whose weights are being read: what computes with them meanwhile is told to wait.
import type { Model } from '../models/model.ts';

const reading = new Map<Model, number>();
const told = new WeakSet<Model>();

/** Reads weights into a model. */
export async function whileReading<T>(model: Model, read: () => Promise<T>): Promise<T> {
  reading.set(model, (reading.get(model) ?? 0) + 1);
  try {
    return await read();
  } finally {
    const left = (reading.get(model) as number) - 1;
    if (left > 0) reading.set(model, left);
    else reading.delete(model);
  }
}

/** Warns, once for each model, where its weights are still being read: a forgotten `await` would have it compute with others, and say nothing. */
export function tellIfBeingRead(model: Model, what: string): void {
  if (reading.size === 0 || !reading.has(model) || told.has(model)) return;
  told.add(model);
  console.warn(
    `${what}: the weights of the model '${model.name}' are still being read, so it computes with those from before: write await model.loadWeights(…)`,
  );
}
