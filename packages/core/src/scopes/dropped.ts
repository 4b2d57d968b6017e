import { eagerBackend } from '../dispatch/context.ts';

// Where no backend can tell: V8 calls back between turns of the event loop only.
const registry = new FinalizationRegistry<() => void>((dropped) => dropped());

/**
 * @internal Calls `dropped` some time after an object was collected, on native backends also in a loop that never pauses. `dropped`
 * must not hold the object. @returns what ends the watch.
 */
export function whenDropped(object: object, dropped: () => void): () => void {
  const end = eagerBackend().allocator.watch(object, dropped);
  if (end !== undefined) return end;
  registry.register(object, dropped, dropped);
  return () => void registry.unregister(dropped);
}

/** @internal Looks for dropped objects now, the young ones at least. */
export function findDropped(): void {
  eagerBackend().allocator.findDropped();
}
