// How a library answers the driver's requests, in Node and in pages.
import type { Case, Failed, Measured, Prepared, Request } from './protocol.ts';
import { summarize, thin, trimmedMean } from './statistics.ts';

// A sample lasts at least this long, so that the clock does not matter.
const SAMPLE_MS = 0.2;

/** Seconds of one iteration, one number for each sample, for about `seconds`. */
export function sample(work: Case, seconds: number): number[] {
  const timed = (count: number): number => {
    const start = performance.now();
    for (let i = 0; i < count; i++) work.run();
    return performance.now() - start;
  };
  let count = 1;
  while (timed(count) < SAMPLE_MS) count *= 2;
  const perIteration = 1 / (1000 * count * (work.iterations ?? 1));
  const samples: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (true) {
    samples.push(timed(count) * perIteration);
    const late = performance.now() - end;
    if (late > 0 && (samples.length >= 5 || late > 3000 * seconds)) return samples;
  }
}

/** What answers requests. `make` returns the ways to do a workload, or undefined if there is none. */
export function answering(
  make: (workload: string) => readonly Case[] | undefined,
): (request: Request) => Prepared | Measured | Failed {
  const prepared = new Map<string, Case>();
  const answer = ({ phase, workload, seconds }: Request): Prepared | Measured | Failed => {
    if (phase === 'release') {
      prepared.delete(workload);
      return {};
    }
    if (phase === 'measure') {
      const samples = sample(prepared.get(workload)!, seconds);
      return { ...summarize(samples), samples: thin(samples) };
    }
    const cases = make(workload);
    if (cases === undefined) return { unsupported: true };
    // Warms up, and finds the fastest way of this library.
    const costs = cases.map((c) => {
      sample(c, seconds / 2);
      return trimmedMean(sample(c, seconds / 2));
    });
    const best = cases[costs.indexOf(Math.min(...costs))]!;
    prepared.set(workload, best);
    return { variant: best.variant ?? '', check: best.check?.() ?? null };
  };
  return (request) => {
    try {
      return answer(request);
    } catch (error) {
      return failed(error);
    }
  };
}

export function failed(error: unknown): Failed {
  return {
    error: (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500),
  };
}
