import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { gpuWorkloads } from '../gpu/workloads.ts';
import { type Budgets, budgetOf, overBudget } from './budget.ts';
import { filled, launchOf, launchTable, rowsOf, secondsOf } from './count.ts';
import { GAP, gpus } from './gpus.ts';
import { hasCompiler, launchesOf, useNullDriver } from './null-driver.ts';

const h100 = gpus['h100']!;
const budgets = JSON.parse(
  readFileSync(new URL('../../limits/launches.json', import.meta.url), 'utf8'),
) as Budgets;

describe('a launch', () => {
  const launch = { group: 'a', read: 3.35e9, written: 0, flops: 0, precision: null, pieces: 1 } as const;

  test('takes as long as what it reads, or what it computes with all multiprocessors that it fills', () => {
    expect(secondsOf(launch, h100)).toBeCloseTo(1e-3 / 0.7 + GAP, 9);
    const product = { ...launch, flops: 989e9, precision: 'narrow' } as const;
    expect(secondsOf({ ...product, pieces: 132 }, h100)).toBeCloseTo(1e-3 / 0.7 + GAP, 9);
    expect(secondsOf({ ...product, pieces: 144 }, h100)).toBeCloseTo((1e-3 / 0.7) * (264 / 144) + GAP, 9);
    expect(filled(144, h100)).toBeCloseTo(144 / 264);
  });

  test('is in a row with those of its group', () => {
    const { rows, all } = rowsOf([launch, { ...launch, group: 'b', read: 1 }, launch], h100);
    expect(rows.map(({ group, launches }) => [group, launches])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(all).toMatchObject({ launches: 3, read: 6.7e9 + 1, filled: null });
    expect(launchTable('a step', [launch], h100)).toContain('| a | 1 | 3.35 | 0.00 |  |  | 1.43 |');
  });

  test('of a library counts its operands', () => {
    const x = { dtype: 'float32', shape: [2, 3], size: 6 } as never;
    const call = { product: 1, operands: [0, 1], offsets: [0, 0], workspace: 0 };
    expect(launchOf('MatMul', call, [x, x])).toMatchObject({ group: 'MatMul (library)', read: 48 });
  });

  test('above a budget is told', () => {
    const now = { launches: 5, gigabytes: 2 };
    expect(overBudget('a', now, { launches: 5, gigabytes: 2 })).toEqual([]);
    expect(overBudget('a', now, undefined)).toEqual([]);
    expect(overBudget('a', now, { launches: 4, gigabytes: 1 })).toEqual([
      'a launches 5 kernels, its budget is 4',
      'a moves 2 GB, its budget is 1',
    ]);
  });
});

test.skipIf(!hasCompiler)('no step launches or moves more than its budget', async () => {
  useNullDriver(h100);
  const over: string[] = [];
  for (const [name, most] of Object.entries(budgets['h100'] as Budgets[string])) {
    const workload = gpuWorkloads.find((each) => each.name === name);
    const launches = await launchesOf((tf) => workload!.make(tf, false));
    expect(launches.length).toBeGreaterThan(100);
    over.push(...overBudget(name, budgetOf(launches, h100), most));
  }
  expect(over).toEqual([]);
});
