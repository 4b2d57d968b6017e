import { type Tensor, zerosLike } from '@eagre/core';
import { type Attrs, aliasTensor, Op } from '@eagre/core/internal';
import { GraphInterpreter } from '../function/interpret.ts';
import type { Graph } from '../ir/graph.ts';

/**
 * Inputs: the values, the arguments that have the gradient, and what else the gradient uses. Outputs: the values. The graph's arguments are
 * the gradients of the outputs and all inputs but the values; its outputs are the gradients of the arguments in `places`.
 */
export interface CustomGradientAttrs extends Attrs {
  readonly gradient: Graph;
  /** How many values there are. */
  readonly count: number;
  /** The inputs that have one. */
  readonly places: readonly number[];
}

/** What `customGradient` becomes in a graph. */
export const customGradientOp: Op = new Op(
  {
    name: 'CustomGradient',
    samples: () => [],
    grad: (g, ...dys) => {
      const { gradient, count, places } = g.attrs as CustomGradientAttrs;
      const given = g.outputs.map((value, i) => dys[i] ?? zerosLike(value));
      const found = new GraphInterpreter(true).run(gradient, [...given, ...g.inputs.slice(count)]);
      const gradients = new Array<Tensor | null>(g.inputs.length).fill(null);
      places.forEach((place, i) => {
        gradients[place] = found[i];
      });
      return gradients;
    },
  },
  (inputs, attrs) =>
    inputs.slice(0, (attrs as CustomGradientAttrs).count).map((value) => aliasTensor(value, value.shape)),
);
