import { InvalidArgumentError } from '@eagre/core';
import { checkText, defineFunction, type NamedFunction, snakeCase } from '@eagre/core/internal';

const counts = new Map<string, number>();

/** `dense`, then `dense_1`, `dense_2`: names of layers that were given none, as in Keras. */
export function uniqueName(className: string): string {
  const base = snakeCase(className);
  const n = counts.get(base) ?? 0;
  counts.set(base, n + 1);
  return n === 0 ? base : `${base}_${n}`;
}

/** @throws InvalidArgumentError when two have one name. */
export function checkUniqueNames(layers: readonly { readonly name: string }[], model: string): void {
  const names = new Set<string>();
  for (const { name } of layers) {
    if (names.has(name)) {
      throw new InvalidArgumentError(
        `two layers have the name '${name}'; give one of them another name, { name: … }`,
        model,
      );
    }
    names.add(name);
  }
}

const uids = new Map<string, number>();
/** How often it was asked for this prefix, from 1 on; `clearSession` starts anew. */
export const getUid: NamedFunction<[prefix?: string], ['prefix'], unknown, number> =
  /* @__PURE__ */ defineFunction('keras.backend.getUid', { prefix: true }, {}, (prefix: unknown = '') => {
    checkText(prefix, 'prefix', 'keras.backend.getUid');
    const n = (uids.get(prefix as string) ?? 0) + 1;
    uids.set(prefix as string, n);
    return n;
  });

/** Starts the numbering of names again (Keras's `backend.clear_session`). */
export const clearSession: NamedFunction<[], [], unknown, void> = defineFunction(
  'keras.clearSession',
  {},
  {},
  () => {
    counts.clear();
    uids.clear();
  },
);

/** Makes names unique within one container, in order: the names of layers inside weights files. */
export class LocalNames {
  readonly #used = new Set<string>();

  unique(base: string): string {
    let name = base;
    for (let n = 1; this.#used.has(name); n++) name = `${base}_${n}`;
    this.#used.add(name);
    return name;
  }
}
