// What packages below that of graphs need of its loops.
import type { Dim } from '../shapes/dim.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Calls a function for 0, 1, … below a size (int32 scalars), in a loop of the graph that is being traced, and stacks what it gives. */
export type RowLoop = (count: Dim, fn: (i: Tensor) => readonly Tensor[]) => readonly Tensor[];

/** The loop, once the package of graphs is there. */
export const rowLoop: { run: RowLoop | null } = { run: null };
