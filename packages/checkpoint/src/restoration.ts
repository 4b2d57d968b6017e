import { InvalidArgumentError, type Tensor, type TrackableAttribute, Variable } from '@eagre/core';
import { inInitScope, isCompatible, isPlain, refillVariables, withoutTapes } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { slotNodes } from './lists.ts';
import { type Look, nodeNames, Seen, walk } from './object-graph.ts';
import type { Source } from './source.ts';
import { isCollection, type View } from './view.ts';

// By object: the restoration that gave it its values last. Later ones win, also where an earlier one is still waiting for objects.
const restoredBy = new WeakMap<object, number>();
let restorations = 0;

/** Whether a restoration later than this one gave the object its values. */
export function restoredSince(object: object, number: number): boolean {
  return (restoredBy.get(object) ?? 0) > number;
}

/** What a restoration tells when nobody can hold its objects any more. */
export interface Outcome {
  readonly prefix: string;
  partial: boolean;
  /** The names of values in the file that no object took. */
  unrestored(): string[];
}

/** A value of the file with the object that takes it. */
interface Transfer<T extends object = object> {
  /** The object's node in the file. */
  readonly id: number;
  readonly object: T;
  readonly key: string;
  readonly attribute: TrackableAttribute;
}

/** Why objects that were made or attached after the restoration could not get their values. */
export type Failures = Map<object, unknown>;

/**
 * Puts what is in a checkpoint into objects: those that exist now and, at each `walk`, those that have appeared since. It holds none
 * of them.
 */
export abstract class Restoration {
  readonly number: number = ++restorations;
  readonly source: Source;
  protected readonly look: Look;

  constructor(source: Source, look: Look) {
    this.source = source;
    this.look = look;
  }

  /**
   * Gives values to objects that have none of this checkpoint yet: to all of them, or to none where something does not fit.
   * @throws InvalidArgumentError for shapes and dtypes that differ, DataLossError for damaged values.
   */
  walk(root: object): void {
    this.#walk(root, null);
  }

  /**
   * The same for objects that were made or attached since, each by itself.
   * @returns those that could not get their values. They stay unbound, so each later walk tries again.
   */
  walkLater(root: object): Failures {
    const failures: Failures = new Map();
    this.#walk(root, failures);
    return failures;
  }

  #walk(root: object, failures: Failures | null): void {
    inInitScope(() =>
      withoutTapes(() => {
        const found = this.find(root).filter((t) => (restoredBy.get(t.object) ?? 0) <= this.number);
        try {
          if (failures === null) this.#give(found);
          else this.#giveEach(found, failures);
        } catch (error) {
          this.unbind(found);
          throw error;
        }
        if (failures?.size) this.unbind(found.filter(({ object }) => failures.has(object)));
      }),
    );
  }

  #giveEach(transfers: readonly Transfer[], failures: Failures): void {
    const attempt = (some: readonly Transfer[], act: (t: Transfer) => void): void => {
      for (const t of some) {
        try {
          if (!failures.has(t.object)) act(t);
        } catch (error) {
          failures.set(t.object, error);
        }
      }
    };
    const sound = (): Transfer[] => plain.filter(({ object }) => !failures.has(object));
    const plain = transfers.filter(intoMemory);
    attempt(plain, (t) => check(this.source, t));
    try {
      this.source.verify(sound().map(({ key }) => key));
    } catch {
      // Each by itself tells which.
      attempt(sound(), ({ key }) => this.source.verify([key]));
    }
    this.#give(sound());
    const byObject = new Map<object, Transfer[]>();
    for (const t of transfers)
      if (!intoMemory(t)) byObject.set(t.object, [...(byObject.get(t.object) ?? []), t]);
    for (const all of byObject.values()) attempt(all.slice(0, 1), () => this.#give(all));
  }

  #give(transfers: readonly Transfer[]): void {
    for (const t of transfers) check(this.source, t);
    // All is read before anything changes. What variables take is only looked at then, and read once more into their memory.
    const plain = transfers.filter(intoMemory);
    this.source.verify(plain.map(({ key }) => key));
    const others = transfers.filter((t) => !intoMemory(t));
    const values: Tensor[] = [];
    const undo: (() => void)[] = [];
    try {
      for (const { key } of others) values.push(this.source.read(key));
      others.forEach(({ attribute }, i) => {
        // Only these can still refuse a value.
        const before = others.length > 1 ? attribute.save() : null;
        attribute.restore(values[i]);
        if (before !== null) undo.push(() => attribute.restore(before));
      });
      // Where a file has several values for one variable, the last is the one.
      const keys = new Map(plain.map(({ object, key }) => [object, key]));
      refillVariables([...keys.keys()], (targets) =>
        this.source.readInto([...keys.values()].map((key, i) => [key, targets[i]])),
      );
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    } finally {
      for (const value of values) value.dispose();
    }
    for (const { object } of transfers) restoredBy.set(object, this.number);
  }

  /** Binds objects to what the file has for them. @returns what they have not got yet. */
  protected abstract find(root: object): Transfer[];
  /** Forgets that the objects of these transfers were found: they have not got their values. */
  protected abstract unbind(transfers: readonly Transfer[]): void;
  /** The objects below the root that have been found so far. */
  abstract bound(root: object): Iterable<object>;
  /** Whether all values of the file have found their objects. */
  abstract get complete(): boolean;
  /** Whether `other`, a later one, has all that this one still waits to give. */
  abstract supersededBy(other: Restoration): boolean;
  abstract isBound(object: object): boolean;
  abstract readonly outcome: Outcome;

  /** Whether the object has its values from here or from a later restoration. */
  hasRestored(object: object): boolean {
    return this.isBound(object) || restoredSince(object, this.number);
  }

  /** Everything that exists below the root, slots of optimizers included. */
  existing(root: object, slots = true): Seen[] {
    const all = walk(root, this.look);
    if (!slots) return all;
    const objects = new Set(all.map((s) => s.object));
    const more: Seen[] = [];
    for (const seen of all) {
      for (const { variable, slot, name } of seen.view.slots) {
        if (!objects.has(variable) || objects.has(slot)) continue;
        objects.add(slot);
        more.push(new Seen(slot, this.look(slot), seen, name));
      }
    }
    return [...all, ...more];
  }
}

/** Restores by the names between objects. */
export class ObjectRestoration extends Restoration {
  readonly graph: tensorflow.TrackableObjectGraph;
  /** Values of objects in the file that the objects of the program have no place for: by node. */
  readonly unused: Map<number, string[]> = new Map<number, string[]>();
  readonly outcome: Outcome;
  readonly #skipSlots: boolean;
  readonly #bound: Map<number, WeakRef<object>> = new Map();
  readonly #objects: WeakSet<object> = new WeakSet();
  #warned = false;

  constructor(
    source: Source,
    graph: tensorflow.TrackableObjectGraph,
    look: Look,
    options: { readonly skipSlots: boolean; readonly attached: (value: unknown) => void },
  ) {
    super(source, look);
    this.graph = graph;
    this.#skipSlots = options.skipSlots;
    this.#attached = options.attached;
    const bound = this.#bound;
    this.outcome = {
      prefix: source.prefix,
      partial: false,
      unrestored: () => unbound(graph, bound).map((id) => nodeNames(graph)[id]),
    };
  }
  readonly #attached: (value: unknown) => void;

  get complete(): boolean {
    return this.unbound.length === 0;
  }
  /** The nodes with values that no object has taken. */
  get unbound(): number[] {
    const ids = unbound(this.graph, this.#bound);
    if (!this.#skipSlots) return ids;
    const slots = slotNodes(this.graph);
    return ids.filter((id) => !slots.has(id));
  }
  /** How many nodes have an object. */
  get matched(): number {
    return this.#bound.size;
  }
  override isBound(object: object): boolean {
    return this.#objects.has(object);
  }
  override supersededBy(other: Restoration): boolean {
    return this.unbound.every((id) =>
      (this.#nodes[id]?.attributes ?? []).every((a) => other.source.has(a.checkpoint_key ?? '')),
    );
  }

  get #nodes(): readonly tensorflow.TrackableObject[] {
    return this.graph.nodes ?? [];
  }

  protected find(root: object): Transfer[] {
    const transfers: Transfer[] = [];
    const visited = new Set<number>();
    const queue: [id: number, object: object][] = [[0, root]];
    const optimizers: [id: number, view: View][] = [];
    const first = this.#bound.size === 0;
    for (const [id, object] of queue) {
      const node = this.#nodes[id];
      if (node === undefined || visited.has(id)) {
        if (first && visited.has(id) && this.#bound.get(id)?.deref() !== object) this.#warn(id);
        continue;
      }
      if (!this.#isOrBecomes(id, object)) continue;
      visited.add(id);
      const view = this.look(object);
      this.#transfer(id, object, view, transfers);
      if (node.children !== undefined) {
        const children = new Map([...this.#listed(view), ...view.children]);
        for (const { node_id: child = 0, local_name: name = '' } of node.children) {
          const there = children.get(name) ?? plainAt(object, name);
          if (there !== undefined) queue.push([child, there]);
          else watch(object, name, this.#attached);
        }
      }
      if ((node.slot_variables ?? []).length > 0) optimizers.push([id, view]);
    }
    if (!this.#skipSlots) for (const [id, view] of optimizers) this.#findSlots(id, view, transfers);
    return transfers;
  }

  #listed(view: View): View['listed'] {
    if (!this.#skipSlots) return view.listed;
    const slots = new Set<object>(view.slots.map(({ slot }) => slot));
    return view.listed.filter(([, child]) => !this.look(child).children.some(([, item]) => slots.has(item)));
  }

  #findSlots(id: number, view: View, transfers: Transfer[]): void {
    if (view.slots.length === 0) return;
    const byVariable = new Map<object, Map<string, Variable>>();
    for (const { variable, name, slot } of view.slots) {
      const slots = byVariable.get(variable) ?? new Map<string, Variable>();
      byVariable.set(variable, slots.set(name, slot));
    }
    for (const row of this.#nodes[id]?.slot_variables ?? []) {
      const variable = this.#bound.get(row.original_variable_node_id ?? 0)?.deref();
      const slot = variable && byVariable.get(variable)?.get(row.slot_name ?? '');
      const at = row.slot_variable_node_id ?? 0;
      if (slot === undefined || !this.#isOrBecomes(at, slot)) continue;
      this.#transfer(at, slot, this.look(slot), transfers);
    }
  }

  /** Whether the object is the node's, which it becomes if the node has none. */
  #isOrBecomes(id: number, object: object): boolean {
    const bound = this.#bound.get(id);
    if (bound !== undefined) return bound.deref() === object;
    this.#bound.set(id, new WeakRef(object));
    this.#objects.add(object);
    this.#fresh.add(id);
    return true;
  }
  // Bound, but without their values yet.
  readonly #fresh = new Set<number>();

  #transfer(id: number, object: object, view: View, to: Transfer[]): void {
    if (!this.#fresh.delete(id)) return;
    this.unused.delete(id);
    for (const { name = '', checkpoint_key: key = '' } of this.#nodes[id]?.attributes ?? []) {
      const attribute = view.attributes.get(name);
      if (attribute === undefined) this.unused.set(id, [...(this.unused.get(id) ?? []), name]);
      else to.push({ id, object, key, attribute });
    }
  }

  protected unbind(transfers: readonly Transfer[]): void {
    for (const { id, object } of transfers) {
      this.#bound.delete(id);
      this.#objects.delete(object);
    }
  }
  override *bound(_root: object): Generator<object, void, undefined> {
    for (const ref of this.#bound.values()) {
      const object = ref.deref();
      if (object !== undefined) yield object;
    }
  }

  #warn(id: number): void {
    if (this.#warned) return;
    this.#warned = true;
    console.warn(
      `Inconsistent references when loading the checkpoint into this object graph: ${nodeNames(this.graph)[id]} is one object in the checkpoint and several here. Only one of them is restored.`,
    );
  }
}

/** Restores variables by their names, from files without an object graph. */
export class NameRestoration extends Restoration {
  readonly outcome: Outcome;
  readonly #objects: WeakSet<object> = new WeakSet();

  constructor(source: Source, look: Look) {
    super(source, look);
    this.outcome = { prefix: source.prefix, partial: true, unrestored: () => [] };
  }
  // Nothing tells whether a name will still be asked for.
  get complete(): boolean {
    return false;
  }
  override isBound(object: object): boolean {
    return this.#objects.has(object);
  }
  override supersededBy(): boolean {
    return true;
  }
  protected find(root: object): Transfer[] {
    const transfers: Transfer[] = [];
    for (const { object, view } of this.existing(root)) {
      if (!(object instanceof Variable) || this.#objects.has(object) || !this.source.has(object.path))
        continue;
      this.#objects.add(object);
      for (const attribute of view.attributes.values())
        transfers.push({ id: 0, object, key: object.path, attribute });
    }
    return transfers;
  }
  protected unbind(transfers: readonly Transfer[]): void {
    for (const { object } of transfers) this.#objects.delete(object);
  }
  override bound(root: object): Iterable<object> {
    return this.existing(root).map(({ object }) => object);
  }
}

/** Whether bytes of the file are the object's value as they are. */
function intoMemory(transfer: Transfer): transfer is Transfer<Variable> {
  const { object } = transfer;
  // A value of another shape takes memory of its own.
  return object instanceof Variable && object.dtype !== 'string' && object.hasOneShape;
}

function unbound(
  graph: tensorflow.TrackableObjectGraph,
  bound: ReadonlyMap<number, WeakRef<object>>,
): number[] {
  return (graph.nodes ?? []).flatMap((node, id) =>
    (node.attributes ?? []).length > 0 && !bound.has(id) ? [id] : [],
  );
}

/** Refuses a value that does not fit its variable, before anything is changed. */
function check(source: Source, { object, key }: Transfer): void {
  const { dtype, shape } = source.spec(key);
  if (!(object instanceof Variable)) return;
  if (dtype !== object.dtype) {
    throw new InvalidArgumentError(
      `tensor_name = ${key}; expected dtype ${object.dtype} does not equal original dtype ${dtype}`,
      'restore',
    );
  }
  if (!isCompatible(shape, object.openShape)) {
    throw new InvalidArgumentError(
      `Received incompatible tensor with shape [${shape}] when attempting to restore variable with shape [${object.shape}] and name ${object.path} (${key})`,
      'restore',
    );
  }
}

/** An object without a class under this name, which may hold nothing yet. */
function plainAt(object: object, name: string): object | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(object, name)?.value;
  return isPlain(value) ? value : undefined;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Has `attached` called as soon as the attribute is assigned to. Attributes of classes, arrays and maps are left alone. */
function watch(object: object, name: string, attached: (value: unknown) => void): void {
  if (Array.isArray(object) || isCollection(object) || object instanceof Variable) return;
  if (!IDENTIFIER.test(name) || name === 'save_counter') return;
  const own = Object.getOwnPropertyDescriptor(object, name);
  if (own === undefined ? name in object || !Object.isExtensible(object) : !own.configurable || !own.writable)
    return;
  const before: unknown = own?.value;
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: own?.enumerable ?? false,
    get: () => before,
    set: (value: unknown) => {
      Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      // A new variable asks by itself when it is first used.
      if (!(value instanceof Variable && value.awaitsUse)) attached(value);
    },
  });
}
