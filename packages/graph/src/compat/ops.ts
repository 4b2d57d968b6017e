import { GradientTape } from '@eagre/autodiff';
import { InvalidArgumentError } from '@eagre/backend';
import { type Tensor, type TensorLike, Variable } from '@eagre/core';
import { context, inContext, inGraphScope, override, scoped, tell } from '@eagre/core/internal';
import { currentGraph } from './entering.ts';
import type { Graph, GraphElement, Operation } from './graph.ts';
import { neededNodes } from './part.ts';
import { hasEffect } from './session-tracer.ts';

/** Lets ops run after others, and those with them: for `fn`, or with `using` until the block ends. */
export function controlDependencies<T>(inputs: readonly GraphElement[], fn: () => T): T;
export function controlDependencies(inputs: readonly GraphElement[]): Disposable;
export function controlDependencies<T>(inputs: readonly GraphElement[], fn?: () => T): T | Disposable {
  const graph = currentGraph('tf.controlDependencies()');
  const nodes = inputs.map((element) => graph.nodeOf(element));
  return scoped(
    () => {
      const leave = override(graph.body, { control: [...new Set([...graph.body.control, ...nodes])] });
      graph.tracer.forgetReads();
      return () => {
        const overlaps = leave();
        graph.tracer.forgetReads();
        return overlaps;
      };
    },
    'controlDependencies',
    fn,
  );
}

/** One operation that runs all of these. */
export function group(inputs: readonly GraphElement[], options: { readonly name?: string } = {}): Operation {
  const graph = currentGraph('tf.group()');
  return graph.group(
    inputs.map((element) => graph.nodeOf(element)),
    options.name,
  );
}

/** An operation that does nothing, after what `controlDependencies` says. */
export function noOp(options: { readonly name?: string } = {}): Operation {
  return currentGraph('tf.noOp()').group([], options.name ?? 'NoOp');
}

/**
 * Runs `fn` once, for what it adds to the graph. @returns the operation that does all that it does: assignments, updates by optimizers of
 * `tf.optimizers`, `tf.print`, calls of traced functions.
 *
 *     const train = tf.compat.v1.effectsOf(() => optimizer.applyGradients(gradients, variables));
 */
export function effectsOf(fn: () => unknown, options: { readonly name?: string } = {}): Operation {
  const graph = currentGraph('tf.effectsOf()');
  const before = graph.body.nodes.length;
  fn();
  return graph.group(graph.body.nodes.slice(before).filter(hasEffect), options.name ?? 'effects');
}

/** The operation that gives these variables their first values. */
export function variablesInitializer(
  variables: readonly Variable[],
  options: { readonly name?: string } = {},
): Operation {
  const graph = currentGraph('tf.variablesInitializer()');
  return graph.group(
    variables.map((v) => graph.initializerOf(v)),
    options.name ?? 'init',
  );
}
/** The operation that gives all variables of the graph so far their first values. */
export function globalVariablesInitializer(): Operation {
  return variablesInitializer(globalVariables());
}
/** The variables of the default graph. @param scope what their names begin with, such as `generator/`; all unless given. */
export function globalVariables(scope?: string): Variable[] {
  return currentGraph('tf.globalVariables()').globalVariables(scope);
}
/** The trainable variables of the default graph. */
export function trainableVariables(scope?: string): Variable[] {
  return currentGraph('tf.trainableVariables()').trainableVariables(scope);
}

/** What is in a collection of the default graph. @param scope what its names begin with; all unless given. */
export function getCollection(name: string, scope?: string): readonly GraphElement[] {
  return currentGraph('tf.getCollection()').getCollection(name, scope);
}
/** Puts something into a collection of the default graph. */
export function addToCollection(name: string, element: GraphElement): void {
  currentGraph('tf.addToCollection()').addToCollection(name, element);
}

/** Gives a variable a value whenever what comes back runs, which is the variable as it is then. */
export function assign(variable: Variable, value: TensorLike): Variable {
  return variable.assign(value);
}
/** Adds to a variable. */
export function assignAdd(variable: Variable, value: TensorLike): Variable {
  return variable.assignAdd(value);
}
/** Subtracts from a variable. */
export function assignSub(variable: Variable, value: TensorLike): Variable {
  return variable.assignSub(value);
}

type Source = Tensor | Variable;

/**
 * Adds the derivatives of the sum of `ys` by each of `xs` to the default graph; null where `ys` do not depend on it.
 * @throws InvalidArgumentError for tensors of another graph.
 */
export function gradients(
  ys: Source | readonly Source[],
  xs: Source | readonly Source[],
  options: { readonly name?: string } = {},
): (Tensor | null)[] {
  const graph = currentGraph('tf.gradients()');
  const list = <T>(of: T | readonly T[]): readonly T[] => (Array.isArray(of) ? of : [of]) as readonly T[];
  const targets = list<Source>(ys).map((y) => known(graph, y instanceof Variable ? y.taken() : y));
  const sources = list<Source>(xs).map((x) => (x instanceof Variable ? x : known(graph, x)));
  if (targets.length === 0) throw new InvalidArgumentError('there is nothing to derive', 'gradients');
  return inGraphScope(options.name ?? 'gradients', () =>
    inContext({ tapes: [] }, () => {
      using tape = new GradientTape({ watchAccessedVariables: false });
      tape.watch(sources);
      replay(graph, targets);
      return tape.gradient(targets, sources) as (Tensor | null)[];
    }),
  );
}

function known(graph: Graph, x: Tensor): Tensor {
  return graph.tracer.tensorOf(graph.valueOf(x));
}

/** Tells tapes of everything that led to these. */
function replay({ body, tracer }: Graph, targets: readonly Tensor[]): void {
  const nodes = targets.map((t) => tracer.valueOf(t).node);
  for (const { what, inputs, attrs, outputs } of neededNodes(body, nodes)) {
    const [value] = outputs;
    if (what.kind === 'variable' && value !== undefined)
      for (const tape of context.tapes) tape.variableRead(what.variable, tracer.tensorOf(value));
    if (what.kind === 'op')
      tell(
        what.op,
        inputs.map((v) => tracer.tensorOf(v)),
        attrs,
        outputs.map((v) => tracer.tensorOf(v)),
      );
  }
}
