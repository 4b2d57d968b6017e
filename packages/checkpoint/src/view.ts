// How an object looks to a checkpoint: what is inside by name, which values it has of its own, which slots.
import {
  InvalidArgumentError,
  Module,
  type Trackable,
  type TrackableAttribute,
  type TrackableSlot,
  Variable,
} from '@eagre/core';
import { tree } from '@eagre/core/internal';

/** The name of a variable's value among the attributes of its node. */
const VARIABLE_VALUE = 'VARIABLE_VALUE';

/** What a checkpoint sees of an object. */
export interface View {
  readonly children: readonly (readonly [name: string, child: object])[];
  readonly attributes: ReadonlyMap<string, TrackableAttribute>;
  readonly slots: readonly TrackableSlot[];
  /** What files may have in the place of `children` and `slots`. */
  readonly listed: readonly (readonly [name: string, child: object])[];
  /** What functions use and checkpoints leave out. */
  readonly unsaved?: readonly (readonly [name: string, variable: Variable])[];
}

/** How the object looks now. */
export function viewOf(object: object): View {
  if (object instanceof Variable) return viewOfVariable(object);
  const own = isOwnView(object) ? object.trackableView() : {};
  const entries = own.children ?? entriesOf(object);
  const trackable = (all: Iterable<readonly [string, unknown]>) =>
    [...all].filter((entry): entry is [string, object] => isTrackable(entry[1]));
  return {
    children: trackable(entries),
    attributes: new Map(own.attributes ?? []),
    slots: [...(own.slots ?? [])],
    listed: trackable(own.listed ?? []),
    ...(own.unsaved === undefined ? {} : { unsaved: [...own.unsaved] }),
  };
}

/** Whether a checkpoint takes something of a value: it is a variable or an object that holds one, or might. */
export function isTrackable(value: unknown): value is object {
  return holds(value, undefined);
}

/** @param seen what this question has come across before. */
function holds(value: unknown, seen: Set<object> | undefined): value is object {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  if (value instanceof Variable || value instanceof Module || isOwnView(value)) return true;
  const inside = tree.itemsIn(value);
  if (inside === null || seen?.has(value)) return false;
  const all = (seen ?? new Set()).add(value);
  for (const item of inside) if (holds(item, all)) return true;
  return false;
}

function isOwnView(value: object): value is Trackable {
  return typeof (value as Partial<Trackable>).trackableView === 'function';
}

/** Whether the value is a map or a set. */
export function isCollection(value: object): value is Map<unknown, unknown> | Set<unknown> {
  return value instanceof Map || value instanceof Set;
}

function entriesOf(object: object): [string, unknown][] {
  // Array.from: holes have no entries otherwise.
  if (Array.isArray(object)) return Array.from(object as unknown[], (item, i) => [String(i), item]);
  if (object instanceof Set) return [...object].map((item, i) => [String(i), item]);
  if (!(object instanceof Map)) return Object.entries(object);
  const names = new Set<string>();
  return [...object]
    .filter(([, value]) => isTrackable(value))
    .map(([key, value]) => {
      if (typeof key !== 'string' && typeof key !== 'number') {
        throw new InvalidArgumentError(
          `a map with a key that is neither a string nor a number (${String(key)}) holds a value to save: such a key has no name in the file`,
          'Checkpoint',
        );
      }
      const name = String(key);
      if (names.has(name)) {
        throw new InvalidArgumentError(
          `a map holds values to save under the number ${name} and under the string '${name}', which have the same name in the file`,
          'Checkpoint',
        );
      }
      names.add(name);
      return [name, value];
    });
}

// A variable always looks the same, and there are many.
const views = new WeakMap<Variable, View>();

function viewOfVariable(variable: Variable): View {
  let view = views.get(variable);
  if (view === undefined) {
    const value: TrackableAttribute = {
      save: () => variable.read(),
      restore: (stored) => {
        variable.assign(stored);
      },
    };
    view = { children: [], attributes: new Map([[VARIABLE_VALUE, value]]), slots: [], listed: [] };
    views.set(variable, view);
  }
  return view;
}
