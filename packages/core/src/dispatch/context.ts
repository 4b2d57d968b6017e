import {
  type AttrValue,
  type Backend,
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  type KernelName,
  placement,
  preferredBackend,
} from '@eagre/backend';
import { isRefusedPromise } from '../arguments/promises.ts';
import type { DimExpr, Dims } from '../shapes/dim.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { Variable } from '../tensor/variable.ts';
import { namedBackend } from './backends.ts';
import type { HostFunction, HostOutput, PortableForm } from './host.ts';
import type { Attrs, Op } from './op.ts';
import type { PortableCall } from './portable.ts';

/** Sees every op that runs while it is in `context.tapes`. Gradient tapes are such observers. */
export interface TapeObserver {
  /** Whether one op may stand for a whole call of a traced function. */
  readonly takesCalls?: boolean;
  /** Whether a tensor depends on something watched. */
  follows?(tensor: Tensor): boolean;
  record(op: Op, inputs: readonly Tensor[], attrs: Attrs, outputs: readonly Tensor[]): void;
  /** A variable's value was taken as the input of an op or read by the user. */
  variableRead(variable: Variable, value: Tensor): void;
}

/** Collects the tensors made inside a memory scope. */
export interface TensorTracker {
  track(tensor: Tensor): void;
  /** Keeps `held` for as long as `by` is kept. */
  hold?(by: Tensor, held: Tensor): void;
}

/** Writes ops down instead of computing them, while a function is traced. */
export interface Tracer {
  /** What the names of nodes begin with: `encoder/dense/`, or nothing. */
  readonly nameScope: string;
  /**
   * Opens a name scope for the nodes that follow: in the current one and under a name of its own, or exactly this one if it ends in '/'
   * or is empty. @returns what closes it.
   */
  enterScope(name: string): () => void;
  /** Places the nodes that follow as the one that made `of`, unless they are placed, or there is none. @returns what ends that. */
  enterPlace(of: Tensor | undefined): () => void;
  /** Whether the trace is made to be written, and not to run. Strings may differ from run to run there. */
  readonly forFile: boolean;
  execute(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[];
  /** Adds an op of TensorFlow that does not run here. */
  portable(call: PortableCall): readonly Tensor[];
  /** The symbolic value of a variable at this place of the function. */
  read(variable: Variable): Tensor;
  /** What the variable will be from here on. @returns what the caller gets: the variable, or what stands for it after this assignment. */
  assign(variable: Variable, value: Tensor): Variable;
  /** A kernel that changes variables in place; `written[i]` is the variable whose value is `inputs[at[i]]`. */
  update(
    kernel: KernelName,
    inputs: readonly Tensor[],
    written: readonly Variable[],
    at: readonly number[],
    attrs: Readonly<Record<string, AttrValue>>,
  ): void;
  /** Code of the host that runs, with values, whenever the function runs. */
  host(
    name: string,
    fn: HostFunction,
    inputs: readonly Tensor[],
    outputs: readonly HostOutput[],
    early?: boolean,
    portable?: PortableForm,
  ): readonly Tensor[];
  /**
   * The value that a symbolic tensor has at every run, because it depends on no argument; null if it does. `draws`: random numbers are
   * drawn for it, instead of counting as unknown.
   */
  constant(x: Tensor, draws?: boolean): Tensor | null;
  /**
   * The integers of a symbolic tensor that is a constant, or made of sizes of arguments (expressions for those that are not known), and its
   * truths as 1 and 0; null for others.
   */
  integers(x: Tensor): Dims | null;
  /** The integers of a symbolic tensor as sizes that only its runs know; null where those may not depend on values. */
  measured(x: Tensor): Dims | null;
  /** A number that is made of sizes that are not known. */
  size(size: DimExpr, dtype: DType): Tensor;
  /** `values` with a gradient of their own: a function of the values' gradients that gives those of the inputs. */
  withGradient(
    values: readonly Tensor[],
    inputs: readonly Tensor[],
    gradient: (...dys: Tensor[]) => readonly (Tensor | null)[],
  ): readonly Tensor[];
  /** Adds what a call of a traced function does. Where only parts of a graph run, whoever needs a result of it needs all of its effects. */
  called(call: () => readonly Tensor[]): readonly Tensor[];
  /** @throws InvalidArgumentError where no variable may be made any more. */
  created(variable: Variable): void;
}

/** What is current in this thread of JavaScript. One object, so that the hot path loads one field. */
export interface Context {
  tapes: readonly TapeObserver[];
  tracker: TensorTracker | null;
  backend: Backend | null;
  nameScope: string;
  /** What `tf.device` says of the ops of graphs: `/device:CPU:0`, or nothing. */
  placement: string;
  tracer: Tracer | null;
  /** While library code adds to a trace: where it was called. */
  origin: Error | null;
  /** The tracer that `inInitScope` set aside. */
  lifting: Tracer | null;
  /** While values are symbolic: the backend of those that are not. */
  eagerBackend: Backend | null;
  /** While checkpoints hold values for objects that do not exist yet: is told of each variable made since, before its first use. */
  restoring: ((variable: Variable) => unknown) | null;
}

const rest: Readonly<Context> = {
  tapes: [],
  tracker: null,
  backend: namedBackend(),
  nameScope: '',
  placement: '',
  tracer: null,
  origin: null,
  lifting: null,
  eagerBackend: null,
  restoring: null,
};
export const context: Context = { ...rest };
placement.isChosen = () => (context.eagerBackend ?? context.backend) !== null;

// By name, and not in a loop over names: a dataset sets the context aside for each element.

/** What is current, for `bringBackContext`. */
export const contextNow = (): Readonly<Context> => ({ ...context });

/** Makes what was current so again, but for `restoring`: a hook, which tells nothing of the code that runs. */
export function bringBackContext(before: Readonly<Omit<Context, 'restoring'>>): void {
  context.tapes = before.tapes;
  context.tracker = before.tracker;
  context.backend = before.backend;
  context.nameScope = before.nameScope;
  context.placement = before.placement;
  context.tracer = before.tracer;
  context.origin = before.origin;
  context.lifting = before.lifting;
  context.eagerBackend = before.eagerBackend;
}

/** Leaves what holds for code that stands alone, too: the backend, the graph that is being written. */
export function standAloneInContext(): void {
  context.tapes = rest.tapes;
  context.tracker = rest.tracker;
  context.nameScope = rest.nameScope;
  context.origin = rest.origin;
}

/** The fields that are not as they are where nothing is going on. */
export function contextNotAtRest(): string[] {
  const { restoring: _, ...fields } = context;
  return (Object.keys(fields) as (keyof typeof fields)[]).filter((key) => !isAlike(context[key], rest[key]));
}

export function isAlike(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0);
}

/** The backend whose tensors have values: the current one, except while a function is traced. */
export function eagerBackend(): Backend {
  return context.eagerBackend ?? currentBackend();
}

/** The name of the device of a backend: `/device:CPU:0`. */
export const deviceName = ({ deviceType, deviceIndex }: Backend): string =>
  `/device:${deviceType}:${deviceIndex}`;

/** What a scope found in a field; by object and field, the outermost first. */
interface Layer {
  before: unknown;
}
const layers = new WeakMap<object, Map<PropertyKey, Layer[]>>();

function layersOf(target: object, key: PropertyKey): Layer[] {
  let fields = layers.get(target);
  if (fields === undefined) layers.set(target, (fields = new Map()));
  let list = fields.get(key);
  if (list === undefined) fields.set(key, (list = []));
  return list;
}

/**
 * Gives fields other values for as long as a scope lasts. Scopes may end in any order: each takes back what it has changed itself.
 * @returns what ends it, which tells whether a later scope still holds one of the fields.
 */
export function override<T extends object>(target: T, changes: Partial<T>): () => boolean {
  const keys = Object.keys(changes) as (keyof T)[];
  const own = keys.map((key): Layer => {
    const layer = { before: target[key] };
    layersOf(target, key).push(layer);
    return layer;
  });
  Object.assign(target, changes);
  return () => {
    let overlaps = false;
    keys.forEach((key, i) => {
      const list = layersOf(target, key);
      const at = list.indexOf(own[i] as Layer);
      const later = list[at + 1];
      list.splice(at, 1);
      if (later === undefined) target[key] = own[i]?.before as T[keyof T];
      else {
        later.before = own[i]?.before;
        overlaps = true;
      }
    });
    return overlaps;
  };
}

/** Runs `fn` with other values of these fields. */
export function within<C extends object, T>(target: C, changes: Partial<C>, fn: () => T): T {
  // Plain loops: traces come here with every op.
  const keys = Object.keys(changes) as (keyof C)[];
  const before = keys.map((key) => target[key]);
  Object.assign(target, changes);
  try {
    return fn();
  } finally {
    for (let i = 0; i < keys.length; i++) target[keys[i] as keyof C] = before[i] as C[keyof C];
  }
}

/** Runs `fn` with other values of these fields of the context. */
export function inContext<T>(changes: Partial<Context>, fn: () => T): T {
  return within(context, changes, fn);
}

/**
 * Runs `fn` as if no function were being traced: what makes variables computes at once. Tapes do not see it.
 */
export function inInitScope<T>(fn: () => T): T {
  const { tracer, lifting, eagerBackend } = context;
  if (eagerBackend === null) return fn();
  return inContext(
    { tracer: null, lifting: tracer ?? lifting, backend: eagerBackend, eagerBackend: null, tapes: [] },
    fn,
  );
}

/** Runs library code. What it adds to a trace is due to the line that called it, which is noted once: a stack for each op costs more. */
export function fromOneLine<T>(fn: () => T): T {
  if (context.tracer === null || context.origin !== null) return fn();
  context.origin = new Error();
  try {
    return fn();
  } finally {
    context.origin = null;
  }
}

/** Runs `fn`, with a name scope for what it adds to the graph of a function that is being traced. Names of variables are not touched. */
export function inGraphScope<T>(name: string, fn: () => T): T {
  const leave = context.tracer?.enterScope(name);
  if (leave === undefined) return fn();
  try {
    return fn();
  } finally {
    leave();
  }
}

/** The backend that runs ops now. */
export function currentBackend(): Backend {
  return context.backend ?? preferredBackend();
}

/** Runs `fn` without any tape seeing it. */
export function withoutTapes<T>(fn: () => T): T {
  const before = context.tapes;
  if (before.length === 0) return fn();
  context.tapes = [];
  try {
    return fn();
  } finally {
    context.tapes = before;
  }
}

/**
 * Something that holds for a block: either `enter(fn)` runs `fn` inside, or `using _ = enter()` holds until the block ends.
 * Internal: makes both forms out of a function that switches on and returns how to switch off, which may tell of overlaps as that of
 * `override` does.
 */
export function scoped<T>(
  begin: () => () => unknown,
  what: string,
  fn: (() => T) | undefined,
): T | Disposable {
  if (fn !== undefined && typeof fn !== 'function')
    throw new InvalidArgumentError(`${what}: expected a function, got ${typeof fn}`);
  const end = begin();
  if (fn === undefined) {
    let open = true;
    return {
      [Symbol.dispose]() {
        if (!open) return;
        open = false;
        if (end() === true) throw overlaps(what);
      },
    };
  }
  try {
    const result = fn();
    if (isRefusedPromise(result)) {
      throw new FailedPreconditionError(
        `${what}: the function returned a promise, but the scope is synchronous and would end before its work does`,
      );
    }
    return result;
  } finally {
    end();
  }
}

function overlaps(what: string): FailedPreconditionError {
  return new FailedPreconditionError(
    `${what} ended before a scope that was opened later: they overlapped, and each held for what ran in the other. Scopes of async ` +
      `functions that run at the same time do that where they are open across an await: use the form with a function, ` +
      `${what}(…, fn), around the parts without await`,
  );
}
