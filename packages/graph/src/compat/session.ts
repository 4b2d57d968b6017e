import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  type Arguments,
  ambient,
  argumentsOf,
  checkList,
  defineFunction,
  defineMethods,
  isCompatible,
  kind,
  type NamedFunction,
  override,
  partialShape,
  scoped,
  shown,
  showShape,
  symbolic,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';
import { graphRuns } from '../inspect/graph-trace.ts';
import type { GraphValue } from '../ir/graph.ts';
import { isUnknownRank } from '../tracing/unknown-rank.ts';
import { getDefaultGraph } from './default-graph.ts';
import { enterGraph } from './entering.ts';
import { type Collected, collectFetches, type Fetched, type Fetches } from './fetches.ts';
import { Graph } from './graph.ts';
import { AssignedVariable, eagerly, valueOfItsOwn } from './session-tracer.ts';

/** What can be given a value for a run: a placeholder, any other tensor, a variable (for this run only), or a tensor's name: `'x:0'`. */
export type FeedKey = Tensor | Variable | string;
/** Values of a run, by what they are for. */
export type Feed = ReadonlyMap<FeedKey, TensorLike>;

/** What a session runs. */
export interface SessionOptions {
  /** The default graph unless given. */
  readonly graph?: Graph;
}

/** How `run` runs. */
export interface RunOptions {
  /** What is given a value for this run, and the values. */
  readonly feedDict?: Feed | null;
}

/** What the function that `makeCallable` gives takes. */
export interface CallableOptions {
  /** What its arguments are fed to, in order. */
  readonly feedList?: readonly FeedKey[] | null;
}

/**
 * Runs parts of a graph. Each session has values of its own for the variables that were made in the graph; variables from elsewhere
 * are what they are.
 *
 *     using session = new tf.compat.v1.Session({ graph });
 *     session.run(init);
 *     const [, value] = session.run([trainStep, loss], { feedDict: new Map([[x, batch]]) });
 */
export class Session {
  /** The graph whose operations are run. */
  readonly graph: Graph;
  readonly #values = new Map<Variable, Tensor>();
  #closed = false;

  constructor(...args: [options?: SessionOptions | null]) {
    const { graph = getDefaultGraph() } = argumentsOf<SessionOptions>(Session, new.target, args);
    if (!(graph instanceof Graph))
      throw new InvalidArgumentError(`graph must be a Graph, got ${shown(graph)}`, 'Session');
    this.graph = graph;
  }

  /**
   * Computes what is fetched, with all that it needs and nothing else: an assignment that nobody fetches, or names as a control
   * dependency of something fetched, does not happen. What runs runs in the order in which it was written; a variable that is fetched
   * itself is as it was before.
   * @returns eager tensors in the structure of the fetches; null for operations.
   * @throws InvalidArgumentError for a placeholder without a value, values of another dtype or shape, and what is not in the graph;
   * FailedPreconditionError for variables without a value, and when the session is closed.
   */
  run<const F extends Fetches>(
    args: {
      /** What is computed: a tensor, an operation, a name, or several in lists and objects. */
      readonly fetches: F;
    } & RunOptions,
  ): Fetched<F>;
  run<const F extends Fetches>(fetches: F, options?: RunOptions | null): Fetched<F>;
  run<const F extends Fetches>(fetches: F, { feedDict = null }: RunOptions = {}): Fetched<F> {
    this.#open('Session.run');
    if (feedDict !== null && !(feedDict instanceof Map))
      throw new InvalidArgumentError(
        `feedDict must be a map: write { feedDict: new Map([[placeholder, value]]) }; got ${shown(feedDict)}`,
        'Session.run',
      );
    const feed = [...(feedDict ?? [])];
    return this.#prepared(
      fetches,
      feed.map(([key]) => key),
    )(feed.map(([, value]) => value));
  }

  /**
   * A function that runs always the same: its arguments are the values of what `feedList` names.
   *
   *     const step = session.makeCallable([train, loss], { feedList: [x, y] });
   *     const [, value] = step(images, labels);
   *
   * @throws what `run` throws; InvalidArgumentError (the call) for another number of arguments.
   */
  makeCallable<const F extends Fetches>(
    args: {
      /** What is computed: a tensor, an operation, a name, or several in lists and objects. */
      readonly fetches: F;
    } & CallableOptions,
  ): (...values: readonly TensorLike[]) => Fetched<F>;
  makeCallable<const F extends Fetches>(
    fetches: F,
    options?: CallableOptions | null,
  ): (...values: readonly TensorLike[]) => Fetched<F>;
  makeCallable<const F extends Fetches>(
    fetches: F,
    options: CallableOptions = {},
  ): (...values: readonly TensorLike[]) => Fetched<F> {
    this.#open('Session.makeCallable');
    const feedList = checkList(options.feedList ?? [], 'feedList', 'Session.makeCallable');
    const run = this.#prepared(fetches, feedList);
    return (...values) => {
      this.#open('Session.makeCallable');
      if (values.length !== feedList.length)
        throw new InvalidArgumentError(
          `Expected ${feedList.length} feed values but got ${values.length}`,
          'Session.makeCallable',
        );
      return run(values);
    };
  }

  #open(op: string): void {
    if (this.#closed) throw new FailedPreconditionError('Attempted to use a closed Session.', op);
  }

  /** What computes fetches from the values of these. */
  #prepared<F extends Fetches>(
    fetches: F,
    keys: readonly FeedKey[],
  ): (values: readonly TensorLike[]) => Fetched<F> {
    const { values, nodes }: Collected = { values: [], nodes: [] };
    const fill = collectFetches(this, fetches, { values, nodes });
    const fed = keys.map((key) => this.#element(key));
    const part = this.graph.part({ values, nodes, fed });
    return (given) => {
      const inputs = fed.map((element, i) => this.#fed(element, given[i]));
      const concrete = part.concrete(inputs.map((t) => t.shape));
      const results = this.#withValues(part.read, part.variables, () => {
        graphRuns(concrete.graph);
        return concrete.run(inputs);
      });
      return fill(results) as Fetched<F>;
    };
  }

  /** Makes this the default session for `fn`, or with `using _ = session.asDefault()` until the block ends. */
  asDefault<T>(fn: () => T): T;
  asDefault<T>(options: {
    /** What runs while the session is the default one. */
    readonly fn: () => T;
  }): T;
  asDefault(): Disposable;
  asDefault(fn?: unknown): unknown {
    return scoped(() => enterSession(this), 'Session.asDefault', fn as (() => unknown) | undefined);
  }

  /** Whether the session has a value for a variable of its graph. */
  isInitialized(...args: Arguments<[variable: Variable], ['variable']>): boolean;
  isInitialized(variable: Variable): boolean {
    return this.#values.has(variable) || !this.graph.tracer.owned.has(variable);
  }

  /** Gives variables of the graph values, as their initializers would. @throws InvalidArgumentError for values that do not fit. */
  load(...args: Arguments<[values: ReadonlyMap<Variable, TensorLike>], ['values']>): void;
  load(values: ReadonlyMap<Variable, TensorLike>): void {
    if (!(values instanceof Map))
      throw new InvalidArgumentError(
        `values must be a map: write new Map([[variable, value]]); got ${shown(values)}`,
        'Session.load',
      );
    for (const [variable, value] of values) {
      this.graph.initializerOf(variable);
      this.#withValues([], [variable], () => variable.assign(value));
    }
  }

  /** @internal Gives variables values, whether they are the graph's or were made in eager mode. */
  restore(values: ReadonlyMap<Variable, Tensor>): void {
    for (const [variable, value] of values) {
      if (this.graph.tracer.owned.has(variable)) this.load(new Map([[variable, value]]));
      else eagerly(() => variable.assign(value));
    }
  }

  /** Ends the session and gives back the values of its variables. */
  close(): void {
    this.#closed = true;
    for (const value of this.#values.values()) value.dispose();
    this.#values.clear();
  }
  [Symbol.dispose](): void {
    this.close();
  }

  /** Runs `fn` outside of the graph, while variables have this session's values. */
  #withValues<T>(read: readonly Variable[], used: readonly Variable[], fn: () => T): T {
    for (const variable of read)
      if (!this.isInitialized(variable))
        throw new FailedPreconditionError(
          `Attempting to use uninitialized value ${variable.path}`,
          'Session.run',
        );
    const own = used.filter((v) => this.graph.tracer.owned.has(v));
    // One without a value is about to be assigned to, and needs memory only.
    const outside = own.map((v) => v.exchange(this.#values.get(v) ?? valueOfItsOwn(v)));
    const inside = (): Tensor[] => own.map((v, i) => v.exchange(outside[i]));
    let result: T;
    try {
      result = eagerly(fn);
    } catch (error) {
      inside().forEach((value, i) => {
        const variable = own[i];
        if (this.#values.has(variable)) this.#values.set(variable, value);
        else value.dispose();
      });
      throw error;
    }
    inside().forEach((value, i) => {
      this.#values.set(own[i], value);
    });
    return result;
  }

  /** What in the graph is fed. */
  #element(key: FeedKey): GraphValue | Variable {
    if (key instanceof AssignedVariable) return this.graph.assignmentOf(key).outputs[0];
    if (key instanceof Variable) return key;
    const tensor = typeof key === 'string' ? this.graph.getTensorByName(key) : key;
    if (!(tensor instanceof Tensor))
      throw new InvalidArgumentError(
        `the keys of feedDict must be tensors, variables or names of tensors, got ${shown(tensor)}`,
        'Session.run',
      );
    if (tensor.backend !== symbolic)
      throw new InvalidArgumentError('a constant cannot be fed: use a placeholder', 'Session.run');
    return this.graph.valueOf(tensor);
  }

  /** The value that something is fed, checked. */
  #fed(value: GraphValue | Variable, given: TensorLike): Tensor {
    const { dtype, shape } = value;
    const name = 'node' in value ? `${value.node.name}:${value.index}` : value.path;
    const tensor = eagerly(() =>
      toTensor(given, dtype, !(given instanceof Tensor || given instanceof Variable)),
    );
    if (tensor.backend === symbolic)
      throw new InvalidArgumentError(`the value for '${name}' is a tensor of a graph`, 'Session.run');
    if (tensor.dtype !== dtype)
      throw new InvalidArgumentError(
        `Cannot feed value of dtype ${tensor.dtype} for Tensor '${name}', which is ${dtype}`,
        'Session.run',
      );
    const partial = partialShape(shape);
    if (!('node' in value && isUnknownRank(value)) && !isCompatible(tensor.shape, partial))
      throw new InvalidArgumentError(
        `Cannot feed value of shape ${showShape(tensor.shape)} for Tensor '${name}', which has shape ${showShape(partial)}`,
        'Session.run',
      );
    return tensor;
  }
}

takesArguments<SessionOptions>({ names: { graph: true } }, Session);
defineMethods(Session.prototype, 'Session', {
  run: { positional: ['fetches'], objects: ['fetches'], options: { feedDict: true } },
  makeCallable: { positional: ['fetches'], objects: ['fetches'], options: { feedList: true } },
  asDefault: { positional: ['fn'], required: 0 },
  isInitialized: { positional: ['variable'] },
  load: { positional: ['values'] },
  restore: { positional: ['values'] },
  close: {},
});

const defaults = ambient<{ session: Session | null }>({ session: null });

function enterSession(session: Session): () => boolean {
  return override(defaults, { session });
}

/** The innermost session of `asDefault`; null where there is none. */
export const getDefaultSession: NamedFunction<[], [], unknown, Session | null> = defineFunction(
  'compat.v1.getDefaultSession',
  {},
  {},
  () => defaults.session,
);

/** How `evaluate` runs. */
export interface EvaluateOptions extends RunOptions {
  /** The default session unless given. */
  readonly session?: Session | null;
}

/** `getDefaultSession().run(…)`, or that of another session. */
export interface Evaluate {
  <const F extends Fetches>(
    args: {
      /** What is computed: a tensor, an operation, a name, or several in lists and objects. */
      readonly fetches: F;
    } & EvaluateOptions,
  ): Fetched<F>;
  <const F extends Fetches>(fetches: F, options?: EvaluateOptions | null): Fetched<F>;
}

/** `getDefaultSession().run(…)`. @throws FailedPreconditionError without a default session. */
export const evaluate: Evaluate = defineFunction<
  NamedFunction<[fetches: Fetches], ['fetches'], EvaluateOptions, unknown>
>(
  'compat.v1.evaluate',
  { fetches: kind.structure },
  { feedDict: kind.asIs, session: kind.asIs },
  (fetches, { session: given = null, ...options }) => {
    const session = given ?? getDefaultSession();
    if (session === null)
      throw new FailedPreconditionError(
        'No default session is registered. Use session.asDefault() or pass an explicit session: evaluate(x, { session })',
        'evaluate',
      );
    return session.run(fetches, options);
  },
) as never;

/** A session that is the default one, with its graph, until it is closed: for `evaluate` without naming it. */
export class InteractiveSession extends Session {
  #leave: (() => void)[] = [];

  constructor(...args: [options?: SessionOptions | null]) {
    super(...(args as [SessionOptions?]));
    // Sessions may be closed in any order.
    this.#leave = [enterGraph(this.graph), enterSession(this)];
  }

  override close(): void {
    for (const leave of this.#leave.splice(0).reverse()) leave();
    super.close();
  }
}

defineMethods(InteractiveSession.prototype, 'InteractiveSession', { close: {} });
