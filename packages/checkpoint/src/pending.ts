// Restorations that still have values for objects that do not exist yet.
import { context } from '@eagre/core/internal';
import type { Outcome, Restoration } from './restoration.ts';

const byRoot = new WeakMap<object, Restoration[]>();
const roots = new Set<WeakRef<object>>();
let busy = false;

const forgotten = new FinalizationRegistry<Outcome>((outcome) => {
  if (outcome.partial) return;
  const names = outcome.unrestored();
  if (names.length === 0) return;
  console.warn(
    `The objects restored from ${outcome.prefix} are gone, and ${names.length} values in the checkpoint were not restored: ${names.slice(0, 10).join(', ')}. Use expectPartial() on the status if that is intended, assertConsumed() to make it an error.`,
  );
});

/** Restores what can be restored now; what is left is tried again when variables that are made later are first used. */
export function begin(restoration: Restoration, root: object): void {
  restoration.walk(root);
  const before = byRoot.get(root) ?? [];
  const waiting = before.filter((r) => !r.supersededBy(restoration));
  for (const r of before) if (!waiting.includes(r)) r.outcome.partial = true;
  if (!restoration.complete) {
    waiting.push(restoration);
    forgotten.register(root, restoration.outcome);
  }
  keep(root, waiting);
}

function keep(root: object, waiting: Restoration[]): void {
  const known = byRoot.has(root);
  if (waiting.length > 0) {
    byRoot.set(root, waiting);
    if (!known) roots.add(new WeakRef(root));
    context.restoring = applyPending;
  } else {
    byRoot.delete(root);
  }
}

/** Gives objects that were made or attached since the values that checkpoints hold for them. */
export function applyPending(): void {
  if (busy) return;
  busy = true;
  try {
    for (const ref of roots) {
      const root = ref.deref();
      const waiting = root && byRoot.get(root);
      if (root !== undefined && waiting !== undefined) {
        for (const restoration of waiting) restoration.walk(root);
        keep(
          root,
          waiting.filter((r) => !r.complete),
        );
      }
      if (root === undefined || !byRoot.has(root)) roots.delete(ref);
    }
    if (roots.size === 0) context.restoring = null;
  } finally {
    busy = false;
  }
}
