/** `tf.types.experimental`: what `tf.function` and its parts make, for `instanceof`. */
import { AtomicFunction, ConcreteFunction, isTracedFunction } from '@eagre/graph';

export type { TensorLike } from '@eagre/core';
export { AtomicFunction, ConcreteFunction } from '@eagre/graph';

/** What `tf.function` gives: `f instanceof tf.types.experimental.GenericFunction`. It makes a trace for each kind of arguments. */
export abstract class GenericFunction {
  static [Symbol.hasInstance](value: unknown): boolean {
    return isTracedFunction(value);
  }
}
export { GenericFunction as PolymorphicFunction };

/** What computes by a graph: what `tf.function` gives, one of its traces, or a trace's own graph. */
export abstract class Callable {
  static [Symbol.hasInstance](value: unknown): boolean {
    return isTracedFunction(value) || value instanceof ConcreteFunction || value instanceof AtomicFunction;
  }
}
