// Runs on another thread while tapes are open, which may be tapes that nobody will ask: a step that threw has left them open.
import { FailedPreconditionError, InternalError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { context, Op } from '@eagre/core/internal';
import type { Graph } from '../ir/graph.ts';

const unrecorded = new Op(
  {
    name: 'RunAsync',
    samples: () => [],
    grad: () => {
      throw new FailedPreconditionError(
        'no gradient passes through runAsync: a tape records only what runs on its thread; call the function itself',
        'runAsync',
      );
    },
  },
  () => {
    throw new InternalError('a run on another thread was not told to a tape by itself');
  },
);

/**
 * Makes a run on another thread known to the tapes that are open where it begins: a gradient that would have to pass through it throws.
 * @param run returns the tensors of the result.
 */
export async function toldToTapes(
  graph: Graph,
  inputs: readonly Tensor[],
  run: () => Promise<readonly Tensor[]>,
): Promise<readonly Tensor[]> {
  const { tapes } = context;
  if (tapes.length === 0) return run();
  const variables = graph
    .liveNodes()
    .flatMap(({ what }) => (what.kind === 'variable' ? [what.variable.taken()] : []));
  const seen = [...inputs, ...variables];
  for (const { storage } of seen) storage.refs++;
  try {
    const results = await run();
    for (const tape of tapes) tape.record(unrecorded, seen, {}, results);
    return results;
  } finally {
    for (const { storage } of seen) storage.release();
  }
}
