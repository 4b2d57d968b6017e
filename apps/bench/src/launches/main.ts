// Counts what steps of models launch on a GPU, without one: `pnpm bench:launches`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gpuWorkloads } from '../gpu/workloads.ts';
import { type Budgets, budgetOf, overBudget } from './budget.ts';
import { launchTable } from './count.ts';
import { gpus } from './gpus.ts';
import { launchesOf, useNullDriver } from './null-driver.ts';

const usage = `pnpm bench:launches [names…] [options]
  names              workloads of pnpm bench --device gpu, or beginnings of their names; those with a budget unless given
  --gpu h100         the GPU: ${Object.keys(gpus).join(', ')}
  --tiny             sizes for tests of this program
  --json             prints counts alone, by workload
  --update           writes what was counted as the new budget
Memory is addresses alone, so that it runs anywhere with a C++ compiler; a step that launches or moves more than its budget is an error.`;

const file = fileURLToPath(new URL('../../limits/launches.json', import.meta.url));

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2).filter((a) => a !== '--'),
    allowPositionals: true,
    options: {
      gpu: { type: 'string', default: 'h100' },
      tiny: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const gpu = gpus[values.gpu];
  if (gpu === undefined) {
    console.error(`--gpu takes ${Object.keys(gpus).join(', ')}, got '${values.gpu}'`);
    return 2;
  }
  const budgets = JSON.parse(readFileSync(file, 'utf8')) as Budgets;
  const budget = budgets[values.gpu] ?? {};
  const wanted = positionals.length > 0 ? positionals : Object.keys(budgets['h100'] as object);
  const unknown = wanted.filter((name) => !gpuWorkloads.some((each) => each.name.startsWith(name)));
  if (unknown.length > 0) {
    console.error(
      `no workload is called ${unknown.join(', ')}; there are ${gpuWorkloads.map(({ name }) => name).join(', ')}`,
    );
    return 2;
  }
  const isWanted = (name: string): boolean =>
    wanted.some(
      (each) => each === name || (!gpuWorkloads.some((w) => w.name === each) && name.startsWith(each)),
    );

  useNullDriver(gpu);
  const counted: Budgets[string] = {};
  const over: string[] = [];
  for (const { name, title, make } of gpuWorkloads.filter((each) => isWanted(each.name))) {
    const launches = await launchesOf((tf) => make(tf, values.tiny));
    const now = budgetOf(launches, gpu);
    counted[name] = now;
    if (!values.json) console.log(launchTable(`${name}: ${title},`, launches, gpu));
    if (!values.tiny) over.push(...overBudget(name, now, budget[name]));
  }
  if (values.json) console.log(JSON.stringify(counted));
  if (values.update) {
    const next = { ...budgets, [values.gpu]: { ...budget, ...counted } };
    writeFileSync(file, `${JSON.stringify(next, null, 2)}\n`);
    return 0;
  }
  for (const line of over) console.error(line);
  return over.length === 0 ? 0 : 1;
}
