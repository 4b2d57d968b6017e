/** Losses and metrics. */
export * as losses from './losses/index.ts';
export * as metrics from './metrics/index.ts';
