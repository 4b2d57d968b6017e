/** What models wait for anyway; pages have `late-elsewhere.ts` in its place. */
export * as loops from './loops.ts';
