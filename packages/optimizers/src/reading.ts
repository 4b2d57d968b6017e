import type { Optimizer } from './optimizer.ts';

type Read = (written: unknown, customObjects: Readonly<Record<string, unknown>>) => Optimizer;

/** `deserialize`, for optimizers that are made of others: it knows their classes, so that they cannot import it. */
export const reading: { optimizer?: Read } = {};
