// What pages have in place of `late.ts`. They cannot load anything at once, and what writes GraphDefs is 30 kB: a program that wants some
// there imports it, and it makes itself known (`interchange-elsewhere.ts`).
import { UnimplementedError } from '@eagre/backend';
import type * as writers from './graph-defs.ts';

type Writers = typeof writers;

const missing = (): never => {
  throw new UnimplementedError(
    "a page imports what writes GraphDefs by itself: write import 'eagre/graph-def' (or '@eagre/graph/interchange') in the program",
    'asGraphDef',
  );
};

/** What `late.ts` has. */
export const graphDefs: { -readonly [K in keyof Writers]: Writers[K] } = {
  graphDef: missing,
  encodeGraphDef: missing,
};
/** Makes known what writes GraphDefs. */
export function useWriters(made: Writers): void {
  Object.assign(graphDefs, made);
}
