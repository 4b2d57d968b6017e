/** What models use of graphs; pages have `late-elsewhere.ts` in its place. */
export * as graphs from './graphs.ts';
