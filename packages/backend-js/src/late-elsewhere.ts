// What pages have in place of `late.ts`: the kernels that their ops bring, and what elementwise ops need.
import { broughtKernel } from './bring.ts';
import type * as whole from './compute.ts';
import { compileScalar } from './scalar.ts';

/** What `late.ts` has. */
export const compute: typeof whole = { kernelOf: broughtKernel, compileScalar };
