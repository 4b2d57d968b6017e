// TensorFlow 1's variables by name: `getVariable` makes them or shares them, as the scope around it says.
import { type DType, dtypeTraits, InvalidArgumentError } from '@eagre/backend';
import { random, type Shape, type Tensor, type TensorLike, Variable, zeros as zeroTensor } from '@eagre/core';
import {
  context,
  declareAs,
  defineFunction,
  defineMethods,
  inContext,
  inInitScope,
  kind,
  type NamedFunction,
  outsideScopes,
  override,
  sameShape,
  scoped,
  showShape,
} from '@eagre/core/internal';
import { currentGraph } from './entering.ts';
import { type Graph, GraphKeys } from './graph.ts';

/** As `reuse`: variables that exist are shared, others are made. */
export const AUTO_REUSE = 'autoReuse';
/** Whether `getVariable` shares a variable that exists (true), makes a new one (false), or does what fits. */
export type Reuse = boolean | typeof AUTO_REUSE;
/** Makes a first value, such as `tf.initializers.zeros()`. */
export type VariableInitializer = (shape: Shape, dtype: DType) => TensorLike;
/** What a weight costs, such as `tf.keras.regularizers.l2(0.01)`: a scalar. */
export type VariableRegularizer = (weight: Tensor) => Tensor;

/** What a scope says of the variables that are asked for in it. */
export interface VariableDefaults {
  /** The first value, or what makes it of shape and dtype; that of the scope unless given, else Glorot's uniform numbers, and 0 of integers. */
  readonly initializer?: VariableInitializer | TensorLike | null;
  /** A penalty on the variable, whose value goes into the collection `REGULARIZATION_LOSSES`; that of the scope unless given. */
  readonly regularizer?: VariableRegularizer | null;
  /** That of the scope unless given, else float32. */
  readonly dtype?: DType;
}

/** Options of `variableScope`: what variables in it have that say nothing else. */
export interface VariableScopeOptions extends VariableDefaults {
  /** That of the scope around it unless given; scopes inside of one that reuses do so too. */
  readonly reuse?: Reuse;
  /** The name where no other is given, made unique with `_1`, `_2`, …: `variableScope(null, { defaultName: 'dense' }, fn)`. */
  readonly defaultName?: string;
  /** Whether ops get a name scope as well; true by default. */
  readonly auxiliaryNameScope?: boolean;
}

/** Options of `getVariable`. */
export interface GetVariableOptions extends VariableDefaults {
  /** Whether optimizers train it; true by default. */
  readonly trainable?: boolean;
}

/** A scope for `getVariable`: can be opened again by giving it to `variableScope`. */
export class VariableScope {
  /** `encoder/dense`; empty for the outermost. */
  readonly name: string;
  /** `encoder/dense/`: the name scope of its ops when it was opened. */
  readonly originalNameScope: string;
  readonly defaults: VariableDefaults;
  #reuse: Reuse;

  /** @internal */
  constructor(name: string, originalNameScope: string, reuse: Reuse, defaults: VariableDefaults) {
    this.name = name;
    this.originalNameScope = originalNameScope;
    this.#reuse = reuse;
    this.defaults = defaults;
  }

  get reuse(): Reuse {
    return this.#reuse;
  }
  /** From here on `getVariable` shares variables in this scope. */
  reuseVariables(): void {
    this.#reuse = true;
  }
}

defineMethods(VariableScope.prototype, 'VariableScope', { reuseVariables: {} });

/** The variables of a graph by name, and its scopes. */
class Store {
  readonly variables = new Map<string, Variable>();
  /** How often each scope was opened, for unique names. */
  readonly counts = new Map<string, number>();
  current: VariableScope = new VariableScope('', '', false, {});

  /** `dense`, or with a number behind it where that scope has been open. */
  unique(wanted: string): string {
    const inside = this.current.name === '' ? '' : `${this.current.name}/`;
    let name = wanted;
    for (let i = 1; (this.counts.get(inside + name) ?? 0) > 0; i++) name = `${wanted}_${i}`;
    return name;
  }
}

const stores = new WeakMap<Graph, Store>();

function storeOf(graph: Graph): Store {
  let store = stores.get(graph);
  if (store === undefined) stores.set(graph, (store = new Store()));
  return store;
}

/** The scope that `getVariable` is in. @throws FailedPreconditionError in eager mode. */
export const getVariableScope: NamedFunction<[], [], unknown, VariableScope> = defineFunction(
  'compat.v1.getVariableScope',
  {},
  {},
  () => storeOf(currentGraph('tf.getVariableScope()')).current,
);

/** What opens a scope: a name inside of the current one, a scope to open again, or null with `defaultName`. */
export type NameOrScope = string | VariableScope | null;

/** `variableScope` around a function, or until the end of a block. The options may also stand in front of the function. */
export interface VariableScopeFunction {
  <T>(nameOrScope: NameOrScope, options: VariableScopeOptions, fn: (scope: VariableScope) => T): T;
  <T>(nameOrScope: NameOrScope, fn: (scope: VariableScope) => T, options?: VariableScopeOptions | null): T;
  <T>(
    nameOrScope: NameOrScope,
    options: VariableScopeOptions & {
      /** What runs in the scope. */
      readonly fn: (scope: VariableScope) => T;
    },
  ): T;
  <T>(
    options: VariableScopeOptions & {
      /** Before the names of variables, or a scope that is gone on with. */
      readonly nameOrScope: NameOrScope;
      /** What runs in the scope. */
      readonly fn: (scope: VariableScope) => T;
    },
  ): T;
  (nameOrScope: NameOrScope, options?: VariableScopeOptions | null): Disposable;
  (
    options: VariableScopeOptions & {
      /** Before the names of variables, or a scope that is gone on with. */
      readonly nameOrScope: NameOrScope;
    },
  ): Disposable;
}

const scopeAround = defineFunction<
  NamedFunction<
    [nameOrScope: NameOrScope, fn?: (scope: VariableScope) => unknown],
    ['nameOrScope', 'fn'],
    VariableScopeOptions,
    unknown
  >
>(
  'compat.v1.variableScope',
  { nameOrScope: kind.asIs, fn: kind.optional(kind.asIs) },
  {
    defaultName: kind.asIs,
    initializer: kind.asIs,
    regularizer: kind.asIs,
    reuse: kind.asIs,
    dtype: kind.asIs,
    auxiliaryNameScope: kind.asIs,
  },
  (nameOrScope, fn = undefined, options) => {
    const graph = currentGraph('tf.variableScope()');
    const store = storeOf(graph);
    return scoped(
      () => openScope(graph, store, nameOrScope, options),
      'tf.variableScope',
      typeof fn === 'function' ? () => fn(store.current) : fn,
    );
  },
);

/**
 * Opens a scope: names of variables from `getVariable`, and of ops, begin with its name, for `fn` or with `using` until the block ends.
 *
 *     v1.variableScope('layer', { reuse: v1.AUTO_REUSE }, () => v1.getVariable('w', [2, 3]));   // layer/w
 *
 * `nameOrScope` is a name inside of the current scope, a scope to open again, or null with `defaultName`.
 * @throws InvalidArgumentError without any name; FailedPreconditionError in eager mode.
 */
export const variableScope: VariableScopeFunction = declareAs((...args: readonly unknown[]): never => {
  const [nameOrScope, options, fn] = args;
  const ordered = args.length === 3 && typeof fn === 'function' ? [nameOrScope, fn, options] : args;
  return scopeAround(...(ordered as Parameters<typeof scopeAround>)) as never;
}, scopeAround);

function openScope(
  graph: Graph,
  store: Store,
  nameOrScope: NameOrScope,
  { reuse, defaultName, auxiliaryNameScope = true, ...given }: VariableScopeOptions,
): () => boolean {
  const before = store.current;
  const op = 'tf.variableScope';
  let again: VariableScope | null = null;
  let part: string;
  if (nameOrScope instanceof VariableScope) {
    again = nameOrScope;
    part = again.name.split('/').at(-1) as string;
  } else if (typeof nameOrScope === 'string') part = nameOrScope;
  else if (nameOrScope !== null)
    throw new InvalidArgumentError('VariableScope: nameOrScope must be a string or VariableScope.', op);
  else if (defaultName === undefined)
    throw new InvalidArgumentError('If defaultName is undefined then nameOrScope is required', op);
  else if (reuse !== undefined && reuse !== false)
    throw new InvalidArgumentError('reuse=true cannot be used without a nameOrScope', op);
  else part = store.unique(defaultName);

  const full =
    again?.name ?? (before.name === '' ? part : part === '' ? before.name : `${before.name}/${part}`);
  const inherited = again ?? before;
  const leave = auxiliaryNameScope && part !== '' ? graph.body.enterScope(part) : null;
  // Variables that are made by themselves have the name scope too.
  const leaveNames = leave === null ? null : override(context, { nameScope: graph.body.nameScope });
  const wanted = reuse === undefined || reuse === false ? inherited.reuse : reuse;
  const scopeName = again?.originalNameScope ?? graph.body.nameScope;
  const current = new VariableScope(full, scopeName, wanted, { ...inherited.defaults, ...given });
  const leaveVariables = override(store, { current });
  store.counts.set(full, (store.counts.get(full) ?? 0) + 1);
  return () => {
    // Names count anew where a scope is opened again.
    for (const name of store.counts.keys()) if (name.startsWith(`${full}/`)) store.counts.set(name, 0);
    leave?.();
    leaveNames?.();
    return leaveVariables();
  };
}

/**
 * The variable of that name in the current scope: made, or shared where the scope says `reuse`.
 * `shape` may be left out for one that exists, and where the initializer is a value.
 * `initializer`: that of the scope unless given, or else Glorot's uniform one for floats and zeros for the rest.
 * `regularizer`: its value goes into the collection `GraphKeys.REGULARIZATION_LOSSES` when the variable is made.
 * @throws InvalidArgumentError for one that exists and must not, or must and does not, or is of another shape or dtype, and for a new one
 * without a shape; FailedPreconditionError in eager mode.
 */
export const getVariable: NamedFunction<
  [name: string, shape?: Shape | null],
  ['name', 'shape'],
  GetVariableOptions,
  Variable
> = defineFunction(
  'compat.v1.getVariable',
  { name: kind.asIs, shape: kind.shape },
  { dtype: kind.asIs, initializer: kind.asIs, regularizer: kind.asIs, trainable: kind.asIs },
  (name, shape: Shape | null = null, options) => variableOf(name, shape, options),
);

function variableOf(name: string, shape: Shape | null, options: GetVariableOptions): Variable {
  const op = 'tf.getVariable';
  const graph = currentGraph('tf.getVariable()');
  const store = storeOf(graph);
  const { current } = store;
  if (typeof name !== 'string' || name === '') throw new InvalidArgumentError('getVariable needs a name', op);
  const full = current.name === '' ? name : `${current.name}/${name}`;
  const found = store.variables.get(full);
  const { dtype, initializer, regularizer } = { ...current.defaults, ...options };
  if (found !== undefined) {
    if (current.reuse === false)
      throw new InvalidArgumentError(
        `Variable ${full} already exists, disallowed. Did you mean to set reuse: true or reuse: AUTO_REUSE in variableScope?`,
        op,
      );
    if (shape !== null && !sameShape(shape, found.shape))
      throw new InvalidArgumentError(
        `Trying to share variable ${full}, but specified shape ${showShape(shape)} and found shape ${showShape(found.shape)}.`,
        op,
      );
    if (options.dtype !== undefined && options.dtype !== found.dtype)
      throw new InvalidArgumentError(
        `Trying to share variable ${full}, but specified dtype ${options.dtype} and found dtype ${found.dtype}.`,
        op,
      );
    return found;
  }
  if (current.reuse === true)
    throw new InvalidArgumentError(
      `Variable ${full} does not exist, or was not created with getVariable(). Did you mean to set reuse: AUTO_REUSE in variableScope?`,
      op,
    );
  const variable = inContext({ nameScope: '' }, () =>
    outsideScopes(() => {
      const first = inInitScope(() => firstValue(full, shape, dtype, initializer ?? null));
      return new Variable(first, {
        name: full,
        trainable: options.trainable ?? true,
        ...(dtype === undefined ? {} : { dtype }),
      });
    }),
  );
  store.variables.set(full, variable);
  if (regularizer !== undefined && regularizer !== null) {
    const leave = graph.body.enterScope(`${full}/Regularizer/`);
    try {
      graph.addToCollection(GraphKeys.REGULARIZATION_LOSSES, regularizer(variable.read()));
    } finally {
      leave();
    }
  }
  return variable;
}

function firstValue(
  name: string,
  shape: Shape | null,
  dtype: DType | undefined,
  initializer: VariableInitializer | TensorLike | null,
): TensorLike {
  const op = 'tf.getVariable';
  if (initializer !== null && typeof initializer !== 'function') {
    if (shape !== null)
      throw new InvalidArgumentError('If initializer is a constant, do not specify shape.', op);
    return initializer;
  }
  if (shape === null)
    throw new InvalidArgumentError(
      initializer === null
        ? `Variable ${name} did not get an initializer, so its \`shape\` argument must be specified.`
        : `Shape of a new variable (${name}) must be fully defined, but instead was <unknown>.`,
      op,
    );
  const type = dtype ?? 'float32';
  if (initializer !== null) return initializer(shape, type);
  if (type === 'string')
    throw new InvalidArgumentError(`An initializer for variable ${name} of string is required`, op);
  return dtypeTraits[type].floating
    ? glorotUniform(shape, type as 'float32' | 'float64')
    : zeroTensor(shape, { dtype: type });
}

/** Uniform within ±√(6 / (fan in + fan out)): Glorot and Bengio, 2010. */
function glorotUniform(shape: Shape, dtype: 'float32' | 'float64'): Tensor {
  const field = shape.slice(0, -2).reduce((n, d) => n * d, 1);
  const fanOut = (shape.at(-1) ?? 1) * field;
  const fanIn = (shape.at(-2) ?? shape.at(-1) ?? 1) * field;
  const limit = Math.sqrt(6 / Math.max(1, fanIn + fanOut));
  return random.uniform(shape, { minval: -limit, maxval: limit, dtype });
}
