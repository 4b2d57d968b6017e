import type { Allocator, Storage } from '../buffer/storage.ts';
import { InternalError } from '../errors.ts';

/** A stack of copies of values, which a plan fills in one loop and empties in another. */
export class PlanStack {
  readonly #allocator: Allocator;
  readonly #copies: { readonly storage: Storage; readonly bytes: number }[] = [];

  constructor(allocator: Allocator) {
    this.#allocator = allocator;
  }

  /** @throws ResourceExhaustedError when there is no memory for the copy. */
  push(value: Storage, bytes: number): void {
    const storage = this.#allocator.allocate(bytes);
    this.#allocator.copy(value, storage, bytes);
    this.#copies.push({ storage, bytes });
  }

  /** @throws InternalError when there is none, or one of another size. */
  pop(value: Storage, bytes: number): void {
    const last = this.#copies.pop();
    if (last === undefined) throw new InternalError('the stack is empty');
    if (last.bytes === bytes) this.#allocator.copy(last.storage, value, bytes);
    last.storage.release();
    if (last.bytes !== bytes)
      throw new InternalError(`the stack has ${last.bytes} bytes where ${bytes} are wanted`);
  }

  clear(): void {
    for (const { storage } of this.#copies.splice(0)) storage.release();
  }
}
