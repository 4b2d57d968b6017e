const ours = new WeakSet<object>();

/** Marks a regularizer or a constraint as made by the library: it keeps none of the tensors that it sees. */
export function markOurs<F extends object>(fn: F): F {
  ours.add(fn);
  return fn;
}

/** Whether the library made it, and what it makes on the way may be given back at once. */
export function isOurs(fn: object): boolean {
  return ours.has(fn);
}
