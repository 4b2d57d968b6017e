import { KerasObject } from './saving/keras-object.ts';

// What the library's own initializers, regularizers and constraints compute with.
const calls = new WeakSet<object>();

/** Marks classes of initializers, regularizers or constraints as the library's: they keep none of the tensors that they see. */
export function markOurs(...classes: readonly { readonly prototype: { readonly call: object } }[]): void {
  for (const c of classes) calls.add(c.prototype.call);
}

/** Whether what a function makes on the way may be given back at once, since it is the library's. */
export function isOurs(fn: object): boolean {
  return fn instanceof KerasObject && calls.has((fn as KerasObject & { readonly call: object }).call);
}
