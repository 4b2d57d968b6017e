import { InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import {
  checkFunction,
  checkList,
  defineFunction,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { conform } from '../tracing/signature.ts';
import { rebuilder, results } from '../tracing/structure.ts';
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

type AnyFunction = (...args: never[]) => unknown;

/** What makes a graph of a function. */
export interface MakeGraphCallable {
  <F extends AnyFunction>(fn: F): GraphCallable<F>;
  <F extends AnyFunction>(args: { readonly fn: F }): GraphCallable<F>;
}

const OP = 'tf.experimental.graphCallable';

/**
 * Makes code that was written for graphs a function for eager mode: it runs once, now, on placeholders, and may make variables; each
 * call runs the graph, with all that it assigns. Gradients flow through, to the variables too.
 *
 *     const model = tf.experimental.graphCallable([new tf.TensorSpec([null, 2])])((x: tf.Tensor) => x.matmul(new tf.Variable(…)));
 *     model(batch);
 *
 * @throws InvalidArgumentError (the call) for arguments that do not fit the specs.
 */
export const graphCallable: NamedFunction<
  [signature: readonly TensorSpec[]],
  ['signature'],
  unknown,
  MakeGraphCallable
> = defineFunction(OP, { signature: kind.asIs }, {}, (signature) => {
  for (const [i, spec] of checkList(signature, 'the list of specs', OP).entries())
    if (!(spec instanceof TensorSpec))
      throw new InvalidArgumentError(`spec ${i} is ${shown(spec)}, expected a tf.TensorSpec`, OP);
  return defineFunction<NamedFunction<[fn: AnyFunction], ['fn'], unknown, unknown>>(
    `${OP}(signature)`,
    { fn: kind.asIs },
    {},
    (fn) => callableOf(signature, fn),
  ) as MakeGraphCallable;
});

function callableOf(signature: readonly TensorSpec[], fn: AnyFunction): GraphCallable<AnyFunction> {
  checkFunction(fn, 'what writes the graph', OP);
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
  return Object.assign(call, {
    graph,
    variables: graph.globalVariables(),
    trainableVariables: graph.trainableVariables(),
  });
}
