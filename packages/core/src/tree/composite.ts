// Objects of classes that hold tensors as a structure does: `tf.function` looks into them.

/** What an object holds, and what makes another one like it. */
export interface Composition {
  /** What tells objects apart beside their parts: the name of the class. */
  readonly kind: string;
  readonly parts: readonly unknown[];
  readonly rebuild: (parts: readonly unknown[]) => unknown;
}

const declared = new WeakMap<object, (value: never) => Composition>();

/** Declares what the objects of a class hold. */
export function declareComposite<T extends object>(
  cls: { readonly prototype: T },
  of: (value: T) => Composition,
): void {
  declared.set(cls.prototype, of);
}

/** What an object holds; null for other values. */
export function compositionOf(value: unknown): Composition | null {
  if (typeof value !== 'object' || value === null) return null;
  const prototype: unknown = Object.getPrototypeOf(value);
  const of = prototype === null ? undefined : declared.get(prototype as object);
  return of === undefined ? null : of(value as never);
}
