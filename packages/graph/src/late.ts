/** What a program seldom needs (see `packages/eagre/src/late.ts`); pages have `late-elsewhere.ts` in its place. */
export * as graphDefs from './graph-defs.ts';
