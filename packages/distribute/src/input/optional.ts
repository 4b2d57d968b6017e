import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { showInConsole } from '@eagre/core/internal';

/** A value, or none: what `DistributedIterator.getNextAsOptional` gives. */
export class Optional<T = unknown> {
  readonly #value: { readonly of: T } | null;

  /** @internal */
  constructor(value: { readonly of: T } | null) {
    if (value === undefined)
      throw new InvalidArgumentError('iterators make optionals: getNextAsOptional()', 'Optional');
    this.#value = value;
  }

  /** Whether there is a value: a bool scalar. */
  hasValue(): Tensor {
    return constant(this.#value !== null);
  }

  /** The value. @throws FailedPreconditionError where there is none */
  getValue(): T {
    if (this.#value === null)
      throw new FailedPreconditionError('there is no value: ask hasValue() first', 'Optional.getValue');
    return this.#value.of;
  }

  toString(): string {
    return `Optional(${this.#value === null ? 'none' : 'a value'})`;
  }
}
showInConsole(Optional.prototype, String);
