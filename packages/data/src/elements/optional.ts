// An element that may be there or not, as a value.
import { InvalidArgumentError } from '@eagre/backend';
import { Assert, CompositeTensor, constant, Tensor } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  type Call,
  defineMethods,
  knownTensor,
  showInConsole,
  takesArguments,
  tree,
} from '@eagre/core/internal';
import { CompositeSpec, TensorSpec } from '@eagre/graph';
import { type ElementOfSpec, type ElementSpec, mapSpec, showSpec, specOf, zerosOf } from './element-spec.ts';
import { type Element, type ElementOf, isDataset, toElement } from './structure.ts';

const OP = 'Optional';

/**
 * A value that may be there or not, with a structure that is known in both cases. It goes through traced functions, conditions and loops.
 *
 *     const found = tf.experimental.Optional.fromValue({ x: [1, 2] });
 *     if (found.hasValue().item()) found.getValue().x;
 *     const none = tf.experimental.Optional.empty(new tf.TensorSpec([], 'int32'));
 */
export class Optional<T = Element> extends CompositeTensor {
  /** bool scalar; what maps structures may put anything in its place and in that of the value's tensors. */
  readonly #has: unknown;
  /** In an empty one, zeros of the spec stand here. */
  readonly #value: unknown;

  /** @internal Use `Optional.fromValue` and `Optional.empty`. */
  constructor(has: unknown, value: unknown) {
    super();
    this.#has = has;
    this.#value = value;
  }

  /** One that has a value: tensors, and values for them, in arrays and plain objects. */
  static fromValue<const S>(value: S): Optional<ElementOf<S>>;
  static fromValue(value: unknown): Optional<never> {
    const element = toElement(value, 'Optional.fromValue');
    if (tree.leavesOf(element, OP).some(isDataset))
      throw new InvalidArgumentError('a dataset cannot be in an optional', 'Optional.fromValue');
    return Optional.of(element as never);
  }
  /** @internal One of an element. */
  static of<T>(element: T): Optional<T> {
    return new Optional<T>(constant(true), element);
  }

  /** One without a value, which would be as `elementSpec` says. */
  static empty<E extends ElementSpec>(
    ...args: Arguments<[elementSpec: E], ['elementSpec']>
  ): Optional<ElementOfSpec<E>>;
  static empty(elementSpec: ElementSpec): Optional<never> {
    return Optional.ofSpec(elementSpec) as Optional<never>;
  }
  /** @internal `empty`, for the library: types of specs that are not known are deep. */
  static ofSpec(elementSpec: ElementSpec): unknown {
    return new Optional(
      constant(false),
      mapSpec(elementSpec, (spec: unknown) => {
        if (!(spec instanceof TensorSpec))
          throw new InvalidArgumentError(
            `elementSpec must hold specs of tensors, got ${showSpec(elementSpec)}`,
            'Optional.empty',
          );
        return zerosOf(
          (spec.shape ?? []).map((n) => n ?? 0),
          spec.dtype,
        );
      }),
    );
  }

  /** Whether there is a value (bool scalar). */
  hasValue(): Tensor {
    return this.#has as Tensor;
  }

  /** The value. @throws InvalidArgumentError when there is none; in a traced function, when it runs. */
  getValue(): T {
    const has = this.#has as Tensor;
    const known = knownTensor(has);
    if (known === null) Assert(has, ['the optional has no value']);
    else if (known.item<boolean>() !== true)
      throw new InvalidArgumentError('the optional has no value', 'Optional.getValue');
    return this.#value as T;
  }

  /** Dtypes and shapes of the value, in its structure. */
  get elementSpec(): ElementSpec {
    return isSpecs(this.#value) ? (this.#value as ElementSpec) : specOf(this.#value as Element);
  }

  get parts(): readonly unknown[] {
    return [this.#has, this.#value];
  }
  get partNames(): readonly string[] {
    return ['hasValue', 'value'];
  }
  get facts(): string {
    return 'Optional';
  }
  withParts([has, value]: readonly unknown[]): unknown {
    return new Optional(has, value);
  }
  get advice(): string {
    return 'use getValue()';
  }
  override get specOfParts(): CompositeTensor {
    return new OptionalSpec(this.elementSpec);
  }
  dispatch(_call: Call): unknown {
    return undefined;
  }
  override toString(): string {
    return `Optional(hasValue=${String(this.#has)}, elementSpec=${showSpec(this.elementSpec)})`;
  }
}

const isSpecs = (value: unknown): boolean =>
  tree.leavesOf(value, OP).every((leaf) => !(leaf instanceof Tensor));

/** The spec of an optional: `new tf.OptionalSpec(new tf.TensorSpec([], 'int32'))`. */
export class OptionalSpec extends CompositeSpec {
  /** Of its value. */
  readonly elementSpec: ElementSpec;

  constructor(...args: Arguments<[elementSpec: ElementSpec], ['elementSpec']>) {
    super();
    this.elementSpec = argumentsOf<{ readonly elementSpec: ElementSpec }>(
      OptionalSpec,
      new.target,
      args,
    ).elementSpec;
  }

  /** The spec of an optional. */
  static fromValue(value: Optional<unknown>): OptionalSpec {
    return new OptionalSpec(value.elementSpec);
  }

  get parts(): readonly unknown[] {
    return [new TensorSpec([], 'bool'), this.elementSpec];
  }
  get partNames(): readonly string[] {
    return ['hasValue', 'value'];
  }
  get facts(): string {
    return 'Optional';
  }
  withParts([has, value]: readonly unknown[]): unknown {
    return isSpecs(value) && !(has instanceof Tensor)
      ? new OptionalSpec(value as ElementSpec)
      : new Optional(has, value);
  }
  override toString(): string {
    return `OptionalSpec(${showSpec(this.elementSpec)})`;
  }
}

takesArguments<{ readonly elementSpec: ElementSpec }>(
  { positional: ['elementSpec'], objects: ['elementSpec'], names: { elementSpec: true } },
  OptionalSpec,
);
defineMethods(Optional, 'Optional', {
  fromValue: { positional: ['value'], objects: ['value'] },
  empty: { positional: ['elementSpec'], objects: ['elementSpec'] },
});
defineMethods(Optional.prototype, 'Optional', { hasValue: {}, getValue: {} });
showInConsole(Optional.prototype, String);
showInConsole(OptionalSpec.prototype, String);
