// One run on one machine: every workload on Eagre and on each peer, in turn.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchOptions, parseArguments, usage } from './arguments.ts';
import { chart } from './chart.ts';
import { type Limit, type LimitKind, Limits } from './limits.ts';
import { busyCores, describeMachine } from './machine.ts';
import { before, benchFolder, Contender, eagre, type Library, peers, pythonOf } from './peers.ts';
import { type ProbeAnswer, probeEagre, probePython } from './probe.ts';
import type { Failed, Measured, Prepared } from './protocol.ts';
import {
  digits,
  fasterThan,
  formatValue,
  otherResults,
  type RunResult,
  type Series,
  type WorkloadResult,
} from './results.ts';
import { pool, summarize } from './statistics.ts';
import { report } from './table.ts';
import type { ProbeWorkload, TimedWorkload } from './workload.ts';
import { workloads } from './workloads/index.ts';

// Thread pools of other libraries spin for a while after their last work; nobody is measured meanwhile.
const PAUSE_MS = 250;
// Two builds of Eagre take short turns: the speed of a shared machine varies by tens of percent within a second.
const TURN_SECONDS = 0.03;
// Their threads look out for more work for a while, too.
const TURN_PAUSE_MS = 20;
const LIMIT_SECONDS = 0.3;

const limitKinds: readonly LimitKind[] = ['fma', 'copy', 'add', 'read'];

process.exitCode = await main();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  // GPUs have their own workloads and options, in a program that also runs on machines without this repository.
  const device = args.indexOf('--device');
  if (device >= 0 && args[device + 1] === 'gpu') {
    const program = join(benchFolder, '../../tools/gpu/run.mjs');
    const given = args.filter((arg, i) => arg !== '--' && i !== device && i !== device + 1);
    return spawnSync(process.execPath, [program, 'bench', ...given], { stdio: 'inherit' }).status ?? 1;
  }
  const words = args.filter((arg) => arg !== '--');
  if (words[0] === 'sweep') {
    // Imported here alone: the driver itself does without Eagre.
    const { sweep } = await import('./sweep/main.ts');
    return sweep(words.slice(1));
  }
  let options: BenchOptions;
  try {
    options = parseArguments(args, {
      workloads: workloads.map((w) => w.name),
      peers: peers.map((p) => p.id),
    });
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  if (options.list) {
    const width = Math.max(...workloads.map((w) => w.name.length)) + 2;
    for (const { name, title } of workloads) console.log(`${name.padEnd(width)}${title}`);
    return 0;
  }
  if (options.profile !== null) {
    const workload = workloads.find((w) => w.name === options.profile)!;
    if (workload.kind !== 'timed') {
      console.error(`${workload.name} cannot be profiled`);
      return 2;
    }
    // Imported here alone: the driver itself does without Eagre.
    const { profile } = await import('./profile.ts');
    console.log(profile(workload, options.seconds, Math.max(...options.threads)));
    return 0;
  }
  const result = await run(options);
  const text = report(result);
  const folder = join(benchFolder, 'runs');
  const name = join(folder, result.started.replace(/[:.]/g, '-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(`${name}.md`, text);
  writeFileSync(`${name}.svg`, chart(result));
  console.log(text);
  console.error(`Written: ${name}.md, .json, .svg`);
  return result.workloads.some((w) => w.failed) ? 1 : 0;
}

async function run(options: BenchOptions): Promise<RunResult> {
  const started = new Date().toISOString();
  const chosen = workloads.filter((w) => options.names.length === 0 || options.names.includes(w.name));
  const notes: string[] = options.avx2 ? ['as on a processor without AVX-512'] : [];
  let busy = await busyCores(1000);

  const limits = Limits.open(options.avx2);
  if (typeof limits === 'string') notes.push(`the machine's limits are unknown: ${limits}`);
  const measureLimit = (kind: LimitKind, threads: number): Promise<Limit | null> =>
    typeof limits === 'string' ? Promise.resolve(null) : limits.measure(kind, threads, LIMIT_SECONDS);
  const machineLimits: RunResult['machineLimits'][number][] = [];
  for (const kind of limitKinds) {
    for (const threads of options.threads) {
      progress(`limits of the machine: ${kind}, ${threads}`);
      const limit = await measureLimit(kind, threads);
      if (limit !== null) machineLimits.push({ kind, threads, ...limit });
    }
  }

  const libraries: RunResult['libraries'][number][] = [];
  const absent: RunResult['absent'][number][] = [];
  const contenders: Contender[] = [];
  const wanted = [eagre, ...peers.filter((p) => options.peers?.includes(p.id) ?? p.onlyNamed !== true)];
  // Paths are those of where the command was given.
  if (options.before !== null) wanted.push(before(resolve(process.env.INIT_CWD ?? '', options.before)));
  for (const library of wanted) {
    for (const threads of options.threads) {
      if (threads > (library.maxThreads ?? Number.POSITIVE_INFINITY)) continue;
      const contender = new Contender(library, threads, options.avx2);
      progress(`starting ${contender.label}`);
      const hello = await contender.start();
      if (hello.ready !== true) {
        absent.push({ title: library.title, why: hello.absent });
        break;
      }
      if (!contenders.some((c) => c.library === library)) {
        libraries.push({ id: library.id, title: library.title, version: hello.version });
        notes.push(...(hello.notes ?? []));
      }
      contenders.push(contender);
    }
  }
  // Those with the same number of threads follow each other.
  contenders.sort((a, b) => a.threads - b.threads);

  const results: WorkloadResult[] = [];
  for (const workload of chosen) {
    busy = Math.max(busy, await busyCores(400));
    results.push(
      workload.kind === 'timed'
        ? await timed(workload, contenders, options, measureLimit)
        : await probe(workload, contenders, options),
    );
  }
  for (const contender of contenders) contender.close();
  if (typeof limits !== 'string') limits.close();
  return {
    started,
    machine: describeMachine(),
    libraries,
    absent,
    threads: options.threads,
    rounds: options.rounds,
    seconds: options.seconds,
    busyCores: busy,
    machineLimits,
    notes,
    workloads: results,
  };
}

/** Whether it is Eagre, this one or the one before. */
function isBuild({ library }: Contender): boolean {
  return library === eagre || library.id === 'before';
}

/** One contender's share in a workload. */
interface Part {
  readonly contender: Contender;
  readonly prepared: Prepared;
  readonly rounds: Measured[];
}

async function timed(
  workload: TimedWorkload,
  contenders: readonly Contender[],
  options: BenchOptions,
  measureLimit: (kind: LimitKind, threads: number) => Promise<Limit | null>,
): Promise<WorkloadResult> {
  const { name, title, flops, bytes, limit: limitKind, targets } = workload;
  const notes: string[] = [];
  const parts: Part[] = [];
  let failed = false;
  const fails = (contender: Contender, answer: Failed): void => {
    failed ||= contender.library === eagre;
    notes.push(`${contender.label}: ${answer.error}`);
  };

  // What ran before changes how V8 compiles what follows, and an older build lacks some of it. So both builds begin anew.
  if (options.before !== null) for (const contender of contenders.filter(isBuild)) contender.close();
  for (const contender of contenders) {
    progress(`${name}: warming up ${contender.label}`);
    // Enough for compilers that work while a program runs.
    const seconds = Math.max(0.1, options.seconds / 2);
    const answer = await contender.ask<Prepared>({ phase: 'prepare', workload: name, seconds });
    if ('check' in answer) parts.push({ contender, prepared: answer, rounds: [] });
    else if (answer.error !== undefined) fails(contender, answer);
  }

  const measure = async (part: Part, seconds: number): Promise<void> => {
    const answer = await part.contender.ask<Measured>({ phase: 'measure', workload: name, seconds });
    if ('samples' in answer) part.rounds.push(answer);
    else {
      fails(part.contender, answer);
      parts.splice(parts.indexOf(part), 1);
    }
  };

  const limits: Record<number, number[]> = {};
  for (let round = 0; round < options.rounds; round++) {
    progress(`${name}: round ${round + 1} of ${options.rounds}`);
    if (limitKind !== undefined) {
      for (const threads of options.threads) {
        const limit = await measureLimit(limitKind, threads);
        if (limit !== null) (limits[threads] ??= []).push(limit.best);
      }
    }
    // Another one is first each time, so that nobody always has the same neighbour.
    const turns = [...parts.slice(round % parts.length), ...parts.slice(0, round % parts.length)];
    const builds = turns.filter(({ contender }) => isBuild(contender));
    const pairs = options.threads
      .map((threads) => builds.filter(({ contender }) => contender.threads === threads))
      .filter((pair) => pair.length === 2);
    for (const part of turns) {
      if (pairs.some((pair) => pair.includes(part))) continue;
      await sleep(PAUSE_MS);
      await measure(part, options.seconds);
    }
    for (const pair of pairs) {
      await sleep(PAUSE_MS);
      for (let turn = 0; turn < options.seconds / TURN_SECONDS; turn++) {
        for (const part of turn % 2 === 0 ? pair : pair.toReversed()) {
          await sleep(TURN_PAUSE_MS);
          if (parts.includes(part)) await measure(part, TURN_SECONDS);
        }
      }
    }
  }
  for (const { contender } of parts) await contender.ask({ phase: 'release', workload: name, seconds: 0 });

  const all = parts.map(({ contender, prepared, rounds }): Series => {
    const { variant, check } = prepared;
    if (variant !== '') notes.push(`${contender.label}: ${variant} was fastest`);
    return {
      library: contender.library.id,
      threads: contender.threads,
      summary: pool(rounds),
      rounds: rounds.map((r) => r.median),
      variant,
      check,
    };
  });
  const wider =
    options.avx2 && limitKind === 'fma' && flops !== undefined ? fasterThan(limits, all, flops) : [];
  for (const { library, threads, rate } of wider)
    notes.push(
      `${library}, ${threads === 1 ? '1 thread' : `${threads} threads`}: ${digits(rate / 1e9)} GFLOP/s are more than AVX2 can do, so it is not compared`,
    );
  const narrow = all.filter((s) => !wider.some(({ library }) => library === s.library));
  const { wrong, differing } = otherResults(narrow);
  const series = narrow.filter((s) => !wrong.some(({ library }) => library === s.library));
  const right = narrow[0]?.check;
  for (const { library, threads, check } of wrong)
    notes.push(
      `${library}, ${threads === 1 ? '1 thread' : `${threads} threads`}: its result is wrong (${check}; all others have ${right}), so it is not compared`,
    );
  for (const { library, check } of differing) {
    failed = true;
    notes.push(`**the results differ**: ${narrow[0]?.library} ${right}, ${library} ${check}`);
  }
  return {
    name,
    title,
    unit: 's',
    threaded: true,
    series,
    notes,
    failed,
    limits,
    targets,
    ...(flops === undefined ? {} : { flops }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(limitKind === undefined ? {} : { limitKind }),
  };
}

async function probe(
  workload: ProbeWorkload,
  contenders: readonly Contender[],
  options: BenchOptions,
): Promise<WorkloadResult> {
  const { name, title, unit, bytes, targets } = workload;
  const notes: string[] = [];
  const series: Series[] = [];
  const limits: number[] = [];
  let failed = false;
  const several = async (library: Library, runs: number, once: () => Promise<ProbeAnswer>) => {
    progress(`${name}: ${library.title}`);
    try {
      // The first reads files that the others find in memory; a single one is taken as it is.
      if (runs > 1) await once();
      const answers: ProbeAnswer[] = [];
      for (let i = 0; i < runs; i++) {
        await sleep(PAUSE_MS);
        answers.push(await once());
      }
      const samples = answers.map((a) => a.value);
      const summary = summarize(samples);
      notes.push(...new Set(answers.flatMap((a) => a.detail ?? [])));
      if (library === eagre) limits.push(...answers.flatMap((a) => a.limit ?? []));
      if (runs > 1)
        notes.push(`${library.title}: the best of ${runs} was ${formatValue(Math.min(...samples), unit)}`);
      series.push({
        library: library.id,
        threads: 1,
        summary,
        rounds: [summary.median],
        variant: '',
        check: null,
      });
    } catch (error) {
      failed ||= library === eagre;
      notes.push(`${library.title}: ${(error as Error).message}`);
    }
  };
  await several(eagre, options.rounds === 1 ? Math.min(3, workload.runs) : workload.runs, () =>
    probeEagre(workload.probe, workload.args),
  );
  for (const peer of peers) {
    const program = workload.python?.[peer.id];
    if (program === undefined || !contenders.some((c) => c.library === peer)) continue;
    await several(peer, Math.min(options.rounds, workload.runs), () =>
      probePython(pythonOf(peer.module ?? peer.id), program),
    );
  }
  return {
    name,
    title,
    unit,
    threaded: false,
    series,
    notes,
    failed,
    ...(limits.length === 0 ? { limits: {} } : { limits: { 1: limits }, limitKind: 'disk' }),
    targets,
    ...(bytes === undefined ? {} : { bytes }),
  };
}

function progress(text: string): void {
  console.error(text);
}
