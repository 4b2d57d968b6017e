import type { Storage } from '@eagre/backend';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Finalizers } from './collected.ts';
import type { Exports, WasmMemory } from './memory.ts';
import { WasmAllocator } from './wasm-allocator.ts';

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

test('memory in use is lent to nobody else, whatever is dropped, disposed of and told when', () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant('allocate' as const), size: fc.constantFrom(16, 5000, 5100, 20_000) }),
    fc.record({ do: fc.constantFrom('dispose' as const, 'drop' as const, 'tell' as const), at: fc.nat() }),
    fc.record({ do: fc.constant('look' as const) }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200, size: 'max' }), (actions) => {
      let next = 64;
      const exports: Partial<Exports> = {
        allocate(bytes) {
          next += Math.ceil(bytes / 64) * 64;
          return next - Math.ceil(bytes / 64) * 64;
        },
        release: () => undefined,
      };
      const allocator = new WasmAllocator({ exports, size: 0 } as unknown as WasmMemory, new Finalizers());
      const live = new Set<Storage>();
      const gone: Storage[] = [];
      const pick = (at: number): Storage | undefined => [...live][at % Math.max(1, live.size)];
      for (const step of actions) {
        if (step.do === 'allocate') {
          const made = allocator.allocate(step.size);
          for (const other of live)
            expect(
              made.address + made.capacity <= other.address || other.address + other.capacity <= made.address,
            ).toBe(true);
          live.add(made);
        } else if (step.do === 'tell') {
          // V8 finds what is gone at any time later, and also what was disposed of.
          const [found] = gone.splice(step.at % Math.max(1, gone.length), 1);
          if (found !== undefined) tell(found);
        } else if (step.do === 'look') allocator.findDropped();
        else {
          const storage = pick(step.at);
          if (storage === undefined) continue;
          live.delete(storage);
          gone.push(storage);
          if (step.do === 'dispose') storage.release();
        }
      }
    }),
    { numRuns: 100 },
  );
});
