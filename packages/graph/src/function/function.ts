import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import {
  checkOptionNames,
  declareAs,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  type OptionNames,
} from '@eagre/core/internal';
import type { Profile } from '../inspect/profile.ts';
import type { Signature } from '../ir/tensor-spec.ts';
import type { ConcreteFunction } from './concrete-function.ts';
import {
  type AnyFunction,
  type FunctionOptions,
  optionNames,
  PolymorphicFunction,
} from './polymorphic-function.ts';

export { type FunctionOptions, functionsRunEagerly, runFunctionsEagerly } from './polymorphic-function.ts';

/** A function that is traced once for each kind of arguments and runs as a graph. */
export type TracedFunction<F extends AnyFunction> = F & {
  /**
   * The trace for arguments like these; made if there is none yet. In the places of tensors there may be a `tf.TensorSpec`, with null
   * for sizes that may be any; without arguments it is that of the signature.
   */
  getConcreteFunction(...args: Parameters<F>): ConcreteFunction;
  getConcreteFunction(...args: readonly (Parameters<F>[number] | Signature)[]): ConcreteFunction;
  /**
   * Runs on another thread, so that this one stays free for others; an `AbortSignal` behind the arguments cancels the run between two
   * ops. Variables change all at once when the run has ended; a run that fails or is cancelled changes none.
   *
   *     const y = await f.runAsync(x, AbortSignal.timeout(1000));
   *
   * @throws (the promise) CancelledError after an abort; FailedPreconditionError inside of another traced function. A tape does not
   * record the run: a gradient that would have to pass through it throws.
   */
  runAsync(...args: Parameters<F>): Promise<ReturnType<F>>;
  runAsync(...args: [...Parameters<F>, AbortSignal]): Promise<ReturnType<F>>;
  /**
   * Profiles the trace for these arguments: the time and the bytes of each kernel, with the ops that it belongs to. Variables are afterwards
   * what they were before.
   */
  profile(...args: Parameters<F>): Profile;
  /**
   * What runs for these arguments, as text: a line for each kernel call, with its values, shapes and scalar program; behind them the number of calls
   * and the memory for what is computed on the way. Where sizes depend on values, the parts as they ran the last time.
   */
  planText(...args: Parameters<F>): string;
  /** How often the function has been traced. */
  experimentalGetTracingCount(): number;
  /** The function as it was given. */
  readonly hostFunction: F;
};

/**
 * What gives types to arguments that have none, from the types that the first four were given (unknown for none). Where none has a type all are
 * tensors. Otherwise `never`: in its place TypeScript takes the type of the argument's default value, which a type such as `Tensor` would
 * forbid.
 */
type Typing<A, B, C, D> = (
  a: Untyped<A, A & B & C & D>,
  b: Untyped<B, A & B & C & D>,
  c: Untyped<C, A & B & C & D>,
  d: Untyped<D, A & B & C & D>,
  ...rest: Untyped<unknown, A & B & C & D>[]
) => unknown;
type Untyped<Given, All> = Given & (unknown extends All ? Tensor : never);

/** What is no function, though something was to be traced: the compiler names it where it is called. */
export interface EachArgumentNeedsATypeOrADefaultValue {
  readonly error: 'an argument has neither a type nor a default value, beside one that has: write (x: tf.Tensor, n: number) => …';
}

/** What comes of a function whose arguments got types from `Typing`; one that got `never` could not be called with anything. */
type Traced<F extends AnyFunction> =
  true extends LacksType<Parameters<F>> ? EachArgumentNeedsATypeOrADefaultValue : TracedFunction<F>;
type LacksType<P extends readonly unknown[]> = P extends readonly []
  ? false
  : P extends readonly [infer First, ...infer Rest]
    ? IsNone<First, Rest>
    : number extends P['length']
      ? false
      : P extends readonly [(infer First)?, ...infer Rest]
        ? IsNone<First, Rest>
        : false;
type IsNone<First, Rest extends readonly unknown[]> = [Exclude<First, undefined>] extends [never]
  ? true
  : LacksType<Rest>;

/**
 * What makes a function run as a graph, with options that are given already. Where no argument has a type all are tensors; where one has,
 * the others need a type or a default value.
 */
export interface Tracing {
  <F extends AnyFunction, A = unknown, B = unknown, C = unknown, D = unknown>(
    fn: F & Typing<A, B, C, D>,
  ): Traced<F>;
  <F extends AnyFunction>(fn: F): TracedFunction<F>;
}

/**
 * Makes a function run as a graph: it is traced when it is first called with arguments of some dtypes, shapes and host values, and
 * later calls with such arguments run the trace, in one call of native code. Code that is not made of ops, such as
 * `console.log`, runs while tracing only.
 *
 *     const step = tf.function((x: tf.Tensor) => x.square().sum());
 *     const strict = tf.function({ inputSignature: [new tf.TensorSpec([3])] })((x: tf.Tensor) => x.sum());
 *     class Model { @tf.function call(x: tf.Tensor) { … } }     // traces of their own for each object; static methods too
 *
 * Where no argument has a type all are tensors; where one has, the others need a type or a default value: `(x: tf.Tensor, scale = 2) => …`.
 * Variables may be made in the first call only. A gradient tape outside sees a call as one op, with a graph for its gradient.
 * @throws InvalidArgumentError for arguments that do not fit the signature, and for variables made later.
 */
export function tfFunction<F extends AnyFunction, A = unknown, B = unknown, C = unknown, D = unknown>(
  fn: F & Typing<A, B, C, D>,
  options?: FunctionOptions | null,
): Traced<F>;
/** Makes a function of tensors and other values run as a graph; numbers, strings and objects count by value or identity. */
export function tfFunction<F extends AnyFunction>(fn: F, options?: FunctionOptions | null): TracedFunction<F>;
/** With all of it by name. */
export function tfFunction<F extends AnyFunction, A = unknown, B = unknown, C = unknown, D = unknown>(
  args: {
    /** What is traced. */
    readonly func: F & Typing<A, B, C, D>;
  } & FunctionOptions,
): Traced<F>;
/** As a decorator of a method: traces of their own for each object. */
export function tfFunction<F extends AnyFunction>(fn: F, decorated: ClassMethodDecoratorContext): F;
/** With options first: `tf.function({ inputSignature })(fn)`, or a decorator. */
export function tfFunction(options: FunctionOptions): Tracing;
export function tfFunction(...args: readonly unknown[]): unknown {
  const [first, second] = args;
  if (typeof second === 'string' || typeof second === 'symbol') {
    throw new InvalidArgumentError(
      'only standard decorators are supported: compile without the option experimentalDecorators',
      OP,
    );
  }
  if (isDecoratorContext(second)) return trace(first as AnyFunction, {}, second);
  if (args.length === 1 && isPlain(first) && !Object.hasOwn(first, 'func')) {
    checkOptionNames<TracedArguments>(first as never, argumentNames, OP);
    return (fn: AnyFunction, context?: ClassMethodDecoratorContext) => trace(fn, first, context);
  }
  return traced(...(args as Parameters<typeof traced>));
}

const OP = 'tf.function';

interface TracedArguments extends FunctionOptions {
  readonly func: AnyFunction;
}

const argumentNames: OptionNames<TracedArguments> = { func: true, ...optionNames };

const traced = defineFunction<NamedFunction<[func: AnyFunction], ['func'], FunctionOptions, unknown>>(
  OP,
  { func: kind.asIs },
  optionNames,
  (func, options) => trace(func, options, undefined),
);
declareAs(tfFunction, traced);

function isDecoratorContext(value: unknown): value is ClassMethodDecoratorContext {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function trace(
  fn: AnyFunction,
  options: FunctionOptions,
  decorated: ClassMethodDecoratorContext | undefined,
): unknown {
  if (decorated === undefined) return new PolymorphicFunction(fn, options).callable(undefined);
  if (decorated.kind !== 'method') {
    throw new InvalidArgumentError(
      `as a decorator it works on methods only, not on a ${decorated.kind as string}`,
      'tf.function',
    );
  }
  const ofObjects = new WeakMap<object, AnyFunction>();
  const ownOf = (self: object): AnyFunction => {
    let own = ofObjects.get(self);
    if (own === undefined) ofObjects.set(self, (own = new PolymorphicFunction(fn, options).callable(self)));
    return own;
  };
  function method(this: object, ...args: never[]): unknown {
    return ownOf(this)(...args);
  }
  const { name } = decorated;
  if (!decorated.private) {
    // The object's own function has what functions have: `model.predict.getConcreteFunction(x)`.
    decorated.addInitializer(function (this: unknown) {
      const self = this as object;
      if (Reflect.get(self, name) !== method) return;
      Object.defineProperty(self, name, { value: ownOf(self), configurable: true, writable: true });
    });
  }
  return method;
}
