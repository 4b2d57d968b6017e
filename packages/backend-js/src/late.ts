/** What a program seldom needs where there are native kernels (see `packages/eagre/src/late.ts`); pages have `late-elsewhere.ts` in its place. */
export * as compute from './compute.ts';
