// Restorations that still have values for objects that do not exist yet.
import { Variable } from '@eagre/core';
import { ambient, context, within } from '@eagre/core/internal';
import { type Failures, type Outcome, type Restoration, restoredSince } from './restoration.ts';

const byRoot = new WeakMap<object, Restoration[]>();
const roots = new Set<WeakRef<object>>();
const restoring = ambient({ busy: false });

const forgotten = new FinalizationRegistry<Outcome>((outcome) => {
  if (outcome.partial) return;
  const names = outcome.unrestored();
  if (names.length === 0) return;
  console.warn(
    `The objects restored from ${outcome.prefix} are gone, and ${names.length} values in the checkpoint were not restored: ${names.slice(0, 10).join(', ')}. Use expectPartial() on the status if that is intended, assertConsumed() to make it an error.`,
  );
});

/** What objects hold of a root: nothing once it has no restoration that waits. */
interface Hold {
  root: object | null;
}
const holds = new WeakMap<object, Hold>();
/** By object: so a program may drop its checkpoint, as long as it has the objects. The last restoration of an object counts. */
const heldBy = new WeakMap<object, Hold>();

/** Restores what can be restored now; what is left is tried again when variables that are made later are first used. */
export function begin(restoration: Restoration, root: object): void {
  // Variables that wait for their first use are used here by the one that gives them their values.
  alone(() => restoration.walk(root));
  const before = byRoot.get(root) ?? [];
  const waiting = before.filter((r) => !r.supersededBy(restoration));
  for (const r of before) if (!waiting.includes(r)) r.outcome.partial = true;
  if (!restoration.complete) {
    waiting.push(restoration);
    forgotten.register(root, restoration.outcome);
  }
  keep(root, waiting);
  if (waiting.includes(restoration)) hold(restoration, root, true);
}

function keep(root: object, waiting: Restoration[]): void {
  const known = byRoot.has(root);
  if (waiting.length > 0) {
    byRoot.set(root, waiting);
    if (!known) roots.add(new WeakRef(root));
    context.restoring = applyPending;
  } else {
    byRoot.delete(root);
    const held = holds.get(root);
    if (held !== undefined) held.root = null;
  }
}

/** Has the objects hold the root. @param anew also those that hold another one. */
function hold(restoration: Restoration, root: object, anew: boolean): void {
  let held = holds.get(root);
  if (held === undefined) holds.set(root, (held = { root }));
  held.root = root;
  for (const object of restoration.bound(root))
    if (anew || !heldBy.get(object)?.root) heldBy.set(object, held);
}

/** By object: the restoration that has told why it cannot give the object its values. */
const told = new WeakMap<object, number>();

/**
 * Gives objects that were made or attached since the values that checkpoints hold for them. A variable that cannot get its value cannot be
 * used: each use tries again.
 * @param cause the variable that is about to be used, or the object that was attached.
 * @returns the objects that cannot get their values.
 * @throws what keeps this variable from its value, or what was attached from its values, and once what keeps objects that are not variables.
 */
export function applyPending(cause?: unknown): Failures {
  const failures: Failures = new Map();
  if (restoring.busy) return failures;
  const found = alone(walkAll);
  let toThrow: { readonly error: unknown } | null = null;
  for (const [object, { error, number }] of found) {
    failures.set(object, error);
    const news = told.get(object) !== number;
    told.set(object, number);
    // Variables tell when they are used, those that were there before when they are attached too.
    const later = object instanceof Variable && (object.awaitsUse || cause instanceof Variable);
    const concerned = cause !== undefined && !later;
    if (object instanceof Variable) object.awaitUse();
    if (object === cause) toThrow = { error };
    else if (news && concerned) toThrow ??= { error };
  }
  if (toThrow !== null) throw toThrow.error;
  return failures;
}

/** Walks all that waits. @returns what failed, with the number of the restoration. */
function walkAll(): Map<object, { readonly error: unknown; readonly number: number }> {
  const failed = new Map<object, { readonly error: unknown; readonly number: number }>();
  for (const ref of roots) {
    const root = ref.deref();
    const waiting = root && byRoot.get(root);
    if (root !== undefined && waiting !== undefined) {
      for (const restoration of waiting) {
        const { number } = restoration;
        for (const [object, error] of restoration.walkLater(root))
          if ((failed.get(object)?.number ?? 0) < number) failed.set(object, { error, number });
        hold(restoration, root, false);
      }
      keep(
        root,
        waiting.filter((r) => !r.complete),
      );
    }
    if (root === undefined || !byRoot.has(root)) roots.delete(ref);
  }
  if (roots.size === 0) context.restoring = null;
  for (const [object, { number }] of failed) if (restoredSince(object, number)) failed.delete(object);
  return failed;
}

/** Runs `fn`; what is used meanwhile asks for nothing. */
function alone<T>(fn: () => T): T {
  return within(restoring, { busy: true }, fn);
}
