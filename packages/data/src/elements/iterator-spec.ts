// The spec of an iterator.
import { type Arguments, argumentsOf, showInConsole, takesArguments } from '@eagre/core/internal';
import { type ElementSpec, showSpec } from './element-spec.ts';

/** What an iterator of a dataset gives: `tf.typeSpecFromValue(dataset.iterator())`. */
export class IteratorSpec {
  /** Of the elements; null where that is not known. */
  readonly elementSpec: ElementSpec | null;

  constructor(...args: Arguments<[elementSpec: ElementSpec | null], ['elementSpec']>) {
    const given = argumentsOf<{ readonly elementSpec: ElementSpec | null }>(IteratorSpec, new.target, args);
    this.elementSpec = given.elementSpec;
  }

  toString(): string {
    return `IteratorSpec(${showSpec(this.elementSpec)})`;
  }
}
takesArguments<{ readonly elementSpec: ElementSpec | null }>(
  { positional: ['elementSpec'], objects: ['elementSpec'], names: { elementSpec: true } },
  IteratorSpec,
);
showInConsole(IteratorSpec.prototype, String);
