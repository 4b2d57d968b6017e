import { EagreError } from '@eagre/backend';
import { scope } from '@eagre/core';
import { generator } from './values.ts';

/** Of everything that tests draw at random: 1, another one in each run of `pnpm fuzz`. */
export const SEED: number = Number(process.env.EAGRE_FUZZ_SEED ?? 1);

/** How long a call with wrong arguments may work: on all processors, since a busy machine changes that least. */
export const LONGEST_WORK_MS = 5000;

/** The milliseconds that processors worked for this process since then. */
export function workOf(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** What calls with arguments at random came to. */
export class Findings {
  calls = 0;
  /** Of these, those that gave a value. */
  values = 0;
  readonly #problems: Map<string, string> = new Map<string, string>();

  /** Keeps one problem for each key. */
  add(key: string, text: string): void {
    this.#problems.set(key, text);
  }

  /** Keeps an error that is none of Eagre's own, by the line that threw it. @returns whether it was one of those. */
  isOwn(error: unknown, name: string, where: () => string): error is EagreError {
    if (error instanceof EagreError && error.code !== 'INTERNAL') return true;
    // What the file system says, and what functions of the test itself do with what they get, also a `toString` that is taken for a metric.
    if (error instanceof Error && 'syscall' in error) return false;
    const text = error instanceof Error ? error.stack : String(error);
    if (/^\s*at .*(?:\.test\.ts|toString \[as )/.test(/^\s*at .*/m.exec(text ?? '')?.[0] ?? '')) return false;
    const at = /at .*(?:packages|native).*/.exec(text ?? '')?.[0] ?? '';
    this.add(`${name} ${at}`, `${where()}: ${String(error)}`);
    return false;
  }

  /** The problems, also printed if EAGRE_FUZZ_LOG is set, below a line that `about` begins. */
  list(about: string): string[] {
    const list = [...this.#problems].map(([key, text]) => `${key}\n      ${text}`);
    if (process.env.EAGRE_FUZZ_LOG)
      console.info(
        `${about}: ${this.calls} calls, ${this.values} values, ${list.length} problems\n${list.join('\n')}`,
      );
    return list;
  }
}

type Attempt<Item, R> = (item: Item, random: () => number, findings: Findings) => R;

/** A longer search, by `pnpm fuzz`, ends by the clock; all others after so many rounds, so that they are the same on every machine. */
const SECONDS = process.env.EAGRE_FUZZ_SECONDS;

/** Each item with random numbers of its own, that EAGRE_FUZZ_SEED tells (1 unless set), `count` times. */
function* rounds<Item>(
  items: readonly Item[],
  count: number,
  findings: Findings,
): Generator<[Item, () => number]> {
  const end = performance.now() + Number(SECONDS ?? 0) * 1000;
  for (let round = 0; SECONDS === undefined ? round < count : performance.now() < end; round++) {
    for (const [i, item] of items.entries()) {
      yield [item, generator(SEED * 1_000_003 + round * 1009 + i)];
      findings.calls++;
    }
  }
}

/** Calls `attempt` for each item `count` times, each time in a scope. */
export function fuzz<Item>(items: readonly Item[], count: number, attempt: Attempt<Item, void>): Findings {
  const findings = new Findings();
  for (const [item, random] of rounds(items, count, findings)) scope(() => attempt(item, random, findings));
  return findings;
}

/** The same for what takes time; without scopes, which end at once. */
export async function fuzzAsync<Item>(
  items: readonly Item[],
  count: number,
  attempt: Attempt<Item, Promise<void>>,
): Promise<Findings> {
  const findings = new Findings();
  for (const [item, random] of rounds(items, count, findings)) await attempt(item, random, findings);
  return findings;
}
