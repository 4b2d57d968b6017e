// The spec of an iterator.
import {
  type Arguments,
  argumentsOf,
  defineMethods,
  showInConsole,
  takesArguments,
} from '@eagre/core/internal';
import { specRelations } from '@eagre/graph';
import { type ElementSpec, showSpec } from './element-spec.ts';

/** What an iterator of a dataset gives: `tf.typeSpecFromValue(dataset.iterator())`. */
export class IteratorSpec {
  /** Of the elements; null where that is not known. */
  readonly elementSpec: ElementSpec | null;

  constructor(...args: Arguments<[elementSpec: ElementSpec | null], ['elementSpec']>) {
    const given = argumentsOf<{ readonly elementSpec: ElementSpec | null }>(IteratorSpec, new.target, args);
    this.elementSpec = given.elementSpec;
  }

  /** Whether an iterator of another spec can be of this one. */
  isCompatibleWith(...args: Arguments<[specOrValue: unknown], ['specOrValue']>): boolean;
  isCompatibleWith(specOrValue: unknown): boolean {
    return specRelations.compatible(this, specOrValue);
  }
  /** Whether every iterator of this spec is one of the other. */
  isSubtypeOf(...args: Arguments<[other: unknown], ['other']>): boolean;
  isSubtypeOf(other: unknown): boolean {
    return specRelations.subtype(this, other);
  }
  /** The spec that iterators of this one and of all others have, as exact as can be; null where there is none. */
  mostSpecificCommonSupertype(
    ...args: Arguments<[others: readonly unknown[]], ['others']>
  ): IteratorSpec | null;
  mostSpecificCommonSupertype(others: readonly unknown[]): IteratorSpec | null {
    return specRelations.commonSupertype<IteratorSpec>(
      this,
      others,
      'IteratorSpec.mostSpecificCommonSupertype',
    );
  }

  toString(): string {
    return `IteratorSpec(${showSpec(this.elementSpec)})`;
  }
}
takesArguments<{ readonly elementSpec: ElementSpec | null }>(
  { positional: ['elementSpec'], objects: ['elementSpec'], names: { elementSpec: true } },
  IteratorSpec,
);
defineMethods(IteratorSpec.prototype, 'IteratorSpec', specRelations.specMethods);
specRelations.isSpecClass(IteratorSpec);
showInConsole(IteratorSpec.prototype, String);
