/** What a program seldom needs where there are native kernels (see `packages/eagre/src/late.ts`). */
export * as compute from './compute.ts';
