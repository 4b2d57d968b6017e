// What steps may launch and move: `apps/bench/limits/launches.json`, which falls as they get better.
import { type Launch, rowsOf } from './count.ts';
import type { Gpu } from './gpus.ts';

export interface Budget {
  readonly launches: number;
  readonly gigabytes: number;
}
/** By GPU and workload. */
export type Budgets = Record<string, Record<string, Budget>>;

/** What a step launches and moves, rounded up. */
export function budgetOf(launches: readonly Launch[], gpu: Gpu): Budget {
  const { all } = rowsOf(launches, gpu);
  return { launches: all.launches, gigabytes: Math.ceil((all.read + all.written) / 1e7) / 100 };
}

/** What is above a budget, in words. */
export function overBudget(name: string, now: Budget, most: Budget | undefined): readonly string[] {
  if (most === undefined) return [];
  return [
    ...(now.launches > most.launches
      ? [`${name} launches ${now.launches} kernels, its budget is ${most.launches}`]
      : []),
    ...(now.gigabytes > most.gigabytes
      ? [`${name} moves ${now.gigabytes} GB, its budget is ${most.gigabytes}`]
      : []),
  ];
}
