import type { Tensor } from '@eagre/core';
import { type Attrs, aliasTensor, Op } from '@eagre/core/internal';
import { GraphInterpreter } from '../function/interpret.ts';
import type { Graph } from '../ir/graph.ts';

/**
 * Inputs: the value, the arguments that have the gradient, and what else the gradient uses. Output: the value. The graph's arguments are
 * the gradient of the output and all inputs but the first; its outputs are the gradients of the arguments in `places`.
 */
export interface CustomGradientAttrs extends Attrs {
  readonly gradient: Graph;
  /** The inputs that have one. */
  readonly places: readonly number[];
}

/** What `customGradient` becomes in a graph. */
export const customGradientOp: Op = new Op(
  {
    name: 'CustomGradient',
    samples: () => [],
    grad: (g, dy) => {
      const { gradient, places } = g.attrs as CustomGradientAttrs;
      const found = new GraphInterpreter(true).run(gradient, [dy, ...g.inputs.slice(1)]);
      const gradients = new Array<Tensor | null>(g.inputs.length).fill(null);
      places.forEach((place, i) => {
        gradients[place] = found[i];
      });
      return gradients;
    },
  },
  ([value]) => [aliasTensor(value, value.shape)],
);
