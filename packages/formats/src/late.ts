/** What a program seldom needs (see `packages/eagre/src/late.ts`). */
export * as zlib from './zlib.ts';
