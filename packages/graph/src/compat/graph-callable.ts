import { InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { checkFunction, checkList, shown } from '@eagre/core/internal';
import { conform } from '../signature.ts';
import { rebuilder, results } from '../structure.ts';
import { TensorSpec } from '../tensor-spec.ts';
import { placeholder } from './default-graph.ts';
import { Graph } from './graph.ts';
import { hasEffect } from './session-tracer.ts';

/** A graph that is called like a function of tensors. */
export type GraphCallable<F extends (...args: never[]) => unknown> = F & {
  readonly graph: Graph;
  /** The variables that were made in the graph. */
  readonly variables: readonly Variable[];
  readonly trainableVariables: readonly Variable[];
};

/**
 * Makes code that was written for graphs a function for eager mode: it runs once, now, on placeholders, and may make variables; each
 * call runs the graph, with all that it assigns. Gradients flow through, to the variables too.
 *
 *     const model = tf.graphCallable([new tf.TensorSpec([null, 2])])((x: tf.Tensor) => x.matmul(new tf.Variable(…)));
 *     model(batch);
 *
 * @throws InvalidArgumentError (the call) for arguments that do not fit the specs.
 */
export function graphCallable(
  signature: readonly TensorSpec[],
): <F extends (...args: never[]) => unknown>(fn: F) => GraphCallable<F> {
  const op = 'tf.graphCallable';
  for (const [i, spec] of checkList(signature, 'the list of specs', op).entries())
    if (!(spec instanceof TensorSpec))
      throw new InvalidArgumentError(`spec ${i} is ${shown(spec)}, expected a tf.TensorSpec`, op);
  return <F extends (...args: never[]) => unknown>(fn: F) => {
    checkFunction(fn, 'what writes the graph', op);
    const graph = new Graph();
    const [args, { tensors, structure }] = graph.asDefault(() => {
      const given = signature.map(({ dtype, shape, name }, i) =>
        placeholder(dtype, shape, { name: name ?? `args_${i}` }),
      );
      return [given, results(fn(...(given as never[])))] as const;
    });
    const part = graph.part({
      values: tensors.map((t) => graph.valueOf(t)),
      nodes: graph.body.nodes.filter(hasEffect),
      fed: args.map((t) => graph.valueOf(t)),
    });
    const rebuild = rebuilder(structure);
    const call: (...args: never[]) => unknown = (...given: unknown[]) => {
      const inputs = conform(given, signature) as Tensor[];
      return rebuild(part.concrete(inputs.map((t) => t.shape)).run(inputs));
    };
    return Object.assign(call as F, {
      graph,
      variables: graph.globalVariables(),
      trainableVariables: graph.trainableVariables(),
    });
  };
}
