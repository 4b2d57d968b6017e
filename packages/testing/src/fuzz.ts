import { EagreError } from '@eagre/backend';
import { scope } from '@eagre/core';
import { generator } from './values.ts';

const SEED = Number(process.env.EAGRE_FUZZ_SEED ?? 1);

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
    const text = error instanceof Error ? error.stack : String(error);
    const at = /at .*(?:packages|native).*/.exec(text ?? '')?.[0] ?? '';
    this.add(`${name} ${at}`, `${where()}: ${String(error)}`);
    return false;
  }

  /** The problems, also printed if EAGRE_FUZZ_LOG is set, below a line that `about` begins. */
  list(about: string): string[] {
    const list = [...this.#problems].map(([key, text]) => `${key}\n      ${text}`);
    if (process.env.EAGRE_FUZZ_LOG)
      console.log(
        `${about}: ${this.calls} calls, ${this.values} values, ${list.length} problems\n${list.join('\n')}`,
      );
    return list;
  }
}

/**
 * Calls `attempt` for each item, round after round until `seconds` are over, each time in a scope and with random numbers of its own,
 * that EAGRE_FUZZ_SEED tells (1 unless set).
 */
export function fuzz<Item>(
  items: readonly Item[],
  seconds: number,
  attempt: (item: Item, random: () => number, findings: Findings) => void,
): Findings {
  const findings = new Findings();
  const end = performance.now() + seconds * 1000;
  for (let round = 0; performance.now() < end; round++) {
    items.forEach((item, i) => {
      scope(() => {
        attempt(item, generator(SEED * 1_000_003 + round * 1009 + i), findings);
        findings.calls++;
      });
    });
  }
  return findings;
}
