// What is made when it is asked for, since most programs never do: each import of the library would wait for it.

/** What `make` gives, made at the first call. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** An object whose properties are made when one of them is looked for. */
export function lazyObject<T extends object>(make: () => T): T {
  const get = lazily(make);
  return new Proxy({} as T, {
    get: (_, key) => Reflect.get(get(), key) as unknown,
    has: (_, key) => Reflect.has(get(), key),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(get(), key);
      // A proxy may not say that a property of another object is there for good.
      return found && { ...found, configurable: true };
    },
  });
}
