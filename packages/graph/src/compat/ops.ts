import { GradientTape } from '@eagre/autodiff';
import { InvalidArgumentError } from '@eagre/backend';
import { onesLike, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  checkFunction,
  checkList,
  checkOneOf,
  checkText,
  context,
  defineFunction,
  defineVariadic,
  inContext,
  inGraphScope,
  kind,
  type NamedFunction,
  override,
  recordOnTapes,
  scoped,
  shown,
} from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '../ir/graph.ts';
import { currentGraph } from './entering.ts';
import type { Graph, GraphElement, Operation } from './graph.ts';
import { neededNodes } from './part.ts';
import { hasEffect } from './session-tracer.ts';

/** `controlDependencies` around a function, or until the end of a block. */
export interface ControlDependencies {
  <T>(controlInputs: readonly GraphElement[], fn: () => T): T;
  <T>(
    controlInputs: readonly GraphElement[],
    options: {
      /** Makes the ops that wait. */
      readonly fn: () => T;
    },
  ): T;
  <T>(options: {
    /** What runs before. */
    readonly controlInputs: readonly GraphElement[];
    /** Makes the ops that wait. */
    readonly fn: () => T;
  }): T;
  (
    controlInputs:
      | readonly GraphElement[]
      | {
          /** What runs before. */
          readonly controlInputs: readonly GraphElement[];
        },
  ): Disposable;
}

/** Lets ops run after others, and those with them: for `fn`, or with `using` until the block ends. */
export const controlDependencies: ControlDependencies = defineFunction<
  NamedFunction<
    [controlInputs: readonly GraphElement[], fn?: () => unknown],
    ['controlInputs', 'fn'],
    unknown,
    unknown
  >
>(
  'compat.v1.controlDependencies',
  { controlInputs: kind.asIs, fn: kind.optional(kind.asIs) },
  {},
  (controlInputs, fn = undefined) => {
    const graph = currentGraph('tf.controlDependencies()');
    const nodes = nodesOf(graph, controlInputs, 'controlInputs', 'controlDependencies');
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
  },
) as never;

function nodesOf(graph: Graph, elements: readonly GraphElement[], what: string, op: string): GraphNode[] {
  return checkList(elements, what, op).map((element) => graph.nodeOf(element));
}

/** What an operation is given beside what it does. */
export interface OperationOptions {
  /** In the graph; made unique where it is taken. */
  readonly name?: string;
}

/** `group`: of a list, or of one after the other as in TensorFlow. */
export interface Group {
  (inputs: readonly GraphElement[], options?: OperationOptions | null): Operation;
  (
    args: {
      /** What runs together. */
      readonly inputs: readonly GraphElement[];
    } & OperationOptions,
  ): Operation;
  (...inputs: readonly GraphElement[]): Operation;
  (...args: readonly [...inputs: GraphElement[], options: OperationOptions]): Operation;
}

/** One operation that runs all of these. */
export const group: Group = defineVariadic<Group>(
  'compat.v1.group',
  {},
  'inputs',
  { name: kind.asIs },
  (inputs: readonly (GraphElement | readonly GraphElement[])[], { name }: OperationOptions) => {
    const graph = currentGraph('tf.group()');
    const [first] = inputs;
    const elements = inputs.length === 1 && Array.isArray(first) ? first : inputs;
    return graph.group(
      elements.map((element) => graph.nodeOf(element as GraphElement)),
      nameOr(name, 'group_deps'),
    );
  },
);

/** The name given, or another one. */
function nameOr(name: string | null | undefined, otherwise: string): string {
  if (name !== undefined && name !== null) checkText(name, 'name');
  return name ?? otherwise;
}

/** An operation that does nothing, after what `controlDependencies` says. */
export const noOp: NamedFunction<[], [], OperationOptions, Operation> = defineFunction(
  'compat.v1.noOp',
  {},
  { name: kind.asIs },
  ({ name }) => currentGraph('tf.noOp()').group([], nameOr(name, 'NoOp')),
);

/**
 * Runs `fn` once, for what it adds to the graph. @returns the operation that does all that it does: assignments, updates by optimizers of
 * `tf.optimizers`, `tf.print`, calls of traced functions.
 *
 *     const train = tf.compat.v1.effectsOf(() => optimizer.applyGradients(gradients, variables));
 */
export const effectsOf: NamedFunction<[fn: () => unknown], ['fn'], OperationOptions, Operation> =
  defineFunction('compat.v1.effectsOf', { fn: kind.asIs }, { name: kind.asIs }, (fn, { name }) => {
    checkFunction(fn, 'what has the effects', 'effectsOf');
    const graph = currentGraph('tf.effectsOf()');
    const before = graph.body.nodes.length;
    fn();
    return graph.group(graph.body.nodes.slice(before).filter(hasEffect), nameOr(name, 'effects'));
  });

/** The operation that gives these variables their first values. */
export const variablesInitializer: NamedFunction<
  [varList: readonly Variable[]],
  ['varList'],
  OperationOptions,
  Operation
> = defineFunction(
  'compat.v1.variablesInitializer',
  { varList: kind.asIs },
  { name: kind.asIs },
  (varList, { name }) => {
    const graph = currentGraph('tf.variablesInitializer()');
    return graph.group(
      checkList(varList, 'varList', 'variablesInitializer').map((v) => graph.initializerOf(v)),
      nameOr(name, 'init'),
    );
  },
);
/** The operation that gives all variables of the graph so far their first values. */
export const globalVariablesInitializer: NamedFunction<[], [], unknown, Operation> = defineFunction(
  'compat.v1.globalVariablesInitializer',
  {},
  {},
  () => variablesInitializer(globalVariables()),
);

/** Finds variables of the default graph. */
type VariablesOf = NamedFunction<[scope?: string], ['scope'], unknown, Variable[]>;

/** The variables of the default graph. `scope`: what their names begin with, such as `generator/`; all unless given. */
export const globalVariables: VariablesOf = defineFunction(
  'compat.v1.globalVariables',
  { scope: kind.asIs },
  {},
  (scope = '') => currentGraph('tf.globalVariables()').globalVariables(scope),
);
/** The trainable variables of the default graph. */
export const trainableVariables: VariablesOf = defineFunction(
  'compat.v1.trainableVariables',
  { scope: kind.asIs },
  {},
  (scope = '') => currentGraph('tf.trainableVariables()').trainableVariables(scope),
);

/** What is in a collection of the default graph. `scope`: what its names begin with; all unless given. */
export const getCollection: NamedFunction<
  [key: string, scope?: string],
  ['key', 'scope'],
  unknown,
  readonly GraphElement[]
> = defineFunction(
  'compat.v1.getCollection',
  { key: kind.asIs, scope: kind.asIs },
  {},
  (key, scope: string = '') => currentGraph('tf.getCollection()').getCollection(key, scope),
);
/** Puts something into a collection of the default graph. */
export const addToCollection: NamedFunction<
  [name: string, value: GraphElement],
  ['name', 'value'],
  unknown,
  void
> = defineFunction('compat.v1.addToCollection', { name: kind.asIs, value: kind.asIs }, {}, (name, value) =>
  currentGraph('tf.addToCollection()').addToCollection(name, value),
);

/** Changes a variable whenever what it returns runs, which is the variable as it is then. */
type Assign = NamedFunction<[ref: Variable, value: TensorLike], ['ref', 'value'], unknown, Variable>;

const defineAssign = (name: 'assign' | 'assignAdd' | 'assignSub'): Assign =>
  defineFunction<Assign>(`compat.v1.${name}`, { ref: kind.asIs, value: kind.tensor }, {}, (ref, value) => {
    if (!(ref instanceof Variable))
      throw new InvalidArgumentError(`ref must be a tf.Variable, got ${shown(ref)}`, name);
    return ref[name](value);
  });

/** Gives a variable a value whenever what comes back runs, which is the variable as it is then. */
export const assign: Assign = defineAssign('assign');
/** Adds to a variable. */
export const assignAdd: Assign = defineAssign('assignAdd');
/** Subtracts from a variable. */
export const assignSub: Assign = defineAssign('assignSub');

/** What is derived, and by what. */
export type Source = Tensor | Variable;

/**
 * Adds the derivatives of the sum of `ys` by each of `xs` to the default graph; null where `ys` do not depend on it.
 * @param options.gradYs what each of `ys` is weighted by, of its shape; null for ones
 * @param options.stopGradients what counts as constant: nothing flows through to what it was made of
 * @param options.unconnectedGradients `'zero'` gives zeros where it would be null
 * @throws InvalidArgumentError for tensors of another graph.
 */
export const gradients: NamedFunction<
  [ys: Source | readonly Source[], xs: Source | readonly Source[]],
  ['ys', 'xs'],
  {
    /** Gradients of something beyond the targets, one for each; ones by default. */
    readonly gradYs?: Source | readonly (Source | null)[];
    /** Tensors through which no gradient flows; none by default. */
    readonly stopGradients?: Source | readonly Source[];
    /** What a source gets that no target depends on: null (`none`, the default), or zeros. */
    readonly unconnectedGradients?: 'none' | 'zero';
    /** Before the names of the ops that are made. */
    readonly name?: string;
  },
  (Tensor | null)[]
> = defineFunction(
  'compat.v1.gradients',
  { ys: kind.asIs, xs: kind.asIs },
  { gradYs: kind.asIs, stopGradients: kind.asIs, unconnectedGradients: kind.asIs, name: kind.asIs },
  (ys, xs, { gradYs, stopGradients = [], unconnectedGradients = 'none', name }) => {
    checkOneOf(unconnectedGradients, ['none', 'zero'], 'unconnectedGradients', 'gradients');
    const graph = currentGraph('tf.gradients()');
    const list = <T>(of: T | readonly T[]): readonly T[] => (Array.isArray(of) ? of : [of]) as readonly T[];
    const taken = (x: Source): Tensor => known(graph, x instanceof Variable ? x.taken() : x);
    const targets = list<Source>(ys).map(taken);
    const sources = list<Source>(xs).map((x) => (x instanceof Variable ? x : known(graph, x)));
    // Variables are made of nothing.
    const stopped = list<Source>(stopGradients).filter((x) => !(x instanceof Variable));
    const stops = new Set(stopped.map((x) => graph.tracer.valueOf(known(graph, x as Tensor))));
    if (targets.length === 0)
      throw new InvalidArgumentError('ys is empty, expected at least one tensor', 'gradients');
    return inGraphScope(nameOr(name, 'gradients'), () =>
      inContext({ tapes: [] }, () => {
        const given = gradYs == null ? null : list<Source | null>(gradYs);
        const outputGradients = given?.map((g, i) => (g == null ? onesLike(targets[i] ?? 1) : taken(g)));
        const options = { unconnectedGradients, ...(outputGradients && { outputGradients }) };
        using tape = new GradientTape({ watchAccessedVariables: false });
        tape.watch(sources);
        replay(graph, targets, stops);
        return tape.denseGradient(targets, sources, options);
      }),
    );
  },
);

/**
 * Adds the second derivatives of `ys`, a scalar, by each of `xs` to the default graph: tensors [...x, ...x].
 * @throws FailedPreconditionError in eager mode: use two tapes
 */
export const hessians: NamedFunction<
  [ys: Source, xs: Source | readonly Source[]],
  ['ys', 'xs'],
  {
    /** Before the names of the ops that are made. */
    readonly name?: string;
  },
  Tensor[]
> = defineFunction('hessians', { ys: kind.asIs, xs: kind.asIs }, { name: kind.asIs }, (ys, xs, { name }) => {
  const graph = currentGraph('tf.hessians()');
  const y = known(graph, ys instanceof Variable ? ys.taken() : ys);
  const sources = (Array.isArray(xs) ? xs : [xs]) as readonly Source[];
  if (y.rank !== 0)
    throw new InvalidArgumentError(`ys has shape [${y.shape}], expected a scalar`, 'hessians');
  return inGraphScope(nameOr(name, 'hessians'), () =>
    inContext({ tapes: [] }, () =>
      sources.map((given) => {
        const x = given instanceof Variable ? given : known(graph, given);
        using outer = new GradientTape({ watchAccessedVariables: false });
        outer.watch(x);
        using inner = new GradientTape({ watchAccessedVariables: false });
        inner.watch(x);
        replay(graph, [y]);
        const first = inner.gradient(y, x, { unconnectedGradients: 'zero' }) as Tensor;
        return outer.jacobian(first, x, { unconnectedGradients: 'zero' }) as Tensor;
      }),
    ),
  );
});

function known(graph: Graph, x: Tensor): Tensor {
  if (!(x instanceof Tensor))
    throw new InvalidArgumentError(`expected tensors and variables, got ${shown(x)}`, 'gradients');
  return graph.tracer.tensorOf(graph.valueOf(x));
}

/** Tells tapes of everything that led to these, but not of what led to `stops`. */
function replay(
  { body, tracer }: Graph,
  targets: readonly Tensor[],
  stops: ReadonlySet<GraphValue> = new Set(),
): void {
  const nodes = targets.map((t) => tracer.valueOf(t).node);
  for (const { what, inputs, attrs, outputs } of neededNodes(body, nodes)) {
    const [value] = outputs;
    if (what.kind === 'variable' && value !== undefined)
      for (const tape of context.tapes) tape.variableRead(what.variable, tracer.tensorOf(value));
    if (what.kind === 'op' && !outputs.some((v) => stops.has(v)))
      recordOnTapes(
        what.op,
        inputs.map((v) => tracer.tensorOf(v)),
        attrs,
        outputs.map((v) => tracer.tensorOf(v)),
      );
  }
}
