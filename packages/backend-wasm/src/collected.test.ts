import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Finalizers } from './collected.ts';

// V8's, without its time: what it tells is told by the test.
let tell: (object: object) => void;
beforeEach(() => {
  vi.stubGlobal(
    'FinalizationRegistry',
    class {
      readonly #held = new Map<object, { readonly token: object; readonly value: unknown }>();
      constructor(cleanup: (value: unknown) => void) {
        tell = (object) => {
          const found = this.#held.get(object);
          this.#held.delete(object);
          if (found !== undefined) cleanup(found.value);
        };
      }
      register(object: object, value: unknown, token: object): void {
        this.#held.set(object, { token, value });
      }
      unregister(token: object): void {
        for (const [object, held] of this.#held) if (held.token === token) this.#held.delete(object);
      }
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

/** The slots that are told, in as many calls as it takes. */
function told(watcher: Finalizers, room = 2): number[] {
  const slots = new Uint32Array(room);
  const all: number[] = [];
  for (let n = room; n === room; ) {
    n = watcher.collected(slots);
    all.push(...slots.subarray(0, n));
  }
  return all.sort();
}

test('each collected object is told once', () => {
  const watcher = new Finalizers();
  const objects = Array.from({ length: 5 }, () => ({}));
  for (const [slot, object] of objects.entries()) watcher.watch(object, slot);
  for (const object of objects.slice(1)) tell(object);
  expect(told(watcher)).toEqual([1, 2, 3, 4]);
  expect(told(watcher)).toEqual([]);
});

test('a slot that has another object is not told for the one before', () => {
  const watcher = new Finalizers();
  const [collected, alive, late] = [{}, {}, {}];
  // Disposed of, and collected before its slot was given to another.
  watcher.watch(collected, 3);
  tell(collected);
  watcher.watch(alive, 3);
  expect(told(watcher)).toEqual([]);
  // And after it.
  watcher.watch(late, 4);
  watcher.watch(alive, 4);
  tell(late);
  expect(told(watcher)).toEqual([]);
  tell(alive);
  expect(told(watcher)).toEqual([4]);
});
