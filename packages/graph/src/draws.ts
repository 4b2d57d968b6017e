import { LateNumber } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { inContext, symbolically, symbolicTensor } from '@eagre/core/internal';
import type { GraphNode } from './graph.ts';

/** Whether an op's node asks for numbers at each run: random draws, a learning rate. Told by the kernel calls that it makes. */
export function drawsNumbers({ what, inputs, attrs }: GraphNode): boolean {
  if (what.kind !== 'op') return false;
  let draws = false;
  const watch = {
    call: (_k: unknown, _i: unknown, _o: unknown, given: Readonly<Record<string, unknown>>): void => {
      draws ||= Object.values(given).some((v) => v instanceof LateNumber);
    },
    capture: (x: Tensor): Tensor => symbolicTensor(x.dtype, x.shape, x.size),
  };
  const op = what.op;
  const given = inputs.map(({ dtype, shape }) => symbolicTensor(dtype, shape));
  inContext({ tapes: [], tracker: null }, () => symbolically(watch, () => op.evaluate(given, attrs)));
  return draws;
}
