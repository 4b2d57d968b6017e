import { InvalidArgumentError } from '@eagre/backend';
import { asIs, defineFunction, isTensor, type NamedFunction, optional } from '../arguments/arguments.ts';
import { checkText, shown } from '../arguments/checks.ts';
import { context, fromOneLine, override, scoped } from '../dispatch/context.ts';
import { Tensor } from '../tensor/tensor.ts';

/** Calls `visit` for every tensor in a value: itself, or in arrays, maps and objects, to any depth. */
export function forEachTensor(value: unknown, visit: (tensor: Tensor) => void): void {
  if (value instanceof Tensor) {
    visit(value);
    return;
  }
  if (Array.isArray(value) && value.every(isTensor)) {
    for (const tensor of value) visit(tensor);
    return;
  }
  const seen = new Set<unknown>();
  // A list and not recursion: long chains of objects are no reason to fail.
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (next instanceof Tensor) visit(next);
    else if (typeof next === 'object' && next !== null && !ArrayBuffer.isView(next) && !seen.has(next)) {
      seen.add(next);
      const items = next instanceof Map || next instanceof Set ? next.values() : Object.values(next);
      for (const item of items) left.push(item);
    }
  }
}

/** A scope of a name: around a function, or until the end of a block. */
export interface ScopeFunction {
  <T>(name: string, fn: () => T): T;
  <T>(
    name: string,
    options: {
      /** What runs in the scope. */
      readonly fn: () => T;
    },
  ): T;
  <T>(options: {
    /** What the scope is called: of `device` the device, `'/gpu:0'`; of `nameScope` what names in it begin with. */
    readonly name: string;
    /** What runs in the scope. */
    readonly fn: () => T;
  }): T;
  (
    name:
      | string
      | {
          /** What the scope is called: of `device` the device, `'/gpu:0'`; of `nameScope` what names in it begin with. */
          readonly name: string;
        },
  ): Disposable;
}
/** @internal As it is declared. */
export type NamedScope<N extends string = 'name'> = NamedFunction<
  [name: string, fn?: () => unknown],
  [N, 'fn'],
  unknown,
  unknown
>;

/** Tensors made while it is current; at its end it gives back all but the kept. */
class MemoryScope {
  readonly #tensors: Tensor[] = [];
  /** Tensors by turns with what they hold; null for none. */
  #held: Tensor[] | null = null;
  readonly outer: typeof context.tracker;
  constructor(outer: typeof context.tracker) {
    this.outer = outer;
  }
  track(tensor: Tensor): void {
    this.#tensors.push(tensor);
  }
  hold(by: Tensor, held: Tensor): void {
    this.#held ??= [];
    this.#held.push(by, held);
  }
  /** What is kept, and what that holds, which the scope around has to keep with it. */
  #withHeld(list: readonly unknown[], held: readonly Tensor[]): readonly unknown[] {
    const all = new Set(list);
    for (let i = 0; i < held.length; i += 2) {
      if (!all.has(held[i]) && !keptForever.has(held[i])) continue;
      all.add(held[i + 1]);
      this.outer?.hold?.(held[i], held[i + 1]);
    }
    return [...all];
  }
  static begin(): MemoryScope {
    const memory = new MemoryScope(context.tracker);
    context.tracker = memory;
    return memory;
  }
  end(result: unknown): void {
    // Scopes inside that nobody ended go with it; one that ends after its outer scope must not bring that back.
    let current = context.tracker;
    while (current instanceof MemoryScope && current !== this) current = current.outer;
    if (current === this) context.tracker = this.outer;
    const tensors = this.#tensors;
    if (tensors.length === 0 && this.#held === null) return;
    let list: readonly unknown[];
    if (Array.isArray(result) && result.every(isTensor)) list = result;
    else {
      const found: Tensor[] = [];
      forEachTensor(result, (t) => found.push(t));
      list = found;
    }
    if (this.#held !== null) list = this.#withHeld(list, this.#held);
    // Most results are a few tensors, which are found sooner in a list.
    const kept = list.length > FEW ? new Set(list) : null;
    for (let i = 0; i < tensors.length; i++) {
      const tensor = tensors[i];
      if (anyKept && keptForever.has(tensor)) continue;
      if (kept === null ? list.includes(tensor) : kept.has(tensor)) this.outer?.track(tensor);
      else tensor.dispose();
    }
  }
}
const FEW = 8;

const keptForever = new WeakSet<Tensor>();
let anyKept = false;

/**
 * A memory scope: runs `fn` and gives the memory of every tensor made inside back at once, except those that it returns (in
 * arrays, maps and objects too), that `keep` was called on, and what variables and running gradient tapes still need.
 * `using _ = tf.experimental.scope()` does the same until the block ends. Nothing requires a scope; it only frees earlier.
 */
export const scope: {
  <T>(fn: () => T): T;
  <T>(options: {
    /** What runs; tensors that it makes and does not return are freed. */
    readonly fn: () => T;
  }): T;
  (): Disposable;
} = defineFunction<NamedFunction<[fn?: () => unknown], ['fn'], unknown, unknown>>(
  'tf.experimental.scope',
  { fn: optional(asIs) },
  {},
  (fn = undefined) => {
    let result: unknown;
    const inner = typeof fn === 'function' ? (): unknown => (result = fn()) : fn;
    return scoped(
      () => {
        const memory = MemoryScope.begin();
        return () => memory.end(result);
      },
      'tf.experimental.scope',
      inner,
    );
  },
) as never;

/** @internal The memory scope of a part of the framework, which gives no promise. */
export function inScope<T>(fn: () => T): T {
  const memory = MemoryScope.begin();
  let result: T | undefined;
  try {
    result = context.tracer === null ? fn() : fromOneLine(fn);
    return result;
  } finally {
    memory.end(result);
  }
}

/** Keeps a tensor beyond the memory scopes that it was made in. */
export const keep: {
  <T extends Tensor>(x: T): T;
  <T extends Tensor>(options: {
    /** The tensor that outlives the scope. */
    readonly x: T;
  }): T;
} = defineFunction<NamedFunction<[x: Tensor], ['x'], unknown, Tensor>>(
  'tf.experimental.keep',
  { x: asIs },
  {},
  (x) => {
    if (!(x instanceof Tensor))
      throw new InvalidArgumentError(`expected a tensor, got ${shown(x)}`, 'tf.experimental.keep');
    keptForever.add(x);
    anyKept = true;
    return x;
  },
) as never;

/** @internal Whether `keep` was called on a tensor, so that nobody but the user may dispose it. */
export function isKept(tensor: Tensor): boolean {
  return keptForever.has(tensor);
}

/** @internal Runs code of the user inside framework code: what it makes is the user's, and no scope gives it back. */
export function outsideScopes<T>(fn: () => T): T {
  const { tracker, origin } = context;
  if (tracker === null && origin === null) return fn();
  context.tracker = null;
  context.origin = null;
  try {
    return fn();
  } finally {
    context.tracker = tracker;
    context.origin = origin;
  }
}

/**
 * Prefixes the names of variables made inside, and of what is added to the graph of a traced function:
 * `tf.nameScope('encoder', fn)`, or `using _ = tf.nameScope('encoder')`. Scopes nest; one that ends in '/' is taken as it is, and an
 * empty one leaves all others. In a graph, the second scope of a name is `encoder_1`.
 */
export const nameScope: ScopeFunction = defineFunction<NamedScope>(
  'tf.nameScope',
  { name: asIs, fn: optional(asIs) },
  {},
  (name, fn = undefined) => {
    checkText(name, 'name', 'tf.nameScope');
    return scoped(() => openNameScope(name), 'tf.nameScope', fn);
  },
) as never;

/** The name scope that is open, without a slash at its end: `encoder/layer`; an empty text where none is. */
export const getCurrentNameScope: NamedFunction<[], [], unknown, string> = defineFunction(
  'tf.getCurrentNameScope',
  {},
  {},
  () => context.nameScope.replace(/\/$/, ''),
);

/** @internal Opens a name scope for variables and graphs. @returns what closes it. */
export function openNameScope(name: string): () => boolean {
  const leave = override(context, {
    nameScope: name === '' || name.endsWith('/') ? name : `${context.nameScope}${name}/`,
  });
  const leaveGraph = context.tracer?.enterScope(name);
  return () => {
    leaveGraph?.();
    return leave();
  };
}
