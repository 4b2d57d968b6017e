import { type DType, InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { sameShape } from '@eagre/core/internal';
import { ConcreteFunction } from './concrete.ts';
import { flatten, replace, results } from './structure.ts';
import { conform, type Signature } from './tensor-spec.ts';
import { FunctionTracer } from './tracer.ts';

export interface FunctionOptions {
  /** What the arguments must be; other ones are refused, and numbers become tensors. */
  readonly inputSignature?: readonly Signature[];
  /** In the graph and in messages; the function's own name unless given. */
  readonly name?: string;
}

type AnyFunction = (...args: never[]) => unknown;

/** A function that is traced once for each kind of arguments and runs as a graph. */
export type TracedFunction<F extends AnyFunction> = F & {
  /** The trace for arguments like these; made if there is none yet. */
  getConcreteFunction(...args: Parameters<F>): ConcreteFunction;
  /** How often the function has been traced. */
  experimentalGetTracingCount(): number;
  /** The function as it was given. */
  readonly hostFunction: F;
};

let eagerly = false;

/** With true, functions given to `tf.function` run as plain code: to debug them. */
export function runFunctionsEagerly(on: boolean): void {
  eagerly = on;
}
/** Whether they do. */
export function functionsRunEagerly(): boolean {
  return eagerly;
}

/**
 * Makes a function run as a graph: it is traced when it is first called with arguments of some dtypes, shapes and host values, and
 * later calls with such arguments run the trace, in one call of native code. Code that is not made of ops, such as
 * `console.log`, runs while tracing only.
 *
 *     const step = tf.function((x: tf.Tensor) => x.square().sum());
 *     const strict = tf.function({ inputSignature: [new tf.TensorSpec([3])] })((x: tf.Tensor) => x.sum());
 *     class Model { @tf.function call(x: tf.Tensor) { … } }     // traces of their own for each object
 *
 * Variables may be made in the first call only. A gradient tape outside sees the function's ops one by one.
 * @throws InvalidArgumentError for arguments that do not fit the signature, and for variables made later.
 */
export function tfFunction<F extends AnyFunction>(fn: F, options?: FunctionOptions): TracedFunction<F>;
export function tfFunction<F extends AnyFunction>(fn: F, decorated: ClassMethodDecoratorContext): F;
export function tfFunction(options: FunctionOptions): <F extends AnyFunction>(fn: F) => TracedFunction<F>;
export function tfFunction(
  first: AnyFunction | FunctionOptions,
  second?: FunctionOptions | ClassMethodDecoratorContext,
): unknown {
  if (typeof first !== 'function')
    return (fn: AnyFunction, context?: ClassMethodDecoratorContext) => trace(fn, first, context);
  if (second !== undefined && 'kind' in second) return trace(first, {}, second);
  return trace(first, second ?? {}, undefined);
}

function trace(
  fn: AnyFunction,
  options: FunctionOptions,
  decorated: ClassMethodDecoratorContext | undefined,
): unknown {
  if (typeof fn !== 'function')
    throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, 'tf.function');
  if (decorated === undefined) return new Polymorphic(fn, options).callable(undefined);
  if (decorated.kind !== 'method')
    throw new InvalidArgumentError('as a decorator it is for methods', 'tf.function');
  const ofObjects = new WeakMap<object, AnyFunction>();
  return function method(this: object, ...args: never[]): unknown {
    let own = ofObjects.get(this);
    if (own === undefined) ofObjects.set(this, (own = new Polymorphic(fn, options).callable(this)));
    return own(...args);
  };
}

// So many traces in as many calls are a mistake nearly always.
const SUSPICIOUS = 5;

/** The traces of one function. */
class Polymorphic {
  readonly #fn: AnyFunction;
  readonly #name: string;
  readonly #signature: readonly Signature[] | undefined;
  readonly #traces = new Map<string, ConcreteFunction>();
  #count = 0;
  #calls = 0;
  #warned = false;
  #last: { readonly args: readonly unknown[]; readonly concrete: ConcreteFunction } | undefined;

  constructor(fn: AnyFunction, options: FunctionOptions) {
    this.#fn = fn;
    this.#name = options.name ?? (fn.name === '' ? 'function' : fn.name);
    this.#signature = options.inputSignature;
  }

  callable(self: unknown): AnyFunction {
    const call = (...args: unknown[]): unknown => this.#call(self, args);
    return Object.assign(call as AnyFunction, {
      getConcreteFunction: (...args: unknown[]) =>
        this.#concrete(self, this.#signature === undefined ? args : conform(args, this.#signature)).concrete,
      experimentalGetTracingCount: () => this.#count,
      hostFunction: this.#fn,
    });
  }

  #call(self: unknown, given: readonly unknown[]): unknown {
    if (eagerly) return this.#fn.apply(self, given as never[]);
    const args = this.#signature === undefined ? given : conform(given, this.#signature);
    const last = this.#last;
    if (last !== undefined && same(args, last.args)) return last.concrete.call(args.filter(isTensor));
    const { concrete, tensors } = this.#concrete(self, args);
    if (args.every((a) => isTensor(a) || typeof a !== 'object' || a === null))
      this.#last = { args: args.map((a) => (isTensor(a) ? new Like(a) : a)), concrete };
    return concrete.call(tensors);
  }

  #concrete(self: unknown, args: readonly unknown[]): { concrete: ConcreteFunction; tensors: Tensor[] } {
    const { tensors, key } = flatten(args);
    this.#calls++;
    let concrete = this.#traces.get(key);
    if (concrete === undefined) {
      concrete = this.#trace(self, args, tensors);
      this.#traces.set(key, concrete);
      this.#warn();
    }
    return { concrete, tensors };
  }

  #trace(self: unknown, args: readonly unknown[], tensors: readonly Tensor[]): ConcreteFunction {
    const first = this.#traceOnce(self, args, tensors, this.#count === 0);
    // The trace that made the variables is not the one that runs: it must not make them again.
    return first.made ? this.#traceOnce(self, args, tensors, false).concrete : first.concrete;
  }

  #traceOnce(
    self: unknown,
    args: readonly unknown[],
    tensors: readonly Tensor[],
    mayCreate: boolean,
  ): { readonly concrete: ConcreteFunction; readonly made: boolean } {
    const tracer = new FunctionTracer(this.#name, mayCreate);
    this.#count++;
    const structure = tracer.run(() => {
      const places = tensors.map(({ dtype, shape }, i) => tracer.argument(dtype, shape, `args_${i}`));
      let next = 0;
      const result = results(
        this.#fn.apply(self, args.map((a) => replace(a, () => places[next++])) as never[]),
      );
      tracer.finish(result.tensors);
      return result.structure;
    });
    return { concrete: new ConcreteFunction(tracer.graph, structure), made: tracer.made.length > 0 };
  }

  #warn(): void {
    if (this.#warned || this.#traces.size < SUSPICIOUS || this.#calls > SUSPICIOUS + 1) return;
    this.#warned = true;
    console.warn(
      `tf.function: ${this.#traces.size} of the last ${this.#calls} calls of '${this.#name}' were traced anew, which is slow. Numbers, strings and objects ` +
        'make a trace for each value, tensors for each dtype and shape: pass tensors instead of numbers, batches of one size, or make the function outside of the loop.',
    );
  }
}

/** What is remembered of a tensor: not its memory. */
class Like {
  readonly dtype: DType;
  readonly shape: readonly number[];
  constructor({ dtype, shape }: Tensor) {
    this.dtype = dtype;
    this.shape = shape;
  }
}

const isTensor = (v: unknown): v is Tensor => v instanceof Tensor;

/** Whether a call fits the trace of the one before: told without a key. */
function same(args: readonly unknown[], last: readonly unknown[]): boolean {
  if (args.length !== last.length) return false;
  for (let i = 0; i < args.length; i++) {
    const a = args[i];
    const b = last[i];
    if (a instanceof Tensor) {
      if (
        !(b instanceof Like) ||
        a.dtype !== b.dtype ||
        !(a.shape === b.shape || sameShape(a.shape, b.shape))
      )
        return false;
    } else if ((typeof a === 'object' && a !== null) || !Object.is(a, b)) return false;
  }
  return true;
}
