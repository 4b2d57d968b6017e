// What pages have in place of `late.ts`: who calls these waits for batches, and can wait for their code, too.
import { graphs } from '../late.ts';
import type * as whole from './loops.ts';

type Loops = typeof whole;

const load = (): Promise<Loops> => {
  // Most need it next.
  graphs.tracer();
  return import('./loops.ts');
};

/** What `late.ts` has. */
export const loops: Loops = {
  fit: async (...args) => (await load()).fit(...args),
  evaluate: async (...args) => (await load()).evaluate(...args),
  predict: async (...args) => (await load()).predict(...args),
};
