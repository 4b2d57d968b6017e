type Inspect = (value: unknown, options: object) => string;

/**
 * @internal Makes an object callable: `return callable(this, (self, args) => self.invoke(...args))` at the end of a
 * constructor. What comes back is an arrow function with the object's class and own properties, so it needs no `Function()`
 * and runs under a strict content security policy. Private `#fields` of the class whose constructor calls this, and of its
 * bases, stay behind on the object; those of derived classes are put on the function and work.
 */
export function callable<T extends object>(
  object: T,
  invoke: (self: T, args: readonly never[]) => unknown,
): T {
  const fn = (...args: never[]): unknown => invoke(self, args);
  // A function's own name and length would hide getters and fields of those names.
  Reflect.deleteProperty(fn, 'name');
  Reflect.deleteProperty(fn, 'length');
  Object.setPrototypeOf(fn, Object.getPrototypeOf(object) as object);
  Object.defineProperties(fn, Object.getOwnPropertyDescriptors(object));
  const self = fn as unknown as T;
  return self;
}

/** @internal A base class whose objects are functions: a call of one runs its `invoke`. */
export abstract class Callable {
  constructor() {
    // biome-ignore lint/correctness/noConstructorReturn: this is what makes the object callable
    return callable(this, (self, args) => self.invoke(...args));
  }
  /** What a call does. */
  protected abstract invoke(...args: readonly never[]): unknown;
}

/**
 * @internal What the console shows for objects of a class, functions or not: the name of the class and its fields
 * (`describe` says which; own enumerable ones unless given).
 */
export function showFields<T extends object>(
  prototype: T,
  describe: (object: T) => object = (object) => ({ ...object }),
): void {
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    configurable: true,
    value(this: T, depth: number, options: { depth?: number | null }, inspect: Inspect): string {
      const { name } = this.constructor;
      if (depth < 0) return `[${name}]`;
      const inner = typeof options.depth === 'number' ? options.depth - 1 : options.depth;
      return `${name} ${inspect(describe(this), { ...options, depth: inner })}`;
    },
  });
}
showFields(Callable.prototype);
