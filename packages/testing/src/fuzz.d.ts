import { EagreError } from '@eagre/backend';
/** Of everything that tests draw at random: 1, another one in each run of `pnpm fuzz`. */
export declare const SEED: number;
/** How long a call with wrong arguments may work: on all processors, since a busy machine changes that least. */
export declare const LONGEST_WORK_MS = 5000;
/** The milliseconds that processors worked for this process since then. */
export declare function workOf(since: NodeJS.CpuUsage): number;
/** What calls with arguments at random came to. */
export declare class Findings {
    #private;
    calls: number;
    /** Of these, those that gave a value. */
    values: number;
    /** Keeps one problem for each key. */
    add(key: string, text: string): void;
    /** Keeps an error that is none of Eagre's own, by the line that threw it. @returns whether it was one of those. */
    isOwn(error: unknown, name: string, where: () => string): error is EagreError;
    /** The problems, also printed if EAGRE_FUZZ_LOG is set, below a line that `about` begins. */
    list(about: string): string[];
}
type Attempt<Item, R> = (item: Item, random: () => number, findings: Findings) => R;
/** Calls `attempt` for each item `count` times, each time in a scope. */
export declare function fuzz<Item>(items: readonly Item[], count: number, attempt: Attempt<Item, void>): Findings;
/** The same for what takes time; without scopes, which end at once. */
export declare function fuzzAsync<Item>(items: readonly Item[], count: number, attempt: Attempt<Item, Promise<void>>): Promise<Findings>;
export {};
